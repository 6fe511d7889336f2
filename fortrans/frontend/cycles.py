"""Modules that use themselves, through others or not: no compiler takes them (F2018 14.2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from fortrans.frontend.associations import use
from fortrans.frontend.lines import Statement
from fortrans.frontend.modules import ModuleIndex, is_compiled
from fortrans.frontend.units import Program, Unit
from fortrans.remarks import InputError


def cycle(program: Program, modules: ModuleIndex) -> InputError | None:
    """The first module of a file that uses itself, at its USE statement; None when none does."""
    for unit in program.units:
        if unit.kind != "module" or unit.name in modules.unsure:
            continue
        if modules.modules.get(unit.name) == (program, unit):
            for name, statement in _uses(program, unit):
                if (way := _way(name, unit.name, modules)) is not None:
                    return InputError(program.source.path, _told(unit.name, way), statement.span.first)
    return None


def _told(name: str, way: list[str]) -> str:
    if way == [name]:
        return f"Module '{name}' uses itself"
    return f"Module '{name}' uses itself, through {' and '.join(map(repr, way[:-1]))}"


def _way(start: str, goal: str, modules: ModuleIndex) -> list[str] | None:
    """Modules from ``start`` to ``goal``, each of which uses the next; None when there is no way."""
    before: dict[str, str] = {start: ""}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        if name == goal:
            way = [name]
            while before[way[0]]:
                way.insert(0, before[way[0]])
            return way
        found = modules.modules.get(name)
        # A compiled module may be older than the sources; of two modules of a name neither is known.
        if found is None or name in modules.unsure or is_compiled(found[0]):
            continue
        for other, _ in _uses(*found):
            if other not in before:
                before[other] = name
                waiting.append(other)
    return None


def _uses(program: Program, unit: Unit) -> Iterator[tuple[str, Statement]]:
    """The modules that a module uses, in its subprograms too; not those under ``#if``."""
    first = unit.opening.ordinal if unit.opening else 0
    last = unit.closing.ordinal if unit.closing else len(program.statements)
    for statement in program.statements[first:last]:
        if statement.text[:3].lower() != "use" or statement.conditional or statement.sentinel:
            continue
        found = None if statement.ordinal in program.conditional else use(statement.text)
        if found is not None and found.nature != "intrinsic":
            yield found.module, statement
