"""Find the rewritten statements that make a program differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def minimal(
    suspects: Sequence[_T], differs: Callable[[Sequence[_T]], bool], beside: Sequence[_T] = ()
) -> list[_T]:
    """A small part of ``suspects`` for which ``differs`` still holds, given that it holds for all.

    Halves are tried (A. Zeller's delta debugging); where it takes something of either half, each
    is made smaller ``beside`` the other.
    """
    if len(suspects) <= 1:
        return list(suspects)
    middle = len(suspects) // 2
    halves = suspects[:middle], suspects[middle:]
    for half in halves:
        if differs([*half, *beside]):
            return minimal(half, differs, beside)
    left = minimal(halves[0], differs, [*halves[1], *beside])
    return left + minimal(halves[1], differs, [*left, *beside])
