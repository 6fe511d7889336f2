"""What the user asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How to rewrite.

    ``all``: rewrite whatever is legal, paying or not.  ``comments``: keep the original statement
    above its rewrite as a comment.  ``line_length``: the longest line emitted.
    ``assume_intrinsics``: modules that were not seen bring no name of an intrinsic procedure.
    ``target``: the compiler whose profit thresholds apply.  ``templates``: a folder whose templates
    come before the shipped ones.  ``strict``: a fault of the tool itself is raised, not turned into
    a remark (for tests).
    """

    all: bool = False
    comments: bool = True
    line_length: int = 132
    assume_intrinsics: bool = False
    target: str = "gfortran"
    templates: str | None = None
    strict: bool = False
