"""Remarks: what was done or left, and why.  The codes' explanations are in codes.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType

from fortrans.source import Span


class Kind(Enum):
    """PASSED: rewritten.  MISSED: left as it was.  ANALYSIS: something worth knowing."""

    PASSED = "passed"
    MISSED = "missed"
    ANALYSIS = "analysis"


class Safety(Enum):
    """How far the rewritten program may differ, in order."""

    EXACT = 0
    ROUNDING = 1
    ASSUMED = 2


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence about the statement at ``span`` of ``path``.

    ``also`` are the lines of other statements that were edited with it (the end of its construct).
    """

    path: str
    span: Span
    code: str
    kind: Kind
    message: str
    also: tuple[Span, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.span.first}: {self.code} [{self.kind.value}] {self.message}"


class Refusal(Exception):
    """Raised where the tool finds it must not act; caught once, in the pipeline.

    ``message`` is one sentence, capital first, no period, names in single quotes.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.message)


class InputError(Exception):
    """A user's mistake, or a file that cannot be read: ``path:line: message``, exit code 2."""

    def __init__(self, path: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.message, self.line)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: error: {self.message}"


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the table: what ``fortrans explain CODE`` prints."""

    code: str
    name: str
    title: str
    what: str
    why: str
    act: str


@cache
def codes() -> Mapping[str, Code]:
    """The table of codes, ``codes.toml``, in order; read when first asked for."""
    import tomllib
    from importlib.resources import files

    table = tomllib.loads(files("fortrans").joinpath("codes.toml").read_text("utf-8"))
    return MappingProxyType({code: Code(code, **row) for code, row in table.items()})
