"""A statement in its scope becomes a Site of array expressions, or a Refusal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from fortrans.frontend.constructors import constructor
from fortrans.frontend.designators import designator, parts, symbols
from fortrans.frontend.functions import reference
from fortrans.frontend.literals import literal_type
from fortrans.frontend.packs import outward, sized
from fortrans.frontend.types import taken_length
from fortrans.intrinsics.elemental import ELEMENTAL
from fortrans.intrinsics.inquiry import INQUIRIES
from fortrans.ir.arrays import Array, Elemental, Scalar, Section, rank
from fortrans.ir.expr import (
    Call,
    Component,
    Expr,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Ref,
    Substring,
    children,
    names,
    walk,
)
from fortrans.ir.fresh import Fresh
from fortrans.ir.promote import comparable, operation
from fortrans.ir.sites import Assignment, Capture, Place
from fortrans.ir.symbols import (
    DerivedType,
    Generic,
    Intrinsic,
    Meaning,
    Procedure,
    Scope,
    Symbol,
    Type,
    Unresolved,
)
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal

# Objects of these may be the same storage as an object of another name (SEMANTICS 12, 14).
EXPOSED = frozenset({"pointer", "target", "equivalence", "common", "associate"})


@dataclass(slots=True)
class Lifting:
    """What lifting one statement needs: its scope, fresh names, and the captures it makes.

    ``written`` is the name whose storage the statement defines, once that is known, and ``others``
    are all that a WHERE defines.  ``answered``
    are inquiry functions told by the extents of an expression that is not evaluated; ``inquiring``
    says that only the shape of what is lifted is asked for.  ``assumed`` is a DIM argument, and its value.
    """

    scope: Scope
    fresh: Fresh
    written: str = ""
    others: frozenset[str] = frozenset()
    captures: list[Capture] = field(default_factory=list)
    locals: frozenset[str] = frozenset()
    answered: list[str] = field(default_factory=list)
    inquiring: bool = False
    assumed: tuple[Expr, int] | None = None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Within it, only shapes are asked for."""
        before, self.inquiring = self.inquiring, True
        try:
            yield
        finally:
            self.inquiring = before

    @contextmanager
    def local(self, name: str, type: Type) -> Iterator[None]:
        """Within it, ``name`` is the variable of an implied DO."""
        scope, names_ = self.scope, self.locals
        self.scope = _Local(scope, Symbol(name, type))
        self.locals = names_ | {name}
        try:
            yield
        finally:
            self.scope, self.locals = scope, names_

    def lift(self, expr: Expr) -> Array:
        """The array expression (or Scalar) that ``expr`` is, of a size that can be told.  Raises Refusal."""
        return sized(self.unsized(expr), self)

    def unsized(self, expr: Expr) -> Array:
        """As ``lift``, but it may be a PACK whose size only its mask tells."""
        match expr:
            case Literal(text):
                return Scalar(expr, literal_type(text, self.scope))
            case Op(op, args):
                return self._operation(op, tuple(map(self.unsized, args)))
            case Name() | Component() | Substring():
                return self._object(expr)
            case Ref(Name(id), subscripts):
                if isinstance(self.scope.lookup(id), Symbol):
                    return designator(expr, self)
                return reference(Call(id, subscripts), self)
            case Ref():
                return designator(expr, self)
            case Call():
                return reference(expr, self)
            case Items():
                return constructor(expr, self)
            case _:
                raise Refusal("FT002", f"Expression '{_short(expr)}' is of a form that is not read yet")

    def _object(self, expr: Expr) -> Array:
        if isinstance(expr, Name):
            match self.scope.lookup(expr.id):
                case Unresolved(name, why):
                    raise Refusal("FT201", f"Name '{name}' is not known: {why}")
                case Procedure() | Generic() | Intrinsic():
                    raise Refusal("FT405", f"'{expr.id}' is a procedure, not a data object")
        return designator(expr, self)

    def _operation(self, op: str, operands: tuple[Array, ...]) -> Array:
        type = operation(op, tuple(x.type for x in operands))
        if type is None or (op in self.scope.defined_operators() and any(
            x.type.name in ("type", "class") for x in operands
        )):
            raise Refusal("FT208", f"Operator '{op}' is not the intrinsic one for these types")
        if all(isinstance(x, Scalar) for x in operands):
            return Scalar(Op(op, tuple(x.value for x in operands if isinstance(x, Scalar))), type)
        conformable(op, operands)
        return self.elemental(Elemental(op, tuple(map(self.settle, operands)), type, operator=True))

    def elemental(self, operation: Elemental) -> Array:
        """An operation with its settled operands, PACKs taken out of it or evaluated before it."""
        moved = outward(operation)
        if moved is not operation:
            return moved
        return replace(operation, operands=tuple(sized(x, self) for x in operation.operands))

    def settle(self, array: Array) -> Array:
        """A scalar operand as it may stand in a loop: itself when it keeps its value, else captured."""
        match array:
            case Scalar(value, type) if names(value) & self.locals:
                # It has one value for each value of the implied DO variable: no capture can hold it.
                if not self.pure(value):
                    raise Refusal("FT404", "Function reference in an implied DO is not composed")
                return array
            case Scalar(value, type) if not self.keeps(value) or _costly(value):
                return Scalar(self.capture(value, type), type)
            case _:
                return array

    def settled(self, expr: Expr) -> Expr:
        """An integer scalar (subscript, bound) as it may stand in a loop."""
        return self.settled_value(self.lift(expr), _short(expr))

    def settled_value(self, value: Array, what: str) -> Expr:
        """As ``settled``, for what was lifted already; ``what`` names it in a refusal."""
        if value.type.name != "integer":
            raise Refusal("FT207", f"Subscript of '{what}' is not an integer")
        if rank(value):
            raise Refusal("FT207", f"Subscript of '{what}' is not a scalar")
        if not isinstance(value, Scalar):
            return self.reduced(value)
        settled = self.settle(value) if self.locals or not self.keeps(value.value) else value
        assert isinstance(settled, Scalar)
        return settled.value

    def reduced(self, array: Array) -> Expr:
        """A rank-0 array expression (a reduction) evaluated once before the nest."""
        return self.capture(as_source(array), array.type, array)

    def capture(self, value: Expr, type: Type, array: Array | None = None) -> Expr:
        """Evaluate ``value`` once before the nest, into a new scalar."""
        if any(capture.value == value and self.pure(value) for capture in self.captures):
            return Name(next(c.name for c in self.captures if c.value == value))
        if type.name in ("type", "class"):
            raise Refusal("FT204", f"Scalar operand '{_short(value)}' is of derived type")
        if type.name == "character" and type.length is None:
            raise Refusal("FT205", f"Length of scalar operand '{_short(value)}' is not known")
        if not type.spelling and type.name != "character":
            raise Refusal("FT203", f"Type of scalar operand '{_short(value)}' cannot be declared here")
        name = self.fresh.name("val")
        self.captures.append(Capture(name, type, value, array=array))
        return Name(name)

    def pure(self, expr: Expr) -> bool:
        """Whether evaluating ``expr`` twice gives the same value and no side effect."""
        return all(
            isinstance(self.scope.lookup(x.name), Intrinsic) for x in walk(expr) if isinstance(x, Call)
        )

    def keeps(self, expr: Expr) -> bool:
        """Whether ``expr`` has the same value all through the nest however often it is evaluated."""
        match expr:
            case Literal():
                return True
            case Name(id):
                return not self._may_change(id)
            case Ref() | Component() | Substring():
                return not self._may_change(parts(expr)[0].name) and all(
                    self.keeps(x) for part in parts(expr) for x in part.subscripts or ()
                ) and not self._through_pointer(expr)
            case Call(name, _):
                known = name in INQUIRIES or name in ELEMENTAL
                if not known or not isinstance(self.scope.lookup(name), Intrinsic):
                    return False
                return name in INQUIRIES or all(map(self.keeps, children(expr)))
            case Keyword(_, value):
                return self.keeps(value)
            case Op():
                return all(map(self.keeps, children(expr)))
            case _:
                return False

    def _may_change(self, id: str) -> bool:
        if any(capture.name == id for capture in self.captures):
            return False
        symbol = self.scope.lookup(id)
        if not isinstance(symbol, Symbol):
            return True
        if "parameter" in symbol.attributes:
            return False
        if id in self.others:
            return True
        return id == self.written or bool(symbol.attributes & EXPOSED) or "volatile" in symbol.attributes

    def _through_pointer(self, expr: Expr) -> bool:
        path = symbols(expr, self.scope)
        return path is None or any("pointer" in symbol.attributes for symbol in path[1:])


