"""Files that are read together, since they say what each other's names mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from fortrans.frontend.cycles import cycle
from fortrans.frontend.modules import ModuleIndex, index
from fortrans.frontend.units import Program, read
from fortrans.options import Options
from fortrans.outcome import fault
from fortrans.pipeline import rewrite_program
from fortrans.remarks import InputError
from fortrans.result import FileResult
from fortrans.source import Source, file_name

_INCLUDED = re.compile(r"include\s*['\"<]([^'\">]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Batch:
    """Files that were read together: each can be rewritten by itself, in any order.

    ``programs``: of each file what it holds, or why it cannot be read.  ``known``: all that can be
    read, the context's among them.  ``hosts``: names of files that INCLUDE lines mention, and a
    file that does.
    """

    programs: tuple[Program | InputError, ...]
    known: tuple[Program, ...]
    modules: ModuleIndex
    hosts: Mapping[str, str]
    reading: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        context: Sequence[Source] = (),
        read: Mapping[Source, Program] | None = None,
    ) -> Batch:
        """Read files; a module that is missing is said where it matters.

        ``read``: what was read before.
        """
        read = read or {}
        programs: list[Program | InputError] = []
        reading: list[float] = []
        for source in sources:
            start = perf_counter()
            programs.append(read.get(source) or _read(source))
            reading.append(perf_counter() - start)
        known = [p for p in (*programs, *map(_read, context)) if not isinstance(p, InputError)]
        return cls(tuple(programs), tuple(known), index(known), included(known), tuple(reading))

    def host(self, program: Program) -> str | None:
        """A file that includes this one."""
        return self.hosts.get(file_name(program.source.path))

    def rewrite(self, position: int, options: Options) -> FileResult | InputError:
        """The result of one file, or why there is none.

        Raises InputError when a template of the user's fails, and any fault with ``strict``.
        """
        program = self.programs[position]
        if isinstance(program, InputError):
            return program
        if (round_ := cycle(program, self.modules)) is not None:
            return round_
        start = perf_counter()
        try:
            result = rewrite_program(program, self.modules, options, self.host(program))
        except InputError:
            raise
        except Exception as problem:  # A fault of the tool costs the file, not the run.
            if options.strict:
                raise
            return InputError(program.source.path, fault(problem).message)
        return replace(result, seconds=self.reading[position] + perf_counter() - start)


def unreadable(context: Sequence[Source]) -> tuple[InputError, ...]:
    """Why files of the context bring no modules: each that cannot be read as free-form Fortran."""
    return tuple(p for p in map(_read, context) if isinstance(p, InputError))


def _read(source: Source) -> Program | InputError:
    try:
        return read(source)
    except InputError as problem:
        return problem


def included(programs: Sequence[Program]) -> dict[str, str]:
    """The names of the files that INCLUDE lines (and ``#include``) mention, and a file that does."""
    found: dict[str, str] = {}
    for program in programs:
        for statement in program.statements:
            if statement.form in ("include", "cpp") and (match := _INCLUDED.search(statement.text)):
                found.setdefault(file_name(match[1]), program.source.path)
    return found
