"""A program that calls one procedure of the user's, with random actual arguments, and prints all.

The driver takes four numbers: the extent ``n`` of every dimension, how assumed-shape dummies are
given (1 contiguous, 2 every other element, 3 backwards), whether optional ones are present, and
where the random values start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fortrans.frontend.resolve import Scopes, View
from fortrans.frontend.units import Program, Unit
from fortrans.ir.expr import Literal
from fortrans.ir.symbols import Intent, Symbol, Type

ROOM = 1024
"""Elements of the array that an explicit-shape or assumed-size dummy is given (sequence association,
F2018 15.5.2.11)."""

_SIMPLE = frozenset({"integer", "real", "complex", "logical", "character"})
_REFUSED = "pointer codimension volatile asynchronous ambiguous".split()


@dataclass(frozen=True, slots=True)
class Callee:
    """A procedure: where it is, and the driver that calls it or the reason why there is none.

    ``largest``: the extents that keep its arrays small.
    """

    path: str
    line: int
    name: str
    module: str
    driver: str = ""
    refused: str = ""
    largest: int = 5


def callees(program: Program, scopes: Scopes) -> Iterator[Callee]:
    """The module and external procedures of a file, in source order."""
    for unit in program.walk():
        if unit.kind not in ("subroutine", "function") or unit.opening is None:
            continue
        parent = unit.parent
        if parent is not None and parent.kind != "module":
            continue
        view = scopes.of(unit)
        module = parent.name if parent is not None else ""
        line = unit.opening.span.first
        if parent is not None and not scopes.of(parent).frame.is_public(unit.name):
            yield Callee(program.source.path, line, unit.name, module, refused="it is private")
            continue
        try:
            text = driver(unit, module, view)
        except _NotCallable as problem:
            yield Callee(program.source.path, line, unit.name, module, refused=str(problem))
        else:
            rank = max((s.rank for s in map(view.lookup, unit.dummies) if isinstance(s, Symbol)), default=0)
            largest = 5 if rank < 5 else 2 if rank < 8 else 1 if rank < 11 else 0
            yield Callee(program.source.path, line, unit.name, module, driver=text, largest=largest)


class _NotCallable(Exception):
    """No driver can be written; says why, as a clause."""


def driver(unit: Unit, module: str, view: View) -> str:
    """The text of the program that calls ``unit``.  Raises _NotCallable."""
    dummies = [_dummy(name, module, view) for name in unit.dummies]
    result = _result(unit, view) if unit.kind == "function" else None
    optional = any("optional" in symbol.attributes for symbol in dummies)
    lines = ["program fortrans_driver"]
    if module:
        lines.append(f"  use {module}, only: fortrans_callee => {unit.name}")
    lines += _OPENING
    if not module:
        declared = f"{_spelled(result.type, '*')}, external" if result is not None else "external"
        lines.append(f"  {declared} :: {unit.name}")
    lines += [line for number, symbol in enumerate(dummies) for line in _declaration(number, symbol)]
    if result is not None:
        lines += _result_declaration(result)
    lines += _READING
    lines += [line for number, symbol in enumerate(dummies) for line in _filling(number, symbol)]
    lines += list(_calls(unit.name, module, dummies, result, optional))
    lines += [line for number, symbol in enumerate(dummies) for line in _printing(number, symbol)]
    lines += _CLOSING
    return "\n".join(lines) + "\n"


def _dummy(name: str, module: str, view: View) -> Symbol:
    symbol = view.lookup(name) if name != "*" else None
    if not isinstance(symbol, Symbol):
        raise _NotCallable(f"its dummy argument '{name}' is no data object")
    if symbol.type.name not in _SIMPLE:
        raise _NotCallable(f"its dummy argument '{name}' is of a derived type")
    if not isinstance(symbol.type.kind, int):
        raise _NotCallable(f"the kind of its dummy argument '{name}' is not known")
    for attribute in _REFUSED:
        if attribute in symbol.attributes:
            raise _NotCallable(f"its dummy argument '{name}' is {attribute}")
    if symbol.assumed_rank:
        raise _NotCallable(f"its dummy argument '{name}' is of assumed rank")
    if symbol.type.name == "character" and _length(symbol.type) == ":" and not _allocatable(symbol):
        raise _NotCallable(f"the length of its dummy argument '{name}' is deferred")
    if not module and (_form(symbol) not in ("", "explicit", "assumed-size") or _interface(symbol)):
        why = "needs an explicit interface, which only a module gives"
        raise _NotCallable(f"its dummy argument '{name}' {why}")
    return symbol


def _interface(symbol: Symbol) -> bool:
    return bool({"optional", "allocatable", "target", "value"} & symbol.attributes)


def _result(unit: Unit, view: View) -> Symbol:
    symbol = view.lookup(unit.result or unit.name)
    if not isinstance(symbol, Symbol) or symbol.type.name not in _SIMPLE:
        raise _NotCallable("its result is of no intrinsic type")
    if not isinstance(symbol.type.kind, int):
        raise _NotCallable("the kind of its result is not known")
    if "pointer" in symbol.attributes:
        raise _NotCallable("its result is a pointer")
    if not unit.parent and (symbol.rank or symbol.type.name == "character"):
        raise _NotCallable("its result needs an explicit interface, which only a module gives")
    return symbol


def _form(symbol: Symbol) -> str:
    return symbol.dims[-1].form if symbol.dims else ""


def _allocatable(symbol: Symbol) -> bool:
    return "allocatable" in symbol.attributes


def _length(type_: Type) -> str:
    return type_.length.text if isinstance(type_.length, Literal) else "5"


def _spelled(type_: Type, length: str) -> str:
    if type_.name == "character":
        return f"character(len={length}, kind={type_.kind})"
    return f"{type_.name}({type_.kind})"


def _colons(rank: int) -> str:
    return f"({', '.join([':'] * rank)})" if rank else ""


def _declaration(number: int, symbol: Symbol) -> Iterator[str]:
    spelled = _spelled(symbol.type, _length(symbol.type))
    if _allocatable(symbol) and symbol.type.name == "character" and symbol.type.length is None:
        spelled = _spelled(symbol.type, ":")
    how = "allocatable, target" if symbol.rank or _allocatable(symbol) else "target"
    shape = _colons(1 if _form(symbol) in ("explicit", "assumed-size") else symbol.rank)
    yield f"  {spelled}, {how} :: x{number}{shape}"


def _result_declaration(symbol: Symbol) -> list[str]:
    if symbol.type.name == "character":
        return [f"  {_spelled(symbol.type, ':')}, allocatable :: answer{_colons(symbol.rank)}"]
    how = ", allocatable" if symbol.rank else ""
    return [f"  {_spelled(symbol.type, '')}{how} :: answer{_colons(symbol.rank)}"]


def _filling(number: int, symbol: Symbol) -> Iterator[str]:
    name = f"x{number}"
    form = _form(symbol)
    if form in ("explicit", "assumed-size"):
        yield f"  allocate ({name}({ROOM}))"
    elif form == "assumed":
        yield f"  allocate ({name}({', '.join(['2*n + 1'] * symbol.rank)}))"
    elif _allocatable(symbol):
        if symbol.intent is Intent.OUT:
            return
        spelled = _spelled(symbol.type, "5") + " :: " if symbol.type.name == "character" else ""
        shape = f"({', '.join(['n'] * symbol.rank)})" if symbol.rank else ""
        yield f"  allocate ({spelled}{name}{shape})"
    if symbol.rank == 0 and symbol.type.name == "integer":
        # An extent or an index, most often.
        yield f"  {name} = int(n, {symbol.type.kind})"
        return
    rank = 1 if form in ("explicit", "assumed-size") else symbol.rank
    if rank > 1:
        flat = f"f{number}"
        yield "  block"
        yield f"    {_spelled(symbol.type, _length(symbol.type))} :: {flat}(size({name}))"
        yield f"    integer :: k{number}"
        yield f"    do k{number} = 1, size({flat})"
        yield f"      {flat}(k{number}) = {_value(symbol.type)}"
        yield "    end do"
        yield f"    {name} = reshape({flat}, shape({name}))"
        yield "  end block"
    elif rank == 1:
        yield "  block"
        yield f"    integer :: k{number}"
        yield f"    do k{number} = 1, size({name})"
        yield f"      {name}(k{number}) = {_value(symbol.type)}"
        yield "    end do"
        yield "  end block"
    else:
        yield f"  {name} = {_value(symbol.type)}"


def _value(type_: Type) -> str:
    kind = type_.kind
    match type_.name:
        case "integer":
            return f"int(1 + modulo(draw(), int(max(n, 1), int64)), {kind})"
        case "real":
            return f"(real(modulo(draw(), 2001_int64) - 1000, {kind})/256)"
        case "complex":
            real = f"real(modulo(draw(), 2001_int64) - 1000, {kind})/256"
            return f"cmplx({real}, {real}, {kind})"
        case "logical":
            return f"logical(modulo(draw(), 2_int64) == 0, {kind})"
        case _:
            return "achar(97 + int(modulo(draw(), 26_int64))) // achar(97 + int(modulo(draw(), 26_int64)))"


def _actual(number: int, symbol: Symbol, layout: int) -> str:
    name = f"x{number}"
    if _form(symbol) != "assumed":
        return name
    section = {1: "1:n", 2: "1:2*n:2", 3: "n:1:-1"}[layout]
    return f"{name}({', '.join([section] * symbol.rank)})"


def _calls(
    name: str, module: str, dummies: Sequence[Symbol], result: Symbol | None, optional: bool
) -> Iterator[str]:
    called = "fortrans_callee" if module else name
    yield "  select case (10*layout + present)"
    for layout in (1, 2, 3):
        for present in (0, 1) if optional else (1,):
            given = [
                (f"{symbol.name}=" if module else "") + _actual(number, symbol, layout)
                for number, symbol in enumerate(dummies)
                if present or "optional" not in symbol.attributes
            ]
            yield f"  case ({10 * layout + present})"
            reference = called + "(" + ", &\n      & ".join(given) + ")"
            yield f"    {'call' if result is None else 'answer ='} {reference}"
    yield "  end select"
    if result is not None:
        yield from _shown("result", "answer", result.rank, result.type)


def _printing(number: int, symbol: Symbol) -> Iterator[str]:
    rank = 1 if _form(symbol) in ("explicit", "assumed-size") else symbol.rank
    name = f"x{number}"
    if _allocatable(symbol):
        yield f"  print '(a, l2)', '{symbol.name} allocated', allocated({name})"
        yield f"  if (allocated({name})) then"
        yield from _shown(symbol.name, name, rank, symbol.type)
        yield "  end if"
    elif symbol.intent is not Intent.IN or rank:
        yield from _shown(symbol.name, name, rank, symbol.type)


def _shown(title: str, name: str, rank: int, type_: Type) -> Iterator[str]:
    if rank:
        yield f"  print '(a, *(1x, i0))', '{title} bounds', lbound({name}), ubound({name})"
    form = '(*("\'", a, "\'", :, 1x))' if type_.name == "character" else "(*(g0, :, 1x))"
    form = form.replace("'", "''")
    yield f"  print '(a)', '{title}'"
    yield f"  print '{form}', {name}"


_OPENING = """\
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer :: n, layout, present, seed
  integer(int64) :: state""".split("\n")

_READING = """\
  n = argument(1)
  layout = argument(2)
  present = argument(3)
  seed = argument(4)
  state = 1234567_int64*seed + 1000003_int64*n + 7919*layout + present""".split("\n")

_CLOSING = """\
contains
  integer function argument(number)
    integer, intent(in) :: number
    character(len=20) :: text
    call get_command_argument(number, text)
    read (text, *) argument
  end function argument

  integer(int64) function draw()
    state = modulo(1103515245_int64*state + 12345_int64, 2147483648_int64)
    draw = state/16
  end function draw
end program fortrans_driver""".split("\n")
