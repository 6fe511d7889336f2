"""What names mean: declarations, hiding, host association, constructs (F2018 clauses 8 and 19)."""

from __future__ import annotations

import pytest
from scoped import program, scope, sub, symbol

from fortrans.frontend.resolve import View
from fortrans.ir.expr import ONE, ZERO, Call, Literal, Name, Op
from fortrans.ir.symbols import (
    DerivedType,
    Dimension,
    Generic,
    Intent,
    Intrinsic,
    Procedure,
    Type,
    Unresolved,
)

N = Name("n")


def explicit(upper: str, lower: str = "1") -> Dimension:
    return Dimension("explicit", Literal(lower), Literal(upper))


# ---- types

TYPES = {
    "real :: a": Type("real", 4, "real"),
    "real(8) :: a": Type("real", 8, "real(8)"),
    "real*8 :: a": Type("real", 8, "real(8)"),
    "complex*16 :: a": Type("complex", 8, "complex(8)"),
    "double precision a": Type("real", 8, "double precision"),
    "integer(i8) :: a": Type("integer", 8, "integer(i8)"),
    "real(kind=kind(1.0d0)) :: a": Type("real", 8, "real(kind(1.0d0))"),
    "logical a": Type("logical", 4, "logical"),
    "real(unknown_kind) :: a": Type("real", "unknown_kind", "real(unknown_kind)"),
    "character :: a": Type("character", 1, "character(len=1)", ONE),
    "character(len=5) :: a": Type("character", 1, "character(len=5)", Literal("5")),
    "character(len=lc) :: a*3": Type("character", 1, "character(len=3)", Literal("3")),
    "character(lc + 1) :: a": Type(
        "character", 1, "character(len=lc + 1)", Op("+", (Name("lc"), ONE))
    ),
    "character(*) :: a": Type("character", 1, "character(len=len(a))", Call("len", (Name("a"),))),
    "character(m) :: a": Type("character", 1, "character(len=len(a))", Call("len", (Name("a"),))),
    "character(:), allocatable :: a": Type("character", 1, "", None),
    "type(t) :: a": Type("type", None, "type(t)", None, "t"),
    "class(t) :: a": Type("class", None, "", None, "t"),
}


@pytest.mark.parametrize(("declaration", "type_"), TYPES.items())
def test_type(declaration: str, type_: Type) -> None:
    view = sub(
        "integer, parameter :: i8 = selected_int_kind(18), lc = 4\ninteger :: m\n"
        "type t\ninteger :: i\nend type\n" + declaration,
        dummies="a",
    )
    assert symbol(view, "A").type == type_


# ---- shapes and attributes


def test_shapes() -> None:
    view = sub(
        "integer, intent(in) :: n\ninteger :: m\n"
        "real :: e(n, 0:m), s(:), l(2:), z(*), q(0:*), r(..)\nreal, allocatable :: d(:)\n"
        "real, pointer :: p(:,:)\nreal, parameter :: c(0:*) = [1., -2., 3.]",
        dummies="n, s, l, z, q, r",
    )
    assert symbol(view, "e").dims == (
        Dimension("explicit", ONE, N),
        Dimension("explicit", ZERO, Name("m")),
    )
    assert symbol(view, "e").stable == (True, False)
    assert symbol(view, "s").dims == (Dimension("assumed", ONE),)
    assert symbol(view, "l").dims == (Dimension("assumed", Literal("2")),)
    assert symbol(view, "s").stable == symbol(view, "l").stable == (True,)
    assert symbol(view, "z").dims == (Dimension("assumed-size", ONE),)
    assert symbol(view, "q").dims == (Dimension("assumed-size", ZERO),)
    assert symbol(view, "r").assumed_rank and not symbol(view, "r").dims
    assert symbol(view, "d").dims == (Dimension("deferred"),)
    assert symbol(view, "d").stable == (False,)
    assert symbol(view, "p").rank == 2
    assert symbol(view, "c").dims == (explicit("2", "0"),)


