"""Entities that no declaration makes: undecided ones, those of constructs, merged generics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fortrans.frontend.declarations import TypeSpec
from fortrans.frontend.entities import Entity
from fortrans.ir.symbols import Meaning, Symbol, Unresolved

if TYPE_CHECKING:
    from fortrans.frontend.frames import Frame


class Unknown(Entity):
    """A name that cannot be decided."""

    def __init__(self, frame: Frame, name: str, why: str) -> None:
        super().__init__(frame, name)
        self.why = why

    @cached_property
    def meaning(self) -> Meaning:
        return Unresolved(self.name, self.why)


class Given(Entity):
    """A name whose symbol is made by a construct; ``of`` is what its derived type is that of."""

    def __init__(self, frame: Frame, symbol: Symbol, spec: TypeSpec | None, of: Frame) -> None:
        super().__init__(frame, symbol.name)
        self.symbol = symbol
        self.given = spec
        self.of = of

    @cached_property
    def meaning(self) -> Meaning:
        return self.symbol

    @cached_property
    def type_entity(self) -> Entity | None:
        if self.given is None or self.given.derived in (None, "*"):
            return None
        found, _ = self.of.trace((self.given.derived or "").partition("(")[0].strip())
        return found.as_type if isinstance(found, Entity) else None


def merged(frame: Frame, name: str, found: tuple[Entity, ...], incomplete: bool) -> Entity:
    """One entity for all that come under one name: generics merge, a type may stand beside them."""
    if len(found) == 1 and (found[0].interfaces is None or not incomplete):
        return found[0]
    types = {id(entity.as_type) for entity in found if entity.as_type is not None}
    generic = [entity for entity in found if entity.interfaces is not None]
    if len(types) > 1 or any(e.interfaces is None and e.as_type is None for e in found):
        return Unknown(frame, name, "it comes from more than one place")
    if not generic:
        return found[0]
    listed = tuple(units for entity in generic for units in entity.interfaces or ())
    return Entity(frame, name, interfaces=listed, parts=found, incomplete=incomplete)
