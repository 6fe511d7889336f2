"""References to intrinsic functions (clause 16) as array expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fortrans.frontend.arguments import kept_array, may_be_absent, split
from fortrans.frontend.dims import VariableDim
from fortrans.frontend.inquiries import INQUIRY_TYPES, inquiry, kind_text
from fortrans.frontend.packs import OF_PACKED, reduced, taken
from fortrans.frontend.user_functions import generic_reference, user_reference
from fortrans.intrinsics.elemental import ELEMENTAL, KIND_POSITION, elemental_type, with_kind
from fortrans.intrinsics.packing import packed
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Implied,
    Scalar,
    element,
    rank,
    shape,
)
from fortrans.ir.expr import (
    At,
    Call,
    Expr,
    Keyword,
    Locate,
    Name,
    Reduce,
    Select,
    constant,
    integer,
    walk,
)
from fortrans.ir.symbols import (
    INTEGER,
    Generic,
    Intrinsic,
    Procedure,
    Unresolved,
)
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal

if TYPE_CHECKING:
    from fortrans.frontend.lift import Lifting

# Arguments that become part of extents and subscripts.
EXTENTS = frozenset({"ncopies", "shift", "dim"})


def reference(call: Call, lifting: Lifting) -> Array:
    """The function reference ``call`` as an array expression or Scalar.  Raises Refusal."""
    match lifting.scope.lookup(call.name):
        case Intrinsic():
            return _intrinsic(call, lifting)
        case Procedure() as procedure:
            return user_reference(call, procedure, lifting)
        case Generic() as generic:
            return generic_reference(call, generic, lifting, _intrinsic)
        case Unresolved(name, why):
            known = name in ELEMENTAL or name in INQUIRY_TYPES or name in _transformational()
            raise Refusal("FT406" if known else "FT201", f"Name '{name}' is not known: {why}")
        case _:
            raise Refusal("FT405", f"'{call.name}' is not a function that can be composed")


def _transformational() -> frozenset[str]:
    from fortrans.intrinsics import INTRINSICS

    return frozenset(INTRINSICS)


# ---- intrinsic functions ---------------------------------------------------------


def _intrinsic(call: Call, lifting: Lifting) -> Array:
    from fortrans.intrinsics import INTRINSICS, bind

    name = call.name
    if name in INQUIRY_TYPES or name == "shape":
        return inquiry(call, lifting)
    if name in ELEMENTAL:
        return _elemental(call, lifting)
    if name not in INTRINSICS:
        raise Refusal("FT403", f"Intrinsic '{name.upper()}' is not composed")
    kind: Expr | None = None
    positional: list[Array] = []
    sources: list[tuple[Array, Expr]] = []
    keywords: dict[str, Array] = {}
    absent: list[Array] = []
    for key, value in split(call.args):
        if key == "kind":
            kind = value
            continue
        dummies = INTRINSICS[name].required + INTRINSICS[name].optional
        position = len(positional)
        dummy = key or (dummies[position : position + 1] or ("",))[0]
        lifted = _settled_argument(value, dummy, lifting, name in OF_PACKED)
        sources.append((lifted, value))
        if may_be_absent(value, lifting):
            absent.append(lifted)
        if key is None:
            positional.append(lifted)
        else:
            keywords[key] = lifted
    args = dict(bind(name, tuple(positional), keywords))
    for dummy, lifted in args.items():
        if dummy not in INTRINSICS[name].required and any(lifted is x for x in absent):
            raise Refusal("FT402", f"Argument '{dummy}' of {name.upper()} is OPTIONAL and may be absent")
    reduced(name, args, lifting)
    given = args.get("dim")
    if isinstance(given, Scalar) and (known := lifting.scope.constant(given.value)) is not None:
        args["dim"] = Scalar(integer(known), INTEGER)
    elif given is not None:
        source = next(value for lifted, value in sources if lifted is given)
        args["dim"] = Scalar(integer(_assumed(name, source, args, lifting)), INTEGER)
    if "ncopies" in args:
        args["ncopies"] = _default_integer(args["ncopies"], lifting)
    if name == "reshape":
        for dummy in ("shape", "order"):
            if dummy in args:
                args[dummy] = _extents(args[dummy], lifting)
    _check_shift(name, args, lifting)
    entry = INTRINSICS[name]
    type = entry.type(args)
    if kind is not None:
        type = with_kind(type, lifting.scope.constant(kind), kind_text(kind))
        args["kind"] = Scalar(kind, INTEGER)
    apply = Apply(entry, args, type)
    if not lifting.inquiring and any(
        isinstance(x, Reduce | Locate | Select | At) for extent in shape(apply) for x in walk(extent)
    ):
        # Only the result itself tells its size.
        if packed(apply) is not None:
            return taken(apply, lifting)
        return kept_array(as_source(apply), type, rank(apply), lifting)
    return apply


def _assumed(name: str, dim: Expr, args: dict[str, Array], lifting: Lifting) -> int:
    """The value that a DIM which is not constant is taken to have.  Raises VariableDim."""
    if lifting.assumed is not None and lifting.assumed[0] == dim:
        return lifting.assumed[1]
    # DIM goes along the first argument, whatever its name.
    raise VariableDim(name, dim, rank(next(iter(args.values()))) + (name == "spread"))


def _check_shift(name: str, args: dict[str, Array], lifting: Lifting) -> None:
    """Sizes are default integers, and MODULO wants both of one kind."""
    shift = args.get("shift")
    if shift is None or rank(shift) or not isinstance(shift, Scalar):
        return
    if shift.type.kind != 4:
        known = lifting.scope.constant(shift.value)
        if known is None or abs(known) >= 2**31:
            raise Refusal("FT403", f"SHIFT of {name.upper()} is not a default integer")
        args["shift"] = Scalar(integer(known), INTEGER)


def _extents(array: Array, lifting: Lifting) -> Array:
    """SHAPE= and ORDER= element by element: default integers that keep their value in the nest."""
    length = constant(shape(array)[0]) if rank(array) == 1 else None
    if length is None:
        return array
    if isinstance(array, Constructor) and all(isinstance(x, Scalar | Elemental | Apply) for x in array.items):
        items: list[Array] = [x for x in array.items if not isinstance(x, Implied)]
    else:
        items = [Scalar(element(array, (integer(i + 1),)), array.type) for i in range(length)]
        if any(isinstance(x.value, At | Select | Reduce | Locate) for x in items if isinstance(x, Scalar)):
            return array
    if any(rank(x) for x in items):
        return array
    return Constructor(tuple(_default_integer(x, lifting) for x in items), INTEGER)


def _default_integer(array: Array, lifting: Lifting) -> Scalar:
    """A scalar integer as a default integer; a name reads better than its value and stays."""
    if isinstance(array, Scalar):
        value, type = array.value, array.type
    else:
        value, type = lifting.reduced(array), array.type
    known = lifting.scope.constant(value)
    if known is not None and not (isinstance(value, Name) and type.kind == 4):
        return Scalar(integer(known), INTEGER)
    if not lifting.keeps(value):
        value = lifting.capture(value, type)
    return Scalar(value if type.kind == 4 else Call("int", (value,)), INTEGER)


def _settled_argument(value: Expr, dummy: str, lifting: Lifting, reduction: bool) -> Array:
    operand = reduction and dummy in ("array", "mask")
    lifted = lifting.unsized(value) if operand else lifting.lift(value)
    if isinstance(lifted, Scalar):
        return lifting.settle(lifted)
    if not rank(lifted) and dummy in EXTENTS:
        # It becomes part of extents and subscripts, which hold no reduction.
        return Scalar(lifting.reduced(lifted), lifted.type)
    return lifted


def _elemental(call: Call, lifting: Lifting) -> Array:
    from fortrans.frontend.lift import conformable

    name = call.name
    kind: Expr | None = None
    keys: list[str | None] = []
    operands: list[Array] = []
    for position, (key, value) in enumerate(split(call.args)):
        if key == "kind" or (key is None and position == KIND_POSITION.get(name) and name != "cmplx"):
            kind = value
            continue
        if name == "cmplx" and key is None and position == 2:
            kind = value
            continue
        keys.append(key)
        operands.append(lifting.unsized(value))
    if not operands:
        raise Refusal("FT401", f"'{name.upper()}' has no arguments")
    if any(x.type.name in ("type", "class") for x in operands):
        raise Refusal("FT208", f"'{name.upper()}' of a derived type is not the intrinsic function")
    type = elemental_type(name, [x.type for x in operands])
    if name == "merge":
        _same_length(operands[:2])
    trailing: tuple[Array, ...] = ()
    trailing_keys: tuple[str | None, ...] = ()
    if kind is not None:
        type = with_kind(type, lifting.scope.constant(kind), kind_text(kind))
        trailing, trailing_keys = (Scalar(kind, INTEGER),), ("kind",)
    if all(isinstance(x, Scalar) for x in operands):
        scalars = (*operands, *trailing)
        values = tuple(
            x.value if key is None else Keyword(key, x.value)
            for key, x in zip((*keys, *trailing_keys), scalars)
            if isinstance(x, Scalar)
        )
        return Scalar(Call(name, values), type)
    conformable(name.upper(), tuple(operands))
    settled = tuple(lifting.settle(x) for x in operands)
    keywords = (*keys, *trailing_keys)
    return lifting.elemental(
        Elemental(name, (*settled, *trailing), type, keywords=keywords if any(keywords) else ())
    )


def _same_length(operands: Sequence[Array]) -> None:
    if operands[0].type.name == "character":
        lengths = [x.type.length for x in operands]
        if lengths[0] != lengths[1] or lengths[0] is None:
            raise Refusal("FT205", "Arguments of 'MERGE' may differ in character length")
