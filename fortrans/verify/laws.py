"""What every rewrite of every file keeps, stated so that a test can ask for it.

Each law is a function that returns None when it holds and one sentence when it does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from fortrans.remarks import Kind, Remark
from fortrans.source import Source, Span


def _gaps(source: Source, spans: Sequence[Span]) -> list[list[str]]:
    """The runs of lines before, between and after ``spans``."""
    lines = source.lines
    gaps: list[list[str]] = []
    start = 0
    for span in sorted(set(spans)):
        if span.first - 1 < start:
            start = max(start, span.last)
            continue
        gaps.append(lines[start : span.first - 1])
        start = span.last
    return [*gaps, lines[start:]]


def _find(part: list[str], lines: list[str], start: int) -> int | None:
    last = len(lines) - len(part)
    return next((k for k in range(start, last + 1) if lines[k : k + len(part)] == part), None)


def _in_order(parts: Sequence[list[str]], lines: list[str]) -> str | None:
    """The first line of ``parts`` that does not follow the ones before it in ``lines``."""
    rest = iter(lines)
    return next((line for part in parts for line in part if line not in rest), None)


def untouched(source: Source, output: Source, remarks: Sequence[Remark]) -> str | None:
    """Every line outside the statements reported as PASSED stands in the output, as it was.

    The ends of constructs that were edited with their opening count as such statements.

    The lines between two such statements stand together and in order; those before the first
    begin the output and those after the last end it.  Where something was repacked they stand in
    order, with lines of its own between them.
    """
    passed = [remark for remark in remarks if remark.kind is Kind.PASSED]
    spans = [span for remark in passed for span in (remark.span, *remark.also)]
    lines = output.lines
    if not spans:
        return None if lines == source.lines else "Lines changed and no remark says so"
    gaps = _gaps(source, spans)
    if any(remark.code.startswith("FT50") for remark in remarks):
        # Repacking adds lines of its own between those of the source.
        line = _in_order(gaps, lines)
        return None if line is None else f"A line is gone or changed: {line.rstrip()!r}"
    first, last = gaps[0], gaps[-1]
    if lines[: len(first)] != first:
        return f"Lines before line {min(spans).first} changed"
    position = len(first)
    for gap in gaps[1:-1]:
        found = _find(gap, lines, position)
        if found is None:
            return f"Lines between rewritten statements changed: {gap[0].rstrip()!r}"
        position = found + len(gap)
    if last and (lines[-len(last) :] != last or len(lines) - len(last) < position):
        return "Lines after the last rewritten statement changed"
    return None


def reported(source: Source, remarks: Sequence[Remark]) -> str | None:
    """Remarks name this file and lines that it has, and stand in the order of their lines."""
    count = len(source.lines)
    for remark in remarks:
        if remark.path != source.path:
            return f"A remark names '{remark.path}', not '{source.path}'"
        if not 1 <= remark.span.first <= remark.span.last <= count:
            return f"A remark names lines {remark.span} of a file of {count} lines"
    if [r.span.first for r in remarks] != sorted(r.span.first for r in remarks):
        return "Remarks are not in the order of their lines"
    return None


def stable(output: Source, again: Source) -> str | None:
    """A second run changes nothing."""
    if output.text == again.text:
        return None
    pairs = zip(output.lines, again.lines)
    at = next((k for k, (a, b) in enumerate(pairs, 1) if a != b), 0)
    return f"A second run changes the output again (line {at})"


def line_ends(source: Source, output: Source) -> str | None:
    """A file of CRLF lines stays one, and so does a file of LF lines."""
    ends = {line.endswith("\r\n") for line in source.lines if line.endswith("\n")}
    if len(ends) != 1:
        return None
    [crlf] = ends
    if all(line.endswith("\r\n") == crlf for line in output.lines if line.endswith("\n")):
        return None
    return "Line ends changed between LF and CRLF"
