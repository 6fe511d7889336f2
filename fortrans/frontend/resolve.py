"""What each name means at each executable statement: ``resolve(program, modules).at(executable)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from fortrans.frontend.brought import Given
from fortrans.frontend.constants import evaluate
from fortrans.frontend.constructs import Names, names_of
from fortrans.frontend.declarations import TypeSpec
from fortrans.frontend.entities import Entity, Maybe
from fortrans.frontend.frames import Frame
from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.modules import ModuleIndex, World
from fortrans.frontend.operators import ASSIGNMENT, Defined, operators, visible
from fortrans.frontend.tokens import bare, closing, colon
from fortrans.frontend.types import same, type_at
from fortrans.frontend.units import Executable, Program, Unit
from fortrans.ir.expr import Expr, Name, integer, names, transform
from fortrans.ir.symbols import (
    DerivedType,
    Dimension,
    Generic,
    Intrinsic,
    Meaning,
    Procedure,
    Symbol,
    Unresolved,
)


class Scopes:
    """The scopes of one program.  Nothing is worked out before it is asked for."""

    def __init__(self, program: Program, world: World) -> None:
        self.program = program
        self.world = world
        self.homes = Homes()
        self._views: dict[object, View] = {}
        self._frames: dict[object, Frame] = {}

    def at(self, executable: Executable) -> View:
        """The scope at ``executable``, its BLOCK, ASSOCIATE and SELECT TYPE constructs included."""
        unit = executable.unit.program_unit
        frame = self.world.frame_in(self.program, unit)
        path: tuple[object, ...] = (id(unit),)
        for construct in executable.constructs:
            guard = construct.guard.ordinal if construct.guard is not None else -1
            path = (*path, construct.key, guard if construct.kind == "select type" else -1)
            if path not in self._frames:
                if construct.kind == "block":
                    block = _unit_of(unit, construct.opening.ordinal)
                    inner = frame if block is None else Frame(self.world, self.program, block, frame)
                else:
                    brought = names_of(construct)
                    inner = frame
                    if brought:
                        inner = Names(self.world, self.program, frame, construct, brought)
                self._frames[path] = inner
            frame = self._frames[path]
        return self.view(frame)

    def view(self, frame: Frame) -> View:
        """The scope a frame makes."""
        if id(frame) not in self._views:
            self._views[id(frame)] = View(frame, self.homes)
        return self._views[id(frame)]

    def of(self, unit: Unit) -> View:
        """The scope of a whole program unit or subprogram."""
        return self.view(self.world.frame_in(self.program, unit))


def resolve(program: Program, modules: ModuleIndex, assume_intrinsics: bool = False) -> Scopes:
    """The scopes of ``program``, whose USE statements find their modules in ``modules``.

    Modules of ``program`` itself are added to the index when they are not there.
    ``assume_intrinsics``: modules that were not seen bring no name of an intrinsic procedure.
    """
    modules.add(program)
    return Scopes(program, modules.world(assume_intrinsics))


def _unit_of(unit: Unit, ordinal: int) -> Unit | None:
    """The BLOCK in ``unit`` that the statement ``ordinal`` opens."""
    for child in unit.children:
        if child.kind in ("block", "associate"):
            if child.opening is not None and child.opening.ordinal == ordinal:
                return child
            if (found := _unit_of(child, ordinal)) is not None:
                return found
    return None


class Homes:
    """Which declaration a symbol comes from: so that its derived type can be found again."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str, str | None], Entity | None] = {}
        self._by_id: dict[int, tuple[Symbol, Entity]] = {}

    def keep(self, symbol: Symbol, entity: Entity) -> Symbol:
        """Remember that ``symbol`` is ``entity``."""
        if symbol.type.derived is not None:
            self._by_id[id(symbol)] = (symbol, entity)
            key = _key(symbol)
            known = self._by_key.setdefault(key, entity)
            if known is not None and known.type_entity is not entity.type_entity:
                self._by_key[key] = None
        return symbol

    def entity(self, symbol: Symbol) -> Entity | None:
        """The declaration of ``symbol``, or of the only one like it."""
        found = self._by_id.get(id(symbol))
        return found[1] if found is not None else self._by_key.get(_key(symbol))


