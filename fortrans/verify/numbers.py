"""Compare what two programs print, bit for bit or number by number."""

from __future__ import annotations

import math
import re

from fortrans.verify.build import Run
from fortrans.verify.compare import difference

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[edq][-+]?\d+)?", re.IGNORECASE)


def differ(original: Run, rewritten: Run, tolerance: float = 0.0) -> str | None:
    """How two runs differ, None when they do not.

    With a ``tolerance`` numbers may differ by so much relative to the larger of the two, the text
    around them not at all (blanks apart).
    """
    exact = difference(original, rewritten)
    if exact is None or not tolerance or original.exit is None or original.exit != rewritten.exit:
        return exact
    ours, theirs = (run.stdout.decode("utf-8", "replace").splitlines() for run in (original, rewritten))
    if len(ours) != len(theirs) or not all(_near(*pair, tolerance) for pair in zip(ours, theirs)):
        return exact
    return None


def farthest(original: Run, rewritten: Run) -> float | None:
    """The largest relative difference of two numbers that stand at the same place; None when more differs."""
    ours, theirs = (run.stdout.decode("utf-8", "replace") for run in (original, rewritten))
    if _NUMBER.sub(" # ", ours).split() != _NUMBER.sub(" # ", theirs).split():
        return None
    pairs = zip(map(_value, _NUMBER.findall(ours)), map(_value, _NUMBER.findall(theirs)))
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)


def _near(left: str, right: str, tolerance: float) -> bool:
    if _NUMBER.sub(" # ", left).split() != _NUMBER.sub(" # ", right).split():
        return False
    pairs = zip(map(_value, _NUMBER.findall(left)), map(_value, _NUMBER.findall(right)))
    return all(a == b or math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)


def _value(text: str) -> float:
    return float(text.lower().replace("d", "e").replace("q", "e"))
