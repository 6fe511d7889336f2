"""USE across files: what is brought, under which name, and what may be (F2018 14.2.2)."""

from __future__ import annotations

import pytest
from scoped import program, scope, sub, symbol

from fortrans.batch import Batch
from fortrans.frontend.modules import index
from fortrans.frontend.resolve import resolve
from fortrans.ir.expr import Literal, Name
from fortrans.ir.symbols import Dimension, Generic, Intrinsic, Procedure, Symbol, Type, Unresolved
from fortrans.options import Options
from fortrans.remarks import InputError
from fortrans.source import Source

A = (
    "module a\nuse kinds, only: dp => wp\nimplicit none\nprivate\npublic :: v, w, t, gen, n, dp\n"
    "public :: operator(.x.)\ninteger, parameter :: n = 4\n"
    "real(dp) :: v(n), hidden\nreal(dp), allocatable, protected :: w(:)\n"
    "type t\nprivate\nreal(dp) :: c(n)\nend type\n"
    "interface gen\nmodule procedure g1, g2\nend interface\n"
    "interface operator(.x.)\nmodule procedure g1\nend interface\n"
    "interface operator(.y.)\nmodule procedure g1\nend interface\n"
    "contains\nelemental function g1(x)\nreal(dp), intent(in) :: x\nreal(dp) :: g1\nend function\n"
    "pure subroutine g2(x)\ninteger, intent(out) :: x\nend subroutine\nend module\n"
)
KINDS = "module kinds\ninteger, parameter :: wp = selected_real_kind(15)\nend module\n"
B = "module b\nuse a, own => v\nreal :: sum\nend module\n"


def test_whole_module() -> None:
    view = sub("use a", A, KINDS)
    v = symbol(view, "v")
    assert v.attributes == {"use"} and v.origin == "module a"
    assert v.type == Type("real", 8, "real(dp)")
    assert v.dims == (Dimension("explicit", Literal("1"), Name("n")),) and v.stable == (True,)
    assert symbol(view, "w").attributes == {"use", "allocatable", "protected"}
    assert view.lookup("hidden") != symbol(view, "v")
    assert "use" not in symbol(view, "hidden").attributes, "private: an implicit variable here"
    assert view.lookup("wp") != view.lookup("dp")
    kind = view.derived("t")
    assert kind is not None and kind.components["c"].type.kind == 8
    assert view.constant(Name("dp")) == 8


def test_only_and_rename() -> None:
    view = sub("use a, only: mine => v, t, operator(.x.)\nreal :: n", A, KINDS)
    mine = symbol(view, "mine")
    assert mine.remote == "v" and mine.name == "mine"
    assert mine.dims == (Dimension("explicit", Literal("1"), Literal("4")),), "n is another n here"
    assert mine.type == Type("real", 8, "real(kind(mine))"), "dp has no name here"
    assert "use" not in symbol(view, "v").attributes
    assert view.defined_operators() == {".x."}
    component = view.derived("t")
    assert component is not None and component.components["c"].type.spelling == "real(8)"


def test_a_renamed_entity_has_no_other_name() -> None:
    view = sub("use a, mine => v", A, KINDS)
    assert symbol(view, "mine").remote == "v"
    assert "use" not in symbol(view, "v").attributes
    both = sub("use a, mine => v\nuse a, only: v", A, KINDS)
    assert symbol(both, "mine").origin == symbol(both, "v").origin == "module a"


def test_reexport_in_any_order() -> None:
    view = sub("use b", B, A, KINDS)
    assert symbol(view, "own").origin == "module a" and symbol(view, "own").remote == "v"
    assert symbol(view, "own").type == Type("real", 8, "real(dp)")
    assert symbol(view, "sum").origin == "module b", "a variable hides the intrinsic"
    same = sub("use b\nuse a, only: own2 => v, w", B, A, KINDS)
    assert symbol(same, "w").origin == "module a", "one entity by two ways"
    assert same.defined_operators() == {".x."}, ".y. is private"


def test_generics_merge_and_procedures_are_known() -> None:
    other = (
        "module c\ninterface gen\nmodule procedure h\nend interface\ncontains\n"
        "subroutine h(x)\nlogical x\nend subroutine\nend module\n"
    )
    view = sub("use a\nuse c", A, KINDS, other)
    found = view.lookup("gen")
    assert isinstance(found, Generic) and found.specifics is not None
    assert {p.name for p in found.specifics} == {"g1", "g2", "h"}
    first = next(p for p in found.specifics if p.name == "g1")
    assert first.elemental and first.pure and first.host == "module a"
    assert not isinstance(sub("use a", A, KINDS).lookup("g1"), Procedure), "it is private"


def test_two_modules_bring_one_name() -> None:
    one, two = (f"module {m}\nreal :: q\nend module\n" for m in ("m1", "m2"))
    assert isinstance(sub("use m1\nuse m2", one, two).lookup("q"), Unresolved)


