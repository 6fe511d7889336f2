"""Element rules against NumPy: random compositions of all intrinsics, every element.

``HYPOTHESIS_PROFILE=long`` draws 20,000 of them; ``once`` stops at the first fault as drawn.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product as cartesian
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import Bounded, evaluate, objects, value

from fortrans.intrinsics import INTRINSICS, apply, fresh_indices
from fortrans.ir.arrays import (
    Array,
    Axis,
    Constructor,
    Elemental,
    Fixed,
    Implied,
    Scalar,
    Section,
    Triplet,
    Vector,
    element,
    rank,
    shape,
)
from fortrans.ir.expr import ONE, At, Call, Expr, Literal, Name, Op, Ref, add, integer, mul, names, walk
from fortrans.ir.symbols import INTEGER, LOGICAL, REAL, Type

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "")
EXAMPLES = 20_000 if PROFILE == "long" else 400
PHASES = [Phase.generate] if PROFILE == "once" else list(Phase)
TYPES = {"integer": INTEGER, "logical": LOGICAL, "real": REAL}
COMPOSED = sorted(name for name, entry in INTRINSICS.items() if entry.composed)
REDUCTIONS = ("sum", "product", "maxval", "minval", "iall", "iany", "iparity")
LOGICAL_REDUCTIONS = ("all", "any", "parity")
Shape = tuple[int, ...]


@dataclass
class World:
    """Draws array expressions, and makes up the variables in them."""

    draw: Any
    env: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def chance(self) -> bool:
        return bool(self.draw(st.booleans()))

    # ---- scalars: a literal, or a variable with that value

    def expr(self, number: int) -> Expr:
        if self.chance():
            return integer(number)
        name = f"{'n' if number >= 0 else 'm'}{abs(number)}"
        self.env[name] = number
        return Name(name)

    def scalar(self, number: int) -> Scalar:
        return Scalar(self.expr(number), INTEGER)

    def constant(self, number: int) -> Scalar:
        return Scalar(integer(number), INTEGER)

    def vector(self, numbers: Sequence[int]) -> Constructor:
        return Constructor(tuple(self.scalar(n) for n in numbers), INTEGER)

    def value_of(self, type: str) -> Any:
        match type:
            case "integer":
                return self.number(-3, 9)
            case "real":
                return self.number(-3, 9) / 2
            case _:
                return self.chance()

    def scalar_of(self, type: str) -> Scalar:
        name = f"s{len(self.env)}"
        self.env[name] = self.value_of(type)
        return Scalar(Name(name), TYPES[type])

    def mask(self, extents: Shape, depth: int) -> Array:
        return self.scalar_of("logical") if self.number(0, 4) == 0 else self.array(extents, "logical", depth)

    # ---- arrays

    def leaf(self, extents: Shape, type: str) -> Array:
        """A section of a new array, whose bounds are anything that holds it."""
        axes: list[Axis] = []
        sizes, lowers = list[int](), list[int]()
        whole = self.chance()
        for extent in extents:
            low = self.number(-2, 3)
            stride = 1 if whole else self.pick(1, 2, -1, -2, 3)
            if not whole and self.number(0, 5) == 0:
                size = self.number(1, 4)
                steps = [self.number(low, low + size - 1) for _ in range(extent)]
                axes.append(Vector(self.indices(steps)))
            else:
                size = (extent - 1) * abs(stride) + 1 if extent else self.number(0, 2)
                size += 0 if whole else self.number(0, 1)
                size = extent if whole else size
                first = low if stride > 0 else low + size - 1
                axes.append(Triplet(self.expr(first), self.expr(stride), self.expr(extent)))
            sizes.append(size)
            lowers.append(low)
        if not whole and self.number(0, 3) == 0:
            where = self.number(0, len(axes))
            axes.insert(where, Fixed(self.expr(2)))
            sizes.insert(where, 2)
            lowers.insert(where, 1)
        name = f"a{len(self.env)}"
        count = math.prod(sizes)
        start = self.number(0, 10)
        if type == "logical":
            bits = self.number(0, 2 ** min(count, 30) - 1)
            data: list[Any] = [bool(bits >> (k % 30) & 1) for k in range(count)]
        else:
            data = [(start + 7 * k) % 23 - 6 for k in range(count)]
            data = [x / 2 for x in data] if type == "real" else data
        array = np.empty(count, dtype=object)
        array[:] = data
        self.env[name] = Bounded(array.reshape(sizes, order="F"), tuple(lowers), type)
        return Section(Name(name), tuple(axes), TYPES[type], whole=whole)

    def indices(self, numbers: Sequence[int]) -> Array:
        name = f"v{len(self.env)}"
        low = self.number(-1, 1)
        self.env[name] = Bounded(objects(np.array(numbers, dtype=int)), (low,))
        return Section(Name(name), (Triplet(integer(low), ONE, integer(len(numbers))),), INTEGER)

    def array(self, extents: Shape, type: str, depth: int) -> Array:
        if depth <= 0 or self.number(0, 9) == 0:
            return self.leaf(extents, type)
        options = [self.elemental]
        if len(extents) == 1:
            options += [self.constructor, self.materialised]
        if len(extents) == 2:
            options += [self.transpose] * 2
        if extents:
            options += [self.spread, self.cshift, self.eoshift, self.reshape, self.reshape]
        if len(extents) <= 2:
            options += [self.reduction] * 2 + [self.multiplied]
        if type == "integer" and len(extents) <= 2:
            options += [self.location]
        return self.pick(*options)(extents, type, depth - 1)

    def called(self, name: str, **args: Array) -> Array:
        self.used.add(name)
        return apply(name, (), args)

    def transpose(self, extents: Shape, type: str, depth: int) -> Array:
        return self.called("transpose", matrix=self.array(extents[::-1], type, depth))

    def spread(self, extents: Shape, type: str, depth: int) -> Array:
        dim = self.number(1, len(extents))
        inner = extents[: dim - 1] + extents[dim:]
        source = self.array(inner, type, depth) if inner else self.scalar_of(type)
        copies = extents[dim - 1] or self.pick(0, -2)
        return self.called("spread", source=source, dim=self.constant(dim), ncopies=self.scalar(copies))

    def shifted(self, extents: Shape) -> tuple[int, dict[str, Array]]:
        dim = self.number(1, len(extents))
        given: dict[str, Array] = {} if dim == 1 and self.chance() else {"dim": self.constant(dim)}
        inner = extents[: dim - 1] + extents[dim:]
        if inner and self.number(0, 2) == 0:
            return dim, given | {"shift": self.array(inner, "integer", self.number(0, 1))}
        return dim, given | {"shift": self.scalar(self.pick(0, 1, -1, 2, -2, 3, -3, 5, -7))}

    def cshift(self, extents: Shape, type: str, depth: int) -> Array:
        _, given = self.shifted(extents)
        return self.called("cshift", array=self.array(extents, type, depth), **given)

    def eoshift(self, extents: Shape, type: str, depth: int) -> Array:
        dim, given = self.shifted(extents)
        inner = extents[: dim - 1] + extents[dim:]
        match self.number(0, 2):
            case 0:
                given["boundary"] = self.scalar_of(type)
            case 1:
                given["boundary"] = self.array(inner, type, depth - 1) if inner else self.scalar_of(type)
        if "boundary" not in given and 0 in extents:
            given["boundary"] = self.scalar_of(type)
        return self.called("eoshift", array=self.array(extents, type, depth), **given)

    def reshape(self, extents: Shape, type: str, depth: int) -> Array:
        given: dict[str, Array] = {"shape": self.shape(extents)}
        order = list(range(1, len(extents) + 1))
        if self.chance():
            order = list(self.draw(st.permutations(order)))
            given["order"] = Constructor(tuple(map(self.constant, order)), INTEGER)
        total = math.prod(extents)
        wanted = [extents[o - 1] for o in order]
        match self.number(0, 4):
            case 0:
                source: Shape = (total + self.number(0, 2),)
            case 1:
                source = (*wanted, 2)[:3]
            case 2:
                source = (math.prod(wanted[:2]), *wanted[2:])
            case 3:
                source = tuple(self.factors(wanted[0])) + tuple(wanted[1:])
                source = source[:3] if len(source) > 3 else source
            case _:
                source = tuple(self.number(0, 3) for _ in range(self.number(1, 3)))
        if math.prod(source) < total or self.number(0, 4) == 0:
            gap = tuple(self.number(1, 2) for _ in range(self.number(1, 2)))
            given["pad"] = self.array(gap, type, depth - 1)
        return self.called("reshape", source=self.array(source, type, depth), **given)

    def factors(self, n: int) -> tuple[int, int]:
        return (2, n // 2) if n % 2 == 0 and n else (n, 1)

    def shape(self, extents: Shape) -> Array:
        """SHAPE as scalars, among them products of variables, or from a variable's values."""
        if self.number(0, 3) == 0:
            return self.called_shape(extents)
        items = []
        for extent in extents:
            if extent in (4, 6) and self.chance():
                left = self.expr(2)
                items.append(Scalar(Op("*", (left, self.expr(extent // 2))), INTEGER))
            else:
                items.append(self.scalar(extent))
        return Constructor(tuple(items), INTEGER)

    def called_shape(self, extents: Shape) -> Array:
        return apply("shape", (self.leaf(extents, "integer"),))

    def reduction(self, extents: Shape, type: str, depth: int) -> Array:
        dim = self.number(1, len(extents) + 1)
        extent = self.pick(0, 1, 2, 3)
        inner = (*extents[: dim - 1], extent, *extents[dim - 1 :])
        given: dict[str, Array] = {"dim": self.constant(dim)}
        if not extents and self.chance():
            given = {}
            inner = tuple(self.number(0, 3) for _ in range(self.number(1, 3)))
        packed = (not given or given == {"dim": self.constant(1)}) and not extents and self.chance()
        if type == "logical":
            mask = self.packed(inner, type, depth) if packed else self.array(inner, type, depth)
            return self.called(self.pick(*LOGICAL_REDUCTIONS), mask=mask, **given)
        if type == "integer" and self.number(0, 4) == 0:
            mask = self.packed(inner, "logical", depth) if packed else self.array(inner, "logical", depth)
            return self.called("count", mask=mask, **given)
        if packed:
            name = self.pick(*(REDUCTIONS if type == "integer" else REDUCTIONS[:2]))
            return self.called(name, array=self.packed(inner, type, min(depth, 1)), **given)
        if self.chance():
            given["mask"] = self.mask(inner, depth - 1)
        name = self.pick(*(REDUCTIONS if type == "integer" else REDUCTIONS[:2]))
        if name in ("iall", "iany", "iparity"):
            return self.called(name, array=self.array(inner, type, min(depth, 1)), **given)
        return self.called(name, array=self.array(inner, type, depth), **given)

    def location(self, extents: Shape, type: str, depth: int) -> Array:
        given: dict[str, Array] = {}
        if len(extents) == 1 and 1 <= extents[0] <= 3 and self.chance():
            inner = tuple(self.number(0, 3) for _ in range(extents[0]))
        else:
            dim = self.number(1, len(extents) + 1)
            given["dim"] = self.constant(dim)
            inner = (*extents[: dim - 1], self.pick(0, 1, 2, 3, 4), *extents[dim - 1 :])
        if self.chance():
            given["mask"] = self.mask(inner, depth - 1)
        if self.chance():
            known = Scalar(Literal(self.pick(".true.", ".false.")), LOGICAL)
            given["back"] = known if self.chance() else self.scalar_of("logical")
        name = self.pick("maxloc", "minloc", "findloc")
        of = self.pick("integer", "real", "logical") if name == "findloc" else self.pick("integer", "real")
        if name == "findloc":
            given["value"] = self.array((), of, depth - 1) if self.chance() else self.scalar_of(of)
        return self.called(name, array=self.array(inner, of, depth), **given)

    def packed(self, extents: Shape, type: str, depth: int) -> Array:
        return apply("pack", (self.array(extents, type, depth), self.mask(extents, depth - 1)))

    def multiplied(self, extents: Shape, type: str, depth: int) -> Array:
        """DOT_PRODUCT or MATMUL, of one type or of two."""
        inner = (self.pick(0, 1, 2, 3),)
        cut = self.number(0, len(extents)) if len(extents) == 1 else len(extents) // 2
        other = self.pick(type, "integer") if type == "real" else type
        left = self.array((*extents[:cut], *inner), type, depth - 1)
        right = self.array((*inner, *extents[cut:]), other, depth - 1)
        if not extents:
            return self.called("dot_product", vector_a=left, vector_b=right)
        return self.called("matmul", matrix_a=left, matrix_b=right)

    def elemental(self, extents: Shape, type: str, depth: int) -> Array:
        def operand(kind: str) -> Array:
            return self.array(extents, kind, depth)

        if type == "logical":
            op = self.pick("<=", "==", ".not.", ".neqv.")
            if op == ".not.":
                return Elemental(op, (operand(type),), LOGICAL, operator=True)
            kind = "logical" if op == ".neqv." else "integer"
            return Elemental(op, (operand(kind), self.scalar_of(kind)), LOGICAL, operator=True)
        if self.number(0, 3) == 0:
            return Elemental("merge", (operand(type), operand(type), operand("logical")), TYPES[type])
        other = operand(type) if self.chance() else self.scalar_of(type)
        return Elemental(self.pick("+", "-"), (operand(type), other), TYPES[type], operator=True)

    def constructor(self, extents: Shape, type: str, depth: int) -> Array:
        (total,) = extents
        if type != "integer":
            return Constructor((self.array(extents, type, depth),), TYPES[type])
        cut = self.number(0, total)
        parts: tuple[Array | Implied, ...] = (
            (self.implied(total, depth),)
            if self.chance()
            else (self.array((cut,), type, depth), self.implied(total - cut, depth))
        )
        if self.number(0, 3) == 0:
            parts = tuple(Scalar(Literal(str(k)), INTEGER) for k in range(total))
        return Constructor(parts, INTEGER)

    def implied(self, total: int, depth: int) -> Implied:
        """``(items, i = first, last, step)`` that gives ``total`` elements."""
        name = f"i{len(self.env)}"
        self.env[name] = 1000
        i = Name(name)
        first, step = self.number(-2, 2), self.pick(1, -1, 2, -3)
        if total % 2 == 0 and self.chance():
            other = add(mul(integer(3), i), ONE)
            items: tuple[Array | Implied, ...] = (Scalar(i, INTEGER), Scalar(other, INTEGER))
            total //= 2
        elif total % 2 == 0 and self.chance():
            inner = f"k{len(self.env)}"
            self.env[inner] = 1000
            body = Scalar(Op("-", (Op("*", (i, Literal("10"))), Name(inner))), INTEGER)
            items = (Implied((body,), inner, ONE, self.expr(2), ONE),)
            total //= 2
        elif depth > 0:
            name_, data = f"b{len(self.env)}", objects(np.arange(800).reshape(2, 400))
            self.env[name_] = Bounded(data, (0, -200))
            column = Section(Name(name_), (Triplet(integer(0), ONE, integer(2)), Fixed(i)), INTEGER)
            items = (apply("sum", (column,)),)
        else:
            items = (Scalar(Op("*", (i, i)), INTEGER),)
        last = first + (total - 1) * step
        return Implied(items, name, self.expr(first), self.expr(last), integer(step))

    def materialised(self, extents: Shape, type: str, depth: int) -> Array:
        """Something without an element rule, which is kept as a whole."""
        (total,) = extents
        if type != "integer":
            return self.leaf(extents, type)
        inner = self.number(1, 3)
        match self.number(0, 2):
            case 0:
                return apply("matmul", (self.array((total, inner), type, depth), self.leaf((inner,), type)))
            case 1:
                mask = self.array((total,), "logical", depth)
                return apply("unpack", (self.leaf((total,), type), mask, self.scalar_of(type)))
            case _:
                vector = self.leaf((total,), type)
                if inner > total:
                    return vector
                source = self.array((inner,), type, depth)
                return apply("pack", (source, self.array((inner,), "logical", 0), vector))


@st.composite
def expressions(draw: Any) -> tuple[Array, dict[str, Any]]:
    world = World(draw)
    extents = tuple(world.pick(0, 1, 2, 3, 3, 4, 6) for _ in range(world.number(0, 3)))
    if math.prod(extents) > 36:
        extents = extents[:2]
    type = world.pick("integer", "integer", "logical", "real")
    depth = world.number(1, 4)
    if not extents:
        return world.pick(world.reduction, world.multiplied)((), type, depth), world.env
    return world.array(extents, type, depth), world.env


@st.composite
def norms(draw: Any) -> tuple[Array, dict[str, Any]]:
    """NORM2 of something: nothing around it, as its result is rounded."""
    world = World(draw)
    extents = tuple(world.pick(0, 1, 2, 3, 4) for _ in range(world.number(1, 3)))
    x = world.array(extents, "real", world.number(0, 2))
    given = {"dim": world.constant(world.number(1, len(extents)))} if world.chance() else {}
    return apply("norm2", (x,), given), world.env


@st.composite
def constructors(draw: Any) -> tuple[Array, dict[str, Any]]:
    world = World(draw)
    return world.constructor((world.number(0, 6),), "integer", world.number(0, 2)), world.env


def compare(array: Array, env: dict[str, Any]) -> None:
    """Shape and every element equal NumPy's; what is hoisted never fails, taken or not."""
    expected = objects(value(array, env))
    assert tuple(evaluate(n, env) for n in shape(array)) == expected.shape
    index = tuple(Name(f"j{d + 1}") for d in range(rank(array)))
    with fresh_indices():
        general = element(array, index)
    hoistable(general, env)
    for number, place in enumerate(cartesian(*(range(1, n + 1) for n in expected.shape))):
        wanted = expected[tuple(p - 1 for p in place)]
        here = env | dict(zip((j.id for j in index), place))
        assert evaluate(general, here) == wanted, (place, general)
        if number < 4:
            with fresh_indices():
                assert evaluate(element(array, tuple(map(integer, place))), env) == wanted, place


def hoistable(expr: Expr, env: dict[str, Any]) -> None:
    """Functions of scalars alone are evaluated before the loops, also where no iteration follows."""
    for x in walk(expr):
        if isinstance(x, Call) and x.name in ("modulo", "max", "min") and names(x) - {x.name} <= env.keys():
            evaluate(x, env)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=PROFILE != "long",
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)
@given(expressions())
def test_element_rules_agree_with_numpy(drawn: tuple[Array, dict[str, Any]]) -> None:
    compare(*drawn)


@settings(max_examples=EXAMPLES // 4, deadline=None, derandomize=PROFILE != "long", phases=PHASES)
@given(constructors())
def test_constructors_agree_with_numpy(drawn: tuple[Array, dict[str, Any]]) -> None:
    compare(*drawn)


@settings(
    max_examples=EXAMPLES // 4,
    deadline=None,
    derandomize=PROFILE != "long",
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)
@given(norms())
def test_norms_agree_with_numpy(drawn: tuple[Array, dict[str, Any]]) -> None:
    compare(*drawn)


# ---- each rule on its own, so that none is left to chance --------------------------------

N = 3
COMPLEX = Type("complex", 4, "complex")
ENV: dict[str, Any] = {
    "a": Bounded.of(np.arange(12).reshape(3, 4), (0, -1)),
    "m": Bounded.of((np.arange(12) % 3 == 0).reshape(3, 4)),
    "v": Bounded.of([5, 1, 4]),
    "e": Bounded.of(np.zeros((0, 4), dtype=int)),
    "t": Bounded.of(np.array([4, 1, 4, 1, 4, 2, 9, 9, 1, 9, 4, 1]).reshape(3, 4), (2, 0)),
    "z": Bounded.of([1 + 2j, -3j, 4 + 0j], type="complex"),
    "w": Bounded.of(["ab", "cd", "ef"], type="character"),
}


def whole(name: str, type: Type = INTEGER) -> Section:
    array = ENV[name]
    axes = tuple(Triplet(integer(low), ONE, integer(n)) for low, n in zip(array.lower, array.data.shape))
    return Section(Name(name), axes, type, whole=True)


def number(n: int) -> Scalar:
    return Scalar(integer(n), INTEGER)


@pytest.mark.parametrize("name", COMPOSED)
def test_every_composed_intrinsic(name: str) -> None:
    """Of a matrix (or a mask), along either dimension where it has DIM."""
    entry = INTRINSICS[name]
    if name in ("matmul", "dot_product"):
        return  # Of two arrays: below.
    first = whole("m", LOGICAL) if entry.required[0] == "mask" else whole("a")
    args: dict[str, Array] = {entry.required[0]: first}
    extras: dict[str, Array] = {
        "shift": number(-2),
        "ncopies": number(2),
        "shape": Constructor((number(4), number(3)), INTEGER),
        "value": number(4),
    }
    args |= {dummy: extras[dummy] for dummy in entry.required if dummy in extras}
    dummies = (*entry.required, *entry.optional)
    for dim in (1, 2) if "dim" in dummies else (0,):
        compare(apply(name, (), args | ({"dim": number(dim)} if dim else {})), ENV)
    if "mask" in entry.optional:
        compare(apply(name, (), args | {"mask": whole("m", LOGICAL)}), ENV)
        if "value" not in entry.required:
            compare(apply(name, (first, whole("m", LOGICAL))), ENV)


def test_every_product() -> None:
    """Vectors and matrices of integers, of logicals, of complex numbers, and of no elements."""
    a, m, v, e = whole("a"), whole("m", LOGICAL), whole("v"), whole("e")
    turned = apply("transpose", (a,))
    none = apply("transpose", (e,))
    for left, right in ((a, turned), (turned, a), (v, a), (turned, v), (e, turned), (none, e)):
        compare(apply("matmul", (left, right)), ENV)
    compare(apply("matmul", (apply("transpose", (m,)), m)), ENV)
    compare(apply("dot_product", (v, v)), ENV)
    compare(apply("dot_product", (whole("z", COMPLEX), whole("z", COMPLEX))), ENV)
    compare(apply("dot_product", (apply("any", (m,), {"dim": number(2)}),) * 2), ENV)


@pytest.mark.parametrize("shift", range(-8, 9))
@pytest.mark.parametrize("name", ["cshift", "eoshift"])
@pytest.mark.parametrize("array", ["v", "e", "a"])
def test_every_shift(name: str, shift: int, array: str) -> None:
    """Literal or variable, larger than the extent or not, of an extent known or not, or zero."""
    env = ENV | {"s": shift}
    section = whole(array)
    for steps in (number(shift), Scalar(Name("s"), INTEGER)):
        compare(apply(name, (section, steps)), env)
        env |= {f"n{d}": n for d, n in enumerate(ENV[array].data.shape)}
        axes = tuple(Triplet(x.lower, ONE, Name(f"n{d}")) for d, x in enumerate(section.axes))  # type: ignore[union-attr]
        compare(apply(name, (Section(section.base, axes, INTEGER), steps)), env)


@pytest.mark.parametrize("copies", [-2, 0, 2])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_every_number_of_copies(dim: int, copies: int) -> None:
    for times in (number(copies), Scalar(Name("s"), INTEGER)):
        compare(apply("spread", (whole("a"), number(dim), times)), ENV | {"s": copies})


def test_characters_shift_in_blanks_of_their_length() -> None:
    compare(apply("eoshift", (whole("w", Type("character", 1, "", integer(2))), number(1))), ENV)
    compare(apply("eoshift", (whole("w", Type("character", 1, "")), number(-2))), ENV)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("name", ["maxloc", "minloc", "findloc"])
def test_every_location(name: str, back: bool) -> None:
    more: dict[str, Array] = {"back": Scalar(Literal(f".{back}.".lower()), LOGICAL)}
    more |= {"value": number(4)} if name == "findloc" else {}
    masked = {"mask": whole("m", LOGICAL)}
    for some in ({}, masked, {"dim": number(1)}, {"dim": number(2)} | masked):
        for array in ("a", "e", "t"):
            given = some if array == "a" else {k: x for k, x in some.items() if k != "mask"}
            compare(apply(name, (whole(array),), more | given), ENV)


def test_materialised_arrays_have_no_body() -> None:
    index = (Name("j"), Name("k"))
    product = apply("unpack", (whole("v"), whole("m", LOGICAL), whole("a")))
    assert element(product, index) == At(product, index, None)
    assert element(apply("transpose", (product,)), index) == At(product, index[::-1], None)


def test_pack_has_the_size_of_its_mask() -> None:
    compare(apply("pack", (whole("a"), whole("m", LOGICAL))), ENV)
    for mask in (".true.", ".false."):
        compare(apply("pack", (whole("a"), Scalar(Literal(mask), LOGICAL))), ENV)


def test_an_element_out_of_range_is_noticed() -> None:
    """The oracle can fail: a subscript outside the bounds raises."""
    with pytest.raises(IndexError):
        evaluate(Ref(Name("v"), (integer(4),)), ENV)
