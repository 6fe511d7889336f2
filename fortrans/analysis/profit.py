"""Does a rewrite pay?  The thresholds are measurements (the design notes' emission tables)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fortrans.analysis.columns import INLINE as INLINE_COLUMNS
from fortrans.analysis.columns import SHORTEST, calls, column_sums, rows
from fortrans.analysis.locating import Value, locates, scan_pays, searches_integers
from fortrans.analysis.matmul import flipped, is_product
from fortrans.analysis.moving import builds, counter_pays, kept_constructors, kept_packs, moved, takes_packed
from fortrans.analysis.storing import appends, doubtful
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Implied,
    Scalar,
    Section,
    base_name,
    element,
    probe,
    rank,
)
from fortrans.ir.expr import Call, Expr, Name, Op, constant, linear, names, walk
from fortrans.ir.sites import Assignment, Condition, Decision, Leaf, Test
from fortrans.ir.written import as_source
from fortrans.remarks import Refusal

REDUCTIONS = frozenset(
    "sum product maxval minval all any count iall iany iparity parity norm2 dot_product".split()
)
# Bare references that a row-wise or early-leaving loop beats on gfortran, by intrinsic.
BARE_ROWS = frozenset(
    {"sum", "product", "count", "maxval", "minval", "iall", "iany", "iparity", "parity"}
)
BARE_ALWAYS = frozenset({"any", "all"})
# What gfortran expands in its own loops, without a call or a temporary.
INLINE = frozenset({"transpose"})


# Reductions of columns that a loop over several columns at a time beats.
BARE_COLUMNS = frozenset({"count"})
EXTREMES = frozenset({"maxval", "minval"})
SHIFTS = frozenset({"cshift", "eoshift"})


def elementwise() -> Refusal:
    """There is nothing to compose."""
    return Refusal("FT601", "There is nothing to compose, and the compiler does elementwise work as well")


@dataclass(frozen=True, slots=True)
class Work:
    """The transformational references of a right-hand side, outermost first."""

    applies: tuple[Apply, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(apply.intrinsic.name.upper() for apply in self.applies))


def work(array: Array) -> Work:
    """What there is to compose in an array expression."""
    return Work(tuple(_applies(array)))


def _visible(array: Array) -> Iterator[Apply]:
    """The references that composing can reach: not those in arguments of what is kept whole."""
    hidden: set[int] = set()
    for apply in _applies(array):
        if id(apply) in hidden or not _composed(apply):
            hidden |= {id(x) for arg in apply.args.values() for x in _applies(arg)}
        if id(apply) not in hidden:
            yield apply


def _applies(array: Array) -> Iterator[Apply]:
    match array:
        case Apply(args=args):
            yield array
            for x in args.values():
                yield from _applies(x)
        case Elemental(operands=operands):
            for x in operands:
                yield from _applies(x)
        case Constructor(items):
            for item in items:
                yield from _item_applies(item)


def _item_applies(item: Array | Implied) -> Iterator[Apply]:
    if isinstance(item, Implied):
        for inner in item.items:
            yield from _item_applies(inner)
    else:
        yield from _applies(item)


def check(site: Assignment, target: str) -> None:
    """Raise Refusal FT6xx when the compiler does as well with the statement as it stands."""
    packs = kept_packs(site)
    found = work(site.rhs).applies
    made = builds(site.rhs) or kept_constructors(site) or bool(packs)
    if not found and not made and site.allocation is None:
        if site.answered or appends(site.lhs, site.rhs, site.reallocates):
            return
        if target != "gfortran" or not doubtful(site):
            raise elementwise()
        return
    _check_division(site.rhs)
    if target != "gfortran" or _saves_copy(site, found):
        return
    if (whole := moved(site)) is not None:
        if not counter_pays(site, whole):
            what = whole.intrinsic.name.upper()
            raise Refusal("FT602", f"{what} alone is left to the compiler, which does it as well")
        return
    costly = [apply for apply in _visible(site.rhs) if _costly(apply, site.scope.constant)]
    several = column_sums(site.rhs)
    if several is not None and (site.scope.constant(rows(several)) or SHORTEST) >= SHORTEST:
        return
    if any(x.intrinsic.name == "norm2" and (_dim(x) or 1) > 1 and rank(x) for x in found):
        raise Refusal("FT603", "NORM2 along a row walks memory across, which the library does as well")
    if made or any(map(takes_packed, costly)):
        return
    if any(_searches_composed(x) for x in found):
        raise Refusal("FT603", "The extreme of composed reals is found as fast by the library")
    if any(searches_integers(x) and _nested(x) for x in found):
        raise Refusal("FT603", "The compiler finds a position in a vector of integers as fast")
    if not costly:
        what = " and ".join(dict.fromkeys(x.intrinsic.name.upper() for x in found))
        if not all(map(_composed, found)):
            raise Refusal("FT603", f"The library does {what}, and nothing else is to be gained")
        if any(map(locates, found)):
            raise Refusal("FT602", f"The compiler and its library do {what} as fast")
        raise Refusal("FT602", f"The compiler expands {what} in line already")
    if isinstance(site.rhs, Apply) and _bare(site.rhs) and not _bare_pays(site.rhs):
        raise Refusal(
            "FT602",
            f"{site.rhs.intrinsic.name.upper()} alone is left to the compiler, which does it as well",
        )


def paying(site: Condition, target: str) -> Condition:
    """The condition with the parts that do not pay left as they are; raises Refusal when none does."""
    refusals: list[Refusal] = []

    def go(test: Test) -> Test:
        match test:
            case Leaf(source, assigned):
                try:
                    check(assigned, target)
                except Refusal as refusal:
                    refusals.append(refusal)
                    return source
                return test
            case Decision(op, left, right):
                return Decision(op, go(left), go(right))
            case _:
                return test

    tested = go(site.test)
    if len(refusals) == len(site.leaves):
        raise refusals[0]
    return replace(site, test=tested)


def _saves_copy(site: Assignment, found: tuple[Apply, ...]) -> bool:
    """Whether an ALLOCATE statement is populated without the array that SOURCE= would be.

    That array costs more than what composing may lose, but for reductions of larger ones; of a
    bare TRANSPOSE the compiler makes none.
    """
    if isinstance(site.rhs, Apply) and site.rhs.intrinsic.name in INLINE and _bare(site.rhs):
        return False
    reduces = any(x.intrinsic.name in REDUCTIONS or not _composed(x) for x in found)
    return site.allocation is not None and bool(rank(site.rhs)) and not reduces


def _composed(apply: Apply) -> bool:
    """Whether the intrinsic has an element rule; without one it is kept whole."""
    return bool(getattr(apply.intrinsic, "composed", True))


def _costly(apply: Apply, value: Value = constant) -> bool:
    """Whether gfortran makes a call or a temporary that composing saves."""
    name = apply.intrinsic.name
    if name in INLINE or not _composed(apply):
        return False
    if takes_packed(apply):
        return True
    # Two short loops and a division for each row: the library is faster while rows are short.
    if name == "cshift" and rank(apply.args["shift"]):
        return False
    if locates(apply):
        return scan_pays(apply, value)
    # A scalar result, also by DIM of a rank-1 array, is reduced in line.
    if name in REDUCTIONS and rank(apply) == 0:
        return False
    # Under a mask no scan finds where to start, and every element is tested twice.
    if name in EXTREMES and apply.type.name == "real" and "mask" in apply.args:
        return False
    # A call of EXP for each element takes the time, whatever the order.
    if name in INLINE_COLUMNS and not _nested(apply) and any(map(calls, apply.args.values())):
        return False
    # Columns of an elementwise operand are reduced in line too, one at a time as fast as by our loop.
    columns = name in INLINE_COLUMNS and _dim(apply) == 1 and "mask" not in apply.args
    return not columns or _nested(apply)


def _searches_composed(apply: Apply) -> bool:
    """MAXVAL and MINVAL of all elements of what needs a split loop: the scan for NaN goes with each part."""
    extreme = apply.intrinsic.name in EXTREMES and apply.type.name == "real"
    inner = (x for arg in apply.args.values() for x in _applies(arg))
    return extreme and rank(apply) == 0 and any(x.intrinsic.name in SHIFTS for x in inner)


def _dim(apply: Apply) -> int | None:
    dim = apply.args.get("dim")
    return constant(dim.value) if isinstance(dim, Scalar) else None


def _nested(apply: Apply) -> bool:
    return any(True for x in apply.args.values() for _ in _applies(x))


def of_itself(site: Assignment) -> bool:
    """Whether the array that is assigned is named on the right: the way it is done decides profit."""
    return isinstance(site.lhs, Section) and base_name(site.lhs.base) in names(as_source(site.rhs))


# Where nothing is composed, a temporary saved pays; an order alone does not, gfortran finds it too.
_ALWAYS = frozenset({"apart", "guard", "reversed", "transposed"})
# With a library call saved as well, an order or a few elements kept pay too.
_COMPOSED = frozenset({"order", "element", "rows"})
_MOVERS = SHIFTS | {"spread", "transpose"}


def pays_in_place(site: Assignment, form: str, target: str) -> bool:
    """Whether an assignment of an array from itself pays in this form; by measurement (EMISSION)."""
    applies = work(site.rhs).applies
    moves = all(apply.intrinsic.name in _MOVERS for apply in applies)
    if target != "gfortran":
        return form in ("element", "reversed") and moves
    if form in _ALWAYS:
        return moves
    return form in _COMPOSED and moves and any(map(_costly, applies))


def check_plan(site: Assignment, code: str, maybe: bool, tested: bool, target: str) -> None:
    """Raise Refusal FT6xx when the way it would have to be done does not pay.

    One shift of a rank-1 array through a temporary moves as much memory as the library does,
    unless it saves a reallocation or (``maybe``) what gfortran does for pointers.  Elementwise work
    on pointers pays where addresses tell that no temporary is needed (``tested``).
    """
    if doubtful(site) and not tested and not (work(site.rhs).applies or kept_packs(site) or site.answered):
        raise elementwise()
    if code != "FT104" or target != "gfortran" or not isinstance(site.lhs, Section):
        return
    if moved(site) is not None:
        raise Refusal("FT603", "The library's PACK and UNPACK take a temporary as well")
    costly = [apply for apply in _visible(site.rhs) if _costly(apply, site.scope.constant)]
    shifts = all(apply.intrinsic.name in SHIFTS for apply in costly)
    saves = site.reallocates or maybe
    if rank(site.lhs) == 1 and len(costly) == 1 and shifts and not saves:
        raise Refusal("FT603", "One shift of a rank-1 array through a temporary does not pay")


def shares_mask(site: Assignment) -> bool:
    """Whether one mask of a WHERE controls several assignments.

    gfortran makes arrays of masks and goes over them for each: 3 to 40 times the time of one nest.
    With one assignment for each mask it is as fast as the nest.
    """
    return any(isinstance(x, Elemental) and x.name == "%do" for x in _statements(site.rhs))


def _statements(array: Array) -> Iterator[Array]:
    if isinstance(array, Elemental) and array.name in ("%if", "%do"):
        yield array
        for x in array.operands:
            yield from _statements(x)


def check_saved(because: str) -> None:
    """Raise Refusal FT603 for a WHERE of which masks or values must be saved: the compiler does the same."""
    if because:
        raise Refusal("FT603", f"Masks or values of WHERE would have to be saved, since {because}")


def _bare(apply: Apply) -> bool:
    if is_product(apply):
        return all(isinstance(x, Section) or flipped(x, apply) for x in apply.args.values())
    return all(isinstance(x, Scalar | Section | Constructor) for x in apply.args.values())


def _bare_pays(apply: Apply) -> bool:
    name = apply.intrinsic.name
    if name in BARE_ALWAYS or locates(apply):
        return True
    if name == "eoshift" and rank(apply.args["shift"]) and (_dim(apply) or 1) > 1:
        return True
    if name == "matmul":
        return rank(apply.args["matrix_b"]) == 1
    if name in BARE_COLUMNS and _dim(apply) == 1 and "array" not in apply.args:
        return True
    if name not in BARE_ROWS:
        return False
    # The library's masked sums are as fast while the array fits a cache.
    masked = "array" in apply.args and "mask" in apply.args and rank(apply.args["mask"])
    return (_dim(apply) or 0) > 1 and not masked


SHORTEST_ROW = 8


def _check_division(array: Array) -> None:
    """A RESHAPE that needs a division for each element loses to the library (rule 8)."""
    cut = {id(apply) for apply in _elementwise(array)}
    for apply in _applies(array):
        if apply.intrinsic.name != "reshape":
            continue
        index = probe(apply)
        moving = frozenset(id for x in index for id in names(x))
        for x in walk(element(apply, index)):
            if moving & names(x) and (place := _divided(x)) is not None:
                if id(apply) in cut and _counted_once(place) and _long(x):
                    continue
                raise Refusal("FT603", "RESHAPE needs a division for each element, which does not pay")


def _long(expr: Expr) -> bool:
    """Whether a loop cut at this division surely runs long.

    Measured: rows of 8 elements and more gain or lose nothing, rows of 1 to 4 take 1.6 times as long
    at -O3.  A test of the extent while the program runs is not made.
    """
    match expr:
        case Call("modulo", (_, extent)) | Op("/", (_, extent)):
            value = constant(extent)
            return value is not None and value >= SHORTEST_ROW
        case _:
            return False


def _divided(expr: Expr) -> Expr | None:
    match expr:
        case Call("modulo", (place, _)) | Op("/", (place, _)):
            return place
        case _:
            return None


def _elementwise(array: Array) -> Iterator[Apply]:
    """The references whose elements the outermost nest reads in its own order: it can be cut for them."""
    match array:
        case Apply():
            yield array
        case Elemental(operands=operands):
            for x in operands:
                yield from _elementwise(x)


def _counted_once(place: Expr) -> bool:
    """Whether one loop counts the elements, or rows of them."""
    if (outer := _divided(place)) is not None:
        return _counted_once(outer)
    atoms, _ = linear(place)
    return all(isinstance(x, Name) and weight == 1 for x, weight in atoms.items()) and len(atoms) == 1
