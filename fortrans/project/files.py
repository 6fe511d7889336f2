"""Source files on disk: found, read and written without loss.

A file's bytes survive reading and writing: line ends, a byte-order mark, Latin-1 letters and a
missing final newline included.  A file is written whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from fortrans.remarks import InputError
from fortrans.source import Source

FREE_FORM = frozenset({".f90", ".f95", ".f03", ".f08", ".f18"})
"""Suffixes collected from a directory, compared in lower case (``.F90`` too)."""

FIXED_FORM = frozenset({".f", ".for", ".ftn", ".f77", ".fpp"})
"""Suffixes that compilers read as fixed source form, compared in lower case."""

MODULE_FILE = ".mod"
"""Suffix of compiled modules, looked for where modules are only looked up."""

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file asked for: ``path`` as the user gave it, ``inner`` its place below the argument."""

    path: Path
    inner: Path


@dataclass(frozen=True, slots=True)
class File:
    """A file as read; ``encoding`` and ``mark`` (UTF-8 byte-order mark) turn text into its bytes."""

    entry: Entry
    source: Source
    encoding: Literal["utf-8", "latin-1"]
    mark: bool

    def encode(self, text: str) -> bytes:
        """The bytes of ``text`` in this file's encoding.

        Raises InputError when a character does not exist there (only a user's template can
        bring one).
        """
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            line = text.count("\n", 0, error.start) + 1
            message = f"Character '{character}' cannot be written to a Latin-1 file"
            raise InputError(self.source.path, message, line) from error
        return _MARK + data if self.mark else data


def real(path: Path) -> str:
    """The path without symbolic links; of a link that leads round to itself, the link."""
    return os.path.realpath(path)


