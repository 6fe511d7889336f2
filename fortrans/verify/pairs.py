"""The bench pairs: every kernel, original beside rewritten, for each compiler: `make bench`.

For each pair: the ratio of times by size (both run in turn in one program, see ``kernels``), the
``-Warray-temporaries`` warnings and the routines of the run-time library that the object needs,
before and after, and whether the results agree.  Then the geometric means by group of intrinsics.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from fortrans.source import Source
from fortrans.verify.build import BuildFailed, CompilerMissing, compile_only
from fortrans.verify.kernel_program import Kernel
from fortrans.verify.kernels import SLOWER, Row, kernels, measure, rewritten


@dataclass(frozen=True, slots=True)
class Setting:
    """A compiler, its flags, and the target whose profit rules apply."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    target: str

    @property
    def exact(self) -> bool:
        """Whether both programs are to give the same bits."""
        return self.name == "gf-O2"


SETTINGS = (
    Setting("gf-O2", "gfortran", ("-O2",), "gfortran"),
    Setting("gf-O3n", "gfortran", ("-O3", "-march=native"), "gfortran"),
    Setting("fl-O2", "flang-new-19", ("-O2",), "flang"),
)
#: Relative difference that sums in another order may make.
ROUNDING = 1e-3
_LOCATIONS = ("maxloc", "minloc", "findloc")
_REDUCTIONS = (
    "sum product maxval minval all any count iall iany iparity parity norm2 dot_product".split()
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a compiler makes of a text: array temporaries it warns of, library routines it calls."""

    temporaries: int
    calls: int


@dataclass(frozen=True, slots=True)
class Pair:
    """One kernel under one setting; ``rows`` is empty when it is left as it is."""

    kernel: str
    group: str
    setting: str
    codes: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    before: Cost = Cost(0, 0)
    after: Cost = Cost(0, 0)

    @property
    def ratio(self) -> float:
        """The geometric mean over the sizes."""
        return mean(row.ratio for row in self.rows)

    def agrees(self, exact: bool) -> bool:
        """Whether the results are the same, or differ by no more than rounding."""
        return all(not row.differing or (not exact and row.worst <= ROUNDING) for row in self.rows)


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean; NaN of none."""
    logs = [math.log(ratio) for ratio in ratios if ratio > 0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def group(kernel: Kernel) -> str:
    """The group of intrinsics that a kernel is of: the dearest of those it references."""
    body = re.sub(r"!.*", "", kernel.text.partition("contains")[2]).lower()
    names = set(re.findall(r"([a-z]\w*)\s*\(", body))
    scalar = any(x.own and not x.extents for x in kernel.arguments)
    for wanted, found in (
        ("location reductions", names.intersection(_LOCATIONS)),
        ("products", names & {"matmul", "dot_product", "norm2"}),
        ("PACK and UNPACK", names & {"pack", "unpack"}),
        ("RESHAPE", names & {"reshape"}),
        ("shifts", names & {"cshift", "eoshift"}),
        ("reductions to scalars", names.intersection(_REDUCTIONS) if scalar else ()),
        ("axial reductions", names.intersection(_REDUCTIONS)),
        ("SPREAD", names & {"spread"}),
        ("TRANSPOSE", names & {"transpose"}),
        ("inquiry", names & {"shape"}),
        ("constructors", "[" in body),
    ):
        if found:
            return wanted
    return "elementwise"


def cost(text: str, setting: Setting) -> Cost:
    """Raises BuildFailed or CompilerMissing."""
    warn = ("-Warray-temporaries",) if "gfortran" in setting.compiler else ()
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        flags = (*setting.flags, *warn)
        built = compile_only(Source("kernel.f90", text), flags, Path(name), setting.compiler)
        return Cost(built.temporaries, len(built.routines))


def pairs(
    setting: Setting, found: Sequence[Kernel], all: bool, seconds: float, rounds: int
) -> Iterator[Pair]:
    """Measure each kernel under ``setting``.  Raises BuildFailed or CompilerMissing."""
    for kernel in found:
        outcome = rewritten(kernel, all, setting.target)
        codes = tuple(dict.fromkeys(outcome.codes))
        pair = Pair(kernel.label, group(kernel), setting.name, codes)
        if not outcome.changed:
            yield pair
            continue
        rows = measure(kernel, outcome.text, setting.flags, setting.compiler, (), seconds, rounds)
        before, after = cost(kernel.text, setting), cost(outcome.text, setting)
        yield Pair(pair.kernel, pair.group, pair.setting, codes, tuple(rows), before, after)


def line(pair: Pair, exact: bool) -> str:
    """A line of the table."""
    if not pair.rows:
        return f"{pair.kernel:<36} {','.join(pair.codes):<6} left"
    ratios = "  ".join(
        f"{row.size:>7}:{row.ratio:6.2f}{'<' if row.ratio < SLOWER else ' '}" for row in pair.rows
    )
    temporaries = f"{pair.before.temporaries}>{pair.after.temporaries}"
    calls = f"{pair.before.calls}>{pair.after.calls}"
    worst = max(row.worst for row in pair.rows)
    same = "same" if not any(row.differing for row in pair.rows) else f"{worst:.0e}"
    wrong = "" if pair.agrees(exact) else "  WRONG"
    head = f"{pair.kernel:<36} {','.join(pair.codes):<6} {ratios}"
    return f"{head}  temp {temporaries}  calls {calls}  {same}{wrong}"


def summary(measured: Sequence[Pair], setting: str) -> str:
    """Geometric means by group, and of all pairs of a setting."""
    own = [pair for pair in measured if pair.setting == setting and pair.rows]
    lines = [f"{setting}: geometric means of {len(own)} pairs"]
    for name in sorted({pair.group for pair in own}):
        each = [row.ratio for pair in own if pair.group == name for row in pair.rows]
        lines.append(f"  {name:<24} {_figures(each)}")
    ratios = [row.ratio for pair in own for row in pair.rows]
    if ratios:
        left = sum(pair.after.temporaries for pair in own)
        lines.append(
            f"  {'all':<24} {_figures(ratios)}"
            f"  below {SLOWER}: {sum(ratio < SLOWER for ratio in ratios)} of {len(ratios)}"
            f"  temporaries {sum(pair.before.temporaries for pair in own)}>{left}"
            f"  calls {sum(pair.before.calls for pair in own)}>{sum(pair.after.calls for pair in own)}"
        )
    return "\n".join(lines)


def _figures(ratios: Sequence[float]) -> str:
    return f"mean {mean(ratios):6.2f}  median {median(ratios):6.2f}  least {min(ratios):5.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 1 when results differ, 2 when nothing could be measured."""
    parser = argparse.ArgumentParser(description="Bench pairs: original beside rewritten, for each compiler")
    parser.add_argument("--only", default="", help="words that the kernel's label must contain")
    parser.add_argument("--settings", nargs="+", choices=[x.name for x in SETTINGS], default=[])
    parser.add_argument("--all", action="store_true", help="measure also what profit rules leave alone")
    parser.add_argument("--seconds", type=float, default=0.003, help="the least time of a batch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    chosen = parser.parse_args(arguments)
    found = kernels(only=chosen.only)
    measured: list[Pair] = []
    wrong = False
    for setting in SETTINGS:
        if chosen.settings and setting.name not in chosen.settings:
            continue
        if not chosen.json:
            print(f"{setting.name}: {setting.compiler} {' '.join(setting.flags)}", flush=True)
        for kernel in found:
            try:
                (pair,) = pairs(setting, [kernel], chosen.all, chosen.seconds, chosen.rounds)
            except CompilerMissing as missing:
                print(f"{setting.name}: {missing}", file=sys.stderr)
                break
            except BuildFailed as failed:
                print(f"{kernel.label}: error: {failed}", file=sys.stderr)
                wrong = True
                continue
            measured.append(pair)
            wrong = wrong or not pair.agrees(setting.exact)
            if not chosen.json:
                print(line(pair, setting.exact), flush=True)
    if chosen.json:
        print(json.dumps([asdict(pair) | {"ratio": pair.ratio} for pair in measured], indent=1))
    else:
        print("\n" + "\n".join(summary(measured, x) for x in dict.fromkeys(p.setting for p in measured)))
    if not any(pair.rows for pair in measured):
        return 2
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
