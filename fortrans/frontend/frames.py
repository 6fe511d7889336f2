"""Scoping units and what their statements declare (F2018 19.3 to 19.5).

A frame reads of its specification part only which words each statement holds; a statement is
understood when one of its names is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from fortrans.frontend.associations import Implicit
from fortrans.frontend.brought import Unknown, merged
from fortrans.frontend.declarations import ACCESS, ADDED, Fact, alike, declares, facts, statement_function
from fortrans.frontend.entities import Entity, Maybe
from fortrans.frontend.intrinsic_modules import may_bring
from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.lines import Statement
from fortrans.frontend.specification import ENTRY, Entry, Group, SpecificationPart
from fortrans.frontend.tokens import NAME, bare, words
from fortrans.frontend.units import Program, Unit

if TYPE_CHECKING:
    from fortrans.frontend.modules import World
    from fortrans.frontend.operators import Defined

CONDITIONAL = "it is declared under '#if'"
SUBPROGRAMS = frozenset({"subroutine", "function", "module procedure"})
_CONSTRUCTS = frozenset({"block", "associate"})
_CALLED = re.compile(r"%\s*[a-z]\w*|(?<![\w$])([a-z]\w*)\s*\(", re.I)
Found = Entity | Maybe | None


class Frame:
    """One scoping unit: a program unit, subprogram, interface body or BLOCK."""

    def __init__(self, world: World, program: Program, unit: Unit, host: Frame | None) -> None:
        self.world = world
        self.program = program
        self.unit = unit
        self.host = host
        self._own: dict[str, Entity | None] = {}
        self._used: dict[str, Found] = {}
        self._traced: dict[str, tuple[Found, frozenset[str]]] = {}
        self._pending: set[str] = set()
        self.exports: Defined | None = None

    @property
    def label(self) -> str:
        """``module m``, ``subroutine s``: what ``Symbol.origin`` says."""
        unit = self.unit.program_unit if self.unit.kind in _CONSTRUCTS else self.unit
        return f"{unit.procedure or unit.kind} {unit.name}".strip()

    @cached_property
    def unit_frame(self) -> Frame:
        """The frame of the program unit or subprogram this one belongs to."""
        frame = self
        while frame.unit.kind in _CONSTRUCTS and frame.host is not None:
            frame = frame.host
        return frame

    # -- the specification part, read once

    @cached_property
    def _part(self) -> SpecificationPart:
        return SpecificationPart(self)

    @property
    def rules(self) -> Implicit:
        """The implicit typing rules in force."""
        return self._part.rules

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The ENTRY statements."""
        return tuple(self._part.entries)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The USE statements, by module."""
        return self._part.groups

    @property
    def includes(self) -> tuple[str, ...]:
        """The names of the files included in the specification part."""
        return tuple(self._part.includes)

    @property
    def default_public(self) -> bool:
        """Whether names are PUBLIC unless said otherwise."""
        return self._part.default_public

    def is_conditional(self, statement: Statement) -> bool:
        """Whether ``statement`` depends on the preprocessor where its unit does not."""
        if statement.sentinel or statement.conditional:
            return True
        if statement.ordinal not in self.program.conditional:
            return False
        unit = self.unit.program_unit
        reference = unit.contains or unit.opening
        branches = self.world.branches(self.program)
        own = branches[statement.ordinal]
        if own != (branches[reference.ordinal] if reference else ())[: len(own)]:
            return True
        macros = self.program.macros
        return bool(macros) and not macros.isdisjoint(re.findall(NAME, statement.text))

    def facts(self, name: str) -> tuple[tuple[Fact, bool], ...]:
        """What the specification part says about ``name``, each with whether under ``#if``."""
        found = []
        for statement in self._part.index.get(name, ()):
            for fact in facts(statement.text):
                if fact.name == name:
                    found.append((fact, self.is_conditional(statement)))
        return tuple(found)

    def added(self, name: str) -> frozenset[str]:
        """VOLATILE and ASYNCHRONOUS given here to a name that comes from elsewhere (8.5.4)."""
        said = [fact.attributes for fact, _ in self.facts(name)]
        return frozenset().union(*said) & ADDED if said else frozenset()

    # -- children

    @cached_property
    def subprograms(self) -> dict[str, Unit]:
        """The contained subprograms by name."""
        return {c.name: c for c in self.unit.children if c.kind in SUBPROGRAMS}

    @cached_property
    def types(self) -> dict[str, Unit]:
        """The derived types defined here."""
        return {c.name: c for c in self.unit.children if c.kind == "type"}

    @cached_property
    def interfaces(self) -> tuple[Unit, ...]:
        """The interface blocks."""
        return tuple(c for c in self.unit.children if c.kind == "interface")

    @cached_property
    def generics(self) -> dict[str, tuple[Unit, ...]]:
        """Interface blocks by generic spec, ``operator(+)`` and the like without blanks."""
        found: dict[str, tuple[Unit, ...]] = {}
        for interface in self.interfaces:
            name = "".join(interface.name.split())
            if name:
                found[name] = (*found.get(name, ()), interface)
        for statement in self._part.generic_statements:
            name = "".join(statement.partition("=>")[0].partition("::")[2].split()).lower()
            found.setdefault(name, ())
        return found

    @cached_property
    def bodies(self) -> dict[str, Unit]:
        """Interface bodies by name."""
        return {body.name: body for block in self.interfaces for body in block.children}

    def frame_of(self, unit: Unit) -> Frame:
        """The frame of a child unit."""
        return self.world.frame(self.program, unit, self)

    @cached_property
    def template(self) -> Frame | None:
        """Of a separate module procedure's body: the frame of its interface body (15.6.2.5)."""
        if self.unit.kind != "module procedure" or self.host is None:
            return None
        frame: Frame | None = self.host
        while frame is not None:
            body = frame.bodies.get(self.unit.name)
            if body is not None and "module" in body.prefix:
                return frame.frame_of(body)
            frame = frame.host
        return None

    @property
    def head(self) -> Unit:
        """The unit whose opening statement tells dummies, result and prefix."""
        return self.template.unit if self.template is not None else self.unit

    @cached_property
    def prefix(self) -> frozenset[str]:
        """The words before FUNCTION or SUBROUTINE."""
        return frozenset(self.head.prefix)

    # -- names

    def own(self, name: str) -> Entity | None:
        """What ``name`` is declared to be in this very scope."""
        if name not in self._own:
            self._own[name] = self._declared(name)
        return self._own[name]

    def _declared(self, name: str) -> Entity | None:
        unit = self.unit
        said = self.facts(name)
        declaring = tuple((f, c) for f, c in said if declares(f))
        dummies = set(unit.dummies).union(*(entry.dummies for entry in self.entries))
        dummy = name in dummies
        result = unit.result == name and "function" in (unit.kind, unit.procedure)
        result = result or (any(name in (e.name, e.result) for e in self.entries) and bool(unit.result))
        procedure = self.subprograms.get(name) or self.bodies.get(name)
        if procedure is None and name == unit.name and not (result or dummy or self.host):
            procedure = unit if unit.kind in SUBPROGRAMS else None
        if procedure is None and not result and any(name == e.name for e in self.entries):
            return Entity(self, name, external=True)
        generics = self.generics.get(name)
        type_ = self.types.get(name)
        function = self._statement_functions.get(name)
        if function is not None and not any(fact.bounds is not None for fact, _ in declaring):
            declaring = (*declaring, (function, False))
            said = (*said, (function, False))
        interface = self.template
        arguments = (*interface.unit.dummies, interface.unit.result) if interface else ()
        if interface is not None and name in arguments and not (declaring or procedure):
            return interface.own(name)
        if not (declaring or dummy or result or procedure or type_ or generics is not None):
            return None
        units = [u for u in (procedure, type_, *(generics or ())) if u is not None and u is not unit]
        conditional = any(c for _, c in declaring) or any(
            u.opening is not None and self.is_conditional(u.opening) for u in units
        )
        if conditional:
            if units or not alike(declaring):
                return Unknown(self, name, CONDITIONAL)
            said = tuple((replace(fact, initial=""), c) for fact, c in declaring)
        return Entity(
            self,
            name,
            facts=tuple(fact for fact, _ in said),
            dummy=dummy,
            result=result,
            procedure=procedure,
            interfaces=generics,
            type=type_,
        )

    @cached_property
    def _statement_functions(self) -> dict[str, Fact]:
        """Assignments before any other executable statement that define statement functions."""
        if self.unit.kind in ("module", "interface body") or self.unit.kind in _CONSTRUCTS:
            return {}
        found = {}
        for executable in self.world.executables(self.program, self.unit):
            if executable.kind != "assignment" or executable.constructs or executable.condition:
                break
            fact = statement_function(executable.statement.text)
            if fact is None:
                break
            found[fact.name] = fact
        return found

    def used(self, name: str) -> Found:
        """What the USE statements (and INCLUDE lines) of this scope bring under ``name``."""
        if name in self._used:
            return self._used[name]
        if name in self._pending:
            return None
        self._pending.add(name)
        try:
            self._used[name] = self._brought(name)
        finally:
            self._pending.discard(name)
        return self._used[name]

    def _brought(self, name: str) -> Found:
        found: list[Entity] = []
        maybe: Maybe | None = None
        for group in self._part.groups:
            module = self.world.module(group.module, group.nature)
            for remote, listed in group.remotes(name):
                answer = self._from(module, group, remote, listed, name)
                if isinstance(answer, Maybe):
                    maybe = answer
                elif answer is not None and all(answer is not other for other in found):
                    found.append(answer)
        if not found:
            for file in self._part.includes:
                if may_bring(file, name):
                    maybe = Maybe(f"the included file '{file}' was not seen")
            return maybe
        return merged(self, name, tuple(found), maybe is not None)

    def _from(
        self, module: Frame | None, group: Group, remote: str, listed: bool, name: str
    ) -> Found:
        """What one group of USE statements brings as ``name``."""
        if module is None:
            why = self.world.missing(group.module)
            if listed:
                return Unknown(self, name, why)
            return Maybe(why) if may_bring(group.module, name) else None
        answer = module.exported(remote)
        if isinstance(answer, Maybe) and listed:
            return Unknown(self, name, answer.why)
        if answer is None and listed:
            return Unknown(self, name, f"module '{group.module}' brings no such name")
        if isinstance(answer, Entity) and group.conditional:
            return Unknown(self, name, CONDITIONAL)
        return answer

    def here(self, name: str) -> Found:
        """Declared here or brought here by USE; generics of both are one."""
        own = self.own(name)
        if own is None:
            return self.used(name)
        if own.interfaces is None or isinstance(own, Unknown):
            return own
        match self.used(name):
            case Entity() as used if used is not own:
                return merged(self, name, (own, used), False)
            case Maybe():
                return merged(self, name, (own,), True)
        return own

    def exported(self, name: str) -> Found:
        """What a USE of this module finds under ``name``."""
        if self.unit.broken is not None:
            return Maybe(f"module '{self.unit.name}' could not be read")
        return self.here(name) if self.is_public(name) else None

    def is_public(self, name: str) -> bool:
        """Accessibility (8.5.2, 8.6.1)."""
        said = frozenset().union(*(fact.attributes for fact, _ in self.facts(name)))
        kind = self.types.get(name)
        if kind is not None and kind.opening is not None:
            said |= frozenset(words(kind.opening.text.partition("::")[0]))
        if said & ACCESS:
            return "public" in said
        return self._part.default_public

    def is_public_operator(self, spec: str) -> bool:
        """Accessibility of a generic spec, which the index of words does not know by its name."""
        for statement in self._part.access:
            for fact in facts(statement.text):
                if fact.name == spec:
                    return "public" in fact.attributes
        return self._part.default_public

    def trace(self, name: str) -> tuple[Found, frozenset[str]]:
        """What ``name`` means here, with ``use`` and ``host`` telling how it came here."""
        if name not in self._traced:
            self._traced[name] = self._trace(name)
        return self._traced[name]

    def _trace(self, name: str) -> tuple[Found, frozenset[str]]:
        found = self.here(name)
        if isinstance(found, Entity):
            own = self.own(name) is not None
            if own and found.interfaces is not None and self.host is not None:
                outer, _ = self.host.trace(name) if self._imports(name) else (None, None)
                if isinstance(outer, Entity) and outer.interfaces is not None:
                    found = merged(self, name, (found, outer), False)
            return found, frozenset() if own else frozenset({"use"})
        if isinstance(found, Maybe) and not (self.world.assume_intrinsics and name in INTRINSICS):
            return found, frozenset()
        if self.unit.kind == "submodule" and self.host is None:
            return Maybe(f"submodule's parent '{self.unit.ancestor}' was not seen"), frozenset()
        if self.host is None or not self._imports(name):
            return None, frozenset()
        outer, how = self.host.trace(name)
        return outer, how if self.unit.kind in _CONSTRUCTS else how | {"host"}

    def _imports(self, name: str) -> bool:
        """Whether host association can bring ``name`` (19.5.1.4, IMPORT)."""
        explicit = self.unit.kind == "interface body" and "module" not in self.unit.prefix
        return self._part.imported(name, explicit)

    # -- how names are used

    @cached_property
    def called(self) -> frozenset[str]:
        """Names followed by a parenthesis in the unit's own statements."""
        found: set[str] = set()
        for statement in self.statements():
            if "(" in statement.text and not ENTRY.match(statement.text):
                found.update(_CALLED.findall(bare(statement.text).lower()))
        return frozenset(found)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Every word of the unit's own statements."""
        return frozenset(word for s in self.statements() for word in words(s.text))

    def statements(self) -> Iterator[Statement]:
        """The unit's statements without those of contained subprograms."""
        unit = self.unit_frame.unit
        everything = self.program.statements
        if unit.opening is None:
            first = min(
                [s.ordinal for s in unit.specification]
                + [e.statement.ordinal for e in self.world.executables(self.program, unit)[:1]],
                default=0,
            )
        else:
            first = unit.opening.ordinal + 1
        last = unit.contains or unit.closing
        end = len(everything) if last is None else last.ordinal
        return iter(everything[first:end])
