"""DOT_PRODUCT and MATMUL."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry
from fortrans.intrinsics.types import product_type
from fortrans.ir.arrays import shape
from fortrans.ir.expr import Shape
from fortrans.ir.symbols import Type


class DotProduct(Entry):
    """DOT_PRODUCT(X, Y) => SUM(CONJG(X)*Y), ANY(X .AND. Y) for logicals

    Fortran 2018, 16.9.63.
    """

    signature = "DOT_PRODUCT(VECTOR_A, VECTOR_B)"
    composed = False

    def check(self, args: Args) -> None:
        self.need_rank(args, "vector_a", 1, 1)
        self.need_rank(args, "vector_b", 1, 1)

    def shape(self, args: Args) -> Shape:
        return ()

    def type(self, args: Args) -> Type:
        return product_type(args["vector_a"].type, args["vector_b"].type)


class Matmul(Entry):
    """MATMUL(X, Y){j, k} => SUM over i of X{j, i}*Y{i, k}

    Fortran 2018, 16.9.138.  Either may be a vector, but not both.
    """

    signature = "MATMUL(MATRIX_A, MATRIX_B)"
    composed = False

    def check(self, args: Args) -> None:
        left = self.need_rank(args, "matrix_a", 1, 2)
        if left + self.need_rank(args, "matrix_b", 1, 2) < 3:
            raise self.refuse("one of the arguments must be a matrix")

    def shape(self, args: Args) -> Shape:
        rows = shape(args["matrix_a"])[:-1]
        return (*rows, *shape(args["matrix_b"])[1:])

    def type(self, args: Args) -> Type:
        return product_type(args["matrix_a"].type, args["matrix_b"].type)
