"""The flow of a file: text, units, scopes, sites, plans, edits, text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from fortrans.decision import Answer, decide, identifiers
from fortrans.ir.fresh import Fresh
from fortrans.options import Options
from fortrans.outcome import fault, missed, render_all
from fortrans.remarks import InputError, Refusal, Remark
from fortrans.source import Edit, Source

if TYPE_CHECKING:
    from fortrans.frontend.modules import ModuleIndex
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Executable, Program

STAGES = ("lines", "units", "symbols", "arrays", "elements", "nests")
_INCLUDED = re.compile(r"include\s*['\"<]([^'\">]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Result:
    """A rewritten text and what there is to say about it."""

    text: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file, what became of it, the remarks, in source order, and the time it took."""

    source: Source
    output: Source
    remarks: tuple[Remark, ...]
    seconds: float = field(default=0.0, compare=False)


_DEFAULTS = Options()


def rewrite(text: str, options: Options = _DEFAULTS, path: str = "<text>") -> Result:
    """Rewrite one file's text.  Raises InputError when it cannot be read as free-form Fortran."""
    (result,) = rewrite_sources([Source(path, text)], options)
    if isinstance(result, InputError):
        raise result
    return Result(result.output.text, result.remarks)


def rewrite_sources(
    sources: Sequence[Source], options: Options, context: Sequence[Source] = ()
) -> Iterator[FileResult | InputError]:
    """Rewrite files, in order; USE finds its modules among ``sources`` and ``context``.

    A file that cannot be read gives its InputError in place of a result.  A module that two files
    define in different ways is unknown.  Raises InputError when a template of the user's fails.
    """
    from fortrans.frontend.modules import index

    programs: list[Program | InputError] = []
    reading: list[float] = []
    for source in sources:
        start = perf_counter()
        programs.append(_read(source))
        reading.append(perf_counter() - start)
    # Only what is rewritten must be readable; a module that is missing is said where it matters.
    known = [p for p in (*programs, *map(_read, context)) if not isinstance(p, InputError)]
    modules, hosts = index(known), included(known)
    for program, seconds in zip(programs, reading, strict=True):
        if isinstance(program, InputError):
            yield program
        else:
            start = perf_counter()
            host = hosts.get(_file_name(program.source.path))
            try:
                result = _rewrite(program, modules, options, host)
            except InputError:
                raise
            except Exception as problem:  # A fault of the tool costs the file, not the run.
                if options.strict:
                    raise
                yield InputError(program.source.path, fault(problem).message)
                continue
            yield replace(result, seconds=seconds + perf_counter() - start)


def unreadable(context: Sequence[Source]) -> tuple[InputError, ...]:
    """Why files of the context bring no modules: each that cannot be read as free-form Fortran."""
    return tuple(p for p in map(_read, context) if isinstance(p, InputError))


def _read(source: Source) -> Program | InputError:
    from fortrans.frontend.units import read

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
                found.setdefault(_file_name(match[1]), program.source.path)
    return found


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _rewrite(program: Program, modules: ModuleIndex, options: Options, host: str | None) -> FileResult:
    answers = list(answer_all(program, modules, options, host))
    passed = [answer for answer in answers if answer.passed]
    edits: list[Edit] = []
    if passed:
        from fortrans.emit.style import detect

        style = detect(program.source)
        edits, refused = render_all(program, passed, style, options)
        answers = [refused.get(id(answer), answer) for answer in answers]
    remarks = tuple(answer.remark for answer in answers)
    return FileResult(program.source, program.source.apply(edits), remarks)


def answer_all(
    program: Program, modules: ModuleIndex, options: Options, host: str | None = None
) -> Iterator[Answer]:
    """One answer for each candidate statement of a program, in source order.

    ``host`` is a file that includes this one: there its names may mean something else.
    """
    from fortrans.frontend.candidates import Candidates
    from fortrans.frontend.resolve import resolve

    scopes = resolve(program, modules, options.assume_intrinsics)
    candidates = Candidates(program, scopes)
    taken: dict[int, frozenset[str]] = {}
    for executable in candidates:
        unit = executable.unit.program_unit
        if id(unit) not in taken:
            taken[id(unit)] = identifiers(program, unit)
        if host is not None:
            refusal = Refusal("FT008", f"File is included in '{host}', where its names may mean more")
            place = program.place(executable)
            yield Answer(executable, place, missed(program, place, refusal))
            continue
        found = answer(program, executable, scopes, Fresh(taken[id(unit)]), options)
        if found is not None:
            yield found


def answer(
    program: Program, executable: Executable, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """The plan for one candidate, or the reason there is none; None when it has no array work."""
    place = program.place(executable)
    try:
        return decide(program, executable, place, scopes, fresh, options)
    except Refusal as refusal:
        return Answer(executable, place, missed(program, place, refusal))
    except Exception as problem:  # The one place where a fault of our own costs a statement, not the run.
        if options.strict:
            raise
        return Answer(executable, place, missed(program, place, fault(problem)))



# ---- stages --------------------------------------------------------------------


def show(stage: str, source: Source, options: Options, context: Sequence[Source] = ()) -> str:
    """What stands after ``stage``, as text; USE looks in ``context`` too.  Raises InputError."""
    from fortrans import stages

    return stages.show(stage, source, options, context)
