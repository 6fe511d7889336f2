"""Trees of single statements, made by fparser on demand and remembered by text.

The only module that calls fparser.  Nodes are typed ``Any``: fparser ships no types.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from fortrans.remarks import Refusal

Node = Any

DEEPEST = 7
"""Calls or references nested deeper are refused: fparser's time doubles with each level.

At 7 levels it takes 20 to 100 ms, at 8 up to 200 ms, at 12 some 2 s.
"""

_MEMORY = 1 << 16
_TOKEN = re.compile(r"([A-Za-z]\w*)\s*\(|([(\[])|([)\]])|'[^']*'|\"[^\"]*\"")

_DECLARATIONS: dict[str, tuple[str, ...]] = {
    "use": ("Use_Stmt",),
    "import": ("Import_Stmt",),
    "implicit": ("Implicit_Stmt",),
    "parameter": ("Parameter_Stmt",),
    "dimension": ("Dimension_Stmt",),
    "allocatable": ("Allocatable_Stmt",),
    "pointer": ("Pointer_Stmt", "Cray_Pointer_Stmt"),
    "target": ("Target_Stmt",),
    "save": ("Save_Stmt",),
    "external": ("External_Stmt",),
    "intrinsic": ("Intrinsic_Stmt",),
    "intent": ("Intent_Stmt",),
    "optional": ("Optional_Stmt",),
    "volatile": ("Volatile_Stmt",),
    "asynchronous": ("Asynchronous_Stmt",),
    "protected": ("Protected_Stmt",),
    "public": ("Access_Stmt",),
    "private": ("Access_Stmt", "Private_Components_Stmt"),
    "value": ("Value_Stmt",),
    "bind": ("Bind_Stmt",),
    "equivalence": ("Equivalence_Stmt",),
    "common": ("Common_Stmt",),
    "namelist": ("Namelist_Stmt",),
    "data": ("Data_Stmt",),
    "generic": ("Generic_Binding",),
    "final": ("Final_Binding",),
    "sequence": ("Sequence_Stmt",),
    "enumerator": ("Enumerator_Def_Stmt",),
    "module": ("Procedure_Stmt",),
    "procedure": ("Procedure_Declaration_Stmt", "Specific_Binding", "Procedure_Stmt"),
    "entry": ("Entry_Stmt",),
}
_TYPED = ("Type_Declaration_Stmt", "Data_Component_Def_Stmt")


@lru_cache(maxsize=1)
def _classes() -> dict[str, Callable[[str], Node]]:
    """fparser's statement classes by name, Fortran 2008's where it has its own."""
    logging.getLogger("fparser").setLevel(logging.CRITICAL)
    from fparser.two import Fortran2003, Fortran2008
    from fparser.two.parser import ParserFactory

    ParserFactory().create(std="f2008")
    names = {"Assignment_Stmt", "Pointer_Assignment_Stmt", "Expr", *_TYPED}
    names.update(name for group in _DECLARATIONS.values() for name in group)
    found: dict[str, Callable[[str], Node]] = {}
    for name in names:
        made = getattr(Fortran2008, name, None) or getattr(Fortran2003, name, None)
        if made is not None:
            found[name] = made
    return found


def depth(text: str) -> int:
    """How deep ``name(`` is nested in ``name(``, in a statement or expression."""
    deepest = 0
    named: list[bool] = []
    level = 0
    for match in _TOKEN.finditer(text):
        if match.group(1):
            named.append(True)
            level += 1
            deepest = max(deepest, level)
        elif match.group(2):
            named.append(False)
        elif match.group(3) and named:
            level -= named.pop()
    return deepest


def _call(names: tuple[str, ...], text: str) -> Node:
    """The node of the first class of ``names`` that takes ``text``.  Raises Refusal."""
    if depth(text) > DEEPEST:
        raise Refusal("FT003", f"Statement nests more than {DEEPEST} references")
    from fparser.two.symbol_table import SYMBOL_TABLES

    classes = _classes()
    for name in names:
        try:
            SYMBOL_TABLES.clear()
            node = classes[name](text)
        except Exception:  # noqa: BLE001 - NoMatchError, IndexError, AssertionError, RecursionError, ...
            continue
        if node is not None:
            return node
    raise Refusal("FT002", "Statement cannot be parsed by fparser")


@lru_cache(maxsize=_MEMORY)
def _outcome(names: tuple[str, ...], text: str) -> Node:
    try:
        return _call(names, text)
    except Refusal as refusal:
        return refusal


def _parse(names: tuple[str, ...], text: str) -> Node:
    outcome = _outcome(names, text)
    if isinstance(outcome, Refusal):
        raise Refusal(outcome.code, outcome.message)
    return outcome


def assignment(text: str) -> Node:
    """The ``Assignment_Stmt`` of a statement (F2018 R1032).

    Raises Refusal FT002 when fparser fails in any way, FT003 when it would take too long.
    """
    return _parse(("Assignment_Stmt",), text)


def pointer_assignment(text: str) -> Node:
    """The ``Pointer_Assignment_Stmt`` of a statement (R1033).  Raises Refusal."""
    return _parse(("Pointer_Assignment_Stmt",), text)


def expression(text: str) -> Node:
    """The node of an expression (R1022).  Raises Refusal."""
    return _parse(("Expr",), text)


def declaration(text: str) -> Node:
    """The node of a specification statement, also of a component's.  Raises Refusal."""
    word = re.match(r"[A-Za-z]*", text)
    key = word.group().lower() if word else ""
    return _parse(_DECLARATIONS.get(key, _TYPED), text)
