"""Array constructors: the shape and the element of ``[items]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fortrans.intrinsics.entry import clipped, indices_for, size
from fortrans.intrinsics.reshape import delinearise
from fortrans.intrinsics.types import convert
from fortrans.ir.arrays import (
    Apply,
    Array,
    Axis,
    Constructor,
    Elemental,
    Fixed,
    Implied,
    Part,
    Reference,
    Scalar,
    Section,
    Triplet,
    Vector,
    element,
    probe,
    rank,
    shape,
)
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Expr,
    Index,
    Locate,
    Name,
    Op,
    Opaque,
    Reduce,
    Ref,
    Select,
    Shape,
    add,
    constant,
    integer,
    mul,
    names,
    same,
    sub,
    transform,
    walk,
)
from fortrans.ir.symbols import INTEGER, Type
from fortrans.remarks import Refusal

MOST_ITEMS = 4
Item = Array | Implied


def constructor_shape(array: Constructor) -> Shape:
    """One extent: the sum of those of the items.

    Where an implied DO's inner extents depend on its variable, it is a sum over its iterations.
    """
    return (_length(array.items),)


def fillable(array: Array) -> bool:
    """Whether it is a constructor, not of scalars only, of items that loops can store one by one."""
    if not isinstance(array, Constructor) or array.type.name in ("character", "class", "type"):
        return False
    return not all(map(is_scalar, array.items)) and all(_simple(x, False) for x in array.items)


def _simple(item: Item, inside: bool) -> bool:
    """Within an implied DO nothing can be kept: no reduction, nothing without an element rule."""
    if isinstance(item, Implied):
        return all(_simple(x, True) for x in item.items)
    kept = (x for x in walk(element(item, probe(item))) if isinstance(x, At | Reduce))
    return not inside or not any(True for _ in kept)


def constructor_element(array: Constructor, index: Index) -> Expr:
    """[X, (Y, i = f, l, s)]{j} => X{j} if j <= n, else Y{...} with i = f + (j - n - 1)*s

    Fortran 2018, 7.8.  A list of scalars has no rule that pays: it is materialised, save for a
    single one and where the subscript is a constant.  So is what needs a division for each element.
    """
    (j,) = index
    items = array.items
    kept = At(array, index, None)
    if array.type.name in ("character", "class") and (array.typed or len(items) > 1):
        return kept
    if constant(j) is None and (
        len(items) > MOST_ITEMS or (len(items) > 1 and all(is_scalar(x) for x in items))
    ):
        return kept
    try:
        return _element(items, j, array.type if array.typed else None)
    except _NoRule:
        return kept


class _NoRule(Exception):
    """The constructor is to be materialised."""


def is_scalar(item: Item) -> bool:
    """Whether an item is one element."""
    return not isinstance(item, Implied) and rank(item) == 0


def _length(items: Sequence[Item]) -> Expr:
    total: Expr = ZERO
    for item in items:
        total = add(total, _item_length(item))
    return total


def _item_length(item: Item) -> Expr:
    if not isinstance(item, Implied):
        return size(item)
    each = _length(item.items)
    if item.name not in names(each):
        return mul(each, _trips(item))
    origin = Constructor((item,), INTEGER)
    (turn,) = indices_for(origin, (), 1)
    value = add(item.first, mul(sub(turn, ONE), item.step))
    body = replace_names(each, {item.name: value})
    return Reduce("sum", INTEGER, ((turn, _trips(item)),), body, None, origin, ())


def unsized(array: Array) -> bool:
    """Whether it is a constructor with an implied DO whose inner extents depend on its variable."""
    return isinstance(array, Constructor) and any(map(_uneven, array.items))


def _uneven(item: Item) -> bool:
    if not isinstance(item, Implied):
        return False
    return any(map(_uneven, item.items)) or item.name in names(_length(item.items))


def _trips(item: Implied) -> Expr:
    """How often an implied DO iterates (11.1.7.4.1)."""
    if same(item.step, ONE):
        return clipped(add(sub(item.last, item.first), ONE))
    if same(item.step, integer(-1)):
        return clipped(add(sub(item.first, item.last), ONE))
    span, step = constant(sub(item.last, item.first)), constant(item.step)
    if span is not None and step:
        quotient = abs(span) // abs(step) + 1
        return integer(quotient) if span == 0 or (span > 0) == (step > 0) else ZERO
    distance = add(sub(item.last, item.first), item.step)
    return Call("max", (Op("/", (distance, item.step)), ZERO))


def _element(items: Sequence[Item], j: Expr, convert_to: Type | None) -> Expr:
    """The element at ``j`` of a list of items that surely has it."""
    if not items:
        raise _NoRule
    item, *others = items
    if not others:
        return _item_element(item, j, convert_to)
    length = _item_length(item)
    place, fixed = constant(j), constant(length)
    if place is not None and fixed is not None:
        if place <= fixed:
            return _item_element(item, j, convert_to)
        return _element(others, sub(j, length), convert_to)
    return Select(
        Op("<=", (j, length)),
        _item_element(item, j, convert_to),
        _element(others, sub(j, length), convert_to),
    )


def _item_element(item: Item, j: Expr, convert_to: Type | None) -> Expr:
    if not isinstance(item, Implied):
        extents = shape(item)
        if len(extents) > 1 and constant(j) is None:
            raise _NoRule
        value = element(item, delinearise(sub(j, ONE), extents) if extents else ())
        return _converted(value, item.type, convert_to)
    each = _length(item.items)
    if item.name in names(each):
        raise _NoRule
    if len(item.items) > MOST_ITEMS and constant(j) is None:
        raise _NoRule
    turn: Expr
    within: Expr
    if same(each, ONE):
        turn, within = sub(j, ONE), ONE
    else:
        place, length = constant(j), constant(each)
        if place is None or not length:
            raise _NoRule
        turn, within = integer((place - 1) // length), integer((place - 1) % length + 1)
    values = {item.name: add(item.first, mul(turn, item.step))}
    items = tuple(replace_in_item(x, values) for x in item.items)
    return _element(items, within, convert_to)


def _converted(value: Expr, have: Type, want: Type | None) -> Expr:
    if want is None or (have.name == want.name and have.kind == want.kind):
        return value
    if have.name in ("type", "class") or want.name in ("type", "class", "character"):
        raise _NoRule
    try:
        return convert(value, want)
    except Refusal:
        raise _NoRule from None


# ---- names replaced in whole array expressions ---------------------------------


def replace_names(expr: Expr, values: dict[str, Expr]) -> Expr:
    """``expr`` with names replaced, the origins of reductions included, subscripts canonical.

    Raises Refusal FT404 when a name occurs in text that is not read.
    """

    def visit(x: Expr) -> Expr | None:
        match x:
            case Name(id):
                return values.get(id)
            case Opaque(_, ids) if not ids.isdisjoint(values):
                raise Refusal("FT404", "Variable of an implied DO occurs where it is not read")
            case Ref(base, subscripts):
                inner = tuple(replace_names(s, values) for s in subscripts)
                return Ref(replace_names(base, values), tuple(map(_canonical, inner)))
            case At(origin, at, body):
                return At(
                    replace_in_array(origin, values),
                    tuple(replace_names(j, values) for j in at),
                    None if body is None else replace_names(body, values),
                )
            case Reduce() | Locate():
                x = replace(
                    x,
                    indices=tuple((n, replace_names(e, values)) for n, e in x.indices),
                    body=replace_names(x.body, values),
                    mask=None if x.mask is None else replace_names(x.mask, values),
                    origin=replace_in_array(x.origin, values),
                    at=tuple(replace_names(j, values) for j in x.at),
                )
                if isinstance(x, Reduce):
                    return x
                value, back, part = (
                    None if y is None else replace_names(y, values) for y in (x.value, x.back, x.part)
                )
                return replace(x, value=value, back=back, part=part)
            case _:
                return None

    return transform(expr, visit)


def _canonical(subscript: Expr) -> Expr:
    return add(subscript, ZERO) if isinstance(subscript, Op) else subscript


def replace_in_item(item: Item, values: dict[str, Expr]) -> Item:
    """``replace_names`` in an item; an implied DO hides its own variable (19.4)."""
    if not isinstance(item, Implied):
        return replace_in_array(item, values)
    inner = {name: value for name, value in values.items() if name != item.name}
    if any(item.name in names(value) for value in inner.values()):
        raise Refusal("FT404", f"Variable '{item.name}' of an implied DO is also used around it")
    return Implied(
        tuple(replace_in_item(x, inner) for x in item.items),
        item.name,
        replace_names(item.first, values),
        replace_names(item.last, values),
        replace_names(item.step, values),
    )


def replace_in_array(array: Array, values: dict[str, Expr]) -> Array:
    """``replace_names`` in every expression of an array expression."""

    def go(expr: Expr) -> Expr:
        return replace_names(expr, values)

    match array:
        case Scalar(value, type):
            return Scalar(go(value), type)
        case Section():
            return replace(
                array,
                base=go(array.base),
                axes=tuple(_in_axis(axis, values) for axis in array.axes),
                suffix=tuple(
                    Part(p.name, None if p.subscripts is None else tuple(map(go, p.subscripts)))
                    for p in array.suffix
                ),
            )
        case Elemental():
            return replace(array, operands=tuple(replace_in_array(x, values) for x in array.operands))
        case Apply():
            return replace(array, args={k: replace_in_array(x, values) for k, x in array.args.items()})
        case Constructor():
            return replace(array, items=tuple(replace_in_item(x, values) for x in array.items))
        case Reference(call, extents, type):
            return Reference(go(call), tuple(map(go, extents)), type)


def _in_axis(axis: Axis, values: dict[str, Expr]) -> Axis:
    match axis:
        case Fixed(value):
            return Fixed(replace_names(value, values))
        case Triplet(lower, stride, extent):
            bounds = [_canonical(replace_names(x, values)) for x in (lower, stride, extent)]
            return replace(axis, lower=bounds[0], stride=bounds[1], extent=bounds[2])
        case Vector(inner):
            return Vector(replace_in_array(inner, values))
