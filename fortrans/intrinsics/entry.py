"""What one entry is made of: its forms, read from the signature, and what several rules share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from fortrans.ir.arrays import Apply, Array, element, rank, shape
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Expr,
    Index,
    Name,
    Op,
    Reduce,
    Select,
    Shape,
    constant,
    linear,
    mul,
)
from fortrans.ir.symbols import Type
from fortrans.remarks import Refusal

Args = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Form:
    """One of the argument lists a reference may have; ``required`` of them come first."""

    dummies: tuple[str, ...]
    required: int


def forms(signature: str) -> tuple[Form, ...]:
    """The forms of a signature in the standard's notation: ``ALL(MASK) or ALL(MASK, DIM)``."""
    found = []
    for text in signature.lower().split(" or "):
        inside = text[text.index("(") + 1 : text.rindex(")")]
        needed = re.findall(r"\w+", inside.partition("[")[0])
        found.append(Form(tuple(re.findall(r"\w+", inside)), len(needed)))
    return tuple(found)


class Entry:
    """A transformational intrinsic: its signature, and what its result is.

    A subclass gives ``signature`` (the standard's notation, 16.7), its rewriting rule as the
    docstring, ``shape``, ``type``, and an ``element`` rule where it has one.  ``composed`` False
    says that there is none: the result is materialised.
    """

    signature: str
    composed: bool = True
    name: str
    forms: tuple[Form, ...]
    required: tuple[str, ...]
    optional: tuple[str, ...]

    def __init_subclass__(cls) -> None:
        if "signature" not in cls.__dict__:
            return
        cls.name = cls.signature.lower().partition("(")[0].strip()
        cls.forms = forms(cls.signature)
        everything = max((form.dummies for form in cls.forms), key=len)
        needed = [set(form.dummies[: form.required]) for form in cls.forms]
        cls.required = tuple(d for d in everything if all(d in some for some in needed))
        cls.optional = tuple(d for d in everything if d not in cls.required)

    @property
    def rule(self) -> str:
        """The rewriting rule: the first line of the docstring."""
        return (type(self).__doc__ or "").strip().partition("\n")[0]

    def check(self, args: Args) -> None:
        """Raise Refusal FT401 where the arguments cannot be what the standard asks for."""

    def shape(self, args: Args) -> Shape:
        """The shape of the result; raises Refusal when it cannot be told."""
        raise NotImplementedError

    def type(self, args: Args) -> Type:
        """The type of the result; raises Refusal when it cannot be told."""
        raise NotImplementedError

    def element(self, index: Index, apply: Apply) -> Expr:
        """The value at ``index``; an ``At`` without a body where there is no element rule."""
        return At(apply, index, None)

    def refuse(self, what: str) -> Refusal:
        """A Refusal FT401 about an argument of this intrinsic."""
        return Refusal("FT401", f"Reference to {self.name.upper()} is not understood: {what}")

    def need_rank(self, args: Args, dummy: str, least: int = 1, most: int = 15) -> int:
        """The rank of an argument; raises Refusal FT401 when it is not within the limits."""
        found = rank(args[dummy])
        if not least <= found <= most:
            wanted = f"rank {least}" if least == most else "an array"
            raise self.refuse(f"argument '{dummy}' must be {wanted}")
        return found

    def dimension(self, args: Args, highest: int) -> int | None:
        """DIM counted from 0, None when absent.

        Raises Refusal FT402 when it is not a constant within 1 and ``highest``.
        """
        if "dim" not in args:
            return None
        value = constant(element(args["dim"], ()))
        if value is None:
            raise Refusal("FT402", f"DIM of {self.name.upper()} is not a constant")
        if not 1 <= value <= highest:
            raise Refusal(
                "FT402", f"DIM={value} of {self.name.upper()} is not between 1 and {highest}"
            )
        return value - 1


# ---- names for the indices of a reduction ------------------------------------


@dataclass(slots=True)
class Fresh:
    """Index names given so far: the same reduction at the same place has the same names."""

    known: dict[tuple[Array, Index], tuple[Name, ...]] = field(default_factory=dict)
    given: int = 0


_FRESH: ContextVar[Fresh | None] = ContextVar("fresh", default=None)


@contextmanager
def fresh_indices() -> Iterator[None]:
    """Count the indices of reductions from ``$1`` again: one ``with`` around one statement.

    No Fortran name holds a ``$``, so they capture nothing; lowering gives them printable names.
    """
    token = _FRESH.set(Fresh())
    try:
        yield
    finally:
        _FRESH.reset(token)


def indices_for(origin: Array, at: Index, count: int) -> tuple[Name, ...]:
    """``count`` index names, unique in the statement, equal for an equal reduction."""
    fresh = _FRESH.get()
    if fresh is None:
        fresh = Fresh()
        _FRESH.set(fresh)
    key = (origin, at)
    if key not in fresh.known:
        first = fresh.given + 1
        fresh.given += count
        fresh.known[key] = tuple(Name(f"${n}") for n in range(first, first + count))
    return fresh.known[key]


# ---- extents -----------------------------------------------------------------


def product(extents: Sequence[Expr]) -> Expr:
    """The number of elements of a shape, where two negative extents must not make a positive one."""
    result: Expr = ONE
    for extent in extents:
        result = mul(result, clipped(extent))
    return result


def size(array: Array) -> Expr:
    """The number of elements of an array expression."""
    return product(shape(array))


def nonnegative(extent: Expr) -> bool:
    """Whether an integer expression is never negative, as far as its form tells."""
    atoms, const = linear(extent)
    return const >= 0 and all(w > 0 and _natural(a) for a, w in atoms.items())


def _natural(atom: Expr) -> bool:
    match atom:
        case Name(natural=True):
            return True
        case Call("size" | "count" | "len" | "len_trim" | "abs" | "rank", _):
            return True
        case Call("max", args):
            return any(nonnegative(x) for x in args)
        case Op("*", (x, y)):
            return nonnegative(x) and nonnegative(y)
        case Reduce("count"):
            return True
        case Select(_, then, other):
            return nonnegative(then) and nonnegative(other)
        case _:
            return False


def clipped(extent: Expr) -> Expr:
    """``MAX(extent, 0)``, or less where that is enough."""
    value = constant(extent)
    if value is not None:
        return extent if value >= 0 else ZERO
    return extent if nonnegative(extent) else Call("max", (extent, ZERO))


def without(index: Sequence[Expr], dim: int) -> tuple[Expr, ...]:
    """All but the position ``dim`` (from 0)."""
    return (*index[:dim], *index[dim + 1 :])


def inserted(index: Sequence[Expr], dim: int, value: Expr) -> tuple[Expr, ...]:
    """``value`` put in at position ``dim`` (from 0)."""
    return (*index[:dim], value, *index[dim:])


def replaced(index: Sequence[Expr], dim: int, value: Expr) -> tuple[Expr, ...]:
    """``value`` in place of position ``dim`` (from 0)."""
    return (*index[:dim], value, *index[dim + 1 :])
