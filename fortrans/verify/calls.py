"""Procedures of a user's files, original and rewritten, called with the same random arguments."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fortrans.frontend.modules import index
from fortrans.frontend.resolve import resolve
from fortrans.frontend.units import read
from fortrans.remarks import Kind, Remark
from fortrans.source import Source
from fortrans.verify.blame import minimal
from fortrans.verify.build import BuildFailed, link, objects, run, steady
from fortrans.verify.drivers import Callee, callees
from fortrans.verify.numbers import differ
from fortrans.verify.user import Files, Setting, Texts, Verifier, places_of

TRIALS = (
    (3, 1, 1), (5, 2, 1), (4, 3, 1), (0, 1, 1), (1, 2, 1), (2, 1, 0), (3, 2, 0), (0, 3, 0),
)  # fmt: skip
"""Extent, layout and presence: what a driver takes."""

LAYOUTS = {1: "contiguous", 2: "strided", 3: "backward"}


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one procedure in one setting.

    ``same`` of ``usable`` trials agree, the original could do ``usable`` of ``tried``;
    ``refused``: why none was made.  ``inputs`` tells the trial of the ``difference``.
    """

    callee: Callee
    setting: Setting
    tried: int = 0
    usable: int = 0
    same: int = 0
    refused: str = ""
    difference: str | None = None
    inputs: str = ""
    blame: tuple[Remark, ...] = ()


def procedures(verifier: Verifier, files: Files, setting: Setting) -> Iterator[Report]:
    """Call every procedure of the files that the tool changes.  Raises InputError."""
    texts, remarks = verifier.rewritten(files.sources)
    changed = {source.path for source in files.sources if texts[source.path].text != source.text}
    sources = [source for source in files.sources if source.path not in files.mains]
    found: list[Callee] = []
    programs = {source.path: read(source) for source in (*files.sources, *verifier.context)}
    modules = index(list(programs.values()))
    for source in files.sources:
        if source.path in changed:
            program = programs[source.path]
            found += callees(program, resolve(program, modules))
    flags = (*setting.flags, *(f"-I{folder}" for folder in files.folders))
    with tempfile.TemporaryDirectory(prefix="fortrans-") as name:
        folder = Path(name)
        try:
            before = objects(sources, flags, folder / "original", setting.compiler)
        except BuildFailed as failed:
            reason = f"original does not compile: {failed.messages.strip()[:500]}"
            yield from (Report(callee, setting, refused=reason) for callee in found[:1])
            return
        try:
            after = objects(
                [texts[source.path] for source in sources], flags, folder / "rewritten", setting.compiler
            )
        except BuildFailed as failed:
            wrong = f"The rewritten files do not compile:\n{failed.messages.strip()[:2000]}"
            yield from (Report(callee, setting, difference=wrong) for callee in found[:1])
            return
        for callee in found:
            if callee.path in files.mains:
                callee = replace(callee, refused="its file holds a main program", driver="")
            if not callee.driver:
                yield Report(callee, setting, refused=callee.refused)
                continue
            report = _called(callee, setting, flags, folder, (before, after), verifier)
            if report.difference is not None:
                report = replace(
                    report, blame=_blamed(verifier, files, sources, remarks, report, flags, folder)
                )
            yield report


def _called(
    callee: Callee,
    setting: Setting,
    flags: Sequence[str],
    folder: Path,
    parts: tuple[Sequence[str], Sequence[str]],
    verifier: Verifier,
) -> Report:
    report = Report(callee, setting)
    driver = Source("fortrans_driver.f90", callee.driver)
    try:
        original = link(driver, parts[0], flags, folder / "original", setting.compiler)
        rewritten = link(driver, parts[1], flags, folder / "rewritten", setting.compiler)
    except BuildFailed as failed:
        lines = [x.strip() for x in failed.messages.splitlines() if "rror" in x or "undefined" in x]
        return replace(report, refused=f"its driver does not compile: {(lines or [''])[0][:200]}")
    tried = usable = same = 0
    for extent, layout, present in TRIALS:
        if extent > callee.largest or not (present or "case (10)" in callee.driver):
            continue
        tried += 1
        given = [str(extent), str(layout), str(present), str(verifier.seed)]
        before = run(original, given, verifier.timeout)
        if before.exit != 0:
            continue
        after = run(rewritten, given, verifier.timeout)
        found = differ(before, after, verifier.tolerance)
        if found is not None and not steady(original, before, 4, given):
            continue
        usable += 1
        if found is None:
            same += 1
            continue
        absent = "" if present else ", optional arguments absent"
        what = f"extents {extent}, {LAYOUTS[layout]} actual arguments{absent}, seed {verifier.seed}"
        return replace(report, tried=tried, usable=usable, same=same, difference=found, inputs=what)
    return replace(report, tried=tried, usable=usable, same=same)


def _blamed(
    verifier: Verifier,
    files: Files,
    sources: Sequence[Source],
    remarks: Sequence[Remark],
    report: Report,
    flags: Sequence[str],
    folder: Path,
) -> tuple[Remark, ...]:
    places = places_of([remark for remark in remarks if remark.kind is Kind.PASSED])
    original = objects(sources, flags, folder / "original", report.setting.compiler)

    def differs(chosen: Sequence[tuple[str, int]]) -> bool:
        texts: Texts = verifier.rewritten(files.sources, frozenset(chosen))[0]
        made = [texts[source.path] for source in sources]
        try:
            parts = objects(made, flags, folder / "rewritten", report.setting.compiler)
        except BuildFailed:
            return True
        again = _called(report.callee, report.setting, flags, folder, (original, parts), verifier)
        return again.difference is not None

    blamed = minimal(list(places), differs) if places else []
    return tuple(remark for place in blamed for remark in places[place])
