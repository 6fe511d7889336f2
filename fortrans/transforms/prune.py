"""Locals that nothing mentions are not declared."""

from __future__ import annotations

from dataclasses import replace

from fortrans.ir.expr import Expr, names
from fortrans.ir.nest import (
    Allocate,
    Block,
    CallStmt,
    Deallocate,
    Exit,
    If,
    Loop,
    Stmt,
    Store,
)


def prune(stmt: Stmt) -> Stmt:
    """``stmt`` without declarations of names that its BLOCK does not use."""
    match stmt:
        case Block(declarations, body):
            inner = tuple(map(prune, body))
            used = {name for x in inner for name in mentioned(x)}
            used |= {name for d in declarations if d.name in used for e in d.shape for name in names(e)}
            kept = tuple(d for d in declarations if d.name in used)
            return replace(stmt, declarations=kept, body=inner)
        case Loop(body=body):
            return replace(stmt, body=tuple(map(prune, body)))
        case If(test, then, other):
            return If(test, tuple(map(prune, then)), tuple(map(prune, other)))
        case _:
            return stmt


def mentioned(stmt: Stmt) -> frozenset[str]:
    """Every name that stands in a statement."""

    def of(*exprs: Expr | None) -> frozenset[str]:
        return frozenset(name for x in exprs if x is not None for name in names(x))

    def within(body: tuple[Stmt, ...]) -> frozenset[str]:
        return frozenset(name for x in body for name in mentioned(x))

    match stmt:
        case Store(target, value):
            return of(target, value)
        case Loop(index, first, last, body, _, step):
            return of(first, last, step) | within(body) | {index}
        case If(test, then, other):
            return of(test) | within(then) | within(other)
        case Exit():
            return frozenset()
        case Block(declarations, body):
            return within(body) | of(*(x for d in declarations for x in d.shape))
        case Allocate(target, shape, lower, source, more, length):
            return of(target, *shape, *(lower or ()), source, *more, length)
        case Deallocate(target):
            return of(target)
        case CallStmt(name, args):
            return of(*args) | {name}
