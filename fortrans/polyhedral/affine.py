"""Integer index expressions as quasi-affine forms, and the domains and accesses made of them.

``affine(expr, indices, facts)`` reads an expression of the IR: a sum of integer-weighted atoms plus
a constant, an :class:`Affine` (``forms``).  An atom is an index (``Name``), a parameter (any
expression without an index: its value is fixed before the nest starts), a :class:`Floor` (an integer
division, what OpenScop calls a local variable), or a :class:`Product` of several of these.  Without
a ``Product`` that has an index in it a form is quasi-affine (``is_quasi_affine``).  Arithmetic is
Fortran's (10.1.5.2.2, 16.9.134, 16.9.136): ``/`` and MOD truncate, MODULO has the sign of its
divisor.  Where rounding depends on a sign that ``facts`` cannot prove, or a subscript is no
arithmetic (``idx(j)``), NotAffine is raised.

A :class:`Domain` (``domain``) is immutable: indices, outermost first, and constraints on them.  An
:class:`Access` maps a domain to subscripts of an array.  Neither has local variables of its own
but those that ``domain.flattened`` makes, anew for each: the rows ``0 <= numerator - divisor*local <=
divisor - 1`` come first, then the constraints with ``Local`` atoms where the floors stood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

from fortrans.ir.expr import Call, Expr, Literal, Name, Op, constant, names
from fortrans.polyhedral.forms import (
    Affine,
    Atom,
    Floor,
    Index,
    Local,
    NotAffine,
    Product,
    floored,
    key,
    of_atom,
    times,
    weighted,
)

# ---- what is known of signs --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known: ranges of indices, least values of parameters, forms that are not negative.

    ``value`` gives an integer expression's constant value where it has one.
    """

    ranges: Mapping[str, tuple[Affine | None, Affine | None]] = field(default_factory=dict)
    least: Mapping[Atom, int] = field(default_factory=dict)
    natural: tuple[Affine, ...] = ()
    value: Callable[[Expr], int | None] = constant

    def minimum(self, form: Affine) -> Fraction | None:
        """A number that the form is never below, or None when none is found."""
        total: dict[Atom, Fraction] = {atom: Fraction(weight) for atom, weight in form.terms}
        least = Fraction(form.constant)

        def take(atom: Atom, bound: Affine, shift: int = 0, by: int = 1) -> None:
            nonlocal least
            weight = total.pop(atom)
            for inner, w in bound.terms:
                total[inner] = total.get(inner, Fraction(0)) + weight * Fraction(w, by)
            least += weight * Fraction(bound.constant - shift, by)

        for phase in ("index", "floor", "index", "parameter"):
            for atom in list(total):
                weight = total[atom]
                if not weight:
                    del total[atom]
                elif phase == "floor" and isinstance(atom, Floor):
                    shift = atom.divisor - 1 if weight > 0 else 0
                    take(atom, atom.numerator, shift, atom.divisor)
                elif phase != "floor":
                    low, high = self._range(atom, phase)
                    bound = low if weight > 0 else high
                    if bound is not None:
                        take(atom, bound)
        for atom, weight in total.items():
            if not weight:
                continue
            if weight < 0 or (known := self._least(atom)) is None:
                return None
            least += weight * known
        return least

    def _range(self, atom: Atom, phase: str) -> tuple[Affine | None, Affine | None]:
        match atom:
            case Name(id) if id in self.ranges:
                return self.ranges[id]
            case Call("modulo", (_, divisor), user=False) if phase == "parameter":
                # Facts about remainders say nothing of what divides; they would go round in circles.
                plain = replace(self, natural=tuple(x for x in self.natural if not _remainder(x)))
                try:
                    by = affine(divisor, frozenset(), plain)
                except NotAffine:
                    return None, None
                return (Affine(), by.plus(-1)) if plain.holds(by.plus(-1)) else (None, None)
            case _:
                return None, None

    def _least(self, atom: Atom) -> int | None:
        found = self.least.get(atom)
        if isinstance(atom, Call) and atom.name == "size":
            return max(found or 0, 0)
        if isinstance(atom, Call) and atom.name == "max" and not atom.user:
            known = [x for x in (self.value(arg) for arg in atom.args) if x is not None]
            return max(known, default=found)
        if isinstance(atom, Product):
            parts = [self._least(x) for x in atom.factors]
            if all(x is not None and x >= 1 for x in parts):
                return 1
            return 0 if all(x is not None and x >= 0 for x in parts) else found
        return found

    def holds(self, form: Affine) -> bool:
        """Whether ``form >= 0`` is known (for integers)."""
        low = self.minimum(form)
        if low is not None and low > -1:
            return True
        for fact in self.natural:
            low = self.minimum(form - fact)
            if low is not None and low > -1:
                return True
        return False

    def assuming(self, form: Affine) -> Facts:
        """These facts and ``form >= 0``."""
        least = dict(self.least)
        if len(form.terms) == 1:
            ((atom, weight),) = form.terms
            if isinstance(atom, Floor) and weight > 0:
                # floor(x/d) >= q exactly when x >= d*q
                bound = ceil(Fraction(-form.constant, weight))
                return replace(self, natural=(*self.natural, form)).assuming(
                    atom.numerator.plus(-atom.divisor * bound)
                )
            if weight > 0:
                bound = ceil(Fraction(-form.constant, weight))
                least[atom] = max(least.get(atom, bound), bound)
                return replace(self, least=least)
        return replace(self, natural=(*self.natural, form)) if form.terms else self

    def within(self, ranges: Mapping[str, tuple[Affine | None, Affine | None]]) -> Facts:
        """These facts with ranges of more indices, or other ranges of the same."""
        return replace(self, ranges={**self.ranges, **ranges})


