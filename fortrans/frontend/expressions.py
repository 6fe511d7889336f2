"""fparser expression nodes -> ``fortrans.ir.expr``.

No name is resolved here: ``f(1, 2)`` is a ``Ref`` whether ``f`` is an array or a function, unless
fparser took it for a reference to an intrinsic (then a ``Call``, which a scope may yet deny) or it
has keyword arguments (a ``Call`` too: a function or a structure constructor).
"""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as F

from fortrans.frontend.tokens import find, words
from fortrans.ir.expr import (
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Opaque,
    Range,
    Ref,
    Substring,
)

Node = Any
"""An fparser node (fparser is not typed), None or a string where fparser has one."""

_SPELLINGS = {
    ".eq.": "==",
    ".ne.": "/=",
    ".lt.": "<",
    ".le.": "<=",
    ".gt.": ">",
    ".ge.": ">=",
}
_LITERALS = (
    F.NumberBase,
    F.Char_Literal_Constant,
    F.Logical_Literal_Constant,
    F.Binary_Constant,
    F.Octal_Constant,
    F.Hex_Constant,
)


def convert(node: Node) -> Expr:
    """The expression of an fparser node, names in lower case, literals as they are spelled.

    References to type-bound procedures, complex constants with named parts and whatever else has
    no form of its own become ``Opaque``.
    """
    match node:
        case F.Name() | F.Type_Name() | F.Intrinsic_Name():
            return Name(str(node.string).lower())
        case F.Parenthesis():
            return Op("()", (convert(node.items[1]),))
        case F.Part_Ref():
            return _part(None, node)
        case F.Data_Ref():
            return _data(node)
        case F.Proc_Component_Ref():
            return Component(convert(node.items[0]), str(node.items[2]).lower())
        case F.Array_Section() | F.Substring():
            base, limits = node.items
            first, last = limits.items if limits is not None else (None, None)
            return Substring(convert(base), _maybe(first), _maybe(last))
        case F.Complex_Literal_Constant():
            return _complex(node)
        case F.Intrinsic_Function_Reference() | F.Structure_Constructor():
            return _call(node)
        case F.Function_Reference() if isinstance(node.items[0], F.Name):
            return _call(node)
        case F.Subscript_Triplet():
            return Range(*(_maybe(item) for item in node.items))
        case F.Array_Constructor():
            return _constructor(node)
        case F.Ac_Implied_Do():
            return _implied_do(node)
        case F.Function_Reference():
            return opaque(node)
        case _ if isinstance(node, _LITERALS):
            return Literal(_text(node))
        case _:
            return _operation(node)


def opaque(node: Node) -> Opaque:
    """The node's text and the names in it, unread."""
    text = _text(node)
    return Opaque(text, frozenset(words(text)))


def _text(node: Node) -> str:
    """The source text of a node; fparser's own printing where it lost the source's."""
    text = getattr(node, "string", None)
    if not isinstance(text, str) or "F2PY_" in text:
        text = str(node)
    return text.strip()


def _maybe(node: Node) -> Expr | None:
    return None if node is None else convert(node)


def _operation(node: Node) -> Expr:
    """A unary or binary operation, told from all else by the operator among its items."""
    items = getattr(node, "items", ())
    match items:
        case (str() as op, operand) if isinstance(operand, F.Base):
            return Op(_operator(op), (convert(operand),))
        case (left, str() as op, right) if isinstance(left, F.Base) and isinstance(right, F.Base):
            return Op(_operator(op), (convert(left), convert(right)))
    return opaque(node)


def _operator(text: str) -> str:
    lower = text.lower()
    return _SPELLINGS.get(lower, lower)


def _items(node: Node) -> tuple[Node, ...]:
    """The members of a list node, of a single item standing for a list, or of nothing."""
    if node is None:
        return ()
    if type(node).__name__.endswith("_List"):
        return tuple(node.items)
    return (node,)


def _arguments(node: Node) -> tuple[Expr, ...]:
    return tuple(_argument(item) for item in _items(node))


def _argument(node: Node) -> Expr:
    if isinstance(node, (F.Actual_Arg_Spec, F.Component_Spec)):
        key, value = node.items
        return convert(value) if key is None else Keyword(str(key).lower(), convert(value))
    return convert(node)


def _call(node: Node) -> Expr:
    name, arguments = node.items
    if isinstance(name, (F.Name, F.Type_Name, F.Intrinsic_Name)):
        return Call(str(name.string).lower(), _arguments(arguments))
    return opaque(node)


def _part(base: Expr | None, node: Node) -> Expr:
    """``name`` or ``name(subscripts)``, behind ``base%`` when there is one."""
    name, subscripts = node.items if isinstance(node, F.Part_Ref) else (node, None)
    if not isinstance(name, F.Name):
        return opaque(node)
    text = str(name.string).lower()
    head: Expr = Name(text) if base is None else Component(base, text)
    return head if subscripts is None else Ref(head, _arguments(subscripts))


def _data(node: Node) -> Expr:
    result: Expr | None = None
    for item in node.items:
        if not isinstance(item, (F.Name, F.Part_Ref)) or isinstance(result, Opaque):
            return opaque(node)
        result = _part(result, item)
    return opaque(node) if result is None else result


def _constructor(node: Node) -> Expr:
    bracket, content, _ = node.items
    if not isinstance(content, F.Ac_Spec):
        return Items(tuple(convert(item) for item in _items(content)))
    inside = _text(node)[len(bracket) :].lstrip()
    colons = find(inside, "::")
    if colons < 0:
        return opaque(node)
    items = tuple(convert(item) for item in _items(content.items[1]))
    return Items(items, inside[:colons].strip())


def _implied_do(node: Node) -> Expr:
    items, (name, limits) = node.items[0], node.items[1].items
    first, last, *step = map(convert, limits)
    values = tuple(convert(item) for item in _items(items))
    return ImpliedDo(values, str(name.string).lower(), first, last, *step)


def _complex(node: Node) -> Expr:
    if any(isinstance(part, F.Name) for part in node.items):
        return opaque(node)
    return Literal(_text(node))
