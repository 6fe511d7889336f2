"""What may nest in what: the kinds of units and constructs, and what ends them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fortrans.frontend.classify import What, closing
from fortrans.frontend.lines import Statement
from fortrans.frontend.units import Construct, Unit

_RESULT = re.compile(r"\bresult\s*\(\s*(\w+)\s*\)", re.IGNORECASE)
NAME = re.compile(r"[a-z_]\w*", re.IGNORECASE)
PROGRAM_UNITS = frozenset({"program", "module", "submodule", "block data"})
SUBPROGRAMS = frozenset({"subroutine", "function", "module procedure"})
HOSTS = frozenset({"program", "module", "submodule"}) | SUBPROGRAMS
_SELECTS = ("select case", "select type", "select rank")
OPENINGS = {
    "if then": "if",
    "do": "do",
    "do while": "do while",
    "do concurrent": "do concurrent",
    "where construct": "where",
    "forall construct": "forall",
    "select case": "select case",
    "select type": "select type",
    "select rank": "select rank",
    "associate": "associate",
    "block": "block",
    "critical": "critical",
    "team": "team",
}
_ENDED: dict[str, tuple[str, ...]] = {
    "do": ("do", "do while", "do concurrent"),
    "select": _SELECTS,
    "procedure": ("module procedure",),
}
SCOPING = ("block", "associate")
GUARDED: dict[str, tuple[str, ...]] = {
    "else": ("if", "where"),
    "case": ("select case",),
    "type": ("select type",),
    "rank": ("select rank",),
}
SPLIT = "preprocessor lines split its units or constructs"


@dataclass(slots=True)
class Frame:
    """An open unit or construct.  ``unit`` is the innermost unit inside it."""

    kind: str
    unit: Unit
    line: int
    construct: Construct | None = None
    end_label: str | None = None
    executing: bool = False


def spread(unit: Unit) -> None:
    """What is in a broken unit is broken; a broken construct breaks its program unit."""
    for inner in unit.walk():
        if inner.broken is not None:
            inner.program_unit.broken = inner.broken
    for inner in unit.walk():
        if inner.parent is not None and inner.parent.broken is not None:
            inner.broken = inner.parent.broken


def ends(word: str, frame: Frame) -> bool:
    """Whether ``END word`` closes ``frame``; a bare END closes program units and subprograms."""
    if not word:
        return frame.construct is None and frame.kind not in ("interface", "type", "enum")
    kind = frame.kind
    if kind == "interface body":
        kind = frame.unit.procedure or kind
    return kind in _ENDED.get(word, (word,))


def words(statement: Statement) -> str:
    """The statement as a message shows it: its first words."""
    text = " ".join(statement.text.split())
    return text if len(text) <= 40 else text[:37] + "..."


def interface(text: str, what: What) -> tuple[tuple[str, ...], str | None]:
    """Dummy arguments (``*`` for alternate returns) and result name of a procedure's header."""
    match = re.search(rf"\b{what.kind}\s+{what.name}\s*", text, re.IGNORECASE)
    start = match.end() if match else len(text)
    dummies: tuple[str, ...] = ()
    if text[start : start + 1] == "(":
        end = closing(text, start)
        inside = text[start + 1 : end].lower()
        dummies = tuple(name.strip() for name in inside.split(",") if name.strip())
        start = end
    result = _RESULT.search(text, start)
    if what.kind == "subroutine":
        return dummies, None
    return dummies, result.group(1).lower() if result else what.name
