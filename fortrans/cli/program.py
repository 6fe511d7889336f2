"""The commands as one program: one form for all errors that are no file's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from fortrans.project import files
from fortrans.report import streams, text


class Program(click.Group):
    """The commands, with one form for all errors that are no file's."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _guarded():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _guarded():
            return super().invoke(ctx)


@contextmanager
def _guarded() -> Iterator[None]:
    """One line for wrong usage and for output that cannot be written; leaves with status 2."""
    try:
        yield
    except click.UsageError as problem:
        if isinstance(problem, getattr(click.exceptions, "NoArgsIsHelpError", ())):
            raise
        complain(problem.format_message().rstrip("."))
        if problem.ctx is not None:
            click.echo(f"Try '{problem.ctx.command_path} --help' for help.", err=True)
        sys.exit(2)
    except OSError as problem:
        # Errors of files have a name; without one it is a stream that could not be written.
        if problem.filename is not None:
            raise
        closed = isinstance(problem, BrokenPipeError)
        if not closed:
            with suppress(OSError):
                complain(files.reason("write output", problem))
        streams.discard()
        sys.exit(streams.BROKEN_PIPE if closed else 2)


def complain(message: str) -> None:
    """Print an error that is no file's."""
    click.echo(text.complaint(message, streams.coloured(sys.stderr)), err=True)
