"""Which iterations write what other iterations read: the fast answer, by arithmetic on subscripts.

An iteration ``i`` that writes an element and another, ``i'``, that reads it are a conflict: the
reader must run first (10.2.1.3, everything is evaluated before anything is stored).  For each loop
``signs`` tells which signs ``i - i'`` may have; what cannot be told may be any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Protocol

from fortrans.ir.expr import Call, Expr, Name, Op, names, substitute
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.forms import (
    Affine,
    Atom,
    Floor,
    NotAffine,
    Product,
    is_quasi_affine,
    of_atom,
    weighted,
)

Signs = frozenset[int]
ANY: Signs = frozenset({-1, 0, 1})
PRIME = "'"
"""The reader's index is the writer's with this behind it."""


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of an assignment, outermost first, each from 1 to its extent.

    ``equal`` are pairs of extents that conform: equal wherever there is any iteration at all.
    ``strides`` are expressions that are not zero.
    """

    loops: tuple[tuple[str, Expr], ...]
    equal: tuple[tuple[Expr, Expr], ...] = ()
    strides: frozenset[Expr] = frozenset()
    facts: Facts = field(default_factory=Facts)

    @property
    def indices(self) -> tuple[str, ...]:
        """The names of the indices."""
        return tuple(name for name, _ in self.loops)


@dataclass(frozen=True, slots=True)
class Pair:
    """A read of the array that is assigned, with the subscripts that are written and read.

    ``tests`` are comparisons and whether they hold where it is read.  ``inner`` are the indices,
    with extents, of reductions around it.  ``when`` are the loops that are open when it is read:
    fewer than all where it is read once for many iterations, before any of them stores.
    """

    written: tuple[Expr, ...]
    read: tuple[Expr, ...]
    tests: tuple[tuple[Expr, bool], ...] = ()
    inner: tuple[tuple[str, Expr], ...] = ()
    when: frozenset[str] | None = None


class Conflicts(Protocol):
    """What is asked of a relation of conflicts."""

    @property
    def disjoint(self) -> bool:
        """Whether what is written and what is read never meet."""

    def signs(self, equal: frozenset[str], index: str) -> Signs:
        """The signs of ``i - i'`` along a loop among conflicts that have the loops ``equal`` in common."""

    def lag(self, equal: frozenset[str], index: str, sign: int) -> int | None:
        """How many iterations a reader is at most behind the writer when the loop runs by ``sign``.

        None when no such number is known.
        """


@dataclass(frozen=True, slots=True)
class Directions:
    """Conflicts by a set of signs for each loop, and what is known of distances ``i - i'``."""

    along: Mapping[str, Signs]
    distances: Mapping[str, Affine]
    loops: frozenset[str]
    disjoint: bool = False

    def signs(self, equal: frozenset[str], index: str) -> Signs:
        """See Conflicts."""
        if self.disjoint or self.loops <= equal or index not in self.loops:
            return frozenset() if self.disjoint or self.loops <= equal else frozenset({0})
        if any(0 not in self.along.get(other, ANY) for other in equal & self.loops):
            return frozenset()
        here = self.along.get(index, ANY)
        alone = self.loops - equal == {index}
        settled = all(self.along.get(x, ANY) == {0} for x in self.loops - equal - {index})
        return here - {0} if alone or settled else here

    def lag(self, equal: frozenset[str], index: str, sign: int) -> int | None:
        """See Conflicts."""
        signs = self.signs(equal, index)
        if -sign not in signs:
            return 0
        distance = self.distances.get(index)
        return None if distance is None or distance.value is None else abs(distance.value)


def context(nest: Nest) -> tuple[Facts, dict[Atom, Affine]]:
    """What holds wherever there is an iteration: positive extents, ranges of indices, equalities.

    The equalities come as parameters and the forms that are equal to them.
    """
    facts = nest.facts
    for _, extent in nest.loops:
        facts = _positive(extent, facts)
    for pair in nest.equal:
        for extent in pair:
            facts = _positive(extent, facts)
    solved: dict[Atom, Affine] = {}
    for x, y in nest.equal:
        try:
            difference = affine(x, frozenset(), facts) - affine(y, frozenset(), facts)
        except NotAffine:
            continue
        difference = reduced(difference, solved)
        # Sizes give way to names.
        for atom, weight in sorted(difference.terms, key=lambda term: not isinstance(term[0], Call)):
            if abs(weight) == 1 and not isinstance(atom, Floor | Product):
                others = weighted([t for t in difference.terms if t[0] != atom], difference.constant)
                form = others.scaled(-weight)
                solved = {a: reduced(f, {atom: form}) for a, f in solved.items()}
                solved[atom] = form
                break
    ranges: dict[str, tuple[Affine | None, Affine | None]] = {}
    for name, extent in nest.loops:
        last = reduced(affine(extent, frozenset(), facts), solved)
        ranges[name] = ranges[name + PRIME] = (Affine((), 1), last)
    facts = facts.within(ranges)
    for _, high in ranges.values():
        if high is not None:
            facts = facts.assuming(high.plus(-1))
    return facts, solved


