"""The flow of a file: text, units, scopes, sites, plans, edits, text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from fortrans.ir.expr import ImpliedDo, names, walk
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Block, If, Loop, Stmt
from fortrans.ir.sites import Assignment, Place
from fortrans.ir.symbols import Symbol
from fortrans.ir.written import as_source
from fortrans.options import Options
from fortrans.remarks import InputError, Kind, Refusal, Remark
from fortrans.source import Edit, Source

if TYPE_CHECKING:
    from fortrans.emit.style import Style
    from fortrans.frontend.modules import ModuleIndex
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Executable, Program, Unit
    from fortrans.transforms.compose import Plan

STAGES = ("lines", "units", "symbols", "arrays", "elements", "nests")
_INCLUDED = re.compile(r"include\s*['\"<]([^'\">]+)", re.IGNORECASE)
_KEY = re.compile(r"'\w+': ")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*")


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


@dataclass(frozen=True, slots=True)
class Answer:
    """What was decided about one candidate: a plan, or none; and the one remark about it."""

    executable: Executable
    place: Place
    remark: Remark
    plan: Plan | None = None


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
    from fortrans.frontend.units import read

    programs: list[Program | InputError] = []
    reading: list[float] = []
    for source in sources:
        start = perf_counter()
        try:
            programs.append(read(source))
        except InputError as problem:
            programs.append(problem)
        reading.append(perf_counter() - start)
    others = []
    for source in context:
        try:
            others.append(read(source))
        except InputError:
            # Only what is rewritten must be readable; a module that is missing is said where it matters.
            continue
    modules = index([*(program for program in programs if not isinstance(program, InputError)), *others])
    hosts = included([*(program for program in programs if not isinstance(program, InputError)), *others])
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
                yield InputError(program.source.path, _fault(problem).message)
                continue
            yield replace(result, seconds=seconds + perf_counter() - start)


def unreadable(context: Sequence[Source]) -> tuple[InputError, ...]:
    """Why files of the context bring no modules: each that cannot be read as free-form Fortran."""
    from fortrans.frontend.units import read

    problems = []
    for source in context:
        try:
            read(source)
        except InputError as problem:
            problems.append(problem)
    return tuple(problems)


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
    passed = [answer for answer in answers if answer.plan is not None]
    edits: list[Edit] = []
    if passed:
        from fortrans.emit.style import detect

        style = detect(program.source)
        edits, refused = _render(program, passed, style, options)
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
            yield Answer(executable, place, _missed(program, place, refusal))
            continue
        found = answer(program, executable, scopes, Fresh(taken[id(unit)]), options)
        if found is not None:
            yield found


def vocabulary(site: Assignment) -> frozenset[str]:
    """Every word in the terms of a site, lower case: names in bounds, kinds and lengths among them.

    Read off their printed form, which has a few words more; no name it has is missed.
    """
    captured = tuple((c.type, c.value, c.array) for c in site.captures)
    text = _KEY.sub("", repr((site.lhs, site.rhs, captured)).lower())
    own = {capture.name for capture in site.captures}
    return frozenset(_IDENTIFIER.findall(text)) - own


def identifiers(program: Program, unit: Unit) -> frozenset[str]:
    """Every word between the first and the last line of a program unit, lower case."""
    first = unit.opening.span.first if unit.opening else 1
    last = unit.closing.span.last if unit.closing else len(program.lines)
    return frozenset(_IDENTIFIER.findall("".join(program.lines[first - 1 : last]).lower()))


def answer(
    program: Program, executable: Executable, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """The plan for one candidate, or the reason there is none; None when it has no array work."""
    from fortrans.analysis import profit
    from fortrans.transforms.compose import compose

    place = program.place(executable)
    try:
        if not options.all and not _worth_reading(executable, scopes, fresh):
            return None
        site = lift(program, executable, place, scopes, fresh)
        if site is None:
            return None
        # Bounds and kinds may come from modules, with names that the program unit never writes.
        words = vocabulary(site)
        if fresh.clashes(words):
            fresh = Fresh(identifiers(program, executable.unit.program_unit) | words)
            site = lift(program, executable, place, scopes, fresh)
            assert site is not None
        fresh.reserve(words)
        if not options.all:
            profit.check(site, options.target)
        plan = compose(site, fresh)
        if not options.all:
            profit.check_plan(site, plan.code, plan.maybe, options.target)
    except Refusal as refusal:
        return Answer(executable, place, _missed(program, place, refusal))
    except Exception as problem:  # The one place where a fault of our own costs a statement, not the run.
        if options.strict:
            raise
        return Answer(executable, place, _missed(program, place, _fault(problem)))
    remark = Remark(program.source.path, place.span, plan.code, Kind.PASSED, _done(site, plan))
    return Answer(executable, place, remark, plan)


def _worth_reading(executable: Executable, scopes: Scopes, fresh: Fresh) -> bool:
    """False for a scalar assignment without transformational references.

    Raises Refusal (FT601) for an array assignment without: what that one computes need not be read,
    and most array statements are of this kind.
    """
    from fortrans.analysis.profit import elementwise
    from fortrans.frontend.candidates import allowed, readable, sides, transforms
    from fortrans.frontend.expressions import convert
    from fortrans.frontend.lift import lift_target
    from fortrans.frontend.parse import expression
    from fortrans.ir.arrays import Scalar

    left, right = sides(executable.statement.text)
    if transforms(right) or transforms(left):
        return True
    readable(executable)
    target = lift_target(convert(expression(left.strip())), scopes.at(executable), fresh)
    if isinstance(target, Scalar):
        return False
    allowed(executable)
    raise elementwise()


def lift(
    program: Program, executable: Executable, place: Place, scopes: Scopes, fresh: Fresh
) -> Assignment | None:
    """The site of an executable; raises Refusal where nothing may be rewritten at that place."""
    from fortrans.frontend.candidates import allowed, readable, sides, transforms
    from fortrans.frontend.expressions import convert
    from fortrans.frontend.lift import lift_assignment, lift_target
    from fortrans.frontend.parse import assignment, expression
    from fortrans.ir.arrays import Scalar

    readable(executable)
    scope = scopes.at(executable)
    left, right = sides(executable.statement.text)
    # Without array work on the left, and no such reference, there is none whatever the right side is.
    bare = not (transforms(right) or transforms(left))
    if bare and isinstance(lift_target(convert(expression(left.strip())), scope, fresh), Scalar):
        return None
    node = assignment(executable.statement.text)
    lhs, rhs = convert(node.items[0]), convert(node.items[2])
    site = lift_assignment(place, lhs, rhs, scope, fresh)
    if site is not None:
        allowed(executable)
        _check_implicit(site)
    return site


def _check_implicit(site: Assignment) -> None:
    """Raise Refusal for a variable that nothing but references declare.

    gfortran takes the first reference in the text as the declaration, and inside a BLOCK makes of
    it a variable of the BLOCK: what is first named in an emitted BLOCK would be another variable.
    """
    exprs = (as_source(site.lhs), as_source(site.rhs), *(capture.value for capture in site.captures))
    local = {loop.name for x in exprs for loop in walk(x) if isinstance(loop, ImpliedDo)}
    for name in sorted({name for x in exprs for name in names(x)} - local):
        meaning = site.scope.lookup(name)
        if isinstance(meaning, Symbol) and "implicit" in meaning.attributes:
            raise Refusal("FT201", f"Name '{name}' is not declared, which a BLOCK around it would change")


def _fault(problem: Exception) -> Refusal:
    kind = type(problem).__name__
    return Refusal("FT901", f"Internal error, please report it: {kind}: {problem}".replace("\n", " "))


def _missed(program: Program, place: Place, refusal: Refusal) -> Remark:
    return Remark(program.source.path, place.span, refusal.code, Kind.MISSED, refusal.message)


def _done(site: Assignment, plan: Plan) -> str:
    from fortrans.analysis.profit import work
    from fortrans.ir.arrays import Scalar, path_name

    composed = [name for name in work(site.rhs).names if name not in plan.kept]
    what = _listed(composed) if composed else "the expression"
    name = path_name(site.lhs.value if isinstance(site.lhs, Scalar) else site.lhs.base)
    kind = "Scalar assignment" if plan.code == "FT102" else "Array assignment"
    count = sum(map(_nests, plan.body))
    loops = "one loop nest" if count == 1 else f"{count} loop nests"
    message = f"{kind} to '{name}' composes {what} into {loops if count else 'scalar statements'}"
    notes = []
    if plan.because:
        notes.append(f"through a temporary, since {plan.because}")
    if plan.temporaries:
        notes.append(f"{_listed(plan.temporaries)} evaluated once")
    return message + "".join(f", {note}" for note in notes)


def _nests(stmt: Stmt) -> int:
    """How many loops a statement holds, those within others not counted."""
    match stmt:
        case Loop():
            return 1
        case Block(body=body):
            return sum(map(_nests, body))
        case If(then=then, other=other):
            return sum(map(_nests, (*then, *other)))
        case _:
            return 0


def _listed(words: Sequence[str]) -> str:
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


# ---- edits -------------------------------------------------------------------


def _render(
    program: Program, passed: Sequence[Answer], style: Style, options: Options
) -> tuple[list[Edit], dict[int, Answer]]:
    """The edits, and the answers that turned out not to be printable."""
    from fortrans.emit.layout import render

    edits: list[Edit] = []
    refused: dict[int, Answer] = {}
    groups: dict[int, list[Answer]] = {}
    for answer in passed:
        groups.setdefault(answer.place.span.first, []).append(answer)
    for group in groups.values():
        texts: dict[int, str] = {}
        for answer in group:
            assert answer.plan is not None
            place = answer.place
            if len(group) > 1:
                # Each is printed by itself; the first one carries the lines as they were.
                first = answer is group[0]
                place = replace(place, before=(), after=(), original=place.original if first else ())
                place = replace(place, comments=place.comments if first else ())
            template = "reduction" if answer.plan.code == "FT102" else "assignment"
            try:
                edit = render(place, answer.plan.body, style, options, template=template)
            except (Refusal, TypeError, ValueError) as problem:
                if options.strict and not isinstance(problem, Refusal):
                    raise
                refusal = problem if isinstance(problem, Refusal) else _fault(problem)
                refused[id(answer)] = replace(
                    answer, plan=None, remark=_missed(program, answer.place, refusal)
                )
                continue
            texts[answer.executable.statement.ordinal] = edit.text
            if len(group) == 1:
                edits.append(edit)
        if len(group) > 1 and texts:
            edits.append(_joined(program, group[0], texts))
    return edits, refused


def _joined(program: Program, first: Answer, texts: dict[int, str]) -> Edit:
    """Several statements of one line rewritten: each on lines of its own, in order."""
    own = first.executable.statement
    newline = "\r\n" if first.place.original[0].endswith("\r\n") else "\n"
    start = own.ordinal - own.position
    parts = []
    for sibling in program.statements[start : start + own.siblings]:
        text = texts.get(sibling.ordinal)
        if text is None:
            label = f"{sibling.label} " if sibling.label else ""
            text = f"{own.indent}{label}{sibling.text}"
        parts.append(text.removesuffix(newline))
    ended = first.place.original[-1].endswith("\n")
    return Edit(first.place.span, newline.join(parts) + (newline if ended else ""))


# ---- stages --------------------------------------------------------------------


def show(stage: str, source: Source, options: Options, context: Sequence[Source] = ()) -> str:
    """What stands after ``stage``, as text; USE looks in ``context`` too.  Raises InputError."""
    from fortrans import stages

    return stages.show(stage, source, options, context)
