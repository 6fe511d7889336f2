"""Which operators and assignments the user may have defined (F2018 15.4.3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fortrans.frontend.frames import Frame
from fortrans.frontend.intrinsic_modules import LIBRARIES, source

ASSIGNMENT = "assignment(=)"
INTRINSIC_OPERATORS = frozenset(
    "+ - * / ** // == /= < <= > >= .and. .or. .not. .eqv. .neqv.".split()
)
_SPELLINGS = {".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">="}


@dataclass(frozen=True, slots=True)
class Defined:
    """Generic specs of interfaces, those bound to types, and whether there may be more."""

    interfaces: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    incomplete: bool = False

    @property
    def all(self) -> frozenset[str]:
        return self.interfaces | self.bound


def visible(frame: Frame) -> Defined:
    """What is defined in ``frame``, its hosts and the modules they use."""
    found = [_here(scope, frozenset()) for scope in _chain(frame)]
    if not found:
        return Defined()
    unseen = any(
        (scope.unit.kind == "submodule" and scope.host is None) or scope.unit.broken is not None
        for scope in _chain(frame)
    )
    return Defined(
        frozenset().union(*(d.interfaces for d in found)),
        frozenset().union(*(d.bound for d in found)),
        unseen or any(d.incomplete for d in found),
    )


def operators(defined: Defined) -> frozenset[str]:
    """The operators among the specs, lower case; all intrinsic ones when there may be more."""
    named = {spec[9:-1] for spec in defined.all if spec.startswith("operator(")}
    spelled = frozenset(_SPELLINGS.get(name, name) for name in named)
    return spelled | INTRINSIC_OPERATORS if defined.incomplete else spelled


def _chain(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.host


def _here(frame: Frame, seen: frozenset[str]) -> Defined:
    interfaces = {spec for spec in frame.generics if "(" in spec}
    bound: set[str] = set()
    for name in frame.types:
        entity = frame.own(name)
        if entity is not None and entity.definition is not None:
            bound |= entity.definition.bindings[1]
    incomplete = any(file not in LIBRARIES for file in frame.includes)
    for group in frame.groups:
        module = frame.world.module(group.module, group.nature)
        listed = {local for local, _ in group.names if "(" in local}
        if module is None:
            interfaces |= listed
            incomplete = incomplete or (group.bare and group.module not in LIBRARIES)
            continue
        if group.module in seen or source(group.module) is not None:
            continue
        brought = _exported(module, seen | {group.module})
        bound |= brought.bound
        interfaces |= listed
        if group.bare:
            interfaces |= brought.interfaces
            incomplete = incomplete or brought.incomplete
    return Defined(frozenset(interfaces), frozenset(bound), incomplete)


def _exported(module: Frame, seen: frozenset[str]) -> Defined:
    if seen == {module.unit.name}:
        if module.exports is None:
            module.exports = _public(module, seen)
        return module.exports
    return _public(module, seen)


def _public(module: Frame, seen: frozenset[str]) -> Defined:
    if module.unit.broken is not None:
        return Defined(incomplete=True)
    found = _here(module, seen)
    public = frozenset(spec for spec in found.interfaces if module.is_public_operator(spec))
    return Defined(public, found.bound, found.incomplete and module.default_public)
