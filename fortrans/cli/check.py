"""The check for continuous integration."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from fortrans import __version__
from fortrans.cli.call import Call
from fortrans.cli.configured import Configured
from fortrans.cli.loops import check_loops, looking_at_loops
from fortrans.cli.options import PATH, over_files, rewriting
from fortrans.project import files
from fortrans.remarks import InputError
from fortrans.report import findings as form
from fortrans.report import streams, text
from fortrans.report.findings import Finding
from fortrans.source import Source

FORMATS = ("text", "json", "sarif", "github")


@click.command(cls=Configured, short_help="Tell whether anything would change.")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE|DIR...")
@click.option("--against", type=PATH, metavar="FILE|DIR",
              help="Compare with generated files that are kept there: what `rewrite -o` would write.")
@click.option("--format", "form_", type=click.Choice(FORMATS), default="text", show_default=True,
              help="A diff and remarks, one JSON object, a SARIF 2.1.0 log, or GitHub annotations.")
@click.option("--baseline", type=PATH, metavar="FILE",
              help="Findings listed there do not count: adopt the check first, its findings later.")
@click.option("--write-baseline", type=PATH, metavar="FILE", help="List the findings of now in this file.")
@looking_at_loops
@rewriting
@over_files
def check(
    paths: tuple[Path, ...],
    against: Path | None,
    form_: str,
    baseline: Path | None,
    write_baseline: Path | None,
    do_concurrent: bool,
    omp_loops: bool,
    candidates: bool,
    **flags: Any,
) -> None:
    """Tell whether `fortrans rewrite` would change anything; write nothing.

    With --against, tell whether the files there are what fortrans generates now: one that differs,
    is missing, or comes from no source any more is a finding.

    Exit status: 0 without findings, 1 with findings, 2 when a file could not be read or
    understood. These do not change. A finding of a baseline does not count as long as its
    statement stays as it is, wherever it moves; its paths are from its own folder.

    With --do-concurrent nothing is rewritten. Each loop gets a remark: legal, not legal with two
    references that conflict and an example of two iterations, or not decided. Exit status: 0,
    1 when a DO CONCURRENT (or OpenMP loop) is not legal, 2 when a file could not be read.

    \b
    Examples:
      fortrans check src
      fortrans check src --against generated
      fortrans check --format sarif src > fortrans.sarif
      fortrans check --write-baseline fortrans-baseline.json src
      fortrans check --baseline fortrans-baseline.json src
      fortrans check --do-concurrent src
    """
    call = Call.of(flags)
    if do_concurrent:
        if against or baseline or write_baseline or form_ != "text":
            raise click.UsageError(
                "--do-concurrent goes with none of --against, --format, --baseline and --write-baseline"
            )
        check_loops(paths, call, omp_loops, candidates)
    if omp_loops or candidates:
        raise click.UsageError("--omp-loops and --candidates need --do-concurrent")
    adopting = baseline is not None or write_baseline is not None
    call.printing = form_ == "text" and against is None and not adopting
    known = _baseline(baseline)
    target = None if against is None else files.destination(str(against), paths)
    inputs = call.inputs(paths, target.inside(paths) if target is not None else None)
    found: list[Finding] = [form.of_error(problem) for problem in call.failures]
    made: set[str] = set()
    for file, result in call.results(inputs):
        try:
            if target is not None:
                place = target.of(file.entry)
                made.add(files.real(place))
                mine = list(_compared(file, result.output.text, place, form_ == "text"))
            else:
                mine = list(form.of_remarks(file.source, result.remarks))
        except InputError as problem:
            call.fail(problem)
            continue
        found += mine
        if call.printing and mine:
            print_diff(file, result.output.text)
        call.report(result)
    if target is not None and target.directory and any(map(files.is_directory, paths)):
        found += _stale(target.path, made)
    found = [*(f for f in found if f.rule != form.ERROR), *map(form.of_error, call.failures)]
    if write_baseline is not None:
        call.write(write_baseline, form.baseline(_from(write_baseline, found)).encode())
        fresh = [finding for finding in found if finding.rule == form.ERROR]
    elif baseline is not None:
        placed = _from(baseline, found)
        new = set(map(id, form.new(placed, known)))
        fresh = [finding for finding, mine in zip(found, placed, strict=True) if id(mine) in new]
    else:
        fresh = found
    if form_ != "text":
        streams.write(_document(form_, fresh).encode("utf-8", "replace"))
    elif target is not None or (baseline is not None and call.kinds):
        _say(fresh)
    call.finish(would=True, summary=_summary(found, fresh, baseline, write_baseline, target is not None))
    sys.exit(1 if fresh else 0)


def _summary(
    found: Sequence[Finding],
    fresh: Sequence[Finding],
    baseline: Path | None,
    write_baseline: Path | None,
    against: bool,
) -> str | None:
    """The last line; None for the one about statements and files."""
    count = sum(finding.rule != form.ERROR for finding in found)
    if write_baseline is not None:
        return f"'{write_baseline}' lists {_findings(count)}"
    if baseline is not None:
        return f"{_findings(len(fresh))} beyond the {len(found) - len(fresh)} of '{baseline}'"
    if not against:
        return None
    if not found:
        return "Generated files are up to date"
    return f"{len(found)} generated {'file is' if len(found) == 1 else 'files are'} not up to date"


def _findings(count: int) -> str:
    return f"{count} {'finding' if count == 1 else 'findings'}"


def _from(baseline: Path, found: Sequence[Finding]) -> list[Finding]:
    """The findings with paths from the baseline's folder: the same from wherever the check is called."""
    top = files.real(baseline.parent)
    return [replace(finding, path=os.path.relpath(files.real(Path(finding.path)), top)) for finding in found]


