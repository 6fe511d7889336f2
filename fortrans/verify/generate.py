"""Random Fortran programs of array statements: conforming, terminating, the same for a seed.

Every shape, bound and subscript is known here as a number while the text is written, so a program
conforms by construction.  Values stay small (each expression carries a bound on its magnitude and
is reduced with MOD when it grows), and are whole numbers unless ``inexact``: then real data have
fractions, and the bits printed also tell in which order sums were added.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from random import Random

from fortrans.verify.expressions import Expressions
from fortrans.verify.itself import Itself
from fortrans.verify.variables import DECLARED, Shape, Variable, initial_variables

_SUPPORT = """\
module support
  implicit none
  integer, parameter :: sp = kind(1.0), dp = kind(1.0d0), i8 = selected_int_kind(15)
  integer :: calls = 0
  integer :: table(0:4)
  type :: cell
    integer :: k
    real(dp) :: u(2, 0:3)
  end type cell
  type :: grid
    type(cell) :: c(4)
    integer :: w(-1:3)
    real(sp), allocatable :: al(:, :)
  end type grid
contains
  integer function bump()
    calls = calls + 1
    bump = modulo(calls, 7) - 2
  end function bump

  function ramp(n) result(r)
    integer, intent(in) :: n
    integer :: r(n), i
    calls = calls + 1
    do i = 1, n
      r(i) = modulo(i * calls, 11)
    end do
  end function ramp

  pure elemental integer function twist(x)
    integer, intent(in) :: x
    twist = modulo(3 * x + 1, 101)
  end function twist

  pure elemental integer function peek(x)
    integer, intent(in) :: x
    peek = table(modulo(x, 5))
  end function peek
"""

_PROCEDURES = """
  subroutine fill_{t}(x, n, start)
    integer, intent(in) :: n, start
    {decl}, intent(out) :: x(n)
    integer :: i, k
    do i = 1, n
      k = modulo(i * 7 + start * 5, 19) - 9
      x(i) = {value}
    end do
  end subroutine fill_{t}

  subroutine show_{t}(name, x, n)
    character(len=*), intent(in) :: name
    integer, intent(in) :: n
    {dummy}, intent(in) :: x(n)
    print '(a, *(1x, {edit}))', name, {shown}
  end subroutine show_{t}
