"""Looking into the value of an element: what can be computed before the next loop opens, and where."""

from __future__ import annotations

from collections.abc import Iterator

from fortrans.analysis.matmul import is_product
from fortrans.ir.arrays import Array, Elemental, Scalar
from fortrans.ir.expr import (
    At,
    Call,
    Expr,
    Literal,
    Locate,
    Name,
    Op,
    Reduce,
    Ref,
    Select,
    Substring,
    children,
    names,
    walk,
)
from fortrans.ir.symbols import Type
from fortrans.transforms.accumulate import EXTREMES, MASK, SEARCHES
from fortrans.transforms.split import Turn, turn


def prefers_rows(reduce: Reduce | Locate) -> bool:
    """Whether memory is walked in order by the result's first subscript, not by the reduced one."""
    if len(reduce.indices) != 1 or not reduce.at or reduce.op == "norm2":
        return False
    if reduce.op in SEARCHES and not is_product(reduce.origin):
        return False
    if isinstance(reduce, Locate) and not _keeps_values(reduce):
        return False
    if reduce.op in EXTREMES and reduce.mask is not None and reduce.type.name == "real":
        return False
    along = names(reduce.at[0])
    across = {reduce.indices[0][0].id}
    score = 0
    for x in (*_computed(reduce.body), *(_computed(reduce.mask) if reduce.mask is not None else ())):
        if isinstance(x, Ref) and x.subscripts:
            inside = {y.id for y in _computed(x.subscripts[0]) if isinstance(y, Name)}
            # What has one dimension stays in the cache whichever way it is walked, and what the
            # result's first subscript does not reach is read once for the whole row.
            weight = 4 if len(x.subscripts) > 1 and names(x) & along else 1
            score += weight * (bool(inside & along) - bool(inside & across))
    return score > 0


def _computed(expr: Expr) -> Iterator[Expr]:
    """``expr`` and what is below it, but for array shifts, which do not tell how memory is walked."""
    yield expr
    if not (isinstance(expr, At) and shift_of(expr.origin)):
        for child in children(expr):
            yield from _computed(child)


def shift_of(array: Array) -> str:
    """How an array SHIFT is limited to the extent (``modulo``, ``max``); "" for another array."""
    match array:
        case Elemental("int", (inner,)):
            return shift_of(inner)
        case Elemental("modulo", (_, Scalar()), Type(name="integer")):
            return "modulo"
        case Elemental("max", (Scalar(), Elemental("min")), Type(name="integer")):
            return "max"
        case _:
            return ""


def _keeps_values(scan: Locate) -> bool:
    """Whether a row of values and one of positions can be gathered at once, without a test for the first."""
    return (
        scan.op != "findloc"
        and scan.mask is None
        and (scan.back is None or isinstance(scan.back, Literal))
        and scan.operand.name in ("integer", "real")
        and scan.type.kind == 4
        and len(scan.at) == 1
        and is_plain(scan.body)
    )


def is_plain(element: Expr) -> bool:
    """Whether an element is computed by one expression: no choice, reduction or mask in it."""
    return not any(
        isinstance(x, Select | Reduce | Locate | At) or (isinstance(x, Op) and x.op == MASK)
        for x in walk(element)
    )


def may_fail(expr: Expr) -> bool:
    """Whether index arithmetic divides, by an extent that may be zero, or reads what may not be there."""
    return any(
        isinstance(x, Ref | At)
        or (isinstance(x, Call) and x.name in ("modulo", "mod"))
        or (isinstance(x, Op) and x.op == "/")
        for x in walk(expr)
    )


def ready(value: Expr, pending: frozenset[str]) -> Expr | None:
    """Something to compute before the next loop opens: a subscript that wraps, a choice, a reduction."""
    return next(_find(value, pending, kinds=("index",)), None) or next(
        _find(value, pending, kinds=("choice", "reduction")), None
    )


def _find(
    expr: Expr, pending: frozenset[str], kinds: tuple[str, ...], in_subscript: bool = False
) -> Iterator[Expr]:
    match expr:
        case Select(test, then, other):
            ready = not names(test) & pending
            if in_subscript:
                if "index" not in kinds:
                    # The shift of a row, by which its loop is then split.
                    yield from _find(test, pending, kinds, True)
                    return
                for child in (test, then, other):
                    yield from _find(child, pending, kinds, True)
                if not names(expr) & pending:
                    yield from (x for x in walk(test) if isinstance(x, At | Reduce))
                    yield expr
                return
            yield from _find(test, pending, kinds, True)
            if ready and "choice" in kinds:
                yield expr
            if "index" in kinds:
                # Ahead of the choice only what cannot fail: an arm that is not taken may divide by
                # zero, or read an array SHIFT outside its bounds.
                for child in (then, other):
                    for found in _find(child, pending, kinds, in_subscript):
                        if not may_fail(found):
                            yield found
        case Reduce() | Locate():
            inner = pending | {name.id for name, _ in expr.indices}
            if "reduction" in kinds and not names(expr) & pending:
                yield expr
            for part in children(expr)[len(expr.indices) :]:
                yield from _find(part, inner, kinds, in_subscript)
        case At(_, _, body):
            if "reduction" in kinds and not names(expr) & pending:
                yield expr
            if body is not None:
                yield from _find(body, pending, kinds, in_subscript)
        case Ref(base, subscripts):
            for child in subscripts:
                yield from _find(child, pending, kinds, True)
            yield from _find(base, pending, kinds, in_subscript)
        case Substring(base, first, last):
            for limit in (first, last):
                if limit is not None:
                    yield from _find(limit, pending, kinds, True)
            yield from _find(base, pending, kinds, in_subscript)
        case _:
            for child in children(expr):
                yield from _find(child, pending, kinds, in_subscript)


def is_index(select: Expr, value: Expr) -> bool:
    """Whether the choice stands in a subscript (or in a test) somewhere in ``value``."""
    return any(found == select for found in _find(value, frozenset(), ("index",)))


def turning(value: Expr, index: str) -> Turn | None:
    """The first choice that the loop over ``index`` can be split for."""
    for select, bound in _choices(value, frozenset()):
        if (found := turn(select, index, bound)) is not None:
            return found
    return None


def _choices(expr: Expr, bound: frozenset[str]) -> Iterator[tuple[Select, frozenset[str]]]:
    if isinstance(expr, Reduce | Locate):
        bound = bound | {name.id for name, _ in expr.indices}
    if isinstance(expr, Select):
        # The test may itself hold a choice, which then is to be made first.
        for child in children(expr):
            yield from _choices(child, bound)
        yield expr, bound
        return
    for child in children(expr):
        yield from _choices(child, bound)
