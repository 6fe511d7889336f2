"""Names, links, templates and disks that mean no good: nothing but the named outputs is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.cli import main

ROOT = Path(__file__).parents[1]
TEXT = """subroutine s(a, b)
  real, intent(out) :: a(:)
  real, intent(in) :: b(:, :)
  a = sum(b, dim=2)
end subroutine s
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORTRANS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize(
    "name",
    ["two words.f90", "a\nb.f90", "-o.f90", "--in-place.f90", "$(touch x).f90", 'ä;&"|.f90', "%s{}.f90"],
)
def test_names_are_names(here: Path, name: str) -> None:
    (here / "in").mkdir()
    (here / "in" / name).write_text(TEXT)
    assert run("rewrite", "-q", "in", "-o", "out").exit_code == 0
    assert files(here / "out") == [name]
    assert "do concurrent" in (here / "out" / name).read_text()
    assert (here / "in" / name).read_text() == TEXT
    result = run("rewrite", "-o", "one.f90", "--", f"in/{name}")
    assert result.exit_code == 0
    assert all(line.startswith(("in/", "b.f90", "1 statement")) for line in result.stderr.splitlines())
    with_marker = run("rewrite", "-q", "--line-markers", "--", f"in/{name}").stdout
    lines = [line for line in with_marker.splitlines() if not line.startswith("# ")]
    assert "\n".join(lines) + "\n" == (here / "one.f90").read_text()


def test_links_stay_links_and_loops_are_errors(here: Path) -> None:
    (here / "real.f90").write_text(TEXT)
    (here / "tree").mkdir()
    (here / "tree" / "link.f90").symlink_to("../real.f90")
    (here / "tree" / "loop.f90").symlink_to("loop.f90")
    (here / "tree" / "up").symlink_to("..")
    result = run("rewrite", "-q", "tree", "-o", "out")
    assert result.exit_code == 2 and "loop.f90: error: Cannot read file" in result.stderr
    assert files(here / "out") == ["link.f90"]
    assert run("rewrite", "-q", "--in-place", "tree/link.f90").exit_code == 0
    assert (here / "tree" / "link.f90").is_symlink()
    assert "do concurrent" in (here / "real.f90").read_text()


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.system('touch pwned') }}",
        "{% include '/etc/passwd' %}",
        "{% include '../../../../etc/passwd' %}",
        "{% for x in range(10**9) %}x{% endfor %}",
        "{{ lipsum.__globals__['os'].popen('touch pwned').read() }}",
    ],
)
def test_templates_run_nothing_and_read_nothing(here: Path, attack: str) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "assignment.f90.j2").write_text(attack)
    (here / "s.f90").write_text(TEXT)
    before = files(here)
    result = run("rewrite", "--no-cache", "--templates", "mine", "s.f90", "-o", "out.f90")
    assert result.exit_code == 2
    assert "error: " in result.stderr and "Traceback" not in result.stderr
    assert files(here) == before


def test_only_the_outputs_and_the_cache_are_written(here: Path) -> None:
    (here / "in").mkdir()
    (here / "in" / "s.f90").write_text(TEXT)
    assert run("rewrite", "-q", "in", "-o", "out").exit_code == 0
    assert {name.partition("/")[0] for name in files(here)} == {"in", "out", "cache"}


def test_a_read_only_output_is_an_error_and_stays(here: Path) -> None:
    (here / "s.f90").write_text(TEXT)
    (here / "out.f90").write_text("old\n")
    (here / "out.f90").chmod(0o444)
    if os.access(here / "out.f90", os.W_OK):
        pytest.skip("root may write to read-only files")
    result = run("rewrite", "-q", "s.f90", "-o", "out.f90")
    assert (result.exit_code, (here / "out.f90").read_text()) == (2, "old\n")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_file(here: Path, small_disk: Path) -> None:
    (here / "s.f90").write_text(TEXT + "! filler\n" * 4000)
    (small_disk / "s.f90").write_text("old\n")
    result = run("rewrite", "-q", "s.f90", "-o", str(small_disk / "s.f90"))
    assert result.exit_code == 2
    assert result.stderr == f"{small_disk}/s.f90: error: Cannot write file, no space left on device\n"
    assert files(small_disk) == ["s.f90"] and (small_disk / "s.f90").read_text() == "old\n"


def test_a_killed_run_leaves_whole_files_only(here: Path) -> None:
    (here / "in").mkdir()
    for number in range(60):
        text = TEXT.replace("subroutine s", f"subroutine s{number}") * 40
        for copy in range(1, 40):
            text = text.replace(f"s{number}(", f"s{number}_{copy}(", 1)
        (here / "in" / f"s{number:02}.f90").write_text(text)
    whole = here / "whole"
    assert run("rewrite", "-q", "--no-cache", "in", "-o", "whole").exit_code == 0
    command = [sys.executable, "-m", "fortrans", "rewrite", "-q", "-j", "2", "in", "-o", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (here / "out").exists() or len(files(here / "out")) < 5:
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    made = [name for name in files(here / "out") if not Path(name).name.startswith(".")]
    assert made and all((here / "out" / n).read_text() == (whole / n).read_text() for n in made)
    assert run("rewrite", "-q", "in", "-o", "out").exit_code == 0
    assert [n for n in files(here / "out") if not Path(n).name.startswith(".")] == files(whole)
    assert all((here / "out" / n).read_text() == (whole / n).read_text() for n in files(whole))
