"""The type of an intrinsic operation (10.1.9.3, table 10.2) from the types of its operands."""

from __future__ import annotations

from dataclasses import replace

from fortrans.ir.expr import Op
from fortrans.ir.symbols import LOGICAL, Type

_ORDER = {"integer": 0, "real": 1, "complex": 2}
COMPARISONS = frozenset({"==", "/=", "<", "<=", ">", ">="})
CONNECTIVES = frozenset({".and.", ".or.", ".eqv.", ".neqv.", ".not."})
NUMERIC = frozenset({"+", "-", "*", "/", "**"})


def numeric(type: Type) -> bool:
    """Whether values of the type are numbers."""
    return type.name in _ORDER


def comparable(x: Type, y: Type) -> bool:
    """Whether intrinsic assignment (and intrinsic equality) is defined between the two (table 10.8)."""
    return (numeric(x) and numeric(y)) or (x.name == y.name and x.name in {"logical", "character"})


def promote(x: Type, y: Type) -> Type:
    """The type of ``x + y``: the higher of integer, real, complex, with the greater precision."""
    low, high = sorted((x, y), key=lambda type: _ORDER.get(type.name, 0))
    if low.name == high.name:
        return _greater(low, high)
    if low.name == "integer":
        return high
    as_complex = replace(low, name="complex", spelling=_complex_spelling(low.spelling))
    return _greater(high, as_complex)


def _greater(x: Type, y: Type) -> Type:
    if x.kind is not None and x.kind == y.kind:
        return x if x.spelling else y
    if isinstance(x.kind, int) and isinstance(y.kind, int):
        return x if x.kind > y.kind else y
    return Type(x.name, None, "")


def _complex_spelling(real: str) -> str:
    if real.lower() == "double precision":
        return "complex(kind(0d0))"
    return "complex" + real[4:] if real else ""


def operation(op: str, operands: tuple[Type, ...]) -> Type | None:
    """The type of an intrinsic operation; None when the operation is not intrinsic for these types."""
    match op, operands:
        case "()", (x,):
            return x
        case "+" | "-", (x,):
            return x if numeric(x) else None
        case ".not.", (x,):
            return x if x.name == "logical" else None
        case "//", (x, y) if x.name == y.name == "character":
            total = None
            if x.length is not None and y.length is not None:
                total = Op("+", (x.length, y.length))
            return replace(x, spelling="", length=total)
        case op, (x, y) if op in NUMERIC and numeric(x) and numeric(y):
            if op == "**" and y.name == "integer":
                return x
            return promote(x, y)
        case op, (x, y) if op in CONNECTIVES and x.name == y.name == "logical":
            return _greater(x, y)
        case op, (x, y) if op in COMPARISONS:
            ordered = op in {"==", "/="} or "complex" not in (x.name, y.name)
            if (numeric(x) and numeric(y) and ordered) or x.name == y.name == "character":
                return LOGICAL
    return None
