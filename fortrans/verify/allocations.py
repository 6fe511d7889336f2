"""Count a program's heap allocations, by a small library that stands before the C library's."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fortrans.verify.build import run

_SHIM = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned long calls, bytes;
static void count(size_t size) { __atomic_add_fetch(&calls, 1, 5); __atomic_add_fetch(&bytes, size, 5); }
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t size) { count(size); return __libc_malloc(size); }
void *calloc(size_t many, size_t size) { count(many * size); return __libc_calloc(many, size); }
void *realloc(void *old, size_t size) { count(size); return __libc_realloc(old, size); }
__attribute__((destructor)) static void tell(void)
{
  const char *place = getenv("FORTRANS_ALLOCATIONS");
  unsigned long many = calls, size = bytes;
  FILE *file = place ? fopen(place, "w") : NULL;
  if (file) { fprintf(file, "%lu %lu\\n", many, size); fclose(file); }
}
"""


@dataclass(frozen=True, slots=True)
class Allocations:
    """How often a program asked for memory, and for how many bytes in all."""

    calls: int
    bytes: int


def shim(folder: Path) -> Path | None:
    """The library, built in ``folder``; None without a C compiler, or where it cannot be built."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    source, made = folder / "shim.c", folder / "shim.so"
    source.write_text(_SHIM, "utf-8")
    command = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, check=False)
    return made if done.returncode == 0 else None


def counted(executable: Path, library: Path, timeout: float) -> Allocations | None:
    """The allocations of one run of a program; None where it did not end well."""
    told = executable.with_suffix(".allocations")
    told.unlink(missing_ok=True)
    run(
        executable,
        timeout=timeout,
        variables={"LD_PRELOAD": str(library), "FORTRANS_ALLOCATIONS": str(told)},
    )
    if not told.exists():
        return None
    calls, size = map(int, told.read_text("utf-8").split())
    return Allocations(calls, size)
