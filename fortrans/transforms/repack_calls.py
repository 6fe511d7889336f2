"""Packing around a call: which sections among its actual arguments, on which conditions.

The callee is left as it is.  Its body must be seen: it may ask where its argument lies, and only
what it does with it tells whether a copy pays (SEMANTICS 34 to 38).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fortrans.analysis.repackable import check_directives, check_dummy, check_type, copies_in
from fortrans.analysis.usage import mentioned, surely_reached, usage
from fortrans.frontend.calls import Actual, Call, SectionText, contiguous, harmless, surely_contiguous
from fortrans.frontend.resolve import View
from fortrans.frontend.tokens import bare, words
from fortrans.frontend.units import Program
from fortrans.ir.procedures import Dummy, Procedure
from fortrans.ir.symbols import Intent, Intrinsic, Symbol, bytes_of
from fortrans.options import Options
from fortrans.remarks import Refusal

_UNFIT = ("target", "pointer", "volatile", "asynchronous", "codimension", "equivalence", "common",
          "parameter")  # fmt: skip
_NEEDED = ("size", "is_contiguous", "lbound", "ubound", "selected_int_kind", "len", "storage_size")
_NOT_IN = frozenset({"do concurrent", "where", "forall", "critical", "team"})
LEFT = re.compile(r"\s*!fortrans\$\s*norepack\s+call\b", re.IGNORECASE)
"""The line before a call that is to be left."""
_DEVICE = re.compile(r"!\$(?:acc\b|omp\s*(?:target|declare|requires)\b)", re.IGNORECASE)
_AT_LEAST = re.compile(r"(\w+) >= (\d+)")
_PLAIN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PackedActual:
    """A section to pack; ``repeats`` are conditions at the call, of which one must hold."""

    actual: Actual
    section: SectionText
    copy_in: bool
    copy_out: bool
    repeats: tuple[str, ...]


def arguments(call: Call, view: View) -> tuple[Actual, ...]:
    """The actual arguments of a call that are sections and may have gaps."""
    return tuple(a for a in call.actuals if a.section is not None and not surely_contiguous(a, view))


def check_call(call: Call, view: View, program: Program) -> None:
    """Raise Refusal where a call cannot be looked into, or nothing can be put in its place."""
    if call.callee is None:
        raise Refusal("FT518", f"The call of '{call.name}' is left, since {call.why}")
    check_place(call, view)
    if any(s.form == "directive" and _DEVICE.match(s.text) for s in program.statements):
        raise Refusal("FT513", f"Directives in this file may mean the data of a device around '{call.name}'")


def packed(
    call: Call, actual: Actual, procedure: Procedure, dummy: Dummy, view: View, options: Options
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
    _check_others(call, actual, found, view)
    copy_in = copies_in(procedure, dummy)
    definable = found.symbol.intent is not Intent.IN and "protected" not in found.symbol.attributes
    copy_out = dummy.symbol.intent is not Intent.IN and definable
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


def check_place(call: Call, view: View) -> None:
    """Raise Refusal (FT518) where a BLOCK cannot stand in place of the statement."""
    executable = call.executable
    statement = executable.statement
    why = None
    if executable.condition is not None or executable.where is not None or executable.forall is not None:
        why = "it is the action of another statement"
    elif statement.siblings > 1 or statement.label or statement.sentinel or statement.conditional:
        why = "it has a label or shares its line"
    elif executable.region is not None:
        why = "it stands in a region of directives"
    elif executable.preprocessed:
        why = "it depends on the preprocessor"
    elif any(construct.kind in _NOT_IN for construct in executable.constructs):
        why = "it stands where no BLOCK with a copy may"
    elif hidden := [name for name in _NEEDED if not isinstance(view.lookup(name), Intrinsic)]:
        why = f"'{hidden[0]}' may be a name of the user's there"
    if why is not None:
        raise Refusal("FT518", f"The call of '{call.name}' is left, since {why}")


def _check_actual(found: SectionText, procedure: Procedure, view: View) -> None:
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


def _check_others(call: Call, actual: Actual, found: SectionText, view: View) -> None:
    for other in call.actuals:
        if other is actual:
            continue
        if found.symbol.name in words(other.text) and not _asks_only(other.text, found.symbol.name):
            raise Refusal("FT518", f"'{found.spelled}' is in another actual argument of '{call.name}' too")
        if not harmless(other.text, view):
            raise Refusal("FT518", f"Actual argument '{other.text}' of '{call.name}' may call a procedure")
    if call.variable == found.symbol.name:
        raise Refusal("FT518", f"'{found.spelled}' is defined by the same statement")


def _asks_only(text: str, name: str) -> bool:
    """Whether ``text`` only asks for the extents of an array."""
    asked = re.sub(rf"\bsize\s*\(\s*{re.escape(name)}\s*(?:,[^()]*)?\)", "", bare(text).lower())
    return name not in words(asked)


def _repeats(
    call: Call, procedure: Procedure, dummy: Dummy, view: View, options: Options, ways: int
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


def _at_call(condition: str, given: dict[str, str], procedure: Procedure, view: View) -> str | bool | None:
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
