"""Expressions and constants of gfortran's module files as Fortran text."""

from __future__ import annotations

import re
from typing import Protocol

from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.modfile import Quoted, Tree, Unclear, identifier

_BINARY = {
    "PLUS": "+",
    "MINUS": "-",
    "TIMES": "*",
    "DIVIDE": "/",
    "POWER": "**",
    "CONCAT": "//",
    "AND": ".and.",
    "OR": ".or.",
    "EQV": ".eqv.",
    "NEQV": ".neqv.",
    "EQ": "==",
    "NE": "/=",
    "GT": ">",
    "GE": ">=",
    "LT": "<",
    "LE": "<=",
}
_UNARY = {"UPLUS": "+", "UMINUS": "-", "NOT": ".not. ", "PARENTHESES": ""}
_HEX = re.compile(r"(-?)0\.([0-9a-f]*)@(-?\d+)")
_CONVERSION = re.compile(r"__convert_[ir]\d+_i(\d+)")
_ELEMENTS = 64
"""An array constant with more elements has no value in the text: nobody needs it."""


class Namer(Protocol):
    """The names that symbols have where an expression stands."""

    def named(self, number: int) -> str:
        """The name of a symbol.  Raises Unclear."""

    def intrinsic(self, number: int) -> str | None:
        """The name of an intrinsic procedure; None for another symbol.  Raises Unclear where hidden."""


def expression(tree: Tree, home: Namer) -> str:
    """An expression of a bound or length.  Raises Unclear for what is not understood."""
    match tree:
        case ("CONSTANT", *_):
            value = constant(tree)
            if value is None:
                raise Unclear("constant")
            return value
        case ("VARIABLE", _, _, int(number), (), *_):
            return home.named(number)
        case ("VARIABLE", _, _, int(number), (("ARRAY", ("FULL", *_)),), *_):
            return home.named(number)
        case ("OP", _, _, str(word), *operands):
            return _operation(word.removesuffix("_SIGN"), [x for x in operands if x], home)
        case ("FUNCTION", _, _, int(number), arguments, *_):
            return _reference(number, arguments, home)
    raise Unclear("expression")


def _operation(word: str, operands: list[Tree], home: Namer) -> str:
    shown = [expression(operand, home) for operand in operands]
    if word in _BINARY and len(shown) == 2:
        return f"({shown[0]} {_BINARY[word]} {shown[1]})"
    if word in _UNARY and len(shown) == 1:
        return f"({_UNARY[word]}{shown[0]})"
    raise Unclear(word)


def _reference(number: int, arguments: Tree, home: Namer) -> str:
    name = home.intrinsic(number)
    while arguments and not arguments[-1][1]:
        arguments = arguments[:-1]
    shown = []
    for keyword, value, *_ in arguments:
        if not value:
            raise Unclear("argument")
        name_of = f"{identifier(keyword)}=" if keyword else ""
        shown.append(name_of + expression(value, home))
    if name is None:
        return f"{home.named(number)}({', '.join(shown)})"
    if match := _CONVERSION.fullmatch(name):
        return f"int({', '.join(shown)}, kind={match[1]})"
    if name not in INTRINSICS:
        raise Unclear(name)
    return f"{name}({', '.join(shown)})"


def constant(tree: Tree) -> str | None:
    """The value of a constant; None for one that has no short exact text (NaN, kind 16, a table)."""
    match tree:
        case ("CONSTANT", ("INTEGER", int(kind), *_), _, Quoted() as digits, *_):
            value = int(digits)
            suffix = "" if kind == 4 else f"_{kind}"
            return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"
        case ("CONSTANT", ("REAL", int(kind), *_), _, Quoted() as digits, *_):
            return _real(digits, kind)
        case ("CONSTANT", ("COMPLEX", int(kind), *_), _, Quoted() as first, Quoted() as second, *_):
            parts = [_real(first, kind), _real(second, kind)]
            shown = [part.strip("()") for part in parts if part is not None]
            return f"({', '.join(shown)})" if len(shown) == 2 else None
        case ("CONSTANT", ("LOGICAL", int(kind), *_), _, int(value), *_):
            return f"{'.true.' if value else '.false.'}{'' if kind == 4 else f'_{kind}'}"
        case ("CONSTANT", ("CHARACTER", 1, *_), _, int(length), Quoted() as letters, *_):
            return _characters(letters, length)
        case ("ARRAY", _, 1, elements, *_) if 0 < len(elements) <= _ELEMENTS:
            return _array(elements)
    return None


def _array(elements: Tree) -> str | None:
    found = []
    for value, iterator in elements:
        shown = None if iterator else constant(value)
        if shown is None:
            return None
        found.append(shown)
    return f"[{', '.join(found)}]"


def _real(digits: str, kind: int) -> str | None:
    """Hexadecimal digits and an exponent of 16, as the decimal number that reads as the same value."""
    match = _HEX.fullmatch(digits)
    if match is None or kind not in (4, 8):
        return None
    value = float.fromhex(f"{match[1]}0x0.{match[2]}p{4 * int(match[3])}")
    shown = f"{value!r}_{kind}"
    return f"({shown})" if shown.startswith("-") else shown


def _characters(letters: str, length: int) -> str | None:
    # A backslash would be an escape in the file, or for a compiler.
    if len(letters) != length or "\\" in letters or not (letters.isprintable() and letters.isascii()):
        return None
    quoted = letters.replace("'", "''")
    return f"'{quoted}'"
