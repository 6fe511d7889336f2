"""Which iterations write what other iterations read: the exact answer, by isl.

isl is asked only when arithmetic on single subscripts cannot tell.  Without islpy, or when a
question costs more than ``MOST_OPERATIONS``, there is no answer and the caller stays conservative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from fortrans.ir.expr import Call, Expr, Literal, Name, Op, names
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.conflicts import PRIME, Nest, Pair, Signs, context, primed
from fortrans.polyhedral.forms import (
    Affine,
    Atom,
    Floor,
    Local,
    NotAffine,
    Product,
    is_quasi_affine,
)

MOST_OPERATIONS = 100_000
MOST_LAG = 4
"""The greatest distance that is looked for in relations without one distance for all."""


def isl_or_none() -> Any:
    """The islpy module, or None where it is not installed."""
    try:
        return import_module("islpy")
    except ImportError:
        return None


@dataclass(slots=True)
class _Text:
    """A formula in isl's notation: parameters and quantified variables as they turn up."""

    facts: Facts
    indices: frozenset[str]
    parameters: dict[Atom, str] = field(default_factory=dict)
    locals: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    dims: dict[str, str] = field(default_factory=dict)

    def value(self, expr: Expr) -> str:
        """An integer expression, exactly as Fortran evaluates it.  Raises NotAffine."""
        try:
            form = affine(expr, self.indices, self.facts)
            if is_quasi_affine(form, self.indices):
                return self.form(form)
        except NotAffine:
            pass
        return self._arithmetic(expr)

    def _arithmetic(self, expr: Expr) -> str:
        match expr:
            case Literal(text) if text.isdigit():
                return text
            case Op("()" | "+", (x,)):
                return self.value(x)
            case Op("-", (x,)):
                return f"(-{self.value(x)})"
            case Op("+" | "-" as op, (x, y)):
                return f"({self.value(x)} {op} {self.value(y)})"
            case Op("*", (x, y)):
                for a, b in ((x, y), (y, x)):
                    if (factor := self._constant(a)) is not None:
                        return f"({factor}*{self.value(b)})"
            case Op("/", (x, y)) if by := self._constant(y):
                return self._truncated(self.value(x), by)
            case Call("mod", (x, y), user=False) if by := self._constant(y):
                dividend = self.value(x)
                return f"({dividend} - {by}*{self._truncated(dividend, by)})"
            case Call("modulo", (x, y), user=False) if by := self._constant(y):
                dividend = self.value(x)
                sign = "" if by > 0 else "-"
                return f"({dividend} + {-by}*floor({sign}{dividend}/{abs(by)}))"
            case Call("max" | "min" as name, args, user=False) if len(args) > 1:
                values = [self.value(x) for x in args]
                beats = ">=" if name == "max" else "<="
                local = self._local()
                self.constraints += [f"{local} {beats} {x}" for x in values]
                self.constraints.append("(" + " or ".join(f"{local} = {x}" for x in values) + ")")
                return local
        if names(expr) & self.indices:
            raise NotAffine("no arithmetic")
        return self._parameter(expr)

    def _constant(self, expr: Expr) -> int | None:
        """The value of a constant; a named one may have the name of an index."""
        return None if names(expr) & self.indices else self.facts.value(expr)

    def _truncated(self, dividend: str, by: int) -> str:
        local, size = self._local(), abs(by)
        self.constraints.append(
            f"(({dividend} >= 0 and {size}*{local} <= {dividend} < {size}*{local} + {size})"
            f" or ({dividend} < 0 and {size}*{local} - {size} < {dividend} <= {size}*{local}))"
        )
        return local if by > 0 else f"(-{local})"

    def _local(self) -> str:
        self.locals.append(f"e{len(self.locals)}")
        return self.locals[-1]

    def _parameter(self, atom: Atom) -> str:
        if atom not in self.parameters:
            self.parameters[atom] = name = f"p{len(self.parameters)}"
            self._known(atom, name)
        return self.parameters[atom]

    def _known(self, atom: Atom, name: str) -> None:
        low = self.facts.minimum(Affine(((atom, 1),)))
        if low is not None:
            self.constraints.append(f"{name} >= {-(-low.numerator // low.denominator)}")
        match atom:
            case Call("modulo", (_, divisor), user=False):
                try:
                    by = affine(divisor, frozenset(), self.facts)
                except NotAffine:
                    return
                if self.facts.holds(by.plus(-1)):
                    self.constraints.append(f"0 <= {name} < {self.form(by)}")

    def form(self, form: Affine) -> str:
        """A quasi-affine form."""
        terms = [f"{weight}*{self._atom(atom)}" for atom, weight in form.terms]
        return "(" + " + ".join([*terms, str(form.constant)]) + ")"

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Name(id) if id in self.dims:
                return self.dims[id]
            case Floor(numerator, divisor):
                return f"floor({self.form(numerator)}/{divisor})"
            case Product() | Local():
                return self._parameter(atom)
            case _:
                return self._parameter(atom)