@dataclass(frozen=True, slots=True)
class _Local:
    """A scope with one more variable, that of an implied DO."""

    outer: Scope
    symbol: Symbol

    @property
    def unit(self) -> str:
        return self.outer.unit

    @property
    def pure(self) -> bool:
        return self.outer.pure

    def lookup(self, name: str) -> Meaning:
        return self.symbol if name.lower() == self.symbol.name else self.outer.lookup(name)

    def derived(self, name: str) -> DerivedType | None:
        return self.outer.derived(name)

    def derived_of(self, symbol: Symbol) -> DerivedType | None:
        return self.outer.derived_of(symbol)

    def constant(self, expr: Expr) -> int | None:
        return None if self.symbol.name in names(expr) else self.outer.constant(expr)

    def defined_assignment(self) -> bool:
        return self.outer.defined_assignment()

    def defined_operators(self) -> frozenset[str]:
        return self.outer.defined_operators()


def lift_target(lhs: Expr, scope: Scope, fresh: Fresh) -> Section | Scalar:
    """The left-hand side alone.  Raises Refusal."""
    target = designator(lhs, Lifting(scope, fresh, written=parts(lhs)[0].name))
    assert isinstance(target, Scalar | Section)
    return target


def lift_assignment(
    place: Place, lhs: Expr, rhs: Expr, scope: Scope, fresh: Fresh, assumed: tuple[Expr, int] | None = None
) -> Assignment | None:
    """The Site of ``lhs = rhs``; None when neither side has array work.  Raises Refusal."""
    check_order(lhs, rhs, scope)
    lifting = Lifting(scope, fresh, written=parts(lhs)[0].name, assumed=assumed)
    target = designator(lhs, lifting)
    value = lifting.unsized(rhs)
    if isinstance(target, Scalar) and isinstance(value, Scalar) and not lifting.answered:
        return None
    if isinstance(target, Scalar) and rank(value):
        raise Refusal("FT207", "An array cannot be assigned to a scalar")
    assert isinstance(target, Scalar | Section)
    if rank(value) and rank(value) != rank(target):
        raise Refusal("FT207", f"Ranks differ: {rank(target)} and {rank(value)}")
    if not comparable(target.type, value.type):
        derived = [x.type.derived for x in (target, value) if x.type.name in ("type", "class")]
        if derived:
            raise Refusal("FT204", f"Assignment of derived type '{derived[0]}' may be a defined one")
        raise Refusal("FT208", "Assignment may be a defined one for these types")
    if isinstance(value, Section) and any(c.rank and Name(c.name) == value.base for c in lifting.captures):
        raise Refusal("FT405", "The result of an array function alone leaves nothing to compose")
    if not (isinstance(target, Scalar) and isinstance(value, Scalar)):
        value = lifting.settle(value)
    path = symbols(lhs, scope)
    allocatable = (
        isinstance(target, Section)
        and target.whole
        and path is not None
        and "allocatable" in path[-1].attributes
    )
    reallocates = allocatable and bool(rank(value))
    named = parts(lhs)[-1].name
    length = taken_length(target.type, value.type, scope, named) if allocatable else None
    if length is not None and not reallocates:
        # A scalar gives the array its length, too, but not its shape: compilers differ (10.2.1.3).
        raise Refusal("FT205", f"Character length of '{named}' may change")
    answered = tuple(dict.fromkeys(lifting.answered))
    captures = tuple(lifting.captures)
    return Assignment(place, scope, target, value, captures, reallocates, answered, length=length)


