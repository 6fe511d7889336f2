"""How an assignment to an array that it reads can be done: the verdict on one nest.

Everything read is read before anything is stored (10.2.1.3).  A loop order does the same when every
reader runs before the writer of the element it reads; where no order does, some elements are kept:
those read too late, a strip of results that waits to be stored, or all results (a temporary).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import permutations, product

from fortrans.ir.expr import names
from fortrans.polyhedral.conflicts import (
    PRIME,
    Conflicts,
    Nest,
    Pair,
    context,
    directions,
    narrowed,
    primed,
    reduced,
)
from fortrans.polyhedral.exact import isl_or_none, relation
from fortrans.polyhedral.forms import Affine, Floor
from fortrans.polyhedral.mirror import Mirror, mirror

LONGEST_STRIP = 256
MOST_COLUMNS = 4


class Kind(Enum):
    """What is to be done, from the cheapest on."""

    DISJOINT = "disjoint"
    IDENTITY = "identity"
    ORDERED = "ordered"
    GUARDED = "guarded"
    BUFFERED = "buffered"
    SWAPPED = "swapped"
    TEMPORARY = "temporary"


Steps = tuple[tuple[str, int], ...]
"""Loops, outermost first: 0 is a concurrent one, 1 runs forwards, -1 backwards."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``late`` are the pairs (by number) whose elements are saved inside the ``depth`` outermost loops.

    ``lag``: results wait that many iterations of the loop at ``depth`` before they are stored.
    ``guard``: the verdict holds where it is zero or more, elsewhere ``otherwise`` does.
    """

    kind: Kind
    steps: Steps = ()
    late: tuple[int, ...] = ()
    depth: int = 0
    lag: int | None = None
    guard: Affine | None = None
    otherwise: Verdict | None = None
    mirror: Mirror | None = None
    exact: bool = False


def decide(pairs: Sequence[Pair], nest: Nest, fixed: bool = False) -> Verdict:
    """The verdict for all values of the parameters.  ``fixed``: the loops keep their places."""
    fast: list[Conflicts] = [directions(pair, nest) for pair in pairs]
    if (found := in_order(fast, nest)) is not None:
        return found
    if (found := _guarded(pairs, nest, fast, exact=False)) is not None and found.guard is not None:
        return found
    if (swapped := mirror(pairs, nest)) is not None:
        return Verdict(Kind.SWAPPED, mirror=swapped)
    if (found := _buffered(pairs, nest, fast)) is not None:
        return found
    with_isl = _exactly(pairs, nest, fast)
    if with_isl is not None:
        tries: tuple[Callable[[], Verdict | None], ...] = (
            lambda: in_order(with_isl, nest),
            lambda: _guarded(pairs, nest, with_isl, exact=True),
            lambda: _buffered(pairs, nest, with_isl),
            lambda: _strip(nest, with_isl),
            lambda: None if fixed else _interchanged(with_isl, nest),
        )
        try:
            for attempt in tries:
                if (found := attempt()) is not None:
                    return replace(found, exact=True)
        except isl_or_none().Error:
            pass
    if (found := _strip(nest, fast)) is not None:
        return found
    if not fixed and (found := _interchanged(fast, nest)) is not None:
        return found
    return Verdict(Kind.TEMPORARY, exact=with_isl is not None)


def in_order(conflicts: Sequence[Conflicts], nest: Nest) -> Verdict | None:
    """The loops in their places, each concurrent or in the direction that the conflicts ask for."""
    steps = _steps(conflicts, nest.indices)
    if steps is None:
        return None
    if all(x.disjoint for x in conflicts):
        return Verdict(Kind.DISJOINT, steps)
    return Verdict(Kind.ORDERED if any(sign for _, sign in steps) else Kind.IDENTITY, steps)


def _steps(conflicts: Sequence[Conflicts], order: Sequence[str]) -> Steps | None:
    steps: list[tuple[str, int]] = []
    equal: frozenset[str] = frozenset()
    for index in order:
        signs = frozenset(sign for x in conflicts for sign in x.signs(equal, index))
        if {-1, 1} <= signs:
            return None
        steps.append((index, next((sign for sign in (1, -1) if sign in signs), 0)))
        equal |= {index}
    return tuple(steps)


def _interchanged(conflicts: Sequence[Conflicts], nest: Nest) -> Verdict | None:
    """The first other order of the loops that works."""
    for order in permutations(nest.indices):
        if order != nest.indices and (steps := _steps(conflicts, order)) is not None:
            return Verdict(Kind.ORDERED, steps)
    return None


def _exactly(pairs: Sequence[Pair], nest: Nest, fast: Sequence[Conflicts]) -> Sequence[Conflicts] | None:
    """Relations by isl where arithmetic left a choice; None without islpy or beyond its bound."""
    isl = isl_or_none()
    if isl is None:
        return None
    found: list[Conflicts] = []
    try:
        for pair, known in zip(pairs, fast, strict=True):
            certain = known.disjoint or all(
                len(known.signs(frozenset(), index)) <= 1 for index in nest.indices
            )
            found.append(known if certain else relation(pair, nest) or known)
    except isl.Error:
        return None
    return found


# ---- a test at run time -------------------------------------------------------------------


def _guarded(
    pairs: Sequence[Pair], nest: Nest, conflicts: Sequence[Conflicts], exact: bool
) -> Verdict | None:
    """One order where some distance is positive or zero, another (or a temporary) where it is negative."""
    for form in _doubtful(conflicts, nest):
        halves = []
        for assumed in (form, form.scaled(-1).plus(-1)):
            half = replace(nest, facts=nest.facts.assuming(assumed))
            known: Sequence[Conflicts] = [directions(pair, half) for pair in pairs]
            if exact:
                known = _exactly(pairs, half, known) or known
            halves.append(in_order(known, half))
        here, there = halves
        if here is not None and there is not None:
            if here.steps == there.steps:
                return here
            return Verdict(Kind.GUARDED, here.steps, guard=form, otherwise=there)
        other = Verdict(Kind.TEMPORARY)
        if here is not None:
            return Verdict(Kind.GUARDED, here.steps, guard=form, otherwise=other)
        if there is not None:
            negative = form.scaled(-1).plus(-1)
            return Verdict(Kind.GUARDED, there.steps, guard=negative, otherwise=other)
    return None


def _doubtful(conflicts: Sequence[Conflicts], nest: Nest) -> list[Affine]:
    """Distances that are parameters of unknown sign and can be printed."""
    found: list[Affine] = []
    for x in conflicts:
        distances = getattr(x, "distances", {})
        for index in nest.indices:
            form = distances.get(index)
            if form is None or form.value is not None or not {-1, 1} <= x.signs(frozenset(), index):
                continue
            if not any(isinstance(atom, Floor) for atom, _ in form.terms):
                found.append(form)
    return list(dict.fromkeys(found))


# ---- elements saved ------------------------------------------------------------------------


def _buffered(pairs: Sequence[Pair], nest: Nest, conflicts: Sequence[Conflicts]) -> Verdict | None:
    """An order for most reads, and fewer elements to save for the others than are assigned."""
    loops = nest.indices
    best: tuple[int, Verdict] | None = None
    for signs in product((1, -1), repeat=min(len(loops), 4)):
        late = tuple(k for k, x in enumerate(conflicts) if _late(x, loops, (*signs, 1, 1, 1)))
        rest = [x for k, x in enumerate(conflicts) if k not in late]
        steps = _steps(rest, loops)
        if not late or steps is None:
            continue
        depth = min(_depth(conflicts[k], loops) for k in late)
        costs = [saved_dimensions(pairs[k], nest, depth) for k in late]
        if any(x is None for x in costs):
            continue
        cost = max(len(x) for x in costs if x is not None)
        thin = cost < len(loops) - depth or all(
            _partial(pairs[k], found) for k, found in zip(late, costs) if found is not None
        )
        if thin and (best is None or cost < best[0]):
            best = cost, Verdict(Kind.BUFFERED, steps, late=late, depth=depth)
    return best[1] if best else None


def _late(conflicts: Conflicts, loops: Sequence[str], signs: Sequence[int]) -> bool:
    equal: frozenset[str] = frozenset()
    for index, sign in zip(loops, signs):
        if -sign in conflicts.signs(equal, index):
            return True
        equal |= {index}
    return False


def _depth(conflicts: Conflicts, loops: Sequence[str]) -> int:
    """How many outermost loops each keep writer and reader in one iteration."""
    equal: frozenset[str] = frozenset()
    for depth, index in enumerate(loops):
        if not conflicts.signs(equal, index) <= {0}:
            return depth
        equal |= {index}
    return len(loops)


def saved_dimensions(pair: Pair, nest: Nest, depth: int) -> tuple[str, ...] | None:
    """The loops inside ``depth`` that tell the element read; None when it cannot be saved before them."""
    if pair.inner or pair.when is not None:
        return None
    inside = nest.indices[depth:]
    if any(names(test) & set(inside) and not _of_one(test, inside) for test, _ in pair.tests):
        return None
    mentioned = {name for x in pair.read for name in names(x)}
    return tuple(name for name in inside if name in mentioned and single(pair, nest, name) is None)


def _of_one(test: object, inside: Sequence[str]) -> bool:
    return len(names(test) & set(inside)) == 1  # type: ignore[arg-type]


def single(pair: Pair, nest: Nest, index: str) -> Affine | None:
    """The one value of an index where the tests of the pair hold, if it is one."""
    facts, solved = context(nest)
    loops = nest.indices
    reader = frozenset(name + PRIME for name in loops)
    facts = narrowed(facts, [(primed(test, loops), holds) for test, holds in pair.tests], reader)
    low, high = facts.ranges[index + PRIME]
    if low is None or high is None or reduced(low - high, solved).value != 0:
        return None
    return low


def _partial(pair: Pair, saved: Sequence[str]) -> bool:
    """Whether tests leave only a part of the iterations along a loop that tells the element."""
    return any(names(test) & set(saved) for test, _ in pair.tests)


def _strip(nest: Nest, conflicts: Sequence[Conflicts]) -> Verdict | None:
    """Results wait in a strip until every reader of what they replace has run."""
    loops = nest.indices
    depth = min(_depth(x, loops) for x in conflicts)
    if depth == len(loops):
        return None
    equal = frozenset(loops[:depth])
    most = LONGEST_STRIP if depth == len(loops) - 1 else MOST_COLUMNS
    for sign in (1, -1):
        lags = [x.lag(equal, loops[depth], sign) for x in conflicts]
        known = [x for x in lags if x is not None]
        if len(known) == len(lags) and max(known) <= most:
            extent = nest.facts.value(nest.loops[depth][1])
            if extent is not None and extent < 2 * (max(known) + 1):
                return None
            steps = tuple((name, sign if k == depth else 0) for k, name in enumerate(loops))
            return Verdict(Kind.BUFFERED, steps, depth=depth, lag=max(known))
    return None
