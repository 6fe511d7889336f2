"""Operands that are evaluated once, before the nest, each into a local."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.ir.arrays import Apply, Constructor, Scalar
from fortrans.ir.expr import ONE, Name, Op
from fortrans.ir.nest import Allocate, Declaration, Store
from fortrans.ir.sites import Capture
from fortrans.transforms import construct, pack
from fortrans.transforms.pieces import Piece, declarable
from fortrans.transforms.plan import implied

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition


def evaluated(composition: Composition, capture: Capture) -> Piece:
    """A scalar operand, a PACK, a constructor, or the result of an array function, as a local."""
    composition.own.add(capture.name)
    name = Name(capture.name)
    if not capture.rank:
        type = declarable(capture.type, "a scalar operand")
        declared = Piece((Declaration(capture.name, type),))
        if capture.array is not None:
            return declared + composition.store(Scalar(name, type), capture.array, rows=False)
        return declared + Piece((), (Store(name, capture.value),))
    if isinstance(capture.array, Constructor):
        return construct.operand(composition, capture.name, capture.array, capture.count)
    if isinstance(capture.array, Apply):
        return pack.operand(composition, capture.name, capture.array, capture.count)
    type = declarable(capture.type, "a function result")
    local = Declaration(capture.name, type, (ONE,) * capture.rank, allocatable=True)
    return Piece(
        (local, *implied(capture.value, composition.site.scope)),
        # An expression has lower bounds of 1; gfortran takes a function's own without the parentheses.
        (Allocate(name, source=Op("()", (capture.value,))),),
    )
