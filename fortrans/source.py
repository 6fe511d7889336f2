"""A source file and the edits made to it; everything not edited survives byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MARKER = re.compile(r'#(?:\s*line)?\s+(\d+)(?:\s+"([^"]*)")?')


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lines ``first`` to ``last`` of a file, counted from 1, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the lines of ``span`` with ``text`` (whole lines, each with its line end).

    An insertion before line n has ``span = Span(n, n - 1)``.
    """

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file.  ``path`` is what remarks print; lines end in LF or CRLF."""

    path: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Physical lines with their line ends; only LF (or CRLF) ends a line, as for a compiler."""
        parts = self.text.split("\n")
        lines = [part + "\n" for part in parts[:-1]]
        return [*lines, parts[-1]] if parts[-1] else lines

    def apply(self, edits: Iterable[Edit], markers: bool = False) -> Source:
        """The source with all ``edits`` made.  Raises ValueError when two of them overlap.

        ``markers``: line markers (``# 12 "path"``) lead compilers' messages and debuggers to the
        lines of the original; those that the source has itself go on to count.
        """
        ordered = sorted(edits, key=lambda edit: edit.span)
        for before, after in zip(ordered, ordered[1:]):
            if after.span.first <= before.span.last:
                raise ValueError(f"Edits of lines {before.span} and {after.span} overlap")
        lines = self.lines
        origins = list(_origins(self.path, lines)) if markers else []
        for edit in reversed(ordered):
            text = edit.text
            if markers and text:
                text = _marked(text, origins[min(edit.span.first - 1, len(lines) - 1)])
                if edit.span.last < len(lines):
                    text += _marker(origins[edit.span.last], text)
            lines[edit.span.first - 1 : edit.span.last] = [text]
        if markers and ordered:
            lines.insert(0, _marker((self.path, 1), lines[0]))
        return Source(self.path, "".join(lines))


Origin = tuple[str, int]


def _origins(path: str, lines: list[str]) -> Iterator[Origin]:
    """The file and line that each line counts as, as line markers in the text have it."""
    file, number = path, 1
    for line in lines:
        yield file, number
        match = _MARKER.match(line) if line.startswith("#") else None
        if match:
            file, number = (match[2] or file), int(match[1])
        else:
            number += 1


def _marked(text: str, origin: Origin) -> str:
    """``text`` with each line counting as ``origin``; between two lines of a continued statement too."""
    lines = text.splitlines(keepends=True)
    return "".join(_marker(origin, line) + line for line in lines)


def _marker(origin: Origin, like: str) -> str:
    # A marker is one line, whatever the file is called.
    file = "".join(letter if letter.isprintable() else "?" for letter in origin[0])
    file = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'# {origin[1]} "{file}"' + ("\r\n" if like.endswith("\r\n") else "\n")


def file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
