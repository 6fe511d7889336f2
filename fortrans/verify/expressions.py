"""Random Fortran expressions of a given type and shape, with a bound on their magnitude."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from random import Random

from fortrans.verify.sections import Sections
from fortrans.verify.variables import Shape, Variable

#: No value stored exceeds STORED; no value inside an expression exceeds INSIDE, which the
#: narrowest type still counts exactly.
STORED, INSIDE = 1000.0, 1.0e6

_SUFFIX = {"i4": "", "i8": "_i8", "r4": ".0", "r8": ".0_dp"}
_ORDER = ("i4", "i8", "r4", "r8")
_CONVERT = {"i4": "int({})", "i8": "int({}, i8)", "r4": "real({}, sp)", "r8": "real({}, dp)"}


@dataclass(frozen=True, slots=True)
class Value:
    """An expression that can stand as an operand or an argument."""

    text: str
    bound: float = 1.0


#: Type, shape and depth to an expression, or None where the rule does not apply.
Rule = Callable[[str, Shape, int], Value | None]


class Expressions:
    """Writes expressions over ``variables``, of which the list may change between statements."""

    def __init__(self, random: Random, variables: list[Variable], inexact: bool) -> None:
        self.random = random
        self.variables = variables
        self.inexact = inexact
        self.scalars = {"s1": "i4", "s2": "i8", "x1": "r4", "x2": "r8", "z1": "z8", "l1": "l"}
        self.sections = Sections(random)
        self._preferred: Variable | None = None
        self._impure_left = False

    def begin(self, target: Variable | None, shape: Shape, impure: bool = True) -> None:
        """A new statement: its target is read now and then, and one ``impure`` reference may occur."""
        self._preferred = target
        self._impure_left = impure and 0 not in shape

    def initial(self) -> list[tuple[str, str]]:
        """A first value for each scalar."""
        return [(name, self._literal(kind).text) for name, kind in self.scalars.items()]

    # Whole statements

    def stored(self, kind: str, shape: Shape, depth: int, reduced: bool = False) -> str:
        """A right-hand side of this shape; of another type now and then, for the conversion."""
        other = kind
        if kind in _ORDER and self._chance(0.2):
            other = self.random.choice(_ORDER)
        if kind == "c" and self._chance(0.3):
            # Longer than the variable: cut at the store.
            parts = [self.expression("c", shape, depth - 1).text for _ in range(2)]
            return f"{parts[0]} // {parts[1]}"
        if reduced:
            value = self._reduction(other, (), depth) or self.expression(other, (), depth)
        else:
            value = self.expression(other, shape, depth)
        return self._small(other, value, STORED).text

    def condition(self) -> str:
        """A scalar logical expression."""
        self.begin(None, ())
        return self.expression("l", (), 2).text

    def definable(self, variable: Variable) -> tuple[str, Shape]:
        """A left-hand side on ``variable``, and its shape."""
        extents = variable.extents or ()
        if self._chance(0.45):
            return variable.name, extents
        kept = [extent == 0 or self._chance(0.8) for extent in extents]
        subscripts, shape = [], []
        for extent, low, keep in zip(extents, variable.lower, kept):
            if keep:
                part = self.random.randint(min(1, extent), extent) if self._chance(0.6) else extent
                if self._chance(0.03):
                    part = 0
                shape.append(part)
                subscripts.append(self.sections.triplet(low, extent, part, many_one=False))
            else:
                subscripts.append(self.sections.subscript(low, extent))
        return variable.section(", ".join(subscripts)), tuple(shape)

    # Expressions

    def expression(self, kind: str, shape: Shape, depth: int) -> Value:
        """An operand of this type and shape, at most ``depth`` operations deep."""
        if depth <= 0:
            return self._leaf(kind, shape)
        rules: list[Rule] = [self._leaf_rule, self._merge]
        if shape:
            rules += [self._cshift, self._cshift, self._eoshift, self._reshape, self._spread]
            rules += [self._pack if len(shape) == 1 else self._unpack]
        if len(shape) == 2:
            rules += [self._transpose, self._transpose]
        if kind in _ORDER:
            rules += [self._binary] * 4 + [self._unary, self._convert, self._product]
        if kind == "i4":
            rules += [self._elemental] + [self._location] * 3
        if kind == "z8":
            rules += [self._complex] * 3
        if kind == "l":
            rules += [self._compare] * 2 + [self._logical]
        if kind != "c":
            rules += [self._reduction] * 3 + [self._multiplied]
        value = self.random.choice(rules)(kind, shape, depth)
        return value or self._leaf(kind, shape)

    def _chance(self, part: float) -> bool:
        return self.random.random() < part

    def _small(self, kind: str, value: Value, limit: float) -> Value:
        if value.bound <= limit:
            return value
        if kind == "z8":
            power = math.ceil(math.log2(value.bound / limit))
            return Value(f"({value.text} * {0.5**power!r}_dp)", limit)
        modulus = 97 if limit < STORED else 997
        name = self.random.choice(["mod", "modulo"])
        return Value(f"{name}({value.text}, {modulus}{_SUFFIX[kind]})", modulus)

    def _literal(self, kind: str) -> Value:
        number = self.random.randint(-5, 9)
        match kind:
            case "l":
                return Value(self.random.choice([".true.", ".false."]))
            case "c":
                return Value("'" + "".join(self.random.choices("abcxyz", k=3)) + "'")
            case "z8":
                return Value(f"({number}.0_dp, {self.random.randint(-4, 4)}.0_dp)", 14)
        fraction = f"{number}.3" if self.inexact and kind in ("r4", "r8") else f"{number}"
        suffix = _SUFFIX[kind].removeprefix(".0") if "." in fraction else _SUFFIX[kind]
        text = fraction + suffix
        return Value(f"({text})" if number < 0 else text, abs(number) + 1)

    def _constructor(self, kind: str, extent: int) -> Value:
        # A variable in each, since gfortran 12 fails on some constant expressions that it folds.
        a, b = self.random.randint(1, 5), self.random.randint(0, 9)
        number = f"i * {a} {self.random.choice('+-')} {self.random.choice('nm')}"
        item = {
            "i4": number,
            "i8": f"int({number}, i8)",
            "r4": f"real({number}, sp)",
            "r8": f"real({number}, dp)",
            "z8": f"cmplx({number}, i, dp)",
            "l": f"mod({number}, 3) == 0",
            "c": f"achar(70 + i) // 'q' // achar({75 + b} - i)",
        }[kind]
        bound = a * extent + 10
        if kind != "c" and extent > 1 and self._chance(0.3):
            spec = {"i4": "integer", "i8": "integer(i8)", "r4": "real(sp)", "r8": "real(dp)", "l": "logical"}
            typed = f"{spec[kind]} :: " if kind in spec and self._chance(0.5) else ""
            if extent in (3, 6, 10):
                # As many turns of the inner loop as the outer one counts.
                inner = item.replace("i", "k", 1) if item.startswith("i *") else item
                turns = {3: 2, 6: 3, 10: 4}[extent]
                return Value(f"[{typed}(({inner}, k = 1, i), i = 1, {turns})]", bound)
            if extent % 2 == 0:
                return Value(f"[{typed}({item}, {item}, i = 1, {extent // 2})]", bound)
            first = self._scalar(kind)
            rest = self._leaf(kind, (extent - 1,))
            return Value(f"[{typed}{first.text}, {rest.text}]", max(bound, first.bound, rest.bound))
        return Value(f"[({item}, i = 1, {extent})]", bound)

    def _leaf_rule(self, kind: str, shape: Shape, _: int) -> Value:
        return self._leaf(kind, shape)

    def _leaf(self, kind: str, shape: Shape) -> Value:
        if not shape:
            return self._scalar(kind)
        fits = [v for v in self.variables if v.type == kind and self.sections.places(v, shape)]
        if self._preferred in fits and self._chance(0.5):
            fits = [v for v in fits if v is self._preferred]
        if fits and self._chance(0.9):
            return Value(self._part(self.random.choice(fits), shape), STORED)
        if len(shape) == 1:
            if kind == "i4" and self._impure_left and self._chance(0.1):
                self._impure_left = False
                return Value(f"ramp({self.sections.number(shape[0])})", 11)
            return self._constructor(kind, shape[0])
        if 0 in shape or self._chance(0.5):
            return self._spread(kind, shape, 1)
        value = self._constructor(kind, math.prod(shape))
        return Value(f"reshape({value.text}, {self._shape(shape)})", value.bound)

    def _scalar(self, kind: str) -> Value:
        if kind == "i4" and self._impure_left and self._chance(0.15):
            self._impure_left = False
            return Value("bump()", 5)
        if kind == "i4" and self.sections.loop and self._chance(0.4):
            return Value(self.sections.loop[0], self.sections.loop[1])
        if kind == "i4" and self._chance(0.1):
            return Value(self.random.choice(["n", "m"]), 9)
        named = [name for name, type_ in self.scalars.items() if type_ == kind]
        if named and self._chance(0.3):
            return Value(named[0], STORED)
        fits = [v for v in self.variables if v.type == kind and v.extents and 0 not in v.extents]
        if self._preferred in fits and self._chance(0.5):
            fits = [v for v in fits if v is self._preferred]
        if fits and self._chance(0.6):
            variable = self.random.choice(fits)
            pairs = zip(variable.lower, variable.extents or ())
            subscripts = ", ".join(self.sections.subscript(low, extent) for low, extent in pairs)
            return Value(variable.section(subscripts), STORED)
        return self._literal(kind)

    # Sections

    def _part(self, variable: Variable, shape: Shape) -> str:
        extents = variable.extents or ()
        if extents == shape and self._chance(0.6):
            return variable.name
        dims = self.random.choice(self.sections.places(variable, shape))
        wanted = dict(zip(dims, shape))
        return variable.section(
            ", ".join(
                self.sections.triplet(low, extent, wanted[d], many_one=True)
                if d in wanted
                else self.sections.subscript(low, extent)
                for d, (low, extent) in enumerate(zip(variable.lower, extents))
            )
        )

    def _shape(self, shape: Shape) -> str:
        return f"[{', '.join(self.sections.number(extent) for extent in shape)}]"

    # Rules: each gives a value, or None where it does not apply

    @contextmanager
    def _pure(self) -> Iterator[None]:
        """No impure reference: a processor may skip an operand that cannot change the value."""
        left, self._impure_left = self._impure_left, False
        try:
            yield
        finally:
            self._impure_left = left

    def _shift(self) -> str:
        if self._chance(0.7):
            number = self.random.randint(-6, 6)
            return f"({number})" if number < 0 and self._chance(0.1) else str(number)
        return self._scalar("i4").text

    def _shifts(self, shape: Shape, dim: int) -> str:
        """A shift for each row along a dimension, or one for all."""
        # gfortran 12 goes wrong on arrays without elements.
        if len(shape) == 1 or 0 in shape or self._chance(0.75):
            return self._shift()
        rows = shape[: dim - 1] + shape[dim:]
        with self._pure():
            return self._small("i4", self.expression("i4", rows, 1), 96.0).text

    def _pack(self, kind: str, shape: Shape, depth: int) -> Value | None:
        (extent,) = shape
        if not extent:
            return None
        inner: Shape = (self.random.randint(1, extent),)
        if extent > 3 and self._chance(0.4):
            inner = (2, extent // 2)
        with self._pure():
            array = self.expression(kind, inner, depth - 1)
            mask = self.expression("l", inner, 1) if self._chance(0.9) else self._scalar("l")
            vector = self.expression(kind, shape, depth - 2)
        bound = max(array.bound, vector.bound)
        return Value(f"pack({array.text}, {mask.text}, {vector.text})", bound)

    def _unpack(self, kind: str, shape: Shape, depth: int) -> Value | None:
        if 0 in shape:
            return None
        with self._pure():
            vector = self.expression(kind, (math.prod(shape),), depth - 1)
            mask = self.expression("l", shape, 1)
            field = self.expression(kind, shape if self._chance(0.7) else (), depth - 2)
        bound = max(vector.bound, field.bound)
        return Value(f"unpack({vector.text}, {mask.text}, {field.text})", bound)

    def _dim(self, dim: int, keyword: bool) -> str:
        return f", dim={dim}" if keyword else f", {dim}"

    def _cshift(self, kind: str, shape: Shape, depth: int) -> Value:
        array = self.expression(kind, shape, depth - 1)
        dim = self.random.randint(1, len(shape))
        where = "" if dim == 1 and self._chance(0.6) else self._dim(dim, self._chance(0.4))
        return Value(f"cshift({array.text}, {self._shifts(shape, dim)}{where})", array.bound)

    def _eoshift(self, kind: str, shape: Shape, depth: int) -> Value:
        array = self.expression(kind, shape, depth - 1)
        dim = self.random.randint(1, len(shape))
        bound, boundary = array.bound, ""
        if self._chance(0.5):
            edge = self._literal(kind) if self._chance(0.6) else self._scalar(kind)
            if len(shape) == 2 and self._chance(0.3):
                edge = self._leaf(kind, (shape[2 - dim],))
            boundary, bound = f", boundary={edge.text}", max(bound, edge.bound)
        where = "" if dim == 1 and self._chance(0.5) else f", dim={dim}"
        return Value(f"eoshift({array.text}, {self._shifts(shape, dim)}{boundary}{where})", bound)

    def _transpose(self, kind: str, shape: Shape, depth: int) -> Value:
        array = self.expression(kind, shape[::-1], depth - 1)
        return Value(f"transpose({array.text})", array.bound)

    def _spread(self, kind: str, shape: Shape, depth: int) -> Value:
        dim = self.random.randint(1, len(shape))
        copies = self.sections.number(shape[dim - 1])
        rest = shape[: dim - 1] + shape[dim:]
        # gfortran 12 fails on SPREAD of a scalar that is a reduction.
        source = self.expression(kind, rest, depth - 1) if rest else self._scalar(kind)
        if self._chance(0.2):
            return Value(f"spread({source.text}, ncopies={copies}, dim={dim})", source.bound)
        return Value(f"spread({source.text}, {dim}, {copies})", source.bound)

    def _reshape(self, kind: str, shape: Shape, depth: int) -> Value | None:
        if 0 in shape:
            return None
        count = math.prod(shape)
        pad = ""
        if self._chance(0.25) and count > 1:
            pad = f", pad={self._leaf(kind, (self.random.randint(1, 2),)).text}"
            count = self.random.randint(1, count)
        elif self._chance(0.2):
            count += self.random.randint(0, 2)
        first = self.random.choice([k for k in range(1, count + 1) if count % k == 0])
        source = self.expression(kind, (first, count // first), depth - 1)
        order = ""
        if len(shape) > 1 and self._chance(0.35):
            permuted = self.random.sample(range(1, len(shape) + 1), len(shape))
            order = f", order=[{', '.join(map(str, permuted))}]"
        bound = max(source.bound, STORED)
        return Value(f"reshape({source.text}, {self._shape(shape)}{pad}{order})", bound)

    def _merge(self, kind: str, shape: Shape, depth: int) -> Value:
        with self._pure():
            # With both scalar, gfortran 12 takes the whole for a scalar.
            whole = self._chance(0.8)
            mask = self.expression("l", shape if whole else (), depth - 1)
            one = self.expression(kind, shape, depth - 1)
            two = self.expression(kind, () if whole and self._chance(0.3) else shape, depth - 1)
        return Value(f"merge({one.text}, {two.text}, {mask.text})", max(one.bound, two.bound))

    def _operands(self, kind: str, shape: Shape, depth: int) -> tuple[Value, Value]:
        one = self.expression(kind, shape, depth - 1)
        lesser = _ORDER[: _ORDER.index(kind) + 1] if kind in _ORDER else (kind,)
        other = self.random.choice(lesser) if self._chance(0.3) else kind
        two = self.expression(other, shape if self._chance(0.75) else (), depth - 1)
        return (one, two) if self._chance(0.5) else (two, one)

    def _binary(self, kind: str, shape: Shape, depth: int) -> Value:
        one, two = self._operands(kind, shape, depth)
        if one.bound * two.bound <= INSIDE and self._chance(0.4):
            return Value(f"({one.text} * {two.text})", one.bound * two.bound)
        value = Value(f"({one.text} {self.random.choice('+-')} {two.text})", one.bound + two.bound)
        return self._small(kind, value, INSIDE)

    def _product(self, kind: str, shape: Shape, depth: int) -> Value:
        value = self._small(kind, self.expression(kind, shape, depth - 1), INSIDE / 4)
        if self._chance(0.5):
            return Value(f"({value.text} / {self.random.choice([2, 4])}{_SUFFIX[kind]})", value.bound)
        return Value(f"({self.random.randint(2, 4)} * {value.text})", 4 * value.bound)

    def _unary(self, kind: str, shape: Shape, depth: int) -> Value:
        value = self.expression(kind, shape, depth - 1)
        match self.random.randrange(4):
            case 0:
                return Value(f"(-{value.text})", value.bound)
            case 1:
                return Value(f"abs({value.text})", value.bound)
            case 2:
                return self._small(kind, value, 96.0)
        other = self.expression(kind, shape if self._chance(0.6) else (), depth - 1)
        name = self.random.choice(["max", "min"])
        return Value(f"{name}({value.text}, {other.text})", max(value.bound, other.bound))

    def _convert(self, kind: str, shape: Shape, depth: int) -> Value:
        value = self.expression(self.random.choice(_ORDER), shape, depth - 1)
        return Value(_CONVERT[kind].format(value.text), value.bound)

    def _elemental(self, kind: str, shape: Shape, depth: int) -> Value:
        value = self._small(kind, self.expression(kind, shape, depth - 1), INSIDE)
        if self._chance(0.5):
            return Value(f"twist({value.text})", 101)
        return Value(f"peek({value.text})", STORED)

    def _complex(self, kind: str, shape: Shape, depth: int) -> Value:
        one = self.expression(kind, shape, depth - 1)
        match self.random.randrange(3):
            case 0:
                return Value(f"conjg({one.text})", one.bound)
            case 1:
                parts = [self.expression("r8", shape, depth - 1) for _ in range(2)]
                bound = parts[0].bound + parts[1].bound
                return Value(f"cmplx({parts[0].text}, {parts[1].text}, dp)", bound)
        two = self.expression(kind, shape if self._chance(0.75) else (), depth - 1)
        value = Value(f"({one.text} {self.random.choice('+-')} {two.text})", one.bound + two.bound)
        return self._small(kind, value, INSIDE)

    def _compare(self, _: str, shape: Shape, depth: int) -> Value:
        kind = self.random.choice([*_ORDER, "i4", "c"])
        one = self.expression(kind, shape, depth - 1)
        two = self.expression(kind, shape if self._chance(0.7) else (), depth - 1)
        return Value(f"({one.text} {self.random.choice(['<', '>', '==', '/=', '<='])} {two.text})")

    def _logical(self, kind: str, shape: Shape, depth: int) -> Value:
        with self._pure():
            one = self.expression(kind, shape, depth - 1)
            if self._chance(0.3):
                return Value(f"(.not. {one.text})")
            two = self.expression(kind, shape if self._chance(0.7) else (), depth - 1)
        name = self.random.choice([".and.", ".or.", ".eqv.", ".neqv."])
        return Value(f"({one.text} {name} {two.text})")

    def _location(self, _: str, shape: Shape, depth: int) -> Value | None:
        """Without KIND, and MASK or BACK alone, no MASK of an empty array: what gfortran 12 gets right."""
        if len(shape) > 2:
            return None
        kind = self.random.choice([*_ORDER, "l"])
        name = "findloc" if kind == "l" else self.random.choice(["maxloc", "minloc", "findloc"])
        whole = len(shape) == 1 and 1 <= shape[0] <= 3 and self._chance(0.5)
        if whole:
            inner, where = tuple(self.random.randint(1, 4) for _ in range(shape[0])), ""
        else:
            dim = self.random.randint(1, len(shape) + 1)
            extent = self.random.choice([0, 1, 2, 3, 3, 4, 5])
            inner, where = (*shape[: dim - 1], extent, *shape[dim - 1 :]), f", dim={dim}"
        with self._pure():
            array = self._small(kind, self.expression(kind, inner, depth - 1), INSIDE)
            value = f", {self._scalar(kind).text}" if name == "findloc" else ""
            extra = ""
            if 0 not in inner and self._chance(0.3):
                extra = f", mask={self.expression('l', inner, 1).text}"
            elif self._chance(0.4):
                extra = f", back={self._scalar('l').text}"
        return Value(f"{name}({array.text}{value}{where}{extra})", 5)

    def _multiplied(self, kind: str, shape: Shape, depth: int) -> Value | None:
        """DOT_PRODUCT or MATMUL, of reals only whole numbers: no order of a sum can be told from those."""
        if len(shape) > 2 or kind == "z8":
            return None
        extent = self.random.choice([0, 1, 2, 3, 5, 9])
        cut = self.random.randint(0, 1) if len(shape) == 1 else len(shape) // 2
        one, two = (
            self._factor(kind, part, depth - 1) for part in ((*shape[:cut], extent), (extent, *shape[cut:]))
        )
        if kind in _ORDER and not one.text.startswith(_CONVERT[kind][:4]):
            two = Value(_CONVERT[kind].format(two.text), two.bound)
        name = "matmul" if shape else "dot_product"
        bound = 1.0 if kind == "l" else max(extent, 1) * one.bound * two.bound
        return Value(f"{name}({one.text}, {two.text})", bound)

    def _factor(self, kind: str, shape: Shape, depth: int) -> Value:
        if kind == "l":
            return self.expression("l", shape, depth)
        value = self._small("i4", self.expression("i4", shape, depth), 160.0)
        return Value(_CONVERT[kind].format(value.text), value.bound) if self._chance(0.6) else value

    def _reduction(self, kind: str, shape: Shape, depth: int) -> Value | None:
        if len(shape) > 2:
            return None
        whole = not shape and self._chance(0.6)
        extent = self.random.choice([0, 1, 2, 3, 3, 4, 5]) if self._chance(0.3) else 3
        dim = self.random.randint(1, len(shape) + 1)
        inner = (*shape[: dim - 1], extent, *shape[dim - 1 :])
        if whole:
            inner = self.random.choice([(4,), (2, 3), (3, 3), (2, 2, 2)])
        where = "" if whole else self._dim(dim, self._chance(0.5))
        if kind == "l":
            name = self.random.choice(["any", "all"])
            return Value(f"{name}({self.expression('l', inner, depth - 1).text}{where})")
        if kind == "i4" and self._chance(0.25):
            return Value(f"count({self.expression('l', inner, depth - 1).text}{where})", 30)
        name = self.random.choice(["sum", "sum", "maxval", "minval", "product"])
        if kind == "z8" or (name != "sum" and 0 in inner):
            name = "sum"
        masked = name in ("sum", "product") and self._chance(0.3)
        with self._pure() if masked else nullcontext():
            limit = 96.0 if name == "product" else INSIDE / 32
            value = self._small(kind, self.expression(kind, inner, depth - 1), limit)
        bound = value.bound
        if name == "product":
            count = math.prod(inner) if whole else extent
            if bound**count > INSIDE:
                name = "sum" if masked else "maxval"
            else:
                bound = max(1.0, bound**count)
        if name == "sum":
            bound *= max(1, math.prod(inner) if whole else extent)
        mask = ""
        if masked:
            with self._pure():
                # gfortran 12 goes wrong where a scalar mask is a reduction itself.
                plain = self._chance(0.2)
                where_true = self._scalar("l") if plain else self.expression("l", inner, 1)
            mask = f", mask={where_true.text}"
        if mask and not whole:
            where = f", dim={dim}"
        if whole and name == "sum" and not mask and self._chance(0.25):
            with self._pure():
                kept = self.expression("l", inner, 1)
            return Value(f"sum(pack({value.text}, {kept.text}))", bound)
        return Value(f"{name}({value.text}{where}{mask})", bound)
