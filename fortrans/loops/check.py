"""``fortrans check --do-concurrent``: whether the user's loops may run their iterations in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fortrans.emit import printer
from fortrans.emit.style import Spelling, Style, detect
from fortrans.frontend.modules import index
from fortrans.frontend.nests import nests
from fortrans.frontend.resolve import resolve
from fortrans.frontend.units import Program, read
from fortrans.ir.expr import Expr, Name
from fortrans.ir.loops import Block, Body, Branch, Index, Jump, Loop, Node
from fortrans.loops.files import faults, procedures, readable, unreadable
from fortrans.loops.storage import doubts
from fortrans.options import Options
from fortrans.polyhedral.concurrency import Conflict, Sharing, Undecided, conflicts
from fortrans.polyhedral.instances import Around, Condition, defined, nest
from fortrans.remarks import Kind, Remark
from fortrans.source import Source, Span

LEGAL, CONFLICT, UNKNOWN = "FT355", "FT356", "FT357"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which loops are checked besides DO CONCURRENT."""

    openmp: bool = False
    candidates: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """The remarks about a file's loops, and whether a loop that claims to be parallel is not legal."""

    remarks: tuple[Remark, ...]
    conflict: bool


def check(
    source: Source, options: Options, context: Sequence[Source] = (), wanted: Wanted | None = None
) -> Checked:
    """Each loop of a file that is to be checked.  Raises InputError when the file cannot be read."""
    program = read(source)
    scopes = resolve(program, index([program, *readable(context)]), options.assume_intrinsics)
    checker = _Checker(program, detect(source), wanted or Wanted())
    for unit in procedures(program):
        if (remark := unreadable(program, unit)) is not None:
            checker.remarks.append(remark)
        else:
            with faults(source, options):
                body = nests(program, scopes, unit)
                checker.nodes(body.nodes, (), body)
    checker.remarks.sort(key=lambda remark: remark.span)
    return Checked(tuple(checker.remarks), checker.conflict)


