"""The flow of a file: text, units, scopes, sites, plans, edits, text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fortrans import repacking
from fortrans.decision import Answer, decide, identifiers
from fortrans.ir.fresh import Fresh
from fortrans.options import Options
from fortrans.outcome import fault, missed, render_all
from fortrans.remarks import InputError, Kind, Refusal, Remark
from fortrans.repacking import MARK
from fortrans.result import FileResult
from fortrans.source import Edit, Source, Span

if TYPE_CHECKING:
    from fortrans.frontend.modules import ModuleIndex
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Executable, Program

STAGES = ("lines", "units", "symbols", "arrays", "elements", "nests")


@dataclass(frozen=True, slots=True)
class Result:
    """A rewritten text and what there is to say about it."""

    text: str
    remarks: tuple[Remark, ...]


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
    from fortrans.batch import Batch

    batch = Batch.of(sources, context)
    for position in range(len(sources)):
        yield batch.rewrite(position, options)


def rewrite_program(
    program: Program, modules: ModuleIndex, options: Options, host: str | None
) -> FileResult:
    """What becomes of one file; ``host`` is a file that includes it.  Raises InputError."""
    answers = list(answer_all(program, modules, options, host))
    if options.only is not None:
        path, chosen = program.source.path, options.only
        answers = [answer for answer in answers if (path, answer.place.span.first) in chosen]
    passed = [answer for answer in answers if answer.passed]
    edits: list[Edit] = []
    if passed:
        from fortrans.emit.style import detect

        style = detect(program.source)
        edits, refused = render_all(program, passed, style, options)
        answers = [refused.get(id(answer), answer) for answer in answers]
    remarks = [answer.remark for answer in answers]
    if MARK in program.source.text.lower():
        remarks.extend(unknown_directives(program))
        remarks.sort(key=lambda remark: remark.span.first)
    mine = options.only is None or (program.source.path, 0) in options.only
    if mine and repacking.asked(program.source, options):
        repacking.repack(program, modules, options, host, edits, remarks)
        remarks.sort(key=lambda remark: remark.span.first)
    output = program.source.apply(edits, options.line_markers)
    return FileResult(program.source, output, tuple(remarks), edits=tuple(edits))


def answer_all(
    program: Program, modules: ModuleIndex, options: Options, host: str | None = None
) -> Iterator[Answer]:
    """One answer for each candidate statement of a program, in source order.

    ``host`` is a file that includes this one: there its names may mean something else.
    """
    from fortrans.frontend.candidates import Candidates
    from fortrans.frontend.resolve import resolve
    from fortrans.frontend.switches import switches

    scopes = resolve(program, modules, options.assume_intrinsics)
    candidates = Candidates(program, scopes)
    switched = switches(program)
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
        if found is not None and found.passed and (asked := switched.asked(found.place.span)):
            line, word = asked
            refusal = Refusal("FT010", f"Statement is left, as '!fortrans$ {word}' in line {line} asks")
            found = Answer(executable, found.place, missed(program, found.place, refusal))
        if found is not None:
            yield found


def unknown_directives(program: Program) -> Iterator[Remark]:
    """A remark for each ``!fortrans$`` line with a word that is none of ours."""
    from fortrans.frontend.switches import switches

    for line, word in switches(program).unknown:
        message = f"Directive '!fortrans$ {word}' is not known, and ignored"
        yield Remark(program.source.path, Span(line, line), "FT011", Kind.MISSED, message)


def answer(
    program: Program, executable: Executable, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """The plan for one candidate, or the reason there is none; None when it has no array work."""
    from fortrans.frontend.masks import is_where, where_place

    place = where_place(program, executable) if is_where(executable) else program.place(executable)
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
