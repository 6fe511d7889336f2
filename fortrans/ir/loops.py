"""What a user's loops do: a tree of loops, branches and assignments with the data each touches.

Expressions in affine position (bounds, subscripts, tests) hold integer literals, indices,
parameters and the operators ``+ - * /``, MOD, MODULO, MIN and MAX only: named constants are their
values, and scalars whose definition is known are replaced by it.  None stands for an expression
that is anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fortrans.ir.expr import Expr
from fortrans.ir.symbols import Scope
from fortrans.source import Span


@dataclass(frozen=True, slots=True)
class Access:
    """One reference to a data object.

    ``array`` names the object, subscripts apart (``g%u``); two accesses are to one object iff
    these are equal.  ``subscripts`` are those of all its parts; a ``Range`` is a section, None
    any value; () a scalar.  ``designator`` is what the user wrote, for remarks and for questions
    of aliasing in the statement's scope.  ``arithmetic``: a scalar in index arithmetic, so that a
    nest that does not define it has it as a parameter.  ``part``: a substring of it only.
    """

    array: str
    subscripts: tuple[Expr | None, ...]
    designator: Expr
    write: bool = False
    arithmetic: bool = False
    part: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """``name = first, last, step``; ``step`` is 0 where it is not a constant that is known."""

    name: str
    first: Expr | None
    last: Expr | None
    step: int = 1


@dataclass(frozen=True, slots=True)
class Locality:
    """The variables of a DO CONCURRENT's locality specs, or of a directive's clauses (lower case).

    ``own``: LOCAL, LOCAL_INIT, private: each iteration has its own.  ``shared``: named so.
    ``reduced``: REDUCE or reduction.  ``strict``: a variable that is not named is shared
    (OpenMP), instead of free to be each iteration's own (F2018 11.1.7.5).
    """

    own: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    reduced: frozenset[str] = frozenset()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """DO, or DO CONCURRENT with all indices of its header; ``directive`` is OpenMP's or ""."""

    indices: tuple[Index, ...]
    body: tuple[Node, ...]
    span: Span
    concurrent: bool = False
    locality: Locality = field(default_factory=Locality)
    directive: str = ""


@dataclass(frozen=True, slots=True)
class Arm:
    """A branch: taken where ``test`` holds and no earlier test did.

    ``test`` is None for ELSE; with ``known`` False it is a test that is not affine.
    """

    test: Expr | None
    body: tuple[Node, ...]
    known: bool = True


@dataclass(frozen=True, slots=True)
class Branch:
    """IF, the mask of a DO CONCURRENT, SELECT CASE."""

    arms: tuple[Arm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment, or with ``target`` None an evaluation (of bounds, tests) that defines nothing.

    ``target`` and ``value`` have known scalars replaced, for printing.  ``flaws`` say why it is not
    understood: clauses for a remark.  ``calls`` are the PURE functions of the user's it references,
    which may read what is not among ``accesses``.
    """

    target: Expr | None
    value: Expr
    accesses: tuple[Access, ...]
    span: Span
    scope: Scope = field(compare=False)
    flaws: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A BLOCK construct: ``names`` are the variables it declares, each execution's own."""

    names: frozenset[str]
    body: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    """CYCLE or EXIT, as written in lower case: what follows may not be executed."""

    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class Other:
    """A statement that is not read; ``why`` is a sentence for a remark, without period."""

    why: str
    span: Span


Node = Loop | Branch | Assign | Block | Jump | Other


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a parameter that is no variable stands for; it changes when ``root`` (``g%n``) does.

    A bound (``inquiry``) changes only when the array is allocated anew.  ``extent``: it is never
    negative.
    """

    value: Expr
    root: str
    inquiry: bool = False
    extent: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """The statements of a program unit, or those that a plan emits.

    ``parameters`` are those that are no variables, by name: ``size_a_1`` for ``size(a, 1)``.
    """

    unit: str
    nodes: tuple[Node, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
