"""PACK without VECTOR: an array whose size only its mask tells (16.9.147).

Such a reference is used where it stands by what asks for its elements in order (a reduction, SIZE,
the store of the statement); elsewhere it is evaluated once, before the nest, into a local.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.frontend.arguments import kept_array
from fortrans.intrinsics.constructor import fillable, unsized
from fortrans.intrinsics.packing import packed
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Scalar,
    Section,
    Triplet,
    plain,
    rank,
)
from fortrans.ir.expr import ONE, Name, constant, names
from fortrans.ir.sites import Capture
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting

# Reductions that take the elements of a PACK as the elements of its ARRAY under its MASK.
OF_PACKED = frozenset(
    "all any count iall iany iparity maxval minval parity product sum".split()
)


def sized(array: Array, lifting: Lifting) -> Array:
    """``array``, or for such a PACK a local that holds it, with the count of its elements as extent.

    Where only the shape is asked for, that extent is enough.

    Raises Refusal FT404 inside an implied DO.
    """
    found = packed(array)
    if isinstance(array, Constructor) and unsized(array) and not lifting.inquiring:
        return _constructed(array, lifting)
    if found is None or lifting.inquiring:
        return array
    source = as_source(found)
    local, count = lifting.fresh.name("val"), lifting.fresh.name("n")
    lifting.captures.append(Capture(local, found.type, source, 1, found, count))
    return Section(Name(local), (Triplet(ONE, ONE, Name(count, natural=True)),), found.type)


def _constructed(array: Constructor, lifting: Lifting) -> Array:
    source = as_source(array)
    if names(source) & lifting.locals or not lifting.pure(source) or not fillable(array):
        raise Refusal("FT404", "Size of an implied DO depends on its variable in steps")
    local, count = lifting.fresh.name("val"), lifting.fresh.name("n")
    lifting.captures.append(Capture(local, array.type, source, 1, array, count))
    return Section(Name(local), (Triplet(ONE, ONE, Name(count, natural=True)),), array.type)


def outward(operation: Elemental) -> Array:
    """f(PACK(x, m), PACK(y, m), scalars) => PACK(f(x, y, scalars), m), f being evaluated as often as before.

    Only where each operand can be computed element by element: what stands in a temporary is
    computed for all elements.
    """
    first: Apply | None = None
    inner: list[Array] = []
    for operand in operation.operands:
        if isinstance(operand, Scalar):
            inner.append(operand)
            continue
        found = packed(operand)
        if found is None or (first is not None and found.args["mask"] != first.args["mask"]):
            return operation
        source = found.args["array"]
        if not plain(source) or not rank(found.args["mask"]):
            return operation
        first = first or found
        inner.append(source)
    if first is None:
        return operation
    moved = Elemental(
        operation.name, tuple(inner), operation.type, operation.operator, operation.keywords, operation.user
    )
    return Apply(first.intrinsic, {"array": moved, "mask": first.args["mask"]}, operation.type)


def taken(apply: Apply, lifting: Lifting) -> Array:
    """A reference to PACK that may be taken apart, or a local that it is evaluated into as written.

    A user's function in it is referenced once for each element, as the program has it.
    Raises Refusal FT404 inside an implied DO.
    """
    source = as_source(apply)
    if names(source) & lifting.locals or not lifting.pure(source):
        return kept_array(source, apply.type, 1, lifting)
    return apply


def reduced(name: str, args: dict[str, Array], lifting: Lifting) -> None:
    """Of a reduction's arguments, evaluate a PACK whose elements it cannot take as they come."""
    operand = "array" if "array" in args else "mask"
    if operand not in args:
        return
    if packed(args[operand]) is None:
        args[operand] = sized(args[operand], lifting)
        return
    dim = args.get("dim")
    along = dim is None or (isinstance(dim, Scalar) and constant(dim.value) == 1)
    if name not in OF_PACKED or not along or (operand == "array" and "mask" in args):
        args[operand] = sized(args[operand], lifting)
