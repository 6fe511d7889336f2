"""Pointers and targets that may be one storage: whether they are is told by addresses at run time.

Where the address ranges of what is stored and what is read do not meet, the statement needs no
temporary.  Addresses are those of C_LOC (18.2.3.6), which takes POINTER and TARGET objects of any
intrinsic type but character, and no element of an array that has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from fortrans.analysis.alias import Alias, Storage, may_alias, storage
from fortrans.ir.arrays import (
    Array,
    Fixed,
    Section,
    Triplet,
    element,
    path_name,
    probe,
    rank,
    shape,
)
from fortrans.ir.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Literal,
    Name,
    Op,
    add,
    constant,
    integer,
    mul,
    names,
    sub,
)
from fortrans.ir.leaves import leaves, with_leaves
from fortrans.ir.nest import Block, Declaration, If, Loop, Stmt, Store, Use
from fortrans.ir.symbols import LOGICAL, Type
from fortrans.ir.written import as_source
from fortrans.transforms.overlapping import needs_temporary
from fortrans.transforms.pieces import Piece
from fortrans.transforms.storage import element_bytes

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition

MODULE = Use("iso_c_binding", ("c_intptr_t", "c_loc"))
MOST_RANGES = 4
"""More sections than these are not told apart, a test of more addresses costs too much to read."""

MOST_NESTS = 4
"""A statement of more nests is not written twice."""

MOST_CORNERS = 4
_ADDRESS = Type("integer", "c_intptr_t", "integer(c_intptr_t)")
_FALSE = Literal(".false.")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Range:
    """Where a section lies in memory: the elements at its corners, and the bytes of an element.

    ``ordered``: there are two corners, the lowest one first.  ``mapped``: they tell where every
    element lies, in the order of the section's own subscripts.
    """

    name: str
    corners: tuple[Expr, ...]
    bytes: int
    ordered: bool
    mapped: bool


def in_place_when_apart(composition: Composition, target: Section, value: Array) -> Piece | None:
    """The statement in place where the addresses allow it, through a temporary elsewhere.

    None where addresses cannot tell, or would not help.
    """
    scope = composition.site.scope

    def seen(section: Section) -> Storage | None:
        return storage(element(section, probe(section)), scope)

    written = seen(target)
    if written is None or {*MODULE.only} & (names(as_source(target)) | names(as_source(value))):
        return None
    read = {leaf: found for leaf in leaves(value) if (found := seen(leaf)) is not None}
    doubtful = [leaf for leaf, found in read.items() if may_alias(written, found) is Alias.MAYBE]
    ranges = [_range(x, seen(x)) for x in _hulls(doubtful)]
    own = _range(target, written)
    if own is None or not 0 < len(ranges) <= MOST_RANGES:
        return None
    supposed = _supposed_apart(composition, value, doubtful)
    others = [x for x in ranges if x is not None]
    if len(others) < len(ranges) or not _in_place(composition, target, supposed):
        return None
    # Each way reads sizes and keeps operands for itself.
    known, made = composition.captures.known, composition.made
    composition.captures.known, composition.made = dict(known), dict(made)
    direct = composition.store(target, value, rows=composition.clear(target, supposed))
    composition.captures.known, composition.made = known, made
    if sum(isinstance(stmt, Loop) for stmt in direct.statements) > MOST_NESTS:
        return None
    filled, copy = composition.temporary(value)
    around = filled + composition.store(target, copy, rows=False)
    apart = Name(composition.fresh.name("apart"))
    composition.own.add(apart.id)
    # An element that is read only where it is stored may be the same one, too.
    named = {leaf.base for leaf in doubtful}
    alike = all(rank(leaf) == rank(target) for leaf in doubtful) and len(named) == len(doubtful)
    itself = with_leaves(value, lambda leaf: target if leaf in doubtful else leaf)
    alike = alike and _in_place(composition, target, itself)
    told = _told(composition, apart, own, others, (target, *doubtful), alike)
    choice = If(apart, direct.statements, around.statements)
    return Piece(
        (*direct.declarations, *around.declarations, Declaration(apart.id, LOGICAL)), (*told, choice)
    )


def _in_place(composition: Composition, target: Section, value: Array) -> bool:
    maybe = composition.maybe
    reason = needs_temporary(composition, target, value)
    composition.maybe = maybe
    return reason is None


def _supposed_apart(composition: Composition, value: Array, doubtful: list[Section]) -> Array:
    """The value with what may be the left side's storage under names that are surely not."""
    other: dict[Section, Section] = {}
    for number, leaf in enumerate(doubtful):
        name = f"%apart{number}"
        composition.own.add(name)
        other[leaf] = replace(leaf, base=Name(name))
    return with_leaves(value, lambda leaf: other.get(leaf, leaf))


# ---- ranges ---------------------------------------------------------------------------


