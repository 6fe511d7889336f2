"""README says what is so: its example, options, intrinsics and links are checked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import fortrans
import fortrans.remarks
from fortrans.cli import main

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TABLE = re.compile(r"(?<=<!-- intrinsics -->\n).*(?=<!-- end of intrinsics -->)", re.DOTALL)


def test_intrinsics(bless: bool) -> None:
    text = README.read_text("utf-8")
    printed = CliRunner().invoke(main, ["intrinsics", "--format", "markdown"]).output
    if bless:
        README.write_text(TABLE.sub(lambda _: printed, text), "utf-8")
        return
    found = TABLE.search(text)
    assert found is not None
    assert found.group() == printed, "run make readme"


def test_every_entry_has_a_rule_and_a_clause() -> None:
    printed = json.loads(CliRunner().invoke(main, ["intrinsics", "--format", "json"]).output)
    assert len(printed) >= 25
    assert [row["name"] for row in printed if not (row["rule"] and row["clause"].startswith("16.9."))] == []
    text = CliRunner().invoke(main, ["intrinsics"]).output
    assert all(f"{row['name']} " in text and row["rule"] in text for row in printed)


def test_every_option_is_described() -> None:
    text = README.read_text("utf-8")
    options = {
        name
        for command in main.commands.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    assert {name for name in options - {"--output"} if name not in text} == set()
    written = set(re.findall(r"(?<=[ `])--[a-z][a-z-]+", text))
    assert written - options == set()


def test_every_command_is_described() -> None:
    text = README.read_text("utf-8")
    assert {name for name in main.commands if f"fortrans {name} " not in text} == set()


def test_links_and_scripts_lead_somewhere() -> None:
    text = README.read_text("utf-8")
    names = [*re.findall(r"\]\(([^):]+)\)", text), *re.findall(r"^bash (\S+)", text, re.MULTILINE)]
    assert len(names) >= 4
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_remarks_shown_have_the_codes_they_would_have() -> None:
    text = README.read_text("utf-8")
    assert set(re.findall(r"FT\d{3}", text)) <= set(fortrans.remarks.codes())


def example(which: str) -> re.Match[str]:
    block = re.compile(rf"(?<=<!-- example: {which} -->\n```fortran\n)(.*?)(?=```)", re.DOTALL)
    found = block.search(README.read_text("utf-8"))
    assert found is not None
    return found


def test_the_example_is_what_fortrans_prints(bless: bool) -> None:
    result = fortrans.rewrite(example("before").group())
    assert [remark.kind.value for remark in result.remarks] == ["passed"]
    after = example("after")
    if bless:
        text = README.read_text("utf-8")
        README.write_text(text[: after.start()] + result.text + text[after.end() :], "utf-8")
    else:
        assert result.text == after.group(), "run make readme"
    assert fortrans.rewrite(result.text).text == result.text


def test_every_stage_is_named_in_the_help() -> None:
    from fortrans import pipeline

    text = main.commands["show"].help or ""
    assert [stage for stage in pipeline.STAGES if stage not in text] == []


def test_a_tree_with_a_makefile_and_an_included_file_builds_as_said(tmp_path: Path) -> None:
    found = re.search(r"^mkdir -p build .*fortrans .*make .*$", README.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    files = {
        "src/Makefile": "p: p.f90\n\tgfortran $< -o $@\n",
        "src/values.inc": "  integer, parameter :: one = 1\n",
        "src/p.f90": "program p\n  integer :: a(2, 2), b(2, 2)\n  call fill(b)\n"
        "  a = 2 * transpose(b) + spread(b(:, 1), 1, 2)\n  print *, a\nend program p\n"
        "subroutine fill(b)\n  include 'values.inc'\n  integer :: b(2, 2)\n  b = one\nend subroutine fill\n",
        "bin/fortrans": f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m fortrans "$@"\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    for _ in range(2):
        subprocess.run(found.group(), shell=True, cwd=tmp_path, env=environment, check=True)
    assert "do concurrent" in (tmp_path / "build/src/p.f90").read_text()
    assert subprocess.check_output([tmp_path / "build/src/p"], text=True).split() == ["3"] * 4
    assert (tmp_path / "src/p.f90").read_text() == files["src/p.f90"]


@pytest.mark.parametrize("script", ["demo.sh", "test.sh", "environment.sh"])
def test_scripts_name_no_place_of_one_machine(script: str) -> None:
    text = (ROOT / "scripts" / script).read_text("utf-8")
    assert re.findall(r"(?<![\w.$])/(?:root|home|work|tmp)\b", text) == []
