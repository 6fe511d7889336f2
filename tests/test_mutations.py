"""The faults that `make mutate` seeds still have a place to be seeded in."""

from __future__ import annotations

from pathlib import Path

import mutate
import mutate_compose
import pytest

PACKAGE = Path(__file__).parents[1] / "fortrans"
ALL = [(f"intrinsics/{file}", right) for file, right, _ in mutate.FAULTS]
ALL += [(file, right) for file, right, _ in mutate_compose.FAULTS]


@pytest.mark.parametrize(("file", "right"), ALL)
def test_the_place_is_there(file: str, right: str) -> None:
    assert (PACKAGE / file).read_text("utf-8").count(right) == 1


def test_there_are_enough() -> None:
    assert len(mutate.FAULTS) >= 10
