"""Repacking measured: a kernel as it is, with gfortran's -frepack-arrays, and repacked in source.

``make bench-repack``: one program for each kernel and way.  A program times the same number of calls
in several blocks and prints the least; programs run in turn, in several rounds, and the least counts.
How many calls make a block long enough to be measured is found out first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.source import Source
from fortrans.verify.build import build, run

_MODULE = """\
module kernels
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
{procedure}
end module kernels
"""

_PROGRAM = """\
program main
  use kernels
  implicit none
  real(dp), allocatable :: a(:, :), w(:)
  real(dp) :: s, least, start, finish
  character(20) :: word
  integer :: block, calls, k
  call get_command_argument(1, word)
  read (word, *) calls
  allocate (a({rows}, {columns}), w(max({rows}, {columns})))
  a = 0.5_dp
  w = 0.25_dp
  s = 0
  {call}
  least = huge(least)
  do block = 1, {blocks}
    call cpu_time(start)
    do k = 1, calls
      {call}
    end do
    call cpu_time(finish)
    least = min(least, finish - start)
  end do
  print *, least, s + sum(a)
end program main
"""

_HAMMER = """\
  subroutine hammer(x, sweeps)
    real(dp), intent(inout) :: x(:)
    integer, intent(in) :: sweeps
    integer :: i, sweep
    do sweep = 1, sweeps
      do i = 1, size(x)
        x(i) = x(i)*0.999_dp + 0.001_dp
      end do
    end do
  end subroutine hammer
"""
_READ = """\
  subroutine weigh(x, w, sweeps, s)
    real(dp), intent(in) :: x(:), w(:)
    integer, intent(in) :: sweeps
    real(dp), intent(inout) :: s
    integer :: i, sweep
    do sweep = 1, sweeps
      do i = 1, size(x)
        s = s + x(i)*w(i)
      end do
    end do
  end subroutine weigh
"""
_WRITTEN = """\
  subroutine ramp(x, sweeps)
    real(dp), intent(out) :: x(:)
    integer, intent(in) :: sweeps
    integer :: i, sweep
    do i = 1, size(x)
      x(i) = i
    end do
    do sweep = 1, sweeps
      do i = 1, size(x)
        x(i) = x(i) + sweep*0.5_dp
      end do
    end do
  end subroutine ramp
"""
_RARE = """\
  subroutine rare(x, flag, sweeps, s)
    real(dp), intent(inout) :: x(:)
    logical, intent(in) :: flag
    integer, intent(in) :: sweeps
    real(dp), intent(inout) :: s
    integer :: i, sweep
    if (flag) then
      do sweep = 1, sweeps
        do i = 1, size(x)
          x(i) = x(i)*0.999_dp + 0.001_dp
        end do
      end do
    end if
    s = s + 1
  end subroutine rare
"""
_RARE_ELSE = """\
  subroutine rare(x, flag, sweeps, s)
    real(dp), intent(inout) :: x(:)
    logical, intent(in) :: flag
    integer, intent(in) :: sweeps
    real(dp), intent(inout) :: s
    integer :: i, sweep
    if (flag) then
      s = s + 1
    else
      do sweep = 1, sweeps
        do i = 1, size(x)
          x(i) = x(i)*0.999_dp + 0.001_dp
        end do
      end do
    end if
  end subroutine rare
"""
_DOT = """\
  subroutine norm(x, s)
    real(dp), intent(in) :: x(:)
    real(dp), intent(inout) :: s
    integer :: i
    do i = 1, size(x)
      s = s + x(i)*x(i)
    end do
  end subroutine norm
"""
_SMOOTH = """\
  subroutine smooth(x, sweeps)
    real(dp), intent(inout) :: x(:, :)
    integer, intent(in) :: sweeps
    integer :: i, j, sweep
    do sweep = 1, sweeps
      do j = 1, size(x, 2)
        do i = 1, size(x, 1)
          x(i, j) = x(i, j)*0.999_dp + 0.001_dp
        end do
      end do
    end do
  end subroutine smooth
