"""Actual arguments, and arrays that are evaluated once before the nest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fortrans.ir.arrays import Section, Triplet
from fortrans.ir.expr import ONE, Call, Expr, Keyword, Name, integer, names
from fortrans.ir.sites import Capture
from fortrans.ir.symbols import Symbol, Type
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting


def split(args: Sequence[Expr]) -> tuple[tuple[str | None, Expr], ...]:
    """Each actual argument with its keyword, or None."""
    return tuple((x.name, x.value) if isinstance(x, Keyword) else (None, x) for x in args)


def may_be_absent(value: Expr, lifting: Lifting) -> bool:
    """Whether an actual argument is an OPTIONAL dummy, which may be passed on when absent (15.5.2.12)."""
    if not isinstance(value, Name):
        return False
    meaning = lifting.scope.lookup(value.id)
    return isinstance(meaning, Symbol) and "optional" in meaning.attributes


def kept_array(call: Expr, type: Type, rank_: int, lifting: Lifting) -> Section:
    """An array evaluated once, as the user wrote it, into a local that takes its shape."""
    if names(call) & lifting.locals:
        raise Refusal("FT404", "An array reference in an implied DO is not composed")
    local = lifting.fresh.name("val")
    lifting.captures.append(Capture(local, type, call, rank_))
    axes = tuple(
        Triplet(ONE, ONE, Call("size", (Name(local), integer(d + 1))), full=True) for d in range(rank_)
    )
    return Section(Name(local), axes, type, whole=False)
