"""What the commands share that build a user's programs: which compilers, how long, how alike."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fortrans.cli.call import Call
from fortrans.cli.program import complain
from fortrans.remarks import InputError
from fortrans.report import streams, text

if TYPE_CHECKING:
    from fortrans.project.files import File
    from fortrans.verify.user import Files, Verifier

_Command = TypeVar("_Command", bound=Callable[..., Any])

_BUILDING = (
    click.option("--fc", default="gfortran", show_default=True, metavar="NAMES",
                 help="Compilers, with commas between."),
    click.option("--tolerance", type=click.FloatRange(min=0), default=0.0, metavar="X",
                 help="Numbers printed may differ by this much, relative to the larger. Default: bit for"
                 " bit."),
    click.option("--run-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0,
                 metavar="SECONDS", show_default=True, help="Stop a program that runs longer."),
    click.option("--exclude", multiple=True, metavar="PATTERN",
                 help="Leave out files and directories of such a name. May be repeated."),
)  # fmt: skip


def building(command: _Command) -> _Command:
    """The options of the commands that build and run programs."""
    for option in reversed(_BUILDING):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Building:
    """What is to be built: the compilers, their flags, the files in an order that compiles."""

    compilers: tuple[str, ...]
    flags: tuple[str, ...]
    verifier: Verifier
    inputs: Sequence[File]
    files: Files


@contextmanager
def prepared(
    paths: tuple[Path, ...], fc: str, compiler_flags: str, seed: int, flags: dict[str, Any]
) -> Iterator[Building]:
    """The files read and the compilers found; leaves with status 2 where that, or the work, fails."""
    from fortrans.verify import user
    from fortrans.verify.build import CompilerMissing, compiler_path

    timeout, tolerance = flags.pop("run_timeout"), flags.pop("tolerance")
    call = Call.of({**flags, "verbose": False, "quiet": True, "jobs": 1})
    inputs = call.inputs(paths, None)
    if call.tally.errors:
        sys.exit(2)
    context = tuple(file.source for file in call.context)
    verifier = user.Verifier(call.options, context, timeout, tolerance, seed)
    compilers = tuple(name.strip() for name in fc.split(",") if name.strip())
    try:
        for compiler in compilers:
            compiler_path(compiler)
        files = user.ordered([file.source for file in inputs])
        yield Building(compilers, tuple(shlex.split(compiler_flags)), verifier, inputs, files)
    except InputError as problem:
        click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
        sys.exit(2)
    except CompilerMissing as problem:
        complain(str(problem))
        sys.exit(2)


def indented(message: str) -> str:
    """A compiler's or a program's message, its first lines: there may be thousands."""
    return "\n".join(f"  {line}" for line in message.splitlines()[:40])
