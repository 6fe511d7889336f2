"""The check that a user can make: both programs built, run and compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fortrans.cli.configured import Configured
from fortrans.cli.options import PATH, rewriting
from fortrans.cli.programs import building, indented, prepared
from fortrans.remarks import InputError
from fortrans.report import text
from fortrans.verify.numbers import farthest

if TYPE_CHECKING:
    from fortrans.verify.calls import Report
    from fortrans.verify.user import Trial


@click.command(cls=Configured, short_help="Compare original and rewritten programs.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("--main", metavar="CMD",
              help="Run this shell command in copies of the working directory, instead of building"
              " the programs of the files. It finds the compiler in FC, its flags in FFLAGS.")
@click.option("--procedures", is_flag=True,
              help="Call each module and external procedure of the files with random arguments, instead"
              " of running programs: several extents, zero among them; contiguous, strided and"
              " backward sections; optional arguments present and absent.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="N",
              help="Where the random arguments of --procedures start.")
@click.option("--flags", "compiler_flags", default="", metavar='"FLAGS"', help="Flags for the compilers.")
@building
@rewriting
def verify(
    paths: tuple[Path, ...],
    main: str | None,
    procedures: bool,
    seed: int,
    fc: str,
    compiler_flags: str,
    **flags: Any,
) -> None:
    """Build the programs among FILES as they are and rewritten, run both, compare what they print.

    Each compiler builds with its run-time checks and with optimisation. Time and peak memory of
    both programs are printed side by side. Of a difference the statements to blame are searched
    for, by rewriting ever fewer. For files without a main program --procedures calls what is in
    them, where all arguments are of intrinsic types. Nothing is written outside a temporary directory.

    Exit status: 0 when all programs that ran agree, 1 when one differs, 2 when a file could not be
    read, no program could be compared, or a compiler is missing.

    \b
    Examples:
      fortrans verify solver.f90 model.f90
      fortrans verify --fc gfortran,flang-new-19 --flags "-O3 -march=native" src
      fortrans verify --procedures library.f90
      fortrans verify --main "make && ./run_tests" src
    """
    from fortrans.verify import calls, user

    if procedures and main is not None:
        raise click.UsageError("Give one of --main and --procedures")
    worst = compared = 0
    with prepared(paths, fc, compiler_flags, seed, flags) as work:
        if main is None and not procedures and not work.files.mains:
            message = "No main program is among the files: give one, --main CMD, or --procedures"
            raise InputError(str(paths[0]), message)
        encoders = {file.source.path: file.encode for file in work.inputs}
        for setting in user.settings(work.compilers, work.flags):
            if procedures:
                for report in calls.procedures(work.verifier, work.files, setting):
                    click.echo(told_of_procedure(report))
                    worst = max(worst, report.difference is not None)
                    compared += report.usable
                continue
            if main is None:
                trials = work.verifier.programs(work.files, setting)
            else:
                trials = iter([work.verifier.command(work.files, setting, main, Path.cwd(), encoders)])
            for trial in trials:
                click.echo(told(trial))
                worst = max(worst, trial.difference is not None)
                compared += trial.unusable is None
    sys.exit(worst or (0 if compared else 2))


def told(trial: Trial) -> str:
    """What came of a trial, in lines."""
    head = f"{trial.program}: {trial.setting}: "
    if trial.unusable is not None:
        return f"{head}not compared\n{indented(trial.unusable)}"
    lines = [head + ("same output" if trial.difference is None else "DIFFERENT")]
    if trial.difference is not None:
        lines.append(indented(trial.difference))
        if trial.original is not None and trial.rewritten is not None:
            far = farthest(trial.original.run, trial.rewritten.run)
            if far is not None:
                lines.append(f"  numbers differ by up to {far:.2g}, relative to the larger")
        lines += [f"  to blame: {text.remark(remark)}" for remark in trial.blame]
    if trial.original is not None and trial.rewritten is not None:
        before, after = trial.original, trial.rewritten
        ratio = before.seconds / after.seconds if after.seconds else 1.0
        lines.append(
            f"  time {before.seconds:.3f} s / {after.seconds:.3f} s ({ratio:.2f}),"
            f" peak memory {_megabytes(before.peak)} / {_megabytes(after.peak)}"
        )
    return "\n".join(lines)


def told_of_procedure(report: Report) -> str:
    """What came of a procedure, in lines."""
    callee = report.callee
    head = f"{callee.path}:{callee.line}: procedure '{callee.name}': {report.setting}: "
    if report.refused:
        return f"{head}not called, {report.refused}"
    if report.difference is None:
        rest = report.tried - report.usable
        unusable = f", the original stops in {rest} more" if rest else ""
        return f"{head}same results in {report.same} {'call' if report.same == 1 else 'calls'}{unusable}"
    blame = "".join(f"\n  to blame: {text.remark(remark)}" for remark in report.blame)
    inputs = f" for {report.inputs}" if report.inputs else ""
    return f"{head}DIFFERENT{inputs}\n{indented(report.difference)}{blame}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size else "unknown"
