"""The flow of files: what one file's statements may depend on in another."""

from __future__ import annotations

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite, rewrite_sources
from fortrans.remarks import InputError
from fortrans.result import FileResult
from fortrans.source import Source

STRICT = Options(strict=True)
SHIFT = "subroutine s(a, b)\n  real :: a(:), b(:)\n  a = 2*cshift(b, 1) + b\nend subroutine s\n"


def results(*sources: Source) -> list[FileResult]:
    found = list(rewrite_sources(sources, STRICT))
    assert not any(isinstance(x, InputError) for x in found)
    return [x for x in found if isinstance(x, FileResult)]


def test_a_file_that_another_one_includes_is_left() -> None:
    host = Source("src/m.f90", "module m\ncontains\n  include 'parts/s.inc.f90'\nend module m\n")
    part = Source("src/parts/s.inc.f90", SHIFT)
    assert results(part)[0].output.text != SHIFT
    for order in ((host, part), (part, host)):
        by_path = {x.source.path: x for x in results(*order)}
        left = by_path[part.path]
        assert left.output.text == SHIFT
        assert [remark.code for remark in left.remarks] == ["FT008"]
        assert "'src/m.f90'" in left.remarks[0].message


def test_a_file_that_the_preprocessor_includes_is_left() -> None:
    host = Source("m.F90", 'module m\ncontains\n#include "s.inc"\nend module m\n')
    assert results(host, Source("s.inc", SHIFT))[1].output.text == SHIFT


def test_an_unreadable_file_costs_itself_only() -> None:
    good, bad = Source("good.f90", SHIFT), Source("bad.f90", "subroutine s(\n")
    first, second = rewrite_sources([bad, good], STRICT)
    assert isinstance(first, InputError) and first.path == "bad.f90"
    assert isinstance(second, FileResult) and second.output.text != SHIFT


def test_a_fault_of_the_tool_costs_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    from fortrans.frontend import candidates

    def broken(*_: object) -> bool:
        raise RuntimeError("a fault")

    monkeypatch.setattr(candidates, "transforms", broken)
    (problem,) = rewrite_sources([Source("s.f90", SHIFT)], Options())
    assert isinstance(problem, InputError) and "RuntimeError" in problem.message


def test_every_candidate_has_one_remark_in_source_order() -> None:
    text = (
        "subroutine s(a, b, n)\n  integer :: n\n  real :: a(:), b(:), c\n"
        "  a = b; a = cshift(b, 1) + b; c = 1\n  a(n) = 2\n  c = sum(a*cshift(b, 1))\n"
        "  if (n > 1) a = cshift(b, -1)*2\nend subroutine s\n"
    )
    remarks = rewrite(text, STRICT).remarks
    assert [(r.span.first, r.code) for r in remarks] == [
        (4, "FT601"), (4, "FT101"), (6, "FT102"), (7, "FT101"),
    ]  # fmt: skip


def test_two_statements_of_one_line_are_rewritten_together() -> None:
    text = (
        "subroutine s(a, b)\n  real :: a(:), b(:)\n"
        "  a = cshift(b, 1) + b; b = 1; b = cshift(a, -1)*2 ! both\nend subroutine s\n"
    )
    result = rewrite(text, STRICT)
    assert [remark.code for remark in result.remarks] == ["FT101", "FT601", "FT101"]
    assert result.text.count("end block") >= 2 and "! both" in result.text
    assert result.text.index("a(j1) =") < result.text.index("\n  b = 1\n") < result.text.rindex("b(j1) =")
    assert rewrite(result.text, STRICT).text == result.text


def test_a_where_construct_whose_end_is_not_known_is_left() -> None:
    head = "subroutine s(a, b)\n  real :: a(9), b(9)\n"
    split = "#ifdef X\n  where (b > 0)\n#else\n  where (cshift(b, 1) > 1)\n#endif\n    a = b\n  end where\n"
    text = f"{head}{split}end subroutine s\n"
    result = rewrite(text, Options(strict=True, all=True), "s.F90")
    assert result.text == text and {remark.code for remark in result.remarks} == {"FT008"}
