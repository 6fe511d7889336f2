"""Elemental intrinsic functions: what type each gives (16.9).  Their element rule is themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fortrans.ir.promote import promote
from fortrans.ir.symbols import INTEGER, LOGICAL, REAL, Type

Rule = Callable[[Sequence[Type]], Type]

DOUBLE = Type("real", 8, "double precision")


def _first(types: Sequence[Type]) -> Type:
    return types[0]


def _real_part(types: Sequence[Type]) -> Type:
    x = types[0]
    if x.name != "complex":
        return x
    return Type("real", x.kind, "real" + x.spelling[7:] if x.spelling.lower().startswith("complex") else "")


def _promoted(types: Sequence[Type]) -> Type:
    result = types[0]
    for x in types[1:]:
        result = result if result.name == "character" else promote(result, x)
    return result


def _to(type: Type) -> Rule:
    return lambda types: type


def _as_real(types: Sequence[Type]) -> Type:
    return _real_part(types) if types[0].name == "complex" else REAL


def _character_of(types: Sequence[Type]) -> Type:
    from fortrans.ir.expr import ONE

    return Type("character", 1, "character(len=1)", length=ONE)


def _group(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


ELEMENTAL: Mapping[str, Rule] = {
    **_group(
        "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh aint anint"
        " conjg gamma log_gamma erf erfc erfc_scaled bessel_j0 bessel_j1 bessel_y0 bessel_y1"
        " fraction nearest rrspacing spacing scale set_exponent not ishft ishftc ibset ibclr ibits"
        " shiftl shiftr shifta merge adjustl adjustr sign dim atan2 hypot mod modulo iand ior ieor",
        _first,
    ),
    **_group("abs aimag", _real_part),
    **_group("max min", _promoted),
    **_group("dble", _to(DOUBLE)),
    **_group("real", _as_real),
    **_group("cmplx", _to(Type("complex", 4, "complex"))),
    **_group(
        "int nint floor ceiling ichar iachar len_trim index scan verify exponent popcnt poppar"
        " leadz trailz",
        _to(INTEGER),
    ),
    **_group("logical btest lge lgt lle llt bge bgt ble blt isnan ieee_is_nan ieee_is_finite", _to(LOGICAL)),
    **_group("char achar", _character_of),
}

# The argument that KIND= stands at when given by position.
KIND_POSITION: Mapping[str, int] = {
    "real": 1, "int": 1, "nint": 1, "floor": 1, "ceiling": 1, "cmplx": 2, "logical": 1, "aint": 1,
    "anint": 1, "ichar": 1, "iachar": 1, "char": 1, "achar": 1, "len_trim": 1, "index": 3,
    "scan": 3, "verify": 3,
}

# Costly to evaluate: once per element of the operand, never once per copy of it.
EXPENSIVE = frozenset(
    "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh gamma log_gamma"
    " erf erfc erfc_scaled bessel_j0 bessel_j1 bessel_y0 bessel_y1 atan2 hypot mod modulo ** /".split()
)


def elemental_type(name: str, types: Sequence[Type]) -> Type:
    """The result type of elemental intrinsic ``name`` for these argument types, KIND= apart."""
    return ELEMENTAL[name](types)


def with_kind(type: Type, kind: int | str | None, text: str) -> Type:
    """``type`` with the kind that a KIND= argument names, spelled ``text``."""
    return replace(type, kind=text.lower() if kind is None else kind, spelling=f"{type.name}({text})")
