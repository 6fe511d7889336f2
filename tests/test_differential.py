"""Random programs, original against rewritten, under everything gfortran can check."""

from __future__ import annotations

import re

import pytest

from fortrans.verify.fuzz import Verdict, examine, reduced
from fortrans.verify.generate import Program, generate
from fortrans.verify.special import generate as special_values

SEEDS = range(1, 9)
MORE = range(1001, 1101)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        more = MORE if metafunc.config.getoption("--thorough") else ()
        metafunc.parametrize("seed", [*SEEDS, *more])


def test_rewritten_program_prints_the_same(seed: int) -> None:
    finding = examine(generate(seed).text(), referee="flang-new-19")
    assert finding.verdict is not Verdict.DIFFERENT, finding.detail


@pytest.mark.parametrize("number", SEEDS)
def test_special_values_print_the_same(number: int) -> None:
    """NaN, infinities, both zeros, every type and kind."""
    flags = ("-w", "-fcheck=all", "-O0")
    finding = examine(special_values(number, 20).text(), flags=flags, referee="flang-new-19")
    assert finding.verdict is not Verdict.DIFFERENT, finding.detail


def test_original_that_reads_what_it_never_set_is_unusable() -> None:
    """gfortran 12 does so for `a = transpose(l1(3:1:-1, :))` with an allocatable `a`."""
    text = "program p\ninteger, allocatable :: a(:)\nallocate (a(9))\nprint *, a, 1\nend program\n"
    finding = examine(text, rewriter=lambda text: text.replace("1\n", "2\n"))
    assert finding.verdict is Verdict.UNUSABLE and "every run" in finding.detail


def test_special_programs_hold_what_they_should() -> None:
    programs = [special_values(seed) for seed in range(1, 121)]
    text = "\n".join("".join(program.statements) for program in programs)
    words = "transpose spread reshape cshift eoshift merge sum maxval product any count pack matmul unpack"
    for word in words.split():
        assert len(re.findall(rf"\b{word}\(", text)) > 5, word
    whole = "\n".join(program.text() for program in programs)
    assert min(whole.count(word) for word in ("nan8", "-inf4", "-0.0_8", "_l8 =", "_i1 =", "_z4 =")) > 5


def test_most_programs_are_usable() -> None:
    findings = [examine(generate(seed).text(), rewriter=str) for seed in SEEDS]
    assert [one.verdict for one in findings].count(Verdict.SAME) >= len(SEEDS) - 2


def test_same_seed_same_program() -> None:
    assert generate(5).text() == generate(5).text() != generate(6).text()


def test_programs_hold_what_they_should() -> None:
    text = "\n".join(generate(seed).text() for seed in range(1, 41))
    names = "transpose spread reshape cshift eoshift merge sum maxval minval product any all count"
    for word in names.split():
        assert len(re.findall(rf"\b{word}\(", text)) > 20, word
    parts = "; |where (|else\n|do k|bump()|ramp(|peek(|p3|mask=|order=|pad=|maxloc(|minloc(|findloc(|back="
    for part in parts.split("|"):
        assert text.count(part) > 5, part


def _wrong(text: str) -> str:
    """A tool that loses the last element of every CSHIFT of the first statements it sees."""
    return re.sub(r"cshift\((\w+), (-?\d)\)", r"eoshift(\1, \2)", text)


def test_wrong_rewrite_is_noticed_and_reduced() -> None:
    program = Program(
        0,
        "program p\n  implicit none\n  integer :: a(3) = [1, 2, 3], b(3) = 0\n",
        ("  b(1) = 5\n", "  b = cshift(a, 1)\n", "  a(2) = 7\n", "  print *, b\n", "  print *, a\n"),
        "end program p\n",
    )
    finding = examine(program.text(), rewriter=_wrong)
    assert finding.verdict is Verdict.DIFFERENT
    assert "print different things from line 1" in finding.detail
    keep = reduced(program, lambda text: examine(text, rewriter=_wrong))
    assert keep == {1, 3}


def test_rewrite_that_does_not_compile_is_noticed() -> None:
    text = "program p\n  implicit none\n  print *, 1\nend program p\n"
    assert examine(text, rewriter=lambda t: t.replace("1", "b")).verdict is Verdict.DIFFERENT
    assert examine(text.replace("1", "b"), rewriter=str).verdict is Verdict.UNUSABLE
