"""The table of remark codes: complete, explained, and written as the house writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fortrans.remarks import Code, codes

ROOT = Path(__file__).parents[1]
ROWS = list(codes().values())


def used() -> dict[str, str]:
    """Every code that stands in the package's source or a fixture, with one file that has it."""
    sources = [
        *(ROOT / "fortrans").rglob("*.py"),
        *(ROOT / "templates").rglob("*.j2"),
        *(ROOT / "fixtures").rglob("remarks.txt"),
    ]
    return {
        code: str(path.relative_to(ROOT))
        for path in sources
        for code in re.findall(r"FT\d{3}\b", path.read_text("utf-8"))
    }


def test_every_code_used_has_a_row() -> None:
    assert {code: path for code, path in used().items() if code not in codes()} == {}


def test_names_are_unique_kebab_case() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_codes_stand_in_order() -> None:
    assert list(codes()) == sorted(codes())
    assert [code for code in codes() if not re.fullmatch(r"FT[0-69]\d\d", code)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_explanation(row: Code) -> None:
    assert row.title[0].isupper() and row.title[-1] != "."
    for text in (row.what, row.why, row.act):
        assert len(text) >= 18
        assert text.endswith(".") and "  " not in text and "\n" not in text
    assert len({row.title, row.what, row.why, row.act}) == 4
