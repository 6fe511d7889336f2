"""Program units, constructs and executable statements: what encloses what.

Read from statement keywords alone (F2018 clauses 5, 11, 14, 15); nothing is parsed by fparser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fortrans.frontend.lines import Statement
from fortrans.ir.sites import Place
from fortrans.source import Source, Span


@dataclass(slots=True, eq=False)
class Unit:
    """A program unit, subprogram, interface body, derived type, or scoping construct.

    Filled by ``read`` and not changed after.  ``kind``: program, module, submodule, block data,
    subroutine, function, module procedure (a separate body), interface, interface body, type,
    enum, block, associate.  ``name`` is lower case, "" where there is none (a main program
    without PROGRAM, a bare INTERFACE); an interface's is its generic spec (``operator(+)``).
    ``procedure`` tells what an interface body is.  ``prefix`` are the words before FUNCTION or
    SUBROUTINE, or ``abstract``; ``ancestor`` is a submodule's parent (``m`` or ``m:sub``).
    ``specification`` are its specification statements in order, INCLUDE lines, ``#include`` lines
    and unknown statements among them.  ``contains`` is its CONTAINS statement.  ``block_labels``
    end its labelled DOs.  ``broken`` says why its structure is unsure (its statements must not be
    touched), as a clause.
    """

    kind: str
    name: str
    opening: Statement | None
    parent: Unit | None = None
    procedure: str | None = None
    prefix: tuple[str, ...] = ()
    ancestor: str = ""
    dummies: tuple[str, ...] = ()
    result: str | None = None
    specification: list[Statement] = field(default_factory=list)
    children: list[Unit] = field(default_factory=list)
    contains: Statement | None = None
    closing: Statement | None = None
    block_labels: set[str] = field(default_factory=set)
    broken: str | None = None

    @property
    def program_unit(self) -> Unit:
        """The innermost unit that is no construct, type or interface: where statements belong."""
        unit = self
        while unit.kind in _WITHIN and unit.parent is not None:
            unit = unit.parent
        return unit

    def walk(self) -> Iterator[Unit]:
        """The unit and all units in it, in source order."""
        yield self
        for child in self.children:
            yield from child.walk()


_WITHIN = frozenset({"block", "associate", "type", "enum", "interface"})


@dataclass(frozen=True, slots=True)
class Construct:
    """An enclosing construct.

    ``kind``: if, do, do while, do concurrent, where, forall, select case, select type,
    select rank, associate, block, critical, team.  ``key`` is the same for all statements of one
    construct.  ``guard`` is the last ELSE, CASE, TYPE IS, ... before the statement.
    """

    kind: str
    name: str | None
    opening: Statement
    key: int
    guard: Statement | None = None


@dataclass(frozen=True, slots=True)
class Executable:
    """An executable statement with all that encloses it.

    ``kind`` is ``assignment``, ``pointer assignment``, ``unknown`` (nothing the tool knows),
    ``include``, ``guard``, a construct's opening (``if then``, ``do``, ...) or an action's
    keyword.  Of a one-line IF, WHERE or FORALL, ``statement.text`` is the action's (the innermost
    one's) and ``condition``, ``where`` and ``forall`` the texts in the parentheses.  ``region``
    is the innermost directive region (``omp parallel do``).  ``preprocessed``: under ``#if``, cut
    by a preprocessor line, or naming a macro of the file.
    """

    statement: Statement
    kind: str
    unit: Unit
    constructs: tuple[Construct, ...] = ()
    condition: str | None = None
    where: str | None = None
    forall: str | None = None
    region: str | None = None
    preprocessed: bool = False
    ordinal: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A file, read.

    ``units`` are the outermost ones.  ``conditional`` are ordinals of statements that depend on
    the preprocessor.  ``macros`` are the names the file defines.  ``extents`` gives the lines of
    each closed construct by its key.
    """

    source: Source
    lines: tuple[str, ...]
    statements: tuple[Statement, ...]
    units: tuple[Unit, ...]
    conditional: frozenset[int]
    macros: frozenset[str]
    extents: Mapping[int, Span]
    found: tuple[Executable, ...]

    def executables(self) -> Iterator[Executable]:
        """All executable statements in order, END statements left out."""
        return iter(self.found)

    def walk(self) -> Iterator[Unit]:
        """All units, outer before inner, in source order."""
        for unit in self.units:
            yield from unit.walk()

    def place(self, executable: Executable) -> Place:
        """What must survive around ``executable`` when it is rewritten."""
        own = executable.statement
        before: list[str] = []
        after: list[str] = []
        if own.siblings > 1:
            first = own.ordinal - own.position
            for sibling in self.statements[first : first + own.siblings]:
                if sibling.ordinal != own.ordinal:
                    label = f"{sibling.label} " if sibling.label else ""
                    (before if sibling.ordinal < own.ordinal else after).append(label + sibling.text)
        return Place(
            span=own.span,
            indent=own.indent,
            original=self.lines[own.span.first - 1 : own.span.last],
            statement=own.text,
            label=own.label,
            comments=own.comments,
            before=tuple(before),
            after=tuple(after),
            condition=executable.condition,
        )


def place(program: Program, executable: Executable) -> Place:
    """See ``Program.place``."""
    return program.place(executable)


def read(source: Source) -> Program:
    """Read a free-form file.

    Raises InputError for fixed form, an unreadable line, or units and constructs that do not
    nest, unless a preprocessor line may be why: that unit is ``broken`` then.
    """
    from fortrans.frontend.structure import build

    return build(source)
