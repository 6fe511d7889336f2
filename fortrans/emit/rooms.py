"""What the arrays that a plan declares take, as a remark tells it."""

from __future__ import annotations

from collections.abc import Iterator

from fortrans.emit import printer
from fortrans.emit.style import Spelling
from fortrans.ir.expr import ONE, Expr, Name, Shape, mul, names
from fortrans.ir.nest import Allocate, Block, Declaration, If, Loop, Stmt

_PLAIN = Spelling()
_LONGEST = 40
"""Characters of a number of elements; a longer one helps nobody."""


def taken(body: tuple[Stmt, ...]) -> str:
    """``taking n*m elements on the heap``; "" where nothing but scalars is declared.

    A number that depends on variables of ours, or is long, is left out.
    """
    found = tuple(_inside(body))
    declared = {x.name: x for x in found if isinstance(x, Declaration)}
    made = {x.target.id: x.shape for x in found if isinstance(x, Allocate) and isinstance(x.target, Name)}
    told = []
    for name, own in declared.items():
        extents = made.get(name, ()) if own.allocatable else own.shape
        if own.shape:
            where = "heap" if own.allocatable else "stack"
            told.append(f"{_elements(extents, frozenset(declared))} on the {where}")
    return f"taking {' and '.join(dict.fromkeys(told))}" if told else ""


def _elements(extents: Shape, ours: frozenset[str]) -> str:
    if not extents or any(names(extent) & ours for extent in extents):
        return "elements"
    count: Expr = ONE
    for extent in extents:
        count = extent if count == ONE else mul(count, extent)
    number = printer.text(count, _PLAIN)
    if number == "1":
        return "one element"
    return f"{number} elements" if len(number) <= _LONGEST else "elements"


def _inside(body: tuple[Stmt, ...]) -> Iterator[Declaration | Allocate]:
    for stmt in body:
        match stmt:
            case Block(declarations, inner):
                yield from declarations
                yield from _inside(inner)
            case Loop(body=inner):
                yield from _inside(inner)
            case If(then=then, other=other):
                yield from _inside((*then, *other))
            case Allocate():
                yield stmt
            case _:
                pass
