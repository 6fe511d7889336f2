"""Building of units and constructs, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from fortrans.frontend.classify import What, classify
from fortrans.frontend.lines import FIXED_FORM, Statement, check_form, looks_fixed, read_lines
from fortrans.frontend.nesting import (
    GUARDED,
    HOSTS,
    NAME,
    OPENINGS,
    PROGRAM_UNITS,
    SCOPING,
    SPLIT,
    SUBPROGRAMS,
    Frame,
    ends,
    interface,
    spread,
    words,
)
from fortrans.frontend.regions import Regions
from fortrans.frontend.units import Construct, Executable, Program, Unit
from fortrans.remarks import InputError
from fortrans.source import Source, Span

_CPP = re.compile(r"#\s*(\w+)(?:\s+(\w+))?")


class _Builder:
    """Goes through the statements of a file and keeps what is open."""

    def __init__(self, source: Source) -> None:
        check_form(source)
        self.source = source
        self.statements = read_lines(source)
        self.units: list[Unit] = []
        self.stack: list[Frame] = []
        self.constructs: tuple[Construct, ...] = ()
        self.branches: list[tuple[Frame, ...]] = []  # what was open at each open #if
        self.loose = False
        self.strange = False
        self.conditional: set[int] = set()
        self.macros: set[str] = set()
        self.extents: dict[int, Span] = {}
        self.found: list[Executable] = []
        self.regions = Regions()
        self.key = 0
        self.opened: str | None = None

    @property
    def unit(self) -> Unit | None:
        return self.stack[-1].unit if self.stack else None

    def _kind(self) -> str:
        return self.stack[-1].kind if self.stack else ""

    def _push(self, frame: Frame) -> None:
        self.stack.append(frame)
        self.constructs = tuple(f.construct for f in self.stack if f.construct is not None)

    def _pop(self, statement: Statement | None) -> None:
        frame = self.stack.pop()
        self.constructs = tuple(f.construct for f in self.stack if f.construct is not None)
        line = statement.span.last if statement else frame.line
        if frame.construct is not None:
            self.extents[frame.construct.key] = Span(frame.construct.opening.span.first, line)
        if frame.construct is None or frame.kind in SCOPING:
            frame.unit.closing = statement
        self.regions.closed(len(self.stack))

    def _fail(self, message: str, line: int) -> None:
        """Raise InputError, or mark what is open as broken where the preprocessor may be why."""
        if self.branches or self.loose:
            self._break(SPLIT)
            return
        self._raise(message, line)

    def _raise(self, message: str, line: int) -> NoReturn:
        if looks_fixed(self.source.text.split("\n")):
            message = FIXED_FORM
        raise InputError(self.source.path, message, line)

    def _break(self, why: str) -> None:
        self.loose = True
        for frame in self.stack:
            frame.unit.broken = why

    # -- preprocessor

    def cpp(self, statement: Statement) -> None:
        match = _CPP.match(statement.text)
        word = match.group(1).lower() if match else ""
        match word:
            case "if" | "ifdef" | "ifndef":
                self.branches.append(tuple(self.stack))
            case "else" | "elif" if self.branches:
                before = self.branches[-1]
                self._compare(before)
                self.stack = list(before)
                self.constructs = tuple(f.construct for f in self.stack if f.construct is not None)
            case "endif" if self.branches:
                self._compare(self.branches.pop())
            case "define" if match and match.group(2):
                self.macros.add(match.group(2))
            case "include" if self.stack and not self.stack[-1].executing:
                self.stack[-1].unit.specification.append(statement)

    def _compare(self, before: tuple[Frame, ...]) -> None:
        """Break what a branch opened or closed without closing or opening it."""
        now = tuple(self.stack)
        if now == before or (len(now) == len(before) and all(a is b for a, b in zip(now, before))):
            return
        self.loose = True
        for frame in {id(f): f for f in now + before}.values():
            both = any(frame is f for f in now) and any(frame is f for f in before)
            if not both:
                frame.unit.broken = SPLIT

    # -- statements

    def run(self) -> Program:
        for statement in self.statements:
            if statement.form == "cpp":
                self.cpp(statement)
            elif statement.form == "directive":
                self.regions.directive(statement.text, len(self.stack))
            elif statement.sentinel:
                self._sentinel(statement)
            else:
                self._statement(statement)
        self._finish()
        return Program(
            source=self.source,
            lines=tuple(self.source.lines),
            statements=self.statements,
            units=tuple(self.units),
            conditional=frozenset(self.conditional),
            macros=frozenset(self.macros),
            extents=self.extents,
            found=tuple(self.found),
        )

    def _sentinel(self, statement: Statement) -> None:
        """A ``!$`` statement counts only where it changes the structure: then nothing is sure."""
        self.conditional.add(statement.ordinal)
        kind = classify(statement.text).kind
        if self.stack and (kind in OPENINGS or kind in ("end", "subroutine", "function", "contains")):
            self.stack[-1].unit.broken = "'!$' lines open or close its units or constructs"
        elif kind in ("specification", "include") and self.stack and not self.stack[-1].executing:
            self.stack[-1].unit.specification.append(statement)

    def _preprocessed(self, statement: Statement) -> bool:
        if self.branches or statement.conditional:
            return True
        return bool(self.macros) and not self.macros.isdisjoint(NAME.findall(statement.text))

    def _statement(self, statement: Statement) -> None:
        preprocessed = self._preprocessed(statement)
        if preprocessed:
            self.conditional.add(statement.ordinal)
        if statement.flaw is not None:
            self._fail(statement.flaw, statement.span.first)
            return
        what = What("include") if statement.form == "include" else classify(statement.text)
        self.opened = None
        handler = _HANDLERS.get(what.kind)
        if handler is not None:
            handler(self, statement, what)
        else:
            self._executable(statement, what, preprocessed)
        if statement.label is not None:
            self._labelled(statement)
        self.regions.statement(self.opened, len(self.stack))

    def _labelled(self, statement: Statement) -> None:
        """Close the labelled DOs this statement ends (11.1.7.2, R1133 and its shared ends)."""
        while self.stack and self.stack[-1].end_label == statement.label:
            self._pop(statement)

    def _main(self, statement: Statement) -> Unit:
        """The unit of a statement; a main program without PROGRAM begins with its first one."""
        if not self.stack:
            self._open_unit(Unit("program", "", None), statement)
        return self.stack[-1].unit

    def _executable(self, statement: Statement, what: What, preprocessed: bool) -> None:
        if what.kind in ("unknown", "include"):
            self.strange |= what.kind == "unknown" and not self.branches
            if not self.stack and (what.kind == "include" or self.branches):
                return
            unit = self._main(statement)
            if not self.stack[-1].executing and self.stack[-1].construct is None:
                unit.specification.append(statement)
                return
        if self._kind() in ("type", "interface", "enum"):
            self.stack[-1].unit.specification.append(statement)
            return
        unit = self._main(statement)
        self.stack[-1].executing = True
        condition = where = forall = None
        own = what
        while own.kind in ("if", "where", "forall"):
            match own.kind:
                case "if":
                    condition = own.head if condition is None else f"({condition}) .and. ({own.head})"
                case "where":
                    where = own.head
                case "forall":
                    forall = own.head
            statement = replace(statement, text=own.rest)
            own = classify(own.rest)
        self._add(statement, own.kind, unit, preprocessed, condition, where, forall)

    def _add(
        self,
        statement: Statement,
        kind: str,
        unit: Unit,
        preprocessed: bool,
        condition: str | None = None,
        where: str | None = None,
        forall: str | None = None,
    ) -> None:
        self.found.append(
            Executable(
                statement,
                kind,
                unit,
                self.constructs,
                condition,
                where,
                forall,
                self.regions.innermost,
                preprocessed,
                len(self.found),
            )
        )

    def specification(self, statement: Statement, what: What) -> None:
        self._main(statement).specification.append(statement)

    def construct(self, statement: Statement, what: What) -> None:
        unit = self._main(statement)
        self.stack[-1].executing = True
        self._add(statement, what.kind, unit, self._preprocessed(statement))
        kind = OPENINGS[what.kind]
        self.key += 1
        construct = Construct(kind, what.name or None, statement, self.key)
        inner = unit
        if kind in SCOPING:
            inner = Unit(kind, what.name, statement, unit)
            unit.children.append(inner)
        if what.word:
            unit.program_unit.block_labels.add(what.word)
        frame = Frame(kind, inner, statement.span.first, construct, what.word or None)
        frame.executing = kind != "block"
        self._push(frame)
        self.opened = kind

    def guard(self, statement: Statement, what: What) -> None:
        if not self.stack:
            self._fail(f"'{words(statement)}' stands outside any program unit", statement.span.first)
            return
        frame = self.stack[-1]
        if frame.construct is None or frame.kind not in GUARDED[what.word]:
            self._fail(f"'{words(statement)}' belongs to no open construct", statement.span.first)
            return
        held, self.constructs = self.constructs, self.constructs[:-1]
        self._add(statement, "guard", frame.unit, self._preprocessed(statement))
        frame.construct = replace(frame.construct, guard=statement)
        self.constructs = (*held[:-1], frame.construct)

    def end(self, statement: Statement, what: What) -> None:
        line = statement.span.first
        if not self.stack:
            self._fail(f"'{words(statement)}' ends nothing", line)
            return
        frame = self.stack[-1]
        if ends(what.word, frame):
            self._pop(statement)
            return
        if what.word in ("structure", "union", "map"):
            frame.unit.specification.append(statement)
            return
        if self.branches or self.loose:
            self._break(SPLIT)
            matching = [at for at, f in enumerate(self.stack) if ends(what.word, f)]
            while matching and len(self.stack) > matching[-1]:
                self._pop(statement)
            return
        opening = "main program" if frame.unit.opening is None else frame.kind.upper()
        self._raise(
            f"'{words(statement)}' found where the {opening} of line {frame.line} is still open", line
        )

    def contains(self, statement: Statement, what: What) -> None:
        frame = self.stack[-1] if self.stack else None
        if frame is None or frame.construct is not None or frame.kind not in HOSTS | {"type"}:
            self._fail("'CONTAINS' found where no unit can contain procedures", statement.span.first)
            return
        frame.unit.contains = statement

    def _open_unit(self, unit: Unit, statement: Statement) -> None:
        unit.parent = self.unit
        (unit.parent.children if unit.parent else self.units).append(unit)
        if statement.conditional:
            unit.broken = SPLIT
        self._push(Frame(unit.kind, unit, statement.span.first))

    def header(self, statement: Statement, what: What) -> None:
        """A unit's opening statement."""
        kind = what.kind
        inside = self._kind()
        if kind == "module procedure" and not (self.unit and self.unit.contains and inside != "interface"):
            self.specification(statement, what)
            return
        self._allow(statement, what)
        inside = self._kind()
        prefix = tuple(what.head.split()) if kind in SUBPROGRAMS or kind == "interface" else ()
        unit = Unit(kind, what.name, statement, prefix=prefix)
        if kind == "submodule":
            unit.ancestor = what.head
        if kind in ("subroutine", "function"):
            unit.dummies, unit.result = interface(statement.text, what)
            if inside == "interface":
                unit.kind, unit.procedure = "interface body", kind
        self._open_unit(unit, statement)

    def _allow(self, statement: Statement, what: What) -> None:
        """Report a unit that opens where it cannot, because an END is missing before it."""
        if what.kind in ("interface", "type", "enum"):
            self._main(statement)
            return
        if not self.stack:
            return
        top = self.stack[-1]
        if what.kind in SUBPROGRAMS and (
            top.kind == "interface"
            or (top.construct is None and top.unit.contains is not None and top.kind in HOSTS)
        ):
            return
        if top.unit.opening is None and top.construct is None and not top.executing:
            stray = top.unit.specification
            if stray and all(classify(s.text).kind == "unknown" for s in stray):
                top.unit.broken = "it is only statements the tool does not know"
                self._pop(None)
                return
        if self.branches or self.loose:
            self._break(SPLIT)
            while self.stack and not (
                what.kind in SUBPROGRAMS
                and self.stack[-1].construct is None
                and self.stack[-1].unit.contains is not None
            ):
                self._pop(None)
            return
        opening = "main program" if top.unit.opening is None else top.kind.upper()
        self._raise(
            f"'{words(statement)}' found where the {opening} of line {top.line} is still open",
            statement.span.first,
        )

    def _finish(self) -> None:
        if self.strange and looks_fixed(self.source.text.split("\n")):
            raise InputError(self.source.path, FIXED_FORM)
        if self.stack:
            frame = self.stack[-1]
            if not (self.branches or self.loose):
                opening = "Main program" if frame.unit.opening is None else frame.kind.upper()
                self._raise(f"{opening} has no END", frame.line)
            self._break(SPLIT)
            while self.stack:
                self._pop(None)
        for unit in self.units:
            spread(unit)


_Handler = Callable[[_Builder, Statement, What], None]
_HANDLERS: dict[str, _Handler] = {
    "specification": _Builder.specification,
    "guard": _Builder.guard,
    "end": _Builder.end,
    "contains": _Builder.contains,
    **dict.fromkeys(OPENINGS, _Builder.construct),
    **dict.fromkeys(PROGRAM_UNITS | SUBPROGRAMS | {"interface", "type", "enum"}, _Builder.header),
}


def build(source: Source) -> Program:
    """See ``fortrans.frontend.units.read``."""
    return _Builder(source).run()
