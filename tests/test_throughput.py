"""The throughput bench runs: every tool on the files that gfortran compiles, in the order it needs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fortrans.verify.throughput import main, programs_of

USER = "subroutine s(a)\n  use m\n  real :: a(n)\n  a = cshift(a, 1) + 1\nend subroutine s\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.f90").write_text(USER)
    (folder / "z.f90").write_text("module m\n  integer, parameter :: n = 8\nend module m\n")
    (folder / "bad.f90").write_text("subroutine b\n  use not_there\nend subroutine b\n")
    return folder


def test_modules_come_before_their_users(project: Path) -> None:
    names = [Path(program.source.path).name for program in programs_of(project)]
    assert names.index("z.f90") < names.index("a.f90")


def test_the_table_has_every_tool(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    assert main([str(project), "--runs", "1", "--budget", "30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "8 lines in 2 files that gfortran compiles"
    names = [line[:28].split("  ")[0].strip() for line in lines[3:]]
    assert names[0] == "gfortran -O2 -w -c" and names[-1].startswith("fparser ")
    kinds = [f"fortrans{more} -j {jobs} {state}" for more in ("", " --all") for jobs in (1, 2)
             for state in ("cold", "warm")]  # fmt: skip
    assert names[1:-1] == kinds


def test_a_tool_that_is_not_there_is_said(project: Path) -> None:
    import sys

    from fortrans.verify.throughput import peer

    found = peer("psyclone", sys.executable, {str(project / "z.f90"): 3}, 5)
    assert isinstance(found, str) and found.startswith("psyclone: ModuleNotFoundError")
