"""Conditions of IF and DO WHILE that hold array work, and the statements whose array work is left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fortrans.frontend.candidates import readable, transforms
from fortrans.frontend.classify import classify, closing
from fortrans.frontend.expressions import convert
from fortrans.frontend.lift import Lifting, check_order
from fortrans.frontend.parse import expression
from fortrans.frontend.tokens import words
from fortrans.frontend.units import Executable, Program
from fortrans.ir.arrays import Scalar, rank
from fortrans.ir.expr import Call, Expr, Name, Op, Ref, walk
from fortrans.ir.fresh import Fresh
from fortrans.ir.sites import Assignment, Condition, Decision, Leaf, Place, Test
from fortrans.ir.symbols import LOGICAL, Generic, Intrinsic, Procedure, Scope, Symbol
from fortrans.remarks import Refusal
from fortrans.source import Span

_WHILE = re.compile(r"do\s*(\d{1,5})?\s*,?\s*while\s*\(", re.IGNORECASE)
_GUARD = re.compile(r"else\s*if\s*\(", re.IGNORECASE)
_NAMED = re.compile(r"\s*(\w+)\s*:(?!:)\s*")
_REFERENCE = re.compile(r"([A-Za-z]\w*)\s*\(")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class Head:
    """A statement that begins with a condition.

    ``form``: ``if`` (one-line), ``if then``, ``do while`` or ``else if``.  ``name`` is the
    construct's, as written; ``label`` that of a labelled DO's end; ``action`` what a one-line IF does.
    """

    form: str
    text: str
    name: str = ""
    label: str = ""
    action: str = ""


def head(executable: Executable) -> Head | None:
    """The condition a statement begins with; None when it has none."""
    text = executable.statement.text
    if executable.condition is not None:
        return Head("if", executable.condition, action=_action(executable))
    named = _NAMED.match(text)
    name, rest = (named[1], text[named.end() :]) if named else ("", text)
    match executable.kind:
        case "if then":
            return Head("if then", classify(rest).head, name)
        case "do while" if found := _WHILE.match(rest):
            end = closing(rest, found.end() - 1)
            return Head("do while", rest[found.end() : end], name, found[1] or "")
        case "guard" if found := _GUARD.match(rest):
            end = closing(rest, found.end() - 1)
            return Head("else if", rest[found.end() : end])
        case _:
            return None


def _action(executable: Executable) -> str:
    """What a one-line IF does: the statement with its own FORALL or WHERE."""
    text = executable.statement.text
    if executable.where is not None:
        text = f"where ({executable.where}) {text}"
    return text if executable.forall is None else f"forall ({executable.forall}) {text}"


def lift_condition(
    program: Program, executable: Executable, place: Place, scope: Scope, fresh: Fresh
) -> Condition | None:
    """The site of a condition; None when its names are not the intrinsics'.  Raises Refusal."""
    found = head(executable)
    readable(executable)
    if found is None or not transforms(_STRING.sub("''", found.text)):
        _left(executable, found.action if found else executable.statement.text, scope)
        return None
    tree = convert(expression(found.text))
    target = Scalar(Name(fresh.name("cond")), LOGICAL)
    test = _test(tree, place, scope, fresh, target)
    if isinstance(test, Expr):
        return None
    _pure(tree, scope)
    check_order(Name(""), tree, scope)
    if executable.region is not None:
        raise Refusal("FT005", f"Statement is in a region of '!${executable.region}'")
    if found.form == "else if":
        raise Refusal("FT009", "The condition of an ELSE IF is evaluated only when it is reached")
    if place.label is not None and place.label in executable.unit.program_unit.block_labels:
        raise Refusal("FT006", f"Statement ends the DO loop with label {place.label}")
    if found.form != "if" and executable.statement.siblings > 1:
        raise Refusal("FT009", "The statement with the condition shares its line")
    if found.form == "if then":
        _enclosed(program, executable, scope)
    elif found.form == "if":
        _declared(words(found.action), scope)
    return Condition(place, scope, test, target, found.form == "if then")


