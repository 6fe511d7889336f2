"""Whether the iterations of a loop may run in any order: which references conflict, with an example.

By F2018 11.1.7.5 an iteration of DO CONCURRENT may not reference what another one defines, unless it
has defined it itself before.  What several iterations define is undefined after the loop.  The
question is put to isl, as relations between moments: textual places and indices in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fortrans.ir.expr import Expr, Name
from fortrans.ir.loops import Parameter
from fortrans.polyhedral.domain import Constraint
from fortrans.polyhedral.forms import Affine, Atom, Floor, Product
from fortrans.polyhedral.instances import Instance, Nest, Touch
from fortrans.polyhedral.pieces import Section, Subscript
from fortrans.polyhedral.scops import forms, leaves

if TYPE_CHECKING:
    from types import ModuleType

LARGEST = 2**31 - 1
OPERATIONS = 1_000_000
"""isl's operations for one loop, beyond which the question is given up."""


class Undecided(Exception):
    """Raised where isl is not there, or needs too long; the message is a sentence without period."""


@dataclass(frozen=True, slots=True)
class Example:
    """Values of parameters, and of the loop's indices in two iterations."""

    parameters: Mapping[Expr, int]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two references to one element in two iterations; ``write`` defines it.

    ``other`` reads it, or defines it too.  ``sure``: they surely do; else something about them is
    not affine, or they would for values only that parameters cannot have.
    """

    write: tuple[Instance, Touch]
    other: tuple[Instance, Touch]
    sure: bool
    example: Example | None
    """Only of what is sure."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """Which objects iterations share.

    ``own`` are each iteration's own.  ``strict``: an object that an iteration defines before it
    references it is not for that reason its own; ``shared`` are such ones in any case.
    """

    own: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    strict: bool = False


def conflicts(
    nest: Nest, levels: int, sharing: Sharing, parameters: Mapping[str, Parameter]
) -> tuple[Conflict, ...]:
    """The conflicts between iterations of the outermost ``levels`` loops; at most one for each array.

    ``parameters`` are those that are no variables.  Raises Undecided.
    """
    try:
        import islpy
    except ImportError:
        raise Undecided("It needs islpy, which is not installed (pip install islpy)") from None
    context = islpy.Context()
    context.set_max_operations(OPERATIONS)
    try:
        return tuple(_Question(islpy, context, nest, levels, sharing, parameters).answers())
    except islpy.Error:
        raise Undecided("Its relations are too many to be worked out") from None


@dataclass(frozen=True, slots=True)
class _Reference:
    """A touch, and its relation from moments to elements."""

    instance: Instance
    touch: Touch
    relation: Any

    @property
    def exact(self) -> bool:
        return self.instance.exact and self.touch.exact


class _Question:
    """One loop, with everything in one space."""

    def __init__(
        self,
        isl: ModuleType,
        context: Any,
        nest: Nest,
        levels: int,
        sharing: Sharing,
        known: Mapping[str, Parameter],
    ) -> None:
        self.isl: Any = isl
        self.context = context
        self.nest = nest
        self.levels = levels
        self.sharing = sharing
        self.length = max((2 * len(x.indices) + 1 for x in nest.instances), default=1)
        found: dict[Expr, None] = {}
        for instance in nest.instances:
            for form in forms(instance):
                for leaf in leaves(form):
                    if not (isinstance(leaf, Name) and leaf.id in instance.indices):
                        found[leaf] = None
        self.parameters = tuple(found)
        self.extents = {Name(name) for name, parameter in known.items() if parameter.extent}
        roots = [known[x.id].root for x in found if isinstance(x, Name) and x.id in known]
        # Values of ``n*m`` and ``n``, or of two bounds of one array, cannot be chosen freely.
        self.free = all(isinstance(x, Name) for x in found) and len(set(roots)) == len(roots)
        self.head = f"[{', '.join(f'p{n}' for n in range(len(found)))}] -> "
        moments = ", ".join(f"t{n}" for n in range(self.length))
        others = ", ".join(f"s{n}" for n in range(self.length))
        level = range(1, 2 * levels, 2)
        same = " and ".join(f"t{n} = s{n}" for n in level)
        apart = " or ".join(f"t{n} != s{n}" for n in level)
        self.moments = moments
        self.same = self._map(f"[{moments}] -> [{others}] : {same}")
        self.apart = self._map(f"[{moments}] -> [{others}] : {apart}")
        self.before = self.isl.Map.lex_lt(self.same.get_space().domain())

    def _map(self, text: str) -> Any:
        return self.isl.Map.read_from_str(self.context, f"{self.head}{{ {text} }}")

    # -- answers

    def answers(self) -> Iterator[Conflict]:
        """At most one conflict for each array, in the order in which arrays are met."""
        references: dict[str, list[_Reference]] = {}
        for instance in self.nest.instances:
            for touch in instance.touches:
                if touch.access.array not in self.sharing.own:
                    references.setdefault(touch.access.array, []).append(
                        _Reference(instance, touch, self._relation(instance, touch))
                    )
        for name, found in references.items():
            writes = [x for x in found if x.touch.access.write]
            reads = [x for x in found if not x.touch.access.write]
            if writes and (conflict := self._conflict(name, writes, reads)) is not None:
                yield conflict

    def _conflict(
        self, name: str, writes: Sequence[_Reference], reads: Sequence[_Reference]
    ) -> Conflict | None:
        strict = self.sharing.strict or name in self.sharing.shared
        left = [x.relation if strict else self._uncovered(x, writes) for x in reads]
        certain = strict or all(x.exact for x in writes)
        best: Conflict | None = None
        for write in writes:
            for read, relation in zip(reads, left):
                best = _better(best, self._pair(write, read, relation, certain))
                if best is not None and best.sure:
                    return best
        workspace = not strict and bool(reads) and all(relation.is_empty() for relation in left)
        if not workspace:
            for number, write in enumerate(writes):
                for other in writes[number:]:
                    best = _better(best, self._pair(write, other, other.relation, True))
                    if best is not None and best.sure:
                        return best
        return best

    def _uncovered(self, read: _Reference, writes: Sequence[_Reference]) -> Any:
        """What ``read`` reads that its own iteration has not surely defined before."""
        left = read.relation
        earlier = self.before.intersect(self.same).reverse()
        for write in writes:
            if write.exact:
                left = left.subtract(earlier.apply_range(write.relation))
        return left

    def _pair(self, write: _Reference, other: _Reference, relation: Any, certain: bool) -> Conflict | None:
        pairs = write.relation.apply_range(relation.reverse()).intersect(self.apart)
        if pairs.is_empty():
            return None
        example: Example | None = None
        if certain and write.exact and other.exact and self.free:
            example = self._example(pairs, write.instance, other.instance)
        references = (write.instance, write.touch), (other.instance, other.touch)
        return Conflict(*references, example is not None, example)

    def _example(self, pairs: Any, write: Instance, other: Instance) -> Example | None:
        """A point of ``pairs`` with small numbers where there is one; None beyond default integers."""
        set_, parameter = self.isl.dim_type.set, self.isl.dim_type.param
        count = len(self.parameters)
        points = pairs.wrap().flatten().move_dims(set_, 0, parameter, 0, count)
        for bound in (4, 16, 128, LARGEST):
            box = points
            for d in range(box.dim(set_)):
                natural = d < count and (bound < LARGEST or self.parameters[d] in self.extents)
                box = box.lower_bound_val(set_, d, self._value(0 if natural else -bound))
                box = box.upper_bound_val(set_, d, self._value(bound))
            values = self._least(box) if bound < LARGEST else self._some(box)
            if values is not None:
                known = dict(zip(self.parameters, values))
                first, second = values[count : count + self.length], values[count + self.length :]
                return Example(known, self._iteration(first, write), self._iteration(second, other))
        return None

    def _some(self, points: Any) -> list[int] | None:
        """Any point of a set."""
        point = points.sample_point()
        if point.is_void():
            return None
        set_ = self.isl.dim_type.set
        return [point.get_coordinate_val(set_, d).to_python() for d in range(points.dim(set_))]

    def _least(self, points: Any) -> list[int] | None:
        """The first point of a bounded set; basic set by basic set, which is far less work."""
        set_ = self.isl.dim_type.set
        found: list[list[int]] = []
        for basic in points.get_basic_sets():
            point = basic.lexmin().sample_point()
            if not point.is_void():
                size = points.dim(set_)
                found.append([point.get_coordinate_val(set_, d).to_python() for d in range(size)])
        return min(found, default=None)

    def _value(self, number: int) -> Any:
        return self.isl.Val.int_from_si(self.context, number)

    def _iteration(self, moment: Sequence[int], instance: Instance) -> tuple[int, ...]:
        times = moment[1 : 2 * self.levels : 2]
        return tuple(sign * time for sign, time in zip(instance.signs, times))

    # -- relations

    def _relation(self, instance: Instance, touch: Touch) -> Any:
        """From the moments of a statement to the elements it touches."""
        names: dict[Atom, str] = {leaf: f"p{n}" for n, leaf in enumerate(self.parameters)}
        for depth, (index, sign) in enumerate(zip(instance.indices, instance.signs)):
            time = f"t{2 * depth + 1}"
            names[Name(index)] = time if sign > 0 else f"(-{time})"
        fixed = [f"t{2 * depth} = {place}" for depth, place in enumerate(instance.order)]
        fixed += [f"t{n} = 0" for n in range(2 * len(instance.indices) + 1, self.length)]
        rank = len(touch.access.subscripts)
        elements = ", ".join(f"e{n}" for n in range(rank))
        parts = []
        for constraints, _ in instance.pieces:
            for piece in touch.elements:
                rows = [*fixed, *(_row(c, names) for c in (*constraints, *piece.constraints))]
                for n, subscript in enumerate(piece.subscripts):
                    rows += _subscript(f"e{n}", subscript, names)
                parts.append(f"[{self.moments}] -> [{elements}] : {' and '.join(rows)}")
        return self._map("; ".join(parts))


def _better(best: Conflict | None, found: Conflict | None) -> Conflict | None:
    """The first conflict that is sure, else the first one."""
    if best is None or (found is not None and found.sure and not best.sure):
        return found if found is not None else best
    return best


def _row(constraint: Constraint, names: Mapping[Atom, str]) -> str:
    return f"{_text(constraint.form, names)} {'=' if constraint.equality else '>='} 0"


def _subscript(name: str, subscript: Subscript, names: Mapping[Atom, str]) -> list[str]:
    match subscript:
        case None:
            return []
        case Section(first, last, step):
            start, end = _text(first, names), _text(last, names)
            low, high = (start, end) if step > 0 else (end, start)
            rows = [f"{name} >= {low}", f"{name} <= {high}"]
            if abs(step) > 1:
                rows.append(f"({name} - ({start})) mod {abs(step)} = 0")
            return rows
    return [f"{name} = {_text(subscript, names)}"]


def _text(form: Affine, names: Mapping[Atom, str]) -> str:
    """A form in isl's notation."""
    terms = [f"{weight}*{_atom(atom, names)}" for atom, weight in form.terms]
    return " + ".join([*terms, str(form.constant)])


def _atom(atom: Atom, names: Mapping[Atom, str]) -> str:
    from fortrans.polyhedral.scops import leaf

    match atom:
        case Floor(numerator, divisor):
            return f"floor(({_text(numerator, names)})/{divisor})"
        case Product():
            return names[leaf(atom)]
    return names[atom]
