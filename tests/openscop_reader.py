"""An independent reader of OpenScop text, and what isl makes of its matrices.

It shares nothing with the package: isl reads the rows of each relation itself (they are PolyLib's
extended format), and parameters are named after it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl


@dataclass(frozen=True)
class Matrix:
    kind: str
    sizes: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    def polylib(self) -> str:
        lines = [" ".join(map(str, self.sizes)), *(" ".join(map(str, row)) for row in self.rows)]
        return "\n".join(lines) + "\n"

    def isl(self, parameters: Sequence[str]) -> Any:
        """The set (CONTEXT, DOMAIN) or map that the rows mean."""
        if self.kind in ("CONTEXT", "DOMAIN"):
            found = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, self.polylib())
        elif self.sizes[3]:
            found = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, self.polylib())
        else:
            found = isl.Map.from_range(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, self.polylib()))
        for number, name in enumerate(parameters):
            found = found.set_dim_name(isl.dim_type.param, number, name)
        return found


@dataclass(frozen=True)
class Read:
    domain: Any
    schedule: Any
    accesses: tuple[tuple[str, Any], ...]
    iterators: tuple[str, ...]
    body: str
    locals: tuple[int, ...]


@dataclass(frozen=True)
class File:
    language: str
    context: Any
    parameters: tuple[str, ...]
    statements: tuple[Read, ...]
    arrays: dict[int, str]


def read(text: str) -> File:
    raw = [line.rstrip() for line in text.split("\n")]
    lines = [line for line in raw if line.strip() and not line.startswith("#")]
    assert lines[0] == "<OpenScop>" and lines[-1] == "</OpenScop>"
    position = 1

    def take() -> str:
        nonlocal position
        position += 1
        return lines[position - 1]

    def integers(line: str) -> tuple[int, ...]:
        return tuple(map(int, line.partition("#")[0].split()))

    def matrices() -> list[Matrix]:
        kind, count = take(), 1
        sizes = integers(take())
        if len(sizes) == 1:
            count, sizes = sizes[0], integers(take())
        found = []
        for number in range(count):
            sizes = sizes if number == 0 else integers(take())
            rows = tuple(integers(take()) for _ in range(sizes[0]))
            assert all(len(row) == sizes[1] == sum(sizes[2:]) + 2 for row in rows)
            found.append(Matrix(kind, sizes, rows))
        return found

    language = take()
    contexts = matrices()
    assert take() == "1" and take() == "<strings>"
    line = take()
    parameters = () if line == "</strings>" else tuple(line.split())
    if parameters:
        assert take() == "</strings>"

    def union(parts: list[Matrix]) -> Any:
        made = [part.isl(parameters) for part in parts]
        result = made[0]
        for other in made[1:]:
            result = result.union(other)
        return result

    statements = []
    for _ in range(int(take())):
        relations = [matrices() for _ in range(int(take()))]
        assert take() == "1" and take() == "<body>"
        iterators = take()
        names = tuple(take().split()) if int(iterators) else ()
        body = take()
        assert take() == "</body>" and len(names) == int(iterators)
        statements.append(
            Read(
                union(relations[0]),
                union(relations[1]),
                tuple((parts[0].kind, union(parts)) for parts in relations[2:]),
                names,
                body,
                tuple(part.sizes[4] for parts in relations for part in parts),
            )
        )
    arrays = {}
    while position < len(lines) - 1:
        tag = take()
        content = []
        while lines[position] != f"</{tag[1:]}":
            content.append(take())
        take()
        if tag == "<arrays>":
            arrays = {int(entry.split()[0]): entry.split()[1] for entry in content[1:]}
            assert len(arrays) == int(content[0])
    return File(language, union(contexts), parameters, tuple(statements), arrays)


def at(relation: Any, values: dict[str, int]) -> Any:
    """A set or map with its parameters fixed."""
    for number in range(relation.dim(isl.dim_type.param)):
        name = relation.get_dim_name(isl.dim_type.param, number)
        relation = relation.fix_val(isl.dim_type.param, number, values[name])
    return relation


def points(found: Any) -> list[tuple[int, ...]]:
    """The integer points of a bounded set, in lexicographic order."""
    result: list[tuple[int, ...]] = []
    size = found.dim(isl.dim_type.set)

    def keep(point: Any) -> None:
        result.append(
            tuple(point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(size))
        )

    found.foreach_point(keep)
    return sorted(result)


def pairs(relation: Any, domain: Any) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """What a map with fixed parameters gives for each point of ``domain``, where that is bounded."""
    size = domain.dim(isl.dim_type.set)
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for point in points(relation.intersect_domain(domain).wrap().flatten()):
        found.setdefault(point[:size], []).append(point[size:])
    return found