"""

#: Type, declaration, value of the k-th element, edit descriptor, what is printed.  Adding zero
#: makes the two zeros of a real one: which of them MAX gives is the processor's choice.
_TYPES = (
    ("i4", "integer", "k", "i0", "x"),
    ("i8", "integer(i8)", "k", "i0", "x"),
    ("r4", "real(sp)", "k{scale4}", "z8.8", "x + 0.0"),
    ("r8", "real(dp)", "k{scale8}", "z16.16", "x + 0.0_dp"),
    ("z8", "complex(dp)", "cmplx(k{scale8}, -i, dp)", "z16.16", "x + 0.0_dp"),
    ("l", "logical", "modulo(k, 3) == 0", "l1", "x"),
    ("c", "character(len=3)", "achar(84 + k) // achar(109 - k) // 'x'", "a", "x"),
)


@dataclass(frozen=True, slots=True)
class Program:
    """A generated program: any subset of ``statements`` makes a program, though not always a
    conforming one."""

    seed: int
    head: str
    statements: tuple[str, ...]
    tail: str

    def text(self, keep: Collection[int] | None = None) -> str:
        """The program with the statements numbered in ``keep``, or with all."""
        chosen = (s for k, s in enumerate(self.statements) if keep is None or k in keep)
        return "".join((self.head, *chosen, self.tail))


def wrapped(statement: str, indent: str) -> str:
    """A statement on lines of at most 100 columns; strings written here hold no blanks."""
    lines, line = [], indent
    for word in statement.split(" "):
        if len(line) + len(word) > 98 and line.strip():
            lines.append(line.rstrip() + " &")
            line = indent + "  & "
        line += word + " "
    return "\n".join((*lines, line.rstrip())) + "\n"


class _Writer:
    """Writes statements, and keeps what is known before each of them."""

    def __init__(self, seed: int, inexact: bool, wheres: int = 3) -> None:
        self.wheres = wheres
        self.random = Random(seed)
        self.variables = initial_variables(self.random)
        self.make = Expressions(self.random, self.variables, inexact)
        self.label = 100

    def statement(self) -> str:
        """The next statement, printed values included."""
        indent = "    "
        match self.random.choice(
            ["plain"] * 8
            + ["scalar"] * 3
            + ["allocate"] * 4
            + ["source"] * 2
            + ["itself"] * 4
            + ["if", "if", "block if", "do", "joined", "label", "count"]
            + ["where"] * self.wheres
        ):
            case "scalar":
                return self._scalar(indent)
            case "itself":
                variable = self._target()
                left, shape = self.make.definable(variable)
                value = Itself(self.random, self.make.sections).value(variable, left, shape)
                return wrapped(f"{left} = {value}", indent) + self._show(variable, indent)
            case "allocate":
                return self._reallocation(indent)
            case "source":
                return self._source(indent)
            case "if":
                condition = self.make.condition()
                text, target = self._assignment()
                return wrapped(f"if ({condition}) {text}", indent) + self._show(target, indent)
            case "block if":
                first, one = self._assignment()
                condition = self.make.condition()
                second, two = self._assignment()
                return (
                    wrapped(f"if ({condition}) then", indent)
                    + wrapped(first, indent + "  ")
                    + f"{indent}else\n"
                    + wrapped(second, indent + "  ")
                    + f"{indent}end if\n"
                    + "".join(self._show(v, indent) for v in dict.fromkeys((one, two)))
                )
            case "do":
                return self._loop(indent)
            case "joined":
                first, one = self._assignment()
                second, two = self._assignment()
                shown = "".join(self._show(v, indent) for v in dict.fromkeys((one, two)))
                return wrapped(f"{first}; {second}", indent) + shown
            case "label":
                self.label += 10
                text, target = self._assignment()
                return f"{self.label} " + wrapped(text, indent).lstrip() + self._show(target, indent)
            case "count":
                name = self.random.choice(["n", "m"])
                step = 1 if self.make.sections.known[name] < 4 else -1
                self.make.sections.known[name] += step
                return f"{indent}{name} = {name} {'+' if step > 0 else '-'} 1\n"
            case "where":
                return self._where(indent)
        text, target = self._assignment()
        return wrapped(text, indent) + self._show(target, indent)

    def _show(self, variable: Variable, indent: str) -> str:
        name = variable.name
        call = f"call show_{variable.type}('{name}', {name}, size({name}))"
        bounds = f"{indent}print *, lbound({name})\n" if variable.allocatable else ""
        return f"{indent}{call}\n{bounds}"

    def _depth(self) -> int:
        return self.random.choice([1, 2, 2, 3, 3, 4])

    def _target(self) -> Variable:
        return self.random.choice([v for v in self.variables if v.extents is not None])

    def _assignment(self) -> tuple[str, Variable]:
        """An assignment that keeps every shape."""
        variable = self._target()
        left, shape = self.make.definable(variable)
        self.make.begin(variable, shape)
        right = self.make.stored(variable.type, shape, self._depth())
        return f"{left} = {right}", variable

    def _scalar(self, indent: str) -> str:
        name, kind = self.random.choice(list(self.make.scalars.items()))
        self.make.begin(None, ())
        value = self.make.stored(kind, (), self._depth() + 1, reduced=True)
        show = f"{indent}call show_{kind}('{name}', [{name}], 1)\n"
        return wrapped(f"{name} = {value}", indent) + show

    def _reallocation(self, indent: str) -> str:
        index = self.random.choice([k for k, v in enumerate(self.variables) if v.allocatable])
        variable = self.variables[index]
        rank = variable.rank
        shape: Shape = tuple(self.random.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(rank))
        if self.random.random() < 0.1:
            shape = (0, *shape[1:])
        if variable.extents is not None and self.random.random() < 0.3:
            shape = variable.extents
        self.make.begin(variable, shape)
        right = self.make.stored(variable.type, shape, self._depth())
        lower = variable.lower
        if variable.extents != shape:
            named = next((v for v in self.variables if v.name == right), None)
            lower = named.lower if named else (1,) * rank
        lower = tuple(1 if extent == 0 else low for low, extent in zip(lower, shape))
        self.variables[index] = changed = replace(variable, extents=shape, lower=lower)
        return wrapped(f"{variable.name} = {right}", indent) + self._show(changed, indent)

    def _source(self, indent: str) -> str:
        """ALLOCATE with a SOURCE= of the variable's own type, bounds and STAT= now and then."""
        # gfortran 12 fails on characters here ("internal compiler error: in gfc_get_expr_charlen").
        able = [k for k, v in enumerate(self.variables) if v.allocatable and v.type != "c"]
        index = self.random.choice(able)
        variable = self.variables[index]
        shape: Shape = tuple(self.random.choice([0, 1, 2, 2, 3, 3, 4]) for _ in range(variable.rank))
        freed = f"{indent}deallocate ({variable.name})\n" if variable.extents is not None else ""
        # The source may not read what is allocated.
        self.variables[index] = replace(variable, extents=None)
        self.make.begin(None, shape)
        source = self.make.expression(variable.type, shape, self._depth()).text
        lower, written = (1,) * variable.rank, variable.name
        given = self.random.random() < 0.5
        if given:
            lower = tuple(1 if n == 0 else self.random.choice([1, 0, -2]) for n in shape)
            pairs = zip(lower, shape, strict=True)
            written += f"({', '.join(f'{low}:{low + extent - 1}' for low, extent in pairs)})"
        else:
            # A whole variable as the source gives its bounds, which are not known here.
            source = f"({source})"
        status = ", stat=i" if self.random.random() < 0.3 else ""
        self.variables[index] = changed = replace(variable, extents=shape, lower=lower)
        allocated = wrapped(f"allocate ({written}, source={source}{status})", indent)
        return freed + allocated + self._show(changed, indent)

    def _loop(self, indent: str) -> str:
        last = self.random.randint(2, 3)
        self.make.sections.loop = ("k", last)
        text, target = self._assignment()
        self.make.sections.loop = None
        step = self.random.choice([f"1, {last}", f"{last}, 1, -1"])
        inner = indent + "  "
        body = wrapped(text, inner) + self._show(target, inner)
        return f"{indent}do k = {step}\n{body}{indent}end do\n"

    def _where(self, indent: str) -> str:
        """A WHERE statement or construct; masks and values read what is assigned now and then."""
        variable = self._target()
        left, shape = self.make.definable(variable)
        if not shape:
            left, shape = variable.name, variable.extents or ()
        targets = [(left, variable)]
        if self.random.random() < 0.4:
            mask, assigned = self._mask(variable, shape), self._masked(targets, shape)
            return wrapped(f"where ({mask}) {assigned}", indent) + self._show(variable, indent)
        targets += [(v.name, v) for v in self.variables if v.extents == shape and v.name != variable.name]
        lines, used = self._where_construct(targets[:3], shape, indent, nested=True)
        return lines + "".join(self._show(v, indent) for v in used)

    def _where_construct(
        self, targets: list[tuple[str, Variable]], shape: Shape, indent: str, nested: bool
    ) -> tuple[str, list[Variable]]:
        inner = indent + "  "
        text = wrapped(f"where ({self._mask(targets[0][1], shape)})", indent)
        elsewhere = self.random.choice([[], ["mask"], ["rest"], ["rest"], ["mask", "rest"]])
        for branch in ["first", *elsewhere]:
            if branch == "mask":
                text += wrapped(f"elsewhere ({self._mask(targets[0][1], shape)})", indent)
            elif branch == "rest":
                text += f"{indent}elsewhere\n"
            for _ in range(self.random.choice([1, 1, 2])):
                if nested and self.random.random() < 0.2:
                    text += self._where_construct(targets, shape, inner, nested=False)[0]
                else:
                    text += wrapped(self._masked(targets, shape), inner)
        return text + f"{indent}end where\n", [variable for _, variable in targets]

    def _mask(self, variable: Variable, shape: Shape) -> str:
        self.make.begin(variable, shape, impure=False)
        return self.make.expression("l", shape, self.random.choice([1, 1, 2, 3])).text

    def _masked(self, targets: list[tuple[str, Variable]], shape: Shape) -> str:
        left, variable = self.random.choice(targets)
        self.make.begin(variable, shape, impure=False)
        return f"{left} = {self.make.stored(variable.type, shape, self.random.choice([0, 1, 2, 3]))}"


