"""SPREAD."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, clipped, inserted, without
from fortrans.ir.arrays import Apply, Scalar, Section, element, rank, shape
from fortrans.ir.expr import At, Expr, Index, Shape
from fortrans.ir.symbols import Type


class Spread(Entry):
    """SPREAD(X, DIM=d, NCOPIES=n){..., j_d, ...} => X{...}

    Fortran 2018, 16.9.180.  The element of a computed X is an ``At``: it is the same for all j_d,
    so lowering may keep it.
    """

    signature = "SPREAD(SOURCE, DIM, NCOPIES)"

    def check(self, args: Args) -> None:
        self.need_rank(args, "source", 0, 14)

    def _dim(self, args: Args) -> int:
        dim = self.dimension(args, rank(args["source"]) + 1)
        assert dim is not None
        return dim

    def shape(self, args: Args) -> Shape:
        copies = clipped(element(args["ncopies"], ()))
        return inserted(shape(args["source"]), self._dim(args), copies)

    def type(self, args: Args) -> Type:
        return args["source"].type

    def element(self, index: Index, apply: Apply) -> Expr:
        source = apply.args["source"]
        at = without(index, self._dim(apply.args))
        body = element(source, at)
        match source:
            case Scalar() | Section():
                return body
            case _:
                return body if isinstance(body, At) else At(source, at, body)
