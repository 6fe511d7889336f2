"""Random subscripts that stay within their bounds."""

from __future__ import annotations

from random import Random

from fortrans.verify.variables import Shape, Variable


class Sections:
    """Writes subscripts; ``known`` are variables and their values, ``loop`` a DO variable and
    the last of its values, which start at 1."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.known = {"n": 4, "m": 3}
        self.loop: tuple[str, int] | None = None

    def _chance(self, part: float) -> bool:
        return self.random.random() < part

    def places(self, variable: Variable, shape: Shape) -> list[tuple[int, ...]]:
        """The dimensions of ``variable`` that can give the extents of ``shape``, in order."""
        extents = variable.extents
        if extents is None or len(extents) < len(shape):
            return []
        chosen: list[tuple[int, ...]] = [()]
        for extent in shape:
            chosen = [
                (*dims, d)
                for dims in chosen
                for d in range(dims[-1] + 1 if dims else 0, len(extents))
                if extents[d] >= extent
            ]
        return [dims for dims in chosen if all(e > 0 or d in dims for d, e in enumerate(extents))]

    def number(self, value: int) -> str:
        """An integer, now and then by way of a variable whose value is known."""
        if self._chance(0.15):
            name = self.random.choice(["n", "m"])
            apart = value - self.known[name]
            return name if apart == 0 else f"{name} {'-' if apart < 0 else '+'} {abs(apart)}"
        return str(value)

    def subscript(self, low: int, extent: int) -> str:
        if self.loop and self.loop[1] <= extent and self._chance(0.6):
            name, apart = self.loop[0], low - 1
            return name if apart == 0 else f"{name} {'-' if apart < 0 else '+'} {abs(apart)}"
        return self.number(low + self.random.randrange(extent))

    def triplet(self, low: int, extent: int, part: int, many_one: bool) -> str:
        """A subscript of ``part`` elements of a dimension."""
        if part == 0:
            return f"{low + 1}:{low}"
        if part in (3, 4) and self._chance(0.12):
            # p3 and p4 are permutations of 1 to 3 and 1 to 4.
            return f"p{part}" if low == 1 else f"p{part} {'-' if low < 1 else '+'} {abs(low - 1)}"
        if many_one and self._chance(0.08):
            return f"[{', '.join(self.subscript(low, extent) for _ in range(part))}]"
        if part == extent and self._chance(0.6):
            return ":"
        steps = [k for k in (1, 1, 1, 2, 3, -1, -2) if (part - 1) * abs(k) < extent]
        step = self.random.choice(steps)
        reach = (part - 1) * abs(step)
        start = low + self.random.randint(0, extent - 1 - reach)
        first, last = (start, start + reach) if step > 0 else (start + reach, start)
        if step == 1:
            begin = "" if first == low and self._chance(0.5) else self.number(first)
            end = "" if last == low + extent - 1 and self._chance(0.5) else self.number(last)
            return f"{begin}:{end}"
        return f"{self.number(first)}:{self.number(last)}:{step}"
