"""Pointers and targets that may be one storage: when addresses are asked, and which."""

from __future__ import annotations

import re

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite

STRICT = Options(all=True, strict=True)
DECLARED = """\
  real, pointer :: p(:), q(:), p2(:, :), q2(:, :), p3(:, :, :), q3(:, :, :)
  real, target :: t(9), w(4, 4), v(4, 4, 4), z(9)
  real :: x(9)
  character(len=2), pointer :: s(:), r(:)
  complex, pointer :: c(:), d(:)
  integer, pointer :: k(:)
"""


def rewritten(statement: str, options: Options = STRICT) -> str:
    """A subroutine with this statement, rewritten, without comments, on long lines."""
    head = f"subroutine s1(n)\n  implicit none\n  integer, intent(in) :: n\n{DECLARED}"
    text = f"{head}  {statement}\nend subroutine s1\n"
    return re.sub(r"(?m)^ *!.*\n", "", re.sub(r"&\s*\n\s*", "", rewrite(text, options).text))


@pytest.mark.parametrize(
    ("statement", "addresses"),
    [
        ("p = cshift(q, 1)", 4),
        ("p = q + q", 4),
        ("p = q + t", 6),
        ("t = cshift(p, 1)", 4),
        ("t(9:1:-2) = p(:5)*2", 4),
        ("p(:) = q(2:) + q(3:)", 4),
        ("p2 = transpose(q2)", 8),
        ("w = transpose(p2)", 6),
        ("v = p3(:, :, :)*2", 0),
        ("p3(:, :, 1) = transpose(p2)", 8),
        ("p3(:, 1, 1) = q3(2, :, 2)", 4),
        ("c = cshift(d, 1)", 4),
        ("s = cshift(r, 1)", 0),
        ("p = q(k)", 0),
        ("p(k) = q", 0),
        ("p = cshift(p, 1) + q", 0),
        ("p = x*2", 0),
        ("t = z*2", 0),
        ("p = [q, t]", 6),
    ],
)
def test_addresses_asked(statement: str, addresses: int) -> None:
    assert rewritten(statement).count("c_loc(") == addresses


def test_the_other_way_is_a_temporary() -> None:
    text = rewritten("p = cshift(q, 1)")
    direct, around = text.split("if (apart) then\n")[1].split("else\n")
    assert "tmp" not in direct and "tmp" in around


def test_the_same_elements_are_as_good_as_others() -> None:
    assert "at_p == at_q .and. at_p2 == at_q2" in rewritten("p = 2*q + 1")
    assert "==" not in rewritten("p = cshift(q, 1)")
    assert "==" not in rewritten("p = q(n:1:-1) + q")


def test_bytes_of_an_element() -> None:
    assert "at_c2) + 8 <=" in rewritten("c = cshift(d, 1)")
    assert "at_p2) + 4 <=" in rewritten("p = cshift(q, 1)")


def test_no_address_of_an_array_without_elements() -> None:
    text = rewritten("p(2:n) = q(:n - 1)")
    assert text.index("n - 1 > 0") < text.index("c_loc(")
    assert "apart = .false." not in rewritten("t(2:5) = p(1:4)*2")


def test_names_of_the_module_are_free_for_the_user() -> None:
    body = "  real, pointer :: p(:), c_loc(:)\n  p = cshift(c_loc, 1)\n"
    text = f"subroutine s(p, c_loc)\n{body}end subroutine s\n"
    assert "iso_c_binding" not in rewrite(text, STRICT).text


def test_flang_asks_no_addresses() -> None:
    assert "c_loc" not in rewritten("p = cshift(q, 1)", Options(all=True, target="flang"))


def test_remark_tells() -> None:
    text = f"subroutine s1\n{DECLARED}  p = cshift(q, 1)\nend subroutine s1\n"
    (remark,) = rewrite(text, STRICT).remarks
    assert "through a temporary where their addresses overlap, since 'q' may be" in remark.message
