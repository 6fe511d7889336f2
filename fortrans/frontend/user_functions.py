"""References to the user's functions (15.5): elemental ones are composed, others evaluated once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fortrans.frontend.arguments import kept_array, may_be_absent, split
from fortrans.ir.arrays import Array, Elemental, Scalar, Section, rank
from fortrans.ir.expr import Call, Expr, names
from fortrans.ir.symbols import Generic, Procedure, Symbol, Type, Unresolved, only_derived
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting


def user_reference(call: Call, procedure: Procedure, lifting: Lifting) -> Array:
    """A reference to a procedure of the user's.  Raises Refusal."""
    from fortrans.frontend.lift import conformable

    name = call.name
    if procedure.form == "statement":
        raise Refusal("FT405", f"Statement function '{name}' is not composed")
    result = procedure.result
    if result is None:
        raise Refusal("FT405", f"Function '{name}' has no interface that is known")
    if result.assumed_rank or "pointer" in result.attributes:
        raise Refusal("FT405", f"Function '{name}' has a POINTER result")
    if result.type.name in ("type", "class"):
        raise Refusal("FT405", f"Function '{name}' has a result of derived type")
    keys = [key for key, _ in split(call.args)]
    if not procedure.elemental:
        _check_scalar_call(call, lifting)
        if result.rank:
            return _array_result(call, result, lifting)
        return Scalar(call, _printable(result, lifting))
    operands = [lifting.lift(value) for _, value in split(call.args)]
    if not any(rank(x) for x in operands):
        return Scalar(call, _printable(result, lifting))
    if any(may_be_absent(value, lifting) for _, value in split(call.args)):
        raise Refusal("FT405", f"An argument of '{name}' is OPTIONAL and may be absent")
    if not procedure.pure:
        raise Refusal("FT405", f"Elemental function '{name}' is not PURE")
    conformable(name, tuple(operands))
    settled = tuple(lifting.settle(x) for x in operands)
    keywords = tuple(keys) if any(keys) else ()
    return Elemental(name, settled, _printable(result, lifting), keywords=keywords, user=True)


def _array_result(call: Call, result: Symbol, lifting: Lifting) -> Section:
    """An array function is referenced once (SEMANTICS 2): its result is kept in a local array."""
    return kept_array(call, _printable(result, lifting), result.rank, lifting)


def _printable(result: Symbol, lifting: Lifting) -> Type:
    """The result's type where its declaration means the same at the site, else without a spelling."""
    type = result.type
    if type.name == "character" and type.length is not None and names(type.length):
        return replace(type, length=None, spelling="")
    return type


def _check_scalar_call(call: Call, lifting: Lifting) -> None:
    """All names in the arguments must be known: what is not cannot be judged."""
    for _, value in split(call.args):
        for id in names(value):
            if isinstance(lifting.scope.lookup(id), Unresolved):
                raise Refusal("FT201", f"Name '{id}' in a reference to '{call.name}' is not known")


def generic_reference(
    call: Call, generic: Generic, lifting: Lifting, intrinsic: Callable[[Call, Lifting], Array]
) -> Array:
    """A reference by generic name: the one specific procedure that fits, or else ``intrinsic``."""
    name, specifics = generic.name, generic.specifics
    if generic.extends_intrinsic:
        if specifics is not None and only_derived(specifics):
            before = len(lifting.captures)
            lifted = [lifting.lift(value) for _, value in split(call.args)]
            del lifting.captures[before:]
            if all(x.type.name not in ("type", "class") for x in lifted):
                # No specific procedure takes these, so the intrinsic one does (15.5.5.2).
                return intrinsic(call, lifting)
        raise Refusal("FT406", f"'{name}' is a generic name that extends an intrinsic procedure")
    if specifics is None:
        raise Refusal("FT405", f"Not all procedures of the generic name '{name}' are known")
    before = len(lifting.captures)
    operands = [lifting.lift(value) for _, value in split(call.args)]
    del lifting.captures[before:]
    fits = [p for p in specifics if _fits(p, operands, split(call.args))]
    if len(fits) != 1:
        raise Refusal("FT405", f"Reference to the generic name '{name}' cannot be resolved")
    return user_reference(call, fits[0], lifting)


def _fits(procedure: Procedure, operands: Sequence[Array], args: Sequence[tuple[str | None, Expr]]) -> bool:
    if any(key for key, _ in args) or len(operands) > len(procedure.dummies):
        return False
    for dummy, operand in zip(procedure.dummies, operands):
        if dummy is None or dummy.type.name != operand.type.name or dummy.type.kind != operand.type.kind:
            return False
        if not procedure.elemental and dummy.rank != rank(operand):
            return False
    rest = procedure.dummies[len(operands) :]
    return all(dummy is not None and "optional" in dummy.attributes for dummy in rest)
