"""How much a procedure does with an array dummy: passes over it, paths to it, what is defined first.

Packing costs a pass or two of its own, at the stride that is to be avoided.  Measured (gfortran 12,
flang 19): an array walked once loses by half, one walked four times or more gains.
"""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.ir.procedures import Loop, Mention, Procedure, Step

PASSES = 4
"""So many passes over an array of 4 KiB or more pay for a copy there and back."""
PASSES_ONE_WAY = 3
"""And so many for one of them alone."""
_INQUIRED = "inquiry"


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop around ``inside`` passes that it does not move; there are ``others`` outside of it."""

    loop: Loop
    inside: int
    others: int

    def least(self, passes: int) -> int:
        """How often it must run for there to be ``passes``."""
        return -((self.others - passes) // self.inside)


@dataclass(frozen=True, slots=True)
class Usage:
    """What is known of the passes over a dummy, and of loops that repeat them.

    ``passes`` counts each once.  ``hot`` are the steps with passes.  ``enough`` passes pay for a
    copy.
    """

    passes: int
    repeats: tuple[Repeat, ...]
    hot: tuple[int, ...]
    enough: int

    @property
    def pays(self) -> bool:
        """Whether packing pays, should the loops that repeat a pass run often enough."""
        return self.passes >= self.enough or any(
            not isinstance(r.loop.trips, int) or r.loop.trips >= r.least(self.enough) for r in self.repeats
        )

    def conditions(self, settled: frozenset[str]) -> tuple[str, ...]:
        """Conditions of which one must hold; none when it pays anyway, or nobody can tell.

        ``settled`` are the names that may be evaluated ahead of the loops.
        """
        if self.passes >= self.enough:
            return ()
        found = []
        for repeat in self.repeats:
            least = repeat.least(self.enough)
            match repeat.loop.trips:
                case int(trips) if trips >= least:
                    return ()
                case (lower, upper) if repeat.loop.reads <= settled:
                    count = f"{upper}" if lower == "1" else f"{upper} - ({lower})"
                    found.append(f"{count} >= {least if lower == '1' else least - 1}")
                case int():
                    continue
                case _:
                    return ()
        return tuple(found)


def usage(procedure: Procedure, name: str, ways: int = 2) -> Usage:
    """The passes over the dummy ``name`` in a procedure, where a copy goes one way or ``ways``."""
    enough = PASSES if ways > 1 else PASSES_ONE_WAY
    counted: dict[tuple[int, str], int] = {}
    around: dict[int, tuple[Loop, set[tuple[int, str]]]] = {}
    hot: list[int] = []
    for number, step in enumerate(procedure.steps):
        for mention in step.mentions.get(name, ()):
            if mention.role == _INQUIRED:
                continue
            still = [loop for loop in step.loops if not _moves(loop, mention)]
            moved = len(still) < len(step.loops)
            if mention.role == "element" and not moved:
                continue
            hot.append(number)
            # What one innermost loop reads of an array is one pass, however often it is named.
            key = (step.loops[-1].key, "") if moved else (number, mention.function)
            counted[key] = max(counted.get(key, 0), enough if mention.function == "matmul" else 1)
            for loop in still:
                around.setdefault(loop.key, (loop, set()))[1].add(key)
    total = sum(counted.values())
    repeats = []
    for loop, keys in around.values():
        inside = sum(counted[key] for key in keys)
        repeats.append(Repeat(loop, inside, total - inside))
    return Usage(total, tuple(repeats), tuple(dict.fromkeys(hot)), enough)


def _moves(loop: Loop, mention: Mention) -> bool:
    """Whether another iteration of ``loop`` means another part of the array."""
    return bool(mention.names & (loop.variables | loop.assigned))


def mentioned(procedure: Procedure, name: str) -> tuple[int, ...]:
    """The steps that read or define elements of ``name``."""
    return tuple(
        number
        for number, step in enumerate(procedure.steps)
        if any(mention.role != _INQUIRED for mention in step.mentions.get(name, ()))
    )


def defined_first(procedure: Procedure, name: str, rank: int, plain: bool) -> bool:
    """Whether each element of ``name`` is surely defined before anything reads one or leaves.

    That is so where the first statement with the array assigns all of it, at the level of the
    procedure itself: ``x = ...``, ``x(:, :) = ...``, or loops over SIZE of each dimension.
    ``plain``: all its lower bounds are 1.
    """
    for number, step in enumerate(procedure.steps):
        found = [m for m in step.mentions.get(name, ()) if m.role != _INQUIRED]
        if not found:
            if step.leaves:
                return False
            continue
        if step.kind != "assignment" or not step.simple or len(found) != 1:
            return False
        if not found[0].defined:
            return False
        if not step.loops:
            return found[0].role == "whole" or _all_of(step, name, rank)
        return len(step.loops) == rank and _swept(procedure, number, name, rank, plain)
    return False


def _all_of(step: Step, name: str, rank: int) -> bool:
    left = "".join(step.text.partition("=")[0].split())
    return left == f"{name}({','.join(':' * rank)})"


def _swept(procedure: Procedure, number: int, name: str, rank: int, plain: bool) -> bool:
    """Whether the assignment in its loops, which hold nothing that leaves, visits each element."""
    step = procedure.steps[number]
    left = "".join(step.text.partition("=")[0].split())
    keys = {loop.key for loop in step.loops}
    if any(s.leaves and keys & {loop.key for loop in s.loops} for s in procedure.steps):
        return False
    indices = left.removeprefix(f"{name}(").removesuffix(")").split(",")
    variables = [next(iter(loop.variables)) for loop in step.loops if len(loop.variables) == 1]
    if len(variables) != rank or sorted(indices) != sorted(variables):
        return False
    swept = {(loop.whole[1] or "1", loop.whole[2]) for loop in step.loops
             if loop.whole is not None and loop.whole[0] == name
             and (plain or loop.whole[3] == "bounds") and (rank == 1 or loop.whole[1])}  # fmt: skip
    return all((str(dim), index) in swept for dim, index in enumerate(indices, 1))
