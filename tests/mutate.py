"""Seeds faults in the element rules, one at a time, and says which the oracle does not notice.

Run by hand: ``python tests/mutate.py``.  Exit code 1 when a fault survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("tests/test_rules.py", "tests/test_oracle.py")
FAULTS = (
    ("products.py", "left = Call(\"conjg\", (left,))", "left = left"),
    ("products.py", "row = (*index[: rank(first) - 1], k)", "row = (k, *index[: rank(first) - 1])"),
    ("products.py", "column = (k, *index[rank(first) - 1 :])", "column = (*index[rank(first) - 1 :], k)"),
    ("products.py", "(\"any\", \".and.\") if", "(\"any\", \".or.\") if"),
    ("products.py", "k, shape(first)[-1], left", "k, shape(second)[-1], left"),
    ("transpose.py", "args[\"matrix\"], (k, j))", "args[\"matrix\"], (j, k))"),
    ("spread.py", "inserted(shape(args[\"source\"]), self._dim(args)", "inserted(shape(args[\"source\"]), 0"),
    ("spread.py", "without(index, self._dim(apply.args))", "without(index, len(index) - 1)"),
    ("cshift.py", "steps = steps % length", "steps = abs(steps) % length"),
    ("cshift.py", "(j, ONE)), add(back, extent), back)", "(j, ONE)), back, add(back, extent))"),
    ("cshift.py", "Call(\"max\", (modulus, least))", "modulus"),
    ("cshift.py", "Op(\"<=\", (j, sub(extent, shift)))", "Op(\"<\", (j, sub(extent, shift)))"),
    ("eoshift.py", "if steps is None or steps < 0", "if steps is not None and steps < 0"),
    ("eoshift.py", "Op(\">=\", (j, sub(ONE, shift)))", "Op(\">\", (j, sub(ONE, shift)))"),
    ("eoshift.py", "_boundary(args, without(index, dim))", "_boundary(args, index[1:])"),
    ("cshift.py", "at = without(index, dim)\n", "at = index[1:]\n"),
    ("eoshift.py", "mul(integer(-1), most.value)", "mul(integer(0), most.value)"),
    ("reductions.py", "pack.args[\"array\"], pack.args[\"mask\"], None", "pack.args[\"array\"], None, None"),
    ("reshape.py", "index = tuple(index[o] for o in order)", "index = tuple(index)"),
    ("reshape.py", "extents = tuple(extents[o] for o in order)", "extents = tuple(extents)"),
    ("reshape.py", "delinearise(_cyclic(beyond, size(pad)), shape(pad))", "delinearise(beyond, shape(pad))"),
    ("reshape.py", "stride = mul(stride, extent)", "stride = extent"),
    ("reshape.py", "return x is not None and y is not None and x >= y", "return True"),
    ("reductions.py", "return None if value == Literal(\".true.\") else value", "return None"),
    ("reductions.py", "inner = inserted(index, dim, name)", "inner = inserted(index, 0, name)"),
    ("locations.py", "inner = inserted(index, dim, name)", "inner = inserted(index, 0, name)"),
    ("locations.py", "part = index[0] if len(extents) > 1 else None", "part = None"),
    ("locations.py", "None if mask == Literal(\".true.\") else mask", "None"),
    ("locations.py", "None if back == Literal(\".false.\") else back", "None"),
    ("entry.py", "fresh.given += count", "fresh.given += 0"),
    ("entry.py", "return extent if value >= 0 else ZERO", "return extent"),
    ("constructor.py", "add(item.first, mul(turn, item.step))", "add(item.first, turn)"),
    ("constructor.py", "others, sub(j, length), convert_to),\n", "others, j, convert_to),\n"),
)


def survives(file: str, right: str, wrong: str) -> bool:
    """Whether the oracle is content with the fault; raises ValueError when there is no such place."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for folder in ("fortrans", "tests", "fixtures"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        path = root / "fortrans" / "intrinsics" / file
        text = path.read_text()
        if text.count(right) != 1:
            raise ValueError(f"{file}: '{right}' occurs {text.count(right)} times")
        path.write_text(text.replace(right, wrong))
        command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *TESTS]
        env = os.environ | {"HYPOTHESIS_PROFILE": "once"}
        return subprocess.run(command, cwd=root, env=env, capture_output=True, check=False).returncode == 0


def main() -> int:
    alive = 0
    for file, right, wrong in FAULTS:
        found = survives(file, right, wrong)
        alive += found
        print(f"{'SURVIVES' if found else 'caught'}: {file}: {wrong.splitlines()[0]}", flush=True)
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
