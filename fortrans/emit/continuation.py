"""Lines that are too long: continued with ``&`` where a reader would (6.3.2.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fortrans.remarks import Refusal

CONTINUATIONS = 255  # 6.3.2.6

# Where a break reads well: at a blank behind a comma or behind an operator with blanks around it.
_GOOD = re.compile(r"(?:,|\s(?:[-+*/=<>]+|::|\.[A-Za-z]+\.))\Z")
# Where a break is between two tokens even without a blank.
_SAFE = frozenset(",)%")


@dataclass(frozen=True, slots=True)
class _Break:
    """A line may be cut before ``column``.  ``depth`` brackets are open; 0 is the best ``rank``."""

    column: int
    depth: int
    rank: int


def fold(line: str, limit: int, step: str) -> list[str]:
    """``line`` (without line end) as lines of at most ``limit`` columns.

    Continuation lines stand two steps further in.  A character literal is cut only when nothing
    else helps.  A comment behind the statement moves to the last line, whatever its length.
    Raises Refusal (FT103) when the limit cannot be kept with 255 continuation lines.
    """
    if len(line) <= limit or line.lstrip(" \t").startswith(("!", "#")):
        return [line]
    breaks, end = _scan(line)
    code, comment = line[:end].rstrip(" \t"), line[end:]
    at = _indentation(code)
    prefix = code[:at]
    indent = prefix + 2 * step
    found: list[str] = []
    while len(prefix) + len(code) - at > limit:
        # The last column is kept for the ampersand, and outside of tokens one for a blank.
        last = at + limit - len(prefix) - 1
        column = _best([b for b in breaks if at < b.column < last], (at + last) // 2)
        if column is not None:
            found.append(f"{prefix}{code[at:column].rstrip(' ')} &")
            at, prefix = column + _indentation(code[column:]), indent
        else:
            column = _inside(code, at, last)
            if column is None:
                raise _refusal(limit)
            found.append(f"{prefix}{code[at:column]}&")
            at, prefix = column, f"{indent}&"
        if len(found) > CONTINUATIONS:
            raise _refusal(limit)
    rest = prefix + code[at:]
    return [*found, f"{rest} {comment}" if comment else rest]


def comment(text: str, limit: int, indent: str) -> list[str]:
    """``! text`` as comment lines of at most ``limit`` columns.

    The blanks in front of ``text`` are given up first, then the indentation.
    """
    if len(indent) + 2 + len(text) <= limit:
        return [f"{indent}! {text}"]
    rest = text[_indentation(text) :]
    start = f"{indent}! " if len(indent) + 22 <= limit else "! "
    room = max(limit - len(start), 1)
    found: list[str] = []
    while len(rest) > room:
        cut = rest.rfind(" ", 1, room + 1)
        cut = room if cut < 0 else cut
        found.append(start + rest[:cut])
        rest = rest[cut:].lstrip(" ")
    return [*found, start + rest]


def _best(breaks: list[_Break], middle: int) -> int | None:
    """Of the best kind, in the second half of the line if any: the last of the outermost ones."""
    if not breaks:
        return None
    rank = min(b.rank for b in breaks)
    kind = [b for b in breaks if b.rank == rank]
    half = [b for b in kind if b.column >= middle] or kind
    depth = min(b.depth for b in half)
    return max(b.column for b in half if b.depth == depth)


def _inside(code: str, at: int, column: int) -> int | None:
    """A column inside a token that parts no two quotes: in a row they stand for one."""
    while column > at and code[column - 1] in "'\"":
        column -= 1
    return column if column > at else None


def _scan(line: str) -> tuple[list[_Break], int]:
    """The breaks that are not inside a character literal, and where a comment begins (or the end)."""
    breaks: list[_Break] = []
    depth, quote, start = 0, "", _indentation(line)
    for column, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
            continue
        if char == "!":
            return breaks, column
        if column > start:
            if char in " \t":
                breaks.append(_Break(column, depth, 0 if _GOOD.search(line, 0, column) else 1))
            elif line[column - 1] in _SAFE:
                breaks.append(_Break(column, depth, 2))
        if char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
    return breaks, len(line)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _refusal(limit: int) -> Refusal:
    return Refusal("FT103", f"Statement is too long to be printed in {limit} columns")
