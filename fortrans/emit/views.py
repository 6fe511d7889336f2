"""What templates see: the plan with every leaf a finished string.  Frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fortrans.emit import printer
from fortrans.emit.style import Spelling
from fortrans.ir.expr import ONE, Call, Expr, Keyword, Shape, add, same, sub
from fortrans.ir.nest import (
    Allocate,
    Block,
    CallStmt,
    Deallocate,
    Declaration,
    Exit,
    If,
    Loop,
    Stmt,
    Store,
)


@dataclass(frozen=True, slots=True)
class StoreView:
    kind: ClassVar[str] = "store"
    target: str
    value: str


@dataclass(frozen=True, slots=True)
class ExitView:
    kind: ClassVar[str] = "exit"


@dataclass(frozen=True, slots=True)
class AllocateView:
    """``objects`` are ``t(n, 0:m)``, ``source=x``."""

    kind: ClassVar[str] = "allocate"
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeallocateView:
    kind: ClassVar[str] = "deallocate"
    object: str


@dataclass(frozen=True, slots=True)
class CallView:
    kind: ClassVar[str] = "call"
    name: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeclarationView:
    """All the entities that are declared alike: ``i``, ``t(:, :)``."""

    type: str
    allocatable: bool
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockView:
    kind: ClassVar[str] = "block"
    uses: tuple[str, ...]
    declarations: tuple[DeclarationView, ...]
    body: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class LoopView:
    """``range`` is ``1:n`` for DO CONCURRENT, ``limits`` are ``1`` and ``n`` for DO."""

    kind: ClassVar[str] = "loop"
    concurrent: bool
    index: str
    range: str
    limits: tuple[str, ...]
    body: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class IfView:
    """``one_line``: ``then`` is one simple statement, and the line is not too long."""

    kind: ClassVar[str] = "if"
    test: str
    then: tuple[View, ...]
    other: tuple[View, ...]
    one_line: bool


SimpleView = StoreView | ExitView | AllocateView | DeallocateView | CallView
View = SimpleView | BlockView | LoopView | IfView


@dataclass(frozen=True, slots=True)
class SiteView:
    """The statement's place and plan.  ``comments``, ``before``, ``after`` are whole lines.

    ``label`` ends in the blanks that separate it from the statement; empty without one.
    """

    indent: str
    step: str
    comments: tuple[str, ...]
    before: tuple[str, ...]
    label: str
    condition: str | None
    body: tuple[View, ...]
    after: tuple[str, ...]


def views(plan: tuple[Stmt, ...], spelling: Spelling, width: int, step: int) -> tuple[View, ...]:
    """The views of statements that have ``width`` columns; each level of nesting takes ``step``."""
    found: list[View] = []
    for stmt in plan:
        match stmt:
            case Block((), body):
                found.extend(views(body, spelling, width, step))
            case Block(declarations, body, uses):
                inner = views(body, spelling, width - step, step)
                texts = tuple(
                    f"{spelling.function(x.module)}, only: {', '.join(map(spelling.function, x.only))}"
                    for x in uses
                )
                found.append(BlockView(texts, _declarations(declarations, spelling), inner))
            case Loop():
                found.append(_loop(stmt, spelling, views(stmt.body, spelling, width - step, step)))
            case If(test, then, other):
                found.append(
                    _if(
                        printer.text(test, spelling),
                        views(then, spelling, width - step, step),
                        views(other, spelling, width - step, step),
                        width,
                    )
                )
            case _:
                found.append(_simple(stmt, spelling))
    return tuple(found)


def _simple(stmt: Store | Exit | Allocate | Deallocate | CallStmt, spelling: Spelling) -> SimpleView:
    match stmt:
        case Store(target, value):
            return StoreView(printer.text(target, spelling), printer.text(value, spelling))
        case Exit():
            return ExitView()
        case Allocate(target, shape, lower, source, more, length):
            first = printer.text(target, spelling) + _bounds(shape, lower, spelling)
            rest = (Keyword("source", source), *more) if source is not None else more
            if length is not None:
                # A call spells its words as the file does: CHARACTER(LEN=n).
                kind = Call("character", (Keyword("len", length),))
                first = f"{printer.text(kind, spelling)} :: {first}"
            return AllocateView((first, *(printer.text(x, spelling) for x in rest)))
        case Deallocate(target):
            return DeallocateView(printer.text(target, spelling))
        case CallStmt(name, args):
            return CallView(spelling.function(name), tuple(printer.text(x, spelling) for x in args))


def _loop(loop: Loop, spelling: Spelling, body: tuple[View, ...]) -> LoopView:
    limits = (loop.first, loop.last) if loop.step is None else (loop.first, loop.last, loop.step)
    return LoopView(
        loop.concurrent,
        spelling.name(loop.index),
        printer.bounds(loop.first, loop.last, loop.step, spelling),
        tuple(printer.text(x, spelling) for x in limits),
        body,
    )


def _if(test: str, then: tuple[View, ...], other: tuple[View, ...], width: int) -> IfView:
    one_line = False
    if len(then) == 1 and not other:
        action = then[0]
        if not isinstance(action, BlockView | LoopView | IfView):
            one_line = len(f"if ({test}) ") + _length(action) <= width
    return IfView(test, then, other, one_line)


def _length(view: SimpleView) -> int:
    """The columns a simple statement takes."""
    match view:
        case StoreView(target, value):
            return len(f"{target} = {value}")
        case ExitView():
            return len("exit")
        case AllocateView(objects):
            return len(f"allocate ({', '.join(objects)})")
        case DeallocateView(object):
            return len(f"deallocate ({object})")
        case CallView(name, args):
            return len(f"call {name}({', '.join(args)})")


def _declarations(declarations: tuple[Declaration, ...], spelling: Spelling) -> tuple[DeclarationView, ...]:
    """One view for each type, in the order in which the types first come."""
    alike: dict[tuple[str, bool], list[str]] = {}
    for d in declarations:
        if not d.type.spelling:
            raise ValueError(f"the type of '{d.name}' has no spelling")
        shape = ""
        if d.allocatable and d.shape:
            shape = f"({', '.join(':' for _ in d.shape)})"
        elif d.shape:
            shape = _bounds(d.shape, None, spelling)
        key = (spelling.type(d.type.spelling), d.allocatable)
        alike.setdefault(key, []).append(spelling.name(d.name) + shape)
    return tuple(
        DeclarationView(type, allocatable, tuple(entities)) for (type, allocatable), entities in alike.items()
    )


def _bounds(shape: Shape, lower: Shape | None, spelling: Spelling) -> str:
    """``(n, 0:m-1)``; nothing for a scalar."""
    if not shape:
        return ""
    lowers: Shape = lower or (ONE,) * len(shape)
    return f"({', '.join(_bound(*pair, spelling) for pair in zip(lowers, shape, strict=True))})"


def _bound(lower: Expr, extent: Expr, spelling: Spelling) -> str:
    if same(lower, ONE):
        return printer.text(extent, spelling)
    return printer.bounds(lower, add(lower, sub(extent, ONE)), None, spelling)
