"""CSHIFT."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, replaced, without
from fortrans.intrinsics.types import kind_argument
from fortrans.ir.arrays import Apply, Array, Elemental, Scalar, element, plain, rank, shape
from fortrans.ir.expr import (
    ONE,
    At,
    Call,
    Expr,
    Index,
    Op,
    Select,
    Shape,
    add,
    constant,
    integer,
    sub,
)
from fortrans.ir.symbols import INTEGER, Type
from fortrans.remarks import Refusal


class Cshift(Entry):
    """CSHIFT(X, SHIFT=s, DIM=d){..., j_d, ...} => X{..., 1 + MODULO(j_d + s - 1, n_d), ...}

    Fortran 2018, 16.9.58.  The remainder is written as a choice of two subscripts, which
    lowering splits into two loops; only the shift itself is reduced, once, or where SHIFT is an
    array, once for each of its elements.
    """

    signature = "CSHIFT(ARRAY, SHIFT [, DIM])"

    def check(self, args: Args) -> None:
        highest = self.need_rank(args, "array")
        if rank(args["shift"]) not in (0, highest - 1):
            raise self.refuse("argument 'shift' has the wrong rank")

    def shape(self, args: Args) -> Shape:
        return shape(args["array"])

    def type(self, args: Args) -> Type:
        return args["array"].type

    def element(self, index: Index, apply: Apply) -> Expr:
        array = apply.args["array"]
        extents = shape(array)
        dim = self.dimension(apply.args, len(extents)) or 0
        shift = apply.args["shift"]
        if rank(shift):
            shift = widened(self, shift)
            at = turned(index[dim], steps(index, dim, _reduced(shift, extents[dim])), extents[dim])
        else:
            at = wrapped(index[dim], element(shift, ()), extents[dim], shift)
        return element(array, replaced(index, dim, at))


def steps(index: Index, dim: int, limited: Array) -> Expr:
    """The element for ``index`` of an array SHIFT, ``limited`` to what the extent takes.

    It is an ``At``, as it is the same along the shifted dimension, so that lowering may keep it.
    A composed SHIFT has no place in subscripts, where choices are of subscripts: it is materialised.
    """
    at = without(index, dim)
    return At(limited, at, element(limited, at) if plain(limited) else None)


def limit(extent: Expr, shift: Array) -> Scalar:
    """The extent in the kind of an array SHIFT, as an operand beside it."""
    if shift.type.kind == 4:
        return Scalar(extent, INTEGER)
    return Scalar(Call("int", (extent, *kind_argument(shift.type))), shift.type)


def default_kind(shift: Array, limited: Array) -> Array:
    """What the extent limits fits a default integer, as subscripts are."""
    return limited if shift.type.kind == 4 else Elemental("int", (limited,), INTEGER)


def widened(entry: Entry, shift: Array) -> Array:
    """An array SHIFT of a kind that holds every extent.

    Raises Refusal FT403 when its kind is not known.
    """
    if not isinstance(shift.type.kind, int):
        raise Refusal("FT403", f"Kind of the array SHIFT of {entry.name.upper()} is not known")
    return shift if shift.type.kind >= 4 else Elemental("int", (shift,), INTEGER)


def _reduced(shift: Array, extent: Expr) -> Array:
    """MODULO of an array SHIFT by the extent."""
    length = constant(extent)
    if length is None or length < 1:
        # With no elements along the dimension there is nothing to shift, but still a shift.
        extent = ONE if length is not None else Call("max", (extent, ONE))
    return default_kind(shift, Elemental("modulo", (shift, limit(extent, shift)), shift.type))


def turned(j: Expr, shift: Expr, extent: Expr) -> Expr:
    """The subscript that a shift between 0 and ``extent`` takes ``j`` to."""
    forward = add(j, shift)
    return Select(Op("<=", (j, sub(extent, shift))), forward, sub(forward, extent))


def of_kind(extent: Expr, shift: Expr, array: Array) -> Expr:
    """The extent in the kind of SHIFT, so that both may be arguments of one intrinsic."""
    if array.type.kind == 4 or constant(shift) is not None:
        return extent
    return Call("int", (extent, Call("kind", (shift,))))


def wrapped(j: Expr, shift: Expr, extent: Expr, array: Array) -> Expr:
    """The subscript that SHIFT (whose expression is ``array``) takes ``j`` to, within 1 and ``extent``."""
    steps, length = constant(shift), constant(extent)
    if steps is not None and length is not None and length > 0:
        steps = steps % length
        if steps == length - 1 and length > 2:
            steps = -1
    if steps == 0 or length in (0, 1):
        return j
    if steps == -1:
        back = sub(j, ONE)
        return Select(Op("<=", (j, ONE)), add(back, extent), back)
    if steps == 1 or (steps is not None and length is not None):
        shift = integer(steps)
    else:
        modulus = of_kind(extent, shift, array)
        least = ONE if modulus is extent else of_kind(ONE, shift, array)
        shift = Call("modulo", (shift, modulus if length else Call("max", (modulus, least))))
    return turned(j, shift, extent)
