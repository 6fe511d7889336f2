"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from fortrans.cli.repacking import REPACKING, repacking_of
from fortrans.options import STACK_LIMIT, Options

_Command = TypeVar("_Command", bound=Callable[..., Any])

# Whether a file can be read is found out when it is read: it costs its own line, not the run.
PATH = click.Path(path_type=Path, readable=False)

_REWRITING = (
    click.option("-I", "--context", "context", type=PATH, multiple=True, metavar="FILE|DIR",
                 help="Read these files too, for USE only. May be repeated."),
    click.option("--all", "everything", is_flag=True,
                 help="Rewrite whatever is legal, also where it is not known to pay."),
    click.option("--comments/--no-comments", default=True, show_default=True,
                 help="Keep each original statement above its rewrite as a comment."),
    click.option("--line-length", type=click.IntRange(min=40), default=132, show_default=True,
                 help="Longest line to emit."),
    click.option("--assume-intrinsics", is_flag=True,
                 help="Promise that modules not seen bring no name of an intrinsic procedure."),
    click.option("--target", type=click.Choice(["gfortran", "flang", "generic"]), default="gfortran",
                 show_default=True, help="The compiler whose measurements decide what pays."),
    click.option("--templates", type=click.Path(exists=True, file_okay=False),
                 help="A folder with templates of your own, looked in first."),
    click.option("--stack-limit", type=click.IntRange(min=0), default=STACK_LIMIT, metavar="BYTES",
                 show_default=True, help="Temporaries of constant shape are on the stack up to this size,"
                 " all those of a statement together; larger ones are allocated."),
    click.option("--stack-arrays", is_flag=True,
                 help="Put every temporary on the stack, as the compiler's -fstack-arrays does."),
    click.option("--realloc-lhs/--no-realloc-lhs", default=True, show_default=True,
                 help="Whether assignment (re)allocates its left side. Say no for a program compiled with"
                 " -fno-realloc-lhs: left sides are taken to be allocated, with the shape of the right"
                 " side."),
    click.option("--cache/--no-cache", default=True, show_default=True,
                 help="Keep results for the next run, and take those of earlier ones."),
    click.option("--config", type=PATH, metavar="FILE",
                 help="Take settings from this file, not from the nearest one above the inputs."),
    click.option("--isolated", is_flag=True, help="Take no settings from any file."),
)  # fmt: skip

_OVER_FILES = (
    click.option("--line-markers", is_flag=True,
                 help="Lead compilers' messages and debuggers to the lines of the original."),
    click.option("--exclude", multiple=True, metavar="PATTERN",
                 help="Leave out files and directories of such a name. May be repeated."),
    click.option("-j", "--jobs", type=click.IntRange(min=0), default=0, show_default="all processors",
                 help="Processes to work with."),
    click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
                 help="Leave a file as it was, with an error, when rewriting it takes longer."),
    click.option("-v", "--verbose", is_flag=True,
                 help="Print a line for each file, too: its size and the time it took."),
    click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
)  # fmt: skip


def rewriting(command: _Command) -> _Command:
    """The options that say how to rewrite: every command that rewrites has them."""
    for option in reversed((*_REWRITING, *REPACKING)):
        command = option(command)
    return command


def over_files(command: _Command) -> _Command:
    """The options of the commands that read many files."""
    for option in reversed(_OVER_FILES):
        command = option(command)
    return command


def options_of(flags: dict[str, Any]) -> Options:
    """How to rewrite, as the options say."""
    return Options(
        all=flags["everything"],
        comments=flags["comments"],
        line_length=flags["line_length"],
        assume_intrinsics=flags["assume_intrinsics"],
        target=flags["target"],
        templates=flags["templates"],
        stack_limit=flags["stack_limit"],
        stack_arrays=flags["stack_arrays"],
        realloc_lhs=flags["realloc_lhs"],
        line_markers=flags.get("line_markers", False),
        **repacking_of(flags),
    )
