"""Logical lines of free source form (Fortran 2018, 6.3.2), with what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from fortrans.remarks import InputError
from fortrans.source import Source, Span

Form = OneOf["fortran", "include", "directive", "cpp"]

FIXED_FORM = "Fixed source form is not read yet"
_FIXED_SUFFIXES = (".f", ".for", ".f77", ".ftn")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, directive, INCLUDE line or preprocessor line.

    ``text`` is joined as the language joins continuations, strings verbatim, without label and
    comments, stripped.  ``indent`` is the white space before it, a label counting as blanks.
    ``position`` and ``siblings`` place it among the statements joined by ``;`` that share its
    span.  ``sentinel``: a ``!$`` line, a statement only to who compiles with OpenMP.
    ``conditional``: a preprocessor or ``!$`` line lies within its span, so the text is one of
    several.  ``flaw``: why no compiler reads it (a sentence), or None.  ``ordinal`` is its index
    in the program.
    """

    span: Span
    text: str
    label: str | None = None
    comments: tuple[str, ...] = ()
    indent: str = ""
    position: int = 0
    siblings: int = 1
    sentinel: bool = False
    form: Form = "fortran"
    conditional: bool = False
    flaw: str | None = None
    ordinal: int = 0


_BREAK = re.compile(r"['\"!;&]")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_LABEL = re.compile(r"(\d{1,5})[ \t]*(?=[^\d\s])")
_INCLUDE = re.compile(r"include\s*(?:'[^']*'|\"[^\"]*\")\s*$", re.IGNORECASE)
_FORMAT = re.compile(r"format\s*\(", re.IGNORECASE)
_DIRECTIVE = re.compile(
    r"!(?:\$(?:ompx?|acc|cuf)(?![\w])|(?:dir|dec|gcc|pgi|nec|cdir|lfortran)\$|ibm\*|ocl\b)", re.IGNORECASE
)
_SENTINEL = re.compile(r"\s*!\$(?=[ \t\d&])")
_NEVER_FIRST = frozenset("&*+-/),.=('\":<>[]|\\~`^?$0123456789")
_BLANKS = " \t\f\r\v"


def check_form(source: Source) -> None:
    """Raise InputError when the file's name says fixed source form."""
    if source.path.lower().endswith(_FIXED_SUFFIXES):
        raise InputError(source.path, FIXED_FORM)


_COLUMN_6 = re.compile(r" {5}(?:[$+*.>|]|[1-9] )")
_CARD_COMMENT = re.compile(r"[cC](?:\s+[A-Za-z]|[-=*]{2}|\s*$)|\*(?!/)")


def looks_fixed(lines: Sequence[str]) -> bool:
    """Whether lines that made no sense as free form look like fixed form (6.3.3)."""
    return any(_COLUMN_6.match(line) or _CARD_COMMENT.match(line) for line in lines)


def read_lines(source: Source) -> tuple[Statement, ...]:
    """All statements, directives, INCLUDE and preprocessor lines of a free-form file, in order.

    Nothing is raised for what is wrong in a line: ``flaw`` tells.
    """
    text = source.text.removeprefix("\ufeff")
    lines = text.split("\n")
    found: list[Statement] = []
    index, count = 0, len(lines)
    while index < count:
        line = lines[index]
        body = line.strip()
        if not body:
            index += 1
            continue
        first = body[0]
        if first == "!":
            index = _bang(lines, index, body, found)
        elif first == "#":
            index = _cpp(lines, index, found)
        elif _BREAK.search(body) is None and not first.isdigit():
            index += 1
            flaw = None
            if body.count("(") != body.count(")"):
                flaw = _flaw(body)
            elif first in _NEVER_FIRST:
                flaw = _NOT_A_STATEMENT
            indent = line[: len(line) - len(line.lstrip())]
            span = Span(index, index)
            found.append(
                Statement(span, body, None, (), indent, 0, 1, False, "fortran", False, flaw, len(found))
            )
        else:
            index = _Group(lines, index, False).read(found)
    return tuple(found)


_NOT_A_STATEMENT = "Line is not a Fortran statement"


def _flaw(text: str) -> str | None:
    if text[0] in _NEVER_FIRST:
        return _NOT_A_STATEMENT
    bare = _STRING.sub("", text)
    if bare.count("(") != bare.count(")") and not _FORMAT.match(text):
        return "Parentheses are not balanced"
    return None


def _bang(lines: list[str], index: int, body: str, found: list[Statement]) -> int:
    """Read a line that begins with ``!``: comment, directive, or conditional statement."""
    if _DIRECTIVE.match(body):
        return _directive(lines, index, found)
    if _SENTINEL.match(body):
        return _Group(lines, index, True).read(found)
    return index + 1


def _cpp(lines: list[str], index: int, found: list[Statement]) -> int:
    end = _cpp_end(lines, index)
    text = "\n".join(line.rstrip() for line in lines[index : end + 1]).strip()
    found.append(Statement(Span(index + 1, end + 1), text, form="cpp", ordinal=len(found)))
    return end + 1


def _cpp_end(lines: list[str], index: int) -> int:
    while lines[index].rstrip("\r").endswith("\\") and index + 1 < len(lines):
        index += 1
    return index


