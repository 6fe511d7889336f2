"""Lines a second, beside the compiler and other tools: `python -m fortrans.verify.throughput FOLDER...`.

Every tool gets the same files: those that gfortran compiles, so that its time is known for each.
fortrans is timed as a command, its start included; of the others only the work on the files counts.
Seconds are those of a clock; on a machine that does other things too, those of the processors tell more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fortrans.batch import Batch
from fortrans.frontend.dependencies import defined, wanted
from fortrans.frontend.units import Program
from fortrans.project import files
from fortrans.remarks import InputError
from fortrans.source import Source

PEERS = Path(__file__).with_name("peers.py")


@dataclass(frozen=True, slots=True)
class Timed:
    """What one tool took for files of so many lines; ``done`` of the files it could work on.

    ``seconds`` of a clock, ``busy`` of the processors.
    """

    name: str
    seconds: float
    busy: float
    lines: int
    files: int
    done: int

    @property
    def rate(self) -> float:
        """Lines a second."""
        return self.lines / self.seconds if self.seconds > 0 else float("nan")


class Clock:
    """Seconds of a clock, and of the processors by the children that ended, since it was started."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._busy = self._children()

    @staticmethod
    def _children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def read(self) -> tuple[float, float]:
        """Both, in this order."""
        return time.perf_counter() - self._start, self._children() - self._busy


def in_order(programs: Sequence[Program]) -> list[Program]:
    """Files with those that define their modules before them; a circle is entered anywhere."""
    defining: dict[str, list[Program]] = {}
    for program in programs:
        for name in defined(program):
            defining.setdefault(name, []).append(program)
    found: dict[int, Program] = {}
    begun: set[int] = set()

    def visit(program: Program) -> None:
        if id(program) in begun:
            return
        begun.add(id(program))
        for name in sorted(wanted(program)):
            for other in defining.get(name, ()):
                visit(other)
        found[id(program)] = program

    for program in programs:
        visit(program)
    return list(found.values())


def programs_of(folder: Path) -> list[Program]:
    """The files below ``folder`` that can be read, in the order to compile them."""
    sources: list[Source] = []
    for entry in files.find([folder]):
        try:
            if isinstance(entry, files.Entry):
                sources.append(files.read(entry).source)
        except InputError:
            continue
    return in_order([p for p in Batch.of(sources).programs if not isinstance(p, InputError)])


def compiled(folder: Path, flags: Sequence[str], work: Path) -> Iterator[tuple[Program, float, float]]:
    """The files that gfortran compiles and the seconds it takes for each, as of ``Clock``."""
    work.mkdir(parents=True)
    programs = programs_of(folder)
    beside = dict.fromkeys(str(Path(program.source.path).resolve().parent) for program in programs)
    included = dict.fromkeys(str(path.resolve().parent) for path in sorted(folder.rglob("*.inc")))
    search = [f"-I{path}" for path in {**beside, **included}]
    for program in programs:
        command = ["gfortran", *flags, *search, "-J.", "-c", str(Path(program.source.path).resolve())]
        clock = Clock()
        result = subprocess.run([*command, "-o", "x.o"], cwd=work, capture_output=True, check=False)
        if result.returncode == 0:
            yield program, *clock.read()


def best(
    runs: int, prepare: Callable[[], None], command: Sequence[str], environment: dict[str, str]
) -> tuple[float, float]:
    """The least seconds of ``runs`` runs of a command, ``prepare`` before each.  Raises RuntimeError."""
    least = busy = float("inf")
    for _ in range(runs):
        prepare()
        clock = Clock()
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        seconds, mine = clock.read()
        least, busy = min(least, seconds), min(busy, mine)
        if result.returncode not in (0, 2):
            raise RuntimeError(result.stderr)
    return least, busy


def own(top: Path, work: Path, sizes: dict[str, int], runs: int) -> Iterator[Timed]:
    """fortrans cold and warm, with one process and two, by default and with --all."""
    lines = sum(sizes.values())
    environment = {**os.environ, "FORTRANS_CACHE_DIR": str(work / "cache")}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])

    def drop() -> None:
        shutil.rmtree(work / "cache", ignore_errors=True)
        shutil.rmtree(work / "out", ignore_errors=True)

    for more in ((), ("--all",)):
        for jobs in (1, 2):
            command = [sys.executable, "-m", "fortrans", "rewrite", "-q", "--isolated", *more]
            command += ["-j", str(jobs), str(top), "-o", str(work / "out")]
            name = " ".join(["fortrans", *more, f"-j {jobs}"])
            for state, prepare in (("cold", drop), ("warm", lambda: None)):
                seconds = best(runs, prepare, command, environment)
                yield Timed(f"{name} {state}", *seconds, lines, len(sizes), len(sizes))


