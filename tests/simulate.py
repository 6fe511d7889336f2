"""Runs an assignment element by element, once as the language has it and once as a verdict says."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from arithmetic import value

from fortrans.ir.expr import Name
from fortrans.polyhedral.conflicts import Nest, Pair
from fortrans.polyhedral.forms import Affine, Floor, Product
from fortrans.polyhedral.verdict import Kind, Steps, Verdict

Values = dict[str, int]
Element = tuple[int, ...]


class Case:
    """One nest at one set of parameters: its iterations, and the elements they touch."""

    def __init__(self, nest: Nest, pairs: Sequence[Pair], values: Mapping[str, int]) -> None:
        self.nest, self.pairs = nest, pairs
        ranges = [range(1, value(extent, values) + 1) for _, extent in nest.loops]
        self.values = dict(values)
        self.points = [{**values, **dict(zip(nest.indices, point))} for point in itertools.product(*ranges)]

    @property
    def distinct(self) -> bool:
        """Whether no element is written twice, as the language demands."""
        written = [self.written(p) for p in self.points]
        return len(set(written)) == len(written)

    def written(self, point: Values) -> Element:
        (first, *_) = self.pairs
        return tuple(value(x, point) for x in first.written)

    def reads(self, k: int, point: Values) -> Iterator[Element]:
        pair = self.pairs[k]
        if any(bool(value(test, point)) != holds for test, holds in pair.tests):
            return
        ranges = [range(1, value(extent, point) + 1) for _, extent in pair.inner]
        for inner in itertools.product(*ranges):
            at = {**point, **dict(zip((name for name, _ in pair.inner), inner))}
            yield tuple(value(x, at) for x in pair.read)

    def result(self, point: Values, saved: Mapping[Element, object] | None, memory: dict) -> object:  # type: ignore[type-arg]
        return tuple(tuple(memory.get(e, e) for e in self.reads(k, point)) for k in range(len(self.pairs)))

    def expected(self) -> dict[Element, object]:
        """Everything is read before anything is stored."""
        return {self.written(p): self.result(p, None, {}) for p in self.points}

    # ---- what a verdict does ----------------------------------------------------------

    def run(self, verdict: Verdict, rng: random.Random) -> dict[Element, object]:
        match verdict.kind:
            case Kind.TEMPORARY:
                return self.expected()
            case Kind.GUARDED:
                assert verdict.guard is not None and verdict.otherwise is not None
                holds = form_value(verdict.guard, self.values) >= 0
                return self._ordered(verdict.steps, rng) if holds else self.run(verdict.otherwise, rng)
            case Kind.SWAPPED:
                return self._swapped(verdict, rng)
            case Kind.BUFFERED if verdict.lag is not None:
                return self._strip(verdict, rng)
            case _:
                return self._ordered(verdict.steps, rng, verdict)

    def _groups(self, points: list[Values], index: str, sign: int, rng: random.Random) -> list[list[Values]]:
        found: dict[int, list[Values]] = {}
        for p in points:
            found.setdefault(p[index], []).append(p)
        keys = sorted(found, reverse=sign < 0)
        if sign == 0:
            rng.shuffle(keys)
        return [found[key] for key in keys]

    def _ordered(
        self, steps: Steps, rng: random.Random, verdict: Verdict | None = None
    ) -> dict[Element, object]:
        memory: dict[Element, object] = {}
        late = verdict.late if verdict else ()
        depth = verdict.depth if verdict else 0

        def go(points: list[Values], level: int, saved: dict[tuple[int, int], object]) -> None:
            if level == depth and late:
                # What is read too late is read here, as it stands before the loops inside.
                saved = {
                    (k, id(p)): tuple(memory.get(e, e) for e in self.reads(k, p))
                    for k in late
                    for p in points
                }
            if level == len(steps):
                (p,) = points
                memory[self.written(p)] = tuple(
                    saved[k, id(p)] if k in late else tuple(memory.get(e, e) for e in self.reads(k, p))
                    for k in range(len(self.pairs))
                )
                return
            index, sign = steps[level]
            for group in self._groups(points, index, sign, rng):
                go(group, level + 1, saved)

        go(self.points, 0, {})
        return memory

    def _strip(self, verdict: Verdict, rng: random.Random) -> dict[Element, object]:
        memory: dict[Element, object] = {}

        def go(points: list[Values], level: int) -> None:
            index, sign = verdict.steps[level]
            groups = self._groups(points, index, sign, rng)
            if level < verdict.depth:
                for group in groups:
                    go(group, level + 1)
                return
            waiting: list[dict[Element, object]] = []
            for group in groups:
                waiting.append({self.written(p): self.result(p, None, memory) for p in group})
                if len(waiting) > (verdict.lag or 0):
                    memory.update(waiting.pop(0))
            for rest in waiting:
                memory.update(rest)

        go(self.points, 0)
        return memory

    def _swapped(self, verdict: Verdict, rng: random.Random) -> dict[Element, object]:
        assert verdict.mirror is not None
        mirror = verdict.mirror
        extents = {name: value(extent, self.values) for name, extent in self.nest.loops}
        names = self.nest.indices
        by_index = {tuple(p[name] for name in names): p for p in self.points}
        memory: dict[Element, object] = {}
        order = list(by_index)
        rng.shuffle(order)
        done: set[tuple[int, ...]] = set()
        for key in order:
            if key in done:
                continue
            at = dict(zip(names, key))
            if mirror.other is None:
                at[mirror.index] = extents[mirror.index] + 1 - at[mirror.index]
            else:
                at[mirror.index], at[mirror.other] = at[mirror.other], at[mirror.index]
            partner = tuple(at[name] for name in names)
            results = {
                self.written(by_index[k]): self.result(by_index[k], None, memory) for k in (key, partner)
            }
            memory.update(results)
            done |= {key, partner}
        return memory


def form_value(form: Affine, values: Mapping[str, int]) -> int:
    """The value of a form of parameters."""
    total = form.constant
    for atom, weight in form.terms:
        match atom:
            case Floor(numerator, divisor):
                found = form_value(numerator, values) // divisor
            case Product(factors):
                found = 1
                for factor in factors:
                    found *= value(factor, values)
            case Name() | _:
                found = value(atom, values)  # type: ignore[arg-type]
        total += weight * found
    return total
