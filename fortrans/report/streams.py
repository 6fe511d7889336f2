"""Standard output and error: bytes as they are, colour, and what to do when they cannot be written."""

from __future__ import annotations

import os
import sys
from typing import Any

BROKEN_PIPE = 128 + 13
"""The status of a program that SIGPIPE ends: the reader went away, which is no error."""


def write(data: bytes) -> None:
    """Write to standard output.  Raises OSError, without a file's name, when that cannot be done."""
    # Bytes, so that a Latin-1 file comes out as it went in, and no line end is translated.
    output = _open(sys.stdout)
    output.flush()
    output.buffer.write(data)
    output.buffer.flush()


def coloured(stream: Any) -> bool:
    """Whether to colour: only on a terminal, never under NO_COLOR (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream is not None and stream.isatty()


def discard() -> None:
    """Lead streams that cannot be written nowhere: Python writes what they still hold at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _open(stream).flush()
        except OSError:
            if stream is not None:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _open(stream: Any) -> Any:
    """``stream``; Python has None in its place when the program was started with it closed."""
    if stream is None:
        raise OSError(9, "Bad file descriptor")
    return stream