def construct_of(program: Program, executable: Executable) -> Span:
    """The lines of the IF construct that a statement opens."""
    first = executable.statement.span.first
    # A construct on one line with another is left, so that the first line tells which one it is.
    return max((span for span in program.extents.values() if span.first == first), key=lambda x: x.last)


def _test(tree: Expr, place: Place, scope: Scope, fresh: Fresh, target: Scalar) -> Test:
    """The condition as decisions over leaves; what has no array work stays an expression."""
    match tree:
        case Op("()", (inner,)):
            found = _test(inner, place, scope, fresh, target)
            return tree if isinstance(found, Expr) else found
        case Op(".and." | ".or." as op, (left, right)) if op not in scope.defined_operators():
            first, second = (_test(x, place, scope, fresh, target) for x in (left, right))
            if isinstance(first, Expr) and isinstance(second, Expr):
                return tree
            return Decision(op, first, second)
        case _:
            if not any(_known(x, scope) for x in walk(tree)):
                return tree
            lifting = Lifting(scope, fresh)
            value = lifting.lift(tree)
            if isinstance(value, Scalar) and not lifting.answered:
                return tree
            if rank(value) or value.type.name != "logical":
                raise Refusal("FT207", "The condition is not a logical scalar")
            captures, answered = tuple(lifting.captures), tuple(dict.fromkeys(lifting.answered))
            return Leaf(tree, Assignment(place, scope, target, value, captures, answered=answered))


def _known(x: Expr, scope: Scope) -> bool:
    """Whether it references a transformational intrinsic."""
    from fortrans.intrinsics import INTRINSICS

    match x:
        case Call(name) | Ref(Name(name)):
            return name in INTRINSICS and isinstance(scope.lookup(name), Intrinsic | Generic)
        case _:
            return False


def _left(executable: Executable, text: str, scope: Scope) -> None:
    """Raise Refusal FT009 for a statement whose array work is not composed, if that is what it has."""
    from fortrans.intrinsics import INTRINSICS

    for name in _REFERENCE.findall(_STRING.sub("''", text)):
        if name.lower() in INTRINSICS and isinstance(scope.lookup(name), Intrinsic):
            # A guard (CASE, ELSEWHERE) is known by its first word.
            kind = text.split("(")[0].strip() if executable.kind == "guard" else executable.kind
            what = kind.upper().removesuffix(" CONSTRUCT")
            raise Refusal("FT009", f"'{name}' in a statement of the form {what} is not composed")


def _pure(tree: Expr, scope: Scope) -> None:
    """Raise Refusal for a function that may do more than give its value.

    How often, and whether, the operands of a condition are evaluated is the compiler's choice.
    """
    for x in walk(tree):
        match x:
            case Call(name) | Ref(Name(name)):
                meaning = scope.lookup(name)
                if isinstance(meaning, Procedure | Generic) and not getattr(meaning, "pure", False):
                    raise Refusal("FT405", f"Function '{name}' in a condition is not known to be PURE")


def _declared(found: Iterator[str] | tuple[str, ...], scope: Scope) -> None:
    """Raise Refusal for a name that nothing but a reference declares (it would be the BLOCK's own)."""
    for word in found:
        meaning = scope.lookup(word)
        if isinstance(meaning, Symbol) and "implicit" in meaning.attributes:
            raise Refusal("FT201", f"Without IMPLICIT NONE a BLOCK around '{word}' may declare it anew")


def _enclosed(program: Program, executable: Executable, scope: Scope) -> None:
    """Raise Refusal where a BLOCK around the construct could change something or cannot be closed."""
    span = construct_of(program, executable)
    inside = [x for x in program.statements if span.first <= x.span.first and x.span.last <= span.last]
    last = inside[-1]
    if last.siblings > 1 or last.label is not None:
        raise Refusal("FT009", "The statement that ends the construct has a label or shares its line")
    if any(x.form == "include" or (x.form == "cpp" and "include" in x.text) for x in inside):
        raise Refusal("FT009", "What is included inside the construct is not known")
    if any(x.ordinal in program.conditional for x in (inside[0], last)):
        raise Refusal("FT004", "Statement depends on the preprocessor")
    for statement in inside:
        if statement.form == "fortran":
            _declared(words(statement.text), scope)
