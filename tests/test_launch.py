"""The launcher: the compiler gets the rewritten file, the user keeps names, messages and status."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fortrans.project.command import parse, replaced

ROOT = Path(__file__).parents[1]
MODULE = "module m\n  implicit none\n  integer, parameter :: n = 40\n  real :: a(n, n)\nend module m\n"
MAIN = """program p
  use m
  implicit none
  real :: c(n)
  a = 1
  c = 2
  c = sum(a * spread(c, 1, n), dim=2)
  print *, sum(c)
end program p
"""

needs_compiler = pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.f90").write_text(MODULE)
    (tmp_path / "p.f90").write_text(MAIN)
    return tmp_path


def launch(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "fortrans", "launch", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def compiler(folder: Path, body: str) -> str:
    """A compiler of our own that does what ``body`` says."""
    path = folder / "fc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_command_is_read() -> None:
    command = parse("fc -O2 -Iinc -J mod -c src/a.f90 -o out.o -D X.f90 b.c".split())
    assert [command.words[i] for i in command.sources] == ["src/a.f90"]
    assert ([str(f) for f in command.folders], command.output) == (["inc", "mod"], "out.o")
    assert command.compiles
    words = replaced(command, {command.sources[0]: Path("t/a.f90")})
    assert words == "fc -Isrc -O2 -Iinc -J mod -c t/a.f90 -o out.o -D X.f90 b.c".split()


@pytest.mark.parametrize("words", ["fc a.o b.o -o a", "fc -E a.f90", "fc -M a.f90", "fc -x c a.f90",
                                   "fc -ffixed-form -c a.f90", "fc -c a.f", "fc --version"])  # fmt: skip
def test_other_commands_compile_nothing_of_ours(words: str) -> None:
    assert not parse(words.split()).compiles


def test_response_files_are_read(here: Path) -> None:
    (here / "words").write_text("-c 'a b.f90'")
    assert parse(["fc", "@words"]).words == ("fc", "-c", "a b.f90")


@needs_compiler
def test_a_program_is_built_and_runs(here: Path) -> None:
    for name in ("m", "p"):
        done = launch("-v", "--", "gfortran", "-c", f"{name}.f90")
        assert done.returncode == 0, done.stderr
    assert "p.f90:7: FT101 [passed]" in done.stderr
    assert launch("--", "gfortran", "m.o", "p.o", "-o", "p").returncode == 0
    assert float(subprocess.run(["./p"], capture_output=True, text=True, check=True).stdout) == 40 * 80
    assert sorted(path.name for path in here.iterdir()) == ["m.f90", "m.mod", "m.o", "p", "p.f90", "p.o"]


@needs_compiler
def test_messages_name_the_original_file_and_line(here: Path) -> None:
    launch("--", "gfortran", "-c", "m.f90")
    (here / "p.f90").write_text(MAIN.replace("print *, sum(c)", "print *, sum(c) + wrong"))
    done = launch("--", "gfortran", "-c", "p.f90")
    plain = subprocess.run(["gfortran", "-c", "p.f90"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    (here / "p.f90").write_text(MAIN.replace("real :: c(n)", "real :: c(n); integer :: unused"))
    done = launch("--", "gfortran", "-Wall", "-c", "p.f90")
    assert done.returncode == 0
    assert "p.f90:4:" in done.stderr and "fortrans-" not in done.stderr


@needs_compiler
def test_a_debugger_sees_the_original(here: Path) -> None:
    launch("--", "gfortran", "-c", "m.f90")
    launch("--", "gfortran", "-g", "-c", "p.f90")
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    command = ["objdump", "--dwarf=decodedline", "p.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("p.f90 ")]
    assert {int(row[1]) for row in rows if row[1].isdigit()} <= set(range(1, 10))
    assert any(row[1] == "7" for row in rows)


def test_the_original_is_compiled_when_the_rewritten_file_does_not(here: Path) -> None:
    name = compiler(here, 'for x; do :; done; grep -q "do concurrent" "$x" && exit 3; echo ok; exit 0')
    done = launch("--", name, "-c", "p.f90")
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert done.stderr == (
        "fortrans: warning: Rewritten form of 'p.f90' does not compile, the original was compiled\n"
    )
    assert launch("--strict", "--", name, "-c", "p.f90").returncode == 3


def test_the_status_and_the_words_are_the_compiler_s(here: Path) -> None:
    name = compiler(here, 'echo "$@"; exit 7')
    done = launch("--", name, "x.o", "-o", "a b", "-Wl,-rpath")
    assert (done.returncode, done.stdout) == (7, "x.o -o a b -Wl,-rpath\n")
    done = launch("--", "./nowhere", "-c", "p.f90")
    assert done.returncode == 2
    assert done.stderr == "fortrans: error: Cannot run './nowhere', no such file or directory\n"


def test_a_file_that_cannot_be_read_is_the_compiler_s_business(here: Path) -> None:
    name = compiler(here, "exit 1")
    done = launch("--", name, "-c", "gone.f90")
    assert done.returncode == 1
    assert "no such file or directory, in 'gone.f90'" in done.stderr
    assert launch("--strict", "--", name, "-c", "gone.f90").returncode == 2


@needs_compiler
def test_what_a_file_includes_lies_beside_it(here: Path) -> None:
    (here / "src").mkdir()
    (here / "src" / "size.inc").write_text("integer, parameter :: k = 3\n")
    text = MAIN.replace("  real :: c", "  include 'size.inc'\n  real :: c").replace("c = 2", "c = k")
    (here / "src" / "q.f90").write_text(text)
    launch("--", "gfortran", "-c", "m.f90")
    done = launch("--assume-intrinsics", "--", "gfortran", "-c", "src/q.f90")
    assert (done.returncode, done.stderr) == (0, "")


@needs_compiler
def test_dependency_files_name_the_original(here: Path) -> None:
    launch("--", "gfortran", "-c", "m.f90")
    done = launch("--", "gfortran", "-cpp", "-MD", "-MF", "p.d", "-c", "p.f90", "-o", "p.o")
    assert done.returncode == 0, done.stderr
    assert "p.f90" in (here / "p.d").read_text() and "fortrans-" not in (here / "p.d").read_text()


def test_modules_are_found_again_when_they_change(here: Path) -> None:
    name = compiler(here, 'for x; do :; done; cat "$x"')
    first = launch("--", name, "-c", "p.f90").stdout
    assert "do concurrent" in first
    (here / "m.f90").write_text(MODULE.replace("  implicit none", "  private"))
    assert launch("--", name, "-c", "p.f90").stdout == MAIN
    (here / "m.f90").write_text(MODULE)
    assert launch("--", name, "-c", "p.f90").stdout == first


def test_response_files_that_cannot_be_read_are_the_compiler_s_business(here: Path) -> None:
    (here / "words").write_text("-c 'open")
    assert parse(["fc", "@words", "@gone"]).words == ("fc", "@words", "@gone")
    (here / "inner").write_text("-c p.f90")
    (here / "words").write_text("-O2 @inner")
    assert parse(["fc", "@words"]).words == ("fc", "-O2", "-c", "p.f90")


@needs_compiler
@pytest.mark.parametrize("name", ["p.f90", "p.F90"])
def test_objects_with_debug_information_name_the_original_and_are_the_same_again(
    here: Path, name: str
) -> None:
    (here / "src").mkdir()
    (here / "src" / name).write_text(MAIN)
    (here / "m.f90").rename(here / "src" / "m.f90")
    launch("--", "gfortran", "-c", "src/m.f90")
    objects = []
    for _ in range(2):
        done = launch("-v", "--", "gfortran", "-g", "-c", f"src/{name}", "-o", "p.o")
        assert done.returncode == 0 and "[passed]" in done.stderr, done.stderr
        objects.append((here / "p.o").read_bytes())
    assert objects[0] == objects[1]
    assert f"src/{name}".encode() in objects[0] and b"fortrans-" not in objects[0]


def test_options_of_debug_information_and_backslashes() -> None:
    assert parse("fc -g -c a.f90".split()).debugs and parse("fc -ggdb3 -c a.f90".split()).debugs
    assert not parse("fc -g -g0 -c a.f90".split()).debugs and not parse("fc -c a.f90".split()).debugs
    assert parse("fc -fbackslash -c a.f90".split()).backslashes
    assert not parse("fc -fbackslash -fno-backslash -c a.f90".split()).backslashes


def test_a_string_with_an_escaped_quote_is_left_to_the_compiler(here: Path) -> None:
    name = compiler(here, 'for x; do :; done; cat "$x"')
    text = MAIN.replace("print *, sum(c)", "print *, 'it\\'s', sum(c)")
    (here / "p.f90").write_text(text)
    done = launch("--", name, "-fbackslash", "-c", "p.f90")
    assert (done.returncode, done.stdout) == (0, text)
    assert "escaped quotes" in done.stderr


@needs_compiler
def test_modules_beside_the_file_that_was_preprocessed_are_found(here: Path) -> None:
    """CMake's ninja builds compile the preprocessor's output, in another folder."""
    (here / "src").mkdir()
    (here / "build").mkdir()
    (here / "m.f90").rename(here / "src" / "m.f90")
    (here / "build" / "p.f90").write_text(f'# 1 "{here}/src/p.F90"\n# 1 "<built-in>"\n{MAIN}')
    (here / "p.f90").unlink()
    launch("--", "gfortran", "-c", "src/m.f90", "-o", "m.o")
    done = launch("-v", "--", "gfortran", "-c", "build/p.f90")
    assert done.returncode == 0 and "[passed]" in done.stderr, done.stderr