STABLE = {
    "5": True,
    "k": True,
    "k*2 + 1": True,
    "n": True,
    "max(n, 2)": True,
    "size(y)": True,
    "obj%n": True,
    "size(al)": False,
    "v": False,
    "t": False,
    "m": False,
    "g": False,
    "obj%p": False,
    "f(n)": False,
}


@pytest.mark.parametrize(("upper", "expected"), STABLE.items())
def test_stability_of_bounds(upper: str, expected: bool) -> None:
    view = sub(
        "integer, parameter :: k = 3\ntype o\ninteger :: n\ninteger, pointer :: p\nend type\n"
        "integer, intent(in) :: n\ninteger, value, intent(in) :: v\n"
        "integer, target, intent(in) :: t\ninteger, intent(inout) :: m\ninteger :: g\ncommon /c/ g\n"
        f"real :: y(:)\nreal, allocatable :: al(:)\ntype(o), intent(in) :: obj\nreal :: a({upper})",
        dummies="n, v, t, m, y, al, obj, a",
    )
    assert symbol(view, "a").stable == (expected,)


def test_attribute_statements_add_up() -> None:
    view = sub(
        "real a, b\ndimension a(3)\ntarget a\nintent(in) a\noptional a\nvolatile :: a\n"
        "equivalence (b, c)\ncommon /blk/ d(4)\nnamelist /grp/ e\nsave f\nreal :: g = 1",
        dummies="a",
    )
    a = symbol(view, "a")
    assert a.dims == (explicit("3"),)
    assert a.attributes == {"target", "optional", "volatile", "dummy"}
    assert a.intent is Intent.IN
    assert symbol(view, "b").attributes == symbol(view, "c").attributes == {"equivalence"}
    assert symbol(view, "d").attributes == {"common"}
    assert symbol(view, "d").dims == (explicit("4"),)
    assert symbol(view, "e").attributes == {"namelist"}
    assert symbol(view, "f").attributes == symbol(view, "g").attributes == {"save"}
    assert isinstance(view.lookup("grp"), Unresolved)


def test_named_constants() -> None:
    view = sub("integer n\nparameter (n = 2, m = n + 1)\nenum, bind(c)\nenumerator :: r = 4, g\n"
               "enumerator b\nend enum")  # fmt: skip
    assert [view.constant(Name(name)) for name in "nmrgb"] == [2, 3, 4, 5, 6]
    assert "parameter" in symbol(view, "b").attributes
    assert symbol(view, "n").value == Literal("2")


# ---- implicit typing


def test_implicit_typing() -> None:
    view = sub("implicit real(8) (a-c), logical (i), type(t) (u)")
    assert symbol(view, "b").type == Type("real", 8, "real(8)")
    assert symbol(view, "i1").type.name == "logical"
    assert symbol(view, "j1").type == Type("integer", 4, "integer")
    assert symbol(view, "z").type == Type("real", 4, "real")


def test_implicit_none_and_its_inheritance() -> None:
    text = "program p\nimplicit none\ncontains\nsubroutine s\nx = 1\nend subroutine\nend program\n"
    assert scope(text).lookup("x") == Unresolved("x", "it is not declared")
    assert isinstance(sub("implicit none (external)").lookup("x"), type(symbol(sub(""), "x")))


def test_implicit_variable_of_the_host() -> None:
    text = "program p\ny = 2\ncall s\ncontains\nsubroutine s\nx = 1\nend subroutine\nend program\n"
    assert symbol(scope(text), "y").attributes == {"host", "implicit"}
    assert symbol(scope(text), "x").attributes == {"implicit"}


# ---- what hides an intrinsic

