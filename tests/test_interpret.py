"""The interpreter of plans: what it runs, and that it notices what a compiler would not."""

from __future__ import annotations

from typing import Any

import pytest
from interpret import run
from oracle import Bounded

from fortrans.ir.expr import ONE, Call, Component, Expr, Name, Op, Range, Ref, Select, integer
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
from fortrans.ir.symbols import INTEGER

J, K, N = Name("j"), Name("k"), Name("n")


def at(name: str, *subscripts: Expr) -> Ref:
    return Ref(Name(name), subscripts)


def plus(x: Expr, y: Expr) -> Op:
    return Op("+", (x, y))


def environment() -> dict[str, Any]:
    return {"n": 3, "a": Bounded.of([5, 6, 7], (0,)), "b": Bounded.of([0, 0, 0])}


def test_a_nest_with_other_lower_bounds() -> None:
    env = environment()
    run((Loop("j", ONE, N, (Store(at("b", J), at("a", Op("-", (J, ONE)))),)),), env)
    assert list(env["b"].data) == [5, 6, 7]
    assert list(env["a"].data) == [5, 6, 7]


def test_a_do_concurrent_that_carries_a_dependence_is_refused() -> None:
    body = (Store(at("b", J), plus(at("b", Op("-", (J, ONE))), ONE)),)
    for seed in range(8):
        with pytest.raises(ValueError, match=r"of a DO CONCURRENT (reads|defines) what another"):
            run((Loop("j", integer(2), N, body),), environment(), seed)
    env = environment()
    run((Loop("j", integer(2), N, body, concurrent=False),), env)
    assert list(env["b"].data) == [0, 1, 2]


def test_exit_leaves_the_innermost_loop() -> None:
    stop = If(Op(">", (at("a", J), integer(5))), (Exit(),), (Store(at("b", ONE), at("a", J)),))
    env = environment()
    run((Loop("j", integer(0), integer(2), (stop,), concurrent=False),), env)
    assert (env["b"].data[0], env["j"]) == (5, 1)
    with pytest.raises(ValueError, match="EXIT"):
        run((Loop("j", integer(0), integer(2), (stop,)),), env)


def test_block_variables_are_local_and_start_undefined() -> None:
    inner: tuple[Stmt, ...] = (Store(Name("n"), integer(9)), Store(at("b", ONE), Name("n")))
    env = environment()
    run((Block((Declaration("n", INTEGER),), inner),), env)
    assert (env["n"], env["b"].data[0]) == (3, 9)
    with pytest.raises(ValueError, match="never defined"):
        run((Block((Declaration("t", INTEGER, (N,)),), (Store(Name("n"), at("t", ONE)),)),), env)


def test_allocation() -> None:
    env = environment() | {"t": None, "c": Bounded.of([1])}
    fill = Loop("j", ONE, N, (Store(at("t", J), J),))
    run((Allocate(Name("t"), (N,)), fill, CallStmt("move_alloc", (Name("t"), Name("c")))), env)
    assert (list(env["c"].data), env["t"]) == ([1, 2, 3], None)
    with pytest.raises(ValueError, match="allocated already"):
        run((Allocate(Name("c"), (N,)),), env)
    run((Deallocate(Name("c")), Allocate(Name("c"), (N,), (integer(-1),))), env)
    assert env["c"].lower == (-1,)
    with pytest.raises(ValueError, match="not allocated"):
        run((Deallocate(Name("t")),), env)


def test_sections_whole_arrays_and_components() -> None:
    env = environment() | {"g": {"u": Bounded.of([1, 2, 3])}}
    run((Store(at("b", Range(integer(3), ONE, integer(-1))), Name("a")),), env)
    assert list(env["b"].data) == [7, 6, 5]
    run((Store(Name("b"), integer(0)), Store(Ref(Component(Name("g"), "u"), (ONE,)), integer(8))), env)
    assert (list(env["b"].data), env["g"]["u"].data[0]) == ([0, 0, 0], 8)
    run((Store(Name("b"), Call("cshift", (Name("a"), ONE))),), env)
    assert list(env["b"].data) == [6, 7, 5]
    with pytest.raises(ValueError, match="shape"):
        run((Store(at("b", Range(ONE, integer(2))), Name("a")),), env)


def test_out_of_bounds_is_noticed_on_both_sides_but_not_in_an_arm_not_taken() -> None:
    env = environment()
    guarded = Select(Op(">", (at("a", integer(0)), ONE)), ONE, at("a", integer(7)))
    run((Store(Name("n"), guarded),), env)
    assert env["n"] == 1
    for stmt in (Store(Name("n"), at("a", integer(3))), Store(at("b", integer(0)), ONE)):
        with pytest.raises(IndexError):
            run((stmt,), env)
