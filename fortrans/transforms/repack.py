"""Repacking: which dummies of a procedure, on which paths, on which conditions.

The procedure stays as it is and gets a second version, in which the chosen dummies are of explicit
shape: contiguous for every compiler.  Where its body comes to use them, it asks whether they are
contiguous, or worth a packed copy, and lets the second version do the work.  Everything else goes
on as before: absent arguments, small arrays, parallel regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fortrans.analysis.placing import place_of, surely_reached
from fortrans.analysis.repackable import check_dummy, check_procedure, copies_in, copies_out
from fortrans.analysis.usage import PASSES, Usage, mentioned, usage
from fortrans.ir.procedures import Dummy, Procedure, Step
from fortrans.ir.symbols import Intent, described
from fortrans.options import Options
from fortrans.remarks import Refusal

AT_MOST = 3
"""So many dummies of a procedure are packed: each doubles the ways it may be called."""


@dataclass(frozen=True, slots=True)
class Packing:
    """A dummy that is packed.  ``repeats`` are conditions, of which one must hold, for it to pay."""

    dummy: Dummy
    copy_in: bool
    copy_out: bool
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repack:
    """``explicit`` are the dummies of explicit shape in the second version, ``packings`` some of them.

    ``step`` is the statement before which the version is chosen.
    """

    procedure: Procedure
    explicit: tuple[Dummy, ...]
    packings: tuple[Packing, ...]
    step: int
    guarded: bool
    innermost: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a dummy: ``refusal`` None when it is part of the plan."""

    dummy: Dummy
    refusal: Refusal | None


def candidates(procedure: Procedure) -> tuple[Dummy, ...]:
    """The dummies that a row may be passed to, those that are refused for an attribute too."""
    return tuple(d for d in procedure.dummies if described(d.symbol))


def plan(procedure: Procedure, options: Options) -> tuple[Repack | None, tuple[Verdict, ...]]:
    """What to do with a procedure, and a verdict on each dummy that was asked for."""
    verdicts: dict[str, Verdict] = {}
    fit: list[tuple[Dummy, Usage]] = []
    named = {name.strip().lower() for name in options.repack_only.split(",") if name.strip()}
    wanted = bool(options.repack or options.version_loops) and (not named or procedure.name in named)
    for dummy in candidates(procedure):
        if dummy.asked is False or not (dummy.asked or wanted):
            continue
        try:
            check_dummy(procedure, dummy)
            check_procedure(procedure)
            both = _goes_back(procedure, dummy, options) and copies_in(procedure, dummy)
            found = usage(procedure, dummy.symbol.name, 2 if both else 1)
            _check_use(procedure, dummy, found, options)
            fit.append((dummy, found))
        except Refusal as refusal:
            verdicts[dummy.symbol.name] = Verdict(dummy, refusal)
    made, left = _choose(procedure, fit, options)
    for dummy, _ in fit:
        verdicts[dummy.symbol.name] = Verdict(dummy, left.get(dummy.symbol.name))
    order = [d.symbol.name for d in procedure.dummies]
    return made, tuple(verdicts[name] for name in order if name in verdicts)


def _goes_back(procedure: Procedure, dummy: Dummy, options: Options) -> bool:
    """Whether the copy, if one is made, goes back.  Raises Refusal."""
    if dummy.asked or options.repack:
        return copies_out(procedure, dummy)
    return dummy.symbol.intent is not Intent.IN


def _check_use(procedure: Procedure, dummy: Dummy, found: Usage, options: Options) -> None:
    name = dummy.symbol.name
    if not mentioned(procedure, name):
        raise Refusal("FT517", f"No element of dummy argument '{name}' is used")
    if options.repack_min_stride and options.repack and procedure.pure:
        why = f"'{procedure.name}' is pure and cannot ask for the stride of dummy argument '{name}'"
        raise Refusal("FT517", why)
    if _forced(dummy, options):
        return
    if options.version_loops and found.hot:
        return
    if not found.pays:
        raise Refusal("FT517", f"Dummy argument '{name}' is not walked often enough to pay for a copy")


