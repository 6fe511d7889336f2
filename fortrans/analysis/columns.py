"""Reductions of columns that gfortran expands in line: several columns at a time are faster.

Measured with gfortran 12, original over rewritten, four columns at a time (real(8), real(4)):

    rows                              8           40          300         2500
    SUM(a, 1)       -O2           2.8  2.1    3.7  2.0    2.4  2.5    2.0  2.8
                    -O3 native    0.9  0.9    1.2  1.0    2.3  2.4    2.1  3.0
    SUM(a*b, 1)     -O2           1.6  1.3    2.3  1.4    1.9  2.2    1.3  2.1
                    -O3 native    0.8  0.8    1.1  1.1    1.5  1.6    1.4  1.8
    PRODUCT(a, 1)   -O2           2.6  2.0    3.6  1.8    2.9  2.9    2.2  3.6
                    -O3 native    1.9  1.8    1.9  1.6    2.8  2.8    2.0  3.1

Short columns gain, too, when there are many: SUM(a, 1) of 3 rows and 1000 columns 1.7, 1.2.
"""

from __future__ import annotations

from fortrans.intrinsics.elemental import EXPENSIVE
from fortrans.ir.arrays import Apply, Array, Elemental, Scalar, plain, rank, shape
from fortrans.ir.expr import Expr, constant

#: So many columns at a time: 2, 3, 6 and 8 gain less, or lose more where columns are short.
COLUMNS = 4
#: Columns of a constant length below this are unrolled by the compiler.
SHORTEST = 12
#: What gfortran expands in line; others call its library.
INLINE = frozenset({"sum", "product"})
MATHEMATICAL = EXPENSIVE - {"/", "**", "mod", "modulo", "sqrt"}


def column_sums(value: Array) -> Apply | None:
    """The one reduction of columns in elementwise work, of elementwise work; None when it is otherwise."""
    found = set(_columns(value))
    return found.pop() if len(found) == 1 and None not in found else None


def _columns(value: Array) -> set[Apply | None]:
    match value:
        case Apply(intrinsic, args):
            dim = args.get("dim")
            operand = args[intrinsic.required[0]]
            one = isinstance(dim, Scalar) and constant(dim.value) == 1 and rank(value) > 0
            simple = plain(operand) and not calls(operand) and "mask" not in args
            return {value if intrinsic.name in INLINE and one and simple else None}
        case Elemental(operands=operands):
            return {x for operand in operands for x in _columns(operand)}
        case _:
            return set() if plain(value) else {None}


def rows(columns: Apply) -> Expr:
    """How many elements are reduced in each column."""
    return shape(columns.args[columns.intrinsic.required[0]])[0]


def calls(array: Array) -> bool:
    """Whether each element costs a call of a function, beside which nothing else takes time."""
    match array:
        case Elemental(name, operands, operator=operator, user=user):
            return user or (not operator and name in MATHEMATICAL) or any(map(calls, operands))
        case _:
            return False
