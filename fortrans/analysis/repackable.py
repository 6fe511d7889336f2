"""Whether a dummy argument may be replaced by a packed copy (SEMANTICS 34 to 38)."""

from __future__ import annotations

import re

from fortrans.analysis.definitions import surely_defined, touches
from fortrans.analysis.usage import defined_first
from fortrans.ir.procedures import Dummy, Procedure
from fortrans.ir.symbols import DerivedType, Intent, Symbol, Type
from fortrans.remarks import Refusal

_SEEN = "loc c_loc is_contiguous associated"
_NEVER = ("target", "pointer", "allocatable", "volatile", "asynchronous", "value", "codimension")
_SHARED = re.compile(
    r"\b(?:map|use_device\w*|is_device_ptr|has_device_addr|present|to|from|link|depend)\s*\("
)
_ORPHANS = re.compile(
    r"!\$omp\s*(?:do|for|sections|single|workshare|barrier|master|masked|critical|atomic|ordered|task\w*|loop"
    r"|distribute|teams|target|flush|scan|simd\b.*\bsafelen)\b"
)
_PARALLEL = re.compile(r"!\$omp\s*(end\s*)?parallel\s*(?!do\b|sections\b|workshare\b|loop\b|\w*\s*taskloop)")
_RUNNING = re.compile(
    r"\b(?:mpi_i\w+|mpi_(?:send|recv|psend|precv)_init|mpi_(?:win|r?put|r?get|r?accumulate)\w*)\s*\("
)


def check_procedure(procedure: Procedure) -> None:
    """Raise Refusal (FT514) where no version of the procedure can be made beside it."""
    name = procedure.name
    why = procedure.wrong
    if why is None and procedure.alternate:
        why = "it has alternate returns"
    if why is None and procedure.home == "external" and procedure.contains:
        why = "it is external and contains procedures"
    if why is None and procedure.result is not None:
        why = _unfit_result(procedure.result)
    if why is None:
        for dummy in procedure.dummies:
            finalised = dummy.symbol.type.derived is not None and dummy.symbol.intent is Intent.OUT
            plain = dummy.derived is not None and not _part_with(dummy.derived, "finalizer")
            if finalised and not plain:
                why = f"its INTENT(OUT) dummy argument '{dummy.symbol.name}' may be finalized"
    if why is not None:
        raise Refusal("FT514", f"No version of '{name}' can be made, since {why}")
    check_directives(procedure)


def check_directives(procedure: Procedure) -> None:
    """Raise Refusal (FT513) where directives mean a device's data, or threads that are there already."""
    name = procedure.name
    if any(text.startswith("!$acc") for text in procedure.directives):
        raise Refusal("FT513", f"OpenACC directives in '{name}' may mean the data of a device")
    inside = 0
    for text in procedure.directives:
        if re.match(r"!\$omp\s*(?:target|declare|requires)\b", text):
            raise Refusal("FT513", f"OpenMP directives in '{name}' may mean the data of a device")
        if match := _PARALLEL.match(text):
            inside += -1 if match[1] else 1
        elif not inside and _ORPHANS.match(text):
            raise Refusal("FT513", f"OpenMP directives in '{name}' share work among threads of its caller")


def _unfit_result(result: Symbol) -> str | None:
    if result.attributes & {"allocatable", "pointer"} or result.type.derived is not None:
        return "its result is allocatable, a pointer or of derived type"
    if result.type.name == "character" and result.type.length is None:
        return "its result is a character of another's length"
    return None


