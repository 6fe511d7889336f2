"""Comparisons of programs that were made before, for a developer who runs the fixtures often.

Only when FORTRANS_TEST_CACHE names a folder: the key is every byte of both programs, the flags
and the compiler's version.  CI does not set it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fortrans.source import Source
from fortrans.verify.build import compiler_path
from fortrans.verify.compare import Comparison, compare


@cache
def _version(compiler: str) -> str:
    return subprocess.run([compiler_path(compiler), "--version"], capture_output=True, text=True).stdout


def compared(original: Sequence[Source], rewritten: Sequence[Source], flags: Sequence[str]) -> Comparison:
    """What `fortrans.verify.compare.compare` says; only good answers are remembered."""
    folder = os.environ.get("FORTRANS_TEST_CACHE")
    if not folder:
        return compare(original, rewritten, flags)
    key = repr((_version("gfortran"), *map(list, (original, rewritten, flags))))
    path = Path(folder, hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest())
    if path.exists():
        found: Comparison = pickle.loads(path.read_bytes())
        return found
    result = compare(original, rewritten, flags)
    if result.difference is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(pickle.dumps(result))
        scratch.replace(path)
    return result
