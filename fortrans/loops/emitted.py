"""The statements that a plan emits as a tree of loops (``fortrans.ir.loops``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fortrans.frontend.accesses import Reading
from fortrans.frontend.objects import Objects
from fortrans.ir import loops
from fortrans.ir.expr import ONE, Expr, Name, constant
from fortrans.ir.loops import Arm, Assign, Body, Branch, Jump, Node, Other
from fortrans.ir.nest import Allocate, Block, CallStmt, Deallocate, Declaration, Exit, If, Loop, Stmt, Store
from fortrans.ir.symbols import DerivedType, Dimension, Meaning, Scope, Symbol
from fortrans.source import Span


def body(statements: Iterable[Stmt], scope: Scope, span: Span, unit: str, words: Iterable[str]) -> Body:
    """What ``statements`` do; ``words`` are names that no parameter may have."""
    statements = tuple(statements)
    stores = Counter(_stored(statements))
    objects = Objects(set(words))
    once = frozenset(name for name, count in stores.items() if count == 1)
    reader = _Reader(objects, span, once)
    nodes = reader.nodes(statements, _Declared(scope, {}), frozenset(), {})
    return Body(unit, nodes, dict(objects.parameters))


def _stored(statements: Iterable[Stmt]) -> Iterable[str]:
    """The names of scalars that are assigned, once for each assignment."""
    for stmt in statements:
        match stmt:
            case Store(Name(id), _):
                yield id
            case Loop(body=inner) | Block(body=inner):
                yield from _stored(inner)
            case If(then=then, other=other):
                yield from _stored((*then, *other))
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Declared:
    """A scope with the declarations of the emitted BLOCKs."""

    outer: Scope
    symbols: Mapping[str, Symbol]

    @property
    def unit(self) -> str:
        return self.outer.unit

    @property
    def pure(self) -> bool:
        return self.outer.pure

    def lookup(self, name: str) -> Meaning:
        return self.symbols.get(name.lower()) or self.outer.lookup(name)

    def derived(self, name: str) -> DerivedType | None:
        return self.outer.derived(name)

    def derived_of(self, symbol: Symbol) -> DerivedType | None:
        return self.outer.derived_of(symbol)

    def constant(self, expr: Expr) -> int | None:
        return self.outer.constant(expr)

    def defined_assignment(self) -> bool:
        return self.outer.defined_assignment()

    def defined_operators(self) -> frozenset[str]:
        return self.outer.defined_operators()

    def with_(self, declarations: Iterable[Declaration]) -> _Declared:
        """The scope inside a BLOCK with ``declarations``."""
        return replace(self, symbols={**self.symbols, **{d.name: _symbol(d) for d in declarations}})


def _symbol(declared: Declaration) -> Symbol:
    dims = tuple(
        Dimension("deferred") if declared.allocatable else Dimension("explicit", ONE, extent)
        for extent in declared.shape
    )
    attributes = frozenset({"allocatable"}) if declared.allocatable else frozenset[str]()
    stable = tuple(not declared.allocatable for _ in dims)
    return Symbol(declared.name, declared.type, dims, attributes, None, "block", None, declared.name, stable)


@dataclass(slots=True)
class _Reader:
    objects: Objects
    span: Span
    once: frozenset[str]

    def nodes(
        self,
        statements: Iterable[Stmt],
        scope: _Declared,
        indices: frozenset[str],
        known: dict[str, Expr],
    ) -> tuple[Node, ...]:
        """The nodes of a sequence of statements."""
        return tuple(node for stmt in statements for node in self._node(stmt, scope, indices, known))

    def _node(
        self, stmt: Stmt, scope: _Declared, indices: frozenset[str], known: dict[str, Expr]
    ) -> tuple[Node, ...]:
        reading = Reading(scope, self.objects, known, {}, indices)
        match stmt:
            case Store(target, value):
                reading.assignment(target, value)
                if isinstance(target, Name) and target.id in self.once:
                    new = reading.index(value)
                    if new is not None and reading.index(target) is not None:
                        known[target.id] = new
                printed = target if isinstance(target, Name) else reading.printable(target)
                accesses = tuple(reading.accesses)
                value = reading.printable(value)
                flaws, calls = tuple(reading.flaws), tuple(reading.calls)
                return (Assign(printed, value, accesses, self.span, scope, flaws, calls),)
            case Loop(name, first, last, inner, concurrent, step):
                stride = constant(ONE if step is None else step) or 0
                index = loops.Index(name, reading.index(first), reading.index(last), stride)
                reading.controls((first, last))
                inside = self.nodes(inner, scope, indices | {name}, known)
                return (*self._evaluated(reading, first), loops.Loop((index,), inside, self.span, concurrent))
            case If(test, then, other):
                reading.controls((test,))
                found = reading.test(test)
                arms = [Arm(found, self.nodes(then, scope, indices, known), found is not None)]
                if other:
                    arms.append(Arm(None, self.nodes(other, scope, indices, known)))
                return (*self._evaluated(reading, test), Branch(tuple(arms), self.span))
            case Block(declarations, inner):
                inside = self.nodes(inner, scope.with_(declarations), indices, known)
                return (loops.Block(frozenset(d.name for d in declarations), inside, self.span),)
            case Exit():
                return (Jump("exit", self.span),)
            case Allocate() | Deallocate() | CallStmt():
                return (Other(f"{type(stmt).__name__.upper()} statement is not read", self.span),)

    def _evaluated(self, reading: Reading, value: Expr) -> tuple[Node, ...]:
        if not (reading.accesses or reading.flaws or reading.calls):
            return ()
        flaws, calls = tuple(reading.flaws), tuple(reading.calls)
        made = Assign(None, value, tuple(reading.accesses), self.span, reading.scope, flaws, calls)
        return (Branch((Arm(None, (made,), known=False),), self.span),)
