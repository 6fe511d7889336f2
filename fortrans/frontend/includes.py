"""INCLUDE lines: the declarations of the file they name, where that file is seen (F2018 6.4).

An included file is read as a module of a name no program has, and its statements stand in place of
the line.  Only a file of plain specification statements is; of any other nothing is known.
"""

from __future__ import annotations

import re

from fortrans.frontend.units import Unit, read
from fortrans.remarks import InputError
from fortrans.source import Source

PREFIX = "included_file_"
LINE = re.compile(r"^[ \t]*include\s*(?:'([^'\n]*)'|\"([^\"\n]*)\")", re.IGNORECASE | re.MULTILINE)
_UNPLAIN = re.compile(r"(?i)(?:entry|format|contains|private|public|protected|import)\b")


def mentioned(text: str) -> tuple[str, ...]:
    """The files that INCLUDE lines of a text name."""
    return tuple(dict.fromkeys(first or second for first, second in LINE.findall(text)))


def module_name(line: str) -> str:
    """The name of the module that stands for the file of an INCLUDE line.

    Files of one name in different folders have one: where their texts differ, neither is seen.
    """
    names = mentioned(line)
    return name_of(names[0] if names else line)


def name_of(path: str) -> str:
    """The name of the module that stands for a file."""
    base = path.replace("\\", "/").rpartition("/")[2]
    return PREFIX + re.sub(r"\W", "_", base).lower()


def as_module(source: Source) -> Source | None:
    """The text of an included file as that of a module; None where it is more than declarations."""
    name = name_of(source.path)
    text = source.text if source.text.endswith("\n") else source.text + "\n"
    found = Source(source.path, f"module {name}\n{text}end module {name}\n")
    try:
        program = read(found)
    except InputError:
        return None
    unit = program.units[0] if len(program.units) == 1 else None
    plain = unit is not None and unit.name == name and _is_plain(unit)
    plain = plain and all(s.form in ("fortran", "include") and not s.sentinel for s in program.statements)
    return found if plain and not (program.conditional or program.macros or program.found) else None


def _is_plain(unit: Unit) -> bool:
    return (
        not unit.children
        and unit.contains is None
        and unit.broken is None
        and not any(_UNPLAIN.match(s.text) for s in unit.specification)
    )
