"""``allocate (a, source=...)``: the new storage is populated by the nest itself, ``FT110``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.analysis.alias import same_object
from fortrans.analysis.overlap import function_may_read
from fortrans.ir.arrays import (
    Scalar,
    Section,
    Triplet,
    base_name,
    element,
    path_name,
    probe,
    rank,
    shape,
)
from fortrans.ir.expr import ONE, ZERO, Component, Expr, Keyword, Name, Op, Ref, Shape, names, walk
from fortrans.ir.nest import Allocate, Declaration, If
from fortrans.ir.sites import Allocation, Assignment, Room
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal
from fortrans.transforms.pieces import Piece, declarable

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition


def allocated(composition: Composition, allocation: Allocation) -> Piece:
    """The statements that allocate the objects and give them the value of the source.

    What is allocated is new storage, which nothing in the source can read.  With STAT= it is
    populated only when all went well.  Raises Refusal.
    """
    value = composition.site.rhs
    _check_reads(composition.site, allocation)
    if not rank(value):
        return _scalar(composition, allocation)
    extents = shape(value)
    made = _allocate(allocation, extents, length=composition.site.length)
    first, *others = (_target(room, extents) for room in allocation.rooms)
    function = function_may_read(element(first, probe(first)), as_source(value), composition.site.scope)
    if function is not None:
        raise Refusal("FT301", f"Function '{function}' may see '{path_name(first.base)}'")
    filled = composition.store(first, value, rows=True)
    for other in others:
        filled += composition.store(other, first, rows=False)
    if allocation.status is None:
        return made + filled
    good = If(Op("==", (allocation.status, ZERO)), filled.statements)
    return made + Piece(filled.declarations, (good,))


def _check_reads(site: Assignment, allocation: Allocation) -> None:
    """Raise Refusal where the source names what is allocated or defined by the statement (9.7.1.2)."""
    source = (as_source(site.rhs), *shape(site.rhs), *(capture.value for capture in site.captures))
    read = {path_name(x) for y in source for x in walk(y) if isinstance(x, Name | Component | Ref)}
    named = {name for x in source for name in names(x)}
    for room in allocation.rooms:
        own = site.scope.lookup(base_name(room.base))
        others = named - {base_name(room.base)}
        if path_name(room.base) in read or any(same_object(own, site.scope.lookup(x)) for x in others):
            raise Refusal("FT301", f"SOURCE= may read '{path_name(room.base)}', which is being allocated")
    for keyword in allocation.keywords:
        if names(keyword.value) & named:
            raise Refusal("FT301", f"SOURCE= reads the variable of {keyword.name.upper()}=")


def _scalar(composition: Composition, allocation: Allocation) -> Piece:
    """A reduction is evaluated first, by its loops, and is then the source."""
    value = composition.site.rhs
    type = declarable(value.type, "the source")
    name = composition.fresh.name("val")
    composition.own.add(name)
    piece = Piece((Declaration(name, type),)) + composition.store(
        Scalar(Name(name), type), value, rows=False
    )
    return piece + _allocate(allocation, (), (Keyword("source", Name(name)),))


def _allocate(
    allocation: Allocation, extents: Shape, more: tuple[Keyword, ...] = (), length: Expr | None = None
) -> Piece:
    first, *others = (_written(room, extents) for room in allocation.rooms)
    return Piece((), (Allocate(first, more=(*others, *more, *allocation.keywords), length=length),))


def _written(room: Room, extents: Shape) -> Expr:
    """The object with its bounds: those given, or the extents of the source."""
    bounds = room.bounds or (extents if room.lower else ())
    return Ref(room.base, bounds) if bounds else room.base


def _target(room: Room, extents: Shape) -> Section:
    axes = tuple(Triplet(low, ONE, n, full=True) for low, n in zip(room.lower, extents, strict=True))
    return Section(room.base, axes, room.type, whole=True)