def _positive(extent: Expr, facts: Facts) -> Facts:
    """``facts`` and that ``extent`` is 1 or more."""
    match extent:
        case Op("/", (x, y)) if (by := facts.value(y)) is not None and by > 0:
            # x/d >= 1 exactly when x >= d
            return facts.assuming(affine(x, frozenset(), facts).plus(-by))
        case Call("max", (x, y), user=False) if (least := facts.value(y)) is not None and least < 1:
            return _positive(x, facts)
        case _:
            return facts.assuming(affine(extent, frozenset(), facts).plus(-1))


def reduced(form: Affine, solved: Mapping[Atom, Affine]) -> Affine:
    """The form with solved parameters replaced, floors and products apart."""
    if not any(atom in solved for atom, _ in form.terms):
        return form
    total = Affine((), form.constant)
    for atom, weight in form.terms:
        total += (solved[atom] if atom in solved else of_atom(atom)).scaled(weight)
    return total


def primed(expr: Expr, indices: Iterable[str]) -> Expr:
    """The expression as the reader's indices have it."""
    return substitute(expr, {name: Name(name + PRIME) for name in indices})


def narrowed(facts: Facts, tests: Sequence[tuple[Expr, bool]], indices: frozenset[str]) -> Facts:
    """Facts with the ranges that tests of one index leave it."""
    for test, holds in tests:
        for form in at_least_zero(test, holds, indices, facts):
            for atom, weight in form.terms:
                if not (isinstance(atom, Name) and atom.id in indices and abs(weight) == 1):
                    continue
                rest = weighted([t for t in form.terms if t[0] != atom], form.constant)
                if any(names(x) & indices for x in rest.atoms() if not isinstance(x, Floor | Product)):  # type: ignore[arg-type]
                    continue
                low, high = facts.ranges.get(atom.id, (None, None))
                if weight == 1:
                    new = rest.scaled(-1)
                    low = new if low is None or facts.holds(new - low) else low
                else:
                    high = rest if high is None or facts.holds(high - rest) else high
                facts = facts.within({atom.id: (low, high)})
                break
    return facts


def at_least_zero(test: Expr, holds: bool, indices: frozenset[str], facts: Facts) -> tuple[Affine, ...]:
    """Forms that are zero or more exactly when the comparison ``holds``; () when it is no such."""
    match test:
        case Op("<=" | ">=" | "<" | ">" | "==" as op, (x, y)):
            try:
                difference = affine(x, indices, facts) - affine(y, indices, facts)
            except NotAffine:
                return ()
        case _:
            return ()
    if op == "==":
        return (difference, difference.scaled(-1)) if holds else ()
    if op in ("<=", "<"):
        difference = difference.scaled(-1)
    # Now: difference >= 0, or > 0 for the strict ones.
    if op in ("<", ">"):
        difference = difference.plus(-1)
    return (difference if holds else difference.scaled(-1).plus(-1),)


