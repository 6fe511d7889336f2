"""What each file says to the others, so that results are found again without reading Fortran.

The key of a kept result asks which files a file depends on.  To find that out takes most of the
time of a run that finds all its results, so it is kept too, under each file's hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fortrans.project.cache import Cache, digest, named
from fortrans.remarks import InputError
from fortrans.source import Source

if TYPE_CHECKING:
    from fortrans.frontend.units import Program


@dataclass(frozen=True, slots=True)
class Facts:
    """Modules that a file defines and needs, names of files that it includes; why it cannot be read."""

    defines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    problem: tuple[str, int | None] | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How files stand to each other, all by position.

    ``digests``: each file's hash.  ``needs``: the files that each one depends on, directly or
    through others, in order; every file that defines a module of a name in use is one of them,
    also where two do.  ``hosts``: names of files that INCLUDE lines mention, and a file that does.
    ``problems``: why files cannot be read.  ``programs``: those that had to be read to know.
    """

    digests: tuple[bytes, ...]
    needs: tuple[tuple[int, ...], ...]
    hosts: Mapping[str, str]
    problems: Mapping[int, InputError]
    programs: Mapping[int, Program]


def standing(sources: Sequence[Source], cache: Cache | None) -> Standing:
    """How ``sources`` stand to each other; what ``cache`` knows of them is not read again."""
    digests = tuple(map(digest, sources))
    known = _kept(cache, sources)
    facts: list[Facts] = []
    programs: dict[int, Program] = {}
    for position, source in enumerate(sources):
        found = known.get(digests[position].hex())
        if found is None:
            found, program = _read(source)
            if program is not None:
                programs[position] = program
        facts.append(found)
    if cache is not None and any(mine.hex() not in known for mine in digests):
        rows = {
            mine.hex(): [found.defines, found.needs, found.includes, found.problem]
            for mine, found in zip(digests, facts, strict=True)
        }
        cache.keep(_name(sources), json.dumps(rows).encode())
    problems = {
        position: InputError(sources[position].path, *found.problem)
        for position, found in enumerate(facts)
        if found.problem is not None
    }
    return Standing(digests, _needs(facts), _hosts(sources, facts), problems, programs)


def _read(source: Source) -> tuple[Facts, Program | None]:
    from fortrans.batch import included
    from fortrans.frontend.dependencies import defined, wanted
    from fortrans.frontend.units import read

    try:
        program = read(source)
    except InputError as problem:
        return Facts(problem=(problem.message, problem.line)), None
    names = tuple(sorted(defined(program))), tuple(sorted(wanted(program))), tuple(included([program]))
    return Facts(*names), program


def _name(sources: Sequence[Source]) -> str:
    return named("facts", *(source.path for source in sources))


def _kept(cache: Cache | None, sources: Sequence[Source]) -> dict[str, Facts]:
    data = None if cache is None else cache.kept(_name(sources))
    if data is None:
        return {}
    try:
        return {
            name: Facts(
                tuple(defines),
                tuple(needs),
                tuple(includes),
                None if problem is None else (str(problem[0]), problem[1]),
            )
            for name, (defines, needs, includes, problem) in json.loads(data).items()
        }
    except (ValueError, TypeError, AttributeError, IndexError):
        return {}


def _needs(facts: Sequence[Facts]) -> tuple[tuple[int, ...], ...]:
    defining: dict[str, list[int]] = {}
    for position, found in enumerate(facts):
        for name in found.defines:
            defining.setdefault(name, []).append(position)

    def closure(start: int) -> tuple[int, ...]:
        seen = {start}
        waiting = [start]
        while waiting:
            for name in facts[waiting.pop()].needs:
                for position in defining.get(name, ()):
                    if position not in seen:
                        seen.add(position)
                        waiting.append(position)
        return tuple(sorted(seen - {start}))

    return tuple(map(closure, range(len(facts))))


def _hosts(sources: Sequence[Source], facts: Sequence[Facts]) -> dict[str, str]:
    hosts: dict[str, str] = {}
    for source, found in zip(sources, facts, strict=True):
        for name in found.includes:
            hosts.setdefault(name, source.path)
    return hosts
