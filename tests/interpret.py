"""Runs an emitted plan (``ir/nest.py``) on NumPy arrays, so that lowering can be tested without a compiler.

An element out of bounds raises IndexError, one that was never defined ValueError.  The iterations of
a DO CONCURRENT run in random order, and when one touches an element that another defines, that is a
ValueError too (11.1.7.5).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import oracle
from invariants import designators
from numpy_intrinsics import objects
from oracle import UNSET, Bounded, Unset, evaluate, picked

from fortrans.ir.expr import Component, Expr, Name, Range, Ref
from fortrans.ir.nest import (
    Allocate,
    Block,
    CallStmt,
    Deallocate,
    Declaration,
    Exit,
    If,
    Loop,
    Stmt,
    Store,
)

Environment = dict[str, Any]


class _Left(Exception):
    """EXIT was executed."""


def run(
    stmts: Sequence[Stmt], environment: Environment, seed: int = 0, types: Mapping[str, str] | None = None
) -> None:
    """Execute statements; ``environment`` maps names to scalars, ``Bounded`` or None (unallocated).

    ``types`` names the types of scalars and unallocated arrays, for conversion at the store.
    """
    _Run(random.Random(seed), dict(types or {})).block(stmts, environment)


class _Touched:
    """Which iteration of a DO CONCURRENT read or defined which element, by its address."""

    def __init__(self) -> None:
        self.turn = 0
        self.read: dict[int, set[int]] = {}
        self.written: dict[int, int] = {}

    def reads(self, place: int) -> None:
        if self.written.get(place, self.turn) != self.turn:
            raise ValueError("an iteration of a DO CONCURRENT reads what another defines")
        self.read.setdefault(place, set()).add(self.turn)

    def writes(self, place: int) -> None:
        if self.written.get(place, self.turn) != self.turn:
            raise ValueError("two iterations of a DO CONCURRENT define one element")
        if self.read.get(place, set()) - {self.turn}:
            raise ValueError("an iteration of a DO CONCURRENT defines what another reads")
        self.written[place] = self.turn


class _Run:
    def __init__(self, order: random.Random, types: dict[str, str]) -> None:
        self.order = order
        self.types = types
        self.touched: list[_Touched] = []

    def block(self, stmts: Sequence[Stmt], env: Environment) -> None:
        for stmt in stmts:
            self.one(stmt, env)

    def one(self, stmt: Stmt, env: Environment) -> None:
        match stmt:
            case Store(target, value):
                if self.touched:
                    self.reads(value, env)
                    self.writes(target, env)
                result = evaluate(value, env)
                plain = result.data.copy() if isinstance(result, Bounded) else result
                _store(target, plain, env, self.type(target))
            case Loop():
                self.loop(stmt, env)
            case If(test, then, other):
                self.block(then if evaluate(test, env) else other, env)
            case Exit():
                raise _Left
            case Block(declarations, body):
                self.scope(declarations, body, env)
            case Allocate(target, shape, lower, source):
                if _holder(target, env)[0][_holder(target, env)[1]] is not None:
                    raise ValueError(f"{target} is allocated already")
                if source is not None:
                    value = evaluate(source, env)
                    data = value.data if isinstance(value, Bounded) else value
                    _put(target, Bounded.of(data.copy(), None, self.type(target)), env)
                    return
                extents = [max(evaluate(n, env), 0) for n in shape]
                lowest = None if lower is None else [evaluate(low, env) for low in lower]
                _put(target, _unset(extents, lowest, self.type(target)), env)
            case Deallocate(target):
                if _holder(target, env)[0][_holder(target, env)[1]] is None:
                    raise ValueError(f"{target} is not allocated")
                _put(target, None, env)
            case CallStmt("move_alloc", (source, target)):
                holder, key = _holder(source, env)
                if holder[key] is None:
                    raise ValueError(f"{source} is not allocated")
                _put(target, holder[key], env)
                holder[key] = None
            case CallStmt(name, args):
                env[name](*(evaluate(x, env) for x in args))

    def reads(self, value: Expr, env: Environment) -> None:
        for x in designators(value):
            if (place := _place(x, env)) is not None:
                for touched in self.touched:
                    touched.reads(place)

    def writes(self, target: Expr, env: Environment) -> None:
        if isinstance(target, Ref):
            for subscript in target.subscripts:
                self.reads(subscript, env)
        if (place := _place(target, env)) is not None:
            for touched in self.touched:
                touched.writes(place)

    def type(self, target: Expr) -> str:
        """The type of a whole variable; of a component it is that of its root."""
        match target:
            case Name(id):
                return self.types.get(id, "")
            case Component(base, _) | Ref(base, _):
                return self.type(base)
            case _:
                return ""

    def loop(self, loop: Loop, env: Environment) -> None:
        first, last = evaluate(loop.first, env), evaluate(loop.last, env)
        step = 1 if loop.step is None else evaluate(loop.step, env)
        turns = list(range(first, last + (1 if step > 0 else -1), step))
        hidden = env.get(loop.index, UNSET)
        if loop.concurrent:
            self.order.shuffle(turns)
            self.touched.append(_Touched())
        own = self.touched[-1] if loop.concurrent else None
        try:
            for turn in turns:
                if own is not None:
                    own.turn = turn
                env[loop.index] = turn
                self.block(loop.body, env)
        except _Left:
            if loop.concurrent:
                raise ValueError("EXIT leaves a DO CONCURRENT") from None
            return
        finally:
            if own is not None:
                self.touched.pop()
        env[loop.index] = hidden if loop.concurrent else first + step * len(turns)

    def scope(self, declarations: Sequence[Declaration], body: Sequence[Stmt], env: Environment) -> None:
        new: Environment = {}
        for declared in declarations:
            if declared.allocatable:
                new[declared.name] = None
            elif declared.shape:
                extents = [max(evaluate(n, env), 0) for n in declared.shape]
                new[declared.name] = _unset(extents, None, declared.type.name)
            else:
                new[declared.name] = Unset(declared.type.name)
        hidden = {name: env[name] for name in new if name in env}
        types, self.types = self.types, self.types | {d.name: d.type.name for d in declarations}
        env.update(new)
        try:
            self.block(body, env)
        finally:
            self.types = types
            for name in new:
                del env[name]
            env.update(hidden)


def _unset(extents: Sequence[int], lower: Sequence[int] | None, type: str = "") -> Bounded:
    data = np.empty(tuple(extents), dtype=object)
    data.fill(UNSET)
    return Bounded(data, tuple(lower) if lower else (1,) * len(extents), type)


def _place(designator: Expr, env: Environment) -> int | None:
    """The address of an array element; None for whatever else is designated."""
    if not isinstance(designator, Ref) or any(isinstance(x, Range) for x in designator.subscripts):
        return None
    # Not by the name that counts operations: looking whether iterations meet is none of the program's.
    array = oracle.evaluate(designator.base, env)
    at = [oracle.evaluate(x, env) for x in designator.subscripts]
    if not isinstance(array, Bounded) or any(np.ndim(x) or isinstance(x, Bounded) for x in at):
        return None
    data = array.data
    steps = zip(array.position(at), data.strides, strict=True)
    return int(data.__array_interface__["data"][0] + sum(k * step for k, step in steps))


def _holder(target: Expr, env: Environment) -> tuple[Any, str]:
    match target:
        case Name(id):
            return env, id
        case Component(base, name):
            return evaluate(base, env), name
        case _:
            raise TypeError(f"not a whole variable: {target}")


def _put(target: Expr, value: Any, env: Environment) -> None:
    holder, key = _holder(target, env)
    holder[key] = value


def _store(target: Expr, value: Any, env: Environment, type: str) -> None:
    match target:
        case Ref(base, subscripts):
            array = evaluate(base, env)
            if any(isinstance(x, Range) for x in subscripts) or np.ndim(value):
                where = objects(np.arange(array.data.size)).reshape(array.data.shape)
                axes = [_axis(x, array, d, env) for d, x in enumerate(subscripts)]
                places = picked(Bounded(where, array.lower), axes).astype(int)
                _fill(array.data.reshape(-1), places, value, array)
                return
            array.data[array.position([evaluate(j, env) for j in subscripts])] = _fit(value, array.type)
        case _:
            holder, key = _holder(target, env)
            old = holder.get(key)
            if isinstance(old, Bounded):
                if np.ndim(value) and value.shape != old.data.shape:
                    raise ValueError(f"shape {value.shape} stored in {old.data.shape}")
                old.data[...] = _fitted(value, old)
            elif old is None and np.ndim(value):
                holder[key] = Bounded.of(value)
            else:
                holder[key] = _fit(value, type)


def _axis(subscript: Expr, array: Bounded, dim: int, env: Environment) -> Any:
    if not isinstance(subscript, Range):
        found = evaluate(subscript, env)
        return found.data if isinstance(found, Bounded) else found
    low, extent = array.lower[dim], array.data.shape[dim]
    step = 1 if subscript.step is None else evaluate(subscript.step, env)
    ends = (low, low + extent - 1) if step > 0 else (low + extent - 1, low)
    first = ends[0] if subscript.first is None else evaluate(subscript.first, env)
    last = ends[1] if subscript.last is None else evaluate(subscript.last, env)
    return list(range(first, last + (1 if step > 0 else -1), step))


def _fill(flat: np.ndarray, places: np.ndarray, value: Any, array: Bounded) -> None:
    if not np.shares_memory(flat, array.data):
        raise ValueError("array is not contiguous")
    if np.ndim(value) and value.shape != places.shape:
        raise ValueError(f"shape {value.shape} stored in {places.shape}")
    flat[places] = _fitted(value, array)


def _fit(value: Any, type: str) -> Any:
    """Conversion at the store (10.2.1.3, table 10.9)."""
    if type == "integer" and isinstance(value, float):
        return int(value)
    return float(value) if type == "real" and isinstance(value, int) else value


def _fitted(value: Any, array: Bounded) -> Any:
    if not np.ndim(value):
        return _fit(value, array.type)
    return objects(np.frompyfunc(lambda x: _fit(x, array.type), 1, 1)(value))
