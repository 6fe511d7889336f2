"""Where a statement of a nest stands: its iterations as pieces, and subscripts over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fortrans.ir.expr import Expr, Name, Range, constant
from fortrans.ir.loops import Index
from fortrans.polyhedral.affine import Facts
from fortrans.polyhedral.cases import MOST, Piece, bounds, cases, disjunction, joined, restricted
from fortrans.polyhedral.domain import Constraint
from fortrans.polyhedral.forms import Affine, NotAffine, floored, of_atom


@dataclass(frozen=True, slots=True)
class Section:
    """The subscripts ``first:last:step`` of an access."""

    first: Affine
    last: Affine
    step: int = 1


Subscript = Affine | Section | None


@dataclass(frozen=True, slots=True)
class Elements:
    """Which elements an access touches in those iterations that ``constraints`` also hold for."""

    constraints: tuple[Constraint, ...]
    subscripts: tuple[Subscript, ...]


@dataclass(frozen=True, slots=True)
class State:
    """What holds where a statement stands."""

    indices: tuple[str, ...] = ()
    signs: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = (((), Facts()),)
    exact: bool = True
    why: str = ""

    def inexact(self, why: str) -> State:
        """The same with the note that its pieces may hold more iterations than there are."""
        return replace(self, exact=False, why=self.why or why)


def ranged(index: Index, piece: Piece, outer: frozenset[str]) -> Iterator[Piece]:
    """A piece with the bounds of one more index.  Raises NotAffine."""
    assert index.first is not None and index.last is not None
    low, high = (index.first, index.last) if index.step > 0 else (index.last, index.first)
    variable = of_atom(Name(index.name))
    # A loop that strides starts at one value, which must be told from others in cases.
    strides = abs(index.step) > 1
    least = (low,) if strides and index.step > 0 else bounds(low, lower=True)
    most = (high,) if strides and index.step < 0 else bounds(high, lower=False)
    for under, facts, lows in _all(least, outer, piece):
        for more, known, highs in _all(most, outer, (under, facts)):
            constraints = [Constraint(variable - form) for form in lows]
            constraints += [Constraint(form - variable) for form in highs]
            if strides:
                offset = variable - (lows if index.step > 0 else highs)[0]
                steps = floored(offset, abs(index.step)).scaled(abs(index.step))
                constraints.append(Constraint(offset - steps, equality=True))
            # Of several bounds any one may serve to prove a sign.
            ranges = known.within({index.name: (lows[0], highs[0])})
            natural = [variable - form for form in lows[1:]] + [form - variable for form in highs[1:]]
            kept = joined(more, constraints)
            if kept is not None:
                yield kept, replace(ranges, natural=(*ranges.natural, *natural))


def _all(
    exprs: Iterable[Expr], indices: frozenset[str], piece: Piece
) -> tuple[tuple[tuple[Constraint, ...], Facts, tuple[Affine, ...]], ...]:
    """All of ``exprs`` as forms, in each combination of their cases."""
    found: tuple[tuple[tuple[Constraint, ...], Facts, tuple[Affine, ...]], ...] = ((*piece, ()),)
    for expr in exprs:
        found = tuple(
            (kept, known, (*forms, form))
            for under, facts, forms in found
            for more, known, form in cases(expr, indices, facts)
            if (kept := joined(under, more)) is not None
        )
        if len(found) > MOST:
            raise NotAffine("too many cases")
    return found


def where(state: State, test: Expr, holds: bool) -> State:
    """``state`` where ``test`` holds, or does not; its pieces exclude one another.  Raises NotAffine."""
    indices = frozenset(state.indices)
    pieces: list[Piece] = []
    done: list[tuple[Expr, ...]] = []
    for conjunction in disjunction(test, holds):
        part: tuple[Piece, ...] = tuple(
            piece for outer in state.pieces for piece in restricted(outer, conjunction, indices)
        )
        for earlier in done:
            part = tuple(piece for outer in part for piece in _without(outer, earlier, indices))
        pieces += part
        done.append(conjunction)
    if len(pieces) > MOST:
        raise NotAffine("too many cases")
    return replace(state, pieces=tuple(pieces))


def _without(piece: Piece, conjunction: tuple[Expr, ...], indices: frozenset[str]) -> tuple[Piece, ...]:
    """What of a piece is left where ``conjunction`` does not hold, as pieces that exclude one another."""
    found: list[Piece] = []
    for number, comparison in enumerate(conjunction):
        for negated in disjunction(comparison, holds=False):
            found += restricted(piece, (*conjunction[:number], *negated), indices)
    return tuple(found)


def elements(subscripts: Sequence[Expr | None], state: State) -> tuple[Elements, ...]:
    """The elements that subscripts give over the pieces of ``state``.  Raises NotAffine."""
    indices = frozenset(state.indices)
    exprs = [x for subscript in subscripts for x in _exprs(subscript)]
    found: dict[tuple[Subscript, ...], list[tuple[Constraint, ...]]] = {}
    for constraints, facts in state.pieces:
        for under, _, forms in _all(exprs, indices, ((), facts)):
            left = list(forms)
            made = tuple(_subscript(subscript, left) for subscript in subscripts)
            whole = () if len(state.pieces) == 1 else constraints
            found.setdefault(made, []).append((*whole, *under))
    if len(found) == 1:
        # The same everywhere: nothing needs to be said of where.
        return tuple(Elements((), made) for made in found)
    return tuple(Elements(under, made) for made, unders in found.items() for under in unders)


def _exprs(subscript: Expr | None) -> tuple[Expr, ...]:
    match subscript:
        case None:
            return ()
        case Range(first, last, _):
            assert first is not None and last is not None
            return first, last
    return (subscript,)


def _subscript(subscript: Expr | None, forms: list[Affine]) -> Subscript:
    match subscript:
        case None:
            return None
        case Range(_, _, step):
            stride = 1 if step is None else constant(step) or 1
            first, last = forms.pop(0), forms.pop(0)
            return Section(first, last, stride)
    return forms.pop(0)
