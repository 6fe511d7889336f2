"""Calls of procedures whose bodies stand in the same file, and the sections among their actuals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fortrans.frontend.resolve import Scopes, View
from fortrans.frontend.tokens import NAME, bare, closing, split, words
from fortrans.frontend.units import Executable, Program, Unit
from fortrans.ir.calls import Actual, Call, SectionText, Triplet, contiguous
from fortrans.ir.symbols import Intrinsic, Procedure, Symbol

_CALL = re.compile(rf"call\s+({NAME})\s*\(", re.I)
_RESULT = re.compile(rf"({NAME})\s*=\s*({NAME})\s*\(", re.I)
_KEYWORD = re.compile(rf"({NAME})\s*=(?![=>])\s*", re.I)
_SUBSCRIPT = re.compile(r"[\w\s+*-]*")
_NEEDED = ("size", "is_contiguous", "lbound", "ubound", "selected_int_kind", "len", "storage_size")
_NOT_IN = frozenset({"do concurrent", "where", "forall", "critical", "team"})
_VISIBLE = frozenset({"internal", "module"})


def calls(program: Program, scopes: Scopes) -> Iterator[tuple[Executable, Unit | None, Call]]:
    """Every call of a file that has arguments, in source order, each with the body it executes."""
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
        actuals = tuple(_actuals(pieces, callee, view))
        misplaced, indent = _misplaced(executable, view), executable.statement.indent
        if misplaced is None and callee is not None and _hides(callee, scopes):
            misplaced = "its internal procedure hides another, which gfortran would call in a BLOCK"
        yield executable, callee, Call(name.lower(), actuals, text, indent, why, misplaced, variable)


def _body(
    program: Program, executable: Executable, name: str, meaning: object
) -> tuple[Unit | None, str | None]:
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
    return found[0], None


def _misplaced(executable: Executable, view: View) -> str | None:
    """Why a BLOCK cannot stand in place of the statement, as a clause."""
    statement = executable.statement
    why = None
    if executable.condition is not None or executable.where is not None or executable.forall is not None:
        why = "it is the action of another statement"
    elif statement.siblings > 1 or statement.label or statement.sentinel or statement.conditional:
        why = "it has a label or shares its line"
    elif executable.region is not None:
        why = "it stands in a region of directives"
    elif executable.preprocessed:
        why = "it depends on the preprocessor"
    elif any(construct.kind in _NOT_IN for construct in executable.constructs):
        why = "it stands where no BLOCK with a copy may"
    elif "omp_in_parallel" in words(statement.text):
        why = "it names OMP_IN_PARALLEL, which a BLOCK around it may declare"
    elif hidden := [name for name in _NEEDED if not isinstance(view.lookup(name), Intrinsic)]:
        why = f"'{hidden[0]}' may be a name of the user's there"
    return why


def _hides(callee: Unit, scopes: Scopes) -> bool:
    """Whether an internal procedure has a name that means something outside its host."""
    host = callee.parent
    if host is None or host.kind in ("module", "submodule") or host.parent is None:
        return False
    return scopes.of(host.parent).frame.trace(callee.name)[0] is not None


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
        asked = re.sub(rf"\bsize\s*\(\s*{NAME}\s*(?:,[^()]*)?\)", "", bare(piece), flags=re.I)
        cut, plain = section(piece, view), harmless(piece, view)
        yield Actual(dummy, piece, at, cut, frozenset(words(asked)), plain, _contiguous(piece, cut, view))


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


def _contiguous(text: str, cut: SectionText | None, view: View) -> bool:
    """Whether an actual argument is contiguous whatever happens."""
    if cut is not None:
        return contiguous(cut.symbol) and cut.leading
    symbol = view.lookup(text) if re.fullmatch(NAME, text) else None
    return isinstance(symbol, Symbol) and bool(symbol.dims) and contiguous(symbol)
