"""Repacking: each row of the table of what it must do, with a test of its own."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.remarks import Kind, Remark
from fortrans.source import Source
from fortrans.verify.build import CHECKED, build, compile_only, run
from fortrans.verify.compare import compare

ALWAYS = Options(repack="whole", repack_when="always", repack_min_size=0, strict=True)
WALK = "do k = 1, n\ndo i = 1, size(x)\nx(i) = x(i) + k\nend do\nend do\n"
HEAD = "integer, intent(in) :: n\nreal, intent(inout) :: x(:)\ninteger :: i, k\n"


def made(text: str, **options: object) -> str:
    chosen = {"repack": "whole", "repack_min_size": 0, "strict": True} | options
    return rewrite(text, Options(**chosen)).text  # type: ignore[arg-type]


def remarks(text: str, options: Options = ALWAYS) -> list[Remark]:
    return [remark for remark in rewrite(text, options).remarks if remark.code.startswith("FT5")]


def same(text: str, options: Options = ALWAYS, flags: tuple[str, ...] = CHECKED) -> str:
    """The rewritten program, which does what the original does."""
    found = rewrite(text, options).text
    outcome = compare([Source("p.f90", text)], [Source("p.f90", found)], flags=flags)
    assert outcome.difference is None, outcome.difference
    return found


# -- types

KINDS = {
    **{f"integer({kind})": "int(i*3 + j, {kind})" for kind in (1, 2, 4, 8, 16)},
    **{f"real({kind})": "real(i, {kind})/3 + j" for kind in (4, 8, 10, 16)},
    **{f"complex({kind})": "cmplx(i, j, {kind})/3" for kind in (4, 8, 10, 16)},
    **{f"logical({kind})": "logical(modulo(i + j, 3) == 0, {kind})" for kind in (1, 2, 4, 8, 16)},
    "character": "achar(40 + modulo(i + 3*j, 80))",
    "character(len=3)": "achar(40 + modulo(i + j, 80))//'b'//achar(41 + j)",
    "character(len=*)": "achar(40 + modulo(i + j, 80))//'bcd'//achar(41 + j)",
    "character(len=m)": "achar(40 + modulo(i + j, 80))//'bcd'//achar(41 + j)",
    "character(len=2, kind=4)": "achar(40 + modulo(i + j, 80), 4)//4_'z'",
    "type(point)": "point(i, [i, j]*0.5, achar(48 + i))",
}


def _reversing(number: int, declared: str, optional: bool) -> str:
    """A procedure that turns an array about, several times: right for elements of every type."""
    own = declared.replace("len=*", "len=5" if optional else "len=len(x)")
    attributes = "intent(inout), optional" if optional else "intent(inout)"
    return (
        f"subroutine s{number}(n, m, x)\ninteger, intent(in) :: n, m\n{declared}, {attributes} :: x(m - 4:)\n"
        f"{own} :: t\ninteger :: i, k, l\n"
        + ("if (.not. present(x)) return\n" if optional else "")
        + "l = lbound(x, 1) + ubound(x, 1)\ndo k = 1, n\ndo i = lbound(x, 1), (l - 1)/2\n"
        "t = x(i)\nx(i) = x(l - i)\nx(l - i) = t\nend do\nend do\nif (m < 0) print *, n\nend subroutine\n"
    )


def _driving(number: int, declared: str, value: str, optional: bool) -> str:
    own = re.sub(r"len=[*m]", "len=5", declared)
    kind = re.search(r"\d+", declared)
    element = value.format(kind=kind[0] if kind else "")
    shown = "a%k, a%u(1), a%u(2), a%c" if declared == "type(point)" else "a"
    if "kind=4" in declared:
        shown = "ichar(a(:, 1:21)(1:1))"
    absent = f"call s{number}(4, 5)\n" if optional else ""
    return (
        f"block\n{own} :: a(3, 21)\ninteger :: i, j\ndo j = 1, 21\ndo i = 1, 3\na(i, j) = {element}\n"
        f"end do\nend do\ncall s{number}(5, 5, a(2, :))\ncall s{number}(3, 5, a(3, 21:1:-2))\n"
        f"call s{number}(3, 5, a(:, 4))\ncall s{number}(3, 5, a(1, 4:3))\ncall s{number}(3, 5, a(1, 4:4))\n"
        f"{absent}print *, {shown}\nend block\n"
    )


@pytest.mark.parametrize("optional", [False, True])
def test_types(optional: bool) -> None:
    """Every intrinsic type and kind, characters with length, a derived type; absent, lower bounds."""
    procedures = "".join(_reversing(at, kind, optional) for at, kind in enumerate(KINDS))
    calls = "".join(_driving(at, *item, optional) for at, item in enumerate(KINDS.items()))
    point = "type point\ninteger :: k\nreal :: u(2)\ncharacter :: c\nend type\n"
    text = (
        f"module m\nimplicit none\n{point}contains\n{procedures}end module\n"
        f"program p\nuse m\nimplicit none\n{calls}end program\n"
    )
    found = remarks(text)
    assert [remark.code for remark in found] == ["FT501"] * len(KINDS)
    made = same(text, flags=("-fcheck=all", "-g", "-O0"))
    assert made.count("allocate (") == len(KINDS)


@pytest.mark.parametrize("mode", ["whole", "innermost"])
def test_ranks(mode: str) -> None:
    procedures, calls = "", ""
    for rank in range(1, 16):
        colons = ", ".join(":" * rank)
        procedures += (
            f"subroutine r{rank}(x, n)\ninteger, intent(in) :: n\ninteger, intent(inout) :: x({colons})\n"
            "integer :: k\ndo k = 1, n\nx = x*2 + k\nend do\nend subroutine\n"
        )
        shape = ", ".join(["3", *["2"] * (rank - 1)])
        cut = ", ".join(["1:3:2", *["2:1:-1"] * (rank - 1)])
        calls += (
            f"block\ninteger, allocatable :: a({colons})\nallocate (a({shape}))\na = {rank}\n"
            f"call r{rank}(a( &\n{cut}), 3)\ncall r{rank}(a, 2)\n"
            f"print *, sum(a), maxval(a), a({', '.join('1' * rank)})\nend block\n"
        )
    text = f"module m\ncontains\n{procedures}end module\nprogram p\nuse m\nimplicit none\n{calls}end\n"
    options = Options(repack=mode, repack_when="always", repack_min_size=0, strict=True)
    assert [remark.code for remark in remarks(text, options)] == ["FT501"] * 15
    same(text, options, ("-O0", "-fcheck=all"))


def test_allocatable_components_are_not_copied() -> None:
    """The language copies them deep: such dummies are left."""
    text = (
        "module m\ntype t\nreal, allocatable :: c(:)\nend type\ncontains\nsubroutine s(x, n)\n"
        "type(t), intent(inout) :: x(:)\ninteger, intent(in) :: n\ninteger :: i, k\n"
        "do k = 1, n\ndo i = 1, size(x)\nx(i)%c = k\nend do\nend do\nend subroutine\nend module\n"
    )
    assert [remark.code for remark in remarks(text)] == ["FT515"]
    assert rewrite(text, ALWAYS).text == text


# -- procedures of all kinds

PROCEDURES = {
    "module": "module m\ncontains\nsubroutine s(x, n)\n{}end subroutine\nend module\n",
    "external": "subroutine s(x, n)\n{}end subroutine\n",
    "internal": "program p\ncontains\nsubroutine s(x, n)\n{}end subroutine\nend program\n",
    "internal of a module procedure": (
        "module m\ncontains\nsubroutine o()\ncontains\nsubroutine s(x, n)\n{}end subroutine\n"
        "end subroutine\nend module\n"
    ),
    "submodule": (
        "module m\ninterface\nmodule subroutine s(x, n)\n{}end subroutine\nend interface\nend module\n"
        "submodule (m) b\ncontains\nmodule subroutine s(x, n)\n{}end subroutine\nend submodule\n"
    ),
    "type-bound": (
        "module m\ntype t\ncontains\nprocedure, nopass :: s\nend type\ncontains\n"
        "subroutine s(x, n)\n{}end subroutine\nend module\n"
    ),
    "recursive": "recursive subroutine s(x, n)\n{}end subroutine\n",
    "function": "function s(x, n)\nreal :: s\n{}s = x(1)\nend function\n",
    "array function": "function s(x, n)\n{}real :: s(n)\n{}s = x(1)\nend function\n",
}


@pytest.mark.parametrize("home", PROCEDURES)
def test_procedures(home: str, tmp_path: Path) -> None:
    """They are repacked, and what comes out compiles."""
    text = PROCEDURES[home]
    if home == "submodule":
        text = text.format(HEAD.replace("integer :: i, k\n", ""), HEAD + WALK)
    elif home == "array function":
        text = text.format(HEAD, WALK)
    else:
        text = text.format(HEAD + WALK)
    found = rewrite(text, ALWAYS)
    assert [remark.code for remark in found.remarks if remark.code.startswith("FT5")] == ["FT501"]
    compile_only(Source("s.f90", found.text), ("-fcheck=all", "-Wall", "-fopenmp"), tmp_path)


def test_pure_procedures(tmp_path: Path) -> None:
    """They cannot ask for threads: what is copied back is left, unless no threads are promised."""
    text = "pure subroutine s(x, n)\n" + HEAD + WALK + "end subroutine\n"
    assert [remark.code for remark in remarks(text)] == ["FT513"]
    promised = Options(repack="whole", openmp=False, strict=True)
    assert [remark.code for remark in remarks(text, promised)] == ["FT501"]
    compile_only(Source("s.f90", rewrite(text, promised).text), ("-Wall",), tmp_path)
    read = "pure function f(x, n) result(r)\nreal :: r\n" + HEAD.replace("inout", "in")
    read += (
        WALK.replace("x(i) = x(i) + k", "r = r + x(i)").replace("do k", "r = 0\ndo k", 1) + "end function\n"
    )
    assert [remark.code for remark in remarks(read)] == ["FT501"]


# -- safety

WALKED = "do k = 1, n\ndo i = 1, n\nx(i) = k\nend do\nend do\n"
ATTRIBUTES = ("target", "pointer", "allocatable", "volatile", "asynchronous", "value", "codimension[*]")


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_attributes_refused(attribute: str) -> None:
    head = f"integer, intent(in) :: n\nreal, {attribute} :: x(:), y(:)\ninteger :: i, k\n"
    text = f"subroutine s(x, y, n)\n{head}{WALKED}end subroutine\n"
    assert {remark.code for remark in remarks(text)} == {"FT511"}
    assert rewrite(text, ALWAYS).text == text


def test_assumed_rank_is_refused() -> None:
    text = "subroutine s(x, y, n)\nreal :: x(..), y(:)\ninteger, intent(in) :: n\nend subroutine\n"
    assert {remark.code for remark in remarks(text.replace("y(:)", "y(n)"))} == {"FT511"}
    assert rewrite(text, ALWAYS).text == text


SEEN = (
    "print *, loc(x)\n",
    "print *, loc(x(1))\n",
    "p = c_loc(x)\n",
    "print *, is_contiguous(x)\n",
    "print *, associated(p, x)\n",
)


@pytest.mark.parametrize("asks", SEEN)
def test_what_tells_of_a_copy_is_refused(asks: str) -> None:
    text = f"subroutine s(x, n)\n{HEAD}{WALK}{asks}end subroutine\n"
    assert [remark.code for remark in remarks(text)] == ["FT512"]
    assert rewrite(text, ALWAYS).text == text


DIRECTIVES = (
    "!$acc data present(x)",
    "!$acc parallel loop",
    "!$acc host_data use_device(x)",
    "!$omp target",
    "!$omp target data map(tofrom: x)",
    "!$omp target update to(x)",
    "!$omp declare target",
    "!$omp target data use_device_ptr(x)",
)


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_device_data_is_refused(directive: str) -> None:
    text = f"subroutine s(x, n)\n{HEAD}{directive}\n{WALK}end subroutine\n"
    (remark,) = remarks(text)
    assert (remark.code, remark.kind) == ("FT513", Kind.MISSED)
    assert rewrite(text, ALWAYS).text == text


def test_threads_are_asked_for_where_there_are_some() -> None:
    text = f"subroutine s(x, n)\n{HEAD}{WALK}end subroutine\n"
    assert "!$ alone = .not. omp_in_parallel()" in made(text)
    assert "omp_in_parallel" not in made(text, openmp=False)


# -- constraints at run time


@pytest.mark.parametrize(
    ("option", "test"),
    [
        ({"repack_min_size": 8000}, "n1 >= 2000"),
        ({"repack_max_size": 8000}, "n1 <= 2000"),
        ({"repack_min_stride": 64}, "abs(loc(x(2)) - loc(x(1))) >= 64"),
    ],
)
def test_constraints(option: dict[str, int], test: str) -> None:
    text = made(f"subroutine s(x, n)\n{HEAD}{WALK}end subroutine\n", **option)
    assert test in text


def test_element_size() -> None:
    head = HEAD.replace("real,", "character(*),")
    walk = WALK.replace("x(i) + k", "'a'//x(i)")
    assert "len(x) <= 64" in made(f"subroutine s(x, n)\n{head}{walk}end subroutine\n")
    assert "<=" not in made(f"subroutine s(x, n)\n{head}{walk}end subroutine\n", repack_max_element_size=0)


def test_innermost_asks_the_first_dimension() -> None:
    head = HEAD.replace("x(:)", "x(:, :)")
    text = f"subroutine s(x, n)\n{head}do k = 1, n\nx = x + k\nend do\nend subroutine\n"
    assert ".not. is_contiguous(x(:, 1))" in made(text, repack="innermost")
    assert "x(:, 1)" not in made(text)


def test_versions_copy_nothing() -> None:
    text = made(f"subroutine s(x, n)\n{HEAD}{WALK}end subroutine\n", repack="", version_loops=True)
    assert "call s_packed(n1, x, n)" in text and "allocat" not in text


# -- interface and debugging

MODULE = (
    "module m\nimplicit none\ncontains\nsubroutine s(x, n)\n" + HEAD + WALK + "end subroutine\n{}end module\n"
)
OWN = (
    "subroutine t(x, n)\n"
    + HEAD
    + "call o()\ncontains\nsubroutine o()\n"
    + WALK
    + "end subroutine\nend subroutine\n"
)
CALLER = (
    "program p\nuse m\nimplicit none\nreal :: a(3, 50)\na = 1\ncall s(a(2, :), 5)\ncall s(a(:, 2), 5)\n"
    "print *, a\nend program\n"
)


def test_callers_stay_valid(tmp_path: Path) -> None:
    """An object compiled with the module file of the original is linked with the rewritten module."""
    text = MODULE.format(OWN)
    (tmp_path / "original").mkdir()
    before = compile_only(Source("m.f90", text), ("-O1",), tmp_path / "original").executable
    (tmp_path / "original" / "m.o").write_bytes(before.read_bytes())
    caller = compile_only(Source("p.f90", CALLER), ("-O1",), tmp_path / "original").executable
    after = compile_only(Source("m.f90", made(text)), ("-O1",), tmp_path / "rewritten").executable
    outputs = []
    for number, module in enumerate((tmp_path / "original" / "m.o", after)):
        program = tmp_path / f"program{number}"
        subprocess.run(["gfortran", str(caller), str(module), "-o", str(program)], check=True)
        outputs.append(run(program).stdout)
    assert outputs[0] == outputs[1] != b""


def test_module_files_stay_the_same(tmp_path: Path) -> None:
    """Where the version is contained in the procedure, nothing of it is in the module file."""
    # But for a note on what the procedure happens not to do, that is.
    files = []
    for name, text in (("original", MODULE.format("")), ("rewritten", made(MODULE.format("")))):
        compile_only(Source("m.f90", text), ("-O1",), tmp_path / name)
        words = gzip.decompress((tmp_path / name / "m.mod").read_bytes()).split()
        files.append([word for word in words if word != b"IMPLICIT_PURE"])
    assert files[0] == files[1]


def test_interface_bodies_stay_the_same() -> None:
    text = PROCEDURES["submodule"].format(HEAD.replace("integer :: i, k\n", ""), HEAD + WALK)
    body = text[: text.index("submodule")]
    assert made(text).startswith(body)


def test_a_debugger_finds_the_names(tmp_path: Path) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    text = made(MODULE.format("") + CALLER)
    built = build([Source("p.f90", text)], ("-O0", "-g"), tmp_path)
    line = next(
        number
        for number, line in enumerate(text.splitlines(), 1)
        if "x(i) = x(i) + k" in line and number > text[: text.index("subroutine s_packed")].count("\n")
    )
    commands = [f"break p.f90:{line}", "run", "next", "print x(1)", "print n"]
    asked = [part for command in commands for part in ("-ex", command)]
    told = subprocess.run(
        ["gdb", "-batch", *asked, str(built.executable)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert "$1 = 2" in told and "$2 = 5" in told, told
