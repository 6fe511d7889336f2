"""How each reduction starts and goes on: the statements that gather one element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fortrans.ir.expr import ONE, Call, Expr, Literal, Name, Op, Ref, add, integer, substitute
from fortrans.ir.nest import Declaration, Exit, If, Stmt, Store
from fortrans.ir.symbols import LOGICAL, Type
from fortrans.remarks import Refusal
from fortrans.transforms.split import canonical

TRUE, FALSE, ZERO, TWO = Literal(".true."), Literal(".false."), Literal("0"), Literal("2")
SEARCHES = frozenset({"any", "all"})
EXTREMES = frozenset({"maxval", "minval"})
MASK = ".mask."
DRAW = ".draw."
UNROLLED = 4


def masked(mask: Expr | None, value: Expr) -> Expr:
    """``value``, taken only where ``mask`` holds; lowering keeps the two together."""
    return value if mask is None else Op(MASK, (mask, value))


def unmask(value: Expr) -> tuple[Expr | None, Expr]:
    match value:
        case Op(op, (mask, inner)) if op == MASK:
            return mask, inner
        case _:
            return None, value


def start(op: str, type: Type, accumulator: Expr) -> Expr:
    """The result for no elements (16.9; gfortran's and flang's choice where the standard leaves one)."""
    match op:
        case "sum" | "count" | "iany" | "iparity" | "norm2":
            return ZERO
        case "product":
            return ONE
        case "all":
            return TRUE
        case "any" | "parity":
            return FALSE
        case "iall":
            return Call("not", (Call("int", (ZERO, Call("kind", (accumulator,)))),))
        case "maxval" if type.name == "integer":
            return Op("-", (Op("-", (Call("huge", (accumulator,)),)), ONE))
        case "maxval" if type.name == "real":
            return Op("-", (Call("huge", (accumulator,)),))
        case "minval" if type.name in ("integer", "real"):
            return Call("huge", (accumulator,))
        case "maxval" | "minval" if type.name == "character":
            least = Call("achar", (ZERO,)) if op == "maxval" else Call("char", (Literal("255"),))
            return Call("repeat", (least, Call("len", (accumulator,))))
        case _:
            raise Refusal("FT403", f"'{op.upper()}' of type {type.name} is not composed")


@dataclass(frozen=True, slots=True)
class Gather:
    """Take one element into ``into``.

    ``rows``: ``into`` is an array element and no loop may be left early.  ``seen``: the name of a
    flag that tells whether ``into`` holds an element yet (extremes of reals under a mask).
    ``fresh`` gives a name for the element where it is needed more than once.  ``leave``: the
    element is taken inside a loop of its own, which a search leaves once it has found.
    ``ordered``: no NaN can be in ``into``, so that a comparison is enough.  ``unrolled``: the index
    that advances by ``UNROLLED``, of which as many elements are taken at once, in order.
    """

    op: str
    type: Type
    into: Expr
    fresh: Callable[[str], str]
    rows: bool = False
    seen: str | None = None
    leave: bool = True
    ordered: bool = False
    unrolled: str | None = None
    norm: tuple[Name, Name] | None = None
    library: bool = False

    def __call__(self, element: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        if self.unrolled is not None:
            return self._several(element, self.unrolled)
        mask, value = unmask(element)
        declarations, statements = self._take(value)
        if mask is not None:
            return declarations, (If(mask, statements),)
        return declarations, statements

    def _several(
        self, element: Expr, index: str
    ) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        values = [
            canonical(substitute(element, {index: add(Name(index), integer(step))}))
            for step in range(UNROLLED)
        ]
        if self.op in ("sum", "product", "count"):
            total = self.into
            for value in values:
                term = Call("merge", (ONE, ZERO, value)) if self.op == "count" else value
                total = Op("*" if self.op == "product" else "+", (total, term))
            return (), (Store(self.into, total),)
        local: list[str] = []

        def one(stem: str) -> str:
            local.extend([] if local else [self.fresh(stem)])
            return local[0]

        taken = [replace(self, fresh=one)._take(value) for value in values]
        declarations = tuple(dict.fromkeys(d for declared, _ in taken for d in declared))
        return declarations, tuple(s for _, statements in taken for s in statements)

    def _take(self, value: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        into = self.into
        exits = (Exit(),) if self.leave else ()
        match self.op:
            case "sum":
                return (), (Store(into, Op("+", (into, value))),)
            case "product":
                return (), (Store(into, Op("*", (into, value))),)
            case "count":
                return (), (Store(into, Op("+", (into, Call("merge", (ONE, ZERO, value))))),)
            case "any" if self.rows:
                return (), (Store(into, Op(".or.", (into, value))),)
            case "any":
                return (), (If(value, (Store(into, TRUE), *exits)),)
            case "all":
                return (), (If(Op(".not.", (value,)), (Store(into, FALSE), *exits)),)
            case "parity":
                return (), (Store(into, Op(".neqv.", (into, value))),)
            case "iall" | "iany" | "iparity":
                name = {"iall": "iand", "iany": "ior", "iparity": "ieor"}[self.op]
                return (), (Store(into, Call(name, (into, value))),)
            case "maxval" | "minval" if self.type.name == "integer":
                return (), (Store(into, Call(self.op[:3], (into, value))),)
            case "maxval" | "minval":
                return self._extreme(value)
            case "norm2" if self.norm is not None:
                return (), self._norm(value, *self.norm)
            case _:
                raise Refusal("FT403", f"'{self.op.upper()}' has no loop form yet")

    def _extreme(self, value: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        """NaN gives way to any number and takes the place of none, as in gfortran's own loops."""
        declarations: tuple[Declaration, ...] = ()
        first: tuple[Stmt, ...] = ()
        if not isinstance(value, Name | Ref):
            name = self.fresh("elem")
            declarations = (Declaration(name, self.type),)
            first = (Store(Name(name), value),)
            value = Name(name)
        into = self.into
        better = Op(">" if self.op == "maxval" else "<", (value, into))
        ordered = self.ordered or self.type.name != "real"
        test = better if ordered else Op(".or.", (better, Op("/=", (into, into))))
        if self.rows:
            return declarations, (*first, Store(into, Call("merge", (value, into, test))))
        if self.seen is None:
            return declarations, (*first, If(test, (Store(into, value),)))
        flag = Name(self.seen)
        test = Op(".or.", (Op(".not.", (flag,)), test))
        return declarations, (*first, If(test, (Store(into, value), Store(flag, TRUE))))

    def _norm(self, value: Expr, scale: Name, elem: Name) -> tuple[Stmt, ...]:
        """Squares of what is at most 1, as gfortran has them: ``scale`` is the greatest element so far."""
        into = self.into
        less, ratio = Op("/", (elem, scale)), Op("/", (scale, elem))
        if self.library:
            rescaled = Op("*", (Op("*", (into, ratio)), ratio))
        else:
            rescaled = Op("*", (into, Op("**", (ratio, TWO))))
        more = Store(into, Op("+", (into, Op("**", (less, TWO)))))
        return (
            Store(elem, Call("abs", (value,))),
            If(
                Op(">", (elem, scale)),
                (Store(into, Op("+", (rescaled, ONE))), Store(scale, elem)),
                (If(Op(".not.", (Op("<=", (elem, ZERO)),)), (more,)),),
            ),
        )

    @property
    def flag(self) -> Declaration | None:
        """The declaration of ``seen``."""
        return None if self.seen is None else Declaration(self.seen, LOGICAL)


@dataclass(frozen=True, slots=True)
class Push:
    """The element is stored as the next one: ``counter`` advances, then ``target`` is subscripted by it.

    Of an element ``DRAW (mask, taken, other)`` the counter advances where ``mask`` holds, and tells
    ``taken`` which element of a vector it is.
    """

    target: Expr
    counter: str

    def __call__(self, element: Expr) -> tuple[tuple[Declaration, ...], tuple[Stmt, ...]]:
        count = Name(self.counter)
        advance = Store(count, add(count, ONE))
        if isinstance(element, Op) and element.op == DRAW:
            mask, taken, other = element.args
            return (), (
                If(mask, (advance, Store(self.target, taken)), (Store(self.target, other),)),
            )
        mask_, value = unmask(element)
        statements = (advance, Store(self.target, value))
        return (), statements if mask_ is None else (If(mask_, statements),)
