"""Subroutines and functions as a whole: their dummies, steps and what stands in the way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fortrans.frontend.declarations import Fact, facts
from fortrans.frontend.lines import Statement
from fortrans.frontend.resolve import Scopes, View
from fortrans.frontend.steps import steps
from fortrans.frontend.tokens import bare, words
from fortrans.frontend.units import Executable, Program, Unit
from fortrans.ir.procedures import Dummy, Procedure
from fortrans.ir.symbols import Intrinsic, Symbol, described
from fortrans.ir.symbols import Procedure as StatementFunction

_DIRECTIVE = re.compile(r"\s*!fortrans\$\s*(no)?repack\b(?!\s*call\b)\s*(?:\(([^)]*)\))?", re.IGNORECASE)
_NEEDED = ("size", "is_contiguous", "allocated", "present", "selected_int_kind", "len", "storage_size")
_MAYBE_NOT_THERE = frozenset({"optional", "allocatable", "pointer"})
_HOMES = {"module": "module", "submodule": "submodule"}


def procedures(program: Program, scopes: Scopes) -> Iterator[tuple[Unit, Procedure]]:
    """Every subroutine and function of a file with a dummy array that may have strides, in source order."""
    for unit in program.walk():
        if unit.kind not in ("subroutine", "function", "module procedure") or unit.opening is None:
            continue
        if (found := _procedure(program, unit, scopes)) is not None:
            yield unit, found


def statements_of(program: Program, unit: Unit) -> tuple[Statement, ...]:
    """All statements from the first to the last of a unit, those of what it contains too."""
    first = unit.opening.ordinal if unit.opening else 0
    last = unit.closing.ordinal if unit.closing else len(program.statements) - 1
    return program.statements[first : last + 1]


def _procedure(program: Program, unit: Unit, scopes: Scopes) -> Procedure | None:
    assert unit.opening is not None
    view = scopes.of(unit)
    names = view.frame.head.dummies
    symbols = [view.lookup(name) for name in names if name != "*"]
    found = [s for s in symbols if isinstance(s, Symbol)]
    if not any(described(s) for s in found):
        return None
    asked = _asked(program, unit)
    dummies = tuple(_dummy(symbol, unit, view, asked) for symbol in found)
    executables = _executables(program, unit, view)
    result = view.lookup(unit.result) if unit.result else None
    texts = statements_of(program, unit)
    everything = frozenset(word for s in texts for word in words(s.text))
    return Procedure(
        name=unit.name,
        kind="function" if unit.kind == "function" else "subroutine",
        home=_home(unit),  # type: ignore[arg-type]
        span=unit.opening.span,
        dummies=dummies,
        steps=steps(program, executables, scopes, frozenset(s.name for s in found if s.dims)),
        pure=view.pure,
        contains=unit.contains is not None,
        wrong=_wrong(program, unit, view, executables),
        directives=tuple(s.text.lower() for s in texts if s.form == "directive"),
        asynchronous="asynchronous" in everything,
        result=result if isinstance(result, Symbol) else None,
        alternate=names.count("*"),
        texts=tuple(bare(s.text).lower() for s in texts),
        settled=_settled(executables, dummies, scopes),
    )


def _home(unit: Unit) -> str:
    if unit.parent is None:
        return "external"
    return _HOMES.get(unit.parent.kind, "internal")


def _dummy(symbol: Symbol, unit: Unit, view: View, asked: dict[str, bool]) -> Dummy:
    assert unit.opening is not None
    span = unit.opening.span
    bounds: tuple[str, ...] = ()
    for statement, fact in _said(unit, symbol.name):
        if fact.bounds is not None:
            span, bounds = statement.span, fact.bounds
    derived = view.derived_of(symbol) if symbol.type.derived is not None else None
    wanted = asked.get(symbol.name, asked.get("*"))
    return Dummy(symbol, span, bounds, derived, wanted)


def _said(unit: Unit, name: str) -> Iterator[tuple[Statement, Fact]]:
    for statement in unit.specification:
        if name in words(statement.text):
            yield from ((statement, fact) for fact in facts(statement.text) if fact.name == name)


def _executables(program: Program, unit: Unit, view: View) -> list[Executable]:
    """Its own executable statements; definitions of statement functions are none."""
    found = [e for e in program.found if e.unit.program_unit is unit]
    while found and _defines_function(found[0], view):
        found = found[1:]
    return found


def _defines_function(executable: Executable, view: View) -> bool:
    """Whether an assignment is the definition of a statement function."""
    meaning = view.lookup(words(executable.statement.text)[0]) if executable.kind == "assignment" else None
    return isinstance(meaning, StatementFunction) and meaning.form == "statement"


def _asked(program: Program, unit: Unit) -> dict[str, bool]:
    """What ``!fortrans$ repack`` and ``norepack`` say of each dummy; "*" of all of them.

    Where ``!fortrans$ off`` holds nothing is repacked.

    The last word counts: a version, and the choice between both, say ``norepack``.
    """
    from fortrans.frontend.switches import switches

    assert unit.opening is not None
    if switches(program).asked(unit.opening.span) is not None:
        return {"*": False}
    last = unit.contains or unit.closing
    end = last.span.first if last is not None else unit.opening.span.last
    found: dict[str, bool] = {}
    for line in program.lines[unit.opening.span.last : end]:
        if match := _DIRECTIVE.match(line):
            if match[2] is None:
                found.clear()
            for name in (match[2] or "*").split(","):
                found[name.strip().lower()] = not match[1]
    return found


def directive(line: str) -> bool:
    """Whether a line is one of ours."""
    return _DIRECTIVE.match(line) is not None


def _settled(
    executables: list[Executable], dummies: tuple[Dummy, ...], scopes: Scopes
) -> frozenset[str]:
    """Names that may be evaluated at any time: constants, intrinsics, INTENT(IN) and array dummies."""
    if not executables:
        return frozenset()
    scope = scopes.at(executables[0])
    found = set()
    own = {d.symbol.name: d.symbol for d in dummies}
    for word in {word for e in executables if e.kind.startswith("do") for word in words(e.statement.text)}:
        match scope.lookup(word):
            case Intrinsic():
                found.add(word)
            case Symbol() as symbol:
                constant = "parameter" in symbol.attributes
                dummy = own.get(word)
                given = dummy is not None and not dummy.attributes & _MAYBE_NOT_THERE
                if constant or (given and (symbol.dims or (symbol.intent and symbol.intent.value == "in"))):
                    found.add(word)
    return frozenset(found)


# -- what stands in the way


def _wrong(program: Program, unit: Unit, view: View, executables: list[Executable]) -> str | None:
    """Why no part of a procedure may be copied, as a clause; None when it may."""
    if unit.broken is not None:
        return f"its text is not read: {unit.broken}"
    if unit.kind == "module procedure":
        return "it is a separate body without a declaration of its dummy arguments"
    if view.frame.entries:
        return "it has an ENTRY"
    if not executables:
        return "it has no executable statement"
    texts = statements_of(program, unit)
    if any(s.form in ("cpp", "include") or s.conditional for s in texts):
        return "preprocessor or INCLUDE lines stand in it"
    if any(s.ordinal in program.conditional and not s.sentinel for s in texts):
        return "it depends on the preprocessor"
    ends = (unit.opening, unit.closing, unit.contains)
    if unit.closing is None or any(s is not None and s.siblings > 1 for s in ends):
        return "its first or last statement shares its line"
    if unit.closing.label is not None:
        return "its END has a label"
    if (saved := _saved(unit)) is not None:
        return saved
    hidden = [name for name in _NEEDED if not isinstance(view.lookup(name), Intrinsic)]
    asked = view.lookup("omp_in_parallel")
    # With implicit typing any name is a variable, once it is written.
    written = any("omp_in_parallel" in words(s.text) for s in texts)
    if isinstance(asked, Symbol) and (written or "implicit" not in asked.attributes):
        hidden.append("omp_in_parallel")
    if hidden:
        return f"'{hidden[0]}' may be a name of the user's there"
    return None


def _saved(unit: Unit) -> str | None:
    """A copy of the procedure would have a copy of its saved variables."""
    scopes = [u for u in unit.walk() if u.program_unit.kind != "interface body" and u.kind != "type"]
    for statement in (s for u in scopes for s in u.specification):
        first = words(statement.text)[:1]
        if first and first[0] in ("save", "data"):
            return f"it has a {first[0].upper()} statement, and a copy of it would keep its own values"
        for fact in facts(statement.text):
            initial = fact.initial is not None and not fact.attributes & {"parameter", "statement"}
            if initial or "save" in fact.attributes:
                return f"it saves '{fact.name}', of which a copy of it would have its own"
    return None

