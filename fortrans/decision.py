"""What becomes of one statement: its site, its plan, its remark."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.ir.expr import Expr, ImpliedDo, names, walk
from fortrans.ir.fresh import Fresh
from fortrans.ir.masked import is_masked
from fortrans.ir.sites import Assignment, Place
from fortrans.ir.symbols import Symbol
from fortrans.ir.written import as_source
from fortrans.options import Options
from fortrans.outcome import done, done_condition, ends_of
from fortrans.remarks import Kind, Refusal, Remark

if TYPE_CHECKING:
    from fortrans.frontend.dims import VariableDim
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Executable, Program, Unit
    from fortrans.transforms.plan import Plan

_KEY = re.compile(r"'\w+': ")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*")


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


def vocabulary(site: Assignment) -> frozenset[str]:
    """Every word in the terms of a site, lower case: names in bounds, kinds and lengths among them.

    Read off their printed form, which has a few words more; no name it has is missed.
    """
    captured = tuple((c.type, c.value, c.array) for c in site.captures)
    text = _KEY.sub("", repr((site.lhs, site.rhs, captured, site.allocation)).lower())
    own = {name for capture in site.captures for name in (capture.name, capture.count)}
    return frozenset(_IDENTIFIER.findall(text)) - own


def identifiers(program: Program, unit: Unit) -> frozenset[str]:
    """Every word between the first and the last line of a program unit, lower case."""
    first = unit.opening.span.first if unit.opening else 1
    last = unit.closing.span.last if unit.closing else len(program.lines)
    return frozenset(_IDENTIFIER.findall("".join(program.lines[first - 1 : last]).lower()))


def decide(
    program: Program, executable: Executable, place: Place, scopes: Scopes, fresh: Fresh, options: Options
) -> Answer | None:
    """The answer for one candidate, None when it has no array work.  Raises Refusal."""
    from fortrans.frontend.candidates import conditional, has_source, transforms
    from fortrans.frontend.masks import is_where

    masked = is_where(executable)
    conditions = conditional(executable) and (executable.condition is not None or not masked)
    found = None
    if executable.kind == "assignment" or masked or has_source(executable):
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
    from fortrans.analysis.profit import elementwise
    from fortrans.frontend.dims import VariableDim, check_variable
    from fortrans.frontend.masks import is_where, works

    if is_where(executable):
        if not options.all and executable.where is not None and not works(executable):
            raise elementwise()
        return _composed(program, executable, place, scopes, fresh, options)
    if not options.all and not _worth_reading(executable, scopes, fresh):
        return None
    before = fresh.copy()
    try:
        return _composed(program, executable, place, scopes, fresh, options)
    except VariableDim as found:
        check_variable(found, executable, scopes.at(executable))
        return _by_dim(found, program, executable, place, scopes, before, options)


def _by_dim(
    found: VariableDim,
    program: Program,
    executable: Executable,
    place: Place,
    scopes: Scopes,
    fresh: Fresh,
    options: Options,
) -> tuple[Assignment, Plan]:
    """A nest for each value of a DIM that is not constant; raises Refusal."""
    from fortrans.frontend.dims import VariableDim
    from fortrans.frontend.expressions import convert
    from fortrans.frontend.parse import assignment
    from fortrans.ir.nest import Store
    from fortrans.transforms.dims import chosen

    arms: list[tuple[int, Plan]] = []
    sites: list[Assignment] = []
    left: list[Refusal] = []
    for value in range(1, found.highest + 1):
        try:
            made = _composed(
                program, executable, place, scopes, fresh.copy(), options, (found.dim, value)
            )
        except Refusal as refusal:
            # What is no DIM for another reference, or does not pay, meets the statement as it was.
            if refusal.code not in ("FT402", "FT601", "FT602", "FT603") or isinstance(refusal, VariableDim):
                raise
            left.append(refusal)
            continue
        if made is not None:
            sites.append(made[0])
            arms.append((value, made[1]))
    if not arms:
        raise left[0] if left else found
    node = assignment(executable.statement.text)
    original = Store(convert(node.items[0]), convert(node.items[2]))
    return sites[0], chosen(found.dim, arms, original, fresh)


def _composed(
    program: Program,
    executable: Executable,
    place: Place,
    scopes: Scopes,
    fresh: Fresh,
    options: Options,
    assumed: tuple[Expr, int] | None = None,
) -> tuple[Assignment, Plan] | None:
    from fortrans.analysis import locating, profit
    from fortrans.transforms.compose import compose

    site = lift(program, executable, place, scopes, fresh, assumed)
    if site is None:
        return None
    # Bounds and kinds may come from modules, with names that the program unit never writes.
    words = vocabulary(site)
    if fresh.clashes(words):
        fresh = Fresh(identifiers(program, executable.unit.program_unit) | words)
        site = lift(program, executable, place, scopes, fresh, assumed)
        assert site is not None
    fresh.reserve(words)
    if site.length is not None and not options.realloc_lhs:
        raise Refusal("FT205", "Character length of the left side is deferred, and --no-realloc-lhs given")
    site = replace(site, reallocates=site.reallocates and options.realloc_lhs)
    if is_masked(site.rhs):
        return _masked(site, fresh, options)
    itself = profit.of_itself(site)
    if not options.all and not itself:
        profit.check(site, options.target)
    if not options.all and options.target == "gfortran":
        site = locating.sparing(site)
    try:
        plan = compose(site, fresh, options)
    except Refusal:
        if itself and not options.all:
            profit.check(site, options.target)
        raise
    if not options.all and not (plan.form and profit.pays_in_place(site, plan.form, options.target)):
        if itself:
            profit.check(site, options.target)
        profit.check_plan(site, plan.code, plan.maybe, plan.tested, options.target)
    return site, plan


def _masked(site: Assignment, fresh: Fresh, options: Options) -> tuple[Assignment, Plan]:
    """The plan for a WHERE; raises Refusal."""
    from fortrans.analysis import profit
    from fortrans.transforms.compose import compose

    several = profit.shares_mask(site)
    if not options.all and not several:
        profit.check(site, options.target)
    plan = compose(site, fresh, options)
    if not options.all:
        profit.check_saved(plan.because)
        if several and options.target != "gfortran":
            profit.check(site, options.target)
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

    Raises Refusal (FT601) for an array assignment without, unless the array is read on the right with
    other subscripts: what that one computes need not be read, and most array statements are of this kind.
    """
    from fortrans.analysis.profit import elementwise
    from fortrans.analysis.storing import may_store_elsewhere
    from fortrans.frontend.candidates import (
        allowed,
        builds,
        readable,
        reads_elsewhere,
        sides,
        transforms,
    )
    from fortrans.frontend.expressions import convert
    from fortrans.frontend.lift import lift_target
    from fortrans.frontend.parse import expression
    from fortrans.frontend.tokens import words
    from fortrans.ir.arrays import Scalar

    if executable.kind == "allocate":
        return True
    left, right = sides(executable.statement.text)
    if transforms(right) or transforms(left) or builds(right):
        return True
    readable(executable)
    target = lift_target(convert(expression(left.strip())), scopes.at(executable), fresh)
    if isinstance(target, Scalar):
        return False
    allowed(executable)
    if reads_elsewhere(left, right) or may_store_elsewhere(target, words(right), scopes.at(executable)):
        return True
    raise elementwise()


