"""Calls as a transform sees them: actual arguments, sections among them, and what to pack."""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.ir.symbols import Symbol


@dataclass(frozen=True, slots=True)
class Triplet:
    """A section's subscript triplet as texts, "" for what is left out."""

    lower: str
    upper: str
    stride: str


@dataclass(frozen=True, slots=True)
class SectionText:
    """``array(subscripts)`` with at least one triplet; a plain subscript is a text.

    ``odd`` says, as a clause, why its subscripts cannot be kept in scalars; None when they can.
    """

    spelled: str
    symbol: Symbol
    subscripts: tuple[str | Triplet, ...]
    odd: str | None = None

    @property
    def leading(self) -> bool:
        """Whether it begins with whole dimensions and goes on with single subscripts."""
        whole = [isinstance(s, Triplet) and s == Triplet("", "", "") for s in self.subscripts]
        count = whole.index(False) if False in whole else len(whole)
        return count > 0 and not any(isinstance(s, Triplet) for s in self.subscripts[count:])


@dataclass(frozen=True, slots=True)
class Actual:
    """An actual argument: the dummy it belongs to ("" where nobody knows), its text, its place.

    ``names`` are the names in it, without those of arrays whose SIZE it asks.  ``harmless``: it is
    data, and its evaluation calls no procedure of the user's.  ``contiguous``: it surely is.
    """

    dummy: str
    text: str
    at: int
    section: SectionText | None = None
    names: frozenset[str] = frozenset()
    harmless: bool = False
    contiguous: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A CALL, or an assignment of one function reference.

    ``unseen`` says, as a clause, why the body is not known, ``misplaced`` why no BLOCK can stand in
    place of the statement ``text``; ``variable`` is what an assignment defines.
    """

    name: str
    actuals: tuple[Actual, ...]
    text: str
    indent: str
    unseen: str | None = None
    misplaced: str | None = None
    variable: str = ""


@dataclass(frozen=True, slots=True)
class PackedActual:
    """A section to pack; ``repeats`` are conditions at the call, of which one must hold."""

    actual: Actual
    section: SectionText
    copy_in: bool
    copy_out: bool
    repeats: tuple[str, ...]


def contiguous(symbol: Symbol) -> bool:
    """Whether all of an array is contiguous for sure.  ASSOCIATE names never are."""
    if symbol.attributes & {"pointer", "associate", "ambiguous"} or symbol.assumed_rank:
        return "contiguous" in symbol.attributes and "associate" not in symbol.attributes
    return "contiguous" in symbol.attributes or not any(dim.form == "assumed" for dim in symbol.dims)
