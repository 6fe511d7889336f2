"""Bounds, sizes and reduced shifts are read once, before the nest that uses them (EMISSION, rule 13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fortrans.ir.expr import (
    ONE,
    ZERO,
    Call,
    Component,
    Expr,
    Locate,
    Name,
    Reduce,
    Ref,
    Select,
    add,
    constant,
    names,
    sub,
    transform,
    walk,
)
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Declaration, Store
from fortrans.ir.symbols import INTEGER
from fortrans.transforms.pieces import Piece, Span
from fortrans.transforms.split import Facts, canonical

READ_ONCE = frozenset({"lbound", "ubound", "size", "modulo", "max", "min", "int"})
_LONGEST = 40


@dataclass(slots=True)
class Captures:
    """What one statement has read so far: ``known`` maps a reference to what now stands for it."""

    fresh: Fresh
    facts: Facts
    known: dict[Expr, Expr] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def copy(self) -> Captures:
        """Another with the same knowledge, for a trial."""
        return Captures(self.fresh.copy(), self.facts, dict(self.known), set(self.own))

    def forget(self, name: str) -> None:
        """Bounds and sizes of ``name`` are no longer what they were: it was (re)allocated."""
        self.known = {call: local for call, local in self.known.items() if name not in names(call)}

    def take(
        self, loops: tuple[Span, ...], target: Expr, value: Expr
    ) -> tuple[Piece, tuple[Span, ...], Expr, Expr]:
        """Loops, target and value with each such reference replaced, and the reading of the new ones."""
        indices = {span.index for span in loops}
        moving = indices | {
            name.id for x in walk(value) if isinstance(x, Reduce | Locate) for name, _ in x.indices
        }
        made: list[tuple[str, Expr]] = []
        go = self._reader(frozenset(moving), made)
        target, value = go(target, False), go(value, False)

        def sizes(x: Expr) -> Expr:
            return transform(x, lambda y: self.known.get(y) if isinstance(y, Call) else None)

        def bound(x: Expr) -> Expr:
            # Those that depend on another loop are evaluated again and again.
            return add(sizes(go(x, True) if names(x) & indices else x), ZERO)

        loops = tuple(replace(span, first=bound(span.first), last=bound(span.last)) for span in loops)
        piece = Piece()
        for name, what in made:
            piece += Piece((Declaration(name, INTEGER),), (Store(Name(name), what),))
        return piece, loops, canonical(sizes(target)), canonical(sizes(value))

    def _reader(
        self, moving: frozenset[str], made: list[tuple[str, Expr]]
    ) -> Callable[[Expr, bool], Expr]:
        def visit(x: Expr, index: bool) -> Expr | None:
            match x:
                case Ref(base, subscripts):
                    return Ref(go(base, index), tuple(go(s, True) for s in subscripts))
                case Select(test, then, other):
                    return Select(go(test, True), go(then, index), go(other, index))
                case Call("modulo", (_, by)) if not _not_zero(by):
                    return None
                case Call("int", (_, _)):
                    # What is captured is a default integer.
                    return None
                case Call(name, args, user=False) if index and name in READ_ONCE and not names(x) & moving:
                    if x not in self.known:
                        inner = x
                        if name not in ("lbound", "ubound", "size"):
                            inner = Call(name, tuple(self._sizes(a, go) for a in args))
                        self.known[x] = self._captured(inner, made)
                    return self.known[x]
                case _:
                    return None

        def go(x: Expr, index: bool) -> Expr:
            return transform(x, lambda y: visit(y, index))

        return go

    def _sizes(self, expr: Expr, go: Callable[[Expr, bool], Expr]) -> Expr:
        """``expr`` with the sizes in it read once; MIN and MAX in it belong to what is captured."""
        sizes = {"lbound", "ubound", "size"}
        return transform(expr, lambda x: go(x, True) if isinstance(x, Call) and x.name in sizes else None)

    def _captured(self, call: Call, made: list[tuple[str, Expr]]) -> Expr:
        match call:
            case Call("lbound", (array, dim)):
                local = self._local(f"off_{_last(array)[:_LONGEST]}{constant(dim) or ''}")
                made.append((local, sub(call, ONE)))
                return add(Name(local), ONE)
            case Call("size", (_, dim)):
                local = self._local(f"n{constant(dim) or ''}")
                made.append((local, call))
                self.learn(Name(local))
                return Name(local)
            case Call("modulo", (_, modulus)):
                local = self._local("shift")
                made.append((local, call))
                extent = modulus.args[0] if isinstance(modulus, Call) and modulus.name == "max" else modulus
                self.learn(Name(local))
                if self.facts.holds(extent, ZERO):
                    self.learn(sub(extent, Name(local)))
                return Name(local)
            case Call("max", (low, Call("min", (high, _)))):
                # EOSHIFT's shift, limited to the extent both ways.
                local = self._local("shift")
                made.append((local, call))
                if self.facts.holds(high, ZERO):
                    # The extent of a section can be negative as it is written, and then limits nothing.
                    self.learn(sub(Name(local), low), sub(high, Name(local)))
                return Name(local)
            case _:
                local = self._local("limit")
                made.append((local, call))
                return Name(local)

    def _local(self, stem: str) -> str:
        name = self.fresh.name(stem)
        self.own.add(name)
        return name

    def learn(self, *natural: Expr) -> None:
        """Know that these integers are not negative."""
        self.facts = replace(self.facts, natural=(*self.facts.natural, *natural))


def _not_zero(divisor: Expr) -> bool:
    """Whether a modulus is surely none but zero, so that it may be evaluated before it is needed."""
    match divisor:
        case Call("max", args):
            return any((constant(x) or 0) > 0 for x in args)
        case _:
            return bool(constant(divisor))


def _last(array: Expr) -> str:
    match array:
        case Name(id):
            return id
        case Component(_, name):
            return name
        case Ref(base, _):
            return _last(base)
        case _:
            return "x"