def exists(path: Path) -> bool:
    """Whether there is something of that name, a link that leads nowhere included."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def is_directory(path: Path) -> bool:
    """Whether ``path`` is a directory that can be reached."""
    try:
        return path.is_dir()
    except OSError:
        return False


def find(
    arguments: Sequence[Path],
    without: Path | None = None,
    seen: set[str] | None = None,
    exclude: Sequence[str] = (),
    modules: bool = False,
) -> Iterator[Entry | InputError]:
    """The files that ``arguments`` name, each once, in order; directories are walked, sorted.

    Hidden files and directories below an argument are skipped, and so is everything below
    ``without`` (an output directory that lies inside an input directory).  ``seen`` holds the
    real paths found before, and is added to.  ``exclude`` holds patterns of names, and of paths
    below an argument, that are left out; what is an argument itself is never left out.  With
    ``modules`` compiled modules are found too.
    """
    skip = real(without) if without is not None else None
    seen = set() if seen is None else seen
    suffixes = FREE_FORM | {MODULE_FILE} if modules else FREE_FORM
    for argument in arguments:
        inside = _below(argument, skip, exclude, suffixes) if is_directory(argument) else None
        for found in inside or [Entry(argument, Path(argument.name))]:
            if isinstance(found, InputError):
                yield found
            elif (path := real(found.path)) not in seen:
                seen.add(path)
                yield found


def _below(
    top: Path, skip: str | None, exclude: Sequence[str], suffixes: frozenset[str]
) -> Iterator[Entry | InputError]:
    failures: list[OSError] = []
    entries: list[Entry] = []
    for folder, folders, names in os.walk(top, onerror=failures.append):
        here = Path(folder)

        def wanted(name: str, here: Path = here) -> bool:
            return not name.startswith(".") and not _excluded(name, (here / name).relative_to(top), exclude)

        folders[:] = sorted(name for name in folders if wanted(name) and real(here / name) != skip)
        entries += [
            Entry(here / name, (here / name).relative_to(top))
            for name in sorted(names)
            if wanted(name) and Path(name).suffix.lower() in suffixes
        ]
    yield from (InputError(str(failure.filename), reason("read file", failure)) for failure in failures)
    if not entries and not failures:
        yield InputError(str(top), "Directory holds no free-form Fortran file (.f90, .f95, .f03, .f08)")
    yield from sorted(entries, key=lambda entry: entry.path.parts)


def _excluded(name: str, inner: Path, exclude: Sequence[str]) -> bool:
    return any(
        fnmatchcase(name, pattern) or fnmatchcase(inner.as_posix(), pattern)
        for pattern in (pattern.rstrip("/") for pattern in exclude)
    )


def read(entry: Entry) -> File:
    """Read a source file.

    UTF-8 is tried first and Latin-1 is taken otherwise, where every byte is a letter.  Raises
    InputError when the file is missing, unreadable, binary, empty or in fixed source form.
    """
    path = str(entry.path)
    if entry.path.suffix.lower() in FIXED_FORM:
        raise InputError(path, "Fixed source form is not read, convert the file to free form first")
    if entry.path.suffix.lower() == MODULE_FILE:
        raise InputError(path, "File is a compiled module, it is looked up with -I and never rewritten")
    return read_text(entry)


def read_text(entry: Entry) -> File:
    """Read a text file, whatever its suffix.  Raises InputError when it is missing, binary or empty."""
    path = str(entry.path)
    data = _bytes(entry)
    if (null := data.find(b"\0")) >= 0:
        raise InputError(path, "File is binary, not Fortran text", data.count(b"\n", 0, null) + 1)
    mark = data.startswith(_MARK)
    try:
        text = data.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError:
        return _file(entry, data.decode("latin-1"), "latin-1", False)
    return _file(entry, text, "utf-8", mark)


def _bytes(entry: Entry) -> bytes:
    try:
        return entry.path.read_bytes()
    except OSError as error:
        raise InputError(str(entry.path), reason("read file", error)) from error


def read_declarations(entry: Entry) -> File:
    """Read a file whose modules are looked up: a source file, or a module file of gfortran's as text.

    Raises InputError as ``read`` does, and for a module file that is damaged or of another version.
    """
    if entry.path.suffix.lower() != MODULE_FILE:
        return read(entry)
    from fortrans.frontend import modfile, modtext

    path = str(entry.path)
    text = modtext.text(entry.path.stem.lower(), modfile.read(path, _bytes(entry)))
    return File(entry, Source(path, text), "utf-8", False)


def included(read: Iterable[Source], folders: Sequence[Path]) -> Iterator[File]:
    """The files that INCLUDE lines of ``read`` name, each as a module of declarations.

    A file is looked for beside the one that includes it and then in ``folders``, as compilers do.
    One that is not found, or is more than declarations, is left out.
    """
    from fortrans.frontend.includes import as_module, mentioned

    waiting = list(read)
    seen: set[str] = set()
    while waiting:
        source = waiting.pop()
        for name in mentioned(source.text):
            places = (folder / name for folder in (Path(source.path).parent, *folders))
            path = next((place for place in places if _is_file(place)), None)
            if path is None or real(path) in seen:
                continue
            seen.add(real(path))
            with suppress(InputError):
                found = read_text(Entry(path, Path(path.name)))
                if (module := as_module(found.source)) is not None:
                    waiting.append(found.source)
                    yield File(found.entry, module, found.encoding, found.mark)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _file(entry: Entry, text: str, encoding: Literal["utf-8", "latin-1"], mark: bool) -> File:
    if not text.strip():
        raise InputError(str(entry.path), "File is empty, it holds no program unit")
    return File(entry, Source(str(entry.path), text), encoding, mark)


def write(path: Path, data: bytes) -> bool:
    """Make ``data`` the content of ``path``, atomically; False when it already was.

    The bytes go to a new file beside the target, which then takes the target's place: whoever
    reads ``path`` sees the old or the new content, whole.  Permissions are kept, and a symbolic
    link stays one (the file it leads to is replaced).  A pipe or device is written to directly.
    Missing directories are made.
    Raises InputError when the file cannot be written; the target is then as it was.
    """
    try:
        return _write(path, data)
    except OSError as error:
        raise InputError(str(path), reason("write file", error)) from error


def touch(path: Path) -> None:
    """Give a file the time of now: what a build compares.  Raises InputError."""
    try:
        os.utime(path)
    except OSError as error:
        raise InputError(str(path), reason("write file", error)) from error


def _write(path: Path, data: bytes) -> bool:
    target = Path(real(path))
    try:
        before = target.stat()
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data, None)
        return True
    if not stat.S_ISREG(before.st_mode):
        with path.open("wb") as stream:
            stream.write(data)
        return True
    if before.st_size == len(data) and target.read_bytes() == data:
        return False
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied")
    _replace(target, data, before)
    return True


def _replace(target: Path, data: bytes, before: os.stat_result | None) -> None:
    fresh = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if before is not None:
                # Only root may give a file away; anyone else becomes its owner, as with an editor.
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            os.fsync(descriptor)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def reason(deed: str, error: OSError) -> str:
    """``Cannot read file, permission denied``: a message about what the system refused."""
    detail = error.strerror or str(error)
    return f"Cannot {deed}, {detail[:1].lower()}{detail[1:]}"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where outputs go: ``path`` is a file, or a directory that mirrors the inputs' tree."""

    path: Path
    directory: bool

    def of(self, entry: Entry) -> Path:
        """Where the output of ``entry`` goes."""
        return self.path / entry.inner if self.directory else self.path

    def unfit(self) -> str | None:
        """Why nothing can be written there, None when it can as far as one sees."""
        if self.directory and exists(self.path) and not is_directory(self.path):
            return f"'{self.path}' is not a directory, and several files need one"
        above = next((path for path in self.path.parents if exists(path)), None)
        if above is not None and not is_directory(above):
            return f"'{above}' is not a directory"
        if not self.directory and not is_directory(self.path.parent):
            return f"Directory '{self.path.parent}' does not exist"
        return None

    def inside(self, arguments: Sequence[Path]) -> Path | None:
        """The output directory, when it lies below an input directory: no input is looked for there."""
        above = Path(real(self.path)).parents if self.directory else ()
        return self.path if any(Path(real(path)) in above for path in arguments) else None


def destination(output: str, arguments: Sequence[Path]) -> Destination:
    """What ``-o output`` means: a file for one input file, unless it is or looks like a directory."""
    path = Path(output)
    single = len(arguments) == 1 and not is_directory(arguments[0])
    return Destination(path, not single or output.endswith(("/", os.sep)) or is_directory(path))


def clashes(inputs: Iterable[Entry], outputs: Sequence[tuple[Entry, Path]]) -> Iterator[InputError]:
    """Why ``outputs`` must not be written: one is an input (by any name), or two are the same file."""
    identities = {identity for entry in inputs for identity in _identities(entry.path)}
    taken: dict[str, Entry] = {}
    for entry, output in outputs:
        if any(identity in identities for identity in _identities(output)):
            yield InputError(str(output), "Output is one of the inputs, use --in-place to overwrite it")
        other = taken.setdefault(real(output), entry)
        if other is not entry:
            yield InputError(str(output), f"Output of both '{other.path}' and '{entry.path}'")


def _identities(path: Path) -> Iterator[object]:
    yield real(path)
    with suppress(OSError):
        status = path.stat()
        yield status.st_dev, status.st_ino
