"""Array constructors (7.8) as array expressions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.intrinsics.elemental import DOUBLE
from fortrans.ir.arrays import Array, Constructor, Implied
from fortrans.ir.expr import ONE, Call, Expr, ImpliedDo, Items, Name, integer, substitute
from fortrans.ir.symbols import INTEGER, Scope, Symbol, Type
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting



def constructor(items: Items, lifting: Lifting) -> Array:
    """``[items]`` (7.8).  Raises Refusal for what has no printable type."""
    type = None if items.spec is None else _spec(items.spec, lifting.scope)
    lifted = tuple(inner for item in items.items for inner in _item(item, lifting))
    types = [found for item in lifted for found in _types(item)]
    if type is not None:
        if any(_group(found) != _group(type) for found in types):
            raise Refusal("FT404", "Items of an array constructor do not conform to its type-spec")
        return Constructor(lifted, type, typed=True)
    if not types:
        raise Refusal("FT404", "Array constructor is empty")
    first = types[0]
    if first.name in ("type", "class"):
        raise Refusal("FT404", "Array constructor of derived type is not composed")
    if len(types) > 1 and any((t.name, t.kind) != (first.name, first.kind) or t.kind is None for t in types):
        raise Refusal("FT404", "Items of an array constructor differ in type or kind")
    if first.name == "character" and any(t.length != first.length or t.length is None for t in types):
        raise Refusal("FT404", "Items of an array constructor may differ in character length")
    return Constructor(lifted, first)


_TYPE_SPEC = re.compile(
    r"(integer|real|complex|logical|double\s*precision|character)\s*(?:\((.*)\)|\*\s*(\d+))?\s*",
    re.IGNORECASE,
)


def _group(type: Type) -> str:
    return "numeric" if type.name in ("integer", "real", "complex") else type.name


def _spec(text: str, scope: Scope) -> Type:
    """The type that a type-spec names (7.3.2).  Raises Refusal FT404 for a derived type."""
    found = _TYPE_SPEC.fullmatch(text.strip())
    if found is None:
        raise Refusal("FT404", f"Array constructor of type '{text}' is not composed")
    name, inside, star = found[1].lower(), found[2], found[3]
    if name.startswith("double"):
        return DOUBLE
    if name == "character":
        length = star or re.sub(r"(?i)^\s*len\s*=", "", inside or "1")
        if "," in length or "kind" in length.lower():
            raise Refusal("FT404", f"Array constructor of type '{text}' is not composed")
        value = _constant(length, scope)
        return Type(name, 1, text.strip(), None if value is None else integer(max(value, 0)))
    if star is not None:
        return Type(name, int(star) // (2 if name == "complex" else 1), text.strip())
    if inside is None:
        return Type(name, 4, name)
    kind = re.sub(r"(?i)^\s*kind\s*=", "", inside).strip().lower()
    value = _constant(kind, scope)
    return Type(name, kind if value is None else value, f"{name}({kind})")


def _constant(text: str, scope: Scope) -> int | None:
    """The value of a literal or named constant; None for any other expression."""
    text = text.strip().lower()
    if text.isdigit():
        return int(text)
    return scope.constant(Name(text)) if text.isidentifier() else None


def _types(item: Array | Implied) -> tuple[Type, ...]:
    if isinstance(item, Implied):
        return tuple(type for inner in item.items for type in _types(inner))
    return (item.type,)


def _item(item: Expr, lifting: Lifting) -> tuple[Array | Implied, ...]:
    """An item; those of an array constructor among the items stand for it."""
    if isinstance(item, Items) and item.spec is None:
        return tuple(inner for x in item.items for inner in _item(x, lifting))
    if not isinstance(item, ImpliedDo):
        return (lifting.settle(lifting.lift(item)),)
    first, last = _bound(item.first, lifting), _bound(item.last, lifting)
    step = ONE if item.step is None else _bound(item.step, lifting)
    # The variable is local to the constructor (19.4): a new name keeps it apart from the program's.
    name = lifting.fresh.name("i")
    meaning = lifting.scope.lookup(item.name)
    type = meaning.type if isinstance(meaning, Symbol) else INTEGER
    if type.name != "integer" or type.kind != 4:
        # The loop index that takes its place is a default integer.
        raise Refusal("FT404", f"Implied DO variable '{item.name}' is not a default integer")
    with lifting.local(name, replace(type, spelling=type.spelling or "integer")):
        inner = tuple(
            found for x in item.items for found in _item(substitute(x, {item.name: Name(name)}), lifting)
        )
    return (Implied(inner, name, first, last, step),)



def _bound(expr: Expr, lifting: Lifting) -> Expr:
    """A bound of an implied DO, as a default integer: extents are made of it."""
    value = lifting.lift(expr)
    settled = lifting.settled_value(value, "implied DO")
    return settled if value.type.kind == 4 else Call("int", (settled,))
