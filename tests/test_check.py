"""The check for continuous integration: findings, their forms, baselines, generated files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fortrans.cli import main

TEXT = """subroutine s(a, b, c)
  real, intent(out) :: a(:), c(:)
  real, intent(in) :: b(:, :)
  a = sum(b, dim=2)
  c = sum(b, dim=2)
end subroutine s
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "s.f90").write_text(TEXT)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_json_has_each_statement_that_would_be_rewritten(here: Path) -> None:
    result = run("check", "-q", "--format", "json", "src")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["version"], found["tool"].split()[0]) == (1, "fortrans")
    rows = found["findings"]
    assert [(row["path"], row["line"], row["end_line"], row["rule"]) for row in rows] == [
        ("src/s.f90", 4, 4, "FT101"),
        ("src/s.f90", 5, 5, "FT101"),
    ]
    assert all(set(row) == {"path", "line", "end_line", "rule", "message", "fingerprint"} for row in rows)


def test_github_annotations_are_escaped(here: Path) -> None:
    (here / "src" / "s.f90").rename(here / "src" / "a,b: 100%.f90")
    lines = run("check", "-q", "--format", "github", "src").stdout.splitlines()
    place = "file=src/a%2Cb%3A 100%25.f90,line=4,endLine=4"
    assert lines[0].startswith(f"::warning {place},title=fortrans FT101::Array assignment to 'a'")


def test_sarif_has_rules_results_and_places(here: Path) -> None:
    (here / "src" / "bad.f90").write_text("subroutine s\n  if (x) then\n")
    (here / "src" / "s.f90").rename(here / "src" / "s s.f90")
    result = run("check", "-q", "--format", "sarif", "src")
    assert result.exit_code == 2
    log = json.loads(result.stdout)
    (once,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = [rule["id"] for rule in once["tool"]["driver"]["rules"]]
    assert rules == ["FT101", "error"]
    assert [rules[r["ruleIndex"]] for r in once["results"]] == [r["ruleId"] for r in once["results"]]
    places = [r["locations"][0]["physicalLocation"] for r in once["results"]]
    assert [p["artifactLocation"]["uri"] for p in places] == ["src/s%20s.f90"] * 2 + ["src/bad.f90"]
    assert [p["region"]["startLine"] for p in places][:2] == [4, 5]
    assert [r["level"] for r in once["results"]] == ["warning", "warning", "error"]


def test_a_baseline_holds_while_the_statement_stays_as_it_is(here: Path) -> None:
    assert run("check", "-q", "--write-baseline", "base.json", "src").exit_code == 0
    assert run("check", "-q", "--baseline", "base.json", "src").exit_code == 0
    source = here / "src" / "s.f90"
    source.write_text("! one line more\n" + TEXT.replace("  a = sum(b, dim=2)", "    a =  sum(b, dim=2)"))
    assert run("check", "-q", "--baseline", "base.json", "src").exit_code == 0
    source.write_text(TEXT.replace("  c = sum", "  a = sum(b, dim=2)\n  c = sum"))
    result = run("check", "-q", "--baseline", "base.json", "--format", "json", "src")
    assert result.exit_code == 1
    assert [row["line"] for row in json.loads(result.stdout)["findings"]] == [5]
    source.write_text(TEXT.replace("a = sum(b, dim=2)", "a = sum(b + 1, dim=2)"))
    assert run("check", "-q", "--baseline", "base.json", "src").exit_code == 1


def test_with_a_baseline_only_what_is_new_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("check", "--write-baseline", "base.json", "src")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "'base.json' lists 2 findings\n"
    result = run("check", "--baseline", "base.json", "src")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 findings beyond the 2 of 'base.json'\n"
    (here / "src" / "s.f90").write_text(TEXT.replace("end sub", "  c = c + sum(b, dim=2)\nend sub"))
    for folder, prefix, base in ((here, "src/", "base.json"), (here / "src", "", "../base.json")):
        monkeypatch.chdir(folder)
        result = run("check", "--baseline", base, "src" if prefix else ".")
        assert (result.exit_code, result.stdout) == (1, "")
        first, last = result.stderr.splitlines()
        assert first.startswith(f"{prefix}s.f90:6: FT101 Array assignment to 'c' composes SUM")
        assert last == f"1 finding beyond the 2 of '{base}'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "base.json:1: error: Baseline is not JSON"),
        ("[]", "base.json: error: File is not a baseline of fortrans"),
        ('{"version": 1, "findings": {"x": 3}}', "base.json: error: File is not a baseline of fortrans"),
        ('{"version": 2}', "base.json: error: Baseline has version 2, and 1 is understood"),
    ],
)
def test_a_file_that_is_no_baseline(here: Path, text: str, message: str) -> None:
    (here / "base.json").write_text(text)
    result = run("check", "--baseline", "base.json", "src")
    assert (result.exit_code, result.stderr) == (2, message + "\n")


def test_generated_files_are_compared(here: Path) -> None:
    assert run("rewrite", "-q", "src", "-o", "gen").exit_code == 0
    result = run("check", "src", "--against", "gen")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Generated files are up to date\n"
    made = here / "gen" / "s.f90"
    made.write_text(made.read_text().replace("do concurrent", "do  concurrent", 1))
    (here / "gen" / "old.f90").write_text("end\n")
    (here / "src" / "t.f90").write_text(TEXT.replace("subroutine s", "subroutine t"))
    result = run("check", "src", "--against", "gen")
    assert result.exit_code == 1
    assert "-    do  concurrent" in result.stdout
    line = 1 + made.read_text().partition("do  c")[0].count("\n")
    assert result.stderr.splitlines() == [
        f"gen/s.f90:{line}: differs File is not what 'src/s.f90' generates",
        "gen/t.f90:1: missing File is not there, 'src/t.f90' generates it",
        "gen/old.f90:1: stale No input generates this file",
        "3 generated files are not up to date",
    ]
    rows = json.loads(run("check", "-q", "src", "--against", "gen", "--format", "json").stdout)["findings"]
    assert [row["rule"] for row in rows] == ["differs", "missing", "stale"]
    assert run("check", "-q", "src/s.f90", "--against", "gen/s.f90").exit_code == 1


def test_the_checked_files_may_lie_within_the_inputs(here: Path) -> None:
    assert run("rewrite", "-q", "src", "-o", "src/gen").exit_code == 0
    assert run("check", "-q", "src", "--against", "src/gen").exit_code == 0
