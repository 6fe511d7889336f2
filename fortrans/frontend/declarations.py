"""One specification statement -> what it says about each name (F2018 chapter 8).

Only text is read here: expressions stay text until somebody asks for them.  A statement that is
not understood says nothing, and ``facts`` then answers with the names it mentions marked
``unknown``, so that none of them is taken for something it may not be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from fortrans.frontend.tokens import NAME, closing, find, split, words
from fortrans.ir.symbols import Intent


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A type-spec as text.

    ``name`` as in ``ir.symbols.Type``, or ``procedure`` with the interface's name in ``derived``
    (None when there is none).  ``kind`` and ``length`` are expression texts; ``stars`` is the
    number of bytes of ``real*8``.  ``double precision`` is a real whose ``kind`` is None and
    ``stars`` 0.
    """

    name: str
    kind: str | None = None
    stars: int | None = None
    length: str | None = None
    derived: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What one statement says about ``name`` (lower case).

    ``bounds`` are the texts of the array-spec; ``initial`` that of the initialisation or, for a
    statement function (attribute ``statement``), of its expression, ``arguments`` then being its
    dummy arguments.  Besides those of ``ir.symbols.Symbol``, attributes may be: external
    intrinsic public private statement group (a NAMELIST group) kind len unknown.
    """

    name: str
    spec: TypeSpec | None = None
    attributes: frozenset[str] = frozenset()
    bounds: tuple[str, ...] | None = None
    intent: Intent | None = None
    initial: str | None = None
    arguments: tuple[str, ...] = ()


ACCESS = frozenset({"public", "private"})
ADDED = frozenset({"asynchronous", "volatile", "namelist"})
"""What may be said of a name that is declared elsewhere."""
_INTRINSIC_TYPE = re.compile(
    r"(double\s*precision|double\s*complex|integer|real|complex|logical|character|byte)"
    r"(?![A-Za-z0-9_$%])",
    re.I,
)
_PARENTHESISED = re.compile(r"(type|class|procedure)\s*\(", re.I)
_WORD = re.compile(NAME)
_STATEMENT_FUNCTION = re.compile(rf"({NAME})\s*\(([\w\s,$]*)\)\s*=(?![=>])(.*)", re.S)
_LENGTH = re.compile(r"\s*\*\s*(?:(\d+)(?:_\w+)?|\()")
_ATTRIBUTES = frozenset(
    "allocatable pointer target optional save volatile asynchronous contiguous value protected "
    "external intrinsic public private parameter".split()
)
_SHAPED = frozenset("dimension allocatable pointer target contiguous".split())
_SILENT = frozenset(
    "use import implicit data format include interface end contains sequence enum bind generic "
    "final procedure type class abstract entry module static automatic block define undef".split()
)


@lru_cache(maxsize=65536)
def facts(text: str) -> tuple[Fact, ...]:
    """What a specification statement says, one Fact per name and mention."""
    if _STATEMENT_FUNCTION.match(text) and (function := statement_function(text)):
        return (function,)
    if _INTRINSIC_TYPE.match(text) or _PARENTHESISED.match(text):
        declared = type_declaration(text)
        if declared is not None:
            return declared
    word = _WORD.match(text)
    if word is None:
        return ()
    keyword = word.group().lower()
    rest = text[word.end() :].strip()
    if keyword in _SILENT:
        return ()
    try:
        found = _attribute_statement(keyword, rest)
    except ValueError:  # an Intent, a list or a name that is none
        found = None
    if found is None:
        return tuple(Fact(name, attributes=frozenset({"unknown"})) for name in set(words(text)))
    return found


def type_spec(text: str) -> tuple[TypeSpec, str] | None:
    """The type-spec that ``text`` begins with, and what follows it; None when there is none."""
    if match := _PARENTHESISED.match(text):
        end = closing(text, match.end() - 1)
        inside = text[match.end() : end].strip()
        rest = text[end + 1 :]
        name = match.group(1).lower()
        if name == "type" and _INTRINSIC_TYPE.match(inside):
            inner = type_spec(inside)
            return None if inner is None else (inner[0], rest)
        if name == "procedure" and (inner := type_spec(inside)):
            return TypeSpec("procedure"), rest
        return TypeSpec(name, derived=inside.lower() or None), rest
    match = _INTRINSIC_TYPE.match(text)
    if match is None:
        return None
    name = "".join(match.group(1).lower().split())
    rest = text[match.end() :].lstrip()
    if name == "doubleprecision":
        return TypeSpec("real", stars=0), rest
    if name == "doublecomplex":
        return TypeSpec("complex", stars=0), rest
    if name == "byte":
        return TypeSpec("integer", stars=1), rest
    if rest.startswith("*"):
        return _starred(name, rest)
    if not rest.startswith("("):
        return TypeSpec(name), rest
    end = closing(rest, 0)
    return _selector(name, split(rest[1:end])), rest[end + 1 :]


def _starred(name: str, rest: str) -> tuple[TypeSpec, str] | None:
    match = _LENGTH.match(rest)
    if match is None:
        return None
    if match.group(1) is None:
        end = closing(rest, match.end() - 1)
        length, rest = rest[match.end() : end].strip(), rest[end + 1 :]
    else:
        length, rest = match.group(1), rest[match.end() :]
    if name == "character":
        return TypeSpec(name, length=length), rest
    return (TypeSpec(name, stars=int(length)), rest) if length.isdigit() else None


def _selector(name: str, parts: tuple[str, ...]) -> TypeSpec:
    """The parts of a kind- or char-selector, positional or by keyword."""
    kind = length = None
    for position, part in enumerate(parts):
        key, equals, value = part.partition("=")
        keyword = key.strip().lower()
        if equals and keyword in ("kind", "len"):
            if keyword == "kind":
                kind = value.strip()
            else:
                length = value.strip()
        elif name == "character" and position == 0:
            length = part
        else:
            kind = part
    return TypeSpec(name, kind, length=length)


def type_declaration(text: str) -> tuple[Fact, ...] | None:
    """``type-spec [, attributes] [::] entities``; None when ``text`` is no such statement."""
    head = type_spec(text)
    if head is None:
        return None
    spec, rest = head
    rest = rest.strip()
    shared = Fact("", spec)
    if (colons := find(rest, "::")) >= 0:
        attributes = rest[:colons].strip()
        if attributes and not attributes.startswith(","):
            return None
        for attribute in split(attributes[1:]):
            shared = _with_attribute(shared, attribute)
        rest = rest[colons + 2 :]
    else:
        rest = rest.removeprefix(",").lstrip() if spec.name == "character" else rest
        if not _WORD.match(rest):
            return None
    found = []
    for entity in split(rest):
        if (fact := _entity(shared, entity)) is None:
            return None
        found.append(fact)
    return tuple(found)


def _with_attribute(fact: Fact, text: str) -> Fact:
    word = _WORD.match(text)
    if word is None:
        return replace(fact, attributes=fact.attributes | {"unknown"})
    name = word.group().lower()
    rest = text[word.end() :].strip()
    if name == "dimension":
        return _shaped(fact, split(rest[1:-1]))
    if name == "intent":
        return replace(fact, intent=_intent(rest))
    return replace(fact, attributes=fact.attributes | {name})


def _intent(text: str) -> Intent | None:
    word = "".join(text.strip("() \t").lower().split())
    # What is no INTENT is no Fortran either; without one, nothing is taken for granted of the dummy.
    return Intent(word) if word in {intent.value for intent in Intent} else None


def _shaped(fact: Fact, bounds: tuple[str, ...]) -> Fact:
    return replace(fact, bounds=bounds)


def _entity(shared: Fact, text: str) -> Fact | None:
    """One entity-decl: ``name (array-spec) [coarray-spec] *length = initialisation``."""
    word = _WORD.match(text)
    if word is None:
        return None
    fact = replace(shared, name=word.group().lower())
    rest = text[word.end() :].lstrip()
    while rest:
        if rest[0] == "(":
            end = closing(rest, 0)
            fact, rest = _shaped(fact, split(rest[1:end])), rest[end + 1 :].lstrip()
        elif rest[0] == "[":
            end = closing(rest, 0)
            fact = replace(fact, attributes=fact.attributes | {"codimension"})
            rest = rest[end + 1 :].lstrip()
        elif rest[0] == "*" and fact.spec is not None:
            starred = _starred(fact.spec.name, rest)
            if starred is None:
                return None
            fact = replace(
                fact,
                spec=replace(fact.spec, length=starred[0].length)
                if fact.spec.name == "character"
                else starred[0],
            )
            rest = starred[1].lstrip()
        elif rest[0] == "=":
            return replace(fact, initial=rest.lstrip("=>").strip())
        elif rest[0] == "/":
            return fact
        else:
            return None
    return fact


def _attribute_statement(keyword: str, rest: str) -> tuple[Fact, ...] | None:
    """Statements that give attributes to names; None when the statement is not one of them."""
    if rest.startswith("::"):
        rest = rest[2:].strip()
    match keyword:
        case "parameter":
            return tuple(_parameter(part) for part in split(rest[1 : closing(rest, 0)]))
        case "intent":
            end = closing(rest, 0)
            shared = Fact("", intent=_intent(rest[: end + 1]))
            return _names(shared, rest[end + 1 :].strip().removeprefix("::"))
        case "common":
            return _common(rest)
        case "equivalence":
            attributes = frozenset({"equivalence"})
            sets = [split(part.strip()[1:-1]) for part in split(rest)]
            return tuple(
                Fact(_leading(item), attributes=attributes) for items in sets for item in items
            )
        case "namelist":
            return _namelist(rest)
        case "codimension":
            return tuple(
                Fact(_leading(part), attributes=frozenset({"codimension"})) for part in split(rest)
            )
        case "enumerator":
            return _enumerators(rest)
        case "pointer" if rest.startswith("("):
            return _cray(rest)
        case "save" | "public" | "private" if not rest:
            return ()
        case "public" | "private":
            return tuple(
                Fact("".join(part.lower().split()), attributes=frozenset({keyword}))
                for part in split(rest)
            )
        case "save":
            parts = [part for part in split(rest) if not part.startswith("/")]
            return _names(Fact("", attributes=frozenset({"save"})), ",".join(parts))
        case "dimension":
            return _names(Fact(""), rest)
        case _ if keyword in _ATTRIBUTES:
            return _names(Fact("", attributes=frozenset({keyword})), rest)
    return None


def _names(shared: Fact, rest: str) -> tuple[Fact, ...]:
    found = [_entity(shared, part) for part in split(rest)]
    if any(fact is None for fact in found):
        raise ValueError(rest)
    return tuple(fact for fact in found if fact is not None)


def _leading(text: str) -> str:
    word = _WORD.match(text.strip())
    if word is None:
        raise ValueError(text)
    return word.group().lower()


def _parameter(text: str) -> Fact:
    at = find(text, "=")
    value = text[at + 1 :].strip() if at >= 0 else None
    return Fact(_leading(text), attributes=frozenset({"parameter"}), initial=value)


def _common(rest: str) -> tuple[Fact, ...]:
    objects = re.sub(r"/[^/]*/", ",", rest)
    pieces = ",".join(part for part in split(objects) if part)
    return _names(Fact("", attributes=frozenset({"common"})), pieces)


def _namelist(rest: str) -> tuple[Fact, ...]:
    pieces = [piece.strip() for piece in rest.split("/")]
    found = []
    for group, items in zip(pieces[1::2], pieces[2::2]):
        found.append(Fact(_leading(group), attributes=frozenset({"group"})))
        for item in split(items.strip(", ")):
            found.append(Fact(_leading(item), attributes=frozenset({"namelist"})))
    return tuple(found)


def _enumerators(rest: str) -> tuple[Fact, ...]:
    found: list[Fact] = []
    for part in split(rest):
        fact = _entity(Fact("", TypeSpec("integer"), frozenset({"parameter"})), part)
        if fact is None:
            raise ValueError(rest)
        if fact.initial is None and found and found[-1].initial is not None:
            fact = replace(fact, initial=f"({found[-1].initial}) + 1")
        found.append(fact)
    return tuple(found)


def _cray(rest: str) -> tuple[Fact, ...]:
    """``pointer (p, x)``: x may lie anywhere, so it is a pointer and a target."""
    found = []
    for pair in split(rest):
        pointer, pointee = split(pair.strip()[1:-1])
        found.append(Fact(_leading(pointer), TypeSpec("integer", stars=8)))
        shared = Fact("", attributes=frozenset({"pointer", "target", "equivalence"}))
        found += _names(shared, pointee)
    return tuple(found)


def statement_function(text: str) -> Fact | None:
    """The statement function that ``text`` defines, if it can be one (15.6.4)."""
    match = _STATEMENT_FUNCTION.match(text)
    if match is None:
        return None
    arguments = tuple(part.lower() for part in split(match.group(2)))
    if not all(_WORD.fullmatch(part) for part in arguments):
        return None
    return Fact(
        match.group(1).lower(),
        attributes=frozenset({"statement"}),
        initial=match.group(3).strip(),
        arguments=arguments,
    )


def alike(said: tuple[tuple[Fact, bool], ...]) -> bool:
    """Whether branches of ``#if`` declare one named constant with different values only."""
    facts_ = {replace(fact, initial=None) for fact, _ in said}
    constant = all("parameter" in fact.attributes and fact.bounds is None for fact, _ in said)
    return len(facts_) == 1 and len(said) > 1 and constant


def declares(fact: Fact) -> bool:
    """Whether a fact makes its name local, rather than only adding to what it is."""
    if fact.spec or fact.bounds is not None or fact.intent or fact.initial is not None:
        return True
    return bool(fact.attributes - ACCESS - ADDED) or not fact.attributes
