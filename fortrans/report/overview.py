"""`fortrans report`: everything that was decided about some files, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fortrans.remarks import InputError, Kind, Remark, codes
from fortrans.source import Edit, Source

SCHEMA = 1
"""The version of the JSON form.  A key that is added does not change it, one that goes does."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that was rewritten or left: lines ``first`` to ``last``, and why.

    ``after`` is what stands in its place now, None where it was left (or is edited elsewhere).
    """

    first: int
    last: int
    code: str
    kind: str
    message: str
    before: str
    after: str | None


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file, its statements in source order, and why it could not be read, if so."""

    path: str
    lines: int
    statements: tuple[Statement, ...] = ()
    error: str | None = None


def of_file(source: Source, remarks: Sequence[Remark], edits: Sequence[Edit]) -> FileReport:
    """What was decided about one file."""
    lines = source.lines

    def statement(remark: Remark) -> Statement:
        first, last = remark.span.first, remark.span.last
        spans = (remark.span, *remark.also)
        own = [
            edit
            for edit in edits
            if any(edit.span.first <= span.last and edit.span.last >= span.first for span in spans)
        ]
        passed = remark.kind is Kind.PASSED
        before = "".join(lines[first - 1 : last])
        after = "".join(edit.text for edit in own) if passed and own else None
        return Statement(first, last, remark.code, remark.kind.value, remark.message, before, after)

    kinds = (Kind.PASSED, Kind.MISSED)
    found = tuple(statement(remark) for remark in remarks if remark.kind in kinds)
    return FileReport(source.path, len(lines), found)


def of_error(problem: InputError) -> FileReport:
    """A file that could not be read or understood."""
    return FileReport(problem.path, 0, error=str(problem))


def counts(files: Sequence[FileReport]) -> dict[str, Any]:
    """Files and statements, and how many there are of each code, most frequent first."""
    statements = [one for file in files for one in file.statements]
    kinds = Counter(one.kind for one in statements)
    return {
        "files": len(files),
        "errors": sum(file.error is not None for file in files),
        "lines": sum(file.lines for file in files),
        "rewritten": kinds[Kind.PASSED.value],
        "left": kinds[Kind.MISSED.value],
        "codes": dict(Counter(one.code for one in statements).most_common()),
    }


def as_json(files: Sequence[FileReport], version: str) -> str:
    """The report as JSON (``report.schema.json``)."""
    document = {
        "schema": SCHEMA,
        "fortrans": version,
        "summary": counts(files),
        "files": [asdict(file) for file in files],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def as_html(files: Sequence[FileReport], version: str) -> str:
    """The report as one page that needs nothing else."""
    from fortrans.emit.environment import page

    table = codes()
    summary = counts(files)
    most = max(summary["codes"].values(), default=1)
    passed = {one.code for file in files for one in file.statements if one.kind == Kind.PASSED.value}
    return page(
        "report", files=files, summary=summary, codes=table, most=most, passed=passed, version=version
    )
