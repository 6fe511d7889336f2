"""`fortrans verify`: what a user sees of two programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fortrans.cli import main
from fortrans.verify.blame import minimal
from fortrans.verify.build import Run
from fortrans.verify.measured import measured
from fortrans.verify.numbers import differ, farthest

MODULE = """module m
  implicit none
contains
  subroutine work(a, b)
    real, intent(in) :: a(:, :)
    real, intent(out) :: b(:, :)
    b = 2*transpose(a) + 1
  end subroutine
end module
"""
PROGRAM = """program p
  use m
  implicit none
  real :: a(40, 30), b(30, 40), c(40)
  integer :: k
  a = reshape([(real(k), k=1, 1200)], [40, 30])
  call work(a, b)
  c = sum(a*spread(b(1, :), 2, 30), dim=2)
  print *, b(2, 3), c(4)
end program
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a_program.f90").write_text(PROGRAM)
    (tmp_path / "m.f90").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["verify", *arguments])
    return result.exit_code, result.output


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spoil the rewrite of every SPREAD."""
    from fortrans.source import Source

    apply = Source.apply

    def wrong(self: Source, edits: object, markers: bool = False) -> Source:
        made = apply(self, edits, markers)  # type: ignore[arg-type]
        return Source(made.path, re.sub(r"(?m)^(?!.*!)(.*\b)b\(1, ", r"\1b(2, ", made.text))

    monkeypatch.setattr(Source, "apply", wrong)


def test_programs_that_agree(project: Path) -> None:
    code, output = called("a_program.f90", "m.f90")
    assert code == 0, output
    assert output.count("same output") == 2 and "-fcheck=all" in output and "-O2" in output
    assert len(re.findall(r"time \S+ s / \S+ s \(\S+\), peak memory \S+ MB / \S+ MB", output)) == 2
    assert sorted(path.name for path in project.iterdir()) == ["a_program.f90", "m.f90"]


def test_statement_to_blame_is_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)
    code, output = called("m.f90", "a_program.f90")
    assert code == 1
    assert "DIFFERENT" in output and "numbers differ by up to" in output
    assert re.findall(r"to blame: (\S+):(\d+):", output) == [("a_program.f90", "8")] * 2


def test_command_in_a_copy(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = "$FC $FFLAGS m.f90 a_program.f90 -o run && ./run && touch was_here"
    code, output = called("--main", command, ".")
    assert code == 0 and output.count("same output") == 2, output
    assert not (project / "was_here").exists()
    broken(monkeypatch)
    code, output = called("--main", command, ".")
    assert code == 1 and "to blame: a_program.f90:8:" in output


def test_tolerance(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)
    assert called("--tolerance", "0.9", "m.f90", "a_program.f90")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.f90"], "No main program is among the files"),
        (["missing.f90"], "missing.f90"),
        (["--fc", "no-such-compiler", "m.f90"], "Fortran compiler 'no-such-compiler' not found"),
        (["--main", "true", "/nowhere/x.f90"], "/nowhere/x.f90"),
    ],
)
def test_mistakes_are_told(project: Path, arguments: list[str], message: str) -> None:
    code, output = called(*arguments)
    assert code == 2 and message in output and "Traceback" not in output


def test_original_that_does_not_compile(project: Path) -> None:
    (project / "m.f90").write_text(MODULE.replace("integer", "integr").replace("2*transpose", "2*transpos"))
    code, output = called("m.f90", "a_program.f90")
    assert code == 2 and "not compared" in output and "does not compile" in output


def test_modules_in_a_circle(project: Path) -> None:
    (project / "x.f90").write_text("module x\nuse y\nend module\n")
    (project / "y.f90").write_text("module y\nuse x\nend module\n")
    code, output = called(".")
    assert code == 2 and "x.f90:2: error: Module 'x' uses itself, through 'y'" in output


def test_original_that_runs_for_ever(project: Path) -> None:
    (project / "a_program.f90").write_text("program p\ndo\nend do\nend program\n")
    code, output = called("--run-timeout", "0.5", "a_program.f90")
    assert code == 2 and "does not end within 0.5 seconds" in output


OUTER = """module m
contains
  subroutine outer(x, y, z)
    real, intent(in) :: x(:), y(:)
    real, intent(inout) :: z(:, :)
    z = transpose(z)
    z = spread(x, 2, size(y))*spread(y, 1, size(x))
  end subroutine
