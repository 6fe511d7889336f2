"""Programs of a user, original and rewritten, timed in turn in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fortrans.remarks import InputError
from fortrans.source import Source
from fortrans.verify.allocations import Allocations, counted, shim
from fortrans.verify.build import BuildFailed, Built, build
from fortrans.verify.measured import measured
from fortrans.verify.numbers import differ
from fortrans.verify.user import Files, Setting, Verifier


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two programs.

    ``seconds`` of each run, ``peak`` memory in bytes; ``temporaries`` are the array temporaries
    that the compiler warns of (gfortran only), ``routines`` those of its run-time library that the
    program calls.
    """

    seconds: tuple[float, ...]
    peak: int
    temporaries: int
    routines: int
    allocations: Allocations | None


@dataclass(frozen=True, slots=True)
class Timing:
    """Both programs under one setting; ``ratio`` is the median of those of the rounds.

    ``problem``: why there is nothing to compare.  ``difference``: what they print differs.
    """

    program: str
    setting: Setting
    original: Side | None = None
    rewritten: Side | None = None
    problem: str | None = None
    difference: str | None = None

    @property
    def ratios(self) -> tuple[float, ...]:
        """Original by rewritten, for each round."""
        if self.original is None or self.rewritten is None:
            return ()
        pairs = zip(self.original.seconds, self.rewritten.seconds)
        return tuple(before / max(after, 1e-9) for before, after in pairs)

    @property
    def ratio(self) -> float:
        return median(self.ratios)


def timings(verifier: Verifier, files: Files, setting: Setting, rounds: int) -> Iterator[Timing]:
    """Build each program both ways and run the two in turn, ``rounds`` times.  Raises InputError."""
    texts, _ = verifier.rewritten(files.sources)
    if not files.mains:
        raise InputError(files.sources[0].path, "No main program is among the files")
    for main, sources in files.programs():
        with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
            yield _timing(verifier, files, setting, rounds, main, sources, texts, Path(name))


def _timing(
    verifier: Verifier,
    files: Files,
    setting: Setting,
    rounds: int,
    main: str,
    sources: Sequence[Source],
    texts: dict[str, Source],
    folder: Path,
) -> Timing:
    timing = Timing(main, setting)
    warn = () if "flang" in Path(setting.compiler).name else ("-Warray-temporaries",)
    flags = (*setting.flags, *warn, *(f"-I{place}" for place in files.folders))
    made: list[Built] = []
    for place, chosen in (("original", sources), ("rewritten", [texts[s.path] for s in sources])):
        try:
            made.append(build(chosen, flags, folder / place, setting.compiler))
        except BuildFailed as failed:
            problem = f"The {place} program does not compile:\n{failed.messages.rstrip()}"
            return Timing(main, setting, problem=problem)
    seconds: tuple[list[float], list[float]] = [], []
    peaks = [0, 0]
    for _ in range(rounds):
        runs = [measured([str(x.executable)], x.executable.parent, verifier.timeout) for x in made]
        if runs[0].run.exit is None:
            problem = f"The original program does not end within {verifier.timeout:g} seconds"
            return Timing(main, setting, problem=problem)
        found = differ(runs[0].run, runs[1].run, verifier.tolerance)
        if found is not None:
            again = measured([str(made[0].executable)], made[0].executable.parent, verifier.timeout)
            if differ(runs[0].run, again.run, verifier.tolerance) is not None:
                problem = "The original program prints other things when it runs again"
                return Timing(main, setting, problem=problem)
            return Timing(main, setting, difference=found)
        for number, one in enumerate(runs):
            seconds[number].append(one.seconds)
            peaks[number] = max(peaks[number], one.peak)
    library = shim(folder)
    sides = [
        Side(
            tuple(seconds[number]),
            peaks[number],
            x.temporaries,
            len(x.routines),
            counted(x.executable, library, verifier.timeout) if library is not None else None,
        )
        for number, x in enumerate(made)
    ]
    return Timing(timing.program, setting, sides[0], sides[1])
