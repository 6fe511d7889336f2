"""Whether a procedure may define an array dummy, and whether it surely does."""

from __future__ import annotations

import re

from fortrans.analysis.placing import surely_reached
from fortrans.ir.procedures import Loop, Procedure, Step


def touches(procedure: Procedure, name: str) -> bool:
    """Whether anything in the procedure, or contained in it, may define ``name``."""
    if any(name in step.touched for step in procedure.steps):
        return True
    word = re.compile(rf"\b{re.escape(name)}\b")
    if any(word.search(text) for text in procedure.directives):
        return True
    return procedure.contains and _named_inside(procedure, word)


def _named_inside(procedure: Procedure, word: re.Pattern[str]) -> bool:
    texts = procedure.texts
    at = next((n for n, text in enumerate(texts) if text.strip() == "contains"), len(texts))
    return any(word.search(text) for text in texts[at:])


def surely_defined(procedure: Procedure, name: str) -> bool:
    """Whether an element of ``name``, unless it has none, is defined whenever the procedure returns.

    Loops are taken to run only where their limits say so: numbers, or the extents of ``name``.
    """
    sure = [number for number, step in enumerate(procedure.steps) if _sure(procedure, number, step, name)]
    return bool(sure) and surely_reached(procedure, 0, sure)


def _sure(procedure: Procedure, number: int, step: Step, name: str) -> bool:
    first = step.text.lstrip()
    defines = step.kind == "assignment" and re.match(rf"{re.escape(name)}\s*[(=%]", first) is not None
    if not defines or not step.simple or _ranged(step, name):
        return False
    keys = {loop.key for loop in step.loops}
    before = procedure.steps[:number]
    if any(s.leaves and keys & {loop.key for loop in s.loops} for s in before):
        return False
    return all(_runs(loop, name) for loop in step.loops)


def _ranged(step: Step, name: str) -> bool:
    """Whether the variable is a section, which may be empty, but for the whole array."""
    left = "".join(step.text.partition("=")[0].split())
    return ":" in left and re.fullmatch(rf"{re.escape(name)}\(:(,:)*\)(%\w+)*", left) is None


def _runs(loop: Loop, name: str) -> bool:
    if isinstance(loop.trips, int):
        return loop.trips > 0
    return loop.whole is not None and loop.whole[0] == name