def lift(
    program: Program,
    executable: Executable,
    place: Place,
    scopes: Scopes,
    fresh: Fresh,
    assumed: tuple[Expr, int] | None = None,
) -> Assignment | None:
    """The site of an executable; raises Refusal where nothing may be rewritten at that place."""
    from fortrans.frontend.candidates import readable, sides, transforms
    from fortrans.frontend.expressions import convert
    from fortrans.frontend.lift import lift_assignment, lift_target
    from fortrans.frontend.masks import is_where, lift_where
    from fortrans.frontend.parse import assignment, expression
    from fortrans.frontend.straight import with_extents
    from fortrans.ir.arrays import Scalar

    readable(executable)
    scope = scopes.at(executable)
    if is_where(executable):
        masked = lift_where(program, executable, place, scope, fresh)
        _check_implicit(masked)
        return masked
    if executable.kind == "allocate":
        from fortrans.frontend.allocations import lift_allocation

        return _checked(lift_allocation(place, executable.statement.text, scope, fresh), executable)
    left, right = sides(executable.statement.text)
    # Without array work on the left, and no such reference, there is none whatever the right side is.
    bare = not (transforms(right) or transforms(left))
    if bare and isinstance(lift_target(convert(expression(left.strip())), scope, fresh), Scalar):
        return None
    node = assignment(executable.statement.text)
    lhs, rhs = convert(node.items[0]), convert(node.items[2])
    site = lift_assignment(place, lhs, rhs, scope, fresh, assumed)
    return _checked(site and with_extents(site, program, executable), executable)


def _checked(site: Assignment | None, executable: Executable) -> Assignment | None:
    from fortrans.frontend.candidates import allowed

    if site is not None:
        allowed(executable)
        _check_implicit(site)
    return site


def _check_implicit(site: Assignment) -> None:
    """Raise Refusal for a variable that nothing but references declare.

    gfortran takes the first reference in the text as the declaration, and inside a BLOCK makes of
    it a variable of the BLOCK: what is first named in an emitted BLOCK would be another variable.
    """
    exprs: tuple[Expr, ...] = (as_source(site.lhs), as_source(site.rhs))
    exprs += tuple(capture.value for capture in site.captures)
    if site.allocation is not None:
        exprs += tuple(x for room in site.allocation.rooms for x in (room.base, *room.bounds))
        exprs += site.allocation.keywords
    local = {loop.name for x in exprs for loop in walk(x) if isinstance(loop, ImpliedDo)}
    local |= {name for capture in site.captures for name in (capture.name, capture.count)}
    for name in sorted({name for x in exprs for name in names(x)} - local):
        meaning = site.scope.lookup(name)
        if isinstance(meaning, Symbol) and "implicit" in meaning.attributes:
            raise Refusal("FT201", f"Name '{name}' is not declared, which a BLOCK around it would change")
