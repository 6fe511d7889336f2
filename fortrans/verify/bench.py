"""Times of the example's kernels, original beside rewritten: `python -m fortrans.verify.bench`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fortrans.options import Options
from fortrans.remarks import InputError
from fortrans.source import Source
from fortrans.verify.build import BuildFailed, CompilerMissing, Run, build, run

EXAMPLES = Path(__file__).resolve().parents[2] / "fixtures" / "examples"
FAST = ("-O2",)
NATIVE = ("-O3", "-march=native")

#: Name of a kernel to seconds.
Times = Mapping[str, float]


class RunFailed(Exception):
    """A program of the comparison did not end well; ``args[0]`` says which and how."""


@dataclass(frozen=True, slots=True)
class Row:
    """The best times of one kernel, in seconds."""

    kernel: str
    original: float
    rewritten: float

    @property
    def ratio(self) -> float:
        """Above 1: the rewritten program is faster."""
        return self.original / self.rewritten if self.rewritten > 0 else float("nan")


def program(folder: Path) -> list[Source]:
    """The sources listed in ``order.txt`` of ``folder``, in the order to compile them."""
    names = (folder / "order.txt").read_text(encoding="utf-8").split()
    return [Source(name, (folder / name).read_bytes().decode("utf-8")) for name in names]


def rewritten(sources: Sequence[Source], options: Options) -> list[Source]:
    """The same files, rewritten together.  Raises InputError."""
    from fortrans.pipeline import rewrite_sources

    outputs: list[Source] = []
    for result in rewrite_sources(sources, options):
        if isinstance(result, InputError):
            raise result
        outputs.append(result.output)
    return outputs


def times(report: str) -> dict[str, float]:
    """Read lines `name of kernel   seconds`; other lines say nothing."""
    found: dict[str, float] = {}
    for line in report.splitlines():
        name, _, seconds = line.rstrip().rpartition(" ")
        try:
            found[name.strip()] = float(seconds)
        except ValueError:
            continue
    return found


def best(runs: Sequence[Times]) -> dict[str, float]:
    """The least time of each kernel."""
    return {name: min(one[name] for one in runs) for name in (runs[0] if runs else {})}


def _run(which: str, executable: Path, arguments: Sequence[str]) -> Run:
    result = run(executable, arguments, timeout=600.0)
    if result.exit != 0:
        said = result.stderr.decode("utf-8", "replace").strip()
        raise RunFailed(f"The {which} program ended with exit code {result.exit}: {said}")
    return result


def measure(
    original: Sequence[Source],
    other: Sequence[Source],
    flags: Sequence[str] = FAST,
    compiler: str = "gfortran",
    arguments: Sequence[str] = (),
    rounds: int = 5,
) -> tuple[list[Row], bool]:
    """The rows of the table, and whether both programs always printed the same.

    The two run in turn, and each kernel counts with its best time, so that a busy machine
    disturbs both alike.  Raises BuildFailed, CompilerMissing or RunFailed.
    """
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        folder = Path(name)
        first = build(original, flags, folder / "original", compiler).executable
        second = build(other, flags, folder / "rewritten", compiler).executable
        before: list[Times] = []
        after: list[Times] = []
        same = True
        for _ in range(rounds):
            one, two = _run("original", first, arguments), _run("rewritten", second, arguments)
            same = same and one.stdout == two.stdout
            before.append(times(one.stderr.decode()))
            after.append(times(two.stderr.decode()))
    new = best(after)
    rows = [Row(kernel, seconds, new[kernel]) for kernel, seconds in best(before).items()]
    return rows, same


def table(rows: Sequence[Row]) -> str:
    """The rows as text, times in milliseconds."""
    width = max([len("kernel"), *(len(row.kernel) for row in rows)])
    head = f"{'kernel':<{width}}  {'original':>11}  {'rewritten':>11}  {'ratio':>6}\n"
    return head + "".join(
        f"{row.kernel:<{width}}  {row.original * 1e3:>8.2f} ms  {row.rewritten * 1e3:>8.2f} ms"
        f"  {row.ratio:>6.2f}\n"
        for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 1 when the programs print different things, 2 on errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, default=EXAMPLES, help="folder with order.txt")
    parser.add_argument("--native", action="store_true", help="build with -O3 -march=native")
    parser.add_argument("--compiler", default="gfortran")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=50, help="how often each kernel runs")
    parser.add_argument("--all", action="store_true", help="rewrite whatever is legal")
    chosen = parser.parse_args(arguments)
    flags = NATIVE if chosen.native else FAST
    try:
        sources = program(chosen.examples)
        outputs = rewritten(sources, Options(all=chosen.all))
        rows, same = measure(sources, outputs, flags, chosen.compiler, (str(chosen.repeats),), chosen.rounds)
    except (CompilerMissing, BuildFailed, RunFailed, InputError, OSError) as failed:
        print(f"error: {failed}", file=sys.stderr)
        return 2
    print(f"{chosen.compiler} {' '.join(flags)}, best of {chosen.rounds}; a ratio above 1 is a gain\n")
    print(table(rows), end="")
    if not same:
        # Contracted multiply-adds fall differently in loops of another form.
        print("\nThe two programs printed different things", file=sys.stderr)
        return 0 if chosen.native else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
