"""Random programs of procedures with assumed-shape dummies: conforming, terminating, the same for a seed.

Every call gives each dummy a section of an array of the caller's: contiguous, strided, backwards,
of one element or none; afterwards the arrays are printed whole, gaps included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_SUPPORT = """\
module support
  implicit none
  integer, parameter :: dp = kind(1.0d0), i8 = selected_int_kind(15), i1 = selected_int_kind(2)
  integer, parameter :: qp = selected_real_kind(30)
  type :: point
    integer :: k
    real(dp) :: u
  end type point
end module support
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: as a dummy and as an actual, a value made of ``{e}``, and a number made of ``{x}``."""

    dummy: str
    actual: str
    value: str
    number: str


KINDS = (
    Kind("integer", "integer", "{e}", "{x}"),
    Kind("integer(i8)", "integer(i8)", "int({e}, i8)", "int({x})"),
    Kind("real", "real", "real({e})", "nint({x})"),
    Kind("real(dp)", "real(dp)", "real({e}, dp)", "nint({x})"),
    Kind("complex", "complex", "cmplx({e}, -({e}))", "nint(real({x}))"),
    Kind("logical", "logical", "mod({e}, 2) == 0", "merge(1, 0, {x})"),
    Kind("character(len=*)", "character(len=3)", "achar(97 + modulo({e}, 26))", "iachar({x}(1:1))"),
    Kind("integer(i1)", "integer(i1)", "int(modulo({e}, 100), i1)", "int({x})"),
    Kind("real(qp)", "real(qp)", "real({e}, qp)", "nint({x})"),
    Kind("complex(dp)", "complex(dp)", "cmplx({e}, -({e}), dp)", "nint(real({x}))"),
    Kind("logical(i1)", "logical(i1)", "logical(mod({e}, 2) == 0, i1)", "merge(1, 0, {x})"),
    Kind("character(len=2)", "character(len=2)", "achar(97 + modulo({e}, 26))//'q'", "iachar({x}(1:1))"),
    Kind("type(point)", "type(point)", "point({e}, 0.5_dp*({e}))", "{x}%k"),
)
_INTENTS = ("in", "out", "inout", "")
#: What may stand around the work: lines before it and after it.
_BRANCHES = (
    (("if (m > 0) then",), ("else", "  acc = acc + 3", "end if")),
    (("if (m == 1) then", "  acc = acc + 3", "else"), ("end if",)),
    (
        ("if (m < 0) then", "  mark = 77", "else if (reps + mark > 1) then"),
        ("else", "  acc = acc + 5", "end if"),
    ),
    (
        ("select case (m + reps)", "case (:0)", "  acc = acc + 1", "case (1, 3:)"),
        ("case default", "  acc = acc + 9", "end select"),
    ),
)


@dataclass(frozen=True, slots=True)
class _Dummy:
    name: str
    kind: Kind
    rank: int
    intent: str
    optional: bool
    lower: str

    @property
    def declaration(self) -> str:
        attributes = [self.kind.dummy]
        attributes += [f"intent({self.intent})"] if self.intent else []
        attributes += ["optional"] if self.optional else []
        bounds = ", ".join(f"{self.lower}:" if dim == 0 else ":" for dim in range(self.rank))
        return f"{', '.join(attributes)} :: {self.name}({bounds})"

    def element(self, *indices: str) -> str:
        return f"{self.name}({', '.join(indices)})"


@dataclass(frozen=True, slots=True)
class _Procedure:
    name: str
    function: bool
    prefix: str
    dummies: tuple[_Dummy, ...]
    home: str


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def dummy(self, name: str) -> _Dummy:
        pick = self.random.choice
        rank = pick((1, 1, 1, 2, 2, 3, 5))
        lower = pick(("", "", "0", "-2", "m"))
        return _Dummy(name, pick(KINDS), rank, pick(_INTENTS), self.chance(0.25), lower)

    def procedure(self, number: int) -> _Procedure:
        pick = self.random.choice
        dummies = tuple(self.dummy(name) for name in "xyz"[: pick((1, 1, 2, 2, 3))])
        function = self.chance(0.3)
        home = pick(("module", "module", "external", "internal"))
        return _Procedure(f"p{number}", function, pick(("", "recursive ", "recursive ")), dummies, home)

    # -- a procedure

    def text(self, p: _Procedure, others: list[_Procedure]) -> Iterator[str]:
        names = ", ".join(["m", "reps", "acc", *(d.name for d in p.dummies)])
        word = "function" if p.function else "subroutine"
        suffix = " result(res)" if p.function else ""
        yield f"{p.prefix}{word} {p.name}({names}){suffix}"
        if p.home == "external":
            yield "  use support"
            yield "  implicit none"
        yield "  integer, intent(in) :: m, reps"
        yield "  integer, intent(inout) :: acc"
        for d in p.dummies:
            yield f"  {d.declaration}"
        if p.function:
            yield "  integer :: res"
        yield "  integer :: r, j1, j2, j3, j4, j5, mark"
        body = list(self.body(p, others))
        yield from (f"  {line}" for line in body)
        yield f"end {word} {p.name}"

    def body(self, p: _Procedure, others: list[_Procedure]) -> Iterator[str]:
        yield "mark = 0"
        if p.function:
            yield "res = -1"
        if self.chance(0.3):
            yield "if (reps < 0) return"
        if self.chance(0.3):
            yield "mark = m + 1"
        if self.chance(0.3):
            yield from ("if (m < 0) then", "  acc = acc + 7", "  return", "else if (m == 1) then")
            yield from ("  mark = 5", "end if")
        for d in p.dummies:
            if d.intent == "out":
                yield from self.guarded(d, self.sweep(d, [f"{{x}} = &\n{d.kind.value.format(e='{i} + m')}"]))
        order = [d for d in p.dummies for _ in range(self.random.choice((1, 2)))]
        self.random.shuffle(order)
        before, after = self.random.choice(_BRANCHES) if self.chance(0.4) else ((), ())
        yield from before
        for d in order:
            yield from self.guarded(d, self.work(d, p))
            if self.chance(0.2):
                yield "if (acc > 4000) return"
        if p.prefix and self.chance(0.6):
            yield from self.again(p)
        if others and self.chance(0.5):
            yield from self.onward(p, others)
        yield from after
        yield "acc = modulo(acc + mark, 5000)"
        if p.function:
            yield "res = acc + m"

    def guarded(self, d: _Dummy, lines: Iterator[str]) -> Iterator[str]:
        if not d.optional:
            yield from lines
            return
        yield f"if (present({d.name})) then"
        yield from (f"  {line}" for line in lines)
        yield "end if"

    def sweep(self, d: _Dummy, statements: list[str]) -> Iterator[str]:
        """Loops over all of ``d``; ``{x}`` is the element and ``{i}`` a number made of its indices."""
        indices = [f"j{dim}" for dim in range(1, d.rank + 1)]
        number = " + ".join(f"{dim}*{index}" for dim, index in enumerate(indices, 1))
        for depth, dim in enumerate(range(d.rank, 0, -1)):
            limits = f"lbound({d.name}, {dim}), ubound({d.name}, {dim})"
            if d.lower in ("",) and self.chance(0.5):
                limits = f"1, size({d.name}, {dim})"
            yield f"{'  ' * depth}do j{dim} = {limits}"
        for line in statements:
            yield f"{'  ' * d.rank}{line.format(x=d.element(*indices), i=number)}"
        for depth in range(d.rank - 1, -1, -1):
            yield f"{'  ' * depth}end do"

    def work(self, d: _Dummy, p: _Procedure) -> Iterator[str]:
        number = d.kind.number.format(x="{x}")
        lines = [f"acc = modulo(acc + {number} &\n*({{i}}), 5000)"]
        if d.intent != "in":
            lines.append(f"mark = modulo({number} + &\n{{i}} + r, 999)")
            lines.append(f"{{x}} = {d.kind.value.format(e='mark')}")
        if self.chance(0.2):
            lines.insert(0, "if (acc == 17) cycle")
        if self.chance(0.15):
            lines.append("if (acc == 4321) return")
        swept = list(self.sweep(d, lines))
        if self.chance(0.6):
            yield "do r = 1, reps"
            yield from (f"  {line}" for line in swept)
            yield "end do"
        else:
            yield "r = 2"
            yield from swept

    def again(self, p: _Procedure) -> Iterator[str]:
        """A call of itself with sections of its dummies, present ones only."""
        arguments = []
        for d in p.dummies:
            cut = ", &\n    ".join(self.cut(d, dim) for dim in range(1, d.rank + 1))
            whole = d.optional or self.chance(0.3)
            arguments.append(d.name if whole else f"{d.name}({cut})")
        yield "if (reps > 1) then"
        call = self.call(p, ["m", "reps - 2", "acc", *(f"&\n    {argument}" for argument in arguments)])
        yield from f"  {call}".split("\n")
        yield "end if"

    def cut(self, d: _Dummy, dim: int) -> str:
        back = f"ubound({d.name}, {dim}):lbound({d.name}, {dim}):-1"
        return self.random.choice((":", "::2", back)) if d.lower != "m" else ":"

    def call(self, p: _Procedure, arguments: list[str]) -> str:
        text = f"{p.name}({', '.join(arguments)})"
        return f"mark = {text}" if p.function else f"call {text}"

    def onward(self, p: _Procedure, others: list[_Procedure]) -> Iterator[str]:
        """A call of another procedure, when the dummies fit."""
        alone = [o for o in others if len(o.dummies) == 1 and o.home == "module"]
        fitting = [o for o in alone if not o.dummies[0].optional]
        self.random.shuffle(fitting)
        for other in fitting:
            (wanted,) = other.dummies
            for d in p.dummies:
                same = (d.kind, d.rank) == (wanted.kind, wanted.rank) and not d.optional
                if same and p.home != "external" and (d.intent != "in" or wanted.intent == "in"):
                    yield self.call(other, ["m", "reps", "acc", d.name])
                    return

    # -- the program

    def program(self) -> str:
        count = 5
        made: list[_Procedure] = []
        texts: dict[str, list[str]] = {"module": [], "external": [], "internal": []}
        for number in range(1, count + 1):
            p = self.procedure(number)
            texts[p.home] += ["", *self.text(p, made)]
            made.append(p)
        lines = [_SUPPORT, "module work", "  use support", "  implicit none", "contains"]
        lines += [f"  {line}" if line else "" for line in texts["module"]]
        lines += ["end module work", *texts["external"], "", "program p", "  use work", "  implicit none"]
        for p in made:
            if p.home == "external":
                lines += self.interface(p)
        calls = [line for p in made for _ in range(3) for line in self.driven(p)]
        lines += ["  integer :: acc, res"]
        lines += [f"  {line}" for line in calls]
        lines += ["contains", *(f"  {line}" if line else "" for line in texts["internal"]), "end program p"]
        return "\n".join(lines) + "\n"

    def interface(self, p: _Procedure) -> list[str]:
        word = "function" if p.function else "subroutine"
        names = ", ".join(["m", "reps", "acc", *(d.name for d in p.dummies)])
        suffix = " result(res)" if p.function else ""
        lines = ["  interface", f"    {p.prefix}{word} {p.name}({names}){suffix}", "      use support"]
        lines += ["      implicit none"]
        lines += ["      integer, intent(in) :: m, reps", "      integer, intent(inout) :: acc"]
        lines += [f"      {d.declaration}" for d in p.dummies]
        lines += ["      integer :: res"] if p.function else []
        return [*lines, f"    end {word} {p.name}", "  end interface"]

    def driven(self, p: _Procedure) -> Iterator[str]:
        pick = self.random.choice
        yield "block"
        arguments, shown = [], []
        for d in p.dummies:
            if d.optional and self.chance(0.4):
                continue
            sizes, cuts = [], []
            for dim in range(d.rank):
                most = 40 if d.rank == 1 else 7 if d.rank < 4 else 3
                size = pick((1, 2, most - 1, most))
                back = f"{max(size - 1, 1)}:1:-2"
                cut = pick((":", ":", f"1:{size}:2", f"{size}:1:-1", "2:1", "1:1", back))
                if dim == 0 and self.chance(0.4):
                    cut = f"1:{size}:2"
                sizes.append(str(size))
                cuts.append(cut)
            name = f"a{d.name}"
            yield f"  {d.kind.actual} :: {name}({', '.join(sizes)})"
            arguments.append(f"&\n    {d.name}={name}({', '.join(cuts)})")
            shown.append((name, d, sizes))
        yield "  integer :: k1, k2, k3, k4, k5"
        yield f"  acc = {self.random.randrange(50)}"
        for name, d, sizes in shown:
            yield from self.loops(name, sizes, lambda x, i, d=d: f"{x} = &\n{d.kind.value.format(e=i)}")
        numbers = [f"m={pick((-1, 0, 1, 3))}", f"reps={pick((-1, 0, 1, 3, 4))}", "acc=acc"]
        call = self.call(p, [*numbers, *arguments])
        yield from f"  {call.replace('mark', 'res')}".split("\n")
        if p.function:
            yield "  print *, 'result', res"
        yield f"  print *, '{p.name}', acc"
        for name, d, sizes in shown:
            yield "  acc = 0"
            yield from self.loops(
                name,
                sizes,
                lambda x, i, d=d: f"acc = modulo(acc*3 + &\n{d.kind.number.format(x=x)}*({i}), 99991)",
            )
            yield f"  print *, '{name}', acc"
        yield "end block"

    def loops(self, name: str, sizes: list[str], statement: object) -> Iterator[str]:
        indices = [f"k{dim}" for dim in range(1, len(sizes) + 1)]
        for index, size in reversed(list(zip(indices, sizes))):
            yield f"  do {index} = 1, {size}"
        element = f"{name}({', '.join(indices)})"
        number = " + ".join(f"{3 * at + 1}*{index}" for at, index in enumerate(indices))
        yield f"    {statement(element, number)}"  # type: ignore[operator]
        yield from ("  end do" for _ in indices)


def generate(seed: int) -> str:
    """The program of a seed."""
    return _Writer(seed).program()
