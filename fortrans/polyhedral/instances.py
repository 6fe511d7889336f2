"""The statements of a nest with the iterations they are executed for and the elements they touch.

A tree of loops (``fortrans.ir.loops``) becomes a list of instances: unions of pieces of the
iteration space, an execution order in 2d+1 form, and the accesses as quasi-affine subscripts.
What is not affine is left out and noted: such an instance (or touch) stands for no fewer
iterations (elements) than there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from fortrans.ir.expr import Call, Expr, Name, Op, Range, names, walk
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
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.cases import MOST, Piece
from fortrans.polyhedral.forms import Atom, NotAffine
from fortrans.polyhedral.pieces import Elements, State, elements, ranged, where
from fortrans.source import Span


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


@dataclass(slots=True)
class _Walk:
    """One walk over a nest."""

    parameters: Mapping[str, Parameter]
    defined: frozenset[str]
    instances: list[Instance] = field(default_factory=list)
    flaws: list[tuple[Span, str]] = field(default_factory=list)
    jumps: bool = False

    # -- the tree

    def nodes(self, nodes: Sequence[Node], state: State, number: int = 0) -> int:
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

    def loop(self, loop: Loop, state: State) -> None:
        """A loop at its place: ``state.order`` ends with its number among its siblings."""
        for depth, index in enumerate(loop.indices):
            if depth:
                state = replace(state, order=(*state.order, 0))
            # The bounds of one header do not depend on its indices.
            state = self.index(index, state)
        self.nodes(loop.body, state)

    def index(self, index: Index, state: State) -> State:
        """``state`` inside a loop of ``index``."""
        sign = -1 if index.step < 0 else 1
        inner = replace(state, indices=(*state.indices, index.name), signs=(*state.signs, sign))
        name = f"limits of loop '{index.name}'"
        known = self.affine(index.first, state) and self.affine(index.last, state)
        if not known or not index.step or index.first is None or index.last is None:
            return inner.inexact(f"the {name} are not affine")
        try:
            pieces = [
                piece for outer in state.pieces for piece in ranged(index, outer, frozenset(state.indices))
            ]
        except NotAffine as problem:
            return inner.inexact(f"the {name} are not affine: {problem.args[0]}")
        if len(pieces) > MOST:
            return inner.inexact(f"the {name} are not affine: too many cases")
        return replace(inner, pieces=tuple(pieces))

    def branch(self, arms: Sequence[Arm], state: State, number: int) -> int:
        """The arms of a branch, one after the other; each where no earlier test held."""
        rest = state
        for arm in arms:
            if not arm.known or (arm.test is not None and not self.affine(arm.test, state)):
                unknown = rest.inexact("a test is not affine")
                number = self.nodes(arm.body, unknown, number)
                rest = unknown
                continue
            try:
                taken = rest if arm.test is None else where(rest, arm.test, True)
                left = rest if arm.test is None else where(rest, arm.test, False)
            except NotAffine as problem:
                taken = left = rest.inexact(f"a test is not affine: {problem.args[0]}")
            if taken.pieces:
                number = self.nodes(arm.body, taken, number)
            rest = left
        return number

    def affine(self, expr: Expr | None, state: State) -> bool:
        """Whether nothing in ``expr`` is defined in the nest but the indices around."""
        if expr is None:
            return False
        for name in names(expr):
            if name in state.indices:
                continue
            parameter = self.parameters.get(name)
            if parameter is None or not parameter.inquiry:
                root = name if parameter is None else parameter.root
                if any(_related(root, other) for other in self.defined):
                    return False
        return True

    # -- statements

    def instance(self, statement: Assign, state: State) -> None:
        """A statement at its place."""
        for flaw in statement.flaws:
            self.flaws.append((statement.span, f"Statement is not understood, since {flaw}"))
        touches = tuple(
            self.touch(access, state)
            for access in statement.accesses
            if not access.arithmetic or any(_related(access.array, other) for other in self.defined)
        )
        if statement.target is None and not (touches or statement.flaws or statement.calls):
            return
        if not state.pieces:
            return  # It is never executed.
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

    def touch(self, access: Access, state: State) -> Touch:
        """The elements of ``access``."""
        known = [self._known(subscript, state) for subscript in access.subscripts]
        try:
            found = elements(known, state)
        except NotAffine:
            known = [self._alone(subscript, state) for subscript in known]
            found = elements(known, state)
        exact = not access.part and all(x is not None for element in found for x in element.subscripts)
        return Touch(access, found, exact)

    def _known(self, subscript: Expr | None, state: State) -> Expr | None:
        match subscript:
            case Range(first, last, step):
                fine = self.affine(first, state) and self.affine(last, state) and self.affine(step, state)
                return subscript if fine else None
        return subscript if self.affine(subscript, state) else None

    def _alone(self, subscript: Expr | None, state: State) -> Expr | None:
        """``subscript`` where it is affine by itself, in one case; else None."""
        if subscript is None:
            return None
        try:
            found = elements([subscript], state)
        except NotAffine:
            return None
        return subscript if len(found) == 1 else None


def _related(one: str, other: str) -> bool:
    """Whether of two objects one is the other or a part of it."""
    return one == other or one.startswith(f"{other}%") or other.startswith(f"{one}%")


# ---- the whole nest ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """Tests that hold in an arm of a branch, or do not; and what the arm may define."""

    tests: tuple[tuple[Expr, bool], ...]
    defined: frozenset[str]


Around = Loop | Condition
"""What encloses a loop."""


def nest(
    loop: Loop,
    parameters: Mapping[str, Parameter],
    facts: Facts | None = None,
    around: Sequence[Around] = (),
) -> Nest:
    """The instances of ``loop``.

    Indices of the loops ``around`` it, outermost first, count as parameters; what is known of them
    restricts the instances.
    """
    known = Facts() if facts is None else facts
    extents: dict[Atom, int] = {Name(name): 0 for name, parameter in parameters.items() if parameter.extent}
    known = replace(known, least={**known.least, **extents})
    walk = _Walk(parameters, defined(loop))
    state = _enclosed(State(pieces=(((), known),)), around, parameters, walk.defined)
    walk.loop(loop, replace(state, indices=(), signs=(), order=(0,)))
    instances = tuple(walk.instances)
    if walk.jumps:
        instances = tuple(
            replace(x, exact=False, why=x.why or "CYCLE or EXIT may skip it") for x in instances
        )
    indices = frozenset(_indices(loop))
    for instance in instances:
        for touch in instance.touches:
            if touch.access.array in indices:
                message = f"DO variable '{touch.access.array}' is used outside its loop"
                walk.flaws.append((instance.statement.span, message))
    return Nest(loop, instances, tuple(walk.flaws))


def _enclosed(
    state: State, around: Sequence[Around], parameters: Mapping[str, Parameter], inside: frozenset[str]
) -> State:
    """``state`` within what encloses a nest; what is not affine there says nothing."""
    changing = inside
    for outer in reversed(around):
        changing |= defined(outer) if isinstance(outer, Loop) else outer.defined
    for outer in around:
        walk = _Walk(parameters, changing)
        if isinstance(outer, Loop):
            for index in outer.indices:
                found = walk.index(index, state)
                state = replace(found, pieces=found.pieces if found.exact else state.pieces, exact=True)
            continue
        for test, holds in outer.tests:
            if walk.affine(test, state):
                with suppress(NotAffine):
                    state = where(state, test, holds)
    return state


def _indices(node: Node) -> Iterator[str]:
    """The DO variables of all loops in a node."""
    match node:
        case Loop(indices, body):
            yield from (index.name for index in indices)
            for inner in body:
                yield from _indices(inner)
        case Branch(arms, _):
            for arm in arms:
                for inner in arm.body:
                    yield from _indices(inner)
        case Block(_, body, _):
            for inner in body:
                yield from _indices(inner)
        case _:
            pass


def defined(node: Node) -> frozenset[str]:
    """The objects that a node may define, DO variables among them."""
    match node:
        case Assign(accesses=accesses):
            return frozenset(access.array for access in accesses if access.write)
        case Loop(indices, body):
            return frozenset(index.name for index in indices).union(*map(defined, body))
        case Branch(arms, _):
            return frozenset().union(*(defined(inner) for arm in arms for inner in arm.body))
        case Block(own, body, _):
            return own.union(*map(defined, body))
        case Jump() | Other():
            return frozenset()



def signs_wanted(loop: Loop, parameters: Mapping[str, Parameter]) -> tuple[str, ...]:
    """Parameters that must not be negative for a quotient of parameters in ``loop`` to be one floor."""
    extents: dict[Atom, int] = {Name(name): 0 for name, parameter in parameters.items() if parameter.extent}
    facts = Facts(least=extents)
    moving = defined(loop)
    found: dict[str, None] = {}
    for expr in _expressions(loop):
        for dividend in (x.args[0] for x in walk(expr) if _divides(x)):
            if names(dividend) & moving:
                continue
            form = affine(dividend, frozenset(), facts)
            wanted = [x.id for x in form.atoms() if isinstance(x, Name)]
            known = replace(facts, least={**extents, **{Name(name): 0 for name in wanted}})
            unsure = not facts.holds(form) and not facts.holds(form.scaled(-1))
            if unsure and known.holds(form):
                found |= dict.fromkeys(name for name in wanted if Name(name) not in extents)
    return tuple(found)


def _divides(expr: Expr) -> TypeGuard[Op | Call]:
    return (isinstance(expr, Op) and expr.op == "/") or (isinstance(expr, Call) and expr.name == "mod")


def _expressions(node: Node) -> Iterator[Expr]:
    """The index arithmetic in a node."""
    match node:
        case Assign(accesses=accesses):
            yield from (x for access in accesses for x in access.subscripts if x is not None)
        case Loop(indices, body):
            yield from (x for index in indices for x in (index.first, index.last) if x is not None)
            for inner in body:
                yield from _expressions(inner)
        case Branch(arms, _):
            for arm in arms:
                if arm.test is not None:
                    yield arm.test
                for inner in arm.body:
                    yield from _expressions(inner)
        case Block(_, body, _):
            for inner in body:
                yield from _expressions(inner)
        case Jump() | Other():
            pass
