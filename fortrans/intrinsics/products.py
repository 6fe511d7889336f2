"""DOT_PRODUCT and MATMUL."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, indices_for
from fortrans.intrinsics.types import product_type
from fortrans.ir.arrays import Apply, element, rank, shape
from fortrans.ir.expr import Call, Expr, Index, Name, Op, Reduce, Shape
from fortrans.ir.symbols import Type


class DotProduct(Entry):
    """DOT_PRODUCT(X, Y) => SUM over k of CONJG(X{k})*Y{k}; ANY over k of X{k} .AND. Y{k} of logicals

    Fortran 2018, 16.9.63.  CONJG only of a complex X.  Terms are added in the order of k, as
    gfortran does.
    """

    signature = "DOT_PRODUCT(VECTOR_A, VECTOR_B)"

    def check(self, args: Args) -> None:
        self.need_rank(args, "vector_a", 1, 1)
        self.need_rank(args, "vector_b", 1, 1)

    def shape(self, args: Args) -> Shape:
        return ()

    def type(self, args: Args) -> Type:
        return product_type(args["vector_a"].type, args["vector_b"].type)

    def element(self, index: Index, apply: Apply) -> Expr:
        first, second = apply.args["vector_a"], apply.args["vector_b"]
        (k,) = indices_for(apply, index, 1)
        left = element(first, (k,))
        if first.type.name == "complex":
            left = Call("conjg", (left,))
        return _sum(self.type(apply.args), k, shape(first)[0], left, element(second, (k,)), apply, index)


class Matmul(Entry):
    """MATMUL(X, Y){j, k} => SUM over i of X{j, i}*Y{i, k}; ANY over i of X{j, i} .AND. Y{i, k} of logicals

    Fortran 2018, 16.9.138.  Either may be a vector, but not both.  Terms are added in the order
    of i, as gfortran's own loops add them; where gfortran calls its library, which adds reals in
    another order, the library is called, so that results have the same bits (`analysis/matmul.py`).
    """

    signature = "MATMUL(MATRIX_A, MATRIX_B)"

    def check(self, args: Args) -> None:
        left = self.need_rank(args, "matrix_a", 1, 2)
        if left + self.need_rank(args, "matrix_b", 1, 2) < 3:
            raise self.refuse("one of the arguments must be a matrix")

    def shape(self, args: Args) -> Shape:
        rows = shape(args["matrix_a"])[:-1]
        return (*rows, *shape(args["matrix_b"])[1:])

    def type(self, args: Args) -> Type:
        return product_type(args["matrix_a"].type, args["matrix_b"].type)

    def element(self, index: Index, apply: Apply) -> Expr:
        first, second = apply.args["matrix_a"], apply.args["matrix_b"]
        (k,) = indices_for(apply, index, 1)
        row = (*index[: rank(first) - 1], k)
        column = (k, *index[rank(first) - 1 :])
        left, right = element(first, row), element(second, column)
        return _sum(self.type(apply.args), k, shape(first)[-1], left, right, apply, index)


def _sum(
    type: Type, k: Name, extent: Expr, left: Expr, right: Expr, apply: Apply, index: Index
) -> Reduce:
    """The sum of products over ``k``; of logicals, whether any pair is true."""
    op, times = ("any", ".and.") if type.name == "logical" else ("sum", "*")
    return Reduce(op, type, ((k, extent),), Op(times, (left, right)), None, apply, index)
