"""Times of small kernels, original beside rewritten: `python -m fortrans.verify.kernels`.

A kernel is a file of fixtures/kernels: a module ``kernel`` with one subroutine ``run(n, ...)``,
and what it is called with in comments before it:

    !: out real(8) v(n)            an argument of its own for each of the two programs
    !: in {T} a(n, n), x(n)        arguments that both read
    !: in integer k = 3            a scalar argument and its value
    !: T = real(8) | real(4)       a kernel for each value of {T}
    !: sizes 8 40 300              values of n, if not the usual ones for the rank
    !: range 0.5 1.5               of the numbers (-1 to 1 if not given)
    !: true 0.01                   the share of true elements of logical arrays (0.5)

Original and rewritten subroutine are called in turn by one program, in batches long enough to be
timed, and each counts with its best batch.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fortrans.options import Options
from fortrans.remarks import Kind
from fortrans.verify.build import BuildFailed, CompilerMissing, build, run
from fortrans.verify.kernel_program import Argument, Kernel, program

KERNELS = Path(__file__).resolve().parents[2] / "fixtures" / "kernels"
#: By highest rank: a handful of elements, first-level cache, second-level cache, memory.
SIZES = {1: (8, 1000, 50000, 4000000), 2: (8, 40, 300, 2500), 3: (4, 12, 48, 200)}
#: A rewrite is slower when its ratio is below this; what is nearer to 1 is not told from noise.
SLOWER = 0.97

_ARGUMENT = re.compile(r"(\w+)(?:\(([^()]*)\))?(?:\s*=\s*([^,\s]+))?")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a kernel: the text, the codes, and whether profit rules left it alone."""

    text: str
    codes: tuple[str, ...]
    changed: bool
    left: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One size of a kernel: the best times in nanoseconds, and how the results differ."""

    size: int
    original: float
    rewritten: float
    differing: int
    worst: float

    @property
    def ratio(self) -> float:
        """Above 1: the rewritten kernel is faster."""
        return self.original / self.rewritten if self.rewritten > 0 else float("inf")


# ---- kernels ------------------------------------------------------------------------


def read(path: Path) -> Iterator[Kernel]:
    """The kernels of a file, one for each choice of the placeholders' values."""
    text = path.read_text(encoding="utf-8")
    lines = [line[2:].strip() for line in text.splitlines() if line.startswith("!:")]
    values = dict(line.split(" = ", 1) for line in lines if re.match(r"[A-Z] = ", line))
    for chosen in itertools.product(*(value.split(" | ") for value in values.values())):
        filled, heads = text, lines
        for letter, value in zip(values, chosen):
            filled = filled.replace(f"{{{letter}}}", value)
            heads = [line.replace(f"{{{letter}}}", value) for line in heads]
        yield _kernel(" ".join((path.stem, *chosen)), filled, heads)


def _kernel(label: str, text: str, heads: Sequence[str]) -> Kernel:
    found: list[Argument] = []
    kernel = Kernel(label, text, (), ())
    for line in heads:
        word, _, rest = line.partition(" ")
        match word:
            case "in" | "out" | "inout":
                found += _arguments(rest, own=word != "in")
            case "sizes":
                kernel = replace(kernel, sizes=tuple(int(x) for x in rest.split()))
            case "range":
                low, high = rest.split()
                kernel = replace(kernel, range=(low, high))
            case "true":
                kernel = replace(kernel, true=rest)
    rank = max(len(argument.extents) for argument in found)
    return replace(kernel, arguments=tuple(found), sizes=kernel.sizes or SIZES[rank])


def _arguments(text: str, own: bool) -> Iterator[Argument]:
    type, _, rest = text.partition(" ")
    type = type.rstrip(",")
    rest = rest.removeprefix("allocatable ")
    for name, extents, value in _ARGUMENT.findall(rest):
        each = tuple(x.strip() for x in extents.split(",")) if extents else ()
        yield Argument(name, type, each, own, value)


def kernels(folder: Path = KERNELS, only: str = "") -> list[Kernel]:
    """All kernels whose label contains every word of ``only``, by name."""
    words = only.split()
    return [
        kernel
        for path in sorted(folder.glob("*.f90"))
        for kernel in read(path)
        if all(word in kernel.label for word in words)
    ]


