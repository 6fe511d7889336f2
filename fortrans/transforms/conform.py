"""Operands of one expression have one shape, so one spelling of each extent is enough (10.1.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fortrans.intrinsics.entry import clipped
from fortrans.ir.arrays import (
    Apply,
    Array,
    Axis,
    Constructor,
    Elemental,
    Implied,
    Scalar,
    Section,
    Triplet,
    Vector,
    rank,
    shape,
)
from fortrans.ir.expr import Call, Expr, Name, Op, constant, transform
from fortrans.ir.sites import Assignment

Equation = tuple[Expr, Expr]


def conform(site: Assignment) -> Assignment:
    """The site with equal extents spelled alike, so that loops and split points can be compared.

    Only ``SIZE(x, d)`` gives way, to a constant, a name, or another SIZE: a program whose operands
    are not conformable has no meaning to keep.
    """
    equations = list(_equations(site.rhs))
    if rank(site.rhs) and isinstance(site.lhs, Section) and not site.reallocates:
        equations.extend(zip(shape(site.lhs), shape(site.rhs)))
    best = _solve(equations)

    def spelled(extent: Expr) -> Expr:
        return transform(extent, best.get)

    lhs, rhs = site.lhs, _array(site.rhs, spelled)
    if isinstance(lhs, Section):
        lhs = _section(lhs, spelled)
    # An operand that has the left side's own shape leaves nothing to reallocate.
    reallocates = site.reallocates and (site.length is not None or not _same(lhs, rhs))
    return replace(site, lhs=lhs, rhs=rhs, reallocates=reallocates)


def _same(lhs: Section | Scalar, rhs: Array) -> bool:
    """Whether two shapes are surely equal, however an extent below zero is written."""
    return tuple(map(clipped, shape(lhs))) == tuple(map(clipped, shape(rhs)))


def _equations(array: Array) -> Iterator[Equation]:
    match array:
        case Elemental(operands=operands):
            shapes = [shape(x) for x in operands if rank(x)]
            for other in shapes[1:]:
                yield from zip(shapes[0], other)
            for x in operands:
                yield from _equations(x)
        case Apply(intrinsic, args):
            if "mask" in args and rank(args["mask"]):
                # VECTOR of PACK and UNPACK has a size of its own.
                for name in ("array", "field"):
                    if name in args and rank(args[name]) == rank(args["mask"]):
                        yield from zip(shape(args[name]), shape(args["mask"]))
            if intrinsic.name in ("matmul", "dot_product"):
                left, right = (args[name] for name in intrinsic.required)
                yield (shape(left)[-1], shape(right)[0])
            for x in args.values():
                yield from _equations(x)


def _solve(equations: list[Equation]) -> dict[Expr, Expr]:
    """For each ``SIZE(x, d)`` that equals something simpler, that."""
    groups: list[list[Expr]] = []
    for pair in equations:
        if pair[0] == pair[1]:
            continue
        merged = [group for group in groups if any(x in group for x in pair)]
        union = list(dict.fromkeys([*(x for group in merged for x in group), *pair]))
        groups = [group for group in groups if group not in merged] + [union]
    best: dict[Expr, Expr] = {}
    for group in groups:
        simplest = min(group, key=_cost)
        for x in group:
            if isinstance(x, Call) and x.name == "size" and x != simplest:
                best[x] = simplest
    return best


def _cost(extent: Expr) -> int:
    if constant(extent) is not None:
        return 0
    match extent:
        case Name():
            return 1
        case Call("size", (Name(), _)):
            return 2
        case Call("size", _):
            return 3
        case Op():
            return 4
        case _:
            return 5


def _array(array: Array, spelled: Callable[[Expr], Expr]) -> Array:
    match array:
        case Section():
            return _section(array, spelled)
        case Elemental(operands=operands):
            return replace(array, operands=tuple(_array(x, spelled) for x in operands))
        case Apply(args=args):
            return replace(array, args={key: _array(x, spelled) for key, x in args.items()})
        case Constructor(items):
            return replace(array, items=tuple(_item(x, spelled) for x in items))
        case _:
            return array


def _item(item: Array | Implied, spelled: Callable[[Expr], Expr]) -> Array | Implied:
    if isinstance(item, Implied):
        return replace(item, items=tuple(_item(x, spelled) for x in item.items))
    return _array(item, spelled)


def _section(section: Section, spelled: Callable[[Expr], Expr]) -> Section:
    return replace(section, axes=tuple(_axis(axis, spelled) for axis in section.axes))


def _axis(axis: Axis, spelled: Callable[[Expr], Expr]) -> Axis:
    match axis:
        case Triplet(lower, stride, extent, full):
            return Triplet(lower, stride, spelled(extent), full)
        case Vector(inner):
            return Vector(_array(inner, spelled))
        case _:
            return axis
