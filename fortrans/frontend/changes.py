"""Which variables statements may define: so that what is known of their values is forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fortrans.frontend.frames import SUBPROGRAMS
from fortrans.frontend.resolve import Scopes
from fortrans.frontend.tokens import bare, words
from fortrans.frontend.units import Executable, Unit
from fortrans.ir.symbols import Intrinsic, Symbol

_HEAD = re.compile(r"[A-Za-z]\w*")
_INDEX = re.compile(r"([a-z]\w*)\s*=(?!=)")
_REFERENCE = re.compile(r"(?<![\w%])([A-Za-z]\w*)\s*\(")
_CLOSED = frozenset(
    "host use common target pointer equivalence associate volatile save asynchronous".split()
)
_HARMLESS = frozenset("continue cycle exit format".split())
_TESTS = frozenset({"if then", "guard", "select case", "print"})


class Changes:
    """What the statements of one program unit may define."""

    def __init__(self, scopes: Scopes, unit: Unit) -> None:
        self._scopes = scopes
        self._unit = unit
        self._guests = any(child.kind in SUBPROGRAMS for child in unit.children)

    def defined(self, executables: Iterable[Executable]) -> tuple[set[str], bool]:
        """The names that statements may define, and whether any variable not ``private`` may change."""
        names: set[str] = set()
        others = False
        for executable in executables:
            text = bare(executable.statement.text).lower()
            kind = executable.kind
            if kind in _HARMLESS:
                continue
            if kind == "assignment":
                match = _HEAD.match(text)
                names |= {match.group()} if match else set()
            elif kind in ("do", "do concurrent"):
                names |= set(_INDEX.findall(text))
            elif kind not in _TESTS:
                names |= set(words(text))
                others = True
            if self._calls(executable, text):
                names |= set(words(text))
                others = True
        return names, others

    def _calls(self, executable: Executable, text: str) -> bool:
        """Whether a function of the user's may be referenced: it may define what it sees, and is given."""
        scope = self._scopes.at(executable)
        whole = f"{text} {executable.condition or ''}".lower()
        return any(
            name not in _WORDS and not isinstance(scope.lookup(name), Symbol | Intrinsic)
            for name in _REFERENCE.findall(whole)
        )

    def private(self, name: str) -> bool:
        """Whether no other procedure can define this variable, unless it is given it."""
        if self._guests:
            return False
        symbol = self._scopes.of(self._unit).lookup(name)
        here = f" {self._unit.name}"
        return isinstance(symbol, Symbol) and not symbol.attributes & _CLOSED and symbol.origin.endswith(here)


_WORDS = frozenset("if elseif case concurrent local local_init shared reduce default select".split())
"""Keywords that stand before a parenthesis in these statements."""


def described(executable: Executable) -> str:
    """The statement as a message shows it: its first words."""
    text = " ".join(executable.statement.text.split())
    return f"Statement '{text if len(text) <= 40 else text[:37] + '...'}'"
