"""Settings in files: where they are found, what they may say, and what wins."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.cli import main

MAIN = """subroutine s(a, b)
  real, intent(out) :: a(:)
  real, intent(in) :: b(:, :)
  a = sum(b, dim=2)
end subroutine s
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "s.f90").write_text(MAIN)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def rewritten(*more: str) -> str:
    result = run("rewrite", "-q", *more, "src/deep/s.f90")
    assert result.exit_code == 0, result.stderr
    return result.stdout


COMMENT = "! a = sum(b, dim=2)"


def test_the_nearest_file_above_holds_and_the_command_line_wins(here: Path) -> None:
    assert COMMENT in rewritten()
    (here / "pyproject.toml").write_text("[tool.fortrans]\ncomments = false\n")
    assert COMMENT not in rewritten()
    assert COMMENT in rewritten("--comments")
    assert COMMENT in rewritten("--isolated")
    (here / "src" / "fpm.toml").write_text("name = 'x'\n[extra.fortrans]\nline-length = 100\n")
    assert COMMENT in rewritten()
    (here / "src" / "pyproject.toml").write_text("[tool.black]\n")
    (here / "fortrans.toml").write_text("comments = true\n")
    assert COMMENT in rewritten()
    (here / "other.toml").write_text("comments = false\n")
    assert COMMENT not in rewritten("--config", "other.toml")


def test_a_command_s_own_table_wins_over_the_rest(here: Path) -> None:
    (here / "fortrans.toml").write_text("comments = true\n[check]\ncomments = false\n")
    assert COMMENT in rewritten()
    assert COMMENT not in run("check", "-q", "src").stdout


def test_paths_are_from_the_file_s_folder_and_may_be_patterns(here: Path) -> None:
    (here / "lib").mkdir()
    (here / "lib" / "m.f90").write_text("module m\n  integer, parameter :: n = 4\nend module m\n")
    text = MAIN.replace("  real, intent(out) :: a(:)", "  use m\n  real, intent(out) :: a(n)")
    (here / "src" / "deep" / "s.f90").write_text(text)
    assert "do concurrent" not in rewritten()
    for pattern in ("lib", "lib/m.f90", "lib/*.f90", "**/*.f90"):
        (here / "fortrans.toml").write_text(f"context = ['{pattern}']\n")
        assert "do concurrent" in rewritten()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("line-lenght = 90\n", "Unknown key 'line-lenght', did you mean 'line-length'"),
        ("zzz = 90\n", "Unknown key 'zzz'"),
        ("output = 'x'\n", "Unknown key 'output'"),
        ("all = 'yes'\n", "'all' must be true or false"),
        ("line-length = '90x'\n", "Value of 'line-length' is not right, '90x' is not a valid integer range"),
        ("line-length = 9\n", "Value of 'line-length' is not right, 9 is not in the range x>=40"),
        ("target='f'\n", "Value of 'target' is not right, 'f' is not one of 'gfortran', 'flang', 'generic'"),
        ("context = [1]\n", "'context' must be a list of strings"),
        ("check = 1\n", "'check' is a command, which needs a table '[check]'"),
        ("[check]\nin-place = true\n", "Unknown key 'in-place'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_done(here: Path, text: str, message: str) -> None:
    (here / "fortrans.toml").write_text(text)
    result = run("rewrite", "src/deep/s.f90")
    assert (result.exit_code, result.stdout) == (2, "")
    line = text.count("\n")
    assert result.stderr == f"fortrans.toml:{line}: error: {message}\n"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("fortrans.toml", "all = true\n\n'zzz' = 1\n", 3),
        ("fortrans.toml", "check.all = true\ncheck.zzz = 1\n", 2),
        ("fortrans.toml", "zzz.all = 1\n\n[check]\nall = true\n", None),
        ("fortrans.toml", "check = { zzz = 1 }\n", 1),
        ("fpm.toml", "name = 'x'\nzzz = 1\n[extra.fortrans]\r\nall = true\nzzz = 2\n", 5),
        ("fpm.toml", "[extra.fortrans]\nall = true\n[extra.fortrans.check]\nzzz = 2\n", 4),
        ("pyproject.toml", "[tool.x]\nzzz = 1\n[tool]\nfortrans.zzz = true\n", 4),
        ("pyproject.toml", "[tool]\nx = 1\nfortrans = { all = true, zzz = true }\n", 3),
    ],
)
def test_an_unknown_key_has_its_line(here: Path, name: str, text: str, line: int | None) -> None:
    (here / name).write_text(text)
    result = run("rewrite", "src/deep/s.f90")
    place = name if line is None else f"{name}:{line}"
    assert (result.exit_code, result.stderr) == (2, f"{place}: error: Unknown key 'zzz'\n")


def test_a_syntax_error_has_its_line(here: Path) -> None:
    (here / "fortrans.toml").write_text("all = true\ncomments = = 1\n")
    result = run("check", "src")
    assert result.exit_code == 2
    assert result.stderr == "fortrans.toml:2: error: Syntax error in TOML, invalid value\n"
    result = run("check", "--config", "gone.toml", "src")
    assert result.stderr == "gone.toml: error: Cannot read file, no such file or directory\n"


def test_what_holds_is_printed_with_where_it_comes_from(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.fortrans]\nline-length = 90\nexclude = ['a', 'b']\n")
    lines = run("config", "src").stdout.splitlines()
    assert "line-length = 90  # pyproject.toml [tool.fortrans]" in lines
    assert 'exclude = ["a", "b"]  # pyproject.toml [tool.fortrans]' in lines
    assert "comments = true  # default" in lines
    assert "# templates is not set" in lines
    assert tomllib.loads("\n".join(lines))["line-length"] == 90


def test_exclude_leaves_out_what_lies_below_an_argument(here: Path) -> None:
    for pattern in ("deep", "s.f90", "deep/*", "*.f90"):
        result = run("check", "--exclude", pattern, "src")
        assert "Directory holds no free-form Fortran file" in result.stderr
    assert run("check", "--exclude", "s.f90", "src/deep/s.f90").exit_code == 1


def test_a_dependency_file_names_what_the_outputs_depend_on(here: Path) -> None:
    (here / "src" / "deep" / "s.f90").unlink()
    (here / "lib dir").mkdir()
    (here / "lib dir" / "m.f90").write_text("module m\n  integer :: n\nend module m\n")
    (here / "lib dir" / "x.f90").write_text("module x\nend module x\n")
    (here / "src" / "b.f90").write_text("module b\n  use m\nend module b\n")
    (here / "src" / "a.f90").write_text("subroutine a\n  use b\nend subroutine a\n")
    command = ("rewrite", "-q", "src", "-o", "out", "-I", "lib dir", "--depfile", "out.d")
    assert run(*command).exit_code == 0
    assert (here / "out.d").read_text() == (
        "out/a.f90: src/a.f90 src/b.f90 lib\\ dir/m.f90\nout/b.f90: src/b.f90 lib\\ dir/m.f90\n"
        "src/a.f90:\nsrc/b.f90:\nlib\\ dir/m.f90:\n"
    )
    before = (here / "out" / "a.f90").stat().st_mtime_ns
    assert run(*command).exit_code == 0
    assert (here / "out" / "a.f90").stat().st_mtime_ns > before
    assert run("rewrite", "--diff", "src", "--depfile", "out.d").exit_code == 2
