"""Where an element is: MAXLOC, MINLOC and FINDLOC as loops that keep the place of the best so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.intrinsics.types import convert
from fortrans.ir.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Literal,
    Locate,
    Name,
    Op,
    Ref,
    integer,
    substitute,
    transform,
)
from fortrans.ir.nest import Allocate, Deallocate, Declaration, Exit, If, Stmt, Store
from fortrans.ir.symbols import INTEGER, LOGICAL, Type
from fortrans.transforms.accumulate import FALSE, TRUE, masked, start, unmask
from fortrans.transforms.pieces import Piece, Put, Span, declarable, leave
from fortrans.transforms.ready import is_plain
from fortrans.transforms.split import at_least, canonical

if TYPE_CHECKING:
    from fortrans.transforms.lower import Lowering

INDEX_KIND = 4
MOST_ON_STACK = 1024


@dataclass(frozen=True, slots=True)
class Find:
    """Store the place of one element in ``into`` if it is what ``op`` looks for, as far as is known yet.

    ``into`` is a scalar, or an array with an element for each of ``places``.  ``best`` is the value
    that stands there.  ``back``: of equals the last is taken.  ``started``: ``into`` is never zero.
    ``leave``: the loop is left at the first that is found; ``once``: what was found stays, though
    another loop goes on.
    """

    op: str
    type: Type
    into: Name
    places: tuple[Expr, ...]
    best: Expr
    back: Expr
    fresh: Callable[[str], str]
    started: bool = False
    leave: bool = False
    once: bool = False

    def __call__(self, element: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        mask, value = unmask(element)
        declarations, statements = self._search(value) if self.op == "findloc" else self._better(value)
        return declarations, statements if mask is None else (If(mask, statements),)

    def moved(self, at: Callable[[Expr], Expr]) -> Find:
        """The same outside the loop, whose index has the value that ``at`` gives it."""
        return replace(self, places=tuple(map(at, self.places)), leave=False)

    @property
    def nothing(self) -> Expr:
        """Whether nothing was found yet."""
        return Op("==", (self._first, ZERO))

    @property
    def found(self) -> Expr:
        """Whether something was found."""
        return Op("/=", (self._first, ZERO))

    @property
    def _first(self) -> Expr:
        return self.into if len(self.places) == 1 else Ref(self.into, (ONE,))

    def put(self, places: tuple[Expr, ...]) -> tuple[Stmt, ...]:
        """The places are stored."""
        if len(places) == 1:
            return (Store(self.into, places[0]),)
        return tuple(Store(Ref(self.into, (integer(d + 1),)), x) for d, x in enumerate(places))

    def _search(self, hit: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        taken = If(hit, (*self.put(self.places), *((Exit(),) if self.leave else ())))
        if not self.once:
            return (), (taken,)
        open_ = self.nothing if self.back == FALSE else Op(".or.", (self.back, self.nothing))
        return (), (If(open_, (taken,)),)

    def _better(self, value: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        """NaN gives way to any number and takes the place of none, as in gfortran's own loops."""
        if not isinstance(self.best, Name):
            # The value is read where it was found: not before something was.
            put = self.put(self.places)
            return (), (If(self.nothing, put, (If(self.beats(value), put),)),)
        declarations: tuple[Declaration, ...] = ()
        first: tuple[Stmt, ...] = ()
        if not isinstance(value, Name | Ref):
            name = self.fresh("elem")
            declarations, first = (Declaration(name, self.type),), (Store(Name(name), value),)
            value = Name(name)
        test = self.beats(value)
        if not self.started:
            test = Op(".or.", (self.nothing, test))
        return declarations, (*first, If(test, (Store(self.best, value), *self.put(self.places))))

    def beats(self, value: Expr) -> Expr:
        """Whether the value takes the place of the best so far."""
        greater = self.op == "maxloc"
        equal, last = self.back, self.back == TRUE
        if self.type.name == "real":
            # False of NaN only where it is the new value.
            worse = Op({(True, True): "<", (True, False): "<=", (False, True): ">", (False, False): ">="}[
                greater, last
            ], (value, self.best))
            test: Expr = Op(".and.", (Op(".not.", (Op("()", (worse,)),)), Op("==", (value, value))))
        else:
            sign = (">" if greater else "<") + ("=" if last else "")
            test = Op(sign, (value, self.best))
        if equal in (TRUE, FALSE):
            return test
        return Op(".or.", (test, Op(".and.", (equal, Op("==", (value, self.best))))))


