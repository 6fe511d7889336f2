"""In place by exchanging: an iteration and its partner read each other's elements."""

from __future__ import annotations

from dataclasses import replace

from fortrans.ir.arrays import base_name
from fortrans.ir.expr import (
    ONE,
    Call,
    Expr,
    Name,
    Op,
    Ref,
    add,
    constant,
    integer,
    sub,
    substitute,
)
from fortrans.ir.nest import Block, Declaration, If, Loop, Stmt, Store
from fortrans.ir.symbols import INTEGER
from fortrans.remarks import Refusal
from fortrans.transforms.inplace import InPlace, Work, local, scalar
from fortrans.transforms.pieces import Piece, Span
from fortrans.transforms.ready import is_plain
from fortrans.transforms.split import canonical

TILE = 32
"""Rows and columns of a block that is exchanged with the one across the diagonal."""


def swapped(work: Work) -> InPlace:
    """Pairs of iterations that store each other's elements.  Raises Refusal."""
    mirror = work.verdict.mirror
    assert mirror is not None
    if not is_plain(work.opened.value):
        raise Refusal("FT301", "Only plain expressions are exchanged")
    if mirror.other is None:
        body = _reversed(work, mirror.index)
    else:
        body = _transposed(work, mirror.index, mirror.other)
    form = "reversed" if mirror.other is None else "transposed"
    return InPlace(body, "FT114", form, f"in place, exchanging elements of '{work.name}' in pairs")


def _pair(work: Work, partner: dict[str, Expr]) -> Block:
    """Both elements of a pair, computed before either is stored."""
    inside, what = work.opened.inside, work.opened.value

    def there(x: Expr) -> Expr:
        return canonical(substitute(x, partner))

    name = local(work, "swap")
    return Block(
        (scalar(work, name),),
        (Store(Name(name), what), Store(there(inside), there(what)), Store(inside, Name(name))),
    )


def _bare(work: Work) -> bool:
    """Whether an iteration only reads its partner's element, so that its own partner does nothing."""
    value = work.opened.value
    own = isinstance(value, Ref) and base_name(value) == base_name(work.target.base)
    return own and len(work.found) == 1


def _around(loops: tuple[Span, ...], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    for span in reversed(loops):
        body = (span.loop(body),)
    return body


def _at(work: Work, at: dict[str, Expr], loops: tuple[Span, ...]) -> tuple[Stmt, ...]:
    """The iterations that are their own partners."""
    inside, what = (canonical(substitute(x, at)) for x in (work.opened.inside, work.opened.value))
    return _around(loops, (Store(inside, what),))


def _reversed(work: Work, index: str) -> Piece:
    loops = work.opened.loops
    (span,) = (s for s in loops if s.index == index)
    last = span.last
    known = constant(last)
    half = Op("/", (last, integer(2))) if known is None else integer(max(known, 0) // 2)
    partner = {index: sub(add(work.simplest(index), ONE), Name(index))}
    halved = tuple(replace(s, last=half) if s is span else s for s in loops)
    body = _around(halved, (_pair(work, partner),))
    if not _bare(work) and (known is None or known % 2):
        middle: Expr = Op("/", (add(last, ONE), integer(2)))
        middle = middle if known is None else integer((known + 1) // 2)
        others = tuple(s for s in loops if s is not span)
        own = _at(work, {index: middle}, others)
        body += own if known is not None else (If(Op("==", (Call("mod", (last, integer(2))), ONE)), own),)
    return Piece((), body)


def _transposed(work: Work, outer: str, inner: str) -> Piece:
    loops = work.opened.loops
    across = {s.index: s for s in loops}
    declared: tuple[Declaration, ...] = ()
    partner: dict[str, Expr] = {outer: Name(inner), inner: Name(outer)}
    known = constant(across[outer].last)
    if len(loops) > 2 or (known is not None and known <= 2 * TILE):
        triangle = tuple(
            replace(s, last=sub(Name(outer), ONE)) if s.index == inner else s for s in loops
        )
        body = _around(triangle, (_pair(work, partner),))
    else:
        column, row = local(work, "column"), local(work, "row")
        declared = tuple(Declaration(name, INTEGER) for name in (column, row))
        body = _blocks(column, row, across[outer], across[inner], _pair(work, partner))
    if not _bare(work):
        others = tuple(s for s in loops if s.index != inner)
        body += _at(work, {inner: Name(outer)}, others)
    return Piece(declared, body)


def _blocks(column: str, row: str, outer: Span, inner: Span, pair: Block) -> tuple[Stmt, ...]:
    """The triangle above the diagonal in blocks, so that both elements of a pair stay in the cache."""
    tile = integer(TILE)

    def ends(first: str, last: Expr) -> Expr:
        return Call("min", (add(Name(first), integer(TILE - 1)), last))

    rows = Loop(inner.index, Name(row), ends(row, sub(Name(outer.index), ONE)), (pair,))
    columns = Loop(outer.index, Name(column), ends(column, outer.last), (rows,))
    blocks = Loop(row, ONE, Name(column), (columns,), step=tile)
    return (Loop(column, ONE, outer.last, (blocks,), step=tile),)
