"""The loops of the user's program units as trees (``fortrans.ir.loops``).

A scalar integer assigned index arithmetic is replaced by it as long as neither it nor what it was
computed from can have changed: a forward pass over the statements, which forgets a value wherever
a branch, a loop, a label or a call may have defined a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fortrans.frontend.accesses import Reading
from fortrans.frontend.blocks import brought, declared
from fortrans.frontend.changes import Changes, described
from fortrans.frontend.expressions import convert
from fortrans.frontend.headers import SERIAL, Header, concurrent, do, governs, parallel
from fortrans.frontend.nesting import NAME
from fortrans.frontend.objects import Objects, mentioned
from fortrans.frontend.parse import assignment, expression
from fortrans.frontend.resolve import Scopes
from fortrans.frontend.tokens import closing
from fortrans.frontend.units import Executable, Program, Unit
from fortrans.ir.expr import Expr, Literal, Name, Op, constant, walk
from fortrans.ir.loops import Arm, Assign, Block, Body, Branch, Index, Jump, Loop, Node, Other
from fortrans.ir.symbols import Symbol
from fortrans.remarks import Refusal
from fortrans.source import Span

_IF = re.compile(r"(?:\w+\s*:\s*)?(?:else\s*)?if\s*\(", re.IGNORECASE)
_SELECT = re.compile(r"(?:\w+\s*:\s*)?select\s*case\s*\(", re.IGNORECASE)
_OPENINGS = {
    "do while": "DO WHILE",
    "where construct": "WHERE",
    "forall construct": "FORALL",
    "select type": "SELECT TYPE",
    "select rank": "SELECT RANK",
    "critical": "CRITICAL",
    "team": "CHANGE TEAM",
}
_CONSTRUCTS = frozenset({"if then", "do", "do concurrent", "select case", "block", "associate", *_OPENINGS})


def nests(program: Program, scopes: Scopes, unit: Unit) -> Body:
    """What the statements of a program unit do; the loops among them are its nests.

    Statements that are not read are ``Other``, so that a nest around them can be refused.
    """
    reader = _Reader(program, scopes, unit)
    nodes = reader.nodes(0)
    return Body(unit.name, nodes, dict(reader.objects.parameters))


@dataclass(slots=True)
class _Place:
    """What holds at the statement that is read."""

    known: dict[str, Expr] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    indices: frozenset[str] = frozenset()
    region: str | None = None


class _Reader:
    """Goes once through the executable statements of a unit."""

    def __init__(self, program: Program, scopes: Scopes, unit: Unit) -> None:
        self.program = program
        self.scopes = scopes
        self.unit = unit
        self.found = [e for e in program.executables() if e.unit.program_unit is unit]
        text = program.source.text.lower()
        self.objects = Objects(set(NAME.findall(text)))
        self.at = 0
        self.place = _Place()
        self.changes = Changes(scopes, unit)
        entries = any(s.text.lower().startswith("entry") for s in unit.specification)
        self.forgetful = entries or any(e.statement.text[:5].lower() == "entry" for e in self.found)

    # -- structure

    def nodes(self, depth: int) -> tuple[Node, ...]:
        """The statements from here on that ``depth`` constructs enclose."""
        result: list[Node] = []
        while self.at < len(self.found) and len(self.found[self.at].constructs) >= depth:
            executable = self.found[self.at]
            if executable.kind == "guard" and len(executable.constructs) == depth:
                # The ELSE of a construct that was not taken apart.
                self.at += 1
                continue
            statement = executable.statement
            if statement.label is not None and statement.label not in self.unit.block_labels:
                self.place.known.clear()
            result += self._node(executable, depth)
            if self.forgetful:
                self.place.known.clear()
        return tuple(result)

    def _node(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        self.at += 1
        kind, span = executable.kind, executable.statement.span
        start = self.at
        if kind in _CONSTRUCTS:
            try:
                return self._construct(executable, depth)
            except Refusal as refusal:
                self.at = start
                inside = self._unread(executable, depth) if refusal.code == "FT002" else ()
                self._skip(depth)
                self._forget(start)
                return (Other(refusal.message, span), *inside)
        flat = self._flat(executable)
        if executable.condition is None or isinstance(flat, Other):
            return (flat,)
        reading = self._reading(executable)
        test = _expression(f"({executable.condition})")
        reading.controls((test,))
        found = reading.test(test)
        arm = Arm(found, (flat,), found is not None)
        return (*self._evaluation(reading, test, span), Branch((arm,), span))

    def _unread(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        """The statements in a construct that is not read itself: there may be nests among them."""
        if executable.kind in ("block", "associate") or self._hides(executable):
            return ()
        start = self.at
        self._forget(start, self._end(depth))
        found: list[Node] = []
        while True:
            found += self.nodes(depth + 1)
            if not self._is_guard(depth):
                return tuple(found)
            self.at += 1

    def _hides(self, executable: Executable) -> bool:
        """Whether ASSOCIATE or SELECT TYPE gives a name that is known as another variable's."""
        place = self.place
        return not brought(executable).isdisjoint((*place.indices, *place.known, *place.renamed))

    def _skip(self, depth: int) -> None:
        while self.at < len(self.found) and (
            len(self.found[self.at].constructs) > depth
            or (self.found[self.at].kind == "guard" and len(self.found[self.at].constructs) == depth)
        ):
            self.at += 1

    def _construct(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        self._plain(executable)
        match executable.kind:
            case "do" | "do concurrent":
                return self._loop(executable, depth)
            case "if then" | "select case":
                return self._branch(executable, depth)
            case "block":
                return self._block(executable, depth)
            case "associate":
                start = self.at
                if self._hides(executable):
                    raise Refusal("FT002", "ASSOCIATE hides the name of another variable in use")
                inside = self.nodes(depth + 1)
                self._forget(start)
                return (Block(frozenset(), inside, executable.statement.span),)
        raise Refusal("FT002", f"{_OPENINGS[executable.kind]} construct is not read")

    def _plain(self, executable: Executable) -> None:
        """Raise Refusal for what depends on the preprocessor or stands in WHERE and the like."""
        if executable.preprocessed or executable.statement.conditional:
            raise Refusal("FT004", "Statement depends on the preprocessor")
        if executable.where is not None or executable.forall is not None:
            raise Refusal("FT007", "WHERE and FORALL statements are not read")

    # -- what may have changed

    def _forget(self, start: int, end: int | None = None) -> None:
        """Forget values that statements ``start`` up to here (or ``end``) may have changed."""
        names, others = self.changes.defined(self.found[start : self.at if end is None else end])
        renamed = self.place.renamed
        self._forget_names(names | {renamed[name] for name in names if name in renamed}, others)

    def _forget_names(self, names: Iterable[str], others: bool = False) -> None:
        gone = frozenset(names)
        known = self.place.known
        for name in list(known):
            depends = mentioned(known[name], self.objects) | {name}
            if depends & gone or (others and not all(map(self.changes.private, depends))):
                del known[name]

    # -- statements

    def _reading(self, executable: Executable) -> Reading:
        place = self.place
        scope = self.scopes.at(executable)
        return Reading(scope, self.objects, dict(place.known), dict(place.renamed), place.indices)

    def _flat(self, executable: Executable) -> Node:
        span, kind = executable.statement.span, executable.kind
        here = self.at - 1
        try:
            self._plain(executable)
            if kind == "assignment" and not executable.statement.sentinel:
                if self._inner_region(executable):
                    raise Refusal("FT005", f"Statement is in a region of '!${executable.region}'")
                return self._assignment(executable)
            if kind in ("cycle", "exit"):
                return Jump(executable.statement.text.lower(), span)
            if kind in ("continue", "format"):
                return Block(frozenset(), (), span)
            raise Refusal("FT002", f"{described(executable)} is not read")
        except Refusal as refusal:
            self._forget(here, here + 1)
            return Other(refusal.message, span)

    def _inner_region(self, executable: Executable) -> bool:
        return governs(executable.region) and executable.region != self.place.region

    def _assignment(self, executable: Executable) -> Assign:
        node = assignment(executable.statement.text)
        target, value = convert(node.items[0]), convert(node.items[2])
        reading = self._reading(executable)
        reading.assignment(target, value)
        plain = isinstance(target, Name)
        printed = target if plain else reading.printable(target)
        if isinstance(target, Name) and target.id in reading.renamed:
            printed = Name(reading.renamed[target.id])
        made = Assign(
            printed,
            reading.printable(value),
            tuple(reading.accesses),
            executable.statement.span,
            reading.scope,
            tuple(reading.flaws),
            tuple(reading.calls),
        )
        here = self.at - 1
        self._forget(here, here + 1)
        if isinstance(target, Name) and executable.condition is None and not reading.flaws:
            name = reading.renamed.get(target.id, target.id)
            symbol = reading.scope.lookup(target.id)
            new = reading.index(value)
            fits = isinstance(symbol, Symbol) and reading.index(target) is not None
            if new is not None and fits and name not in mentioned(new, self.objects):
                self.place.known[name] = new
        return made

    def _evaluation(self, reading: Reading, value: Expr, span: Span, sure: bool = True) -> tuple[Node, ...]:
        """A statement for what a header or test reads, where it reads any data.

        Not all of it is surely read when ``sure`` is False or there is ``.and.`` or ``.or.`` in it (10.1.7).
        """
        if not (reading.accesses or reading.flaws or reading.calls):
            return ()
        flaws, calls = tuple(reading.flaws), tuple(reading.calls)
        made = Assign(None, value, tuple(reading.accesses), span, reading.scope, flaws, calls)
        if sure and not any(isinstance(x, Op) and x.op in (".and.", ".or.") for x in walk(value)):
            return (made,)
        return (Branch((Arm(None, (made,), known=False),), span),)

    # -- constructs

    def _loop(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        statement = executable.statement
        start = self.at
        if executable.kind == "do":
            header = do(statement.text)
            if header is None:
                raise Refusal("FT002", "DO without an index is not read")
        else:
            header = concurrent(statement.text)
        reading = self._reading(executable)
        indices = tuple(self._index(reading, entry.name, entry.first, entry.last, entry.step)
                        for entry in header.ranges)
        reading.controls(x for entry in header.ranges for x in (entry.first, entry.last, entry.step))
        before = self._evaluation(reading, Literal("0"), statement.span)
        end = self._end(depth)
        outer = self.place
        names = frozenset(index.name for index in indices)
        if names & outer.indices:
            raise Refusal("FT002", "An index of the loop has the name of an enclosing loop's")
        self._forget(start, end)
        self._forget_names(names)
        spec, kind = parallel(self.program, executable, header.locality, self.place.region)
        self.place = _Place(
            dict(self.place.known),
            outer.renamed,
            outer.indices | names,
            executable.region if SERIAL.match(executable.region or "") else outer.region,
        )
        body = self._masked(executable, header, self.nodes(depth + 1))
        self.place = replace(outer, known=self.place.known)
        self._forget(start)
        self._forget_names(names)
        span = self._extent(executable, start, depth)
        loop = Loop(indices, body, span, executable.kind == "do concurrent", spec, kind)
        return (*before, loop)

    def _extent(self, executable: Executable, start: int, depth: int) -> Span:
        """The lines of a construct whose statements begin at ``start``."""
        own = executable.statement
        if start < self.at and len(inside := self.found[start].constructs) > depth:
            construct = inside[depth]
            if construct.opening.ordinal == own.ordinal:
                return self.program.extents.get(construct.key, own.span)
        return own.span

    def _masked(self, executable: Executable, header: Header, body: tuple[Node, ...]) -> tuple[Node, ...]:
        if header.mask is None:
            return body
        reading = self._reading(executable)
        reading.known = {}
        reading.controls((header.mask,))
        test = reading.test(header.mask)
        span = executable.statement.span
        branch = Branch((Arm(test, body, test is not None),), span)
        return (*self._evaluation(reading, header.mask, span), branch)

    def _index(self, reading: Reading, name: str, first: Expr, last: Expr, step: Expr) -> Index:
        symbol = reading.scope.lookup(name)
        if isinstance(symbol, Symbol) and symbol.type.name != "integer":
            raise Refusal("FT002", f"DO variable '{name}' is not an integer")
        stride = reading.index(step)
        value = None if stride is None else constant(stride)
        return Index(reading.renamed.get(name, name), reading.index(first), reading.index(last), value or 0)

    def _end(self, depth: int) -> int:
        at = self.at
        self._skip(depth)
        end, self.at = self.at, at
        return end

    def _branch(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        span, start = executable.statement.span, self.at
        before: list[Node] = []
        arms: list[Arm] = []
        known = dict(self.place.known)
        opening = executable
        while True:
            self.place.known = dict(known)
            test, sure, other = self._test(opening, before)
            body = self.nodes(depth + 1)
            arms.append(Arm(None if other else test, body, sure))
            if not self._is_guard(depth):
                break
            opening = self.found[self.at]
            self.at += 1
        self.place.known = known
        self._forget(start)
        return (*before, Branch(tuple(arms), span))

    def _is_guard(self, depth: int) -> bool:
        if self.at >= len(self.found):
            return False
        following = self.found[self.at]
        return following.kind == "guard" and len(following.constructs) == depth

    def _test(self, opening: Executable, before: list[Node]) -> tuple[Expr | None, bool, bool]:
        """The test of an arm, whether it is known, and whether it is ELSE; its reads go to ``before``."""
        text, span = opening.statement.text, opening.statement.span
        self._plain(opening)
        reading = self._reading(opening)
        match = _IF.match(text) or _SELECT.match(text)
        if match is None:
            if text.lower().startswith("else"):
                return None, True, True
            # CASE: which one is taken is not followed.
            return None, False, False
        value = _expression(text[match.end() : closing(text, match.end() - 1)])
        reading.controls((value,))
        before += self._evaluation(reading, value, span, sure=opening.kind != "guard")
        if _SELECT.match(text):
            return None, False, False
        test = reading.test(value)
        return test, test is not None, False

    def _block(self, executable: Executable, depth: int) -> tuple[Node, ...]:
        start, span = self.at, executable.statement.span
        end = self._end(depth)
        inside = [e for e in self.found[start:end] if e.kind != "guard"]
        view = self.scopes.at(inside[0]) if inside else None
        names = frozenset(declared(view, executable))
        outer = self.place
        renamed = dict(outer.renamed)
        scope = self.scopes.at(executable)
        for name in sorted(names):
            meaning = scope.lookup(name)
            hides = isinstance(meaning, Symbol) and "implicit" not in meaning.attributes
            renamed[name] = self.objects.fresh(f"{name}_2") if hides or name in outer.indices else name
        self.place = replace(outer, known=dict(outer.known), renamed=renamed)
        body = self.nodes(depth + 1)
        self.place = replace(outer, known=self.place.known)
        own = frozenset(renamed[name] for name in names)
        self._forget_names(own)
        self._forget(start)
        return (Block(own, body, span),)


def _expression(text: str) -> Expr:
    return convert(expression(text.strip()))
