"""Names that constructs bring: ASSOCIATE, SELECT TYPE, DO CONCURRENT with a type (F2018 19.4, 11.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.frontend.brought import Given, Unknown
from fortrans.frontend.declarations import Fact, TypeSpec, type_spec
from fortrans.frontend.entities import Entity, Maybe
from fortrans.frontend.frames import Frame
from fortrans.frontend.tokens import NAME, closing, split
from fortrans.frontend.types import read, type_at
from fortrans.frontend.units import Construct, Unit
from fortrans.ir.expr import ONE, Call, Component, Expr, Literal, Name, Op, Range, Ref
from fortrans.ir.symbols import Dimension, Symbol

if TYPE_CHECKING:
    from fortrans.frontend.modules import World
    from fortrans.frontend.units import Program

_KEPT = frozenset("volatile asynchronous protected parameter codimension equivalence common".split())
_GUARD = re.compile(r"(type|class)\s*is\s*\(", re.I)
_RENAMED = re.compile(rf"({NAME})\s*=>\s*(.*)$", re.S)
_INDEX = re.compile(rf"({NAME})\s*=(?!=)")


class Names(Frame):
    """The scope of a construct's names; everything else is its host's."""

    def __init__(
        self, world: World, program: Program, host: Frame, opening: Construct, names: Mapping[str, Make]
    ) -> None:
        super().__init__(world, program, Unit("associate", "", opening.opening, host.unit), host)
        self.unit.broken = host.unit.broken
        self._names = names

    def own(self, name: str) -> Entity | None:
        """The construct's name ``name``, made from its selector in the host's scope."""
        if name not in self._own:
            make = self._names.get(name)
            assert self.host is not None
            self._own[name] = None if make is None else make(self.host)
        return self._own[name]


Make = Callable[[Frame], Entity]


def names_of(construct: Construct) -> Mapping[str, Make]:
    """The names ``construct`` brings, each with how it is made in the scope around."""
    text = construct.opening.text
    start = text.find("(")
    if start < 0:
        return {}
    inside = text[start + 1 : closing(text, start)]
    match construct.kind:
        case "associate":
            found: dict[str, Make] = {}
            for item in split(inside):
                if match := _RENAMED.match(item):
                    found[match.group(1).lower()] = _associated(match.group(1).lower(), match.group(2))
            return found
        case "select type":
            name, selector = _selector(inside)
            return {name: _typed(name, selector, construct)}
        case "select rank":
            name, _ = _selector(inside)
            why = "it is the name of a SELECT RANK construct"
            return {name: lambda host: Unknown(host, name, why)}
        case "do concurrent" | "forall":
            return _indices(inside)
    return {}


def _selector(inside: str) -> tuple[str, str]:
    match = _RENAMED.match(inside.strip())
    if match:
        return match.group(1).lower(), match.group(2)
    return inside.strip().lower(), inside.strip()


def _indices(inside: str) -> Mapping[str, Make]:
    """``integer(k) :: i = 1:n, j = 1:m``: index names that are the construct's own."""
    found = type_spec(inside.lstrip())
    if found is None or not found[1].lstrip().startswith("::"):
        return {}
    spec, rest = found

    def make(name: str) -> Make:
        return lambda host: Entity(host, name, facts=(Fact(name, spec),))

    items = split(rest.lstrip()[2:])
    matches = [_INDEX.match(item) for item in items]
    return {m.group(1).lower(): make(m.group(1).lower()) for m in matches if m}


@dataclass(frozen=True, slots=True)
class Selected:
    """A selector that is a variable: what an associate name takes from it."""

    spec: TypeSpec
    home: Frame
    dims: tuple[Dimension, ...]
    whole: bool
    attributes: frozenset[str]
    entity: Entity
    origin: str


def _associated(name: str, selector: str) -> Make:
    def make(host: Frame) -> Entity:
        found = select(read(selector), host)
        if isinstance(found, str):
            return Unknown(host, name, found)
        return _given(name, found, found.spec, found.home, host)

    return make


