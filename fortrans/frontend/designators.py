"""Designators (9.1): what part of what object, with what bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.ir.arrays import (
    Array,
    Axis,
    Constructor,
    Elemental,
    Fixed,
    Implied,
    Part,
    Scalar,
    Section,
    Triplet,
    Vector,
    rank,
)
from fortrans.ir.expr import (
    ONE,
    Call,
    Component,
    Expr,
    Name,
    Op,
    Range,
    Ref,
    Substring,
    add,
    constant,
    integer,
    names,
    sub,
)
from fortrans.ir.symbols import DerivedType, Scope, Symbol, Type, Unresolved
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting

FORBIDDEN = {
    "volatile": "is VOLATILE",
    "asynchronous": "is ASYNCHRONOUS",
    "codimension": "is a coarray",
    "threadprivate": "is private to a thread",
}


def parts(expr: Expr) -> tuple[Part, ...]:
    """``g(i)%u(:, k)`` as its part references.  Raises Refusal for what is not a designator."""
    match expr:
        case Name(id):
            return (Part(id),)
        case Ref(base, subscripts):
            *before, last = parts(base)
            if last.subscripts is not None:
                raise Refusal("FT202", f"Designator '{last.name}' has two lists of subscripts")
            return (*before, Part(last.name, subscripts))
        case Component(base, name):
            return (*parts(base), Part(name))
        case Substring(base):
            return parts(base)
        case _:
            raise Refusal("FT002", "Statement assigns to what is not a plain designator")


def symbols(expr: Expr, scope: Scope) -> tuple[Symbol, ...] | None:
    """The symbol of each part of a designator; None when one is not known."""
    found: list[Symbol] = []
    for part in parts(expr):
        if not found:
            meaning = scope.lookup(part.name)
            if not isinstance(meaning, Symbol):
                return None
            found.append(meaning)
            continue
        type = scope.derived_of(found[-1])
        component = type.components.get(part.name) if type else None
        if component is None:
            return None
        found.append(component)
    return tuple(found)


def designator(expr: Expr, lifting: Lifting) -> Array:
    """A data reference as a Section, or a Scalar when no part has rank.  Raises Refusal."""
    if isinstance(expr, Substring):
        return _substring(expr, lifting)
    path = _path(expr, lifting.scope)
    for symbol in path:
        for attribute in symbol.attributes & FORBIDDEN.keys():
            raise Refusal("FT209", f"'{symbol.name}' {FORBIDDEN[attribute]}")
        if symbol.assumed_rank:
            raise Refusal("FT206", f"'{symbol.name}' has assumed rank")
    final = path[-1].type
    base: Expr | None = None
    ranked: tuple[Expr, tuple[Axis, ...], bool] | None = None
    suffix: list[Part] = []
    listed = parts(expr)
    for number, (part, symbol) in enumerate(zip(listed, path)):
        so_far: Expr = Name(part.name) if base is None else Component(base, part.name)
        last = number == len(listed) - 1
        if part.subscripts is not None and not symbol.rank:
            if last and final.name == "character" and isinstance(part.subscripts[0], Range):
                if ranked:
                    raise Refusal("FT205", f"Substring of an array section '{part.name}' is not composed")
                cut = part.subscripts[0]
                return _substring(Substring(so_far, cut.first, cut.last), lifting)
            raise Refusal("FT202", f"'{part.name}' has subscripts but no rank here")
        axes = _axes(so_far, part, symbol, lifting)
        extents = sum(not isinstance(axis, Fixed) for axis in axes)
        if extents and ranked:
            raise Refusal("FT202", f"Two parts of '{listed[0].name}' have rank")
        if extents:
            ranked = (so_far, axes, last and part.subscripts is None)
            base = so_far
        elif ranked:
            subscripts = tuple(axis.value for axis in axes if isinstance(axis, Fixed))
            suffix.append(Part(part.name, subscripts or None))
        else:
            subscripts = tuple(axis.value for axis in axes if isinstance(axis, Fixed))
            base = Ref(so_far, subscripts) if subscripts else so_far
    assert base is not None
    if ranked is None:
        return Scalar(base, final)
    return Section(ranked[0], ranked[1], final, tuple(suffix), ranked[2])


def _path(expr: Expr, scope: Scope) -> tuple[Symbol, ...]:
    path = symbols(expr, scope)
    if path is not None:
        return path
    listed = parts(expr)
    match scope.lookup(listed[0].name):
        case Unresolved(name, why):
            raise Refusal("FT201", f"Name '{name}' is not known: {why}")
        case Symbol() as symbol:
            type: DerivedType | None = scope.derived_of(symbol)
            if type is None and symbol.type.derived:
                type_name = symbol.type.derived
                raise Refusal("FT201", f"Derived type '{type_name}' of '{symbol.name}' is not known")
            if type is not None and len(listed) > 1 and listed[1].name in type.bound:
                raise Refusal("FT405", f"Type-bound procedure '{listed[1].name}' is not composed")
            names = "%".join(part.name for part in listed)
            raise Refusal("FT201", f"'{names}' is not a data component that is known")
        case _:
            raise Refusal("FT405", f"'{listed[0].name}' is not a data object here")


def _substring(expr: Substring, lifting: Lifting) -> Array:
    inner = designator(expr.base, lifting)
    if not isinstance(inner, Scalar) or inner.type.name != "character":
        raise Refusal("FT205", "Substring of an array section is not composed")
    first = ONE if expr.first is None else lifting.settled(expr.first)
    last = inner.type.length if expr.last is None else lifting.settled(expr.last)
    length = None if last is None else Call("max", (add(sub(last, first), ONE), integer(0)))
    if length is not None and (known := constant(length.args[0])) is not None:
        size: Expr | None = integer(max(known, 0))
    else:
        size = length
    return Scalar(Substring(inner.value, first, last), Type("character", inner.type.kind, "", size))


def _axes(so_far: Expr, part: Part, symbol: Symbol, lifting: Lifting) -> tuple[Axis, ...]:
    if part.subscripts is None:
        return tuple(_whole(so_far, symbol, d, lifting.scope) for d in range(symbol.rank))
    if len(part.subscripts) != symbol.rank:
        raise Refusal("FT202", f"'{part.name}' has rank {symbol.rank}, but {len(part.subscripts)} subscripts")
    return tuple(
        _subscript(so_far, symbol, d, subscript, lifting)
        for d, subscript in enumerate(part.subscripts)
    )


def _subscript(so_far: Expr, symbol: Symbol, d: int, subscript: Expr, lifting: Lifting) -> Axis:
    match subscript:
        case Range(None, None, None):
            return _whole(so_far, symbol, d, lifting.scope)
        case Range(first, last, step):
            stride = ONE if step is None else lifting.settled(step)
            if constant(stride) == 0:
                raise Refusal("FT202", f"Stride of a section of '{symbol.name}' is zero")
            # Absent bounds are those of the array whatever the stride's sign (9.5.3.3.2).
            lower = lower_bound(so_far, symbol, d, lifting.scope) if first is None else lifting.settled(first)
            upper = upper_bound(so_far, symbol, d) if last is None else lifting.settled(last)
            return Triplet(lower, stride, _default(section_extent(lower, upper, stride), lifting.scope))
        case _:
            value = lifting.lift(subscript)
            if not rank(value):
                return Fixed(lifting.settled_value(value, symbol.name))
            if rank(value) != 1 or value.type.name != "integer":
                raise Refusal("FT202", f"Subscript of '{symbol.name}' is neither scalar nor a vector")
            if not _plain(value):
                raise Refusal("FT403", f"Vector subscript of '{symbol.name}' is computed by an intrinsic")
            return Vector(value)


def section_extent(lower: Expr, upper: Expr, stride: Expr) -> Expr:
    """Number of elements of ``lower:upper:stride``, not below zero where it is used as a size.

    ``(upper - lower + stride)/stride`` truncates towards zero, which is right for both signs of
    the stride whenever the section is not empty, and not positive when it is.
    """
    if constant(stride) == 1:
        return _sized(add(sub(upper, lower), ONE))
    span = add(sub(upper, lower), stride)
    known, step = constant(span), constant(stride)
    if known is not None and step is not None:
        return integer(max(int(known / step), 0))
    return Op("/", (span, stride))


def _whole(so_far: Expr, symbol: Symbol, d: int, scope: Scope) -> Triplet:
    return Triplet(lower_bound(so_far, symbol, d, scope), ONE, extent(so_far, symbol, d, scope), full=True)


def lower_bound(designated: Expr, symbol: Symbol, d: int, scope: Scope) -> Expr:
    """The lower bound of dimension ``d`` (0-based) of an array: declared where that still holds."""
    dim = symbol.dims[d]
    lower = dim.lower
    keeps = lower is not None and (_holds(symbol, d) or constant(lower) is not None)
    if lower is not None and keeps and _default(lower, scope) is lower:
        return lower
    return Call("lbound", (designated, integer(d + 1)))


def upper_bound(designated: Expr, symbol: Symbol, d: int) -> Expr:
    """The upper bound of dimension ``d`` (0-based)."""
    dim = symbol.dims[d]
    if dim.form == "assumed-size":
        raise Refusal("FT206", f"'{symbol.name}' is of assumed size")
    if dim.form == "explicit" and dim.upper is not None and _holds(symbol, d):
        return dim.upper
    return Call("ubound", (designated, integer(d + 1)))


def extent(designated: Expr, symbol: Symbol, d: int, scope: Scope) -> Expr:
    """The extent of dimension ``d`` (0-based)."""
    dim = symbol.dims[d]
    if dim.form == "assumed-size":
        raise Refusal("FT206", f"'{symbol.name}' is of assumed size")
    if dim.form == "explicit" and dim.lower is not None and dim.upper is not None and _holds(symbol, d):
        declared = _sized(add(sub(dim.upper, dim.lower), ONE))
        if _default(declared, scope) is declared:
            return declared
    return Call("size", (designated, integer(d + 1)))


def _default(extent: Expr, scope: Scope) -> Expr:
    """``extent`` as a default integer: names of other kinds in it must not meet default constants."""
    for id in names(extent):
        meaning = scope.lookup(id)
        if isinstance(meaning, Symbol) and meaning.type.kind != 4:
            return Call("int", (extent,))
    return extent


def _sized(extent: Expr) -> Expr:
    known = constant(extent)
    return extent if known is None else integer(max(known, 0))


def _holds(symbol: Symbol, d: int) -> bool:
    return d < len(symbol.stable) and symbol.stable[d]


def _plain(vector: Array) -> bool:
    """Whether an element of a vector subscript is read or computed on the spot, with no choice in it."""
    match vector:
        case Scalar() | Section():
            return True
        case Elemental(operands=operands, user=False):
            return all(map(_plain, operands))
        case Constructor(items=(Implied(),)):
            return True
        case _:
            return False
