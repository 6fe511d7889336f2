"""A scope made of tables, and an assignment with the state of the program before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from notation import printed
from oracle import Bounded
from test_oracle import TYPES

from fortrans.intrinsics import INTRINSICS
from fortrans.intrinsics.elemental import ELEMENTAL
from fortrans.ir.arrays import Section, Triplet, base_name
from fortrans.ir.expr import ONE, Expr, constant, integer, substitute
from fortrans.ir.sites import Assignment
from fortrans.ir.symbols import DerivedType, Intrinsic, Meaning, Symbol, Unresolved
from fortrans.ir.written import as_source

UNIT = "subroutine s"
INTRINSIC_NAMES = (
    INTRINSICS.keys()
    | ELEMENTAL.keys()
    | set("allocated huge kind lbound len repeat size ubound real int max min merge transfer".split())
)


@dataclass
class TestScope:
    """The ``Scope`` protocol over tables."""

    __test__ = False
    meanings: dict[str, Meaning] = field(default_factory=dict)
    types: dict[str, DerivedType] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    unit: str = UNIT
    pure: bool = False

    def lookup(self, name: str) -> Meaning:
        name = name.lower()
        if name in self.meanings:
            return self.meanings[name]
        return Intrinsic(name) if name in INTRINSIC_NAMES else Unresolved(name, "it is not declared")

    def derived(self, name: str) -> DerivedType | None:
        return self.types.get(name)

    def derived_of(self, symbol: Symbol) -> DerivedType | None:
        return self.types.get(symbol.type.derived or "")

    def constant(self, expr: Expr) -> int | None:
        return constant(substitute(expr, {name: integer(n) for name, n in self.constants.items()}))

    def defined_assignment(self) -> bool:
        return False

    def defined_operators(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True)
class Held:
    """An array as the statement may name it: its designator, and its bounds as they may be written."""

    base: Expr
    data: Bounded
    lower: tuple[Expr, ...]
    extent: tuple[Expr, ...]
    type: str

    def whole(self) -> Section:
        axes = tuple(Triplet(low, ONE, n, full=True) for low, n in zip(self.lower, self.extent))
        return Section(self.base, axes, TYPES[self.type], whole=True)

    @property
    def root(self) -> str:
        return base_name(self.base)


@dataclass(repr=False)
class Drawn:
    """An assignment and the state of the program before it."""

    site: Assignment
    env: dict[str, Any]
    target: Held | None
    scalar: str = ""
    shared: frozenset[str] = frozenset()
    locals: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        left = self.site.lhs
        lines = [f"{capture.name} = {printed(capture.value)}" for capture in self.site.captures]
        lines.append(f"{printed(as_source(left))} = {printed(as_source(self.site.rhs))}")
        for name, data in self.env.items():
            data = data["u"] if isinstance(data, dict) else data
            shown = f"{data.data.tolist()} from {data.lower}" if isinstance(data, Bounded) else repr(data)
            meaning = self.site.scope.lookup(name)
            attributes = sorted(meaning.attributes) if isinstance(meaning, Symbol) else []
            lines.append(f"  {name}: {shown[:200]} {' '.join(attributes)}")
        how = "  may reallocate" if self.site.reallocates else ""
        return "\n" + "\n".join([*lines, how])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def types(self) -> Mapping[str, str]:
        """Types of what can be assigned as a whole."""
        return {self.target.root: self.target.type} if self.target else {}
