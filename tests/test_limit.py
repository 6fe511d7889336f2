"""--timeout: a file that takes too long costs an error, and stays as it was."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.batch import Batch
from fortrans.cli import main
from fortrans.options import Options
from fortrans.project.limit import Over, limited
from fortrans.remarks import InputError
from fortrans.result import FileResult

TEXT = """subroutine s(a, b)
  real, intent(out) :: a(:)
  real, intent(in) :: b(:, :)
  a = sum(b, dim=2)
end subroutine s
"""
LATE = "rewriting it takes longer than 2 s (--timeout)"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three files in ``src``, of which rewriting the middle one takes a minute."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORTRANS_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "src").mkdir()
    for name in "abc":
        (tmp_path / "src" / f"{name}.f90").write_text(TEXT)
    whole = Batch.rewrite

    def slow(self: Batch, position: int, options: Options) -> FileResult | InputError:
        program = self.programs[position]
        if not isinstance(program, InputError) and program.source.path.endswith("b.f90"):
            time.sleep(60)
        return whole(self, position, options)

    monkeypatch.setattr(Batch, "rewrite", slow)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_the_other_files_are_done_and_the_late_one_is_not(here: Path, jobs: str) -> None:
    start = time.monotonic()
    result = run("rewrite", "-q", "-j", jobs, "--timeout", "2", "src", "-o", "out")
    assert time.monotonic() - start < 30
    assert result.exit_code == 2
    assert result.stderr == f"src/b.f90: error: File is left as it was, {LATE}\n"
    assert sorted(path.name for path in (here / "out").iterdir()) == ["a.f90", "c.f90"]
    assert "do concurrent" in (here / "out" / "c.f90").read_text()
    again = run("rewrite", "-q", "-j", jobs, "--timeout", "2", "src", "-o", "out")
    assert (again.exit_code, again.stderr) == (2, result.stderr)


def test_in_place_it_stays_as_it_was(here: Path) -> None:
    assert run("rewrite", "-q", "--timeout", "2", "--in-place", "src").exit_code == 2
    assert (here / "src" / "b.f90").read_text() == TEXT != (here / "src" / "a.f90").read_text()
    assert sorted(path.name for path in (here / "src").iterdir()) == ["a.f90", "b.f90", "c.f90"]


def test_it_may_stand_in_a_settings_file_and_is_no_part_of_the_cache_s_key(here: Path) -> None:
    (here / "fortrans.toml").write_text("timeout = 2.0\n")
    assert run("check", "src").exit_code == 2
    (here / "src" / "b.f90").unlink()
    assert run("rewrite", "-q", "--timeout", "9", "src", "-o", "out").exit_code == 0
    assert "3 results" not in run("cache").stdout and "2 results" in run("cache").stdout
    (here / "fortrans.toml").write_text("timeout = true\n")
    assert run("check", "src").stderr == "fortrans.toml:1: error: 'timeout' must be a number\n"
    assert run("check", "--timeout", "0", "--isolated", "src").exit_code == 2


def test_a_process_that_dies_and_an_error_that_is_raised() -> None:
    def work(position: int) -> int:
        if position == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if position == 3:
            raise InputError("t", "Template is wrong")
        return position

    assert list(limited(work, [2, 1, 0], 2, 60)) == [2, Over(killed=True), 0]
    with pytest.raises(InputError, match="Template is wrong"):
        list(limited(work, [0, 3, 2], 1, 60))


def test_no_process_is_left_behind() -> None:
    results = limited(lambda position: time.sleep(60 * position), [0, 1, 2], 3, 60)
    next(results)
    results.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
