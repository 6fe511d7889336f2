"""An assignment becomes a nest: ``FT101``, ``FT102`` and, through a temporary, ``FT104``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fortrans.analysis.matmul import is_product
from fortrans.analysis.overlap import function_may_read, reads_target
from fortrans.intrinsics import fresh_indices
from fortrans.intrinsics.constructor import fillable
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Scalar,
    Section,
    Triplet,
    element,
    probe,
    rank,
    shape,
)
from fortrans.ir.expr import ONE, Expr, Locate, Name, Reduce, Shape
from fortrans.ir.fresh import Fresh
from fortrans.ir.masked import is_masked
from fortrans.ir.nest import Allocate, Declaration, If, Store
from fortrans.ir.sites import Assignment
from fortrans.ir.symbols import INTEGER, Type
from fortrans.ir.written import as_source
from fortrans.options import Options
from fortrans.remarks import Refusal
from fortrans.transforms import construct, pack
from fortrans.transforms.accumulate import Gather, Push
from fortrans.transforms.allocate import allocated
from fortrans.transforms.apart import in_place_when_apart
from fortrans.transforms.captures import Captures
from fortrans.transforms.conform import conform
from fortrans.transforms.inplace import in_place
from fortrans.transforms.keep import accumulates, described, has_rule, keep
from fortrans.transforms.lower import Lowering
from fortrans.transforms.operands import evaluated
from fortrans.transforms.overlapping import needs_temporary
from fortrans.transforms.pieces import Piece, Put, Span, declarable
from fortrans.transforms.plan import (
    Plan,
    as_written,
    capital,
    is_told,
    planned,
    root,
    same_type,
    sized,
)
from fortrans.transforms.product import left_alone, multiply, whole
from fortrans.transforms.reallocate import grows, movable, own_bounds, reallocation, taken_over
from fortrans.transforms.regroup import regrouped
from fortrans.transforms.simplify import simplify
from fortrans.transforms.split import Facts, canonical
from fortrans.transforms.storage import Stack
from fortrans.transforms.where import masked

HIGHEST_RANK = 15
_DEFAULTS = Options()


@dataclass(frozen=True, slots=True)
class Opened:
    """Loops, the element they store and its value; ``before`` is done first.

    ``direct``: a reduction may accumulate in the element that is stored.
    """

    loops: tuple[Span, ...]
    inside: Expr
    value: Expr
    before: Piece
    direct: bool = False


@dataclass(slots=True)
class Composition:
    """One statement being composed."""

    site: Assignment
    captures: Captures
    stack: Stack = field(default_factory=Stack)
    indices: tuple[str, ...] = ()
    maybe: bool = False
    addresses: bool = True
    tested: bool = False
    made: dict[Array, Section] = field(default_factory=dict)
    temporaries: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def fresh(self) -> Fresh:
        return self.captures.fresh

    @property
    def own(self) -> set[str]:
        return self.captures.own

    # ---- a store with all it needs ----------------------------------------------

    def store(
        self,
        target: Section | Scalar,
        value: Array,
        rows: bool,
        filling: Array | None = None,
        first: Expr = ONE,
    ) -> Piece:
        """``target = value`` where nothing read can be stored too early.

        ``rows``: accumulating in the target itself is allowed.  ``filling``: see ``keep``.  ``first``:
        where rank-1 arrays begin.
        """
        if rows and filling != value and isinstance(target, Section) and _multiplies(target, value):
            assert isinstance(value, Apply)
            return multiply(self, target, value)
        opened = self.opened(target, value, rows, filling, first)
        cut, loops, what = regrouped(opened.loops, opened.value, value, self.captures)
        captured, loops, inside, what = self.captures.take(loops, opened.inside, what)
        lowering = Lowering(self.fresh, self.captures.facts)
        put = Put(inside, opened.direct)
        nest = lowering.build(loops, canonical(what), put)
        return opened.before + Piece(cut) + captured + nest

    def opened(
        self,
        target: Section | Scalar,
        value: Array,
        rows: bool = False,
        filling: Array | None = None,
        first: Expr = ONE,
        lend: bool = True,
    ) -> Opened:
        """``target = value`` as loops around an element, before anything is lowered; see ``store``.

        ``lend``: with ``rows``, what must be kept may be kept in the target.
        """
        loops = self._loops(target, value, first)
        index = tuple(Name(span.index) for span in reversed(loops))
        inside = element(target, index)
        what = element(value, index if rank(value) else ())
        direct = rows and same_type(target.type, value.type)
        # A reduction takes the target for its own accumulators: nothing else may be there meanwhile.
        spare = rows and lend and not isinstance(what, Reduce | Locate)
        into = target if spare and isinstance(target, Section) else None
        before, what = self._kept(what, index, direct, filling, into)
        declared = tuple(Declaration(span.index, INTEGER) for span in reversed(loops))
        return Opened(loops, inside, what, Piece(declared) + before, direct)

    def trial(self) -> Composition:
        """Another that knows what this one knows, and may be thrown away."""
        return replace(
            self,
            captures=self.captures.copy(),
            stack=replace(self.stack),
            made=dict(self.made),
            temporaries=list(self.temporaries),
            kept=list(self.kept),
        )

    def sequence(
        self,
        extents: Shape,
        inside: Callable[[tuple[Name, ...]], tuple[Push | Gather, Expr]],
        test: Expr | None = None,
    ) -> Piece:
        """Loops in array element order around what ``inside`` makes of their indices, if ``test`` holds."""
        loops = tuple(replace(span, concurrent=False) for span in self._spans(extents))
        index = tuple(Name(span.index) for span in reversed(loops))
        sink, what = inside(index)
        place = sink.target if isinstance(sink, Push) else sink.into
        before, what = self._kept(what, index, rows=False)
        declared = tuple(Declaration(span.index, INTEGER) for span in reversed(loops))
        captured, loops, place, what = self.captures.take(loops, place, what)
        sink = replace(sink, target=place) if isinstance(sink, Push) else sink
        nest = Lowering(self.fresh, self.captures.facts).build(loops, canonical(what), sink)
        if test is not None:
            nest = Piece((), (If(test, nest.body),))
        return Piece(declared) + before + captured + nest

    def _loops(self, target: Section | Scalar, value: Array, first: Expr = ONE) -> tuple[Span, ...]:
        extents = shape(target)
        if self.site.reallocates and target == self.site.lhs:
            extents = shape(value)
        return self._spans(extents, first)

    def _spans(self, extents: Shape, first: Expr = ONE) -> tuple[Span, ...]:
        if not self.indices:
            # One set serves all nests of the statement: each is closed before the next one opens.
            self.indices = self.fresh.numbered("j", HIGHEST_RANK)
        indices = self.indices[: len(extents)]
        return tuple(Span(j, first, extent) for j, extent in reversed(list(zip(indices, extents))))

    def temporary(
        self,
        value: Array,
        stem: str = "tmp",
        type: Type | None = None,
        heap: bool = False,
        lower: Shape | None = None,
    ) -> tuple[Piece, Section]:
        """A temporary filled with ``value``; of another ``type``, values are converted.

        ``heap``: it is allocated, whatever its size, with these ``lower`` bounds.
        """
        type = declarable(type or value.type, "a temporary")
        name = self.fresh.name(stem)
        self.own.add(name)
        extents = shape(value)
        if not extents:
            return self._scalar(name, type, value)
        pairs = zip(lower or (ONE,) * len(extents), extents, strict=True)
        axes = tuple(Triplet(first, ONE, extent, full=True) for first, extent in pairs)
        section = Section(Name(name), axes, type, whole=True)
        stack = not heap and self.stack.takes(type, extents, self.captures.facts.value, self.site.scope)
        room = () if stack else (Allocate(Name(name), extents, lower),)
        made = Piece((Declaration(name, type, extents, allocatable=not stack),), room)
        return made + self._fill(section, value), section

    def _scalar(self, name: str, type: Type, value: Array) -> tuple[Piece, Section]:
        """A scalar result without an element rule (DOT_PRODUCT): evaluated once, as written."""
        if isinstance(value, Apply):
            self.kept.append(value.intrinsic.name.upper())
        section = Section(Name(name), (), type, whole=True)
        return Piece((Declaration(name, type),)) + as_written(section, value), section

    def apart(self, make: Callable[[], Piece]) -> Piece:
        """What ``make`` makes, under a condition: nothing that it reads or keeps is there elsewhere."""
        made, known = dict(self.made), dict(self.captures.known)
        piece = make()
        self.made, self.captures.known = made, known
        return piece

    def _fill(self, section: Section, value: Array) -> Piece:
        match value:
            case Apply() if _multiplies(section, value):
                return multiply(self, section, value)
            case Apply() if pack.moves(value) is not None:
                return pack.fill(self, section, value)
            case Apply(intrinsic) if not has_rule(value):
                self.kept.append(intrinsic.name.upper())
                return as_written(section, value)
            case Constructor() if not has_rule(value):
                return construct.fill(self, section, value) if fillable(value) else as_written(section, value)
            case _:
                return self.store(section, value, rows=True, filling=value)

    def _kept(
        self,
        value: Expr,
        index: tuple[Name, ...],
        rows: bool,
        filling: Array | None = None,
        into: Section | None = None,
    ) -> tuple[Piece, Expr]:
        """Temporaries for what the nest must not compute in place, and the value that reads them.

        ``into``: the target, which nothing in the value reads; a reduction (or a MATMUL) of its
        type and shape that is read only where it is stored is computed there, without a temporary.
        """
        pieces: list[Piece] = []
        loops = tuple(name.id for name in reversed(index))

        def make(origin: Array) -> Section:
            nonlocal into
            if into is not None and origin != filling and accumulates(value, index, into, origin):
                section, into = into, None
                pieces.append(self._fill(section, origin))
                passing[origin] = section
                return section
            piece, section = self.temporary(origin)
            pieces.append(piece)
            self.temporaries.append(described(origin))
            self.made[origin] = passing[origin] = section
            return section

        # What accumulates in the target is there for this nest only: the nest stores over it.
        passing = dict(self.made)
        settled = keep(value, loops, rows, make, passing, filling, lambda x: whole(self, x))
        total = Piece()
        for piece in pieces:
            total += piece
        return total, settled

    # ---- the statement ------------------------------------------------------------------

    def plan(self) -> Plan:
        """What replaces the statement.  Raises Refusal."""
        if is_masked(self.site.rhs):
            return masked(self)
        target, value = self.site.lhs, self.site.rhs
        whole = (pack.moves(value) or construct.laid_out(value)) if self.site.allocation is None else None
        told = bool(self.site.answered) and is_told(target, value)
        alone = whole is None and not told
        if alone and isinstance(value, Apply | Constructor) and not has_rule(value):
            what = capital(described(value))
            raise Refusal("FT403", f"{what} alone has no element rule, it is left to the compiler")
        if isinstance(value, Apply) and is_product(value) and left_alone(self, value):
            raise Refusal("FT403", "MATMUL of these operands alone is left to the compiler and its library")
        captured = Piece()
        for capture in pack.needed(self.site, whole) if isinstance(whole, Apply) else self.site.captures:
            captured += evaluated(self, capture)
        if told:
            stored = Store(as_source(target), as_source(value))
            return self._planned(captured + Piece((), (stored,)), "FT106", "")
        if self.site.allocation is not None:
            return self._planned(captured + allocated(self, self.site.allocation), "FT110", "")
        if isinstance(target, Scalar):
            piece = captured + self.store(target, value, rows=False)
            return self._planned(piece, "FT102", "")
        if whole is not None:
            if isinstance(whole, Apply):
                body, because = pack.assigned(self, target, whole)
            else:
                body, because = construct.assigned(self, target, whole)
            return self._planned(captured + body, "FT104" if because else "FT101", because)
        code, because = "FT101", ""
        reason = needs_temporary(self, target, value)
        done = None if reason is None or self.site.reallocates else in_place(self, target, value)
        if done is not None:
            trial, placed = done
            plan = trial._planned(captured + placed.body, placed.code, placed.how)
            return replace(plan, form=placed.form)
        if reason is None:
            body = self.room(target, shape(value)) + self.store(target, value, rows=self.clear(target, value))
        else:
            code, because = "FT104", reason
            if self.site.reallocates:
                body = self._replaced(target, value)
            elif self.addresses and (either := in_place_when_apart(self, target, value)) is not None:
                body, self.tested = either, True
            else:
                filled, copy = self.temporary(value)
                body = filled + self.store(target, copy, rows=False)
        return self._planned(captured + body, code, because)

    def _planned(self, piece: Piece, code: str, because: str) -> Plan:
        return planned(
            self.site.scope, piece, code, because, self.temporaries, self.kept, self.maybe, self.tested
        )

    def reads(self, target: Section, value: Array) -> bool:
        """Whether the value reads what may be the target."""
        index = probe(target)
        what = element(value, index if rank(value) else ())
        return reads_target(element(target, index), what, self.site.scope, frozenset(self.own))

    def _replaced(self, target: Section, value: Array) -> Piece:
        """The value in a temporary, which the left side takes over when its shape changes.

        A left side that keeps its shape keeps its bounds and its storage: pointers may be
        associated with it.
        """
        moves = movable(target.type)
        type = target.type if moves else None
        filled, made = self.temporary(value, type=type, heap=True, lower=own_bounds(self.site.rhs))
        if not moves:
            # The left side's own sizes are gone once it is deallocated.
            made = replace(made, axes=tuple(sized(made.base, d) for d in range(rank(made))))
            return filled + self.room(target, shape(made)) + self.store(target, made, rows=False)
        copied = Piece() if grows(target, shape(value)) else self.store(target, made, rows=False)
        return filled + taken_over(target, made, value, copied)

    def room(self, target: Section, extents: Shape) -> Piece:
        """(Re)allocation of the left side before it is stored, when the assignment may do it."""
        if not self.site.reallocates:
            return Piece()
        self.captures.forget(root(target))
        return reallocation(target, extents, self.site.rhs, self.site.length)

    def clear(self, target: Section, value: Array) -> bool:
        """Whether nothing that the value needs reads the target, so that it may hold what is half done."""
        seen = function_may_read(element(target, probe(target)), as_source(value), self.site.scope)
        return seen is None and not self.reads(target, value)


def _multiplies(target: Section, value: Array) -> bool:
    return is_product(value) and same_type(target.type, value.type)


def compose(site: Assignment, fresh: Fresh, options: Options = _DEFAULTS) -> Plan:
    """The plan for an assignment.  Raises Refusal."""
    with fresh_indices():
        captures = Captures(fresh, Facts(value=site.scope.constant))
        # flang calls its library for each TRANSFER: small arrays lose by half.
        addresses = options.target == "gfortran"
        stack = Stack.of(options)
        # Under a mask an elemental function is evaluated for the elements that it selects only.
        site = site if is_masked(site.rhs) else simplify(site)
        return Composition(conform(site), captures, stack, addresses=addresses).plan()
