"""What ``fortrans explain`` prints: a remark code, or an intrinsic procedure."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from typing import TYPE_CHECKING

from fortrans.remarks import Code, codes

if TYPE_CHECKING:
    from fortrans.intrinsics.entry import Entry


def listing() -> str:
    """All remark codes, one a line."""
    rows = codes().values()
    width = max(len(row.name) for row in rows)
    return "\n".join(f"{row.code}  {row.name:<{width}}  {row.title}" for row in rows)


def explain(word: str) -> str:
    """The explanation of a code (``FT301``), of its name, or of an intrinsic (``CSHIFT``).

    Raises LookupError, with the nearest known words, for anything else.
    """
    for row in codes().values():
        if word.upper() == row.code or word.lower() == row.name:
            return _code(row)
    known = intrinsics()
    if word.upper() in known:
        return known[word.upper()]
    names = {name.lower(): name for name in (*codes(), *(row.name for row in codes().values()), *known)}
    close = [names[name] for name in difflib.get_close_matches(word.lower(), names, 3)]
    hint = f", did you mean {' or '.join(close)}?" if close else ""
    raise LookupError(f"'{word}' is neither a remark code nor a known intrinsic{hint}")


def intrinsics() -> dict[str, str]:
    """Explanations of the intrinsics that have an entry, by upper-case name."""
    from fortrans.intrinsics.inquiry import ANSWERED
    from fortrans.intrinsics.registry import INTRINSICS

    known: dict[str, Entry] = {**INTRINSICS, **{entry.name: entry for entry in ANSWERED}}
    return {name.upper(): _intrinsic(entry) for name, entry in known.items()}


def _intrinsic(entry: Entry) -> str:
    from fortrans.intrinsics.inquiry import Inquiry

    if isinstance(entry, Inquiry):
        return f"{entry.signature}\n\n{inspect.getdoc(entry) or ''}\n\nAnswered from extents (FT106)."
    note = "" if entry.composed else "\n\nNo element rule: the result is made as a whole (FT403)."
    return f"{entry.signature}\n\n{inspect.getdoc(entry) or ''}{note}"


def _code(row: Code) -> str:
    sections = [("What", row.what), ("Why", row.why), ("What you can do", row.act)]
    bodies = [f"{title}\n{textwrap.indent(textwrap.fill(body, 88), '  ')}" for title, body in sections]
    return "\n\n".join([f"{row.code} {row.name}\n{row.title}", *bodies])
