"""No composition computes anything more often than the array expression does: operations are counted.

Each form is composed, its nests run by the interpreter for two sizes, and what they evaluate grows
no faster than the sum of the sizes of all arrays in the expression, each evaluated once.
"""

from __future__ import annotations

import math
import random
from typing import Any

import interpret
import numpy as np
import pytest
from interpret import run
from oracle import Bounded, evaluate

from fortrans.decision import Answer, lift
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import resolve
from fortrans.frontend.units import Program, read
from fortrans.intrinsics import INTRINSICS, fresh_indices
from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Implied, Scalar, rank, shape
from fortrans.ir.expr import Call, Expr, Name, walk
from fortrans.ir.fresh import Fresh
from fortrans.options import Options
from fortrans.pipeline import answer_all
from fortrans.source import Source

HEAD = """subroutine s(a, b, c, v, w, r, x, y, n)
  implicit none
  integer, intent(in) :: n
  real, intent(in) :: a(n, n), b(n, n), v(n), w(n), y
  real, intent(out) :: c(n, n), r(n), x
"""
SMALL, LARGE = 5, 12
FORMS = (
    "c = a - spread(sum(a, 1)/n, 1, n)",
    "c = a - spread(sum(a, 2)/size(a, 2), 2, n)",
    "c = a/sqrt(sum(a**2))",
    "c = a/spread(sqrt(sum(a**2, dim=1)), 1, n)",
    "c = (a - sum(a)/size(a))/maxval(abs(a - sum(a)/size(a)))",
    "r = v/sqrt(sum(a**2, dim=1))",
    "r = v - sum(v)/size(v)",
    "r = sum(a*spread(v, 1, n), 2)/sum(v)",
    "r = sum((a - spread(sum(a, 1)/n, 1, n))**2, 1)",
    "r = sum((a - spread(sum(a, 2)/n, 2, n))**2, 2)",
    "x = sum((a - spread(sum(a, 1)/n, 1, n))**2)",
    "x = sum(v*w)/sqrt(sum(v*v)*sum(w*w))",
    "c = spread(exp(v), 2, n) + spread(exp(w), 1, n)",
    "c = a*spread(sum(b*spread(sum(a, 1), 1, n), 2), 2, n)",
    "c = spread(sum(a, 1)*sum(b, 2), 1, n)*spread(sum(a*b, 2), 2, n)",
    "c = cshift(a - spread(sum(a, 1), 1, n), 1, 2)",
    "c = transpose(a)*spread(maxval(a - spread(minval(a, 1), 1, n), 2), 1, n)",
    "c = reshape(spread(sum(a, 1), 2, n), [n, n])",
    "c = matmul(a, b) - spread(sum(matmul(a, b), 1), 1, n)",
    "r = matmul(a - spread(v, 1, n), w)/sum(w)",
    "c = merge(a, spread(sum(b, 1), 1, n), a > sum(a)/size(a))",
    "c = eoshift(spread(sum(a, 2), 1, n), 1)*b",
    "r = count(a > spread(sum(a, 1)/n, 1, n), 2)",
    "r = [sum(a), v(2:)]*sum(v)",
    "r = product(spread(sum(b, 2) + product(a, 1), 2, n), 2)",
    "r = sum(spread(sum(b, 1), 2, n) - spread(maxval(a, 2), 2, n), 2)",
)


class Counting:
    """Counts what the interpreter evaluates: the nodes of each expression, or what a library call does."""

    def __init__(self) -> None:
        self.total = 0
        self.weights: dict[int, tuple[Expr, int]] = {}

    def __call__(self, expr: Expr, env: dict[str, Any]) -> Any:
        result = evaluate(expr, env)
        if isinstance(expr, Name):
            # The interpreter looks the array up that it stores into.
            return result
        if id(expr) not in self.weights:
            self.weights[id(expr)] = expr, sum(1 for _ in walk(expr))
        size = result.data.size if isinstance(result, Bounded) else np.size(result)
        self.total += self.weights[id(expr)][1] * max(size, 1)
        for x in walk(expr):
            if isinstance(x, Call) and x.name in INTRINSICS:
                sizes = [np.size(getattr(v, "data", v)) for v in (evaluate(y, env) for y in x.args)]
                self.total += 2 * sum(sizes)
                if x.name == "matmul":
                    # As much as the nodes of a loop's term, since small ones are left to the reference.
                    made = evaluate(x, env)
                    self.total += 10 * math.isqrt(math.prod(sizes) * np.size(getattr(made, "data", made)))
        return result


