"""Equal expressions of which one is cheaper: an elemental function of copies is a copy of the function."""

from __future__ import annotations

from dataclasses import replace

from fortrans.ir.arrays import Apply, Array, Constructor, Elemental, Implied, Scalar, rank
from fortrans.ir.sites import Assignment
from fortrans.transforms.keep import expensive


def simplify(site: Assignment) -> Assignment:
    """The site with costly elemental functions of SPREAD made a SPREAD of the function (rule 9)."""
    return replace(site, rhs=_array(site.rhs))


def _array(array: Array) -> Array:
    match array:
        case Elemental(operands=operands):
            return _outward(replace(array, operands=tuple(map(_array, operands))))
        case Apply(args=args):
            return replace(array, args={name: _array(x) for name, x in args.items()})
        case Constructor(items=items):
            return replace(array, items=tuple(x if isinstance(x, Implied) else _array(x) for x in items))
        case _:
            return array


def _outward(array: Elemental) -> Array:
    """f(SPREAD(x, d, n), SPREAD(y, d, n), scalars) => SPREAD(f(x, y, scalars), d, n)"""
    if array.user or (array.type.name == "integer" and array.name in ("/", "mod", "modulo", "**")):
        # With no copies the function is never referenced, and here it may fail.
        return array
    spreads = [x for x in array.operands if not isinstance(x, Scalar)]
    first = spreads[0] if spreads else None
    if not isinstance(first, Apply) or first.intrinsic.name != "spread":
        return array
    sources: list[Array] = []
    for operand in array.operands:
        if isinstance(operand, Scalar):
            sources.append(operand)
            continue
        alike = (
            isinstance(operand, Apply)
            and operand.intrinsic.name == "spread"
            and operand.args["dim"] == first.args["dim"]
            and operand.args["ncopies"] == first.args["ncopies"]
        )
        if not alike or not isinstance(operand, Apply) or not rank(operand.args["source"]):
            return array
        sources.append(operand.args["source"])
    inner = _outward(replace(array, operands=tuple(sources)))
    if not expensive(inner):
        return array
    return Apply(first.intrinsic, {**first.args, "source": inner}, array.type)
