"""The fixtures harness must notice a tool that is wrong: deliberately wrong tools, small cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import Case, bless_case, flags, options, parses, try_case

from fortrans.options import Options
from fortrans.remarks import Kind, Remark
from fortrans.source import Source, Span
from fortrans.verify.build import CompilerMissing, build, run
from fortrans.verify.compare import compare
from fortrans.verify.laws import line_ends, reported, stable, untouched

PROGRAM = """\
program p
  implicit none
  integer :: a(3)
  a = [1, 2, 3]
  a = a / a(1)
  print *, a
end program p
"""
LINE = "  a = a / a(1)\n"


class Replacing:
    """A tool that replaces texts, and reports the statement of line 5 as rewritten."""

    def __init__(self, *edits: tuple[str, str], remark: bool = True) -> None:
        self.edits = edits
        self.remark = remark

    def __call__(self, text: str, _: Options, path: str) -> tuple[str, tuple[Remark, ...]]:
        new = text
        for old, other in self.edits:
            new = new.replace(old, other)
        done = Remark(path, Span(5, 5), "FT101", Kind.PASSED, "Assignment to 'a' became a loop")
        return new, (done,) if self.remark and new != text else ()


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "input.f90").write_text(PROGRAM)
    return Case(tmp_path)


GOOD = "  a = a(:) / a(1)\n"


def test_good_tool_is_blessed(case: Case) -> None:
    assert bless_case(case, Replacing((LINE, GOOD))).broken == ()
    assert case.expected.read_text() == PROGRAM.replace(LINE, GOOD)
    assert case.remarks.read_text() == ("input.f90:5: FT101 [passed] Assignment to 'a' became a loop\n")


def test_tool_that_does_nothing_is_blessed(case: Case) -> None:
    assert bless_case(case, Replacing()).broken == ()
    assert case.expected.read_text() == PROGRAM


@pytest.mark.parametrize(
    ("tool", "complaint"),
    [
        (Replacing((LINE, "  a = a * a(2)\n")), "print different things"),
        (Replacing((LINE, LINE + "  if (a(1) == 1) stop 3\n")), "print different things"),
        (Replacing((LINE, "  a = a / a(1)\n  a(size(a) + 1) = 0\n")), "rewritten program said"),
        (Replacing(("1, 2, 3", "1, 2, 4"), (LINE, GOOD)), "Lines before line 5 changed"),
        (Replacing((LINE, GOOD), ("print *, a", "print *,a")), "Lines after the last"),
        (Replacing((LINE, GOOD), remark=False), "no remark says so"),
        (Replacing((LINE, LINE + LINE)), "second run"),
        (Replacing((LINE, "  block\n    integer :: k\n" + GOOD + "  end block\n")), "warns"),
        (Replacing((LINE, GOOD.replace("\n", "\r\n"))), "Line ends"),
    ],
)
def test_wrong_tool_is_not_blessed(case: Case, tool: Replacing, complaint: str) -> None:
    assert complaint in "\n".join(bless_case(case, tool).broken)
    assert not case.expected.exists()
    assert not case.remarks.exists()


def test_output_that_does_not_parse_is_noticed(case: Case) -> None:
    refuses = lambda text: "(:)" not in text  # noqa: E731
    outcome = try_case(case, Replacing((LINE, GOOD)), full_parse=refuses)
    assert outcome.broken == ("The output does not parse, and the input did",)
    assert parses(PROGRAM)
    assert not parses(PROGRAM.replace("a / a(1)", "a / )"))


def test_output_that_does_not_compile_is_noticed(case: Case) -> None:
    [broken] = try_case(case, Replacing((LINE, "  a = b\n"))).broken
    assert "rewritten program does not compile" in broken


def test_options_in_the_first_line() -> None:
    assert options("! fortrans: --all --line-length=80\n") == Options(all=True, line_length=80)
    assert options("! fortrans: --no-comments\n! flags: -fopenmp\n").comments is False
    assert flags("! fortrans: --all\n! flags: -fopenmp -O1\n") == ("-fopenmp", "-O1")
    assert options(PROGRAM) == Options()
    with pytest.raises(ValueError, match="--al"):
        options("! fortrans: --al\n")


def test_exit_codes_and_endless_programs(tmp_path: Path) -> None:
    stops = Source("p.f90", "program p\n  stop 3\nend program p\n")
    ends = Source("p.f90", "program p\nend program p\n")
    loops = Source("p.f90", "program p\n  do\n  end do\nend program p\n")
    assert "exit code 3 and exit code 0" in (compare([stops], [ends]).difference or "")
    assert "stopped for time" in (compare([ends], [loops], timeout=0.5).difference or "")
    built = build([stops], (), tmp_path)
    assert run(built.executable).exit == 3


def test_missing_compiler_is_named(tmp_path: Path) -> None:
    with pytest.raises(CompilerMissing, match="'no-such-fortran' not found"):
        build([], (), tmp_path, compiler="no-such-fortran")


def _passed(*lines: int) -> list[Remark]:
    return [Remark("f", Span(n, n), "FT101", Kind.PASSED, "Done") for n in lines]


def test_untouched_between_statements() -> None:
    source = Source("f", "a\nb\nc\nd\ne\n")
    assert untouched(source, Source("f", "a\nB\nB\nc\nD\ne\n"), _passed(2, 4)) is None
    assert untouched(source, Source("f", "a\nB\nC\nD\ne\n"), _passed(2, 4)) is not None
    assert untouched(source, Source("f", "A\nb\n"), _passed(1, 3, 4, 5)) is None
    assert untouched(source, Source("f", "a\nb\nc\nd\nE"), _passed(5)) is None
    assert untouched(source, Source("f", "a\nB\nc\nd\n"), _passed(2)) is not None


def test_other_laws() -> None:
    source = Source("f", "a\nb\n")
    assert reported(source, _passed(1, 2)) is None
    assert reported(source, _passed(2, 1)) is not None
    assert reported(source, _passed(3)) is not None
    assert reported(Source("g", "a\n"), _passed(1)) is not None
    assert stable(source, source) is None
    assert line_ends(Source("f", "a\r\n"), Source("f", "a\n")) is not None
    assert line_ends(Source("f", "a\r\nb"), Source("f", "a\r\nc\r\nb")) is None
