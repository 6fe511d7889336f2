"""Build a program from sources with a Fortran compiler, in a folder of its own, and run it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fortrans.source import Source

#: Everything gfortran can check while the program runs, and nothing that reorders arithmetic.
CHECKED = ("-std=f2008", "-Wall", "-fcheck=all", "-g", "-O0")
#: What a user builds with.
OPTIMISED = ("-std=f2008", "-Wall", "-O2")

_LIBRARY = re.compile(r"(?:_gfortran_|_Fortran)\w+")
_WARNING = re.compile(r"(?:Warning|warning): (.*)")


class CompilerMissing(Exception):
    """The compiler asked for is not on the PATH."""

    def __init__(self, compiler: str) -> None:
        super().__init__(
            f"Fortran compiler '{compiler}' not found: install it (Debian: apt-get install gfortran)"
            " or name another"
        )


class BuildFailed(Exception):
    """The compiler refused the program, or took too long; ``messages`` is what it said."""

    def __init__(self, messages: str) -> None:
        super().__init__(messages)
        self.messages = messages


@dataclass(frozen=True, slots=True)
class Built:
    """An executable and what the compiler said while making it."""

    executable: Path
    messages: str

    @property
    def warnings(self) -> Counter[str]:
        """The texts of the warnings, without their places, each with how often it was given."""
        return Counter(found.group(1) for found in _WARNING.finditer(self.messages))

    @property
    def temporaries(self) -> int:
        """The array temporaries that gfortran's ``-Warray-temporaries`` tells of."""
        return sum(count for said, count in self.warnings.items() if "array temporary" in said.lower())

    @property
    def routines(self) -> frozenset[str]:
        """The routines of the Fortran run-time library that it calls.  Raises CompilerMissing without nm."""
        return frozenset(found[0] for name in undefined(self.executable) if (found := _LIBRARY.match(name)))


@dataclass(frozen=True, slots=True)
class Run:
    """What a program printed and how it ended; ``exit`` is None when it was stopped for time."""

    stdout: bytes
    stderr: bytes
    exit: int | None


@cache
def compiler_path(compiler: str) -> str:
    """Where ``compiler`` is.  Raises CompilerMissing."""
    found = shutil.which(compiler)
    if found is None:
        raise CompilerMissing(compiler)
    return found


def call(
    command: Sequence[str], folder: Path, timeout: float, variables: Mapping[str, str] | None = None
) -> Run:
    """Run a command in ``folder``, without input, stopped with its children after ``timeout`` seconds."""
    # A group of its own, so that a compiler's children end with it when time is up.
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "LC_ALL": "C", "GFORTRAN_UNBUFFERED_ALL": "0", **(variables or {})},
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException as stopped:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(stopped, subprocess.TimeoutExpired):
            return Run(out, err, None)
        raise
    return Run(out, err, process.returncode)


def _placed(sources: Sequence[Source], folder: Path) -> list[str]:
    """Write the sources into ``folder``; their names there, in order, all different."""
    names: list[str] = []
    for source in sources:
        name = Path(source.path).name
        if name in names:
            name = f"{len(names)}_{name}"
        (folder / name).write_bytes(source.text.encode("utf-8", "surrogateescape"))
        names.append(name)
    return names


def build(
    sources: Sequence[Source],
    flags: Sequence[str],
    folder: Path,
    compiler: str = "gfortran",
    timeout: float = 120.0,
) -> Built:
    """Compile ``sources``, in the order given, to one program in ``folder`` (made when missing).

    ``compiler`` is the name or path of one executable.  Raises CompilerMissing or BuildFailed.
    """
    path = compiler_path(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    names = _placed(sources, folder)
    plain = ("-fdiagnostics-plain-output",) if "gfortran" in Path(path).name else ()
    result = call([path, *plain, *flags, *names, "-o", "program"], folder, timeout)
    messages = (result.stdout + result.stderr).decode("utf-8", "replace")
    if result.exit is None:
        raise BuildFailed(f"'{compiler}' took more than {timeout:g} seconds")
    if result.exit != 0:
        raise BuildFailed(messages)
    return Built(folder / "program", messages)


def objects(
    sources: Sequence[Source], flags: Sequence[str], folder: Path, compiler: str, timeout: float = 600.0
) -> list[str]:
    """Compile sources, in order, to object files in ``folder``; their names there.

    Raises CompilerMissing or BuildFailed.
    """
    path = compiler_path(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    names = _placed(sources, folder)
    if not names:
        return []
    result = call([path, *flags, "-c", *names], folder, timeout)
    if result.exit != 0:
        messages = (result.stdout + result.stderr).decode("utf-8", "replace")
        raise BuildFailed(messages or f"'{compiler}' took more than {timeout:g} seconds")
    return [str(Path(name).with_suffix(".o")) for name in names]


def link(source: Source, parts: Sequence[str], flags: Sequence[str], folder: Path, compiler: str) -> Path:
    """Compile a main program against the modules and objects in ``folder``; the executable.

    Raises CompilerMissing or BuildFailed.
    """
    (name,) = _placed([source], folder)
    program = folder / f"{Path(name).stem}.x"
    command = [compiler_path(compiler), *flags, name, *parts, "-o", program.name]
    result = call(command, folder, 120.0)
    if result.exit != 0:
        raise BuildFailed((result.stdout + result.stderr).decode("utf-8", "replace"))
    return program


def compile_only(
    source: Source, flags: Sequence[str], folder: Path, compiler: str = "gfortran", timeout: float = 120.0
) -> Built:
    """Compile one source to an object file in ``folder``.  Raises CompilerMissing or BuildFailed."""
    path = compiler_path(compiler)
    folder.mkdir(parents=True, exist_ok=True)
    (name,) = _placed([source], folder)
    plain = ("-fdiagnostics-plain-output",) if "gfortran" in Path(path).name else ()
    result = call([path, *plain, *flags, "-c", name, "-o", "object.o"], folder, timeout)
    messages = (result.stdout + result.stderr).decode("utf-8", "replace")
    if result.exit != 0:
        raise BuildFailed(messages or f"'{compiler}' took more than {timeout:g} seconds")
    return Built(folder / "object.o", messages)


def undefined(object: Path) -> frozenset[str]:
    """The symbols that an object file needs from elsewhere.  Raises CompilerMissing without nm."""
    result = call([compiler_path("nm"), "-u", str(object)], object.parent, 30.0)
    return frozenset(line.split()[-1] for line in result.stdout.decode().splitlines() if line.strip())


def run(
    executable: Path,
    arguments: Sequence[str] = (),
    timeout: float = 30.0,
    variables: Mapping[str, str] | None = None,
) -> Run:
    """Run a program in its folder, without input, stopped with its children after ``timeout``.

    ``variables`` are added to the environment.
    """
    return call([str(executable), *arguments], executable.parent, timeout, variables)


def steady(executable: Path, first: Run, times: int = 8, arguments: Sequence[str] = ()) -> bool:
    """Whether a program prints again what it printed in its ``first`` run, ``times`` times.

    The heap is filled with another byte in each run (glibc's MALLOC_PERTURB_), so that a program
    that reads what it never set, as some that gfortran miscompiles do, is told from others.
    """
    return all(
        run(executable, arguments, variables={"MALLOC_PERTURB_": str(37 * k % 256)}) == first
        for k in range(1, times + 1)
    )