def _document(name: str, found: Sequence[Finding]) -> str:
    match name:
        case "json":
            return form.as_json(found, __version__)
        case "sarif":
            return form.as_sarif(found, __version__)
        case _:
            return form.as_github(found)


def _baseline(path: Path | None) -> dict[str, int]:
    """The findings that do not count; ends the run when the file cannot be read."""
    if path is None:
        return {}
    try:
        try:
            data = path.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(str(path), "File is not a baseline of fortrans") from error
        except OSError as error:
            raise InputError(str(path), files.reason("read file", error)) from error
        return form.read_baseline(str(path), data)
    except InputError as problem:
        click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
        sys.exit(2)


def _compared(file: files.File, generated: str, place: Path, show: bool) -> Iterator[Finding]:
    """A finding when what is at ``place`` is not ``generated``, ``show`` how.  Raises InputError."""
    path = str(place)
    wanted = file.encode(generated)
    if not files.exists(place):
        yield Finding(path, form.MISSING, f"File is not there, '{file.source.path}' generates it")
        return
    try:
        data = place.read_bytes()
    except OSError as error:
        raise InputError(path, files.reason("read file", error)) from error
    if data == wanted:
        return
    before, after = (Source(path, x.decode(file.encoding, "replace")) for x in (data, wanted))
    if show:
        print_lines(before, after, file.encoding)
    pairs = enumerate(zip(before.lines, after.lines), 1)
    line = next((n for n, (x, y) in pairs if x != y), min(len(before.lines), len(after.lines)) or 1)
    yield Finding(path, form.DIFFERS, f"File is not what '{file.source.path}' generates", line, line)


def _stale(folder: Path, made: set[str]) -> Iterator[Finding]:
    """Fortran files below ``folder`` that no input generates."""
    if not files.is_directory(folder):
        return
    for entry in files.find([folder]):
        if isinstance(entry, files.Entry) and files.real(entry.path) not in made:
            yield Finding(str(entry.path), form.STALE, "No input generates this file")


def _say(found: Sequence[Finding]) -> None:
    for finding in found:
        if finding.rule != form.ERROR:
            click.echo(f"{finding.path}:{finding.first}: {finding.rule} {finding.message}", err=True)


def print_diff(file: files.File, generated: str) -> None:
    """A unified diff of a file and what becomes of it."""
    mark = "\ufeff" if file.mark else ""
    name = file.source.path
    print_lines(Source(name, mark + file.source.text), Source(name, mark + generated), file.encoding)


def print_lines(before: Source, after: Source, encoding: str) -> None:
    """A unified diff on standard output."""
    lines = "".join(text.diff(before, after, streams.coloured(sys.stdout)))
    streams.write(lines.encode(encoding, "replace"))
