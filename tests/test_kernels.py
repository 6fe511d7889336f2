"""What becomes of every kernel that is timed, and that it compiles; times are for the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fortrans.source import Source
from fortrans.verify.build import build
from fortrans.verify.kernels import (
    KERNELS,
    Kernel,
    Rewritten,
    Row,
    kernels,
    main,
    measure,
    read,
    report,
    rewritten,
)

#: Code to kernels; `name.1` is the kernel whose placeholders, the type aside, have these values.
EXPECTED = {
    "FT101": """
        self_halves self_outer
        all_composed all_early all_never any_composed any_early any_never bias bias_exp centre count
        eoshift_array eoshift_array_bare.2 eoshift_array_boundary eoshift_boundary
        norm2.1
        covariance matmul_bias matmul_relu matmul_transposed_bias matvec_bare matvec_bias self_accumulate
        count_composed cshift_composed cshift_rank1_composed distances divide eoshift_composed
        eoshift_rank1_composed five_points five_points_allocatable five_points_ends five_points_explicit
        findloc_axial_composed findloc_whole flux maxloc_axial.2 maxloc_whole_composed
        maxval.2 maxval_composed minloc_axial_composed minloc_whole_mask
        maxval_rank3.2 maxval_rank3.3 mean minval.2 minval_spread nine_points norm normalise outer_gauss
        join join_allocatable join_bare join_composed join_matrix join_scalar join_typed pairs ramp
        ramp_bare triangle triangle_composed
        pack_composed pack_flat pack_join pack_scaled pack_section pack_section_composed unpack_composed
        unpack_matrix
        outer_product outer_product_allocatable outer_product_explicit outer_separable product
        product_vector rank1_update reshape_fold_composed reshape_order_composed second_difference
        self_add_sums self_centre self_normalise self_rows seven_points shift_merge
        softmax standardise sum sum_dim2_allocatable sum_dim2_explicit sum_dim2_tall sum_dim2_wide
        sum_mask sum_of_shift sum_products sum_rank3 sum_rank3.3 sum_squares
        transpose_shift transpose_spread upwind variance
    """,
    "FT102": """
        maxloc_vector_shift
        packed_any packed_mask_sum packed_max packed_size packed_sum
        scalar_all_sorted scalar_count_rows scalar_max_row_sum
        scalar_quadratic scalar_ring scalar_sum_shift
    """,
    "FT104": """
        append pointer_elementwise pointer_elementwise_2d
        self_cshift_2d self_pointer
    """,
    "FT111": """
        self_eoshift
    """,
    "FT112": """
        self_shift
    """,
    "FT113": """
        self_cshift self_cshift_allocatable self_cshift_composed
    """,
    "FT114": """
        self_reverse self_symmetric self_transpose
    """,
    "FT110": """
        allocate_source allocate_source_2d
    """,
    "FT601": """
        elementwise elementwise_allocatable self_prefix
        self_smooth
    """,
    "FT602": """
        allocate_source_2d.transpose(a) matmul_bare vecmat_bare norm2_bare.1
        cshift cshift_array cshift_array_bare cshift_rank1 eoshift_array_bare.1 findloc_transpose
        maxloc_axial.1 maxloc_vector maxloc_vector_composed maxval_mask
        eoshift_bare eoshift_rank1_bare maxval.1 maxval_rank3.1 minval.1
        pack_allocatable pack_mask pack_matrix pack_rare pack_vector
        unpack_field unpack_mask
        reshape_fold reshape_order scalar_max_column_sum scalar_max_distance
        scalar_norm scalar_sum_product sum_exp
        scalar_trace_transposed self_scale softmax_vector spread
        sum_mask_array symmetric_part transpose_bare transpose_composed unit_vector
    """,
    "FT603": """
        reshape_flat reshape_flat_composed
        reshape_merge_dims
        norm2.2 norm2_bare.2 scalar_max_shift
    """,
}
CODE = {name: code for code, names in EXPECTED.items() for name in names.split()}


def first_types() -> list[Kernel]:
    """Each kernel once: of those that differ in type only, the first."""
    found: dict[str, Kernel] = {}
    for kernel in kernels():
        found.setdefault(untyped(kernel.label), kernel)
    return list(found.values())


def untyped(label: str) -> str:
    return ".".join(word for word in label.split() if not re.fullmatch(r"real\(.\)|integer", word))


def expected(label: str) -> str:
    name = untyped(label)
    return CODE[name] if name in CODE else CODE[name.partition(".")[0]]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, tuple[Kernel, Rewritten]]:
    return {kernel.label: (kernel, rewritten(kernel, all=False)) for kernel in first_types()}


def test_each_kernel_has_its_code(outcomes: dict[str, tuple[Kernel, Rewritten]]) -> None:
    found = {label: " ".join(outcome.codes) for label, (_, outcome) in outcomes.items()}
    assert found == {label: expected(label) for label in found}


def test_rewritten_means_changed(outcomes: dict[str, tuple[Kernel, Rewritten]]) -> None:
    for label, (kernel, outcome) in outcomes.items():
        assert outcome.changed == expected(label).startswith("FT1"), label
        assert outcome.changed == (outcome.text != kernel.text)


def test_the_table_names_kernels() -> None:
    labels = {untyped(kernel.label) for kernel in first_types()}
    assert set(CODE) <= labels | {label.partition(".")[0] for label in labels}
    assert len(list(KERNELS.glob("*.f90"))) >= 45


def test_all_rewritten_kernels_compile(outcomes: dict[str, tuple[Kernel, Rewritten]], tmp_path: Path) -> None:
    modules = [
        re.sub(r"\bmodule kernel\b", f"module kernel{number}", outcome.text)
        for number, (_, outcome) in enumerate(outcomes.values())
    ]
    text = "".join(modules) + "end\n"
    build([Source("kernels.f90", text)], ["-O0", "-Wall", "-Werror=line-truncation"], tmp_path)


# ---- the harness itself -----------------------------------------------------------------

FILE = """\
! Twice a vector.
!: inout {T} v(n)
!: in {T} x(n), y(n)
!: in integer k = 2
!: T = real(8) | integer
!: sizes 3 7
module kernel
  implicit none
