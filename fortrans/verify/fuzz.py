"""Random programs, original against rewritten: `python -m fortrans.verify.fuzz --minutes N --seed S`."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from fortrans.options import Options
from fortrans.source import Source
from fortrans.verify.build import BuildFailed, Run, build, compiler_path, run, steady
from fortrans.verify.build import CompilerMissing as CompilerMissing
from fortrans.verify.compare import difference
from fortrans.verify.generate import Program, generate
from fortrans.verify.special import generate as special_values

FLAGS = ("-std=f2008", "-w", "-fcheck=all,no-array-temps", "-g", "-O0")

#: Text of a program to text of the rewritten program.
Rewriter = Callable[[str], str]


class Verdict(Enum):
    """SAME: both print the same.  UNUSABLE: the compiler fails on the original, or miscompiles it
    as a second compiler or another run tells.  DIFFERENT: the rewrite is wrong, or does not compile."""

    SAME = "same"
    UNUSABLE = "unusable"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one program."""

    verdict: Verdict
    detail: str = ""


def rewritten(text: str) -> str:
    """All that is legal, rewritten by the tool."""
    from fortrans.pipeline import rewrite

    return rewrite(text, Options(all=True), "random.f90").text


def _lines(output: Run) -> list[list[str]]:
    return [line.split() for line in output.stdout.decode("utf-8", "replace").lower().splitlines()]


def _sides_with(after: Run, before: Run, second: Run) -> bool:
    """Whether the referee prints what the rewritten program does on the first line that differs.

    Later lines may depend on that one, and two compilers need not round alike everywhere.
    """
    for ours, theirs, judge in zip(_lines(after), _lines(before), _lines(second)):
        if ours != theirs:
            return ours == judge
    return False


def _referee(text: str, folder: Path, compiler: str) -> Run | None:
    """What another compiler makes of the original, when there is one and it can."""
    try:
        built = build([Source("random.f90", text)], ("-O0",), folder, compiler)
    except (CompilerMissing, BuildFailed):
        return None
    result = run(built.executable)
    return result if result.exit == 0 else None


def examine(
    text: str,
    rewriter: Rewriter = rewritten,
    flags: Sequence[str] = FLAGS,
    compiler: str = "gfortran",
    referee: str | None = None,
) -> Finding:
    """Rewrite a program, build and run both.

    When they differ, ``referee`` compiles the original too: where it agrees with the rewritten
    program, the first compiler is at fault.  Raises CompilerMissing.
    """
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        folder = Path(name)
        try:
            original = build([Source("random.f90", text)], flags, folder / "original", compiler)
        except BuildFailed as failed:
            return Finding(Verdict.UNUSABLE, failed.messages[:500])
        before = run(original.executable)
        if before.exit != 0:
            return Finding(Verdict.UNUSABLE, before.stderr.decode("utf-8", "replace")[:500])
        output = rewriter(text)
        if output == text:
            return Finding(Verdict.SAME)
        try:
            other = build([Source("random.f90", output)], flags, folder / "rewritten", compiler)
        except BuildFailed as failed:
            return Finding(Verdict.DIFFERENT, failed.messages[:2000])
        after = run(other.executable)
        found = difference(before, after)
        if found is None:
            return Finding(Verdict.SAME)
        if not steady(original.executable, before):
            return Finding(Verdict.UNUSABLE, "the original prints other things in every run")
        second = referee and _referee(text, folder / "referee", referee)
        if second and _sides_with(after, before, second):
            return Finding(Verdict.UNUSABLE, f"'{referee}' agrees with the rewritten program")
        return Finding(Verdict.DIFFERENT, found)


def _kind(finding: Finding) -> tuple[Verdict, bool]:
    """A reduction must not turn a program that prints other things into one that fails to
    compile, which is another fault."""
    return finding.verdict, "does not compile" in finding.detail or "Error:" in finding.detail


