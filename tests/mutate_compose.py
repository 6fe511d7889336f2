"""Seeds faults in composing and lowering, one at a time, and says which the tests do not notice.

Run by hand: ``python tests/mutate_compose.py``.  Exit code 1 when a fault survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("tests/test_compose_cases.py", "tests/test_compose.py")
FAULTS = (
    # Where a loop is split.
    (
        "transforms/split.py",
        "return Turn(select.test, rest, below=True)",
        "return Turn(select.test, add(rest, ONE), below=True)",
    ),
    ("transforms/split.py", "-const), ONE), below=False)", "-const), _ZERO), below=False)"),
    ("transforms/split.py", "(add(at, ONE), *_ends", "(at, *_ends"),
    ("transforms/split.py", "(at, *_ends(\"min\", last))", "(at,)"),
    ("transforms/split.py", "(add(at, ONE), *_ends(\"max\", first))", "(add(at, ONE),)"),
    ("transforms/split.py", "if _nonnegative(difference):", "if True:"),
    # What the loops hold.
    (
        "transforms/lower.py",
        "return declared + plain + self.build((across, span)",
        "return declared + self.build((across, span)",
    ),
    (
        "transforms/lower.py",
        "first=integer(2)), span), element, gather, turns)",
        "first=integer(3)), span), element, gather, turns)",
    ),
    ("transforms/lower.py", "concurrent=False) for name", "concurrent=True) for name"),
    (
        "transforms/accumulate.py",
        "(If(value, (Store(into, TRUE), *exits)),)",
        "(If(value, (Store(into, FALSE), *exits)),)",
    ),
    (
        "transforms/lower.py",
        "for x in (select.then, select.other))",
        "for x in (select.other, select.then))",
    ),
    (
        "transforms/lower.py",
        "[(below, where.below), (above, not where.below)]",
        "[(below, where.below), (above, where.below)]",
    ),
    (
        "transforms/lower.py",
        "return Piece((), (If(test, inner.body),))\n\n\n",
        "return Piece((), inner.body)\n\n\n",
    ),
    (
        "transforms/pieces.py",
        "left = (If(test, (Exit(),)),) if outer else ()",
        "left = (If(test, (Exit(),)),)",
    ),
    (
        "transforms/accumulate.py",
        "return declarations, (If(mask, statements),)",
        "return declarations, statements",
    ),
    # Whether elements may be stored at once.
    ("analysis/overlap.py", "return when <= settled", "return True"),
    ("analysis/overlap.py", "if not atoms and distance and", "if distance and"),
    ("analysis/overlap.py", "if not read.when or _apart", "if True or _apart"),
    (
        "analysis/overlap.py",
        "            yield from _subscript_reads(expr, loops, when)\n",
        "            yield from ()\n",
    ),
    ("analysis/alias.py", "return Alias.MAYBE if _different_names(w, r) else Alias.NO", "return Alias.NO"),
    (
        "analysis/overlap.py",
        "if exposed or internal or not local:",
        "if exposed or not local:",
    ),
    # Loops with a counter.
    (
        "transforms/pack.py",
        "all(conflict(place, x, loops, scope, own) is None for x in elements)",
        "True",
    ),
    ("transforms/pack.py", "reads_target(inside, element(vector", "bool(0) and (inside, element(vector"),
    (
        "transforms/pack.py",
        "first=add(Name(counter, natural=True), ONE)",
        "first=Name(counter, natural=True)",
    ),
    ("transforms/pack.py", "if composition.clear(target, value):", "if True:"),
    ("transforms/pack.py", "None if test == TRUE else test", "None"),
    (
        "transforms/compose.py",
        "replace(span, concurrent=False) for span in self._spans",
        "span for span in self._spans",
    ),
    # The statement as a whole.
    ("transforms/compose.py", "rows=self.clear(target, value)", "rows=True"),
    ("transforms/compose.py", "self.captures.forget(root(target))", "pass"),
    (
        "transforms/reallocate.py",
        "lower = tuple(axis.lower for axis in value.axes if isinstance(axis, Triplet))",
        "lower = None or ()",
    ),
    (
        "transforms/captures.py",
        "known[x] = self._captured(inner, made)\n",
        "known[x] = self._captured(inner, [])\n",
    ),
    ("transforms/captures.py", "sub(extent, Name(local)))", "sub(Name(local), extent))"),
    ("transforms/keep.py", "not _standing(x.origin, order)", "False"),
    # Where an element is.
    ("transforms/locate.py", "Op(\"==\", (value, value))", "Op(\"/=\", (value, value))"),
    ("transforms/locate.py", "(If(open_, (taken,)),)", "(taken,)"),
    ("transforms/locate.py", "first=s.last, last=s.first, step=integer(-1)", "step=None"),
    ("transforms/locate.py", "test = Op(\".or.\", (self.nothing, test))", "pass"),
    ("transforms/locate.py", "Row(find, sink.target))", "Row(replace(find, places=(ONE,)), sink.target))"),
    ("transforms/locate.py", "statements=leave(loops.statements, find.found)", "statements=loops.statements"),
)  # fmt: skip


def survives(file: str, right: str, wrong: str) -> bool:
    """Whether the tests are content with the fault; raises ValueError where there is no such text."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for folder in ("fortrans", "tests"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        path = root / "fortrans" / file
        text = path.read_text()
        if text.count(right) != 1:
            raise ValueError(f"{file}: {right!r} occurs {text.count(right)} times")
        path.write_text(text.replace(right, wrong))
        command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *TESTS]
        env = os.environ | {"HYPOTHESIS_PROFILE": "once"}
        return subprocess.run(command, cwd=root, env=env, capture_output=True, check=False).returncode == 0


def main() -> int:
    alive = 0
    for file, right, wrong in FAULTS:
        found = survives(file, right, wrong)
        alive += found
        print(f"{'SURVIVES' if found else 'caught'}: {file}: {wrong.splitlines()[0].strip()}", flush=True)
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
