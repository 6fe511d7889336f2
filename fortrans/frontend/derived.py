"""Derived-type definitions: components, bindings, inheritance (F2018 7.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from fortrans.frontend.declarations import Fact, TypeSpec, facts
from fortrans.frontend.lines import Statement
from fortrans.frontend.tokens import NAME, bare, split
from fortrans.frontend.units import Unit
from fortrans.ir.symbols import DerivedType, Symbol

if TYPE_CHECKING:
    from fortrans.frontend.entities import Entity
    from fortrans.frontend.frames import Frame

_EXTENDS = re.compile(rf"\bextends\s*\(\s*({NAME})\s*\)", re.I)
_BOUND = re.compile(r"procedure\b\s*(?:\([^)]*\))?", re.I)


class TypeDefinition:
    """The derived type that ``unit`` defines in ``frame``."""

    def __init__(self, frame: Frame, name: str, unit: Unit) -> None:
        self.frame = frame
        self.name = name
        self.unit = unit

    @cached_property
    def parent(self) -> TypeDefinition | None:
        """The type this type extends."""
        from fortrans.frontend.entities import Entity

        name = self._parent_name
        if name is None:
            return None
        found, _ = self.frame.trace(name)
        kind = found.as_type if isinstance(found, Entity) else None
        return None if kind is None or kind.definition is self else kind.definition

    @property
    def _parent_name(self) -> str | None:
        assert self.unit.opening is not None
        match = _EXTENDS.search(self.unit.opening.text.partition("::")[0])
        return match.group(1).lower() if match else None

    @cached_property
    def components(self) -> Mapping[str, Entity]:
        """The data components, inherited ones and the parent component included (7.5.7.2)."""
        from fortrans.frontend.entities import Entity

        found: dict[str, Entity] = {}
        if self.parent is not None and not self.frame.world.busy(self):
            with self.frame.world.busied(self):
                found.update(self.parent.components)
            name = self.parent.name if self._parent_name is None else self._parent_name
            fact = Fact(name, TypeSpec("type", derived=name))
            found[name] = Entity(self.frame, name, facts=(fact,), component=True)
        unsure: set[str] = set()
        for statement in self.unit.specification:
            if _after(statement, self.unit) or _BOUND.match(statement.text):
                continue
            for fact in facts(statement.text):
                if (fact.name in found and fact.name in unsure) or self.frame.is_conditional(statement):
                    unsure.add(fact.name)
                if fact.spec is not None and not fact.attributes & {"kind", "len"}:
                    found[fact.name] = Entity(
                        self.frame, fact.name, facts=(fact,), component=True
                    )
        return {name: entity for name, entity in found.items() if name not in unsure}

    @cached_property
    def bindings(self) -> tuple[frozenset[str], frozenset[str], bool]:
        """Names bound to the type, its own generic specs, and whether it has FINAL procedures."""
        names: set[str] = set()
        specs: set[str] = set()
        final = False
        for statement in self.unit.specification:
            text = bare(statement.text)
            low = text.lower()
            if low.startswith("procedure"):
                listed = text.partition("::")[2] or _BOUND.sub("", text, count=1)
                names.update(part.partition("=>")[0].strip().lower() for part in split(listed))
            elif low.startswith("generic"):
                spec = "".join(text.partition("=>")[0].partition("::")[2].split()).lower()
                (specs if "(" in spec else names).add(spec)
            elif re.match(r"final\b", low) and _after(statement, self.unit):
                final = True
        return frozenset(names), frozenset(specs), final

    def inherits(self, seen: frozenset[int] = frozenset()) -> tuple[bool, bool]:
        """Whether assignment is type-bound, and whether finalization runs, here or in any part."""
        if id(self) in seen:
            return False, False
        seen |= {id(self)}
        _, specs, final = self.bindings
        assignment = "assignment(=)" in specs
        if self._parent_name is not None and self.parent is None:
            return True, True
        kinds = [entity.type_entity for entity in self.components.values()]
        for part in [self.parent, *(kind.definition for kind in kinds if kind is not None)]:
            if part is not None:
                a, f = part.inherits(seen)
                assignment, final = assignment or a, final or f
        return assignment, final

    @cached_property
    def derived(self) -> DerivedType | None:
        """The derived type, its components in the terms of the scopes that declare them."""
        if self.unit.opening is None:
            return None
        assignment, final = self.inherits()
        bound, _, _ = self.bindings
        above, seen = self.parent, {id(self)}
        while above is not None and id(above) not in seen:
            seen.add(id(above))
            bound |= above.bindings[0]
            above = above.parent
        head = self.unit.opening.text
        after = head.partition("::")[2] or head
        return DerivedType(
            name=self.name,
            components={
                name: entity.meaning
                for name, entity in self.components.items()
                if isinstance(entity.meaning, Symbol)
            },
            bound=bound,
            assignment=assignment,
            finalizer=final,
            parameterized=re.search(rf"\b{self.name}\s*\(", after, re.I) is not None,
        )


def _after(statement: Statement, unit: Unit) -> bool:
    """Whether a statement of a derived type stands after its CONTAINS."""
    return unit.contains is not None and statement.ordinal > unit.contains.ordinal
