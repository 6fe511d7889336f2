"""The notation of ``fixtures/rules.txt``: a reader of array expressions, and a printer of elements.

``(t ? x : y)`` is a choice, ``sum(k = 1:n, mask: x)`` a reduction, ``<x>`` an element that lowering
may keep, and ``PACK{j}`` one of an array that is kept as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fortrans.emit.printer import text
from fortrans.emit.style import Spelling
from fortrans.intrinsics import INTRINSICS, apply
from fortrans.intrinsics.elemental import elemental_type
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
    rank,
)
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Expr,
    Literal,
    Locate,
    Name,
    Op,
    Opaque,
    Reduce,
    Select,
    add,
    sub,
    transform,
)
from fortrans.ir.promote import operation
from fortrans.ir.symbols import INTEGER, LOGICAL, REAL, Type

TOKEN = re.compile(r"\s*('[^']*'|\.\w+\.|\d+\.\d*(?:_\w+)?|\w+|=>|::|<=|>=|==|/=|//|\*\*|.)")
LEVELS = ((".or.",), (".and.",), ("==", "/=", "<", "<=", ">", ">="), ("//",), ("+", "-"), ("*", "/"))
KINDS = {"integer": 4, "real": 4, "logical": 4, "complex": 4, "character": 1}


def declarations(line: str) -> dict[str, Section | Scalar]:
    """The objects of ``real(dp) :: a(m, 0:n)``, each as the whole of it."""
    spec, _, entities = line.partition("::")
    spec = spec.strip()
    name = re.match(r"\w+", spec)[0]  # type: ignore[index]
    kind: int | str = KINDS[name]
    length: Expr | None = None
    if found := re.search(r"\((.*)\)", spec):
        if name == "character":
            length = _scalar(Reader(found[1], {}).expression())
        else:
            kind = int(found[1]) if found[1].isdigit() else found[1]
    type = Type(name, kind, spec, length)
    result: dict[str, Section | Scalar] = {}
    for id, bounds in re.findall(r"(\w+)(\(.*?\))?(?:,|$)", entities.replace(" ", "")):
        axes = []
        for bound in bounds[1:-1].split(",") if bounds else ():
            low, _, high = bound.rpartition(":")
            lower = _scalar(Reader(low, {}).expression()) if low else ONE
            upper = _scalar(Reader(high, {}).expression())
            axes.append(Triplet(lower, ONE, add(sub(upper, lower), ONE), full=True))
        result[id] = Section(Name(id), tuple(axes), type, whole=True) if axes else Scalar(Name(id), type)
    return result


def _scalar(array: Array) -> Expr:
    assert isinstance(array, Scalar), array
    return array.value


def _plain(array: Array) -> Expr:
    return array.base if isinstance(array, Section) else _scalar(array)


class Reader:
    """Reads one expression by recursive descent."""

    def __init__(self, source: str, objects: Mapping[str, Section | Scalar]) -> None:
        self.tokens = TOKEN.findall(source.lower().strip())
        self.objects = objects

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str = "") -> str:
        assert not expected or self.peek() == expected, (expected, self.tokens)
        return self.tokens.pop(0)

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.take()
        return True

    def expression(self, level: int = 0) -> Array:
        if level == len(LEVELS):
            return self.primary()
        if self.peek() in ("-", ".not.") and level >= 2:
            op = self.take()
            return self.combined(op, (self.expression(level + 1),))
        left = self.expression(level + 1)
        while self.peek() in LEVELS[level]:
            op = self.take()
            left = self.combined(op, (left, self.expression(level + 1)))
        return left

    def combined(self, op: str, operands: tuple[Array, ...]) -> Array:
        type = operation(op, tuple(x.type for x in operands))
        assert type is not None, (op, operands)
        if all(isinstance(x, Scalar) for x in operands):
            return Scalar(Op(op, tuple(map(_scalar, operands))), type)
        return Elemental(op, operands, type, operator=True)

    def primary(self) -> Array:
        base = self.operand()
        return self.combined("**", (base, self.primary())) if self.accept("**") else base

    def operand(self) -> Array:
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.take(")")
            return self.combined("()", (inner,))
        if token == "[":
            return self.constructor()
        if token[0] == "'":
            return Scalar(Literal(token), Type("character", 1, "", Literal(str(len(token) - 2))))
        if token[0].isdigit():
            return Scalar(Literal(token), REAL if "." in token else INTEGER)
        if token.startswith("."):
            return Scalar(Literal(token), LOGICAL)
        found = self.objects.get(token)
        if not self.accept("("):
            return Scalar(Name(token), INTEGER) if found is None else found
        if isinstance(found, Section):
            return self.section(found)
        return self.reference(token)

    def constructor(self) -> Constructor:
        typed = None
        if "::" in self.tokens[: self.tokens.index("]")]:
            spec = "".join(iter(self.take, "::"))
            typed = next(iter(declarations(f"{spec} :: x").values())).type
        items = self.items("]")
        first: Array | Implied = items[0] if items else Scalar(ZERO, INTEGER)
        while isinstance(first, Implied):
            first = first.items[0]
        return Constructor(items, typed or first.type, typed is not None)

    def items(self, end: str) -> tuple[Array | Implied, ...]:
        items: list[Array | Implied] = []
        while not self.accept(end):
            if self.tokens[:1] == ["("] and self._implied():
                self.take("(")
                items.append(self.implied())
            else:
                items.append(self.expression())
            self.accept(",")
        return tuple(items)

    def _implied(self) -> bool:
        depth = 0
        for token in self.tokens:
            depth += (token in "([") - (token in ")]")
            if token == "=" and depth == 1:
                return True
            if depth == 0:
                return False
        return False

    def implied(self) -> Implied:
        items: list[Array | Implied] = []
        while not (len(self.tokens) > 1 and self.tokens[1] == "="):
            if self.peek() == "(" and self._implied():
                self.take("(")
                items.append(self.implied())
            else:
                items.append(self.expression())
            self.take(",")
        name = self.take()
        self.take("=")
        bounds = [_scalar(self.expression())]
        while self.accept(","):
            bounds.append(_scalar(self.expression()))
        self.take(")")
        first, last, step = (*bounds, ONE)[:3]
        return Implied(tuple(items), name, first, last, step)

    def section(self, array: Section) -> Array:
        axes: list[Axis] = []
        for axis in array.axes:
            assert isinstance(axis, Triplet)
            axes.append(self.axis(axis))
            self.accept(",")
        self.take(")")
        section = Section(array.base, tuple(axes), array.type)
        if rank(section) == 0:
            from fortrans.ir.arrays import element

            return Scalar(element(section, ()), array.type)
        return section

    def axis(self, whole: Triplet) -> Axis:
        if self.peek() != ":":
            first = self.expression()
            if self.peek() != ":":
                return Vector(first) if rank(first) else Fixed(_scalar(first))
            lower = _scalar(first)
        else:
            lower = whole.lower
        self.take(":")
        upper = sub(add(whole.lower, whole.extent), ONE)
        if self.peek() not in (",", ")", ":"):
            upper = _scalar(self.expression())
        if not self.accept(":"):
            return Triplet(lower, ONE, add(sub(upper, lower), ONE))
        step = _scalar(self.expression())
        extent = Op("/", (add(sub(upper, lower), step), step))
        return Triplet(lower, step, add(sub(lower, upper), ONE) if step == Op("-", (ONE,)) else extent)

    def reference(self, name: str) -> Array:
        positional: list[Array] = []
        keywords: dict[str, Array] = {}
        while not self.accept(")"):
            if len(self.tokens) > 1 and self.tokens[1] == "=":
                key = self.take()
                self.take("=")
                keywords[key] = self.expression()
            else:
                positional.append(self.expression())
            self.accept(",")
        if name in INTRINSICS:
            return apply(name, positional, keywords)
        if name == "size":
            return Scalar(Call(name, tuple(_plain(x) for x in positional)), INTEGER)
        type = elemental_type(name, [x.type for x in positional])
        if all(isinstance(x, Scalar) for x in positional):
            return Scalar(Call(name, tuple(map(_scalar, positional))), type)
        return Elemental(name, tuple(positional), type)


def printed(expr: Expr) -> str:
    """An element in the notation of the rules."""
    return text(transform(expr, _shown), Spelling())


def _shown(expr: Expr) -> Expr | None:
    match expr:
        case Select(test, then, other):
            return _opaque(f"({printed(test)} ? {printed(then)} : {printed(other)})")
        case Reduce(op, _, indices, body, mask):
            header = ", ".join(f"{name.id} = 1:{printed(extent)}" for name, extent in indices)
            header += "" if mask is None else f", {printed(mask)}"
            return _opaque(f"{op}({header}: {printed(body)})")
        case Locate(op, indices=indices, body=body):
            header = ", ".join(f"{name.id} = 1:{printed(extent)}" for name, extent in indices)
            header += "" if expr.value is None else f", value {printed(expr.value)}"
            header += "" if expr.mask is None else f", {printed(expr.mask)}"
            header += "" if expr.back is None else f", back {printed(expr.back)}"
            part = "" if expr.part is None else f"[{printed(expr.part)}]"
            return _opaque(f"{op}({header}: {printed(body)}){part}")
        case At(origin, at, None):
            name = origin.intrinsic.name if isinstance(origin, Apply) else type(origin).__name__
            return _opaque(f"{name.upper()}{{{', '.join(map(printed, at))}}}")
        case At(_, _, body) if body is not None:
            return _opaque(f"<{printed(body)}>")
        case _:
            return None


def _opaque(source: str) -> Opaque:
    return Opaque(source, frozenset())
