"""What rewriting brings: a user's programs timed both ways."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fortrans.cli.configured import Configured
from fortrans.cli.options import PATH, rewriting
from fortrans.cli.programs import building, indented, prepared

if TYPE_CHECKING:
    from fortrans.verify.side_by_side import Side, Timing


@click.command(cls=Configured, short_help="Time original and rewritten programs.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("--flags", "compiler_flags", default="-O2", show_default=True, metavar='"FLAGS"',
              help="Flags for the compilers.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="How often both programs run, in turn.")
@click.option("--format", "form_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How the result is printed.")
@building
@rewriting
def bench(
    paths: tuple[Path, ...],
    fc: str,
    compiler_flags: str,
    rounds: int,
    form_: str,
    **flags: Any,
) -> None:
    """Build the programs among FILES as they are and rewritten, and time both in turn.

    Printed are the median ratio of times and its spread, times, peak memory, heap allocations, the
    array temporaries that gfortran warns of and the library routines called. Outputs are compared:
    a ratio of programs that differ says nothing.

    Exit status: 0, 1 when a rewritten program prints other things, 2 when a file could not be read,
    a program not be built or run, or a compiler is missing.

    \b
    Examples:
      fortrans bench solver.f90 model.f90
      fortrans bench --fc gfortran,flang-new-19 --flags "-O3 -march=native" src
    """
    from fortrans.verify.side_by_side import timings
    from fortrans.verify.user import Setting

    found: list[Timing] = []
    with prepared(paths, fc, compiler_flags, 1, flags) as work:
        for compiler in work.compilers:
            for timing in timings(work.verifier, work.files, Setting(compiler, work.flags), rounds):
                found.append(timing)
                if form_ == "text":
                    click.echo(told(timing))
    if form_ == "json":
        click.echo(json.dumps([_plain(timing) for timing in found], indent=1))
    wrong = any(timing.difference is not None for timing in found)
    sys.exit(1 if wrong else 2 if any(timing.problem is not None for timing in found) else 0)


def told(timing: Timing) -> str:
    """A program under a setting, in lines."""
    head = f"{timing.program}: {timing.setting}: "
    if timing.problem is not None:
        return f"{head}no ratio\n{indented(timing.problem)}"
    if timing.difference is not None:
        return f"{head}outputs differ, no ratio\n{indented(timing.difference)}"
    before, after = timing.original, timing.rewritten
    assert before is not None and after is not None
    spread = f"{min(timing.ratios):.2f} to {max(timing.ratios):.2f}"
    rows = [
        f"{head}{timing.ratio:.2f} times as fast ({spread} in {len(timing.ratios)} rounds)",
        f"  time         {min(before.seconds):.3f} s / {min(after.seconds):.3f} s (least)",
        f"  peak memory  {before.peak / 1e6:.1f} MB / {after.peak / 1e6:.1f} MB",
        f"  allocations  {_allocations(before)} / {_allocations(after)}",
        f"  temporaries  {before.temporaries} / {after.temporaries} (compiler's warnings)",
        f"  library      {before.routines} / {after.routines} routines",
    ]
    return "\n".join(rows)


def _allocations(side: Side) -> str:
    if side.allocations is None:
        return "not counted"
    return f"{side.allocations.calls} of {side.allocations.bytes / 1e6:.1f} MB"


def _plain(timing: Timing) -> dict[str, Any]:
    return {**asdict(timing), "ratio": timing.ratio if timing.ratios else None, "ratios": timing.ratios}