contains
  subroutine run(n, v, x, k, y)
    integer, intent(in) :: n, k
    {T}, intent(inout) :: v(n)
    {T}, intent(in) :: x(:), y(:)
    v = k*x + 0*y
  end subroutine run
end module kernel
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    path = tmp_path / "twice.f90"
    path.write_text(FILE)
    first, second = read(path)
    assert (first.label, second.label) == ("twice real(8)", "twice integer")
    return first


def timed(kernel: Kernel, text: str) -> list[Row]:
    return measure(kernel, text, ["-O0"], seconds=0.0, rounds=1)


def test_same_results_are_the_same(kernel: Kernel) -> None:
    rows = timed(kernel, kernel.text.replace("k*x", "x*k"))
    assert [(row.size, row.differing, row.worst) for row in rows] == [(3, 0, 0.0), (7, 0, 0.0)]


def test_other_results_are_noticed(kernel: Kernel) -> None:
    rows = timed(kernel, kernel.text.replace("k*x", "(k + 0.5)*x"))
    assert [row.differing for row in rows] == [3, 7]
    assert rows[0].worst == pytest.approx(0.25)


def test_a_report_marks_what_is_slower(kernel: Kernel) -> None:
    rows = [Row(3, 10.0, 20.0, 0, 0.0), Row(7, 20.0, 10.0, 1, 0.5)]
    line = report(kernel, Rewritten("", ("FT602",), True, left=True), rows)
    assert line.split() == "twice real(8) FT602* 3: 0.50< 7: 2.00 5e-01".split()


def test_the_command_says_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "elementwise_allocatable real(8)"]) == 0
    said = capsys.readouterr().out
    assert "FT601" in said and said.endswith("Slower in default mode: none\n")
