"""Assignments to an array that the right-hand side reads, in place: ``FT111`` to ``FT114``.

What may be done is the polyhedral room's verdict; here it becomes loops.  Whatever cannot be told
or emitted falls back to the temporary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fortrans.analysis.overlap import function_may_read
from fortrans.analysis.pairs import Overlap, nest_of, overlaps
from fortrans.ir.arrays import Array, Section, base_name, path_name
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Component,
    Expr,
    Locate,
    Name,
    Op,
    Reduce,
    Ref,
    Select,
    from_linear,
    transform,
    walk,
)
from fortrans.ir.nest import Declaration, If
from fortrans.ir.symbols import INTEGER, Scope, Symbol
from fortrans.polyhedral.affine import affine
from fortrans.polyhedral.conflicts import Nest, context, reduced
from fortrans.polyhedral.forms import Affine, Atom, Floor, Local, NotAffine, Product
from fortrans.polyhedral.verdict import Kind, Steps, Verdict, decide
from fortrans.remarks import Refusal
from fortrans.transforms.lower import Lowering
from fortrans.transforms.pieces import Piece, Put, Span, declarable
from fortrans.transforms.split import canonical, resolve

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition, Opened


@dataclass(frozen=True, slots=True)
class InPlace:
    """The statements, the code of the remark, and how it is done in the user's terms.

    ``form`` is what profit depends on: apart, order, guard, element, rows, part, strip, reversed or
    transposed.
    """

    body: Piece
    code: str
    form: str
    how: str = ""


@dataclass(slots=True)
class Work:
    """An assignment opened up as loops, with what overlaps in it."""

    composition: Composition
    target: Section
    value: Array
    opened: Opened
    found: tuple[Overlap, ...]
    nest: Nest
    verdict: Verdict
    shared: bool = False
    """Whether the indices have other uses in the statement, where they are declared for all."""
    inner: set[str] = field(default_factory=set)
    """Indices of sequential loops inside concurrent ones: each iteration outside has its own."""

    @property
    def name(self) -> str:
        """The array, as a remark names it."""
        return path_name(self.target.base)

    def dimension(self, index: str) -> int:
        """The dimension that a loop runs along."""
        return len(self.nest.indices) - self.nest.indices.index(index)

    def simplest(self, index: str) -> Expr:
        """The extent of a loop as conformance lets it be written most simply."""
        facts, solved = context(self.nest)
        (extent,) = (extent for name, extent in self.nest.loops if name == index)
        (span,) = (span for span in self.opened.loops if span.index == index)
        form = reduced(affine(extent, frozenset(), facts), solved)
        if all(isinstance(atom, Name) for atom, _ in form.terms):
            return from_linear({atom: w for atom, w in form.terms if isinstance(atom, Name)}, form.constant)
        return span.last

    def spans(self, steps: Steps) -> tuple[Span, ...]:
        """The loops in the order and direction of ``steps``."""
        by_name = {span.index: span for span in self.opened.loops}
        return tuple(
            replace(by_name[name], concurrent=sign == 0, backward=sign < 0) for name, sign in steps
        )

    def captured(self, expr: Expr) -> tuple[Piece, Expr]:
        """``expr``, an element or its subscripts, with what is read once before the nest."""
        piece, _, _, taken = self.composition.captures.take(self.opened.loops, ZERO, expr)
        return piece, canonical(taken)

    def captured_test(self, test: Expr) -> tuple[Piece, Expr]:
        """``test``, a comparison, with what is read once before the nest."""
        piece, taken = self.captured(Select(test, ZERO, ONE))
        assert isinstance(taken, Select)
        return piece, taken.test

    def build(self, loops: Sequence[Span], inside: Expr, what: Expr) -> Piece:
        """The nest that stores ``what``."""
        loops = self._nested(loops)
        lowering = Lowering(self.composition.fresh, self.composition.captures.facts)
        return lowering.build(tuple(loops), canonical(what), Put(canonical(inside)))


    def _nested(self, loops: Sequence[Span]) -> tuple[Span, ...]:
        """The loops where the index of a sequential one is no variable that concurrent ones share."""
        found = list(loops)
        for k, span in enumerate(found):
            if span.concurrent or not any(s.concurrent for s in found[:k]):
                continue
            if self.shared:
                found[:k] = [replace(s, concurrent=False) for s in found[:k]]
            else:
                own = Piece((Declaration(span.index, INTEGER),))
                found[k] = replace(span, before=own + (span.before or Piece()))
                self.inner.add(span.index)
        return tuple(found)


def in_place(
    composition: Composition, target: Section, value: Array
) -> tuple[Composition, InPlace] | None:
    """How the assignment is done without a temporary for the whole value, if it can be.

    The composition that comes back has the names and temporaries this takes.
    """
    from fortrans.transforms import saved, swap

    trial = composition.trial()
    try:
        work = _work(trial, target, value)
        if work is None:
            return None
        match work.verdict.kind:
            case Kind.TEMPORARY:
                return None
            case Kind.GUARDED:
                done = _guarded(work)
            case Kind.SWAPPED:
                done = swap.swapped(work)
            case Kind.BUFFERED if work.verdict.lag is not None:
                done = saved.strip(work)
            case Kind.BUFFERED:
                done = saved.saved(work)
            case _:
                done = _ordered(work)
    except (Refusal, NotAffine):
        return None
    before = work.opened.before
    shared = tuple(d for d in before.declarations if d.name not in work.inner)
    return trial, replace(done, body=replace(before, declarations=shared) + done.body)


def _work(trial: Composition, target: Section, value: Array) -> Work | None:
    scope = trial.site.scope
    opened = trial.opened(target, value)
    opened = replace(
        opened,
        loops=tuple(replace(s, last=_dimensioned(s.last, scope)) for s in opened.loops),
        inside=_dimensioned(opened.inside, scope),
        value=_dimensioned(opened.value, scope),
    )
    order = tuple(span.index for span in opened.loops)
    what = raised(opened.value, base_name(target.base))
    opened = replace(opened, value=what)
    if function_may_read(opened.inside, what, scope) is not None:
        return None
    found = overlaps(opened.inside, what, order, scope, frozenset(trial.own))
    if not found:
        return None
    nest = nest_of([(span.index, span.last) for span in opened.loops], target, value, scope)
    reduces = any(isinstance(x, Reduce | Locate | At) for x in walk(what))
    verdict = decide([x.pair for x in found], nest, fixed=reduces)
    shared = bool(opened.before.statements) or verdict.kind is Kind.GUARDED
    captured, loops, inside, taken = trial.captures.take(opened.loops, opened.inside, what)
    opened = replace(
        opened, loops=loops, inside=inside, value=canonical(taken), before=opened.before + captured
    )
    return Work(trial, target, value, opened, found, nest, verdict, shared)


def _dimensioned(expr: Expr, scope: Scope) -> Expr:
    """``expr`` where the size of a vector is that of its dimension, as extents have it."""

    def visit(x: Expr) -> Expr | None:
        match x:
            case Call("size", (Name(id) as array,), user=False):
                symbol = scope.lookup(id)
                return Call("size", (array, ONE)) if isinstance(symbol, Symbol) and symbol.rank == 1 else None
            case _:
                return None

    return transform(expr, visit)


def raised(value: Expr, root: str) -> Expr:
    """``value`` where choices in subscripts of arrays of ``root`` became choices of elements."""

    def visit(x: Expr) -> Expr | None:
        if not isinstance(x, Ref | Component) or base_name(x) != root:
            return None
        for part in walk(x):
            if isinstance(part, Select):
                yes, no = (raised(resolve(x, part.test, holds), root) for holds in (True, False))
                return Select(part.test, yes, no)
        return None

    return transform(value, visit)


# ---- an order of the loops ------------------------------------------------------------------


def _ordered(work: Work) -> InPlace:
    verdict, opened = work.verdict, work.opened
    nest = work.build(work.spans(verdict.steps), opened.inside, opened.value)
    if verdict.kind is not Kind.ORDERED:
        return InPlace(nest, "FT101", "apart")
    directions = listed(
        f"{'forwards' if sign > 0 else 'backwards'} along dimension {work.dimension(name)}"
        for name, sign in verdict.steps
        if sign
    )
    how = f"in place, {directions}, so that '{work.name}' is read before it is overwritten"
    return InPlace(nest, "FT111", "order", how)


def _guarded(work: Work) -> InPlace:
    verdict, opened = work.verdict, work.opened
    assert verdict.guard is not None and verdict.otherwise is not None
    captured, test = work.captured_test(Op(">=", split_sign(verdict.guard)))
    here = work.build(work.spans(verdict.steps), opened.inside, opened.value)
    asks = listed(f"'{name}'" for name in _variables(verdict.guard)) or "the bounds"
    if verdict.otherwise.kind is Kind.TEMPORARY:
        trial = work.composition
        filled, copy = trial.temporary(work.value)
        there = filled + trial.store(work.target, copy, rows=False)
        let = "lets" if asks.count("'") == 2 else "let"
        how = f"in place where {asks} {let} it at run time, else through a temporary"
    else:
        there = work.build(work.spans(verdict.otherwise.steps), opened.inside, opened.value)
        how = f"in place, in the order that {asks} ask for at run time"
        if asks.count("'") == 2:
            how = how.replace(" ask ", " asks ")
    both = Piece(
        (*here.declarations, *there.declarations), (If(test, here.statements, there.statements),)
    )
    return InPlace(captured + both, "FT112", "guard", how)


def split_sign(form: Affine) -> tuple[Expr, Expr]:
    """The two sides of ``form >= 0``, both without a minus.  Raises NotAffine for a division."""
    positive: dict[Expr, int] = {}
    negative: dict[Expr, int] = {}
    for atom, weight in form.terms:
        (positive if weight > 0 else negative)[_printed(atom)] = abs(weight)
    constant = form.constant
    return (
        from_linear(positive, max(constant, 0)) if positive or constant > 0 else ZERO,
        from_linear(negative, max(-constant, 0)) if negative or constant < 0 else ZERO,
    )


def _printed(atom: Atom) -> Expr:
    match atom:
        case Product(factors):
            first, *rest = factors
            for factor in rest:
                first = Op("*", (first, factor))
            return first
        case Floor() | Local():
            raise NotAffine("a division")
        case _:
            return atom


def _variables(form: Affine) -> list[str]:
    """The names in a form, as a remark has them."""
    found: list[str] = []
    for atom in form.atoms():
        match atom:
            case Floor() | Product() | Local():
                pass
            case _:
                found += [x.id for x in walk(atom) if isinstance(x, Name)]
    return list(dict.fromkeys(found))


def listed(words: Iterable[str]) -> str:
    """Words joined as in a sentence."""
    found = list(words)
    if len(found) < 2:
        return "".join(found)
    return f"{', '.join(found[:-1])} and {found[-1]}"


def local(work: Work, stem: str) -> str:
    """A new name of ours."""
    name = work.composition.fresh.name(stem)
    work.composition.own.add(name)
    return name


def scalar(work: Work, name: str) -> Declaration:
    """A local for one element of the target.  Raises Refusal when it cannot be declared."""
    return Declaration(name, declarable(work.target.type, "a saved element"))
