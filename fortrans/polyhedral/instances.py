"""The statements of a nest with the iterations they are executed for and the elements they touch.

A tree of loops (``fortrans.ir.loops``) becomes a list of instances: unions of pieces of the
iteration space, an execution order in 2d+1 form, and the accesses as quasi-affine subscripts.
What is not affine is left out and noted: such an instance (or touch) stands for no fewer
iterations (elements) than there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fortrans.ir.expr import Expr, Name, Range, constant, names
from fortrans.ir.loops import (
    Access,
    Arm,
    Assign,
    Block,
    Branch,
    Index,
    Jump,
    Loop,
    Node,
    Other,
    Parameter,
)
from fortrans.polyhedral.affine import Facts
from fortrans.polyhedral.cases import MOST, Piece, bounds, cases, disjunction, restricted
from fortrans.polyhedral.domain import Constraint
from fortrans.polyhedral.forms import Affine, Atom, NotAffine, floored, of_atom
from fortrans.source import Span


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
class Touch:
    """An access of an instance.  ``elements`` exclude one another; ``exact``: no subscript is None."""

    access: Access
    elements: tuple[Elements, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """A statement in its nest.

    ``indices`` are those of the loops around it, outermost first, and ``signs`` whether each
    counts up (1) or down (-1); ``order`` is its place among its siblings at each level, one more
    than there are loops.  ``pieces`` exclude one another.  ``exact``: these are just the
    iterations it is executed for; ``why`` is what is not affine.
    """

    statement: Assign
    indices: tuple[str, ...]
    signs: tuple[int, ...]
    order: tuple[int, ...]
    pieces: tuple[Piece, ...]
    touches: tuple[Touch, ...]
    exact: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop and its instances, in textual order.

    ``flaws`` are statements that are not read, each with its lines and a sentence.
    """

    loop: Loop
    instances: tuple[Instance, ...]
    flaws: tuple[tuple[Span, str], ...]


@dataclass(frozen=True, slots=True)
class _State:
    """What holds where a statement stands."""

    indices: tuple[str, ...] = ()
    signs: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = (((), Facts()),)
    exact: bool = True
    why: str = ""

    def inexact(self, why: str) -> _State:
        return replace(self, exact=False, why=self.why or why)


@dataclass(slots=True)
class _Walk:
    """One walk over a nest."""

    parameters: Mapping[str, Parameter]
    defined: frozenset[str]
    instances: list[Instance] = field(default_factory=list)
    flaws: list[tuple[Span, str]] = field(default_factory=list)
    jumps: bool = False

    # -- the tree

    def nodes(self, nodes: Sequence[Node], state: _State, number: int = 0) -> int:
        """Go through siblings, the first of which is the ``number``-th; how many there are then."""
        for node in nodes:
            match node:
                case Assign():
                    self.instance(node, replace(state, order=(*state.order, number)))
                    number += 1
                case Loop():
                    self.loop(node, replace(state, order=(*state.order, number)))
                    number += 1
                case Block(_, body, _):
                    number = self.nodes(body, state, number)
                case Branch(arms, _):
                    number = self.branch(arms, state, number)
                case Jump():
                    self.jumps = True
                case Other(why, span):
                    self.flaws.append((span, why))
        return number

    def loop(self, loop: Loop, state: _State) -> None:
        """A loop at its place: ``state.order`` ends with its number among its siblings."""
        for depth, index in enumerate(loop.indices):
            if depth:
                state = replace(state, order=(*state.order, 0))
            # The bounds of one header do not depend on its indices.
            state = self.index(index, state)
        self.nodes(loop.body, state)

    def index(self, index: Index, state: _State) -> _State:
        """``state`` inside a loop of ``index``."""
        sign = -1 if index.step < 0 else 1
        inner = replace(state, indices=(*state.indices, index.name), signs=(*state.signs, sign))
        name = f"limits of loop '{index.name}'"
        known = self.affine(index.first, state) and self.affine(index.last, state)
        if not known or not index.step or index.first is None or index.last is None:
            return inner.inexact(f"the {name} are not affine")
        try:
            pieces = [
                piece for outer in state.pieces for piece in _ranged(index, outer, frozenset(state.indices))
            ]
        except NotAffine:
            return inner.inexact(f"the {name} are not affine")
        if len(pieces) > MOST:
            return inner.inexact(f"the {name} have too many cases")
        return replace(inner, pieces=tuple(pieces))

    def branch(self, arms: Sequence[Arm], state: _State, number: int) -> int:
        """The arms of a branch, one after the other; each where no earlier test held."""
        rest = state
        for arm in arms:
            if not arm.known or (arm.test is not None and not self.affine(arm.test, state)):
                unknown = rest.inexact("a test is not affine")
                number = self.nodes(arm.body, unknown, number)
                rest = unknown
                continue
            try:
                taken = rest if arm.test is None else _where(rest, arm.test, True)
                left = rest if arm.test is None else _where(rest, arm.test, False)
            except NotAffine:
                taken = left = rest.inexact("a test is not affine")
            if taken.pieces:
                number = self.nodes(arm.body, taken, number)
            rest = left
        return number

    def affine(self, expr: Expr | None, state: _State) -> bool:
        """Whether nothing in ``expr`` is defined in the nest but the indices around."""
        if expr is None:
            return False
        for name in names(expr):
            if name in state.indices:
                continue
            root = self.parameters[name].root if name in self.parameters else name
            if root in self.defined:
                return False
        return True

    # -- statements

    def instance(self, statement: Assign, state: _State) -> None:
        """A statement at its place."""
        for flaw in statement.flaws:
            self.flaws.append((statement.span, f"Statement is not understood, since {flaw}"))
        touches = tuple(self.touch(access, state) for access in statement.accesses)
        self.instances.append(
            Instance(
                statement,
                state.indices,
                state.signs,
                state.order,
                state.pieces,
                touches,
                state.exact,
                state.why,
            )
        )

    def touch(self, access: Access, state: _State) -> Touch:
        """The elements of ``access``."""
        known = [self._known(subscript, state) for subscript in access.subscripts]
        try:
            elements = _elements(known, state)
        except NotAffine:
            known = [self._alone(subscript, state) for subscript in known]
            elements = _elements(known, state)
        exact = all(x is not None for element in elements for x in element.subscripts)
        return Touch(access, elements, exact)

    def _known(self, subscript: Expr | None, state: _State) -> Expr | None:
        match subscript:
            case Range(first, last, step):
                fine = self.affine(first, state) and self.affine(last, state) and self.affine(step, state)
                return subscript if fine else None
        return subscript if self.affine(subscript, state) else None

    def _alone(self, subscript: Expr | None, state: _State) -> Expr | None:
        """``subscript`` where it is affine by itself, in one case; else None."""
        if subscript is None:
            return None
        try:
            found = _elements([subscript], state)
        except NotAffine:
            return None
        return subscript if len(found) == 1 else None