HIDING = {
    "real :: sum(5)": "Symbol",
    "external sum": "Procedure",
    "real, external :: sum": "Procedure",
    "procedure(real) :: sum": "Procedure",
    "sum(x, y) = x + y": "Procedure",
    "interface\nfunction sum(x)\nreal :: x, sum\nend function\nend interface": "Procedure",
    "interface sum\nfunction mine(x)\nreal :: x, mine\nend function\nend interface": "Generic",
    "intrinsic sum": "Intrinsic",
    "integer :: summ": "Intrinsic",
    "use unseen": "Unresolved",
    "use unseen, only: other": "Intrinsic",
    "use unseen, only: sum": "Unresolved",
    "use mpi": "Intrinsic",
    "use, intrinsic :: iso_fortran_env": "Intrinsic",
    "include 'some.inc'": "Unresolved",
    "include 'mpif.h'": "Intrinsic",
    "#if A\nreal :: sum(5)\n#endif": "Unresolved",
    "type sum\ninteger :: i\nend type": "DerivedType",
}


@pytest.mark.parametrize(("declaration", "expected"), HIDING.items())
def test_intrinsic_or_not(declaration: str, expected: str) -> None:
    found = sub(declaration + "\nreal :: z").lookup("sum")
    assert type(found).__name__ == expected
    if isinstance(found, Generic):
        assert found.extends_intrinsic and found.specifics is not None


def test_a_promise_about_unseen_modules() -> None:
    view = sub("use unseen", assume_intrinsics=True)
    assert view.lookup("sum") == Intrinsic("sum")
    assert view.lookup("y") == Unresolved("y", "module 'unseen' was not seen")


def test_a_module_procedure_hides_an_intrinsic() -> None:
    text = (
        "module m\ncontains\nsubroutine s\nx = 1\nend subroutine\n"
        "pure function transpose(a)\nreal, intent(in) :: a(:,:)\nreal :: transpose(2)\n"
        "end function\nend module\n"
    )
    found = scope(text).lookup("transpose")
    assert isinstance(found, Procedure) and found.form == "module" and found.pure
    assert found.result is not None and found.result.dims == (explicit("2"),)
    assert [d.name for d in found.dummies if d] == ["a"] and found.host == "module m"


def test_implicit_variable_with_an_intrinsics_name() -> None:
    text = "subroutine s\nx = 1\nsum = 2\ny = max(x, 1.)\nend subroutine\n"
    assert symbol(scope(text), "sum").type.name == "real"
    assert scope(text).lookup("max") == Intrinsic("max")


# ---- functions that look like scalars


def test_declared_scalars_used_as_functions() -> None:
    text = (
        "subroutine s(d)\nreal :: d, f, y, arr(2)\nlogical :: l\ncharacter(9) :: c, cf\n"
        "x = 1\ny = f(1) + d(2) + arr(1) + g(3)\nif (y > 0.and.l(2)) y = o % y (2)\n"
        "c = c(1:2) // cf(4)\nend subroutine\n"
    )
    view = scope(text)
    f, d, cf, g = (view.lookup(name) for name in ("f", "d", "cf", "g"))
    assert isinstance(f, Procedure) and f.form == "external" and not f.pure
    assert isinstance(d, Procedure) and d.form == "dummy"
    assert isinstance(cf, Procedure) and isinstance(g, Procedure)
    assert isinstance(view.lookup("l"), Procedure)
    assert symbol(view, "c").type.name == "character" and symbol(view, "arr").rank == 1
    assert symbol(view, "y").rank == 0


def test_statement_functions() -> None:
    view = scope(
        "subroutine s\nreal :: sf, a(3)\ninteger :: i\nsf(i) = 2*i\nx = 1\na(i) = 1\nend subroutine\n"
    )
    found = view.lookup("sf")
    assert isinstance(found, Procedure) and found.form == "statement"
    assert symbol(view, "a").rank == 1
    first = scope("subroutine s\nreal a(3)\na(i) = 1\nx = 1\nend subroutine\n")
    assert symbol(first, "a").rank == 1


def test_results_and_own_names() -> None:
    text = (
        "real(8) pure elemental function f(x) result(r)\nreal, intent(in) :: x\nx = 1\nend function\n"
        "function g(x)\ninteger :: g(3)\ny = 1\nend function\n"
    )
    inner = scope(text)
    assert symbol(inner, "r").type.kind == 8 and "result" in symbol(inner, "r").attributes
    assert isinstance(inner.lookup("f"), Procedure)
    assert inner.pure and inner.unit == "function f"
    other = scope(text, "y = 1")
    assert symbol(other, "g").dims == (explicit("3"),) and not other.pure


