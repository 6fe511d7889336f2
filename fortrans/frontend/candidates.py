"""Which assignments have array work, told cheaply, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fortrans.frontend.resolve import Scopes
from fortrans.frontend.units import Executable, Program
from fortrans.intrinsics import INTRINSICS
from fortrans.ir.symbols import Scope, Symbol
from fortrans.remarks import Refusal

_WORD = re.compile(r"[A-Za-z]\w*")
_REFERENCE = re.compile(r"([A-Za-z]\w*)\s*\(")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_SOURCE = re.compile(r"\bsource\s*=", re.IGNORECASE)
_EXPONENT_OR_PART = re.compile(r"%\s*[A-Za-z]\w*|\d\w*")


class Candidates:
    """The candidate statements of a program, in order.

    A statement that only looks like one is sorted out by ``lift``; one that is none never costs
    more than a look at its names.
    """

    def __init__(self, program: Program, scopes: Scopes) -> None:
        self._program = program
        self._scopes = scopes
        self._ranked: dict[tuple[int, str], bool] = {}

    def __iter__(self) -> Iterator[Executable]:
        from fortrans.frontend.masks import controlled, is_where

        for executable in self._program.executables():
            if executable.statement.sentinel:
                continue
            if controlled(executable):
                continue
            if is_where(executable):
                yield executable
                continue
            plain = executable.kind == "assignment" and self._is_candidate(executable)
            if plain or has_source(executable) or conditional(executable):
                yield executable

    def _is_candidate(self, executable: Executable) -> bool:
        text = executable.statement.text
        if "'" in text or '"' in text:
            text = _STRING.sub("''", text)
        left, right = sides(text)
        if ":" in left or transforms(right):
            return True
        scope: Scope | None = None
        subscripted = "(" in left
        for number, word in enumerate(_WORD.findall(_EXPONENT_OR_PART.sub("", left))):
            if number == 0 and subscripted and "%" not in left:
                # A subscripted name: only its subscripts can still have rank.
                continue
            scope = scope or self._scopes.at(executable)
            if self._has_rank(scope, word.lower()):
                return True
        return "%" in left

    def _has_rank(self, scope: Scope, name: str) -> bool:
        key = (id(scope), name)
        if key not in self._ranked:
            meaning = scope.lookup(name)
            self._ranked[key] = isinstance(meaning, Symbol) and meaning.rank > 0
        return self._ranked[key]


def has_source(executable: Executable) -> bool:
    """Whether it is an ALLOCATE statement that may have a SOURCE=."""
    return executable.kind == "allocate" and _SOURCE.search(executable.statement.text) is not None


def transforms(text: str) -> bool:
    """Whether a name of a transformational intrinsic is referenced in ``text``."""
    return any(name.lower() in INTRINSICS for name in _REFERENCE.findall(text))


_UNREAD = frozenset({"assignment", "unknown", "include"})


def conditional(executable: Executable) -> bool:
    """Whether a statement other than an assignment, or the condition before one, has such a reference."""
    if executable.condition is not None and transforms(_STRING.sub("''", executable.condition)):
        return True
    return executable.kind not in _UNREAD and transforms(_STRING.sub("''", executable.statement.text))


def builds(text: str) -> bool:
    """Whether there may be an array constructor in ``text``."""
    return "[" in text or "(/" in text


def reads_elsewhere(left: str, right: str) -> bool:
    """Whether the right side has the array of the left one by other subscripts, as far as text tells."""
    designator = re.sub(r"\s+", "", left).lower()
    name = re.match(r"\w+", designator)
    rest = re.sub(r"\s+", "", right).lower()
    if name is None:
        return False
    for found in re.finditer(rf"(?<![\w%]){name[0]}(?!\w)", rest):
        at = found.start()
        after = rest[at + len(designator) : at + len(designator) + 1]
        if not rest.startswith(designator, at) or after in ("(", "%"):
            return True
    return False


def sides(text: str) -> tuple[str, str]:
    """The two sides of an assignment: split at the first ``=`` outside parentheses."""
    depth = 0
    for position, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "=" and not depth:
            return text[:position], text[position + 1 :]
    return text, ""


def readable(executable: Executable) -> None:
    """Raise Refusal where the statement, or what is around it, is not surely what it looks like."""
    unit = executable.unit.program_unit
    statement = executable.statement
    if unit.broken:
        raise Refusal("FT008", f"Program unit '{unit.name}' could not be read: {unit.broken}")
    if executable.preprocessed or statement.conditional:
        raise Refusal("FT004", "Statement depends on the preprocessor")


def allowed(executable: Executable) -> None:
    """Raise Refusal where nothing may be rewritten, whatever the statement (SEMANTICS 27)."""
    unit = executable.unit.program_unit
    statement = executable.statement
    if executable.region is not None:
        raise Refusal("FT005", f"Statement is in a region of '!${executable.region}'")
    kinds = {construct.kind for construct in executable.constructs}
    if executable.where is not None or "where" in kinds:
        raise Refusal("FT007", "Assignments in WHERE within FORALL are not rewritten yet")
    if executable.forall is not None or "forall" in kinds:
        raise Refusal("FT007", "Assignments in FORALL are not rewritten yet")
    if statement.label is not None and statement.label in unit.block_labels:
        raise Refusal("FT006", f"Statement ends the DO loop with label {statement.label}")
    for construct in executable.constructs:
        # Lines of its own for this statement would give the opening a line of its own, too.
        opening = construct.opening
        tests = construct.kind in ("if", "do while") and transforms(opening.text)
        if opening.span == statement.span and tests:
            raise Refusal("FT009", "Statement shares its line with a condition that holds array work")
