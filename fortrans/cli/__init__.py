"""The command line.  The only room that knows click."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fortrans import __version__
from fortrans.cli.bench import bench
from fortrans.cli.call import NORMAL, Call
from fortrans.cli.check import check, print_diff
from fortrans.cli.configured import Configured
from fortrans.cli.kept import cache, config
from fortrans.cli.launch import cmake_dir, launch
from fortrans.cli.loops import export
from fortrans.cli.options import PATH, over_files, rewriting
from fortrans.cli.program import Program, complain
from fortrans.cli.report import report
from fortrans.cli.verify import verify
from fortrans.options import Options
from fortrans.project import depfile as dependencies
from fortrans.project import files
from fortrans.remarks import InputError
from fortrans.report import streams


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="fortrans", message="%(prog)s %(version)s")
def main() -> None:
    """Rewrite Fortran array expressions into composed DO CONCURRENT loop nests.

    Free-form Fortran in, free-form Fortran out: every byte outside the rewritten statements stays
    as it was, and what is not rewritten is named with the reason.

    \b
    Examples:
      fortrans rewrite solver.f90 -o solver_fast.f90
      fortrans rewrite src -o build/src
      fortrans rewrite --diff solver.f90
      fortrans check src
      fortrans explain FT301
      fortrans explain CSHIFT
      fortrans intrinsics
      fortrans export --openscop solver.f90 -o scops
      fortrans verify solver.f90
      fortrans report src -o report.html
    """


main.add_command(config)
main.add_command(cache)
main.add_command(check)
main.add_command(launch)
main.add_command(cmake_dir)
main.add_command(export)
main.add_command(verify)
main.add_command(bench)
main.add_command(report)


@main.command(cls=Configured, short_help="Rewrite files.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("-o", "--output", metavar="FILE|DIR", help="Write here; a directory mirrors the inputs' tree.")
@click.option("--in-place", is_flag=True, help="Overwrite the inputs.")
@click.option("--diff", is_flag=True, help="Write nothing, print a unified diff.")
@click.option("--depfile", type=PATH, metavar="FILE",
              help="Write there what the outputs depend on, for make and ninja; outputs get the time of now.")
@rewriting
@over_files
def rewrite(
    paths: tuple[Path, ...],
    output: str | None,
    in_place: bool,
    diff: bool,
    depfile: Path | None,
    **flags: Any,
) -> None:
    """Rewrite array statements into loop nests.

    The text of a single FILE goes to standard output unless -o, --in-place or --diff says
    otherwise. Directories are searched for *.f90, *.f95, *.f03 and *.f08 (also in upper case).
    Modules are looked up among all files given, and in those of -I.

    Remarks go to standard error. Exit status: 0, or 2 when a file could not be read, understood
    or written; the other files are done all the same.

    \b
    Examples:
      fortrans rewrite solver.f90 > solver_fast.f90
      fortrans rewrite src -o build/src
      fortrans rewrite --diff src/solver.f90 -I src
      fortrans rewrite --in-place --no-comments src
    """
    call = Call.of(flags)
    target = _target(paths, output, in_place, diff)
    if depfile is not None and target is None:
        raise click.UsageError("Option --depfile needs -o, which names the outputs")
    rules: dict[str, list[str]] = {}
    inputs = call.inputs(paths, target.inside(paths) if target is not None else None)
    outputs = call.outputs(inputs, target)
    for file, result in call.results(inputs):
        try:
            data = file.encode(result.output.text)
            if diff:
                print_diff(file, result.output.text)
            elif in_place or target is not None:
                place = outputs[file.source.path]
                if not files.write(place, data) and depfile is not None:
                    files.touch(place)
                rules[str(place)] = [file.source.path, *result.needs]
            else:
                streams.write(data)
        except InputError as problem:
            call.fail(problem)
            continue
        call.report(result)
    if depfile is not None:
        call.write(depfile, dependencies.text(rules).encode("utf-8", "surrogateescape"))
    call.finish(would=diff)


@main.command(short_help="Print what stands after a stage.")
@click.argument("stage")
@click.argument("path", type=PATH, metavar="FILE")
@click.option("-I", "--context", "context", type=PATH, multiple=True, metavar="FILE|DIR",
              help="Read these files too, for USE only. May be repeated.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show the plans of what is legal but does not pay.")
def show(stage: str, path: Path, context: tuple[Path, ...], everything: bool) -> None:
    """Print what is known of FILE after a STAGE of the work: how one debugs fortrans.

    STAGE is one of lines, units, symbols, arrays, elements, nests.

    \b
    Examples:
      fortrans show symbols solver.f90
      fortrans show elements solver.f90 -I src
    """
    from fortrans import pipeline

    if stage not in pipeline.STAGES:
        raise click.UsageError(f"'{stage}' is not a stage, the stages are {', '.join(pipeline.STAGES)}")
    if files.is_directory(path):
        raise click.UsageError(f"'{path}' is a directory, and one file is shown at a time")
    call = Call(Options(all=everything), NORMAL, context)
    for file in call.inputs([path], None):
        call.warn_of_context()
        try:
            shown = pipeline.show(stage, file.source, call.options, [other.source for other in call.context])
        except InputError as problem:
            call.fail(problem)
        else:
            streams.write(f"{shown}\n".encode(file.encoding, "replace"))
    if call.tally.errors:
        sys.exit(2)


@main.command(short_help="Explain a remark code or an intrinsic.")
@click.argument("word", required=False, metavar="[CODE|INTRINSIC]")
def explain(word: str | None) -> None:
    """Explain a remark code or an intrinsic procedure; without a word, list all codes.

    \b
    Examples:
      fortrans explain FT301
      fortrans explain scalar-reduction
      fortrans explain CSHIFT
      fortrans explain
    """
    from fortrans.report import explain as book

    if word is None:
        click.echo(book.listing())
        return
    try:
        click.echo(book.explain(word))
    except LookupError as problem:
        complain(problem.args[0])
        sys.exit(2)


@main.command(short_help="List the intrinsics and what is done with each.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text",
              show_default=True, help="How the table is printed.")  # fmt: skip
def intrinsics(form: str) -> None:
    """List the transformational intrinsics: composed, materialised or answered from the shape.

    Composed: an element of the result has a formula, which is put into the expression around it.
    Materialised: the shape is known, the result is computed as a whole, by the compiler's library.
    Answered: the shape of the argument tells, and no element of it is evaluated.

    \b
    Examples:
      fortrans intrinsics
      fortrans intrinsics --format markdown
    """
    from fortrans.report import table

    click.echo(table.PRINTERS[form](table.rows()))


def _target(
    paths: Sequence[Path], output: str | None, in_place: bool, diff: bool
) -> files.Destination | None:
    """What -o means here, None without it.  Raises click.UsageError when the options do not fit."""
    if sum((output is not None, in_place, diff)) > 1:
        raise click.UsageError("Give one of -o, --in-place and --diff")
    if output is None:
        if not (in_place or diff):
            _check_single(paths)
        return None
    target = files.destination(output, paths)
    if (wrong := target.unfit()) is not None:
        raise click.UsageError(wrong)
    return target


def _check_single(paths: Sequence[Path]) -> None:
    """Raise click.UsageError when the texts of ``paths`` cannot go to standard output."""
    if len(paths) > 1:
        raise click.UsageError("Several files need one of -o DIR, --in-place and --diff")
    # That an empty directory is empty is said as of any other input that cannot be read.
    if files.is_directory(paths[0]) and any(isinstance(found, files.Entry) for found in files.find(paths)):
        raise click.UsageError(f"Directory '{paths[0]}' needs one of -o DIR, --in-place and --diff")
