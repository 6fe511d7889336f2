"""Expressions as Fortran text: the parentheses that are needed, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fortrans.emit.style import Spelling
from fortrans.ir.expr import (
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Opaque,
    Range,
    Ref,
    Substring,
)

# Levels of table 10.1 and rules R1001 to R1023, weakest first.
_ANY, _DEFINED, _EQUIV, _OR, _AND, _NOT, _RELATION = range(7)
_CONCAT, _ADD, _MULTIPLY, _POWER, _UNARY, _PRIMARY = range(7, 13)

# Each binary operator's own level, and the weakest level that its left and right operand may have.
_Levels = tuple[int, int, int]
_BINARY: dict[str, _Levels] = {
    "**": (_POWER, _UNARY, _POWER),
    **dict.fromkeys(("*", "/"), (_MULTIPLY, _MULTIPLY, _POWER)),
    **dict.fromkeys(("+", "-"), (_ADD, _ADD, _MULTIPLY)),
    "//": (_CONCAT, _CONCAT, _ADD),
    **dict.fromkeys(("==", "/=", "<", "<=", ">", ">="), (_RELATION, _CONCAT, _CONCAT)),
    ".and.": (_AND, _AND, _NOT),
    ".or.": (_OR, _OR, _AND),
    **dict.fromkeys((".eqv.", ".neqv."), (_EQUIV, _EQUIV, _OR)),
}
_DEFINED_BINARY: _Levels = (_DEFINED, _DEFINED, _EQUIV)
_SIGN, _NOT_OPERATOR, _DEFINED_UNARY = (_ADD, _MULTIPLY), (_NOT, _RELATION), (_UNARY, _PRIMARY)
_CLOSE = frozenset({"**", "*", "/"})

_DESIGNATOR = re.compile(r"[\w%.\s]*\Z")
_DOTTED = re.compile(r"\.[a-z]+\.", re.IGNORECASE)


def text(expr: Expr, spelling: Spelling) -> str:
    """``expr`` in Fortran, with the user's spelling of names.

    Parsing the text gives the same tree again (10.1.2).  Raises TypeError for what is no
    expression of the language (Select, Reduce, At): lowering must have removed it.
    """
    return _print(expr, spelling)[0]


def bounds(first: Expr | None, last: Expr | None, step: Expr | None, spelling: Spelling) -> str:
    """``first:last[:step]``; sums are printed close, ``2:n-1``, so that the colon stands out."""
    parts = [first, last] if step is None else [first, last, step]
    return ":".join("" if x is None else _print(x, spelling, close=True)[0] for x in parts)


def _print(expr: Expr, spelling: Spelling, close: bool = False) -> tuple[str, int]:
    """The text and its level."""
    match expr:
        case Literal(value):
            return value, _ADD if value.startswith(("-", "+")) else _PRIMARY
        case Opaque(value):
            return value, _PRIMARY if _is_primary(value) else _ANY
        case Name(id):
            return spelling.name(id), _PRIMARY
        case Ref(base, subscripts):
            return f"{text(base, spelling)}({_list(subscripts, spelling)})", _PRIMARY
        case Component(base, name):
            return f"{text(base, spelling)}%{spelling.name(name)}", _PRIMARY
        case Substring(base, first, last):
            return f"{text(base, spelling)}({bounds(first, last, None, spelling)})", _PRIMARY
        case Call(name, args):
            return f"{spelling.function(name)}({_list(args, spelling)})", _PRIMARY
        case Range(first, last, step):
            return bounds(first, last, step, spelling), _ANY
        case Keyword(name, value):
            return f"{spelling.function(name)}={text(value, spelling)}", _ANY
        case Items(items, spec):
            head = "" if spec is None else f"{spec} :: "
            return f"[{head}{_list(items, spelling)}]", _PRIMARY
        case ImpliedDo(items, name, first, last, step):
            limits = (first, last) if step is None else (first, last, step)
            control = f"{spelling.name(name)} = {_list(limits, spelling)}"
            return f"({_list(items, spelling)}, {control})", _PRIMARY
        case Op("()", (operand,)):
            return f"({text(operand, spelling)})", _PRIMARY
        case Op(op, (operand,)):
            return _unary(op, operand, spelling)
        case Op(op, (left, right)):
            return _binary(op, left, right, spelling, close)
        case _:
            raise TypeError(f"{type(expr).__name__} is not an expression of the language")


def _unary(op: str, operand: Expr, spelling: Spelling) -> tuple[str, int]:
    match op:
        case "+" | "-":
            level, weakest = _SIGN
        case ".not.":
            level, weakest = _NOT_OPERATOR
        case _ if _DOTTED.fullmatch(op):
            level, weakest = _DEFINED_UNARY
        case _:
            raise TypeError(f"'{op}' is not a unary operator")
    blank = " " if op.startswith(".") else ""
    return f"{spelling.operator(op)}{blank}{_operand(operand, weakest, spelling)}", level


def _binary(op: str, left: Expr, right: Expr, spelling: Spelling, close: bool) -> tuple[str, int]:
    levels = _BINARY.get(op)
    if levels is None:
        if not _DOTTED.fullmatch(op) or op == ".not.":
            raise TypeError(f"'{op}' is not a binary operator")
        levels = _DEFINED_BINARY
    level, weakest_left, weakest_right = levels
    blank = "" if op in _CLOSE or (close and op in "+-") else " "
    x = _operand(left, weakest_left, spelling, close)
    y = _operand(right, weakest_right, spelling, close)
    return f"{x}{blank}{spelling.operator(op)}{blank}{y}", level


def _operand(expr: Expr, weakest: int, spelling: Spelling, close: bool = False) -> str:
    value, level = _print(expr, spelling, close)
    return value if level >= weakest else f"({value})"


def _list(exprs: Iterable[Expr], spelling: Spelling) -> str:
    return ", ".join(text(x, spelling) for x in exprs)


def _is_primary(value: str) -> bool:
    """Whether carried text is surely one primary (R1001): no operator outside quotes and brackets."""
    outside, depth, quote = "", 0, ""
    for char in value:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif not depth:
            outside += char
    return bool(_DESIGNATOR.match(outside)) and not _DOTTED.search(outside)
