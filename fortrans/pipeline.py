"""The flow of a file: text, units, scopes, sites, plans, edits, text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from fortrans.ir.expr import ImpliedDo, names, walk
from fortrans.ir.fresh import Fresh
from fortrans.ir.sites import Assignment, Place
from fortrans.ir.symbols import Symbol
from fortrans.ir.written import as_source
from fortrans.options import Options
from fortrans.outcome import done, done_condition, ends_of, fault, missed, render_all
from fortrans.remarks import InputError, Kind, Refusal, Remark
from fortrans.source import Edit, Source

if TYPE_CHECKING:
    from fortrans.frontend.modules import ModuleIndex
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Executable, Program, Unit
    from fortrans.transforms.plan import Plan

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
    """What was decided about one candidate: a plan, or none; and the one remark about it.

    ``condition`` is the plan for the condition before an assignment, or for a condition alone.
    """

    executable: Executable
    place: Place
    remark: Remark
    plan: Plan | None = None
    condition: Plan | None = None

    @property
    def passed(self) -> bool:
        """Whether anything is rewritten."""
        return self.plan is not None or self.condition is not None


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


def vocabulary(site: Assignment) -> frozenset[str]:
    """Every word in the terms of a site, lower case: names in bounds, kinds and lengths among them.

    Read off their printed form, which has a few words more; no name it has is missed.
    """
    captured = tuple((c.type, c.value, c.array) for c in site.captures)
    text = _KEY.sub("", repr((site.lhs, site.rhs, captured)).lower())
    own = {name for capture in site.captures for name in (capture.name, capture.count)}
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
    place = program.place(executable)
    try:
        return _decide(program, executable, place, scopes, fresh, options)
    except Refusal as refusal:
        return Answer(executable, place, missed(program, place, refusal))
    except Exception as problem:  # The one place where a fault of our own costs a statement, not the run.
        if options.strict:
            raise
        return Answer(executable, place, missed(program, place, fault(problem)))


def _decide(
    program: Program, executable: Executable, place: Place, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """As ``answer``; raises Refusal."""
    from fortrans.frontend.candidates import conditional, transforms

    conditions = conditional(executable)
    found = None
    if executable.kind == "assignment":
        try:
            found = _assignment(program, executable, place, scopes, fresh, options)
        except Refusal:
            if not conditions or transforms(executable.statement.text):
                raise
    if found is None:
        return _condition(program, executable, place, scopes, fresh, options) if conditions else None
    site, plan = found
    tested: Answer | None = None
    if conditions:
        # The names in the assignment's locals are taken: it stands inside the condition's BLOCK.
        with suppress(Refusal):
            tested = _condition(program, executable, place, scopes, fresh, options)
    message = done(site, plan) + (", its condition too" if tested else "")
    remark = Remark(program.source.path, place.span, plan.code, Kind.PASSED, message)
    return Answer(executable, place, remark, plan, tested.condition if tested else None)


def _assignment(
    program: Program, executable: Executable, place: Place, scopes: Scopes, fresh: Fresh, options: Options
) -> tuple[Assignment, Plan] | None:
    from fortrans.analysis import profit
    from fortrans.transforms.compose import compose

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
    site = replace(site, reallocates=site.reallocates and options.realloc_lhs)
    if not options.all:
        profit.check(site, options.target)
    plan = compose(site, fresh, options)
    if not options.all:
        profit.check_plan(site, plan.code, plan.maybe, options.target)
    return site, plan


def _condition(
    program: Program, executable: Executable, place: Place, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """The plan for the condition of a statement; raises Refusal."""
    from fortrans.analysis import profit
    from fortrans.frontend.conditions import lift_condition
    from fortrans.transforms.conditions import compose_condition

    scope = scopes.at(executable)
    site = lift_condition(program, executable, place, scope, fresh)
    if site is None:
        return None
    words = frozenset(word for leaf in site.leaves for word in vocabulary(leaf.site))
    words -= names(site.target.value)
    if fresh.clashes(words):
        fresh = Fresh(identifiers(program, executable.unit.program_unit) | words)
        site = lift_condition(program, executable, place, scope, fresh)
        assert site is not None
    fresh.reserve(words)
    for leaf in site.leaves:
        _check_implicit(leaf.site)
    if not options.all:
        site = profit.paying(site, options.target)
    plan = compose_condition(site, fresh, options)
    also = ends_of(program, executable)
    remark = Remark(
        program.source.path, place.span, plan.code, Kind.PASSED, done_condition(site, plan), also
    )
    return Answer(executable, place, remark, condition=plan)


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
    local |= {capture.name for capture in site.captures}
    for name in sorted({name for x in exprs for name in names(x)} - local):
        meaning = site.scope.lookup(name)
        if isinstance(meaning, Symbol) and "implicit" in meaning.attributes:
            raise Refusal("FT201", f"Name '{name}' is not declared, which a BLOCK around it would change")




# ---- stages --------------------------------------------------------------------


def show(stage: str, source: Source, options: Options, context: Sequence[Source] = ()) -> str:
    """What stands after ``stage``, as text; USE looks in ``context`` too.  Raises InputError."""
    from fortrans import stages

    return stages.show(stage, source, options, context)
