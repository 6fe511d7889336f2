"""A specification part sorted: USE, IMPORT, IMPLICIT, access, and an index of words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.frontend.associations import Implicit, Import, Use, implicit, import_, use
from fortrans.frontend.includes import module_name
from fortrans.frontend.lines import Statement
from fortrans.frontend.tokens import NAME, split, words
from fortrans.frontend.units import Unit

if TYPE_CHECKING:
    from fortrans.frontend.frames import Frame

HOSTLESS = frozenset({"program", "module", "block data"})
ENTRY = re.compile(
    rf"entry\s+({NAME})\s*(?:\(([^)]*)\))?(?:.*\bresult\s*\(\s*({NAME})\s*\))?", re.I
)
_DIRECTORY = re.compile(r"^.*[\s/'\"<](?=[^\s/'\"<>]+['\">]?\s*$)|['\">]")


@dataclass(frozen=True, slots=True)
class Group:
    """All USE statements of one module in a scope, taken together (14.2.2 paragraphs 9 to 11)."""

    module: str
    nature: str
    bare: bool
    names: tuple[tuple[str, str], ...]
    conditional: bool

    def remotes(self, name: str) -> tuple[tuple[str, bool], ...]:
        """The names in the module that ``name`` may stand for; whether each was listed."""
        listed = tuple((remote, True) for local, remote in self.names if local == name)
        if listed or not self.bare:
            return listed
        return () if any(remote == name for _, remote in self.names) else ((name, False),)


@dataclass(frozen=True, slots=True)
class Entry:
    """An ENTRY statement."""

    name: str
    dummies: tuple[str, ...]
    result: str


class SpecificationPart:
    """A specification part sorted into USE, IMPORT, IMPLICIT and an index of words."""

    def __init__(self, frame: Frame) -> None:
        self.index: dict[str, list[Statement]] = {}
        self.uses: list[tuple[Use, bool]] = []
        self.imports: list[Import] = []
        self.entries: list[Entry] = []
        self.includes: list[str] = []
        self.access: list[Statement] = []
        self.generic_statements: list[str] = []
        self.default_public = True
        self._including: set[str] = set()
        host = frame.host
        if host is None or frame.unit.kind in ("interface body", *HOSTLESS):
            self.rules = Implicit()
        else:
            self.rules = host.rules
        if frame.unit.kind != "associate":
            for statement in frame.unit.specification:
                self._read(frame, statement)
        for child in frame.unit.children:
            if child.kind == "enum":
                self._enum(child)
        self.groups = _groups(self.uses)

    def _read(self, frame: Frame, statement: Statement) -> None:
        text = statement.text
        if statement.form == "include" and self._include(frame, statement):
            return
        if statement.form != "fortran":
            self.includes.append(_DIRECTORY.sub("", text))
            return
        first = words(text)[:1]
        keyword = first[0] if first else ""
        match keyword:
            case "use" if (found := use(text)) is not None:
                self.uses.append((found, frame.is_conditional(statement)))
                return
            case "import" if (imported := import_(text)) is not None:
                self.imports.append(imported)
                return
            case "implicit":
                self.rules = implicit(text, self.rules)
                return
            case "private" | "public":
                self.access.append(statement)
                if len(text.split()) == 1 and "(" not in text:
                    self.default_public = keyword == "public"
                    return
            case "entry" if match := ENTRY.match(text):
                name, dummies, result = (part or "" for part in match.groups())
                listed = tuple(part.lower() for part in split(dummies))
                self.entries.append(Entry(name.lower(), listed, result.lower() or name.lower()))
                return
            case "generic":
                self.generic_statements.append(text)
        for word in set(words(text)):
            self.index.setdefault(word, []).append(statement)

    def _include(self, frame: Frame, line: Statement) -> bool:
        """Read what an INCLUDE line stands for in its place; False where that is not known."""
        name = module_name(line.text)
        found = frame.world.included(name)
        if found is None or name in self._including:
            return False
        self._including.add(name)
        for inner in found:
            # Of the preprocessor's branches, and where it stands, the line is what counts.
            placed = replace(inner, ordinal=line.ordinal, span=line.span, conditional=line.conditional)
            self._read(frame, placed)
        self._including.discard(name)
        return True

    def imported(self, name: str, explicit: bool) -> bool:
        """Whether IMPORT lets ``name`` in; ``explicit``: nothing comes in without it (8.8)."""
        if any(i.form == "none" for i in self.imports):
            return False
        listed = any(name in i.names for i in self.imports)
        if explicit:
            return listed or any(i.form == "all" for i in self.imports)
        return listed or not any(i.form == "only" for i in self.imports)

    def _enum(self, unit: Unit) -> None:
        """All enumerators of an ENUM as one statement, so that each follows the one before."""
        lists = [re.sub(r"(?i)^enumerator\s*(?:::)?", "", s.text) for s in unit.specification]
        if lists:
            joined = replace(unit.specification[0], text="enumerator :: " + ",".join(lists))
            for word in set(words(joined.text)):
                self.index.setdefault(word, []).append(joined)


def _groups(uses: list[tuple[Use, bool]]) -> tuple[Group, ...]:
    by_module: dict[tuple[str, bool], list[Use]] = {}
    for statement, conditional in uses:
        by_module.setdefault((statement.module, conditional), []).append(statement)
    return tuple(
        Group(
            module,
            "".join({s.nature for s in same}),
            any(not s.only for s in same),
            tuple(pair for s in same for pair in s.names.items()),
            conditional,
        )
        for (module, conditional), same in by_module.items()
    )
