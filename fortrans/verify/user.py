"""A user's files, original and rewritten, built and run side by side."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fortrans.frontend.cycles import cycle
from fortrans.frontend.dependencies import defined, wanted
from fortrans.frontend.modules import index
from fortrans.frontend.units import Program, read
from fortrans.options import Options
from fortrans.pipeline import rewrite_sources
from fortrans.remarks import InputError, Kind, Remark
from fortrans.result import FileResult
from fortrans.source import Source
from fortrans.verify.blame import minimal
from fortrans.verify.build import BuildFailed, Run, build, compiler_path
from fortrans.verify.measured import Measured, measured
from fortrans.verify.numbers import differ

CHECKS = {"gfortran": ("-g", "-O0", "-fcheck=all"), "flang": ("-g", "-O0")}
"""What makes a compiler check a program while it runs."""

OPTIMISED = ("-O2",)

Texts = Mapping[str, Source]
"""Sources that take the place of those of their path."""

Attempt = Callable[[Texts, str], Measured]
"""Build and run with these texts in place of the originals', in a folder of this name."""

Encoders = Mapping[str, Callable[[str], bytes]]
"""What turns a text into the bytes of the file of a path."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to build: a compiler and its flags."""

    compiler: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join([self.compiler, *self.flags])


def settings(compilers: Sequence[str], flags: Sequence[str]) -> Iterator[Setting]:
    """With all checks and with optimisation, for each compiler; ``flags`` come last and win."""
    for compiler in compilers:
        kind = "flang" if "flang" in Path(compiler).name else "gfortran"
        for level in (CHECKS[kind], OPTIMISED):
            yield Setting(compiler, (*level, *flags))


@dataclass(frozen=True, slots=True)
class Files:
    """The sources to verify, in an order in which they compile, and what is included from where."""

    sources: tuple[Source, ...]
    folders: tuple[str, ...]
    mains: tuple[str, ...]

    def programs(self) -> Iterator[tuple[str, tuple[Source, ...]]]:
        """Each file with a main program, and the sources it is built of: all without one, too."""
        for main in self.mains:
            others = set(self.mains) - {main}
            yield main, tuple(source for source in self.sources if source.path not in others)


def ordered(sources: Sequence[Source]) -> Files:
    """Sort files so that modules come before what uses them.  Raises InputError."""
    programs = {source.path: read(source) for source in sources}
    home = {name: program for program in programs.values() for name in defined(program)}
    modules = index(list(programs.values()))
    for program in programs.values():
        if (circle := cycle(program, modules)) is not None:
            raise circle
    done: dict[str, Source] = {}
    seen: set[str] = set()

    def visit(program: Program) -> None:
        path = program.source.path
        if path not in seen:
            seen.add(path)
            for name in sorted(wanted(program)):
                visit(home.get(name, program))
            done[path] = program.source

    for program in programs.values():
        visit(program)
    mains = tuple(path for path in done if any(unit.kind == "program" for unit in programs[path].units))
    folders = tuple(dict.fromkeys(str(Path(source.path).resolve().parent) for source in sources))
    return Files(tuple(done.values()), folders, mains)


