"""DO and DO CONCURRENT statements, and OpenMP's loop directives, as their parts (F2018 11.1.7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fortrans.frontend.declarations import type_spec
from fortrans.frontend.expressions import convert
from fortrans.frontend.parse import expression
from fortrans.frontend.tokens import NAME, closing, colon, split
from fortrans.frontend.units import Executable, Program
from fortrans.ir.expr import ONE, Expr
from fortrans.ir.loops import Locality
from fortrans.remarks import Refusal

_DO = re.compile(rf"(?:{NAME}\s*:\s*)?do\s*(?:\d+)?\s*,?\s*({NAME})\s*=\s*(.*)$", re.IGNORECASE | re.DOTALL)
_CONCURRENT = re.compile(rf"(?:{NAME}\s*:\s*)?do\s*(?:\d+)?\s*,?\s*concurrent\s*\(", re.IGNORECASE)
_INDEX = re.compile(rf"({NAME})\s*=(?!=)\s*(.*)$", re.DOTALL)
_LOCALITY = re.compile(r"(local_init|local|shared|reduce|default)\s*\(", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(private|firstprivate|lastprivate|linear|reduction|shared|default|collapse)\s*\(", re.IGNORECASE
)

SERIAL = re.compile(r"omp (?:\w+ )*(?:do|simd)\b")
"""Directives that give a loop no other result than it has without them."""


@dataclass(frozen=True, slots=True)
class Range:
    """``name = first, last, step`` as written."""

    name: str
    first: Expr
    last: Expr
    step: Expr = ONE


@dataclass(frozen=True, slots=True)
class Header:
    """A loop's control.  ``typed``: the indices are declared in the header."""

    ranges: tuple[Range, ...]
    mask: Expr | None = None
    locality: Locality = field(default_factory=Locality)
    typed: bool = False


def _read(text: str) -> Expr:
    return convert(expression(text.strip()))


def do(text: str) -> Header | None:
    """The header of a DO statement; None without an index (an endless loop).  Raises Refusal."""
    match = _DO.match(text)
    if match is None:
        return None
    limits = split(match.group(2))
    if len(limits) not in (2, 3):
        raise Refusal("FT002", "DO statement cannot be read")
    return Header((Range(match.group(1).lower(), *map(_read, limits)),))


def concurrent(text: str) -> Header:
    """The header of a DO CONCURRENT statement with its locality specs.  Raises Refusal."""
    match = _CONCURRENT.match(text)
    if match is None:
        raise Refusal("FT002", "DO CONCURRENT statement cannot be read")
    end = closing(text, match.end() - 1)
    inside = text[match.end() : end]
    spec = type_spec(inside.lstrip())
    typed = spec is not None and spec[1].lstrip().startswith("::")
    if spec is not None and typed:
        inside = spec[1].lstrip()[2:]
    ranges: list[Range] = []
    mask: Expr | None = None
    for item in split(inside):
        found = _INDEX.match(item)
        if found is None:
            mask = _read(item)
            continue
        ranges.append(Range(found.group(1).lower(), *map(_read, _limits(found.group(2)))))
    if not ranges:
        raise Refusal("FT002", "DO CONCURRENT statement has no index")
    return Header(tuple(ranges), mask, _locality(text[end + 1 :]), typed)


def _limits(text: str) -> tuple[str, ...]:
    pieces: list[str] = []
    while (at := colon(text)) >= 0:
        pieces.append(text[:at])
        text = text[at + 1 :]
    if len(pieces) not in (1, 2):
        raise Refusal("FT002", "DO CONCURRENT statement cannot be read")
    return (*pieces, text)


def _locality(text: str) -> Locality:
    own: set[str] = set()
    shared: set[str] = set()
    reduced: set[str] = set()
    for word, names in _lists(_LOCALITY.finditer(text), text):
        match word:
            case "local" | "local_init":
                own |= names
            case "shared":
                shared |= names
            case "reduce":
                reduced |= names
    return Locality(frozenset(own), frozenset(shared), frozenset(reduced))


def directive(text: str) -> tuple[Locality, int]:
    """The data clauses of an OpenMP loop directive, and how many loops it takes (COLLAPSE)."""
    own: set[str] = set()
    shared: set[str] = set()
    reduced: set[str] = set()
    strict, loops = True, 1
    for word, names in _lists(_CLAUSE.finditer(text), text):
        match word:
            case "private" | "firstprivate" | "lastprivate" | "linear":
                own |= names
            case "reduction":
                reduced |= names
            case "shared":
                shared |= names
            case "default":
                strict = not names & {"private", "firstprivate"}
            case "collapse":
                loops = next((int(name) for name in names if name.isdigit()), 1)
    return Locality(frozenset(own), frozenset(shared), frozenset(reduced), strict), loops


def parallel(
    program: Program, executable: Executable, own: Locality, outer: str | None
) -> tuple[Locality, str]:
    """The locality of a loop's variables, and the OpenMP directive that runs it in parallel or "".

    ``own`` are its locality specs, ``outer`` the region of the loop around it.
    """
    region = executable.region
    if region is None or region == outer or not region.startswith("omp parallel do"):
        return own, ""
    for statement in reversed(program.statements[: executable.statement.ordinal]):
        if statement.form == "directive":
            locality, loops = directive(statement.text)
            return locality, f"{region} collapse({loops})" if loops > 1 else region
    return own, ""


def _lists(matches: Iterable[re.Match[str]], text: str) -> Iterable[tuple[str, set[str]]]:
    """Each spec's word and the names in its parentheses, those before a colon left out."""
    for match in matches:
        inside = text[match.end() : closing(text, match.end() - 1)]
        word = match.group(1).lower()
        if word in ("reduce", "reduction") and (at := colon(inside)) >= 0:
            inside = inside[at + 1 :]
        elif word == "linear":
            inside = inside.partition(":")[0]
        yield word, {name.strip().lower() for name in split(inside)}


def governs(region: str | None) -> bool:
    """Whether a directive's region may give a statement another meaning."""
    return region is not None and region.startswith(("omp", "acc"))
