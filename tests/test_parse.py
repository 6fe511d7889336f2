"""Statement trees: what fparser cannot do is a Refusal, soon and always the same."""

import time

import pytest

from fortrans.frontend import parse
from fortrans.remarks import Refusal


def test_nodes_are_what_fparser_calls_them() -> None:
    assert type(parse.assignment("a(:) = b + [1, 2]")).__name__ == "Assignment_Stmt"
    assert type(parse.pointer_assignment("p => q(1:2)")).__name__ == "Pointer_Assignment_Stmt"
    assert type(parse.expression("a + b")).__name__ == "Level_2_Expr"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("integer, parameter :: n = 3", "Type_Declaration_Stmt"),
        ("type(t), pointer :: p(:) => null()", "Type_Declaration_Stmt"),
        ("use m, only: a => b", "Use_Stmt"),
        ("pointer (p, a)", "Cray_Pointer_Stmt"),
        ("pointer :: p", "Pointer_Stmt"),
        ("procedure(f), pointer :: p", "Procedure_Declaration_Stmt"),
        ("procedure, nopass :: x => y", "Specific_Binding"),
        ("generic :: operator(+) => add", "Generic_Binding"),
        ("implicit none", "Implicit_Stmt"),
    ],
)
def test_declaration(text: str, name: str) -> None:
    assert type(parse.declaration(text)).__name__ == name


@pytest.mark.parametrize("text", ["a = ", "x = sum(a, b, c, d)", "a b", "x = (1", ""])
def test_any_failure_is_a_refusal(text: str) -> None:
    for _ in range(2):
        with pytest.raises(Refusal) as caught:
            parse.assignment(text)
        assert caught.value.code == "FT002"


def test_an_endless_sum_is_a_node_or_a_refusal() -> None:
    try:
        parse.assignment("x = " + " + ".join(["a"] * 3000))
    except Refusal as refusal:
        assert refusal.code == "FT002"


def test_memory() -> None:
    assert parse.assignment("zz(1) = 1") is parse.assignment("zz(1) = 1")


def test_deep_nesting_is_refused_before_it_costs() -> None:
    start = time.perf_counter()
    with pytest.raises(Refusal) as caught:
        parse.assignment("x = " + "f(1+" * 30 + "1" + ")" * 30)
    assert caught.value.code == "FT003"
    assert time.perf_counter() - start < 0.5


def test_nesting_allowed() -> None:
    parse.assignment("x = " + "f(" * parse.DEEPEST + "1" + ")" * parse.DEEPEST)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("a", 0),
        ("a(1)", 1),
        ("a(b(1)) + c(d(1))", 2),
        ("((a(1)))", 1),
        ("f('g(h(i(')", 1),
        ("f((g([h(1)])))", 3),
    ],
)
def test_depth(text: str, depth: int) -> None:
    assert parse.depth(text) == depth
