"""Where a second version of a procedure may take over: late, and on the paths that use its arrays only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fortrans.analysis.usage import mentioned
from fortrans.ir.procedures import Procedure, Step

_ENDS = frozenset({"return", "stop", "error"})
_CHOICES = frozenset({"if then", "select case"})
_JUMP = re.compile(r"\b(?:err|end|eor)\s*=|[(,]\s*\*\s*\d")


def place_of(procedure: Procedure, names: Sequence[str]) -> int | None:
    """The last statement before which everything can be done twice, and before any use of ``names``.

    The second version begins anew, so nothing that was done by then may be seen from outside.  The
    place lies in a branch of IF and SELECT CASE constructs when all uses do, and behind those that
    do nothing but set local variables or end the procedure.
    """
    steps = procedure.steps
    used = sorted({number for name in names for number in mentioned(procedure, name)})
    best: int | None = None
    at, branches = 0, steps[0].branches
    while at < len(steps):
        step = steps[at]
        if step.branches != branches:
            break
        if step.free and not step.loops:
            best = at
        if step.kind in _CHOICES:
            if at in used or not step.repeatable or step.loops:
                break
            entered = _only_branch(procedure, at, used)
            if entered is None:
                behind = _behind(procedure, at, used)
                if behind is None:
                    break
                at = behind
                continue
            at = entered
            branches = steps[at].branches
            continue
        if at in used and not _only_reads(step, names):
            break
        if not step.repeatable or step.loops:
            break
        at += 1
    return best


def surely_reached(procedure: Procedure, start: int, hot: Sequence[int]) -> bool:
    """Whether going on from step ``start`` leads to one of ``hot``, errors aside.

    Loops are taken to run: what an empty loop would do is not worth a thought here.
    """
    steps = procedure.steps
    base = steps[start].branches
    return _reaches(steps, [n for n in range(start, len(steps)) if _within(steps[n], base)], base, hot)


def _within(step: Step, base: Sequence[tuple[int, int]]) -> bool:
    return step.branches[: len(base)] == base


def _reaches(
    steps: Sequence[Step], numbers: Sequence[int], base: Sequence[tuple[int, int]], hot: Sequence[int]
) -> bool:
    """Whether the steps of a branch lead to one of ``hot``: at its level, or in all branches of a choice."""
    for number in numbers:
        step = steps[number]
        if number in hot and step.branches == base:
            return not (step.conditional and not step.loops)
        if step.kind in _CHOICES and step.branches == base and not step.loops:
            parts = _parts(steps, number)
            inside = [[*base, steps[part[0]].branches[len(base)]] for part in parts if part]
            if _complete(steps, number) and len(inside) == len(parts) and all(
                _reaches(steps, part, tuple(own), hot) for part, own in zip(parts, inside)
            ):  # fmt: skip
                return True
        if step.leaves and step.kind not in ("cycle", "exit"):
            return False
    return False


def _complete(steps: Sequence[Step], at: int) -> bool:
    """Whether one of the branches of the construct at ``at`` is always taken: ELSE, or CASE DEFAULT."""
    texts = [steps[n].text for n in _construct(steps, at) if _guard(steps[n], steps[at].branches)]
    return any("(" not in text for text in texts)


def _parts(steps: Sequence[Step], at: int) -> list[list[int]]:
    """The steps of each branch of the construct at ``at``."""
    parts: list[list[int]] = [[]]
    for number in _construct(steps, at):
        if _guard(steps[number], steps[at].branches):
            parts.append([])
        else:
            parts[-1].append(number)
    return parts if steps[at].kind == "if then" else parts[1:]


def _only_reads(step: Step, names: Sequence[str]) -> bool:
    return step.repeatable and all(
        not mention.defined for name in names for mention in step.mentions.get(name, ())
    )


def _construct(steps: Sequence[Step], at: int) -> list[int]:
    """The steps of the construct that ``at`` opens: its branches' and its guards."""
    outer = steps[at].branches
    found = []
    for number in range(at + 1, len(steps)):
        step = steps[number]
        if len(step.branches) <= len(outer) and not _guard(step, outer):
            break
        found.append(number)
    return found


def _guard(step: Step, outer: Sequence[tuple[int, int]]) -> bool:
    return step.kind == "guard" and step.branches == outer


def _only_branch(procedure: Procedure, at: int, used: Sequence[int]) -> int | None:
    """The first statement of the one branch of the construct at ``at`` that has all uses.

    The guards before it are asked again by the version, so that must be harmless.
    """
    steps = procedure.steps
    inside = _construct(steps, at)
    later = [number for number in used if number > at]
    outer = steps[at].branches
    depth = len(outer)
    if not later or any(n not in inside or len(steps[n].branches) <= depth for n in later):
        return None
    taken = {steps[n].branches[depth] for n in later}
    if len(taken) != 1:
        return None
    (branch,) = taken
    for number in inside:
        step = steps[number]
        if len(step.branches) > depth and step.branches[depth] == branch:
            return number if step.branches == (*outer, branch) else None
        if _guard(step, outer) and not step.repeatable:
            return None
    return None


def _behind(procedure: Procedure, at: int, used: Sequence[int]) -> int | None:
    """The statement behind the construct at ``at``, when the version may go through it as well.

    Each of its branches must end the procedure, or do what can be done twice.
    """
    steps = procedure.steps
    inside = _construct(steps, at)
    end = inside[-1] + 1 if inside else at + 1
    if end >= len(steps) or any(number in inside for number in used):
        return None
    outer = steps[at].branches
    if any(_guard(steps[number], outer) and not steps[number].repeatable for number in inside):
        return None
    branches = [[steps[number] for number in part] for part in _parts(steps, at)]
    if all(_harmless(branch, len(outer) + 1) for branch in branches):
        return end
    return None


def _harmless(branch: Sequence[Step], depth: int) -> bool:
    if all(step.repeatable and not step.loops and step.kind != "guard" for step in branch):
        return True
    last = branch[-1]
    ends = last.kind in _ENDS and not last.conditional and not last.loops and len(last.branches) == depth
    leaving = any((step.leaves and step.kind not in _ENDS) or _JUMP.search(step.text) for step in branch)
    return ends and not leaving
