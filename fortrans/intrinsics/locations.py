"""MAXLOC, MINLOC, FINDLOC: where an element is."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, indices_for, inserted, without
from fortrans.intrinsics.types import default_integer
from fortrans.ir.arrays import Apply, element, rank, shape
from fortrans.ir.expr import At, Expr, Index, Literal, Locate, Shape, constant, integer
from fortrans.ir.symbols import Type

_NUMERIC = ("integer", "real", "complex")


class Location(Entry):
    """The first position of an element, counted from 1; with BACK the last; 0 if there is none.

    OP(X, DIM=d){...} => the k of 1..n_d for which X{..., k, ...} is what is looked for.  Without
    DIM the result is a vector of as many positions as X has dimensions, found in one scan.
    """

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

    def element(self, index: Index, apply: Apply) -> Expr:
        args = apply.args
        array = args["array"]
        if not self.comparable(args):
            return At(apply, index, None)
        extents = shape(array)
        dim = self.dimension(args, len(extents))
        part = None
        if dim is None:
            # The same scan whichever of the positions is asked for.
            names = indices_for(apply, (), len(extents))
            inner: Index = names
            indices = tuple(zip(names, extents))
            part = index[0] if len(extents) > 1 else None
        else:
            (name,) = indices_for(apply, index, 1)
            inner = inserted(index, dim, name)
            indices = ((name, extents[dim]),)
        mask = element(args["mask"], inner if rank(args["mask"]) else ()) if "mask" in args else None
        back = element(args["back"], ()) if "back" in args else None
        return Locate(
            self.name,
            apply.type,
            array.type,
            indices,
            element(array, inner),
            None if mask == Literal(".true.") else mask,
            element(args["value"], ()) if "value" in args else None,
            None if back == Literal(".false.") else back,
            part,
            apply,
            index,
        )

    def comparable(self, args: Args) -> bool:
        """Whether elements can be compared by the operators of the language."""
        return args["array"].type.name in ("integer", "real", "character")


class Maxloc(Location):
    """MAXLOC(X, DIM=d){...} => the first k for which X{..., k, ...} is greatest, 0 if there is none

    Fortran 2018, 16.9.135.  NaN is no greatest element; where all are NaN, it is the first of
    them, also with BACK: gfortran's choice (flang 19 takes the last then, the standard is silent).
    """

    signature = (
        "MAXLOC(ARRAY, DIM [, MASK, KIND, BACK]) or MAXLOC(ARRAY [, MASK, KIND, BACK])"
    )


class Minloc(Location):
    """MINLOC(X, DIM=d){...} => the first k for which X{..., k, ...} is least, 0 if there is none

    Fortran 2018, 16.9.141.  NaN as for MAXLOC.
    """

    signature = (
        "MINLOC(ARRAY, DIM [, MASK, KIND, BACK]) or MINLOC(ARRAY [, MASK, KIND, BACK])"
    )


class Findloc(Location):
    """FINDLOC(X, VALUE=v, DIM=d){...} => the first k for which X{..., k, ...} == v, 0 if there is none

    Fortran 2018, 16.9.78; .EQV. for logicals.  Where VALUE is of a greater type or kind than ARRAY,
    gfortran 12 converts VALUE before it compares and flang 19 ARRAY, so there is no element rule.
    """

    signature = (
        "FINDLOC(ARRAY, VALUE, DIM [, MASK, KIND, BACK])"
        " or FINDLOC(ARRAY, VALUE [, MASK, KIND, BACK])"
    )

    def comparable(self, args: Args) -> bool:
        array, value = args["array"].type, args["value"].type
        if array.name not in _NUMERIC or value.name not in _NUMERIC:
            return array.name == value.name and array.name in ("logical", "character")
        if value.name == "integer":
            known = constant(element(args["value"], ()))
            small = known is not None and abs(known) < 128
            return array.name != "integer" or small or _no_wider(value, array)
        return _NUMERIC.index(array.name) >= _NUMERIC.index(value.name) and _no_wider(value, array)


def _no_wider(value: Type, array: Type) -> bool:
    if isinstance(value.kind, int) and isinstance(array.kind, int):
        return value.kind <= array.kind
    return value.kind is not None and value.kind == array.kind
