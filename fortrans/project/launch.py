"""Compiling through fortrans: the compiler sees the rewritten file, the user the original's name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fortrans.options import Options
from fortrans.project import files, index, run
from fortrans.project.cache import Cache
from fortrans.project.command import Command, parse, replaced
from fortrans.remarks import InputError, Remark
from fortrans.result import FileResult

HIDDEN_QUOTE = re.compile(r"\\['\"]")
MADE_FROM = re.compile(r'^# 1 "([^"]+)"', re.MULTILINE)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Launch:
    """How to compile.

    ``context``: files and folders to look for modules in, besides those of the command itself.
    ``strict``: a file that cannot be rewritten, or does not compile then, is an error.
    ``report`` is given the remarks on each file, ``warn`` each warning.
    """

    options: Options
    context: tuple[Path, ...]
    cache: Cache | None
    strict: bool
    report: Callable[[Sequence[Remark]], None]
    warn: Say


class CannotRun(Exception):
    """The compiler is not to be found, or may not be run."""


def launch(words: Sequence[str], how: Launch) -> int:
    """Compile, and return the compiler's exit status.

    A command that compiles no free-form Fortran is run as it is.  Where the compiler refuses the
    rewritten file and takes the original, the original is compiled, with a warning.  Raises
    CannotRun; with ``strict`` InputError for a file that cannot be read.
    """
    command = parse(words)
    if not command.compiles:
        return _run(words)
    with tempfile.TemporaryDirectory(prefix="fortrans-") as folder:
        changed = dict(_changed(command, how, Path(folder)))
        if not changed:
            return _run(words)
        tried = _captured(replaced(command, changed, _renamed(command, changed)))
        if tried.returncode and not how.strict:
            status = _run(words)
            if status == 0:
                names = ", ".join(command.words[position] for position in changed)
                how.warn(f"Rewritten form of '{names}' does not compile, the original was compiled")
            return status
        _pass_on(tried, {str(path): command.words[position] for position, path in changed.items()})
        if (dependencies := command.depfile()) is not None:
            _named_again(dependencies, {str(p): command.words[i] for i, p in changed.items()})
        return tried.returncode


def _changed(command: Command, how: Launch, folder: Path) -> Iterator[tuple[int, Path]]:
    """The positions of the sources that are rewritten, each with the file to compile instead."""
    for position in command.sources:
        path = Path(command.words[position])
        try:
            file = files.read(files.Entry(path, Path(path.name)))
            if command.backslashes and HIDDEN_QUOTE.search(file.source.text):
                raise InputError(str(path), "Strings have escaped quotes (-fbackslash)", 1)
            folders = (*command.folders, *filter(files.is_directory, how.context))
            result = rewritten(file, _around(command, file, how.context), folders, how)
        except InputError as problem:
            if how.strict:
                raise
            how.warn(f"Not rewritten: {problem.message}, in '{problem.path}'")
            continue
        how.report(result.remarks)
        if result.output.text != result.source.text:
            place = folder / str(position) / path.name
            place.parent.mkdir()
            place.write_bytes(file.encode(result.output.text))
            yield position, place


def _renamed(command: Command, changed: dict[int, Path]) -> list[str]:
    """Options by which gfortran's debug information names the originals."""
    if not command.debugs or not _is_gnu(command.program):
        return []
    return [f"-ffile-prefix-map={place}={command.words[i]}" for i, place in changed.items()]


def _is_gnu(program: str) -> bool:
    """Whether a compiler, or the one behind a wrapper as mpif90, is gfortran."""
    return "gfortran" in Path(program).name or b"GNU Fortran" in _captured([program, "--version"]).stdout


def rewritten(
    file: files.File, around: Sequence[Path], folders: Sequence[Path], how: Launch
) -> FileResult:
    """One file rewritten, with line markers.  Raises InputError.

    ``around``: files that may hold its modules.  ``folders``: where included files are looked for.
    """
    store = None if how.cache is None else how.cache.path
    context = index.needed(file.source, around, store)
    context += [other.source for other in files.included([file.source, *context], folders)]
    options = replace(how.options, line_markers=True)
    (result,) = run.run([file.source], options, context, run.Means(1, how.cache))
    if isinstance(result, InputError):
        raise result
    return result


def _around(command: Command, file: files.File, context: Sequence[Path]) -> list[Path]:
    """Where the modules of a file may be: the context; beside the file and in the command's folders.

    Of a file that a preprocessor made, beside the file it was made from too.
    """
    made_from = [Path(name) for name in MADE_FROM.findall(file.source.text[:4000])]
    beside = [name.parent for name in made_from if name.suffix.lower() in files.FREE_FORM]
    folders = dict.fromkeys((file.entry.path.parent, *beside, *command.folders))
    looked = files.find(context, modules=True)
    found = [entry.path for entry in looked if isinstance(entry, files.Entry)]
    suffixes = files.FREE_FORM | {files.MODULE_FILE}
    for folder in folders:
        with suppress(OSError):
            found += sorted(
                inner
                for inner in folder.iterdir()
                if inner.suffix.lower() in suffixes and not inner.name.startswith(".")
            )
    once = {files.real(path): path for path in reversed(found)}
    return list(reversed(once.values()))


def _run(words: Sequence[str]) -> int:
    try:
        return subprocess.run(list(words), check=False).returncode
    except OSError as error:
        raise CannotRun(files.reason(f"run '{words[0]}'", error)) from error


def _captured(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(list(words), check=False, capture_output=True)
    except OSError as error:
        raise CannotRun(files.reason(f"run '{words[0]}'", error)) from error


def _pass_on(done: subprocess.CompletedProcess[bytes], names: dict[str, str]) -> None:
    """What the compiler printed, with the originals' names."""
    for stream, data in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
        for place, name in names.items():
            data = data.replace(os.fsencode(place), os.fsencode(name))
        if data and stream is not None:
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()


def _named_again(path: Path, names: dict[str, str]) -> None:
    with suppress(OSError, InputError):
        data = before = path.read_bytes()
        for place, name in names.items():
            data = data.replace(os.fsencode(place), os.fsencode(name))
        if data != before:
            files.write(path, data)
