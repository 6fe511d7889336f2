"""gfortran's module files as data: gzip-compressed lists of symbols, versions 15 and 16.

A file says of each symbol its attributes, type, shape, dummy arguments and components, by numbers
that symbols have in that file.  A symbol whose record is not understood is kept by its name alone.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fortrans.remarks import InputError

VERSIONS = ("15", "16")
"""Version 15 is that of gfortran 8 to 14, version 16 that of gfortran 15."""
LIMIT = 1 << 28
"""Bytes of text above which a file is not read."""

_HEADER = re.compile(r"GFORTRAN module version '([^'\n]*)'[^\n]*\n")
_ATOM = re.compile(r"\s*(?:(\()|(\))|'((?:[^']|'')*)'|(-?\d+)(?![\w.])|([A-Za-z_][\w-]*))")
_BITS = frozenset(
    "ALLOCATABLE ARTIFICIAL ASYNCHRONOUS DIMENSION CONTIGUOUS EXTERNAL INTRINSIC OPTIONAL POINTER"
    " VOLATILE TARGET THREADPRIVATE DUMMY RESULT DATA IN_NAMELIST IN_COMMON FUNCTION SUBROUTINE SEQUENCE"
    " ELEMENTAL PURE RECURSIVE GENERIC ALWAYS_EXPLICIT IS_BIND_C IS_C_INTEROP IS_ISO_C VALUE ALLOC_COMP"
    " COARRAY_COMP LOCK_COMP EVENT_COMP POINTER_COMP PROC_POINTER_COMP PRIVATE_COMP ZERO_COMP PROTECTED"
    " ABSTRACT IS_CLASS PROCEDURE PROC_POINTER VTYPE VTAB CLASS_POINTER IMPLICIT_PURE UNLIMITED_POLY"
    " OMP_DECLARE_TARGET OMP_DECLARE_TARGET_LINK ARRAY_OUTER_DEPENDENCY MODULE_PROCEDURE"
    " OACC_DECLARE_CREATE OACC_DECLARE_COPYIN OACC_DECLARE_DEVICEPTR OACC_DECLARE_DEVICE_RESIDENT"
    " OACC_DECLARE_LINK OACC_ROUTINE_LOP_GANG OACC_ROUTINE_LOP_WORKER OACC_ROUTINE_LOP_VECTOR"
    " OACC_ROUTINE_LOP_SEQ OACC_ROUTINE_NOHOST OMP_DEVICE_TYPE_HOST OMP_DEVICE_TYPE_NOHOST"
    " OMP_DEVICE_TYPE_ANYHOST".split()
)
"""Attributes that are understood, or say nothing about the meaning of a name."""

NAME = re.compile(r"[A-Za-z][\w$]*")

Tree = Any
"""``Quoted``, ``str`` (a word), ``int``, or a tuple of trees."""


class Quoted(str):
    """A string of the file, as opposed to a word."""

    __slots__ = ()


class Unclear(ValueError):
    """A record that is not understood: nothing is known of what it describes."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of a symbol or component, in the words of the file."""

    flavor: str
    intent: str
    source: str
    save: str
    bits: frozenset[str]


