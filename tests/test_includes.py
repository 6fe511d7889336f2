"""INCLUDE lines: the declarations of the named file stand in their place, nothing else does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from scoped import program

from fortrans.cli import main
from fortrans.frontend.includes import as_module, mentioned
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import View, resolve
from fortrans.ir.expr import Name
from fortrans.ir.symbols import Intrinsic, Symbol, Unresolved
from fortrans.source import Source

PARAMETERS = "integer, parameter :: n = 4\nreal :: wk(n), v(n, n), w(n, n)\ncommon /blk/ wk\nsave\n"
PROGRAM = """program p
 implicit none
 include 'sizes.inc'
 integer :: i
 wk = [(real(i), i=1,n)]
 v = spread(wk, 1, n)
 w = transpose(v) + spread(wk, 2, n)
 print *, v, w
end program
"""


def view(text: str, *included: tuple[str, str]) -> View:
    here = program(f"subroutine s()\n{text}\nx = 1\nend subroutine\n")
    modules_ = [as_module(Source(path, inner)) for path, inner in included]
    found = index([here, *(program(m.text, m.path) for m in modules_ if m is not None)])
    return resolve(here, found, False).at(next(iter(here.executables())))


def test_declarations_stand_in_the_place_of_the_line() -> None:
    found = view("include 'sub/sizes.inc'", ("sizes.inc", PARAMETERS))
    wk = found.lookup("wk")
    assert isinstance(wk, Symbol) and wk.rank == 1 and "common" in wk.attributes
    assert found.constant(Name("n")) == 4 and wk.origin == "subroutine s"
    assert isinstance(found.lookup("spread"), Intrinsic), "all that the file brings is known"


def test_a_file_in_a_file() -> None:
    inner = ("more.inc", "use iso_fortran_env, only: r8 => real64\n")
    found = view("include 'a.inc'", ("a.inc", "include 'more.inc'\nreal(r8) :: a(3)\n"), inner)
    a = found.lookup("a")
    assert isinstance(a, Symbol) and a.type.kind == 8
    round_ = view("include 'a.inc'", ("a.inc", "include 'a.inc'\nreal :: a(3)\n"))
    assert isinstance(round_.lookup("a"), Symbol)


@pytest.mark.parametrize(
    "text",
    [
        "real :: a(3)\na = 1\n",
        "#ifdef X\nreal :: a(3)\n#endif\n",
        "type t\ninteger :: i\nend type\n",
        "f(y) = y\n",
        "!$ real :: a(3)\n",
        "private\n",
        "if (x) then\n",
        "contains\n",
        "end module\nmodule other\n",
    ],
)
def test_a_file_of_more_than_declarations_is_not_seen(text: str) -> None:
    found = view("include 'a.inc'", ("a.inc", text))
    assert isinstance(found.lookup("a"), Unresolved) and isinstance(found.lookup("spread"), Unresolved)


def test_two_files_of_one_name_that_differ_are_none() -> None:
    files = ("one/a.inc", "real :: a(3)\n"), ("two/a.inc", "real :: a(4)\n")
    assert isinstance(view("include 'a.inc'", *files).lookup("a"), Unresolved)
    assert isinstance(view("include 'a.inc'", files[0], ("x/a.inc", files[0][1])).lookup("a"), Symbol)


def test_a_line_under_if_brings_nothing_certain() -> None:
    found = view("#ifdef X\ninclude 'a.inc'\n#endif", ("a.inc", "real :: a(3)\n"))
    assert isinstance(found.lookup("a"), Unresolved)


def test_what_is_mentioned() -> None:
    assert mentioned("include 'a.inc'\n  INCLUDE \"b/c.h\"\n! include 'd'\n") == ("a.inc", "b/c.h")


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
@pytest.mark.parametrize("folder", [".", "inc"])
def test_a_program_with_included_declarations(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "sizes.inc").write_text(PARAMETERS)
    (tmp_path / "p.f90").write_text(PROGRAM)
    (tmp_path / "empty.f90").write_text("subroutine nothing()\nend subroutine\n")
    options = ["-I", str(tmp_path / "inc")] if folder == "inc" else []
    new = tmp_path / "new.f90"
    if folder == "inc":
        (tmp_path / "inc" / "empty.f90").write_text("subroutine nothing()\nend subroutine\n")
    done = CliRunner().invoke(main, ["rewrite", str(tmp_path / "p.f90"), *options, "-o", str(new)])
    assert done.exit_code == 0 and new.read_text() != PROGRAM, done.output
    assert "include 'sizes.inc'" in new.read_text()
    printed = []
    for name in ("p.f90", "new.f90"):
        subprocess.run(["gfortran", f"-I{folder}", name, "-o", "run"], cwd=tmp_path, check=True)
        printed.append(subprocess.run(["./run"], cwd=tmp_path, check=True, capture_output=True).stdout)
    assert printed[0] == printed[1]
    # Another text is another result, whatever is kept from before.
    (tmp_path / folder / "sizes.inc").write_text(PARAMETERS.replace("v(n, n)", "v(n, n, n)"))
    CliRunner().invoke(main, ["rewrite", str(tmp_path / "p.f90"), *options, "-o", str(new)])
    assert "v = spread" in new.read_text()