def test_a_local_declaration_comes_first_then_use_then_host() -> None:
    text = (
        "module h\nreal :: v(9), w(9), z(9)\ncontains\nsubroutine s\nuse a, only: v, w\n"
        "x = 1\nend subroutine\nend module\n"
    )
    view = scope(text, "x = 1", A, KINDS)
    assert symbol(view, "v").origin == "module a"
    assert symbol(view, "z").origin == "module h" and symbol(view, "z").attributes == {"host"}
    moved = text.replace("use a, only: v, w\n", "").replace("module h\n", "module h\nuse a, only: n\n")
    hosted = scope(moved, "x = 1", A, KINDS)
    assert symbol(hosted, "n").attributes >= {"use", "host", "parameter"}


def test_unseen_modules_may_bring_anything_through_a_seen_one() -> None:
    open_ = "module o\nuse unseen\nend module\n"
    shut = "module o\nuse unseen\nprivate\nreal, public :: q\nend module\n"
    assert isinstance(sub("use o", open_).lookup("sum"), Unresolved)
    assert sub("use o", open_, assume_intrinsics=True).lookup("sum") == Intrinsic("sum")
    assert sub("use o", shut).lookup("sum") == Intrinsic("sum")
    assert symbol(sub("use o", shut), "q").origin == "module o"
    listed = sub("use o, only: f", open_)
    assert listed.lookup("f") == Unresolved("f", "module 'unseen' was not seen")
    assert isinstance(sub("use o, only: nothing", shut).lookup("nothing"), Unresolved)
    assert sub("use o", open_).defined_assignment() and not sub("use o", shut).defined_assignment()


def test_an_unseen_module_may_hide_the_host() -> None:
    text = "module h\nreal :: v(9)\ncontains\nsubroutine s\nuse {}\nx = 1\nend subroutine\nend module\n"
    assert isinstance(scope(text.format("unseen")).lookup("v"), Unresolved)
    assert isinstance(scope(text.format("mpi")).lookup("v"), Symbol)
    assert isinstance(scope(text.format("mpi")).lookup("mpi_comm_world"), Unresolved)


def test_conditional_use() -> None:
    view = sub("#ifdef X\nuse a, only: v\n#else\nuse c, only: v\n#endif", A, KINDS)
    assert isinstance(view.lookup("v"), Unresolved)
    sentinel = sub("!$ use a, only: v", A, KINDS)
    assert isinstance(sentinel.lookup("v"), Unresolved)


def test_cyclic_use_ends() -> None:
    one = "module m1\nuse m2\nreal :: p\nend module\n"
    two = "module m2\nuse m1\nreal :: q\nend module\n"
    view = sub("use m1", one, two)
    assert symbol(view, "p").origin == "module m1" and symbol(view, "q").origin == "module m2"
    assert symbol(view, "nowhere").origin == "subroutine s"
    assert not view.defined_operators()


def test_two_modules_of_one_name_are_unknown() -> None:
    first = program("module m\nreal :: v\nend module\n", "a.f90")
    second = program("\nmodule m\nreal :: v(2)\nend module\n", "b.f90")
    user = program("subroutine s\nuse m, only: v\nend subroutine\n", "c.f90")
    found = resolve(user, index([first, second, user])).of(user.units[0]).lookup("v")
    assert found == Unresolved("v", "module 'm' is defined in 'a.f90' and in 'b.f90'")


def test_copies_of_one_module_are_one() -> None:
    first = program("module m\nreal :: v\nend module\n", "a.f90")
    copy = program("! a copy\nmodule m\nreal :: v \nend module\n", "old/a.f90")
    found = index([first, copy])
    assert found.modules["m"][0] is first and not found.unsure


def test_alternatives_under_if_are_not_seen() -> None:
    text = "#ifdef X\nmodule m\nreal :: v\nend module\n#else\nmodule m\nreal :: v(2)\nend module\n#endif\n"
    assert isinstance(sub("use m", text).lookup("v"), Unresolved)


INTRINSIC_MODULES = [
    ("iso_fortran_env", "real64", 8),
    ("iso_fortran_env", "int8", 1),
    ("iso_fortran_env", "iostat_end", -1),
    ("iso_c_binding", "c_int", 4),
    ("iso_c_binding", "c_double", 8),
    ("iso_c_binding", "c_size_t", 8),
    ("iso_c_binding", "c_long_double", None),
]


@pytest.mark.parametrize(("module", "name", "value"), INTRINSIC_MODULES)
def test_intrinsic_modules(module: str, name: str, value: int | None) -> None:
    view = sub(f"use, intrinsic :: {module}, only: k => {name}\nreal(k) :: a")
    assert view.constant(Name("k")) == value
    assert symbol(view, "a").type == Type("real", "k" if value is None else value, "real(k)")
    assert symbol(view, "k").attributes >= {"parameter", "use"}


