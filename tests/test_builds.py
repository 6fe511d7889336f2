"""The recipes of README, word for word, each with the real build tool on a small project.

The project has modules across files, an INCLUDE line and a file for the preprocessor; what its
program prints is compared with a build by gfortran alone.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAUNCHER = "fortrans;launch;-v;--"
SOURCES = {
    "src/kinds.f90": """module kinds
  implicit none
  integer, parameter :: rk = kind(1.0)
end module kinds
""",
    "src/sizes.f90": """module sizes
  implicit none
  integer, parameter :: n = 12
end module sizes
""",
    "src/version.inc": "  integer, parameter :: version = 7\n",
    "src/step.f90": """module step
  use kinds, only: rk
  use sizes, only: n
  implicit none
  real(rk) :: field(n, n) = 1.0
contains
  subroutine advance(w)
    real(rk), intent(inout) :: w(n)
    w = sum(field * spread(w, 1, n), dim=2) + 0.25
  end subroutine advance
end module step
""",
    "src/report.F90": """module report
  use step, only: field, advance
  use sizes, only: n
  use kinds, only: rk
  implicit none
contains
  subroutine show(w)
    real(rk), intent(inout) :: w(n)
#ifdef __GFORTRAN__
    call advance(w)
#endif
    field = cshift(transpose(field), 1, 2) * spread(w, 2, n)
    print '(3es15.7)', sum(w), sum(field), real(kind(w))
  end subroutine show
end module report
""",
    "src/main.f90": """program main
  use kinds
  use report, only: show
  use sizes, only: n
  implicit none
  integer :: i
  include 'version.inc'
  real(rk) :: w(n)
  w = [(0.1_rk * i, i = 1, n)]
  call show(w)
  print *, version
end program main
""",
}
NAMES = [Path(name).name for name in SOURCES if not name.endswith(".inc")]
"""In an order in which they can be compiled."""

pytestmark = pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")


def recipe(name: str) -> str:
    """A block of README."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = re.search(rf"<!-- recipe: {name} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def tool(name: str) -> None:
    """Skips where a build tool is missing."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def run(command: str, status: int = 0) -> str:
    """What a shell command prints."""
    done = subprocess.run(
        ["bash", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the project prints when gfortran builds it."""
    folder = tmp_path_factory.mktemp("plain")
    for name, text in SOURCES.items():
        (folder / Path(name).name).write_text(text)
    return run(f"cd {folder} && gfortran {' '.join(NAMES)} -o main && ./main")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, and the command `fortrans` before all others."""
    monkeypatch.chdir(tmp_path)
    command = tmp_path / "bin" / "fortrans"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fortrans "$@"\n')
    command.chmod(0o755)
    beside = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{command.parent}:{beside}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("FORTRANS_CACHE_DIR", str(tmp_path / "cache"))
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def generated(folder: Path) -> set[str]:
    """The files below a folder that hold rewritten statements."""
    return {
        path.name
        for path in folder.rglob("*.[fF]90")
        if path.is_file() and "do concurrent" in path.read_text() and "pp.f90" not in path.name
    }


REWRITTEN = {"main.f90", "step.f90", "report.F90"}


def passed(log: str) -> bool:
    """Whether the launcher rewrote in both files (the preprocessor's output has a name of its own)."""
    return all(re.search(rf"{name}\S*:\d+: FT1\d\d \[passed\]", log) for name in ("step.f90", "report.F90"))


def test_make_by_the_launcher(here: Path, expected: str) -> None:
    tool("make")
    names = " ".join(f"src/{name}" for name in NAMES)
    (here / "Makefile").write_text(f"main: {names}\n\t$(FC) -Jout $^ -o $@\n")
    (here / "out").mkdir()
    log = run('make FC="fortrans launch -v -- gfortran"')
    assert passed(log), log
    assert run("./main") == expected


def test_make_by_the_pattern_rule(here: Path, expected: str) -> None:
    tool("make")
    rule = recipe("make")
    made = " ".join(f"build/{name}" for name in NAMES)
    more = rule.split("-include")[0].replace(".f90", ".F90")
    (here / "Makefile").write_text(f"main: {made}\n\tgfortran -Isrc -Jbuild $^ -o $@\n\n{more}\n{rule}")
    run("make")
    assert generated(here / "build") == REWRITTEN
    assert run("./main") == expected
    assert "up to date" in run("make")
    (here / "src" / "kinds.f90").write_text(SOURCES["src/kinds.f90"].replace("1.0", "1.0d0"))
    assert "src/step.f90 -o build/step.f90" in run("make")
    assert "8.0000000E+00" in run("./main")


def cmake_project(folder: Path, more: str = "") -> None:
    library = " ".join(f"src/{name}" for name in NAMES if name != "main.f90")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(solver LANGUAGES Fortran)\n"
        f"add_library(solver STATIC {library})\nadd_executable(main src/main.f90)\n"
        f"target_link_libraries(main solver)\n{more}"
    )


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_cmake_by_the_launcher(here: Path, expected: str, generator: str) -> None:
    tool("cmake")
    tool("ninja" if generator == "Ninja" else "make")
    cmake_project(here)
    run(f"cmake -G '{generator}' -S . -B build -DCMAKE_Fortran_COMPILER_LAUNCHER='{LAUNCHER}'")
    log = run("cmake --build build -j 2 -v")
    assert passed(log), log
    assert run("build/main") == expected


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_cmake_by_the_module(here: Path, expected: str, generator: str) -> None:
    tool("cmake")
    tool("ninja" if generator == "Ninja" else "make")
    cmake_project(here, recipe("cmake") + "fortrans_rewrite(TARGET main)\n")
    log = run(f"cmake -G '{generator}' -S . -B build")
    assert "Warning" not in log, log
    run("cmake --build build -j 2")
    assert generated(here / "build" / "fortrans") == REWRITTEN
    assert run("build/main") == expected
    assert "Rewriting" not in run("cmake --build build")
    (here / "src" / "kinds.f90").write_text(SOURCES["src/kinds.f90"].replace("1.0", "1.0d0"))
    assert "Rewriting step.f90" in run("cmake --build build")
    assert "8.0000000E+00" in run("build/main")


