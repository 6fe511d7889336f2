"""What a name means: types, symbols, and the answers a scope gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal as OneOf
from typing import Protocol

from fortrans.ir.expr import Expr


@dataclass(frozen=True, slots=True)
class Type:
    """A Fortran type.

    ``name`` is integer, real, complex, logical, character, ``type`` or ``class``; ``derived`` the
    type's name (lower case) for the last two.  ``kind`` is the kind number where it could be
    computed (gfortran's and flang's numbers: bytes of one part), a lower-case kind expression
    text where it could not (equal texts of one scope are equal kinds), None when unknown (two
    different texts met).  ``spelling`` is the type-spec as it may be printed in a declaration *at
    the site*: ``real(dp)``, ``integer``, ``real(kind(a))``; empty when it cannot be printed
    there.  ``length`` is a character's length; None for others and where it is deferred/assumed.
    """

    name: str
    kind: int | str | None
    spelling: str
    length: Expr | None = None
    derived: str | None = None


def bytes_of(type: Type) -> int | None:
    """The bytes of an element where its kind tells."""
    if isinstance(type.kind, int) and type.name in ("integer", "real", "logical"):
        return type.kind
    if isinstance(type.kind, int) and type.name == "complex":
        return 2 * type.kind
    return None


INTEGER = Type("integer", 4, "integer")
LOGICAL = Type("logical", 4, "logical")
REAL = Type("real", 4, "real")


class Intent(Enum):
    IN = "in"
    OUT = "out"
    INOUT = "inout"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension's declared bounds.

    explicit ``l:u`` (both given), assumed ``l:`` (assumed-shape, ``lower`` given), deferred ``:``
    (allocatable or pointer, both None), ``assumed-size`` ``l:*`` (``lower`` given), ``implied``
    (named constant ``l:*``, ``lower`` given).
    """

    form: OneOf["explicit", "assumed", "deferred", "assumed-size", "implied"]
    lower: Expr | None = None
    upper: Expr | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A data object: variable, named constant, dummy argument, function result, component.

    ``attributes``, lower case: allocatable pointer target parameter optional save volatile
    asynchronous contiguous value protected dummy result equivalence common associate host use
    component threadprivate(absent unless known) codimension namelist ambiguous; implicit: nothing
    but a reference declares it.
    ``origin`` names the unit that declares it (``module m``, ``subroutine s``; lower case);
    ``value`` is a named constant's initialisation.  ``remote`` is the name it has there (USE
    rename), else equal to ``name``.  ``stable`` says of each dimension whether its declared bounds
    may be re-evaluated now (constants, named constants, never-redefined INTENT(IN) dummies).
    """

    name: str
    type: Type
    dims: tuple[Dimension, ...] = ()
    attributes: frozenset[str] = frozenset()
    intent: Intent | None = None
    origin: str = ""
    value: Expr | None = None
    remote: str = ""
    stable: tuple[bool, ...] = ()
    assumed_rank: bool = False

    @property
    def rank(self) -> int:
        return len(self.dims)


def described(symbol: Symbol) -> bool:
    """Whether an array is reached through a descriptor, which may tell of strides."""
    return symbol.assumed_rank or any(dim.form in ("assumed", "deferred") for dim in symbol.dims)


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure, internal, module, external with interface, dummy, or statement function.

    ``form`` is where it comes from.  ``result`` None: a subroutine, or unknown (external without
    interface).  ``host`` is the unit whose variables it sees (``module m``, ``program p``).
    """

    name: str
    form: OneOf["internal", "module", "external", "dummy", "statement", "interface", "type-bound"]
    result: Symbol | None = None
    dummies: tuple[Symbol | None, ...] = ()
    pure: bool = False
    elemental: bool = False
    host: str = ""


@dataclass(frozen=True, slots=True)
class Generic:
    """A generic name; ``specifics`` are the procedures that could be found (None: not all known)."""

    name: str
    specifics: tuple[Procedure, ...] | None = None
    extends_intrinsic: bool = False


@dataclass(frozen=True, slots=True)
class DerivedType:
    """A derived type.  ``components`` include inherited ones (and the parent, by its name)."""

    name: str
    components: Mapping[str, Symbol] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    assignment: bool = False
    finalizer: bool = False
    parameterized: bool = False


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """The intrinsic procedure of that name: nothing in scope hides it."""

    name: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """The name cannot be decided; ``why`` is a clause for a remark (no capital, no period)."""

    name: str
    why: str


def only_derived(specifics: tuple[Procedure, ...]) -> bool:
    """Whether each of the procedures wants a first argument of derived type."""
    return all(
        p.dummies and p.dummies[0] is not None and p.dummies[0].type.name in ("type", "class")
        for p in specifics
    )


Meaning = Symbol | Procedure | Generic | DerivedType | Intrinsic | Unresolved


class Scope(Protocol):
    """What ``frontend.resolve`` gives for a scoping unit (or BLOCK, ASSOCIATE) at a statement."""

    @property
    def unit(self) -> str:
        """The innermost program unit or subprogram: ``subroutine s``, ``program p``, ``module m``."""

    @property
    def pure(self) -> bool:
        """Whether that unit is PURE (or ELEMENTAL without IMPURE)."""

    def lookup(self, name: str) -> Meaning:
        """What ``name`` (any case) means here: local, host, USE, implicit, intrinsic, or Unresolved."""

    def derived(self, name: str) -> DerivedType | None:
        """The derived type of that name as seen here."""

    def derived_of(self, symbol: Symbol) -> DerivedType | None:
        """The derived type of a symbol, looked up where the symbol was declared."""

    def constant(self, expr: Expr) -> int | None:
        """The integer value of a constant expression (named constants, KIND, SELECTED_*_KIND ...)."""

    def defined_assignment(self) -> bool:
        """Whether any user-defined assignment (or an unseen module that may bring one) is visible."""

    def defined_operators(self) -> frozenset[str]:
        """Operators that some visible interface defines or extends (``+``, ``.cross.``), lower case."""