def _remainder(form: Affine) -> bool:
    return any(isinstance(x, Call) and x.name == "modulo" for x in form.atoms())


# ---- reading expressions ----------------------------------------------------------------------


def affine(expr: Expr, indices: Index, facts: Facts) -> Affine:
    """The quasi-affine form of an integer expression.  Raises NotAffine."""
    moving = bool(names(expr) & indices)
    # A named constant may have the name of an index.
    if not moving and (known := facts.value(expr)) is not None:
        return Affine((), known)
    try:
        return _read(expr, indices, facts)
    except NotAffine:
        if moving:
            raise
        return of_atom(expr)


def _read(expr: Expr, indices: Index, facts: Facts) -> Affine:
    def go(x: Expr) -> Affine:
        return affine(x, indices, facts)

    match expr:
        case Literal(text) if text.isdigit():
            return Affine((), int(text))
        case Name():
            return of_atom(expr)
        case Op("()" | "+", (x,)):
            return go(x)
        case Op("-", (x,)):
            return go(x).scaled(-1)
        case Op("+", (x, y)):
            return go(x) + go(y)
        case Op("-", (x, y)):
            return go(x) - go(y)
        case Op("*", (x, y)):
            return times(go(x), go(y))
        case Op("/", (x, y)):
            return _quotient(go(x), go(y), facts)
        case Call("mod", (x, y), user=False):
            form, by = go(x), go(y)
            return form - times(_quotient(form, by, facts), by)
        case Call("modulo", (x, y), user=False):
            return _modulo(go(x), go(y), facts)
        case Call("int", (x, *_), user=False) if _whole(x):
            return go(x)
        case Call("max" | "min" as name, args, user=False) if len(args) > 1:
            return _extreme(name, [go(x) for x in args], facts)
    raise NotAffine("no arithmetic")


def _whole(expr: Expr) -> bool:
    """Whether an expression is surely an integer, whatever its names are."""
    match expr:
        case Literal(text):
            return text.isdigit()
        case Op("+" | "-" | "*" | "/" | "()", args):
            return all(map(_whole, args))
        case Call("size" | "lbound" | "ubound" | "len" | "int", _, user=False):
            return True
        case _:
            return False


def _quotient(form: Affine, by: Affine, facts: Facts) -> Affine:
    """``form / by``, truncated."""
    divisor = by.value
    if divisor is None:
        return _delinearised(form, by, facts)[0]
    if divisor == 0:
        raise NotAffine("division by zero")
    if divisor < 0:
        form, divisor = form.scaled(-1), -divisor
    if all(weight % divisor == 0 for weight in (*(w for _, w in form.terms), form.constant)):
        return floored(form, divisor)
    if facts.holds(form):
        return floored(form, divisor)
    if facts.holds(form.scaled(-1)):
        return floored(form.scaled(-1), divisor).scaled(-1)
    raise NotAffine("the sign of a dividend is not known")


def _modulo(form: Affine, by: Affine, facts: Facts) -> Affine:
    divisor = by.value
    if divisor is None:
        return _delinearised(form, by, facts)[1]
    if divisor == 0:
        raise NotAffine("division by zero")
    return form - floored(form, divisor).scaled(divisor)


def _delinearised(form: Affine, by: Affine, facts: Facts) -> tuple[Affine, Affine]:
    """Quotient and remainder of ``r + by*q`` where ``0 <= r < by`` is known.  Raises NotAffine."""
    if len(by.terms) != 1 or by.constant or by.terms[0][1] != 1:
        return _small(form, by, facts)
    atom = by.terms[0][0]
    divisor = atom.factors if isinstance(atom, Product) else (atom,)
    quotient: list[tuple[Atom, int]] = []
    rest: list[tuple[Atom, int]] = []
    whole = 0
    for term, weight in form.terms:
        factors = list(term.factors) if isinstance(term, Product) else [term]
        if isinstance(term, Floor | Local) or not _contains(factors, divisor):
            rest.append((term, weight))
            continue
        left = list(factors)
        for factor in divisor:
            left.remove(factor)
        if not left:
            whole += weight
        else:
            quotient.append((_product(left), weight))
    remainder = weighted(rest, form.constant)
    _small(remainder, by, facts)
    result = weighted(quotient, whole)
    # Truncation is the floor only when nothing is negative; the remainder being small, q decides.
    if not facts.holds(result):
        raise NotAffine("the sign of a dividend is not known")
    return result, remainder


def _small(form: Affine, by: Affine, facts: Facts) -> tuple[Affine, Affine]:
    if facts.holds(form) and facts.holds(by - form.plus(1)):
        return Affine(), form
    raise NotAffine("symbolic divisor")


def _contains(factors: Sequence[Atom], some: Sequence[Atom]) -> bool:
    return all(factors.count(x) >= some.count(x) for x in some)


def _product(factors: Sequence[Atom]) -> Atom:
    if len(factors) == 1:
        return factors[0]
    return Product(tuple(sorted(factors, key=key)))  # type: ignore[arg-type]


def _extreme(name: str, forms: list[Affine], facts: Facts) -> Affine:
    """MAX or MIN where one argument is known to be the one.  Raises NotAffine."""
    for form in forms:
        others = [x for x in forms if x is not form]
        if all(facts.holds(form - x if name == "max" else x - form) for x in others):
            return form
    raise NotAffine("which argument is the extreme is not known")
