"""Whether the arrays of a nest are what their names say: no two names for one storage."""

from __future__ import annotations

from collections.abc import Iterator

from fortrans.analysis.alias import Alias, may_alias, storage
from fortrans.ir.expr import Component, Expr, Name, Ref, Substring
from fortrans.ir.loops import Access, Assign
from fortrans.ir.symbols import Scope, Symbol
from fortrans.polyhedral.instances import Nest
from fortrans.source import Span

_SEEN = frozenset("use host common target pointer equivalence associate".split())


def doubts(nest: Nest, own: frozenset[str] = frozenset()) -> Iterator[tuple[Span, str]]:
    """Why names may hide that storage is shared, each with lines and a sentence.

    ``own`` are objects that each iteration has for itself.
    """
    touched: dict[str, tuple[Access, Assign]] = {}
    written: dict[str, tuple[Access, Assign]] = {}
    for instance in nest.instances:
        for touch in instance.touches:
            access = touch.access
            if access.array in own:
                continue
            touched.setdefault(access.array, (access, instance.statement))
            if access.write:
                written.setdefault(access.array, (access, instance.statement))
    for name, (access, statement) in written.items():
        for other, (second, reader) in touched.items():
            if other != name and (other not in written or name < other) and _shared(
                access.designator, statement.scope, second.designator, reader.scope
            ):
                yield reader.span, f"'{name}' and '{other}' may be the same storage"
    for instance in nest.instances:
        for call in instance.statement.calls:
            for name, (access, statement) in written.items():
                if _visible(access.designator, statement.scope):
                    yield instance.statement.span, f"Function '{call}' may read '{name}'"


def _shared(first: Expr, scope: Scope, second: Expr, other: Scope) -> bool:
    one, two = storage(first, scope), storage(second, other)
    return one is None or two is None or may_alias(one, two) is not Alias.NO


def _visible(designator: Expr, scope: Scope) -> bool:
    """Whether a procedure that is not given the object may see it."""
    symbol = scope.lookup(root(designator))
    if not isinstance(symbol, Symbol):
        return True
    return bool(symbol.attributes & _SEEN) or symbol.origin.startswith(("module", "submodule"))


def root(expr: Expr) -> str:
    """The name a designator begins with."""
    match expr:
        case Name(id):
            return id
        case Ref(base, _) | Component(base, _) | Substring(base, _, _):
            return root(base)
    raise TypeError(f"not a designator: {expr}")
