"""WHERE statements and constructs (10.2.3): what is done for each element, as one site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fortrans.frontend.candidates import builds, readable, transforms
from fortrans.frontend.classify import What, classify, closing
from fortrans.frontend.conditions import construct_of
from fortrans.frontend.designators import designator, parts
from fortrans.frontend.expressions import convert
from fortrans.frontend.lift import Lifting, check_order
from fortrans.frontend.lines import Statement
from fortrans.frontend.parse import assignment, expression
from fortrans.frontend.units import Executable, Program
from fortrans.ir.arrays import Array, Section, rank
from fortrans.ir.expr import Call, Expr, Name, Op, Ref, walk
from fortrans.ir.fresh import Fresh
from fortrans.ir.masked import do, masks, store, stores, when
from fortrans.ir.promote import comparable
from fortrans.ir.sites import Assignment, Place
from fortrans.ir.symbols import Generic, Intrinsic, Procedure, Scope
from fortrans.remarks import Refusal

_ELSEWHERE = re.compile(r"else\s*where\s*(\()?", re.IGNORECASE)
_NAMED = re.compile(r"\s*\w+\s*:(?!:)\s*")
_DIVISIONS = frozenset({"mod", "modulo"})


@dataclass(frozen=True, slots=True)
class Masked:
    """``target = value`` as it is written."""

    target: Expr
    value: Expr


@dataclass(slots=True)
class Branch:
    """WHERE (mask) or ELSEWHERE [(mask)], and what it controls."""

    mask: Expr | None
    body: list[Masked | Where] = field(default_factory=list)


@dataclass(slots=True)
class Where:
    """A WHERE, as it is written."""

    branches: list[Branch]


def is_where(executable: Executable) -> bool:
    """Whether it is a WHERE statement or opens a WHERE construct that no other one controls."""
    if any(construct.kind in ("where", "forall") for construct in executable.constructs):
        return False
    if executable.kind == "where construct":
        return True
    return executable.kind == "assignment" and executable.where is not None and executable.forall is None


def controlled(executable: Executable) -> bool:
    """Whether the statement belongs to a WHERE construct that is a candidate as a whole."""
    kinds = [construct.kind for construct in executable.constructs]
    if "where" in kinds:
        return "forall" not in kinds[: kinds.index("where")]
    return executable.kind == "guard" and _ELSEWHERE.match(executable.statement.text) is not None


def works(executable: Executable) -> bool:
    """Whether there may be something to compose in a WHERE statement."""
    texts = (executable.statement.text, executable.where or "")
    return any(transforms(x) or builds(x) for x in texts)


def where_place(program: Program, executable: Executable) -> Place:
    """The place of a WHERE: a construct's is all of its lines."""
    place = program.place(executable)
    if executable.kind != "where construct" or not _is_closed(program, executable):
        return place
    span = construct_of(program, executable)
    comments = tuple(comment for x in _inside(program, executable) for comment in x.comments)
    return replace(
        place, span=span, original=program.lines[span.first - 1 : span.last], comments=comments
    )


def lift_where(
    program: Program, executable: Executable, place: Place, scope: Scope, fresh: Fresh
) -> Assignment:
    """The site of a WHERE; its left side is the first that is stored.  Raises Refusal."""
    readable(executable)
    if executable.where is None and not _is_closed(program, executable):
        raise Refusal("FT008", "WHERE construct has no END that is known")
    if executable.region is not None:
        raise Refusal("FT005", f"Statement is in a region of '!${executable.region}'")
    if place.label is not None and place.label in executable.unit.program_unit.block_labels:
        raise Refusal("FT006", f"Statement ends the DO loop with label {place.label}")
    found = _read(program, executable)
    _check_order(found, scope)
    written = [parts(x.target)[0].name for x in _assignments(found)]
    if not written:
        raise Refusal("FT007", "WHERE construct stores nothing")
    lifting = Lifting(scope, fresh, written=written[0], others=frozenset(written))
    tree = _where(found, lifting)
    if tree is None:
        raise Refusal("FT007", "WHERE construct has a branch that stores nothing")
    _check_captures(lifting)
    target = next(stores(tree))[0]
    ranks = {rank(x) for x in (*masks(tree), *(lhs for lhs, _ in stores(tree)))}
    if len(ranks) != 1:
        raise Refusal("FT207", "Mask and assigned arrays differ in rank")
    return Assignment(place, scope, target, tree, tuple(lifting.captures))


# ---- reading -----------------------------------------------------------------------------


def _is_closed(program: Program, executable: Executable) -> bool:
    """Whether the construct's END is known; with preprocessor lines between it may not be."""
    return executable.statement.span.first in {span.first for span in program.extents.values()}


def _inside(program: Program, executable: Executable) -> tuple[Statement, ...]:
    span = construct_of(program, executable)
    return tuple(
        x for x in program.statements if span.first <= x.span.first and x.span.last <= span.last
    )


def _read(program: Program, executable: Executable) -> Where:
    if executable.where is not None:
        return Where([Branch(_parsed(executable.where), [_masked(executable.statement.text)])])
    statements = _inside(program, executable)
    for statement in statements:
        if statement.form == "directive" or statement.sentinel:
            raise Refusal("FT005", "There is a directive inside the WHERE construct")
        if statement.form != "fortran" or statement.ordinal in program.conditional or statement.conditional:
            raise Refusal("FT004", "Statement depends on the preprocessor")
        if statement.siblings > 1 or (statement.label is not None and statement is not statements[0]):
            raise Refusal("FT007", "A statement of the WHERE construct has a label or shares its line")
    rest = iter(statements)
    where = _construct(next(rest), rest)
    if next(rest, None) is not None:
        raise Refusal("FT007", "WHERE construct is not of a form that is read")
    return where


