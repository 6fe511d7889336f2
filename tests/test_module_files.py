"""gfortran's own module files as a second source of declarations, checked against the sources."""

from __future__ import annotations

import gzip
import random
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scoped import program

from fortrans.cli import main
from fortrans.frontend import modfile, modtext
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import View, resolve
from fortrans.ir.expr import Expr, Name
from fortrans.ir.symbols import DerivedType, Dimension, Generic, Meaning, Procedure, Symbol, Unresolved
from fortrans.project import files
from fortrans.remarks import InputError

pytestmark = pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")

KINDS = """
module base
 use iso_fortran_env, only: r8 => real64, int64
 use iso_c_binding, only: c_int, handle => c_ptr
 implicit none
 private
 public :: handle, c_int, int64
 integer, parameter, public :: n = 3, v(3) = [1, 2, -3], k8 = r8
 real(r8), parameter, public :: pi = 3.25_r8, q(-1:1) = [1._r8, 0.1_r8, 2._r8]
 real, parameter, public :: tenth = -0.1
 complex, parameter, public :: zz = (1.0, -2.5)
 logical, parameter, public :: yes = .true.
 integer(int64), parameter, public :: big = 5000000000_int64
 character(len=*), parameter, public :: s = "a'b (c)"
 character(len=5), public :: cs, ca(2)
 real(r8), public :: a(n, 0:2*n), b(-2:3)
 real, allocatable, public :: al(:,:)
 real, pointer, public :: p(:)
 real, pointer, contiguous, public :: pc(:)
 complex(8), public, target, volatile :: z
 integer, public, asynchronous :: buffer(4)
 logical, public, protected, save :: lg(2)
 character(len=:), allocatable, public :: text
 type, public :: t
   integer :: i = 3
   real(r8) :: x(3)
   real, allocatable :: y(:)
   character(len=:), allocatable :: ch
   type(t), pointer :: next => null()
   procedure(f), pointer, nopass :: pp
 contains
   procedure :: meth
   generic :: operator(+) => meth
   final :: fin
 end type
 type, public, extends(t) :: u
   real :: w
 end type
 type, public :: plain
   sequence
   integer :: i, j(2, 0:1)
 end type
 type :: hidden
   integer :: h
 end type
 type(hidden), public :: shown(2)
 class(t), allocatable, public :: poly(:)
 class(t), pointer, public :: one
 class(*), pointer, public :: any
 enum, bind(c)
  enumerator :: red = 4, blue
 end enum
 public :: red, blue
 interface operator(.foo.)
   module procedure foo
 end interface
 interface operator(*)
   module procedure foo
 end interface
 interface assignment(=)
   module procedure asg
 end interface
 interface sum
   module procedure mysum
 end interface
 interface gen
   module procedure f, g
 end interface
 interface t
   module procedure mk
 end interface
 public :: operator(.foo.), operator(*), assignment(=), sum, f, g, h, gen, deferred, chars, sep, rows
 real, public :: c1, c2
 common /blk/ c1, c2
 integer, public :: e1(4), e2(4)
 equivalence (e1, e2)
 integer, public :: ni, nj
 namelist /nml/ ni, nj
 public :: nml, matmul
 interface
   subroutine ext(x, k) bind(c)
     import
     integer(c_int), value :: k
     real(r8), intent(in) :: x(*)
   end subroutine
   module function sep(x) result(r)
     real, intent(in) :: x(:)
     real :: r(size(x))
   end function
 end interface
 abstract interface
   pure real function shape_of(x)
     real, intent(in) :: x
   end function
 end interface
 public ext, shape_of
contains
 pure function meth(self, o) result(r)
  class(t), intent(in) :: self, o
  type(t) :: r
  r%i = self%i
 end function
 subroutine fin(x)
  type(t), intent(inout) :: x
 end subroutine
 type(t) function mk(x, w)
  real, intent(in) :: x
  type(plain), intent(in) :: w(:)
  mk%i = 1
 end function
 real function foo(x, y)
  type(t), intent(in) :: x, y
  foo = 1
 end function
 subroutine asg(x, y)
  type(plain), intent(out) :: x
  integer, intent(in) :: y
 end subroutine
 real function mysum(x)
  type(t), intent(in) :: x
  mysum = 1
 end function
 elemental real function f(x)
  real, intent(in) :: x
  f = x
 end function
 pure function g(x, k, y) result(r)
  integer, intent(in) :: k
  real, intent(in) :: x(:, 0:)
  real, intent(in), optional :: y(k)
  real :: r(size(x, 1), k + 1)
  r = 1
 end function
 recursive subroutine h(ch, cb, x, action)
  character(len=*), intent(inout) :: ch
  external cb
  real, contiguous :: x(..)
  procedure(shape_of), optional :: action
 end subroutine
 impure elemental subroutine deferred(x, y)
  real, intent(inout) :: x
  integer(int64), intent(out) :: y
 end subroutine
 function chars(k) result(r)
  integer, intent(in) :: k
  character(len=k + 1) :: r
  r = 'x'
 end function
 function rows(k)
  integer, value :: k
  real, allocatable :: rows(:)
  allocate (rows(k))
 end function
 real function matmul(x)
  real, intent(in) :: x
  matmul = x
 end function
end module
"""
TOP = """
module top
 use base, only: mine => a, t, gen, sum, u, n, operator(.foo.), assignment(=)
 use iso_fortran_env, only: wp => real32
 implicit none
 real(wp) :: local(n)
 type(u) :: of_base
 interface gen
  module procedure more
 end interface
contains
 real function more(x)
  logical, intent(in) :: x
  more = 1
 end function
end module
"""


