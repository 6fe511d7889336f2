"""Modules and submodules of all programs at hand, and the frames made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from fortrans.frontend import intrinsic_modules
from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.units import Executable, Program, Unit, read
from fortrans.ir.symbols import Symbol
from fortrans.source import Source

if TYPE_CHECKING:
    from fortrans.frontend.entities import Entity
    from fortrans.frontend.frames import Frame
    from fortrans.frontend.lines import Statement

Branch = tuple[int, ...]


class ModuleIndex:
    """Where each module and submodule is defined.

    A name defined twice, under ``#if`` or in two files, is in ``unsure``, with why: its module
    counts as not seen.  Copies of one text are one module.  A source wins over a compiled module,
    and so does the intrinsic module of that name.
    """

    def __init__(self) -> None:
        self.modules: dict[str, tuple[Program, Unit]] = {}
        self.submodules: dict[tuple[str, str], tuple[Program, Unit]] = {}
        self.unsure: dict[str, str] = {}
        self._worlds: dict[bool, World] = {}

    def add(self, program: Program) -> None:
        """Index the modules of ``program``."""
        for unit in program.units:
            if unit.kind == "module":
                self._add_module(program, unit)
            elif unit.kind == "submodule":
                ancestor = unit.ancestor.partition(":")[0]
                self.submodules[ancestor, unit.name] = (program, unit)

    def _add_module(self, program: Program, unit: Unit) -> None:
        if is_compiled(program):
            known = self.modules.get(unit.name)
            sourced = known is not None and not is_compiled(known[0])
            if sourced or intrinsic_modules.source(unit.name) is not None:
                return
        before = self.modules.setdefault(unit.name, (program, unit))
        if before[1] is unit:
            return
        if before[0].source == program.source and before[0] is not program:
            return
        if before[0] is program and all(_is_conditional(program, u) for u in (before[1], unit)):
            self.unsure[unit.name] = "is defined in two branches of '#if'"
            return
        if _text(*before) == _text(program, unit):
            return
        first, second = before[0].source.path, program.source.path
        self.unsure[unit.name] = f"is defined in '{first}' and in '{second}'"

    def world(self, assume_intrinsics: bool) -> World:
        """The frames of these modules, made once for each promise."""
        if assume_intrinsics not in self._worlds:
            self._worlds[assume_intrinsics] = World(self, assume_intrinsics)
        return self._worlds[assume_intrinsics]


def index(programs: Sequence[Program]) -> ModuleIndex:
    """Index the modules of all ``programs``, in any order."""
    found = ModuleIndex()
    for program in sorted(programs, key=is_compiled):
        found.add(program)
    return found


def is_compiled(program: Program) -> bool:
    """Whether a program is the text of a compiled module."""
    return program.source.path.endswith(".mod")


def _is_conditional(program: Program, unit: Unit) -> bool:
    return unit.opening is not None and unit.opening.ordinal in program.conditional


def _text(program: Program, unit: Unit) -> tuple[str, ...]:
    first = unit.opening.span.first if unit.opening else 1
    last = unit.closing.span.last if unit.closing else len(program.lines)
    return tuple(line.rstrip() for line in program.lines[first - 1 : last])


@cache
def _intrinsic(name: str) -> tuple[Program, Unit] | None:
    text = intrinsic_modules.source(name)
    if text is None:
        return None
    program = read(Source(f"<{name}>", text))
    return program, program.units[0]


class World:
    """All frames, each made once; what is being worked out; facts of whole programs."""

    def __init__(self, modules: ModuleIndex, assume_intrinsics: bool) -> None:
        self.modules = modules
        self.assume_intrinsics = assume_intrinsics
        self._frames: dict[int, Frame] = {}
        self._branches: dict[int, Sequence[Branch]] = {}
        self._executables: dict[int, dict[int, list[Executable]]] = {}
        self._names: dict[int, FrameNames] = {}
        self._busy: set[int] = set()
        self._kept: list[object] = []

    def frame(self, program: Program, unit: Unit, host: Frame | None) -> Frame:
        """The frame of ``unit``; a submodule's host is its parent's frame."""
        from fortrans.frontend.frames import Frame

        if id(unit) not in self._frames:
            if unit.kind == "submodule":
                host = self._parent(unit)
            self._frames[id(unit)] = Frame(self, program, unit, host)
            self._kept.append(unit)
        return self._frames[id(unit)]

    def frame_in(self, program: Program, unit: Unit) -> Frame:
        """The frame of ``unit`` with all that host it."""
        if id(unit) in self._frames:
            return self._frames[id(unit)]
        parent = unit.parent
        while parent is not None and parent.kind == "interface":
            parent = parent.parent
        host = None if parent is None else self.frame_in(program, parent)
        return self.frame(program, unit, host)

    def _parent(self, unit: Unit) -> Frame | None:
        ancestor, _, parent = unit.ancestor.partition(":")
        if not parent:
            known = self.modules.modules.get(ancestor)
            # A compiled module does not tell what is private in it.
            compiled = known is not None and is_compiled(known[0])
            return None if compiled else self.module(ancestor, "non_intrinsic")
        found = self.modules.submodules.get((ancestor, parent))
        if found is None or found[1] is unit:
            return None
        return self.frame(*found, None)

    def module(self, name: str, nature: str) -> Frame | None:
        """The frame of a module; None when it was not seen."""
        if name in self.modules.unsure:
            return None
        found = None if nature == "intrinsic" else self.modules.modules.get(name)
        if found is None and nature != "non_intrinsic":
            found = _intrinsic(name)
        return None if found is None else self.frame(*found, None)

    def included(self, name: str) -> Sequence[Statement] | None:
        """The statements of the included file that module ``name`` stands for; None when not seen."""
        found = None if name in self.modules.unsure else self.modules.modules.get(name)
        return None if found is None else found[1].specification

    def missing(self, name: str) -> str:
        """Why ``module`` gives None, as a clause."""
        return f"module '{name}' {self.modules.unsure.get(name, 'was not seen')}"

    def executables(self, program: Program, unit: Unit) -> Sequence[Executable]:
        """The executable statements that stand directly in ``unit``."""
        if id(program) not in self._executables:
            by_unit: dict[int, list[Executable]] = {}
            for executable in program.executables():
                by_unit.setdefault(id(executable.unit), []).append(executable)
            self._executables[id(program)] = by_unit
            self._kept.append(program)
        return self._executables[id(program)].get(id(unit), ())

    def branches(self, program: Program) -> Sequence[Branch]:
        """Of each statement by ordinal, the branches of ``#if`` it stands in."""
        if id(program) not in self._branches:
            self._branches[id(program)] = list(_branches(program))
            self._kept.append(program)
        return self._branches[id(program)]

    def names(self, frame: Frame) -> FrameNames:
        """What the constant evaluator asks, answered in ``frame``."""
        if id(frame) not in self._names:
            self._names[id(frame)] = FrameNames(frame)
        return self._names[id(frame)]

    def busy(self, thing: object) -> bool:
        """Whether ``thing`` is being worked out: a definition that needs itself."""
        return id(thing) in self._busy

    @contextmanager
    def busied(self, thing: object) -> Iterator[None]:
        """Mark ``thing`` as being worked out."""
        self._busy.add(id(thing))
        try:
            yield
        finally:
            self._busy.discard(id(thing))


