"""Results kept between runs, each under the hash of everything it depends on.

An entry is written whole (a new file that takes its place), so builds that run at once never see
half of one; its content carries a digest, so a damaged entry is a miss, never a result.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fortrans.options import Options
from fortrans.remarks import Kind, Remark
from fortrans.source import Source, Span

FORMAT = b"fortrans cache 1\n"
LIMIT = 512 * 1024 * 1024
"""Bytes that the entries may take together before the oldest go."""


def folder() -> Path:
    """Where the cache is: ``FORTRANS_CACHE_DIR``, else the user's own cache folder."""
    if named := os.environ.get("FORTRANS_CACHE_DIR"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fortrans"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "fortrans" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fortrans"


@cache
def fingerprint() -> str:
    """A hash of the tool itself: its modules, templates and tables, and what it stands on."""
    state = hashlib.sha256(sys.version.encode())
    for name in ("fparser", "jinja2", "islpy"):
        state.update(f"{name} {_version(name)}\n".encode())
    top = Path(__file__).parents[1]
    for path in (top, top.parent / "templates"):
        files = sorted(f for f in path.rglob("*") if f.suffix in (".py", ".toml", ".j2"))
        for file in files:
            state.update(f"{file.relative_to(path)}\n".encode() + file.read_bytes())
    return state.hexdigest()


def _version(name: str) -> str:
    """The version of an installed package, from the name of the folder that tells of it.

    ``importlib.metadata`` knows where else it may stand, and takes longer to import than all the rest.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    beside = Path(spec.origin).parents[1]
    found = sorted(path.name for path in beside.glob(f"{name}-*.dist-info"))
    if found:
        return " ".join(found)
    from importlib import metadata

    return metadata.version(name)


def digest(source: Source) -> bytes:
    """A hash of a file's path and text."""
    state = hashlib.sha256(source.path.encode("utf-8", "surrogateescape") + b"\0")
    state.update(source.text.encode("utf-8", "surrogateescape"))
    return state.digest()


def keyed(options: Options) -> Callable[[bytes, Sequence[bytes], str | None], str]:
    """The name of a result: of the tool, the options, the file, the files it depends on, and its host.

    The files go by their ``digest``.
    """
    start = hashlib.sha256(fingerprint().encode())
    start.update(repr(options).encode())
    start.update(_templates(options.templates))

    def key(own: bytes, needs: Sequence[bytes], host: str | None) -> str:
        state = start.copy()
        state.update(repr(host).encode())
        state.update(own)
        for need in needs:
            state.update(need)
        return state.hexdigest()

    return key


def named(kind: str, *parts: str) -> str:
    """The name of an entry that is no result: of the tool, what kind it is, and what it is about."""
    text = "\0".join((fingerprint(), kind, *parts))
    return f"{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}.{kind}"


def _templates(named: str | None) -> bytes:
    if named is None:
        return b""
    state = hashlib.sha256()
    for path in sorted(Path(named).rglob("*.j2")):
        state.update(f"{path.relative_to(named)}\n".encode("utf-8", "surrogateescape") + path.read_bytes())
    return state.digest()


@dataclass(frozen=True, slots=True)
class Cached:
    """What a result was: the text, and the remarks of the file."""

    text: str
    remarks: tuple[Remark, ...]


@dataclass(slots=True)
class Cache:
    """The entries in ``path``.  Whatever goes wrong with an entry costs time, never a result."""

    path: Path
    limit: int = LIMIT
    hits: int = 0
    stored: int = 0

    @classmethod
    def open(cls, path: Path) -> Cache | None:
        """The cache in ``path``, made when it is missing; None where it cannot be used.

        A folder that others may write to is not used: who could plant an entry could plant code.
        """
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            found = path.stat()
        except OSError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return None
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
            return None
        return cls(path)

    def get(self, name: str, path: str) -> Cached | None:
        """The entry ``name``, whose file is ``path``; None when there is none that is whole."""
        data = self.kept(name)
        found = None if data is None else _result(data, path)
        if found is not None:
            self.hits += 1
        return found

    def put(self, name: str, result: Cached) -> None:
        """Keep a result."""
        if self.keep(name, _written(result)):
            self.stored += 1

    def kept(self, name: str) -> bytes | None:
        """The content of the entry ``name``; None when there is none that is whole."""
        place = self._place(name)
        try:
            data = place.read_bytes()
        except OSError:
            return None
        found = _content(data)
        if found is None:
            with suppress(OSError):
                place.unlink()
            return None
        # The last use is what tells old entries from those in use.
        with suppress(OSError):
            os.utime(place)
        return found

    def keep(self, name: str, content: bytes) -> bool:
        """Keep ``content``; a full disk or a lost folder only means that it is not kept: False."""
        place = self._place(name)
        fresh = place.with_name(f".{name[:16]}.{secrets.token_hex(4)}")
        try:
            place.parent.mkdir(exist_ok=True, mode=0o700)
            body = zlib.compress(content, 1)
            fresh.write_bytes(FORMAT + hashlib.sha256(body).digest() + body)
            fresh.replace(place)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            return False
        return True

    def _place(self, name: str) -> Path:
        return self.path / name[:2] / name[2:]

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Everything kept: results, facts, what a killed run left half written."""
        for place in _listed(self.path):
            name = place.name.removeprefix(".")
            shard = fnmatchcase(name, "[0-9a-f][0-9a-f]")
            for entry in _listed(place) if shard else [place] * name.startswith("index-"):
                with suppress(OSError):
                    yield entry, entry.stat()

    def size(self) -> tuple[int, int]:
        """How many results there are, and the bytes that everything kept takes."""
        found = list(self._entries())
        return sum(map(_is_result, (place for place, _ in found))), sum(size.st_size for _, size in found)

    def trim(self) -> None:
        """Drop what was longest not used, down to nine tenths of the limit, when it is exceeded."""
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = sum(found.st_size for _, found in entries)
        if total <= self.limit:
            return
        while entries and total > self.limit * 9 // 10:
            place, found = entries.pop()
            with suppress(OSError):
                place.unlink()
            total -= found.st_size

    def clear(self) -> int:
        """Drop everything; how many results there were."""
        count = 0
        for place, _ in list(self._entries()):
            with suppress(OSError):
                place.unlink()
                count += _is_result(place)
        for shard in _listed(self.path):
            if fnmatchcase(shard.name, "[0-9a-f][0-9a-f]"):
                with suppress(OSError):
                    shard.rmdir()
        return count


def _listed(folder: Path) -> list[Path]:
    """What is in a folder; nothing when another process has just dropped it."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_result(place: Path) -> bool:
    return not place.suffix


def _lines(span: Span) -> tuple[int, int]:
    return span.first, span.last


def _written(result: Cached) -> bytes:
    remarks = [
        [_lines(r.span), r.code, r.kind.value, r.message, [_lines(span) for span in r.also]]
        for r in result.remarks
    ]
    return json.dumps([result.text, remarks]).encode()


def _content(data: bytes) -> bytes | None:
    start = len(FORMAT) + 32
    if not data.startswith(FORMAT) or hashlib.sha256(data[start:]).digest() != data[len(FORMAT) : start]:
        return None
    try:
        return zlib.decompress(data[start:])
    except zlib.error:
        return None


def _result(data: bytes, path: str) -> Cached | None:
    try:
        text, remarks = json.loads(data)
        found = tuple(
            Remark(path, Span(*span), code, Kind(kind), message, tuple(Span(*x) for x in also))
            for span, code, kind, message, also in remarks
        )
    except (ValueError, TypeError):
        return None
    return Cached(text, found) if isinstance(text, str) else None
