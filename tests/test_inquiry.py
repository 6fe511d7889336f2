"""SHAPE, SIZE, LBOUND and UBOUND of expressions: what each becomes, row by row (16.9)."""

from __future__ import annotations

import re

import pytest

import fortrans

HEAD = """subroutine s(x, a, b, v, w, l, m, n, k, t, i, j)
  integer, intent(in) :: m, n, k
  real, intent(in) :: x(m, n, k), a(m, n), b(n, k), v(n), w(0:n)
  logical, intent(in) :: l(m, n)
  integer, intent(out) :: t(:)
  integer(8), intent(out) :: j
  integer, intent(out) :: i
"""
ROWS = """
t = shape(sum(x, dim=1)) => t = [n, k]
t = shape(sum(x, dim=2)) => t = [m, k]
t = shape(product(x, 3, x > 0)) => t = [m, n]
t = shape(maxval(x)) => t = [integer :: ]
t = shape(minloc(x, dim=1)) => t = [n, k]
t = shape(findloc(x, 1.0)) + shape(v) => [findloc is one number] t(j1) = 3 + n
t = shape(any(x > 0, 2)) => t = [m, k]
t = shape(spread(a, 1, 4)) => t = [4, m, n]
t = shape(spread(a, 3, i)) => t = [m, n, i]
t = shape(transpose(a + 1)) => t = [n, m]
t = shape(cshift(x, 1, 2)) => t = [m, n, k]
t = shape(eoshift(x, reshape([1, 2, 3, 4], [n, k]))) => t = [m, n, k]
t = shape(reshape(x, [n, m*k])) => t = [n, m*k]
t = shape(reshape(x, shape(transpose(a)))) => t = [n, m]
t = shape(matmul(a, b)) => t = [m, k]
t = shape(matmul(transpose(b), v)) + 0*shape(b(1, :)) => [rank one] t(j1) = k + 0*k
t = shape(unpack(v, l, 0.0)) => t = [m, n]
t = shape(merge(a, spread(v, 1, m), l)) => t = [m, n]
t = lbound(transpose(a)) => t = [1, 1]
t = ubound(transpose(a)) => t = [n, m]
t = ubound(a(2:, :) + spread(v, 1, m)) => t = [m - 1, n]
i = size(transpose(a)) => i = n*m
i = size(transpose(a), 1) => i = n
i = size(sum(x, 3), dim=2) => i = n
i = size([v, spread(1.0, 1, 3)]) => i = n + 3
i = lbound(cshift(w, 1), 1) => i = 1
i = ubound(cshift(w, 1), 1) => i = n + 1
i = lbound(w, 1) + size(cshift(w, 1)) => i = lbound(w, 1) + n + 1
i = size(cshift(a, 1), i) => i = merge(m, n, val == 1)
i = size(pack(a, l, v)) => i = n
i = size(pack(a, .true.)) => i = m*n
j = size(cshift(a, 1), 2, 8) => j = int(n, 8)
j = size(cshift(a, 1), kind=8) => j = int(m*n, 8)
"""


@pytest.mark.parametrize("row", ROWS.strip().split("\n"))
def test_row(row: str) -> None:
    statement, _, wanted = row.partition(" => ")
    wanted = wanted.partition("] ")[2] if wanted.startswith("[") else wanted
    result = fortrans.rewrite(
        f"{HEAD}  {statement}\nend subroutine s\n", fortrans.Options(all=True, comments=False)
    )
    # Extents of dummies that may be declared negative are clipped where they are sizes.
    lines = [re.sub(r"max\(([^,()]+), 0\)", r"\1", line.strip()) for line in result.text.split("\n")]
    shown = "\n".join((result.text, *map(str, result.remarks)))
    assert wanted in lines, shown


def test_the_size_of_a_pack_is_a_count() -> None:
    text = f"{HEAD}  i = size(pack(a, l))\nend subroutine s\n"
    result = fortrans.rewrite(text, fortrans.Options(comments=False))
    assert "pack" not in result.text and "merge(1, 0, l(" in result.text
    assert [remark.code for remark in result.remarks] == ["FT102"]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("i = size(cshift(a, 1), 3)", "FT402"),
        ("i = size(sum(a))", "FT401"),
        ("t = shape(cshift(a, 1), dim=1)", "FT401"),
        ("i = size(array=cshift(a, 1), array=a)", "FT401"),
        ("i = size(cshift(f(a), 1))", "FT405"),
    ],
)
def test_what_is_refused(statement: str, code: str) -> None:
    function = "contains\n  function f(y) result(z)\n    real :: y(:, :), z(2, 2)\n  end function f\n"
    text = f"{HEAD}  {statement}\n{function}end subroutine s\n"
    result = fortrans.rewrite(text, fortrans.Options(all=True))
    assert code in [remark.code for remark in result.remarks]
