"""Where a temporary lives: on the stack when its size is a small constant, or as the user asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fortrans.ir.expr import Call, Component, Expr, Literal, Shape, names, walk
from fortrans.ir.nest import Block, Declaration, Stmt
from fortrans.ir.symbols import Intrinsic, Scope, Type
from fortrans.options import STACK_LIMIT, Options
from fortrans.transforms.prune import mentioned


@dataclass(slots=True)
class Stack:
    """What the temporaries of one statement may still take of the stack."""

    left: int = STACK_LIMIT
    all: bool = False

    @classmethod
    def of(cls, options: Options) -> Stack:
        """The stack as the options have it."""
        return cls(options.stack_limit, options.stack_arrays)

    def takes(
        self, type: Type, extents: Shape, value: Callable[[Expr], int | None], scope: Scope
    ) -> bool:
        """Whether a temporary is an automatic array; what it takes is then no longer left.

        Its extents must be specification expressions (10.1.11): functions of the user's need not be.
        """
        if self.all:
            return all(_specification(extent, scope) for extent in extents)
        taken = element_bytes(type)
        for extent in extents:
            known = value(extent)
            if known is None or taken is None:
                return False
            taken *= max(known, 0)
        if taken is None or taken > self.left:
            return False
        self.left -= taken
        return True


def element_bytes(type: Type) -> int | None:
    """The bytes of one element; None when they are not known."""
    if not isinstance(type.kind, int):
        return None
    match type.name:
        case "complex":
            return 2 * type.kind
        case "character":
            length = type.length
            return type.kind * int(length.text) if isinstance(length, Literal) else None
        case "integer" | "real" | "logical":
            return type.kind
        case _:
            return None


def _specification(extent: Expr, scope: Scope) -> bool:
    return all(
        isinstance(scope.lookup(x.name), Intrinsic) for x in walk(extent) if isinstance(x, Call)
    ) and not any(isinstance(x, Component) for x in walk(extent))


def scoped(declarations: tuple[Declaration, ...], statements: tuple[Stmt, ...]) -> Block:
    """The BLOCK of the statements.

    An automatic array whose extents mention a local of the BLOCK is declared in one within, from
    the first statement that mentions it: there the local has its value.
    """
    locals_ = {d.name for d in declarations}
    late = tuple(d for d in declarations if not d.allocatable and _mentions(d, locals_))
    if not late:
        return Block(declarations, statements)
    their = {d.name for d in late}
    start = next((i for i, stmt in enumerate(statements) if mentioned(stmt) & their), len(statements))
    early = tuple(d for d in declarations if d not in late)
    return Block(early, (*statements[:start], scoped(late, statements[start:])))


def _mentions(declaration: Declaration, locals_: set[str]) -> bool:
    return any(names(extent) & locals_ for extent in declaration.shape)
