"""New names that capture nothing."""

from __future__ import annotations

from collections.abc import Iterable


class Fresh:
    """Hands out names not in ``taken`` (lower case), each once; deterministic.

    Names it gives are declared in a BLOCK, so they can only hide what the block itself uses;
    avoiding every identifier of the file is for the reader's sake.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        # A frozen set is the identifiers of a whole file, lower case already, shared by its statements.
        known = taken if isinstance(taken, frozenset) else frozenset(name.lower() for name in taken)
        self._known: frozenset[str] = known
        self._given: set[str] = set()

    def _free(self, name: str) -> bool:
        return name not in self._known and name not in self._given

    def name(self, stem: str) -> str:
        """``stem`` itself when free, else ``stem`` followed by the first number that makes it free."""
        candidate, number = stem, 1
        while not self._free(candidate):
            number += 1
            candidate = f"{stem}{number}"
        self._given.add(candidate)
        return candidate

    def numbered(self, stem: str, count: int) -> tuple[str, ...]:
        """``stem1 ... stem<count>``, all free, with a longer stem when one is not."""
        wanted = tuple(f"{stem}{i + 1}" for i in range(count))
        while not all(map(self._free, wanted)):
            stem += stem[-1]
            wanted = tuple(f"{stem}{i + 1}" for i in range(count))
        self._given |= set(wanted)
        return wanted

    def clashes(self, names: Iterable[str]) -> bool:
        """Whether one of ``names`` was given out."""
        return not self._given.isdisjoint(names)

    def reserve(self, names: Iterable[str]) -> None:
        """Give none of ``names`` (lower case) from now on."""
        self._known |= frozenset(names)

    def copy(self) -> Fresh:
        """Another giver of names that knows what this one gave so far."""
        other = Fresh(self._known)
        other._given = set(self._given)
        return other
