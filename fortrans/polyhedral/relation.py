"""Relations between integer tuples as OpenScop writes them: matrices of equalities and inequalities.

A column is an output dimension, an input dimension, a local dimension, a parameter or the
constant, in that order.  Local dimensions are existentially quantified, each relation's own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """``coefficients * columns + constant == 0``, or ``>= 0``."""

    equality: bool
    coefficients: tuple[int, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A basic relation.

    ``kind`` is CONTEXT, DOMAIN, SCATTERING, READ, WRITE or MAY_WRITE.  Of an access the first
    output dimension is the number of the array.  A set (CONTEXT, DOMAIN) has no inputs; its
    dimensions are outputs.
    """

    kind: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    locals: tuple[str, ...]
    parameters: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns but the first (equality) and the last (constant)."""
        return (*self.outputs, *self.inputs, *self.locals, *self.parameters)



Union = tuple[Relation, ...]
"""The union of relations of one space; the empty tuple is no relation, never the empty set."""


# ---- text ----------------------------------------------------------------------


def text(union: Union, arrays: dict[int, str] | None = None) -> str:
    """A relation, or a union of several, as OpenScop; with comments on what each row says."""
    head = [union[0].kind]
    if len(union) > 1:
        head.append(str(len(union)))
    return "\n".join((*head, *(line for relation in union for line in _lines(relation, arrays)))) + "\n"


def _lines(relation: Relation, arrays: dict[int, str] | None) -> list[str]:
    groups = (relation.outputs, relation.inputs, relation.locals, relation.parameters)
    sizes = (len(relation.rows), len(relation.columns) + 2, *map(len, groups))
    lines = [" ".join(map(str, sizes))]
    if relation.rows:
        titles = "".join(f"{' '.join(map(_centred, group))}|" for group in groups if group)
        lines.append(f"# e/i|{titles}  1  ")
    for row in relation.rows:
        numbers = (int(not row.equality), *row.coefficients, row.constant)
        values = " ".join(f"{number:4d}" for number in numbers)
        lines.append(f"{values}    ## {_comment(relation, row, arrays)}")
    return lines


def _centred(name: str) -> str:
    left = max(0, (5 - len(name)) // 2)
    return " " * left + name + " " * max(0, 4 - len(name) - left)


def _comment(relation: Relation, row: Row, arrays: dict[int, str] | None) -> str:
    terms = [(name, value) for name, value in zip(relation.columns, row.coefficients) if value]
    if not row.equality:
        return f"{_sum(terms, row.constant)} >= 0"
    for number, (name, value) in enumerate(terms):
        if name in relation.outputs and value == -1:
            rest = terms[:number] + terms[number + 1 :]
            if arrays is not None and name == relation.outputs[0] and relation.kind in ACCESSES and not rest:
                return f"{name} == {arrays.get(row.constant, row.constant)}"
            return f"{name} == {_sum(rest, row.constant)}"
    return f"{_sum(terms, row.constant)} == 0"


ACCESSES = ("READ", "WRITE", "MAY_WRITE")


def _sum(terms: list[tuple[str, int]], constant: int) -> str:
    parts = "".join(
        ("-" if value < 0 else "+") + ("" if abs(value) == 1 else f"{abs(value)}*") + name
        for name, value in terms
    )
    if constant or not parts:
        parts += f"{constant:+d}"
    return parts.removeprefix("+")