_Used = tuple[Dummy, Usage]


def _choose(
    procedure: Procedure, fit: Sequence[_Used], options: Options
) -> tuple[Repack | None, dict[str, Refusal]]:
    """The plan for the dummies that may take part, and why some do not."""
    left: dict[str, Refusal] = {}
    chosen = list(fit)
    while chosen:
        place = place_of(procedure, [dummy.symbol.name for dummy, _ in chosen])
        if place is None:
            late, why = chosen, "is used where no statement can be put before it"
        else:
            late = [one for one in chosen if not _reached(procedure, place, one, options)]
            why = "is used on some paths only"
        code = "FT517"
        if place is not None and (not late or options.version_loops):
            packed = _packed([one for one in chosen if one not in late], options)
            late = _shared(procedure, packed, options)
            if not late:
                return _made(procedure, chosen, packed, place, options), left
            code, why = "FT513", f"may be shared by threads, which '{procedure.name}', pure, cannot know"
        for dummy, _ in late:
            left[dummy.symbol.name] = Refusal(code, f"Dummy argument '{dummy.symbol.name}' {why}")
        chosen = [one for one in chosen if one not in late]
    return None, left


def _forced(dummy: Dummy, options: Options) -> bool:
    return bool(dummy.asked) or options.repack_when == "always"


def _reached(procedure: Procedure, place: int, used: _Used, options: Options) -> bool:
    dummy, found = used
    if _forced(dummy, options):
        return True
    return surely_reached(procedure, place, found.hot)


def _packed(chosen: Sequence[_Used], options: Options) -> list[_Used]:
    """The dummies to pack: those asked for, and those most used."""
    wanted = [
        (dummy, found)
        for dummy, found in chosen
        if dummy.asked or (options.repack and (found.pays or options.repack_when == "always"))
    ]
    wanted.sort(key=lambda one: (not one[0].asked, -one[1].passes - PASSES * len(one[1].repeats)))
    return wanted[:AT_MOST]


def _shared(procedure: Procedure, packed: Sequence[_Used], options: Options) -> list[_Used]:
    """Dummies whose copies go back, in a procedure that cannot ask whether other threads run."""
    if not (options.openmp and procedure.pure):
        return []
    return [one for one in packed if copies_out(procedure, one[0])]


def _made(
    procedure: Procedure, chosen: Sequence[_Used], packed: Sequence[_Used], place: int, options: Options
) -> Repack:
    settled = _settled(procedure, place)
    packings = tuple(
        Packing(
            dummy,
            copies_in(procedure, dummy),
            copies_out(procedure, dummy),
            () if _forced(dummy, options) else found.conditions(settled),
        )
        for dummy, found in chosen
        if any(dummy is other for other, _ in packed)
    )
    guarded = options.openmp and bool(packings) and not procedure.pure
    explicit = tuple(dummy for dummy, _ in chosen)
    return Repack(procedure, explicit, packings, place, guarded, options.repack != "whole")


def _settled(procedure: Procedure, place: int) -> frozenset[str]:
    """Names that have at ``place`` the value that they keep."""
    path = procedure.steps[place].branches
    before = [s for s in procedure.steps[:place] if s.branches == path[: len(s.branches)]]
    names = {_variable(step) for step in before if step.kind == "assignment" and not step.conditional}
    later: set[str] = set()
    for step in procedure.steps[place:]:
        if step.kind == "assignment":
            later.add(_variable(step))
        elif step.kind in ("call", "read"):
            later |= step.words
        for loop in step.loops:
            later |= loop.variables
    return procedure.settled | (names - later)


def _variable(step: Step) -> str:
    return step.text.partition("=")[0].partition("(")[0].strip()
