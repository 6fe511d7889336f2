"""The bench of pairs: groups, means, and what is counted in an object file; times are for the command."""

from __future__ import annotations

import math

import pytest

from fortrans.verify.kernels import Row, kernels
from fortrans.verify.pairs import SETTINGS, Cost, Pair, cost, group, line, mean, summary


def test_every_kernel_has_its_group() -> None:
    found = {kernel.label: group(kernel) for kernel in kernels()}
    for label, wanted in {
        "centre real(8) 1": "axial reductions",
        "five_points real(8)": "shifts",
        "matmul_bias real(8)": "products",
        "packed_sum real(8)": "PACK and UNPACK",
        "scalar_sum_shift real(8)": "shifts",
        "outer_product real(8)": "SPREAD",
        "elementwise real(8)": "elementwise",
    }.items():
        assert found[label] == wanted, label
    assert len(set(found.values())) >= 9


def test_means_are_geometric() -> None:
    assert mean([1.0, 4.0]) == pytest.approx(2.0)
    assert math.isnan(mean([]))
    rows = (Row(8, 10.0, 5.0, 0, 0.0), Row(40, 10.0, 20.0, 1, 1e-9))
    pair = Pair("k real(8)", "shifts", "gf-O2", ("FT101",), rows, Cost(2, 1), Cost(0, 0))
    assert pair.ratio == pytest.approx(1.0)
    assert not pair.agrees(exact=True) and pair.agrees(exact=False)
    assert "temp 2>0  calls 1>0  1e-09  WRONG" in line(pair, exact=True)
    assert "40:  0.50<" in line(pair, exact=False)
    assert "least  0.50" in summary([pair], "gf-O2") and "below 0.97: 1 of 2" in summary([pair], "gf-O2")


def test_temporaries_and_calls_are_counted() -> None:
    head = "subroutine s(a, b)\n  real, intent(in) :: a(:, :)\n  real, intent(out) :: b(:, :)\n  "
    setting = SETTINGS[0]
    assert cost(f"{head}b = cshift(a, 1) + cshift(a, 1, 2)\nend subroutine s\n", setting) == Cost(1, 1)
    assert cost(f"{head}b = a + 1\nend subroutine s\n", setting) == Cost(0, 0)
