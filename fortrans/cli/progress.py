"""A progress bar for long runs: on a terminal, once a run takes longer than one waits without asking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

PATIENCE = 1.0
"""Seconds before the bar appears."""


class Progress:
    """How far a run is.  Drawn by rich, by hand, since a thread that draws would be forked too."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._total = total
        self._wanted = wanted
        self._start = monotonic()
        self._drawn = 0.0
        self._bar: Any = None
        self._task: Any = None

    @classmethod
    @contextmanager
    def shown(cls, total: int, wanted: bool) -> Iterator[Progress]:
        """A bar for ``total`` files while the context lasts, where ``wanted`` and on a terminal."""
        progress = cls(total, wanted and sys.stderr is not None and sys.stderr.isatty())
        try:
            yield progress
        finally:
            progress.hide()

    def step(self, done: int, total: int) -> None:
        """``done`` of ``total`` files are ready."""
        now = monotonic()
        if not self._wanted or now - self._start < PATIENCE or now - self._drawn < 0.1:
            return
        self._drawn = now
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._task = self._bar.add_task("Rewriting", total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, refresh=True)

    def hide(self) -> None:
        """Take the bar off the terminal; the next step draws it again."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
