"""Which other files the meaning of a file depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fortrans.frontend.associations import use
from fortrans.frontend.units import Program


class Dependencies:
    """The files among ``programs`` that say what the names of one of them are."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._programs = programs
        self._wanted = [wanted(program) for program in programs]
        self._defining: dict[str, list[int]] = {}
        for position, program in enumerate(programs):
            for name in defined(program):
                self._defining.setdefault(name, []).append(position)
        self._position = {id(program): position for position, program in enumerate(programs)}

    def of(self, program: Program) -> tuple[Program, ...]:
        """The files that ``program`` needs, directly or through others, in order; not itself.

        Every file that defines a module of a name in use is one of them, also where two do.
        """
        start = self._position[id(program)]
        found: set[int] = {start}
        waiting = [start]
        while waiting:
            for name in self._wanted[waiting.pop()]:
                for position in self._defining.get(name, ()):
                    if position not in found:
                        found.add(position)
                        waiting.append(position)
        return tuple(self._programs[position] for position in sorted(found - {start}))


def wanted(program: Program) -> frozenset[str]:
    """The modules whose definition says something about a file: those it uses, extends or defines."""
    return frozenset(_used(program)) | defined(program)


def _used(program: Program) -> Iterator[str]:
    for statement in program.statements:
        if statement.text[:3].lower() == "use" and (found := use(statement.text)) is not None:
            yield found.module
    for unit in program.units:
        if unit.kind == "submodule":
            yield from unit.ancestor.split(":")


def defined(program: Program) -> frozenset[str]:
    return frozenset(unit.name for unit in program.units if unit.kind in ("module", "submodule"))
