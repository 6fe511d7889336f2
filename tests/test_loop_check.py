"""``fortrans check --do-concurrent``: verdicts, their soundness against runs, exit codes."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from random_nests import Do, draw, run, subroutine

from fortrans.cli import main
from fortrans.frontend.modules import index
from fortrans.frontend.nests import nests
from fortrans.frontend.resolve import resolve
from fortrans.frontend.units import read
from fortrans.ir.expr import Name
from fortrans.ir.loops import Loop
from fortrans.loops.check import Wanted, check
from fortrans.options import Options
from fortrans.polyhedral.concurrency import Conflict, Sharing, Undecided, conflicts
from fortrans.polyhedral.instances import nest
from fortrans.source import Source

pytest.importorskip("islpy")

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures/concurrent"
EVERYTHING = Wanted(openmp=True, candidates=True)


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_fixture(folder: Path, bless: bool) -> None:
    text = (folder / "loops.f90").read_text("utf-8")
    found = check(Source("loops.f90", text), Options(strict=True), wanted=EVERYTHING)
    said = "".join(f"{remark}\n" for remark in found.remarks)
    wanted = {"legal": "FT355", "conflicts": "FT356", "undecided": "FT357"}.get(folder.name)
    claims = [remark for remark in found.remarks if not remark.message.startswith("DO loop")]
    assert {remark.code for remark in claims} == {wanted} or wanted is None
    assert found.conflict == any(remark.code == "FT356" for remark in claims)
    if bless:
        (folder / "remarks.txt").write_text(said, "utf-8")
    assert said == (folder / "remarks.txt").read_text("utf-8")


# ---- random loops, run ----------------------------------------------------------------------

VALUES = [{"n": n, "m": m} for n in (-2, 0, 1, 3, 5, 8) for m in (-7, -1, 0, 2, 6)]


def verdict(text: str) -> tuple[Conflict, ...]:
    program = read(Source("s.f90", text))
    body = nests(program, resolve(program, index([program])), program.units[0])
    (loop,) = (node for node in body.nodes if isinstance(node, Loop))
    found = nest(loop, body.parameters)
    assert not found.flaws
    return conflicts(found, 1, Sharing(), body.parameters)


def clashes(loop: Do, values: dict[str, int]) -> tuple[set[tuple[int, int]], set[tuple[int, int]], bool]:
    """Pairs of iterations that meet: (definer, reader), (definer, definer); and whether a read is exposed."""
    defined: dict[tuple[int, ...], set[int]] = defaultdict(set)
    exposed: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for _, around, write, read_ in run((loop,), values):
        iteration = around[0]
        if iteration not in defined[read_]:
            exposed[read_].add(iteration)
        defined[write].add(iteration)
    flows = {(w, r) for e, readers in exposed.items() for r in readers for w in defined[e] if w != r}
    outputs = {(v, w) for writers in defined.values() for v in writers for w in writers if v != w}
    return flows, outputs, bool(any(exposed.values()))


@pytest.mark.parametrize("seed", range(24))
def test_verdicts_agree_with_runs(seed: int) -> None:
    loop, count = draw(seed)
    if not count:
        return
    text = re.sub(r"\b[ab]\d+\(", "a(", subroutine(loop, count))
    text = re.sub(r"\(n, m, .*\)", "(n, m, a)", re.sub(r"real :: .*", "real :: a(-99:99, -99:99)", text))
    try:
        found = verdict(text)
    except Undecided:
        return
    if not found:
        for values in VALUES:
            flows, outputs, exposed = clashes(loop, values)
            assert not flows and not (outputs and exposed), values
        return
    (conflict,) = found
    if not conflict.sure:
        return
    assert conflict.example is not None
    if max(map(abs, conflict.example.parameters.values()), default=0) > 40:
        return  # It takes too long to run.
    known = {"n": 1, "m": 1}
    for expr, value in conflict.example.parameters.items():
        assert isinstance(expr, Name)
        known[expr.id] = value
    flows, outputs, _ = clashes(loop, known)
    pair = (*conflict.example.first, *conflict.example.second)
    assert pair in (outputs if conflict.other[1].access.write else flows)


# ---- the command ------------------------------------------------------------------------------

LEGAL = "subroutine s(a, n)\n  real :: a(n)\n  do concurrent (i = 1:n)\n    a(i) = 0\n  end do\nend\n"


def command(tmp_path: Path, text: str, *arguments: str) -> Result:
    path = tmp_path / "s.f90"
    path.write_text(text)
    return CliRunner().invoke(main, ["check", *arguments, str(path)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "arguments", "status", "code"),
    [
        (LEGAL, (), 0, "FT355"),
        (LEGAL.replace("= 0", "= a(i + 1)"), (), 1, "FT356"),
        (LEGAL.replace("a(i) =", "a(int(a(i))) ="), (), 0, "FT357"),
        (LEGAL.replace("concurrent (i = 1:n)", "i = 1, n"), (), 0, ""),
        (LEGAL.replace("concurrent (i = 1:n)", "i = 1, n"), ("--candidates",), 0, "FT355"),
        (LEGAL.replace("concurrent (i = 1:n)", "i = 1, n").replace("= 0", "= a(1)"), ("--candidates",), 0,
         "FT356"),
        (LEGAL.replace("do conc", "!$omp parallel do\ndo conc").replace("= 0", "= a(1)"), (), 1, "FT356"),
        ("subroutine s\n", (), 2, "error: SUBROUTINE has no END"),
    ],
)  # fmt: skip
def test_exit_status(
    tmp_path: Path, text: str, arguments: tuple[str, ...], status: int, code: str
) -> None:
    result = command(tmp_path, text, "--do-concurrent", *arguments)
    assert result.exit_code == status
    assert result.stdout == "" and code in result.stderr
    assert bool(code) == bool(result.stderr)


def test_options_that_need_the_other_one(tmp_path: Path) -> None:
    result = command(tmp_path, LEGAL, "--candidates")
    assert result.exit_code == 2 and "need --do-concurrent" in result.stderr


def test_without_islpy_nothing_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "islpy", None)
    result = command(tmp_path, LEGAL, "--do-concurrent")
    assert result.exit_code == 0
    assert "FT357 [missed] DO CONCURRENT is not decided: It needs islpy" in result.stderr