def rewritten(kernel: Kernel, all: bool, target: str = "gfortran") -> Rewritten:
    """The kernel after the tool; ``all``: also where profit rules would leave it alone."""
    from fortrans.pipeline import rewrite

    result = rewrite(kernel.text, Options(target=target, strict=True), "kernel.f90")
    codes = tuple(remark.code for remark in result.remarks)
    left = all and any(r.kind is Kind.MISSED and r.code.startswith("FT6") for r in result.remarks)
    if left:
        result = rewrite(kernel.text, Options(all=True, target=target, strict=True), "kernel.f90")
    return Rewritten(result.text, codes, result.text != kernel.text, left)


# ---- timing -----------------------------------------------------------------------------


def measure(
    kernel: Kernel,
    other: str,
    flags: Sequence[str],
    compiler: str = "gfortran",
    sizes: Sequence[int] = (),
    seconds: float = 0.003,
    rounds: int = 9,
) -> list[Row]:
    """The times of ``kernel`` and of the text ``other``.  Raises BuildFailed or CompilerMissing.

    BuildFailed is raised, too, when the program does not end well.
    """
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        built = build(program(kernel, other), flags, Path(name), compiler)
        words = [str(seconds), str(rounds), *(str(n) for n in sizes or kernel.sizes)]
        ran = run(built.executable, words, timeout=600.0)
    if ran.exit != 0:
        said = ran.stderr.decode("utf-8", "replace").strip()
        raise BuildFailed(f"The program of '{kernel.label}' ended with exit code {ran.exit}: {said}")
    return [_row(line.split()) for line in ran.stdout.decode().splitlines()]


def _row(words: Sequence[str]) -> Row:
    size, original, other, differing, worst = words
    return Row(int(size), float(original), float(other), int(differing), float(worst))


def report(kernel: Kernel, outcome: Rewritten, rows: Sequence[Row]) -> str:
    """One line: label, codes (a star: only with ``--all``), ratios by size, difference of results."""
    codes = ",".join(dict.fromkeys(outcome.codes)) + ("*" if outcome.left else "")
    ratios = "  ".join(f"{row.size:>7}:{row.ratio:6.2f}{'<' if row.ratio < SLOWER else ' '}" for row in rows)
    worst = max((row.worst for row in rows), default=0.0)
    same = all(not row.differing for row in rows)
    verdict = "" if not rows else "same" if same else f"{worst:.0e}"
    return f"{kernel.label:<36} {codes:<8} {ratios}  {verdict}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each kernel; exit code 1 when a rewrite of default mode is slower, 2 on errors."""
    parser = argparse.ArgumentParser(description="Time kernels, original beside rewritten")
    parser.add_argument("--only", default="", help="words that the kernel's label must contain")
    parser.add_argument("--sizes", type=int, nargs="+", default=(), help="values of n")
    parser.add_argument("--flags", default="-O2", help="compiler flags, in one word")
    parser.add_argument("--compiler", default="gfortran")
    parser.add_argument("--all", action="store_true", help="time also what profit rules leave alone")
    parser.add_argument("--seconds", type=float, default=0.003, help="the least time of a batch")
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args(arguments)
    slower: list[str] = []
    failed = False
    print(f"{chosen.compiler} {chosen.flags}, ratios of original to rewritten by size; above 1 is a gain")
    for kernel in kernels(only=chosen.only):
        outcome = rewritten(kernel, chosen.all)
        rows: list[Row] = []
        if outcome.changed:
            try:
                rows = measure(
                    kernel,
                    outcome.text,
                    chosen.flags.split(),
                    chosen.compiler,
                    chosen.sizes,
                    chosen.seconds,
                    chosen.rounds,
                )
            except (BuildFailed, CompilerMissing) as problem:
                print(f"{kernel.label}: error: {problem}", file=sys.stderr)
                failed = True
                continue
        print(report(kernel, outcome, rows), flush=True)
        if not outcome.left:
            slower += [f"{kernel.label} at {row.size}" for row in rows if row.ratio < SLOWER]
    print(f"\nSlower in default mode: {'; '.join(slower) or 'none'}")
    return 2 if failed else int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())
