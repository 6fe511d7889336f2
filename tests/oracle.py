"""What array expressions mean, twice: ``value`` with NumPy, ``evaluate`` element by element.

The two share nothing but the meaning of scalar operators.  Arrays hold Python objects, so that
integers do not overflow and an element that was never defined is seen when it is read.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as cartesian
from typing import Any

import numpy as np
from numpy_intrinsics import GREATEST, LEAST, TRANSFORMATIONAL, objects

from fortrans.intrinsics import INTRINSICS
from fortrans.ir.arrays import (
    Apply,
    Array,
    Constructor,
    Elemental,
    Fixed,
    Implied,
    Reference,
    Scalar,
    Section,
    Triplet,
    Vector,
)
from fortrans.ir.expr import (
    At,
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Literal,
    Locate,
    Name,
    Op,
    Range,
    Reduce,
    Ref,
    Select,
    Substring,
)

Env = Mapping[str, Any]


class Greatest(float):
    """HUGE of a real, whose negative is the least number there is, as the oracle's reductions have it."""

    def __neg__(self) -> float:
        return float(LEAST)


class Unset:
    """An element that was never defined: no operator takes it.  ``type`` is what it would be."""

    def __init__(self, type: str = "") -> None:
        self.type = type

    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()


@dataclass
class Bounded:
    """An array and its lower bounds."""

    data: np.ndarray
    lower: tuple[int, ...]
    type: str = "integer"

    @classmethod
    def of(cls, data: Any, lower: Sequence[int] | None = None, type: str = "integer") -> Bounded:
        array = objects(data)
        return cls(array, tuple(lower) if lower else (1,) * array.ndim, type)

    def position(self, subscripts: Sequence[int]) -> tuple[int, ...]:
        """Where an element lies; raises IndexError outside the bounds."""
        if len(subscripts) != self.data.ndim:
            raise IndexError(f"{len(subscripts)} subscripts for rank {self.data.ndim}")
        found = tuple(int(j) - low for j, low in zip(subscripts, self.lower))
        if any(not 0 <= p < n for p, n in zip(found, self.data.shape)):
            raise IndexError(f"subscripts {tuple(subscripts)} of {self.data.shape} from {self.lower}")
        return found


# ---- scalar operators and functions ------------------------------------------------


def _divide(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return x / y


def _modulo(x: Any, y: Any) -> Any:
    return x - y * math.floor(x / y) if isinstance(x, float) else x % y


def _defined(x: Any) -> Any:
    if isinstance(x, Unset):
        raise ValueError("an element is read that was never defined")
    return x


OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda x, y=None: x if y is None else x + y,
    "-": lambda x, y=None: -x if y is None else x - y,
    "*": operator.mul,
    "/": _divide,
    "**": operator.pow,
    "//": lambda x, y: x + y,
    "==": operator.eq,
    "/=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    ".and.": lambda x, y: x and y,
    ".or.": lambda x, y: x or y,
    ".not.": operator.not_,
    ".eqv.": operator.eq,
    ".neqv.": operator.ne,
    "()": lambda x: x,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "modulo": _modulo,
    "mod": lambda x, y: x - y * _divide(x, y) if isinstance(x, int) else math.fmod(x, y),
    "max": max,
    "min": min,
    "abs": abs,
    "sqrt": math.sqrt,
    "conjg": lambda x: x.conjugate(),
    "exp": math.exp,
    "int": lambda x, kind=4: int(x),
    "real": lambda x, kind=4: float(x),
    "logical": lambda x, kind=4: bool(x),
    "merge": lambda x, y, m: x if m else y,
    "repeat": lambda x, n: x * n,
    "not": operator.invert,
    "iand": operator.and_,
    "ior": operator.or_,
    "ieor": operator.xor,
}
STEPS: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any], Any]]] = {
    "sum": (lambda t: 0, operator.add),
    "product": (lambda t: 1, operator.mul),
    "maxval": (lambda t: LEAST, max),
    "minval": (lambda t: GREATEST, min),
    "all": (lambda t: True, lambda x, y: x and y),
    "any": (lambda t: False, lambda x, y: x or y),
    "parity": (lambda t: False, operator.ne),
    "count": (lambda t: 0, lambda x, y: x + bool(y)),
    "norm2": (lambda t: 0, lambda x, y: x + y * y),
    "iall": (lambda t: -1, operator.and_),
    "iany": (lambda t: 0, operator.or_),
    "iparity": (lambda t: 0, operator.xor),
}


