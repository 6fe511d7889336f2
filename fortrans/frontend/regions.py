"""Which OpenMP or OpenACC directive region a statement stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = (
    "parallel workshare sections section single masked master critical taskgroup taskloop taskwait"
    " taskyield task barrier flush ordered atomic target teams distribute data enter exit update"
    " cancellation cancel point declare threadprivate requires loop scan tile unroll scope interop"
    " dispatch metadirective error nothing assumes assume allocators allocate kernels serial host_data"
    " routine wait cache init shutdown set simd depobj do"
).split()
_NAME = re.compile(rf"(?:(?:{'|'.join(_WORDS)})(?![_(]\w*\s*:)\s*)+")
_WORD = re.compile("|".join(_WORDS))
_HEAD = re.compile(r"!(?:\$(\w+)|(\w+)[$*]|ocl)\s*(.*)$", re.IGNORECASE | re.DOTALL)
_ALONE = frozenset(
    "barrier taskwait taskyield flush cancel cancellation threadprivate declare requires section scan"
    " error nothing depobj interop wait routine cache init shutdown set enter exit update allocate"
    " assumes".split()
)
_LOOPS = frozenset("do simd distribute taskloop loop tile unroll".split())


@dataclass(slots=True)
class _Region:
    name: str
    depth: int
    extent: str  # "block": to its END; "loop": the DO that follows; "next": the statement that follows


class Regions:
    """The open directive regions while the statements of a file go by."""

    def __init__(self) -> None:
        self._open: list[_Region] = []

    @property
    def innermost(self) -> str | None:
        """The innermost region's directive (``omp parallel do``), or None."""
        return self._open[-1].name if self._open else None

    def directive(self, text: str, depth: int) -> None:
        """A directive is met where ``depth`` constructs and units are open."""
        match = _HEAD.match(text)
        if match is None:
            return
        family = (match.group(1) or "").lower()
        rest = match.group(3).lower()
        if family not in ("omp", "ompx", "acc"):
            self._open.append(_Region(match.group().split()[0].lower(), depth, "next"))
            return
        if rest.startswith("end"):
            self._end(family, "".join(_words(rest[3:].lstrip())))
            return
        words = _words(rest)
        name = " ".join([family, *words])
        if words and not _alone(words, rest):
            self._open.append(_Region(name, depth, _extent(words, rest)))

    def _end(self, family: str, squeezed: str) -> None:
        for position in range(len(self._open) - 1, -1, -1):
            if self._open[position].name.replace(" ", "").startswith(family + squeezed):
                del self._open[position:]
                return

    def statement(self, opens: str | None, depth: int) -> None:
        """A statement has gone by; ``opens`` is the construct it opened, now ``depth`` deep."""
        while self._open and self._open[-1].extent == "next" and self._open[-1].depth >= 0:
            region = self._open[-1]
            if opens is None:
                self._open.pop()
                continue
            region.extent, region.depth = "inside", depth
        for region in reversed(self._open):
            if region.extent != "loop":
                break
            if opens is None or not opens.startswith("do"):
                self._open.remove(region)
            else:
                region.extent, region.depth = "inside", depth

    def closed(self, depth: int) -> None:
        """A construct or unit was closed; ``depth`` are left open."""
        while self._open and self._open[-1].depth > depth:
            self._open.pop()


def _words(text: str) -> list[str]:
    match = _NAME.match(text)
    return _WORD.findall(match.group()) if match else []


def _alone(words: list[str], rest: str) -> bool:
    if words[0] in _ALONE:
        return True
    if words[0] == "target" and words[1:2] and words[1] in ("update", "enter", "exit"):
        return True
    return words == ["ordered"] and re.search(r"\b(?:depend|doacross)\s*\(", rest) is not None


def _extent(words: list[str], rest: str) -> str:
    if words[0] == "atomic":
        return "block" if re.search(r"\bcapture\b", rest) else "next"
    return "loop" if _LOOPS.intersection(words) else "next" if words[0] == "dispatch" else "block"
