"""What must hold of every plan, whatever it computes (Fortran 2018, 11.1.7.5; EMISSION)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fortrans.ir.expr import (
    At,
    Call,
    Component,
    Expr,
    ImpliedDo,
    Locate,
    Name,
    Op,
    Reduce,
    Ref,
    Select,
    Substring,
    children,
    names,
    walk,
)
from fortrans.ir.nest import (
    Allocate,
    Block,
    CallStmt,
    Deallocate,
    Exit,
    If,
    Loop,
    Stmt,
    Store,
)

INQUIRIES = frozenset({"size", "lbound", "ubound", "kind", "huge", "len", "allocated"})


@dataclass(frozen=True)
class Known:
    """What the plan finds: ``inputs`` it may name, of which it may hide ``hideable``; ``functions``
    it may call; ``written`` it may store to; ``shared``: names that are the same storage as those."""

    inputs: frozenset[str]
    functions: frozenset[str]
    written: frozenset[str]
    hideable: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


def check(body: Sequence[Stmt], known: Known) -> None:
    """Raises AssertionError with the statement that breaks a rule."""
    _scoped(body, known, frozenset(), ())
    _iterations(body, known)


def _iterations(body: Sequence[Stmt], known: Known) -> None:
    """Every DO CONCURRENT; where addresses were found to be apart, no storage is shared."""
    for stmt in body:
        match stmt:
            case Loop(body=inner):
                if stmt.concurrent:
                    _concurrent(stmt, known)
                _iterations(inner, known)
            case Block(_, inner):
                _iterations(inner, known)
            case If(Name(id), then, other) if id.startswith("apart"):
                _iterations(then, replace(known, shared=frozenset()))
                _iterations(other, known)
            case If(_, then, other):
                _iterations(then, known)
                _iterations(other, known)


# ---- names, EXIT, allocation ------------------------------------------------------


def _scoped(body: Sequence[Stmt], known: Known, declared: frozenset[str], loops: tuple[bool, ...]) -> None:
    for stmt in body:
        for expr in expressions(stmt):
            _printable(expr)
            free = names(expr) - declared - known.inputs - known.functions
            assert not free, f"{sorted(free)} not declared in {stmt}"
        match stmt:
            case Loop():
                assert stmt.index in declared, f"index '{stmt.index}' is not declared"
                _scoped(stmt.body, known, declared, (*loops, stmt.concurrent))
            case If(_, then, other):
                _scoped(then, known, declared, loops)
                _scoped(other, known, declared, loops)
            case Exit():
                assert loops and not loops[-1], "EXIT must belong to a sequential loop"
            case Block(declarations, inner, uses):
                known = replace(known, functions=known.functions.union(*(x.only for x in uses)))
                new = [d.name for d in declarations]
                assert len(set(new)) == len(new), f"declared twice: {new}"
                hidden = set(new) & (known.inputs - known.hideable | declared | known.functions)
                assert not hidden, f"{sorted(hidden)} hidden by a declaration"
                idle = set(new) - _used(inner)
                assert not idle, f"{sorted(idle)} declared and not used"
                _scoped(inner, known, declared | set(new), loops)
            case Store(target, _):
                assert _root(target) in declared | known.written, f"{stmt} stores what it must not"
            case Allocate(target) | Deallocate(target):
                assert not any(loops), f"{stmt} inside DO CONCURRENT"
                assert _root(target) in declared | known.written, stmt


def _used(body: Sequence[Stmt]) -> set[str]:
    found: set[str] = set()
    for stmt in within(body):
        for expr in expressions(stmt):
            found |= names(expr)
            found |= {x.name for x in walk(expr) if isinstance(x, ImpliedDo)}
        if isinstance(stmt, Loop):
            found.add(stmt.index)
    return found


def _printable(expr: Expr) -> None:
    """No choice, reduction or mask is left that has no Fortran form."""
    for x in walk(expr):
        assert not isinstance(x, Select | Reduce | Locate | At), f"{x} is left in {expr}"
        assert not (isinstance(x, Op) and x.op.startswith(".mask")), f"mask is left in {expr}"
        assert not (isinstance(x, Name) and x.id[0] in "$%"), f"'{x.id}' is no name"


# ---- DO CONCURRENT ------------------------------------------------------------------


def _concurrent(loop: Loop, known: Known) -> None:
    """Each iteration stores elsewhere, as far as names can tell; ``interpret`` looks at the elements."""
    own = {d.name for stmt in within(loop.body) if isinstance(stmt, Block) for d in stmt.declarations}
    targets = [s.target for s in within(loop.body) if isinstance(s, Store) and _root(s.target) not in own]
    for target in targets:
        assert any(isinstance(x, Ref) for x in walk(target)), f"{target} is shared by all iterations"
        assert names(target) & (own | _moving(loop)), f"{target} is the same in every iteration"
    for stmt in within(loop.body):
        if isinstance(stmt, Loop) and not stmt.concurrent:
            assert stmt.index in own, f"index '{stmt.index}' is shared by all iterations"
        assert not isinstance(stmt, Allocate | Deallocate | CallStmt), stmt
    roots = {_root(target) for target in targets}
    written = roots | (known.shared if roots & known.written else set())
    for stmt in within(loop.body):
        for expr in expressions(stmt, targets=False):
            for read in designators(expr):
                if _root(read) not in written:
                    continue
                assert _root(read) in roots, f"{read} may be what {targets} store"


def _moving(loop: Loop) -> set[str]:
    """The index of a loop, and those inside whose range it moves."""
    found = {loop.index}
    for stmt in within(loop.body):
        if isinstance(stmt, Loop) and (names(stmt.first) | names(stmt.last)) & found:
            found.add(stmt.index)
    return found


def designators(expr: Expr) -> Iterator[Expr]:
    """What is read: whole designators, and what their subscripts read; nothing inquiries ask about."""
    match expr:
        case Call(name, args) if name in INQUIRIES:
            for x in args[1:]:
                yield from designators(x)
        case Name() | Ref() | Component() | Substring():
            yield expr
            yield from _inside(expr)
        case _:
            for child in children(expr):
                yield from designators(child)


def _inside(expr: Expr) -> Iterator[Expr]:
    match expr:
        case Ref(base, subscripts):
            for x in subscripts:
                yield from designators(x)
            yield from _inside(base)
        case Component(base, _) | Substring(base, _, _):
            yield from _inside(base)


# ---- walking ------------------------------------------------------------------------


def within(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """All statements, each before those inside it."""
    for stmt in body:
        yield stmt
        match stmt:
            case Loop(body=inner) | Block(_, inner):
                yield from within(inner)
            case If(_, then, other):
                yield from within(then)
                yield from within(other)


def expressions(stmt: Stmt, targets: bool = True) -> Iterator[Expr]:
    """The expressions of a statement itself; without ``targets`` only the subscripts of a target."""
    match stmt:
        case Store(target, value):
            if targets:
                yield target
            else:
                yield from _subscripts(target)
            yield value
        case Loop(_, first, last, _, _, step):
            yield first
            yield last
            if step is not None:
                yield step
        case If(test):
            yield test
        case Block(declarations):
            yield from (x for d in declarations if not d.allocatable for x in d.shape)
        case Allocate(target, shape, lower, source):
            yield target
            yield from (*shape, *(lower or ()), *(() if source is None else (source,)))
        case Deallocate(target):
            yield target
        case CallStmt(_, args):
            yield from args


def _subscripts(target: Expr) -> Iterator[Expr]:
    match target:
        case Ref(base, subscripts):
            yield from subscripts
            yield from _subscripts(base)
        case Component(base, _):
            yield from _subscripts(base)


def _root(expr: Expr) -> str:
    match expr:
        case Name(id):
            return id
        case Ref(base, _) | Component(base, _) | Substring(base, _, _):
            return _root(base)
        case _:
            raise TypeError(f"not a designator: {expr}")
