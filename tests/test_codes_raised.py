"""Every code of the table is raised by something: here the ones that no fixture raises."""

from __future__ import annotations

from pathlib import Path

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.remarks import codes

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
HEAD = "subroutine s(a, b, n, x)\n  integer, intent(in) :: n\n  real :: a(n), b(n), x(*)\n"
TAIL = "end subroutine s\n"

CASES = {
    "FT003": HEAD + "  a = cshift(b, f(g(h(f(g(h(f(g(h(f(g(h(n)))))))))))))\n" + TAIL,
    "FT008": HEAD + "#ifdef X\n  if (n > 1) then\n#else\n  if (n > 2) then\n#endif\n"
    "  a = cshift(b, 1) + b\n  end if\n" + TAIL,
    "FT103": "subroutine s(a, b)\n  character(9) :: a(9), b(9)\n"
    f"  a = cshift(b, 1)//'{'x' * 6000}'\nend subroutine s\n",
    "FT202": HEAD + "  integer :: k(n)\n  real :: c(n, 1)\n  c = reshape(b, k) + 1\n" + TAIL,
    "FT203": "subroutine s(a, b)\n  use m, only: p, q\n  real(p) :: a(9)\n  real(q) :: b(9, 9)\n"
    "  a = sum(b*spread(a, 1, 9), dim=1) + 1\nend subroutine s\n",
    "FT204": "subroutine s(a, b)\n  type t\n    integer :: k\n  end type t\n  type(t) :: c(3)\n"
    "  c = c(3:1:-1)\nend subroutine s\n",
    "FT206": "subroutine s(a, x)\n  real :: a(:), x(*)\n  a = x(2:) + cshift(a, 1)\nend subroutine s\n",
    "FT207": HEAD + "  real :: c(n, n)\n  a = cshift(b, 1) + c\n" + TAIL,
    "FT401": HEAD + "  a = cshift(b, shft=1) + 1\n" + TAIL,
}
# Raised by a fault of the tool only; tests of the pipeline make one.
NOT_BY_INPUT = {"FT901"}


def raised_by_fixtures() -> set[str]:
    remarks = "".join(path.read_text("utf-8") for path in FIXTURES.glob("*/*/remarks.txt"))
    return {code for code in codes() if f" {code} [" in remarks}


@pytest.mark.parametrize("code", CASES)
def test_code_is_raised(code: str) -> None:
    options = Options(all=True, strict=True, line_length=20 if code == "FT103" else 132)
    found = {remark.code for remark in rewrite(CASES[code], options).remarks}
    assert code in found


def test_every_code_is_raised_somewhere() -> None:
    assert set(codes()) - raised_by_fixtures() - CASES.keys() == NOT_BY_INPUT


def test_a_fault_of_the_tool_costs_the_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    from fortrans.transforms import compose

    def broken(*_: object) -> None:
        raise RuntimeError("a fault\nin two lines")

    monkeypatch.setattr(compose, "compose", broken)
    text = HEAD + "  a = cshift(b, 1) + b\n" + TAIL
    result = rewrite(text)
    assert result.text == text
    assert [remark.code for remark in result.remarks] == ["FT901"]
    assert "\n" not in result.remarks[0].message
