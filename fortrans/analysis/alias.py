"""Whether two designators may be the same storage (SEMANTICS 11 to 16)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fortrans.ir.expr import Component, Expr, Name, Ref, Substring
from fortrans.ir.symbols import Meaning, Scope, Symbol, Type


class Alias(Enum):
    """NO: surely different storage.  SAME: one array, subscripts decide.  MAYBE: cannot be told."""

    NO = "no"
    SAME = "same"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True)
class Storage:
    """What a designator names, subscripts apart.  ``before`` are the subscripts of all parts but
    the last one that has any; ``last`` those of that one."""

    root: Symbol
    path: tuple[str, ...]
    through: frozenset[str]
    type: Type
    subscripts: tuple[tuple[Expr, ...], ...]
    pointer_parts: tuple[bool, ...]


def storage(expr: Expr, scope: Scope) -> Storage | None:
    """The storage of a designator; None when a name in it is not a known data object."""
    names, subscripts = _unfold(expr)
    root = scope.lookup(names[0])
    if not isinstance(root, Symbol):
        return None
    symbols = [root]
    for name in names[1:]:
        type = scope.derived_of(symbols[-1])
        component = type.components.get(name) if type else None
        if component is None:
            return None
        symbols.append(component)
    through = frozenset(a for symbol in symbols for a in symbol.attributes)
    return Storage(
        root,
        tuple(names[1:]),
        through,
        symbols[-1].type,
        tuple(subscripts),
        tuple("pointer" in symbol.attributes for symbol in symbols),
    )


def _unfold(expr: Expr) -> tuple[list[str], list[tuple[Expr, ...]]]:
    match expr:
        case Name(id):
            return [id], [()]
        case Ref(base, subs):
            names, subscripts = _unfold(base)
            return names, [*subscripts[:-1], subs]
        case Component(base, name):
            names, subscripts = _unfold(base)
            return [*names, name], [*subscripts, ()]
        case Substring(base):
            return _unfold(base)
        case _:
            raise TypeError(f"not a designator: {expr}")


def may_alias(w: Storage, r: Storage) -> Alias:
    """How the storage ``r`` that is read lies to the storage ``w`` that is written."""
    if same_object(w.root, r.root):
        return _paths(w, r)
    if _associated(w, r):
        return Alias.MAYBE
    if not _types_may_overlap(w.type, r.type):
        return Alias.NO
    return Alias.MAYBE if _different_names(w, r) else Alias.NO


def same_object(w: Meaning, r: Meaning) -> bool:
    """Whether two names are one data object, by host association or two USE names for instance."""
    if not isinstance(w, Symbol) or not isinstance(r, Symbol):
        return False
    return (w.origin, w.remote or w.name) == (r.origin, r.remote or r.name)


def _paths(w: Storage, r: Storage) -> Alias:
    if w.path == r.path:
        # Behind a pointer component, the object depends on the subscripts in front of it.
        pointers = [i for i, is_pointer in enumerate(w.pointer_parts) if is_pointer and i > 0]
        if any(w.subscripts[:i] != r.subscripts[:i] for i in pointers):
            return Alias.MAYBE
        return Alias.SAME
    if any(w.pointer_parts[1:]) or any(r.pointer_parts[1:]):
        return Alias.MAYBE if _types_may_overlap(w.type, r.type) else Alias.NO
    # ``k%v`` and ``k%parent%v`` are one component; other names are other storage.
    return Alias.MAYBE if not w.path or not r.path or w.path[-1] == r.path[-1] else Alias.NO


def _types_may_overlap(w: Type, r: Type) -> bool:
    """Pointers and associations are typed; only ``z%re`` makes real storage out of complex."""
    parts = {"complex": "real"}
    if parts.get(w.name, w.name) != parts.get(r.name, r.name):
        return False
    return w.kind is None or r.kind is None or type(w.kind) is not type(r.kind) or w.kind == r.kind


def _associated(w: Storage, r: Storage) -> bool:
    """Storage association (19.5.3): EQUIVALENCE and COMMON do not look at types."""
    return all(s.root.attributes & {"equivalence", "common"} for s in (w, r))


def _different_names(w: Storage, r: Storage) -> bool:
    """Whether objects of different names and overlapping types may share storage."""
    both = (w.through, r.through)
    if any("associate" in attributes for attributes in both):
        return True
    w_pointer, r_pointer = (("pointer" in a) for a in both)
    w_target, r_target = (("target" in a) for a in both)
    if w_pointer or r_pointer:
        return (w_pointer or w_target) and (r_pointer or r_target)
    if w_target and r_target:
        # Two TARGETs are two objects, unless one is a dummy argument (15.5.2.4).
        return "dummy" in w.root.attributes or "dummy" in r.root.attributes
    return False
