"""What each transformational intrinsic means: signature, shape rule, type rule, element rule."""

from fortrans.intrinsics.entry import Entry, fresh_indices
from fortrans.intrinsics.registry import INTRINSICS, apply, bind

__all__ = ["INTRINSICS", "Entry", "apply", "bind", "fresh_indices"]
