"""The plan for a statement, and the small questions asked while it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fortrans.analysis.alias import same_object
from fortrans.analysis.overlap import reads_target
from fortrans.ir.arrays import Array, Constructor, Scalar, Section, Triplet, base_name, shape
from fortrans.ir.expr import (
    ONE,
    Call,
    Component,
    Expr,
    ImpliedDo,
    Name,
    Opaque,
    Ref,
    Substring,
    children,
    integer,
    walk,
)
from fortrans.ir.nest import Declaration, Stmt, Store
from fortrans.ir.symbols import INTEGER, Generic, Intrinsic, Scope, Symbol, Type, only_derived
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal
from fortrans.transforms.pieces import Piece
from fortrans.transforms.prune import mentioned, prune
from fortrans.transforms.storage import scoped

# Intrinsic procedures that emitted code may call: the scope must not give these names to others.
OURS = frozenset(
    "abs allocated conjg huge iand ieor int ior kind lbound len max merge min mod modulo move_alloc not"
    " real repeat size sqrt transfer ubound".split()
)

@dataclass(frozen=True, slots=True)
class Plan:
    """What replaces the statement, and what the remark says of it.

    ``maybe``: the temporary is for two names that may be one storage (pointers), not for overlap
    that is there.  ``form``: how an array is assigned from itself.  ``tested``: it is there for the
    case only that addresses overlap when the program runs.  ``test`` is what is left of a condition,
    once ``body`` (one BLOCK) has run.
    ``arms``: how many values of a DIM argument have a nest each.
    """

    body: tuple[Stmt, ...]
    code: str
    temporaries: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    because: str = ""
    maybe: bool = False
    tested: bool = False
    form: str = ""
    test: Expr | None = None
    arms: int = 0


def planned(
    scope: Scope,
    piece: Piece,
    code: str,
    because: str = "",
    temporaries: Sequence[str] = (),
    kept: Sequence[str] = (),
    maybe: bool = False,
    tested: bool = False,
) -> Plan:
    """The plan that ``piece`` is.  Raises Refusal FT406 where it needs a name that is taken."""
    for name in sorted(frozenset(n for stmt in piece.statements for n in mentioned(stmt)) & OURS):
        if not _is_intrinsic(name, scope):
            raise Refusal("FT406", f"'{name}' may not be the intrinsic procedure here, and is needed")
    return Plan(
        (prune(scoped(tuple(dict.fromkeys(piece.declarations)), piece.statements)),),
        code,
        tuple(dict.fromkeys(temporaries)),
        tuple(dict.fromkeys(kept)),
        because,
        maybe,
        tested,
    )


def conflict_in_subscripts(target: Ref, scope: Scope, own: frozenset[str]) -> bool:
    """Whether a vector subscript of the left-hand side may be the storage that is assigned."""
    return any(
        reads_target(target, subscript, scope, own)
        for subscript in target.subscripts
        if any(isinstance(x, Ref) for x in walk(subscript))
    )


def as_written(section: Section, value: Array) -> Piece:
    """The array by one assignment, as the user wrote it; implied DO variables need a declaration."""
    source = as_source(value)
    loops = [x.name for x in walk(source) if isinstance(x, ImpliedDo)]
    return Piece(
        tuple(Declaration(name, INTEGER) for name in dict.fromkeys(loops)),
        (Store(as_source(section), source),),
    )


def implied(value: Expr, scope: Scope) -> tuple[Declaration, ...]:
    """Declarations of the implied DO variables in a value as written that are names of ours."""
    loops = dict.fromkeys(x.name for x in walk(value) if isinstance(x, ImpliedDo))
    found = {name: scope.lookup(name) for name in loops}
    return tuple(
        Declaration(name, INTEGER)
        for name, meaning in found.items()
        if not isinstance(meaning, Symbol) or "implicit" in meaning.attributes
    )


def sized(base: Expr, d: int) -> Triplet:
    """The axis of a temporary whose extent is asked of it."""
    return Triplet(ONE, ONE, Call("size", (base, integer(d + 1))), full=True)


def same_type(x: Type, y: Type) -> bool:
    """Whether two types are one intrinsic type of one known kind, characters apart."""
    return x.name == y.name and x.kind == y.kind and x.kind is not None and x.name != "character"


def root(section: Section) -> str:
    """The name of the object that a section is of."""
    return base_name(section.base)


def mentions(value: Array, target: Section, scope: Scope) -> bool:
    """Whether the value, its extents or the arguments of inquiries name the target or the whole it is of.

    Another component of the same object is another array.
    """
    own = _path(target.base)
    named = scope.lookup(own[0])
    for expr in (as_source(value), *shape(value)):
        for path in _paths(expr):
            if path[0] == own[0]:
                # A component of the parent type has two paths.
                if path[: len(own)] == own[: len(path)] or path[-1] == own[-1]:
                    return True
            elif same_object(named, scope.lookup(path[0])):
                return True
    return False


def _path(designator: Expr) -> tuple[str, ...]:
    """The names of a designator's parts."""
    match designator:
        case Component(base, name):
            return (*_path(base), name)
        case Ref(base) | Substring(base):
            return _path(base)
        case Name(id) | Call(id):
            return (id,)
        case _:
            raise TypeError(f"not a designator: {designator}")


def _paths(expr: Expr) -> Iterator[tuple[str, ...]]:
    """The parts of every designator in an expression, those in subscripts among them."""
    match expr:
        case Name() | Component() | Ref() | Substring():
            yield _path(expr)
            inner: Expr = expr
            while not isinstance(inner, Name | Call):
                yield from (path for x in children(inner)[1:] for path in _paths(x))
                inner = children(inner)[0]
        case Opaque(_, ids):
            yield from ((id,) for id in sorted(ids))
        case _:
            yield from (path for x in children(expr) for path in _paths(x))


def _is_intrinsic(name: str, scope: Scope) -> bool:
    """Whether ``name`` with arguments of intrinsic type is the intrinsic procedure."""
    match scope.lookup(name):
        case Intrinsic():
            return True
        case Generic(specifics=specifics):
            return specifics is not None and only_derived(specifics)
        case _:
            return False


def is_told(target: Array, value: Array) -> bool:
    """Whether a value is scalars only, as SHAPE and kin leave it: it is stored as it stands."""
    if isinstance(value, Constructor):
        # One item has an element rule like any scalar.
        return len(value.items) != 1 and all(isinstance(item, Scalar) for item in value.items)
    return isinstance(value, Scalar) and isinstance(target, Scalar)


def capital(text: str) -> str:
    """``text`` with a capital first."""
    return text[:1].upper() + text[1:]
