"""The inquiry functions that a shape answers."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry
from fortrans.intrinsics.types import default_integer
from fortrans.ir.arrays import Apply, shape
from fortrans.ir.expr import At, Expr, Index, Shape, constant, integer
from fortrans.ir.symbols import Type

# Inquiry functions whose argument's value is not read: what they tell no store changes (16.7).
INQUIRIES = frozenset(
    "size lbound ubound shape rank kind len huge tiny epsilon precision range digits maxexponent"
    " minexponent radix bit_size storage_size allocated present".split()
)


class Inquiry(Entry):
    """What the extents of the argument tell, of which no element is evaluated."""

    composed = False

    def shape(self, args: Args) -> Shape:
        return () if "dim" in args or self.name == "size" else (integer(len(shape(args["array"]))),)

    def type(self, args: Args) -> Type:
        return default_integer(args.get("kind"))


class ShapeOf(Inquiry):
    """SHAPE(X){k} => n_k for a constant k

    Fortran 2018, 16.9.172.
    """

    signature = "SHAPE(SOURCE [, KIND])"

    def shape(self, args: Args) -> Shape:
        return (integer(len(shape(args["source"]))),)

    def element(self, index: Index, apply: Apply) -> Expr:
        extents = shape(apply.args["source"])
        place = constant(index[0])
        if place is None or not 1 <= place <= len(extents):
            return At(apply, index, None)
        return extents[place - 1]


class Size(Inquiry):
    """SIZE(X) => n_1*...*n_r, SIZE(X, DIM=d) => n_d

    Fortran 2018, 16.9.179.
    """

    signature = "SIZE(ARRAY [, DIM, KIND])"


class Lbound(Inquiry):
    """LBOUND(X){d} => 1, or the lower bound of a whole array that is not empty along d

    Fortran 2018, 16.9.109.
    """

    signature = "LBOUND(ARRAY, DIM [, KIND]) or LBOUND(ARRAY [, KIND])"


class Ubound(Inquiry):
    """UBOUND(X){d} => n_d, or the upper bound of a whole array that is not empty along d

    Fortran 2018, 16.9.196.
    """

    signature = "UBOUND(ARRAY, DIM [, KIND]) or UBOUND(ARRAY [, KIND])"


ANSWERED: tuple[Inquiry, ...] = (ShapeOf(), Size(), Lbound(), Ubound())
"""What the front end answers from extents; only SHAPE is ever an operand (``RESHAPE(X, SHAPE(Y))``)."""
