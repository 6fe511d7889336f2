"""Reductions: one value out of many, over the whole array or along one dimension."""

from __future__ import annotations

from fortrans.intrinsics.entry import Args, Entry, indices_for, inserted, without
from fortrans.intrinsics.types import default_integer
from fortrans.ir.arrays import Apply, Array, element, rank, shape
from fortrans.ir.expr import Expr, Index, Literal, Reduce, Shape
from fortrans.ir.symbols import Type


class Reduction(Entry):
    """OP(X, DIM=d, MASK=m){...} => OP over k in 1..n_d of X{..., k, ...} where m{..., k, ...}

    Without DIM, over all subscripts, the first varying fastest.  OP(PACK(X, m)) => OP(X, MASK=m).
    """

    def check(self, args: Args) -> None:
        highest = self.need_rank(args, self.operand)
        if self.operand != "mask" and "mask" in args and rank(args["mask"]) not in (0, highest):
            raise self.refuse("argument 'mask' has the wrong rank")

    @property
    def operand(self) -> str:
        """The dummy argument that is reduced."""
        return self.required[0]

    def shape(self, args: Args) -> Shape:
        extents = shape(args[self.operand])
        dim = self.dimension(args, len(extents))
        return () if dim is None else without(extents, dim)

    def type(self, args: Args) -> Type:
        return args[self.operand].type

    def element(self, index: Index, apply: Apply) -> Expr:
        args = apply.args
        operand, mask = args[self.operand], self._masked(args)
        dim = self.dimension(args, rank(operand))
        if mask is None and not dim and (pack := _packed(operand)) is not None:
            # Its elements are those of ARRAY, in the same order, where MASK holds.
            operand, mask, dim = pack.args["array"], pack.args["mask"], None
        extents = shape(operand)
        if dim is None:
            inner: Index = indices_for(apply, index, len(extents))
            indices = tuple(zip(indices_for(apply, index, len(extents)), extents))
        else:
            (name,) = indices_for(apply, index, 1)
            inner = inserted(index, dim, name)
            indices = ((name, extents[dim]),)
        return Reduce(
            self.name,
            self.type(args),
            indices,
            element(operand, inner),
            _mask(mask, inner),
            apply,
            index,
        )

    def _masked(self, args: Args) -> Array | None:
        return None if self.operand == "mask" else args.get("mask")


def _packed(array: Array) -> Apply | None:
    if isinstance(array, Apply) and array.intrinsic.name == "pack" and "vector" not in array.args:
        return array
    return None


def _mask(mask: Array | None, index: Index) -> Expr | None:
    if mask is None:
        return None
    value = element(mask, index if rank(mask) else ())
    return None if value == Literal(".true.") else value


class Sum(Reduction):
    """SUM(X, DIM=d, MASK=m){...} => SUM over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.187.  0 where no element is taken.  The order of additions is the
    processor's choice: ours, and gfortran's, is array element order, while flang's library
    compensates for rounding, and so makes NaN of a sum with an infinity, where the loop makes Inf.
    """

    signature = "SUM(ARRAY, DIM [, MASK]) or SUM(ARRAY [, MASK])"


class Product(Reduction):
    """PRODUCT(X, DIM=d, MASK=m){...} => PRODUCT over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.153.  1 where no element is taken.  Complex factors with infinities give
    (Inf, NaN) in flang's library where its own loop, and gfortran, give (NaN, NaN).
    """

    signature = "PRODUCT(ARRAY, DIM [, MASK]) or PRODUCT(ARRAY [, MASK])"


class Maxval(Reduction):
    """MAXVAL(X, DIM=d, MASK=m){...} => MAXVAL over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.137.  The most negative number where no element is taken.
    """

    signature = "MAXVAL(ARRAY, DIM [, MASK]) or MAXVAL(ARRAY [, MASK])"


class Minval(Reduction):
    """MINVAL(X, DIM=d, MASK=m){...} => MINVAL over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.143.  The largest number where no element is taken.
    """

    signature = "MINVAL(ARRAY, DIM [, MASK]) or MINVAL(ARRAY [, MASK])"


class All(Reduction):
    """ALL(X, DIM=d){...} => ALL over k of X{..., k, ...}

    Fortran 2018, 16.9.10.  .TRUE. of no elements.
    """

    signature = "ALL(MASK) or ALL(MASK, DIM)"


class Any(Reduction):
    """ANY(X, DIM=d){...} => ANY over k of X{..., k, ...}

    Fortran 2018, 16.9.13.  .FALSE. of no elements.
    """

    signature = "ANY(MASK) or ANY(MASK, DIM)"


class Parity(Reduction):
    """PARITY(X, DIM=d){...} => .NEQV. over k of X{..., k, ...}

    Fortran 2018, 16.9.148.  .FALSE. of no elements.
    """

    signature = "PARITY(MASK) or PARITY(MASK, DIM)"


class Count(Reduction):
    """COUNT(X, DIM=d){...} => the number of k for which X{..., k, ...} is true

    Fortran 2018, 16.9.55.
    """

    signature = "COUNT(MASK [, DIM, KIND])"

    def type(self, args: Args) -> Type:
        return default_integer(args.get("kind"))


class Iall(Reduction):
    """IALL(X, DIM=d, MASK=m){...} => IAND over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.90.  NOT(0) where no element is taken.
    """

    signature = "IALL(ARRAY, DIM [, MASK]) or IALL(ARRAY [, MASK])"


class Iany(Reduction):
    """IANY(X, DIM=d, MASK=m){...} => IOR over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.92.  0 where no element is taken.
    """

    signature = "IANY(ARRAY, DIM [, MASK]) or IANY(ARRAY [, MASK])"


class Iparity(Reduction):
    """IPARITY(X, DIM=d, MASK=m){...} => IEOR over k of X{..., k, ...} where m{..., k, ...}

    Fortran 2018, 16.9.104.  0 where no element is taken.
    """

    signature = "IPARITY(ARRAY, DIM [, MASK]) or IPARITY(ARRAY [, MASK])"


class Norm2(Reduction):
    """NORM2(X, DIM=d){...} => SQRT(SUM over k of X{..., k, ...}**2), guarded against overflow

    Fortran 2018, 16.9.146.  0 of no elements.  The guard is gfortran's, for the same bits: squares
    are summed of X/s, where s is 1 until an element is greater in size, and then that one.  So
    1E300 does not overflow, but 1E-300 underflows to 0 (and flang's result, which it does not, is
    another); an infinity after another gives NaN in both, as it does in gfortran.
    """

    signature = "NORM2(X) or NORM2(X, DIM)"
