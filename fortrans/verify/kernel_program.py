"""The program that calls a kernel and its rewritten form in turn, and times both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fortrans.source import Source

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
  real(8), parameter :: lowest = {low}, highest = {high}, share = {true}
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

_HELPER = """\
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
    "real": _HELPER.replace("FILLED", "real(lowest + (highest - lowest)*r, {kind})")
    .replace("SAME", "x(i) == y(i) .or. (x(i) /= x(i) .and. y(i) /= y(i))")
    .replace("integer :: i\n    do", "integer :: i\n    real(8) :: scale\n    scale = SCALED\n    do")
    .replace("SCALED", "max(real(maxval(abs(x), abs(x) <= huge(x)), 8), tiny(scale))")
    .replace("WORSE", "worst = max(worst, abs(real(x(i), 8) - y(i))/scale)"),
    "integer": _HELPER.replace("FILLED", "nint((lowest + (highest - lowest)*r)*SCALE)")
    .replace("SCALE", "merge(1, 10, highest > 2)")
    .replace("SAME", "x(i) == y(i)")
    .replace("WORSE", "worst = max(worst, abs(real(x(i), 8) - y(i)))"),
    "logical": _HELPER.replace("FILLED", "r < share").replace("SAME", "x(i) .eqv. y(i)").replace("WORSE", ""),
}
