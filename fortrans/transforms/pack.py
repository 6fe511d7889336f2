"""PACK and UNPACK as loops in array element order with a counter (16.9.147, 16.9.197)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.analysis.overlap import conflict, function_may_read, reads_target
from fortrans.intrinsics.entry import size
from fortrans.intrinsics.packing import packed
from fortrans.ir.arrays import (
    Apply,
    Array,
    Axis,
    Constructor,
    Elemental,
    Fixed,
    Reference,
    Scalar,
    Section,
    Triplet,
    Vector,
    element,
    path_name,
    plain,
    probe,
    rank,
    shape,
)
from fortrans.ir.expr import ONE, ZERO, Call, Expr, Name, Op, add, names
from fortrans.ir.nest import Allocate, Declaration, Store
from fortrans.ir.sites import Assignment, Capture
from fortrans.ir.symbols import INTEGER, Scope, Type
from fortrans.ir.written import as_source
from fortrans.transforms.accumulate import DRAW, TRUE, Gather, Push, masked
from fortrans.transforms.keep import expensive
from fortrans.transforms.pieces import Piece, declarable
from fortrans.transforms.plan import root, sized
from fortrans.transforms.reallocate import movable, taken_over

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition

MOVING = frozenset({"pack", "unpack"})


def moves(array: Array) -> Apply | None:
    """``array`` if it is a reference to PACK or UNPACK."""
    return array if isinstance(array, Apply) and array.intrinsic.name in MOVING else None


def counted(composition: Composition, pack: Apply, name: str) -> Piece:
    """``name = COUNT(mask)``, or the size of ARRAY where a scalar mask holds."""
    composition.own.add(name)
    mask, count = pack.args["mask"], Name(name, natural=True)
    if rank(mask):
        gather = Gather("count", INTEGER, count, composition.fresh.name)
        return _started(name) + composition.sequence(
            shape(mask), lambda index: (gather, element(mask, index))
        )
    everything, test = size(pack.args["array"]), element(mask, ())
    if test != TRUE:
        everything = Call("merge", (everything, ZERO, test))
    piece = composition.store(Scalar(count, INTEGER), Scalar(everything, INTEGER), rows=False)
    return Piece((Declaration(name, INTEGER),)) + piece


def fill(composition: Composition, target: Section, value: Apply, counter: str = "") -> Piece:
    """Store a PACK or UNPACK in ``target``, which has room for it and which nothing read is stored in.

    ``counter``, if given, is left with the number of elements that were taken.
    """
    counter = counter or composition.fresh.name("n")
    composition.own.add(counter)
    if value.intrinsic.name == "unpack":
        return _unpack(composition, target, value, counter)
    return _pack(composition, target, value, counter)


def _pack(composition: Composition, target: Section, value: Apply, counter: str) -> Piece:
    array, mask = value.args["array"], value.args["mask"]

    def inside(index: tuple[Name, ...]) -> tuple[Push, Expr]:
        test = element(mask, index) if rank(mask) else None
        place = element(target, (Name(counter),))
        return Push(place, counter), masked(test, element(array, index))

    test = None if rank(mask) else element(mask, ())
    piece = _started(counter)
    piece += composition.sequence(shape(array), inside, None if test == TRUE else test)
    if "vector" in value.args:
        # What VECTOR has behind the elements that were taken.
        vector = value.args["vector"]
        piece += composition.store(target, vector, rows=False, first=add(Name(counter, natural=True), ONE))
    return piece


def _unpack(composition: Composition, target: Section, value: Apply, counter: str) -> Piece:
    vector, mask, field = (value.args[name] for name in ("vector", "mask", "field"))
    piece = Piece()
    if not _direct(vector):
        piece, vector = composition.temporary(vector)

    def inside(index: tuple[Name, ...]) -> tuple[Push, Expr]:
        taken = element(vector, (Name(counter),))
        other = element(field, index if rank(field) else ())
        return Push(element(target, index), counter), Op(DRAW, (element(mask, index), taken, other))

    return piece + _started(counter) + composition.sequence(shape(mask), inside)


def _started(counter: str) -> Piece:
    return Piece((Declaration(counter, INTEGER),), (Store(Name(counter), ZERO),))


def _direct(vector: Array) -> bool:
    """Whether an element may be computed in the middle of a nest from a subscript that is no loop's."""
    match vector:
        case Section(axes=axes):
            return not any(isinstance(axis, Vector) for axis in axes)
        case Elemental(operands=operands):
            return all(map(_direct, operands))
        case Apply() | Constructor() | Reference():
            return False
        case _:
            return True


# ---- a whole statement, or an operand -----------------------------------------------


def operand(composition: Composition, name: str, pack: Apply, counter: str) -> Piece:
    """A PACK without VECTOR as the local ``name``, ``counter`` telling how many elements it has.

    There is room for all of ARRAY, so that the mask need not be evaluated twice.
    """
    type = declarable(pack.type, "a result of PACK")
    composition.own.add(name)
    room = size(pack.args["array"])
    section = Section(Name(name), (Triplet(ONE, ONE, room, full=True),), type, whole=True)
    made = Piece((Declaration(name, type, (ONE,), allocatable=True),), (Allocate(Name(name), (room,)),))
    return made + fill(composition, section, pack, counter)


