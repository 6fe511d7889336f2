"""What intrinsic assignment to an allocatable array does before it stores (10.2.1.3)."""

from __future__ import annotations

from fortrans.intrinsics.entry import clipped
from fortrans.ir.arrays import Array, Section, Triplet
from fortrans.ir.expr import Call, Expr, Op, Shape, constant, integer, linear, sub
from fortrans.ir.leaves import leaves
from fortrans.ir.nest import Allocate, CallStmt, Deallocate, If
from fortrans.ir.symbols import Type
from fortrans.remarks import Refusal
from fortrans.transforms.pieces import Piece, declarable


def reallocation(target: Section, extents: Shape, value: Array, length: Expr | None = None) -> Piece:
    """Make room for ``extents``: of another shape, deallocate; not allocated, allocate.

    Characters of deferred length take the ``length`` of the right side: another length is another
    shape.

    An array that already has the shape keeps its bounds; else they are LBOUND of the right side
    ``value``: those of a whole array variable, 1 otherwise.
    """
    base = target.base
    allocated = Call("allocated", (base,))
    other = _differs(base, extents)
    if length is not None:
        other = Op(".or.", (other, Op("/=", (Call("len", (base,)), length))))
    made = Allocate(base, extents, own_bounds(value), length=length)
    return Piece(
        (),
        (
            If(allocated, (If(other, (Deallocate(base),)),)),
            If(Op(".not.", (allocated,)), (made,)),
        ),
    )


def taken_over(target: Section, made: Section, value: Array, copied: Piece) -> Piece:
    """The left side takes over the storage of ``made``, which holds ``value``; no second copy.

    It is ``copied`` where the left side has the shape already; when ``copied`` is empty it never has.
    """
    base = target.base
    move = (CallStmt("move_alloc", (made.base, base)),)
    if not copied.statements:
        return Piece((), move)
    sizes = tuple(Call("size", (made.base, integer(d + 1))) for d in range(len(made.axes)))
    choice = If(_differs(base, sizes), move, copied.statements)
    if any(leaf.base == base for leaf in leaves(value)):
        # What is read on the right is allocated.
        return Piece(copied.declarations, (choice,))
    return Piece(copied.declarations, (If(Call("allocated", (base,)), (choice,), move),))


def grows(target: Section, extents: Shape) -> bool:
    """Whether the value surely has more elements along some dimension than the left side: ``[a, x]``."""
    for d, extent in enumerate(extents):
        atoms, distance = linear(sub(extent, Call("size", (target.base, integer(d + 1)))))
        if not atoms and distance > 0:
            return True
    return False


def movable(type: Type) -> bool:
    """Whether a temporary can be declared whose storage a left side of this type may take over."""
    try:
        declarable(type, "a temporary")
    except Refusal:
        return False
    return True


def own_bounds(value: Array) -> Shape | None:
    """LBOUND of a right side that is a whole array with lower bounds of its own; None when all are 1."""
    if not (isinstance(value, Section) and value.whole):
        return None
    lower = tuple(axis.lower for axis in value.axes if isinstance(axis, Triplet))
    return None if all(constant(x) == 1 for x in lower) else lower


def _differs(base: Expr, extents: Shape) -> Expr:
    """Whether an allocated array has another shape."""
    first, *others = (
        Op("/=", (Call("size", (base, integer(d))), clipped(extent)))
        for d, extent in enumerate(extents, 1)
    )
    test: Expr = first
    for more in others:
        test = Op(".or.", (test, more))
    return test