def literal(text: str) -> Any:
    """The value of a literal constant."""
    if text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0])
    text = text.lower()
    if text.startswith("("):
        return complex(*(literal(part.strip()) for part in text[1:-1].split(",")))
    if text.startswith("."):
        word = text.split("_")[0]
        if word in (".true.", ".false."):
            return word == ".true."
    number = text.split("_")[0].replace("d", "e")
    return int(number) if number.lstrip("+-").isdigit() else float(number)


# ---- one element -------------------------------------------------------------------


def evaluate(expr: Expr, env: Env) -> Any:
    """The value of a scalar expression (of an array, where it names one): only what it reaches."""
    match expr:
        case Literal(text):
            return literal(text)
        case Name(id):
            return _defined(env[id])
        case Component(base, name):
            inner = evaluate(base, env)
            if isinstance(inner, np.ndarray):
                return _map(lambda x: x[name], inner)
            return inner[name]
        case Ref(base, subscripts):
            return _designated(evaluate(base, env), subscripts, env)
        case Substring(base, first, last):
            text = evaluate(base, env)
            low = 1 if first is None else evaluate(first, env)
            return text[low - 1 : len(text) if last is None else evaluate(last, env)]
        case Op(op, args):
            return _mapped(OPERATORS[op], [evaluate(x, env) for x in args])
        case Call(name, args):
            return _called(name, args, env)
        case Select(test, then, other):
            return evaluate(then if evaluate(test, env) else other, env)
        case Items(items, spec):
            return _listed([x for item in items for x in _list(item, env)], spec)
        case Reduce():
            return _reduced(expr, env)
        case Locate():
            return _located(expr, env)
        case At(_, _, body) if body is not None:
            return evaluate(body, env)
        case At(origin, at, None):
            where = tuple(evaluate(j, env) for j in at)
            whole = Bounded.of(value(origin, env))
            return whole.data[whole.position(where)]
        case _:
            raise TypeError(f"cannot evaluate {expr}")


def type_of(expr: Expr, env: Env) -> str:
    """The type of a designator, which need not be defined (nor within bounds)."""
    match expr:
        case Ref(base, _):
            return type_of(base, env)
        case Name(id) if isinstance(env[id], Unset):
            return str(env[id].type)
        case _:
            found = evaluate(expr, env)
            if isinstance(found, Bounded):
                return found.type
            return "logical" if isinstance(found, bool) else "real" if isinstance(found, float) else "integer"


def _map(function: Callable[..., Any], *arrays: Any) -> Any:
    return np.frompyfunc(function, len(arrays), 1)(*arrays)


def _plain(x: Any) -> Any:
    return x.data if isinstance(x, Bounded) else x


