"""What a transform may know of a whole procedure: its dummies, its steps, and where text may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from fortrans.ir.symbols import DerivedType, Symbol
from fortrans.source import Span

Role = OneOf["element", "section", "whole", "inquiry"]


@dataclass(frozen=True, slots=True)
class Loop:
    """A DO around a step.

    ``variables`` are its indices (none for DO WHILE and endless loops); ``trips`` are its
    iterations: a number, or its limits as texts that may be evaluated ahead of time, or None where
    nothing is known; ``reads`` are the names in it; ``assigned`` are the names that
    its body may define; ``whole`` is the array, its dimension ("" when left out), the index, and
    ``size`` or ``bounds``, when it runs from 1 to SIZE or from LBOUND to UBOUND of an array.
    """

    key: int
    variables: frozenset[str]
    trips: int | tuple[str, str] | None = None
    reads: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    whole: tuple[str, str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a step: how it stands there.

    ``role``: one element, a section, the whole array, or only what an inquiry asks (SIZE, LBOUND).
    ``names`` are the names in its subscripts; ``function`` is the procedure whose argument it is;
    ``defined``: it is the variable of an assignment.
    """

    role: Role
    names: frozenset[str] = frozenset()
    function: str = ""
    defined: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """An executable statement.

    ``loops`` outermost first; ``branches`` are the constructs outside all loops that choose,
    outermost first, each with its key and the ordinal of the guard that was taken (-1: the first
    branch).  ``leaves``: it may end the procedure or jump.  ``repeatable``: it can be executed a
    second time, in a copy of the procedure, and nobody could tell.  ``free``: lines may be inserted
    before it, at ``line``, above its directives.  ``simple``: nothing but counted loops stands
    around it.  ``touched`` are the arrays that it may define.
    """

    span: Span
    kind: str
    text: str
    indent: str
    loops: tuple[Loop, ...] = ()
    branches: tuple[tuple[int, int], ...] = ()
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    conditional: bool = False
    leaves: bool = False
    repeatable: bool = False
    free: bool = True
    simple: bool = False
    touched: frozenset[str] = frozenset()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Dummy:
    """A dummy argument; ``bounds`` are the texts of its array-spec, ``span`` its declaration.

    ``asked``: a directive asks for it (True), or against it (False).
    """

    symbol: Symbol
    span: Span
    bounds: tuple[str, ...] = ()
    derived: DerivedType | None = None
    asked: bool | None = None


@dataclass(frozen=True, slots=True)
class Procedure:
    """A subroutine or function, for transforms of whole procedures.

    ``home``: what it is contained in; ``contains``: it has internal procedures.  ``wrong`` says why
    it may not be copied, as a clause.  ``directives`` are the OpenMP and OpenACC directives in it,
    ``texts`` all its statements, lower case, strings emptied, those of internal procedures too.
    ``alternate`` is the number of its alternate returns; ``settled`` are names that may be
    evaluated at any time.
    """

    name: str
    kind: OneOf["subroutine", "function"]
    home: OneOf["external", "module", "submodule", "internal"]
    span: Span
    dummies: tuple[Dummy, ...]
    steps: tuple[Step, ...]
    pure: bool = False
    contains: bool = False
    wrong: str | None = None
    directives: tuple[str, ...] = ()
    asynchronous: bool = False
    result: Symbol | None = None
    alternate: int = 0
    texts: tuple[str, ...] = ()
    settled: frozenset[str] = frozenset()