def test_entry() -> None:
    view = scope("function f(a)\nreal a\nentry e(b)\nx = 1\nend function\n")
    assert "equivalence" in symbol(view, "f").attributes
    assert "equivalence" in symbol(view, "e").attributes
    assert "dummy" in symbol(view, "b").attributes


# ---- derived types


def test_components() -> None:
    view = sub(
        "integer, parameter :: wp = 8\ntype base\ninteger :: id\ncontains\nprocedure :: show\n"
        "final :: bye\nend type\ntype, extends(base) :: t\nreal(wp), allocatable :: u(:,:)\n"
        "type(base) :: parts(0:3)\nprocedure(cb), pointer, nopass :: call\ncontains\n"
        "procedure, pass :: a, b => bb\ngeneric :: assignment(=) => a\nend type\n"
        "type(t) :: o, p(2)\nclass(base) :: q\ntype(unseen) :: z",
        dummies="q",
    )
    kind = view.derived_of(symbol(view, "o"))
    assert kind is not None and kind == view.derived("T")
    assert set(kind.components) >= {"id", "base", "u", "parts"}
    assert kind.components["u"].dims == (Dimension("deferred"), Dimension("deferred"))
    assert kind.components["u"].type == Type("real", 8, "real(wp)")
    assert kind.components["parts"].dims == (explicit("3", "0"),)
    assert kind.bound == {"a", "b", "show", "call"}
    assert kind.assignment and kind.finalizer and not kind.parameterized
    parts = view.derived_of(kind.components["parts"])
    assert parts is not None and set(parts.components) == {"id"}
    assert view.derived_of(symbol(view, "p")) == kind
    assert view.derived_of(symbol(view, "q")) == parts
    assert view.derived_of(symbol(view, "z")) is None
    assert view.defined_assignment()


def test_parameterized_type_and_constructor() -> None:
    view = sub(
        "type t(k)\ninteger, kind :: k\nreal(k) :: a\nend type\ninterface t\n"
        "function make()\ninteger :: make\nend function\nend interface\n"
    )
    kind = view.derived("t")
    assert isinstance(kind, DerivedType) and kind.parameterized
    assert isinstance(view.lookup("t"), Generic)


# ---- interfaces and operators


def test_interface_bodies_need_import() -> None:
    view = sub(
        "integer, parameter :: wp = 8, m = 3\ninterface\npure function f(a)\nimport :: wp\n"
        "real(wp), intent(in), optional :: a(m)\nreal(wp) :: f\nend function\nend interface"
    )
    f = view.lookup("f")
    assert isinstance(f, Procedure) and f.form == "interface" and f.pure and not f.elemental
    assert f.result is not None and f.result.type == Type("real", 8, "real(wp)")
    a = f.dummies[0]
    assert a is not None and a.attributes >= {"optional", "dummy"} and a.stable == (False,)


def test_procedure_declarations_follow_their_interface() -> None:
    view = sub(
        "abstract interface\nelemental function f(a)\nreal, intent(in) :: a\nreal :: f\nend function\n"
        "end interface\nprocedure(f) :: d\nprocedure(f), pointer :: p\nprocedure(g) :: u",
        dummies="d",
    )
    d, p, u = view.lookup("d"), view.lookup("p"), view.lookup("u")
    assert isinstance(d, Procedure) and d.form == "dummy" and d.elemental and d.result is not None
    assert isinstance(p, Procedure) and p.pure
    assert isinstance(u, Procedure) and not u.pure


