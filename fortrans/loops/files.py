"""Files whose loops are looked at: which can be read, and what a fault of the tool costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from fortrans.frontend.units import Program, Unit, read
from fortrans.options import Options
from fortrans.outcome import fault
from fortrans.remarks import InputError, Kind, Remark
from fortrans.source import Source, Span


@contextmanager
def faults(source: Source, options: Options) -> Iterator[None]:
    """A fault of the tool costs the file: raises InputError for it, unless ``options.strict``."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        if options.strict:
            raise
        raise InputError(source.path, fault(problem).message) from problem


def readable(context: Sequence[Source]) -> Iterator[Program]:
    """The programs of those files that can be read."""
    for source in context:
        with suppress(InputError):
            yield read(source)


def procedures(program: Program) -> Iterator[Unit]:
    """The program units and subprograms that may have executable statements, in order."""
    for unit in program.walk():
        if unit.program_unit is unit and unit.kind != "interface body":
            yield unit


def unreadable(program: Program, unit: Unit) -> Remark | None:
    """What is said of a unit whose constructs are not sure; None where they are."""
    if unit.broken is None:
        return None
    line = 1 if unit.opening is None else unit.opening.span.first
    message = f"Program unit '{unit.name}' could not be read: {unit.broken}"
    return Remark(program.source.path, Span(line, line), "FT008", Kind.MISSED, message)
