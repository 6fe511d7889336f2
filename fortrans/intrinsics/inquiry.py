"""SHAPE: the inquiry function whose result is an array."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry
from fortrans.intrinsics.types import default_integer
from fortrans.ir.arrays import Apply, shape
from fortrans.ir.expr import At, Expr, Index, Shape, constant, integer
from fortrans.ir.symbols import Type

# Inquiry functions whose argument's value is not read: what they tell no store changes (16.7).
INQUIRIES = frozenset(
    "size lbound ubound shape kind len huge tiny epsilon precision range digits maxexponent"
    " minexponent radix bit_size storage_size allocated present".split()
)


class ShapeOf(Entry):
    """SHAPE(X){k} => n_k for a constant k

    Fortran 2018, 16.9.172.  Enough for ``RESHAPE(X, SHAPE(Y))``; elsewhere it is materialised.
    """

    signature = "SHAPE(SOURCE [, KIND])"
    composed = False

    def shape(self, args: Args) -> Shape:
        return (integer(len(shape(args["source"]))),)

    def type(self, args: Args) -> Type:
        return default_integer(args.get("kind"))

    def element(self, index: Index, apply: Apply) -> Expr:
        extents = shape(apply.args["source"])
        place = constant(index[0])
        if place is None or not 1 <= place <= len(extents):
            return At(apply, index, None)
        return extents[place - 1]
