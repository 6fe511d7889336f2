"""Many files at once: the same results in any order, two builds at once, hermetic actions, full disks."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.cli import main
from fortrans.options import Options
from fortrans.project import cache as store
from fortrans.project import run as work
from fortrans.project.cache import Cache
from fortrans.project.run import Means, run
from fortrans.result import FileResult
from fortrans.source import Source

ROOT = Path(__file__).parents[1]
MODULE = "module m{0}\n{1}  integer, parameter :: n{0} = {2}\nend module m{0}\n"
TEXT = """subroutine s{0}(a, b)
  use m{0}
  real, intent(out) :: a(n{0})
  real, intent(in) :: b(n{0}, n{0})
  a = sum(b, dim=2)
end subroutine s{0}
"""


def project(folder: Path, count: int = 8) -> None:
    """Files that each use a module, which uses the next one."""
    folder.mkdir()
    for k in range(count):
        use = f"  use m{k + 1}\n" if k + 1 < count else ""
        (folder / f"m{k}.f90").write_text(MODULE.format(k, use, k + 3))
        (folder / f"s{k}.f90").write_text(TEXT.format(k))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORTRANS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(work, "SMALL", 1)
    project(tmp_path / "src")
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def process(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = [sys.executable, "-m", "fortrans", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


# ---- order, processes, cache ---------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("kept", [False, True])
def test_results_are_the_same_in_any_order(here: Path, jobs: int, kept: bool) -> None:
    cache = Cache.open(here / "cache") if kept else None
    sources = [Source(f"src/{path.name}", path.read_text()) for path in sorted((here / "src").iterdir())]
    sources.append(Source("src/i.f90", "subroutine i\n  include 's3.f90'\nend subroutine i\n"))
    sources.append(Source("src/m9.f90", MODULE.format(4, "", 99)))
    sources.append(Source("src/bad.f90", "subroutine b\n  if (x) then\n"))

    def results() -> dict[str, object]:
        found = run(sources, Options(all=True), (), Means(jobs, cache))
        return {
            source.path: (x.output.text, x.remarks) if isinstance(x, FileResult) else str(x)
            for source, x in zip(sources, found, strict=True)
        }

    def plain(found: dict[str, object]) -> dict[str, object]:
        # Of two files that define a module, the message names the first one first.
        one, other = ("'src/m9.f90' and in 'src/m4.f90'", "'src/m4.f90' and in 'src/m9.f90'")
        return {path: str(what).replace(one, other) for path, what in found.items()}

    first = results()
    for seed in range(4):
        random.Random(seed).shuffle(sources)
        assert plain(results()) == plain(first)


def test_a_change_costs_only_what_depends_on_it(here: Path) -> None:
    assert call("rewrite", "-q", "src", "-o", "out").exit_code == 0
    module = here / "src" / "m5.f90"
    module.write_text(module.read_text().replace("= 8", "= 9"))
    cache = Cache.open(here / "cache")
    assert cache is not None
    sources = [Source(str(p.relative_to(here)), p.read_text()) for p in sorted((here / "src").iterdir())]
    list(run(sources, Options(), (), Means(1, cache)))
    # m0 to m5 depend on it or are it, and so do their users.
    assert (cache.stored, cache.hits) == (12, 4)


def test_a_warm_run_reads_no_fortran(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "src" / "bad.f90").write_text("subroutine b\n  if (x) then\n")
    first = call("rewrite", "src", "-o", "out")

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("fortrans.frontend.units.read", never)
    monkeypatch.setattr("fortrans.batch.read", never)
    second = call("rewrite", "src", "-o", "other")
    assert (second.exit_code, second.stderr) == (first.exit_code, first.stderr) == (2, first.stderr)
    assert "bad.f90:2: error: " in second.stderr
    assert tree(here / "other") == tree(here / "out")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"x": 3}', b'["text"]', b"[3, []]", b'["", [[1]]]', b"\xff"]
)
@pytest.mark.parametrize("kind", ["result", "facts"])
def test_a_poisoned_entry_whose_digest_is_right_is_a_miss(here: Path, kind: str, content: bytes) -> None:
    assert call("rewrite", "-q", "src", "-o", "out").exit_code == 0
    body = zlib.compress(content)
    entries = [p for p in (here / "cache").rglob("*") if p.is_file() and bool(p.suffix) == (kind == "facts")]
    assert len(entries) == (1 if kind == "facts" else 16)
    for entry in entries:
        entry.write_bytes(store.FORMAT + sha256(body).digest() + body)
    assert call("rewrite", "-q", "src", "-o", "other").exit_code == 0
    assert tree(here / "other") == tree(here / "out")


def test_facts_of_other_texts_are_not_taken(here: Path) -> None:
    """The entry of these very paths, with other digests, tells nothing."""
    assert call("rewrite", "-q", "src", "-o", "out").exit_code == 0
    for path in (here / "src").iterdir():
        path.write_text(path.read_text().replace("parameter :: n", "parameter :: k = 3, n"))
    assert call("rewrite", "-q", "src", "-o", "warm").exit_code == 0
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "cold").exit_code == 0
    assert tree(here / "warm") == tree(here / "cold")


def test_builds_at_once_and_a_cache_that_is_cleared_meanwhile(here: Path) -> None:
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "whole").exit_code == 0
    whole = tree(here / "whole")
    codes: list[int] = []

    def build(number: int) -> None:
        for turn in range(2):
            done = process("rewrite", "-q", "-j", "2", "src", "-o", f"out{number}{turn}")
            codes.append(done.returncode)
            assert done.stderr == ""

    threads = [threading.Thread(target=build, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert call("cache", "--clear").exit_code == 0
    assert codes == [0, 0, 0, 0]
    assert all(tree(here / f"out{number}{turn}") == whole for number in range(2) for turn in range(2))


def test_the_cache_stays_within_its_limit_and_is_cleared(here: Path) -> None:
    cache = Cache.open(here / "cache")
    assert cache is not None
    cache.limit = 3000
    sources = [Source(str(p.relative_to(here)), p.read_text()) for p in sorted((here / "src").iterdir())]
    for turn in range(5):
        list(run(sources, Options(line_length=100 + turn), (), Means(1, cache)))
        assert cache.size()[1] <= 3000
    shard = here / "cache" / "ab"
    shard.mkdir(exist_ok=True)
    (shard / ".half").write_text("what a killed run left")
    (here / "cache" / "index-12.json").write_text("{}")
    assert "results dropped" in call("cache", "--clear").stdout
    assert tree(here / "cache") == {}


def test_no_cache_neither_reads_nor_writes(here: Path) -> None:
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "out").exit_code == 0
    assert not (here / "cache").exists()
    assert call("rewrite", "-q", "src", "-o", "out").exit_code == 0
    before = {path: path.stat() for path in (here / "cache").rglob("*")}
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "out").exit_code == 0
    assert {path: path.stat() for path in (here / "cache").rglob("*")} == before


# ---- terminals -------------------------------------------------------------------------

BAR = "from fortrans.cli import progress, main; progress.PATIENCE = -1; main(['rewrite', 'src', '-o', 'out'])"


def test_a_bar_on_a_terminal_only_and_a_summary_at_the_end(here: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    command = [sys.executable, "-c", BAR]
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment) as child:
        os.close(theirs)
        try:
            while data := os.read(ours, 4096):
                shown += data
        except OSError:  # How a closed terminal says that nothing more comes.
            pass
    os.close(ours)
    assert child.returncode == 0 and b"Rewriting" in shown
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert "Rewriting" not in done.stderr and "\x1b" not in done.stderr
    summary = "8 statements rewritten, 0 left, 8 of 16 files changed"
    assert done.stderr.splitlines()[-1] == summary
    assert summary.encode() in shown.splitlines()[-1]


# ---- hermetic actions ------------------------------------------------------------------


def depends(text: str) -> list[str]:
    return text.partition(":")[2].partition("\n")[0].split()


def test_an_action_needs_what_its_dependency_file_names_and_no_more(here: Path) -> None:
    action = ("rewrite", "-q", "--isolated", "--no-cache", "src/s3.f90", "-I", "src", "-o", "gen/s3.f90")
    (here / "gen").mkdir()
    assert call(*action, "--depfile", "gen/s3.d").exit_code == 0
    inputs = depends((here / "gen" / "s3.d").read_text())
    assert inputs == ["src/s3.f90", *(f"src/m{k}.f90" for k in range(3, 8))]
    # Elsewhere, with the declared inputs only, other settings about and another environment.
    for other in ("elsewhere", "a b"):
        box = here / other
        (box / "gen").mkdir(parents=True)
        for name in inputs:
            (box / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(here / name, box / name)
        (box / "fortrans.toml").write_text("comments = false\n")
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        environment |= {"PYTHONHASHSEED": "7", "LC_ALL": "C"}
        command = [sys.executable, "-m", "fortrans", *action, "--depfile", "gen/s3.d"]
        subprocess.run(command, cwd=box, env=environment, check=True)
        assert tree(box / "gen") == tree(here / "gen")


RULE = """rule fortrans
  command = {python} -m fortrans rewrite -q --isolated -j 1 $in -I src -o $out --depfile $out.d
  depfile = $out.d
  deps = gcc