def places_of(remarks: Sequence[Remark]) -> dict[tuple[str, int], list[Remark]]:
    """Remarks by the statement that Options.only names; of repacking by the file."""
    places: dict[tuple[str, int], list[Remark]] = {}
    for remark in remarks:
        line = 0 if remark.code.startswith("FT5") else remark.span.first
        places.setdefault((remark.path, line), []).append(remark)
    return places


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one program in one setting.

    ``unusable``: why the original tells nothing.  ``difference``: how the rewritten program
    differs.  ``blame``: the remarks of the statements that are enough to make it differ.
    """

    program: str
    setting: Setting
    original: Measured | None = None
    rewritten: Measured | None = None
    unusable: str | None = None
    difference: str | None = None
    blame: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Verifier:
    """How to verify: the rewriter's options, the files of modules, seconds for a run, the
    relative tolerance, and the seed of random arguments."""

    options: Options
    context: tuple[Source, ...] = ()
    timeout: float = 60.0
    tolerance: float = 0.0
    seed: int = 1

    def rewritten(
        self, sources: Sequence[Source], only: frozenset[tuple[str, int]] | None = None
    ) -> tuple[dict[str, Source], tuple[Remark, ...]]:
        """The rewritten sources by path, and the remarks.  Raises InputError."""
        results: list[FileResult] = []
        for result in rewrite_sources(sources, replace(self.options, only=only), self.context):
            if isinstance(result, InputError):
                raise result
            results.append(result)
        remarks = tuple(remark for result in results for remark in result.remarks)
        return {result.source.path: result.output for result in results}, remarks

    def programs(self, files: Files, setting: Setting) -> Iterator[Trial]:
        """Build each main program with the other files and run it."""
        texts, remarks = self.rewritten(files.sources)
        for main, sources in files.programs():
            paths = {source.path for source in sources}
            mine = [remark for remark in remarks if remark.path in paths]
            yield self._program(main, sources, files, setting, texts, mine)

    def _program(
        self,
        main: str,
        sources: Sequence[Source],
        files: Files,
        setting: Setting,
        texts: Texts,
        remarks: Sequence[Remark],
    ) -> Trial:
        flags = (*setting.flags, *(f"-I{folder}" for folder in files.folders))
        with tempfile.TemporaryDirectory(prefix="fortrans-") as name:

            def attempt(texts: Texts, place: str) -> Measured:
                made = [texts.get(source.path, source) for source in sources]
                folder = Path(name, place)
                built = build(made, flags, folder, setting.compiler)
                return measured([str(built.executable)], folder, self.timeout)

            return self._trial(Trial(main, setting), attempt, files.sources, texts, remarks)

    def command(
        self, files: Files, setting: Setting, command: str, tree: Path, encoders: Encoders
    ) -> Trial:
        """Run a shell command in a copy of ``tree``, with the original and with the rewritten files.

        The command finds the compiler in FC and its flags in FFLAGS.  Raises InputError when a
        file is not below ``tree``.
        """
        texts, remarks = self.rewritten(files.sources)
        root = tree.resolve()
        places: dict[str, Path] = {}
        for source in files.sources:
            full = Path(source.path).resolve()
            if not full.is_relative_to(root):
                raise InputError(source.path, f"File is not below '{root}', which --main copies")
            places[source.path] = full.relative_to(root)
        path = compiler_path(setting.compiler)
        flags = shlex.join(setting.flags)
        variables = {"FC": path, "FFLAGS": flags, "FCFLAGS": flags}
        with tempfile.TemporaryDirectory(prefix="fortrans-") as name:

            def attempt(texts: Texts, place: str) -> Measured:
                folder = Path(name, place)
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(root, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
                for path, source in texts.items():
                    (folder / places[path]).write_bytes(encoders[path](source.text))
                return measured(["sh", "-c", command], folder, self.timeout, variables)

            return self._trial(Trial(command, setting), attempt, files.sources, texts, remarks)

    def _trial(
        self,
        trial: Trial,
        attempt: Attempt,
        sources: Sequence[Source],
        texts: Texts,
        remarks: Sequence[Remark],
    ) -> Trial:
        try:
            before = attempt({}, "original")
        except BuildFailed as failed:
            return replace(trial, unusable=f"Original does not compile:\n{failed.messages.rstrip()}")
        trial = replace(trial, original=before)
        if before.run.exit is None:
            return replace(trial, unusable=f"Original does not end within {self.timeout:g} seconds")
        found, after = self._difference(attempt, texts, before.run, "rewritten")
        trial = replace(trial, rewritten=after)
        if found is None:
            return trial
        again = attempt({}, "original")
        if differ(before.run, again.run, self.tolerance) is not None:
            return replace(trial, unusable="Original prints other things when it runs again")
        places = places_of([remark for remark in remarks if remark.kind is Kind.PASSED])

        def differs(chosen: Sequence[tuple[str, int]]) -> bool:
            fewer, _ = self.rewritten(sources, frozenset(chosen))
            return self._difference(attempt, fewer, before.run, "suspect")[0] is not None

        blamed = minimal(list(places), differs) if places else []
        return replace(
            trial, difference=found, blame=tuple(remark for place in blamed for remark in places[place])
        )

    def _difference(
        self, attempt: Attempt, texts: Texts, before: Run, place: str
    ) -> tuple[str | None, Measured | None]:
        try:
            after = attempt(texts, place)
        except BuildFailed as failed:
            return f"The rewritten program does not compile:\n{failed.messages.rstrip()}", None
        return differ(before, after.run, self.tolerance), after
