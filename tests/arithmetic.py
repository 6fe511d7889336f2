"""Integer expressions: read from text, drawn at random, and evaluated by Fortran's rules, on their own."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping

from fortrans.ir.expr import Call, Expr, Literal, Name, Op, Ref, integer

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_INTRINSICS = frozenset({"mod", "modulo", "max", "min", "size"})


def read(text: str) -> Expr:
    """The expression that ``text`` is; names with arguments are arrays unless they are intrinsics."""

    def go(x: ast.AST) -> Expr:
        match x:
            case ast.Constant(value=value):
                return integer(value)
            case ast.Name(id=id):
                return Name(id)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Op("-", (go(operand),))
            case ast.BinOp(left=left, op=op, right=right):
                return Op(_OPERATORS[type(op)], (go(left), go(right)))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sign = {ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">", ast.Eq: "=="}[type(op)]
                return Op(sign, (go(left), go(right)))
            case ast.Call(func=ast.Name(id=id), args=args):
                inner = tuple(map(go, args))
                return Call(id, inner) if id in _INTRINSICS else Ref(Name(id), inner)
        raise TypeError(ast.dump(x))

    return go(ast.parse(text, mode="eval").body)


def truncated(x: int, y: int) -> int:
    """Integer division (10.1.5.2.2)."""
    return abs(x) // abs(y) * (1 if (x >= 0) == (y >= 0) else -1)


def value(expr: Expr, values: Mapping[str, int]) -> int:
    """The value of an expression; comparisons are 0 or 1, arrays some scattered numbers, none twice."""
    match expr:
        case Literal(text):
            return int(text)
        case Name(id):
            return values[id]
        case Op("-", (x,)):
            return -value(x, values)
        case Op("<=" | ">=" | "<" | ">" | "==" as op, (x, y)):
            a, b = value(x, values), value(y, values)
            return int({"<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b, "==": a == b}[op])
        case Op(op, (x, y)):
            a, b = value(x, values), value(y, values)
            return {"+": a + b, "-": a - b, "*": a * b, "/": truncated(a, b) if b else 0}[op]
        case Ref(Name(id), (x,)):
            return (value(x, values) * 7 + len(id)) % 31
        case Call("size", _):
            return values["n"]
        case Call(name, (x, y)):
            a, b = value(x, values), value(y, values)
            match name:
                case "mod":
                    return a - truncated(a, b) * b
                case "modulo":
                    return a % b
                case "max":
                    return max(a, b)
                case "min":
                    return min(a, b)
    raise TypeError(expr)


def drawn(rng: random.Random, depth: int, atoms: tuple[str, ...]) -> Expr:
    """A random expression of names and small constants."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*map(Name, atoms), integer(rng.randint(-4, 4))])
    kind = rng.choice("++--*//%%mx")
    x = drawn(rng, depth - 1, atoms)
    if kind in "+-":
        return Op(kind, (x, drawn(rng, depth - 1, atoms)))
    constant = integer(rng.choice([-3, -2, 2, 3, 4]))
    match kind:
        case "*":
            return Op("*", (x, rng.choice([constant, drawn(rng, 1, atoms)])))
        case "/":
            return Op("/", (x, constant))
        case "%":
            return Call(rng.choice(["mod", "modulo"]), (x, constant))
        case _:
            return Call("max" if kind == "x" else "min", (x, drawn(rng, depth - 1, atoms)))