@cache
def compiled() -> dict[str, bytes]:
    """The module files of the modules above."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stem, text in (("base", KINDS), ("top", TOP)):
            (folder / f"{stem}.f90").write_text(text)
            subprocess.run(["gfortran", "-c", f"{stem}.f90"], cwd=folder, check=True, capture_output=True)
        return {stem: (folder / f"{stem}.mod").read_bytes() for stem in ("base", "top")}


def declared(stem: str, data: bytes | None = None) -> str:
    path = f"inc/{stem}.mod"
    return modtext.text(stem, modfile.read(path, compiled()[stem] if data is None else data))


def view(use: str, *others: tuple[str, str]) -> View:
    """The scope of a subroutine that uses modules of other files, given as text and path."""
    here = program(f"subroutine s()\n{use}\nx = 1\nend subroutine\n")
    modules = index([here, *(program(text, path) for text, path in others)])
    return resolve(here, modules, False).at(next(iter(here.executables())))


def both(use: str) -> tuple[View, View]:
    sources = view(use, (KINDS, "base.f90"), (TOP, "top.f90"))
    return sources, view(use, (declared("base"), "base.mod"), (declared("top"), "top.mod"))


def value(expr: Expr | None, scope: View) -> object:
    """A bound or length as a number where it is one, else as its shape of names."""
    if expr is None:
        return None
    number = scope.constant(expr)
    return re.sub(r"\s", "", str(expr)) if number is None else number


def limits(dim: Dimension, scope: View) -> tuple[object, ...]:
    upper = value(dim.upper, scope)
    return dim.form, value(dim.lower, scope), upper if isinstance(upper, int) else dim.upper is not None


def data(symbol: Symbol, scope: View) -> object:
    of = symbol.type
    length = None if of.length is None else value(of.length, scope)
    return (
        (of.name, of.kind, of.derived, length if isinstance(length, int) else of.length is not None),
        [limits(dim, scope) for dim in symbol.dims],
        sorted(symbol.attributes - {"save"}),  # an initialisation is not in the file, and all are saved
        symbol.intent,
        symbol.origin,
        symbol.remote,
        symbol.assumed_rank,
    )


def facts(meaning: Meaning, scope: View) -> object:
    match meaning:
        case Symbol():
            kind = scope.derived_of(meaning)
            inside = None if kind is None else {n: data(c, scope) for n, c in kind.components.items()}
            more = None if kind is None else (kind.assignment, kind.finalizer, kind.bound)
            return "data", data(meaning, scope), inside, more
        case Procedure():
            result = None if meaning.result is None else data(meaning.result, scope)
            dummies = [None if d is None else data(d, scope) for d in meaning.dummies]
            return meaning.form, result, dummies, meaning.pure, meaning.elemental, meaning.host
        case Generic():
            found = meaning.specifics  # in no order, and a procedure of another module is copied
            listed = None if found is None else {repr(facts(replace(p, host=""), scope)) for p in found}
            return "generic", listed, meaning.extends_intrinsic
        case DerivedType():
            components = {name: data(c, scope) for name, c in meaning.components.items()}
            return components, replace(meaning, components={})
        case Unresolved():
            return "unresolved"
    return meaning


NAMES = (
    "handle c_int int64 n v k8 pi q tenth zz yes big s cs ca a b al p pc z buffer lg text t u plain shown"
    " poly one any red blue sum f g h gen deferred chars sep rows c1 c2 e1 e2 ni nj matmul ext hidden"
    " shape_of foo r8 nml"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_a_module_file_says_what_its_source_says(name: str) -> None:
    source, file = both("use base")
    expected, found = source.lookup(name), file.lookup(name)
    assert facts(found, file) == facts(expected, source)
    if isinstance(expected, Symbol) and expected.value is not None and expected.type.name == "integer":
        assert file.constant(expected.value) == source.constant(expected.value)


@pytest.mark.parametrize("name", "mine t gen sum u local of_base n a more base".split())
def test_what_a_module_passes_on(name: str) -> None:
    source, file = both("use top")
    assert facts(file.lookup(name), file) == facts(source.lookup(name), source)
    source, file = both("use top\nuse base")
    assert facts(file.lookup(name), file) == facts(source.lookup(name), source)


@pytest.mark.parametrize("use", ["use base", "use top", "use base, only: t", "use top, only: n"])
def test_defined_operators_and_assignment(use: str) -> None:
    source, file = both(use)
    assert file.defined_operators() >= source.defined_operators()
    assert file.defined_assignment() >= source.defined_assignment()
    assert (file.defined_operators(), file.defined_assignment()) == (
        source.defined_operators(),
        source.defined_assignment(),
    )


def test_values() -> None:
    text = declared("base")
    for line in (
        "tenth = (-0.10000000149011612_4)",
        "pi = 3.25_8",
        "q = [1.0_8, 0.1_8, 2.0_8]",
        "zz = (1.0_4, -2.5_4)",
        "s = 'a''b (c)'",
        "yes = .true.",
        "big = 5000000000_8",
        "v = [1, 2, (-3)]",
    ):
        assert f":: {line}\n" in text, text


def test_a_file_that_is_not_there_makes_only_its_names_unknown() -> None:
    found = view("use top", (declared("top"), "top.mod"))
    assert isinstance(found.lookup("mine"), Unresolved)
    local = found.lookup("local")
    assert isinstance(local, Symbol) and local.type.kind == 4


def test_a_source_wins_over_a_module_file() -> None:
    other = "module base\ninteger :: n(7)\nend module\n"
    for order in (1, -1):
        both_ = [(other, "base.f90"), (declared("base"), "inc/base.mod")][::order]
        found = view("use base", *both_).lookup("n")
        assert isinstance(found, Symbol) and found.rank == 1


def test_two_module_files_that_differ_are_none() -> None:
    other = "module base\ninteger :: n(7)\nend module\n"
    found = view("use base", (declared("base"), "one/base.mod"), (other, "two/base.mod")).lookup("n")
    assert isinstance(found, Unresolved)


def test_the_private_names_of_a_submodules_parent_are_not_in_its_file() -> None:
    text = "submodule (base) child\ncontains\nmodule procedure sep\nx = 1\nend procedure\nend submodule\n"
    here = program(text)
    modules = index([here, program(declared("base"), "base.mod")])
    found = resolve(here, modules, False).at(next(iter(here.executables())))
    assert isinstance(found.lookup("cshift"), Unresolved)


# -- other versions and damage


def decoded(stem: str = "base") -> str:
    return gzip.decompress(compiled()[stem]).decode("latin-1")


def encoded(text: str) -> bytes:
    return gzip.compress(text.encode("latin-1"), mtime=0)


def as_version_16(text: str) -> str:
    """As gfortran 15 writes it: a list of mappers, and more at the end of a procedure's record."""
    text = text.replace("module version '15'", "module version '16'", 1)
    record = r"( 'f' 'base' .*? 0\s+0)\)"
    text, count = re.subn(record, r"\1 (OMP_DECLARE_VARIANT 2 ()))", text, count=1, flags=re.S)
    start = re.search(r"\n\(\d+ '", text)
    assert start is not None and count == 1
    return f"{text[: start.start()]}\n()\n{text[start.start() :]}"


