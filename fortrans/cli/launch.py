"""The compiler launcher."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fortrans.cli.configured import Configured
from fortrans.cli.options import options_of, rewriting
from fortrans.cli.program import complain
from fortrans.remarks import InputError, Remark
from fortrans.report import streams, text


@click.command(
    cls=Configured,
    short_help="Compile, rewriting on the way.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMPILER [ARG]...")
@rewriting
@click.option("--strict", is_flag=True, help="Fail where the original would be compiled instead.")
@click.option("-v", "--verbose", is_flag=True, help="Print the remarks.")
@click.option("-q", "--quiet", is_flag=True, help="Print no warnings.")
def launch(command: tuple[str, ...], **flags: Any) -> None:
    """Run COMPILER on the rewritten forms of the free-form Fortran files among its arguments.

    Other sources, link steps and questions go to the compiler as they are. Messages and debuggers
    name the original's lines. A file that does not compile when rewritten is compiled as it was,
    with a warning; --strict makes that an error.

    Modules are looked for beside the file, in the -I and -J folders of the command, and in those
    of -I before the --. Remarks are printed with -v only.

    Exit status: the compiler's; 2 when it cannot be run, or with --strict when a file cannot be
    read.

    \b
    Examples:
      fortrans launch -- gfortran -O2 -c solver.f90 -o solver.o
      fortrans launch -I modules -- gfortran -O2 -c solver.f90
      cmake -DCMAKE_Fortran_COMPILER_LAUNCHER="fortrans;launch;--" ..
    """
    from fortrans.project import launch as work
    from fortrans.project.cache import Cache, folder

    def report(remarks: Sequence[Remark]) -> None:
        if flags["verbose"]:
            for item in remarks:
                click.echo(text.remark(item, streams.coloured(sys.stderr)), err=True)

    def warn(message: str) -> None:
        if not flags["quiet"]:
            label = text.paint("warning:", 33, streams.coloured(sys.stderr))
            click.echo(f"fortrans: {label} {message}", err=True)

    how = work.Launch(
        options_of(flags),
        tuple(Path(path) for path in flags["context"]),
        Cache.open(folder()) if flags["cache"] else None,
        flags["strict"],
        report,
        warn,
    )
    try:
        status = work.launch(command, how)
    except work.CannotRun as problem:
        complain(str(problem))
        status = 2
    except InputError as problem:
        click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
        status = 2
    sys.exit(status if status >= 0 else 128 - status)


@click.command("cmake-dir", short_help="Print where the CMake module is.")
def cmake_dir() -> None:
    """Print the folder of Fortrans.cmake, which defines fortrans_rewrite(TARGET ...).

    \b
    Examples:
      cmake -DCMAKE_MODULE_PATH=$(fortrans cmake-dir) ..
    """
    click.echo(Path(__file__).parents[1] / "cmake")