def _range(section: Section, seen: Storage | None) -> Range | None:
    """The range of a section that C_LOC takes; None for others."""
    if seen is None or not seen.through & {"pointer", "target"}:
        return None
    size = element_bytes(seen.type)
    if size is None or seen.type.name == "character":
        return None
    triplets = [axis for axis in section.axes if isinstance(axis, Triplet)]
    if len(triplets) + sum(isinstance(axis, Fixed) for axis in section.axes) < len(section.axes):
        return None
    name = path_name(section.base).rpartition("%")[2][:_LONGEST]
    strides = [constant(axis.stride) for axis in triplets]
    # Only a pointer, a dummy argument or an associate name can walk memory backwards.
    forward = not seen.through & {"pointer", "associate"} and "dummy" not in seen.root.attributes
    if forward and None not in strides:
        ends = [(ONE, x.extent) if (s or 0) > 0 else (x.extent, ONE) for x, s in zip(triplets, strides)]
        low, high = (element(section, tuple(end[i] for end in ends)) for i in (0, 1))
        upward = len(strides) == 1 and (strides[0] or 0) > 0
        return Range(name, (low, high), size, ordered=True, mapped=upward)
    places = product(*((ONE, x.extent) for x in reversed(triplets)))
    corners = tuple(dict.fromkeys(element(section, place[::-1]) for place in places))
    if len(corners) > MOST_CORNERS:
        return None
    return Range(name, corners, size, ordered=False, mapped=len(corners) == 2 ** len(triplets))


def _hulls(sections: list[Section]) -> list[Section]:
    """The sections, those of one array a constant distance apart (a stencil's) as one."""
    alike: dict[tuple[object, ...], list[Section]] = {}
    for section in sections:
        alike.setdefault((section.base, section.suffix), []).append(section)
    found: list[Section] = []
    for group in alike.values():
        whole = _hull(group) if len(group) > 1 else None
        found.extend(group if whole is None else [whole])
    return found


def _hull(group: list[Section]) -> Section | None:
    axes = []
    for own in zip(*(section.axes for section in group)):
        ends = []
        for axis in own:
            match axis:
                case Fixed(value):
                    ends.append((value, value))
                case Triplet(lower, stride, extent) if constant(stride):
                    last = add(lower, mul(stride, sub(extent, ONE)))
                    ends.append((lower, last) if (constant(stride) or 0) > 0 else (last, lower))
                case _:
                    return None
        low, high = (_extreme([end[i] for end in ends], largest=bool(i)) for i in (0, 1))
        if low is None or high is None:
            return None
        axes.append(Triplet(low, ONE, add(sub(high, low), ONE)))
    return replace(group[0], axes=tuple(axes), whole=False)


def _extreme(values: list[Expr], largest: bool) -> Expr | None:
    """The least or largest of values that differ by constants; None of others."""
    distances = [constant(sub(x, values[0])) for x in values]
    known = [x for x in distances if x is not None]
    if len(known) < len(distances):
        return None
    return values[distances.index(max(known) if largest else min(known))]


# ---- the test ---------------------------------------------------------------------------


def _told(
    composition: Composition,
    apart: Name,
    own: Range,
    others: list[Range],
    sections: tuple[Section, ...],
    alike: bool,
) -> tuple[Stmt, ...]:
    """Statements that define ``apart``; arrays without elements have no addresses.

    ``alike``: nor is there an overlap where both sides are the same elements in the same order.
    """
    declared: list[Declaration] = []
    statements: list[Stmt] = []

    def ends(range_: Range) -> tuple[Expr, Expr, list[Expr]]:
        found: list[Expr] = []
        for corner in range_.corners:
            name = Name(composition.fresh.name(f"at_{range_.name}"))
            composition.own.add(name.id)
            declared.append(Declaration(name.id, _ADDRESS))
            statements.append(Store(name, Call("transfer", (Call("c_loc", (corner,)), name))))
            found.append(name)
        if range_.ordered:
            return found[0], found[1], found
        if len(found) == 1:
            return found[0], found[0], found
        return Call("min", tuple(found)), Call("max", tuple(found)), found

    low, high, places = ends(own)
    test: Expr | None = None
    for other in others:
        first, last, there = ends(other)
        below = Op("<=", (Op("+", (high, integer(own.bytes))), first))
        above = Op("<=", (Op("+", (last, integer(other.bytes))), low))
        each = Op(".or.", (below, above))
        if alike and own.mapped and other.mapped and len(places) == len(there):
            same = Op("==", (places[0], there[0]))
            for pair in zip(places[1:], there[1:]):
                same = Op(".and.", (same, Op("==", pair)))
            each = Op(".or.", (each, same))
        test = each if test is None else Op(".and.", (test, each))
    assert test is not None
    statements.append(Store(apart, test))
    asked = Block(tuple(declared), tuple(statements), (MODULE,))
    counts = _counts(sections)
    if not counts:
        return (asked,)
    some: Expr = counts[0]
    for more in counts[1:]:
        some = Op(".and.", (some, more))
    return (Store(apart, _FALSE), If(some, (asked,)))


def _counts(sections: Iterable[Section]) -> tuple[Expr, ...]:
    """What must hold for each of the sections to have an element."""
    extents = dict.fromkeys(n for section in sections for n in shape(section))
    return tuple(Op(">", (n, ZERO)) for n in extents if (constant(n) or 0) <= 0)