def _key(symbol: Symbol) -> tuple[str, str, str | None]:
    return symbol.origin, symbol.remote or symbol.name, symbol.type.derived


@dataclass(eq=False)
class View:
    """``ir.symbols.Scope`` for one frame: the same answers, spelled for this place."""

    frame: Frame
    homes: Homes

    def __post_init__(self) -> None:
        self._meanings: dict[str, Meaning] = {}
        self._types: dict[int, DerivedType | None] = {}

    @property
    def unit(self) -> str:
        """The innermost program unit or subprogram: ``subroutine s``."""
        return self.frame.unit_frame.label

    @property
    def pure(self) -> bool:
        """Whether that unit is PURE (or ELEMENTAL without IMPURE)."""
        prefix = self.frame.unit_frame.prefix
        return "pure" in prefix or ("elemental" in prefix and "impure" not in prefix)

    def lookup(self, name: str) -> Meaning:
        """What ``name`` (any case) means here."""
        name = name.lower()
        if name not in self._meanings:
            self._meanings[name] = self._lookup(name)
        return self._meanings[name]

    def _lookup(self, name: str) -> Meaning:
        if self.frame.unit_frame.unit.broken is not None:
            return Unresolved(name, f"its program unit is not read: {self.frame.unit_frame.unit.broken}")
        found, how = self.frame.trace(name)
        match found:
            case Maybe(why):
                return Unresolved(name, why)
            case None:
                return self._undeclared(name)
        return self._adapted(found, name, how)

    def _adapted(self, entity: Entity, name: str, how: frozenset[str]) -> Meaning:
        meaning = entity.meaning
        match meaning:
            case Symbol():
                symbol = self._symbol(entity, meaning, name, how)
                if self._is_function(symbol):
                    form = "dummy" if "dummy" in symbol.attributes else "external"
                    return Procedure(name, form, symbol)  # type: ignore[arg-type]
                return symbol
            case Procedure():
                return replace(meaning, name=name, result=self._result(entity, meaning))
            case Generic() | Unresolved():
                return replace(meaning, name=name)
            case DerivedType():
                return self._type(entity) or Unresolved(name, "it is a type that is not known")
        return meaning

    def _symbol(
        self, entity: Entity, symbol: Symbol, name: str | None, how: frozenset[str] = frozenset()
    ) -> Symbol:
        """``symbol`` as it is seen here; ``name`` None for a component."""
        spec, home = _declared(entity)
        type = symbol.type if spec is None else type_at(spec, home, self.frame, name)
        dims, stable = symbol.dims, symbol.stable
        if dims and home is not self.frame and not isinstance(entity, Given):
            dims = tuple(self._dimension(dim, home) for dim in dims)
            stable = tuple(
                keeps and self._repeatable(dim, home) for keeps, dim in zip(stable, dims)
            )
        attributes = symbol.attributes | how
        if name is not None:
            for frame in self._inner(entity):
                attributes |= frame.added(name)
        seen = replace(
            symbol,
            name=symbol.name if name is None else name,
            type=type,
            dims=dims,
            stable=stable,
            attributes=attributes,
            remote=symbol.remote or entity.name,
        )
        return self.homes.keep(seen, entity)

    def _inner(self, entity: Entity) -> list[Frame]:
        """The scopes from here out to the one that declares ``entity``."""
        found: list[Frame] = []
        frame: Frame | None = self.frame
        while frame is not None:
            found.append(frame)
            if frame is entity.frame:
                break
            frame = frame.host
        return found

    def _dimension(self, dim: Dimension, home: Frame) -> Dimension:
        """Named constants that mean something else here, or nothing, give way to their values."""

        def visit(x: Expr) -> Expr | None:
            if isinstance(x, Name) and not same(x.id, home, self.frame):
                value = home.world.names(home).integer(x.id)
                return None if value is None else integer(value)
            return None

        return replace(
            dim,
            lower=None if dim.lower is None else transform(dim.lower, visit),
            upper=None if dim.upper is None else transform(dim.upper, visit),
        )

    def _repeatable(self, dim: Dimension, home: Frame) -> bool:
        given = [bound for bound in (dim.lower, dim.upper) if bound is not None]
        return all(same(name, home, self.frame) for bound in given for name in names(bound))

    def _result(self, entity: Entity, procedure: Procedure) -> Symbol | None:
        """The result of a function, its type spelled for this place."""
        if procedure.result is None:
            return None
        home = entity.result_entity
        if home is None:
            return procedure.result
        return self._symbol(home, procedure.result, None)

    def _is_function(self, symbol: Symbol) -> bool:
        """Whether a declared scalar is used as a function: external, or a dummy procedure."""
        if symbol.dims or symbol.assumed_rank or symbol.name not in self.frame.unit_frame.called:
            return False
        if symbol.attributes & {"parameter", "allocatable", "pointer", "associate", "codimension"}:
            return False
        return symbol.type.name != "character" or self._is_called_with_arguments(symbol.name)

    def _is_called_with_arguments(self, name: str) -> bool:
        """Of a character: whether it is ever followed by anything but a substring range."""
        for statement in self.frame.unit_frame.statements():
            text = bare(statement.text).lower()
            at = text.find(name)
            while at >= 0:
                after = at + len(name)
                alone = not (at and (text[at - 1].isalnum() or text[at - 1] in "_%"))
                rest = text[after:].lstrip()
                if alone and rest.startswith("(") and colon(rest[1 : closing(rest, 0)]) < 0:
                    return True
                at = text.find(name, after)
        return False

    def _undeclared(self, name: str) -> Meaning:
        frame = self.frame.unit_frame
        spec = frame.rules.type_of(name)
        called = name in frame.called
        if spec is None:
            if name in INTRINSICS:
                return Intrinsic(name)
            if called:
                return Procedure(name, "external")
            return Unresolved(name, "it is not declared")
        if name in INTRINSICS and (called or name not in frame.mentioned):
            return Intrinsic(name)
        owner = self._owner(name)
        entity = Entity(owner, name)
        how = frozenset() if owner is frame else frozenset({"host"})
        if not isinstance(entity.meaning, Symbol):
            return Unresolved(name, "it is not declared")
        added = owner.added(name) or frozenset({"implicit"})
        symbol = self._symbol(entity, entity.meaning, name, how | added)
        return Procedure(name, "external", symbol) if called else symbol

    def _owner(self, name: str) -> Frame:
        """Whose implicitly typed variable an undeclared name is: the outermost host's that has it."""
        owner = frame = self.frame.unit_frame
        while frame.host is not None:
            frame = frame.host.unit_frame
            if frame.unit.kind not in ("module", "submodule") and name in frame.mentioned:
                owner = frame
        return owner

    def derived(self, name: str) -> DerivedType | None:
        """The derived type of that name as seen here."""
        found, _ = self.frame.trace(name.lower())
        if not isinstance(found, Entity):
            return None
        kind = found.as_type
        return None if kind is None else self._type(kind)

    def derived_of(self, symbol: Symbol) -> DerivedType | None:
        """The derived type of a symbol that this or another scope of the program gave."""
        if symbol.type.derived is None:
            return None
        entity = self.homes.entity(symbol)
        kind = None if entity is None else entity.type_entity
        return None if kind is None else self._type(kind)

    def _type(self, entity: Entity) -> DerivedType | None:
        if id(entity) not in self._types:
            derived = None if entity.definition is None else entity.definition.derived
            if derived is not None and entity.frame.unit.broken is None:
                parts = entity.components
                components = {
                    name: self._symbol(parts[name], symbol, None)
                    for name, symbol in derived.components.items()
                }
                derived = replace(derived, components=components)
            self._types[id(entity)] = derived
        return self._types[id(entity)]

    def constant(self, expr: Expr) -> int | None:
        """The integer value of a constant expression."""
        return evaluate(expr, self.frame.world.names(self.frame))

    @cached_property
    def _defined(self) -> Defined:
        return visible(self.frame)

    def defined_assignment(self) -> bool:
        """Whether a user-defined assignment is visible, or may be."""
        return self._defined.incomplete or ASSIGNMENT in self._defined.all

    def defined_operators(self) -> frozenset[str]:
        """Operators that a visible interface defines or extends, or may."""
        return operators(self._defined)


def _declared(entity: Entity) -> tuple[TypeSpec | None, Frame]:
    """The type-spec of a data object and the scope its names belong to."""
    if isinstance(entity, Given):
        return entity.given, entity.of
    return entity.spec, entity.frame
