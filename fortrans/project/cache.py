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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
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
        found = metadata.version(name) if find_spec(name) else "none"
        state.update(f"{name} {found}\n".encode())
    top = resources.files("fortrans")
    for root in (top, top.joinpath("..", "templates")):
        path = Path(str(root))
        files = sorted(f for f in path.rglob("*") if f.suffix in (".py", ".toml", ".j2"))
        for file in files:
            state.update(f"{file.relative_to(path)}\n".encode() + file.read_bytes())
    return state.hexdigest()


def digest(source: Source) -> bytes:
    """A hash of a file's path and text."""
    state = hashlib.sha256(source.path.encode("utf-8", "surrogateescape") + b"\0")
    state.update(source.text.encode("utf-8", "surrogateescape"))
    return state.digest()


def key(source: Source, needs: Sequence[bytes], options: Options, host: str | None) -> str:
    """The name of a result: of the tool, the options, the file and the files it depends on."""
    state = hashlib.sha256(fingerprint().encode())
    state.update(repr(options).encode())
    state.update(_templates(options.templates))
    state.update(repr(host).encode())
    state.update(digest(source))
    for need in needs:
        state.update(need)
    return state.hexdigest()


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
        place = self._place(name)
        try:
            data = place.read_bytes()
        except OSError:
            return None
        found = _read(data, path)
        if found is None:
            with suppress(OSError):
                place.unlink()
            return None
        # The last use is what tells old entries from those in use.
        with suppress(OSError):
            os.utime(place)
        self.hits += 1
        return found

    def put(self, name: str, result: Cached) -> None:
        """Keep a result; a full disk or a lost folder only means that it is not kept."""
        place = self._place(name)
        fresh = place.with_name(f".{name[:16]}.{secrets.token_hex(4)}")
        try:
            place.parent.mkdir(exist_ok=True, mode=0o700)
            fresh.write_bytes(_written(result))
            fresh.replace(place)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            return
        self.stored += 1

    def _place(self, name: str) -> Path:
        return self.path / name[:2] / name[2:]

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for shard in self.path.glob("[0-9a-f][0-9a-f]"):
            with suppress(OSError):
                for entry in shard.iterdir():
                    with suppress(OSError):
                        yield entry, entry.stat()

    def size(self) -> tuple[int, int]:
        """How many entries there are, and the bytes they take."""
        sizes = [found.st_size for _, found in self._entries()]
        return len(sizes), sum(sizes)

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
        """Drop every entry; how many there were."""
        count = 0
        for place, _ in list(self._entries()):
            with suppress(OSError):
                place.unlink()
                count += 1
        for shard in list(self.path.glob("[0-9a-f][0-9a-f]")):
            with suppress(OSError):
                shard.rmdir()
        return count


def _lines(span: Span) -> tuple[int, int]:
    return span.first, span.last


def _written(result: Cached) -> bytes:
    remarks = [
        [_lines(r.span), r.code, r.kind.value, r.message, [_lines(span) for span in r.also]]
        for r in result.remarks
    ]
    body = zlib.compress(json.dumps([result.text, remarks]).encode(), 1)
    return FORMAT + hashlib.sha256(body).digest() + body


def _read(data: bytes, path: str) -> Cached | None:
    start = len(FORMAT) + 32
    if not data.startswith(FORMAT) or hashlib.sha256(data[start:]).digest() != data[len(FORMAT) : start]:
        return None
    text, remarks = json.loads(zlib.decompress(data[start:]))
    return Cached(
        text,
        tuple(
            Remark(path, Span(*span), code, Kind(kind), message, tuple(Span(*x) for x in also))
            for span, code, kind, message, also in remarks
        ),
    )
