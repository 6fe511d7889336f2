"""Which files define which modules: what a build that compiles one file at a time asks each time.

Reading a thousand files for each of a thousand compilations would take longer than compiling them.
So what each file defines and needs is kept beside the cache, under the file's size and time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fortrans.project import files
from fortrans.remarks import InputError
from fortrans.source import Source


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says to others: modules it defines, modules it needs, names of files it includes."""

    defines: frozenset[str]
    needs: frozenset[str]
    includes: frozenset[str]


def facts(source: Source) -> Facts:
    """The facts of a file; a file that cannot be read has none."""
    from fortrans.batch import included
    from fortrans.frontend.dependencies import defined, wanted
    from fortrans.frontend.units import read

    try:
        program = read(source)
    except InputError:
        return Facts(frozenset(), frozenset(), frozenset())
    return Facts(defined(program), wanted(program), frozenset(included([program])))


Rows = dict[str, tuple[int, int, Facts]]


def needed(source: Source, paths: Sequence[Path], store: Path | None) -> list[Source]:
    """The files among ``paths`` that ``source`` depends on, and those that include it, in order.

    ``store``: the folder where the facts are kept, None to keep none.
    """
    place = None if store is None else store / f"index-{_name(paths)}.json"
    before = _load(place)
    rows: Rows = {}
    texts: dict[str, Source] = {}
    for path in paths:
        row = _row(path, before, texts)
        if row is not None:
            rows[str(path)] = row
    if place is not None and rows != before:
        _save(place, rows)
    own = facts(source)
    name = Path(source.path).name
    itself = files.real(Path(source.path))
    others = {path: row[2] for path, row in rows.items() if files.real(Path(path)) != itself}
    found = set(_closure(own.needs, others))
    found |= {path for path, other in others.items() if name in other.includes}
    read = (texts.get(path) or _read(path) for path in rows if path in found)
    return [text for text in read if text is not None]


def _name(paths: Sequence[Path]) -> str:
    return sha256("\0".join(files.real(path) for path in paths).encode("utf-8", "replace")).hexdigest()[:24]


def _row(path: Path, before: Rows, texts: dict[str, Source]) -> tuple[int, int, Facts] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    known = before.get(str(path))
    if known is not None and known[:2] == (found.st_mtime_ns, found.st_size):
        return known
    source = _read(str(path))
    if source is None:
        return None
    texts[str(path)] = source
    return found.st_mtime_ns, found.st_size, facts(source)


def _read(path: str) -> Source | None:
    try:
        return files.read_declarations(files.Entry(Path(path), Path(path))).source
    except InputError:
        return None


def _closure(needs: frozenset[str], others: Mapping[str, Facts]) -> Iterator[str]:
    defining: dict[str, list[str]] = {}
    for path, other in others.items():
        for module in other.defines:
            defining.setdefault(module, []).append(path)
    seen: set[str] = set()
    waiting = list(needs)
    while waiting:
        for path in defining.get(waiting.pop(), ()):
            if path not in seen:
                seen.add(path)
                waiting += others[path].needs
                yield path


def _load(place: Path | None) -> Rows:
    if place is None:
        return {}
    try:
        found = json.loads(place.read_bytes())
        return {
            path: (time, size, Facts(*(frozenset(names) for names in lists)))
            for path, (time, size, *lists) in found.items()
        }
    except (OSError, ValueError, TypeError):
        return {}


def _save(place: Path, rows: Rows) -> None:
    data = {
        path: [time, size, sorted(f.defines), sorted(f.needs), sorted(f.includes)]
        for path, (time, size, f) in rows.items()
    }
    # Without it the next run reads the files again, no more.
    with suppress(InputError):
        files.write(place, json.dumps(data).encode())
