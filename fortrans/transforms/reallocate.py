"""What intrinsic assignment to an allocatable array does before it stores (10.2.1.3)."""

from __future__ import annotations

from fortrans.intrinsics.entry import clipped
from fortrans.ir.arrays import Array, Section, Triplet
from fortrans.ir.expr import Call, Expr, Op, Shape, constant, integer
from fortrans.ir.nest import Allocate, Deallocate, If
from fortrans.transforms.pieces import Piece


def reallocation(target: Section, extents: Shape, value: Array) -> Piece:
    """Make room for ``extents``: of another shape, deallocate; not allocated, allocate.

    An array that already has the shape keeps its bounds; else they are LBOUND of the right side
    ``value``: those of a whole array variable, 1 otherwise.
    """
    base = target.base
    lower: Shape | None = None
    if isinstance(value, Section) and value.whole:
        lower = tuple(axis.lower for axis in value.axes if isinstance(axis, Triplet))
        if all(constant(x) == 1 for x in lower):
            lower = None
    first, *others = (
        Op("/=", (Call("size", (base, integer(d))), clipped(extent)))
        for d, extent in enumerate(extents, 1)
    )
    test: Expr = first
    for more in others:
        test = Op(".or.", (test, more))
    allocated = Call("allocated", (base,))
    return Piece(
        (),
        (
            If(allocated, (If(test, (Deallocate(base),)),)),
            If(Op(".not.", (allocated,)), (Allocate(base, extents, lower),)),
        ),
    )
