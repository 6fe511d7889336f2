"""The command that exports loop nests, and the check of the user's own loops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from fortrans.cli.call import NORMAL, Call
from fortrans.options import Options
from fortrans.project import files
from fortrans.remarks import InputError, Remark
from fortrans.report import streams, text

if TYPE_CHECKING:
    from fortrans.loops.export import Export

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path, readable=False)


@click.command(short_help="Write loop nests for polyhedral tools.")
@click.option("--openscop", "path", type=_PATH, required=True, metavar="FILE",
              help="Export the nests of FILE in the OpenScop format.")
@click.option("--unit", metavar="NAME", help="Only the nests of this program unit ('main' without a name).")
@click.option("--locals", "locals_", type=click.Choice(["existential", "promote"]), default="existential",
              show_default=True, help="What becomes of integer quotients: local dimensions of each relation,"
              " or parameters and iterators, for tools that know no local dimensions.")
@click.option("--c-order/--fortran-order", default=True, show_default=True,
              help="Subscripts last to first, as tools for row-major arrays expect them, or as written.")
@click.option("-o", "--output", metavar="DIR", help="Write a file for each nest here; '-', as without -o,"
              " prints the only one.")
@click.option("-I", "--context", "context", type=_PATH, multiple=True, metavar="FILE|DIR",
              help="Read these files too, for USE only. May be repeated.")
@click.option("--all", "everything", is_flag=True,
              help="Also the nests of array statements whose rewriting is legal but does not pay.")
@click.option("--assume-intrinsics", is_flag=True,
              help="Promise that modules not seen bring no name of an intrinsic procedure.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")  # fmt: skip
def export(
    path: Path,
    unit: str | None,
    locals_: str,
    c_order: bool,
    output: str | None,
    context: tuple[Path, ...],
    everything: bool,
    assume_intrinsics: bool,
    quiet: bool,
) -> None:
    """Write the loop nests of a file for polyhedral tools.

    A nest is a loop that you wrote, DO or DO CONCURRENT with all that is in it, or one that
    `fortrans rewrite` would emit. Each becomes a file STEM.UNIT.LINE.scop (emitted ones:
    STEM.UNIT.LINE.emitted.scop, with a number where one statement makes several). What cannot be
    exported is named with the reason, and the loops in it are tried by themselves.

    Remarks go to standard error. Exit status: 0, or 2 when the file could not be read, or its
    nests not written: none or several of them to standard output, for example.

    \b
    Examples:
      fortrans export --openscop solver.f90 -o scops
      fortrans export --openscop solver.f90 --unit step | cloog -openscop /dev/stdin
      fortrans export --openscop solver.f90 --locals promote -o scops
    """
    from fortrans.loops.export import Layout
    from fortrans.loops.export import export as exported

    options = Options(all=everything, assume_intrinsics=assume_intrinsics)
    call = Call(options, frozenset() if quiet else NORMAL, context)
    if files.is_directory(path):
        raise click.UsageError(f"'{path}' is a directory, and one file is exported at a time")
    for file in call.inputs([path], None):
        call.warn_of_context()
        try:
            sources = [other.source for other in call.context]
            layout = Layout(promote=locals_ == "promote", c_order=c_order)
            found = exported(file.source, options, sources, layout, unit)
            say(call, found.remarks)
            _write(path, found.files, output)
        except InputError as problem:
            call.fail(problem)
    if call.tally.errors:
        sys.exit(2)


def looking_at_loops(command: _Command) -> _Command:
    """The options of `check` that have it look at the user's own loops instead."""
    for option in (
        click.option("--candidates", is_flag=True,
                     help="With --do-concurrent: tell of each DO loop whether it could be DO CONCURRENT,"
                     " too."),
        click.option("--omp-loops", is_flag=True,
                     help="With --do-concurrent: check loops of !$omp parallel do, too."),
        click.option("--do-concurrent", is_flag=True,
                     help="Instead, tell of each DO CONCURRENT that you wrote whether it is legal."),
    ):  # fmt: skip
        command = option(command)
    return command


def check_loops(paths: Sequence[Path], call: Call, omp_loops: bool, candidates: bool) -> NoReturn:
    """Tell of each loop whether its iterations may run in any order; leaves with the status."""
    from fortrans.loops.check import Wanted, check

    conflict = False
    inputs = call.inputs(paths, None)
    call.warn_of_context()
    for file in inputs:
        # Modules of the other files are seen as well as those of the context.
        others = [other.source for other in (*inputs, *call.context) if other is not file]
        try:
            found = check(file.source, call.options, others, Wanted(omp_loops, candidates))
        except InputError as problem:
            call.fail(problem)
            continue
        conflict |= found.conflict
        say(call, found.remarks)
    sys.exit(2 if call.tally.errors else 1 if conflict else 0)


def say(call: Call, remarks: Sequence[Remark]) -> None:
    """Print remarks, as far as they are wanted."""
    colour = streams.coloured(sys.stderr)
    for item in remarks:
        if item.kind in call.kinds:
            click.echo(text.remark(item, colour), err=True, color=colour)


def _write(path: Path, exports: Sequence[Export], output: str | None) -> None:
    """Write each nest to the directory ``output``, or the only one to standard output."""
    if not exports:
        raise InputError(str(path), "File has no loop nest that can be exported")
    if output is not None and output != "-":
        folder = Path(output)
        if files.exists(folder) and not files.is_directory(folder):
            raise InputError(output, "Output is not a directory, and each nest has a file of its own")
        for export_ in exports:
            files.write(folder / export_.name, export_.text.encode())
        return
    if len(exports) > 1:
        raise InputError(str(path), f"File has {len(exports)} loop nests, which need -o DIR or --unit")
    streams.write(exports[0].text.encode())