def _mapped(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    args = [_plain(x) for x in args]
    if any(isinstance(x, np.ndarray) and x.ndim for x in args):
        result = _map(lambda *xs: function(*map(_defined, xs)), *args)
        return objects(result)
    return function(*map(_defined, args))


def _list(item: Expr, env: Env) -> list[Any]:
    """The values of an item of an array constructor, in array element order."""
    if not isinstance(item, ImpliedDo):
        return list(objects(_plain(evaluate(item, env))).flatten(order="F"))
    first, last = evaluate(item.first, env), evaluate(item.last, env)
    step = 1 if item.step is None else evaluate(item.step, env)
    turns = range(first, last + (1 if step > 0 else -1), step)
    return [x for i in turns for inner in item.items for x in _list(inner, {**env, item.name: i})]


def _listed(parts: list[Any], spec: str | None) -> np.ndarray:
    convert: Any = {"integer": int, "real": float, "logical": bool}.get(spec or "")
    result = np.empty(len(parts), dtype=object)
    result[:] = [convert(x) for x in parts] if convert else parts
    return result


def _designated(base: Any, subscripts: Sequence[Expr], env: Env) -> Any:
    if callable(base):
        return base(*(evaluate(x, env) for x in subscripts))
    if not isinstance(base, Bounded):
        base = Bounded.of(base)
    axes: list[Any] = []
    for dim, subscript in enumerate(subscripts):
        low, extent = base.lower[dim], base.data.shape[dim]
        if isinstance(subscript, Range):
            step = 1 if subscript.step is None else evaluate(subscript.step, env)
            ends = (low, low + extent - 1) if step > 0 else (low + extent - 1, low)
            first = ends[0] if subscript.first is None else evaluate(subscript.first, env)
            last = ends[1] if subscript.last is None else evaluate(subscript.last, env)
            axes.append(list(range(first, last + (1 if step > 0 else -1), step)))
        else:
            axes.append(evaluate(subscript, env))
    if all(np.ndim(_plain(axis)) == 0 for axis in axes):
        return _defined(base.data[base.position(axes)])
    return picked(base, [_plain(axis) for axis in axes])


def picked(base: Bounded, axes: Sequence[Any]) -> np.ndarray:
    """A section: each axis one subscript (which loses the dimension) or several."""
    lists = [np.atleast_1d(np.asarray(axis, dtype=int)) for axis in axes]
    for axis, low, extent in zip(lists, base.lower, base.data.shape):
        if axis.size and not (low <= axis.min() and axis.max() < low + extent):
            raise IndexError(f"subscripts {axis} of {base.data.shape} from {base.lower}")
    grid = base.data[np.ix_(*(axis - low for axis, low in zip(lists, base.lower)))]
    fixed = tuple(d for d, axis in enumerate(axes) if np.ndim(axis) == 0)
    return np.squeeze(grid, axis=fixed)


def _called(name: str, args: Sequence[Expr], env: Env) -> Any:
    if name == "kind":
        return 4
    if name == "transfer" and isinstance(args[0], Call) and args[0].name == "c_loc":
        return _address(args[0].args[0], env)
    if name == "huge":
        return Greatest(GREATEST) if type_of(args[0], env) == "real" else GREATEST
    keywords = {x.name: evaluate(x.value, env) for x in args if isinstance(x, Keyword)}
    values = [evaluate(x, env) for x in args if not isinstance(x, Keyword)]
    if name in ("size", "lbound", "ubound"):
        return _bounds(name, *values, **keywords)
    if name == "allocated":
        return values[0] is not None
    if name in env:
        return env[name](*values, **keywords)
    if name == "len":
        inner = _plain(values[0])
        return len(inner.flat[0] if isinstance(inner, np.ndarray) else inner)
    if name in TRANSFORMATIONAL:
        return _transformed(name, list(map(_plain, values)), {k: _plain(v) for k, v in keywords.items()})
    return _mapped(lambda *xs: FUNCTIONS[name](*xs), [*values, *keywords.values()])


def _address(element: Expr, env: Env) -> int:
    """Where an element lies in memory, as C_LOC has it; raises IndexError outside the bounds."""
    assert isinstance(element, Ref)
    whole = evaluate(element.base, env)
    place = whole.position([evaluate(j, env) for j in element.subscripts])
    offset = sum(p * stride for p, stride in zip(place, whole.data.strides))
    return int(whole.data.__array_interface__["data"][0] + offset)


def _transformed(name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
    """A reference as it is printed: the second of SUM's arguments is DIM or MASK, as its type says."""
    names = max((form.dummies for form in INTRINSICS[name].forms), key=len)
    if "dim" in names and len(values) == names.index("dim") + 1:
        last = objects(values[-1])
        if last.ndim or isinstance(last[()], bool):
            names = tuple(x for x in names if x != "dim")
    bound = dict(zip(names, values)) | keywords
    return objects(TRANSFORMATIONAL[name](**{k: objects(v) for k, v in bound.items()}))[()]


def _bounds(name: str, array: Any, dim: int | None = None, kind: int = 4) -> Any:
    whole = array if isinstance(array, Bounded) else Bounded.of(array)
    if name == "size":
        return whole.data.size if dim is None else whole.data.shape[dim - 1]
    lower = [low if n else 1 for low, n in zip(whole.lower, whole.data.shape)]
    upper = [low + n - 1 if n else 0 for low, n in zip(whole.lower, whole.data.shape)]
    found = lower if name == "lbound" else upper
    return objects(found) if dim is None else found[dim - 1]


def _reduced(reduce: Reduce, env: Env) -> Any:
    start, step = STEPS[reduce.op]
    total = start(reduce.type.name)
    names = [name.id for name, _ in reduce.indices]
    extents = [evaluate(extent, env) for _, extent in reduce.indices]
    for place in cartesian(*(range(1, n + 1) for n in reversed(extents))):
        inner = {**env, **dict(zip(names, reversed(place)))}
        if reduce.mask is None or evaluate(reduce.mask, inner):
            total = step(total, evaluate(reduce.body, inner))
    return math.sqrt(total) if reduce.op == "norm2" else total


def _located(scan: Locate, env: Env) -> Any:
    names = [name.id for name, _ in scan.indices]
    extents = [evaluate(extent, env) for _, extent in scan.indices]
    wanted = None if scan.value is None else evaluate(scan.value, env)
    back = scan.back is not None and evaluate(scan.back, env)
    place = tuple(0 for _ in names)
    best: Any = None
    for turn in cartesian(*(range(1, n + 1) for n in reversed(extents))):
        here = tuple(reversed(turn))
        inner = {**env, **dict(zip(names, here))}
        if scan.mask is not None and not evaluate(scan.mask, inner):
            continue
        found = evaluate(scan.body, inner)
        if scan.op == "findloc":
            better = found == wanted and (back or not any(place))
        elif best is None or (found == best and back):
            better = True
        else:
            better = found > best if scan.op == "maxloc" else found < best
        if better:
            place, best = here, found
    return place[0 if scan.part is None else evaluate(scan.part, env) - 1]


# ---- whole arrays, with NumPy ---------------------------------------------------------


def value(array: Array | Implied, env: Env) -> np.ndarray:
    """The value of an array expression (of rank 0 for a scalar), straight from the tree."""
    match array:
        case Scalar(expr):
            return objects(evaluate(expr, env))
        case Section():
            return _section(array, env)
        case Elemental(name, operands, operator=operator_):
            function = OPERATORS[name] if operator_ else env[name] if name in env else FUNCTIONS[name]
            return objects(_map(function, *(value(x, env) for x in operands)))
        case Apply(intrinsic, args):
            return objects(TRANSFORMATIONAL[intrinsic.name](**{k: value(x, env) for k, x in args.items()}))
        case Constructor(items, type, typed):
            parts = [x for item in items for x in _items(item, env)]
            return _listed(parts, type.name if typed else None)
        case Reference(call):
            return objects(_plain(evaluate(call, env)))
        case _:
            raise TypeError(f"cannot evaluate {array}")


def _items(item: Array | Implied, env: Env) -> list[Any]:
    if not isinstance(item, Implied):
        return list(value(item, env).flatten(order="F"))
    first, last, step = (evaluate(x, env) for x in (item.first, item.last, item.step))
    turns = range(first, last + (1 if step > 0 else -1), step)
    return [x for i in turns for inner in item.items for x in _items(inner, {**env, item.name: i})]


def _section(section: Section, env: Env) -> np.ndarray:
    base = evaluate(section.base, env)
    if not section.axes:
        return objects(_plain(base))
    axes: list[Any] = []
    for axis in section.axes:
        match axis:
            case Fixed(expr):
                axes.append(evaluate(expr, env))
            case Triplet(lower, stride, extent):
                low, step = evaluate(lower, env), evaluate(stride, env)
                axes.append([low + step * k for k in range(evaluate(extent, env))])
            case Vector(inner):
                axes.append(list(value(inner, env)))
    result = picked(base, axes)
    for part in section.suffix:
        result = objects(_map(lambda x, name=part.name: x[name], result))
        if part.subscripts is not None:
            at = [evaluate(x, env) for x in part.subscripts]
            result = objects(_map(lambda x, at=at: x.data[x.position(at)], result))
    return result
