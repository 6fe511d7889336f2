"""The reads of what an assignment stores, as pairs of subscripts for the polyhedral room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fortrans.analysis.alias import Alias, Storage
from fortrans.analysis.overlap import related
from fortrans.ir.arrays import Array, Elemental, Section, Triplet, rank, shape
from fortrans.ir.expr import Call, Expr, Name, Ref
from fortrans.ir.symbols import Scope
from fortrans.polyhedral.affine import Facts
from fortrans.polyhedral.conflicts import Nest, Pair


@dataclass(frozen=True, slots=True)
class Overlap:
    """A designator of the array that is assigned, and its pair."""

    designator: Expr
    pair: Pair


def overlaps(
    target: Expr, value: Expr, order: Sequence[str], scope: Scope, own: frozenset[str]
) -> tuple[Overlap, ...] | None:
    """The reads of the target's own array; None when some other read may be of its storage.

    ``order`` are the loops, outermost first.  Choices must stand outside of subscripts (``raised``).
    """
    loops = frozenset(order)
    found: list[Overlap] = []
    for read, alias, written, seen in related(target, value, loops, scope, own):
        if alias is not Alias.SAME or written is None or seen is None:
            return None
        if not read.when:
            # It is read before the nest.
            continue
        mine, theirs = _subscripts(written), _subscripts(seen)
        if len(mine) != len(theirs) or not mine:
            return None
        early = read.when != loops and read.when == frozenset(order[: len(read.when)])
        pair = Pair(mine, theirs, read.tests, read.inner, read.when if early else None)
        found.append(Overlap(read.designator, pair))
    return tuple(dict.fromkeys(found))


def _subscripts(storage: Storage) -> tuple[Expr, ...]:
    return tuple(x for part in storage.subscripts for x in part)


def nest_of(
    loops: Sequence[tuple[str, Expr]], target: Section, value: Array, scope: Scope
) -> Nest:
    """The nest of an assignment, with what conformance tells of extents (10.2.1.2)."""
    equal = tuple(
        (x, y) for operand in _elementwise(value) for x, y in zip(shape(target), shape(operand)) if x != y
    )
    strides = frozenset(
        axis.stride
        for axis in target.axes
        if isinstance(axis, Triplet) and isinstance(axis.stride, Name | Ref | Call)
    )
    return Nest(tuple(loops), equal, strides, Facts(value=scope.constant))


def _elementwise(array: Array) -> Iterator[Array]:
    if rank(array):
        yield array
        if isinstance(array, Elemental):
            for operand in array.operands:
                yield from _elementwise(operand)


