"""MATMUL as a whole: loops, the library, or a test of its size that chooses between the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.analysis.matmul import flipped, is_product, way
from fortrans.intrinsics.elemental import EXPENSIVE
from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Reference, Section, plain, rank
from fortrans.ir.nest import If
from fortrans.transforms.pieces import Piece
from fortrans.transforms.plan import as_written

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition

# References of which an element is read, or chosen, from an argument.
MOVES = frozenset({"transpose", "spread", "reshape", "cshift", "eoshift"})


def whole(composition: Composition, origin: Array) -> bool:
    """Whether ``origin`` is a MATMUL that is computed as a whole, ahead of what reads its elements."""
    if not isinstance(origin, Apply) or not is_product(origin):
        return False
    found = way(origin, composition.captures.facts.value)
    return rank(origin) == 2 or not found.loops or found.test is not None


def left_alone(composition: Composition, product: Apply) -> bool:
    """Whether nothing is to be gained: no operand is to be composed, and the library does it.

    Or else gfortran tests the size of it by itself, as we would (rule 10).
    """
    found = way(product, composition.captures.facts.value)
    called = not found.loops or found.test is not None
    return called and all(_as_it_is(x, product) for x in product.args.values())


def multiply(composition: Composition, target: Section, product: Apply) -> Piece:
    """``target = product``, of the same type; nothing that is read may be stored in ``target``.

    An operand that each use would compute again, at a cost, is computed once, into a temporary.
    """
    before, product = _operands(composition, product, _costs)
    found = way(product, composition.captures.facts.value)
    if not found.loops:
        composition.kept.append("MATMUL")
        return before + _library(composition, target, product)
    if found.test is None:
        return before + composition.store(target, product, rows=True, filling=product)
    small = composition.apart(lambda: composition.store(target, product, rows=True, filling=product))
    large = composition.apart(lambda: _library(composition, target, product))
    if any(d.shape and not d.allocatable for d in small.declarations + large.declarations):
        # The extents of an automatic array may be locals that a branch gives their value.
        return before + Piece((), (If(found.test, small.body, large.body),))
    chosen = If(found.test, small.statements, large.statements)
    return before + Piece(small.declarations + large.declarations, (chosen,))


def _library(composition: Composition, target: Section, product: Apply) -> Piece:
    """The reference as the user wrote it, its operands composed."""
    before, product = _operands(composition, product, lambda x: not _as_it_is(x, product))
    return before + as_written(target, product)


def _operands(
    composition: Composition, product: Apply, make: Callable[[Array], bool]
) -> tuple[Piece, Apply]:
    """The product with temporaries for the operands of which ``make`` holds."""
    before = Piece()
    args = dict(product.args)
    for name, operand in args.items():
        if make(operand):
            piece, args[name] = composition.temporary(operand)
            composition.temporaries.append("operand of MATMUL")
            before += piece
    return before, replace(product, args=args)


def _as_it_is(operand: Array, product: Apply) -> bool:
    """Whether the compiler makes no more of it than we would: a variable, its TRANSPOSE, elementwise."""
    return plain(operand) or flipped(operand, product)


def _costs(operand: Array) -> bool:
    """Whether an element takes more than reading a few others."""
    match operand:
        case Elemental(name, operands, user=user):
            return user or name in EXPENSIVE or any(map(_costs, operands))
        case Apply(intrinsic, args):
            return intrinsic.name not in MOVES or any(map(_costs, args.values()))
        case Constructor():
            return True
        case Reference():
            return False
        case _:
            return False