@dataclass(frozen=True, slots=True)
class Relation:
    """The conflicts of a pair as an isl set over the writer's and the reader's indices."""

    isl: Any
    conflicts: Any
    positions: dict[str, int]
    relevant: frozenset[str]
    disjoint: bool = False

    def signs(self, equal: frozenset[str], index: str) -> Signs:
        """See Conflicts.  Raises the ``Error`` of islpy when the question costs too much."""
        if self.disjoint or self.relevant <= equal:
            return frozenset()
        if index not in self.relevant:
            return frozenset({0})
        held = [f"i{k} = r{k}" for k in sorted(self.positions[x] for x in equal)]
        k = self.positions[index]
        others = sorted(self.positions[x] for x in self.relevant - equal - {index})
        apart = " or ".join(f"i{d} < r{d} or i{d} > r{d}" for d in others) or "false"
        found = set()
        for sign, test in ((-1, f"i{k} < r{k}"), (0, f"i{k} = r{k} and ({apart})"), (1, f"i{k} > r{k}")):
            if not self._empty([*held, test]):
                found.add(sign)
        return frozenset(found)

    def lag(self, equal: frozenset[str], index: str, sign: int) -> int | None:
        """See Conflicts.  Raises the ``Error`` of islpy when the question costs too much."""
        if self.disjoint or self.relevant <= equal:
            return 0
        if index not in self.relevant:
            return None
        held = [f"i{k} = r{k}" for k in sorted(self.positions[x] for x in equal)]
        k = self.positions[index]
        ahead = f"r{k} - i{k}" if sign > 0 else f"i{k} - r{k}"
        return next((n for n in range(MOST_LAG + 1) if self._empty([*held, f"{ahead} > {n}"])), None)

    def _empty(self, constraints: Sequence[str]) -> bool:
        return bool((self.conflicts & self._set(constraints)).is_empty())

    def _set(self, constraints: Iterable[str]) -> Any:
        n = len(self.positions)
        tuple_ = ", ".join([f"i{k}" for k in range(n)] + [f"r{k}" for k in range(n)])
        text = " and ".join(f"({x})" for x in constraints) or "true"
        return self.isl.Set.read_from_str(self.conflicts.get_ctx(), f"{{ [{tuple_}] : {text} }}")


def relation(pair: Pair, nest: Nest) -> Relation | None:
    """The conflicts of a pair, exactly where subscripts are quasi-affine; None without islpy.

    Raises the ``Error`` of islpy when it costs too much.  A subscript that is no arithmetic may be
    any number.
    """
    isl = isl_or_none()
    if isl is None:
        return None
    facts, _ = context(nest)
    loops = nest.indices
    positions = {name: k for k, name in enumerate(loops)}
    inner = [name for name, _ in pair.inner]
    indices = frozenset(loops) | {name + PRIME for name in loops} | frozenset(inner)
    dims = {name: f"i{k}" for name, k in positions.items()}
    dims |= {name + PRIME: f"r{k}" for name, k in positions.items()}
    dims |= {name: f"k{k}" for k, name in enumerate(inner)}
    for name, extent in pair.inner:
        try:
            facts = facts.within({name: (Affine((), 1), affine(extent, frozenset(), facts))})
        except NotAffine:
            facts = facts.within({name: (Affine((), 1), None)})
    text = _Text(facts, indices, dims=dims)
    constraints = text.constraints
    for name, extent in nest.loops:
        last = text.value(extent)
        constraints += [f"1 <= {dims[name]} <= {last}", f"1 <= {dims[name + PRIME]} <= {last}"]
    for x, y in nest.equal:
        constraints.append(f"{text.value(x)} = {text.value(y)}")
    for fact in nest.facts.natural:
        constraints.append(f"{text.form(fact)} >= 0")
    for name, extent in pair.inner:
        constraints.append(f"1 <= {dims[name]}")
        _try(text, lambda e=extent, n=name: f"{dims[n]} <= {text.value(e)}")
    for test, holds in pair.tests:
        _compare(text, primed(test, loops), holds)
    for x, y in zip(pair.written, pair.read, strict=True):
        if x == y and len(names(x) & set(loops)) == 1:
            (index,) = names(x) & set(loops)
            constraints.append(f"{dims[index]} = {dims[index + PRIME]}")
            continue
        _try(text, lambda x=x, y=y: f"{text.value(x)} = {text.value(primed(y, loops))}")
    names_ = [f"i{k}" for k in range(len(loops))] + [f"r{k}" for k in range(len(loops))]
    parameters = ", ".join(text.parameters.values())
    bound = [*dict.fromkeys([dims[n] for n in inner]), *text.locals]
    body = " and ".join(f"({x})" for x in constraints) or "true"
    exists = f"exists {', '.join(bound)} : " if bound else ""
    context_ = isl.Context()
    context_.set_max_operations(MOST_OPERATIONS)
    found = isl.Set.read_from_str(context_, f"[{parameters}] -> {{ [{', '.join(names_)}] : {exists}{body} }}")
    relevant = frozenset(loops) if pair.when is None else pair.when
    return Relation(isl, found, positions, relevant, bool(found.is_empty()))


def _try(text: _Text, make: Any) -> None:
    """A constraint where there is one; what is no arithmetic constrains nothing."""
    made = len(text.constraints)
    try:
        text.constraints.append(make())
    except NotAffine:
        del text.constraints[made:]


def _compare(text: _Text, test: Expr, holds: bool) -> None:
    match test:
        case Op("<=" | ">=" | "<" | ">" | "==" as op, (x, y)):
            sign = "=" if op == "==" else op
            negation = "" if holds else "not "
            _try(text, lambda: f"{negation}({text.value(x)} {sign} {text.value(y)})")
        case _:
            return
