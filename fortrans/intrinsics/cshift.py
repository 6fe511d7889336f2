"""CSHIFT."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, replaced
from fortrans.ir.arrays import Apply, Array, element, rank, shape
from fortrans.ir.expr import (
    ONE,
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
from fortrans.ir.symbols import Type
from fortrans.remarks import Refusal


class Cshift(Entry):
    """CSHIFT(X, SHIFT=s, DIM=d){..., j_d, ...} => X{..., 1 + MODULO(j_d + s - 1, n_d), ...}

    Fortran 2018, 16.9.58.  The remainder is written as a choice of two subscripts, which
    lowering splits into two loops; only the shift itself is reduced, once.
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
        shift = scalar_shift(self, apply.args)
        at = wrapped(index[dim], shift, extents[dim], apply.args["shift"])
        return element(array, replaced(index, dim, at))


def scalar_shift(entry: Entry, args: Args) -> Expr:
    """SHIFT as a scalar; raises Refusal FT403 for an array of shifts."""
    if rank(args["shift"]):
        raise Refusal("FT403", f"SHIFT of {entry.name.upper()} is an array")
    return element(args["shift"], ())


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
    forward = add(j, shift)
    return Select(Op("<=", (j, sub(extent, shift))), forward, sub(forward, extent))
