"""Every folder under fixtures/<transform>/: output, remarks and laws."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fixture_cases import Case, Outcome, bless_case, cases, read, try_case

from fortrans.options import Options
from fortrans.remarks import Remark
from fortrans.verify.build import CHECKED, OPTIMISED


def tool(text: str, options: Options, path: str) -> tuple[str, tuple[Remark, ...]]:
    from fortrans.pipeline import rewrite

    result = rewrite(text, replace(options, strict=True), path)
    return result.text, result.remarks


def _fail_when_broken(case: Case, outcome: Outcome) -> None:
    if outcome.broken:
        pytest.fail("\n".join((case.name, *outcome.broken)), pytrace=False)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case, bless: bool, thorough: bool) -> None:
    if bless:
        _fail_when_broken(case, bless_case(case, tool))
        return
    assert case.expected.exists() and case.remarks.exists(), "Not blessed yet: pytest --bless"
    outcome = try_case(case, tool, (CHECKED, OPTIMISED) if thorough else (CHECKED,))
    assert outcome.output.text == read(case.expected).text
    assert outcome.said == read(case.remarks).text
    _fail_when_broken(case, outcome)


def test_every_case_is_found() -> None:
    root = Path(__file__).resolve().parent.parent / "fixtures"
    strays = {path.parent for path in root.glob("*/*/expected.*")} - {case.folder for case in cases()}
    assert not strays
    assert len(cases()) >= 60
