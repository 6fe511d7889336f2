"""The language rules that break naive rewriters, each with the fixtures that guard it.

A rule has at least three fixtures: what is rewritten, what is refused where that exists, and what
is hard. ``LACKING`` are the rules that have fewer yet; a rule that has enough must leave it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule is about, and the fixtures that guard it, as ``group/name`` with blanks between."""

    title: str
    rewritten: str
    refused: str = ""
    torture: str = ""

    @property
    def fixtures(self) -> frozenset[str]:
        """All of them."""
        return frozenset(f"{self.rewritten} {self.refused} {self.torture}".split())


RULES = {
    1: Rule(
        "all is evaluated before anything is stored",
        "assignment/overlap assignment/scalar_read_of_lhs",
        "overlap/refused",
        "assignment/subscripts_captured reduction/inner_reads_target",
    ),
    2: Rule(
        "each scalar operand and function reference is evaluated once",
        "assignment/function_called_once",
        "refused/impure_order",
        "assignment/invariant_under_spread",
    ),
    3: Rule(
        "(re)allocation",
        "assignment/realloc_other_shape assignment/realloc_unallocated storage/taken_over",
        "refused/deferred_length refused/polymorphic",
        "assignment/realloc_same_shape assignment/section_keeps_shape storage/no_realloc_lhs",
    ),
    4: Rule(
        "a declared bound is the value on entry",
        "assignment/bound_changes_after_entry storage/straight_line",
        "",
        "assignment/negative_extents",
    ),
    5: Rule(
        "lower bounds",
        "assignment/lower_bounds location/whole",
        "",
        "assignment/function_result_bounds assignment/wide_bounds",
    ),
    6: Rule("strides differ", "assignment/strides", "", "assignment/zero_sizes overlap/strips"),
    7: Rule(
        "conversion at the store",
        "assignment/kinds_at_the_store",
        "",
        "reduction/accumulator_type overlap/types",
    ),
    8: Rule(
        "characters",
        "assignment/characters",
        "refused/deferred_length",
        "reduction/characters location/characters",
    ),
    9: Rule(
        "defined assignment and operators, finalizers",
        "refused/defined_operator",
        "refused/defined_assignment refused/finalizer refused/allocatable_components",
        "where/refused",
    ),
    10: Rule(
        "names that are the user's",
        "assignment/functions_named_like_inquiries assignment/names_from_modules",
        "refused/procedure_called_transpose refused/local_array_called_sum refused/unseen_module",
        "refused/generic_extends_intrinsic refused/external_and_intrinsic",
    ),
    11: Rule(
        "one name, different subscripts",
        "overlap/planes overlap/pairs",
        "overlap/refused",
        "overlap/run_time overlap/shifts_by_column where/overlap",
    ),
    12: Rule(
        "different names, one storage",
        "assignment/pointer_alias storage/pointers_apart",
        "",
        "assignment/equivalence_alias assignment/common_alias storage/targets where/overlap",
    ),
    13: Rule(
        "vector subscripts",
        "assignment/vector_subscripts",
        "overlap/refused",
        "overlap/vectors assignment/subscripts_captured",
    ),
    14: Rule(
        "VOLATILE, ASYNCHRONOUS and coindexed objects",
        "",
        "refused/volatile_object refused/coarray",
    ),
    15: Rule(
        "a function may read the left side",
        "assignment/function_reads_lhs",
        "refused/impure_order",
        "reduction/target_read_elsewhere",
    ),
    16: Rule(
        "one storage by two names",
        "assignment/two_use_names",
        "",
        "assignment/associate_alias assignment/components",
    ),
    17: Rule(
        "DIM, MASK, KIND, BACK and keywords",
        "assignment/keyword_arguments dim/variable",
        "refused/optional_arguments",
        "assignment/optional_dim reduction/kind_argument reduction/masks location/kinds",
    ),
    18: Rule(
        "empty input and NaN",
        "reduction/empty",
        "",
        "reduction/not_a_number reduction/zero_extent location/nan",
    ),
    19: Rule(
        "shifts",
        "assignment/shifts",
        "",
        "movement/array_shifts assignment/negative_section_shift assignment/shift_kinds",
    ),
    20: Rule(
        "RESHAPE",
        "assignment/reshapes",
        "",
        "assignment/reshape_of_nothing assignment/rank_seven",
    ),
    21: Rule(
        "PACK, UNPACK, MATMUL, SPREAD, DOT_PRODUCT",
        "movement/pack movement/unpack product/matmul",
        "",
        "product/dot_product assignment/spread_of_no_copies",
    ),
    22: Rule(
        "no element out of range is evaluated",
        "assignment/merge_out_of_range",
        "where/refused",
        "reduction/zero_extent movement/array_shifts",
    ),
    23: Rule(
        "sums are in array element order",
        "reduction/summation_order",
        "",
        "product/norm2 reduction/statistics",
    ),
    24: Rule(
        "what the program guards is not evaluated ahead",
        "reduction/guarded condition/nested",
        "condition/left",
        "where/refused",
    ),
    25: Rule(
        "WHERE and FORALL",
        "where/statement where/construct where/pays where/places",
        "where/refused refused/where_and_forall",
        "where/overlap",
    ),
    26: Rule(
        "DO CONCURRENT and PURE",
        "assignment/pure_procedures assignment/inside_constructs",
        "",
        "storage/targets",
    ),
    27: Rule(
        "places: labels, one-line IF, `;`, directive regions",
        "assignment/labels assignment/one_line_if",
        "refused/openmp_region",
        "assignment/joined_statements",
    ),
    28: Rule(
        "text",
        "assignment/crlf assignment/no_final_newline assignment/long_lines",
        "assignment/preprocessed",
        "refused/ragged_text assignment/continuations",
    ),
    29: Rule(
        "grouping, and new names that capture nothing",
        "assignment/grouping",
        "refused/implicit_first_use",
        "assignment/names_taken assignment/statement_function",
    ),
    30: Rule(
        "array constructors",
        "assignment/constructors movement/constructors",
        "",
        "assignment/implicit_typing",
    ),
    31: Rule(
        "what a name means where it stands",
        "assignment/scopes assignment/inside_constructs",
        "refused/unseen_module_only",
        "assignment/names_from_modules assignment/associate_alias",
    ),
    32: Rule(
        "assumed size, assumed rank, CLASS(*)",
        "refused/assumed_size",
        "refused/polymorphic repack/refused",
    ),
    33: Rule(
        "what emitted code never defines",
        "assignment/pure_procedures refused/protected_and_do_variable",
        "",
        "storage/targets",
    ),
    34: Rule("what is never repacked", "repack/homes", "repack/refused", "repack/directives"),
    35: Rule("copy-in, copy-out, every way out", "repack/exits", "repack/refused", "repack/branches"),
    36: Rule(
        "OPTIONAL dummies, bounds, ENTRY",
        "repack/types",
        "repack/refused",
        "repack/version_loops",
    ),
    37: Rule("a copy is private", "repack/threads", "repack/refused", "repack/placement"),
    38: Rule("what is passed on to a callee that repacks", "repack/innermost", "", "repack/placement"),
}

#: Rules with fewer than three fixtures, and what is wanted.
LACKING = {
    14: "a neighbour of a VOLATILE object that is rewritten",
    38: "recursion, and a section passed on to a callee that repacks",
}


def test_every_rule_is_in_the_table() -> None:
    assert sorted(RULES) == list(range(1, 39))


@pytest.mark.parametrize("number", RULES, ids=lambda number: f"{number}: {RULES[number].title}")
def test_rule_has_its_fixtures(number: int) -> None:
    rule = RULES[number]
    for name in rule.fixtures:
        assert any((FIXTURES / name).glob("input.[fF]90")), name
    for names, kind in ((rule.rewritten, "[passed]"), (rule.refused, "[missed]")):
        for name in names.split():
            assert kind in (FIXTURES / name / "remarks.txt").read_text("utf-8"), (name, kind)
    assert (len(rule.fixtures) < 3) == (number in LACKING), rule.fixtures
