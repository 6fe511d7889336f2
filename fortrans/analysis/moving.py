"""When loops with a counter beat the library's PACK and UNPACK, by measurement with gfortran."""

from __future__ import annotations

from fortrans.intrinsics.packing import Taken, packed
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Implied,
    Scalar,
    Section,
    element,
    rank,
)
from fortrans.ir.expr import Literal, Ref, constant, walk
from fortrans.ir.sites import Assignment

MOVING = frozenset({"pack", "unpack"})


def kept_packs(site: Assignment) -> tuple[Apply, ...]:
    """The PACKs of a statement that are evaluated once, before its nest, by loops of ours."""
    return tuple(c.array for c in site.captures if c.count and isinstance(c.array, Apply))


def kept_constructors(site: Assignment) -> bool:
    """Whether a constructor whose size only its items tell is made before the nest."""
    return any(isinstance(c.array, Constructor) for c in site.captures)


def moved(site: Assignment) -> Apply | None:
    """The PACK or UNPACK that is the whole right-hand side."""
    value = site.rhs
    return value if isinstance(value, Apply) and value.intrinsic.name in MOVING else None


def takes_packed(apply: Apply) -> bool:
    """Whether a reduction takes the elements of a PACK as they come, which saves the array."""
    if isinstance(apply.intrinsic, Taken):
        return True
    operand = apply.args.get("array") or apply.args.get("mask")
    return rank(apply) == 0 and operand is not None and packed(operand) is not None


def counter_pays(site: Assignment, value: Apply) -> bool:
    """Whether the loops are faster than the library.

    They are where they save a temporary for a composed operand, or the count that a section on the
    left is as long as.  An allocatable left side needs the mask twice, which a composed mask
    (but not a composed ARRAY) costs as much as it saves.
    """
    mask = value.args["mask"]
    if value.intrinsic.name == "pack" and not rank(mask) and element(mask, ()) == Literal(".true."):
        return True
    if any(not _bare(x) for name, x in value.args.items() if name != "mask"):
        return True
    if site.reallocates:
        return False
    counts = any(isinstance(c.array, Apply) and c.array.intrinsic.name == "count" for c in site.captures)
    return counts or not _bare(mask)


def _bare(array: Array) -> bool:
    return isinstance(array, Scalar | Section)


def builds(array: Array) -> bool:
    """Whether composing reaches an array constructor that is more than a list of scalars.

    gfortran makes it with a call for each array item and lets it grow with an implied DO of unknown
    size; loops were faster at every size.  One of constants only it evaluates when it compiles.
    """
    match array:
        case Constructor(items=items):
            return any(map(_made, items))
        case Elemental(operands=operands):
            return any(map(builds, operands))
        case Apply(intrinsic, args) if getattr(intrinsic, "composed", True):
            return any(builds(x) for name, x in args.items() if name not in ("shape", "order"))
        case _:
            return False


def _made(item: Array | Implied) -> bool:
    if not isinstance(item, Implied):
        return rank(item) > 0
    bounds = (constant(x) for x in (item.first, item.last, item.step))
    return any(x is None for x in bounds) or not all(map(_constant, item.items))


def _constant(item: Array | Implied) -> bool:
    if isinstance(item, Implied):
        return not _made(item)
    return isinstance(item, Scalar) and not any(isinstance(x, Ref) for x in walk(item.value))