def test_version_16() -> None:
    assert declared("base", encoded(as_version_16(decoded()))) == declared("base")


@pytest.mark.parametrize("version", ["14", "17", "", "x"])
def test_another_version(version: str) -> None:
    text = decoded().replace("version '15'", f"version '{version}'", 1)
    with pytest.raises(InputError, match="versions 15 and 16"):
        modfile.read("inc/base.mod", encoded(text))


OTHERS = (b"", b"!mod$ v1 sum:1\nmodule m\nend\n", b"\x1f\x8b", encoded("x"), encoded(""))


@pytest.mark.parametrize("data", OTHERS)
def test_what_is_no_module_file(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        modfile.read("inc/base.mod", data)
    assert caught.value.path == "inc/base.mod"


def test_a_truncated_file() -> None:
    data = compiled()["base"]
    for length in range(0, len(data), max(1, len(data) // 60)):
        with pytest.raises(InputError):
            modfile.read("base.mod", data[:length])
    text = decoded().rstrip()
    for length in range(0, len(text) - 1, len(text) // 60):
        with pytest.raises(InputError):
            modfile.read("base.mod", encoded(text[:length]))


def test_a_damaged_file_never_breaks_the_reader() -> None:
    chance = random.Random(7)
    data, text = compiled()["base"], decoded()
    read = 0
    for _ in range(400):
        at = chance.randrange(len(text))
        letter = chance.choice("()'0 AZ-\n\x00\xff")
        flipped = bytearray(data)
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        for damaged in (encoded(text[:at] + letter + text[at + 1 :]), bytes(flipped)):
            try:
                declaration = declared("base", damaged)
            except InputError:
                continue
            read += 1
            program(declaration, "base.mod")
    assert read > 20


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("al", "ALLOCATABLE DIMENSION", "WHATEVER DIMENSION"),
        ("al", "DEFERRED () ()", "NOVEL () ()"),
        ("al", "REAL 4", "UNSIGNED 4"),
        ("al", "VARIABLE", "THING"),
    ],
)
def test_a_record_that_is_not_understood_makes_one_name_unknown(name: str, before: str, after: str) -> None:
    text = re.sub(r"\s+", " ", decoded().partition("\n")[2])
    head = decoded().partition("\n")[0]
    at = text.index(f" '{name}' 'base'")
    changed = text[:at] + text[at:].replace(before, after, 1)
    found = view("use base", (declared("base", encoded(f"{head}\n{changed}\n")), "base.mod"))
    assert isinstance(found.lookup(name), Unresolved)
    assert isinstance(found.lookup("pc"), Symbol) and isinstance(found.lookup("a"), Symbol)


# -- whole programs, the library without its source

USER = """program p
 use lib
 implicit none
 integer :: i
 b = [(real(i), i=1,4)]
 a = spread(b, 2, 4) + transpose(spread(b, 2, 4))
 c(0:3) = cshift(b, 1) + g(b)
 w = matmul(a, b)
 tt%x(1) = real(cshift(b, 2))
 a = spread(f(b), 1, n) + transpose(a)
 print *, a, b, c(0:3), w, tt%x(1)
end program
"""
LIBRARY = """module lib
 use iso_fortran_env, only: r8 => real64
 implicit none
 integer, parameter :: n = 4
 real(r8) :: a(n, n), b(n), c(0:n)
 real(r8), allocatable :: w(:)
 type t
  real :: x(3)
 end type
 type(t) :: tt(4)
contains
 pure function f(x) result(r)
  real(r8), intent(in) :: x(:)
  real(r8) :: r(size(x))
  r = 2*x
 end function
 elemental real(r8) function g(x)
  real(r8), intent(in) :: x
  g = x + 1
 end function
end module
"""


def test_a_program_whose_library_is_only_a_module_file(tmp_path: Path) -> None:
    from click.testing import CliRunner

    (tmp_path / "inc").mkdir()
    (tmp_path / "lib.f90").write_text(LIBRARY)
    (tmp_path / "user.f90").write_text(USER)
    subprocess.run(["gfortran", "-c", "lib.f90", "-J", "inc"], cwd=tmp_path, check=True)
    new, include = str(tmp_path / "new.f90"), str(tmp_path / "inc")
    done = CliRunner().invoke(main, ["rewrite", str(tmp_path / "user.f90"), "-I", include, "-o", new])
    assert done.exit_code == 0 and (tmp_path / "new.f90").read_text() != USER
    printed = []
    for name in ("user.f90", "new.f90"):
        subprocess.run(["gfortran", "-Iinc", name, "lib.o", "-o", "run"], cwd=tmp_path, check=True)
        printed.append(subprocess.run(["./run"], cwd=tmp_path, check=True, capture_output=True).stdout)
    assert printed[0] == printed[1]


def test_a_damaged_module_file_is_named_and_its_module_unknown(tmp_path: Path) -> None:
    from click.testing import CliRunner

    (tmp_path / "user.f90").write_text(USER)
    (tmp_path / "lib.mod").write_bytes(compiled()["base"][:200])
    done = CliRunner().invoke(
        main, ["rewrite", str(tmp_path / "user.f90"), "-I", str(tmp_path), "-o", str(tmp_path / "new.f90")]
    )
    assert done.exit_code == 0 and "lib.mod" in done.output and "truncated" in done.output
    assert "module 'lib' was not seen" in done.output and (tmp_path / "new.f90").read_text() == USER


def test_a_module_file_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "base.mod").write_bytes(compiled()["base"])
    entry = files.Entry(tmp_path / "base.mod", Path("base.mod"))
    with pytest.raises(InputError, match="compiled module"):
        files.read(entry)
    assert files.read_declarations(entry).source.text == declared("base")


def test_the_evaluator_reads_the_constants() -> None:
    found = view("use base", (declared("base"), "base.mod"))
    assert [found.constant(Name(name)) for name in ("n", "k8", "red", "blue", "c_int", "big")] == [
        3, 8, 4, 5, 4, 5000000000,
    ]  # fmt: skip


def test_the_compilers_own_modules_are_read() -> None:
    found = subprocess.run(
        ["gfortran", "-print-file-name=finclude"], capture_output=True, text=True, check=True
    ).stdout.strip()
    paths = sorted(Path(found).glob("*.mod"))
    assert paths, "gfortran brings module files"
    for path in paths:
        text = files.read_declarations(files.Entry(path, Path(path.name))).source.text
        assert program(text, path.name).units[0].name == path.stem
