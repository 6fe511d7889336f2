"""A source file and the edits made to it; everything not edited survives byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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

    def apply(self, edits: Iterable[Edit]) -> Source:
        """The source with all ``edits`` made.  Raises ValueError when two of them overlap."""
        ordered = sorted(edits, key=lambda edit: edit.span)
        for before, after in zip(ordered, ordered[1:]):
            if after.span.first <= before.span.last:
                raise ValueError(f"Edits of lines {before.span} and {after.span} overlap")
        lines = self.lines
        for edit in reversed(ordered):
            lines[edit.span.first - 1 : edit.span.last] = [edit.text]
        return Source(self.path, "".join(lines))