def test_cmake_says_what_is_wrong_with_a_call(here: Path) -> None:
    tool("cmake")
    cmake_project(here, recipe("cmake").replace("TARGET solver", "TARGET nothing"))
    assert "needs TARGET with the name of a target" in run("cmake -S . -B build", status=1)


def test_meson_by_the_launcher(here: Path, expected: str) -> None:
    tool("meson")
    tool("ninja")
    names = ", ".join(f"'src/{name}'" for name in NAMES)
    (here / "meson.build").write_text(f"project('solver', 'fortran')\nexecutable('solver', {names})\n")
    run('FC="fortrans launch -v -- gfortran" meson setup build')
    log = run("ninja -v -C build")
    assert passed(log), log
    assert run("build/solver") == expected


def test_meson_by_a_generator(here: Path, expected: str) -> None:
    tool("meson")
    tool("ninja")
    names = ", ".join(f"'src/{name}'" for name in NAMES)
    (here / "meson.build").write_text(
        f"project('solver', 'fortran')\nsources = files({names})\n{recipe('meson')}"
    )
    run("meson setup build && ninja -C build")
    assert generated(here / "build") == REWRITTEN
    assert run("build/solver") == expected


def test_ninja_by_a_rule(here: Path, expected: str) -> None:
    tool("ninja")
    rules = "".join(f"build build/{name}: rewrite src/{name}\n" for name in NAMES)
    made = " ".join(f"build/{name}" for name in NAMES)
    link = "rule link\n  command = gfortran -Isrc -Jbuild $in -o $out\n"
    (here / "build.ninja").write_text(f"{recipe('ninja')}{link}{rules}build main: link {made}\n")
    run("ninja")
    assert generated(here / "build") == REWRITTEN
    assert run("./main") == expected
    assert "no work to do" in run("ninja")
    (here / "src" / "kinds.f90").write_text(SOURCES["src/kinds.f90"].replace("1.0", "1.0d0"))
    assert "src/step.f90" in run("ninja -v")
    assert "8.0000000E+00" in run("./main")


def test_fpm_by_a_wrapper(here: Path, expected: str) -> None:
    tool("fpm")
    if "Fortran" not in run("fpm --help"):
        pytest.skip("the fpm here is not the Fortran package manager")
    (here / "app").mkdir()
    for name in ("main.f90", "version.inc"):
        (here / "src" / name).rename(here / "app" / name)
    (here / "fpm.toml").write_text('name = "solver"\n[preprocess.cpp]\n')
    run(recipe("fpm"))
    log = run('FPM_FC="$PWD/fortrans-gfortran" fpm run 2>&1')
    assert log.endswith(expected), log
    log = run("cd build && fortrans cache")
    assert "no cache" not in log, log


def test_pre_commit_hooks(here: Path) -> None:
    tool("git")
    tool("pre-commit")
    # The hooks' own environment would come from an index; the fortrans of this checkout stands in.
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text().replace("language: python", "language: system")
    indented = "".join(f"      {line}\n" for line in hooks.splitlines())
    (here / ".pre-commit-config.yaml").write_text(f"repos:\n  - repo: local\n    hooks:\n{indented}")
    run("git init -q . && git add src .pre-commit-config.yaml")
    log = run("pre-commit run fortrans-check --files src/kinds.f90")
    assert "Passed" in log
    (here / "src" / "version.inc").write_text("not Fortran")
    (here / "src" / "one.f90").write_text(
        "subroutine s(a, b)\n  real :: a(9, 9), b(9, 9)\n  a = transpose(b) * spread(b(1, :), 2, 9)\nend\n"
    )
    files = "--files src/one.f90 src/version.inc"
    assert "do concurrent" in run(f"pre-commit run fortrans-check {files}", status=1)
    run("git add src")
    run(f"pre-commit run fortrans-rewrite {files}", status=1)
    assert "do concurrent" in (here / "src" / "one.f90").read_text()
    assert "Passed" in run(f"pre-commit run fortrans-check {files}")


def test_the_steps_of_the_ci_job_do_what_they_say(here: Path) -> None:
    steps = [step for step in re.findall(r"- run: (.*)", recipe("ci")) if not step.startswith("pip ")]
    assert steps
    for step in steps:
        log = run(step, status=1)
        assert re.search(r"^::\w+ file=src/step\.f90,line=9", log, re.MULTILINE), log


def test_bazel_runs_a_file_as_an_action() -> None:
    pytest.skip("bazel cannot be installed from the registries that the tests use")
