"""Draws whole assignments: a left-hand side, what is read on the right, data, and a scope that knows them.

Builds on the array expressions that ``test_oracle`` draws; what is new here are arrays with
declared bounds of every form, reads of what is assigned, aliases, user's functions and captures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from oracle import Bounded
from sites import UNIT, Drawn, Held, TestScope
from test_oracle import TYPES, World

from fortrans.frontend.designators import section_extent
from fortrans.ir.arrays import (
    Apply,
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
    base_name,
    rank,
)
from fortrans.ir.expr import ONE, Call, Component, Expr, Literal, Name, Op, Ref, integer
from fortrans.ir.sites import Assignment, Capture, Place
from fortrans.ir.symbols import INTEGER, DerivedType, Dimension, Procedure, Symbol, Type
from fortrans.source import Span

# How two names come to share storage: the attributes of the one assigned, and of the other.
SHARED: tuple[tuple[set[str], set[str]], ...] = (
    ({"target"}, {"pointer"}),
    ({"pointer"}, {"target"}),
    ({"pointer"}, {"pointer"}),
    ({"equivalence"}, {"equivalence"}),
    ({"common"}, {"common"}),
    ({"target", "dummy"}, {"target"}),
    (set(), {"associate"}),
)


@dataclass
class Statement(World):
    """Draws one assignment."""

    scope: TestScope = field(default_factory=TestScope)
    captures: list[Capture] = field(default_factory=list)
    target: Held | None = None
    alias: Held | None = None
    readable: bool = False
    taken: str = ""

    # ---- scalars

    def expr(self, number: int) -> Expr:
        """A literal, a variable or a named constant."""
        match self.number(0, 4):
            case 0:
                name = f"p{number}" if number >= 0 else f"q{-number}"
                self.env[name] = self.scope.constants[name] = number
                self.declare(name, INTEGER, attributes=frozenset({"parameter"}), value=integer(number))
                return Name(name)
            case 1 | 2:
                name = f"n{number}" if number >= 0 else f"m{-number}"
                self.env[name] = number
                self.declare(name, INTEGER)
                return Name(name)
            case _:
                return integer(number)

    def declare(self, name: str, type: Type, **more: Any) -> Symbol:
        symbol = Symbol(name, type, origin=UNIT, **more)
        self.scope.meanings[name] = symbol
        return symbol

    def scalar_of(self, type: str) -> Scalar:
        held = self.target
        if held and self.readable and held.type == type and held.data.data.size and self.number(0, 5) == 0:
            place = [self.number(low, low + n - 1) for low, n in zip(held.data.lower, held.data.data.shape)]
            return self.captured(Ref(held.base, tuple(map(self.expr, place))), TYPES[type])
        if type == "integer" and self.number(0, 3) == 0:
            return self.scalar(self.number(-3, 9))
        scalar = super().scalar_of(type)
        assert isinstance(scalar.value, Name)
        self.declare(scalar.value.id, TYPES[type])
        if self.number(0, 7) == 0:
            return self.captured(scalar.value, TYPES[type])
        return scalar

    def captured(self, value: Expr, type: Type) -> Scalar:
        """As ``lift`` does with what may change while elements are stored."""
        name = f"val{len(self.captures)}"
        self.captures.append(Capture(name, type, value))
        return Scalar(Name(name), type)

    # ---- arrays

    def new(self, sizes: tuple[int, ...], lowers: tuple[int, ...], type: str, deferred: bool = False,
            attributes: frozenset[str] = frozenset(), component: bool = False) -> Held:  # fmt: skip
        """A new variable (or component) with data, and its bounds in some declared form."""
        name = f"a{len(self.env)}"
        start, count = self.number(0, 10), math.prod(sizes)
        data: list[Any] = [(start + 7 * k) % 23 - 6 for k in range(count)]
        if type == "logical":
            bits = self.number(0, 2 ** min(count, 30) - 1)
            data = [bool(bits >> (k % 30) & 1) for k in range(count)]
        elif type == "real":
            data = [x / 2 for x in data]
        flat = np.empty(count, dtype=object)
        flat[:] = data
        bounded = Bounded(flat.reshape(sizes, order="F"), lowers, type)
        attributes |= frozenset({"allocatable"} if deferred else ())
        base: Expr = Name(name)
        dims: list[Dimension] = []
        forms: list[tuple[Expr, Expr]] = []
        if component:
            base = Component(Name(name), "u")
        for d, (size, low) in enumerate(zip(sizes, lowers), 1):
            lower, extent = (Call(inquiry, (base, integer(d))) for inquiry in ("lbound", "size"))
            declared = size if size else -self.number(0, 2)
            forms.append(
                (
                    lower if deferred or self.number(0, 2) == 0 else self.expr(low),
                    extent if deferred or self.chance() else self.expr(declared),
                )
            )
            dims.append(Dimension("deferred") if deferred else Dimension("assumed", ONE))
        symbol = Symbol(name, TYPES[type], tuple(dims), attributes, origin=UNIT)
        if component:
            derived = f"t{name}"
            self.scope.types[derived] = DerivedType(derived, {"u": replace(symbol, name="u", origin="")})
            self.declare(name, Type("type", None, f"type({derived})", derived=derived))
            self.env[name] = {"u": bounded}
        else:
            self.scope.meanings[name] = symbol
            self.env[name] = bounded
        return Held(base, bounded, tuple(low for low, _ in forms), tuple(n for _, n in forms), type)

    def triplet(self, held: Held, d: int, first: int, stride: int, extent: int) -> Triplet:
        low, size = held.data.lower[d], held.data.data.shape[d]
        if (stride, first, extent) == (1, low, size) and self.number(0, 2):
            return Triplet(held.lower[d], ONE, held.extent[d], full=True)
        last = first + (extent - 1) * stride
        if not extent:
            last = first - stride * self.number(1, 2)
        lower = held.lower[d] if first == low and size and self.chance() else self.expr(first)
        step = self.expr(stride)
        return Triplet(lower, step, section_extent(lower, self.expr(last), step))

    def section(self, extents: tuple[int, ...], type: str, distinct: bool = False,
                attributes: frozenset[str] = frozenset()) -> tuple[Section, Held]:  # fmt: skip
        """A section of a new array, whose bounds are anything that holds it."""
        plan: list[Any] = []
        sizes, lowers = list[int](), list[int]()
        for extent in extents:
            low = self.number(-2, 3)
            stride = self.pick(1, 1, 2, -1, -2, 3)
            if self.number(0, 7) == 0:
                size = self.number(extent if distinct else 1, max(extent, 1) + 1)
                places = range(low, low + size)
                steps = (
                    self.draw(st.permutations(places))[:extent]
                    if distinct
                    else [self.pick(*places) for _ in range(extent)]
                )
                plan.append(list(steps))
            else:
                size = (extent - 1) * abs(stride) + 1 if extent else self.number(0, 2)
                size += self.number(0, 1)
                last = low + (extent - 1) * abs(stride)
                plan.append((low if stride > 0 else max(last, low), stride, extent))
            sizes.append(size)
            lowers.append(low)
        if self.number(0, 3) == 0 and len(extents) < 3:
            where = self.number(0, len(plan))
            plan.insert(where, 2)
            sizes.insert(where, 2)
            lowers.insert(where, 1)
        component = not attributes and self.number(0, 7) == 0
        held = self.new(tuple(sizes), tuple(lowers), type, self.number(0, 3) == 0 and not attributes,
                        attributes, component)  # fmt: skip
        axes: list[Axis] = []
        for d, how in enumerate(plan):
            match how:
                case int():
                    axes.append(Fixed(self.expr(how)))
                case list():
                    axes.append(Vector(self.indices(how)))
                case (first, stride, extent):
                    axes.append(self.triplet(held, d, first, stride, extent))
        return Section(held.base, tuple(axes), TYPES[type]), held

    def whole(self, extents: tuple[int, ...], type: str, deferred: bool | None = None, **more: Any) -> Held:
        lowers = tuple(self.pick(1, 1, 0, -2, 3) for _ in extents)
        deferred = self.number(0, 3) == 0 if deferred is None else deferred
        return self.new(extents, lowers, type, deferred, **more)

    def indices(self, numbers: Any) -> Array:
        """A vector subscript; sometimes what is assigned."""
        vector = super().indices(numbers)
        assert isinstance(vector, Section)
        name = base_name(vector.base)
        held = self.env[name]
        self.scope.meanings[name] = Symbol(name, INTEGER, (Dimension("assumed", ONE),), origin=UNIT)
        low = integer(held.lower[0])
        return replace(vector, axes=(Triplet(low, ONE, Call("size", (vector.base, ONE)), full=True),))

    def leaf(self, extents: tuple[int, ...], type: str) -> Array:
        if not extents:
            return self.scalar_of(type)
        held = self.target
        again = 1 if self.alias else 2
        if held and self.readable and held.type == type and self.number(0, again) == 0:
            read = self.again(self.alias if self.alias and self.number(0, 2) else held, extents)
            if read is not None:
                return read
        if held and self.readable and type == held.type == "integer" and self.number(0, 3) == 0:
            through = self.again(held, extents) if len(extents) == 1 and held.data.data.size else None
            if through is not None:
                return self.through(held, through)
        if self.number(0, 11) == 0:
            return self.function_result(extents, type)
        if self.chance():
            return self.whole(extents, type).whole()
        return self.section(extents, type)[0]

    def through(self, held: Held, vector: Section) -> Section:
        """``b(a)`` where ``a`` is (part of) the array assigned."""
        least, most = min(held.data.data.flat), max(held.data.data.flat)
        b = self.new((most - least + 1,), (least,), held.type)
        return Section(b.base, (Vector(vector),), INTEGER)

    def again(self, held: Held, extents: tuple[int, ...]) -> Section | None:
        """The array that is assigned (or its alias), read: the same section, another, or all of it."""
        sizes = held.data.data.shape
        if extents == sizes and self.chance():
            return held.whole()
        left = self.left if held is self.target and extents == self.left_extents else None
        if isinstance(left, Section) and self.chance():
            return left
        if len(extents) > len(sizes):
            return None
        ranged = sorted(self.draw(st.permutations(range(len(sizes))))[: len(extents)])
        axes: list[Axis] = []
        wanted = iter(extents)
        for d, (size, low) in enumerate(zip(sizes, held.data.lower)):
            if d not in ranged:
                if not size:
                    return None
                axes.append(Fixed(self.expr(self.number(low, low + size - 1))))
                continue
            extent = next(wanted)
            steps = [s for s in (1, 2, -1, -2) if (extent - 1) * abs(s) < size] if extent else [1, -1]
            if not steps or (size and self.number(0, 9) == 0):
                if not size:
                    return None
                axes.append(Vector(self.indices([self.number(low, low + size - 1) for _ in range(extent)])))
                continue
            stride = self.pick(*steps)
            span = max(extent - 1, 0) * abs(stride)
            first = self.number(low, low + max(size - 1 - span, 0)) + (span if stride < 0 else 0)
            axes.append(self.triplet(held, d, first, stride, extent))
        return Section(held.base, tuple(axes), TYPES[held.type])

    def function_result(self, extents: tuple[int, ...], type: str) -> Section:
        """An array function's value, kept by a capture with rank."""
        held = self.whole(extents, type, deferred=False)
        name, local, data = f"f{len(self.env)}", f"val{len(self.captures)}", held.data
        self.env[name] = lambda data=data: Bounded.of(data.data.copy(), None, type)
        self.scope.meanings[name] = Procedure(name, "external", pure=True)
        self.captures.append(Capture(local, TYPES[type], Call(name, ()), len(extents)))
        axes = tuple(Triplet(ONE, ONE, Call("size", (Name(local), integer(d + 1))), full=True)
                     for d in range(len(extents)))  # fmt: skip
        return Section(Name(local), axes, TYPES[type])

    # ---- expressions

    def shifted(self, extents: tuple[int, ...]) -> tuple[int, dict[str, Array]]:
        """As in the oracle, mostly by one along the first dimension, for which loops are split."""
        dim, given = super().shifted(extents)
        if self.chance():
            dim, given = 1, {"shift": self.constant(self.pick(1, -1))}
        return dim, given

    def elemental(self, extents: tuple[int, ...], type: str, depth: int) -> Array:
        choice = self.number(0, 7)
        if type == "integer" and choice == 0:
            args = (self.array(extents, type, depth), self.scalar(self.number(2, 5)))
            return self.folded(Elemental("mod", args, INTEGER))
        if type == "real" and choice == 0:
            args = (self.array(extents, type, depth), Scalar(Literal("2.0"), TYPES[type]))
            return self.folded(Elemental("/", args, TYPES[type], operator=True))
        if type == "integer" and choice in (1, 2, 3) and extents:
            return Elemental(self.user(), (self.array(extents, type, depth),), INTEGER, user=True)
        if type == "real" and choice == 1:
            return self.folded(Elemental("real", (self.array(extents, "integer", depth),), TYPES[type]))
        found = super().elemental(extents, type, depth)
        return self.folded(found) if isinstance(found, Elemental) else found

    def folded(self, array: Elemental) -> Array:
        """What has scalar operands only is a scalar, as ``lift`` has it."""
        if not all(isinstance(x, Scalar) for x in array.operands):
            return array
        values = tuple(x.value for x in array.operands if isinstance(x, Scalar))
        return Scalar(Op(array.name, values) if array.operator else Call(array.name, values), array.type)

    def user(self) -> str:
        """A user's function; an internal one reads the array assigned, an external one cannot."""
        held, env = self.target, self.env
        if held is not None and self.number(0, 3):
            root = held.root

            def peek(x: int) -> int:
                now = env[root]["u"] if isinstance(env[root], dict) else env[root]
                first = now.data.flat[0] if now is not None and now.data.size else 0
                return x + int(first) if isinstance(first, int | float) else x

            env["peek"] = peek
            self.scope.meanings["peek"] = Procedure("peek", "internal", pure=True, elemental=True, host=UNIT)
            return "peek"
        env["twice"] = lambda x: 2 * x
        self.scope.meanings["twice"] = Procedure("twice", "external", pure=True, elemental=True)
        return "twice"

    def reduction(self, extents: tuple[int, ...], type: str, depth: int) -> Array:
        if type == "real" and self.chance():
            dim = self.number(1, len(extents) + 1)
            inner = (*extents[: dim - 1], self.pick(0, 1, 2, 3), *extents[dim - 1 :])
            given: dict[str, Array] = {"dim": self.constant(dim)} if extents or self.chance() else {}
            if not given:
                inner = tuple(self.number(0, 3) for _ in range(self.number(1, 3)))
            if self.chance():
                given["mask"] = self.mask(inner, depth - 1)
            name = self.pick("maxval", "minval")
            return self.called(name, array=self.array(inner, type, min(depth, 1)), **given)
        if type == "integer" and not extents and self.number(0, 9) == 0:
            size = (self.number(0, 3),)
            left = self.array(size, type, depth)
            return self.called("dot_product", vector_a=left, vector_b=self.leaf(size, type))
        return super().reduction(extents, type, depth)

    # ---- the statement

    left: Section | Scalar | None = None
    left_extents: tuple[int, ...] = ()

    def statement(self) -> Drawn:
        type = self.pick("integer", "integer", "integer", "logical", "real")
        if self.number(0, 6) == 0:
            return self.scalar_statement(type)
        extents = tuple(self.pick(0, 1, 2, 3, 3, 4, 6) for _ in range(self.number(1, 3)))
        if math.prod(extents) > 36:
            extents = extents[:2]
        other = {"integer": "real", "real": "integer"}.get(type, type) if self.number(0, 5) == 0 else type
        reallocates = self.draw_left(extents, other)
        value = self.array(extents, type, self.number(1, 4))
        assert self.target is not None and self.left is not None
        if not rank(value):
            reallocates = False
        return self.drawn(self.left, value, reallocates)

    def scalar_statement(self, type: str) -> Drawn:
        """``r = reduction``, or an element of an array that the reduction may read."""
        if self.chance():
            self.env["r"] = self.value_of(type)
            self.declare("r", TYPES[type])
            value = self.reduction((), type, self.number(1, 3))
            return replace(self.drawn(Scalar(Name("r"), TYPES[type]), value, False), scalar="r")
        sizes = tuple(self.number(1, 3) for _ in range(self.number(1, 2)))
        held = self.target = self.whole(sizes, type)
        place = [self.number(low, low + n - 1) for low, n in zip(held.data.lower, sizes)]
        self.left = Scalar(Ref(held.base, tuple(map(self.expr, place))), TYPES[type])
        self.readable = True
        return self.drawn(self.left, self.reduction((), type, self.number(1, 3)), False)

    def draw_left(self, extents: tuple[int, ...], type: str) -> bool:
        """The left-hand side; whether assigning to it may reallocate."""
        self.left_extents = extents
        self.readable = True
        if self.number(0, 3) == 0:
            return self.reallocated(extents, type)
        mine, theirs = self.pick(*SHARED) if self.number(0, 2) == 0 else (set(), set())
        attributes = frozenset(mine)
        if self.chance():
            # Whole arrays that may be reallocated are drawn apart.
            self.target = self.whole(extents, type, deferred=False, attributes=attributes,
                                     component=not theirs and self.number(0, 5) == 0)  # fmt: skip
            self.left = self.target.whole()
        else:
            self.left, self.target = self.section(extents, type, distinct=True, attributes=attributes)
        if theirs:
            self.share(self.target, frozenset(theirs))
        return False

    def reallocated(self, extents: tuple[int, ...], type: str) -> bool:
        old = extents
        if self.chance():
            old = tuple(self.number(0, 4) for _ in extents)
        self.left_extents = old
        self.target = self.whole(old, type, deferred=True, component=self.number(0, 5) == 0)
        self.left = self.target.whole()
        if self.number(0, 3) == 0:
            self.readable = False
            if isinstance(self.target.base, Name):
                self.env[self.target.base.id] = None
            else:
                self.env[self.target.root]["u"] = None
        return True

    def share(self, held: Held, attributes: frozenset[str]) -> None:
        """Another name for part of the array assigned, or for what might have been."""
        cut = tuple(slice(None, None, self.pick(1, 1, -1, 2)) for _ in held.data.data.shape)
        view = held.data.data[cut]
        if self.pick(True, False):
            view = view.copy()
        lowers = tuple(self.pick(1, 1, 0, 2) for _ in view.shape)
        base = Name("alias")
        data = Bounded(view, lowers, held.type)
        self.env["alias"] = data
        dims = (Dimension("assumed", ONE),) * view.ndim
        self.scope.meanings["alias"] = Symbol("alias", TYPES[held.type], dims, attributes, origin=UNIT)
        extent = tuple(Call("size", (base, integer(d + 1))) for d in range(view.ndim))
        lower = tuple(map(integer, lowers))
        self.alias = Held(base, data, lower, extent, held.type)

    def drawn(self, left: Section | Scalar, value: Array, reallocates: bool) -> Drawn:
        for name, held in self.env.items():
            if name not in self.scope.meanings:
                if isinstance(held, Bounded):
                    dims = (Dimension("assumed", ONE),) * held.data.ndim
                    self.scope.meanings[name] = Symbol(name, TYPES[held.type], dims, origin=UNIT)
                else:
                    self.declare(name, INTEGER)
        site = Assignment(
            Place(Span(1, 1), "", ("x = y\n",), "x = y"),
            self.scope,
            left,
            value,
            tuple(self.captures),
            reallocates,
        )
        shared = frozenset({"alias"}) if self.alias else frozenset()
        return Drawn(site, self.env, self.target, "", shared, frozenset(_implied(value)))


def _implied(array: Array | Implied) -> set[str]:
    """The variables of implied DOs, which a kept constructor declares anew."""
    match array:
        case Implied(items, name):
            return {name}.union(*map(_implied, items))
        case Constructor(items):
            return set().union(*map(_implied, items))
        case Elemental(operands=operands):
            return set().union(*map(_implied, operands))
        case Apply(args=args):
            return set().union(*map(_implied, args.values()))
        case Section(axes=axes):
            return set().union(*(_implied(axis.array) for axis in axes if isinstance(axis, Vector)))
        case _:
            return set()


@st.composite
def assignments(draw: Any) -> Drawn:
    return Statement(draw).statement()
