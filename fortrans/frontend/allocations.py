"""An ALLOCATE statement whose SOURCE= is computed (9.7.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fortrans.frontend.designators import designator, parts, symbols
from fortrans.frontend.expressions import convert
from fortrans.frontend.lift import Lifting, check_order
from fortrans.frontend.parse import expression
from fortrans.frontend.tokens import find, split
from fortrans.frontend.types import takes_length
from fortrans.ir.arrays import Scalar, Section, Triplet, path_name, rank, shape
from fortrans.ir.expr import (
    ONE,
    Call,
    Component,
    Expr,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Range,
    Ref,
    constant,
    integer,
)
from fortrans.ir.fresh import Fresh
from fortrans.ir.sites import Allocation, Assignment, Place, Room
from fortrans.ir.symbols import Generic, Intrinsic, Scope, Type
from fortrans.remarks import Refusal

_ALLOCATE = re.compile(r"allocate\s*\((.*)\)\s*$", re.IGNORECASE | re.DOTALL)
_KEYWORDS = frozenset({"stat", "errmsg"})


@dataclass(frozen=True, slots=True)
class Allocate:
    """An ALLOCATE statement: its objects with their bounds, its keywords by name."""

    objects: tuple[Expr, ...]
    keywords: Mapping[str, Expr]


def read(text: str) -> Allocate | None:
    """The parts of an ALLOCATE statement; None with a type-spec.  Raises Refusal."""
    match = _ALLOCATE.match(text)
    objects: list[Expr] = []
    keywords: dict[str, Expr] = {}
    for piece in split(match[1]) if match else ():
        if find(piece, "::") >= 0:
            return None
        at = find(piece, "=")
        found = convert(expression(piece[at + 1 :].strip()))
        if at < 0:
            objects.append(found)
        else:
            keywords[piece[:at].strip().lower()] = found
    return Allocate(tuple(objects), keywords) if objects else None


def lift_allocation(place: Place, text: str, scope: Scope, fresh: Fresh) -> Assignment | None:
    """The site of an ALLOCATE statement; None when it has no SOURCE= that computes an array.

    Raises Refusal.
    """
    statement = read(text)
    source = statement.keywords.get("source") if statement is not None else None
    while isinstance(source, Op) and source.op == "()":
        (source,) = source.args
    if statement is None or source is None or not _computes(source, scope):
        return None
    lifting = Lifting(scope, fresh)
    value = lifting.lift(source)
    if isinstance(value, Scalar | Section):
        return None
    check_order(Items(statement.objects), source, scope)
    keywords = tuple(Keyword(name, x) for name, x in statement.keywords.items() if name != "source")
    if {keyword.name for keyword in keywords} - _KEYWORDS:
        raise Refusal("FT002", "ALLOCATE statement is of a form that is not read yet")
    rooms = tuple(_room(x, lifting) for x in statement.objects)
    for room in rooms:
        _check_type(room, value.type, scope)
        if rank(value) and rank(value) != len(room.lower):
            raise Refusal("FT207", f"Ranks differ: {len(room.lower)} and {rank(value)}")
        if room.lower and not rank(value) and not room.bounds:
            raise Refusal("FT207", f"'{path_name(room.base)}' has no shape: its SOURCE= is a scalar")
    one = rooms[0]
    lhs: Section | Scalar
    if rank(value):
        axes = tuple(Triplet(x, ONE, n, full=True) for x, n in zip(one.lower, shape(value), strict=True))
        lhs = Section(one.base, axes, one.type, whole=True)
    else:
        lhs = Scalar(one.base, one.type)
    allocation = Allocation(rooms, keywords)
    deferred = any(room.type.name == "character" and room.type.length is None for room in rooms)
    length = value.type.length if deferred else None
    captures = tuple(lifting.captures)
    return Assignment(place, scope, lhs, value, captures, allocation=allocation, length=length)


def _computes(source: Expr, scope: Scope) -> bool:
    """Whether there is more to the source than a designator, a constant or a function of the user's."""
    match source:
        case Name() | Literal() | Component():
            return False
        case Ref(Name(id)) | Call(id):
            return isinstance(scope.lookup(id), Intrinsic | Generic)
        case Ref():
            return False
        case _:
            return True


def _room(expr: Expr, lifting: Lifting) -> Room:
    path = symbols(expr, lifting.scope)
    if path is None:
        raise Refusal("FT201", f"'{'%'.join(part.name for part in parts(expr))}' is not known")
    bounds: tuple[Expr, ...] = ()
    base = expr
    if path[-1].rank and isinstance(expr, Ref):
        base, bounds = expr.base, expr.subscripts
    whole = designator(base, lifting)
    if path[-1].rank and not (isinstance(whole, Section) and whole.whole):
        raise Refusal("FT202", f"'{path_name(base)}' is not one whole array")
    # Its own subscripts are evaluated once.
    assert isinstance(whole, Section | Scalar)
    base = whole.base if isinstance(whole, Section) else whole.value
    lower = tuple(_lower(base, bounds, d) for d in range(path[-1].rank))
    return Room(base, bounds, lower, path[-1].type)


def _lower(base: Expr, bounds: tuple[Expr, ...], d: int) -> Expr:
    """A lower bound once the object is allocated; an expression as SOURCE= has lower bounds of 1."""
    if not bounds or not isinstance(bounds[d], Range):
        return ONE
    given = bounds[d]
    if isinstance(given, Range) and given.first is not None and constant(given.first) is not None:
        return given.first
    return Call("lbound", (base, integer(d + 1)))


def _check_type(room: Room, source: Type, scope: Scope) -> None:
    """Raise Refusal unless the object has the type of the source, and keeps its parameters.

    Characters of deferred length take that of the source (9.7.1.2), where it is known.
    """
    name, own = path_name(room.base), room.type
    if own.name in ("type", "class"):
        raise Refusal("FT204", f"'{name}' is of derived type or polymorphic")
    if own.name != source.name or own.kind != source.kind or own.kind is None:
        raise Refusal("FT207", f"SOURCE= is not surely of the type and kind of '{name}'")
    if own.name == "character":
        lengths = [own.length, source.length]
        if own.length is None and takes_length(own, source, scope):
            return
        if not all(isinstance(x, Literal) for x in lengths) or lengths[0] != lengths[1]:
            raise Refusal("FT205", f"Character length of '{name}' may be that of its SOURCE=")