build gen/s0.f90: fortrans src/s0.f90
build gen/s3.f90: fortrans src/s3.f90
"""


def test_ninja_runs_again_what_a_change_concerns(here: Path) -> None:
    ninja = shutil.which("ninja")
    if ninja is None:
        pytest.skip("ninja is not installed")
    (here / "gen").mkdir()
    (here / "build.ninja").write_text(RULE.format(python=sys.executable))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def build() -> str:
        command = [ninja, "-v"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert build().count("fortrans rewrite") == 2
    assert "no work to do" in build()
    module = here / "src" / "m1.f90"
    module.write_text(module.read_text().replace("= 4", "= 5"))
    assert build().count("fortrans rewrite") == 1
    assert "no work to do" in build()


# ---- disks -----------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as stream:
        try:
            while stream.write(b"x" * 4096):
                pass
        except OSError:
            pass


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_in_the_middle_of_a_run(here: Path, disk: Path, jobs: str) -> None:
    for k in range(8):
        path = here / "src" / f"s{k}.f90"
        path.write_text(path.read_text() + "! filler\n" * 1200)
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "whole").exit_code == 0
    whole = tree(here / "whole")
    done = call("rewrite", "-q", "-j", jobs, "src", "-o", str(disk / "out"))
    assert done.exit_code == 2
    lines = done.stderr.splitlines()
    assert lines and all(line.endswith("error: Cannot write file, no space left on device") for line in lines)
    made = tree(disk / "out")
    assert 0 < len(made) < len(whole) and len(made) + len(lines) == len(whole)
    assert all(whole[name] == data for name, data in made.items())


def test_a_full_disk_under_the_cache_costs_time_only(
    here: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(disk)
    monkeypatch.setenv("FORTRANS_CACHE_DIR", str(disk))
    done = call("rewrite", "-q", "src", "-o", "out")
    assert (done.exit_code, done.stderr) == (0, "")
    assert call("rewrite", "-q", "--no-cache", "src", "-o", "whole").exit_code == 0
    assert tree(here / "out") == tree(here / "whole")
    assert [path.name for path in disk.rglob("*") if path.is_file()] == ["filler"]


def test_an_output_that_may_not_be_written(here: Path, disk: Path) -> None:
    (disk / "s0.f90").write_text("old\n")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    done = call("rewrite", "-q", "src", "-o", str(disk))
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 16
    assert f"{disk}/s0.f90: error: Cannot write file, " in done.stderr
    assert f"{disk}/s1.f90: error: Cannot write file, read-only file system\n" in done.stderr
    assert tree(disk) == {"s0.f90": b"old\n"}


@pytest.mark.parametrize("more", [(), ("-j", "2"), ("--timeout", "60"), ("--no-cache",)])
def test_nothing_is_written_but_the_outputs_and_the_cache(here: Path, more: tuple[str, ...]) -> None:
    for name in ("home", "temporary"):
        (here / name).mkdir()
    before = tree(here)
    places = {"HOME": str(here / "home"), "TMPDIR": str(here / "temporary")}
    done = process("rewrite", "-q", *more, "src", "-o", "out", **places)
    assert (done.returncode, done.stderr) == (0, "")
    after = tree(here)
    assert {name: after[name] for name in before} == before
    allowed = {"out"} if "--no-cache" in more else {"out", "cache"}
    assert {name.partition("/")[0] for name in after.keys() - before.keys()} == allowed


# ---- the check -------------------------------------------------------------------------


def test_a_baseline_from_adoption_to_the_end(here: Path) -> None:
    shutil.rmtree(here / "src")
    (here / "src").mkdir()
    source = here / "src" / "a.f90"
    old = "subroutine a(x, y)\n  real :: x(:), y(:, :)\n  x = sum(y, 2)\nend subroutine a\n"
    source.write_text(old)
    # 1. The check fails today; a baseline lists what it finds.
    assert call("check", "-q", "src").exit_code == 1
    assert call("check", "-q", "src", "--write-baseline", "base.json").exit_code == 0
    rows = json.loads((here / "base.json").read_text())["findings"]
    assert [row["path"] for row in rows.values()] == ["src/a.f90"]
    # 2. From now on it passes, in a settings file too.
    (here / "fortrans.toml").write_text("[check]\nbaseline = 'base.json'\n")
    assert call("check", "-q", "src").exit_code == 0
    # 3. A new statement fails, and is all that is told.
    source.write_text(old.replace("end sub", "  x = x + sum(y, 2)\nend sub"))
    done = call("check", "-q", "src", "--format", "json")
    found = json.loads(done.stdout)["findings"]
    assert done.exit_code == 1 and [row["line"] for row in found] == [4]
    # 4. What is dealt with leaves the baseline when that is written anew.
    source.write_text("subroutine a\nend subroutine a\n")
    assert call("check", "-q", "src").exit_code == 0
    assert call("check", "-q", "src", "--write-baseline", "base.json").exit_code == 0
    assert json.loads((here / "base.json").read_text())["findings"] == {}
    # 5. Without the file there is an error, not a pass.
    (here / "base.json").unlink()
    done = call("check", "-q", "src")
    assert done.exit_code == 2 and "base.json: error: Cannot read file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("rewrite", "src", "-o", "out"), 0),
        (("rewrite", "--diff", "src"), 0),
        (("rewrite", "src", "bad", "-o", "out"), 2),
        (("rewrite", "src"), 2),
        (("check", "clean"), 0),
        (("check", "src"), 1),
        (("check", "src", "bad"), 2),
        (("check", "clean", "none.f90"), 2),
        (("check", "clean", "--against", "clean"), 0),
        (("check", "src", "--against", "clean"), 1),
        (("check", "--no-such-option", "src"), 2),
        (("config", "src"), 0),
        (("cache",), 0),
        (("explain", "FT999"), 2),
    ],
)
def test_exit_statuses(here: Path, arguments: tuple[str, ...], status: int) -> None:
    for name, text in (("clean", "program p\nend program p\n"), ("bad", "if (x) then\n")):
        (here / name).mkdir()
        (here / name / "x.f90").write_text(text)
    assert call(*arguments).exit_code == status


@pytest.mark.parametrize(
    ("command", "words"), [("rewrite", "0, or 2"), ("check", "0 without findings, 1 with findings, 2 when")]
)
def test_exit_statuses_are_documented(command: str, words: str) -> None:
    assert f"Exit status: {words}" in " ".join(call(command, "--help").stdout.split())
    assert "Exit status: 0" in (ROOT / "README.md").read_text()
