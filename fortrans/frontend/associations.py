"""USE, IMPORT and IMPLICIT statements as data (F2018 14.2.2, 8.8, 8.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from fortrans.frontend.declarations import TypeSpec, type_spec
from fortrans.frontend.tokens import NAME, closing, split

_USE = re.compile(
    rf"use(?=[\s,:])\s*(?:,\s*(intrinsic|non_intrinsic)\s*)?(?:::)?\s*({NAME})\s*(?:,(.*))?$", re.I | re.S
)
_ONLY = re.compile(r"only\s*:(.*)$", re.I | re.S)
_IMPORT = re.compile(r"import\b\s*(?:,\s*(none|all|only)\s*)?(?:::|:)?\s*(.*)$", re.I | re.S)
_LETTERS = re.compile(r"([a-z])\s*(?:-\s*([a-z]))?", re.I)


@dataclass(frozen=True, slots=True)
class Use:
    """A USE statement: local name -> name in the module for ONLY items and renames.

    Operators and assignment stand as ``operator(+)`` and ``assignment(=)``, without blanks.
    """

    module: str
    only: bool
    names: Mapping[str, str]
    nature: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """An IMPORT statement; ``form`` is none, all, only or, for a plain list, the empty string."""

    form: str
    names: frozenset[str]


REAL_SPEC, INTEGER_SPEC = TypeSpec("real"), TypeSpec("integer")


@dataclass(frozen=True, slots=True)
class Implicit:
    """Implicit typing rules: what the letters mean, the default, or nothing under NONE."""

    none: bool = False
    letters: Mapping[str, TypeSpec] = field(default_factory=dict)

    def type_of(self, name: str) -> TypeSpec | None:
        """The type of an undeclared name, None under IMPLICIT NONE."""
        if (found := self.letters.get(name[0])) is not None:
            return found
        if self.none:
            return None
        return INTEGER_SPEC if "i" <= name[0] <= "n" else REAL_SPEC


@lru_cache(maxsize=4096)
def use(text: str) -> Use | None:
    """The USE statement ``text``; None when it is none."""
    match = _USE.match(text)
    if match is None:
        return None
    nature, module, rest = (part or "" for part in match.groups())
    only = _ONLY.match(rest.strip())
    names: dict[str, str] = {}
    for item in split(only.group(1) if only else rest):
        local, arrow, remote = item.partition("=>")
        if not arrow or ("(" in local and "operator" not in local.lower()):
            local, remote = item, item
        names["".join(local.lower().split())] = "".join(remote.lower().split())
    return Use(module.lower(), only is not None, names, nature.lower())


@lru_cache(maxsize=1024)
def import_(text: str) -> Import | None:
    """The IMPORT statement ``text``; None when it is none."""
    match = _IMPORT.match(text)
    if match is None:
        return None
    names = frozenset(name.lower() for name in split(match.group(2)))
    form = (match.group(1) or "").lower()
    return Import(form or ("" if names else "all"), names)


def implicit(text: str, before: Implicit) -> Implicit:
    """The rules after an IMPLICIT statement, given those before it."""
    rest = text[len("implicit") :].strip()
    if re.match(r"none\b", rest, re.I):
        listed = rest[4:].strip().strip("()").lower()
        return Implicit(none=not listed or "type" in split(listed))
    letters = dict(before.letters)
    for item in _rules(rest):
        open_ = item.rstrip().rfind("(")
        spec = type_spec(item[:open_].strip())
        if open_ < 0 or spec is None:
            continue
        for first, last in _LETTERS.findall(item[open_:]):
            for code in range(ord(first.lower()), ord((last or first).lower()) + 1):
                letters[chr(code)] = spec[0]
    return Implicit(before.none, letters)


def _rules(rest: str) -> tuple[str, ...]:
    """``real(8) (a-h, o-z), integer (i-n)`` cut into its rules."""
    return tuple(item for item in split(rest) if closing(item, item.find("(")) < len(item))
