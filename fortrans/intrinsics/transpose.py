"""TRANSPOSE."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry
from fortrans.ir.arrays import Apply, element, shape
from fortrans.ir.expr import Expr, Index, Shape
from fortrans.ir.symbols import Type


class Transpose(Entry):
    """TRANSPOSE(X){j, k} => X{k, j}

    Fortran 2018, 16.9.193.
    """

    signature = "TRANSPOSE(MATRIX)"

    def check(self, args: Args) -> None:
        self.need_rank(args, "matrix", 2, 2)

    def shape(self, args: Args) -> Shape:
        rows, columns = shape(args["matrix"])
        return columns, rows

    def type(self, args: Args) -> Type:
        return args["matrix"].type

    def element(self, index: Index, apply: Apply) -> Expr:
        j, k = index
        return element(apply.args["matrix"], (k, j))