def _typed(name: str, selector: str, construct: Construct) -> Make:
    def make(host: Frame) -> Entity:
        unknown = Unknown(host, name, "it is the name of a SELECT TYPE construct")
        found = select(read(selector), host)
        if isinstance(found, str) or construct.guard is None:
            return unknown
        text = construct.guard.text
        match = _GUARD.match(text)
        if match is None:
            return _given(name, found, found.spec, found.home, host)
        inside = text[match.end() : closing(text, match.end() - 1)].strip()
        intrinsic = type_spec(inside) if match.group(1).lower() == "type" else None
        spec = intrinsic[0] if intrinsic else TypeSpec(match.group(1).lower(), derived=inside.lower())
        return _given(name, found, spec, host, host)

    return make


def _given(name: str, found: Selected, spec: TypeSpec, home: Frame, host: Frame) -> Entity:
    symbol = Symbol(
        name=name,
        type=type_at(spec, home, host, name),
        dims=found.dims,
        attributes=found.attributes | {"associate"},
        origin=found.origin,
        remote=name,
        stable=tuple(dim.form == "assumed" for dim in found.dims),
    )
    return Given(host, symbol, spec, home)


def select(expr: Expr, host: Frame) -> Selected | str:
    """The variable ``expr`` names in ``host``, or why it cannot be told (a clause)."""
    match expr:
        case Name(id):
            return _variable(id, host)
        case Component(base, name):
            holder = select(base, host)
            return holder if isinstance(holder, str) else _component(holder, name)
        case Ref(base, subscripts):
            array = select(base, host)
            return array if isinstance(array, str) else _section(array, subscripts, host)
    return "it stands for an expression in ASSOCIATE"


def _variable(name: str, host: Frame) -> Selected | str:
    found, how = host.trace(name)
    if isinstance(found, Maybe):
        return found.why
    if found is None or not isinstance(found.meaning, Symbol):
        return f"its selector '{name}' is no variable that is known"
    symbol = found.meaning
    if symbol.assumed_rank:
        return f"its selector '{name}' has assumed rank"
    spec = found.given if isinstance(found, Given) else found.spec
    home = found.of if isinstance(found, Given) else found.frame
    if spec is None:
        return f"its selector '{name}' has no type that is known"
    attributes = symbol.attributes & _KEPT | how | host.added(name) & _KEPT
    if symbol.attributes & {"target", "pointer"}:
        attributes |= {"target"}
    dims = tuple(map(_bounds, symbol.dims))
    return Selected(spec, home, dims, True, attributes, found, symbol.origin)


def _bounds(dimension: Dimension) -> Dimension:
    """A whole array's dimension under another name: its lower bound, where that is a constant."""
    match dimension.lower:
        case Literal() | Op("-", (Literal(),)) as lower:
            return Dimension("assumed", lower)
    return Dimension("deferred")


def _component(holder: Selected, name: str) -> Selected | str:
    kind = holder.entity.type_entity
    part = None if kind is None else kind.components.get(name)
    if part is None or not isinstance(part.meaning, Symbol) or part.spec is None:
        return f"component '{name}' of its selector is not known"
    symbol = part.meaning
    attributes = holder.attributes
    if "pointer" in symbol.attributes:
        attributes |= {"target"}
    ranked = holder.dims or tuple(map(_bounds, symbol.dims))
    if holder.dims:
        ranked = tuple(Dimension("assumed", ONE) for _ in holder.dims)
    return replace(
        holder,
        spec=part.spec,
        home=part.frame,
        dims=ranked,
        whole=not holder.dims,
        attributes=attributes,
        entity=part,
    )


def _section(array: Selected, subscripts: tuple[Expr, ...], host: Frame) -> Selected | str:
    if len(subscripts) != len(array.dims) or not array.whole:
        return "its selector is no section that can be read"
    rank = 0
    for subscript in subscripts:
        own = 1 if isinstance(subscript, Range) else rank_of(subscript, host)
        if own is None:
            return "its selector has a subscript of unknown rank"
        rank += own
    return replace(array, dims=tuple(Dimension("assumed", ONE) for _ in range(rank)), whole=False)


def rank_of(expr: Expr, host: Frame) -> int | None:
    """The rank of a subscript; None when it is not plain."""
    match expr:
        case Literal():
            return 0
        case Name() | Ref() | Component():
            found = select(expr, host)
            return None if isinstance(found, str) else len(found.dims)
        case Op(_, args):
            ranks = [rank_of(x, host) for x in args]
            known = [rank for rank in ranks if rank is not None]
            return max(known) if len(known) == len(ranks) else None
        case Call("size" | "lbound" | "ubound", (_, _)):
            return 0
    return None