@dataclass(frozen=True, slots=True)
class Row:
    """Store the place of an element in a row of places, and its value in one of values, if it is better.

    ``find`` has the element of either row in ``into`` and ``best``.  The ``first`` is stored as it is.
    """

    find: Find
    into: Expr
    first: bool = False

    def __call__(self, value: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        best, (place,) = self.find.best, self.find.places
        if self.first:
            return (), (Store(best, value), Store(self.into, place))
        declarations: tuple[Declaration, ...] = ()
        before: tuple[Stmt, ...] = ()
        if not isinstance(value, Name | Ref):
            name = self.find.fresh("elem")
            declarations, before = (Declaration(name, self.find.type),), (Store(Name(name), value),)
            value = Name(name)
        better = Name(self.find.fresh("better"))
        # Both choices without a branch, so that a row is a loop of vectors.
        return (*declarations, Declaration(better.id, LOGICAL)), (
            *before,
            Store(better, self.find.beats(value)),
            Store(self.into, Call("merge", (place, self.into, better))),
            Store(best, Call("merge", (value, best, better))),
        )


def locate_rows(lowering: Lowering, span: Span, scan: Locate, sink: Put) -> Piece:
    """A whole row of positions at once, gathered in the target: memory is walked in order."""
    scan, (across,) = lowering.named(scan)
    declared = Piece((Declaration(across.index, INTEGER),))
    none = lowering.build((span,), ZERO, Put(sink.target))
    if lowering.never(across):
        return none
    best = lowering.fresh.name("best")
    type = declarable(scan.operand, f"the values that '{scan.op.upper()}' looks for")
    known = lowering.facts.value(span.last)
    small = known is not None and known <= MOST_ON_STACK
    declared += Piece((Declaration(best, type, (span.last,), allocatable=not small),))
    where = Ref(Name(best), (Name(span.index),))
    back = scan.back or FALSE
    find = Find(scan.op, type, Name(best), (Name(across.index),), where, back, lowering.fresh.name)
    row = Row(replace(find, places=(ONE,)), sink.target, first=True)
    first = lowering.build((span,), canonical(substitute(scan.body, {across.index: ONE})), row)
    others = lowering.build((replace(across, first=integer(2)), span), scan.body, Row(find, sink.target))
    then = (*first.body, *others.body)
    room = () if small else (Allocate(Name(best), (span.last,)),)
    gone = () if small else (Deallocate(Name(best)),)
    return declared + Piece((), _nonempty(lowering, (across,), (*room, *then, *gone), none.body))


def locate(lowering: Lowering, scan: Locate) -> tuple[Piece, Name]:
    """A location as loops over its indices, and the local that holds it."""
    type = declarable(scan.type, f"the result of '{scan.op.upper()}'")
    into = Name(lowering.fresh.name("pos"))
    room = () if scan.part is None else (integer(len(scan.indices)),)
    scan, spans = lowering.named(scan)
    piece = Piece((Declaration(into.id, type, room), *(Declaration(s.index, INTEGER) for s in spans)))
    before, back = _back(lowering, scan.back)
    narrow = isinstance(type.kind, int) and type.kind < INDEX_KIND
    places = tuple(convert(name, type) if narrow else name for name, _ in scan.indices)
    find = Find(scan.op, scan.operand, into, places, into, back, lowering.fresh.name)
    nothing = Piece((), find.put(tuple(ZERO for _ in places)))
    if any(map(lowering.never, spans)):
        return piece + nothing, into
    if scan.op == "findloc":
        return piece + before + _found(lowering, scan, spans, find, nothing), into
    return piece + before + _best(lowering, scan, spans, find, nothing), into


def placed(value: Expr, scan: Locate, into: Name) -> Expr:
    """``value`` with ``into`` in place of the scan, whichever of its positions is meant."""
    bare = replace(scan, part=None, at=())

    def visit(x: Expr) -> Expr | None:
        if not isinstance(x, Locate) or replace(x, part=None, at=()) != bare:
            return None
        return into if x.part is None else Ref(into, (x.part,))

    return transform(value, visit)


def _back(lowering: Lowering, back: Expr | None) -> tuple[Piece, Expr]:
    """BACK as it may be tested for every element."""
    match back:
        case None:
            return Piece(), FALSE
        case Name() | Literal():
            return Piece(), back
        case _:
            name = lowering.fresh.name("back")
            inner = lowering.build((), back, Put(Name(name)))
            return Piece((Declaration(name, LOGICAL),)) + inner, Name(name)


def _found(lowering: Lowering, scan: Locate, spans: tuple[Span, ...], find: Find, nothing: Piece) -> Piece:
    """FINDLOC: the first hit ends the loops; with BACK they run from the end."""
    assert scan.value is not None
    plain = is_plain(scan.body) and (scan.mask is None or is_plain(scan.mask))
    equal = ".eqv." if scan.operand.name == "logical" else "=="
    element = masked(scan.mask, Op(equal, (scan.body, scan.value)))
    if find.back == TRUE and plain:
        spans = tuple(replace(s, first=s.last, last=s.first, step=integer(-1)) for s in spans)
    ends = find.back == FALSE or (find.back == TRUE and plain)
    find = replace(find, leave=ends, once=find.back != TRUE and not (ends and plain))
    loops = lowering.build(spans, element, find)
    if ends and (len(spans) > 1 or not plain):
        loops = replace(loops, statements=leave(loops.statements, find.found))
    return nothing + loops


def _best(lowering: Lowering, scan: Locate, spans: tuple[Span, ...], find: Find, nothing: Piece) -> Piece:
    """MAXLOC and MINLOC: what is first is the best so far, if it is no NaN or all are."""
    element = masked(scan.mask, scan.body)
    measured = scan.operand.name != "character" or isinstance(scan.operand.length, Literal)
    if not measured and is_plain(scan.body):
        where = {
            name.id: find.into if len(scan.indices) == 1 else Ref(find.into, (integer(d + 1),))
            for d, (name, _) in enumerate(scan.indices)
        }
        find = replace(find, best=canonical(substitute(scan.body, dict(where))))
        if not isinstance(find.best, Name):
            return nothing + lowering.build(spans, element, find)
    best = Name(lowering.fresh.name("best"))
    type = declarable(scan.operand, f"the value that '{scan.op.upper()}' looks for")
    find = replace(find, type=type, best=best)
    piece = Piece((Declaration(best.id, type),))
    if not is_plain(element):
        initial = Piece((), (Store(best, start(f"{scan.op[:3]}val", type, best)),))
        return piece + nothing + initial + lowering.build(spans, element, find)
    ones = {span.index: ONE for span in spans}
    first = lowering.build((), canonical(substitute(element, dict(ones))), Put(best))
    if len(spans) == 1:
        spans = (replace(spans[0], first=integer(2)),)
    others = lowering.build(spans, element, replace(find, started=True))
    then = (*first.body, *find.put(tuple(ONE for _ in spans)), *others.body)
    return piece + Piece((), _nonempty(lowering, spans, then, nothing.statements))


def _nonempty(
    lowering: Lowering, spans: tuple[Span, ...], then: tuple[Stmt, ...], nothing: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    """``then`` if there are elements at all."""
    tests = [at_least(span.last, ONE) for span in spans]
    tests = [test for test in tests if lowering.decided(test) is None]
    if not tests:
        return then
    together = tests[0]
    for test in tests[1:]:
        together = Op(".and.", (together, test))
    return (If(together, then, nothing),)
