"""Inquiry functions: what tells the shape of an expression evaluates none of its elements (16.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.frontend.arguments import split
from fortrans.intrinsics.elemental import with_kind
from fortrans.intrinsics.entry import clipped, product
from fortrans.intrinsics.packing import Taken, packed
from fortrans.ir.arrays import Apply, Array, Constructor, Scalar, Section, rank, shape
from fortrans.ir.expr import (
    ONE,
    At,
    Call,
    Component,
    Expr,
    Keyword,
    Literal,
    Locate,
    Name,
    Op,
    Reduce,
    Ref,
    Select,
    integer,
    names,
    transform,
    walk,
)
from fortrans.ir.symbols import INTEGER, LOGICAL, Generic, Procedure, Type
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting

# Inquiry functions with a scalar result, by the type they give; their arguments are not evaluated.
INQUIRY_TYPES: dict[str, Type | None] = {
    **dict.fromkeys("size lbound ubound rank kind len precision range digits maxexponent".split(), INTEGER),
    **dict.fromkeys("minexponent radix bit_size storage_size".split(), INTEGER),
    **dict.fromkeys("selected_int_kind selected_real_kind".split(), INTEGER),
    **dict.fromkeys("allocated associated present is_contiguous".split(), LOGICAL),
    **dict.fromkeys("huge tiny epsilon".split(), None),
}
_DUMMIES = {
    "shape": ("array", "kind"),
    "size": ("array", "dim", "kind"),
    "lbound": ("array", "dim", "kind"),
    "ubound": ("array", "dim", "kind"),
    "rank": ("array",),
}


def inquiry(call: Call, lifting: Lifting) -> Array:
    """The reference to an inquiry function as a Scalar or a constructor.  Raises Refusal.

    SHAPE, SIZE, LBOUND, UBOUND and RANK of an expression are told by its extents; of a whole array,
    which has bounds of its own, and of what tells only a type, the reference stays as it is.
    """
    name = call.name
    if not call.args:
        raise Refusal("FT401", f"'{name.upper()}' has no arguments")
    if name in _DUMMIES:
        args = _bound(call)
        return _Question(name, args["array"], args.get("dim"), args.get("kind"), lifting).answer(call)
    type = INQUIRY_TYPES[name]
    if any(key == "kind" for key, _ in split(call.args)):
        raise Refusal("FT403", f"'{name.upper()}' with KIND= is not composed")
    return Scalar(call, type or lifting.lift(split(call.args)[0][1]).type)


def _bound(call: Call) -> dict[str, Expr]:
    """The arguments by name; the first one's is ``array`` whatever the standard calls it."""
    dummies = _DUMMIES[call.name]
    bound: dict[str, Expr] = {}
    for position, (key, value) in enumerate(split(call.args)):
        name = key or (dummies[position] if position < len(dummies) else "")
        name = "array" if name in ("source", "a") else name
        if name not in dummies or name in bound:
            raise Refusal("FT401", f"Reference to {call.name.upper()} is not understood")
        bound[name] = value
    if "array" not in bound:
        raise Refusal("FT401", f"Reference to {call.name.upper()} has no array")
    return bound