def check_order(lhs: Expr, rhs: Expr, scope: Scope) -> None:
    """Raise Refusal for several impure references: captures would not keep their order (SEMANTICS 2)."""
    impure = 0
    for x in (*walk(lhs), *walk(rhs)):
        match x:
            case Call(name) | Ref(Name(name)):
                meaning = scope.lookup(name)
                pure = isinstance(meaning, Procedure) and meaning.pure
                impure += isinstance(meaning, Procedure | Generic) and not pure
    if impure > 1:
        raise Refusal("FT405", "Several functions that are not PURE are referenced, in an order to be kept")


def conformable(what: str, operands: tuple[Array, ...]) -> None:
    """Raise Refusal unless all operands have one rank or are scalar (10.1.5)."""
    ranks = {rank(x) for x in operands} - {0}
    if len(ranks) > 1:
        raise Refusal("FT207", f"Operands of '{what}' differ in rank")


def _costly(value: Expr) -> bool:
    """Whether the reader (and the loop) is better off with the value computed once before it."""
    work = [x for x in walk(value) if isinstance(x, Op) and x.op != "()"]
    calls = [x for x in walk(value) if isinstance(x, Call) and x.name not in INQUIRIES]
    return bool(calls) or len(work) > 2 or any(x.op in ("/", "**", "//") for x in work)


def _short(expr: Expr) -> str:
    match expr:
        case Name(id):
            return id
        case Ref(base, _):
            return f"{_short(base)}(...)"
        case Component(base, name):
            return f"{_short(base)}%{name}"
        case Call(name, _):
            return f"{name}(...)"
        case Literal(text):
            return text
        case Op(op, (x, y)):
            return f"{_short(x)} {op} {_short(y)}"
        case _:
            return "..."