def environment(n: int) -> dict[str, Any]:
    draw = random.Random(n)

    def array(*sizes: int) -> Bounded:
        data = np.empty(sizes, dtype=object)
        data.reshape(-1)[:] = [draw.choice((0.5, 1.0, 1.5, 0.75)) for _ in range(data.size)]
        return Bounded.of(data)

    env: dict[str, Any] = {"n": n, "y": 2.5, "x": 0.0}
    env |= {name: array(n, n) for name in "abc"} | {name: array(n) for name in "vwr"}
    return env


def composed(statement: str) -> tuple[Program, Answer]:
    program = read(Source("s.f90", f"{HEAD}  {statement}\nend subroutine s\n"))
    (found,) = answer_all(program, index([program]), Options(all=True, strict=True))
    return program, found


def operations(found: Answer, n: int, monkeypatch: pytest.MonkeyPatch) -> int:
    counting = Counting()
    monkeypatch.setattr(interpret, "evaluate", counting)
    assert found.plan is not None
    run(found.plan.body, environment(n), types={"x": "real"})
    return counting.total


def naive(array: Array, n: int) -> int:
    """The elements of all arrays in the expression, each array evaluated once."""
    env = {"n": n}
    with fresh_indices():
        extents = [n if any(isinstance(y, Call) for y in walk(x)) else evaluate(x, env) for x in shape(array)]
    size = math.prod(extents)
    match array:
        case Elemental(operands=operands):
            return size + sum(naive(x, n) for x in operands)
        case Apply(intrinsic, args):
            inner = sum(naive(x, n) for x in args.values())
            return size * (n if intrinsic.name == "matmul" else 1) + inner
        case Constructor(items):
            return size + sum(naive(x, n) for x in items if not isinstance(x, Implied))
        case Scalar():
            return 1
        case _:
            return size


def total(program: Program, n: int) -> int:
    """What the statement costs when each array in it is evaluated once."""
    scopes = resolve(program, index([program]), False)
    executable = next(program.executables())
    site = lift(program, executable, program.place(executable), scopes, Fresh(()))
    assert site is not None
    arrays = [site.rhs, *(c.array for c in site.captures if c.array is not None)]
    return sum(naive(x, n) for x in arrays) + n ** rank(site.lhs)


# ---- random forms ------------------------------------------------------------------


def form(draw: random.Random) -> str:
    wanted = draw.choice((0, 1, 1, 2, 2, 2))
    return f"{'xrc'[wanted]} = {array_of(draw, wanted, 4)}"


def array_of(draw: random.Random, wanted: int, depth: int) -> str:
    """An expression of rank ``wanted`` that nests ``depth`` references or operations."""

    def go(r: int) -> str:
        return array_of(draw, r, depth - 1)

    if depth == 0:
        leaves = ("y", "2.0"), ("v", "w", "a(:, 2)", "b(1, :)"), ("a", "b", "a(n:1:-1, :)")
        return draw.choice(leaves[wanted])
    d = draw.randint(1, 2)
    op = draw.choice("+-*")
    reduction = draw.choice(("sum", "maxval", "product", "minval"))
    match wanted, draw.randint(0, 6):
        case 0, 0 | 1 | 2:
            return f"{reduction}({go(2)})"
        case 0, 3 | 4:
            return f"{reduction}({go(1)})"
        case 0, _:
            return f"({go(0)} {op} {go(0)})"
        case 1, 0 | 1 | 2:
            return f"{reduction}({go(2)}, {d})"
        case 1, 3:
            return f"cshift({go(1)}, 1)"
        case 1, 4:
            return f"({go(1)} {op} {go(0)})"
        case 1, 5:
            return f"abs({go(1)})"
        case 2, 0 | 1 | 2:
            return f"spread({go(1)}, {d}, n)"
        case 2, 3:
            return f"transpose({go(2)})"
        case 2, 4:
            return f"cshift({go(2)}, 1, {d})"
        case 2, 5:
            return f"({go(2)} {op} {go(0)})"
        case _:
            return f"({go(wanted)} {op} {go(wanted)})"


RANDOM = tuple(form(random.Random(seed)) for seed in range(50))


@pytest.mark.parametrize("statement", [*FORMS, *RANDOM])
def test_operations_grow_no_faster(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, found = composed(statement)
    if found.plan is None:
        assert found.remark.code in ("FT403", "FT601"), found.remark
        return
    order = math.log2(total(program, 64) / total(program, 32))
    counted = operations(found, SMALL, monkeypatch), operations(found, LARGE, monkeypatch)
    grown = math.log(counted[1] / counted[0]) / math.log(LARGE / SMALL)
    assert grown <= round(order) + 0.3, counted
    # A constant number of nodes for each element: the bound is 20, most take fewer than 10.
    assert counted[1] <= 20 * total(program, LARGE), counted
