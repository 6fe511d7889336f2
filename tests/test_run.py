"""Runs over many files: processes and the cache change the time, never the result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fortrans.batch import Batch
from fortrans.options import Options
from fortrans.pipeline import rewrite_sources
from fortrans.project import cache as store
from fortrans.project import run as work
from fortrans.project.cache import Cache
from fortrans.project.run import Means, run
from fortrans.remarks import InputError
from fortrans.result import FileResult
from fortrans.source import Source

ROOT = Path(__file__).parents[1]
OPTIONS = Options(all=True)
MODULE = Source("m.f90", "module m\n  integer, parameter :: n = 8\nend module m\n")
USER = Source(
    "u.f90",
    "subroutine u(a, b)\n  use m\n  implicit none\n  real, intent(out) :: a(n)\n"
    "  real, intent(in) :: b(n, n)\n  a = sum(b, dim=2)\nend subroutine u\n",
)
BROKEN = Source("b.f90", "subroutine b\n  if (x) then\n")


def sources() -> list[Source]:
    paths = sorted((ROOT / "fixtures").glob("*/*/*.f90"))
    names = [path for path in paths if path.name != "expected.f90"][:40]
    return [*(Source(str(path.relative_to(ROOT)), path.read_text()) for path in names), BROKEN, USER, MODULE]


def plain(results: Sequence[FileResult | InputError]) -> list[object]:
    return [str(x) if isinstance(x, InputError) else (x.source.path, x.output, x.remarks) for x in results]


@pytest.fixture
def kept(tmp_path: Path) -> Cache:
    found = Cache.open(tmp_path / "cache")
    assert found is not None
    return found


def test_results_are_the_same_whatever_the_processes_and_the_cache(
    kept: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SMALL", 1)
    files = sources()
    expected = plain(list(rewrite_sources(files, OPTIONS)))
    assert plain(list(run(files, OPTIONS, (), Means(3)))) == expected
    assert plain(list(run(files, OPTIONS, (), Means(2, kept)))) == expected
    assert kept.stored == len(files) - 1
    assert plain(list(run(files, OPTIONS, (), Means(1, kept)))) == expected
    assert kept.hits == len(files) - 1


def test_a_file_is_rewritten_anew_when_a_module_it_uses_changes(kept: Cache) -> None:
    def text(module: Source) -> str:
        (result,) = run([USER], OPTIONS, [module], Means(1, kept))
        assert isinstance(result, FileResult)
        return result.output.text

    first = text(MODULE)
    changed = replace(MODULE, text=MODULE.text.replace("parameter :: n", "parameter :: k = 2, n"))
    assert text(changed) != "" and kept.hits == 0
    private = replace(MODULE, text=MODULE.text.replace("  integer", "  private\n  integer"))
    (plain_,) = rewrite_sources([USER], OPTIONS, [private])
    assert isinstance(plain_, FileResult)
    assert text(private) == plain_.output.text and kept.hits == 0
    assert text(MODULE) == first and kept.hits == 1
    other = Source("x.f90", "module x\nend module x\n")
    (result,) = run([USER], OPTIONS, [MODULE, other], Means(1, kept))
    assert isinstance(result, FileResult) and result.output.text == first and kept.hits == 2


@pytest.mark.parametrize(
    "other",
    [
        Source("m2.f90", "module m\n  integer, parameter :: n = 9\nend module m\n"),
        Source("i.f90", "subroutine i\n  include 'u.f90'\nend subroutine i\n"),
    ],
    ids=["a second module of that name", "a file that includes this one"],
)
def test_what_another_file_says_of_this_one_counts(kept: Cache, other: Source) -> None:
    list(run([USER], OPTIONS, [MODULE], Means(1, kept)))
    (result,) = run([USER], OPTIONS, [MODULE, other], Means(1, kept))
    assert isinstance(result, FileResult)
    assert (result.output.text, kept.hits) == (USER.text, 0)


def test_options_and_templates_are_part_of_the_key(kept: Cache, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    template = tmp_path / "mine" / "x.f90.j2"
    mine = replace(OPTIONS, templates=str(tmp_path / "mine"))
    template.write_text("a")
    for options in (OPTIONS, replace(OPTIONS, comments=False), mine):
        list(run([USER], options, [MODULE], Means(1, kept)))
    template.write_text("b")
    list(run([USER], mine, [MODULE], Means(1, kept)))
    assert (kept.hits, kept.stored) == (0, 4)


def entries(kept: Cache) -> list[Path]:
    return [path for path in kept.path.rglob("*") if path.is_file() and not path.suffix]


@pytest.mark.parametrize("damage", ["truncated", "other bytes", "of another version", "empty", "a folder"])
def test_a_damaged_entry_is_a_miss(kept: Cache, damage: str) -> None:
    (expected,) = run([USER], OPTIONS, [MODULE], Means(1, kept))
    (entry,) = entries(kept)
    data = entry.read_bytes()
    match damage:
        case "truncated":
            entry.write_bytes(data[:-7])
        case "other bytes":
            entry.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case "of another version":
            entry.write_bytes(data.replace(b"cache 1", b"cache 0"))
        case "empty":
            entry.write_bytes(b"")
        case _:
            entry.unlink()
            entry.mkdir()
    (result,) = run([USER], OPTIONS, [MODULE], Means(1, kept))
    assert plain([result]) == plain([expected])
    assert kept.hits == 0


def test_another_tool_s_entries_are_not_taken(kept: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    list(run([USER], OPTIONS, [MODULE], Means(1, kept)))
    monkeypatch.setattr(store, "fingerprint", lambda: "another version")
    list(run([USER], OPTIONS, [MODULE], Means(1, kept)))
    assert (kept.hits, kept.stored) == (0, 2)


def test_the_oldest_entries_go_first(kept: Cache) -> None:
    for number, name in enumerate("abcd"):
        kept.put(name * 64, store.Cached(os.urandom(600).hex(), ()))
        os.utime(kept.path / (name * 2) / (name * 62), (number, number))
    count, size = kept.size()
    assert count == 4
    assert kept.get("a" * 64, "p") is not None
    kept.limit = size * 3 // 4
    kept.trim()
    assert {path.name[0] for path in entries(kept)} == {"a", "d"}
    assert kept.clear() == 2 and kept.size() == (0, 0)


def test_a_folder_that_others_may_write_to_is_no_cache(tmp_path: Path) -> None:
    open_ = tmp_path / "open"
    open_.mkdir()
    open_.chmod(0o777)
    assert Cache.open(open_) is None
    assert Cache.open(Path(os.devnull)) is None


def test_a_full_disk_only_means_that_nothing_is_kept(kept: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    (result,) = run([USER], OPTIONS, [MODULE], Means(1, kept))
    assert isinstance(result, FileResult) and result.output.text != USER.text
    assert kept.stored == 0 and entries(kept) == []


def test_a_killed_process_costs_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "SMALL", 1)
    whole = Batch.rewrite
    here = os.getpid()

    def deadly(self: Batch, position: int, options: Options) -> FileResult | InputError:
        if os.getpid() != here and position == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(self, position, options)

    monkeypatch.setattr(Batch, "rewrite", deadly)
    files = sources()
    assert plain(list(run(files, OPTIONS, (), Means(2)))) == plain(list(rewrite_sources(files, OPTIONS)))


def test_no_process_outlives_a_killed_run(tmp_path: Path) -> None:
    code = (
        "import os, time; from fortrans.project import run; from fortrans.batch import Batch;"
        "run.SMALL = 1; Batch.rewrite = lambda *_: (open('pids', 'a').write(f'{os.getpid()}\\n'),"
        " time.sleep(60));"
        "from fortrans.source import Source; from fortrans.options import Options;"
        "list(run.run([Source(n, 'program p\\nend\\n') for n in 'abc'], Options(), (), run.Means(2)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment)
    pids = tmp_path / "pids"
    deadline = time.monotonic() + 30
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.05)
    child.kill()
    child.wait()
    while any(Path(f"/proc/{pid}").exists() and not _zombie(pid) for pid in pids.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _zombie(pid: str) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
