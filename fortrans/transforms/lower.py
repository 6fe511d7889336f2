"""The value of one element, and a loop nest around it, become statements.

One function does the walk: ``Lowering.build`` takes the loops not yet open (outermost first) and
what is to be computed inside them.  Whatever is ready, that is, depends on no loop still to be
opened, is computed here, outside the loops it does not depend on; then the next loop opens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Expr,
    Locate,
    Name,
    Op,
    Reduce,
    Scan,
    Select,
    add,
    integer,
    linear,
    sub,
    substitute,
    transform,
)
from fortrans.ir.fresh import Fresh
from fortrans.ir.masked import DO, NOTHING, STORE, WHEN
from fortrans.ir.nest import Declaration, Exit, If, Stmt, Store
from fortrans.ir.symbols import INTEGER, LOGICAL, Type
from fortrans.transforms.accumulate import (
    EXTREMES,
    FALSE,
    SEARCHES,
    UNROLLED,
    Gather,
    Push,
    masked,
    start,
)
from fortrans.transforms.columns import columns
from fortrans.transforms.locate import Find, Row, locate, locate_rows, placed
from fortrans.transforms.pieces import Piece, Put, Span, declarable, leave
from fortrans.transforms.ready import is_index, is_plain, prefers_rows, ready, shift_of, turning
from fortrans.transforms.split import (
    Facts,
    Once,
    Turn,
    at_least,
    at_most_one,
    canonical,
    lower_end,
    resolve,
    upper_end,
)

MOST_TURNS = 3
UNROLLS = frozenset({"sum", "product", "count"})


Sink = Put | Gather | Push | Find | Row | Callable[[Expr], tuple[tuple[Declaration, ...], tuple[Stmt, ...]]]
S = TypeVar("S", Reduce, Locate)


@dataclass(slots=True)
class Lowering:
    """Lowers the elements of one statement.  ``facts``: what is known of captured integers."""

    fresh: Fresh
    facts: Facts = field(default_factory=Facts)

    def build(self, loops: tuple[Span, ...], value: Expr, sink: Sink, turns: int = MOST_TURNS) -> Piece:
        """Statements that compute ``value`` for every iteration of ``loops`` and hand it to ``sink``."""
        if not loops and isinstance(value, Op) and value.op in (WHEN, DO, STORE):
            return self._masked(value)
        pending = frozenset(span.index for span in loops)
        if (found := ready(value, pending)) is not None:
            return self._settle(loops, value, sink, found, turns)
        if not loops:
            return Piece(*sink(value))
        span, *rest = loops
        if span.before is not None:
            return span.before + self.build((replace(span, before=None), *rest), value, sink, turns)
        if rest:
            inner = self.build(tuple(rest), value, sink, turns)
            return Piece((), (span.loop(inner.body),))
        if isinstance(sink, Put) and sink.rows and isinstance(value, Scan) and prefers_rows(value):
            if isinstance(value, Locate):
                return locate_rows(self, span, value, sink)
            return self._rows(span, value, sink, turns)
        if turns and (where := turning(value, span.index)) is not None:
            return self._split(span, value, sink, where, turns)
        if (several := columns(self, span, value, sink)) is not None:
            return several
        inner = self.build((), value, sink, turns)
        return Piece((), (span.loop(inner.body),))

    def _masked(self, value: Expr) -> Piece:
        """What a WHERE does with one element: the mask is known before anything under it is computed."""
        match value:
            case Op("%if", (mask, *arms)):
                before, test = self._test(mask)
                bodies = [() if arm == NOTHING else self._masked(arm).body for arm in arms]
                then, other = (*bodies, ()) if len(bodies) == 1 else bodies
                if not then:
                    then, other, test = other, (), Op(".not.", (test,))
                return before + Piece((), (If(test, then, other),))
            case Op("%do", items):
                done = Piece()
                for item in items:
                    done += Piece((), self._masked(item).body)
                return done
            case Op("%store", (target, what)):
                return self.build((), what, Put(target))
            case _:
                raise TypeError(f"not a masked assignment: {value}")

    def _test(self, mask: Expr) -> tuple[Piece, Expr]:
        if ready(mask, frozenset()) is None:
            return Piece(), mask
        local = Name(self.fresh.name("mask"))
        return Piece((Declaration(local.id, LOGICAL),)) + self.build((), mask, Put(local)), local

    # ---- what is ready --------------------------------------------------------

    def _settle(
        self, loops: tuple[Span, ...], value: Expr, sink: Sink, found: Expr, turns: int
    ) -> Piece:
        if isinstance(found, Select) and (holds := self.decided(found.test)) is not None:
            return self.build(loops, resolve(value, found.test, holds), sink, turns)
        match found:
            case Select() if is_index(found, value):
                before, name = self._index(found)
                rest = self.build(loops, canonical(_replace(value, found, name)), sink, turns)
                return before + rest
            case Select(test):
                then_, other_ = (
                    self.build(loops, resolve(value, test, holds), sink, turns)
                    for holds in (True, False)
                )
                return Piece((), (If(test, then_.body, other_.body),))
            case Reduce():
                before, name = self._reduce(found)
                return before + self.build(loops, _replace(value, found, name), sink, turns)
            case Locate():
                before, name = locate(self, found)
                return before + self.build(loops, placed(value, found, name), sink, turns)
            case At(origin, _, body) if body is not None:
                shift = shift_of(origin)
                local = Name(self.fresh.name("shift" if shift else "val"), natural=shift == "modulo")
                type = declarable(origin.type, "an invariant operand")
                inner = self.build((), body, Put(local))
                before = Piece((Declaration(local.id, type),)) + inner
                return before + self.build(loops, _replace(value, found, local), sink, turns)
            case _:
                raise TypeError(f"not ready: {found}")

    def _when(self, test: Expr, then: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """An IF, or what of it is known to be taken."""
        match self.decided(test):
            case True:
                return then
            case False:
                return other
            case None:
                return (If(test, then, other),)

    def decided(self, test: Expr) -> bool | None:
        """Whether a comparison is known to hold, or known not to; None when it is not known."""
        match test:
            case Op("<=", (x, y)):
                pass
            case Op(">=", (y, x)):
                pass
            case _:
                return None
        if self.facts.holds(y, x):
            return True
        return False if self.facts.holds(x, add(y, ONE)) else None

    def _index(self, select: Select) -> tuple[Piece, Expr]:
        """A wrapped subscript as a local integer; MERGE is harmless between two plain integers."""
        name = self.fresh.name("wrap")
        then, other = (add(x, ZERO) for x in (select.then, select.other))
        value = Call("merge", (then, other, select.test))
        return Piece((Declaration(name, INTEGER),), (Store(Name(name), value),)), Name(name)

    def _reduce(self, reduce: Reduce) -> tuple[Piece, Expr]:
        """A reduction as loops over a local accumulator."""
        type = declarable(reduce.type, f"the accumulator of '{reduce.op.upper()}'")
        accumulator = Name(self.fresh.name("acc"))
        reduce, spans = self.named(reduce)
        declarations = (
            Declaration(accumulator.id, type),
            *(Declaration(span.index, INTEGER) for span in spans),
        )
        piece = Piece(declarations)
        empty = Piece((), (Store(accumulator, start(reduce.op, type, accumulator)),))
        element = masked(reduce.mask, reduce.body)
        if any(self.never(span) for span in spans):
            return piece + empty, accumulator
        exact = reduce.op in EXTREMES and type.name == "real"
        if exact and len(spans) == 1 and reduce.mask is None:
            # The first element starts the search, so that NaN and infinities count as they should.
            (span,) = spans
            if is_plain(element):
                return piece + empty + self._search(span, element, accumulator, reduce.op, type), accumulator
            first = self.build((), _at_first(element, span), Put(accumulator))
            gather = Gather(reduce.op, type, accumulator, self.fresh.name)
            others = self.build((replace(span, first=integer(2)),), element, gather)
            search = self._when(at_least(span.last, ONE), (*first.body, *others.body), empty.statements)
            return piece + Piece((), search), accumulator
        if reduce.op == "norm2":
            return piece + empty + self._norm(spans, element, accumulator, type, bool(reduce.at)), accumulator
        gather = Gather(
            reduce.op,
            type,
            accumulator,
            self.fresh.name,
            seen=self.fresh.name("seen") if exact else None,
        )
        if gather.flag is not None:
            piece += Piece((gather.flag,), (Store(Name(gather.flag.name), FALSE),))
        loops = self.build(spans, element, gather)
        if reduce.op in SEARCHES:
            found = accumulator if reduce.op == "any" else Op(".not.", (accumulator,))
            loops = replace(loops, statements=leave(loops.statements, found))
        return piece + empty + loops, accumulator

    def _norm(
        self, spans: tuple[Span, ...], element: Expr, accumulator: Name, type: Type, library: bool
    ) -> Piece:
        """NORM2: the squares are summed of what is divided by ``scale``, the greatest so far."""
        scale, elem = (Name(self.fresh.name(stem)) for stem in ("scale", "elem"))
        begin = Piece((Declaration(scale.id, type), Declaration(elem.id, type)), (Store(scale, ONE),))
        gather = Gather("norm2", type, accumulator, self.fresh.name, norm=(scale, elem), library=library)
        total = Store(accumulator, Op("*", (scale, Call("sqrt", (accumulator,)))))
        return begin + self.build(spans, element, gather) + Piece((), (total,))

    def _search(self, span: Span, element: Expr, accumulator: Name, op: str, type: Type) -> Piece:
        """The first number that is none but NaN, then the extreme of the rest (gfortran's own way)."""
        found = If(Op("==", (accumulator, accumulator)), (Exit(),))
        first = self.build((), element, Put(accumulator))
        gather = Gather(op, type, accumulator, self.fresh.name, ordered=True)
        rest = self.build((replace(span, first=add(Name(span.index), ONE)),), element, gather)
        return Piece((), (span.loop((*first.body, found)), *rest.body))

    def never(self, span: Span) -> bool:
        """Whether the loop surely has no iteration."""
        known = self.facts.value(span.last)
        return known is not None and known < 1

    def named(self, scan: S) -> tuple[S, tuple[Span, ...]]:
        """The reduction or location with printable index names, and its loops, outermost first."""
        printable = {name.id: Name(self.fresh.name("k")) for name, _ in scan.indices}
        body = substitute(scan.body, dict(printable))
        mask = None if scan.mask is None else substitute(scan.mask, dict(printable))
        indices = tuple((printable[name.id], extent) for name, extent in scan.indices)
        spans = tuple(Span(name.id, ONE, extent, concurrent=False) for name, extent in reversed(indices))
        return replace(scan, indices=indices, body=body, mask=mask), spans

    # ---- the inmost loop ------------------------------------------------------

    def _rows(self, span: Span, reduce: Reduce, sink: Put, turns: int) -> Piece:
        """A whole row of accumulators at once: the reduced dimension outside, memory in order."""
        original = reduce
        reduce, (across,) = self.named(reduce)
        target = sink.target
        gather = Gather(reduce.op, reduce.type, target, self.fresh.name, rows=True)
        element = masked(reduce.mask, reduce.body)
        plain = self.build((span,), start(reduce.op, reduce.type, target), Put(target), turns)
        declared = Piece((Declaration(across.index, INTEGER),))
        if self.never(across):
            return plain
        if reduce.op in EXTREMES and reduce.type.name == "real" and is_plain(element):
            gather = replace(gather, ordered=True)
            return declared + plain + self._across(across, span, element, gather) + self._exact(
                span, original, target
            )
        if reduce.op in EXTREMES and reduce.type.name == "real":
            first = self.build((span,), _at_first(element, across), Put(target), turns)
            others = self.build((replace(across, first=integer(2)), span), element, gather, turns)
            test = at_least(across.last, ONE)
            return declared + Piece((), self._when(test, (*first.body, *others.body), plain.body))
        if reduce.op in UNROLLS and is_plain(element):
            return declared + plain + self._across(across, span, element, gather)
        return declared + plain + self.build((across, span), element, gather, turns)

    def _across(self, across: Span, span: Span, element: Expr, gather: Gather) -> Piece:
        """The reduced dimension ``UNROLLED`` at a time, then what is left of it."""
        count = across.last
        known = self.facts.value(count)
        if known is not None and known < UNROLLED:
            return self.build((across, span), element, gather)
        over = integer(known % UNROLLED) if known is not None else Call("mod", (count, integer(UNROLLED)))
        bulk = replace(across, last=sub(count, integer(UNROLLED - 1)), step=integer(UNROLLED))
        total = self.build((bulk, span), element, replace(gather, unrolled=across.index))
        if known is not None and known % UNROLLED == 0:
            return total
        rest = replace(across, first=add(sub(count, over), ONE))
        return total + self.build((rest, span), element, gather)

    def _exact(self, span: Span, reduce: Reduce, target: Expr) -> Piece:
        """Where no number above the least was met, NaN, infinities and no elements at all decide."""
        least = start(reduce.op, reduce.type, target)
        test = Op("<=" if reduce.op == "maxval" else ">=", (target, least))
        inner = self.build((), reduce, Put(target))
        return Piece((), (span.loop((If(test, inner.body),)),))

    def _split(self, span: Span, value: Expr, sink: Sink, where: Turn, turns: int) -> Piece:
        if self.facts.holds(where.at, span.last):
            return self.build((span,), resolve(value, where.test, where.below), sink, turns)
        if self.facts.holds(span.first, add(where.at, ONE)):
            return self.build((span,), resolve(value, where.test, not where.below), sink, turns)
        below = replace(span, last=upper_end(span.last, where.at, self.facts))
        above = replace(span, first=lower_end(span.first, where.at, self.facts))
        piece = Piece()
        parts = [(below, where.below), (above, not where.below)]
        for part, holds in reversed(parts) if span.backward else parts:
            inner = resolve(value, where.test, holds)
            if _empty(part):
                continue
            if (once := at_most_one(part.first, part.last, self.facts)) is not None:
                piece += self._once(once, part.index, inner, sink)
            else:
                piece += self.build((part,), inner, sink, turns - 1)
        return piece

    def _once(self, once: Once, index: str, value: Expr, sink: Sink) -> Piece:
        """A part of a loop that has one iteration, or none when the loop is too short."""

        def at(x: Expr) -> Expr:
            return canonical(substitute(x, {index: once.index}))

        match sink:
            case Put(target) | Push(target):
                sink = replace(sink, target=at(target))
            case Gather(into=into):
                sink = replace(sink, into=at(into), leave=False)
            case Find():
                sink = sink.moved(at)
        inner = self.build((), at(value), sink)
        if not once.tests:
            return Piece((), inner.body)
        test = once.tests[0]
        for more in once.tests[1:]:
            test = Op(".and.", (test, more))
        return Piece((), (If(test, inner.body),))


# ---- looking into a value ---------------------------------------------------------


def _empty(span: Span) -> bool:
    atoms, distance = linear(Op("-", (span.last, span.first)))
    return not atoms and distance < 0


def _at_first(element: Expr, span: Span) -> Expr:
    return canonical(substitute(element, {span.index: ONE}))


def _replace(value: Expr, old: Expr, new: Expr) -> Expr:
    return transform(value, lambda x: new if x == old else None)
