"""What stands after each stage, as text: how one debugs fortrans (``fortrans show``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from fortrans.emit import printer
from fortrans.emit.style import Spelling
from fortrans.frontend import units
from fortrans.frontend.candidates import Candidates, conditional
from fortrans.frontend.conditions import lift_condition
from fortrans.frontend.entities import Entity
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import Scopes, resolve
from fortrans.frontend.tokens import words
from fortrans.intrinsics import fresh_indices
from fortrans.ir.arrays import Array, Scalar, element, rank, shape
from fortrans.ir.expr import At, Call, Expr, Keyword, Locate, Name, Range, Reduce, Ref, Select, transform
from fortrans.ir.fresh import Fresh
from fortrans.ir.sites import Assignment
from fortrans.ir.symbols import DerivedType, Generic, Procedure, Symbol, Unresolved
from fortrans.ir.written import as_source
from fortrans.options import Options
from fortrans.remarks import InputError, Refusal
from fortrans.source import Source

_PLAIN = Spelling()


# Words of specification statements.  They are names, too, but only where something declares them.
_KEYWORDS = frozenset(
    """abstract all allocatable assignment asynchronous bind block c character class codimension
    common complex contains contiguous data default deferred dimension double elemental end entry
    enum enumerator equivalence extends external final format formatted function generic implicit
    import impure in include inout integer intent interface intrinsic is kind len logical module
    name namelist non_intrinsic non_overridable none nopass only operator optional out parameter
    pass pointer precision private procedure protected public pure read real recursive result save
    sequence subroutine target type unformatted use value volatile write""".split()
)


def show(stage: str, source: Source, options: Options, context: Sequence[Source] = ()) -> str:
    """The text of ``stage`` for one file.  Raises InputError when it cannot be read."""
    program = units.read(source)
    match stage:
        case "lines":
            return "\n".join(_lines(program))
        case "units":
            return "\n".join(_units(program.units, 0))
    modules = index([program, *_readable(context)])
    scopes = resolve(program, modules, options.assume_intrinsics)
    match stage:
        case "symbols":
            return "\n".join(_symbols(program, scopes))
        case "nests":
            return "\n".join(_nests(program, scopes, options))
        case _:
            return "\n".join(_sites(program, scopes, stage))


def _readable(context: Sequence[Source]) -> Iterator[units.Program]:
    for source in context:
        with suppress(InputError):
            yield units.read(source)


def _lines(program: units.Program) -> Iterator[str]:
    for statement in program.statements:
        label = f"{statement.label} " if statement.label else ""
        yield f"{statement.span.first}-{statement.span.last}: {label}{statement.text}"


def _units(found: tuple[units.Unit, ...] | list[units.Unit], level: int) -> Iterator[str]:
    for unit in found:
        first = unit.opening.span.first if unit.opening else 1
        broken = f"  ({unit.broken})" if unit.broken else ""
        yield f"{'  ' * level}{unit.kind} {unit.name} at line {first}{broken}"
        yield from _units(unit.children, level + 1)


def _symbols(program: units.Program, scopes: Scopes) -> Iterator[str]:
    for unit in program.walk():
        if unit.program_unit is not unit:
            continue
        scope = scopes.of(unit)
        yield f"{unit.kind} {unit.name}"
        seen = dict.fromkeys(w.lower() for s in unit.specification for w in words(s.text))
        for name in seen:
            declared = isinstance(scope.frame.trace(name)[0], Entity)
            if name in _KEYWORDS and not declared:
                continue
            match scope.lookup(name):
                case Symbol() as symbol if symbol.origin == scope.unit:
                    yield f"  {_symbol(symbol)}"
                case Procedure(form=form, pure=pure, elemental=elemental) if declared:
                    kinds = [w for w, on in (("pure", pure), ("elemental", elemental)) if on]
                    yield f"  {name}: {' '.join((*kinds, form))} procedure"
                case Unresolved(why=why) if why != "it is not declared":
                    yield f"  {name}: unknown, {why}"
                case DerivedType() if declared:
                    yield f"  {name}: derived type"
                case Generic() if declared:
                    yield f"  {name}: generic name"


def _symbol(symbol: Symbol) -> str:
    spelled = symbol.type.spelling or symbol.type.name
    bounds = ", ".join(
        printer.text(Range(dim.lower, dim.upper), _PLAIN) if dim.form != "deferred" else ":"
        for dim in symbol.dims
    )
    shape_ = f"({bounds})" if symbol.dims else ""
    extra = "".join(f", {attribute}" for attribute in sorted(symbol.attributes))
    return f"{symbol.name}{shape_}: {spelled}{extra}"


def _sites(program: units.Program, scopes: Scopes, stage: str) -> Iterator[str]:
    from fortrans.decision import lift
    from fortrans.frontend.masks import is_where

    for executable in Candidates(program, scopes):
        place = program.place(executable)
        where = f"{place.span.first}:"
        fresh = Fresh(words(program.source.text))
        found: list[Assignment] = []
        try:
            if executable.kind == "assignment" or is_where(executable):
                site = lift(program, executable, place, scopes, fresh)
                found += [] if site is None else [site]
            if conditional(executable) and not is_where(executable):
                test = lift_condition(program, executable, place, scopes.at(executable), fresh)
                found += [] if test is None else [leaf.site for leaf in test.leaves]
        except Refusal as refusal:
            yield f"{where} {refusal.code} {refusal.message}"
        for site in found:
            yield from (f"{where} {text}" for text in _site(site, stage))


def _site(site: Assignment, stage: str) -> Iterator[str]:
    for capture in site.captures:
        yield f"{capture.name} = {_text(capture.value)}"
    if stage == "arrays":
        yield f"{_array(site.lhs)} = {_array(site.rhs)}"
        return
    with fresh_indices():
        index_ = tuple(Name(f"j{d + 1}") for d in range(rank(site.lhs)))
        braces = f"{{{', '.join(x.id for x in index_)}}}" if index_ else ""
        value = element(site.rhs, index_ if rank(site.rhs) else ())
        yield f"{_text(as_source(site.lhs))}{braces} => {_text(value)}"


def _array(array: Array) -> str:
    extents = ", ".join(_text(extent) for extent in shape(array))
    text = _text(as_source(array))
    return text if isinstance(array, Scalar) else f"{text} [{extents}]"


def _text(expr: Expr) -> str:
    return printer.text(_printable(expr), _PLAIN)


def _printable(expr: Expr) -> Expr:
    """Choices and reductions as calls, so that they print: ``select(test, a, b)``, ``sum(k=n: body)``."""

    def visit(x: Expr) -> Expr | None:
        match x:
            case Select(test, then, other):
                return Call("select", tuple(map(_printable, (test, then, other))))
            case Reduce(op, _, indices, body, mask):
                limits = tuple(Keyword(name.id, Range(None, _printable(extent))) for name, extent in indices)
                masked = () if mask is None else (Keyword("mask", _printable(mask)),)
                return Call(op, (*limits, _printable(body), *masked))
            case Locate(op, indices=indices, body=body):
                limits = tuple(Keyword(name.id, Range(None, _printable(extent))) for name, extent in indices)
                given = {"value": x.value, "mask": x.mask, "back": x.back}
                named = (Keyword(key, _printable(y)) for key, y in given.items() if y is not None)
                found = Call(op, (*limits, _printable(body), *named))
                return found if x.part is None else Ref(found, (_printable(x.part),))
            case At(origin, at, body):
                if body is not None:
                    return _printable(body)
                return Call("element", (as_source(origin), *map(_printable, at)))
            case _:
                return None

    return transform(expr, visit)


def _nests(program: units.Program, scopes: Scopes, options: Options) -> Iterator[str]:
    from fortrans.emit.style import detect
    from fortrans.outcome import render_answer
    from fortrans.pipeline import answer

    style = detect(program.source)
    for executable in Candidates(program, scopes):
        found = answer(program, executable, scopes, Fresh(words(program.source.text)), options)
        if found is None:
            continue
        yield str(found.remark)
        if found.passed:
            place = replace(found.place, before=(), after=())
            edit, *_ = render_answer(program, found, place, style, options)
            yield edit.text.rstrip("\n")