def _construct(opening: Statement, rest: Iterator[Statement]) -> Where:
    where = Where([Branch(_parsed(_what(opening).head))])
    for statement in rest:
        what = _what(statement)
        body = where.branches[-1].body
        match what.kind:
            case "end":
                return where
            case "guard" if found := _ELSEWHERE.match(statement.text):
                if where.branches[-1].mask is None:
                    raise Refusal("FT002", "An ELSEWHERE follows the one without a mask")
                mask = None
                if found[1]:
                    end = closing(statement.text, found.end() - 1)
                    mask = _parsed(statement.text[found.end() : end])
                where.branches.append(Branch(mask))
            case "where construct":
                body.append(_construct(statement, rest))
            case "where":
                body.append(Where([Branch(_parsed(what.head), [_masked(what.rest)])]))
            case "assignment":
                body.append(_masked(statement.text))
            case _:
                raise Refusal("FT002", "Statement in a WHERE construct is no assignment")
    raise Refusal("FT002", "WHERE construct has no END")


def _what(statement: Statement) -> What:
    named = _NAMED.match(statement.text)
    return classify(statement.text[named.end() :] if named else statement.text)


def _parsed(text: str) -> Expr:
    return convert(expression(text))


def _masked(text: str) -> Masked:
    if classify(text).kind != "assignment":
        raise Refusal("FT002", "Statement in a WHERE is no assignment")
    node = assignment(text)
    return Masked(convert(node.items[0]), convert(node.items[2]))


def _assignments(where: Where) -> Iterator[Masked]:
    for branch in where.branches:
        for item in branch.body:
            if isinstance(item, Masked):
                yield item
            else:
                yield from _assignments(item)


def _check_order(where: Where, scope: Scope) -> None:
    """Raise Refusal where impure functions are referenced, unless it is one in all."""

    def every(where: Where) -> Iterator[Expr]:
        for branch in where.branches:
            if branch.mask is not None:
                yield branch.mask
            for item in branch.body:
                if isinstance(item, Masked):
                    yield from (item.target, item.value)
                else:
                    yield from every(item)

    check_order(Name(""), Op("%do", tuple(every(where))), scope)


# ---- lifting -----------------------------------------------------------------------------


def _where(where: Where, lifting: Lifting) -> Array | None:
    """What a WHERE does, with the masks of its branches nested: the pending ones are the arms left."""
    arms: list[tuple[Array | None, Array | None]] = []
    for branch in where.branches:
        mask = None if branch.mask is None else _mask(branch.mask, lifting)
        items = []
        for item in branch.body:
            done = _store(item, lifting) if isinstance(item, Masked) else _where(item, lifting)
            if done is None:
                return None
            items.append(done)
        arms.append((mask, do(items) if items else None))
    tree: Array | None = None
    for mask, body in reversed(arms):
        if body is None:
            return None
        tree = body if mask is None else when(mask, body, tree)
    return tree


def _mask(mask: Expr, lifting: Lifting) -> Array:
    value = lifting.lift(mask)
    if value.type.name != "logical" or not rank(value):
        raise Refusal("FT207", "The mask of a WHERE is not a logical array")
    return value


def _store(item: Masked, lifting: Lifting) -> Array:
    before, lifting.written = lifting.written, parts(item.target)[0].name
    target = designator(item.target, lifting)
    value = lifting.lift(item.value)
    lifting.written = before
    if not isinstance(target, Section) or not rank(target) or rank(value) not in (0, rank(target)):
        raise Refusal("FT207", "An assignment in a WHERE is not of an array of the mask's shape")
    if not comparable(target.type, value.type) or target.type.name in ("type", "class"):
        raise Refusal("FT208", "Assignment may be a defined one for these types")
    if not rank(value):
        value = lifting.settle(value)
    return store(target, value)


def _check_captures(lifting: Lifting) -> None:
    """Raise Refusal for an operand whose evaluation before all else could be seen.

    Elementals are evaluated only where the mask holds (10.2.3.2): one that may fail, or that is a
    user's, is not evaluated ahead.
    """
    for capture in lifting.captures:
        for x in walk(capture.value):
            match x:
                case Call(name) | Ref(Name(name)) if isinstance(
                    found := lifting.scope.lookup(name), Procedure | Generic
                ) and getattr(found, "elemental", True):
                    raise Refusal("FT405", f"Elemental '{name}' of scalars is evaluated under the mask")
                case Op("/" | "**", _) if capture.array is None:
                    _check_division(x, lifting)
                case Call(name) if (
                    name in _DIVISIONS
                    and capture.array is None
                    and isinstance(lifting.scope.lookup(name), Intrinsic)
                ):
                    _check_division(x, lifting)


def _check_division(x: Expr, lifting: Lifting) -> None:
    trial = Lifting(lifting.scope, lifting.fresh.copy(), captures=list(lifting.captures))
    if trial.unsized(x).type.name == "integer":
        raise Refusal("FT405", "A division of scalars is evaluated under the mask, not ahead of it")
