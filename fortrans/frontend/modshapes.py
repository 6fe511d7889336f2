"""Types, shapes and attributes of gfortran's module files as Fortran text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from fortrans.frontend.modfile import (
    OPERATORS,
    Attributes,
    ModuleFile,
    Record,
    Tree,
    Unclear,
    attributes_of,
    identifier,
)
from fortrans.frontend.modvalues import expression

UNKNOWN = "not_understood"
"""The statement that mentions what is not understood."""
HIDDEN = frozenset({"ARTIFICIAL", "VTYPE", "VTAB", "IS_CLASS", "UNLIMITED_POLY"})
"""Attributes of what the compiler made for itself."""

_ATTRIBUTES = {
    "ALLOCATABLE": "allocatable",
    "POINTER": "pointer",
    "TARGET": "target",
    "OPTIONAL": "optional",
    "VALUE": "value",
    "VOLATILE": "volatile",
    "ASYNCHRONOUS": "asynchronous",
    "CONTIGUOUS": "contiguous",
    "PROTECTED": "protected",
}
INTENTS = {"IN": "intent(in)", "OUT": "intent(out)", "INOUT": "intent(inout)", "UNKNOWN-INTENT": ""}


class Names(Protocol):
    """The names of a module: of each symbol the one it has there."""

    file: ModuleFile
    taken: set[str]

    def named(self, number: int) -> str:
        """The name of a symbol.  Raises Unclear for one that has none."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where names are looked up: the module."""

    writer: Names
    assumed: bool = False

    @property
    def file(self) -> ModuleFile:
        return self.writer.file

    def named(self, number: int) -> str:
        return self.writer.named(number)

    def intrinsic(self, number: int) -> str | None:
        entry = self.file.entries.get(number)
        return entry.name if entry is not None and entry.module == "(intrinsic)" else None


@dataclass(frozen=True, slots=True)
class Inside(Home):
    """A procedure in the module, whose own names hide those of the module."""

    inner: dict[int, str] = field(default_factory=dict)
    hiding: frozenset[str] = frozenset()

    def __init__(self, writer: Names, inner: dict[int, str], hiding: frozenset[str]) -> None:
        object.__setattr__(self, "writer", writer)
        object.__setattr__(self, "assumed", True)
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "hiding", hiding)

    def named(self, number: int) -> str:
        if number in self.inner:
            return self.inner[number]
        name = self.writer.named(number)
        if name in self.hiding:
            raise Unclear(name)
        return name

    def intrinsic(self, number: int) -> str | None:
        entry = self.file.entries.get(number)
        if entry is None or entry.module != "(intrinsic)":
            return None
        if entry.name in self.hiding or entry.name in self.writer.taken:
            raise Unclear(entry.name)
        return entry.name


def entity(type_: Tree, shape: Tree, attributes: Attributes, home: Home) -> list[str]:
    """The type and attributes of a data object."""
    bits = attributes.bits
    if bits & {"PROC_POINTER", "PROCEDURE"} or attributes.intent not in INTENTS:
        raise Unclear("procedure")
    words = [word for bit, word in _ATTRIBUTES.items() if bit in bits]
    if type_[0] == "CLASS":
        return _polymorphic(type_[1], words, home)
    head = [type_spec(type_, home)]
    limits = bounds(shape, home)
    if bool(limits) != ("DIMENSION" in bits):
        raise Unclear("shape")
    return [*head, *([f"dimension({limits})"] if limits else []), *words]


def _polymorphic(number: int, words: list[str], home: Home) -> list[str]:
    container = home.file.entries[number].record
    if container is None or "IS_CLASS" not in container.attributes.bits:
        raise Unclear("class")
    data = container.components[0]
    _, name, type_, shape, _, _, attributes, *_ = data
    bits = attributes_of(attributes).bits
    if name != "_data" or type_[0] != "DERIVED":
        raise Unclear("class")
    declared = home.file.entries[type_[1]].record
    if declared is None:
        raise Unclear("class")
    unlimited = "UNLIMITED_POLY" in declared.attributes.bits
    words += ["allocatable"] if "ALLOCATABLE" in bits else []
    words += ["pointer"] if "CLASS_POINTER" in bits else []
    limits = bounds(shape, home)
    shown = "*" if unlimited else home.named(type_[1])
    return [f"class({shown})", *([f"dimension({limits})"] if limits else []), *dict.fromkeys(words)]


