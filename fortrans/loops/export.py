"""``fortrans export --openscop``: the nests of a file as OpenScop files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from fortrans.emit import printer
from fortrans.emit.style import Spelling, Style, detect
from fortrans.frontend.modules import ModuleIndex, index
from fortrans.frontend.nests import nests
from fortrans.frontend.resolve import Scopes, resolve
from fortrans.frontend.units import Program, Unit, read
from fortrans.ir.expr import Expr, Name
from fortrans.ir.loops import Block, Body, Branch, Loop, Node
from fortrans.loops import emitted
from fortrans.loops.files import faults, procedures, readable, unreadable
from fortrans.loops.storage import doubts
from fortrans.options import Options
from fortrans.polyhedral.affine import Facts
from fortrans.polyhedral.domain import Constraint
from fortrans.polyhedral.forms import NotAffine, of_atom
from fortrans.polyhedral.instances import Instance, Nest, nest, signs_wanted
from fortrans.polyhedral.openscop import Coordinates, dumps
from fortrans.polyhedral.scops import Layout, Naming, forms, leaves, scop
from fortrans.remarks import InputError, Kind, Remark
from fortrans.source import Source, Span

__all__ = ["Export", "Exports", "Layout", "export"]

EXPORTED, LEFT = "FT351", "FT352"


@dataclass(frozen=True, slots=True)
class Export:
    """One OpenScop file: the name it is given, and its text."""

    name: str
    text: str


@dataclass(slots=True)
class Exports:
    """What a file gave: the OpenScop files, and a remark for each nest."""

    files: list[Export] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


def export(
    source: Source,
    options: Options,
    context: Sequence[Source] = (),
    layout: Layout | None = None,
    unit: str | None = None,
) -> Exports:
    """The nests of a file: those the user wrote, and those that ``rewrite`` would emit.

    ``unit`` names the one program unit that is asked for.  Raises InputError when the file cannot
    be read, or has no such unit.
    """
    program = read(source)
    modules = index([program, *readable(context)])
    scopes = resolve(program, modules, options.assume_intrinsics)
    units = list(procedures(program))
    if unit is not None:
        units = [u for u in units if unit.lower() in (u.name, _title(u))]
        if not units:
            raise InputError(source.path, f"File has no program unit '{unit}'")
    exporter = _Exporter(program, detect(source), layout or Layout())
    with faults(source, options):
        for found in units:
            if (remark := unreadable(program, found)) is not None:
                exporter.result.remarks.append(remark)
            else:
                exporter.unit(found, nests(program, scopes, found))
        exporter.emitted(units, modules, scopes, options)
    exporter.result.remarks.sort(key=lambda remark: remark.span)
    return exporter.result


def _title(unit: Unit) -> str:
    return unit.name or "main"


@dataclass(frozen=True, slots=True)
class _Refused(Exception):
    """Why a nest is not exported, and where."""

    span: Span
    why: str
    inner: bool = True
    """Whether a loop inside may still be exported."""


@dataclass(slots=True)
class _Exporter:
    program: Program
    style: Style
    layout: Layout
    result: Exports = field(default_factory=Exports)
    _names: dict[str, int] = field(default_factory=dict)
    _said: set[tuple[Span, str]] = field(default_factory=set)

    # -- which nests there are

    def unit(self, unit: Unit, body: Body) -> None:
        """The nests the user wrote in one program unit, outermost first."""
        for loop in _outermost(body.nodes):
            self._tried(loop, body, _title(unit))

    def emitted(
        self, units: Sequence[Unit], modules: ModuleIndex, scopes: Scopes, options: Options
    ) -> None:
        """The nests that ``rewrite`` would emit in ``units``."""
        from fortrans.decision import identifiers
        from fortrans.pipeline import answer_all

        wanted = {id(unit) for unit in units}
        for answer in answer_all(self.program, modules, options):
            unit = answer.executable.unit.program_unit
            if answer.plan is None or id(unit) not in wanted:
                continue
            scope = scopes.at(answer.executable)
            words = identifiers(self.program, unit)
            body = emitted.body(answer.plan.body, scope, answer.place.span, unit.name, words)
            for loop in _outermost(body.nodes):
                self._tried(loop, body, _title(unit), ".emitted")

    def _tried(self, loop: Loop, body: Body, unit: str, suffix: str = "") -> None:
        """Export ``loop``, or say why not and try the loops in it."""
        try:
            self._export(loop, body, unit, suffix)
        except _Refused as refused:
            if (refused.span, refused.why) not in self._said:
                self._said.add((refused.span, refused.why))
                what = "Emitted loop nest" if suffix else "Loop nest"
                self._remark(refused.span, LEFT, Kind.MISSED, f"{what} is not exported: {refused.why}")
            for inner in _outermost(loop.body) if refused.inner else ():
                self._tried(inner, body, unit, suffix)

    def _remark(self, span: Span, code: str, kind: Kind, message: str) -> None:
        self.result.remarks.append(Remark(self.program.source.path, span, code, kind, message))

    # -- one nest

    def _export(self, loop: Loop, body: Body, unit: str, suffix: str) -> None:
        assumed = signs_wanted(loop, body.parameters)
        facts = Facts(least={Name(name): 0 for name in assumed})
        found = nest(loop, body.parameters, facts)
        _check(found)
        made = _without_parameters([x for x in found.instances if x.statement.target is not None])
        if not made:
            raise _Refused(loop.span, "No statement in it is ever executed", inner=False)
        naming = self._naming()
        context = [Constraint(of_atom(Name(name))) for name in assumed]
        context += [
            Constraint(of_atom(Name(name)))
            for name, parameter in body.parameters.items()
            if parameter.extent and name not in assumed and _mentions(made, name)
        ]
        path = self.program.source.path
        try:
            content = scop(
                made,
                [self._body(instance) for instance in made],
                context,
                naming,
                self.layout,
                Coordinates(PurePath(path).name, loop.span.first, loop.span.last, self._indent(loop)),
                self._comments(loop, body, made, unit),
            )
        except NotAffine as problem:
            raise _Refused(loop.span, f"{problem.args[0][:1].upper()}{problem.args[0][1:]}") from None
        name = self._name(unit, loop, suffix)
        self.result.files.append(Export(name, dumps(content)))
        count = f"{len(made)} statement{'s' if len(made) > 1 else ''}"
        only = f", for {' and '.join(f'{naming.name(n)} >= 0' for n in assumed)} only" if assumed else ""
        what = "Emitted loop nest" if suffix else "Loop nest"
        message = f"{what} of {count} is exported as '{name}'{only}"
        self._remark(Span(loop.span.first, loop.span.first), EXPORTED, Kind.PASSED, message)

    def _indent(self, loop: Loop) -> int:
        line = self.program.lines[loop.span.first - 1]
        return len(line) - len(line.lstrip())

    def _name(self, unit: str, loop: Loop, suffix: str) -> str:
        stem = PurePath(self.program.source.path).stem
        name = f"{stem}.{unit}.{loop.span.first}{suffix}"
        number = self._names[name] = self._names.get(name, 0) + 1
        return f"{name}.{number}.scop" if number > 1 else f"{name}.scop"

    def _naming(self) -> Naming:
        spelling = self._spelling()

        def name(id: str) -> str:
            return "%".join(map(spelling.name, id.split("%")))

        def parameter(expr: Expr) -> str:
            if isinstance(expr, Name):
                return name(expr.id)
            return re.sub(r"\W+", "_", printer.text(expr, spelling)).strip("_")

        return Naming(name, parameter)

    def _spelling(self) -> Spelling:
        return Spelling({}, self.style.spellings, self.style.upper, self.style.upper_names)

    def _body(self, instance: Instance) -> str:
        spelling, statement = self._spelling(), instance.statement
        assert statement.target is not None
        return f"{printer.text(statement.target, spelling)} = {printer.text(statement.value, spelling)}"

    def _comments(self, loop: Loop, body: Body, made: Sequence[Instance], unit: str) -> tuple[str, ...]:
        spelling = self._spelling()
        path = PurePath(self.program.source.path).name
        lines = [f"Loop nest of '{unit}', {path}, lines {loop.span.first} to {loop.span.last}"]
        if self.layout.c_order:
            lines.append("Subscripts stand in reverse order, as tools for row-major arrays expect them")
        for name, parameter in body.parameters.items():
            if _mentions(made, name):
                lines.append(f"{name} is {printer.text(parameter.value, spelling)}")
        return tuple(lines)


def _outermost(nodes: Sequence[Node]) -> Iterator[Loop]:
    """The loops that no other loop of ``nodes`` encloses."""
    for node in nodes:
        match node:
            case Loop():
                yield node
            case Block(body=inner):
                yield from _outermost(inner)
            case Branch(arms=arms):
                for arm in arms:
                    yield from _outermost(arm.body)
            case _:
                pass


def _without_parameters(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """``instances`` whose reads leave out scalars that are parameters of the nest."""
    parameters = {
        leaf.id for x in instances for form in forms(x) for leaf in leaves(form) if isinstance(leaf, Name)
    }
    return tuple(
        replace(
            instance,
            touches=tuple(
                touch
                for touch in instance.touches
                if touch.access.write or touch.access.subscripts or touch.access.array not in parameters
            ),
        )
        for instance in instances
    )


def _mentions(instances: Sequence[Instance], name: str) -> bool:
    return any(Name(name) in form.atoms() for instance in instances for form in forms(instance))


def _check(found: Nest) -> None:
    """Raise _Refused unless every iteration and every write is known exactly."""
    for span, why in found.flaws:
        raise _Refused(span, why)
    for instance in found.instances:
        if not instance.exact:
            raise _Refused(instance.statement.span, f"{instance.why[:1].upper()}{instance.why[1:]}")
        if instance.statement.target is None:
            raise _Refused(instance.statement.span, "A bound or test reads data")
        for touch in instance.touches:
            if touch.access.write and not touch.exact:
                text = printer.text(touch.access.designator, Spelling())
                raise _Refused(instance.statement.span, f"Write to '{text}' is not affine")
    for span, why in doubts(found):
        raise _Refused(span, why)

