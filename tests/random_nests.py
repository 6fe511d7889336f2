"""Random nests of loops: as Fortran text, and run step by step by an evaluator of their own.

The evaluator knows Fortran's integer arithmetic only (10.1.5.2.2, 16.9.134, 16.9.136); what it says
is compared with gfortran in its turn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Tree = tuple[Any, ...]


def truncated(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def value(tree: Tree, names: dict[str, int]) -> int:
    match tree:
        case ("name", name):
            return names[name]
        case ("int", number):
            return int(number)
        case ("+", x, y):
            return value(x, names) + value(y, names)
        case ("*", x, y):
            return value(x, names) * value(y, names)
        case ("/", x, y):
            return truncated(value(x, names), value(y, names))
        case ("mod", x, y):
            a, p = value(x, names), value(y, names)
            return a - truncated(a, p) * p
        case ("modulo", x, y):
            a, p = value(x, names), value(y, names)
            return a - (a // p) * p
        case ("min", x, y):
            return min(value(x, names), value(y, names))
        case ("max", x, y):
            return max(value(x, names), value(y, names))
    raise ValueError(tree)


def text(tree: Tree) -> str:
    match tree:
        case ("name", name):
            return str(name)
        case ("int", number):
            return str(number) if number >= 0 else f"({number})"
        case ("+", x, y):
            return f"{text(x)} + {text(y) if y[0] != '+' else f'({text(y)})'}"
        case ("*", x, y):
            return f"{text(x)}*{text(y)}"
        case ("/", x, y):
            return f"({text(x)})/{text(y)}"
        case (str() as function, x, y):
            return f"{function}({text(x)}, {text(y)})"
    raise ValueError(tree)


def holds(test: Tree, names: dict[str, int]) -> bool:
    match test:
        case (".and.", x, y):
            return holds(x, names) and holds(y, names)
        case (".or.", x, y):
            return holds(x, names) or holds(y, names)
        case (".not.", x):
            return not holds(x, names)
        case (op, x, y):
            a, b = value(x, names), value(y, names)
            return {"==": a == b, "/=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
    raise ValueError(test)


def written(test: Tree) -> str:
    match test:
        case (".and." | ".or." as op, x, y):
            return f"({written(x)} {op} {written(y)})"
        case (".not.", x):
            return f".not. ({written(x)})"
        case (op, x, y):
            return f"{text(x)} {op} {text(y)}"
    raise ValueError(test)


@dataclass(frozen=True)
class Assign:
    number: int
    write: tuple[Tree, Tree]
    read: tuple[Tree, Tree]


@dataclass(frozen=True)
class If:
    test: Tree
    then: tuple[Any, ...]
    other: tuple[Any, ...]


@dataclass(frozen=True)
class Do:
    index: str
    first: Tree
    last: Tree
    step: int
    body: tuple[Any, ...]


Step = tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""A statement executed: its number, the indices around it, the element it writes, the one it reads."""


def run(nodes: tuple[Any, ...], names: dict[str, int], around: tuple[int, ...] = ()) -> Iterator[Step]:
    for node in nodes:
        match node:
            case Assign(number, write, read):
                yield number, around, tuple(value(x, names) for x in write), tuple(
                    value(x, names) for x in read
                )
            case If(test, then, other):
                yield from run(then if holds(test, names) else other, names, around)
            case Do(index, first, last, step, body):
                start, end = value(first, names), value(last, names)
                for at in range(start, end + (1 if step > 0 else -1), step):
                    yield from run(body, {**names, index: at}, (*around, at))


def lines(nodes: tuple[Any, ...], level: int, trace: bool = False) -> Iterator[str]:
    blank = "  " * level
    for node in nodes:
        match node:
            case Assign(number, write, read):
                left, right = (", ".join(map(text, x)) for x in (write, read))
                if trace:
                    yield f"{blank}print '(*(i0, 1x))', {number}, {left}, {right}"
                else:
                    yield f"{blank}a{number}({left}) = b{number}({right})"
            case If(test, then, other):
                yield f"{blank}if ({written(test)}) then"
                yield from lines(then, level + 1, trace)
                if other:
                    yield f"{blank}else"
                    yield from lines(other, level + 1, trace)
                yield f"{blank}end if"
            case Do(index, first, last, step, body):
                stride = "" if step == 1 else f", {step}"
                yield f"{blank}do {index} = {text(first)}, {text(last)}{stride}"
                yield from lines(body, level + 1, trace)
                yield f"{blank}end do"


class Draw:
    """Draws one nest; ``count`` are its statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def linear(self, names: list[str]) -> Tree:
        tree: Tree = ("int", self.random.randint(-4, 4))
        for name in names:
            weight = self.random.choice([0, 0, 1, 1, 1, 2, -1])
            if weight:
                term: Tree = ("name", name)
                tree = ("+", tree, term if weight == 1 else ("*", ("int", weight), term))
        return tree

    def index(self, names: list[str], depth: int = 1) -> Tree:
        tree = self.linear(names)
        kind = self.random.choice(["plain", "plain", "/", "mod", "modulo", "min", "max"])
        if not depth or kind == "plain":
            return tree
        inner = self.index(names, depth - 1)
        if kind in ("min", "max"):
            return (kind, tree, inner)
        divisor = self.random.choice([2, 3, 4, 5, -2, -3]) if kind != "/" else self.random.choice([2, 3, -2])
        return ("+", tree, (kind, inner, ("int", divisor)))

    def test(self, names: list[str], depth: int = 1) -> Tree:
        if depth and self.random.random() < 0.3:
            op = self.random.choice([".and.", ".or.", ".not."])
            inner = self.test(names, depth - 1)
            return (op, inner) if op == ".not." else (op, inner, self.test(names, 0))
        return (self.random.choice(["==", "/=", "<", "<=", ">", ">="]), self.linear(names), self.index(names))

    def nodes(self, names: list[str], depth: int) -> tuple[Any, ...]:
        made: list[Any] = []
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.random()
            if depth and kind < 0.45:
                made.append(self.loop(names, depth - 1))
            elif 0.45 <= kind < 0.6:
                other = self.nodes(names, 0) if self.random.random() < 0.5 else ()
                made.append(If(self.test(names), self.nodes(names, 0), other))
            else:
                self.count += 1
                write, read = ((self.index(names), self.linear(names)) for _ in range(2))
                made.append(Assign(self.count, write, read))
        return tuple(made)

    def loop(self, names: list[str], depth: int) -> Do:
        index = "ijk"[sum(name in "ijk" for name in names)]
        step = self.random.choice([1, 1, 1, 2, 3, -1, -2])
        low, high = self.index(names, self.random.randint(0, 1)), ("+", self.linear(names), ("name", "n"))
        first, last = (low, high) if step > 0 else (high, low)
        return Do(index, first, last, step, self.nodes([*names, index], depth))


def draw(seed: int) -> tuple[Do, int]:
    """A nest with parameters n and m, and the number of its statements."""
    made = Draw(seed)
    return made.loop(["n", "m"], 2), made.count


def subroutine(nest: Do, count: int) -> str:
    """The nest in a subroutine of its own."""
    names = ", ".join(f"{letter}{number + 1}" for number in range(count) for letter in "ab")
    arrays = ", ".join(
        f"{letter}{number + 1}(-99:99, -99:99)" for number in range(count) for letter in "ab"
    )
    head = f"subroutine s(n, m, {names})\n  integer, intent(in) :: n, m\n  real :: {arrays}\n"
    return head + "  integer :: i, j, k\n" + "\n".join(lines((nest,), 1)) + "\nend subroutine s\n"
