"""Run a program and tell what it cost: wall-clock time and peak memory."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fortrans.verify.build import Run, call

# Between this process and the program, since Linux counts what a process held before exec as its
# peak: a small interpreter leaves a floor of some 10 MB where this one would leave five times that.
_BETWEEN = """
import json, os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([time.perf_counter() - start, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)], file)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run, its ``seconds`` and its ``peak`` memory in bytes (0: not known, it was stopped)."""

    run: Run
    seconds: float
    peak: int


def measured(
    command: Sequence[str],
    folder: Path,
    timeout: float,
    variables: Mapping[str, str] | None = None,
) -> Measured:
    """Run ``command`` in ``folder``, without input, stopped with its children after ``timeout`` seconds.

    A program that a signal ended has the exit code a shell would give, 128 and the signal's number.
    """
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        told = Path(name, "used")
        start = time.perf_counter()
        between = [sys.executable, "-I", "-S", "-c", _BETWEEN, str(told), *command]
        run = call(between, folder, timeout, variables)
        if not told.exists():
            return Measured(run, time.perf_counter() - start, 0)
        seconds, peak = json.loads(told.read_text("utf-8"))
        return Measured(run, float(seconds), int(peak))
