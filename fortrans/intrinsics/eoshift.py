"""EOSHIFT."""

from __future__ import annotations

from fortrans.intrinsics.cshift import default_kind, limit, of_kind, widened
from fortrans.intrinsics.cshift import steps as moved
from fortrans.intrinsics.entry import Args, Entry, clipped, replaced, without
from fortrans.intrinsics.types import zero
from fortrans.ir.arrays import Apply, Array, Elemental, Scalar, Section, element, rank, shape
from fortrans.ir.expr import (
    ONE,
    Call,
    Expr,
    Index,
    Literal,
    Op,
    Select,
    Shape,
    add,
    constant,
    integer,
    mul,
    sub,
)
from fortrans.ir.symbols import Type


class Eoshift(Entry):
    """EOSHIFT(X, s, B, d){..., j_d, ...} => X{..., j_d + s, ...} if 1 <= j_d + s <= n_d, else B{...}

    Fortran 2018, 16.9.68.  A shift that is not a constant is first limited to -n_d and n_d,
    which changes no element and keeps the arithmetic from overflowing.
    """

    signature = "EOSHIFT(ARRAY, SHIFT [, BOUNDARY, DIM])"

    def check(self, args: Args) -> None:
        highest = self.need_rank(args, "array")
        for dummy in ("shift", "boundary"):
            if dummy in args and rank(args[dummy]) not in (0, highest - 1):
                raise self.refuse(f"argument '{dummy}' has the wrong rank")

    def shape(self, args: Args) -> Shape:
        return shape(args["array"])

    def type(self, args: Args) -> Type:
        return args["array"].type

    def element(self, index: Index, apply: Apply) -> Expr:
        args = apply.args
        extents = shape(args["array"])
        dim = self.dimension(args, len(extents)) or 0
        j, extent = index[dim], extents[dim]
        given = args["shift"]
        if rank(given):
            shift = moved(index, dim, _limited(widened(self, given), extent))
        else:
            shift = element(given, ())
        steps = constant(shift)
        if steps is None and not rank(given):
            most = of_kind(extent, shift, given)
            shift = Call("max", (mul(integer(-1), most), Call("min", (most, shift))))
        inside = element(args["array"], replaced(index, dim, add(j, shift)))
        if steps == 0:
            return inside
        outside = _boundary(args, without(index, dim))
        value = inside
        if steps is None or steps > 0:
            value = Select(Op("<=", (j, sub(extent, shift))), value, outside)
        if steps is None or steps < 0:
            value = Select(Op(">=", (j, sub(ONE, shift))), value, outside)
        return value


def _limited(shift: Array, extent: Expr) -> Array:
    """MAX(-n, MIN(n, s)) of an array SHIFT."""
    most, type = limit(clipped(extent), shift), shift.type
    least = Scalar(mul(integer(-1), most.value), most.type)
    return default_kind(
        shift, Elemental("max", (least, Elemental("min", (most, shift), type)), type)
    )


def _boundary(args: Args, index: Index) -> Expr:
    """What is shifted in at ``index``, the subscripts but the shifted one."""
    if "boundary" in args:
        boundary = args["boundary"]
        return element(boundary, index if rank(boundary) else ())
    array = args["array"]
    unknown = array.type.name == "character" and array.type.length is None
    if unknown and isinstance(array, Section) and not array.suffix:
        return Call("repeat", (Literal("' '"), Call("len", (array.base,))))
    return zero(array.type)
