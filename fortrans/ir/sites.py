"""What the source asks for."""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.ir.arrays import Array, Scalar, Section
from fortrans.ir.expr import Expr
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
    the value as a rank-0 array expression (a reduction), to be composed in its turn.
    """

    name: str
    type: Type
    value: Expr
    rank: int = 0
    array: Array | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """``lhs = rhs``; ``lhs`` is a Scalar when a scalar is assigned (a reduction).

    ``reallocates``: ``lhs`` is the whole of an allocatable array and ``rhs`` an array, so that
    the assignment may (re)allocate it (10.2.1.3).
    """

    place: Place
    scope: Scope
    lhs: Section | Scalar
    rhs: Array
    captures: tuple[Capture, ...] = ()
    reallocates: bool = False


Site = Assignment