"""

BLOCKS = 15
BLOCK = 0.02
"""Seconds of a block: long enough for the clock, short enough to be undisturbed once in a while."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: its procedure, the call, the matrix, how often; ``goal`` against the original, or
    against -frepack-arrays where ``against``; ``calls``: packed around the call."""

    name: str
    procedure: str
    call: str
    rows: int
    columns: int
    goal: float
    against: float = 0.0
    calls: bool = False


KERNELS = (
    Kernel("strided row, 50 sweeps", _HAMMER, "call hammer(a(3, :), 50)", 10000, 10000, 5.0, 1.0),
    Kernel("strided row, 10 sweeps", _HAMMER, "call hammer(a(3, :), 10)", 1000, 20000, 2.0, 1.0),
    Kernel("strided row, 1 sweep", _HAMMER, "call hammer(a(3, :), 1)", 1000, 20000, 0.97),
    Kernel("INTENT(IN) row", _READ, "call weigh(a(3, :), w, 10, s)", 1000, 20000, 1.0, 1.0),
    Kernel("INTENT(OUT) row", _WRITTEN, "call ramp(a(3, :), 3)", 1000, 20000, 1.0, 1.0),
    Kernel("contiguous column", _HAMMER, "call hammer(a(:, 3), 10)", 10000, 100, 0.98),
    Kernel("short column", _HAMMER, "call hammer(a(:, 3), 1)", 8, 100, 0.97),
    Kernel("rare path", _RARE, "call rare(a(3, :), .false., 10, s)", 100, 1000, 0.97),
    Kernel("rare path, ELSE", _RARE_ELSE, "call rare(a(3, :), .true., 10, s)", 100, 1000, 0.97),
    Kernel("tiny row in a loop", _HAMMER, "call hammer(a(3, :), 3)", 8, 8, 0.97),
    Kernel("row of 64, 4 sweeps", _HAMMER, "call hammer(a(3, :), 4)", 100, 64, 0.97),
    Kernel("row packed by its caller", _HAMMER, "call hammer(a(3, :), 50)", 10000, 10000, 5.0, 1.0, True),
    Kernel("inlinable callee, row", _DOT, "call norm(a(3, :), s)", 100, 16, 0.97),
    Kernel("inlinable callee, column", _DOT, "call norm(a(:, 3), s)", 16, 16, 0.97),
    Kernel("every second row", _SMOOTH, "call smooth(a(1::2, :), 10)", 600, 300, 1.0),
    Kernel("columns with gaps", _SMOOTH, "call smooth(a(1:300, :), 10)", 308, 300, 0.97),
    Kernel("whole matrix", _SMOOTH, "call smooth(a, 10)", 300, 300, 0.98),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The seconds of a call of a kernel, three ways."""

    kernel: Kernel
    none: float
    compiler: float
    ours: float

    @property
    def gain(self) -> float:
        """How many times faster than the original."""
        return self.none / self.ours

    @property
    def against(self) -> float:
        """How many times faster than -frepack-arrays."""
        return self.compiler / self.ours


def measure(kernel: Kernel, flags: Sequence[str], compiler: str, rounds: int, inline: bool) -> Row:
    """Build the three ways of a kernel, run them in turn, and keep the least time of each."""
    module = _MODULE.format(procedure=kernel.procedure.rstrip())
    program = _PROGRAM.format(call=kernel.call, rows=kernel.rows, columns=kernel.columns, blocks=BLOCKS)
    ours = rewrite(module, Options(repack="innermost", strict=True)).text
    if kernel.calls:
        inline, ours = True, rewrite(module + program, Options(repack_calls=True, strict=True)).text
    repack = ("-frepack-arrays",) if "gfortran" in compiler else ()
    best = [float("inf")] * 3
    with TemporaryDirectory() as name:
        ways = []
        for number, (text, more) in enumerate(((module, ()), (module, repack), (ours, ()))):
            folder = Path(name) / str(number)
            folder.mkdir()
            # Callees that may be inlined stand in one file with their callers.
            sources = [Source("k.f90", text), Source("m.f90", program)]
            if inline:
                sources = [Source("k.f90", text if "program main" in text else text + program)]
            ways.append(build(sources, (*flags, *more), folder, compiler).executable)
        results = {_timed(executable, 1)[1] for executable in ways}
        # A way may be hundreds of times slower than another.
        calls = [_enough(executable) for executable in ways]
        for _ in range(rounds):
            for number, executable in enumerate(ways):
                seconds = _timed(executable, calls[number])[0]/calls[number]
                best[number] = min(best[number], seconds)
    if len(results) > 1 and "-O3" not in " ".join(flags):
        raise ValueError(f"'{kernel.name}' gives different results: {sorted(results)}")
    return Row(kernel, *best)


def _timed(executable: Path, calls: int) -> tuple[float, bytes]:
    """The seconds of a block of ``calls``, and the result."""
    seconds, result = run(executable, [str(calls)], timeout=600).stdout.split()
    return float(seconds), result


def _enough(executable: Path) -> int:
    """How many calls take as long as a block should."""
    calls = 1
    while (seconds := _timed(executable, calls)[0]) < BLOCK / 10:
        calls *= 10
    return max(1, round(calls * BLOCK / seconds))


def table(rows: Iterator[Row]) -> Iterator[str]:
    """Lines of a table: microseconds, gains, and whether the goals are met."""
    yield f"{'kernel':28}{'none':>9}{'-frepack':>10}{'ours':>9}{'gain':>8}{'against':>9}  goal"
    for row in rows:
        kernel = row.kernel
        met = row.gain >= kernel.goal and (not kernel.against or row.against >= kernel.against)
        goal = f"{kernel.goal:.2f}" + (f", {kernel.against:.2f} against" if kernel.against else "")
        none, compiler, ours = (1e6 * seconds for seconds in (row.none, row.compiler, row.ours))
        yield (
            f"{kernel.name:28}{none:9.3f}{compiler:10.3f}{ours:9.3f}{row.gain:8.2f}"
            f"{row.against:9.2f}  {goal}{'' if met else '  MISSED'}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all kernels at -O2 and -O3."""
    parser = argparse.ArgumentParser(prog="repack_bench", description=main.__doc__)
    parser.add_argument("--compiler", default="gfortran")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="kernels whose name holds this text")
    chosen = parser.parse_args(arguments)
    kernels = [kernel for kernel in KERNELS if chosen.only in kernel.name]
    for flags in (["-O2"], ["-O3", "-march=native"]):
        print(chosen.compiler, *flags)
        rows = (
            measure(kernel, flags, chosen.compiler, chosen.rounds, "inlinable" in kernel.name)
            for kernel in kernels
        )
        for line in table(rows):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