def _directive(lines: list[str], index: int, found: list[Statement]) -> int:
    """Join a directive with its continuation lines, which repeat its sentinel."""
    start = index
    match = _DIRECTIVE.match(lines[index].strip())
    assert match is not None
    sentinel = match.group()
    text = _uncommented(lines[index].strip())
    while text.endswith("&") and index + 1 < len(lines):
        body = lines[index + 1].strip()
        if body[: len(sentinel)].lower() == sentinel.lower():
            rest = _uncommented(body)[len(sentinel) :].strip().removeprefix("&").lstrip()
            text = f"{text[:-1].rstrip()} {rest}"
        elif body and not body.startswith("!"):
            break
        index += 1
    line = lines[start]
    indent = line[: len(line) - len(line.lstrip())]
    span = Span(start + 1, index + 1)
    found.append(Statement(span, text, indent=indent, form="directive", ordinal=len(found)))
    return index + 1


def _uncommented(directive: str) -> str:
    at = directive.find("!", 1)
    return (directive if at < 0 else directive[:at]).rstrip()


class _Group:
    """The statements that start on one line: joined over continuation lines, split at ``;``."""

    def __init__(self, lines: list[str], start: int, sentinel: bool) -> None:
        self.lines = lines
        self.start = start
        self.sentinel = sentinel
        self.index = start
        self.quote = ""
        self.current = ""
        self.pieces: list[str] = []
        self.comments: list[str] = []
        self.conditional = False
        self.flaw: str | None = None

    def read(self, found: list[Statement]) -> int:
        """Append the group's statements to ``found`` and return the index of the next line."""
        line = self.lines[self.start]
        match = _SENTINEL.match(line) if self.sentinel else None
        position = match.end() if match else 0
        last = self.start
        while self._scan(position):
            following = self._next()
            if following is None:
                break
            position = following
            last = self.index
        self.pieces.append(self.current)
        found.extend(self._statements(last, len(found)))
        return last + 1

    def _scan(self, position: int) -> bool:
        """Take the current line from ``position``; whether it is continued."""
        line = self.lines[self.index]
        begin = position
        while True:
            if self.quote:
                end = line.find(self.quote, position)
                if end < 0:
                    return self._in_string(line, begin)
                self.quote = ""
                position = end + 1
                continue
            match = _BREAK.search(line, position)
            if match is None:
                self.current += line[begin:]
                return False
            at = match.start()
            position = at + 1
            match match.group():
                case "!":
                    self.current += line[begin:at]
                    self.comments.append(line[at:].rstrip())
                    return False
                case ";":
                    self.pieces.append(self.current + line[begin:at])
                    self.current = ""
                    begin = position
                case "&":
                    rest = line[position:].strip()
                    if not rest or rest[0] == "!":
                        self.current += line[begin:at]
                        if rest:
                            self.comments.append(rest)
                        return True
                case quote:
                    self.quote = quote

    def _in_string(self, line: str, begin: int) -> bool:
        """The line ends inside a character literal: continued only by a last ``&``."""
        stripped = line.rstrip()
        if stripped.endswith("&") and len(stripped) > begin:
            self.current += stripped[begin:-1]
            return True
        self.current += line[begin:]
        self.flaw = "Character literal is not closed"
        self.quote = ""
        return False

    def _next(self) -> int | None:
        """Go to the line that continues this one; where its text begins, or None at the end."""
        index = self.index
        while (index := index + 1) < len(self.lines):
            line = self.lines[index]
            body = line.lstrip()
            if not body.strip():
                continue
            if body[0] == "#":
                self.conditional = True
                index = _cpp_end(self.lines, index)
                continue
            skipped = len(line) - len(body)
            if body[0] == "!":
                sentinel = _SENTINEL.match(line)
                if sentinel is None or not self.sentinel:
                    self.conditional |= sentinel is not None
                    self.comments.append(body.rstrip())
                    continue
                skipped = sentinel.end()
                body = line[skipped:].lstrip()
                skipped = len(line) - len(body)
            elif self.sentinel:
                self.conditional = True
            if body.startswith("&"):
                rest = body[1:].strip()
                if not rest or (rest[0] == "!" and not self.quote):
                    if rest:
                        self.comments.append(rest)
                    continue
                self.index = index
                return self._resume(line, skipped + 1)
            self.index = index
            if self.quote:
                return 0
            self.current = self.current.rstrip() + " "
            return skipped
        return None

    def _resume(self, line: str, position: int) -> int:
        """After a leading ``&``: a token goes on, unless a blank stands on either side."""
        if self.quote:
            return position
        stripped = self.current.rstrip()
        text = line[position:]
        if len(stripped) < len(self.current) or text[0] in _BLANKS:
            self.current = stripped + " "
            position += len(text) - len(text.lstrip())
        return position

    def _statements(self, last: int, ordinal: int) -> Iterator[Statement]:
        texts = [text for piece in self.pieces if (text := piece.strip())]
        line = self.lines[self.start]
        span = Span(self.start + 1, last + 1)
        for position, text in enumerate(texts):
            label, indent = None, line[: len(line) - len(line.lstrip())]
            match = _LABEL.match(text)
            if match:
                label = match.group(1)
                text = text[match.end() :]
                indent += " " * match.end()
            flaw = self.flaw or (None if self.conditional else _flaw(text))
            yield Statement(
                span,
                text,
                label,
                tuple(self.comments),
                indent,
                position,
                len(texts),
                self.sentinel,
                "include" if _INCLUDE.match(text) else "fortran",
                self.conditional,
                flaw,
                ordinal + position,
            )
