"""MATMUL: where loops are as good as the library, and give the same bits.

gfortran expands a product of matrices in line where its size, a product of extents, is at most
``-finline-matmul-limit`` (30) cubed, which it tests at run time; a vector times a matrix where it
is at most 30 squared; a matrix times a vector always.  It never does so for two operands that are
TRANSPOSE of a variable, nor for one with a vector.  Its loops add in the order of the reduced
subscript, as ours do; the library adds in an order of its own.  So that reals keep their bits
(for which gfortran must optimise: -O0 always calls the library), loops run only where gfortran's
would.  Results of INTEGER and LOGICAL type are the same in any order.

The limits are those, but for rows of less than SHORTEST elements.  Measured with gfortran 12: speed
of our loops (four of the reduced subscript at a time) relative to the same call left to gfortran.

    n                                   4     8    16    24    30   100   100: by the library but last
    MATMUL(a, b)         -O2         1.32  2.01  1.78  1.76  1.53  1.00
                         -O3 native  0.50  1.02  1.48  1.44  1.29  0.99
    MATMUL(TRANSPOSE(a), b) + s  -O2 1.93  1.45  1.36  1.19  1.42  1.06
                         -O3 native  1.76  1.29  1.14  1.04  1.09  1.08
    MATMUL(a, v)         -O2         1.13  1.78  1.72  1.65  1.47  2.02
                         -O3 native  1.15  1.11  1.39  1.49  1.18  1.69
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fortrans.intrinsics.entry import clipped
from fortrans.ir.arrays import Apply, Array, Section, rank, shape
from fortrans.ir.expr import Call, Expr, Op, integer

#: The greatest size of which loops do the work, by the ranks of the operands; None: any size.
LIMITS: Mapping[tuple[int, int], int | None] = {(2, 2): 30**3, (1, 2): 30**2, (2, 1): None}
#: Loops over rows of fewer elements lose to gfortran's own.
SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Way:
    """How a MATMUL is evaluated: by ``loops``, unless ``test`` says at run time that it is too large.

    ``loops`` False: by the library.
    """

    loops: bool
    test: Expr | None = None


def is_product(array: Array) -> bool:
    """Whether the array is a reference to MATMUL."""
    return isinstance(array, Apply) and array.intrinsic.name == "matmul"


def flipped(operand: Array, product: Apply) -> bool:
    """Whether gfortran reads the operand with exchanged subscripts: TRANSPOSE of a variable.

    Of another type than the product, it is converted first, which makes a variable of it.
    """
    if (operand.type.name, operand.type.kind) != (product.type.name, product.type.kind):
        return False
    while isinstance(operand, Apply) and operand.intrinsic.name == "transpose":
        operand = operand.args["matrix"]
        if isinstance(operand, Section):
            return True
    return False


def way(product: Apply, value: Callable[[Expr], int | None]) -> Way:
    """How ``product`` is evaluated; ``value`` knows constants."""
    left, right = product.args["matrix_a"], product.args["matrix_b"]
    ranks = (rank(left), rank(right))
    exact = product.type.name in ("integer", "logical")
    turned = (flipped(left, product), flipped(right, product))
    if not exact and (all(turned) or (any(turned) and 1 in ranks)):
        return Way(loops=False)
    limit = LIMITS[ranks]
    if limit is None:
        return Way(loops=True)
    inner = shape(left)[-1]
    extents = [*shape(left)[:-1], inner, *shape(right)[1:]]
    if turned[1] and not exact:
        # Of the transposed operand gfortran takes the extent of the other dimension.
        extents[-1] = Call("max", (extents[-1], inner))
    found = _tested(extents, limit, value)
    if ranks == (2, 2) and found.test is not None and not turned[0] and value(extents[0]) is None:
        long = Op(">=", (extents[0], integer(SHORTEST)))
        return Way(loops=True, test=Op(".and.", (long, found.test)))
    return found


def _tested(extents: list[Expr], limit: int, value: Callable[[Expr], int | None]) -> Way:
    """Whether the product of the extents is within the limit; as reals, which do not overflow."""
    known, unknown = 1, list[Expr]()
    for extent in extents:
        found = _known(extent, value)
        if found is None:
            unknown.append(clipped(extent))
        else:
            known *= max(found, 0)
    if not unknown or not known:
        return Way(loops=known <= limit)
    if known > limit:
        # Unless another extent is zero, where there is nothing to do.
        return Way(loops=False)
    size: Expr = Call("real", (unknown[0],))
    for extent in unknown[1:]:
        size = Op("*", (size, extent))
    return Way(loops=True, test=Op("<=", (size, integer(limit // known))))


def _known(extent: Expr, value: Callable[[Expr], int | None]) -> int | None:
    match extent:
        case Call("max", (x, y)):
            one, other = value(x), value(y)
            return None if one is None or other is None else max(one, other)
        case _:
            return value(extent)
