"""What the source asks for."""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.ir.arrays import Array, Scalar, Section
from fortrans.ir.expr import Expr, Keyword
from fortrans.ir.symbols import Scope, Type
from fortrans.source import Span


@dataclass(frozen=True, slots=True)
class Place:
    """What must survive around a rewritten statement.

    ``original`` are the physical lines of the span, with line ends.  ``statement`` is the
    joined statement (no label, no comments).  ``before`` and ``after`` are sibling statements
    joined to it by ``;``, as text.  ``condition`` is the text between the parentheses when the
    statement is the action of a one-line IF.  ``comments`` are the comments in the span
    (trailing or between continuation lines), with their ``!``.
    """

    span: Span
    indent: str
    original: tuple[str, ...]
    statement: str
    label: str | None = None
    comments: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """A value evaluated once, before the nest: ``name = value``.

    ``rank`` is 0 for a scalar; the result of a user's array function has its own.  ``array`` is
    the value as an array expression (a reduction, a PACK), to be composed in its turn; ``count`` is
    the local that tells how many elements a PACK has.
    """

    name: str
    type: Type
    value: Expr
    rank: int = 0
    array: Array | None = None
    count: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """An object of an ALLOCATE statement: ``base``, with ``bounds`` where they are given.

    ``lower`` are its lower bounds once it is allocated; () for a scalar.
    """

    base: Expr
    bounds: tuple[Expr, ...]
    lower: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Allocation:
    """``allocate (rooms, source=..., keywords)``; ``keywords`` are STAT= and ERRMSG=."""

    rooms: tuple[Room, ...]
    keywords: tuple[Keyword, ...] = ()

    @property
    def status(self) -> Expr | None:
        """The STAT= variable."""
        return next((keyword.value for keyword in self.keywords if keyword.name == "stat"), None)


@dataclass(frozen=True, slots=True)
class Assignment:
    """``lhs = rhs``; ``lhs`` is a Scalar when a scalar is assigned (a reduction).

    ``reallocates``: ``lhs`` is the whole of an allocatable array and ``rhs`` an array, so that
    the assignment may (re)allocate it (10.2.1.3).  ``answered`` are the inquiry functions that the
    extents of an expression answered, which is not evaluated.  With ``allocation`` the statement
    is an ALLOCATE statement whose SOURCE= is ``rhs``, and ``lhs`` is its first object.  ``length``
    is the length that characters of deferred length take from ``rhs``.
    """

    place: Place
    scope: Scope
    lhs: Section | Scalar
    rhs: Array
    captures: tuple[Capture, ...] = ()
    reallocates: bool = False
    answered: tuple[str, ...] = ()
    allocation: Allocation | None = None
    length: Expr | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a condition with array work, as the assignment of it to a logical local.

    ``source`` is the part as the user wrote it.
    """

    source: Expr
    site: Assignment


@dataclass(frozen=True, slots=True)
class Decision:
    """``left .and. right`` or ``left .or. right``: ``right`` is evaluated only where ``left`` decides not.

    The standard leaves that open (10.1.7); programs guard a reference so (``n > 0 .and. any(...)``).
    """

    op: str
    left: Test
    right: Test


Test = Leaf | Decision | Expr
"""A condition; an ``Expr`` is a part without array work."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of an IF statement, an IF construct or a DO WHILE, evaluated where it stands.

    ``target`` is the logical local that the leaves assign.  ``encloses``: what the test reads must
    live until the construct ends.
    """

    place: Place
    scope: Scope
    test: Test
    target: Scalar
    encloses: bool = False

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The parts with array work, in the order of their evaluation."""
        return _leaves(self.test)


def _leaves(test: Test) -> tuple[Leaf, ...]:
    match test:
        case Leaf():
            return (test,)
        case Decision(_, left, right):
            return _leaves(left) + _leaves(right)
        case _:
            return ()


Site = Assignment | Condition
