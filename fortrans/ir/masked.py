"""Masked assignments (10.2.3) as one array expression: what is done for each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fortrans.ir.arrays import Array, Elemental, Scalar, Section
from fortrans.ir.expr import Literal
from fortrans.ir.symbols import LOGICAL

WHEN, DO, STORE = "%if", "%do", "%store"
"""``when(mask, then[, other])``, ``do(first, second, ...)`` and ``store(target, value)``."""

NOTHING = Literal("%nothing")
"""The arm in which nothing is done."""


def when(mask: Array, then: Array, other: Array | None = None) -> Elemental:
    """``then`` where the mask holds, ``other`` where it does not."""
    arms = (then,) if other is None else (then, other)
    return Elemental(WHEN, (mask, *arms), LOGICAL, operator=True)


def do(items: Sequence[Array]) -> Array:
    """Each of ``items`` in turn; there is at least one."""
    return items[0] if len(items) == 1 else Elemental(DO, tuple(items), LOGICAL, operator=True)


def unless(mask: Array, other: Array) -> Elemental:
    """``other`` where the mask does not hold."""
    return when(mask, Scalar(NOTHING, LOGICAL), other)


def store(target: Section, value: Array) -> Elemental:
    """``target = value``."""
    return Elemental(STORE, (target, value), LOGICAL, operator=True)


def is_masked(array: Array) -> bool:
    """Whether it is what a WHERE does, not a value."""
    return isinstance(array, Elemental) and array.name == WHEN


def stores(array: Array) -> Iterator[tuple[Section, Array]]:
    """The targets and values in a masked assignment, in order."""
    match array:
        case Elemental("%store", (Section() as target, value)):
            yield target, value
        case Elemental("%if", (_, *arms)):
            for arm in arms:
                yield from stores(arm)
        case Elemental("%do", items):
            for item in items:
                yield from stores(item)


def masks(array: Array) -> Iterator[Array]:
    """The masks in a masked assignment, in the order of their evaluation."""
    match array:
        case Elemental("%if", (mask, *arms)):
            yield mask
            for arm in arms:
                yield from masks(arm)
        case Elemental("%do", items):
            for item in items:
                yield from masks(item)
