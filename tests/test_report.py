"""`fortrans report`: the page and the JSON."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from fortrans.cli import main
from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.remarks import Kind

TEXT = """subroutine work(a, b, s)
  real, intent(in) :: a(:, :)
  real, intent(out) :: b(:, :)
  character(*), intent(inout) :: s(:)
  s = s // '</pre><script>alert(1)</script>'
  b = transpose(a)*spread(a(1, :), 2, size(b, 2))
  b = a
end subroutine
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work.f90").write_text(TEXT)
    (tmp_path / "torn & <b>.f90").write_text("program p\nx = 'abc\nend\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["report", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_json_keeps_its_schema(folder: Path) -> None:
    code, output, _ = called("--format", "json", "work.f90")
    assert code == 0
    document = json.loads(output)
    schema = json.loads(resources.files("fortrans.report").joinpath("report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    result = rewrite(TEXT, Options(comments=False), "work.f90")
    (file,) = document["files"]
    told = [(one["first"], one["last"], one["code"], one["message"]) for one in file["statements"]]
    assert told == [(r.span.first, r.span.last, r.code, r.message) for r in result.remarks]
    for one in file["statements"]:
        assert one["before"] == "".join(TEXT.splitlines(True)[one["first"] - 1 : one["last"]])
        assert (one["after"] is None) == (one["kind"] == Kind.MISSED.value)
        assert one["after"] is None or one["after"] in result.text
    assert document["summary"]["rewritten"] == 1 == [o["kind"] for o in file["statements"]].count("passed")


def test_schema_refuses_other_documents(folder: Path) -> None:
    document = json.loads(called("--format", "json", "work.f90")[1])
    schema = json.loads(resources.files("fortrans.report").joinpath("report.schema.json").read_text("utf-8"))
    document["files"][0]["statements"][0]["code"] = "X"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_file_that_cannot_be_read_is_told(folder: Path) -> None:
    code, output, errors = called("--format", "json", ".")
    assert code == 2 and "torn" in errors
    document = json.loads(output)
    assert document["summary"]["errors"] == 1
    assert [file["error"] is None for file in document["files"]] == [False, True]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def test_page_needs_nothing_else_and_escapes_everything(folder: Path) -> None:
    code, _, _ = called(".", "-o", "report.html")
    assert code == 2
    page = (folder / "report.html").read_text("utf-8")
    tags = _Tags()
    tags.feed(page)
    assert tags.tags.count("script") == 1 and "b" not in tags.tags[tags.tags.index("main") :]
    assert all(link.startswith("#about-FT") for link in tags.links)
    assert "&lt;script&gt;alert(1)" in page
    anchors = set(re.findall(r'id="(about-FT\d+)"', page))
    assert {link[1:] for link in tags.links} <= anchors


def test_report_that_cannot_be_written(folder: Path) -> None:
    code, _, errors = called("work.f90", "-o", "work.f90/report.html")
    assert code == 2 and "work.f90/report.html" in errors and "Traceback" not in errors


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to look at the page")


def _chromium(folder: Path, *arguments: str) -> str:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'user'}"]
    made = subprocess.run(
        [*command, "--virtual-time-budget=3000", *arguments], capture_output=True, text=True, timeout=120
    )
    return made.stdout


@needs_chromium
def test_page_in_a_browser(folder: Path, tmp_path: Path) -> None:
    called("work.f90", "-o", "report.html")
    address = (folder / "report.html").as_uri()
    shown = _chromium(tmp_path, "--dump-dom", address)
    assert re.search(r'id="shown"[^>]*>3 of 3 statements<', shown)
    # Typed by a script, as a user would: only what matches stays.
    page = (folder / "report.html").read_text("utf-8")
    typed = page.replace("filter();\n</script>", 'words.value = "work TRANSPOSE"; filter();\n</script>')
    (folder / "typed.html").write_text(typed)
    shown = _chromium(tmp_path, "--dump-dom", (folder / "typed.html").as_uri())
    assert re.search(r'id="shown"[^>]*>1 of 3 statements<', shown)
    assert len(re.findall(r"<article[^>]*hidden", shown)) == 2
    printed = folder / "report.pdf"
    _chromium(tmp_path, f"--print-to-pdf={printed}", address)
    assert printed.read_bytes().startswith(b"%PDF") and printed.stat().st_size > 10_000
