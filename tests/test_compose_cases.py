"""Single assignments from their text, composed and run: each found (or nearly missed) by a random draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interpret import run
from invariants import Known, check
from oracle import FUNCTIONS, Bounded, evaluate, value
from scoped import program

from fortrans.decision import lift
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import resolve
from fortrans.intrinsics import INTRINSICS
from fortrans.ir.arrays import Scalar
from fortrans.ir.fresh import Fresh
from fortrans.ir.sites import Assignment
from fortrans.transforms.compose import compose
from fortrans.transforms.plan import OURS

SUBROUTINE = """subroutine s(a, b, c, d, e, m, v, w, x, y, n, r)
  integer, intent(in) :: n
  integer :: a(:), b(:, :), c(:, :), v(0:), w(:), r, i
  integer, allocatable :: d(:, :), e(:)
  logical :: m(:)
  real :: x(:), y(:, :)
  {}
contains
  pure elemental integer function peek(x)
    integer, intent(in) :: x
    peek = x + a(1)
  end function
end subroutine
"""
CASES = (
    "c = sum(spread(b, 3, n), dim=1)",
    "c = spread(maxval(b, dim=2), 1, size(c, 1))",
    "r = sum(pack(a, m, w))",
    "d = spread([v, (sum(b(:, i)), i = 1, n)], 2, n)",
    "a = cshift(a, 1)",
    "a = cshift(v, -1)",
    "v = eoshift(a, 1, 7)",
    "a = cshift(w(a), 1)",
    "a = cshift(peek(v), 1)",
    "a = v + cshift(a(size(a):1:-1), 2)",
    "b = transpose(b)",
    "b = transpose(b) + spread(b(:, 1), 1, n)",
    "b(:, 1) = b(:, 1) + sum(b, 2)",
    "b(1, :) = sum(b, 1)",
    "r = count(cshift(b, 1, 2) > b)",
    "m = any(b > spread(a, 1, n), dim=1)",
    "a = matmul(b, v) + cshift(v, 1)",
    "a = sum(b + spread(a, 2, n), dim=2)",
    "r = merge(1, 0, any(b > 3))",
    "d = transpose(d)",
    "d = cshift(d(2:, :), 1, 2)",
    "d = spread(v, 1, 2)",
    "d = spread(peek(v), 1, 2)",
    "e = cshift(e(2:), 1)",
    "e = spread(sum(b), 1, 3)",
    "b = merge(1, 0, spread(any(b > 3, 2), 1, n))",
    "b = b + spread(count(transpose(b) > 2, 1), 1, n)",
    "x = maxval(y, dim=2)",
    "x = minval(y, dim=1, mask=spread(m, 1, n))",
    "x = x + sum(transpose(y), dim=2)",
    "c = reshape(cshift(a, 1), [n, n], pad=v)",
    "e = 2*reshape(b, [n*n])",
    "e = reshape(spread(b, 3, 2), [2*n*n]) + 1",
    "e = pack(a, m)",
    "e = pack(2*a, m) + pack(v, m)",
    "e = pack(e, e > 3)",
    "e = pack(e(-1:), m)",
    "e = pack(b, .true.)",
    "e = pack(b, n > 2)",
    "e = pack(b, spread(m, 1, n) .and. b > 1)",
    "e = [pack(a, m), pack(v, .not. m), 1]",
    "a = pack(a, m, a)",
    "a = pack(a, m(n:1:-1), w)",
    "a = pack(a(n:1:-1), m, w)",
    "a = pack(b(:, n), m, a(n:1:-1))",
    "a = unpack(v, m, a)",
    "a = unpack(a, m, v)",
    "a = unpack(cshift(v, 1), m, a(n:1:-1)) + w",
    "c = unpack([a, (i, i = 1, n*n)], b > 2, b)",
    "r = sum(pack(b, b > 2))",
    "r = maxval(2*pack(a, m))",
    "r = merge(1, 0, any(pack(b, b > 2) > 5))",
    "c = cshift(b, a)",
    "c = cshift(b, a, 2) + b",
    "b = cshift(b, -v)",
    "b = eoshift(b, a - 2, v)",
    "c = eoshift(b, a - 2, dim=2)",
    "c = eoshift(b, cshift(a, 1) - 2, 7, 2)",
    "a = maxval(cshift(b, a), 1)",
    "a = sum(cshift(b, a, 2), 2)",
    "e = maxloc(b)",
    "e = minloc(transpose(b), mask=b > 3, back=.true.)",
    "e = findloc(mod(b, 3), 1)",
    "e = findloc(mod(b, 3), 1, back=.true.)",
    "e = findloc(cshift(mod(b, 3), 1, 2), 1)",
    "r = findloc(cshift(mod(w, 2), 1), 0, 1)",
    "r = findloc(cshift(mod(w, 2), 1), 0, 1, back=n > 2)",
    "r = maxloc(0*w - huge(r) - 1, 1, m)",
    "r = maxloc(abs(w - 2), 1) + minloc(x, 1, back=n > 1)",
    "a = maxloc(b, 2)",
    "a = minloc(abs(y - 1.0), 2, back=.true.)",
    "b(:, 1) = maxloc(b, 2) + minloc(b, 1)",
)


def site(statement: str) -> Assignment:
    """The statement, lifted in the subroutine."""
    main = program(SUBROUTINE.format(statement))
    (executable, *_) = main.executables()
    scopes = resolve(main, index([main]), False)
    found = lift(main, executable, main.place(executable), scopes, Fresh(["val"]))
    assert found is not None
    return found


def environment(n: int) -> dict[str, Any]:
    """Square arrays of ``n``; the values of ``a`` are subscripts of ``w``."""
    square = np.arange(n * n).reshape(n, n)
    env: dict[str, Any] = {
        "n": n,
        "r": 0,
        "i": 99,
        "a": Bounded.of((np.arange(n) * 2) % max(n, 1) + 1),
        "b": Bounded.of(square * 5 % 7),
        "c": Bounded.of(square * 0 - 1),
        "v": Bounded.of(np.arange(n) * 3 + 2, (0,)),
        "w": Bounded.of(np.arange(n) * 4 % 5),
        "d": Bounded.of(np.arange(n * 3).reshape(n, 3), (0, 3)),
        "e": Bounded.of(np.arange(n + 1), (-2,)),
        "x": Bounded.of(np.arange(n) / 2, type="real"),
        "y": Bounded.of((square * 5 % 11) / 4, type="real"),
        "m": Bounded.of((np.arange(n) % 2 == 0).astype(bool), type="logical"),
    }
    env["peek"] = lambda x: x + env["a"].data[0]
    return env


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("statement", CASES)
def test_what_is_left_is_what_was_asked_for(statement: str, n: int) -> None:
    assignment, env = site(statement), environment(n)
    if n == 0 and ("(:, 1)" in statement or "(:, n)" in statement or "(1, :)" in statement):
        pytest.skip("there is no such element")
    wanted, before = environment(n), environment(n)
    for capture in assignment.captures:
        found = evaluate(capture.value, wanted)
        wanted[capture.name] = Bounded.of(found) if capture.count else found
        wanted |= {capture.count: len(found)} if capture.count else {}
    right = value(assignment.rhs, wanted)
    captures = frozenset(name for x in assignment.captures for name in (x.name, x.count))
    plan = compose(assignment, Fresh({*env, *captures}))
    functions = OURS | INTRINSICS.keys() | FUNCTIONS.keys()
    name = statement.split(" ")[0].split("(")[0]
    check(plan.body, Known(frozenset(env), functions, frozenset({name}), captures | {"i"}))
    for seed in range(3):
        here = environment(n)
        run(plan.body, here, seed)
        now = value(assignment.lhs, here)
        assert np.array_equal(now, right), (now, right)
        for other in before.keys() - {name, "peek"}:
            old, new = before[other], here[other]
            assert np.array_equal(old.data, new.data) if isinstance(old, Bounded) else old == new
    assert isinstance(assignment.lhs, Scalar) == (name == "r")


@pytest.mark.parametrize(
    ("statement", "lower"),
    [("e = v", 0), ("e = v + 0", 1), ("e = cshift(v, 1)", 1), ("e = cshift(e, r)", -2)],
)
def test_lower_bounds_after_reallocation(statement: str, lower: int) -> None:
    """Those of a whole array on the right, 1 of any other expression; the old ones of the same shape."""
    env = environment(3)
    run(compose(site(statement), Fresh(env)).body, env)
    assert env["e"].lower == (lower,)
