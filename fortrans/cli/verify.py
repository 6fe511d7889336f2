"""The check that a user can make: both programs built, run and compared."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fortrans.cli.call import Call
from fortrans.cli.configured import Configured
from fortrans.cli.options import PATH, rewriting
from fortrans.cli.program import complain
from fortrans.remarks import InputError
from fortrans.report import streams, text
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
@click.option("--fc", default="gfortran", show_default=True, metavar="NAMES",
              help="Compilers, with commas between.")
@click.option("--flags", "compiler_flags", default="", metavar='"FLAGS"', help="Flags for the compilers.")
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.0, metavar="X",
              help="Numbers printed may differ by this much, relative to the larger. Default: bit for bit.")
@click.option("--run-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, metavar="SECONDS",
              show_default=True, help="Stop a program that runs longer.")
@click.option("--exclude", multiple=True, metavar="PATTERN",
              help="Leave out files and directories of such a name. May be repeated.")
@rewriting
def verify(
    paths: tuple[Path, ...],
    main: str | None,
    procedures: bool,
    seed: int,
    fc: str,
    compiler_flags: str,
    tolerance: float,
    run_timeout: float,
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
    from fortrans.verify.build import CompilerMissing, compiler_path

    if procedures and main is not None:
        raise click.UsageError("Give one of --main and --procedures")
    call = Call.of({**flags, "verbose": False, "quiet": True, "jobs": 1})
    inputs = call.inputs(paths, None)
    if call.tally.errors:
        sys.exit(2)
    encoded = {file.source.path: file for file in inputs}
    verifier = user.Verifier(
        call.options, tuple(file.source for file in call.context), run_timeout, tolerance, seed
    )
    worst = 0
    compared = 0
    try:
        compilers = [name.strip() for name in fc.split(",") if name.strip()]
        for compiler in compilers:
            compiler_path(compiler)
        files = user.ordered([file.source for file in inputs])
        if main is None and not procedures and not files.mains:
            message = "No main program is among the files: give one, --main CMD, or --procedures"
            raise InputError(str(paths[0]), message)
        for setting in user.settings(compilers, shlex.split(compiler_flags)):
            if procedures:
                for report in calls.procedures(verifier, files, setting):
                    click.echo(told_of_procedure(report))
                    worst = max(worst, report.difference is not None)
                    compared += report.usable
                continue
            if main is None:
                trials = verifier.programs(files, setting)
            else:
                encode = lambda path, text: encoded[path].encode(text)  # noqa: E731
                trials = iter([verifier.command(files, setting, main, Path.cwd(), encode)])
            for trial in trials:
                click.echo(told(trial))
                worst = max(worst, trial.difference is not None)
                compared += trial.unusable is None
    except InputError as problem:
        click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
        sys.exit(2)
    except CompilerMissing as problem:
        complain(str(problem))
        sys.exit(2)
    sys.exit(worst or (0 if compared else 2))


def told(trial: Trial) -> str:
    """What came of a trial, in lines."""
    head = f"{trial.program}: {trial.setting}: "
    if trial.unusable is not None:
        return f"{head}not compared\n{_indented(trial.unusable)}"
    lines = [head + ("same output" if trial.difference is None else "DIFFERENT")]
    if trial.difference is not None:
        lines.append(_indented(trial.difference))
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
    return f"{head}DIFFERENT{inputs}\n{_indented(report.difference)}{blame}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size else "unknown"


def _indented(message: str) -> str:
    return "\n".join(f"  {line}" for line in message.splitlines()[:40])
