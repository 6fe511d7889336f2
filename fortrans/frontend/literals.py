"""Types of literal constants (F2018 clause 7.4)."""

from __future__ import annotations

from fortrans.intrinsics.elemental import DOUBLE
from fortrans.ir.expr import Literal, Name
from fortrans.ir.promote import promote
from fortrans.ir.symbols import Scope, Type
from fortrans.remarks import Refusal


def literal_type(text: str, scope: Scope) -> Type:
    """The type of a literal constant."""
    low = text.lower()
    quoted = "'" in low or '"' in low
    head, _, kind = (low, "", "") if quoted else low.partition("_")
    if low[0] in "'\"" or low[-1] in "'\"":
        if low[0] not in "'\"":
            raise Refusal("FT203", f"Literal '{text}' has a kind or is not decimal")
        body = text[1:-1].replace(text[0] * 2, text[0])
        return Type("character", 1, f"character(len={len(body)})", Literal(str(len(body))))
    if low.startswith("("):
        return _complex_literal(low, scope)
    if head in (".true.", ".false."):
        name = "logical"
    elif head.isdigit():
        name = "integer"
    else:
        name = "real"
        if "d" in head:
            return DOUBLE
    if not kind:
        return Type(name, 4, name)
    value = int(kind) if kind.isdigit() else scope.constant(Name(kind))
    return Type(name, kind if value is None else value, f"{name}({kind})")


def _complex_literal(low: str, scope: Scope) -> Type:
    types = []
    for part in low[1:-1].split(","):
        bare = part.strip().lstrip("+-")
        if not bare or not (bare[0].isdigit() or bare[0] == "."):
            raise Refusal("FT203", f"Complex constant '{low}' has named parts")
        types.append(literal_type(bare, scope))
    greater = promote(*types)
    if greater.name == "integer":
        return Type("complex", 4, "complex")
    return promote(greater, Type("complex", 4, "complex"))
