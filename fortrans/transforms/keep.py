"""What is computed once and kept, so that a nest does not compute it for every element again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fortrans.analysis.matmul import is_product
from fortrans.analysis.overlap import free
from fortrans.intrinsics.elemental import EXPENSIVE
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Implied,
    Section,
    element,
    probe,
    shape,
)
from fortrans.ir.expr import At, Expr, Locate, Name, Reduce, Scan, names, transform, walk
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal
from fortrans.transforms.plan import same_type
from fortrans.transforms.ready import prefers_rows, shift_of


def keep(
    value: Expr,
    loops: tuple[str, ...],
    rows: bool,
    make: Callable[[Array], Section],
    made: dict[Array, Section],
    filling: Array | None = None,
    whole: Callable[[Array], bool] = lambda _: False,
) -> Expr:
    """``value`` where what must not be computed in place reads a temporary that ``make`` fills.

    ``loops`` are the indices, outermost first.  A reduction or costly operand stays when it depends
    on the outermost loops only (lowering then computes it there, once), or, with ``rows``, when it
    is the whole value and can accumulate in the target.  ``made`` are the temporaries there are,
    to which ``make`` adds.  ``filling`` is the array that a temporary
    is being filled with: that one must be computed here.  ``whole`` tells what is never computed
    element by element where it is read.
    """

    def kept(node: Reduce | Locate | At, order: tuple[str, ...]) -> Expr:
        section = made.get(node.origin) or make(node.origin)
        return visit(element(section, node.at), order, False)

    def within(x: Scan, order: tuple[str, ...]) -> Scan:
        def maybe(y: Expr | None) -> Expr | None:
            return None if y is None else visit(y, order, False)

        x = replace(x, body=visit(x.body, order, False), mask=maybe(x.mask))
        if isinstance(x, Reduce):
            return x
        return replace(x, value=maybe(x.value), back=maybe(x.back), part=maybe(x.part))

    def visit(x: Expr, order: tuple[str, ...], top: bool) -> Expr:
        match x:
            case At(origin, _, None):
                if not _standing(origin, order):
                    raise Refusal("FT404", f"{described(origin)} depends on the variable of an implied DO")
                return kept(x, order)
            case At(origin, _, body) if body is not None:
                depends = free(x, frozenset(order))
                if not (expensive(origin) or shift_of(origin)) or len(depends) == len(order):
                    return visit(body, order, False)
                if not _is_outer(depends, order):
                    here = origin == filling or not _standing(origin, order)
                    return visit(body, order, False) if here else kept(x, order)
                return At(origin, x.at, visit(body, order, False))
            case Reduce() | Locate():
                depends = free(x, frozenset(order))
                direct = top and rows and len(depends) == len(order) and bool(order)
                here = x.origin == filling or not _standing(x.origin, order)
                if whole(x.origin) and not here and not (direct and x.at == tuple(map(Name, order[::-1]))):
                    return kept(x, order)
                if depends and prefers_rows(x):
                    if not direct and not here:
                        return kept(x, order)
                elif not _is_outer(depends, order) and not here:
                    return kept(x, order)
                reduced = tuple(name.id for name, _ in reversed(x.indices))
                found = within(x, (*order, *reduced))
                if direct and prefers_rows(found):
                    # A row of accumulators has the reduced dimension outside: other values are invariant.
                    return within(found, (*order[:-1], *reduced, *order[-1:]))
                return found
            case _:
                return transform(
                    x, lambda y: visit(y, order, False) if isinstance(y, At | Reduce | Locate) else None
                )

    return visit(value, loops, True)


def accumulates(value: Expr, index: tuple[Name, ...], into: Section, origin: Array) -> bool:
    """Whether ``origin``, read in ``value`` only where ``into`` is stored, can be computed there."""
    nodes = [x for x in walk(value) if isinstance(x, Reduce | Locate | At) and x.origin == origin]
    return (
        isinstance(origin, Apply)
        and same_type(into.type, origin.type)
        and shape(into) == shape(origin)
        and all(x.at == index for x in nodes)
        and (is_product(origin) or all(map(_gathers, nodes)))
    )


def _gathers(node: Reduce | Locate | At) -> bool:
    """Whether the array that the node is an element of is stored by rows, or by a reference as written."""
    match node:
        case Reduce() | Locate():
            return prefers_rows(node)
        case At(_, _, body):
            return body is None


def _standing(origin: Array, order: tuple[str, ...]) -> bool:
    """Whether the whole array can be computed before the loops: it mentions none of their indices."""
    return not names(as_source(origin)) & set(order)


def _is_outer(depends: frozenset[str], order: tuple[str, ...]) -> bool:
    """Whether the loops depended on are the outermost ones, so that the value is computed once."""
    return set(order[: len(depends)]) == depends


def expensive(array: Array) -> bool:
    """Whether computing an element costs more than reading one back."""
    match array:
        case Elemental(name, operands, user=user):
            return user or name in EXPENSIVE or any(map(expensive, operands))
        case Apply(args=args):
            return any(map(expensive, args.values()))
        case Constructor(items):
            return any(map(expensive, _leaves(items)))
        case _:
            return False


def _leaves(items: tuple[Array | Implied, ...]) -> Iterator[Array]:
    for item in items:
        if isinstance(item, Implied):
            yield from _leaves(item.items)
        else:
            yield item


def has_rule(array: Array) -> bool:
    """Whether the array has an element rule; if not it is materialised as the user wrote it."""
    found = element(array, probe(array))
    return not (isinstance(found, At) and found.body is None and found.origin == array)


def described(array: Array) -> str:
    """What a remark calls the array."""
    match array:
        case Apply(intrinsic):
            return intrinsic.name.upper()
        case Constructor():
            return "array constructor"
        case _:
            return "array SHIFT" if shift_of(array) else "operand of SPREAD"
