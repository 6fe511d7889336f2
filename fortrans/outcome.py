"""What comes of an answer: the remark about it, and the edit it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.ir.nest import Block, If, Loop, Stmt
from fortrans.ir.sites import Assignment, Condition, Place
from fortrans.options import Options
from fortrans.remarks import Kind, Refusal, Remark
from fortrans.source import Edit, Span

if TYPE_CHECKING:
    from fortrans.decision import Answer
    from fortrans.emit.style import Style
    from fortrans.frontend.units import Executable, Program
    from fortrans.transforms.plan import Plan


_KINDS = {"FT102": "Scalar assignment to", "FT110": "Allocation of", "FT115": "Masked assignment to"}
IN_PLACE = frozenset({"FT111", "FT112", "FT113", "FT114"})
"""Codes of assignments to what they read, of which the plan says how they are done."""


def missed(program: Program, place: Place, refusal: Refusal) -> Remark:
    """The remark about a statement that is left."""
    return Remark(program.source.path, place.span, refusal.code, Kind.MISSED, refusal.message)


def fault(problem: Exception) -> Refusal:
    """A fault of the tool itself, as a reason to leave something."""
    kind = type(problem).__name__
    return Refusal("FT901", f"Internal error, please report it: {kind}: {problem}".replace("\n", " "))


def done(site: Assignment, plan: Plan) -> str:
    """What a remark says of a rewritten statement."""
    from fortrans.analysis.moving import kept_packs
    from fortrans.analysis.profit import work
    from fortrans.ir.arrays import Scalar, path_name, rank

    before = tuple(name for pack in kept_packs(site) for name in work(pack).names)
    composed = [x for x in dict.fromkeys(work(site.rhs).names + before) if x not in plan.kept]
    what = _listed(composed) if composed else "the expression"
    name = path_name(site.lhs.value if isinstance(site.lhs, Scalar) else site.lhs.base)
    kind = _KINDS.get(plan.code, "Array assignment to")
    count = sum(map(_nests, plan.body))
    loops = "one loop nest" if count == 1 else f"{count} loop nests"
    if plan.code == "FT106":
        verb = "answer" if len(site.answered) > 1 else "answers"
        return f"{_listed(site.answered)} assigned to '{name}' {verb} from extents, no element is evaluated"
    message = f"{kind} '{name}' composes {what} into {loops if count else 'scalar statements'}"
    if plan.code == "FT110":
        message += ", which populates it directly" if rank(site.rhs) else ", ahead of it"
    return message + _notes(plan)


def done_condition(site: Condition, plan: Plan) -> str:
    """What a remark says of a rewritten condition."""
    from fortrans.analysis.profit import work

    found = dict.fromkeys(
        name for leaf in site.leaves for name in (*work(leaf.site.rhs).names, *leaf.site.answered)
    )
    composed = [name for name in found if name not in plan.kept]
    count = sum(map(_nests, plan.body))
    loops = "one loop nest" if count == 1 else f"{count} loop nests"
    what = _listed(composed) if composed else "the expression"
    return f"Condition composes {what} into {loops if count else 'scalar statements'}" + _notes(plan)


def _notes(plan: Plan) -> str:
    notes = []
    if plan.arms:
        notes.append(f"for {plan.arms} values of DIM" if plan.arms > 1 else "for one value of DIM")
    if plan.because and plan.code in IN_PLACE:
        notes.append(plan.because)
    elif plan.because:
        where = " where their addresses overlap" if plan.tested else ""
        notes.append(f"through a temporary{where}, since {plan.because}")
    if plan.because:
        from fortrans.emit.rooms import taken

        notes += [room for room in (taken(plan.body),) if room]
    if plan.temporaries:
        notes.append(f"{_listed(plan.temporaries)} evaluated once")
    return "".join(f", {note}" for note in notes)


def ends_of(program: Program, executable: Executable) -> tuple[Span, ...]:
    """The line that ends the IF construct which a statement opens, where END BLOCK must follow it."""
    from fortrans.frontend.conditions import construct_of

    if executable.kind != "if then":
        return ()
    last = construct_of(program, executable).last
    return (Span(last, last),)


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


def render_all(
    program: Program, passed: Sequence[Answer], style: Style, options: Options
) -> tuple[list[Edit], dict[int, Answer]]:
    """The edits, and the answers that turned out not to be printable."""
    edits: list[Edit] = []
    refused: dict[int, Answer] = {}
    groups: dict[int, list[Answer]] = {}
    for answer in passed:
        groups.setdefault(answer.place.span.first, []).append(answer)
    for group in groups.values():
        texts: dict[int, str] = {}
        for answer in group:
            place = answer.place
            if len(group) > 1:
                # Each is printed by itself; the first one carries the lines as they were.
                first = answer is group[0]
                place = replace(place, before=(), after=(), original=place.original if first else ())
                place = replace(place, comments=place.comments if first else ())
            try:
                edit, *more = render_answer(program, answer, place, style, options)
            except (Refusal, TypeError, ValueError) as problem:
                if options.strict and not isinstance(problem, Refusal):
                    raise
                refusal = problem if isinstance(problem, Refusal) else fault(problem)
                remark = missed(program, answer.place, refusal)
                refused[id(answer)] = replace(answer, plan=None, condition=None, remark=remark)
                continue
            texts[answer.executable.statement.ordinal] = edit.text
            edits += more
            if len(group) == 1:
                edits.append(edit)
        if len(group) > 1 and texts:
            edits.append(_joined(program, group[0], texts))
    return edits, refused


def render_answer(
    program: Program, answer: Answer, place: Place, style: Style, options: Options
) -> tuple[Edit, ...]:
    """The edits for one answer; the first one is of the statement itself."""
    from fortrans.emit.conditions import Opening, render_condition
    from fortrans.emit.layout import render
    from fortrans.frontend.conditions import head

    plan = answer.plan
    if answer.condition is None:
        assert plan is not None
        template = "reduction" if plan.code == "FT102" else "assignment"
        return (render(place, plan.body, style, options, template=template),)
    found = head(answer.executable)
    assert found is not None
    ends = ends_of(program, answer.executable)
    opening = Opening(found.form, found.name, found.label, found.action, ends[0].last if ends else None)
    tested = answer.condition
    assert tested.test is not None
    then = plan.body if plan else None
    return render_condition(place, opening, tested.body, tested.test, style, options, then)


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
