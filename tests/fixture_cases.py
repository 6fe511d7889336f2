"""The folders under fixtures/: what a case is, and what is asked of it.

    fixtures/<transform>/<case>/input.f90      the program, or with main.f90 a part of it
                                expected.f90   what it becomes       (written by --bless)
                                remarks.txt    what is said about it (written by --bless)
                                main.f90       a driver, not rewritten (optional)
                                unseen.f90     compiled first, not shown to the tool (optional)

The first line of the input may hold options, `! fortrans: --all --line-length=80`, and the
second (or first) compiler flags, `! flags: -fopenmp`.  A file that needs the preprocessor is
called input.F90 (and expected.F90).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from remembered import compared

from fortrans.options import Options
from fortrans.remarks import Remark
from fortrans.source import Source
from fortrans.verify.build import CHECKED, OPTIMISED, BuildFailed
from fortrans.verify.laws import line_ends, reported, stable, untouched

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

#: What the harness needs of the tool: text, options and path give text and remarks.
Rewriter = Callable[[str, Options, str], tuple[str, tuple[Remark, ...]]]


def read(path: Path) -> Source:
    """A file as the harness sees it: line ends as they are."""
    return Source(path.name, path.read_bytes().decode("utf-8"))


@dataclass(frozen=True, slots=True)
class Case:
    """One folder."""

    folder: Path

    @property
    def name(self) -> str:
        return "/".join(self.folder.parts[-2:])

    @property
    def input(self) -> Path:
        return next(path for path in sorted(self.folder.iterdir()) if path.stem == "input")

    @property
    def expected(self) -> Path:
        return self.folder / f"expected{self.input.suffix}"

    @property
    def remarks(self) -> Path:
        return self.folder / "remarks.txt"

    def program(self, source: Source) -> tuple[Source, ...]:
        """What is compiled, in order, when the input is ``source``."""
        unseen, main = (self.folder / name for name in ("unseen.f90", "main.f90"))
        before = (read(unseen),) if unseen.exists() else ()
        after = (read(main),) if main.exists() else ()
        return (*before, source, *after)


def cases(root: Path = FIXTURES) -> list[Case]:
    """Every case, by name; the examples are no cases."""
    return [Case(path.parent) for path in sorted(root.glob("*/*/input.[fF]90"))]


def options(text: str) -> Options:
    """The options in the first line: `--name`, `--no-name` or `--name=value` for each field."""
    types = {field.name: type(getattr(Options(), field.name)) for field in fields(Options)}
    chosen: dict[str, object] = {}
    found = re.match(r"! fortrans:(.*)", text)
    for word in found.group(1).split() if found else ():
        flag, _, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if name in types:
            chosen[name] = types[name](value) if value else True
        elif name.startswith("no_") and name[3:] in types:
            chosen[name[3:]] = False
        else:
            raise ValueError(f"Unknown option '{word}' in the first line of a fixture")
    return Options(**chosen)  # type: ignore[arg-type]


def flags(text: str) -> tuple[str, ...]:
    """The compiler flags in the first two lines."""
    for line in text.split("\n", 2)[:2]:
        if found := re.match(r"! flags:(.*)", line):
            return tuple(found.group(1).split())
    return ()


def parses(text: str) -> bool:
    """Whether fparser's full parser accepts the whole file."""
    from fparser.common.readfortran import FortranStringReader
    from fparser.two.parser import ParserFactory

    try:
        ParserFactory().create(std="f2008")(FortranStringReader(text, ignore_comments=False))
    # fparser fails with exceptions of several kinds, AttributeError among them.
    except Exception:  # noqa: BLE001
        return False
    return True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the rewriter made of a case, and the laws it broke."""

    output: Source
    remarks: tuple[Remark, ...]
    broken: tuple[str, ...]

    @property
    def said(self) -> str:
        return "".join(f"{remark}\n" for remark in self.remarks)


def broken_laws(
    source: Source,
    output: Source,
    remarks: Sequence[Remark],
    again: Source,
    full_parse: Callable[[str], bool],
) -> list[str]:
    """The laws about text that do not hold."""
    answers = [
        reported(source, remarks),
        untouched(source, output, remarks),
        stable(output, again),
        line_ends(source, output),
    ]
    if output.text != source.text and full_parse(source.text) and not full_parse(output.text):
        answers.append("The output does not parse, and the input did")
    return [answer for answer in answers if answer is not None]


def differences(case: Case, source: Source, output: Source, levels: Sequence[Sequence[str]]) -> list[str]:
    """How the programs differ when built with each of ``levels``; new warnings count."""
    problems: list[str] = []
    for level in levels:
        both = case.program(source), case.program(output)
        try:
            result = compared(*both, flags=(*level, *flags(source.text)))
        except BuildFailed as failed:
            problems.append(failed.messages)
            continue
        if result.difference:
            problems.append(result.difference)
        if result.original.exit is None:
            problems.append("The original program does not end in time")
        problems += [
            f"The compiler warns of the output only: {text}"
            for text in result.new_warnings
            if not _accepted(text, source.text)
        ]
    return problems


def _accepted(warning: str, original: str) -> bool:
    """Whether a new warning is no fault of ours.

    The user's implied DO variable may have no other use once its constructor is composed, and
    gfortran warns of the divisions in a RESHAPE only where it can work one of them out.
    """
    unused = re.match(r"Unused variable '(\w+)'", warning)
    if unused:
        return re.search(rf"\b{unused[1]}\b", original, re.IGNORECASE) is not None
    return "-Winteger-division" in warning


def try_case(
    case: Case,
    rewriter: Rewriter,
    levels: Sequence[Sequence[str]] = (CHECKED,),
    full_parse: Callable[[str], bool] = parses,
    always: bool = False,
) -> Outcome:
    """Rewrite a case and ask for every law.

    A file that was left as it was is compiled only when ``always``.
    """
    source = read(case.input)
    chosen = options(source.text)
    text, remarks = rewriter(source.text, chosen, source.path)
    output = Source(source.path, text)
    again = Source(source.path, rewriter(text, chosen, source.path)[0])
    broken = broken_laws(source, output, remarks, again, full_parse)
    if text != source.text or always:
        broken += differences(case, source, output, levels)
    return Outcome(output, remarks, tuple(broken))


def bless_case(case: Case, rewriter: Rewriter, full_parse: Callable[[str], bool] = parses) -> Outcome:
    """Write expected and remarks of ``case``, unless a law is broken at any level."""
    outcome = try_case(case, rewriter, (CHECKED, OPTIMISED), full_parse, always=True)
    if not outcome.broken:
        case.expected.write_bytes(outcome.output.text.encode("utf-8"))
        case.remarks.write_text(outcome.said, encoding="utf-8", newline="")
    return outcome
