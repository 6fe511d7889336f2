"""The example program: builds without a warning, and prints the same when rewritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fortrans.options import Options
from fortrans.source import Source
from fortrans.verify import bench
from fortrans.verify.build import OPTIMISED, build
from fortrans.verify.compare import compare

FIRST = bench.EXAMPLES / "first.f90"


def test_example_compiles_without_a_warning(tmp_path: Path) -> None:
    assert build(bench.program(bench.EXAMPLES), OPTIMISED, tmp_path / "program").messages == ""
    source = Source(FIRST.name, FIRST.read_text())
    assert build([source], OPTIMISED, tmp_path / "first").messages == ""


@pytest.mark.parametrize("options", [Options(), Options(all=True)], ids=["default", "all"])
def test_rewritten_example_prints_the_same(options: Options) -> None:
    sources = bench.program(bench.EXAMPLES)
    outputs = bench.rewritten(sources, options)
    assert [one.text for one in outputs] != [one.text for one in sources]
    for flags in (OPTIMISED, ("-std=f2008", "-O1", "-fcheck=all")):
        result = compare(sources, outputs, flags, arguments=("1",))
        assert result.difference is None
        assert result.original.exit == 0


def test_every_file_is_in_the_order() -> None:
    listed = {source.path for source in bench.program(bench.EXAMPLES)} | {FIRST.name}
    assert listed == {path.name for path in bench.EXAMPLES.glob("*.f90")}


PROGRAM = Source(
    "p.f90",
    "program p\n  use, intrinsic :: iso_fortran_env\n  print *, 1\n"
    "  write (error_unit, '(a, f8.4)') 'a kernel', 0.25\nend program p\n",
)


def test_table_of_times() -> None:
    faster = replace(PROGRAM, text=PROGRAM.text.replace("0.25", "0.1"))
    rows, same = bench.measure([PROGRAM], [faster], rounds=2)
    assert rows == [bench.Row("a kernel", 0.25, 0.1)] and same
    assert "a kernel    250.00 ms    100.00 ms    2.50" in bench.table(rows)
    other = replace(PROGRAM, text=PROGRAM.text.replace("*, 1", "*, 2"))
    assert bench.measure([PROGRAM], [other], rounds=1)[1] is False


def test_times_and_best() -> None:
    assert bench.times("shallow water   0.5\nNote: noise\n x 1.0\n") == {"shallow water": 0.5, "x": 1.0}
    assert bench.best([{"a": 2.0}, {"a": 1.0}]) == {"a": 1.0}
