"""The sections that an array expression is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Implied, Section, Vector


def leaves(value: Array) -> Iterator[Section]:
    """The sections of an array expression, those in vector subscripts among them."""
    match value:
        case Section(axes=axes):
            yield value
            for axis in axes:
                if isinstance(axis, Vector):
                    yield from leaves(axis.array)
        case Elemental(operands=operands):
            for x in operands:
                yield from leaves(x)
        case Apply(args=args):
            for x in args.values():
                yield from leaves(x)
        case Constructor(items=items):
            for item in items:
                yield from _within(item)


def _within(item: Array | Implied) -> Iterator[Section]:
    if isinstance(item, Implied):
        for inner in item.items:
            yield from _within(inner)
    else:
        yield from leaves(item)


def with_leaves(value: Array, visit: Callable[[Section], Section]) -> Array:
    """The array expression with the sections that ``visit`` gives for its own.

    Where it gives the section itself, its vector subscripts are visited.
    """

    def item(x: Array | Implied) -> Array | Implied:
        if isinstance(x, Implied):
            return replace(x, items=tuple(map(item, x.items)))
        return go(x)

    def go(x: Array) -> Array:
        match x:
            case Section(axes=axes):
                found = visit(x)
                if found is not x:
                    return found
                inner = tuple(Vector(go(axis.array)) if isinstance(axis, Vector) else axis for axis in axes)
                return replace(x, axes=inner)
            case Elemental(operands=operands):
                return replace(x, operands=tuple(map(go, operands)))
            case Apply(args=args):
                return replace(x, args={name: go(arg) for name, arg in args.items()})
            case Constructor(items=items):
                return replace(x, items=tuple(map(item, items)))
            case _:
                return x

    return go(value)
