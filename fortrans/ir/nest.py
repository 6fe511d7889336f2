"""What will be emitted: a small tree of statements, whose leaves are expressions."""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.ir.expr import Expr, Shape
from fortrans.ir.symbols import Type


@dataclass(frozen=True, slots=True)
class Declaration:
    """``type[, allocatable] :: name[(shape)]`` in a BLOCK.

    ``shape`` () is a scalar; with ``allocatable`` the printed shape is deferred.
    """

    name: str
    type: Type
    shape: Shape = ()
    allocatable: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """``target = value``."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Loop:
    """``do [concurrent] index = first, last[, step]``."""

    index: str
    first: Expr
    last: Expr
    body: tuple[Stmt, ...]
    concurrent: bool = True
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class If:
    """IF construct; printed as a one-line IF when it holds one simple statement and no ``other``."""

    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the innermost DO."""


@dataclass(frozen=True, slots=True)
class Use:
    """``use, intrinsic :: module, only: only``."""

    module: str
    only: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """BLOCK with declarations; printed without BLOCK when there are none."""

    declarations: tuple[Declaration, ...]
    body: tuple[Stmt, ...]
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class Allocate:
    """``allocate (target(shape))``; each bound is ``1:extent`` unless ``lower`` gives another.

    With ``source`` it is ``allocate (target, source=source)``, and ``shape`` is ().  ``more`` are
    other objects, with their bounds, and keywords.  ``length`` is that of all the objects, which
    are characters of deferred length.
    """

    target: Expr
    shape: Shape = ()
    lower: Shape | None = None
    source: Expr | None = None
    more: tuple[Expr, ...] = ()
    length: Expr | None = None


@dataclass(frozen=True, slots=True)
class Deallocate:
    target: Expr


@dataclass(frozen=True, slots=True)
class CallStmt:
    """``call name(args)``, e.g. MOVE_ALLOC."""

    name: str
    args: tuple[Expr, ...]


Stmt = Store | Loop | If | Exit | Block | Allocate | Deallocate | CallStmt