def check_dummy(procedure: Procedure, dummy: Dummy) -> None:
    """Raise Refusal where a copy of the dummy could be told from the array, or not be made."""
    symbol = dummy.symbol
    name = symbol.name
    for attribute in _NEVER:
        if attribute in symbol.attributes:
            raise Refusal("FT511", f"Dummy argument '{name}' is {attribute.upper()}")
    if symbol.assumed_rank:
        raise Refusal("FT511", f"Dummy argument '{name}' has assumed rank")
    if "contiguous" in symbol.attributes:
        raise Refusal("FT516", f"Dummy argument '{name}' is CONTIGUOUS already")
    if symbol.attributes & {"equivalence", "ambiguous", "namelist"}:
        raise Refusal("FT511", f"Dummy argument '{name}' has other names")
    for function in _SEEN.split():
        if _asked(procedure, function, name):
            raise Refusal("FT512", f"{function.upper()} of dummy argument '{name}' would tell of its copy")
    if procedure.asynchronous:
        raise Refusal("FT512", f"Asynchronous transfers may go on with '{name}' when its copy is gone")
    word = re.compile(rf"\b{re.escape(name)}\b")
    if any(_RUNNING.search(text) and word.search(text) for text in procedure.texts):
        raise Refusal("FT512", f"A message may be under way with '{name}' when its copy is gone")
    for text in procedure.directives:
        if word.search(text) and _SHARED.search(text):
            raise Refusal("FT513", f"A directive names dummy argument '{name}', whose copy it would not mean")
    for other in procedure.dummies:
        same = other.symbol.type.name == symbol.type.name and other.symbol.type.derived == symbol.type.derived
        if other is not dummy and same and other.symbol.attributes & {"target", "pointer"}:
            raise Refusal(
                "FT511", f"Dummy argument '{other.symbol.name}' may be pointed to, and then to '{name}'"
            )
    check_type(symbol.type, dummy.derived, f"dummy argument '{name}'")


def _asked(procedure: Procedure, function: str, name: str) -> bool:
    """Whether ``function`` is asked about ``name``, or may be under another name."""
    before = r"[^()]*(?:\([^()]*\)[^()]*)*" if function == "associated" else r"\s*(?:\w+\s*=\s*)?"
    own = rf"\b{function}\s*\({before}\b{re.escape(name)}\b"
    other = rf"(?:\w+\s*:\s*)?(?:associate|select)\b.*\b{re.escape(name)}\b"
    texts = procedure.texts
    if any(re.search(own, text) for text in texts):
        return True
    renamed = any(re.match(other, text) for text in texts)
    return renamed and any(re.search(rf"\b{function}\s*\(", text) for text in texts)


def check_type(type: Type, derived: DerivedType | None, what: str) -> None:
    """Raise Refusal (FT515) where elements of ``type`` are not copied by a plain assignment."""
    if type.name == "class":
        raise Refusal("FT515", f"The {what} is polymorphic")
    if type.derived is None and type.name != "type":
        if not type.spelling:
            raise Refusal("FT515", f"The type of {what} cannot be printed there")
        return
    if derived is None or not type.spelling:
        raise Refusal("FT515", f"The type of {what} is not known")
    if derived.parameterized:
        raise Refusal("FT515", f"The type of {what} has parameters")
    if _part_with(derived, "finalizer"):
        raise Refusal("FT515", f"The type of {what} has a finalizer, which a copy would run")
    if derived.assignment:
        raise Refusal("FT515", f"The type of {what} has an assignment of its own")
    for name, part in derived.components.items():
        if part.attributes & {"allocatable", "pointer"} or part.type.name == "class":
            if "pointer" in part.attributes:
                continue
            raise Refusal("FT515", f"Component '{name}' of {what} is allocatable or polymorphic")
        if part.type.derived is not None:
            raise Refusal("FT515", f"Component '{name}' of {what} is of a derived type")


def _part_with(derived: DerivedType, what: str) -> bool:
    nested = any(part.type.derived is not None for part in derived.components.values())
    return bool(getattr(derived, what)) or derived.assignment or nested


def copies_in(procedure: Procedure, dummy: Dummy) -> bool:
    """Whether the copy must hold the array's values first (SEMANTICS 35)."""

    symbol = dummy.symbol
    if symbol.intent is not Intent.OUT or symbol.type.derived is not None:
        return True
    plain = all(bound.strip() in (":", "1:") for bound in dummy.bounds)
    return not defined_first(procedure, symbol.name, symbol.rank, plain)


def copies_out(procedure: Procedure, dummy: Dummy) -> bool:
    """Whether the copy goes back.  Raises Refusal where that cannot be told (SEMANTICS 35).

    Without an INTENT the actual argument may be a constant as long as nothing defines the dummy
    (F2018 8.5.10), and then lie where writing ends the program.  So the copy goes back where
    something surely defines it.
    """
    symbol = dummy.symbol
    if symbol.intent is not None:
        return symbol.intent is not Intent.IN
    if not touches(procedure, symbol.name):
        return False
    if not dummy.asked and not surely_defined(procedure, symbol.name):
        why = "has no INTENT, may belong to a constant, and is defined on some paths only"
        raise Refusal("FT511", f"Dummy argument '{symbol.name}' {why}")
    return True
