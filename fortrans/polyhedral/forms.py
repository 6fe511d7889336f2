"""Quasi-affine forms: sums of integer-weighted atoms plus a constant.  See ``affine``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd

from fortrans.ir.expr import Expr, Name, names

Index = frozenset[str]


class NotAffine(Exception):
    """The expression has no quasi-affine form that could be proved equal to it."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The greatest integer not above ``numerator / divisor``; ``divisor`` is above 1."""

    numerator: Affine
    divisor: int


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two or more names or parameters, in a fixed order."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Local:
    """A local variable of one flattened relation, counted from 0."""

    number: int


Atom = Expr | Floor | Product | Local


@dataclass(frozen=True, slots=True)
class Affine:
    """``sum of weight * atom`` plus ``constant``; equal forms compare equal."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Affine) -> Affine:
        return weighted([*self.terms, *other.terms], self.constant + other.constant)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def plus(self, number: int) -> Affine:
        """The form with ``number`` added."""
        return Affine(self.terms, self.constant + number)

    def scaled(self, factor: int) -> Affine:
        """The form times a constant."""
        return weighted([(atom, factor * weight) for atom, weight in self.terms], factor * self.constant)

    @property
    def value(self) -> int | None:
        """The value of a constant form."""
        return None if self.terms else self.constant

    def weight(self, atom: Atom) -> int:
        """The weight of an atom, 0 when it is not there."""
        return next((w for a, w in self.terms if a == atom), 0)

    def atoms(self) -> Iterator[Atom]:
        """Every atom, also those inside floors and products."""
        for atom, _ in self.terms:
            yield atom
            if isinstance(atom, Floor):
                yield from atom.numerator.atoms()
            elif isinstance(atom, Product):
                yield from atom.factors

    def substituted(self, values: Mapping[str, Affine]) -> Affine:
        """The form with indices replaced, inside floors too.  Raises NotAffine inside a product."""
        total = Affine((), self.constant)
        for atom, weight in self.terms:
            match atom:
                case Name(id) if id in values:
                    total += values[id].scaled(weight)
                case Floor(numerator, divisor):
                    total += floored(numerator.substituted(values), divisor).scaled(weight)
                case Product(factors):
                    result = Affine((), 1)
                    for factor in factors:
                        known = isinstance(factor, Name) and factor.id in values
                        result = times(result, values[factor.id] if known else of_atom(factor))  # type: ignore[union-attr]
                    total += result.scaled(weight)
                case _:
                    total += Affine(((atom, weight),))
        return total


def weighted(terms: Iterable[tuple[Atom, int]], constant: int = 0) -> Affine:
    """The canonical form of a sum."""
    total: dict[Atom, int] = {}
    for atom, weight in terms:
        total[atom] = total.get(atom, 0) + weight
    return Affine(tuple(sorted(((a, w) for a, w in total.items() if w), key=lambda x: key(x[0]))), constant)


def of_atom(atom: Atom) -> Affine:
    """The form that is one atom."""
    return Affine(((atom, 1),))


def key(atom: Atom) -> tuple[int, str]:
    return (0, atom.id) if isinstance(atom, Name) else (1, repr(atom))


def times(x: Affine, y: Affine) -> Affine:
    """The product of two forms.  Raises NotAffine for a product with a floor."""
    terms: list[tuple[Atom, int]] = [(atom, weight * y.constant) for atom, weight in x.terms]
    terms += [(atom, weight * x.constant) for atom, weight in y.terms]
    for a, v in x.terms:
        for b, w in y.terms:
            factors = tuple(sorted((*_factors(a), *_factors(b)), key=key))
            terms.append((Product(factors), v * w))
    return weighted(terms, x.constant * y.constant)


def _factors(atom: Atom) -> tuple[Expr, ...]:
    match atom:
        case Product(factors):
            return factors
        case Floor() | Local():
            raise NotAffine("product with a quotient")
        case _:
            return (atom,)


def floored(form: Affine, divisor: int) -> Affine:
    """The floor of ``form / divisor``, ``divisor`` not 0, with what divides taken out."""
    if divisor < 0:
        form, divisor = form.scaled(-1), -divisor
    outside: list[tuple[Atom, int]] = []
    inside: list[tuple[Atom, int]] = []
    for atom, weight in form.terms:
        quotient, rest = divmod(weight, divisor)
        outside.append((atom, quotient))
        inside.append((atom, rest))
    quotient, rest = divmod(form.constant, divisor)
    left = weighted(inside, rest)
    whole = weighted(outside, quotient)
    if not left.terms:
        return whole
    common = gcd(divisor, *(weight for _, weight in left.terms))
    if common > 1:
        left = weighted([(a, w // common) for a, w in left.terms], left.constant // common)
        divisor //= common
    return whole + (of_atom(Floor(left, divisor)) if divisor > 1 else left)


def is_quasi_affine(form: Affine, indices: Index) -> bool:
    """Whether indices occur only as atoms by themselves, or so inside floors."""
    for atom in form.atoms():
        match atom:
            case Product(factors):
                if any(names(x) & indices for x in factors):
                    return False
            case Floor() | Local() | Name():
                pass
            case _:
                if names(atom) & indices:
                    return False
    return True


def evaluate(form: Affine, values: Mapping[Atom, int]) -> int:
    """The value of a form where every name or parameter has one.  Raises KeyError when one has none."""
    total = form.constant
    for atom, weight in form.terms:
        match atom:
            case Floor(numerator, divisor):
                found = evaluate(numerator, values) // divisor
            case Product(factors):
                found = 1
                for factor in factors:
                    found *= values[factor]
            case _:
                found = values[atom]
        total += weight * found
    return total
