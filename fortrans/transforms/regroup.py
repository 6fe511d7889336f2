"""A loop that counts elements becomes loops over the dimensions it is counted in: no division is left.

RESHAPE reads a dimension of extent ``n`` at ``MODULO(p, n)`` and the next ones at ``p/n``, where
``p = i + r`` counts elements from 0 and ``i`` is the index of a loop ``first:last``.  That loop is cut
where ``p/n`` changes: outside, ``k`` runs from ``(first + r)/n`` to ``(last + r)/n``; inside, ``i`` keeps
its meaning and runs through the ``n`` elements with ``p/n = k``, so that ``MODULO(p, n) = p - n*k``.
The order of iterations stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Implied, Section, shape
from fortrans.ir.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Name,
    Op,
    Ref,
    Select,
    add,
    children,
    constant,
    from_linear,
    linear,
    mul,
    names,
    same,
    sub,
    transform,
    walk,
)
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Declaration
from fortrans.ir.symbols import INTEGER
from fortrans.transforms.captures import Captures
from fortrans.transforms.pieces import Span
from fortrans.transforms.split import Facts, lower_end, upper_end

# Each cut makes loops shorter, and more of them.
MOST_CUTS = 3


def regrouped(
    loops: tuple[Span, ...], value: Expr, array: Array, captures: Captures
) -> tuple[tuple[Declaration, ...], tuple[Span, ...], Expr]:
    """``loops`` (outermost first) and ``value`` without the divisions that cutting a loop removes.

    ``value`` is the element of ``array``.  Also the declarations of the new indices.  What cannot
    be cut stays as it is: a place that may be negative, where a quotient is not rounded down, or
    one that counts more than a loop does.
    """
    fresh, facts = captures.fresh, captures.facts
    # Where the extent of an array is negative, nothing of it is read.
    extents = extents_read(array)
    declared: list[Declaration] = []
    for _ in range(MOST_CUTS):
        for place, extent in divisions(value):
            if (cut := _cut(loops, place, extent, fresh, facts, extents)) is not None:
                index, loops, value = cut[0], cut[1], _undivided(value, place, extent, *cut[2])
                declared.append(Declaration(index, INTEGER))
                break
        else:
            break
    return tuple(declared), loops, value


def divisions(value: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Dividends and divisors in subscripts."""
    for x in walk(value):
        if isinstance(x, Ref):
            for subscript in x.subscripts:
                for y in _inside(subscript):
                    match y:
                        case Call("modulo", (place, extent)) | Op("/", (place, extent)):
                            yield place, extent
                        case _:
                            pass


def _inside(subscript: Expr) -> Iterator[Expr]:
    """Index arithmetic itself, not that of array elements or choices in it; inner operands first."""
    if not isinstance(subscript, Ref | Select):
        for child in children(subscript):
            yield from _inside(child)
        yield subscript


def _cut(
    loops: tuple[Span, ...],
    place: Expr,
    extent: Expr,
    fresh: Fresh,
    facts: Facts,
    extents: frozenset[Expr],
) -> tuple[str, tuple[Span, ...], tuple[Expr, Expr]] | None:
    """The new index, the loops, and what the remainder and the quotient are now."""
    atoms, const = linear(place)
    moving = {span.index for span in loops}
    for at in reversed(range(len(loops))):
        span = loops[at]
        if atoms.get(Name(span.index)) != 1 or span.step is not None or span.backward:
            continue
        rest = from_linear({atom: w for atom, w in atoms.items() if atom != Name(span.index)}, const)
        # Places that several loops count together may be more than a default integer holds.
        if constant(rest) is None or names(extent) & moving:
            return None
        if not facts.holds(place, ZERO) and not facts.holds(add(span.first, rest), ZERO):
            return None
        if not facts.holds(extent, ZERO) and extent not in extents:
            return None
        width = extent if (constant(extent) or 0) > 0 else Call("max", (extent, ONE))
        index = fresh.name("k")
        k = Name(index, natural=True)
        base = sub(mul(k, width), rest)
        begin, end = add(span.first, rest), add(span.last, rest)
        outer = Span(index, _quotient(begin, width), _quotient(end, width), span.concurrent)
        starts = same(begin, ZERO)
        first = base if starts else lower_end(span.first, sub(base, ONE), facts)
        # The end of the last row may be past the greatest integer: the rest is compared, not the end.
        last = add(sub(base, ONE), upper_end(sub(span.last, sub(base, ONE)), width, facts))
        row = replace(span, first=first, last=last, before=None)
        new = (*loops[:at], replace(outer, before=span.before), row, *loops[at + 1 :])
        return index, new, (sub(place, mul(k, width)), k)
    return None


def _quotient(place: Expr, width: Expr) -> Expr:
    return ZERO if same(place, ZERO) else Op("/", (place, width))


def _undivided(value: Expr, place: Expr, extent: Expr, remainder: Expr, quotient: Expr) -> Expr:
    def visit(x: Expr) -> Expr | None:
        match x:
            case Call("modulo", (p, n)) if same(p, place) and same(n, extent):
                return remainder
            case Op("/", (p, n)) if same(p, place) and same(n, extent):
                return quotient
            case _:
                return None

    return transform(value, visit)


def extents_read(array: Array) -> frozenset[Expr]:
    """The extents of the arrays in an expression; none when the user's own divisions may be meant."""
    found: set[Expr] = set()

    def go(x: Array | Implied) -> bool:
        match x:
            case Implied():
                return False
            case Section():
                found.update(shape(x))
                return True
            case Apply(args=args):
                return all(map(go, args.values()))
            case Elemental(operands=operands):
                return all(map(go, operands))
            case Constructor(items):
                return all(map(go, items))
            case _:
                return True

    return frozenset(found) if go(array) else frozenset()
