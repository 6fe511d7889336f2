"""Whole assignments: the plan that ``compose`` makes, run, against NumPy.

``HYPOTHESIS_PROFILE=long`` draws 20,000 of them; ``once`` stops at the first fault as drawn.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from assignments import assignments
from hypothesis import HealthCheck, given, settings
from interpret import run
from invariants import Known, check, within
from numpy_intrinsics import objects
from oracle import FUNCTIONS, Bounded, evaluate, value
from sites import Drawn
from test_oracle import PHASES, PROFILE

from fortrans.intrinsics import INTRINSICS
from fortrans.ir.arrays import Fixed, Scalar, Section, Triplet, Vector
from fortrans.ir.expr import ONE, Call, Component, Expr, Name, Ref
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Allocate, Deallocate, Exit, Loop, Store
from fortrans.remarks import Refusal
from fortrans.transforms.compose import compose
from fortrans.transforms.plan import Plan

EXAMPLES = 20_000 if PROFILE == "long" else 500
OURS = frozenset(
    "allocated huge int kind lbound len max merge min modulo not real repeat size transfer".split()
)


def answer(drawn: Drawn) -> Plan:
    """The plan, under names that no variable of the program has."""
    taken = {*drawn.env, *(capture.name for capture in drawn.site.captures)}
    return compose(drawn.site, Fresh(taken))


def known(drawn: Drawn) -> Known:
    """What the plan may use."""
    inputs = frozenset(drawn.env)
    captures = frozenset(capture.name for capture in drawn.site.captures)
    functions = OURS | INTRINSICS.keys() | FUNCTIONS.keys()
    written = frozenset({drawn.target.root if drawn.target else drawn.scalar})
    return Known(inputs, functions, written, drawn.locals | captures, drawn.shared)


# ---- what must come out ---------------------------------------------------------------


def expected(drawn: Drawn) -> tuple[Any, tuple[int, ...]]:
    """The value of the variable assigned, and its lower bounds, as 10.2.1.3 has it."""
    site, env = drawn.site, dict(drawn.env)
    for capture in site.captures:
        env[capture.name] = evaluate(capture.value, env)
    right = objects(value(site.rhs, env))
    if drawn.target is None:
        return converted(right[()], site.lhs.type.name), ()
    now = held(drawn.target.base, drawn.env)
    if site.reallocates and (now is None or now.data.shape != right.shape):
        lower = (1,) * right.ndim
        if isinstance(site.rhs, Section) and site.rhs.whole:
            whole = held(site.rhs.base, env)
            lower = tuple(low if n else 1 for low, n in zip(whole.lower, whole.data.shape))
        result = np.empty(right.shape, dtype=object)
        left: Any = ...
    else:
        result = now.data.copy()
        lower = tuple(low if n else 1 for low, n in zip(now.lower, now.data.shape))
        left = places(drawn, now, env)
    if right.ndim:
        flat = [converted(x, drawn.target.type) for x in right.flat]
        data = np.empty(len(flat), dtype=object)
        data[:] = flat
        result[left] = data.reshape(right.shape)
    else:
        result[left] = converted(right[()], drawn.target.type)
    return result, lower


def places(drawn: Drawn, now: Bounded, env: dict[str, Any]) -> Any:
    """The left-hand side as a NumPy index."""
    if isinstance(drawn.site.lhs, Scalar):
        assert isinstance(drawn.site.lhs.value, Ref)
        return now.position([evaluate(x, env) for x in drawn.site.lhs.value.subscripts])
    axes: list[Any] = []
    for axis, low in zip(drawn.site.lhs.axes, now.lower):
        match axis:
            case Fixed(at):
                axes.append(np.array([evaluate(at, env) - low]))
            case Triplet(lower, stride, extent):
                first, step = evaluate(lower, env), evaluate(stride, env)
                turns = range(evaluate(extent, env))
                axes.append(np.array([first + step * k - low for k in turns], dtype=int))
            case Vector(inner):
                axes.append(value(inner, env).astype(int) - low)
    kept = [d for d, axis in enumerate(drawn.site.lhs.axes) if not isinstance(axis, Fixed)]
    grid = list(np.ix_(*axes))
    fixed = tuple(d for d in range(len(axes)) if d not in kept)
    return tuple(np.squeeze(x, axis=fixed) for x in np.broadcast_arrays(*grid))


def converted(x: Any, type: str) -> Any:
    if type == "integer" and isinstance(x, float):
        return int(x)
    return float(x) if type == "real" else x


def held(base: Expr, env: dict[str, Any]) -> Any:
    match base:
        case Name(id):
            return env[id]
        case Component(Name(id), name):
            return env[id][name]
        case _:
            raise TypeError(base)


def same(x: Any, y: Any) -> bool:
    """Equal, and of one type: 2 is not 2.0 in Fortran."""
    return x == y and isinstance(x, float) == isinstance(y, float)


def snapshot(drawn: Drawn) -> dict[str, Any]:
    apart = {*drawn.shared, drawn.target.root if drawn.target else drawn.scalar}
    return {k: copy.deepcopy(x) for k, x in drawn.env.items() if k not in apart and not callable(x)}


def unchanged(before: dict[str, Any], env: dict[str, Any]) -> None:
    """Nothing but the variable assigned has another value than before."""
    for name, old in before.items():
        new = env[name]
        if isinstance(old, dict):
            old, new = old["u"], new["u"]
        if isinstance(old, Bounded):
            assert np.array_equal(old.data, new.data) and old.lower == new.lower, name
        else:
            assert old == new, name


def compare(drawn: Drawn, plan: Plan, seed: int = 0) -> None:
    """The plan run from the drawn state leaves what the assignment should."""
    wanted, lower = expected(drawn)
    before = snapshot(drawn)
    names_before = set(drawn.env)
    run(plan.body, drawn.env, seed, drawn.types)
    assert set(drawn.env) == names_before, "a name is left behind"
    unchanged(before, drawn.env)
    if drawn.target is None:
        assert same(drawn.env[drawn.scalar], wanted)
        return
    now = held(drawn.target.base, drawn.env)
    assert now.data.shape == wanted.shape
    for at in np.ndindex(wanted.shape):
        assert same(now.data[at], wanted[at]), (at, now.data, wanted)
    found = tuple(low if n else 1 for low, n in zip(now.lower, now.data.shape))
    assert found == lower, "lower bounds"


# ---- the test ---------------------------------------------------------------------------

SEEN = ("FT101", "FT102", "FT104", "split", "rows", "search", "reallocation", "wrapped", "kept")


def features(plan: Plan) -> Iterator[str]:
    """What lowering did, so that a draw that never makes it do so is noticed."""
    yield plan.code
    for stmt in within(plan.body):
        match stmt:
            case Loop(first=first, concurrent=True) if first != ONE:
                yield "split"
            case Loop(body=(*_, Loop(concurrent=True)), concurrent=False):
                yield "rows"
            case Exit():
                yield "search"
            case Deallocate():
                yield "reallocation"
            case Store(Name(id), Call("merge", _)) if id.startswith("wrap"):
                yield "wrapped"
            case Allocate(Name(id)) if id.startswith("tmp"):
                yield "kept"


def test_composed_assignments_agree_with_numpy() -> None:
    tally: Counter[str] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=PROFILE != "long",
        database=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )
    @given(assignments())
    def each(drawn: Drawn) -> None:
        tally["drawn"] += 1
        try:
            plan = answer(drawn)
        except Refusal as refusal:
            tally[refusal.code] += 1
            return
        tally["composed"] += 1
        tally.update(set(features(plan)))
        check(plan.body, known(drawn))
        compare(drawn, plan, tally["drawn"])

    each()
    print(dict(tally))
    assert tally["composed"] >= 0.7 * tally["drawn"], tally
    assert not [feature for feature in SEEN if tally[feature] < tally["drawn"] / 200], tally