def needed(site: Assignment, value: Apply) -> tuple[Capture, ...]:
    """The captures that the loops will read: not the size that the left side's bounds say again."""
    used = names(as_source(value)) | names(element(site.lhs, probe(site.lhs)))
    for extent in shape(value) if packed(value) is None else ():
        used |= names(extent)
    kept: list[Capture] = []
    for capture in reversed(site.captures):
        if capture.name in used or capture.count in used or not isinstance(capture.array, Apply):
            used |= names(capture.value)
            kept.insert(0, capture)
    return tuple(kept)


def assigned(composition: Composition, target: Section, value: Apply) -> tuple[Piece, str]:
    """``target = value`` for a PACK or UNPACK, and why it took a temporary ("" if it did not)."""
    if composition.site.reallocates:
        return _reallocated(composition, target, value)
    if in_place(target, value, composition.site.scope, frozenset(composition.own)):
        return fill(composition, target, value), ""
    if packed(value) is not None:
        name, counter = composition.fresh.name("tmp"), composition.fresh.name("n")
        made = operand(composition, name, value, counter)
        axes: tuple[Triplet, ...] = (Triplet(ONE, ONE, Name(counter, natural=True)),)
        copy = Section(Name(name), axes, value.type)
    else:
        made, copy = _filled(composition, value, shape(value))
    return made + composition.store(_resized(target, shape(copy)), copy, rows=False), _because(target)


def _reallocated(composition: Composition, target: Section, value: Apply) -> tuple[Piece, str]:
    before, value, extents = Piece(), value, shape(value) if packed(value) is None else ()
    if packed(value) is not None:
        before, value = _cheap(composition, value)
        count = composition.fresh.name("n")
        before += counted(composition, value, count)
        extents = (Name(count, natural=True),)
    if composition.clear(target, value):
        return before + composition.room(target, extents) + fill(composition, target, value), ""
    type = target.type if movable(target.type) else None
    made, copy = _filled(composition, value, extents, type)
    composition.captures.forget(root(target))
    if type is None:
        copy = replace(copy, axes=tuple(sized(copy.base, d) for d in range(rank(copy))))
        room = composition.room(target, shape(copy))
        return before + made + room + composition.store(target, copy, rows=False), _because(target)
    copied = composition.store(target, copy, rows=False)
    return before + made + taken_over(target, copy, value, copied), _because(target)


def _resized(target: Section, extents: tuple[Expr, ...]) -> Section:
    """``target`` with its extents spelled as those of the value, which are the same."""
    rest = iter(extents)
    axes: list[Axis] = []
    for axis in target.axes:
        match axis:
            case Triplet():
                axes.append(replace(axis, extent=next(rest)))
            case Vector():
                next(rest)
                axes.append(axis)
            case Fixed():
                axes.append(axis)
    return replace(target, axes=tuple(axes))


def _because(target: Section) -> str:
    return f"'{path_name(target.base)}' is read elsewhere than where it is stored"


def _cheap(composition: Composition, pack: Apply) -> tuple[Piece, Apply]:
    """PACK whose mask costs little to evaluate twice: once to count, once to take."""
    mask = pack.args["mask"]
    if not rank(mask) or (plain(mask) and not expensive(mask)):
        return Piece(), pack
    made, section = composition.temporary(mask, "mask")
    return made, replace(pack, args={**pack.args, "mask": section})


def _filled(
    composition: Composition, value: Apply, extents: tuple[Expr, ...], type: Type | None = None
) -> tuple[Piece, Section]:
    """An allocated temporary that holds the value, converted to another ``type``."""
    type = declarable(type or value.type, "a temporary")
    name = composition.fresh.name("tmp")
    composition.own.add(name)
    axes = tuple(Triplet(ONE, ONE, extent, full=True) for extent in extents)
    section = Section(Name(name), axes, type, whole=True)
    made = Piece((Declaration(name, type, extents, allocatable=True),), (Allocate(Name(name), extents),))
    return made + fill(composition, section, value), section


# ---- where the elements may go ------------------------------------------------------


def in_place(target: Section, value: Apply, scope: Scope, own: frozenset[str]) -> bool:
    """Whether elements may be stored while others are still to be read.

    The counter is never ahead of the place in array element order.  So it is safe where the
    statement ``target = ARRAY`` under the mask would be, each element being read only when it, or
    one behind it, is stored; what VECTOR brings must not be read in the target at all.
    """
    source = as_source(value)
    inside = element(target, probe(target))
    if function_may_read(inside, source, scope) is not None:
        return False
    vector = value.args.get("vector")
    if vector is not None and reads_target(inside, element(vector, probe(vector)), scope, own):
        return False
    index = tuple(Name(f"j{d}%") for d in range(1, rank(value.args["mask"]) + 1))
    array = value.args.get("array")
    if array is not None:
        index = tuple(Name(f"j{d}%") for d in range(1, rank(array) + 1))
    loops = frozenset(name.id for name in index)
    parts = [x for name, x in value.args.items() if name != "vector"]
    elements = [element(x, index if rank(x) else ()) for x in parts]
    if array is not None and len(index) != 1:
        return not any(reads_target(inside, x, scope, own) for x in elements)
    place = element(target, index)
    return all(conflict(place, x, loops, scope, own) is None for x in elements)
