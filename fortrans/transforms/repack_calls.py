"""Packing around a call: which sections among its actual arguments, on which conditions.

The callee is left as it is.  Its body must be seen: it may ask where its argument lies, and only
what it does with it tells whether a copy pays (SEMANTICS 34 to 38).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fortrans.analysis.definitions import touches
from fortrans.analysis.placing import surely_reached
from fortrans.analysis.repackable import check_directives, check_dummy, check_type, copies_in
from fortrans.analysis.usage import mentioned, usage
from fortrans.ir.calls import Actual, Call, PackedActual, SectionText, contiguous
from fortrans.ir.procedures import Dummy, Procedure
from fortrans.ir.symbols import Intent, Scope, Symbol, bytes_of
from fortrans.options import Options
from fortrans.remarks import Refusal

_UNFIT = ("target", "pointer", "volatile", "asynchronous", "codimension", "equivalence", "common",
          "parameter")  # fmt: skip
LEFT = re.compile(r"\s*!fortrans\$\s*norepack\s+call\b", re.IGNORECASE)
"""The line before a call that is to be left."""
_DEVICE = re.compile(r"!\$(?:acc\b|omp\s*(?:target|declare|requires)\b)", re.IGNORECASE)
_AT_LEAST = re.compile(r"(\w+) >= (\d+)")
_PLAIN = re.compile(r"\w+")


def arguments(call: Call) -> tuple[Actual, ...]:
    """The actual arguments of a call that are sections and may have gaps."""
    return tuple(a for a in call.actuals if a.section is not None and not a.contiguous)


def check_call(call: Call, directives: Iterable[str]) -> None:
    """Raise Refusal where a call cannot be looked into, or nothing can be put in its place.

    ``directives`` are those of the file.
    """
    why = call.unseen or call.misplaced
    if why is not None:
        raise Refusal("FT518", f"The call of '{call.name}' is left, since {why}")
    if any(_DEVICE.match(text) for text in directives):
        raise Refusal("FT513", f"Directives in this file may mean the data of a device around '{call.name}'")


def packed(
    call: Call, actual: Actual, procedure: Procedure, dummy: Dummy, view: Scope, options: Options
) -> PackedActual | None:
    """How to pack one actual; None where nothing is to be said.  Raises Refusal."""
    found = actual.section
    if found is None or dummy.asked is False:
        return None
    if not any(dim.form == "assumed" for dim in dummy.symbol.dims):
        return None
    if found.symbol.rank and contiguous(found.symbol) and _unit_stride(found):
        return None  # Gaps between columns never pay.
    if procedure.wrong is not None or procedure.alternate:
        why = procedure.wrong or "it has alternate returns"
        raise Refusal("FT518", f"The call of '{procedure.name}' is left, since {why}")
    _check_actual(found, procedure, view)
    _check_limits(found.symbol, options)
    check_dummy(procedure, dummy)
    check_directives(procedure)
    _check_others(call, actual, found)
    copy_in = copies_in(procedure, dummy)
    definable = found.symbol.intent is not Intent.IN and "protected" not in found.symbol.attributes
    defined = dummy.symbol.intent is not None or touches(procedure, dummy.symbol.name)
    copy_out = dummy.symbol.intent is not Intent.IN and definable and defined
    unknown = dummy.symbol.intent is None and found.symbol.intent is None
    if copy_out and unknown and "dummy" in found.symbol.attributes:
        raise Refusal("FT518", f"'{found.spelled}' may belong to what must not be defined")
    if copy_out and options.openmp and view.pure:
        raise Refusal("FT513", f"'{found.spelled}' may be shared by threads, which a pure caller cannot know")
    repeats = _repeats(call, procedure, dummy, view, options, 2 if copy_in and copy_out else 1)
    return PackedActual(actual, found, copy_in, copy_out, repeats)


def _unit_stride(found: SectionText) -> bool:
    first = found.subscripts[0]
    return not isinstance(first, str) and first.stride in ("", "1")


def _check_actual(found: SectionText, procedure: Procedure, view: Scope) -> None:
    symbol, name = found.symbol, found.spelled
    for attribute in _UNFIT:
        if attribute in symbol.attributes:
            raise Refusal("FT511", f"Actual argument '{name}' is {attribute.upper()}")
    if symbol.attributes & {"associate", "ambiguous", "namelist"}:
        raise Refusal("FT511", f"Actual argument '{name}' has other names")
    if found.odd is not None:
        raise Refusal("FT518", f"A section of '{name}' is left, since {found.odd}")
    derived = view.derived_of(symbol) if symbol.type.derived is not None else None
    if derived is not None and view.defined_assignment():
        raise Refusal("FT515", f"An assignment of the user's may be meant for actual argument '{name}'")
    check_type(symbol.type, derived, f"actual argument '{name}'")
    if symbol.type.name == "character" and symbol.type.kind != 1:
        raise Refusal("FT515", f"The type of actual argument '{name}' cannot be printed there")
    if any(re.search(rf"\b{re.escape(symbol.remote or symbol.name)}\b", text) for text in procedure.texts):
        shared = symbol.attributes & {"host", "use"} or procedure.home == "internal"
        own = any(d.symbol.name == symbol.name for d in procedure.dummies)
        if shared and not own:
            raise Refusal("FT518", f"'{procedure.name}' may name '{name}' itself")


def _check_limits(symbol: Symbol, options: Options) -> None:
    size = bytes_of(symbol.type)
    if size is not None and 0 < options.repack_max_element_size < size:
        raise Refusal("FT517", f"Elements of '{symbol.name}' are larger than --repack-max-element-size")
    if options.repack_min_stride:
        raise Refusal("FT517", "--repack-min-stride is not asked around a call")


def _check_others(call: Call, actual: Actual, found: SectionText) -> None:
    for other in call.actuals:
        if other is actual:
            continue
        if found.symbol.name in other.names:
            raise Refusal("FT518", f"'{found.spelled}' is in another actual argument of '{call.name}' too")
        if not other.harmless:
            raise Refusal("FT518", f"Actual argument '{other.text}' of '{call.name}' may call a procedure")
    if call.variable == found.symbol.name:
        raise Refusal("FT518", f"'{found.spelled}' is defined by the same statement")


def _repeats(
    call: Call, procedure: Procedure, dummy: Dummy, view: Scope, options: Options, ways: int
) -> tuple[str, ...]:
    name = dummy.symbol.name
    if not mentioned(procedure, name):
        raise Refusal("FT517", f"No element of dummy argument '{name}' is used")
    if dummy.asked or options.repack_when == "always":
        return ()
    found = usage(procedure, name, ways)
    if not found.pays or not surely_reached(procedure, 0, found.hot):
        why = f"'{procedure.name}' is not known to walk '{name}' often enough to pay for a copy"
        raise Refusal("FT517", why)
    asked = found.conditions(procedure.settled)
    given = {a.dummy: a.text for a in call.actuals}
    conditions = [_at_call(condition, given, procedure, view) for condition in asked]
    if any(condition is None for condition in conditions):
        why = f"How often '{procedure.name}' walks '{name}' cannot be asked at the call"
        raise Refusal("FT517", why)
    if True in conditions:
        return ()
    if conditions and not any(conditions):
        raise Refusal("FT517", f"This call of '{procedure.name}' does not walk '{name}' often enough")
    return tuple(condition for condition in conditions if isinstance(condition, str))


def _at_call(condition: str, given: dict[str, str], procedure: Procedure, view: Scope) -> str | bool | None:
    """A condition on a dummy as one on its actual, its value, or None where it cannot be asked."""
    match = _AT_LEAST.fullmatch(condition)
    if match is None:
        return None
    if match[1] not in {d.symbol.name for d in procedure.dummies if not d.symbol.dims}:
        return None
    text = given.get(match[1], "")
    if not _PLAIN.fullmatch(text):
        return None
    if text.isdigit():
        return int(text) >= int(match[2])
    symbol = view.lookup(text)
    if not isinstance(symbol, Symbol) or symbol.dims or "optional" in symbol.attributes:
        return None
    return f"{text} >= {match[2]}"
