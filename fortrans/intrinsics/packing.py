"""PACK and UNPACK."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, size
from fortrans.intrinsics.reductions import Count
from fortrans.ir.arrays import Apply, Array, element, rank, shape
from fortrans.ir.expr import ZERO, Literal, Select, Shape
from fortrans.ir.symbols import INTEGER, Type


class Pack(Entry):
    """PACK(X, m){j} => the j-th element of X, in array element order, for which m is true

    Fortran 2018, 16.9.147.  Its size is COUNT(m), or that of VECTOR.
    """

    signature = "PACK(ARRAY, MASK [, VECTOR])"
    composed = False

    def check(self, args: Args) -> None:
        highest = self.need_rank(args, "array")
        if rank(args["mask"]) not in (0, highest):
            raise self.refuse("argument 'mask' has the wrong rank")
        if "vector" in args:
            self.need_rank(args, "vector", 1, 1)

    def shape(self, args: Args) -> Shape:
        if "vector" in args:
            return shape(args["vector"])
        mask = args["mask"]
        if rank(mask):
            return (element(Apply(Count(), {"mask": mask}, INTEGER), ()),)
        test = element(mask, ())
        everything = size(args["array"])
        return (everything if test == Literal(".true.") else Select(test, everything, ZERO),)

    def type(self, args: Args) -> Type:
        return args["array"].type


class Taken(Count):
    """SIZE(PACK(X, m)) => COUNT(m)"""


def packed(array: Array) -> Apply | None:
    """``array`` if it is a PACK without VECTOR, whose size only its mask tells."""
    if isinstance(array, Apply) and array.intrinsic.name == "pack" and "vector" not in array.args:
        return array
    return None


class Unpack(Entry):
    """UNPACK(V, m, F){j} => V{COUNT of m up to j} where m{j}, else F{j}

    Fortran 2018, 16.9.197.
    """

    signature = "UNPACK(VECTOR, MASK, FIELD)"
    composed = False

    def check(self, args: Args) -> None:
        self.need_rank(args, "vector", 1, 1)
        highest = self.need_rank(args, "mask")
        if rank(args["field"]) not in (0, highest):
            raise self.refuse("argument 'field' has the wrong rank")

    def shape(self, args: Args) -> Shape:
        return shape(args["mask"])

    def type(self, args: Args) -> Type:
        return args["vector"].type