class _Question:
    """One reference to SHAPE, SIZE, LBOUND, UBOUND or RANK."""

    def __init__(
        self, name: str, argument: Expr, dim: Expr | None, kind: Expr | None, lifting: Lifting
    ) -> None:
        self.name = name
        self.argument = argument
        self.dim = dim
        self.kind = kind
        self.lifting = lifting
        self.type = INTEGER
        if kind is not None:
            self.type = with_kind(INTEGER, lifting.scope.constant(kind), kind_text(kind))

    def answer(self, call: Call) -> Array:
        """What the reference is.  Raises Refusal."""
        whole = isinstance(self.argument, Name | Component)
        if whole and self.dim is not None and self.name in ("lbound", "ubound"):
            return Scalar(call, self.type)
        array, extents = self._extents()
        if (pack := self._packed(array)) is not None:
            return Apply(Taken(), {"mask": pack.args["mask"]}, INTEGER)
        if self.name == "rank":
            return Scalar(integer(len(extents)), INTEGER)
        if not extents and self.name != "shape":
            raise Refusal("FT401", f"Argument of {self.name.upper()} is no array")
        whole = whole and isinstance(array, Section) and array.whole
        if self.dim is not None:
            known = self.lifting.scope.constant(self.dim)
            if whole and (known is None or self.kind is not None):
                return Scalar(call, self.type)
            return Scalar(self._converted(self._along(extents, known)), self.type)
        if self.name == "size":
            return Scalar(call if whole else self._converted(product(extents)), self.type)
        items: list[Expr]
        if whole and self.name in ("lbound", "ubound"):
            kind = () if self.kind is None else (Keyword("kind", self.kind),)
            items = [Call(self.name, (self.argument, integer(d + 1), *kind)) for d in range(len(extents))]
        else:
            each = [ONE] * len(extents) if self.name == "lbound" else extents
            items = list(map(self._converted, each))
        return Constructor(tuple(Scalar(x, self.type) for x in items), self.type, typed=not items)

    def _along(self, extents: list[Expr], known: int | None) -> Expr:
        """The extent (or lower bound) along DIM, chosen by its value when that is not constant."""
        if known is not None and not 1 <= known <= len(extents):
            raise Refusal("FT402", f"DIM={known} of {self.name.upper()} is not between 1 and {len(extents)}")
        if self.name == "lbound":
            return ONE
        if known is not None:
            return extents[known - 1]
        assert self.dim is not None
        dim = self.lifting.settled(self.dim)
        chosen = extents[-1]
        for d in reversed(range(len(extents) - 1)):
            test = Op("==", (dim, integer(d + 1)))
            chosen = Call("merge", (extents[d], chosen, test))
        return chosen

    def _converted(self, value: Expr) -> Expr:
        if self.kind is None or self.type.kind == 4:
            return value
        return Call("int", (value, self.kind))

    def _extents(self) -> tuple[Array, list[Expr]]:
        """The argument and its extents; what was to be evaluated for its elements only is dropped."""
        lifting = self.lifting
        before = len(lifting.captures)
        with lifting.asking():
            array = lifting.lift(self.argument)
        if (pack := self._packed(array)) is not None:
            extents = [as_source(pack.args["mask"])]
        else:
            extents = [self._told(clipped(x)) for x in shape(array)]
        self._drop(array, extents, before)
        if any(isinstance(x, Reduce | Locate) for x in extents) or _works(array):
            lifting.answered.append(self.name.upper())
        return array, extents

    def _packed(self, array: Array) -> Apply | None:
        """The PACK whose elements SIZE counts: the result of COUNT can be used where it stands."""
        pack = packed(array)
        if pack is None or self.name != "size" or self.kind is not None or not rank(pack.args["mask"]):
            return None
        along = self.dim is None or self.lifting.scope.constant(self.dim) == 1
        return pack if along else None

    def _told(self, extent: Expr) -> Expr:
        """An extent without choices and reductions: COUNT of the mask of a PACK is evaluated once."""

        def visit(x: Expr) -> Expr | None:
            match x:
                case Reduce(origin=Apply() as origin, at=()):
                    return self.lifting.reduced(origin)
                case Select(test, then, other):
                    return Call("merge", (self._told(then), self._told(other), test))
                case _ if isinstance(x, Reduce | Locate | At):
                    raise Refusal("FT403", f"{self.name.upper()} of this expression is not composed")
                case _:
                    return None

        return transform(extent, visit)

    def _drop(self, array: Array, extents: list[Expr], before: int) -> None:
        lifting = self.lifting
        needed = {name for x in extents for name in names(x)}
        for capture in reversed(lifting.captures[before:]):
            if capture.name in needed:
                needed |= names(capture.value)
        dropped = [c for c in lifting.captures[before:] if c.name not in needed]
        kept_whole = isinstance(array, Section) and isinstance(array.base, Name) and any(
            c.name == array.base.id for c in lifting.captures[before:]
        )
        if not kept_whole:
            self._check_pure()
        lifting.captures[before:] = [c for c in lifting.captures[before:] if c not in dropped]

    def _check_pure(self) -> None:
        """Raise Refusal for a function whose effects would be missed."""
        for x in walk(self.argument):
            match x:
                case Call(name) | Ref(Name(name)):
                    meaning = self.lifting.scope.lookup(name)
                    if isinstance(meaning, Procedure | Generic) and not getattr(meaning, "pure", False):
                        what = f"{self.name.upper()} would not evaluate it"
                        raise Refusal("FT405", f"Function '{name}' is not known to be PURE, and {what}")


def _works(array: Array) -> bool:
    """Whether evaluating the array takes more than reading its elements."""
    from fortrans.ir.arrays import Elemental, Implied, Reference

    def items(found: tuple[Array | Implied, ...]) -> bool:
        return any(items(x.items) if isinstance(x, Implied) else _works(x) for x in found)

    match array:
        case Apply() | Reference():
            return True
        case Elemental(operands=operands):
            return any(map(_works, operands))
        case Constructor(items=inner):
            return items(inner)
        case _:
            return False


def kind_text(kind: Expr) -> str:
    """KIND= as it may stand in a type-spec.  Raises Refusal FT203."""
    match kind:
        case Literal(text):
            return text
        case Name(id):
            return id
        case Call("kind", (Literal(text),)):
            return f"kind({text})"
        case Call("kind", (Name(id),)):
            return f"kind({id})"
        case _:
            raise Refusal("FT203", "KIND= argument is not a name or a literal")
