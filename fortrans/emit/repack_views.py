"""What the template of repacking is given: names, and finished strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fortrans.ir.fresh import Fresh
from fortrans.ir.procedures import Dummy, Procedure


@dataclass(frozen=True, slots=True)
class Copied:
    """A dummy to be packed: what ``transforms.repack.Packing`` says, for printing."""

    dummy: Dummy
    copy_in: bool
    copy_out: bool
    repeats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """The new names: the version's, the kind's, and for each dummy its extents."""

    version: str
    long: str
    extents: dict[str, tuple[str, ...]]

    @property
    def all_extents(self) -> tuple[str, ...]:
        return tuple(name for names in self.extents.values() for name in names)


def names(procedure: Procedure, explicit: Sequence[Dummy], fresh: Fresh) -> Names:
    """New names for the version of a procedure."""
    version = fresh.name(f"{procedure.name[:48]}_packed")
    total = sum(dummy.symbol.rank for dummy in explicit)
    numbered = list(fresh.numbered("n", total))
    extents = {}
    for dummy in explicit:
        extents[dummy.symbol.name] = tuple(numbered.pop(0) for _ in dummy.symbol.dims)
    return Names(version, fresh.name("long"), extents)


@dataclass(frozen=True, slots=True)
class PackingView:
    """A copy, in finished strings."""

    array: str
    copy: str
    type: str
    allocation: str
    automatic: str
    colons: str
    loops: tuple[tuple[str, str], ...]
    element: dict[str, str]
    copy_in: bool
    copy_out: bool
    chosen: str


@dataclass(frozen=True, slots=True)
class CallView:
    """A call of the version, and when it is made."""

    test: str
    call: str


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """What the template prints."""

    long: str
    integers: tuple[str, ...]
    logicals: tuple[str, ...]
    packings: tuple[PackingView, ...]
    failed: str
    guard: str
    questions: tuple[str, ...]
    large: str
    stack: str
    contiguous: str
    direct: str
    decisions: tuple[str, ...]
    pays: str
    calls: tuple[CallView, ...]
