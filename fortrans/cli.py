"""The command line.  The only room that knows click."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fortrans import __version__
from fortrans.options import Options
from fortrans.project import files
from fortrans.remarks import InputError, Kind
from fortrans.report import text
from fortrans.source import Source

if TYPE_CHECKING:
    from fortrans.pipeline import FileResult

_Command = TypeVar("_Command", bound=Callable[..., Any])

_PATH = click.Path(path_type=Path)
_NORMAL = frozenset({Kind.PASSED, Kind.MISSED})


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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
    """


def _rewriting(command: _Command) -> _Command:
    """The options that `rewrite` and `check` share."""
    for option in reversed(
        (
            click.option("-I", "--context", "context", type=_PATH, multiple=True, metavar="FILE|DIR",
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
            click.option("-v", "--verbose", is_flag=True, help="Print analysis remarks too."),
            click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@main.command(short_help="Rewrite files.")
@click.argument("paths", nargs=-1, required=True, type=_PATH, metavar="FILE|DIR...")
@click.option("-o", "--output", metavar="FILE|DIR", help="Write here; a directory mirrors the inputs' tree.")
@click.option("--in-place", is_flag=True, help="Overwrite the inputs.")
@click.option("--diff", is_flag=True, help="Write nothing, print a unified diff.")
@_rewriting
def rewrite(paths: tuple[Path, ...], output: str | None, in_place: bool, diff: bool, **flags: Any) -> None:
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
    call = _Call.of(flags)
    target = _target(paths, output, in_place, diff)
    inputs = call.inputs(paths, _inside(target, paths))
    outputs = call.outputs(inputs, target)
    for file, result in call.results(inputs):
        try:
            data = file.encode(result.output.text)
            if diff:
                _print_diff(file, result)
            elif in_place or target is not None:
                files.write(outputs[file.source.path], data)
            else:
                _standard_output(data)
        except InputError as problem:
            call.fail(problem)
            continue
        call.report(result)
    call.finish(would=diff)


@main.command(short_help="Tell whether anything would change.")
@click.argument("paths", nargs=-1, required=True, type=_PATH, metavar="FILE|DIR...")
@_rewriting
def check(paths: tuple[Path, ...], **flags: Any) -> None:
    """Tell whether `fortrans rewrite` would change anything; write nothing.

    Exit status: 0 when nothing would change, 1 when something would (a unified diff goes to
    standard output), 2 when a file could not be read or understood.

    \b
    Examples:
      fortrans check src
      fortrans check --quiet solver.f90 && echo nothing to do
      fortrans check --all src > proposed.diff
    """
    call = _Call.of(flags)
    for file, result in call.results(call.inputs(paths, None)):
        try:
            _print_diff(file, result)
        except InputError as problem:
            call.fail(problem)
            continue
        call.report(result)
    call.finish(would=True)
    sys.exit(1 if call.tally.changed else 0)


@main.command(short_help="Print what stands after a stage.")
@click.argument("stage")
@click.argument("path", type=_PATH, metavar="FILE")
@click.option("--all", "everything", is_flag=True, help="Show the plans of what is legal but does not pay.")
def show(stage: str, path: Path, everything: bool) -> None:
    """Print what is known of FILE after a STAGE of the work: how one debugs fortrans.

    STAGE is one of lines, units, symbols, arrays, elements, nests.

    \b
    Examples:
      fortrans show symbols solver.f90
      fortrans show elements solver.f90
    """
    from fortrans import pipeline

    if stage not in pipeline.STAGES:
        raise click.UsageError(f"'{stage}' is not a stage, the stages are {', '.join(pipeline.STAGES)}")
    try:
        file = files.read(files.Entry(path, Path(path.name)))
        click.echo(pipeline.show(stage, file.source, Options(all=everything)))
    except InputError as problem:
        click.echo(text.error(problem, _coloured(sys.stderr)), err=True)
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
        click.echo(f"fortrans: error: {problem.args[0]}", err=True)
        sys.exit(2)


@dataclass(slots=True)
class _Call:
    """One run of `rewrite` or `check`: what was asked, what was read, what happened."""

    options: Options
    kinds: frozenset[Kind]
    context_paths: Sequence[Path]
    context: list[files.File] = field(default_factory=list)
    tally: text.Tally = field(default_factory=text.Tally)

    @classmethod
    def of(cls, flags: dict[str, Any]) -> _Call:
        if flags["verbose"] and flags["quiet"]:
            raise click.UsageError("Give one of -v and -q")
        kinds = frozenset(Kind) if flags["verbose"] else _NORMAL
        options = Options(
            all=flags["everything"],
            comments=flags["comments"],
            line_length=flags["line_length"],
            assume_intrinsics=flags["assume_intrinsics"],
            target=flags["target"],
            templates=flags["templates"],
        )
        return cls(options, frozenset() if flags["quiet"] else kinds, flags["context"])

    def inputs(self, paths: Sequence[Path], without: Path | None) -> list[files.File]:
        """The input files that can be read; the context becomes known beside them."""
        seen: set[Path] = set()
        read = list(self._read(paths, without, seen))
        self.context = list(self._read(self.context_paths, None, seen))
        return read

    def _read(self, paths: Sequence[Path], without: Path | None, seen: set[Path]) -> Iterator[files.File]:
        for found in files.find(paths, without, seen):
            try:
                if isinstance(found, InputError):
                    raise found
                yield files.read(found)
            except InputError as problem:
                self.fail(problem)

    def outputs(self, inputs: Sequence[files.File], target: files.Destination | None) -> dict[str, Path]:
        """Where each input's text goes, by the input's path; ends the run when an input would be lost."""
        if target is None:
            return {file.source.path: file.entry.path for file in inputs}
        pairs = [(file.entry, target.of(file.entry)) for file in inputs]
        clashes = list(files.clashes([file.entry for file in (*inputs, *self.context)], pairs))
        for problem in clashes:
            self.fail(problem)
        if clashes:
            sys.exit(2)
        return {str(entry.path): path for entry, path in pairs}

    def results(self, inputs: Sequence[files.File]) -> Iterator[tuple[files.File, FileResult]]:
        """Each input with its rewritten text; those that could not be understood are reported."""
        if not inputs:
            return
        from fortrans import pipeline

        sources = [file.source for file in inputs]
        context = [file.source for file in self.context]
        results = pipeline.rewrite_sources(sources, self.options, context)
        try:
            for file, result in zip(inputs, results, strict=True):
                if isinstance(result, InputError):
                    self.fail(result)
                else:
                    yield file, result
        except InputError as problem:
            # Not one file's fault, a template of the user's for example: there is no going on.
            self.fail(problem)

    def report(self, result: FileResult) -> None:
        self.tally.add(result.remarks, result.output.text != result.source.text)
        colour = _coloured(sys.stderr)
        for item in result.remarks:
            if item.kind in self.kinds:
                click.echo(text.remark(item, colour), err=True, color=colour)

    def fail(self, problem: InputError) -> None:
        self.tally.errors += 1
        colour = _coloured(sys.stderr)
        click.echo(text.error(problem, colour), err=True, color=colour)

    def finish(self, would: bool) -> None:
        """Print the summary; leave with status 2 when anything went wrong."""
        if self.kinds:
            click.echo(text.paint(self.tally.summary(would), 1, _coloured(sys.stderr)), err=True)
        if self.tally.errors:
            sys.exit(2)


def _target(
    paths: Sequence[Path], output: str | None, in_place: bool, diff: bool
) -> files.Destination | None:
    """What -o means here, None without it.  Raises click.UsageError when the options do not fit."""
    if sum((output is not None, in_place, diff)) > 1:
        raise click.UsageError("Give one of -o, --in-place and --diff")
    if output is None:
        if not (in_place or diff) and (len(paths) > 1 or paths[0].is_dir()):
            raise click.UsageError("Several files need one of -o DIR, --in-place and --diff")
        return None
    target = files.destination(output, paths)
    if target.directory and target.path.exists() and not target.path.is_dir():
        raise click.UsageError(f"'{target.path}' is not a directory, and several files need one")
    if not target.directory and not target.path.parent.is_dir():
        raise click.UsageError(f"Directory '{target.path.parent}' does not exist")
    return target


def _inside(target: files.Destination | None, paths: Sequence[Path]) -> Path | None:
    """The output directory, when it lies below an input directory: no input is looked for there."""
    if target is None or not target.directory:
        return None
    output = target.path.resolve()
    return target.path if any(path.resolve() in output.parents for path in paths) else None


def _print_diff(file: files.File, result: FileResult) -> None:
    name = file.source.path
    mark = "\ufeff" if file.mark else ""
    before, after = Source(name, mark + file.source.text), Source(name, mark + result.output.text)
    lines = "".join(text.diff(before, after, _coloured(sys.stdout)))
    _standard_output(lines.encode(file.encoding, "replace"))


def _standard_output(data: bytes) -> None:
    # Bytes, so that a Latin-1 file comes out as it went in, and no line end is translated.
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _coloured(stream: Any) -> bool:
    """Whether to colour: only on a terminal, never under NO_COLOR (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
