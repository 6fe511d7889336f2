"""The command line: what it reads, writes, prints and returns, on a pipeline of three rules."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from click.testing import CliRunner, Result

import fortrans.batch
from fortrans.cli import main
from fortrans.options import Options
from fortrans.project import run as work
from fortrans.remarks import InputError, Kind, Remark
from fortrans.source import Source, Span

ROOT = Path(__file__).parents[1]
BEFORE = "program p\n  a = b\n  c = d\nend program p\n"
AFTER = "program p\n  a = composed\n  c = d\nend program p\n"


@dataclass(frozen=True)
class FileResult:
    source: Source
    output: Source
    remarks: tuple[Remark, ...]
    needs: tuple[str, ...] = ()
    seconds: float = 0.25


class Pipeline(types.ModuleType):
    """``a = b`` is rewritten, ``c = d`` is left, ``bad`` in line n is a syntax error there."""

    STAGES = ("lines", "nests")

    def __init__(self) -> None:
        super().__init__("fortrans.pipeline")
        self.calls: list[tuple[list[str], Options, list[str]]] = []

    def rewrite_sources(
        self, sources: Sequence[Source], options: Options, context: Sequence[Source] = ()
    ) -> Iterator[FileResult | InputError]:
        self.calls.append(([s.path for s in sources], options, [s.path for s in context]))
        for source in sources:
            yield self._one(source)

    def _one(self, source: Source) -> FileResult | InputError:
        remarks = []
        for number, line in enumerate(source.lines, 1):
            span = Span(number, number)
            if "bad" in line:
                return InputError(source.path, "Statement cannot be read", number)
            if "a = b" in line:
                remarks.append(Remark(source.path, span, "FT101", Kind.PASSED, "Composed"))
            if "c = d" in line:
                remarks.append(Remark(source.path, span, "FT601", Kind.MISSED, "Left"))
                remarks.append(Remark(source.path, span, "FT601", Kind.ANALYSIS, "Looked at"))
        output = Source(source.path, source.text.replace("a = b", "a = composed"))
        return FileResult(source, output, tuple(remarks))

    def unreadable(self, context: Sequence[Source]) -> tuple[InputError, ...]:
        results = [self._one(source) for source in context]
        return tuple(result for result in results if isinstance(result, InputError))

    def show(self, stage: str, source: Source, options: Options, context: Sequence[Source] = ()) -> str:
        return " ".join([f"{stage} of {len(source.lines)} lines", *(other.path for other in context)])


@pytest.fixture(autouse=True)
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    stub = Pipeline()
    monkeypatch.setitem(sys.modules, "fortrans.pipeline", stub)
    monkeypatch.setattr(fortrans, "pipeline", stub, raising=False)
    monkeypatch.setattr(fortrans.batch, "unreadable", stub.unreadable)
    monkeypatch.setattr(work, "run", lambda *rest: stub.rewrite_sources(*rest[:3]))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stub


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, text: str | bytes = BEFORE) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# --- rewrite ---


def test_a_single_file_goes_to_standard_output_and_remarks_to_standard_error(here: Path) -> None:
    put("s.f90")
    result = run("rewrite", "s.f90")
    assert (result.exit_code, result.stdout) == (0, AFTER)
    assert result.stderr.splitlines() == [
        "s.f90:2: FT101 [passed] Composed",
        "s.f90:3: FT601 [missed] Left",
        "1 statement rewritten, 1 left (1 FT601), 1 of 1 file changed",
    ]
    assert Path("s.f90").read_text() == BEFORE


def test_verbose_adds_a_line_for_each_file_and_quiet_prints_errors_only(here: Path) -> None:
    put("s.f90")
    lines = run("rewrite", "-v", "s.f90").stderr.splitlines()
    assert "s.f90:3: FT601 [analysis] Looked at" in lines
    assert lines[-2] == "s.f90: 4 lines, 2 array statements, 1 rewritten, 0.250 s"
    assert "0.250 s" not in run("rewrite", "s.f90").stderr
    assert run("rewrite", "-q", "s.f90").stderr == ""
    put("e.f90", "")
    result = run("rewrite", "-q", "e.f90")
    assert result.stderr == "e.f90: error: File is empty, it holds no program unit\n"


@pytest.mark.parametrize(
    "content", [b"! \xf6\r\na = b\r\n", b"\xef\xbb\xbfa = b", b"a = b\x0c\n\xc3\xb6 \r\n"]
)
def test_bytes_outside_the_rewrite_survive_every_way_out(here: Path, content: bytes) -> None:
    wanted = content.replace(b"a = b", b"a = composed")
    put("s.f90", content)
    assert run("rewrite", "s.f90").stdout_bytes == wanted
    assert run("rewrite", "s.f90", "-o", "t.f90").exit_code == 0
    assert Path("t.f90").read_bytes() == wanted
    assert run("rewrite", "s.f90", "--in-place").exit_code == 0
    assert Path("s.f90").read_bytes() == wanted


def test_output_directory_mirrors_the_tree(here: Path) -> None:
    put("src/a.f90")
    put("src/deep/b.F90", "end\n")
    result = run("rewrite", "src", "-o", "out")
    assert (result.exit_code, result.stdout) == (0, "")
    assert Path("out/a.f90").read_text() == AFTER
    assert Path("out/deep/b.F90").read_text() == "end\n"
    assert Path("src/a.f90").read_text() == BEFORE


def test_an_unchanged_file_is_not_touched_in_place(here: Path) -> None:
    path = put("s.f90", "end\n")
    os.utime(path, ns=(1, 1))
    assert run("rewrite", "--in-place", "s.f90").exit_code == 0
    assert path.stat().st_mtime_ns == 1


def test_an_output_directory_inside_the_input_is_not_an_input(here: Path) -> None:
    put("a.f90")
    for _ in range(2):
        assert run("rewrite", ".", "-o", "out").exit_code == 0
    assert sorted(str(path) for path in Path().rglob("*.f90")) == ["a.f90", "out/a.f90"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("s.f90", "-o", "s.f90"),
        ("s.f90", "-o", "./s.f90"),
        ("s.f90", "t.f90", "-o", "."),
        (".", "-o", "."),
        ("s.f90", "-o", "t.f90", "-I", "t.f90"),
    ],
)
def test_an_input_is_never_overwritten_without_in_place(here: Path, arguments: tuple[str, ...]) -> None:
    put("s.f90")
    put("t.f90")
    result = run("rewrite", *arguments)
    assert result.exit_code == 2
    assert "error: Output is one of the inputs, use --in-place" in result.stderr
    assert Path("s.f90").read_text() == Path("t.f90").read_text() == BEFORE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("s.f90", "t.f90"), "Several files need one of -o DIR, --in-place and --diff"),
        ((".",), "Directory '.' needs one of -o DIR, --in-place and --diff"),
        (("s.f90", "--diff", "--in-place"), "Give one of -o, --in-place and --diff"),
        (("s.f90", "--diff", "-o", "t.f90"), "Give one of -o, --in-place and --diff"),
        (("s.f90", "-v", "-q"), "Give one of -v and -q"),
        (("s.f90", "t.f90", "-o", "u.f90"), "'u.f90' is not a directory, and several files need one"),
        (("s.f90", "-o", "none/t.f90"), "Directory 'none' does not exist"),
        (("s.f90", "-o", "u.f90/t.f90"), "'u.f90' is not a directory"),
        ((".", "-o", "u.f90/deep/t"), "'u.f90' is not a directory"),
        (("s.f90", "--templates", "none"), "Invalid value for '--templates': Directory 'none' does not"),
        ((), "Missing argument 'FILE|DIR...'"),
    ],
)
def test_wrong_usage(here: Path, arguments: tuple[str, ...], message: str) -> None:
    for name in ("s.f90", "t.f90", "u.f90"):
        put(name)
    result = run("rewrite", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    first, second = result.stderr.splitlines()
    assert first.startswith(f"fortrans: error: {message}") and not first.endswith(".")
    assert second == "Try 'main rewrite --help' for help."


def test_an_empty_directory_is_said_to_be_empty(here: Path) -> None:
    Path("empty").mkdir()
    for more in ((), ("-o", "out"), ("--diff",)):
        result = run("rewrite", "-q", "empty", *more)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("empty: error: Directory holds no free-form Fortran file")


def test_a_named_file_that_may_not_be_read_costs_that_file_only(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("secret.f90")
    put("good.f90")
    read, access = Path.read_bytes, os.access

    def denied(path: Path) -> bytes:
        if path.name == "secret.f90":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", denied)
    monkeypatch.setattr(os, "access", lambda path, mode: "secret" not in str(path) and access(path, mode))
    result = run("rewrite", "-q", "secret.f90", "none.f90", "good.f90", "-o", "out")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "secret.f90: error: Cannot read file, permission denied",
        "none.f90: error: Cannot read file, no such file or directory",
    ]
    assert Path("out/good.f90").read_text() == AFTER


def test_one_bad_file_costs_that_file_only(here: Path) -> None:
    put("src/a.f90")
    put("src/b.f90", "program b\nbad\nend\n")
    put("src/c.f90", b"a = b\0")
    put("src/d.f90", "")
    put("src/e.f90")
    result = run("rewrite", "src", "none.f90", "old.for", "-o", "out", "-q")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "src/c.f90:1: error: File is binary, not Fortran text",
        "src/d.f90: error: File is empty, it holds no program unit",
        "none.f90: error: Cannot read file, no such file or directory",
        "old.for: error: Fixed source form is not read, convert the file to free form first",
        "src/b.f90:2: error: Statement cannot be read",
    ]
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.f90", "e.f90"]


def test_a_bad_file_in_place_is_left_and_prints_nothing(here: Path) -> None:
    put("b.f90", "bad a = b\n")
    assert run("rewrite", "b.f90").stdout == ""
    assert run("rewrite", "--in-place", "b.f90").exit_code == 2
    assert Path("b.f90").read_text() == "bad a = b\n"


def test_a_file_that_cannot_be_written_is_reported_and_the_next_is_done(here: Path) -> None:
    put("a.f90")
    put("b.f90")
    Path("out/a.f90").mkdir(parents=True)
    result = run("rewrite", "a.f90", "b.f90", "-o", "out", "-q")
    assert result.exit_code == 2
    assert result.stderr.startswith("out/a.f90: error: Cannot write file, ")
    assert len(result.stderr.splitlines()) == 1
    assert Path("out/b.f90").read_text() == AFTER


def test_a_failure_that_is_no_file_s_is_one_line(here: Path, pipeline: Pipeline) -> None:
    def broken(*_: object) -> Iterator[FileResult | InputError]:
        raise InputError("mine.f90.j2", "Template is malformed", 7)
        yield

    pipeline.rewrite_sources = broken  # type: ignore[method-assign]
    put("s.f90")
    result = run("rewrite", "s.f90", "-q")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "mine.f90.j2:7: error: Template is malformed\n"


def test_context_is_read_for_use_and_not_written(here: Path, pipeline: Pipeline) -> None:
    put("s.f90")
    put("lib/m.f90")
    assert run("rewrite", "s.f90", "-I", "lib", "-I", "s.f90").exit_code == 0
    assert [(sources, context) for sources, _, context in pipeline.calls] == [(["s.f90"], ["lib/m.f90"])]
    assert run("rewrite", "s.f90", "-I", "none").exit_code == 2


EMPTY = "Directory holds no free-form Fortran file (.f90, .f95, .f03, .f08)"


def test_context_that_cannot_be_read_is_a_warning(here: Path) -> None:
    put("s.f90")
    put("lib/bad.f90", "end\nbad\n")
    put("lib/null.f90", b"\n\0")
    Path("empty").mkdir()
    for command in ("rewrite", "check"):
        result = run(command, "s.f90", "-I", "lib", "-I", "empty")
        assert result.exit_code == (command == "check")
        assert result.stderr.splitlines()[:3] == [
            "lib/null.f90:2: warning: context file could not be read: File is binary, not Fortran text",
            f"empty: warning: context directory could not be read: {EMPTY}",
            "lib/bad.f90:2: warning: context file could not be read: Statement cannot be read",
        ]
        assert "error" not in result.stderr
    assert run("rewrite", "-q", "s.f90", "-I", "lib").stderr == ""


def test_options_reach_the_pipeline(here: Path, pipeline: Pipeline) -> None:
    put("s.f90")
    Path("t").mkdir()
    run("rewrite", "s.f90")
    flags = "--all --no-comments --line-length 100 --assume-intrinsics --target flang --templates t"
    flags += " --stack-limit 64 --stack-arrays --no-realloc-lhs"
    run("rewrite", "s.f90", *flags.split())
    run("check", "s.f90", "--all")
    assert [options for _, options, _ in pipeline.calls] == [
        Options(),
        Options(
            all=True,
            comments=False,
            line_length=100,
            assume_intrinsics=True,
            target="flang",
            templates="t",
            stack_limit=64,
            stack_arrays=True,
            realloc_lhs=False,
        ),
        Options(all=True),
    ]


# --- differences ---


def test_diff_is_one_that_patch_applies(here: Path) -> None:
    content = b"! \xf6\r\na = b\r\nend"
    put("src/s.f90", content)
    result = run("rewrite", "--diff", "src/s.f90")
    assert (result.exit_code, Path("src/s.f90").read_bytes()) == (0, content)
    assert result.stdout_bytes.startswith(b"--- a/src/s.f90\n+++ b/src/s.f90\n@@ ")
    subprocess.run(["git", "apply", "-"], input=result.stdout_bytes, check=True)
    assert Path("src/s.f90").read_bytes() == content.replace(b"a = b", b"a = composed")


def test_diff_says_where_the_final_newline_is_missing(here: Path) -> None:
    put("s.f90", "a = b")
    assert run("rewrite", "--diff", "s.f90").stdout.splitlines()[3:] == [
        "-a = b",
        "\\ No newline at end of file",
        "+a = composed",
        "\\ No newline at end of file",
    ]


def test_check_is_0_without_change_1_with_a_diff_and_2_with_an_error(here: Path) -> None:
    put("same.f90", "end\n")
    result = run("check", "same.f90")
    assert (result.exit_code, result.stdout) == (0, "")
    put("s.f90")
    result = run("check", "same.f90", "s.f90")
    assert result.exit_code == 1
    assert "-  a = b\n+  a = composed\n" in result.stdout
    assert result.stderr.splitlines()[-1] == (
        "1 statement would be rewritten, 1 left (1 FT601), 1 of 2 files would change"
    )
    put("bad.f90", "bad\n")
    assert run("check", ".").exit_code == 2
    assert Path("s.f90").read_text() == BEFORE


# --- show and explain ---


def test_show(here: Path) -> None:
    put("s.f90")
    assert run("show", "lines", "s.f90").stdout == "lines of 4 lines\n"
    assert "'trees' is not a stage, the stages are lines, nests" in run("show", "trees", "s.f90").stderr
    put("m.f90")
    put("lib/bad.f90", "bad\n")
    result = run("show", "lines", "s.f90", "-I", "m.f90", "-I", "lib")
    assert result.stdout == "lines of 4 lines m.f90 lib/bad.f90\n"
    assert result.stderr == (
        "lib/bad.f90:1: warning: context file could not be read: Statement cannot be read\n"
    )
    assert "error: 'lib' is a directory" in run("show", "lines", "lib").stderr
    result = run("show", "lines", "none.f90")
    assert (result.exit_code, result.stderr) == (
        2,
        "none.f90: error: Cannot read file, no such file or directory\n",
    )


@pytest.mark.parametrize("word", ["FT301", "ft301", "left-side-overlap"])
def test_explain_a_code(word: str) -> None:
    result = run("explain", word)
    assert result.exit_code == 0
    assert result.stdout.startswith("FT301 left-side-overlap\nLeft-hand side may be read")
    assert "What you can do\n  " in result.stdout


def test_explain_lists_all_codes() -> None:
    lines = run("explain").stdout.splitlines()
    assert lines[0].split()[:2] == ["FT002", "unparsable-statement"]
    assert lines[-1].startswith("FT901")


def test_explain_an_unknown_word() -> None:
    result = run("explain", "FT30")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("fortrans: error: 'FT30' is neither a remark code nor a known intrinsic")
    assert "did you mean FT30" in result.stderr


def test_explain_an_intrinsic() -> None:
    for word in ("CSHIFT", "cshift"):
        lines = run("explain", word).stdout.splitlines()
        assert lines[0].startswith("CSHIFT(ARRAY, SHIFT")
        assert len(" ".join(lines[1:])) > 20


# --- help, version, colour ---


def test_every_help_has_examples() -> None:
    for command in ("", "rewrite", "check", "show", "explain"):
        text = run(*command.split(), "--help").stdout
        assert re.search(rf"Examples:\n +fortrans {command}", text)


def test_version() -> None:
    assert run("--version").stdout == f"fortrans {fortrans.__version__}\n"


class Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_only_on_a_terminal_and_never_under_no_color(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    from fortrans.report.streams import coloured as wanted

    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wanted(Terminal()) is coloured


def test_no_escape_sequences_when_not_on_a_terminal(here: Path) -> None:
    put("s.f90")
    result = run("rewrite", "--diff", "s.f90")
    assert "\x1b" not in result.stdout + result.stderr


# --- as a process ---


def process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "fortrans", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_module_runs_as_a_command(tmp_path: Path) -> None:
    done = process("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"fortrans {fortrans.__version__}\n")
    done = process("rewrite", "none.f90", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "none.f90: error: Cannot read file, no such file or directory"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [
        "rewrite -q s.f90",
        "rewrite -q --diff s.f90",
        "check -q s.f90",
        "explain",
        "show lines s.f90",
        "--help",
    ],
)
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "s.f90").write_text(COMPOSED)
    with Path("/dev/full").open("wb") as full:
        done = started(arguments.split(), tmp_path, full)
    _, errors = done.communicate()
    assert errors == "fortrans: error: Cannot write output, no space left on device\n"
    assert done.returncode == 2


@pytest.mark.parametrize("arguments", ["rewrite -q s.f90", "check s.f90", "explain"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "s.f90").write_text(COMPOSED)
    reader, writer = os.pipe()
    os.close(reader)
    done = started(arguments.split(), tmp_path, writer)
    os.close(writer)
    _, errors = done.communicate()
    assert (errors, done.returncode) == ("", 128 + 13)


COMPOSED = """\
subroutine s(a, b)
  real, intent(in) :: b(4, 4)
  real, intent(out) :: a(4, 4)
  a = 2.0 * transpose(b) + spread(b(:, 1), 1, 4)
end subroutine s
"""


def started(arguments: Sequence[str], cwd: Path, output: IO[bytes] | int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fortrans", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.PIPE, text=True
    )
