"""The table of transformational intrinsics, and argument association."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fortrans.intrinsics.cshift import Cshift
from fortrans.intrinsics.entry import Entry, Form
from fortrans.intrinsics.eoshift import Eoshift
from fortrans.intrinsics.inquiry import ShapeOf
from fortrans.intrinsics.locations import Findloc, Maxloc, Minloc
from fortrans.intrinsics.packing import Pack, Unpack
from fortrans.intrinsics.products import DotProduct, Matmul
from fortrans.intrinsics.reductions import (
    All,
    Any,
    Count,
    Iall,
    Iany,
    Iparity,
    Maxval,
    Minval,
    Norm2,
    Parity,
    Product,
    Sum,
)
from fortrans.intrinsics.reshape import Reshape
from fortrans.intrinsics.spread import Spread
from fortrans.intrinsics.transpose import Transpose
from fortrans.ir.arrays import Apply, Array, rank
from fortrans.remarks import Refusal

INTRINSICS: Mapping[str, Entry] = {
    entry.name: entry
    for entry in (
        All(), Any(), Count(), Cshift(), DotProduct(), Eoshift(), Findloc(), Iall(), Iany(),
        Iparity(), Matmul(), Maxloc(), Maxval(), Minloc(), Minval(), Norm2(), Pack(), Parity(),
        Product(), Reshape(), ShapeOf(), Spread(), Sum(), Transpose(), Unpack(),
    )
}  # fmt: skip

# What a dummy argument of that name must be, in whatever intrinsic: type and greatest rank.
_WANTED = {
    "dim": ("integer", 0),
    "kind": ("integer", 0),
    "ncopies": ("integer", 0),
    "shift": ("integer", 14),
    "shape": ("integer", 1),
    "order": ("integer", 1),
    "mask": ("logical", 15),
    "back": ("logical", 0),
}


def bind(
    name: str, positional: Sequence[Array], keywords: Mapping[str, Array] | None = None
) -> Mapping[str, Array]:
    """The arguments of a reference by dummy argument name (15.5.1, 16.7).

    Of several forms the first that fits is meant: ``SUM(a, m)`` has a MASK when ``m`` is logical.
    Raises Refusal FT401 when none fits.
    """
    entry = INTRINSICS.get(name.lower())
    if entry is None:
        raise Refusal("FT401", f"'{name}' is no transformational intrinsic known here")
    given = {key.lower(): value for key, value in (keywords or {}).items()}
    why = ""
    for form in entry.forms:
        outcome = _associate(form, positional, given)
        if not isinstance(outcome, str):
            entry.check(outcome)
            return outcome
        why = why or outcome
    raise entry.refuse(why)


def apply(
    name: str, positional: Sequence[Array], keywords: Mapping[str, Array] | None = None
) -> Apply:
    """The reference as an array expression; raises Refusal as ``bind`` and the type rule do."""
    args = bind(name, positional, keywords)
    entry = INTRINSICS[name.lower()]
    return Apply(entry, args, entry.type(args))


def _associate(
    form: Form, positional: Sequence[Array], keywords: Mapping[str, Array]
) -> dict[str, Array] | str:
    """The arguments by name, or why this form does not fit."""
    if len(positional) > len(form.dummies):
        return f"it has more than {len(form.dummies)} arguments"
    args = dict(zip(form.dummies, positional))
    for key, value in keywords.items():
        if key not in form.dummies:
            return f"it has no argument '{key}'"
        if key in args:
            return f"argument '{key}' is given twice"
        args[key] = value
    for dummy in form.dummies[: form.required]:
        if dummy not in args:
            return f"argument '{dummy}' is missing"
    for dummy, value in args.items():
        wanted, highest = _WANTED.get(dummy, ("", 15))
        if wanted and value.type.name != wanted:
            return f"argument '{dummy}' must be {wanted}"
        if rank(value) > highest:
            return f"argument '{dummy}' must be {'rank 1' if highest else 'a scalar'}"
        if dummy in ("shape", "order") and rank(value) != 1:
            return f"argument '{dummy}' must be rank 1"
    return args
