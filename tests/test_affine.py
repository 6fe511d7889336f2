"""Index arithmetic: every form has the value that Fortran's own arithmetic gives."""

from __future__ import annotations

import random

import pytest
from arithmetic import drawn, value

from fortrans.ir.expr import Call, Expr, Name, Op, constant, integer, mul, names
from fortrans.polyhedral.affine import Facts, affine
from fortrans.polyhedral.domain import Constraint, flattened, rectangular
from fortrans.polyhedral.forms import (
    Affine,
    Atom,
    Floor,
    Local,
    NotAffine,
    Product,
    evaluate,
    floored,
    is_quasi_affine,
    of_atom,
)

N, M, COUNTER, J = Name("n"), Name("m"), Name("i"), Name("j")
INDICES = frozenset({"i", "j"})
NATURAL = Facts(least={N: 0, M: 0})


@pytest.mark.parametrize("seed", range(8))
def test_forms_have_the_value_of_the_expression(seed: int) -> None:
    rng = random.Random(seed)
    read = 0
    for _ in range(250):
        expr = drawn(rng, 3, ("n", "m", "i", "j"))
        facts = NATURAL.within({"i": (Affine((), 1), of_atom(N)), "j": (Affine(), of_atom(M))})
        try:
            form = affine(expr, INDICES, facts)
        except NotAffine:
            continue
        read += 1
        for _ in range(20):
            n, m = rng.randint(1, 9), rng.randint(0, 9)
            values = {"n": n, "m": m, "i": rng.randint(1, n), "j": rng.randint(0, m)}
            atoms: dict[Atom, int] = {atom: value(atom, values) for atom in _plain(form)}
            assert evaluate(form, atoms) == value(expr, values), (expr, values)
            low = facts.minimum(form)
            assert low is None or evaluate(form, atoms) >= low, (expr, values)
    assert read > 100


def _plain(form: Affine) -> set[Expr]:
    return {x for x in form.atoms() if not isinstance(x, Floor | Product | Local)}


@pytest.mark.parametrize("seed", range(4))
def test_flattened_constraints_hold_for_the_floors_and_only_for_them(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        start = of_atom(N).scaled(rng.randint(-3, 3)).plus(rng.randint(-5, 5))
        inner = floored(start, rng.choice([2, 3, -2]))
        form = floored(inner + of_atom(COUNTER).scaled(rng.randint(-2, 2)), rng.choice([2, 3])) + inner
        locals, rows = flattened([Constraint(form)])
        assert len(rows) == 2 * len(locals) + 1
        for _ in range(10):
            values: dict[Atom, int] = {N: rng.randint(-9, 9), COUNTER: rng.randint(-9, 9)}
            for k, floor in enumerate(locals):
                values[Local(k)] = evaluate(Affine(((floor, 1),)), values)
            assert all(evaluate(row.form, values) >= 0 for row in rows[:-1])
            assert evaluate(rows[-1].form, values) == evaluate(form, values)
            for k in range(len(locals)):
                wrong = {**values, Local(k): values[Local(k)] + rng.choice([-1, 1])}
                assert any(evaluate(row.form, wrong) < 0 for row in rows[:-1])


def test_truncation_needs_a_sign() -> None:
    half = Op("/", (Op("+", (COUNTER, N)), integer(2)))
    with pytest.raises(NotAffine):
        affine(half, INDICES, Facts())
    positive = Facts(least={N: 0}).within({"i": (Affine((), 1), None)})
    assert affine(half, INDICES, positive) == floored(of_atom(COUNTER) + of_atom(N), 2)


def test_a_parameter_of_unknown_sign_is_one_atom() -> None:
    half = Op("/", (N, integer(2)))
    assert affine(half, INDICES, Facts()) == of_atom(half)
    assert affine(half, INDICES, NATURAL) == of_atom(Floor(of_atom(N), 2))


def test_delinearised_subscripts_are_affine_again() -> None:
    size = Call("size", (Name("a"), integer(1)))
    positive = NATURAL.assuming(of_atom(size).plus(-1))
    _, facts = rectangular([("j", integer(1), M), ("i", integer(1), size)], positive)
    place = Op("-", (Op("+", (COUNTER, mul(Op("-", (J, integer(1))), size))), integer(1)))
    assert affine(Call("modulo", (place, size)), INDICES, facts) == of_atom(COUNTER).plus(-1)
    assert affine(Op("/", (place, size)), INDICES, facts) == of_atom(J).plus(-1)


def test_products_with_an_index_are_not_quasi_affine() -> None:
    form = affine(Op("*", (COUNTER, N)), INDICES, Facts())
    assert not is_quasi_affine(form, INDICES)
    assert is_quasi_affine(affine(Op("*", (M, N)), INDICES, Facts()), INDICES)
    assert (form - form).value == 0


def test_a_vector_subscript_is_no_arithmetic() -> None:
    with pytest.raises(NotAffine):
        affine(Call("idx", (COUNTER,), user=True), INDICES, Facts())


def test_a_named_constant_with_the_name_of_an_index_is_no_constant() -> None:
    facts = Facts(value=lambda expr: 3 if names(expr) == {"i"} else constant(expr))
    assert affine(COUNTER, INDICES, facts) == of_atom(COUNTER)
    assert affine(Op("-", (COUNTER, integer(1))), INDICES, facts) == of_atom(COUNTER).plus(-1)
    assert affine(Op("-", (COUNTER, integer(1))), frozenset(), facts).value == 3
