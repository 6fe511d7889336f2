"""An array expression as the Fortran expression it came from, for what must be evaluated as it stands."""

from __future__ import annotations

from fortrans.ir.arrays import (
    Apply,
    Array,
    Axis,
    Constructor,
    Elemental,
    Fixed,
    Implied,
    Reference,
    Scalar,
    Section,
    Triplet,
    Vector,
)
from fortrans.ir.expr import (
    ONE,
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Op,
    Range,
    Ref,
    add,
    mul,
    same,
    sub,
)


def as_source(array: Array) -> Expr:
    """The expression that denotes ``array``, sections as triplets."""
    match array:
        case Scalar(value):
            return value
        case Section():
            return _section(array)
        case Elemental(name, operands, operator=True):
            return Op(name, tuple(map(as_source, operands)))
        case Elemental(name, operands, keywords=keywords):
            keys = keywords or (None,) * len(operands)
            return Call(
                name,
                tuple(
                    as_source(x) if key is None else Keyword(key, as_source(x))
                    for key, x in zip(keys, operands)
                ),
                array.user,
            )
        case Apply(intrinsic, args):
            leading = [as_source(args[name]) for name in intrinsic.required]
            named = [Keyword(name, as_source(args[name])) for name in intrinsic.optional if name in args]
            return Call(intrinsic.name, (*leading, *named))
        case Constructor(items, type, typed):
            return Items(tuple(map(_item, items)), type.spelling if typed else None)
        case Reference(call):
            return call


def _item(item: Array | Implied) -> Expr:
    if isinstance(item, Implied):
        step = None if same(item.step, ONE) else item.step
        return ImpliedDo(tuple(map(_item, item.items)), item.name, item.first, item.last, step)
    return as_source(item)


def _section(section: Section) -> Expr:
    result = section.base
    if not section.whole and section.axes and not all(
        isinstance(axis, Triplet) and axis.full for axis in section.axes
    ):
        result = Ref(result, tuple(map(_axis, section.axes)))
    elif not section.whole and not section.suffix:
        # A whole array would have its own bounds; the section does not.
        result = Ref(result, tuple(map(_axis, section.axes)))
    for part in section.suffix:
        result = Component(result, part.name)
        if part.subscripts is not None:
            result = Ref(result, part.subscripts)
    return result


def _axis(axis: Axis) -> Expr:
    match axis:
        case Fixed(value):
            return value
        case Vector(inner):
            return as_source(inner)
        case Triplet(lower, stride, extent, full):
            if full:
                return Range(None, None)
            last = add(lower, mul(stride, sub(extent, ONE)))
            return Range(lower, last, None if same(stride, ONE) else stride)
