"""In place with some elements kept: those read too late, or a strip of results that waits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
    Ref,
    Select,
    add,
    integer,
    mul,
    names,
    sub,
    substitute,
    transform,
    walk,
)
from fortrans.ir.nest import Allocate, Declaration, If, Loop, Stmt, Store
from fortrans.ir.symbols import INTEGER
from fortrans.polyhedral.verdict import LONGEST_STRIP
from fortrans.remarks import Refusal
from fortrans.transforms.inplace import InPlace, Work, listed, local, scalar
from fortrans.transforms.lower import Lowering
from fortrans.transforms.pieces import Piece, Put, Span, declarable
from fortrans.transforms.ready import is_plain
from fortrans.transforms.split import at_least, at_most_one, canonical, lower_end, turn, upper_end

if TYPE_CHECKING:
    from fortrans.analysis.pairs import Overlap

_NEGATED = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "==": "/="}


def saved(work: Work) -> InPlace:
    """The nest, after elements that it would read too late were saved.  Raises Refusal."""
    verdict = work.verdict
    inner = work.nest.indices[verdict.depth :]
    late = [work.found[k] for k in verdict.late]
    designators = [x.designator for x in late]
    for x in walk(work.opened.value):
        if isinstance(x, At | Reduce | Locate):
            raise Refusal("FT301", "What is saved may be read when it is not yet there")
    if any(work.found.index(x) != k and x.designator in designators for k, x in enumerate(work.found)):
        raise Refusal("FT301", "One element is read in two ways")
    if sum(x.designator in designators for x in work.found) != len(late):
        raise Refusal("FT301", "One element is read in two ways")
    before, captured = Piece(), Piece()
    values: dict[Expr, Expr] = {}
    told: list[str] = []
    arrays = parts = False
    for overlap in late:
        piece, designator = work.captured(overlap.designator)
        save = _Save(work, overlap, designator, inner)
        saving, value = save.made()
        captured += piece + save.captured
        before += saving
        values[designator] = value
        arrays |= bool(save.dims)
        parts |= len(save.dims) == len(inner)
        told.append(save.told())
    work.shared |= arrays
    what = transform(work.opened.value, values.get)
    spans = list(work.spans(verdict.steps))
    if arrays and verdict.depth:
        # The iterations outside share the saved elements.
        spans[: verdict.depth] = [replace(s, concurrent=False) for s in spans[: verdict.depth]]
    # Rooms are made once, before all loops; a scalar belongs to each iteration of the loops outside.
    rooms = tuple(x for x in before.statements if isinstance(x, Allocate))
    filling = tuple(x for x in before.statements if not isinstance(x, Allocate))
    shared = tuple(x for x in before.declarations if x.shape)
    own = tuple(x for x in before.declarations if not x.shape)
    spans[verdict.depth] = replace(spans[verdict.depth], before=Piece(own, filling))
    nest = work.build(spans, work.opened.inside, what)
    how = (
        f"in place, with {listed(dict.fromkeys(told))} of '{work.name}' saved before"
        f" {'they are' if arrays or len(told) > 1 else 'it is'} overwritten"
    )
    form = "part" if parts else "rows" if arrays else "element"
    return InPlace(captured + Piece(shared, rooms) + nest, "FT113", form, how)


class _Save:
    """One designator read too late: where it is kept, and when it is read."""

    def __init__(self, work: Work, overlap: Overlap, designator: Expr, inner: tuple[str, ...]) -> None:
        self.work, self.designator = work, designator
        self.facts = work.composition.captures.facts
        loops = {span.index: span for span in work.opened.loops}
        self.guards: list[Expr] = []
        self.captured = Piece()
        self.dims: list[Span] = []
        self.partial = False
        ranges = {name: (loops[name].first, loops[name].last) for name in inner}
        for test, holds in overlap.pair.tests:
            piece, test = work.captured_test(test)
            self.captured += piece
            self._limit(test, holds, ranges)
        for name in inner:
            first, last = ranges[name]
            once = at_most_one(first, last, self.facts)
            if once is not None and name in names(self.designator):
                self.designator = canonical(substitute(self.designator, {name: once.index}))
                self.guards += once.tests
            elif once is not None:
                self.guards += once.tests
            elif name in names(self.designator):
                self.dims.append(replace(loops[name], first=first, last=last, concurrent=True))
            elif not self.facts.holds(last, first):
                self.guards.append(at_least(last, first))

    def _limit(self, test: Expr, holds: bool, ranges: dict[str, tuple[Expr, Expr]]) -> None:
        """The range of an index, or the guard, that a test gives."""
        inside = names(test) & ranges.keys()
        if not inside:
            if not isinstance(test, Op) or test.op not in _NEGATED:
                raise Refusal("FT301", "What is saved is read under a test that is no comparison")
            self.guards.append(test if holds else Op(_NEGATED[test.op], test.args))
            return
        if len(inside) > 1:
            raise Refusal("FT301", "What is saved is read under a test of two indices")
        (name,) = inside
        found = turn(Select(test, ZERO, ONE), name, frozenset(ranges))
        if found is None:
            raise Refusal("FT301", "What is saved is read under a test that splits no loop")
        first, last = ranges[name]
        self.partial = True
        if found.below is holds:
            ranges[name] = first, upper_end(last, found.at, self.facts)
        else:
            ranges[name] = lower_end(first, found.at, self.facts), last

    def made(self) -> tuple[Piece, Expr]:
        """The saving, and what stands for the element afterwards."""
        work = self.work
        name = local(work, "tmp")
        type = declarable(work.target.type, "a saved element")
        place: Expr = Name(name)
        extents = tuple(add(sub(s.last, s.first), ONE) for s in reversed(self.dims))
        _fixed(work, extents)
        room: tuple[Allocate, ...] = ()
        declared = scalar(work, name)
        if self.dims:
            composition = work.composition
            stack = composition.stack.takes(type, extents, self.facts.value, composition.site.scope)
            declared = Declaration(name, type, extents, allocatable=not stack)
            room = () if stack else (Allocate(Name(name), extents),)
            at = tuple(add(sub(Name(s.index), s.first), ONE) for s in reversed(self.dims))
            place = Ref(Name(name), at)
        lowering = Lowering(work.composition.fresh, self.facts)
        filled = lowering.build(tuple(self.dims), self.designator, Put(place))
        statements = filled.body
        for guard in dict.fromkeys(reversed(self.guards)):
            statements = (If(guard, statements),)
        return Piece((declared,), (*room, *statements)), place

    def told(self) -> str:
        """What is saved, in words."""
        if not self.dims:
            return "one element"
        along = [f"dimension {self.work.dimension(s.index)}" for s in reversed(self.dims)]
        return f"{'some' if self.partial else 'the'} elements along {listed(along)}"


def _fixed(work: Work, extents: tuple[Expr, ...]) -> None:
    """Raise Refusal where a room would have another size in each iteration: it is made before the loops."""
    loops = {span.index for span in work.opened.loops}
    if any(names(extent) & loops for extent in extents):
        raise Refusal("FT301", "How much is saved differs from iteration to iteration")


def strip(work: Work) -> InPlace:
    """Results that wait until what they replace was read.  Raises Refusal."""
    depth = work.verdict.depth
    if depth == len(work.nest.indices) - 1:
        return _by_strips(work)
    return _by_sections(work)


def _forward(work: Work, depth: int) -> tuple[Expr, Expr]:
    """Target and value with the loop at ``depth`` counted from its end if it is to run backwards."""
    name, sign = work.verdict.steps[depth]
    inside, what = work.opened.inside, work.opened.value
    if sign > 0:
        return inside, what
    span = next(s for s in work.opened.loops if s.index == name)
    mirrored = {name: sub(add(span.last, ONE), Name(name))}
    return canonical(substitute(inside, mirrored)), canonical(substitute(what, mirrored))


def _by_sections(work: Work) -> InPlace:
    """Whole sections wait: all that is stored in one iteration of the loop at ``depth``."""
    depth, lag = work.verdict.depth, work.verdict.lag or 0
    loops = list(work.opened.loops)
    outer, along, inner = loops[:depth], loops[depth], loops[depth + 1 :]
    inside, what = _forward(work, depth)
    composition = work.composition
    name = local(work, "strip")
    type = declarable(work.target.type, "a strip of results")
    extents = tuple(s.last for s in reversed(inner)) + ((integer(lag + 1),) if lag else ())
    _fixed(work, extents)
    stack = composition.stack.takes(
        type, extents, composition.captures.facts.value, composition.site.scope
    )
    declared = Declaration(name, type, extents, allocatable=not stack)
    room = () if stack else (Allocate(Name(name), extents),)
    index: Expr = Name(along.index)

    def slot(at: Expr) -> Expr:
        place = tuple(Name(s.index) for s in reversed(inner))
        if not lag:
            return Ref(Name(name), place)
        return Ref(Name(name), (*place, add(Call("mod", (at, integer(lag + 1))), ONE)))

    def store(at: Expr) -> Piece:
        where = canonical(substitute(inside, {along.index: at}))
        return work.build(inner, where, slot(at))

    computed = work.build(inner, slot(index), what)
    behind = sub(index, integer(lag))
    stored = store(behind)
    if lag:
        stored = Piece(stored.declarations, (If(Op(">", (index, integer(lag))), stored.statements),))
    whole: tuple[Stmt, ...] = (replace(along, concurrent=False).loop((computed + stored).body),)
    if lag:
        # The last sections have waited long enough.
        first: Expr = ONE
        if not composition.captures.facts.holds(along.last, integer(lag)):
            first = Call("max", (sub(along.last, integer(lag - 1)), ONE))
        else:
            first = sub(along.last, integer(lag - 1))
        rest = store(index)
        whole = (*whole, Loop(along.index, first, along.last, rest.body, concurrent=False))
    for span in reversed(outer):
        whole = (replace(span, concurrent=False).loop(whole),)
    d = work.dimension(along.index)
    count = "one section" if lag == 0 else f"{lag + 1} sections"
    how = f"in place, with {count} of results along dimension {d} kept until '{work.name}' was read there"
    return InPlace(Piece((declared,), (*room, *whole)), "FT113", "strip", how)


def _by_strips(work: Work) -> InPlace:
    """Strips of the inmost loop wait: one is computed before the one in front of it is stored."""
    depth = work.verdict.depth
    *outer, along = work.opened.loops
    inside, what = _forward(work, depth)
    if not is_plain(what):
        raise Refusal("FT301", "Only plain expressions are computed by strips")
    name, start, last = (local(work, stem) for stem in ("strip", "first", "last"))
    type = declarable(work.target.type, "a strip of results")
    length = integer(LONGEST_STRIP)
    declared = (
        Declaration(name, type, (length, integer(2))),
        *(Declaration(x, INTEGER) for x in (start, last)),
    )
    index: Expr = Name(along.index)

    def slot(first: Expr) -> Ref:
        number = add(Call("mod", (Op("/", (first, length)), integer(2))), ONE)
        return Ref(Name(name), (add(sub(index, first), ONE), number))

    def between(first: Expr, to: Expr, target: Expr, value: Expr) -> tuple[Stmt, ...]:
        return work.build((replace(along, first=first, last=to),), target, value).body

    begin: Expr = Name(start)
    end: Expr = Name(last)
    before = sub(begin, length)
    ended = Store(end, Call("min", (add(begin, integer(LONGEST_STRIP - 1)), along.last)))
    computed = between(begin, end, slot(begin), what)
    stored = between(before, sub(begin, ONE), inside, slot(before))
    body = (ended, *computed, If(Op(">", (begin, ONE)), stored))
    strips = Loop(start, ONE, along.last, body, concurrent=False, step=length)
    final = add(mul(Op("/", (sub(along.last, ONE), length)), length), ONE)
    rest = (Store(begin, final), *between(begin, along.last, inside, slot(begin)))
    whole: tuple[Stmt, ...] = (strips, If(at_least(along.last, ONE), rest))
    for span in reversed(outer):
        whole = (replace(span, concurrent=False).loop(whole),)
    how = (
        f"in place, with results along dimension {work.dimension(along.index)} kept in strips of"
        f" {LONGEST_STRIP} until '{work.name}' was read there"
    )
    return InPlace(Piece(declared, whole), "FT113", "strip", how)

