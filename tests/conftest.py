"""Options of the test run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test takes results from earlier runs, or leaves any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORTRANS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


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
