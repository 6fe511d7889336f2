"""Type-specs as text -> ``ir.symbols.Type``, as it may be printed where it is asked for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from fortrans.frontend.constants import evaluate
from fortrans.frontend.declarations import TypeSpec
from fortrans.frontend.intrinsic_names import INTRINSICS
from fortrans.frontend.tokens import NAME, canonical, colon, words
from fortrans.ir.expr import ONE, Call, Expr, Literal, Name, Opaque, integer, names
from fortrans.ir.symbols import Dimension, Intrinsic, Scope, Type
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.frames import Frame

_SIMPLE = re.compile(rf"(\d+)|({NAME})")
_KEYWORD = re.compile(rf"\b{NAME}\s*=(?!=)")


@lru_cache(maxsize=65536)
def read(text: str) -> Expr:
    """The expression ``text``; Opaque when fparser does not take it."""
    text = text.strip()
    if match := _SIMPLE.fullmatch(text):
        return Literal(text) if match.group(1) else Name(text.lower())
    from fortrans.frontend import parse
    from fortrans.frontend.expressions import convert

    try:
        return convert(parse.expression(text))
    except Refusal:
        return Opaque(text, frozenset(words(text)))


def same(name: str, home: Frame, view: Frame) -> bool:
    """Whether ``name`` means one and the same thing in both scopes."""
    if home is view:
        return True
    there, here = home.trace(name)[0], view.trace(name)[0]
    if there is None and here is None:
        return name in INTRINSICS
    return there is not None and there is here


def all_same(expr_names: frozenset[str] | tuple[str, ...], home: Frame, view: Frame) -> bool:
    """``same`` of every name."""
    return home is view or all(same(name, home, view) for name in expr_names)


def kind_of(spec: TypeSpec, home: Frame) -> int | str | None:
    """The kind number, or its canonical text where it has no value we know."""
    if spec.name not in ("integer", "real", "complex", "logical", "character"):
        return None
    if spec.stars is not None:
        if spec.stars == 0:
            return 8
        return spec.stars // 2 if spec.name == "complex" else spec.stars
    if spec.kind is None:
        return 1 if spec.name == "character" else 4
    value = evaluate(read(spec.kind), home.world.names(home))
    return canonical(spec.kind) if value is None else value


def type_at(spec: TypeSpec, home: Frame, view: Frame, name: str | None) -> Type:
    """The type that ``spec``, written in ``home``, is in ``view``.

    ``name`` is the plain name of an object of that type in ``view``, None where there is none (a
    component).  A kind whose text cannot be repeated in ``view`` is spelled ``kind(name)``, or by
    its number when there is no such name.
    """
    kind = kind_of(spec, home)
    if spec.name in ("type", "class", "procedure"):
        derived = None if spec.derived is None else spec.derived.partition("(")[0].strip()
        printable = spec.name == "type" and derived == spec.derived and derived is not None
        if printable and derived is not None and same(derived, home, view):
            return Type(spec.name, None, f"type({derived})", None, derived)
        return Type(spec.name, None, "", None, derived)
    text = _kind_text(spec, kind, home, view, name)
    if isinstance(kind, str) and not all_same(_words(kind), home, view):
        kind = f"{kind}@{home.label}"
    if spec.name == "character":
        return _character(spec, kind, text, home, view, name)
    if text is None:
        return Type(spec.name, kind, "")
    return Type(spec.name, kind, f"{spec.name}({text})" if text else _plain(spec))


def _words(text: str) -> tuple[str, ...]:
    """The names a kind text depends on: no argument keywords, but kind parameters of literals."""
    return words(_KEYWORD.sub("", text))


def _plain(spec: TypeSpec) -> str:
    return "double precision" if spec.name == "real" and spec.stars == 0 else spec.name


def _kind_text(
    spec: TypeSpec, kind: int | str | None, home: Frame, view: Frame, name: str | None
) -> str | None:
    """What stands in the kind selector: nothing, a text, or None where nothing can."""
    if spec.stars is not None:
        return "" if spec.name == "real" and spec.stars == 0 else str(kind)
    if spec.kind is None:
        return ""
    if all_same(_words(spec.kind), home, view):
        return spec.kind
    if name is not None and view.trace("kind")[0] is None:
        return f"kind({name})"
    return str(kind) if isinstance(kind, int) else None


def _character(
    spec: TypeSpec, kind: int | str | None, text: str | None, home: Frame, view: Frame, name: str | None
) -> Type:
    length = _length(spec, home, view, name)
    if length is None or text is None or isinstance(length, Opaque):
        return Type("character", kind, "", length)
    match length:
        case Literal(number):
            shown = number
        case Call("len", (Name(id),)):
            shown = f"len({id})"
        case Name(id):
            shown = id
        case _ if spec.length is not None:
            shown = spec.length
    selector = f"len={shown}" + (f", kind={text}" if text else "")
    return Type("character", kind, f"character({selector})", length)


def _length(spec: TypeSpec, home: Frame, view: Frame, name: str | None) -> Expr | None:
    """The length: as declared where that still says it, else LEN of the object."""
    if spec.length is None:
        return ONE
    if spec.length == ":":
        return None
    inquiry = None if name is None or view.trace("len")[0] else Call("len", (Name(name),))
    if spec.length == "*":
        return inquiry
    length = read(spec.length)
    names_ = home.world.names(home)
    if names_.is_constant(length) and all_same(tuple(names(length)), home, view):
        return length
    value = evaluate(length, names_)
    if value is not None:
        return integer(max(value, 0))
    return inquiry


def dimensions(bounds: tuple[str, ...], deferred: bool, constant: bool) -> tuple[Dimension, ...]:
    """The array-spec ``bounds``; ``deferred``: of a pointer or allocatable; ``constant``: of a PARAMETER."""
    return tuple(_dimension(text, deferred, constant) for text in bounds)


def _dimension(text: str, deferred: bool, constant: bool) -> Dimension:
    at = colon(text)
    lower = text[:at].strip() if at >= 0 else ""
    upper = text[at + 1 :].strip() if at >= 0 else text.strip()
    first = read(lower) if lower else ONE
    if upper == "*":
        return Dimension("implied" if constant else "assumed-size", first)
    if upper:
        return Dimension("explicit", first, read(upper))
    return Dimension("deferred") if deferred and not lower else Dimension("assumed", first)


def takes_length(deferred: Type, value: Type, scope: Scope) -> bool:
    """Whether the length that characters of deferred length take can be written down at the site."""
    known = value.length is not None and isinstance(scope.lookup("len"), Intrinsic)
    return known and deferred.kind == value.kind == 1


def taken_length(own: Type, value: Type, scope: Scope, name: str) -> Expr | None:
    """The length that the variable ``name`` takes from ``value`` (10.2.1.3); None where its own is fixed.

    Raises Refusal where it cannot be told.
    """
    if own.name != "character" or own.length is not None:
        return None
    if not takes_length(own, value, scope):
        raise Refusal("FT205", f"Character length of '{name}' may change")
    return value.length
