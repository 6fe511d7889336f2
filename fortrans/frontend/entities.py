"""What one identifier is in the scope that declares it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fortrans.frontend.constants import evaluate
from fortrans.frontend.declarations import Fact, TypeSpec, type_spec
from fortrans.frontend.derived import TypeDefinition
from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.stability import keeps_bounds
from fortrans.frontend.tokens import split
from fortrans.frontend.types import dimensions, read, type_at
from fortrans.frontend.units import Unit
from fortrans.ir.expr import ONE, Expr, ImpliedDo, Items, Literal, Op, Opaque, add, integer, sub
from fortrans.ir.symbols import (
    Dimension,
    Generic,
    Intrinsic,
    Meaning,
    Procedure,
    Symbol,
    Unresolved,
)

if TYPE_CHECKING:
    from fortrans.frontend.frames import Frame

_ATTRIBUTES = frozenset(
    "allocatable pointer target parameter optional save volatile asynchronous contiguous value"
    " protected equivalence common codimension namelist".split()
)
_FUNCTION = re.compile(r"\bfunction\b", re.I)
_PREFIX = re.compile(
    r"\s*(?:pure|impure|elemental|recursive|non_recursive|module|simple)\b(?!\s*\()", re.I
)
_TABLE = 200
"""An array constant's initialisation longer than this is not read: nobody needs its values."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """Something that was not seen may bring the name: ``why`` says what."""

    why: str


