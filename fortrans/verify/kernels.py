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
from fortrans.source import Source
from fortrans.verify.build import BuildFailed, CompilerMissing, build, run

KERNELS = Path(__file__).resolve().parents[2] / "fixtures" / "kernels"
#: By highest rank: a handful of elements, first-level cache, second-level cache, memory.
SIZES = {1: (8, 1000, 50000, 4000000), 2: (8, 40, 300, 2500), 3: (4, 12, 48, 200)}
#: A rewrite is slower when its ratio is below this; what is nearer to 1 is not told from noise.
SLOWER = 0.97

_ARGUMENT = re.compile(r"(\w+)(?:\(([^()]*)\))?(?:\s*=\s*([^,\s]+))?")
_DUMMIES = re.compile(r"subroutine run\(([^)]*)\)")
_KINDS = {
    "real(8)": ("real", 8),
    "real(4)": ("real", 4),
    "integer": ("integer", 4),
    "logical": ("logical", 4),
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An actual argument: ``extents`` () is a scalar; ``own``: each program has one of its own."""

    name: str
    type: str
    extents: tuple[str, ...]
    own: bool
    value: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A subroutine to time, its placeholders filled in; ``label`` names the file and the values."""

    label: str
    text: str
    arguments: tuple[Argument, ...]
    sizes: tuple[int, ...]
    range: tuple[str, str] = ("-1", "1")
    true: str = "0.5"


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
        return self.original / self.rewritten if self.rewritten > 0 else float("nan")


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


def rewritten(kernel: Kernel, all: bool) -> Rewritten:
    """The kernel after the tool; ``all``: also where profit rules would leave it alone."""
    from fortrans.pipeline import rewrite

    result = rewrite(kernel.text, Options(strict=True), "kernel.f90")
    codes = tuple(remark.code for remark in result.remarks)
    left = all and any(r.kind is Kind.MISSED and r.code.startswith("FT6") for r in result.remarks)
    if left:
        result = rewrite(kernel.text, Options(all=True, strict=True), "kernel.f90")
    return Rewritten(result.text, codes, result.text != kernel.text, left)


# ---- the program ----------------------------------------------------------------------


def _named(text: str, module: str) -> Source:
    return Source(f"{module}.f90", re.sub(r"\bmodule kernel\b", f"module {module}", text))


def program(kernel: Kernel, other: str) -> list[Source]:
    """The sources of the program that times ``kernel`` against the text ``other``."""
    return [_named(kernel.text, "original"), _named(other, "other"), Source("driver.f90", driver(kernel))]


def driver(kernel: Kernel) -> str:
    """The main program: arguments are seconds of a batch, rounds, and the sizes."""
    arrays = [x for x in kernel.arguments if x.extents or x.own]
    scalars = [x for x in kernel.arguments if not x.extents and not x.own]
    declared, made, filled, copied, compared, freed = [], [], [], [], [], []
    for x in arrays:
        name, kind = _KINDS[x.type]
        colons = f"({', '.join(':' for _ in x.extents)})" if x.extents else ""
        bounds = f"({', '.join(x.extents)})" if x.extents else ""
        first, second = f"{x.name}_1", f"{x.name}_2"
        both = (first, second) if x.own else (first,)
        attribute = ", allocatable" if x.extents else ""
        declared.append(f"{x.type}{attribute} :: " + ", ".join(f"{y}{colons}" for y in both))
        count = f"size({first})" if x.extents else "1"
        actual = [y if x.extents else f"[{y}]" for y in both]
        if x.extents:
            made.append("allocate (" + ", ".join(f"{y}{bounds}" for y in both) + ")")
            filled.append(f"call fill_{name}{kind}({count}, {first})")
            freed.append("deallocate (" + ", ".join(both) + ")")
        elif x.own:
            filled.append(f"{first} = {'.false.' if name == 'logical' else '0'}")
        if x.own:
            copied.append(f"{second} = {first}")
            compared.append(f"call compare_{name}{kind}({count}, {actual[0]}, {actual[1]})")
    for x in scalars:
        declared.append(f"{x.type} :: {x.name}_1 = {x.value}")
    order = {x.name: x for x in kernel.arguments}
    dummies = _DUMMIES.search(kernel.text)
    assert dummies is not None, kernel.label
    called = [name.strip() for name in dummies.group(1).split(",")][1:]
    one = ", ".join(["n", *(f"{name}_1" for name in called)])
    two = ", ".join(["n", *(f"{name}_{2 if order[name].own else 1}" for name in called)])

    def lines(texts: Sequence[str]) -> str:
        return "\n".join(f"    {text}" for text in texts)

    types = sorted({_KINDS[x.type] for x in arrays})
    helpers = "\n".join(_HELPERS[name].format(name=name, kind=kind) for name, kind in types)
    return _DRIVER.format(
        declared=lines(declared),
        made=lines(made),
        filled=lines(filled),
        copied=lines(copied),
        compared=lines(compared),
        freed=lines(freed),
        one=one,
        two=two,
        low=kernel.range[0],
        high=kernel.range[1],
        true=kernel.true,
        helpers=helpers,
    )


_DRIVER = """\
program driver
  use original, only: first => run
  use other, only: second => run
  implicit none
{declared}
  integer :: n, k, rounds, calls, round, differing, seed(64)
  real(8) :: seconds, worst, spent, best(2)
  character(len=32) :: word
  call get_command_argument(1, word)
  read (word, *) seconds
  call get_command_argument(2, word)
  read (word, *) rounds
  do k = 3, command_argument_count()
    call get_command_argument(k, word)
    read (word, *) n
    seed = 4711
    call random_seed(put=seed)
{made}
{filled}
{copied}
    call first({one})
    call second({two})
    differing = 0
    worst = 0
{compared}
    calls = 1
    do
      spent = time_first()
      if (spent >= seconds .or. calls > 100000000) exit
      calls = calls*max(2, min(8, int(seconds/max(spent, seconds/8))))
    end do
    best = huge(best)
    do round = 1, merge(max(3, rounds/3), rounds, spent > 0.2_8)
      if (mod(round, 2) == 1) best(1) = min(best(1), time_first())
      best(2) = min(best(2), time_second())
      if (mod(round, 2) == 0) best(1) = min(best(1), time_first())
    end do
    best = best/calls*1e9_8
    print '(i0, 2(1x, es12.5), 1x, i0, 1x, es9.2)', n, best, differing, worst
{freed}
  end do
contains
  real(8) function time_first() result(spent)
    real(8) :: start, finish
    integer :: call_number
    call cpu_time(start)
    do call_number = 1, calls
      call first({one})
    end do
    call cpu_time(finish)
    spent = finish - start
  end function time_first
  real(8) function time_second() result(spent)
    real(8) :: start, finish
    integer :: call_number
    call cpu_time(start)
    do call_number = 1, calls
      call second({two})
    end do
    call cpu_time(finish)
    spent = finish - start
  end function time_second
{helpers}
end program driver
"""

_NUMBERS = """\
  subroutine fill_{name}{kind}(m, x)
    integer, intent(in) :: m
    {name}({kind}), intent(out) :: x(m)
    real(8) :: r
    integer :: i
    do i = 1, m
      call random_number(r)
      x(i) = FILLED
    end do
  end subroutine fill_{name}{kind}
  subroutine compare_{name}{kind}(m, x, y)
    integer, intent(in) :: m
    {name}({kind}), intent(in) :: x(m), y(m)
    integer :: i
    do i = 1, m
      if (SAME) cycle
      differing = differing + 1
      WORSE
    end do
  end subroutine compare_{name}{kind}"""

_HELPERS = {
    "real": _NUMBERS.replace("FILLED", "real(lowest + (highest - lowest)*r, {kind})")
    .replace("SAME", "x(i) == y(i) .or. (x(i) /= x(i) .and. y(i) /= y(i))")
    .replace("WORSE", "worst = max(worst, real(abs(x(i) - y(i))/max(abs(x(i)), tiny(x)), 8))"),
    "integer": _NUMBERS.replace("FILLED", "nint((lowest + (highest - lowest)*r)*SCALE)")
    .replace("SCALE", "merge(1, 10, highest > 2)")
    .replace("SAME", "x(i) == y(i)")
    .replace("WORSE", "worst = max(worst, abs(real(x(i), 8) - y(i)))"),
    "logical": _NUMBERS.replace("FILLED", "r < share").replace("SAME", "x(i) .eqv. y(i)").replace("WORSE", ""),
}
_DRIVER = _DRIVER.replace(
    "  character(len=32) :: word\n",
    "  character(len=32) :: word\n"
    "  real(8), parameter :: lowest = {low}, highest = {high}, share = {true}\n",
)


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
    return f"{kernel.label:<36} {codes:<8} {ratios}  {'same' if same else f'{worst:.0e}'}"


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