def test_defined_operators() -> None:
    assert not sub("real :: a").defined_operators() and not sub("real :: a").defined_assignment()
    view = sub(
        "interface operator (+)\nfunction f(a, b)\ninteger, intent(in) :: a\nlogical, intent(in) :: b\n"
        "integer :: f\nend function\nend interface\ninterface operator(.CROSS.)\nend interface\n"
        "interface assignment (=)\nend interface"
    )
    assert view.defined_operators() == {"+", ".cross."} and view.defined_assignment()
    unseen = sub("use unseen")
    assert "+" in unseen.defined_operators() and unseen.defined_assignment()
    assert not sub("use unseen, only: dp").defined_assignment()


# ---- scopes


HOST = (
    "module m\nimplicit none\ninteger, parameter :: n = 3\nreal :: a(n), b(n), v\n"
    "contains\nsubroutine s(n, b)\ninteger, intent(in) :: n\nreal :: b(n)\nvolatile :: v\n{}"
    "x = 1\n{}end subroutine\nend module\n"
)


def _host(opening: str = "", closing: str = "") -> View:
    return scope(HOST.format(opening, closing))


def test_host_association() -> None:
    view = _host()
    a = symbol(view, "a")
    assert a.attributes == {"host"} and a.origin == "module m"
    assert a.dims == (explicit("3"),) and a.stable == (True,)
    assert symbol(view, "b").attributes == {"dummy"} and symbol(view, "b").origin == "subroutine s"
    assert symbol(view, "n").attributes == {"dummy"}
    assert symbol(view, "v").attributes == {"host", "volatile"}
    assert view.unit == "subroutine s"


def test_block_has_its_own_declarations() -> None:
    view = _host("block\ninteger :: a\nreal :: c(n)\n", "end block\n")
    assert symbol(view, "a").type.name == "integer" and not symbol(view, "a").dims
    assert symbol(view, "b").attributes == {"dummy"}
    assert symbol(view, "c").stable == (True,)
    assert symbol(view, "n").attributes == {"dummy"} and view.unit == "subroutine s"


ASSOCIATED = {
    "a": ((Dimension("assumed", ZERO),), "real(wp)"),
    "b": ((Dimension("deferred"),), "real"),
    "c(:, 1)": ((Dimension("assumed", ONE),), "real"),
    "c(iv, k:)": ((Dimension("assumed", ONE), Dimension("assumed", ONE)), "real"),
    "c(1, k + 1)": ((), "real"),
    "g(2)%u": ((Dimension("deferred"), Dimension("deferred")), "real(wp)"),
    "g(:)%n": ((Dimension("assumed", ONE),), "integer"),
    "k": ((), "integer"),
}


@pytest.mark.parametrize(("selector", "expected"), ASSOCIATED.items())
def test_associate(selector: str, expected: tuple[tuple[Dimension, ...], str]) -> None:
    view = scope(
        "subroutine s(m)\ninteger, parameter :: wp = 8\ntype t\nreal(wp), allocatable :: u(:,:)\n"
        "integer :: n\nend type\ntype(t), target :: g(3)\nreal(wp) :: a(0:4)\nreal :: b(m:9), c(3, 3)\n"
        f"integer :: iv(2), k\nassociate (z => {selector}, q => 1)\nx = 1\nend associate\nend subroutine\n"
    )
    z = symbol(view, "z")
    assert (z.dims, z.type.spelling) == expected
    assert "associate" in z.attributes and ("target" in z.attributes) == selector.startswith("g")


def test_what_associate_names_are_not() -> None:
    text = (
        "subroutine s\nreal :: a(3), f\nassociate (z => a + 1, a => a(2:), k => kind(a))\n"
        "x = 1\nend associate\ny = 1\nend subroutine\n"
    )
    view = scope(text)
    assert view.lookup("z") == Unresolved("z", "it stands for an expression in ASSOCIATE")
    assert symbol(view, "a").dims == (Dimension("assumed", ONE),)
    assert symbol(scope(text, "y = 1"), "a").dims == (explicit("3"),)


