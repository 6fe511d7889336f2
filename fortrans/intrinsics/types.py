"""Kinds as they may be printed: KIND= results, constants and conversions of a type."""

from __future__ import annotations

import re

from fortrans.ir.arrays import Array, element
from fortrans.ir.expr import Call, Expr, Keyword, Literal, Name, Opaque, constant
from fortrans.ir.promote import operation
from fortrans.ir.symbols import INTEGER, Type
from fortrans.remarks import Refusal

_DEFAULT = {"integer": 4, "real": 4, "logical": 4, "complex": 4, "character": 1}


def kind_text(type: Type) -> str | None:
    """The kind as source text, "" for the default kind, None when it cannot be printed."""
    spelling = type.spelling.lower().replace(" ", "")
    if spelling == type.name or (not spelling and type.kind == _DEFAULT.get(type.name)):
        return ""
    if spelling in ("doubleprecision", "doublecomplex"):
        return "kind(1.0d0)"
    if found := re.fullmatch(r"(?:integer|real|complex|logical)\((?:kind=)?(.*)\)", spelling):
        return found[1]
    if found := re.fullmatch(r"(?:integer|real|complex|logical)\*(\d+)", spelling):
        return str(int(found[1]) // (2 if type.name == "complex" else 1))
    if type.name == "character":
        return "" if type.kind == 1 else None
    return str(type.kind) if isinstance(type.kind, int) else None


def kind_argument(type: Type) -> tuple[Expr, ...]:
    """What stands behind ``REAL(x`` to convert to this kind; () for the default kind.

    Raises Refusal FT203 when the kind cannot be printed.
    """
    text = kind_text(type)
    if text is None:
        raise Refusal("FT203", f"Kind of a {type.name.upper()} expression cannot be printed here")
    if not text:
        return ()
    if text.isdigit():
        return (Literal(text),)
    if text.isidentifier():
        return (Name(text),)
    return (Opaque(text, frozenset(re.findall(r"[a-z_]\w*", re.sub(r"[\d.]+d\d+", "", text)))),)


def convert(value: Expr, to: Type) -> Expr:
    """``value`` converted to a numeric or logical type; raises Refusal FT203."""
    name = {"integer": "int", "real": "real", "complex": "cmplx", "logical": "logical"}[to.name]
    if to.name == "complex":
        return Call(name, (value, *(Keyword("kind", k) for k in kind_argument(to))))
    return Call(name, (value, *kind_argument(to)))


def zero(type: Type) -> Expr:
    """Zero, .FALSE. or blanks of a type: EOSHIFT's missing BOUNDARY (16.9.68).

    Raises Refusal FT203 or FT205 when the constant cannot be printed, FT401 for a derived type.
    """
    if type.name == "character":
        if type.length is None or type.kind != 1:
            raise Refusal("FT205", "Length of the blanks that EOSHIFT shifts in cannot be told")
        length = constant(type.length)
        if length is not None and length <= 20:
            return Literal("'" + " " * length + "'")
        return Call("repeat", (Literal("' '"), type.length))
    if type.name not in _DEFAULT:
        raise Refusal("FT401", "EOSHIFT of a derived type has no BOUNDARY")
    text = {"integer": "0", "real": "0.0", "complex": "0.0", "logical": ".false."}[type.name]
    kind = kind_argument(type)
    match kind:
        case ():
            pass
        case (Literal(suffix),) | (Name(suffix),):
            text = f"{text}_{suffix}"
        case _ if re.sub(r"\s", "", type.spelling.lower()) in ("doubleprecision", "doublecomplex"):
            text = "0.0d0"
        case _:
            return convert(Literal(text), type)
    return Literal(f"({text}, {text})" if type.name == "complex" else text)


def with_kind(base: Type, kind: Array | None) -> Type:
    """INTEGER or LOGICAL of the kind an argument KIND= asks for."""
    if kind is None:
        return base
    value = element(kind, ())
    number = constant(value)
    if number is not None:
        return Type(base.name, number, base.name if number == 4 else f"{base.name}({number})")
    match value:
        case Name(text) | Opaque(text, _):
            return Type(base.name, text.lower(), f"{base.name}({text.lower()})")
        case _:
            return Type(base.name, None, "")


def product_type(x: Type, y: Type) -> Type:
    """The type of ``x*y``, or of ``x.and.y`` for logicals; raises Refusal FT401 when there is none."""
    found = operation(".and." if x.name == "logical" else "*", (x, y))
    if found is None:
        raise Refusal("FT401", f"{x.name.upper()} and {y.name.upper()} have no product")
    return found


def default_integer(kind: Array | None = None) -> Type:
    """Default INTEGER, or that of KIND=."""
    return with_kind(INTEGER, kind)