class _Checker:
    """Goes through the loops of a file."""

    def __init__(self, program: Program, style: Style, wanted: Wanted) -> None:
        self.program = program
        self.spelling = Spelling({}, style.spellings, style.upper, style.upper_names)
        self.wanted = wanted
        self.remarks: list[Remark] = []
        self.conflict = False
        self.collapsed: list[Loop] = []

    def nodes(self, nodes: Sequence[Node], around: tuple[Around, ...], body: Body) -> None:
        """Check the loops among ``nodes`` and in them."""
        for node in nodes:
            match node:
                case Loop(body=inner):
                    if (what := self._asked(node)) and node not in self.collapsed:
                        self._loop(node, what, around, body)
                    if _levels(node) > len(node.indices):
                        self.collapsed += [x for x in node.body if isinstance(x, Loop)]
                    self.nodes(inner, (*around, node), body)
                case Block(body=inner):
                    self.nodes(inner, around, body)
                case Branch(arms=arms):
                    before: tuple[tuple[Expr, bool], ...] = ()
                    for arm in arms:
                        own = before if arm.test is None else (*before, (arm.test, True))
                        changing = frozenset[str]().union(*map(defined, arm.body))
                        self.nodes(arm.body, (*around, Condition(own, changing)), body)
                        before = before if arm.test is None else (*before, (arm.test, False))
                case _:
                    pass

    def _asked(self, loop: Loop) -> str:
        """What kind of loop is to be checked, as a remark names it; "" when it is not."""
        if loop.concurrent:
            return "DO CONCURRENT"
        if loop.directive:
            return f"Loop of '!${loop.directive.partition(' collapse')[0]}'" if self.wanted.openmp else ""
        return "DO loop" if self.wanted.candidates else ""

    # -- one loop

    def _loop(self, loop: Loop, what: str, around: tuple[Around, ...], body: Body) -> None:
        spec = loop.locality
        own = frozenset(_declared(loop)) | spec.own | spec.reduced
        sharing = Sharing(own, spec.shared, spec.strict)
        found = nest(loop, body.parameters, around=around)
        for span, why in (*_leaving(loop), *found.flaws, *doubts(found, own)):
            self._say(loop, UNKNOWN, f"{what} is not decided: {self._at(span, loop)}{why}")
            return
        try:
            answers = conflicts(found, _levels(loop), sharing, body.parameters)
        except Undecided as problem:
            self._say(loop, UNKNOWN, f"{what} is not decided: {problem}")
            return
        for conflict in answers:
            clash = self._clash(conflict)
            if conflict.sure:
                self.conflict |= bool(loop.concurrent or loop.directive)
                claim = "is not legal" if loop.concurrent or loop.directive else "cannot be DO CONCURRENT"
                self._say(loop, CONFLICT, f"{what} {claim}: {clash}, {self._example(conflict, loop, body)}")
            else:
                self._say(loop, UNKNOWN, f"{what} is not decided: {clash}, {self._doubt(conflict)}")
        if not answers:
            claim = "is legal" if loop.concurrent or loop.directive else "can be DO CONCURRENT"
            self._say(loop, LEGAL, f"{what} {claim}: no iteration references what another defines")

    def _say(self, loop: Loop, code: str, message: str) -> None:
        kind = Kind.PASSED if code == LEGAL else Kind.MISSED
        line = Span(loop.span.first, loop.span.first)
        remark = Remark(self.program.source.path, line, code, kind, message)
        if remark not in self.remarks:
            self.remarks.append(remark)

    def _at(self, span: Span, loop: Loop) -> str:
        return "" if span.first == loop.span.first else f"Line {span.first}: "

    def _text(self, expr: Expr) -> str:
        return printer.text(expr, self.spelling)

    def _clash(self, conflict: Conflict) -> str:
        """What the two references do."""
        (write, one), (other, two) = conflict.write, conflict.other
        first = f"'{self._text(one.access.designator)}' in line {write.statement.span.first}"
        second = f"'{self._text(two.access.designator)}' in line {other.statement.span.first}"
        may = "" if conflict.sure else "may "
        s = "s" if conflict.sure else ""
        if not two.access.write:
            return f"{first} {may}define{s} what {second} reads"
        if one.access is two.access and write.statement is other.statement:
            what = "the same element" if one.access.subscripts else "one variable"
            return f"{first} {may}define{s} {what} in two iterations"
        return f"{first} and {second} {may}define the same element in two iterations"

    def _example(self, conflict: Conflict, loop: Loop, body: Body) -> str:
        """``for i = 1 and i = 2 when n = 3``: two iterations, and values of parameters."""
        example = conflict.example
        assert example is not None
        names = [self.spelling.name(index.name) for index in _headers(loop)]
        first, second = (
            ", ".join(f"{name} = {value}" for name, value in zip(names, iteration))
            for iteration in (example.first, example.second)
        )
        given = self._parameters(example.parameters, body)
        return f"for {first} and {second}{f' when {given}' if given else ''}"

    def _parameters(self, values: Mapping[Expr, int], body: Body) -> str:
        """``n = 3 and size(a, 1) = 2``."""
        texts = []
        for expr, value in values.items():
            known = body.parameters.get(expr.id) if isinstance(expr, Name) else None
            texts.append(f"{self._text(expr if known is None else known.value)} = {value}")
        *before, last = texts or [""]
        return f"{', '.join(before)} and {last}" if before else last

    def _doubt(self, conflict: Conflict) -> str:
        """Why a conflict is not sure."""
        for instance, touch in (conflict.write, conflict.other):
            if not instance.exact:
                return f"since {instance.why}"
            if not touch.exact:
                return f"since '{self._text(touch.access.designator)}' is not affine"
        return "since too little is known of values, or of what the iteration has defined before"


def _levels(loop: Loop) -> int:
    """How many loops, from the outermost, run their iterations in any order."""
    collapsed = loop.directive.partition("collapse(")[2].rstrip(")")
    return int(collapsed) if collapsed.isdigit() else len(loop.indices)


def _headers(loop: Loop) -> list[Index]:
    """The indices of the loops whose iterations run in any order."""
    found = list(loop.indices)
    inner: Loop | None = loop
    while inner is not None and len(found) < _levels(loop):
        inner = next((node for node in inner.body if isinstance(node, Loop)), None)
        found += () if inner is None else inner.indices
    return found


def _declared(node: Node) -> Iterator[str]:
    """The variables of BLOCK constructs in a node: each iteration's own."""
    match node:
        case Block(names, body):
            yield from names
            for inner in body:
                yield from _declared(inner)
        case Loop(body=body):
            for inner in body:
                yield from _declared(inner)
        case Branch(arms=arms):
            for arm in arms:
                for inner in arm.body:
                    yield from _declared(inner)
        case _:
            pass


def _leaving(loop: Loop) -> Iterator[tuple[Span, str]]:
    """EXIT statements that may leave ``loop``."""

    def inside(nodes: Sequence[Node], innermost: bool) -> Iterator[tuple[Span, str]]:
        for node in nodes:
            match node:
                case Jump(text, span):
                    named = text.strip() not in ("exit", "cycle")
                    if text.startswith("exit") and (innermost or named):
                        yield span, "EXIT may leave the loop"
                case Loop(body=body):
                    yield from inside(body, False)
                case Block(body=body):
                    yield from inside(body, innermost)
                case Branch(arms=arms):
                    for arm in arms:
                        yield from inside(arm.body, innermost)
                case _:
                    pass

    return inside(loop.body, True)
