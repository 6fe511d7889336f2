"""Choices whose test compares a loop index: the loop is split where the choice turns (EMISSION, rule 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fortrans.ir.expr import (
    ONE,
    Call,
    Expr,
    Locate,
    Name,
    Op,
    Reduce,
    Ref,
    Select,
    add,
    children,
    constant,
    from_linear,
    linear,
    names,
    same,
    sub,
    transform,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """``test`` holds for ``index <= at`` (``below``), or for ``index > at`` (not ``below``)."""

    test: Expr
    at: Expr
    below: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of integers: expressions that are not negative, values of named constants."""

    natural: tuple[Expr, ...] = ()
    value: Callable[[Expr], int | None] = constant

    def holds(self, x: Expr, y: Expr) -> bool:
        """Whether ``x >= y`` is known."""
        difference = sub(x, y)
        if _nonnegative(difference):
            return True
        if (known := self.value(difference)) is not None:
            return known >= 0
        return any(_nonnegative(sub(difference, fact)) for fact in self.natural)


def _nonnegative(expr: Expr) -> bool:
    atoms, const = linear(expr)
    return const >= 0 and all(weight > 0 and _natural(atom) for atom, weight in atoms.items())


def _natural(atom: Expr) -> bool:
    match atom:
        case Call("size" | "len", _) | Name(natural=True):
            return True
        case Call("max", args):
            return any((constant(x) or -1) >= 0 for x in args)
        case _:
            return False


def turn(select: Select, index: str, bound: frozenset[str]) -> Turn | None:
    """Where the loop over ``index`` is to be split for ``select``.

    None unless its test compares two integers, ``index`` stands in it once with weight 1 or -1,
    and nothing else in it varies (``bound``: names that vary inside the loop).
    """
    match select.test:
        case Op("<=", (x, y)):
            atoms, const = linear(sub(y, x))
        case Op(">=", (x, y)):
            atoms, const = linear(sub(x, y))
        case _:
            return None
    weight = atoms.pop(Name(index), 0)
    if abs(weight) != 1 or any((names(a) & (bound | {index})) or _chooses(a) for a in atoms):
        return None
    rest = from_linear(atoms, const)
    # The test is rest + weight*index >= 0.
    if weight < 0:
        return Turn(select.test, rest, below=True)
    return Turn(select.test, sub(from_linear({a: -w for a, w in atoms.items()}, -const), ONE), below=False)


def _chooses(expr: Expr) -> bool:
    return any(isinstance(x, Select | Reduce | Locate) for x in _walk(expr))


def _walk(expr: Expr) -> Iterable[Expr]:
    yield expr
    for child in children(expr):
        yield from _walk(child)


def resolve(expr: Expr, test: Expr, holds: bool) -> Expr:
    """``expr`` where every choice by ``test`` is made; subscripts are made canonical again."""

    def visit(x: Expr) -> Expr | None:
        match x:
            case Select(t, then, other) if t == test:
                return resolve(then if holds else other, test, holds)
            case Select(t, then, other):
                yes, no = resolve(then, test, holds), resolve(other, test, holds)
                # Both ways the same, as for what EOSHIFT shifts in at either end.
                return yes if yes == no else Select(resolve(t, test, holds), yes, no)
            case _:
                return None

    return canonical(transform(expr, visit))


def canonical(expr: Expr) -> Expr:
    """Index arithmetic in subscripts and in the tests of choices brought to its canonical form."""

    def tidy(x: Expr) -> Expr:
        inner = canonical(x)
        return inner if isinstance(inner, Ref | Select) else add(inner, _ZERO)

    def visit(x: Expr) -> Expr | None:
        match x:
            case Ref(base, subscripts):
                return Ref(canonical(base), tuple(map(_subscript, subscripts)))
            case Select(Op("<=" | ">=" as op, (a, b)), then, other):
                return Select(Op(op, (tidy(a), tidy(b))), canonical(then), canonical(other))
            case _:
                return None

    return transform(expr, visit)


_ZERO = from_linear({}, 0)


def _subscript(x: Expr) -> Expr:
    inner = canonical(x)
    return add(inner, _ZERO) if isinstance(inner, Op) and inner.op in ("+", "-", "*") else inner


def lower_end(first: Expr, at: Expr, facts: Facts) -> Expr:
    """``max(at + 1, first)``, or what of it is known to be greater."""
    return _extreme("max", (add(at, ONE), *_ends("max", first)), facts.holds)


def upper_end(last: Expr, at: Expr, facts: Facts) -> Expr:
    """``min(at, last)``, or what of it is known to be less."""
    return _extreme("min", (at, *_ends("min", last)), lambda x, y: facts.holds(y, x))


def _ends(name: str, expr: Expr) -> tuple[Expr, ...]:
    """The operands of MAX or MIN, or the one expression that is not one."""
    match expr:
        case Call(found, args) if found == name:
            return args
        case _:
            return (expr,)


def _extreme(name: str, ends: tuple[Expr, ...], beats: Callable[[Expr, Expr], bool]) -> Expr:
    kept: list[Expr] = []
    for end in ends:
        if any(beats(x, end) for x in kept):
            continue
        kept = [x for x in kept if not beats(end, x)] + [end]
    return kept[0] if len(kept) == 1 else Call(name, tuple(kept))


@dataclass(frozen=True, slots=True)
class Once:
    """A range of one iteration, or none: ``index`` is its value, ``tests`` what must hold for it."""

    index: Expr
    tests: tuple[Expr, ...]


def at_most_one(first: Expr, last: Expr, facts: Facts) -> Once | None:
    """Whether ``first:last`` has one iteration or none, and when."""
    lowers, uppers = _ends("max", first), _ends("min", last)
    for lower in lowers:
        for upper in uppers:
            if not same(lower, upper):
                continue
            pairs = [(upper, x) for x in lowers if x is not lower]
            pairs += [(x, lower) for x in uppers if x is not upper]
            return Once(lower, tuple(at_least(x, y) for x, y in pairs if not facts.holds(x, y)))
    return None


def at_least(x: Expr, y: Expr) -> Expr:
    """``x >= y`` with the constant on the right."""
    atoms, const = linear(sub(x, y))
    positive = {atom: weight for atom, weight in atoms.items() if weight > 0}
    if not positive:
        return Op(">=", (x, y))
    negative = {atom: -weight for atom, weight in atoms.items() if weight < 0}
    return Op(">=", (from_linear(positive, 0), from_linear(negative, -const)))
