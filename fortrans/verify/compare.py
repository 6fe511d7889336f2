"""Compare two programs by what they print and how they end, bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fortrans.source import Source
from fortrans.verify.build import CHECKED, BuildFailed, Built, Run, build, run


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two builds and two runs of what should be the same program."""

    original: Run
    rewritten: Run
    new_warnings: tuple[str, ...]

    @property
    def difference(self) -> str | None:
        """How the two programs differ, in one or a few lines; None when they do not."""
        return difference(self.original, self.rewritten)


def difference(original: Run, rewritten: Run) -> str | None:
    """How two runs differ: the first line of output that is not the same, or the exit code.

    Standard error is not compared: run-time messages name lines, which move.
    """
    if original.stdout != rewritten.stdout:
        return _first_line(original.stdout, rewritten.stdout) + _complaint(rewritten)
    if original.exit != rewritten.exit:
        ends = " and ".join(_ending(one) for one in (original, rewritten))
        return f"The programs end differently: {ends}{_complaint(rewritten)}"
    if original.exit is None:
        return "Neither program ended in time"
    return None


def _ending(one: Run) -> str:
    return "stopped for time" if one.exit is None else f"exit code {one.exit}"


def _complaint(one: Run) -> str:
    text = one.stderr.decode("utf-8", "replace").strip()
    return f"\nthe rewritten program said: {text[:500]}" if text else ""


def _first_line(left: bytes, right: bytes) -> str:
    ours, theirs = left.split(b"\n"), right.split(b"\n")
    at = next(
        (k for k, (a, b) in enumerate(zip(ours, theirs)) if a != b),
        min(len(ours), len(theirs)),
    )

    def shown(lines: list[bytes]) -> str:
        return lines[at].decode("utf-8", "replace")[:200] if at < len(lines) else "<end of output>"

    return (
        f"The programs print different things from line {at + 1} on:"
        f"\n  original:  {shown(ours)}\n  rewritten: {shown(theirs)}"
    )


def compare(
    original: Sequence[Source],
    rewritten: Sequence[Source],
    flags: Sequence[str] = CHECKED,
    compiler: str = "gfortran",
    arguments: Sequence[str] = (),
    timeout: float = 30.0,
) -> Comparison:
    """Build both programs (side by side, in a folder that is removed) and run them.

    Raises CompilerMissing; BuildFailed names the program that did not compile.
    """
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        folders = Path(name, "original"), Path(name, "rewritten")

        def both(sources: Sequence[Source], folder: Path) -> tuple[Built, Run]:
            try:
                built = build(sources, flags, folder, compiler)
            except BuildFailed as failed:
                message = f"The {folder.name} program does not compile: {failed.messages}"
                raise BuildFailed(message) from failed
            return built, run(built.executable, arguments, timeout)

        with ThreadPoolExecutor(2) as pool:
            left, right = (
                pool.submit(both, sources, folder) for sources, folder in zip((original, rewritten), folders)
            )
            before, after = left.result(), right.result()
    added = sorted(set(after[0].warnings) - set(before[0].warnings))
    return Comparison(before[1], after[1], tuple(added))
