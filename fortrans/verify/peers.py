"""What other tools take for the same files: a program for the Python where they are installed.

`throughput` runs its text with the interpreter of an environment that holds the tool; nothing
here is imported by fortrans.  It prints a JSON object for each file: path, seconds of a clock and of
the processor, and whether the tool did it.  The time to start the interpreter and to import the tool
is not counted.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module, metadata
from types import FrameType
from typing import Any

Work = Callable[[str], object]


class TooLong(BaseException):
    """A file's time is over."""


def fparser() -> Work:
    """The full parse, as every tool on fparser does it first."""
    parser = import_module("fparser.two.parser").ParserFactory().create(std="f2008")
    reader = import_module("fparser.common.readfortran").FortranFileReader

    def work(path: str) -> object:
        return parser(reader(path, ignore_comments=False))

    return work


def psyclone() -> Work:
    """Array assignments to loops, and Fortran again."""
    read = import_module("psyclone.psyir.frontend.fortran").FortranReader()
    write = import_module("psyclone.psyir.backend.fortran").FortranWriter()
    nodes = import_module("psyclone.psyir.nodes")
    to_loops = import_module("psyclone.psyir.transformations").ArrayAssignment2LoopsTrans()
    refused = import_module("psyclone.psyir.transformations").TransformationError

    def work(path: str) -> object:
        tree = read.psyir_from_file(path)
        for assignment in tree.walk(nodes.Assignment):
            if assignment.is_array_assignment:
                try:
                    to_loops.apply(assignment)
                except refused:
                    continue
        return write(tree)

    return work


def loki() -> Work:
    """Vector notation resolved into loops, and Fortran again."""
    top: Any = import_module("loki")
    resolve = import_module("loki.transformations").resolve_vector_notation
    frontend = top.FP

    def work(path: str) -> object:
        source = top.Sourcefile.from_file(path, frontend=frontend)
        for routine in source.all_subroutines:
            resolve(routine)
        return source.to_fortran()

    return work


TOOLS = {"fparser": (fparser, "fparser"), "psyclone": (psyclone, "PSyclone"), "loki": (loki, "loki-ifs")}


def main(name: str, budget: float, limit: float) -> None:
    """Work on the files named on standard input until ``budget`` seconds are over."""
    make, package = TOOLS[name]
    logging.disable(logging.CRITICAL)
    work = make()
    print(json.dumps({"tool": f"{package} {metadata.version(package)}"}), flush=True)

    def over(number: int, frame: FrameType | None) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, over)
    out, sys.stdout = sys.stdout, sys.stderr
    start = time.perf_counter()
    for path in sys.stdin.read().split("\0"):
        began, busy = time.perf_counter(), time.process_time()
        if began - start > budget:
            break
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            work(path)
            done = True
        except (Exception, TooLong, SystemExit):  # noqa: BLE001 (whatever it is, the tool cannot do the file)
            done = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        row = {"path": path, "seconds": time.perf_counter() - began, "done": done}
        row["busy"] = time.process_time() - busy
        print(json.dumps(row), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
