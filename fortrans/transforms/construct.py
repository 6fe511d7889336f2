"""Array constructors as one loop after another into the array they make (7.8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.intrinsics.constructor import Item, fillable, is_scalar, unsized
from fortrans.intrinsics.entry import size
from fortrans.intrinsics.types import kind_argument
from fortrans.ir.arrays import (
    Array,
    Constructor,
    Elemental,
    Implied,
    Scalar,
    Section,
    Triplet,
    element,
    path_name,
    rank,
    shape,
)
from fortrans.ir.expr import ONE, ZERO, Expr, Name, add, mul, same
from fortrans.ir.nest import Allocate, Declaration, Loop, Store
from fortrans.ir.symbols import INTEGER, Type
from fortrans.remarks import Refusal
from fortrans.transforms.accumulate import Push
from fortrans.transforms.keep import has_rule
from fortrans.transforms.pieces import Piece, declarable
from fortrans.transforms.plan import root, same_type, sized
from fortrans.transforms.reallocate import movable, taken_over

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition

def laid_out(value: Array) -> Constructor | None:
    """``value`` if it is a constructor of items that are stored one after another.

    Raises Refusal FT404 where they cannot be, and only they tell how many there are.
    """
    if not isinstance(value, Constructor) or (has_rule(value) and not unsized(value)):
        return None
    if fillable(value):
        return value
    if unsized(value):
        raise Refusal("FT404", "Size of an implied DO depends on its variable in steps")
    return None


@dataclass(slots=True)
class _Filling:
    """Items being stored: ``place`` says how many elements lie before the next one."""

    composition: Composition
    target: Section
    type: Type
    counter: str
    place: Expr = ZERO

    def items(self, items: tuple[Item, ...]) -> Piece:
        piece = Piece()
        for item in items:
            piece += self._implied(item) if isinstance(item, Implied) else self._array(item)
        return piece

    def _array(self, item: Array) -> Piece:
        item = item if same_type(self.type, self.target.type) else converted(item, self.type)
        if not rank(item):
            where = element(self.target, (add(self.place, ONE),))
            what = element(item, ())
            stored = self.composition.store(Scalar(where, self.target.type), Scalar(what, item.type), False)
            self.place = add(self.place, ONE)
            return stored
        if rank(item) == 1:
            stored = self.composition.store(self._part(shape(item)[0]), item, rows=False)
            self.place = add(self.place, size(item))
            return stored
        return self._columns(item)

    def _columns(self, item: Array) -> Piece:
        """An array of higher rank, in array element order."""
        started = self._counted()
        place = element(self.target, (self.place,))
        push = Push(place, self.counter)
        return started + self.composition.sequence(shape(item), lambda index: (push, element(item, index)))

    def _counted(self) -> Piece:
        """From here on the counter says where the next element goes."""
        before, self.place = self.place, Name(self.counter)
        return Piece() if same(before, self.place) else Piece((), (Store(self.place, before),))

    def _implied(self, item: Implied) -> Piece:
        if len(item.items) == 1 and is_scalar(item.items[0]):
            whole = Constructor((item,), self.type, typed=True)
            stored = self.composition.store(self._part(shape(whole)[0]), whole, rows=False)
            self.place = add(self.place, shape(whole)[0])
            return stored
        started = self._counted()
        # What is read once inside has no value after a loop without iterations.
        known = dict(self.composition.captures.known)
        body = self.items(item.items)
        body += self._counted()
        self.composition.captures.known = known
        step = None if same(item.step, ONE) else item.step
        loop = Loop(item.name, item.first, item.last, body.statements, concurrent=False, step=step)
        declared = (Declaration(item.name, INTEGER), *body.declarations)
        return started + Piece(declared, (loop,))

    def _part(self, extent: Expr) -> Section:
        """As much of the target as an item takes, from ``place`` on."""
        axes = tuple(
            replace(x, lower=add(x.lower, mul(x.stride, self.place)), extent=extent, full=False)
            if isinstance(x, Triplet)
            else x
            for x in self.target.axes
        )
        return replace(self.target, axes=axes, whole=False)


def converted(item: Array, type: Type) -> Array:
    """An item in the type of the constructor.  Raises Refusal FT203."""
    if item.type == type or same_type(item.type, type):
        return item
    name = {"integer": "int", "real": "real", "complex": "cmplx", "logical": "logical"}[type.name]
    kind = tuple(Scalar(x, INTEGER) for x in kind_argument(type))
    keys = (None, "kind") if kind else ()
    return Elemental(name, (item, *kind), type, keywords=keys)


def fill(composition: Composition, target: Section, value: Constructor) -> Piece:
    """Store the items in ``target``, which has room for them and which they do not read."""
    counter = composition.fresh.name("n")
    composition.own.add(counter)
    filling = _Filling(composition, target, value.type, counter)
    return Piece((Declaration(counter, INTEGER),)) + filling.items(value.items)


def counted(composition: Composition, value: Constructor, name: str) -> Piece:
    """``name`` = the size of a constructor."""
    composition.own.add(name)
    count = Scalar(Name(name, natural=True), INTEGER)
    stored = composition.store(count, Scalar(shape(value)[0], INTEGER), rows=False)
    return Piece((Declaration(name, INTEGER),)) + stored


def operand(composition: Composition, name: str, value: Constructor, count: str) -> Piece:
    """A constructor as the local ``name``, of ``count`` elements."""
    type = declarable(value.type, "an array constructor")
    composition.own.add(name)
    section = Section(Name(name), (Triplet(ONE, ONE, Name(count), full=True),), type, whole=True)
    local = Declaration(name, type, (ONE,), allocatable=True)
    made = Piece((local,), (Allocate(Name(name), (Name(count),)),))
    return counted(composition, value, count) + made + fill(composition, section, value)


def assigned(composition: Composition, target: Section, value: Constructor) -> tuple[Piece, str]:
    """``target = value``, and why it took a temporary ("" if it did not)."""
    because = f"'{path_name(target.base)}' is read elsewhere than where it is stored"
    before, extents = Piece(), shape(value)
    if unsized(value):
        count = composition.fresh.name("n")
        extents = (Name(count, natural=True),)
        if composition.site.reallocates or not composition.clear(target, value):
            before = counted(composition, value, count)
    if composition.clear(target, value):
        return before + composition.room(target, extents) + fill(composition, target, value), ""
    type = target.type if composition.site.reallocates and movable(target.type) else value.type
    name = composition.fresh.name("tmp")
    composition.own.add(name)
    type = declarable(type, "a temporary")
    copy = Section(Name(name), (Triplet(ONE, ONE, extents[0], full=True),), type, whole=True)
    local = Declaration(name, type, extents, allocatable=True)
    made = before + Piece((local,), (Allocate(Name(name), extents),)) + fill(composition, copy, value)
    if not composition.site.reallocates:
        return made + composition.store(target, copy, rows=False), because
    composition.captures.forget(root(target))
    if not movable(target.type):
        copy = replace(copy, axes=(sized(copy.base, 0),))
        made += composition.room(target, shape(copy))
        return made + composition.store(target, copy, rows=False), because
    return made + taken_over(target, copy, value, composition.store(target, copy, rows=False)), because


