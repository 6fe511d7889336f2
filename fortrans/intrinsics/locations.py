"""MAXLOC, MINLOC, FINDLOC: where an element is."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, without
from fortrans.intrinsics.types import default_integer
from fortrans.ir.arrays import rank, shape
from fortrans.ir.expr import Shape, integer
from fortrans.ir.symbols import Type


class Location(Entry):
    """The first position of an element, counted from 1; with BACK the last."""

    composed = False

    def check(self, args: Args) -> None:
        highest = self.need_rank(args, "array")
        if "mask" in args and rank(args["mask"]) not in (0, highest):
            raise self.refuse("argument 'mask' has the wrong rank")
        if "value" in args and rank(args["value"]):
            raise self.refuse("argument 'value' must be a scalar")

    def shape(self, args: Args) -> Shape:
        extents = shape(args["array"])
        dim = self.dimension(args, len(extents))
        return (integer(len(extents)),) if dim is None else without(extents, dim)

    def type(self, args: Args) -> Type:
        return default_integer(args.get("kind"))


class Maxloc(Location):
    """MAXLOC(X, DIM=d){...} => the first k for which X{..., k, ...} is greatest, 0 if there is none

    Fortran 2018, 16.9.135.
    """

    signature = (
        "MAXLOC(ARRAY, DIM [, MASK, KIND, BACK]) or MAXLOC(ARRAY [, MASK, KIND, BACK])"
    )


class Minloc(Location):
    """MINLOC(X, DIM=d){...} => the first k for which X{..., k, ...} is least, 0 if there is none

    Fortran 2018, 16.9.141.
    """

    signature = (
        "MINLOC(ARRAY, DIM [, MASK, KIND, BACK]) or MINLOC(ARRAY [, MASK, KIND, BACK])"
    )


class Findloc(Location):
    """FINDLOC(X, VALUE=v, DIM=d){...} => the first k for which X{..., k, ...} == v, 0 if there is none

    Fortran 2018, 16.9.78.
    """

    signature = (
        "FINDLOC(ARRAY, VALUE, DIM [, MASK, KIND, BACK])"
        " or FINDLOC(ARRAY, VALUE [, MASK, KIND, BACK])"
    )
