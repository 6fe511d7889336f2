"""Which modules the meaning of a file depends on, and which it defines."""

from __future__ import annotations

from collections.abc import Iterator

from fortrans.frontend.associations import use
from fortrans.frontend.includes import module_name
from fortrans.frontend.units import Program


def wanted(program: Program) -> frozenset[str]:
    """The modules whose definition says something about a file: those it uses, extends or defines.

    A file that it includes is one too, under the name that ``includes.module_name`` gives.
    """
    return frozenset(_used(program)) | defined(program)


def _used(program: Program) -> Iterator[str]:
    for statement in program.statements:
        if statement.text[:3].lower() == "use" and (found := use(statement.text)) is not None:
            yield found.module
        elif statement.form == "include":
            yield module_name(statement.text)
    for unit in program.units:
        if unit.kind == "submodule":
            yield from unit.ancestor.split(":")


def defined(program: Program) -> frozenset[str]:
    return frozenset(unit.name for unit in program.units if unit.kind in ("module", "submodule"))