class Entity:
    """A name that is declared in ``frame`` (or brought there), understood when asked.

    ``interfaces`` is None unless the name is generic; ``parts`` are the entities a generic was
    merged from, not all of them known when ``incomplete``.
    """

    def __init__(
        self,
        frame: Frame,
        name: str,
        *,
        facts: tuple[Fact, ...] = (),
        dummy: bool = False,
        result: bool = False,
        component: bool = False,
        procedure: Unit | None = None,
        interfaces: tuple[Unit, ...] | None = None,
        type: Unit | None = None,
        external: bool = False,
        parts: tuple[Entity, ...] = (),
        incomplete: bool = False,
    ) -> None:
        self.frame = frame
        self.name = name
        self.facts = facts
        self.dummy = dummy
        self.result = result
        self.component = component
        self.procedure = procedure
        self.interfaces = interfaces
        self.type = type
        self.external = external
        self.parts = parts
        self.incomplete = incomplete
        self._followed = False

    @cached_property
    def attributes(self) -> frozenset[str]:
        """All attributes said of the name."""
        return frozenset().union(*(fact.attributes for fact in self.facts))

    @cached_property
    def meaning(self) -> Meaning:
        """What the name is, in the terms of its own scope."""
        if self.frame.unit.broken is not None:
            return Unresolved(self.name, f"its program unit is not read: {self.frame.unit.broken}")
        if self.interfaces is not None:
            return self._generic()
        if self.type is not None:
            return self._derived()
        if self.procedure is not None:
            return self._procedure(self.procedure)
        if self.external:
            return Procedure(self.name, "external", host=self.frame.label)
        if "unknown" in self.attributes:
            return Unresolved(self.name, "it stands in a specification statement that is not understood")
        if "group" in self.attributes:
            return Unresolved(self.name, "it is a NAMELIST group")
        if len({fact.spec for fact in self.facts if fact.spec}) > 1 or (
            len({fact.bounds for fact in self.facts if fact.bounds is not None}) > 1
        ):
            return Unresolved(self.name, "it is declared more than once")
        return self._data()

    def _derived(self) -> Meaning:
        found = None if self.definition is None else self.definition.derived
        return found or Unresolved(self.name, "its type is not known")

    def _data(self) -> Meaning:
        spec = self.spec
        if "intrinsic" in self.attributes and self.name in INTRINSICS:
            return Intrinsic(self.name)
        if self.statement is not None:
            return self._statement_function()
        if (spec is not None and spec.name == "procedure") or "external" in self.attributes:
            return self._external(spec)
        if spec is None:
            if self.dummy:
                return Procedure(self.name, "dummy")
            return Unresolved(self.name, "it has no type declaration")
        return self._symbol(spec)

    # -- data objects

    @cached_property
    def spec(self) -> TypeSpec | None:
        """The type-spec: declared, that of the function's prefix, or implicit."""
        declared = next((fact.spec for fact in self.facts if fact.spec is not None), None)
        if declared is not None:
            return declared
        if self.result and (prefix := prefix_type(self.frame.unit)) is not None:
            return prefix
        return None if self.component else self.frame.rules.type_of(self.name)

    @cached_property
    def bounds(self) -> tuple[str, ...] | None:
        """The array-spec's texts."""
        return next((fact.bounds for fact in self.facts if fact.bounds is not None), None)

    @cached_property
    def value(self) -> Expr | None:
        """The initialisation of a named constant."""
        if "parameter" not in self.attributes:
            return None
        text = next((fact.initial for fact in self.facts if fact.initial is not None), None)
        if not text:  # none given, or another one in each branch of an #if
            return None
        if self.bounds is not None and len(text) > _TABLE:
            return Opaque(text, frozenset())
        return read(text)

    def _symbol(self, spec: TypeSpec) -> Symbol:
        attributes = set(self.attributes & _ATTRIBUTES)
        initialised = any(fact.initial is not None for fact in self.facts)
        if initialised and "parameter" not in attributes and not self.component:
            attributes.add("save")
        for name in ("dummy", "result", "component"):
            if getattr(self, name):
                attributes.add(name)
        if self.result and self.frame.entries:
            attributes.add("equivalence")
        bounds = self.bounds or ()
        assumed_rank = bounds == ("..",)
        deferred = bool(attributes & {"allocatable", "pointer"})
        dims = () if assumed_rank else dimensions(bounds, deferred, "parameter" in attributes)
        if dims and dims[0].form == "implied":
            dims = self._implied(dims)
        keeps = tuple(keeps_bounds(dim, self.frame) for dim in dims)
        return Symbol(
            name=self.name,
            type=type_at(spec, self.frame, self.frame, None if self.component else self.name),
            dims=dims,
            attributes=frozenset(attributes),
            intent=next((fact.intent for fact in self.facts if fact.intent is not None), None),
            origin=self.frame.label,
            value=self.value,
            remote=self.name,
            stable=keeps,
            assumed_rank=assumed_rank,
        )

    def _implied(self, dims: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        """Implied shape of a list of scalar literals is as long as the list."""
        match self.value:
            case Items(items) if len(dims) == 1 and all(map(_scalar_literal, items)):
                lower = dims[0].lower or ONE
                upper = sub(add(lower, integer(len(items))), ONE)
                return (Dimension("explicit", lower, upper),)
        return dims

    @cached_property
    def integer(self) -> int | None:
        """The value of an integer named constant."""
        if self.value is None or self.spec is None or self.spec.name != "integer" or self.bounds:
            return None
        if not isinstance(self.meaning, Symbol) or self.frame.world.busy(self):
            return None
        with self.frame.world.busied(self):
            return evaluate(self.value, self.frame.world.names(self.frame))

    # -- procedures

    def _procedure(self, unit: Unit) -> Meaning:
        frame = self.frame if unit is self.frame.unit else self.frame.frame_of(unit)
        head = frame.head
        if unit.kind == "module procedure" and frame.template is None:
            return Unresolved(self.name, "the interface of this module procedure was not seen")
        if frame.unit.broken is not None:
            return Unresolved(self.name, f"its procedure is not read: {frame.unit.broken}")
        prefix = frame.prefix
        result = frame.own(head.result) if head.result else None
        separate = "module" in prefix
        if unit.kind == "interface body" and not separate:
            form, host = "interface", ""
        elif frame is self.frame:
            form, host = "external", ""
        elif self.frame.unit.kind in ("module", "submodule"):
            form, host = "module", self.frame.label
        else:
            form, host = "internal", self.frame.label
        if self.dummy:
            form = "dummy"
        return Procedure(
            name=self.name,
            form=form,  # type: ignore[arg-type]
            result=_as_symbol(result),
            dummies=tuple(_as_symbol(frame.own(d)) if d != "*" else None for d in head.dummies),
            pure="pure" in prefix or ("elemental" in prefix and "impure" not in prefix),
            elemental="elemental" in prefix,
            host=host,
        )

    def _external(self, spec: TypeSpec | None) -> Meaning:
        """EXTERNAL, or ``procedure(interface)``: as much as its interface says."""
        form = "dummy" if self.dummy else "external"
        if spec is not None and spec.name == "procedure":
            interface = self._interface(spec.derived)
            if interface is None:
                return Procedure(self.name, form)  # type: ignore[arg-type]
            return replace(interface, name=self.name, form=form, host="")  # type: ignore[arg-type]
        typed = next((fact.spec for fact in self.facts if fact.spec is not None), None)
        result = None if typed is None else self._symbol(typed)
        return Procedure(self.name, form, result)  # type: ignore[arg-type]

    def _interface(self, name: str | None) -> Procedure | None:
        """The procedure whose interface ``procedure(name)`` takes; None for one that needs itself."""
        if name is None or self._followed:
            return None
        found, _ = self.frame.trace(name)
        if not isinstance(found, Entity):
            return None
        self._followed = True
        meaning = found.meaning
        self._followed = False
        return meaning if isinstance(meaning, Procedure) else None

    @property
    def statement(self) -> Fact | None:
        """The statement that defines a statement function of that name."""
        return next((fact for fact in self.facts if "statement" in fact.attributes), None)

    def _statement_function(self) -> Meaning:
        assert self.statement is not None
        dummies = []
        for argument in self.statement.arguments:
            entity = self.frame.own(argument) or Entity(self.frame, argument)
            dummies.append(_as_symbol(entity))
        result = None if self.spec is None else self._symbol(self.spec)
        return Procedure(
            self.name, "statement", result, tuple(dummies), host=self.frame.label
        )

    def _generic(self) -> Generic:
        found: list[Procedure] = []
        complete = not self.incomplete
        for entity in self.parts or (self,):
            if entity is not self:
                meaning = entity.meaning
                if isinstance(meaning, Generic):
                    complete = complete and meaning.specifics is not None
                    found += meaning.specifics or ()
                continue
            for specific in self._specifics():
                if isinstance(specific, Procedure):
                    found.append(specific)
                else:
                    complete = False
        known = tuple(found) if complete and found else None
        return Generic(self.name, known, self.name in INTRINSICS)

    def _specifics(self) -> list[Meaning]:
        found: list[Meaning] = []
        listed: list[str] = []
        for interface in self.interfaces or ():
            for body in interface.children:
                found.append(Entity(self.frame, body.name, procedure=body).meaning)
            for statement in interface.specification:
                listed += specific_names(statement.text)
        for name in listed:
            entity, _ = self.frame.trace(name)
            own = self.frame.own(name)
            if own is not None and own.interfaces is not None and own.procedure is not None:
                found.append(own._procedure(own.procedure))
            elif isinstance(entity, Entity):
                found.append(entity.meaning)
            else:
                found.append(Unresolved(name, "it was not seen"))
        return found

    @cached_property
    def result_entity(self) -> Entity | None:
        """Of a function: the result variable's entity."""
        if self.procedure is None:
            return None
        unit = self.procedure
        frame = self.frame if unit is self.frame.unit else self.frame.frame_of(unit)
        return frame.own(frame.head.result) if frame.head.result else None

    # -- derived types

    @cached_property
    def type_entity(self) -> Entity | None:
        """Where the derived type of this data object is defined."""
        spec = self.spec
        if spec is None or spec.name not in ("type", "class") or spec.derived in (None, "*"):
            return None
        found, _ = self.frame.trace((spec.derived or "").partition("(")[0].strip())
        return found.as_type if isinstance(found, Entity) else None

    @property
    def as_type(self) -> Entity | None:
        """The entity that defines the derived type of this name, maybe beside a generic of that name."""
        if self.type is not None:
            return self
        return next((part.as_type for part in self.parts if part.as_type is not None), None)

    @cached_property
    def definition(self) -> TypeDefinition | None:
        """The derived type defined under this name."""
        return None if self.type is None else TypeDefinition(self.frame, self.name, self.type)

    @property
    def components(self) -> Mapping[str, Entity]:
        """The components of the derived type defined under this name."""
        return {} if self.definition is None else self.definition.components


def prefix_type(unit: Unit) -> TypeSpec | None:
    """The type in a FUNCTION statement's prefix."""
    if unit.opening is None:
        return None
    text = unit.opening.text
    match = _FUNCTION.search(text)
    head = text[: match.start()] if match else ""
    while word := _PREFIX.match(head):
        head = head[word.end() :]
    found = type_spec(head.strip())
    return None if found is None else found[0]


def specific_names(text: str) -> tuple[str, ...]:
    """The names in ``[module] procedure [::] names`` of an interface block."""
    match = re.match(r"(?:module\s+)?procedure\b\s*(?:::)?", text, re.I)
    return tuple(name.lower() for name in split(text[match.end() :])) if match else ()


def _scalar_literal(expr: Expr) -> bool:
    match expr:
        case Literal():
            return True
        case Op("-" | "+", (Literal(),)):
            return True
        case ImpliedDo():
            return False
    return False


def _as_symbol(entity: Entity | None) -> Symbol | None:
    if entity is None or not isinstance(entity.meaning, Symbol):
        return None
    return entity.meaning
