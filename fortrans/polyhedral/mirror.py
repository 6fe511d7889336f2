"""Assignments that exchange elements: what an iteration reads besides its own is its partner's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fortrans.ir.expr import Name
from fortrans.polyhedral.affine import affine
from fortrans.polyhedral.conflicts import Nest, Pair, context, reduced
from fortrans.polyhedral.forms import Affine, Atom, Floor, NotAffine, Product, of_atom, weighted


@dataclass(frozen=True, slots=True)
class Mirror:
    """The partner of an iteration: ``index`` counted from the end, or ``index`` and ``other`` exchanged."""

    index: str
    other: str | None = None


def mirror(pairs: Sequence[Pair], nest: Nest) -> Mirror | None:
    """The exchange that all pairs which do not read their own element agree on."""
    facts, solved = context(nest)
    loops = nest.indices
    found: set[Mirror] = set()
    for pair in pairs:
        if pair.inner or pair.tests or pair.when is not None:
            return None
        if pair.read == pair.written:
            continue
        try:
            partner = _partner(pair, nest, solved)
        except NotAffine:
            return None
        moved = {name: form for name, form in partner.items() if form != of_atom(Name(name))}
        if not moved:
            continue
        extents = {name: reduced(affine(extent, frozenset(), facts), solved) for name, extent in nest.loops}
        match sorted(moved, key=loops.index):
            case [index]:
                if moved[index] != extents[index].plus(1) - of_atom(Name(index)):
                    return None
                found.add(Mirror(index))
            case [outer, inner]:
                exchanged = moved[outer] == of_atom(Name(inner)) and moved[inner] == of_atom(Name(outer))
                if not exchanged or extents[outer] != extents[inner]:
                    return None
                found.add(Mirror(outer, inner))
            case _:
                return None
    return found.pop() if len(found) == 1 else None


def _partner(pair: Pair, nest: Nest, solved: Mapping[Atom, Affine]) -> Mapping[str, Affine]:
    """For each loop, the value it has where the element that is read is written.  Raises NotAffine."""
    facts, _ = context(nest)
    loops = frozenset(nest.indices)
    partner: dict[str, Affine] = {}
    for x, y in zip(pair.written, pair.read, strict=True):
        written = reduced(affine(x, loops, facts), solved)
        read = reduced(affine(y, loops, facts), solved)
        moving = [(atom, weight) for atom, weight in written.terms if _moves(atom, loops)]
        if not moving:
            if written != read:
                raise NotAffine("another plane of the array")
            continue
        if len(moving) != 1 or not isinstance(moving[0][0], Name):
            raise NotAffine("no section")
        (atom, weight) = moving[0]
        rest = weighted([t for t in written.terms if t[0] != atom], written.constant)
        difference = read - rest
        if any(Fraction(w, weight).denominator != 1 for _, w in difference.terms) or (
            difference.constant % weight
        ):
            raise NotAffine("between the elements of a section")
        assert isinstance(atom, Name)
        partner[atom.id] = Affine(
            tuple((a, w // weight) for a, w in difference.terms), difference.constant // weight
        )
    if partner.keys() != loops:
        raise NotAffine("a loop that no subscript tells")
    return partner


def _moves(atom: Atom, loops: frozenset[str]) -> bool:
    match atom:
        case Name(id):
            return id in loops
        case Floor(numerator):
            return any(_moves(x, loops) for x in numerator.atoms())
        case Product(factors):
            return any(_moves(x, loops) for x in factors)
        case _:
            return False