def _filled(variables: Iterable[Variable]) -> str:
    return "".join(
        f"    call fill_{v.type}({v.name}, size({v.name}), {k})\n"
        for k, v in enumerate(variables)
        if v.extents is not None and v.filled
    )


def generate(seed: int, size: int = 25, inexact: bool | None = None, wheres: int = 3) -> Program:
    """The program of ``seed`` with ``size`` statements (a construct counts as one).

    Without ``inexact``, one program in four is.  ``wheres`` is the weight of WHERE among some 27 others.
    """
    if inexact is None:
        inexact = seed % 4 == 3
    writer = _Writer(seed, inexact, wheres)
    variables = tuple(writer.variables)
    scale = {"scale4": " * 0.3_sp", "scale8": " * 0.7_dp"} if inexact else {"scale4": "", "scale8": ""}
    support = _SUPPORT + "".join(
        _PROCEDURES.format(
            t=name,
            decl=declaration,
            dummy="character(len=*)" if name == "c" else declaration,
            value=value.format(**scale),
            edit=edit,
            shown=shown,
        )
        for name, declaration, value, edit, shown in _TYPES
    )
    dummies = [v for v in variables if v.actual]
    names = ", ".join(v.name for v in dummies)
    declared = "".join(f"    {v.declaration}\n" for v in variables if v.declaration)
    scalars = "".join(f"    {DECLARED[kind]} :: {name}\n" for name, kind in writer.make.scalars.items())
    allocations = "".join(
        f"    allocate ({v.name}({v.bounds}))\n" for v in variables if v.allocatable and v.extents is not None
    )
    head = (
        f"{support}\n"
        f"  subroutine work({names}, n, m)\n"
        "    integer, intent(inout) :: n, m\n"
        f"{declared}{scalars}"
        "    type(grid) :: g\n"
        "    integer :: i, k, p3(3), p4(4)\n"
        f"{allocations}"
        "    pr => tr(2:8:2)\n"
        "    k = 1\n    i = 1\n    p3 = [3, 1, 2]\n    p4 = [2, 4, 1, 3]\n"
        + "".join(f"    {name} = {initial}\n" for name, initial in writer.make.initial())
        + _filled(variables)
    )
    statements = tuple(writer.statement() for _ in range(size))
    shown = "".join(writer._show(v, "    ") for v in writer.variables if v.extents is not None)
    actuals = "".join(f"  {DECLARED[v.type]} :: big_{v.name}({v.actual_bounds})\n" for v in dummies)
    fills = "".join(
        f"  call fill_{v.type}(big_{v.name}, {math.prod(v.actual_extents)}, {k})\n"
        for k, v in enumerate(dummies, 40)
    )
    ends = "".join(
        f"  call show_{v.type}('{v.name}', big_{v.name}, {math.prod(v.actual_extents)})\n" for v in dummies
    )
    arguments = ", ".join(f"big_{v.name}{v.actual}" for v in dummies)
    tail = (
        f"{shown}    print *, calls, n, m, p3, p4\n  end subroutine work\nend module support\n\n"
        "program random_program\n  use support\n  implicit none\n"
        f"{actuals}  integer :: n, m\n\n  n = 4\n  m = 3\n{fills}"
        f"  call work({arguments}, n, m)\n{ends}end program random_program\n"
    )
    return Program(seed, head, statements, tail)
