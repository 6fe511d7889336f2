"""``fortrans export``: what it writes where, and what it says when it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.cli import main

ROOT = Path(__file__).resolve().parent.parent
NEST = "subroutine s(a, n)\n  real :: a(n)\n  do i = 1, n\n    a(i) = 0\n  end do\nend subroutine s\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("one.f90").write_text(NEST)
    Path("two.f90").write_text(NEST + NEST.replace("subroutine s", "subroutine t"))
    Path("none.f90").write_text("program p\nend program p\n")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["export", *arguments], catch_exceptions=False)


def test_the_only_nest_goes_to_standard_output(here: Path) -> None:
    result = run("--openscop", "one.f90")
    assert result.exit_code == 0
    assert result.stdout.startswith("# Loop nest of 's', one.f90, lines 3 to 5\n")
    assert result.stdout.endswith("</OpenScop>\n")
    said = "one.f90:3: FT351 [passed] Loop nest of 1 statement is exported as 'one.s.3.scop'\n"
    assert result.stderr == said
    assert run("--openscop", "one.f90", "-o", "-", "-q").stdout == result.stdout
    assert run("--openscop", "one.f90", "-q").stderr == ""


def test_each_nest_has_a_file_of_its_own(here: Path) -> None:
    result = run("--openscop", "two.f90", "-o", "deep/scops")
    assert (result.exit_code, result.stdout) == (0, "")
    assert sorted(path.name for path in Path("deep/scops").iterdir()) == ["two.s.3.scop", "two.t.9.scop"]
    assert run("--openscop", "two.f90", "--unit", "T").stdout == Path("deep/scops/two.t.9.scop").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two.f90",), "two.f90: error: File has 2 loop nests, which need -o DIR or --unit"),
        (("none.f90",), "none.f90: error: File has no loop nest that can be exported"),
        (("one.f90", "--unit", "u"), "one.f90: error: File has no program unit 'u'"),
        (("gone.f90",), "gone.f90: error: Cannot read file, no such file or directory"),
        (("one.f90", "-o", "two.f90"), "two.f90: error: Output is not a directory, and each nest has a file"),
        (("one.f90", "-o", "two.f90/x"), "error: Cannot write file"),
        ((".",), "fortrans: error: '.' is a directory, and one file is exported at a time"),
    ],
)
def test_errors(here: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("--openscop", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_orders_and_locals(here: Path) -> None:
    text = "subroutine s(a, n)\n  real :: a(n, n)\n  do i = 1, n\n    a(i/2, 1) = 0\n  end do\nend\n"
    Path("p.f90").write_text(text)
    usual = run("--openscop", "p.f90").stdout
    assert "## [1] == 1" in usual and "## [2] == l1" in usual
    fortran = run("--openscop", "p.f90", "--fortran-order").stdout
    assert "## [1] == l1" in fortran and "## [2] == 1" in fortran
    promoted = run("--openscop", "p.f90", "--locals", "promote").stdout
    assert "## [2] == q1" in promoted and "## i-2*q1 >= 0" in promoted


def test_names_from_a_module_that_is_read_for_use_only(here: Path) -> None:
    Path("m.f90").write_text("module m\n  integer, parameter :: k = 7\nend module m\n")
    Path("p.f90").write_text(NEST.replace("  real", "  use m\n  real").replace("a(i)", "a(i + k)"))
    assert "## [1] == i+7" in run("--openscop", "p.f90", "-I", "m.f90").stdout


def tool(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} here: it is in no package index, and is built from its sources")
    return program


def test_the_library_of_the_format_reads_it(here: Path) -> None:
    """``osl_cat`` is a filter that reads a file with osl, checks it and prints it."""
    program = tool("osl_cat")
    for path in sorted((ROOT / "fixtures/openscop").glob("*/*.scop")):
        text = path.read_text()
        done = subprocess.run([program], input=text, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), path.name
        assert _bare(done.stdout) == _bare(text), path.name


def _bare(text: str) -> list[list[str]]:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [line.partition("##")[0].split() for line in lines]


def test_a_code_generator_reads_it(here: Path) -> None:
    program = tool("cloog")
    run("--openscop", "one.f90", "-o", ".")
    subprocess.run([program, "-openscop", "one.s.3.scop"], check=True, capture_output=True)