end module
"""
LIBRARY = Path(__file__).parent / "library.f90"


def test_procedures_agree(tmp_path: Path) -> None:
    code, output = called("--procedures", "--all", str(LIBRARY))
    assert code == 0, output
    checked = [line for line in output.splitlines() if "-fcheck=all" in line]
    told = {m[1]: m[2] for line in checked if (m := re.search(r"'(\w+)': .*?-fcheck=all: (.*)", line))}
    assert told.pop("hidden") == "not called, it is private"
    assert told.pop("of_type") == "not called, its dummy argument 'p' is of a derived type"
    assert told.pop("shaped") == (
        "not called, its dummy argument 'a' needs an explicit interface, which only a module gives"
    )
    assert told.pop("centred") == "same results in 8 calls"
    assert told.pop("strict") == "same results in 1 call, the original stops in 4 more"
    assert len(told) == 8 and set(told.values()) == {"same results in 5 calls"}


def test_procedure_that_differs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fortrans.source import Source

    apply = Source.apply

    def wrong(self: Source, edits: object, markers: bool = False) -> Source:
        made = apply(self, edits, markers)  # type: ignore[arg-type]
        return Source(made.path, re.sub(r"(?m)^(?!.*!)(.*)\*y\(", r"\1+y(", made.text))

    monkeypatch.setattr(Source, "apply", wrong)
    (project / "m.f90").write_text(OUTER)
    code, output = called("--procedures", "--seed", "7", "m.f90")
    assert code == 1
    assert re.findall(r"'(\w+)': .*: DIFFERENT for (.*)", output) == [
        ("outer", "extents 3, contiguous actual arguments, seed 7")
    ] * 2
    assert re.findall(r"to blame: m.f90:(\d+): FT101", output) == ["7"] * 2


def test_every_layout_reaches_the_procedure(tmp_path: Path) -> None:
    """The drivers are conforming programs: strict about the standard, quiet under all checks."""
    from fortrans.frontend.modules import index
    from fortrans.frontend.resolve import resolve
    from fortrans.frontend.units import read
    from fortrans.source import Source
    from fortrans.verify.build import link, objects, run
    from fortrans.verify.drivers import callees

    source = Source("library.f90", LIBRARY.read_text())
    program = read(source)
    flags = ["-std=f2018", "-g", "-fcheck=all", "-Werror=line-truncation"]
    parts = objects([source], flags, tmp_path, "gfortran")
    drivers = {one.name: one for one in callees(program, resolve(program, index([program])))}
    driver = link(Source("d.f90", drivers["flip"].driver), parts, flags, tmp_path, "gfortran")
    outputs = [run(driver, ["3", layout, "1", "1"]).stdout.decode().split("\n") for layout in "123"]
    assert [len(lines[2].split()) for lines in outputs] == [7, 7, 7]
    assert len({tuple(lines) for lines in outputs}) == 3


def test_minimal_finds_what_is_needed_together() -> None:
    for needed in ({3}, {0, 7}, {1, 2, 9}, set(range(10))):
        found = minimal(range(10), lambda chosen, needed=needed: needed <= set(chosen))  # type: ignore[misc]
        assert set(found) == needed


def test_numbers_are_compared_as_numbers() -> None:
    def run(text: str) -> Run:
        return Run(text.encode(), b"", 0)

    assert differ(run("x 1.0E+00 y"), run("x 1.000001E+00 y")) is not None
    assert differ(run("x 1.0E+00 y"), run("x   1.000001E+00 y"), 1e-5) is None
    assert differ(run("x 1.0E+00 y"), run("z 1.000001E+00 y"), 1e-5) is not None
    assert differ(run("1.0 NaN"), run("1.1 NaN"), 1e-5) is not None
    assert differ(run("1.0 NaN"), run("1.0 1.0"), 1e-5) is not None
    assert farthest(run("2.0 1d0"), run("1.0 1D0")) == 0.5
    assert farthest(run("2.0 a"), run("1.0 b")) is None


def test_memory_and_time_are_the_programs(tmp_path: Path) -> None:
    small = measured(["sh", "-c", "exit 3"], tmp_path, 20)
    assert small.run.exit == 3 and 0 < small.peak < 40e6
    script = "x = b'x' * 150_000_000"
    import sys

    large = measured([sys.executable, "-S", "-c", script], tmp_path, 20)
    assert large.peak > 150e6
    killed = measured(["sh", "-c", "kill -9 $$"], tmp_path, 20)
    assert killed.run.exit == 137


MANY = """subroutine many(a, b, c, m, n)
  implicit none
  integer, intent(in) :: m, n
  real, intent(in) :: a(m, n), b(n, m)
  real, intent(inout) :: c(m)
  integer :: k
  do k = 1, 50
    c = sum(a*spread(b(:, modulo(k, m) + 1), 1, m), dim=2)
  end do
end subroutine
"""


def benched(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["bench", *arguments])
    return result.exit_code, result.output


def test_bench_counts_what_is_gone(project: Path) -> None:
    text = PROGRAM.replace("c = sum(a*spread(b(1, :), 2, 30), dim=2)", "call many(a, b, c, 40, 30)")
    (project / "a_program.f90").write_text(text)
    (project / "many.f90").write_text(MANY)
    code, output = benched("--rounds", "3", "--format", "json", ".")
    assert code == 0, output
    (timing,) = json.loads(output)
    before, after = timing["original"], timing["rewritten"]
    assert before["temporaries"] > after["temporaries"] == 0
    assert before["allocations"]["calls"] >= after["allocations"]["calls"] + 50
    assert before["routines"] > after["routines"]
    assert len(timing["ratios"]) == 3 and min(timing["ratios"]) <= timing["ratio"] <= max(timing["ratios"])
    code, output = benched("--rounds", "1", ".")
    assert code == 0 and "times as fast" in output and "allocations" in output


def test_bench_gives_no_ratio_for_other_output(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)
    code, output = benched("m.f90", "a_program.f90")
    assert code == 1 and "outputs differ" in output and "times as fast" not in output


def test_bench_without_a_program(project: Path) -> None:
    code, output = benched("m.f90")
    assert code == 2 and "No main program is among the files" in output


def test_bench_of_a_program_that_prints_other_things_each_time(project: Path) -> None:
    text = PROGRAM.replace("  print", "  call random_seed()\n  call random_number(c)\n  print")
    (project / "a_program.f90").write_text(text)
    code, output = benched("m.f90", "a_program.f90")
    assert code == 2 and "prints other things when it runs again" in output
