"""Domains of nests, accesses to arrays, and their rows with local variables.  See ``affine``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fortrans.ir.expr import Expr, Name
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.forms import Affine, Atom, Floor, Local, of_atom, weighted


@dataclass(frozen=True, slots=True)
class Constraint:
    """``form >= 0``, or ``form == 0`` for an equality."""

    form: Affine
    equality: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
    """The iterations of a nest: ``indices``, outermost first, and what holds for them and the parameters."""

    indices: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()

    def with_constraints(self, *more: Constraint) -> Domain:
        """Another domain, with more constraints."""
        return Domain(self.indices, (*self.constraints, *more))


@dataclass(frozen=True, slots=True)
class Access:
    """Which element of ``array`` an iteration of ``domain`` touches.

    A subscript None may be anything (no quasi-affine form).
    """

    array: str
    subscripts: tuple[Affine | None, ...]
    domain: Domain


def rectangular(loops: Sequence[tuple[str, Expr, Expr]], facts: Facts) -> tuple[Domain, Facts]:
    """The domain of loops (name, first, last; outermost first), and facts with the ranges of its indices.

    Raises NotAffine when a bound has no quasi-affine form.
    """
    constraints: list[Constraint] = []
    outer: set[str] = set()
    for name, first, last in loops:
        low = affine(first, frozenset(outer), facts)
        high = affine(last, frozenset(outer), facts)
        index = of_atom(Name(name))
        constraints += [Constraint(index - low), Constraint(high - index)]
        facts = facts.within({name: (low, high)})
        outer.add(name)
    return Domain(tuple(name for name, _, _ in loops), tuple(constraints)), facts


def flattened(constraints: Sequence[Constraint]) -> tuple[tuple[Floor, ...], tuple[Constraint, ...]]:
    """The floors of some constraints as local variables of their own, and constraints without floors.

    Two rows define each local, innermost floors first; then come the constraints in their order.
    """
    found: list[Floor] = []
    rows: list[Constraint] = []

    def flat(form: Affine) -> Affine:
        terms: list[tuple[Atom, int]] = []
        for atom, weight in form.terms:
            if isinstance(atom, Floor):
                if atom not in found:
                    numerator = flat(atom.numerator)
                    found.append(atom)
                    rest = numerator - of_atom(Local(len(found) - 1)).scaled(atom.divisor)
                    rows.append(Constraint(rest))
                    rows.append(Constraint(rest.scaled(-1).plus(atom.divisor - 1)))
                terms.append((Local(found.index(atom)), weight))
            else:
                terms.append((atom, weight))
        return weighted(terms, form.constant)

    flats = [Constraint(flat(c.form), c.equality) for c in constraints]
    return tuple(found), (*rows, *flats)
