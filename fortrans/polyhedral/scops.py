"""A nest as an OpenScop file: relations, each with local dimensions of its own for its quotients.

A domain is made once from the loops around a statement and is not changed after; an access that
needs a quotient instantiates it anew.  ``promote`` makes no local dimensions: a quotient of
parameters becomes a parameter, defined in the context, and one that depends on an index becomes an
index more, innermost, with one value for each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fortrans.ir.expr import Expr, Name, Op
from fortrans.polyhedral.domain import Constraint, flattened
from fortrans.polyhedral.forms import Affine, Atom, Floor, Local, NotAffine, Product, floored, of_atom
from fortrans.polyhedral.instances import Instance, Touch
from fortrans.polyhedral.openscop import Coordinates, Scop, Statement
from fortrans.polyhedral.pieces import Elements, Section, Subscript
from fortrans.polyhedral.relation import Relation, Row, Union


@dataclass(frozen=True, slots=True)
class Naming:
    """How names are printed: an index or variable, and a parameter that is an expression."""

    name: Callable[[str], str]
    parameter: Callable[[Expr], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """``promote``: no local dimensions.  ``c_order``: subscripts last to first, as row-major tools expect."""

    promote: bool = False
    c_order: bool = True


@dataclass(slots=True)
class _Promotion:
    """The names of quotients that became parameters or indices."""

    taken: frozenset[str]
    parameters: dict[Floor, str] = field(default_factory=dict)
    indices: dict[Floor, str] = field(default_factory=dict)

    def form(self, form: Affine, own: frozenset[str]) -> Affine:
        """``form`` without quotients."""
        total = Affine((), form.constant)
        for atom, weight in form.terms:
            if isinstance(atom, Floor):
                inner = Floor(self.form(atom.numerator, own), atom.divisor)
                total += of_atom(Name(self._name(inner, own))).scaled(weight)
            else:
                total += Affine(((atom, weight),))
        return total

    def _name(self, floor: Floor, own: frozenset[str]) -> str:
        mine = own | set(self.indices.values())
        local = any(isinstance(x, Name) and x.id in mine for x in floor.numerator.atoms())
        table, letter = (self.indices, "q") if local else (self.parameters, "p")
        if floor not in table:
            number = 1
            while (name := f"{letter}{number}") in self.taken or name in table.values():
                number += 1
            table[floor] = name
        return table[floor]


def _quotient(floor: Floor, name: str) -> tuple[Constraint, Constraint]:
    """``name`` is the quotient: one value satisfies both."""
    rest = floor.numerator - of_atom(Name(name)).scaled(floor.divisor)
    return Constraint(rest), Constraint(rest.scaled(-1).plus(floor.divisor - 1))


@dataclass(slots=True)
class _Builder:
    """Makes the relations of one file."""

    naming: Naming
    layout: Layout
    arrays: dict[str, int]
    parameters: tuple[Expr, ...] = ()

    # -- relations

    def relation(
        self,
        kind: str,
        outputs: Sequence[str],
        inputs: Sequence[str],
        constraints: Sequence[Constraint],
        results: Sequence[Constraint] = (),
    ) -> Relation:
        """The rows of ``constraints`` and ``results``, those that define a local before its first use.

        The constraints speak of ``inputs`` (of a set, its ``outputs``) by name and of outputs by
        the name that ``outputs`` has; columns are printed in the spelling of the naming.
        """
        floors, rows = flattened((*constraints, *results))
        ordered: list[Constraint] = []
        defined: set[int] = set()

        def add(row: Constraint) -> None:
            for atom in row.form.atoms():
                if isinstance(atom, Local) and atom.number not in defined:
                    defined.add(atom.number)
                    for definition in rows[2 * atom.number : 2 * atom.number + 2]:
                        add(definition)
            ordered.append(row)

        for row in rows[2 * len(floors) :]:
            add(row)
        columns: list[Atom] = [*map(Name, outputs), *map(Name, inputs), *map(Local, range(len(floors)))]
        columns += self.parameters
        return Relation(
            kind,
            tuple(map(self.naming.name, outputs)),
            tuple(map(self.naming.name, inputs)),
            tuple(f"l{number + 1}" for number in range(len(floors))),
            tuple(map(self.naming.parameter, self.parameters)),
            tuple(_row(row, columns) for row in ordered),
        )

    def domain(self, instance: Instance, more: Sequence[Constraint]) -> Union:
        """The iterations of a statement."""
        return tuple(
            self.relation("DOMAIN", instance.indices, (), (*constraints, *more))
            for constraints, _ in instance.pieces
        )

    def scattering(self, instance: Instance) -> Union:
        """The execution order: textual places and indices in turn, an index that counts down negated."""
        values: list[Affine] = [Affine((), instance.order[0])]
        for index, sign, place in zip(instance.indices, instance.signs, instance.order[1:]):
            values += [of_atom(Name(index)).scaled(sign), Affine((), place)]
        outputs = _columns(len(values))
        rows = [Constraint(form - of_atom(Name(c)), True) for c, form in zip(outputs, values)]
        found = self.relation("SCATTERING", outputs, instance.indices, (), rows)
        return (replace(found, outputs=tuple(f"c{n + 1}" for n in range(len(outputs)))),)

    def access(self, instance: Instance, touch: Touch) -> Union:
        """The elements that a statement reads, or writes, at each iteration."""
        return tuple(self._elements(instance, touch, elements) for elements in touch.elements)

    def _elements(self, instance: Instance, touch: Touch, elements: Elements) -> Relation:
        kind = "WRITE" if touch.access.write else "READ"
        subscripts = elements.subscripts[::-1] if self.layout.c_order else elements.subscripts
        outputs = _columns(len(subscripts) + 1)
        number = Affine((), self.arrays[touch.access.array])
        rows = [Constraint(number - of_atom(Name(outputs[0])), True)]
        for column, subscript in zip(outputs[1:], subscripts):
            rows += _subscript(column, subscript)
        found = self.relation(kind, outputs, instance.indices, elements.constraints, rows)
        return replace(found, outputs=("Arr", *(f"[{n + 1}]" for n in range(len(subscripts)))))


def _columns(count: int) -> list[str]:
    """Names of columns that no variable has."""
    return [f"[{number}]" for number in range(count)]


def _subscript(column: str, subscript: Subscript) -> list[Constraint]:
    variable = of_atom(Name(column))
    match subscript:
        case None:
            return []
        case Section(first, last, step):
            low, high = (first, last) if step > 0 else (last, first)
            rows = [Constraint(variable - low), Constraint(high - variable)]
            if abs(step) > 1:
                offset = variable - first
                rows.append(Constraint(offset - floored(offset, abs(step)).scaled(abs(step)), True))
            return rows
    return [Constraint(subscript - variable, True)]


def _row(constraint: Constraint, columns: Sequence[Atom]) -> Row:
    weights = {leaf(atom): weight for atom, weight in constraint.form.terms}
    coefficients = tuple(weights.pop(column, 0) for column in columns)
    assert not weights, f"no column for {weights}"
    return Row(constraint.equality, coefficients, constraint.form.constant)


def leaf(atom: Atom) -> Atom:
    """A product of parameters as the expression that it is; anything else as it stands."""
    if not isinstance(atom, Product):
        return atom
    result = atom.factors[0]
    for factor in atom.factors[1:]:
        result = Op("*", (result, factor))
    return result


# ---- whole nests ------------------------------------------------------------------


def scop(
    instances: Sequence[Instance],
    bodies: Sequence[str],
    context: Sequence[Constraint],
    naming: Naming,
    layout: Layout,
    coordinates: Coordinates,
    comments: tuple[str, ...] = (),
) -> Scop:
    """The OpenScop file of ``instances``, all of whose iterations and writes are exact.

    Raises NotAffine where ``layout`` cannot be had.
    """
    names = {x.array: None for instance in instances for x in (t.access for t in instance.touches)}
    arrays = {name: number for number, name in enumerate(names, 1)}
    builder = _Builder(naming, layout, arrays)
    more: list[tuple[Constraint, ...]] = [() for _ in instances]
    if layout.promote:
        instances, more, added = _promoted(instances, context)
        context = added
    builder.parameters = _parameters(instances, more, context)
    statements = tuple(
        Statement(
            builder.domain(instance, extra),
            builder.scattering(instance),
            tuple(builder.access(instance, touch) for touch in instance.touches),
            tuple(map(naming.name, instance.indices)),
            body,
        )
        for instance, extra, body in zip(instances, more, bodies)
    )
    return Scop(
        "FORTRAN",
        (builder.relation("CONTEXT", (), (), context),),
        tuple(map(naming.parameter, builder.parameters)),
        statements,
        {number: naming.name(name) for name, number in arrays.items()},
        coordinates,
        comments,
    )


def forms(instance: Instance) -> list[Affine]:
    """Every form in the domain and the accesses of a statement."""
    found = [c.form for constraints, _ in instance.pieces for c in constraints]
    for touch in instance.touches:
        for elements in touch.elements:
            found += [c.form for c in elements.constraints]
            for subscript in elements.subscripts:
                match subscript:
                    case Section(first, last):
                        found += [first, last]
                    case Affine():
                        found.append(subscript)
    return found


def _parameters(
    instances: Sequence[Instance], more: Sequence[tuple[Constraint, ...]], context: Sequence[Constraint]
) -> tuple[Expr, ...]:
    """Every atom that is no index and no quotient, in the order in which they are met."""
    found: dict[Expr, None] = {}

    def add(some: Sequence[Affine], indices: frozenset[str]) -> None:
        for form in some:
            for atom in leaves(form):
                if not (isinstance(atom, Name) and atom.id in indices):
                    found[atom] = None

    for instance, extra in zip(instances, more):
        add([*forms(instance), *(c.form for c in extra)], frozenset(instance.indices))
    add([c.form for c in context], frozenset())
    return tuple(found)


def leaves(form: Affine) -> Iterator[Expr]:
    """The parameters and indices of a form, those in quotients too."""
    for atom, _ in form.terms:
        match leaf(atom):
            case Floor(numerator, _):
                yield from leaves(numerator)
            case Local() | Product():
                pass
            case found:
                yield found


def _promoted(
    instances: Sequence[Instance], context: Sequence[Constraint]
) -> tuple[list[Instance], list[tuple[Constraint, ...]], list[Constraint]]:
    """Instances without quotients, what defines the indices each got, and the context.  Raises NotAffine."""
    every = [form for instance in instances for form in forms(instance)]
    taken = {x.id for form in every for x in leaves(form) if isinstance(x, Name)}
    promotion = _Promotion(frozenset(taken.union(*(instance.indices for instance in instances))))
    made: list[Instance] = []
    extras: list[tuple[Constraint, ...]] = []
    for instance in instances:
        promotion.indices = {}
        found = _without_quotients(instance, promotion)
        own = tuple(promotion.indices.values())
        made.append(
            replace(
                found,
                indices=(*instance.indices, *own),
                signs=(*instance.signs, *(1 for _ in own)),
                order=(*instance.order, *(0 for _ in own)),
            )
        )
        extras.append(tuple(c for floor, name in promotion.indices.items() for c in _quotient(floor, name)))
    rows = [replace(c, form=promotion.form(c.form, frozenset())) for c in context]
    rows += [c for floor, name in promotion.parameters.items() for c in _quotient(floor, name)]
    return made, extras, rows


def _without_quotients(instance: Instance, promotion: _Promotion) -> Instance:
    own = frozenset(instance.indices)

    def form(x: Affine) -> Affine:
        return promotion.form(x, own)

    def rows(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
        return tuple(replace(c, form=form(c.form)) for c in constraints)

    def subscript(x: Subscript) -> Subscript:
        match x:
            case None:
                return None
            case Section(first, last, step):
                if abs(step) > 1:
                    raise NotAffine("a section with a stride has no form without local dimensions")
                return Section(form(first), form(last), step)
        return form(x)

    pieces = tuple((rows(constraints), facts) for constraints, facts in instance.pieces)
    touches = tuple(
        replace(
            touch,
            elements=tuple(
                Elements(rows(e.constraints), tuple(map(subscript, e.subscripts))) for e in touch.elements
            ),
        )
        for touch in instance.touches
    )
    return replace(instance, pieces=pieces, touches=touches)