def test_select_type() -> None:
    text = (
        "subroutine s(o)\nclass(*), intent(inout) :: o(:)\ntype t\ninteger :: i(2)\nend type\n"
        "select type (p => o)\ntype is (t)\nx = 1\ntype is (real(8))\nx = 2\nclass default\nx = 3\n"
        "end select\nend subroutine\n"
    )
    view = scope(text)
    p = symbol(view, "p")
    assert p.type == Type("type", None, "type(t)", None, "t") and p.rank == 1
    kind = view.derived_of(p)
    assert kind is not None and set(kind.components) == {"i"}
    assert symbol(scope(text, "x = 2"), "p").type.kind == 8
    assert symbol(scope(text, "x = 3"), "p").type.name == "class"


def test_do_concurrent_with_a_type() -> None:
    view = scope("subroutine s\nreal i\ndo concurrent (integer(8) :: i = 1:3)\nx = 1\nend do\nend\n")
    assert symbol(view, "i").type == Type("integer", 8, "integer(8)")


def test_contradictions() -> None:
    view = sub("real :: a\ninteger :: a\n#ifdef X\nreal :: b(3)\n#else\nreal :: b(4)\n#endif\nreal :: c\n"
               "#ifdef D\ninteger, parameter :: wp = 8\n#else\ninteger, parameter :: wp = 4\n#endif\n"
               "real(wp) :: d\nATTR(e)\nreal :: e")  # fmt: skip
    assert view.lookup("a") == Unresolved("a", "it is declared more than once")
    assert view.lookup("b") == Unresolved("b", "it is declared under '#if'")
    assert isinstance(view.lookup("e"), Unresolved)
    assert symbol(view, "c").type.kind == 4
    assert symbol(view, "wp").value is None and view.constant(Name("wp")) is None
    assert symbol(view, "d").type == Type("real", "wp", "real(wp)")


def test_kind_text_is_repeated_where_it_says_the_same() -> None:
    text = (
        "module m\ninteger, parameter :: wp = 8\nreal(selected_real_kind(p=15)) :: a\n"
        "real(kind(1.0_wp)) :: b\n"
        "contains\nsubroutine s\n{}x = 1\nend subroutine\nend module\n"
    )
    plain = scope(text.format(""))
    assert symbol(plain, "a").type.spelling == "real(selected_real_kind(p=15))"
    assert symbol(plain, "b").type.spelling == "real(kind(1.0_wp))"
    hidden = scope(text.format("integer, parameter :: wp = 4\n"))
    assert symbol(hidden, "b").type == Type("real", 8, "real(kind(b))")


def test_a_guarded_file_is_like_any_other() -> None:
    text = "#ifndef G\n#define G\nsubroutine s\nreal :: a(3)\nx = 1\nend subroutine\n#endif\n"
    assert symbol(scope(text), "a").rank == 1


def test_definitions_that_need_themselves_end() -> None:
    view = sub(
        "type, extends(u) :: t\nend type\ntype, extends(t) :: u\nend type\n"
        "real :: a(size(a))\ninteger, parameter :: k = kind(k), l = m, m = l\n"
        "integer(i) :: i\ntype(t) :: o\nprocedure(p1) :: p2\nprocedure(p2) :: p1\n"
        "procedure(s) :: p3",
        dummies="p3",
    )
    for name in ("s", "p1", "p2", "p3", "t", "u", "a", "k", "l", "m", "i", "o"):
        view.lookup(name)
    assert view.constant(Name("l")) is None
    assert symbol(view, "a").rank == 1


def test_nothing_is_read_that_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from fortrans.frontend import frames

    asked: list[str] = []
    real = frames.facts
    monkeypatch.setattr(frames, "facts", lambda text: (asked.append(text), real(text))[1])
    many = "\n".join(f"real :: a{i}({i})" for i in range(1, 200))
    view = sub(many)
    assert symbol(view, "a7").dims == (explicit("7"),)
    assert set(asked) == {"real :: a7(7)"}


def test_main_program_without_a_header() -> None:
    found = program("real :: a(3)\nx = 1\nend\n")
    assert found.units[0].kind == "program"
    assert symbol(scope("real :: a(3)\nx = 1\nend\n"), "a").rank == 1
