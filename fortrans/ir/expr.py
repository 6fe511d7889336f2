"""The value of one element: scalar expressions, and the canonical form of index arithmetic.

Names are lower case throughout; ``emit`` restores the user's spelling when it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fortrans.ir.arrays import Array
    from fortrans.ir.symbols import Type


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal constant in Fortran spelling (``1``, ``2.5d0``, ``1.0_dp``, ``.true.``, ``'ab'``)."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or named constant, lower case.  ``natural``: it is a local of ours, never negative."""

    id: str
    natural: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """An array designator with subscripts: ``a(j, k)``, ``g%u(j)``.  A ``Range`` makes it a section."""

    base: Expr
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """``base%name``."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Range:
    """A subscript triplet (or substring range) where a whole section is printed: ``first:last:step``."""

    first: Expr | None
    last: Expr | None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Substring:
    """``base(first:last)`` of a character scalar."""

    base: Expr
    first: Expr | None
    last: Expr | None


@dataclass(frozen=True, slots=True)
class Call:
    """A function reference.  ``args`` may hold ``Keyword`` nodes after the positional ones.

    ``user``: it is surely a user's function, whatever intrinsic has that name too.
    """

    name: str
    args: tuple[Expr, ...]
    user: bool = False


@dataclass(frozen=True, slots=True)
class Keyword:
    """``name=value`` in an argument list; nowhere else."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Op:
    """An operator under its Fortran spelling, lower case (``+`` ``**`` ``//`` ``==`` ``.and.`` ...).

    One operand: unary.  ``.eq.`` and kin are written ``==`` and kin.  ``Op("()", (x,))`` is
    the user's own parentheses, kept because they forbid reassociation (10.1.8).
    """

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Select:
    """Exactly one arm is evaluated.  MERGE may evaluate both, so this is not MERGE.

    As a subscript (CSHIFT's wrapped index) or as a value (EOSHIFT).  ``test`` is a comparison of
    two integer expressions wherever an element rule can arrange it: lowering then splits the loop.
    """

    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Reduce:
    """``op`` over ``body`` for all ``indices`` (first varies fastest, as in array element order).

    ``op`` is the intrinsic's name in lower case (``sum``, ``maxval``, ``any`` ...).  ``type`` is
    the type of the result, hence of the accumulator.  ``mask`` None means all elements.
    ``origin`` is the array expression whose element at ``at`` this is: what a materialisation
    would store.
    """

    op: str
    type: Type
    indices: tuple[tuple[Name, Expr], ...]
    body: Expr
    mask: Expr | None
    origin: Array
    at: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Locate:
    """Where, counted from 1, the element is that ``op`` (``maxloc``, ``minloc``, ``findloc``) looks for.

    As ``Reduce``, but ``operand`` is the type of ``body``, ``value`` is what FINDLOC looks for, and
    where ``back`` holds the last of equals is taken, not the first.  ``part`` tells which of
    several positions is meant, one for each of ``indices``; None when there is one.
    """

    op: str
    type: Type
    operand: Type
    indices: tuple[tuple[Name, Expr], ...]
    body: Expr
    mask: Expr | None
    value: Expr | None
    back: Expr | None
    part: Expr | None
    origin: Array
    at: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class At:
    """The element of ``origin`` at ``at``, equal to ``body``; may be computed once and kept.

    ``body`` None: there is no element rule (PACK, MATMUL, a user's array function); the
    array must be materialised by the reference as the user wrote it.
    """

    origin: Array
    at: tuple[Expr, ...]
    body: Expr | None


@dataclass(frozen=True, slots=True)
class ImpliedDo:
    """``(items, name = first, last, step)`` in an array constructor; ``name`` is local to it."""

    items: tuple[Expr, ...]
    name: str
    first: Expr
    last: Expr
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """An array constructor ``[spec :: items]`` as the user wrote it."""

    items: tuple[Expr, ...]
    spec: str | None = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """Fortran text we carry but do not read; ``names`` are the identifiers in it, lower case."""

    text: str
    names: frozenset[str]


Expr = (
    Literal | Name | Ref | Component | Range | Substring | Call | Keyword | Op
    | Select | Reduce | Locate | At | ImpliedDo | Items | Opaque
)
Scan = Reduce | Locate
Index = tuple[Expr, ...]
Shape = tuple[Expr, ...]

ZERO, ONE = Literal("0"), Literal("1")


def integer(value: int) -> Expr:
    """A default integer constant; a negative one is a unary minus, as Fortran has it."""
    return Literal(str(value)) if value >= 0 else Op("-", (Literal(str(-value)),))


def constant(expr: Expr) -> int | None:
    """The value of an integer expression of literals, else None."""
    atoms, value = linear(expr)
    return None if atoms else value


