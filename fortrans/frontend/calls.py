"""Calls of procedures whose bodies stand in the same file, and the sections among their actuals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fortrans.frontend.resolve import Scopes, View
from fortrans.frontend.tokens import NAME, bare, closing, split, words
from fortrans.frontend.units import Executable, Program, Unit
from fortrans.ir.symbols import Intrinsic, Procedure, Symbol

_CALL = re.compile(rf"call\s+({NAME})\s*\(", re.I)
_RESULT = re.compile(rf"({NAME})\s*=\s*({NAME})\s*\(", re.I)
_KEYWORD = re.compile(rf"({NAME})\s*=(?![=>])\s*", re.I)
_SUBSCRIPT = re.compile(r"[\w\s+*-]*")
_VISIBLE = frozenset({"internal", "module"})


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
    """An actual argument: the dummy it belongs to ("" where nobody knows), its text, its place."""

    dummy: str
    text: str
    at: int
    section: SectionText | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A CALL, or an assignment of one function reference.

    ``callee`` is the body, None where it is not seen, with ``why`` as a clause; ``variable`` is
    what an assignment defines.
    """

    executable: Executable
    name: str
    actuals: tuple[Actual, ...]
    callee: Unit | None
    why: str = ""
    variable: str = ""


def calls(program: Program, scopes: Scopes) -> Iterator[Call]:
    """Every call of a file that has arguments, in source order."""
    for executable in program.executables():
        text = executable.statement.text
        if executable.kind == "call" and (match := _CALL.match(text)):
            name, variable = match[1], ""
        elif executable.kind == "assignment" and (match := _RESULT.match(text)):
            variable, name = match[1].lower(), match[2]
        else:
            continue
        end = closing(text, match.end() - 1)
        if text[end + 1 :].strip():
            continue
        view = scopes.at(executable)
        meaning = view.lookup(name)
        if variable and not isinstance(meaning, Procedure):
            continue
        callee, why = _body(program, executable, name.lower(), meaning)
        pieces = _pieces(text, match.end(), end)
        yield Call(executable, name.lower(), tuple(_actuals(pieces, callee, view)), callee, why, variable)


def _body(
    program: Program, executable: Executable, name: str, meaning: object
) -> tuple[Unit | None, str]:
    """The body that a call executes, or why it is not known, as a clause."""
    if not isinstance(meaning, Procedure) or meaning.form not in _VISIBLE:
        return None, f"which procedure '{name}' is cannot be told"
    if name in _renamed(program):
        return None, f"'{name}' is another name of a procedure"
    kind, _, host = meaning.host.rpartition(" ")
    found = [
        u
        for u in program.walk()
        if u.name == name
        and u.kind in ("subroutine", "function")
        and u.parent is not None
        and (u.parent.kind, u.parent.name) == (kind, host)
        and (meaning.form == "module" or u.parent in _hosts(executable.unit))
    ]
    if len(found) != 1:
        return None, f"the body of '{name}' is not in this file"
    if _dummies(found[0]) != tuple("*" if d is None else d.name for d in meaning.dummies):
        return None, f"which procedure '{name}' is cannot be told"
    return found[0], ""


def _renamed(program: Program) -> frozenset[str]:
    """The names that USE statements give to what has another."""
    texts = (s.text for u in program.walk() for s in u.specification if "=>" in s.text)
    found = (re.findall(rf"({NAME})\s*=>", text) for text in texts if words(text)[:1] == ("use",))
    return frozenset(name.lower() for names in found for name in names)


def _hosts(unit: Unit | None) -> Iterator[Unit]:
    while unit is not None:
        yield unit
        unit = unit.parent


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    at = start
    for piece in split(text[start:end]):
        at = text.index(piece, at)
        yield piece, at
        at += len(piece)


def _actuals(pieces: Iterator[tuple[str, int]], callee: Unit | None, view: View) -> Iterator[Actual]:
    dummies = () if callee is None else _dummies(callee)
    for position, (piece, at) in enumerate(pieces):
        dummy = dummies[position] if position < len(dummies) else ""
        if match := _KEYWORD.match(piece):
            dummy, piece, at = match[1].lower(), piece[match.end() :], at + match.end()
        yield Actual(dummy, piece, at, section(piece, view))


def _dummies(unit: Unit) -> tuple[str, ...]:
    from fortrans.frontend.versions import actuals

    return tuple(name.lower() for name in actuals(unit))


def section(text: str, view: View) -> SectionText | None:
    """``text`` as a section of a named array; None when it is none."""
    match = re.match(rf"({NAME})\s*\(", text)
    if match is None or closing(text, match.end() - 1) != len(text) - 1:
        return None
    symbol = view.lookup(match[1])
    if not isinstance(symbol, Symbol) or not symbol.dims:
        return None
    found = tuple(_subscript(piece) for piece in split(text[match.end() : -1]))
    if len(found) != symbol.rank or not any(isinstance(s, Triplet) for s in found):
        return None
    parts = [part for s in found for part in ((s,) if isinstance(s, str) else (s.lower, s.upper, s.stride))]
    odd = next((why for part in parts if (why := _odd(part, view)) is not None), None)
    return SectionText(match[1], symbol, found, odd)


def _subscript(text: str) -> str | Triplet:
    """A subscript; ``a(::2)`` leaves out both bounds, and what is one mark elsewhere is two colons."""
    depth, pieces, start = 0, [], 0
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", lambda m: " " * len(m[0]), text)
    for at, mark in enumerate(plain):
        depth += (mark in "([") - (mark in ")]")
        if mark == ":" and depth == 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    pieces.append(text[start:].strip())
    if len(pieces) == 1:
        return pieces[0]
    lower, upper, *stride = pieces
    return Triplet(lower, upper, stride[0] if stride else "")


def _odd(text: str, view: View) -> str | None:
    """Why a subscript is not kept in a scalar, as a clause."""
    if not _SUBSCRIPT.fullmatch(text):
        return f"its subscript '{text}' is more than names and numbers"
    for word in words(text):
        symbol = view.lookup(word)
        if not isinstance(symbol, Symbol) or symbol.dims or symbol.type.name != "integer":
            return f"its subscript '{text}' is not known to be a scalar integer"
        if symbol.attributes & {"volatile", "asynchronous", "pointer", "codimension"}:
            return f"its subscript '{text}' may change"
    return None


def harmless(text: str, view: View) -> bool:
    """Whether an actual argument is data, and its evaluation calls no procedure of the user's."""
    if "%" in bare(text) or text.startswith(("*", "&")):
        return False
    named = [word for word in words(text) if word not in _OPERATORS]
    return all(isinstance(view.lookup(word), Symbol | Intrinsic) for word in named)


_OPERATORS = frozenset("true false and or not eqv neqv eq ne lt le gt ge".split())


def contiguous(symbol: Symbol) -> bool:
    """Whether all of an array is contiguous for sure.  ASSOCIATE names never are."""
    if symbol.attributes & {"pointer", "associate", "ambiguous"} or symbol.assumed_rank:
        return "contiguous" in symbol.attributes and "associate" not in symbol.attributes
    return "contiguous" in symbol.attributes or not any(dim.form == "assumed" for dim in symbol.dims)


def surely_contiguous(actual: Actual, view: View) -> bool:
    """Whether an actual argument is contiguous whatever happens."""
    if (found := actual.section) is not None:
        return contiguous(found.symbol) and found.leading
    if not re.fullmatch(NAME, actual.text):
        return False
    symbol = view.lookup(actual.text)
    return isinstance(symbol, Symbol) and bool(symbol.dims) and contiguous(symbol)
