"""Whether a specification expression still has the value it had on entry (SEMANTICS: extents)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.ir.expr import Call, Component, Expr, Keyword, Literal, Name, Op, Ref
from fortrans.ir.symbols import Dimension, Intent, Symbol

if TYPE_CHECKING:
    from fortrans.frontend.frames import Frame

_FUNCTIONS = frozenset(
    "abs bit_size ceiling char digits epsilon exponent floor huge iand ichar ieor int ior ishft kind"
    " log max maxexponent merge min minexponent mod modulo nint precision radix range real"
    " selected_int_kind selected_real_kind sign sqrt tiny".split()
)
_INQUIRIES = frozenset("size lbound ubound len shape kind rank".split())
_LOOSE = frozenset("target pointer value volatile asynchronous equivalence".split())
_RESHAPED = frozenset("allocatable pointer".split())


def keeps_bounds(dimension: Dimension, frame: Frame) -> bool:
    """Whether the declared bounds of ``dimension`` may be evaluated again at any time."""
    given = [bound for bound in (dimension.lower, dimension.upper) if bound is not None]
    return bool(given) and all(keeps(bound, frame) for bound in given)


def keeps(expr: Expr, frame: Frame) -> bool:
    """Whether ``expr`` is made of constants and of objects that nothing can change.

    These are named constants and INTENT(IN) dummy arguments (of a host too), neither TARGET nor
    POINTER nor VALUE, and the bounds of arrays that are neither ALLOCATABLE nor POINTER.
    """
    match expr:
        case Literal():
            return True
        case Name(id):
            return _keeps_value(id, frame)
        case Ref(Name(id), args) if _is_intrinsic(id, frame):
            return keeps(Call(id, args), frame)
        case Ref(base, subscripts):
            return all(keeps(x, frame) for x in (base, *subscripts))
        case Component():
            return _keeps_component(expr, frame) is not None
        case Op(_, args):
            return all(keeps(x, frame) for x in args)
        case Keyword(_, value):
            return keeps(value, frame)
        case Call(name, (Name(id), *rest)) if name in _INQUIRIES and _is_intrinsic(name, frame):
            return _keeps_shape(id, frame) and all(keeps(x, frame) for x in rest)
        case Call(name, args) if name in _FUNCTIONS and _is_intrinsic(name, frame):
            return all(keeps(x, frame) for x in args)
        case _:
            return False


def _is_intrinsic(name: str, frame: Frame) -> bool:
    return name in INTRINSICS and frame.trace(name)[0] is None


def _symbol(name: str, frame: Frame) -> Symbol | None:
    from fortrans.frontend.entities import Entity

    found, _ = frame.trace(name)
    if not isinstance(found, Entity) or frame.world.busy(found):
        return None
    with frame.world.busied(found):
        return found.meaning if isinstance(found.meaning, Symbol) else None


def _keeps_value(name: str, frame: Frame) -> bool:
    symbol = _symbol(name, frame)
    if symbol is None:
        return False
    if "parameter" in symbol.attributes:
        return True
    return (
        "dummy" in symbol.attributes
        and symbol.intent is Intent.IN
        and not symbol.attributes & _LOOSE
        and not frame.added(name)
    )


def _keeps_shape(name: str, frame: Frame) -> bool:
    symbol = _symbol(name, frame)
    return symbol is not None and not symbol.attributes & _RESHAPED and "associate" not in symbol.attributes


def _keeps_component(expr: Expr, frame: Frame) -> object:
    """The type entity of a component reference that keeps its value; None when it may not."""
    from fortrans.frontend.entities import Entity

    match expr:
        case Name(id):
            found, _ = frame.trace(id)
            if isinstance(found, Entity) and _keeps_value(id, frame):
                return found
        case Ref(base, subscripts) if all(keeps(x, frame) for x in subscripts):
            return _keeps_component(base, frame)
        case Component(base, name):
            holder = _keeps_component(base, frame)
            if isinstance(holder, Entity) and holder.type_entity is not None:
                part = holder.type_entity.components.get(name)
                if part is not None and "pointer" not in part.attributes:
                    return part
    return None
