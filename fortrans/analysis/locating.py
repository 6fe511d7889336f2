"""When loops beat what gfortran does for MAXLOC, MINLOC and FINDLOC, by measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fortrans.intrinsics.locations import Location
from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Scalar, Section, rank, shape
from fortrans.ir.expr import Expr, constant
from fortrans.ir.sites import Assignment

#: From this extent on our loop for a vector of reals beats the one that gfortran expands.
LONG = 128
Value = Callable[[Expr], int | None]


def locates(apply: Apply) -> bool:
    """Whether the reference is one to MAXLOC, MINLOC or FINDLOC."""
    return isinstance(apply.intrinsic, Location)


def scan_pays(apply: Apply, value: Value = constant) -> bool:
    """Whether the loops are faster than what gfortran does with a location.

    It expands a location in a vector, elementwise operands included; ours is faster for reals, by
    far, but not while the vector is short.  For other arrays it calls the library, and makes a
    temporary for whatever is composed.  ``value`` tells extents that are named constants.
    """
    array, mask = apply.args["array"], apply.args.get("mask")
    extremes, real = apply.intrinsic.name != "findloc", array.type.name == "real"
    operands = [x for x in (array, mask) if x is not None]
    if rank(array) == 1:
        if any(map(_nested, operands)):
            return not extremes or (real and mask is None)
        known = value(shape(array)[0])
        return extremes and real and not {"mask", "back"} & apply.args.keys() and (known or 0) >= LONG
    bare = all(isinstance(x, Scalar | Section | Constructor) for x in operands)
    if extremes and rank(apply) == 1 and _dim(apply) == 2 and mask is None:
        # A row of positions at once; in a cache gfortran's own loops hold against it for other kinds.
        return not bare or (real and array.type.kind == 8 and "back" not in apply.args)
    if extremes and not real and "dim" in apply.args and mask is None:
        return _nested(array)
    if not extremes and isinstance(array, Apply) and array.intrinsic.name == "transpose":
        # The columns of the matrix are walked across either way.
        return not isinstance(array.args["matrix"], Section)
    if bare:
        return not extremes and array.type.name == "integer" and not {"mask", "dim"} & apply.args.keys()
    return True


def searches_integers(apply: Apply) -> bool:
    """MAXLOC and MINLOC in a vector of integers: at -O3 gfortran's loop beats ours, and the temporary."""
    extremes = locates(apply) and apply.intrinsic.name != "findloc"
    array = apply.args.get("array")
    return extremes and array is not None and rank(array) == 1 and array.type.name == "integer"


def sparing(site: Assignment) -> Assignment:
    """The site with locations that do not pay evaluated as written where they are operands of subscripts."""
    captures = tuple(
        replace(c, array=None)
        if isinstance(c.array, Apply) and locates(c.array) and not scan_pays(c.array, site.scope.constant)
        else c
        for c in site.captures
    )
    return replace(site, captures=captures)


def _dim(apply: Apply) -> int | None:
    dim = apply.args.get("dim")
    return constant(dim.value) if isinstance(dim, Scalar) else None


def _nested(array: Array) -> bool:
    match array:
        case Apply():
            return True
        case Elemental(operands=operands):
            return any(map(_nested, operands))
        case _:
            return False
