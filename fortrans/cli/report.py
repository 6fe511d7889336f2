"""The report of a whole run, for people and for programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from fortrans import __version__
from fortrans.cli.call import Call
from fortrans.cli.configured import Configured
from fortrans.cli.options import PATH, over_files, rewriting
from fortrans.report import overview, streams


@click.command(cls=Configured, short_help="Show all that would be done, and why.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write here, not to standard output.")
@click.option("--format", "form_", type=click.Choice(["html", "json"]), default="html", show_default=True,
              help="One page that needs nothing else, or JSON whose schema is part of the package.")
@rewriting
@over_files
def report(paths: tuple[Path, ...], output: Path | None, form_: str, **flags: Any) -> None:
    """Show what `fortrans rewrite` makes of files: each statement before and after, or why it is left.

    Nothing is rewritten. The page can be searched and printed; each reason comes with what one can
    do about it.

    Exit status: 0, or 2 when a file could not be read or understood, or the report not written.

    \b
    Examples:
      fortrans report src -o report.html
      fortrans report --format json src > report.json
    """
    call = Call.of(flags)
    call.options = replace(call.options, comments=False)
    call.cached = call.printing = False
    files = []
    for file, result in call.results(call.inputs(paths, None)):
        files.append(overview.of_file(file.source, result.remarks, result.edits))
        call.report(result)
    files = sorted([*files, *map(overview.of_error, call.failures)], key=lambda file: file.path)
    make = overview.as_html if form_ == "html" else overview.as_json
    data = make(files, __version__).encode("utf-8", "replace")
    if output is None:
        streams.write(data)
    else:
        call.write(output, data)
    call.finish(would=True)
