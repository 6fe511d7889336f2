"""Constant expressions, expression trees and single declarations."""

from __future__ import annotations

import pytest
from scoped import sub

from fortrans.frontend import parse
from fortrans.frontend.constants import selected_int_kind, selected_real_kind
from fortrans.frontend.declarations import Fact, TypeSpec, facts
from fortrans.frontend.expressions import convert
from fortrans.frontend.tokens import bare, canonical, split, words
from fortrans.frontend.types import read
from fortrans.ir.expr import (
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Opaque,
    Range,
    Ref,
    Substring,
)
from fortrans.ir.symbols import Intent

A, B, C, N = Name("a"), Name("b"), Name("c"), Name("n")
L1, L2 = Literal("1"), Literal("2")

VALUES = {
    "2*3 + 1": 7,
    "-7/2": -3,
    "(-7)/2": -3,
    "2**3**2": 512,
    "2**(-1)": 0,
    "n - 1": 3,
    "kind(1.0d0)": 8,
    "kind(1.0)": 4,
    "kind(1_i8)": 8,
    "kind(x)": 8,
    "kind(.true.)": 4,
    "kind('a')": 1,
    "selected_real_kind(15, 307)": 8,
    "selected_real_kind(p=6)": 4,
    "selected_real_kind(r=300)": 8,
    "selected_int_kind(9)": 4,
    "selected_int_kind(r=18)": 8,
    "max(1, n, 3)": 4,
    "min(n, 3)": 3,
    "mod(-7, 3)": -1,
    "modulo(-7, 3)": 2,
    "huge(1)": 2147483647,
    "huge(1_1)": 127,
    "bit_size(1_i8)": 64,
    "precision(x)": 15,
    "range(1)": 9,
    "len('it''s')": 4,
    "int(z'ff')": 255,
    "m": None,
    "n / 0": None,
    "size(v)": None,
    "selected_real_kind(18)": None,
    "storage_size(1)": None,
    "1.5": None,
    "undefined + 1": None,
    "loop": None,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_value(text: str, value: int | None) -> None:
    view = sub(
        "implicit none\ninteger, parameter :: i8 = selected_int_kind(18), n = 4\n"
        "integer, parameter :: loop = loop + 1\nreal(kind=8) :: x, v(3)\ninteger :: m"
    )
    assert view.constant(read(text)) == value


def test_a_hidden_intrinsic_has_no_value() -> None:
    assert sub("integer :: max(3)").constant(read("max(1, 2)")) is None


@pytest.mark.parametrize(("digits", "kind"), [(2, 1), (4, 2), (9, 4), (10, 8), (38, 16), (39, -1)])
def test_selected_int_kind(digits: int, kind: int) -> None:
    assert selected_int_kind(digits) == kind


@pytest.mark.parametrize(
    ("request_", "kind"),
    [((6, 37), 4), ((7, 0), 8), ((0, 38), 8), ((16, 0), None), ((19, 0), 16), ((34, 0), -1)],
)
def test_selected_real_kind(request_: tuple[int, int], kind: int | None) -> None:
    assert selected_real_kind(*request_) == kind


def _op(op: str, *args: Expr) -> Op:
    return Op(op, args)


EXPRESSIONS: dict[str, Expr] = {
    "1.0D0": Literal("1.0D0"),
    "1_I8": Literal("1_I8"),
    "'It''s'": Literal("'It''s'"),
    ".True.": Literal(".True."),
    "(1.0, -2.0)": Literal("(1.0, -2.0)"),
    "(a, 1.0)": Opaque("(a, 1.0)", frozenset({"a"})),
    "A": A,
    "a - b - c": _op("-", _op("-", A, B), C),
    "a**b**c": _op("**", A, _op("**", B, C)),
    "-a**2": _op("-", _op("**", A, L2)),
    "a .EQ. b .And. .not. c": _op(".and.", _op("==", A, B), _op(".not.", C)),
    "a .LE. b": _op("<=", A, B),
    "a .Cross. b": _op(".cross.", A, B),
    "((a))": _op("()", _op("()", A)),
    "a // 'x'": _op("//", A, Literal("'x'")),
    "f(1, 2)": Ref(Name("f"), (L1, L2)),
    "a(:, n:1:-1)": Ref(A, (Range(None, None), Range(N, L1, _op("-", L1)))),
    "A%b(1)%C": Component(Ref(Component(A, "b"), (L1,)), "c"),
    "a(1)(2:)": Substring(Ref(A, (L1,)), L2, None),
    "SUM(a, Dim=1)": Call("sum", (A, Keyword("dim", L1))),
    "f(N=1)": Call("f", (Keyword("n", L1),)),
    "f()": Call("f", ()),
    "g(1.5)": Call("g", (Literal("1.5"),)),
    "a%get()": Opaque("a%get()", frozenset({"a", "get"})),
    "[1, a]": Items((L1, A)),
    "[Real(dp) :: a]": Items((A,), "Real(dp)"),
    "(/ (b(n), n = 1, 2) /)": Items((ImpliedDo((Ref(B, (N,)),), "n", L1, L2),)),
}


@pytest.mark.parametrize(("text", "expr"), EXPRESSIONS.items())
def test_convert(text: str, expr: Expr) -> None:
    assert convert(parse.expression(text)) == expr


def test_what_fparser_refuses_is_opaque() -> None:
    assert read("a(1)[2]") == Opaque("a(1)[2]", frozenset({"a"}))


def _fact(text: str, name: str) -> Fact:
    return next(fact for fact in facts(text) if fact.name == name)


REAL, INTEGER = TypeSpec("real"), TypeSpec("integer")
DECLARATIONS = [
    ("real a", Fact("a", REAL)),
    ("real, dimension(3) :: b, a(2, 0:n)", Fact("a", REAL, bounds=("2", "0:n"))),
    ("real*8 a(3), b*4", Fact("a", TypeSpec("real", stars=8), bounds=("3",))),
    ("double precision a", Fact("a", TypeSpec("real", stars=0))),
    ("complex(kind=dp) :: a", Fact("a", TypeSpec("complex", "dp"))),
    ("character a*5", Fact("a", TypeSpec("character", length="5"))),
    ("character*(*) a", Fact("a", TypeSpec("character", length="*"))),
    ("character*7, b", Fact("b", TypeSpec("character", length="7"))),
    ("character(3, kind=ck) :: a", Fact("a", TypeSpec("character", "ck", length="3"))),
    ("integer :: b = 1, a = max(1, 2)", Fact("a", INTEGER, initial="max(1, 2)")),
    ("integer :: b(2) = (/ 1, 2 /), a", Fact("a", INTEGER)),
    ("character :: b = '),(', a", Fact("a", TypeSpec("character"))),
    ("real, intent( in out ) :: a", Fact("a", REAL, intent=Intent.INOUT)),
    ("type(t(4)), pointer :: a => null()",
     Fact("a", TypeSpec("type", derived="t(4)"), frozenset({"pointer"}), initial="null()")),
    ("class(*) :: a(..)", Fact("a", TypeSpec("class", derived="*"), bounds=("..",))),
    ("real, allocatable :: a(:)[:]",
     Fact("a", REAL, frozenset({"allocatable", "codimension"}), (":",))),
    ("type(real) :: a", Fact("a", REAL)),
    ("procedure(f) :: a", Fact("a", TypeSpec("procedure", derived="f"))),
    ("dimension b(2), a(3)", Fact("a", bounds=("3",))),
    ("parameter (b = (1), a = 'x=,')", Fact("a", attributes=frozenset({"parameter"}), initial="'x=,'")),
    ("common /x/ b(2) // c, /y/ a(3)", Fact("a", attributes=frozenset({"common"}), bounds=("3",))),
    ("equivalence (b(1), c), (d, a(2))", Fact("a", attributes=frozenset({"equivalence"}))),
    ("namelist /g/ b /h/ c, a", Fact("a", attributes=frozenset({"namelist"}))),
    ("intent(out) a", Fact("a", intent=Intent.OUT)),
    ("target :: a(5)", Fact("a", attributes=frozenset({"target"}), bounds=("5",))),
    ("pointer (p, a(9))",
     Fact("a", attributes=frozenset({"pointer", "target", "equivalence"}), bounds=("9",))),
    ("save /blk/, a", Fact("a", attributes=frozenset({"save"}))),
    ("a(i, j) = i*j",
     Fact("a", attributes=frozenset({"statement"}), initial="i*j", arguments=("i", "j"))),
    ("ASSERT(a > 0)", Fact("a", attributes=frozenset({"unknown"}))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fact"), DECLARATIONS)
def test_declaration(text: str, fact: Fact) -> None:
    assert _fact(text, fact.name) == fact


def test_every_attribute_statement() -> None:
    for word in (
        "allocatable pointer target optional save volatile asynchronous contiguous value protected"
        " external intrinsic public private"
    ).split():
        assert word in _fact(f"{word} :: a", "a").attributes
        assert word in _fact(f"{word} b, a", "a").attributes


def test_tokens() -> None:
    assert split("a(1,2), 'x,y', [1,2], (/3,4/)") == ("a(1,2)", "'x,y'", "[1,2]", "(/3,4/)")
    assert words("A + 1.0_dp*'b' - 1e5*x2") == ("a", "dp", "x2")
    assert canonical("Kind = 'A b' // X") == "kind='A b'//x"
    assert bare("f('a(b') + g") == "f('') + g"
