"""Array expressions as functions over 1-based index tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from fortrans.ir.expr import (
    ONE,
    Component,
    Expr,
    Index,
    Name,
    Op,
    Ref,
    Shape,
    add,
    mul,
    sub,
)
from fortrans.ir.expr import Call as CallExpr
from fortrans.ir.symbols import Type


@dataclass(frozen=True, slots=True)
class Scalar:
    """Ignores its index; evaluated at most once."""

    value: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Triplet:
    """``lower``, ``stride`` and number of elements along one dimension of a section.

    ``full``: it is the whole dimension (``:`` or no subscript), which prints as ``:``.
    """

    lower: Expr
    stride: Expr
    extent: Expr
    full: bool = False


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector subscript: a rank-1 integer array expression."""

    array: Array


@dataclass(frozen=True, slots=True)
class Fixed:
    """A scalar subscript."""

    value: Expr


Axis = Fixed | Triplet | Vector


@dataclass(frozen=True, slots=True)
class Part:
    """``%name`` or ``%name(subscripts)`` behind the part that has rank."""

    name: str
    subscripts: tuple[Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """``base(axes)suffix``, the part with rank being ``base``: ``g%u(:, k)%x``.

    ``whole``: the designator ends in the array's name, no subscripts (so it has the array's own
    bounds, and reallocates when allocatable and on the left).
    """

    base: Expr
    axes: tuple[Axis, ...]
    type: Type
    suffix: tuple[Part, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Elemental:
    """An operator (see ``expr.Op``) or elemental function over conformable operands.

    ``keywords`` gives each operand's argument keyword or None; empty for operators.  ``user``:
    a user's procedure, not an intrinsic.
    """

    name: str
    operands: tuple[Array, ...]
    type: Type
    operator: bool = False
    keywords: tuple[str | None, ...] = ()
    user: bool = False


@dataclass(frozen=True, slots=True)
class Apply:
    """A transformational intrinsic; ``args`` by dummy argument name, lower case, absent ones left out."""

    intrinsic: Intrinsic
    args: Mapping[str, Array]
    type: Type

    def __hash__(self) -> int:
        return hash((self.intrinsic.name, tuple(sorted(self.args)), self.type))


@dataclass(frozen=True, slots=True)
class Implied:
    """``(items, name = first, last, step)`` in an array constructor; ``name`` is local to it."""

    items: tuple[Array | Implied, ...]
    name: str
    first: Expr
    last: Expr
    step: Expr


@dataclass(frozen=True, slots=True)
class Constructor:
    """``[items]``; ``typed``: it has a type-spec, so items convert to ``type``."""

    items: tuple[Array | Implied, ...]
    type: Type
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a user's array-valued function: no element rule, shape known or refused."""

    call: Expr
    extents: Shape
    type: Type


Array = Scalar | Section | Elemental | Apply | Constructor | Reference


class Intrinsic(Protocol):
    """What one entry of ``intrinsics/`` knows.  ``args`` are as in ``Apply.args``."""

    name: str  # lower case
    required: tuple[str, ...]
    optional: tuple[str, ...]

    def shape(self, args: Mapping[str, Array]) -> Shape:
        """The shape of the result; raises Refusal when it cannot be told."""

    def type(self, args: Mapping[str, Array]) -> Type:
        """The type of the result; raises Refusal when it cannot be told."""

    def element(self, index: Index, apply: Apply) -> Expr:
        """The value at ``index`` (1-based, one subscript per dimension of the result)."""


def shape(array: Array) -> Shape:
    """The extents of an array expression, () for a scalar."""
    match array:
        case Scalar():
            return ()
        case Section(axes=axes):
            extents: list[Expr] = []
            for axis in axes:
                match axis:
                    case Triplet(extent=extent):
                        extents.append(extent)
                    case Vector(inner):
                        extents.extend(shape(inner))
            return tuple(extents)
        case Elemental(operands=operands):
            return max((shape(x) for x in operands), key=len)
        case Apply(intrinsic, args):
            return intrinsic.shape(args)
        case Constructor():
            from fortrans.intrinsics.constructor import constructor_shape

            return constructor_shape(array)
        case Reference(extents=extents_):
            return extents_


def shaped(whole: Section, extents: Shape) -> Section:
    """A whole array whose extents are known to be these."""
    axes = tuple(
        replace(axis, extent=extent) if isinstance(axis, Triplet) else axis
        for axis, extent in zip(whole.axes, extents, strict=True)
    )
    return replace(whole, axes=axes)


def rank(array: Array) -> int:
    """The number of dimensions."""
    return len(shape(array))


def element(array: Array, index: Index) -> Expr:
    """Apply the array expression to an index tuple: ``a{j}``."""
    match array:
        case Scalar(value):
            return value
        case Section():
            return section_element(array, index)
        case Elemental(name, operands, _, operator, keywords):
            values = tuple(element(x, index if rank(x) else ()) for x in operands)
            if operator:
                return Op(name, values)
            from fortrans.ir.expr import Keyword

            keys = keywords or (None,) * len(values)
            args = tuple(v if k is None else Keyword(k, v) for k, v in zip(keys, values))
            return CallExpr(name, args, array.user)
        case Apply(intrinsic):
            return intrinsic.element(index, array)
        case Constructor():
            from fortrans.intrinsics.constructor import constructor_element

            return constructor_element(array, index)
        case Reference():
            from fortrans.ir.expr import At

            return At(array, index, None)


def plain(array: Array) -> bool:
    """Whether an element takes no more than elementwise work on designators."""
    match array:
        case Elemental(operands=operands):
            return all(map(plain, operands))
        case Apply() | Constructor() | Reference():
            return False
        case _:
            return True


def probe(array: Array) -> Index:
    """Subscripts under names that no program has: to look at what an element is made of."""
    return tuple(Name(f"%{d}") for d in range(rank(array)))


def section_element(section: Section, index: Index) -> Expr:
    """``base(l1 + (j1 - 1)*s1, ...)suffix``; vector subscripts index their vector."""
    subscripts: list[Expr] = []
    rest = iter(index)
    for axis in section.axes:
        match axis:
            case Fixed(value):
                subscripts.append(value)
            case Triplet(lower, stride, _):
                subscripts.append(add(mul(stride, sub(next(rest), ONE)), lower))
            case Vector(inner):
                subscripts.append(element(inner, (next(rest),)))
    result: Expr = Ref(section.base, tuple(subscripts)) if subscripts else section.base
    for part in section.suffix:
        result = Component(result, part.name)
        if part.subscripts is not None:
            result = Ref(result, part.subscripts)
    return result


def path_name(expr: Expr) -> str:
    """A designator without its subscripts, as a remark names it: ``state%u``."""
    match expr:
        case Name(id):
            return id
        case Ref(base, _):
            return path_name(base)
        case Component(base, name):
            return f"{path_name(base)}%{name}"
        case _:
            return "an operand"


def base_name(expr: Expr) -> str:
    """The variable a designator starts with."""
    match expr:
        case Name(id):
            return id
        case Ref(base, _) | Component(base, _):
            return base_name(base)
        case _:
            raise TypeError(f"not a designator: {expr}")