def directions(pair: Pair, nest: Nest) -> Directions:
    """The conflicts of a pair, as far as arithmetic on one subscript at a time can tell."""
    facts, solved = context(nest)
    loops = nest.indices
    inner = [name for name, _ in pair.inner]
    for name, extent in pair.inner:
        try:
            facts = facts.within({name: (Affine((), 1), affine(extent, frozenset(), facts))})
        except NotAffine:
            facts = facts.within({name: (Affine((), 1), None)})
    reader = frozenset(name + PRIME for name in loops) | frozenset(inner)
    tests = [(primed(test, loops), holds) for test, holds in pair.tests]
    facts = narrowed(facts, tests, reader)
    relevant = frozenset(loops) if pair.when is None else pair.when
    none = Directions({}, {}, relevant, disjoint=True)
    if any(_impossible(test, holds, reader, facts) for test, holds in tests):
        return none
    along: dict[str, Signs] = {}
    distances: dict[str, Affine] = {}
    if pair.written == pair.read:
        return Directions({name: frozenset({0}) for name in loops}, {}, relevant)
    indices = frozenset(loops) | reader
    for x, y in zip(pair.written, pair.read, strict=True):
        moving = names(x) & set(loops)
        if x == y:
            # One subscript of a section on the left tells its index, also a vector's (9.5.3.3.3).
            if len(moving) == 1:
                (index,) = moving
                along[index] = along.get(index, ANY) & {0}
                distances.setdefault(index, Affine())
            continue
        try:
            equation = affine(x, indices, facts) - affine(primed(y, loops), indices, facts)
        except NotAffine:
            continue
        equation = reduced(_divided(equation, nest), solved)
        if not is_quasi_affine(equation, indices):
            continue
        if _never_zero(equation, facts):
            return none
        for index in loops:
            found = _difference(equation, index, facts)
            if found is None:
                continue
            form, exact = found
            form = reduced(form, solved)
            along[index] = along.get(index, ANY) & _signs(form, facts)
            if exact:
                distances.setdefault(index, form)
    if any(not signs for signs in along.values()):
        return none
    return Directions(along, distances, relevant)


def _impossible(test: Expr, holds: bool, indices: frozenset[str], facts: Facts) -> bool:
    return any(facts.holds(form.scaled(-1).plus(-1)) for form in at_least_zero(test, holds, indices, facts))


def _divided(form: Affine, nest: Nest) -> Affine:
    """A form that is zero when and only when ``form`` is: without a stride all terms share."""
    if form.constant or not form.terms:
        return form
    for stride in nest.strides:
        terms: list[tuple[Atom, int]] = []
        constant = 0
        for atom, weight in form.terms:
            if atom == stride:
                constant += weight
            elif isinstance(atom, Product) and stride in atom.factors:
                left = list(atom.factors)
                left.remove(stride)
                terms.append((left[0] if len(left) == 1 else Product(tuple(left)), weight))
            else:
                break
        else:
            return weighted(terms, constant)
    return form


def _never_zero(form: Affine, facts: Facts) -> bool:
    if form.value is not None:
        return form.value != 0
    if form.constant % gcd(*(weight for _, weight in form.terms)):
        return True
    return facts.holds(form.plus(-1)) or facts.holds(form.scaled(-1).plus(-1))


def _difference(equation: Affine, index: str, facts: Facts) -> tuple[Affine, bool] | None:
    """``i - i'`` along a loop, as ``equation == 0`` gives it; and whether it is one value for all."""
    writer, reader = Name(index), Name(index + PRIME)
    v, w = equation.weight(writer), equation.weight(reader)
    inside = {x for atom, _ in equation.terms if isinstance(atom, Floor) for x in atom.numerator.atoms()}
    if {writer, reader} & inside or not (v or w):
        return None
    both = of_atom(writer) - of_atom(reader)
    if v == -w:
        rest = weighted([t for t in equation.terms if t[0] not in (writer, reader)], equation.constant)
        if all(weight % v == 0 for weight in (*(x for _, x in rest.terms), rest.constant)):
            value = Affine(tuple((a, -x // v) for a, x in rest.terms), -rest.constant // v)
            moving = any(isinstance(a, Name) and a.id in facts.ranges for a in value.atoms())
            return value, not moving
        # v*(i - i') = -rest: the sign is that of the rest.
        return rest.scaled(-1 if v > 0 else 1), False
    if abs(v) == 1:
        # i = -(equation without it)/v
        rest = weighted([t for t in equation.terms if t[0] != writer], equation.constant)
        return rest.scaled(-v) - of_atom(reader), False
    if abs(w) == 1:
        rest = weighted([t for t in equation.terms if t[0] != reader], equation.constant)
        return of_atom(writer) - rest.scaled(-w), False
    return both, False


def _signs(form: Affine, facts: Facts) -> Signs:
    if form.value is not None:
        return frozenset({(form.value > 0) - (form.value < 0)})
    found = set(ANY)
    if facts.holds(form):
        found.discard(-1)
        if facts.holds(form.plus(-1)):
            found.discard(0)
    if facts.holds(form.scaled(-1)):
        found.discard(1)
        if facts.holds(form.scaled(-1).plus(-1)):
            found.discard(0)
    return frozenset(found)
