"""Options of the test run."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fortrans")
    group.addoption(
        "--bless",
        action="store_true",
        help="write expected.f90 and remarks.txt of the fixtures, where the laws hold",
    )
    group.addoption(
        "--thorough",
        action="store_true",
        default=bool(os.environ.get("FORTRANS_THOROUGH")),
        help="build at -O2 as well, and draw more random programs",
    )


@pytest.fixture(scope="session")
def bless(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--bless"))


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--thorough"))
