"""What becomes of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from fortrans.remarks import Remark
from fortrans.source import Edit, Source


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file, what became of it, the remarks, in source order, and the time it took.

    ``needs``: the files it depends on, where a run found that out.  ``edits`` are what makes the
    output of the source; a result of an earlier run has none.
    """

    source: Source
    output: Source
    remarks: tuple[Remark, ...]
    needs: tuple[str, ...] = field(default=(), compare=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)
