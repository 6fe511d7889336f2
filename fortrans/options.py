"""What the user asked for."""

from __future__ import annotations

from dataclasses import dataclass

STACK_LIMIT = 8192
"""Measured: ALLOCATE costs a twentieth at 8 KiB, half at 32 bytes, nothing that counts above."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to rewrite.

    ``all``: rewrite whatever is legal, paying or not.  ``comments``: keep the original statement
    above its rewrite as a comment.  ``line_length``: the longest line emitted.
    ``assume_intrinsics``: modules that were not seen bring no name of an intrinsic procedure.
    ``target``: the compiler whose profit thresholds apply.  ``templates``: a folder whose templates
    come before the shipped ones.  ``stack_limit``: the most bytes that the temporaries of one
    statement take on the stack when their shapes are constants.  ``stack_arrays``: they all go
    there, as the compiler's -fstack-arrays has it.  ``realloc_lhs``: assignment (re)allocates its
    left side; without it the program is compiled with -fno-realloc-lhs.  ``line_markers``:
    compilers' messages name lines of the original.  ``strict``: a fault of the tool itself is
    raised, not turned into a remark (for tests).  ``only``: the statements that may be rewritten, by
    file and first line (0: the file's procedures may be repacked), to find the one to blame.

    ``repack``: pack assumed-shape dummy arguments that are not contiguous; ``innermost``: where
    their first dimension is not, ``whole``: wherever they are not, "": not at all.
    ``repack_only``: names of procedures, with commas between, that alone are repacked.
    ``repack_when``: ``loop``, where it pays, or ``always``.  Sizes are bytes, 0 is no limit:
    ``repack_min_size`` and ``repack_max_size`` of an array, ``repack_max_element_size`` of an
    element, ``repack_min_stride`` between two elements (LOC is used to tell).
    ``version_loops``: a version of the procedure for contiguous arguments, and no copy.
    ``openmp``: no copy is made while several threads run.
    ``repack_calls``: pack sections that are not contiguous around calls instead.
    """

    all: bool = False
    comments: bool = True
    line_length: int = 132
    assume_intrinsics: bool = False
    target: str = "gfortran"
    templates: str | None = None
    stack_limit: int = STACK_LIMIT
    stack_arrays: bool = False
    realloc_lhs: bool = True
    line_markers: bool = False
    strict: bool = False
    only: frozenset[tuple[str, int]] | None = None
    repack: str = ""
    repack_only: str = ""
    repack_when: str = "loop"
    repack_min_size: int = 4096
    repack_max_size: int = 0
    repack_max_element_size: int = 64
    repack_min_stride: int = 0
    version_loops: bool = False
    openmp: bool = True
    repack_calls: bool = False
