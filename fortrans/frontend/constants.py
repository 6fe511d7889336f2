"""The integer value of constant expressions (F2018 10.1.12), with gfortran's and flang's kinds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from fortrans.ir.expr import Call, Expr, Keyword, Literal, Name, Op, Ref

LARGEST = 1 << 128
"""Beyond any integer kind: a larger value is no constant."""

_INTEGER = re.compile(r"(\d+)(?:_(\w+))?")
_REAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[ed]))(?:([ed])[+-]?\d+)?(?:_(\w+))?", re.I)
_LOGICAL = re.compile(r"\.(?:true|false)\.(?:_(\w+))?", re.I)
_BOZ = re.compile(r"""([boz])(['"])([0-9a-f]+)\2""", re.I)
_BASES = {"b": 2, "o": 8, "z": 16}

INTEGER_RANGES = {1: 2, 2: 4, 4: 9, 8: 18, 16: 38}
"""Kind -> decimal exponent range."""
REAL_MODELS = {4: (6, 37), 8: (15, 307), 16: (33, 4931)}
"""Kind -> decimal precision and exponent range.  The extended kind 10 is left out on purpose: it is
not there on every machine, so a request that only it or kind 16 meets has no known value."""
_EXTENDED = (18, 4931)


class Names(Protocol):
    """What the evaluator asks about the names it meets."""

    def integer(self, name: str) -> int | None:
        """The value of an integer named constant, None for anything else."""

    def type_and_kind(self, name: str) -> tuple[str, int] | None:
        """Type name and kind of a data object where both are known."""

    def is_intrinsic(self, name: str) -> bool:
        """Whether nothing in scope hides the intrinsic procedure of that name."""


def evaluate(expr: Expr, names: Names) -> int | None:
    """The value of ``expr`` as an integer; None when it is no integer constant we can compute."""
    value = _evaluate(expr, names)
    return value if value is not None and abs(value) < LARGEST else None


def literal_type(text: str, names: Names) -> tuple[str, int] | None:
    """Type and kind of a literal constant; None when its kind is a name of unknown value."""
    if match := _INTEGER.fullmatch(text):
        return _typed("integer", match.group(2), 4, names)
    if match := _REAL.fullmatch(text):
        letter = (match.group(1) or "e").lower()
        return _typed("real", match.group(2), 8 if letter == "d" else 4, names)
    if match := _LOGICAL.fullmatch(text):
        return _typed("logical", match.group(1), 4, names)
    return ("character", 1) if text[:1] in ("'", '"') else None


def type_of(expr: Expr, names: Names) -> tuple[str, int] | None:
    """Type and kind of a constant expression or of a named object; None when unknown."""
    match expr:
        case Literal(text):
            return literal_type(text, names)
        case Name(id) | Ref(Name(id), _):
            return names.type_and_kind(id)
        case Op("()" | "-" | "+", (operand,)):
            return type_of(operand, names)
        case Op("+" | "-" | "*" | "/" | "**", (x, y)):
            return _stronger(type_of(x, names), type_of(y, names))
        case Call("real" | "int" | "logical" as name, (_, *rest)) if names.is_intrinsic(name):
            to = "integer" if name == "int" else name
            kind = _argument(tuple(rest), 0, "kind")
            number = 4 if kind is None else evaluate(kind, names)
            return None if number is None else (to, number)
        case Call("dble", (_,)) if names.is_intrinsic("dble"):
            return "real", 8
        case Call("huge" | "tiny" | "epsilon" | "abs" as name, (x,)) if names.is_intrinsic(name):
            return type_of(x, names)
    return None


def selected_int_kind(digits: int) -> int:
    """SELECTED_INT_KIND (F2018 16.9.169)."""
    return next((kind for kind, r in INTEGER_RANGES.items() if r >= digits), -1)


def selected_real_kind(precision: int, exponent: int) -> int | None:
    """SELECTED_REAL_KIND (F2018 16.9.170); None where the answer differs between machines."""
    for kind, (p, r) in REAL_MODELS.items():
        if p >= precision and r >= exponent:
            extended = precision <= _EXTENDED[0] and exponent <= _EXTENDED[1]
            return None if kind == 16 and extended else kind
    if precision <= 33:
        return -2
    return -1 if exponent <= 4931 else -3


def _typed(name: str, kind: str | None, default: int, names: Names) -> tuple[str, int] | None:
    if kind is None:
        return name, default
    number = int(kind) if kind.isdigit() else names.integer(kind.lower())
    return None if number is None else (name, number)


def _stronger(
    x: tuple[str, int] | None, y: tuple[str, int] | None
) -> tuple[str, int] | None:
    """The type of an operation of two numbers (F2018 10.1.5.2.1)."""
    if x is None or y is None:
        return None
    order = ("integer", "real", "complex")
    if x[0] not in order or y[0] not in order:
        return None
    if x[0] == y[0]:
        return max(x, y)
    if {"integer"} & {x[0], y[0]}:
        return max(x, y, key=lambda t: order.index(t[0]))
    return "complex", max(x[1], y[1])


def _evaluate(expr: Expr, names: Names) -> int | None:
    match expr:
        case Literal(text):
            match_ = _INTEGER.fullmatch(text)
            return int(match_.group(1)) if match_ else None
        case Name(id):
            return names.integer(id)
        case Op("()" | "+", (x,)):
            return _evaluate(x, names)
        case Op("-", (x,)):
            value = _evaluate(x, names)
            return None if value is None else -value
        case Op(op, (x, y)):
            left, right = _evaluate(x, names), _evaluate(y, names)
            return None if left is None or right is None else _operate(op, left, right)
        case Call(name, args) | Ref(Name(name), args) if name in _FUNCTIONS:
            return _FUNCTIONS[name](args, names) if names.is_intrinsic(name) else None
    return None


def _operate(op: str, x: int, y: int) -> int | None:
    match op:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "/" if y:
            return _truncated(x, y)
        case "**" if y >= 0:
            return x**y if y <= 128 or x in (0, 1, -1) else None
        case "**" if x in (1, -1):
            return x if y % 2 else 1
        case "**" if x:
            return 0
    return None


def _truncated(x: int, y: int) -> int:
    """Integer division toward zero."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


Arguments = tuple[Expr, ...]
Function = Callable[[Arguments, Names], int | None]


def _argument(args: Arguments, position: int, keyword: str) -> Expr | None:
    """The argument at ``position`` or under ``keyword``."""
    for arg in args:
        if isinstance(arg, Keyword) and arg.name == keyword:
            return arg.value
    if position < len(args) and not isinstance(args[position], Keyword):
        return args[position]
    return None


def _kind(args: Arguments, names: Names) -> int | None:
    x = _argument(args, 0, "x")
    found = None if x is None else type_of(x, names)
    return None if found is None else found[1]


def _selected_int(args: Arguments, names: Names) -> int | None:
    r = _argument(args, 0, "r")
    value = None if r is None else _evaluate(r, names)
    return None if value is None else selected_int_kind(value)


def _selected_real(args: Arguments, names: Names) -> int | None:
    p, r, radix = (_argument(args, i, key) for i, key in enumerate(("p", "r", "radix")))
    precision = 0 if p is None else _evaluate(p, names)
    exponent = 0 if r is None else _evaluate(r, names)
    base = 2 if radix is None else _evaluate(radix, names)
    if precision is None or exponent is None or base != 2:
        return None
    return selected_real_kind(precision, exponent)


def _selected_char(args: Arguments, names: Names) -> int | None:
    name = _argument(args, 0, "name")
    if not isinstance(name, Literal) or name.text[:1] not in ("'", '"'):
        return None
    return {"ascii": 1, "default": 1, "iso_10646": 4}.get(name.text[1:-1].strip().lower(), -1)


def _fold(function: Callable[..., int]) -> Function:
    """An intrinsic of integers only, without keywords."""

    def fold(args: Arguments, names: Names) -> int | None:
        values = [_evaluate(arg, names) for arg in args]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or not known:
            return None
        try:
            return function(*known)
        except (TypeError, ZeroDivisionError, ValueError):
            return None

    return fold


def _int(args: Arguments, names: Names) -> int | None:
    x = _argument(args, 0, "a")
    if isinstance(x, Literal) and (boz := _BOZ.fullmatch(x.text)):
        value = int(boz.group(3), _BASES[boz.group(1).lower()])
        return value if value < 1 << 31 else None
    return None if x is None else _evaluate(x, names)


def _model(integer: Callable[[int], int], real: Callable[[int], int] | None) -> Function:
    """An inquiry about the model of its argument's type."""

    def inquire(args: Arguments, names: Names) -> int | None:
        x = _argument(args, 0, "x") or _argument(args, 0, "i")
        found = None if x is None else type_of(x, names)
        match found:
            case ("integer", kind) if kind in INTEGER_RANGES:
                return integer(kind)
            case ("real", kind) if kind in REAL_MODELS and real is not None:
                return real(kind)
        return None

    return inquire


def _precision(args: Arguments, names: Names) -> int | None:
    x = _argument(args, 0, "x")
    match None if x is None else type_of(x, names):
        case ("real" | "complex", kind) if kind in REAL_MODELS:
            return REAL_MODELS[kind][0]
    return None


def _len(args: Arguments, names: Names) -> int | None:
    match args:
        case (Literal(text),) if text[:1] in ("'", '"'):
            return len(text[1:-1].replace(text[0] * 2, text[0]))
    return None


def _remainder(x: int, y: int) -> int:
    return x - _truncated(x, y) * y


_FUNCTIONS: dict[str, Function] = {
    "kind": _kind,
    "selected_int_kind": _selected_int,
    "selected_real_kind": _selected_real,
    "selected_char_kind": _selected_char,
    "max": _fold(max),
    "min": _fold(min),
    "abs": _fold(abs),
    "mod": _fold(_remainder),
    "modulo": _fold(lambda x, y: x % y),
    "iand": _fold(lambda x, y: x & y),
    "ior": _fold(lambda x, y: x | y),
    "ieor": _fold(lambda x, y: x ^ y),
    "int": _int,
    "len": _len,
    "huge": _model(lambda kind: (1 << (8 * kind - 1)) - 1, None),
    "bit_size": _model(lambda kind: 8 * kind, None),
    "range": _model(lambda kind: INTEGER_RANGES[kind], lambda kind: REAL_MODELS[kind][1]),
    "precision": _precision,
}
