"""Is it safe to store each element as soon as it is computed? (10.2.1.3)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fortrans.analysis.alias import Alias, Storage, may_alias, storage
from fortrans.intrinsics.inquiry import INQUIRIES
from fortrans.ir.expr import (
    At,
    Call,
    Component,
    Expr,
    Locate,
    Name,
    Opaque,
    Reduce,
    Ref,
    Select,
    Substring,
    children,
    linear,
    names,
    sub,
)
from fortrans.ir.symbols import Generic, Procedure, Scope, Symbol
from fortrans.ir.written import as_source


@dataclass(frozen=True, slots=True)
class Conflict:
    """``read`` may be read after it was stored; ``alias`` says how it relates to the target."""

    read: Expr
    alias: Alias


@dataclass(frozen=True, slots=True)
class Read:
    """A designator that is read; ``when`` are the loop indices open at that time.

    ``tests`` are the tests of the choices around it, and whether they hold; ``inner`` are the
    indices, with extents, of the reductions around it.
    """

    designator: Expr
    when: frozenset[str]
    tests: tuple[tuple[Expr, bool], ...] = ()
    inner: tuple[tuple[str, Expr], ...] = ()


def reads(value: Expr, loops: frozenset[str]) -> Iterator[Read]:
    """All designators read in ``value``.

    A reduction (or a kept element) that depends on some loops only is evaluated once those are
    open; lowering and this function agree on that through ``free``.
    """
    yield from _reads(value, loops, _When(loops))


def free(expr: Expr, loops: frozenset[str]) -> frozenset[str]:
    """The loop indices that the value of ``expr`` depends on."""
    return names(expr) & loops


@dataclass(frozen=True, slots=True)
class _When:
    """The time of evaluation: the loops open ``now``; never fewer than ``floor``; and ``inside``,
    the indices of the reductions around, whose loops run at ``now``.  See Read for the rest."""

    now: frozenset[str]
    floor: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    tests: tuple[tuple[Expr, bool], ...] = ()
    inner: tuple[tuple[str, Expr], ...] = ()

    def read(self, designator: Expr) -> Read:
        """The designator read at this time."""
        return Read(designator, self.now, self.tests, self.inner)

    def of(self, expr: Expr, loops: frozenset[str]) -> _When:
        """When a reduction or kept element within is evaluated: as soon as what it needs is there."""
        opened = free(expr, loops) | self.floor
        if names(expr) & self.inside:
            opened |= self.now
        return replace(self, now=opened)


def _reads(expr: Expr, loops: frozenset[str], when: _When) -> Iterator[Read]:
    match expr:
        case Name():
            yield when.read(expr)
        case Ref() | Component() | Substring():
            yield when.read(expr)
            yield from _subscript_reads(expr, loops, when)
        case At(origin, at, None):
            # Evaluated as a whole before the nest, all that it reads with it.
            yield from _reads(as_source(origin), loops, _When(frozenset()))
            for child in at:
                yield from _reads(child, loops, when)
        case Reduce() | Locate() | At():
            then_ = when.of(expr, loops)
            if isinstance(expr, Locate) and expr.part is not None:
                yield from _reads(expr.part, loops, when)
            if isinstance(expr, Reduce | Locate):
                inner = tuple((name.id, extent) for name, extent in expr.indices)
                then_ = replace(
                    then_, inside=then_.inside | {name for name, _ in inner}, inner=(*then_.inner, *inner)
                )
            for child in children(expr):
                yield from _reads(child, loops, then_)
        case Select(test, then, other):
            yield from _reads(test, loops, when)
            # What an arm needs is computed only when the choice is made, perhaps in the inmost loop.
            for child, holds in ((then, True), (other, False)):
                tests = (*when.tests, (test, holds))
                yield from _reads(child, loops, replace(when, floor=loops, tests=tests))
        case Opaque(_, ids):
            for id in sorted(ids):
                yield when.read(Name(id))
        case Call(name, _, user=False) if name in INQUIRIES:
            # Bounds, sizes and kinds do not change when elements are stored.
            return
        case _:
            for child in children(expr):
                yield from _reads(child, loops, when)


def _subscript_reads(expr: Expr, loops: frozenset[str], when: _When) -> Iterator[Read]:
    match expr:
        case Ref(base, subscripts):
            for subscript in subscripts:
                yield from _reads(subscript, loops, when)
            yield from _subscript_reads(base, loops, when)
        case Component(base, _):
            yield from _subscript_reads(base, loops, when)
        case Substring(base, first, last):
            for x in (first, last):
                if x is not None:
                    yield from _reads(x, loops, when)
            yield from _subscript_reads(base, loops, when)


def conflict(
    target: Expr, value: Expr, loops: frozenset[str], scope: Scope, own: frozenset[str]
) -> Conflict | None:
    """The first read that storing ``target`` may come before, or None.

    ``own`` are names the tool made (temporaries, captures): they alias nothing.
    """
    for read, alias, written, seen in related(target, value, loops, scope, own):
        if alias is Alias.MAYBE or written is None or seen is None:
            return Conflict(read.designator, Alias.MAYBE)
        if not read.when or _apart(written, seen, loops, value):
            continue
        if not _meets_itself_only(written, seen, read.when):
            return Conflict(read.designator, Alias.SAME)
    return None


Related = tuple[Read, Alias, Storage | None, Storage | None]
"""A read, how it relates to the target, and the storage that is written and read where it is known."""


def related(
    target: Expr, value: Expr, loops: frozenset[str], scope: Scope, own: frozenset[str]
) -> Iterator[Related]:
    """The reads in ``value`` that are, or may be, of the storage of ``target``; see ``conflict``."""
    written = storage(target, scope)
    if written is None:
        yield Read(target, loops), Alias.MAYBE, None, None
        return
    for read in reads(value, loops):
        if _first_name(read.designator) in own | loops:
            continue
        if _is_inquiry_name(read.designator, scope):
            continue
        seen = storage(read.designator, scope)
        if seen is None:
            if isinstance(read.designator, Name) and not isinstance(
                scope.lookup(read.designator.id), Symbol
            ):
                continue
            yield read, Alias.MAYBE, written, None
            continue
        alias = may_alias(written, seen)
        if alias is not Alias.NO:
            yield read, alias, written, seen


def reads_target(target: Expr, value: Expr, scope: Scope, own: frozenset[str]) -> bool:
    """Whether ``value`` reads any element of what ``target`` may be (SAME or MAYBE)."""
    written = storage(target, scope)
    if written is None:
        return True
    for read in reads(value, frozenset()):
        if _first_name(read.designator) in own:
            continue
        seen = storage(read.designator, scope)
        if seen is None:
            if isinstance(scope.lookup(_first_name(read.designator)), Symbol):
                return True
            continue
        if may_alias(written, seen) is not Alias.NO:
            return True
    return False


def _first_name(expr: Expr) -> str:
    match expr:
        case Name(id):
            return id
        case Ref(base, _) | Component(base, _) | Substring(base, _, _):
            return _first_name(base)
        case _:
            return ""


def _is_inquiry_name(expr: Expr, scope: Scope) -> bool:
    """A plain name of an array inside SIZE and kin is no read of its elements."""
    if not isinstance(expr, Name):
        return False
    symbol = scope.lookup(expr.id)
    return isinstance(symbol, Symbol) and symbol.rank > 0


def _apart(w: Storage, r: Storage, loops: frozenset[str], value: Expr) -> bool:
    """Some dimension holds the two a constant, non-zero distance apart for every iteration."""
    bound = loops | {name.id for x in _all(value) if isinstance(x, Reduce | Locate) for name, _ in x.indices}
    for mine, theirs in zip(w.subscripts, r.subscripts):
        for x, y in zip(mine, theirs):
            atoms, distance = linear(sub(x, y))
            if not atoms and distance and not names(x) & bound:
                return True
    return False


def _all(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _all(child)


def _meets_itself_only(w: Storage, r: Storage, when: frozenset[str]) -> bool:
    """Whether equal storage means the same iteration of all loops in ``when``.

    Each loop needs a dimension whose subscript is the same on both sides and takes different
    values in different iterations of that loop.
    """
    settled: set[str] = set()
    for mine, theirs in zip(w.subscripts, r.subscripts):
        for x, y in zip(mine, theirs):
            if linear(x) == linear(y):
                settled |= _determines(x, when)
    return when <= settled


def _determines(subscript: Expr, when: frozenset[str]) -> frozenset[str]:
    atoms, _ = linear(subscript)
    moving = [atom for atom in atoms if names(atom) & when]
    if len(moving) != 1:
        return frozenset()
    inside = names(moving[0]) & when
    # A vector subscript on the left has no value twice (10.2.1.3), so it tells its index too.
    if isinstance(moving[0], Name | Ref) and len(inside) == 1:
        return inside
    return frozenset()


def function_may_read(target: Expr, value: Expr, scope: Scope) -> str | None:
    """A user's function in ``value`` that may read ``target`` through host or module association.

    A PURE function may still read (SEMANTICS 15).  What is local to a procedure, or a dummy
    argument without TARGET (15.5.2.13), only an internal procedure or nothing can see.
    """
    written = storage(target, scope)
    for x in _all(value):
        if not isinstance(x, Call):
            continue
        procedure = scope.lookup(x.name)
        if not isinstance(procedure, Procedure | Generic):
            continue
        if written is None:
            return x.name
        exposed = written.through & {"pointer", "target", "common", "equivalence", "associate"}
        local = written.root.origin == scope.unit and scope.unit.split()[0] in ("subroutine", "function")
        internal = isinstance(procedure, Generic) or procedure.form == "internal"
        if exposed or internal or not local:
            return x.name
    return None