# ---- trees -----------------------------------------------------------------


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions (of ``At`` and scans: those that are evaluated)."""
    match expr:
        case Literal() | Name() | Opaque():
            return ()
        case Ref(base, subscripts):
            return (base, *subscripts)
        case Component(base, _) | Keyword(_, base):
            return (base,)
        case Range(first, last, step):
            return tuple(x for x in (first, last, step) if x is not None)
        case Substring(base, first, last):
            return (base, *(x for x in (first, last) if x is not None))
        case Call(_, args) | Op(_, args):
            return args
        case Select(test, then, other):
            return (test, then, other)
        case Reduce(_, _, indices, body, mask):
            return (*(extent for _, extent in indices), body, *(() if mask is None else (mask,)))
        case Locate(indices=indices, body=body):
            more = (x for x in (expr.mask, expr.value, expr.back) if x is not None)
            return (*(extent for _, extent in indices), body, *more)
        case At(_, at, body):
            return at if body is None else (*at, body)
        case ImpliedDo(items, _, first, last, step):
            return (*items, first, last, *(() if step is None else (step,)))
        case Items(items):
            return items


def transform(expr: Expr, visit: Callable[[Expr], Expr | None]) -> Expr:
    """``expr`` rebuilt top down: where ``visit`` answers with an expression, that one stands instead."""
    if (found := visit(expr)) is not None:
        return found

    def go(x: Expr) -> Expr:
        return transform(x, visit)

    def maybe(x: Expr | None) -> Expr | None:
        return None if x is None else transform(x, visit)

    match expr:
        case Literal() | Name() | Opaque():
            return expr
        case Ref(base, subscripts):
            return Ref(go(base), tuple(map(go, subscripts)))
        case Component(base, name):
            return Component(go(base), name)
        case Keyword(name, value):
            return Keyword(name, go(value))
        case Range(first, last, step):
            return Range(maybe(first), maybe(last), maybe(step))
        case Substring(base, first, last):
            return Substring(go(base), maybe(first), maybe(last))
        case Call(name, args, user):
            return Call(name, tuple(map(go, args)), user)
        case Op(op, args):
            return Op(op, tuple(map(go, args)))
        case Select(test, then, other):
            return Select(go(test), go(then), go(other))
        case Reduce() | Locate():
            indices = tuple((name, go(extent)) for name, extent in expr.indices)
            at = tuple(map(go, expr.at))
            expr = replace(expr, indices=indices, body=go(expr.body), mask=maybe(expr.mask), at=at)
            if isinstance(expr, Reduce):
                return expr
            return replace(expr, value=maybe(expr.value), back=maybe(expr.back), part=maybe(expr.part))
        case At(origin, at, body):
            return At(origin, tuple(map(go, at)), maybe(body))
        case ImpliedDo(items, name, first, last, step):
            return ImpliedDo(tuple(map(go, items)), name, go(first), go(last), maybe(step))
        case Items(items, spec):
            return Items(tuple(map(go, items)), spec)


def substitute(expr: Expr, values: dict[str, Expr]) -> Expr:
    """``expr`` with names replaced; ``linear`` sees through what that leaves uncanonical."""

    def visit(x: Expr) -> Expr | None:
        return values.get(x.id) if isinstance(x, Name) else None

    return transform(expr, visit)


def walk(expr: Expr) -> Iterator[Expr]:
    """``expr`` and everything below it, parents first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def names(expr: Expr) -> frozenset[str]:
    """Every identifier that is evaluated in ``expr``: variables, bases, function names."""
    found: set[str] = set()
    for x in walk(expr):
        match x:
            case Name(id) | Call(id, _):
                found.add(id)
            case Opaque(_, ids):
                found |= ids
            case Reduce(indices=indices) | Locate(indices=indices):
                found |= {name.id for name, _ in indices}
    return frozenset(found)


# ---- index arithmetic --------------------------------------------------------


def linear(expr: Expr) -> tuple[dict[Expr, int], int]:
    """``expr`` as integer-weighted atoms plus a constant: two subscripts are equal iff these are.

    Sound for integer expressions only.  Anything that is not ``+ - *constant`` is an atom.
    """
    match expr:
        case Literal(text) if text.isdigit():
            return {}, int(text)
        case Op("()", (x,)):
            return linear(x)
        case Op("-" | "+" as op, (x,)):
            atoms, const = linear(x)
            sign = -1 if op == "-" else 1
            return {a: sign * w for a, w in atoms.items()}, sign * const
        case Op("+" | "-" as op, (x, y)):
            sign = 1 if op == "+" else -1
            (xs, c), (ys, d) = linear(x), linear(y)
            total = dict(xs)
            for atom, weight in ys.items():
                total[atom] = total.get(atom, 0) + sign * weight
            return {a: w for a, w in total.items() if w}, c + sign * d
        case Op("*", (x, y)):
            (xs, c), (ys, d) = linear(x), linear(y)
            if not xs:
                return {a: c * w for a, w in ys.items() if c}, c * d
            if not ys:
                return {a: d * w for a, w in xs.items() if d}, c * d
            return {expr: 1}, 0
        case _:
            return {expr: 1}, 0


def from_linear(atoms: dict[Expr, int], const: int) -> Expr:
    """The printable form: positive terms first, then negative ones, then the constant.

    A positive constant goes first where all terms are negative: ``4 - j``.
    """
    result: Expr | None = None
    if const > 0 and atoms and all(weight < 0 for weight in atoms.values()):
        result, const = integer(const), 0
    for atom, weight in sorted(atoms.items(), key=lambda item: item[1] < 0):
        term = atom if abs(weight) == 1 else Op("*", (integer(abs(weight)), atom))
        if result is None:
            result = term if weight > 0 else Op("-", (term,))
        else:
            result = Op("+" if weight > 0 else "-", (result, term))
    if result is None:
        return integer(const)
    if const == 0:
        return result
    return Op("+" if const > 0 else "-", (result, integer(abs(const))))


def add(x: Expr, y: Expr) -> Expr:
    """``x + y`` of integers, canonical."""
    return from_linear(*linear(Op("+", (x, y))))


def sub(x: Expr, y: Expr) -> Expr:
    """``x - y`` of integers, canonical."""
    return from_linear(*linear(Op("-", (x, y))))


def mul(x: Expr, y: Expr) -> Expr:
    """``x * y`` of integers, canonical."""
    return from_linear(*linear(Op("*", (x, y))))


def same(x: Expr, y: Expr) -> bool:
    """Whether two integer expressions are equal for all values of their names (sufficient test)."""
    return linear(x) == linear(y)
