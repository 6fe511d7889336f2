"""What lowering is made of: loops to be opened, statements with their locals, where an element goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fortrans.ir.expr import Expr, Literal, integer
from fortrans.ir.nest import Block, Declaration, Exit, If, Loop, Stmt, Store
from fortrans.ir.symbols import Type
from fortrans.remarks import Refusal


@dataclass(frozen=True, slots=True)
class Span:
    """A loop to be opened: ``index`` from ``first`` to ``last``.

    ``backward``: it runs from ``last`` to ``first``.  ``before`` is done each time it is about to start.
    """

    index: str
    first: Expr
    last: Expr
    concurrent: bool = True
    step: Expr | None = None
    backward: bool = False
    before: Piece | None = None

    def loop(self, body: tuple[Stmt, ...]) -> Loop:
        """The loop around ``body``."""
        if self.backward:
            return Loop(self.index, self.last, self.first, body, False, integer(-1))
        return Loop(self.index, self.first, self.last, body, self.concurrent, self.step)


@dataclass(frozen=True, slots=True)
class Put:
    """The element is stored; ``rows``: a reduction may accumulate in ``target`` itself."""

    target: Expr
    rows: bool = False

    def __call__(self, element: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        return (), (Store(self.target, element),)


@dataclass(frozen=True, slots=True)
class Piece:
    """Statements, and the locals they need around them."""

    declarations: tuple[Declaration, ...] = ()
    statements: tuple[Stmt, ...] = ()

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.declarations + other.declarations, self.statements + other.statements)

    @property
    def body(self) -> tuple[Stmt, ...]:
        """The statements in a BLOCK of their own when they need locals."""
        if self.declarations:
            return (Block(tuple(dict.fromkeys(self.declarations)), self.statements),)
        return self.statements


def declarable(type: Type, what: str) -> Type:
    """``type`` if a local of it can be declared at the site; else raises Refusal."""
    if type.name == "character":
        if isinstance(type.length, Literal):
            return replace(type, spelling=f"character(len={type.length.text})")
        raise Refusal("FT205", f"Character length of {what} is not a constant")
    if type.name in ("type", "class"):
        raise Refusal("FT204", f"{what.capitalize()} is of derived type")
    if not type.spelling or type.kind is None:
        raise Refusal("FT203", f"Type of {what} cannot be declared here")
    return type


def leave(statements: tuple[Stmt, ...], test: Expr) -> tuple[Stmt, ...]:
    """The outer loops of a search are left, too, once the inner one has found: ``test`` then holds."""

    def go(stmt: Stmt, outer: bool) -> tuple[Stmt, ...]:
        match stmt:
            case Loop(body=body):
                inner = tuple(s for x in body for s in go(x, True))
                left = (If(test, (Exit(),)),) if outer else ()
                return (replace(stmt, body=inner), *left)
            case Block(declarations, body):
                return (Block(declarations, tuple(s for x in body for s in go(x, outer))),)
            case If(_, then, other) if not any(isinstance(x, Exit) for x in then):
                return (
                    replace(
                        stmt,
                        then=tuple(s for x in then for s in go(x, outer)),
                        other=tuple(s for x in other for s in go(x, outer)),
                    ),
                )
            case _:
                return (stmt,)

    return tuple(s for x in statements for s in go(x, False))
