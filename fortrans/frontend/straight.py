"""What ALLOCATE statements right before an assignment tell of its left side."""

from __future__ import annotations

from dataclasses import replace

from fortrans.frontend.allocations import read
from fortrans.frontend.candidates import sides
from fortrans.frontend.designators import section_extent
from fortrans.frontend.lift import EXPOSED
from fortrans.frontend.tokens import words
from fortrans.frontend.units import Executable, Program
from fortrans.ir.arrays import Section, shaped
from fortrans.ir.expr import ONE, Expr, Literal, Name, Op, Range, Ref, Shape, names, walk
from fortrans.ir.sites import Assignment
from fortrans.ir.symbols import INTEGER, Intrinsic, Scope, Symbol
from fortrans.remarks import Refusal

_CHANGING = EXPOSED | {"volatile", "asynchronous", "implicit"}


def with_extents(site: Assignment, program: Program, executable: Executable) -> Assignment:
    """The site with the extents of an allocatable left side, where they are surely known."""
    if not (site.reallocates and isinstance(site.lhs, Section)):
        return site
    extents = surely_allocated(program, executable, site.lhs.base, site.scope)
    return site if extents is None else replace(site, lhs=shaped(site.lhs, extents))


def surely_allocated(program: Program, executable: Executable, target: Expr, scope: Scope) -> Shape | None:
    """The extents that the whole array ``target`` surely has where it is assigned; None when not known.

    It is allocated in straight-line code before, without STAT=; between are other ALLOCATE
    statements and assignments of intrinsic type, which define no bound and reference no function
    of the user's.
    """
    passed: set[str] = set()
    later = executable
    if not _plain_words(later, scope):
        return None
    for ordinal in range(executable.ordinal - 1, -1, -1):
        earlier = program.found[ordinal]
        if not _follows(later, earlier):
            return None
        if earlier.kind == "assignment":
            if not _plain_words(earlier, scope):
                return None
            passed.add(words(sides(earlier.statement.text)[0])[0])
        else:
            try:
                statement = read(earlier.statement.text)
            except Refusal:
                return None
            if statement is None or "stat" in statement.keywords:
                return None
            for x in statement.objects:
                if isinstance(x, Ref) and x.base == target:
                    found = _extents(x, scope)
                    changed = found is None or passed & {id for y in (target, *found) for id in names(y)}
                    return None if changed else found
        later = earlier
    return None


def _plain_words(executable: Executable, scope: Scope) -> bool:
    """Whether an assignment names variables of intrinsic type and intrinsic procedures only."""
    for word in words(executable.statement.text):
        match scope.lookup(word):
            case Symbol(type=type) if type.name not in ("type", "class"):
                continue
            case Intrinsic():
                continue
        return False
    return True


def _follows(later: Executable, earlier: Executable) -> bool:
    """Whether ``later`` is always executed right after ``earlier``, a statement we look at."""
    return (
        earlier.kind in ("allocate", "assignment")
        and earlier.statement.ordinal + 1 == later.statement.ordinal
        and later.statement.label is None
        and earlier.condition is None
        and earlier.where is None
        and earlier.forall is None
        and later.unit is earlier.unit
        and [(x.key, x.guard) for x in later.constructs] == [(x.key, x.guard) for x in earlier.constructs]
        and not (earlier.preprocessed or earlier.statement.conditional or earlier.statement.sentinel)
    )


def _extents(written: Ref, scope: Scope) -> Shape | None:
    """The extents that an object's bounds give, of constants and plain variables; None otherwise."""
    found = []
    for bound in written.subscripts:
        first, last = (bound.first or ONE, bound.last) if isinstance(bound, Range) else (ONE, bound)
        if last is None or not all(_plain(x, scope) for x in (first, last)):
            return None
        found.append(section_extent(first, last, ONE))
    return tuple(found)


def _plain(bound: Expr, scope: Scope) -> bool:
    """Whether a bound is arithmetic of default integers that nothing else can define."""
    for x in walk(bound):
        match x:
            case Literal(text) if text.isdigit():
                continue
            case Op("+" | "-" | "*" | "()"):
                continue
            case Name(id):
                symbol = scope.lookup(id)
                plain = isinstance(symbol, Symbol) and not symbol.attributes & _CHANGING
                if plain and isinstance(symbol, Symbol) and symbol.type == INTEGER:
                    continue
        return False
    return True
