"""One run of a command that reads files: what was asked, what was read, what happened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fortrans.cli.options import options_of
from fortrans.cli.progress import Progress
from fortrans.options import Options
from fortrans.project import files
from fortrans.remarks import InputError, Kind
from fortrans.report import streams, text

if TYPE_CHECKING:
    from fortrans.result import FileResult

NORMAL = frozenset({Kind.PASSED, Kind.MISSED})


@dataclass(slots=True)
class Call:
    """One run of a command: what was asked, what was read, what happened."""

    options: Options
    kinds: frozenset[Kind]
    context_paths: Sequence[Path]
    verbose: bool = False
    exclude: Sequence[str] = ()
    jobs: int = 1
    cached: bool = False
    seconds: float | None = None
    printing: bool = True
    progress: Progress | None = None
    failures: list[InputError] = field(default_factory=list)
    context: list[files.File] = field(default_factory=list)
    tally: text.Tally = field(default_factory=text.Tally)

    @classmethod
    def of(cls, flags: dict[str, Any]) -> Call:
        if flags["verbose"] and flags["quiet"]:
            raise click.UsageError("Give one of -v and -q")
        kinds = frozenset(Kind) if flags["verbose"] else NORMAL
        return cls(
            options_of(flags),
            frozenset() if flags["quiet"] else kinds,
            flags["context"],
            flags["verbose"],
            flags["exclude"],
            flags["jobs"],
            flags["cache"],
            _timeout(flags.get("timeout")),
        )

    def inputs(self, paths: Sequence[Path], without: Path | None) -> list[files.File]:
        """The input files that can be read; the context becomes known beside them."""
        seen: set[str] = set()
        read: list[files.File] = []
        for found in self._read(paths, without, seen):
            if isinstance(found, InputError):
                self.fail(found)
            else:
                read.append(found)
        for found in self._read(self.context_paths, None, seen, modules=True):
            if not isinstance(found, InputError):
                self.context.append(found)
            elif files.exists(Path(found.path)):
                self.warn(found)
            else:
                self.fail(found)
        folders = [path for path in self.context_paths if files.is_directory(path)]
        self.context += files.included([file.source for file in (*read, *self.context)], folders)
        return read

    def _read(
        self, paths: Sequence[Path], without: Path | None, seen: set[str], modules: bool = False
    ) -> Iterator[files.File | InputError]:
        read = files.read_declarations if modules else files.read
        for found in files.find(paths, without, seen, self.exclude, modules):
            try:
                yield found if isinstance(found, InputError) else read(found)
            except InputError as problem:
                yield problem

    def warn_of_context(self) -> None:
        """A line for each file of the context that could be read but not understood."""
        if not (self.kinds and self.context):
            return
        from fortrans.batch import unreadable

        for problem in unreadable([file.source for file in self.context]):
            self.warn(problem)

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
        from fortrans.project import run
        from fortrans.project.cache import Cache, folder

        self.warn_of_context()
        sources = [file.source for file in inputs]
        context = [file.source for file in self.context]
        means = run.Means(self.jobs, Cache.open(folder()) if self.cached else None, self.seconds)
        with Progress.shown(len(sources), bool(self.kinds)) as self.progress:
            results = run.run(sources, self.options, context, means, self.progress.step)
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
        colour = streams.coloured(sys.stderr)
        for item in result.remarks:
            if item.kind in self.kinds and self.printing:
                self.say(text.remark(item, colour))
        if self.verbose:
            self.say(text.work(result.source, result.remarks, result.seconds))

    def write(self, path: Path, data: bytes) -> None:
        """Write a file of the call's own; that it cannot be written is one of its errors."""
        try:
            files.write(path, data)
        except InputError as problem:
            self.fail(problem)

    def say(self, line: str) -> None:
        """A line on standard error, above the progress bar while there is one."""
        if self.progress is not None:
            self.progress.hide()
        click.echo(line, err=True, color=streams.coloured(sys.stderr))

    def fail(self, problem: InputError) -> None:
        self.tally.errors += 1
        self.failures.append(problem)
        colour = streams.coloured(sys.stderr)
        self.say(text.error(problem, colour))

    def warn(self, problem: InputError) -> None:
        """A file of the context that could not be read: its modules are not known, no more."""
        if self.kinds:
            colour = streams.coloured(sys.stderr)
            kind = "directory" if files.is_directory(Path(problem.path)) else "file"
            line = text.warning(problem, f"context {kind} could not be read", colour)
            self.say(line)

    def finish(self, would: bool, summary: str | None = None) -> None:
        """Print the summary, or the one that is given; leave with status 2 when anything went wrong."""
        if self.kinds:
            summary = summary or self.tally.summary(would)
            click.echo(text.paint(summary, 1, streams.coloured(sys.stderr)), err=True)
        if self.tally.errors:
            sys.exit(2)


def _timeout(seconds: float | None) -> float | None:
    if seconds is not None:
        from fortrans.project import limit

        if not limit.available():
            raise click.UsageError("Option --timeout needs a system where processes can fork")
    return seconds