@dataclass(frozen=True, slots=True)
class Record:
    """What the file says of one symbol; trees are not yet understood."""

    attributes: Attributes
    components: tuple[Tree, ...]
    type: Tree
    space: int
    dummies: tuple[int, ...]
    value: Tree
    shape: Tree
    result: int
    bound: Tree
    parameters: Tree
    group: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A symbol: ``name`` lower case, ``kind`` tells a derived type; ``record`` None when not understood.

    ``module`` is "" for what belongs to a procedure, ``space`` the number of the scope it is in
    (1: the module's own).
    """

    number: int
    name: str
    derived: bool
    module: str
    space: int
    record: Record | None


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module file.  ``operators`` are generic specs; ``names`` the accessible names in order."""

    operators: tuple[str, ...]
    generics: tuple[tuple[str, str, tuple[int, ...]], ...]
    equivalent: tuple[tuple[int, ...], ...]
    entries: Mapping[int, Entry]
    names: tuple[tuple[str, bool, int], ...]


OPERATORS = (
    "operator(+) operator(-) operator(+) operator(-) operator(*) operator(/) operator(**) operator(//)"
    " operator(.and.) operator(.or.) operator(.eqv.) operator(.neqv.) operator(==) operator(/=)"
    " operator(>) operator(>=) operator(<) operator(<=) operator(==) operator(/=) operator(>)"
    " operator(>=) operator(<) operator(<=) operator(.not.)".split()
)
"""Generic specs in the order of the file; after them comes assignment."""


def read(path: str, data: bytes) -> ModuleFile:
    """The content of a module file.

    Raises InputError, naming ``path``, for what is no module file of a known version, or is
    truncated or damaged.
    """
    text = _text(path, data)
    header = _HEADER.match(text)
    if header is None:
        raise InputError(path, "File is not a module file of gfortran's")
    if header[1] not in VERSIONS:
        raise InputError(path, f"Module file has version '{header[1]}', versions 15 and 16 are read")
    try:
        return _module(_trees(text, header.end()))
    except (ValueError, TypeError, LookupError) as error:
        raise InputError(path, "Module file is damaged") from error


def _text(path: str, data: bytes) -> str:
    decoder = zlib.decompressobj(31)
    try:
        text = decoder.decompress(data, LIMIT)
    except zlib.error as error:
        raise InputError(path, "File is not a module file of gfortran's, or is damaged") from error
    if decoder.unconsumed_tail:
        raise InputError(path, "Module file is too long")
    if not decoder.eof:
        raise InputError(path, "Module file is truncated")
    return text.decode("latin-1")


def _trees(text: str, start: int) -> list[Tree]:
    """The lists of the file, read without recursion."""
    open_: list[list[Tree]] = [[]]
    end = len(text.rstrip())
    while start < end:
        match = _ATOM.match(text, start)
        if match is None:
            raise Unclear(text[start : start + 20])
        start = match.end()
        match match.lastindex:
            case 1:
                open_.append([])
            case 2:
                done = tuple(open_.pop())
                if not open_:
                    raise Unclear(")")
                open_[-1].append(done)
            case 3:
                open_[-1].append(Quoted(match[3].replace("''", "'")))
            case 4:
                open_[-1].append(int(match[4]))
            case _:
                open_[-1].append(match[5])
    if len(open_) != 1:
        raise Unclear("(")
    return open_[0]


def _module(trees: list[Tree]) -> ModuleFile:
    """The lists: operators, user operators, generics, COMMON, EQUIVALENCE, ..., symbols, names.

    What a version has between EQUIVALENCE and the symbols is OpenMP's.
    """
    if len(trees) < 8 or not all(isinstance(tree, tuple) for tree in trees):
        raise Unclear("too few lists")
    intrinsic, user, generics, _, equivalent = trees[:5]
    symbols, names = trees[-2:]
    if len(intrinsic) < len(OPERATORS) + 1 or len(symbols) % 6 or len(names) % 3:
        raise Unclear("lists of another length")
    specs = [spec for spec, found in zip(OPERATORS, intrinsic, strict=False) if found]
    if intrinsic[len(OPERATORS)]:
        specs.append("assignment(=)")
    specs += [f"operator(.{identifier(name)}.)" for name, *_ in user]
    entries = [_entry(*symbols[at : at + 6]) for at in range(0, len(symbols), 6)]
    return ModuleFile(
        tuple(dict.fromkeys(specs)),
        tuple(
            (name.lower(), _quoted(module), _numbers(rest))
            for name, module, *rest in generics
            if NAME.fullmatch(_quoted(name))
        ),
        tuple(_equivalent(group) for group in equivalent),
        {entry.number: entry for entry in entries},
        tuple(
            (_quoted(names[at]), names[at + 1] != 0, _number(names[at + 2]))
            for at in range(0, len(names), 3)
            if NAME.fullmatch(_quoted(names[at]))
        ),
    )


def _equivalent(group: Tree) -> tuple[int, ...]:
    """The symbols that one EQUIVALENCE names: pairs of a module and a variable."""
    found = []
    for variable in group[1::2]:
        if variable[0] != "VARIABLE":
            raise Unclear("equivalence")
        found.append(_number(variable[3]))
    return tuple(found)


def _entry(number: Tree, name: Tree, module: Tree, label: Tree, space: Tree, info: Tree) -> Entry:
    _quoted(label)
    try:
        record = _record(info)
    except (ValueError, TypeError, LookupError):
        record = None
    # Names that no program can have are the compiler's own.
    shown = _quoted(name) if NAME.fullmatch(_quoted(name)) else "@"
    derived = shown[:1].isupper()
    return Entry(_number(number), shown.lower(), derived, _quoted(module).lower(), _number(space), record)


def _record(info: Tree) -> Record:
    rest = list(info)
    attributes = attributes_of(rest.pop(0))
    components = _list(rest.pop(0))
    if components:
        rest.pop(0)  # whether components are PRIVATE: none is named where that matters
    type_ = _list(rest.pop(0))
    space, _ = _number(rest.pop(0)), _number(rest.pop(0))
    dummies = _numbers(_list(rest.pop(0)))
    value = _list(rest.pop(0)) if attributes.flavor == "PARAMETER" else ()
    shape, result = _list(rest.pop(0)), _number(rest.pop(0))
    bound, parameters, group = (_list(rest.pop(0)) for _ in range(3))
    _numbers(rest[:2])
    return Record(
        attributes, components, type_, space, dummies, value, shape, result, bound, parameters,
        _numbers(group),
    )  # fmt: skip


def attributes_of(tree: Tree) -> Attributes:
    """The attributes that a list says.  Raises Unclear for one that is not known."""
    flavor, intent, procedure, source, save, external, extension, *bits = _list(tree)
    if not _BITS.issuperset(bits) or not all(
        isinstance(word, str) for word in (flavor, intent, procedure, source, save)
    ):
        raise Unclear("attributes")
    _numbers([external, extension])
    if external:  # a directive of the compiler's, like NO_ARG_CHECK
        raise Unclear("attributes")
    return Attributes(flavor, intent, source, save, frozenset(bits))


def _list(tree: Tree) -> tuple[Tree, ...]:
    if not isinstance(tree, tuple):
        raise Unclear("no list")
    return tree


def _quoted(tree: Tree) -> str:
    if not isinstance(tree, Quoted):
        raise Unclear("no string")
    return str(tree)


def identifier(tree: Tree) -> str:
    """A name.  Raises Unclear for a string that is none."""
    if not isinstance(tree, Quoted) or NAME.fullmatch(tree) is None:
        raise Unclear("no name")
    return tree.lower()


def _number(tree: Tree) -> int:
    if not isinstance(tree, int):
        raise Unclear("no number")
    return tree


def _numbers(trees: Any) -> tuple[int, ...]:
    return tuple(_number(tree) for tree in trees)
