"""RESHAPE."""

from __future__ import annotations

from collections.abc import Sequence

from fortrans.intrinsics.entry import Args, Entry, product, size
from fortrans.ir.arrays import Apply, element, shape
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Expr,
    Index,
    Op,
    Select,
    Shape,
    add,
    constant,
    integer,
    mul,
    same,
    sub,
)
from fortrans.ir.symbols import Type
from fortrans.remarks import Refusal


class Reshape(Entry):
    """RESHAPE(X, SHAPE=s){j_1, ..., j_r} => X{delinearise(SUM over d of (j_d - 1)*PRODUCT(s_1 .. s_(d-1)))}

    Fortran 2018, 16.9.163.  Dimensions that both shapes begin with, one by one or as products,
    keep their subscripts and need no division.  With ORDER=o, j_(o_1) varies fastest.  With PAD,
    offsets from the size of X on read PAD, over and over.
    """

    signature = "RESHAPE(SOURCE, SHAPE [, PAD, ORDER])"

    def check(self, args: Args) -> None:
        for dummy in ("source", "pad"):
            if dummy in args:
                self.need_rank(args, dummy)

    def shape(self, args: Args) -> Shape:
        length = constant(shape(args["shape"])[0])
        if length is None:
            raise Refusal("FT202", "SHAPE of RESHAPE has no constant size")
        extents = tuple(element(args["shape"], (integer(i + 1),)) for i in range(length))
        if any(isinstance(x, At) and x.body is None for x in extents):
            raise Refusal("FT202", "SHAPE of RESHAPE is not known element by element")
        return extents

    def type(self, args: Args) -> Type:
        return args["source"].type

    def element(self, index: Index, apply: Apply) -> Expr:
        args = apply.args
        extents = self.shape(args)
        order = self._order(args, len(extents))
        if order is None:
            return At(apply, index, None)
        index = tuple(index[o] for o in order)
        extents = tuple(extents[o] for o in order)
        source = args["source"]
        split = regroup(index, extents, shape(source))
        value = element(source, split.subscripts)
        if "pad" not in args or split.enough:
            return value
        pad = args["pad"]
        beyond = sub(offset(index, extents), size(source))
        filler = element(pad, delinearise(_cyclic(beyond, size(pad)), shape(pad)))
        return Select(Op("<=", (add(split.offset, ONE), split.rest)), value, filler)

    def _order(self, args: Args, highest: int) -> tuple[int, ...] | None:
        """The permutation ORDER, from 0; None when it is not constant."""
        if "order" not in args:
            return tuple(range(highest))
        order = args["order"]
        (length,) = shape(order)
        if constant(length) not in (None, highest):
            raise self.refuse("argument 'order' must have the size of argument 'shape'")
        values = [constant(element(order, (integer(i + 1),))) for i in range(highest)]
        found = tuple(v - 1 for v in values if v is not None)
        if len(found) < highest:
            return None
        if sorted(found) != list(range(highest)):
            raise self.refuse("argument 'order' must be a permutation")
        return found


class Regrouped:
    """Where a result's element lies in the source.

    ``subscripts`` are the source's.  ``offset`` counts, from 0, within what the two shapes do not
    share, of which the source has ``rest``; ``enough`` says that it surely covers the result.
    """

    def __init__(self, subscripts: Index, offset: Expr, rest: Expr, enough: bool) -> None:
        self.subscripts = subscripts
        self.offset = offset
        self.rest = rest
        self.enough = enough


def regroup(index: Index, result: Shape, source: Shape) -> Regrouped:
    """Take ``index`` of a result to the subscripts of a source with the same array element order."""
    subscripts: list[Expr] = []
    last: Regrouped | None = None
    r = s = 0
    while r < len(result) and s < len(source):
        rows, columns = _group(result[r:], source[s:])
        inner = offset(index[r : r + rows], result[r : r + rows])
        group = source[s : s + columns]
        if rows == columns == 1:
            subscripts.append(index[r])
        else:
            subscripts.extend(delinearise(inner, group))
        have, want = product(group), product(result[r : r + rows])
        last = Regrouped((), inner, have, _covers(have, want))
        r, s = r + rows, s + columns
    subscripts.extend([ONE] * (len(source) - s))
    if last is None:
        return Regrouped(tuple(subscripts), ZERO, product(source), not result and _positive(source))
    if r < len(result):
        inner = offset(index[r:], result[r:])
        return Regrouped(tuple(subscripts), inner, ONE, False)
    if s < len(source):
        return Regrouped(tuple(subscripts), ZERO, product(source[s:]), _positive(source[s:]))
    return Regrouped(tuple(subscripts), last.offset, last.rest, last.enough)


def _positive(extents: Shape) -> bool:
    return all((constant(x) or 0) > 0 for x in extents)


def _covers(have: Expr, want: Expr) -> bool:
    if _monomial((have,)) == _monomial((want,)):
        return True
    x, y = constant(have), constant(want)
    return x is not None and y is not None and x >= y


def _group(result: Shape, source: Shape) -> tuple[int, int]:
    """How many leading dimensions of either have the same number of elements; else all of both."""
    for rows in range(1, len(result) + 1):
        for columns in range(1, len(source) + 1):
            if _monomial(result[:rows]) == _monomial(source[:columns]):
                return rows, columns
    return len(result), len(source)


def _monomial(extents: Sequence[Expr]) -> tuple[int, tuple[str, ...]]:
    """A product as coefficient and sorted factors: equal for equal products, whatever the order."""
    coefficient, factors = 1, list[str]()
    pending = list(extents)
    while pending:
        factor = add(pending.pop(), ZERO)
        value = constant(factor)
        if value is not None:
            coefficient *= value
        elif isinstance(factor, Op) and factor.op == "*":
            pending.extend(factor.args)
        else:
            factors.append(repr(factor))
    return coefficient, tuple(sorted(factors))


def offset(index: Index, extents: Shape) -> Expr:
    """The place in array element order, from 0."""
    result: Expr = ZERO
    stride: Expr = ONE
    for j, extent in zip(index, extents):
        result = add(result, mul(sub(j, ONE), stride))
        stride = mul(stride, extent)
    return result


def delinearise(place: Expr, extents: Shape) -> Index:
    """The subscripts (from 1) of the element at a place (from 0) in array element order."""
    subscripts: list[Expr] = []
    for extent in extents[:-1]:
        if same(extent, ONE):
            subscripts.append(ONE)
            continue
        subscripts.append(add(_cyclic(place, extent), ONE))
        place = ZERO if same(place, ZERO) else Op("/", (place, extent))
    return (*subscripts, add(place, ONE))


def _cyclic(place: Expr, length: Expr) -> Expr:
    if same(place, ZERO) or same(length, ONE):
        return ZERO
    return Call("modulo", (place, length))
