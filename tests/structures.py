"""The structure of a file as fparser's full parse and as our reader tell it, in equal terms."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from fparser.common.readfortran import FortranStringReader
from fparser.common.sourceinfo import FortranFormat
from fparser.two.parser import ParserFactory
from fparser.two.symbol_table import SYMBOL_TABLES
from fparser.two.utils import Base

from fortrans.frontend.units import Program, Unit, read
from fortrans.source import Source


@dataclass(frozen=True, order=True)
class Record:
    """A unit, construct or assignment: its lines and the kinds and first lines of what encloses it."""

    first: int
    last: int
    kind: str
    name: str
    chain: tuple[tuple[str, int], ...]


_UNITS = {
    "Main_Program": "program",
    "Module": "module",
    "Submodule": "submodule",
    "Block_Data": "block data",
    "Subroutine_Subprogram": "subroutine",
    "Function_Subprogram": "function",
    "Subroutine_Body": "interface body",
    "Function_Body": "interface body",
    "Interface_Block": "interface",
    "Derived_Type_Def": "type",
    "Enum_Def": "enum",
}
_CONSTRUCTS = {
    "Block_Construct": "block",
    "Associate_Construct": "associate",
    "If_Construct": "if",
    "Case_Construct": "select case",
    "Select_Type_Construct": "select type",
    "Where_Construct": "where",
    "Forall_Construct": "forall",
    "Critical_Construct": "critical",
    "Block_Nonlabel_Do_Construct": "do",
    "Block_Label_Do_Construct": "do",
    "Action_Term_Do_Construct": "do",
}


_NOTES = ("Comment", "Directive", "Include_Stmt")


class Unfit(Exception):
    """fparser cannot parse the file, or its tree is known to lack text."""


def fparser_records(text: str) -> set[Record]:
    """What fparser's whole tree says.  Raises Unfit where it has none, or a lossy one."""
    logging.disable(logging.CRITICAL)
    parser = ParserFactory().create(std="f2008")
    SYMBOL_TABLES.clear()
    try:
        reader = FortranStringReader(text, include_dirs=[], ignore_comments=True)
        reader.set_format(FortranFormat(True, False))
        tree = parser(reader)
    except Exception as error:  # fparser fails in many ways
        raise Unfit(str(error)) from error
    finally:
        logging.disable(logging.NOTSET)
    if tree is None or _lossy(tree):
        raise Unfit("a main program without PROGRAM loses text")
    found: set[Record] = set()
    _walk(tree, (), None, found)
    return found


def _lossy(tree: Any) -> bool:
    return any(type(child).__name__ == "Main_Program0" for child in tree.children) and len(tree.children) >= 1


def _spans(node: Any) -> list[tuple[int, int]]:
    if type(node).__name__ in _NOTES or type(node).__name__.startswith("Cpp_"):
        return []
    own = [tuple(node.item.span)] if getattr(node, "item", None) is not None else []
    for child in getattr(node, "children", ()):
        if isinstance(child, Base):
            own += _spans(child)
    return own


def _walk(node: Any, chain: tuple[tuple[str, int], ...], item: Any, found: set[Record]) -> None:
    if not isinstance(node, Base):
        if isinstance(node, tuple):
            for child in node:
                _walk(child, chain, item, found)
        return
    item = getattr(node, "item", None) or item
    cls = type(node).__name__
    kind = _UNITS.get(cls) or _CONSTRUCTS.get(cls)
    if kind is not None:
        spans = _spans(node)
        first, last = min(a for a, _ in spans), max(b for _, b in spans)
        opening = next(
            c for c in node.children if getattr(c, "item", None) and type(c).__name__ not in _NOTES
        )
        if kind == "do":
            line = opening.item.line.lower()
            if re.match(r"(?:\w+\s*:)?\s*do\s*(?:\d+\s*,?)?\s*while\s*\(", line):
                kind = "do while"
            elif re.match(r"(?:\w+\s*:)?\s*do\s*(?:\d+\s*,?)?\s*concurrent\s*\(", line):
                kind = "do concurrent"
        name = ""
        if kind in (
            "program",
            "module",
            "submodule",
            "block data",
            "subroutine",
            "function",
            "interface body",
            "type",
        ):
            name = _name(opening, kind)
        found.add(Record(first, last, kind, name, chain))
        chain = (*chain, (kind, first))
    elif cls == "Assignment_Stmt":
        first, last = item.span
        found.add(Record(first, last, "assignment", "", chain))
    for child in node.children:
        _walk(child, chain, item, found)


def _name(opening: Any, kind: str) -> str:
    if kind == "submodule":
        return str(opening.children[-1]).lower()
    names = [c for c in opening.children if type(c).__name__ in ("Name", "Type_Name", "Program_Name")]
    if not names and kind != "block data":
        names = [c for c in opening.children if c is not None and str(c).isidentifier()]
    return str(names[0]).lower() if names else ""


def own_records(program: Program) -> set[Record]:
    """What our reader says of units, constructs and assignments."""
    found: set[Record] = set()
    constructs: dict[int, tuple[tuple[str, int], ...]] = {}

    def chain(unit: Unit | None, within: tuple[Any, ...]) -> tuple[tuple[str, int], ...]:
        while unit is not None and unit.kind in ("block", "associate"):
            unit = unit.parent
        outer = chain(unit.parent, ()) if unit is not None else ()
        own = ((unit.kind, _first(unit)),) if unit is not None else ()
        return outer + own + tuple((c.kind, c.opening.span.first) for c in within)

    openings: dict[int, Any] = {}
    for executable in program.executables():
        links = chain(executable.unit, executable.constructs)
        if executable.kind == "assignment":
            span = executable.statement.span
            found.add(Record(span.first, span.last, "assignment", "", links))
        for at, construct in enumerate(executable.constructs):
            constructs[construct.key] = links[: len(links) - len(executable.constructs) + at]
            openings[construct.key] = construct
        openings.setdefault(-executable.ordinal - 1, None)
    for key, extent in program.extents.items():
        if key in constructs:
            kind = openings[key].kind
            found.add(Record(extent.first, extent.last, kind, "", constructs[key]))
        else:
            found.add(Record(extent.first, extent.last, "empty", "", ()))
    for unit in program.walk():
        if unit.kind in ("block", "associate"):
            continue
        last = unit.closing.span.last if unit.closing else 0
        name = "" if unit.kind in ("interface", "enum") else unit.name
        found.add(Record(_first(unit), last, unit.kind, name, chain(unit.parent, _held(unit, program))))
    return found


def _held(unit: Unit, program: Program) -> tuple[Any, ...]:
    """Constructs a type or interface inside a BLOCK stands in."""
    host = unit.parent
    if host is None or host.kind not in ("block", "associate"):
        return ()
    line = _first(unit)
    around: dict[int, Any] = {}
    for executable in program.executables():
        for construct in executable.constructs:
            extent = program.extents[construct.key]
            if extent.first < line <= extent.last:
                around[construct.key] = construct
    return tuple(around[key] for key in sorted(around))


def _first(unit: Unit) -> int:
    return unit.opening.span.first if unit.opening else 0


def compare(path: str, text: str) -> tuple[set[Record], set[Record]]:
    """Records only fparser has, and records only we have (empty constructs by their lines)."""
    theirs = fparser_records(text)
    ours = own_records(read(Source(path, text)))
    empty = {(r.first, r.last) for r in ours if r.kind == "empty"}
    ours = {r for r in ours if r.kind != "empty"}
    missing = {r for r in theirs - ours if (r.first, r.last) not in empty}
    return missing, ours - theirs