def test_intrinsic_modules_hide_no_intrinsic() -> None:
    for module in ("iso_fortran_env", "iso_c_binding", "ieee_arithmetic", "ieee_exceptions", "omp_lib"):
        view = sub(f"use {module}")
        for name in ("sum", "matmul", "huge", "transpose"):
            assert view.lookup(name) == Intrinsic(name)
    assert isinstance(sub("use ieee_arithmetic").lookup("ieee_is_nan"), Generic)
    assert isinstance(sub("use ieee_arithmetic").lookup("ieee_get_flag"), Generic)
    own = "module iso_c_binding\ninteger, parameter :: c_int = 77\nend module\n"
    assert sub("use iso_c_binding", own).constant(Name("c_int")) == 77
    assert sub("use, intrinsic :: iso_c_binding", own).constant(Name("c_int")) == 4


SUBMODULE = (
    "submodule (m) sm\nreal :: here(2)\ncontains\nmodule procedure f\nx = 1\nend procedure\n"
    "module subroutine g(q)\nreal, intent(in) :: q(:)\ny = 1\nend subroutine\nend submodule\n"
)
PARENT = (
    "module m\nimplicit none\nreal, private :: secret(3)\ninterface\n"
    "pure module function f(a) result(r)\nreal, intent(in) :: a(:)\nreal :: r(size(a))\nend function\n"
    "module subroutine g(q)\nreal, intent(in) :: q(:)\nend subroutine\nend interface\nend module\n"
)


def test_submodules() -> None:
    view = scope(SUBMODULE, "x = 1", PARENT)
    assert symbol(view, "secret").attributes == {"host"} and symbol(view, "here").rank == 1
    assert symbol(view, "a").attributes == {"dummy"}
    assert symbol(view, "r").attributes == {"result"} and symbol(view, "r").stable == (True,)
    assert view.pure
    assert not scope(SUBMODULE, "y = 1", PARENT).pure
    assert symbol(scope(SUBMODULE, "y = 1", PARENT), "q").rank == 1
    nested = SUBMODULE.replace("(m) sm", "(m:mid) sm")
    middle = "submodule (m) mid\nreal :: between\nend submodule\n"
    deep = scope(nested, "x = 1", PARENT, middle)
    assert symbol(deep, "between").attributes == {"host"} and symbol(deep, "secret").rank == 1


def test_a_submodule_without_its_parent() -> None:
    view = scope(SUBMODULE)
    assert isinstance(view.lookup("a"), Unresolved) and isinstance(view.lookup("sum"), Unresolved)
    assert symbol(view, "here").rank == 1
    assert view.defined_assignment()


def test_names_of_one_text_need_not_be_one_kind() -> None:
    one, two = (f"module m{i}\ninteger, private, parameter :: wp = other_{i}\nreal(wp) :: v{i}\nend module\n"
                for i in (1, 2))  # fmt: skip
    view = sub("use m1\nuse m2", one, two)
    kinds = {symbol(view, "v1").type.kind, symbol(view, "v2").type.kind}
    assert len(kinds) == 2 and all(isinstance(kind, str) for kind in kinds)
    assert symbol(view, "v1").type.spelling == "real(kind(v1))"


def test_modules_of_the_program_itself_are_found() -> None:
    text = "module own\nreal :: v(2)\nend module\nsubroutine s\nuse own\nx = 1\nend subroutine\n"
    main = program(text)
    view = resolve(main, index([])).at(next(iter(main.executables())))
    assert symbol(view, "v").rank == 1


A_USES_B = Source("a.f90", "module a\nuse b\nend module\n")
B_USES_A = Source("b.f90", "module b\ncontains\nsubroutine s()\nuse a\nend subroutine\nend module\n")


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ([A_USES_B, B_USES_A], ["a.f90:2: error: Module 'a' uses itself, through 'b'",
                                "b.f90:4: error: Module 'b' uses itself, through 'a'"]),
        ([Source("c.f90", "module c\nuse c\nend module\n")], ["c.f90:2: error: Module 'c' uses itself"]),
        ([Source("c.f90", "module iso_c_binding\nuse, intrinsic :: iso_c_binding\nend module\n")], []),
        ([A_USES_B, Source("b.f90", "module b\nend module\nmodule c\nuse a\nend module\n")], []),
        ([A_USES_B, Source("b.f90", "module b\n#ifdef X\nuse a\n#endif\nend module\n")], []),
        ([A_USES_B, B_USES_A, Source("c.f90", "module b\nend module\n")], []),
    ],
)  # fmt: skip
def test_modules_in_a_circle_are_an_error(sources: list[Source], told: list[str]) -> None:
    batch = Batch.of(sources)
    results = [batch.rewrite(position, Options()) for position in range(len(sources))]
    assert [str(result) for result in results if isinstance(result, InputError)] == told
