"""WHERE becomes one nest, or one for each assignment: ``FT115`` (10.2.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fortrans.analysis.alias import Alias
from fortrans.analysis.overlap import conflict, function_may_read, reads_target
from fortrans.ir.arrays import Array, Elemental, Section, Triplet, element, path_name, probe, rank, shape
from fortrans.ir.expr import ONE, Expr, Literal, Name, Ref
from fortrans.ir.masked import store, stores, unless, when
from fortrans.ir.nest import Allocate, Declaration, Stmt
from fortrans.ir.symbols import LOGICAL, Type
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal
from fortrans.transforms.lower import Lowering
from fortrans.transforms.operands import evaluated
from fortrans.transforms.pieces import Piece, declarable
from fortrans.transforms.plan import Plan, conflict_in_subscripts
from fortrans.transforms.split import canonical

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition

Path = tuple[tuple[Array, bool], ...]
"""The masks that control a statement, and whether each holds."""


@dataclass(frozen=True, slots=True)
class Stores:
    """The sink of a nest whose value says itself what is stored."""

    def __call__(self, element: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        raise TypeError(f"not a masked assignment: {element}")


def masked(composition: Composition) -> Plan:
    """The plan for a WHERE.  Raises Refusal."""
    tree = composition.site.rhs
    _check_captures(composition, tree)
    captured = Piece()
    for capture in composition.site.captures:
        captured += evaluated(composition, capture)
    because = _because(composition, tree)
    if because is None:
        return composition._planned(captured + _nest(composition, tree), "FT115", "")
    apart = _Apart(composition, tree)
    body = apart.run(tree, ())
    return composition._planned(captured + body, "FT115", because if apart.kept else "")


def _check_captures(composition: Composition, tree: Array) -> None:
    """Raise Refusal FT301 for an operand that another assignment would have to store to first."""
    targets = [element(target, probe(target)) for target, _ in stores(tree)]
    scope = composition.site.scope
    for capture in composition.site.captures if len(targets) > 1 else ():
        if any(
            reads_target(target, capture.value, scope, frozenset())
            or function_may_read(target, capture.value, scope)
            for target in targets
        ):
            raise Refusal("FT301", "A scalar operand may be stored to before it is read")


def _nest(composition: Composition, tree: Array) -> Piece:
    target = next(stores(tree))[0]
    opened = composition.opened(target, tree)
    captured, loops, _, what = composition.captures.take(opened.loops, Literal("0"), opened.value)
    lowering = Lowering(composition.fresh, composition.captures.facts)
    return opened.before + captured + lowering.build(loops, canonical(what), Stores())


def _because(composition: Composition, tree: Array) -> str | None:
    """Why ``tree`` cannot be done element by element; None when it can.

    Raises Refusal FT301 when the subscripts on the left may change meanwhile.
    """
    trial = composition.trial()
    scope = composition.site.scope
    first = next(stores(tree))[0]
    opened = trial.opened(first, tree)
    loops = frozenset(span.index for span in opened.loops)
    index = tuple(Name(span.index) for span in reversed(opened.loops))
    own = frozenset(trial.own)
    several = sum(1 for _ in stores(tree)) > 1
    for target, _ in stores(tree):
        inside = element(target, index)
        name = path_name(target.base)
        # What is kept is computed before the nest, so before the other stores.
        if several and any(reads_target(inside, as_source(x), scope, own) for x in trial.made):
            return f"'{name}' is read by what is evaluated once"
        if isinstance(inside, Ref) and conflict_in_subscripts(inside, scope, own):
            raise Refusal("FT301", "Subscripts of the left-hand side may change while it is stored")
        if (found := conflict(inside, opened.value, loops, scope, own)) is not None:
            if found.alias is Alias.MAYBE:
                composition.maybe = True
                return f"'{path_name(found.read)}' may be the same storage as '{name}'"
            return f"'{path_name(found.read)}' is read elsewhere than where it is stored"
        if (function := function_may_read(inside, opened.value, scope)) is not None:
            return f"function '{function}' may read '{name}'"
    return None


def _room(composition: Composition, value: Array, stem: str, type: Type) -> tuple[Piece, Section]:
    """A temporary with room for the values of an array, which nothing fills yet."""
    type = declarable(type, "a temporary")
    name = composition.fresh.name(stem)
    composition.own.add(name)
    extents = shape(value)
    axes = tuple(Triplet(ONE, ONE, extent, full=True) for extent in extents)
    facts = composition.captures.facts.value
    stack = composition.stack.takes(type, extents, facts, composition.site.scope)
    room = () if stack else (Allocate(Name(name), extents),)
    declared = Declaration(name, type, extents, allocatable=not stack)
    return Piece((declared,), room), Section(Name(name), axes, type, whole=True)


@dataclass(slots=True)
class _Apart:
    """One assignment after the other: what an assignment changes is saved before."""

    composition: Composition
    tree: Array
    kept: list[str] = field(default_factory=list)

    def run(self, node: Array, path: Path) -> Piece:
        match node:
            case Elemental("%do", items):
                done = Piece()
                for item in items:
                    done += self.run(item, path)
                return done
            case Elemental("%if", (mask, then, *other)):
                saved, mask = self._mask(mask, path)
                done = saved + self.run(then, (*path, (mask, True)))
                if other:
                    done += self.run(other[0], (*path, (mask, False)))
                return done
            case Elemental("%store", (Section() as target, value)):
                return self._assign(target, value, path)
            case _:
                raise TypeError(f"not a masked assignment: {node}")

    def _mask(self, mask: Array, path: Path) -> tuple[Piece, Array]:
        """The mask as it stays while its branches run."""
        # What was kept for an earlier assignment may have been stored to since.
        self.composition.made.clear()
        scope, own = self.composition.site.scope, frozenset(self.composition.own)
        value = element(mask, probe(mask))
        if not any(
            reads_target(element(target, probe(target)), value, scope, own)
            or function_may_read(element(target, probe(target)), value, scope)
            for target, _ in stores(self.tree)
        ):
            return Piece(), mask
        room, local = _room(self.composition, mask, "mask", LOGICAL)
        self.kept.append("mask")
        return room + _nest(self.composition, _under(path, store(local, mask))), local

    def _assign(self, target: Section, value: Array, path: Path) -> Piece:
        self.composition.made.clear()
        whole = _under(path, store(target, value))
        if _because(self.composition, whole) is None:
            return _nest(self.composition, whole)
        if not rank(value):
            raise Refusal("FT301", "A scalar operand may be stored to by the WHERE")
        room, local = _room(self.composition, value, "tmp", value.type)
        self.kept.append("tmp")
        filled = _nest(self.composition, _under(path, store(local, value)))
        copied = _under(path, store(target, local))
        if _because(self.composition, copied) is not None:
            raise Refusal("FT301", "The mask may be changed while elements are stored")
        return room + filled + _nest(self.composition, copied)


def _under(path: Path, done: Array) -> Array:
    for mask, holds in reversed(path):
        done = when(mask, done) if holds else unless(mask, done)
    return done