def reduced(program: Program, check: Callable[[str], Finding]) -> set[int]:
    """The numbers of statements that are enough to keep the finding of the whole program.

    Ever smaller runs of statements are left out as long as the finding stays; a program that no
    longer conforms fails at run time and is not taken.
    """
    keep = list(range(len(program.statements)))
    wanted = _kind(check(program.text(keep)))
    size = len(keep) // 2
    while size:
        for start in range(len(keep) - size, -1, -size):
            fewer = keep[:start] + keep[start + size :]
            if _kind(check(program.text(fewer))) == wanted:
                keep = fewer
        size //= 2
    return set(keep)


def save(program: Program, finding: Finding, folder: Path, keep: set[int], rewriter: Rewriter) -> Path:
    """Write a failing program and its rewrite to ``folder``; where the program is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed{program.seed}.f90"
    text = program.text(keep)
    notes = "".join(f"! {line}\n" for line in finding.detail.splitlines())
    path.write_text(f"{notes}{text}", encoding="utf-8")
    path.with_suffix(".rewritten.f90").write_text(rewriter(text), encoding="utf-8")
    return path


def statements_of(program: Program, keep: set[int]) -> str:
    """The statements kept, without the calls that print."""
    text = "".join(program.statements[k] for k in sorted(keep))
    return re.sub(r" *(call show_.*|print \*, lbound.*)\n", "", text)


def installed(compiler: str) -> bool:
    """Whether the compiler is on the PATH."""
    try:
        compiler_path(compiler)
    except CompilerMissing:
        return False
    return True


def tried(program: Program, check: Callable[[str], Finding]) -> Finding:
    """The finding about a whole program; a crash of the tool names the seed."""
    try:
        return check(program.text())
    except Exception as crash:
        crash.add_note(f"while rewriting the program of seed {program.seed}")
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Try programs until the time is over; exit code 1 when a rewrite was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--size", type=int, default=25, help="statements in each program")
    parser.add_argument("--compiler", default="gfortran")
    parser.add_argument("--referee", default="flang-new-19", help="asked when programs differ")
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--exact", action="store_true", help="whole numbers only")
    parser.add_argument("--programs", type=int, help="stop after so many, whatever the time")
    kinds = ["ordinary", "special"]
    parser.add_argument("--only", choices=kinds, help="one kind of programs; else the two alternate")
    parser.add_argument("--wheres", type=int, default=3, help="weight of WHERE among the statements")
    chosen = parser.parse_args(arguments)
    try:
        compiler_path(chosen.compiler)
    except CompilerMissing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 2
    settings: list[tuple[str, tuple[str, ...], str]] = [(chosen.compiler, FLAGS, chosen.referee)]
    if installed(chosen.referee):
        settings.append((chosen.referee, ("-O0",), chosen.compiler))
    counts = {compiler: dict.fromkeys(Verdict, 0) for compiler, _, _ in settings}
    seed, end = chosen.seed, time.monotonic() + 60 * chosen.minutes
    last = seed + chosen.programs if chosen.programs is not None else None
    while time.monotonic() < end and seed != last:
        special = chosen.only == "special" or (chosen.only is None and seed % 2 == 1)
        inexact = not (special or chosen.exact) and seed % 4 == 2
        ordinary = partial(generate, inexact=inexact, wheres=chosen.wheres)
        program = (special_values if special else ordinary)(seed, chosen.size)
        for compiler, flags, referee in settings:
            # flang adds in an order of its own, which shows where sums are not exact.
            if inexact and compiler != chosen.compiler:
                continue
            found = tried(program, partial(examine, flags=flags, compiler=compiler, referee=referee))
            counts[compiler][found.verdict] += 1
            if found.verdict is Verdict.DIFFERENT:
                check = partial(examine, flags=flags, compiler=compiler, referee=referee)
                keep = reduced(program, check)
                final = check(program.text(keep))
                path = save(program, final, chosen.save, keep, rewritten)
                said = f"{final.detail}\n{statements_of(program, keep)}saved as {path}\n"
                print(f"seed {seed} under {compiler}: {said}", flush=True)
        seed += 1
    print(f"{seed - chosen.seed} programs of {chosen.size} statements from seed {chosen.seed}")
    for compiler, count in counts.items():
        print(f"{compiler}: " + ", ".join(f"{number} {verdict.value}" for verdict, number in count.items()))
    return int(any(count[Verdict.DIFFERENT] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
