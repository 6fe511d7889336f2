"""What rewriting brings: a user's programs timed both ways."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fortrans.cli.call import Call
from fortrans.cli.configured import Configured
from fortrans.cli.options import PATH, rewriting
from fortrans.cli.program import complain
from fortrans.remarks import InputError
from fortrans.report import streams, text

if TYPE_CHECKING:
    from fortrans.verify.side_by_side import Side, Timing


@click.command(cls=Configured, short_help="Time original and rewritten programs.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("--fc", default="gfortran", show_default=True, metavar="NAMES",
              help="Compilers, with commas between.")
@click.option("--flags", "compiler_flags", default="-O2", show_default=True, metavar='"FLAGS"',
              help="Flags for the compilers.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="How often both programs run, in turn.")
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.0, metavar="X",
              help="Numbers printed may differ by this much, relative to the larger. Default: bit for bit.")
@click.option("--run-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, metavar="SECONDS",
              show_default=True, help="Stop a program that runs longer.")
@click.option("--format", "form_", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How the result is printed.")
@click.option("--exclude", multiple=True, metavar="PATTERN",
              help="Leave out files and directories of such a name. May be repeated.")
@rewriting
def bench(
    paths: tuple[Path, ...],
    fc: str,
    compiler_flags: str,
    rounds: int,
    tolerance: float,
    run_timeout: float,
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
    from fortrans.verify import user
    from fortrans.verify.build import CompilerMissing, compiler_path
    from fortrans.verify.side_by_side import timings

    call = Call.of({**flags, "verbose": False, "quiet": True, "jobs": 1})
    inputs = call.inputs(paths, None)
    if call.tally.errors:
        sys.exit(2)
    context = tuple(file.source for file in call.context)
    verifier = user.Verifier(call.options, context, run_timeout, tolerance)
    found: list[Timing] = []
    try:
        compilers = [name.strip() for name in fc.split(",") if name.strip()]
        for compiler in compilers:
            compiler_path(compiler)
        files = user.ordered([file.source for file in inputs])
        for compiler in compilers:
            setting = user.Setting(compiler, tuple(shlex.split(compiler_flags)))
            for timing in timings(verifier, files, setting, rounds):
                found.append(timing)
                if form_ == "text":
                    click.echo(told(timing))
    except InputError as problem:
        click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
        sys.exit(2)
    except CompilerMissing as problem:
        complain(str(problem))
        sys.exit(2)
    if form_ == "json":
        click.echo(json.dumps([_plain(timing) for timing in found], indent=1))
    wrong = any(timing.difference is not None for timing in found)
    sys.exit(1 if wrong else 2 if any(timing.problem is not None for timing in found) else 0)


def told(timing: Timing) -> str:
    """A program under a setting, in lines."""
    head = f"{timing.program}: {timing.setting}: "
    if timing.problem is not None or timing.difference is not None:
        lines = (timing.problem or "").splitlines()
        return head + ("\n".join(lines[:40]) or f"outputs differ, no ratio\n{timing.difference}")
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
