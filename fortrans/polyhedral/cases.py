"""Index arithmetic and tests as unions of quasi-affine pieces, exact for every sign.

Integer division truncates, so that ``i/2`` is one floor where ``i`` is not negative and another
where it is; MAX and MIN are one of their arguments or the other.  Where facts do not tell which,
both cases are given, each with the constraint under which it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fortrans.ir.expr import Call, Expr, Literal, Op, children
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.domain import Constraint
from fortrans.polyhedral.forms import Affine, Index, NotAffine, is_quasi_affine

MOST = 16
"""Cases of one expression, or pieces of one domain, beyond which it counts as not affine."""

Case = tuple[tuple[Constraint, ...], Facts, Affine]
Piece = tuple[tuple[Constraint, ...], Facts]


def cases(expr: Expr, indices: Index, facts: Facts) -> tuple[Case, ...]:
    """Each way ``expr`` may go, with the constraints under which it does.

    The cases exclude one another, and one of them always holds.  Raises NotAffine.
    """
    found = tuple(_cases(expr, indices, facts, (), 0))
    if len(found) > MOST:
        raise NotAffine("too many cases")
    return found


def _cases(
    expr: Expr, indices: Index, facts: Facts, under: tuple[Constraint, ...], depth: int
) -> Iterator[Case]:
    if depth > MOST:
        raise NotAffine("too many cases")
    open_ = _undecided(expr, indices, facts)
    if open_ is None:
        form = affine(expr, indices, facts)
        if not is_quasi_affine(form, indices):
            raise NotAffine("product of variables")
        yield under, facts, form
        return
    for assumed in (open_, open_.scaled(-1).plus(-1)):
        more = (*under, Constraint(assumed))
        yield from _cases(expr, indices, _assuming(facts, assumed), more, depth + 1)


def _assuming(facts: Facts, form: Affine) -> Facts:
    """``facts`` and ``form >= 0``, also where the range of an index says less."""
    known = facts.assuming(form)
    return known if form in known.natural else replace(known, natural=(*known.natural, form))


def _undecided(expr: Expr, indices: Index, facts: Facts) -> Affine | None:
    """A form whose sign decides how the innermost undecided operation goes; None when all are decided."""
    for child in children(expr):
        if (found := _undecided(child, indices, facts)) is not None:
            return found
    match expr:
        case Op("/", (x, y)) | Call("mod", (x, y), user=False):
            form, by = affine(x, indices, facts), affine(y, indices, facts).value
            if not by:
                return None
            whole = all(w % by == 0 for w in (*(w for _, w in form.terms), form.constant))
            if whole or facts.holds(form) or facts.holds(form.scaled(-1)):
                return None
            return form
        case Call("max" | "min", args, user=False):
            forms = [affine(arg, indices, facts) for arg in args]
            for number, one in enumerate(forms):
                for other in forms[number + 1 :]:
                    if not (facts.holds(one - other) or facts.holds(other - one)):
                        return one - other
    return None


def bounds(expr: Expr, lower: bool) -> tuple[Expr, ...]:
    """The expressions that a bound is the greatest (the lower one) or the least of."""
    match expr:
        case Call(name, args, user=False) if name == ("max" if lower else "min"):
            return tuple(y for x in args for y in bounds(x, lower))
    return (expr,)


# ---- tests -------------------------------------------------------------------------

_NEGATED = {"==": "/=", "/=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def disjunction(test: Expr, holds: bool = True) -> tuple[tuple[Expr, ...], ...]:
    """A test as comparisons: one of the tuples must hold in all its parts.

    ``/=`` is two cases.  With ``holds`` False it is the negation of ``test``.  Raises NotAffine.
    """
    match test:
        case Literal(text):
            return ((),) if (text == ".true.") == holds else ()
        case Op(".not.", (x,)):
            return disjunction(x, not holds)
        case Op(".and." | ".or." as op, (x, y)):
            left, right = disjunction(x, holds), disjunction(y, holds)
            if (op == ".or.") == holds:
                return _few((*left, *right))
            return _few(tuple((*a, *b) for a in left for b in right))
        case Op(".eqv." | ".neqv." as op, (x, y)):
            same = (op == ".eqv.") == holds
            return _few(
                tuple(
                    (*a, *b)
                    for first in (True, False)
                    for a in disjunction(x, first)
                    for b in disjunction(y, first == same)
                )
            )
        case Op(op, (x, y)) if op in _NEGATED:
            op = op if holds else _NEGATED[op]
            if op == "/=":
                return ((Op("<", (x, y)),), (Op(">", (x, y)),))
            return ((Op(op, (x, y)),),)
    raise NotAffine("no comparison")


def _few(found: tuple[tuple[Expr, ...], ...]) -> tuple[tuple[Expr, ...], ...]:
    if len(found) > MOST:
        raise NotAffine("too many cases")
    return found


def joined(constraints: Sequence[Constraint], more: Sequence[Constraint]) -> tuple[Constraint, ...] | None:
    """``constraints`` and those of ``more`` that none of them implies; None where two are contradictory."""
    result = list(constraints)
    for new in more:
        known = [half for old in result for half in _halves(old)]
        for half in _halves(new):
            if any((total := (half + other).value) is not None and total < 0 for other in known):
                return None
        if not all(any(_implies(other, half) for other in known) for half in _halves(new)):
            result.append(new)
    return tuple(result)


def _halves(constraint: Constraint) -> tuple[Affine, ...]:
    """The inequalities that a constraint is."""
    form = constraint.form
    return (form, form.scaled(-1)) if constraint.equality else (form,)


def _implies(known: Affine, form: Affine) -> bool:
    excess = (form - known).value
    return excess is not None and excess >= 0


def restricted(piece: Piece, comparisons: Sequence[Expr], indices: Index) -> tuple[Piece, ...]:
    """What of a piece is left where all of ``comparisons`` hold.  Raises NotAffine."""
    pieces: tuple[Piece, ...] = (piece,)
    for comparison in comparisons:
        assert isinstance(comparison, Op)
        x, y = comparison.args
        difference = Op("-", (x, y)) if comparison.op in (">", ">=", "==") else Op("-", (y, x))
        strict = comparison.op in ("<", ">")
        found: list[Piece] = []
        for constraints, facts in pieces:
            for under, known, form in cases(difference, indices, facts):
                form = form.plus(-1) if strict else form
                equality = comparison.op == "=="
                known = _assuming(known, form)
                if equality:
                    known = _assuming(known, form.scaled(-1))
                kept = joined(constraints, (*under, Constraint(form, equality)))
                if kept is not None:
                    found.append((kept, known))
        pieces = tuple(found)
        if len(pieces) > MOST:
            raise NotAffine("too many cases")
    return pieces


