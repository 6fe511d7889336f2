"""What ``fortrans intrinsics`` prints: each intrinsic that has an entry, and what is done with it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fortrans.intrinsics.entry import Entry

_CLAUSE = re.compile(r"Fortran 20\d\d, (\d+(?:\.\d+)+)")


@dataclass(frozen=True, slots=True)
class Row:
    """An intrinsic: its signature, rewriting rule and clause of the standard, and what is done with it.

    ``done`` is ``composed``, ``materialised`` or ``answered``.
    """

    name: str
    signature: str
    rule: str
    clause: str
    done: str


def rows() -> tuple[Row, ...]:
    """One row for each entry: what is composed first, then by name."""
    from fortrans.intrinsics.inquiry import ANSWERED
    from fortrans.intrinsics.registry import INTRINSICS

    order = ("composed", "answered", "materialised")
    answered = {entry.name: entry for entry in ANSWERED}
    found = [_row(entry, entry.name in answered) for entry in {**INTRINSICS, **answered}.values()]
    return tuple(sorted(found, key=lambda row: (order.index(row.done), row.name)))


def _row(entry: Entry, answered: bool) -> Row:
    clause = _CLAUSE.search(inspect.getdoc(entry) or "")
    return Row(
        entry.name.upper(),
        entry.signature,
        entry.rule,
        clause[1] if clause else "",
        "answered" if answered else "composed" if entry.composed else "materialised",
    )


def as_text(table: Iterable[Row]) -> str:
    """Two lines for each intrinsic: what is done and where the standard has it, then the rule."""
    lines = []
    for row in table:
        lines.append(f"{row.name:<12} {row.done:<13} {row.clause:<9} {row.signature}")
        lines.append(f"    {row.rule}")
    return "\n".join(lines)


def as_json(table: Iterable[Row]) -> str:
    """A list of objects."""
    return json.dumps([asdict(row) for row in table], indent=2)


def as_markdown(table: Iterable[Row]) -> str:
    """The table that README has."""
    lines = ["| intrinsic | | rule | Fortran 2018 |", "|---|---|---|---|"]
    for row in table:
        signature = row.signature.replace(" or ", "` or `")
        rule = row.rule.replace("|", "\\|")
        lines.append(f"| `{signature}` | {row.done} | `{rule}` | {row.clause} |")
    return "\n".join(lines)


PRINTERS: Mapping[str, Callable[[Iterable[Row]], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
