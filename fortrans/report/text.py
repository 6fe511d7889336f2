"""Remarks, errors, summaries and differences as plain text."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fortrans.remarks import InputError, Kind, Remark
from fortrans.source import Source

_COLOURS = {Kind.PASSED: 32, Kind.MISSED: 33, Kind.ANALYSIS: 36}


def paint(text: str, colour: int, wanted: bool) -> str:
    """``text`` between the escape sequences of an ANSI colour, when colour is wanted."""
    return f"\x1b[{colour}m{text}\x1b[0m" if wanted else text


def remark(item: Remark, colour: bool = False) -> str:
    """``file:line: CODE [passed|missed|analysis] message``."""
    kind = paint(f"[{item.kind.value}]", _COLOURS[item.kind], colour)
    return f"{item.path}:{item.span.first}: {item.code} {kind} {item.message}"


def error(item: InputError, colour: bool = False) -> str:
    """``file[:line]: error: message``, one line whatever the message."""
    line = " ".join(str(item).splitlines())
    return line.replace(": error: ", f": {paint('error:', 31, True)} ", 1) if colour else line


def warning(item: InputError, what: str, colour: bool = False) -> str:
    """``file[:line]: warning: what: message``, one line whatever the message."""
    where = item.path if item.line is None else f"{item.path}:{item.line}"
    message = " ".join(item.message.splitlines())
    return f"{where}: {paint('warning:', 33, colour)} {what}: {message}"


def complaint(message: str, colour: bool = False) -> str:
    """``fortrans: error: message``: what is wrong, but with no file."""
    return f"fortrans: {paint('error:', 31, colour)} {' '.join(message.split())}"


def work(source: Source, remarks: Sequence[Remark], seconds: float) -> str:
    """``file: 120 lines, 9 array statements, 4 rewritten, 0.031 s``."""
    kinds = Counter(item.kind for item in remarks)
    looked_at = kinds[Kind.PASSED] + kinds[Kind.MISSED]
    counts = f"{_count(len(source.lines), 'line')}, {_count(looked_at, 'array statement')}"
    return f"{source.path}: {counts}, {kinds[Kind.PASSED]} rewritten, {seconds:.3f} s"


@dataclass(slots=True)
class Tally:
    """What happened to the files of one call."""

    files: int = 0
    changed: int = 0
    errors: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)

    def add(self, remarks: Iterable[Remark], changed: bool) -> None:
        """Count one file."""
        self.files += 1
        self.changed += changed
        for item in remarks:
            if item.kind is Kind.PASSED:
                self.passed[item.code] += 1
            elif item.kind is Kind.MISSED:
                self.missed[item.code] += 1

    def summary(self, would: bool = False) -> str:
        """One line: statements rewritten and left, with the reasons' codes; files; errors."""
        verb = "would be rewritten" if would else "rewritten"
        reasons = ", ".join(f"{count} {code}" for code, count in sorted(self.missed.items()))
        parts = [
            f"{_count(self.passed.total(), 'statement')} {verb}",
            f"{self.missed.total()} left" + (f" ({reasons})" if reasons else ""),
            f"{self.changed} of {_count(self.files, 'file')} {'would change' if would else 'changed'}",
        ]
        if self.errors:
            parts.append(_count(self.errors, "error"))
        return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def diff(before: Source, after: Source, colour: bool = False) -> Iterator[str]:
    """A unified diff that ``patch -p1`` applies; nothing when the texts are equal.

    Only LF ends a line, so that carriage returns and form feeds stay where they are.
    """
    name = before.path.lstrip("/")
    for line in difflib.unified_diff(before.lines, after.lines, f"a/{name}", f"b/{name}"):
        body = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        yield _painted(body) if colour else body


def _painted(line: str) -> str:
    text = line.rstrip("\n")
    if line.startswith(("---", "+++")):
        return paint(text, 1, True) + "\n"
    match line[0]:
        case "+":
            return paint(text, 32, True) + "\n"
        case "-":
            return paint(text, 31, True) + "\n"
        case "@":
            return paint(text, 36, True) + "\n"
    return line
