"""A second version of a procedure: its own text, under another name, some dummies of explicit shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fortrans.frontend.classify import classify
from fortrans.frontend.declarations import facts, type_spec
from fortrans.frontend.lines import Statement
from fortrans.frontend.nesting import interface
from fortrans.frontend.procedures import directive
from fortrans.frontend.tokens import NAME, closing, find, split, words
from fortrans.frontend.units import Program, Unit
from fortrans.remarks import Refusal
from fortrans.source import Edit, Span

_KEPT = frozenset({"pure", "impure", "recursive", "non_recursive"})
_BEFORE = frozenset({"use", "import", "implicit"})


def header(unit: Unit, name: str, extents: Sequence[str], array: bool) -> str:
    """The opening statement of the version called ``name``, the extents first among its dummies.

    ``array``: a function's result is an array, and becomes the last dummy of a subroutine.
    """
    assert unit.opening is not None
    text = unit.opening.text
    kind = "function" if unit.kind == "function" else "subroutine"
    match = re.search(rf"\b({kind})\s+{unit.name}\b\s*", text, re.IGNORECASE)
    assert match is not None
    prefix = re.sub(r"\bmodule\b\s*", "", text[: match.start()], flags=re.IGNORECASE)
    end = closing(text, match.end())
    dummies = [*extents, *split(text[match.end() + 1 : end])]
    if kind == "subroutine":
        return f"{prefix}{match[1]} {name}({', '.join(dummies)})"
    result = _spelled(unit)[unit.result or unit.name]
    if not array:
        return f"{prefix}{match[1]} {name}({', '.join(dummies)}) result({result})"
    kept = [word for word in re.findall(NAME, prefix) if word.lower() in _KEPT]
    words = " ".join([*kept, _cased("subroutine", match[1])])
    return f"{words} {name}({', '.join([*dummies, result])})"


def _cased(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word


def _spelled(unit: Unit) -> dict[str, str]:
    """The names in the opening statement, by their lower case."""
    text = unit.opening.text if unit.opening else ""
    return {word.lower(): word for word in re.findall(NAME, text)}


def actuals(unit: Unit) -> tuple[str, ...]:
    """The dummies as the opening statement spells them."""
    assert unit.opening is not None
    text = unit.opening.text
    dummies, _ = interface(text, classify(text))
    spelled = _spelled(unit)
    return tuple(spelled.get(name, name) for name in dummies)


def edits(
    program: Program,
    unit: Unit,
    name: str,
    bounds: Mapping[str, tuple[str, ...]],
    extents: Sequence[str],
    declaration: str,
    array: bool,
) -> Iterator[Edit]:
    """What turns the procedure's lines into its version called ``name``.

    ``bounds`` gives the explicit bounds of each dummy, ``extents`` the names of the extents in
    the dummies' order, ``declaration`` declares those; ``array``: see ``header``.  Raises Refusal
    (FT514) where a declaration cannot be changed.
    """
    assert unit.opening is not None and unit.closing is not None
    yield _line(unit.opening, header(unit, name, extents, array))
    end = unit.closing
    kind = "function" if unit.kind == "function" and not array else "subroutine"
    yield _line(end, f"{end.text[:3]} {_cased(kind, end.text[:3])} {name}")
    declared = False
    for statement in unit.specification:
        first = words(statement.text)[:1]
        if not declared and (not first or first[0] not in _BEFORE):
            declared = True
            line = statement.span.first
            added = ["!fortrans$ norepack", declaration]
            if array:  # A pure subroutine wants an intent of each dummy.
                added.append(_cased(f"intent(inout) :: {unit.result}", end.text[:3]))
            yield Edit(Span(line, line - 1), "".join(f"{statement.indent}{text}\n" for text in added))
        text = statement.text
        for dummy, explicit in bounds.items():
            if any(fact.name == dummy and fact.bounds is not None for fact in facts(text)):
                text = reshaped(text, dummy, explicit)
        if text != statement.text:
            if statement.siblings > 1 or statement.sentinel:
                why = "a declaration shares its line"
                raise Refusal("FT514", f"No version of '{unit.name}' can be made, since {why}")
            yield _line(statement, text)
    contains = unit.contains or unit.closing
    for number in range(unit.opening.span.last + 1, contains.span.first):
        if directive(program.lines[number - 1]):
            yield Edit(Span(number, number), "")


def _line(statement: Statement, text: str) -> Edit:
    return Edit(statement.span, f"{statement.indent}{text}\n")


def reshaped(text: str, name: str, bounds: Sequence[str]) -> str:
    """A declaration with the array-spec of ``name`` replaced."""
    at = find(text, "::")
    if at >= 0:
        at += 2
    elif (head := type_spec(text)) is not None:
        at = len(text) - len(head[1])
    else:
        word = re.match(NAME, text)
        at = word.end() if word else 0
    spec = f"({', '.join(bounds)})"
    entities = [_entity(entity, name, spec) for entity in split(text[at:])]
    return f"{text[:at].rstrip()} {', '.join(entities)}"


def _entity(entity: str, name: str, spec: str) -> str:
    match = re.match(NAME, entity)
    if match is None or match[0].lower() != name:
        return entity
    rest = entity[match.end() :].lstrip()
    if rest.startswith("("):
        rest = rest[closing(rest, 0) + 1 :]
    return f"{match[0]}{spec}{rest}"


def explicit(bounds: Sequence[str], extents: Sequence[str]) -> tuple[str, ...]:
    """Bounds ``:`` and ``lower:`` made explicit with the extents."""
    found = []
    for bound, extent in zip(bounds, extents):
        lower = bound.partition(":")[0].strip()
        if lower in ("", "1"):
            found.append(extent)
        else:
            base = lower if re.fullmatch(r"\w+", lower) else f"({lower})"
            found.append(f"{lower}:{extent} - 1" if lower == "0" else f"{lower}:{base} + {extent} - 1")
    return tuple(found)
