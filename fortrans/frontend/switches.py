"""``!fortrans$ off``, ``on`` and ``skip``: what the user wants left, on lines of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fortrans.frontend.procedures import directive
from fortrans.frontend.units import Program
from fortrans.source import Span

_MARK = re.compile(r"\s*!fortrans\$\s*([^!]*?)\s*(!.*)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Switches:
    """The lines to be left, with the line and the word of the directive that asks; and unknown words."""

    left: dict[int, tuple[int, str]]
    unknown: tuple[tuple[int, str], ...]

    def asked(self, span: Span) -> tuple[int, str] | None:
        """The directive that wants a line of ``span`` left: its line and its word."""
        lines = range(span.first, span.last + 1)
        return next((self.left[line] for line in lines if line in self.left), None)


def switches(program: Program) -> Switches:
    """What the directives of a file ask for.

    ``off`` holds until ``on`` or the end of the file; ``skip`` for the next statement, which may be
    a WHERE construct, of another construct the opening alone.
    """
    if "!fortrans$" not in program.source.text.lower():
        return Switches({}, ())
    left: dict[int, tuple[int, str]] = {}
    unknown: list[tuple[int, str]] = []
    since: int | None = None
    for number, word in _words(program):
        match word:
            case "on":
                since = None
            case "off":
                since = number
            case "skip":
                found = (s for s in program.statements if s.form == "fortran" and s.span.first > number)
                for line in (line for s in found for line in range(s.span.first, s.span.last + 1)):
                    left.setdefault(line, (number, "skip"))
                    break
            case "":
                if since is not None:
                    left[number] = (since, "off")
            case _:
                unknown.append((number, word))
    return Switches(left, tuple(unknown))


def _words(program: Program) -> Iterator[tuple[int, str]]:
    """For each line the word of the directive that it is; "" for another line."""
    for number, line in enumerate(program.lines, 1):
        match = _MARK.match(line.rstrip("\r\n")) if "!" in line else None
        yield number, "" if match is None or directive(line) else match[1].lower()
