"""Whether an assignment's value must be complete before the first element is stored, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.analysis.alias import Alias
from fortrans.analysis.overlap import conflict, function_may_read
from fortrans.ir.arrays import Array, Section, path_name
from fortrans.ir.expr import Ref
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal
from fortrans.transforms.plan import conflict_in_subscripts, mentions, same_type

if TYPE_CHECKING:
    from fortrans.transforms.compose import Composition


def needs_temporary(composition: Composition, target: Section, value: Array) -> str | None:
    """Why the value must be complete before the first element is stored; None when it need not.

    Raises Refusal FT301 when the subscripts on the left may change meanwhile.
    """
    trial = composition.trial()
    # On a copy that is thrown away: target and value as they would be stored.
    direct = same_type(target.type, value.type) and trial.clear(target, value)
    opened = trial.opened(target, value, rows=direct, lend=False)
    inside, what = opened.inside, opened.value
    loops = frozenset(span.index for span in opened.loops)
    own = frozenset(trial.own)
    site = composition.site
    scope = site.scope
    name = path_name(target.base)
    if isinstance(inside, Ref) and conflict_in_subscripts(inside, scope, own):
        raise Refusal("FT301", "Subscripts of the left-hand side may change while it is stored")
    if site.reallocates and (
        composition.reads(target, value) or mentions(value, target, scope)
    ):
        return f"'{name}' is read on the right and may be reallocated"
    if site.reallocates:
        # What is kept is computed after the left side was reallocated.
        function = function_may_read(inside, as_source(value), scope)
        if function is not None:
            return f"function '{function}' may read '{name}'"
    found = conflict(inside, what, loops, scope, own)
    if found is not None:
        if found.alias is Alias.MAYBE:
            composition.maybe = True
            return f"'{path_name(found.read)}' may be the same storage as '{name}'"
        return f"'{path_name(found.read)}' is read elsewhere than where it is stored"
    if (function := function_may_read(inside, what, scope)) is not None:
        return f"function '{function}' may read '{name}'"
    return None
