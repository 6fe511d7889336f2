"""Array constructors (7.8) as array expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.ir.arrays import Array, Constructor, Implied
from fortrans.ir.expr import ONE, Call, Expr, ImpliedDo, Items, Name, substitute
from fortrans.ir.symbols import INTEGER, Symbol, Type
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting



def constructor(items: Items, lifting: Lifting) -> Array:
    """``[items]`` (7.8).  Raises Refusal for what has no printable type."""
    if items.spec is not None:
        raise Refusal("FT404", "Array constructor with a type-spec is not composed")
    lifted = tuple(_item(item, lifting) for item in items.items)
    types = [type for item in lifted for type in _types(item)]
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


def _types(item: Array | Implied) -> tuple[Type, ...]:
    if isinstance(item, Implied):
        return tuple(type for inner in item.items for type in _types(inner))
    return (item.type,)


def _item(item: Expr, lifting: Lifting) -> Array | Implied:
    if not isinstance(item, ImpliedDo):
        return lifting.settle(lifting.lift(item))
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
            _item(substitute(x, {item.name: Name(name)}), lifting) for x in item.items
        )
    return Implied(inner, name, first, last, step)



def _bound(expr: Expr, lifting: Lifting) -> Expr:
    """A bound of an implied DO, as a default integer: extents are made of it."""
    value = lifting.lift(expr)
    settled = lifting.settled_value(value, "implied DO")
    return settled if value.type.kind == 4 else Call("int", (settled,))