def peer(tool: str, python: str, sizes: dict[str, int], budget: float) -> Timed | str:
    """Another tool on as many files as the budget allows, drawn at random; or why it cannot be timed."""
    order = sorted(sizes)
    random.Random(1).shuffle(order)
    # Not by its path: Python would find the modules beside it before those of its library.
    command = [python, "-c", PEERS.read_text("utf-8"), tool, str(budget), str(budget / 4)]
    with tempfile.TemporaryDirectory() as empty:
        result = subprocess.run(
            command, input="\0".join(order), cwd=empty, capture_output=True, text=True, check=False
        )
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    if result.returncode or len(rows) < 2:
        return f"{tool}: {(result.stderr.strip().splitlines() or ['no file was done'])[-1]}"
    head, *rows = rows
    seconds, busy = (sum(row[key] for row in rows) for key in ("seconds", "busy"))
    lines = sum(sizes[row["path"]] for row in rows)
    return Timed(head["tool"], seconds, busy, lines, len(rows), sum(row["done"] for row in rows))


def stage(
    folders: Sequence[Path], limit: int, flags: Sequence[str], work: Path
) -> tuple[dict[str, int], Timed]:
    """Copies of the files that count, by path with their lines, and the compiler's times for all."""
    sizes: dict[str, int] = {}
    total = total_busy = 0.0
    for number, folder in enumerate(folders):
        for program, seconds, busy in compiled(folder, flags, work / f"objects{number}"):
            if sum(sizes.values()) >= limit:
                break
            place = work / "src" / str(number) / Path(program.source.path).relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(program.source.path, place)
            sizes[str(place)] = len(program.lines)
            total, total_busy = total + seconds, total_busy + busy
    name = " ".join(["gfortran", *flags, "-c"])
    return sizes, Timed(name, total, total_busy, sum(sizes.values()), len(sizes), len(sizes))


def row(timed: Timed, compiler: Timed) -> str:
    """A line of the table; shares are of the compiler's time, and of its processor time, per line."""
    shares = (
        mine / timed.lines / (its / compiler.lines)
        for mine, its in ((timed.seconds, compiler.seconds), (timed.busy, compiler.busy))
    )
    left = f"  did {timed.done} of {timed.files} files" if timed.done < timed.files else ""
    some = f"  ({timed.lines} lines)" if timed.lines < compiler.lines else ""
    return (
        f"{timed.name:28} {timed.seconds:8.2f} s {timed.busy:8.2f} s {timed.rate:8.0f} lines/s"
        + "".join(f"{share:8.1%}" for share in shares)
        + some
        + left
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m fortrans.verify.throughput", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="Fortran projects")
    parser.add_argument("--lines", type=int, default=100_000, help="stop after so many (%(default)s)")
    parser.add_argument("--peers", metavar="PYTHON", help="a Python with psyclone and loki-ifs")
    parser.add_argument("--budget", type=float, default=120, metavar="SECONDS", help="for each of them")
    parser.add_argument("--runs", type=int, default=3, help="of fortrans, of which the best counts")
    parser.add_argument("--flags", default="-O2 -w", help="of gfortran (%(default)s)")
    given = parser.parse_args(words)
    if shutil.which("gfortran") is None:
        parser.error("gfortran is not there")
    if wrong := [str(folder) for folder in given.folders if not folder.is_dir()]:
        parser.error(f"'{wrong[0]}' is not a directory")
    with tempfile.TemporaryDirectory(prefix="fortrans-throughput-") as name:
        work = Path(name)
        sizes, compiler = stage(given.folders, given.lines, given.flags.split(), work)
        lines = sum(sizes.values())
        if not sizes:
            parser.error("gfortran compiles none of the files")
        print(f"{lines} lines in {len(sizes)} files that gfortran compiles\n")
        print(f"{'':28} {'clock':>10} {'processor':>10} {'':16} share of gfortran's")
        print(row(compiler, compiler), flush=True)
        for timed in own(work / "src", work, sizes, given.runs):
            print(row(timed, compiler), flush=True)
        tools = [("fparser", sys.executable)]
        tools += [(tool, given.peers) for tool in ("psyclone", "loki") if given.peers]
        for tool, python in tools:
            found = peer(tool, python, sizes, given.budget)
            print(found if isinstance(found, str) else row(found, compiler), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
