"""Reductions of columns, several columns at a time: what one waits for, another uses (EMISSION, rule 5).

Each column is still added in its own order, so that results have the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.analysis.columns import COLUMNS, SHORTEST
from fortrans.ir.expr import (
    ONE,
    Call,
    Expr,
    Name,
    Reduce,
    add,
    integer,
    names,
    sub,
    substitute,
    transform,
    walk,
)
from fortrans.ir.nest import Declaration, Store
from fortrans.ir.symbols import INTEGER
from fortrans.transforms.accumulate import EXTREMES, SEARCHES, Gather, masked, start
from fortrans.transforms.pieces import Piece, Put, Span, declarable
from fortrans.transforms.ready import is_plain
from fortrans.transforms.split import canonical

if TYPE_CHECKING:
    from fortrans.transforms.lower import Lowering, Sink

# Functions that cost no call, or so little that the sum still waits for its own last term.
_CHEAP = frozenset("abs conjg real aimag int merge max min iand ior ieor not".split())


def columns(lowering: Lowering, span: Span, value: Expr, sink: Sink) -> Piece | None:
    """The loop over ``span`` by ``COLUMNS`` and the loop over what is left; None where that does not pay.

    ``value`` must hold one reduction, which depends on ``span`` and goes through columns.
    """
    if not isinstance(sink, Put | Gather) or (isinstance(sink, Gather) and sink.op in SEARCHES):
        return None
    reduces = [x for x in walk(value) if isinstance(x, Reduce)]
    if len(set(reduces)) != 1 or not _pays(reduces[0], span.index):
        return None
    reduce = reduces[0]
    if not is_plain(_replaced(value, reduce, ONE)):
        return None
    extent = add(sub(span.last, span.first), ONE)
    known, length = (lowering.facts.value(x) for x in (extent, reduce.indices[0][1]))
    if (known is not None and known < COLUMNS) or (length is not None and length < SHORTEST):
        return None
    bulk = replace(span, last=sub(span.last, integer(COLUMNS - 1)), step=integer(COLUMNS))
    # What is left over is in a BLOCK of its own, where locals may have the same names again.
    fresh, again = lowering.fresh, lowering.fresh.copy()
    several = Piece((), (bulk.loop(_several(lowering, span.index, reduce, value, sink).body),))
    if known is not None and known % COLUMNS == 0:
        return several
    over = Call("mod", (extent, integer(COLUMNS))) if known is None else integer(known % COLUMNS)
    lowering.fresh = again
    one = lowering.build((), value, sink)
    lowering.fresh = fresh
    rest = replace(span, first=add(sub(span.last, over), ONE))
    return several + Piece((), (rest.loop(one.body),))


def _pays(reduce: Reduce, index: str) -> bool:
    if reduce.op in SEARCHES or reduce.op == "norm2" or reduce.mask is not None or not is_plain(reduce.body):
        return False
    if reduce.op in EXTREMES and reduce.type.name != "integer":
        return False
    if any(isinstance(x, Call) and x.name not in _CHEAP for x in walk(reduce.body)):
        return False
    return index in names(reduce.body) and not any(index in names(extent) for _, extent in reduce.indices)


def _several(lowering: Lowering, index: str, reduce: Reduce, value: Expr, sink: Put | Gather) -> Piece:
    """``COLUMNS`` iterations: their accumulators, one loop for all of them, and what is done with each."""
    type = declarable(reduce.type, f"the accumulator of '{reduce.op.upper()}'")
    named, spans = lowering.named(reduce)
    accumulators = [Name(lowering.fresh.name("acc")) for _ in range(COLUMNS)]
    piece = Piece(
        (
            *(Declaration(x.id, type) for x in accumulators),
            *(Declaration(inner.index, INTEGER) for inner in spans),
        ),
        tuple(Store(x, start(reduce.op, type, x)) for x in accumulators),
    )
    taken: Piece = Piece()
    for column, accumulator in enumerate(accumulators):
        gather = Gather(reduce.op, type, accumulator, lowering.fresh.name)
        taken += Piece(*gather(_at(masked(named.mask, named.body), index, column)))
    body = taken.body
    for inner in reversed(spans):
        body = (inner.loop(body),)
    piece += Piece((), body)
    for column, accumulator in enumerate(accumulators):
        into = replace(sink, target=_at(sink.target, index, column)) if isinstance(sink, Put) else sink
        piece += Piece(*into(_at(_replaced(value, reduce, accumulator), index, column)))
    return piece


def _at(expr: Expr, index: str, column: int) -> Expr:
    """``expr`` so many columns further on."""
    return canonical(substitute(expr, {index: add(Name(index), integer(column))})) if column else expr


def _replaced(value: Expr, old: Expr, new: Expr) -> Expr:
    return transform(value, lambda x: new if x == old else None)