def _ranged(index: Index, piece: Piece, outer: frozenset[str]) -> Iterator[Piece]:
    """A piece with the bounds of one more index.  Raises NotAffine."""
    assert index.first is not None and index.last is not None
    low, high = (index.first, index.last) if index.step > 0 else (index.last, index.first)
    variable = of_atom(Name(index.name))
    for under, facts, lows in _all(bounds(low, lower=True), outer, piece):
        for more, known, highs in _all(bounds(high, lower=False), outer, (under, facts)):
            constraints = [*more, *(Constraint(variable - form) for form in lows)]
            constraints += [Constraint(form - variable) for form in highs]
            start = lows if index.step > 0 else highs
            if abs(index.step) > 1:
                if len(start) > 1:
                    raise NotAffine("a strided loop starts at one of several values")
                offset = variable - start[0]
                steps = floored(offset, abs(index.step)).scaled(abs(index.step))
                constraints.append(Constraint(offset - steps, equality=True))
            # Of several bounds any one may serve to prove a sign.
            ranges = known.within({index.name: (lows[0], highs[0])})
            natural = [variable - form for form in lows[1:]] + [form - variable for form in highs[1:]]
            yield tuple(constraints), replace(ranges, natural=(*ranges.natural, *natural))


def _all(
    exprs: Iterable[Expr], indices: frozenset[str], piece: Piece
) -> tuple[tuple[tuple[Constraint, ...], Facts, tuple[Affine, ...]], ...]:
    """All of ``exprs`` as forms, in each combination of their cases."""
    found: tuple[tuple[tuple[Constraint, ...], Facts, tuple[Affine, ...]], ...] = ((*piece, ()),)
    for expr in exprs:
        found = tuple(
            ((*under, *more), known, (*forms, form))
            for under, facts, forms in found
            for more, known, form in cases(expr, indices, facts)
        )
        if len(found) > MOST:
            raise NotAffine("too many cases")
    return found


def _where(state: _State, test: Expr, holds: bool) -> _State:
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


def _elements(subscripts: Sequence[Expr | None], state: _State) -> tuple[Elements, ...]:
    """The elements that subscripts give over the pieces of ``state``.  Raises NotAffine."""
    indices = frozenset(state.indices)
    exprs = [x for subscript in subscripts for x in _parts(subscript)]
    found: dict[tuple[Subscript, ...], list[tuple[Constraint, ...]]] = {}
    for constraints, facts in state.pieces:
        for under, _, forms in _all(exprs, indices, ((), facts)):
            left = list(forms)
            made = tuple(_subscript(subscript, left) for subscript in subscripts)
            found.setdefault(made, []).append((*constraints, *under))
    if len(found) == 1:
        # The same everywhere: nothing needs to be said of where.
        return tuple(Elements((), made) for made in found)
    return tuple(Elements(under, made) for made, unders in found.items() for under in unders)


def _parts(subscript: Expr | None) -> tuple[Expr, ...]:
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


# ---- the whole nest ---------------------------------------------------------------


def nest(
    loop: Loop, parameters: Mapping[str, Parameter], outer: Sequence[Loop] = (), facts: Facts | None = None
) -> Nest:
    """The instances of ``loop``; indices of loops ``outer`` around it count as parameters."""
    known = Facts() if facts is None else facts
    extents: dict[Atom, int] = {Name(name): 0 for name, parameter in parameters.items() if parameter.extent}
    known = replace(known, least={**known.least, **extents})
    walk = _Walk(parameters, defined(loop))
    state = _State(order=(), pieces=(((), known),))
    walk.loop(loop, replace(state, order=(0,)))
    instances = tuple(walk.instances)
    if walk.jumps:
        instances = tuple(
            replace(x, exact=False, why=x.why or "CYCLE or EXIT may skip it") for x in instances
        )
    return Nest(loop, instances, tuple(walk.flaws))


def defined(node: Node) -> frozenset[str]:
    """The variables that a node may define, DO variables among them; components by their object."""
    match node:
        case Assign(accesses=accesses):
            return frozenset(access.array.partition("%")[0] for access in accesses if access.write)
        case Loop(indices, body):
            return frozenset(index.name for index in indices).union(*map(defined, body))
        case Branch(arms, _):
            return frozenset().union(*(defined(inner) for arm in arms for inner in arm.body))
        case Block(own, body, _):
            return own.union(*map(defined, body))
        case Jump() | Other():
            return frozenset()