def type_spec(tree: Tree, home: Home) -> str:
    """A type-spec.  Raises Unclear."""
    name, kind, interface, _, _, _, length, *deferred = tree
    if not isinstance(kind, int) or (interface and name != "PROCEDURE"):
        raise Unclear(name)
    match name:
        case "INTEGER" | "REAL" | "COMPLEX" | "LOGICAL":
            return f"{name.lower()}({kind})"
        case "CHARACTER":
            shown = ":" if deferred == ["DEFERRED_CL"] else _length(length, home)
            return f"character(len={shown}" + (")" if kind == 1 else f", kind={kind})")
        case "DERIVED":
            record = home.file.entries[kind].record
            if record is None or record.attributes.bits & HIDDEN or record.parameters:
                raise Unclear(name)
            return f"type({home.named(kind)})"
        case "ASSUMED":
            return "type(*)"
    raise Unclear(name)


def _length(tree: Tree, home: Home) -> str:
    (length,) = tree
    if length == ():
        if not home.assumed:
            raise Unclear("length")
        return "*"
    shown = expression(length, home)
    return shown.removesuffix("_8") if len(shown) < 10 else shown


def bounds(tree: Tree, home: Home) -> str:
    """An array-spec; "" for a scalar.  Raises Unclear."""
    if not tree:
        return ""
    rank, corank, form, *limits = tree
    if corank or (len(limits) != 2 * rank and form != "ASSUMED_RANK"):
        raise Unclear("shape")
    if form == "ASSUMED_RANK":
        return ".."
    found = []
    for at, (low, high) in enumerate(zip(limits[::2], limits[1::2], strict=True)):
        lower = expression(low, home) if low else ""
        match form:
            case "EXPLICIT":
                found.append(f"{lower}:{expression(high, home)}")
            case "ASSUMED_SHAPE" if not high:
                found.append(f"{lower}:")
            case "DEFERRED" if not high and not low:
                found.append(":")
            case "ASSUMED_SIZE":
                last = at == rank - 1
                found.append(f"{lower}:{'*' if last else expression(high, home)}")
            case _:
                raise Unclear(form)
    return ", ".join(found)


def bindings(tree: Tree) -> Iterator[str]:
    """The statements after the CONTAINS of a derived type; their procedures are not told."""
    if not tree:
        return
    finals, procedures, user, intrinsic = tree
    for label, binding in procedures:
        name = identifier(label)
        if binding[3] == "GENERIC":
            yield f"generic :: {name} => {UNKNOWN}"
        else:
            yield f"procedure :: {name}"
    for label, _ in user:
        yield f"generic :: operator(.{identifier(label)}.) => {UNKNOWN}"
    for number, _ in intrinsic:
        # In this list, unlike that of interfaces, the user's operators have a number too.
        spec = "assignment(=)" if number > len(OPERATORS) else OPERATORS[number]
        yield f"generic :: {spec} => {UNKNOWN}"
    if finals:
        yield f"final :: {UNKNOWN}"


def as_result(record: Record) -> Attributes:
    """The attributes that a function's symbol says of its result."""
    said = record.attributes
    return Attributes(said.flavor, "UNKNOWN-INTENT", said.source, said.save, said.bits - {"PROCEDURE"})


def prefix(bits: frozenset[str]) -> str:
    words = ["pure"] if "PURE" in bits else []
    if "ELEMENTAL" in bits:
        words = [*(words or ["impure"]), "elemental"]
    if "RECURSIVE" in bits:
        words.append("recursive")
    return "".join(f"{word} " for word in words)