def _branches(program: Program) -> Iterator[Branch]:
    open_: list[int] = []
    count = 0
    for statement in program.statements:
        if statement.form == "cpp":
            count += 1
            word = statement.text.lstrip("# \t")[:4].lower()
            if word.startswith("if"):
                open_.append(count)
            elif word in ("else", "elif") and open_:
                open_[-1] = count
            elif word.startswith("endi") and open_:
                open_.pop()
        yield tuple(open_)


class FrameNames:
    """``constants.Names`` as a frame answers it."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def _entity(self, name: str) -> Entity | None:
        from fortrans.frontend.entities import Entity

        found, _ = self.frame.trace(name)
        return found if isinstance(found, Entity) else None

    def integer(self, name: str) -> int | None:
        """The value of an integer named constant."""
        entity = self._entity(name)
        return None if entity is None else entity.integer

    def type_and_kind(self, name: str) -> tuple[str, int] | None:
        """Type name and kind of a data object."""
        from fortrans.frontend.types import kind_of

        entity = self._entity(name)
        if entity is None or entity.frame.world.busy(entity):
            return None
        with entity.frame.world.busied(entity):
            if not isinstance(entity.meaning, Symbol):
                return None
            if entity.spec is None:
                kind: int | str | None = entity.meaning.type.kind
                name_ = entity.meaning.type.name
            else:
                kind, name_ = kind_of(entity.spec, entity.frame), entity.spec.name
        return (name_, kind) if isinstance(kind, int) else None

    def is_intrinsic(self, name: str) -> bool:
        """Whether nothing hides the intrinsic of that name."""
        return name in INTRINSICS and self.frame.trace(name)[0] is None

    def is_constant(self, expr: object) -> bool:
        """Whether ``expr`` keeps its value."""
        from fortrans.frontend.stability import keeps

        return keeps(expr, self.frame)  # type: ignore[arg-type]
