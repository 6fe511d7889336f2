"""The scope at a statement of a small program, for tests of the front end."""

from __future__ import annotations

from fortrans.frontend.modules import index
from fortrans.frontend.resolve import View, resolve
from fortrans.frontend.units import Program, read
from fortrans.ir.symbols import Symbol
from fortrans.source import Source


def program(text: str, path: str = "a.f90") -> Program:
    """A source text, read."""
    return read(Source(path, text))


def scope(text: str, at: str = "x = 1", *others: str, assume_intrinsics: bool = False) -> View:
    """The scope at the first statement ``at`` of ``text``; ``others`` are more files."""
    main = program(text)
    modules = index([main, *(program(other, f"b{n}.f90") for n, other in enumerate(others))])
    scopes = resolve(main, modules, assume_intrinsics)
    return scopes.at(next(e for e in main.executables() if e.statement.text == at))


def sub(declarations: str, *others: str, dummies: str = "", **options: bool) -> View:
    """The scope inside a subroutine with these declarations."""
    return scope(
        f"subroutine s({dummies})\n{declarations}\nx = 1\nend subroutine\n", "x = 1", *others, **options
    )


def symbol(view: View, name: str) -> Symbol:
    """The symbol of that name; fails when it is none."""
    found = view.lookup(name)
    assert isinstance(found, Symbol), found
    return found
