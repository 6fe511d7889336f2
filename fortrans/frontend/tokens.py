"""Cutting statement text at commas, parentheses and names, without reading what lies between."""

from __future__ import annotations

import re
from functools import lru_cache

NAME = r"[A-Za-z_][A-Za-z0-9_$]*"
_STRING = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""
_MARK = re.compile(_STRING + r"|\(/(?=[^=)])|(?<=[^=/])/\)|[()\[\],]|::|=>|==|/=|<=|>=|=")
_WORD = re.compile(_STRING + rf"|(?:\d+\.?\d*|\.\d+)(?:[EeDd][+-]?\d+)?(?:_{NAME})?|({NAME})")
_BLANKS = re.compile(_STRING + r"|(\s+)")


def marks(text: str) -> list[tuple[str, int, int]]:
    """Each mark outside strings with its depth of parentheses and its offset.

    Marks are commas, brackets, ``::``, ``=>``, ``=`` and comparisons; an opening bracket has the
    depth outside it, and so has its closing one.
    """
    found: list[tuple[str, int, int]] = []
    depth = 0
    for match in _MARK.finditer(text):
        mark = match.group()
        if mark[0] in "'\"":
            continue
        if mark in ("/)", ")", "]"):
            depth -= 1
        found.append((mark, depth, match.start()))
        if mark in ("(", "[", "(/"):
            depth += 1
    return found


def split(text: str) -> tuple[str, ...]:
    """``text`` cut at its top-level commas, each piece stripped; empty text has no pieces."""
    if not text or text.isspace():
        return ()
    if "," not in text:
        return (text.strip(),)
    pieces, start = [], 0
    for mark, depth, at in marks(text):
        if mark == "," and depth == 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    pieces.append(text[start:].strip())
    return tuple(pieces)


def closing(text: str, start: int) -> int:
    """The offset of the bracket that closes the one at ``start``; the text's length when none does."""
    for mark, depth, at in marks(text[start:]):
        if at and depth <= 0 and mark in (")", "]", "/)"):
            return start + at
    return len(text)


def find(text: str, wanted: str) -> int:
    """The offset of the first top-level mark ``wanted`` (``::``, ``=>``, ``=``), else -1."""
    if wanted not in text:
        return -1
    return next((at for mark, depth, at in marks(text) if depth == 0 and mark == wanted), -1)


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """Every word of ``text`` outside strings and numbers, lower case, in order (keywords too).

    The kind parameter of a number (``1.0_dp``) counts as a word.
    """
    found = []
    for match in _WORD.finditer(text):
        if match.group(1):
            found.append(match.group(1).lower())
        elif "_" in match.group() and match.group()[0] not in "'\"":
            found.append(match.group().split("_", 1)[1].lower())
    return tuple(found)


def canonical(text: str) -> str:
    """``text`` in lower case without blanks, strings verbatim: equal texts read equal."""
    if "'" not in text and '"' not in text:
        return "".join(text.split()).lower()
    squeezed = _BLANKS.sub(lambda m: "" if m.group(1) else m.group(), text)
    return re.sub(
        _STRING + "|[A-Z]+",
        lambda m: m.group() if m.group()[0] in "'\"" else m.group().lower(),
        squeezed,
    )


def colon(text: str) -> int:
    """The offset of the first top-level ``:`` that is no part of ``::``, else -1."""
    depth = 0
    for match in re.finditer(_STRING + r"|::|[:()\[\]]", text):
        mark = match.group()
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif mark == ":" and depth == 0:
            return match.start()
    return -1


_QUOTED = re.compile(_STRING)


def bare(text: str) -> str:
    """``text`` with each string emptied."""
    return _QUOTED.sub("''", text) if "'" in text or '"' in text else text
