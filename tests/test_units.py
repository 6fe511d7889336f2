"""Units, constructs and executables of small sources, and the errors of unbalanced ones."""

import pytest

from fortrans.frontend.classify import classify
from fortrans.frontend.units import Executable, Program, Unit, place, read
from fortrans.remarks import InputError
from fortrans.source import Source, Span


def program(text: str) -> Program:
    return read(Source("a.f90", text))


def body(text: str) -> list[Executable]:
    return list(program(text + "\nend\n").executables())


def units(text: str) -> list[tuple[str, str]]:
    return [(u.kind, u.name) for u in program(text).walk()]


@pytest.mark.parametrize(
    "text",
    [
        "if(1) = 2",
        "end = 3",
        "do = 1",
        "type = 1",
        "type(1) = 2",
        "block = 2",
        "where(1) = 3",
        "program = 1",
        "module = 1",
        "real(3) = 4",
        "function = 1",
        "else = 2",
        "call = 3",
        "if (a(1)) = 2",
        "interface%x(f(')')) = 4",
        "end(1:2)%do(3)[4] = 1",
        "contains = 1",
        "data(1) = 2",
        "case(1) = 2",
        "a(i) (2:3) = '=='",
    ],
)
def test_any_name_can_be_assigned(text: str) -> None:
    assert classify(text).kind == "assignment"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("p => q", "pointer assignment"),
        ("a == b", "unknown"),
        ("if (a == b) c = d", "if"),
        ("if (x) 10, 20, 30", "arithmetic if"),
        ("IF(x)THEN", "if then"),
        ("out: do i = 1, n", "do"),
        ("do 10, i = 1, n", "do"),
        ("do, i = 1, n", "do"),
        ("do", "do"),
        ("do while (x)", "do while"),
        ("do 10 while(x)", "do while"),
        ("do concurrent (i = 1:n)", "do concurrent"),
        ("where (m == 1)", "where construct"),
        ("where (m) a = b", "where"),
        ("forall (i = 1:n) a(i) = b", "forall"),
        ("select case (x)", "select case"),
        ("selectcase(x)", "select case"),
        ("s: select type (x => y)", "select type"),
        ("select rank (x)", "select rank"),
        ("associate (a => b)", "associate"),
        ("block", "block"),
        ("block data", "block data"),
        ("block data d", "block data"),
        ("critical", "critical"),
        ("change team (t)", "team"),
        ("end team (stat=s)", "end"),
        ("end file 10", "endfile"),
        ("else if (x) then", "guard"),
        ("elsewhere", "guard"),
        ("case default", "guard"),
        ("type is (integer)", "guard"),
        ("class default", "guard"),
        ("rank (1)", "guard"),
        ("type :: t", "type"),
        ("type t", "type"),
        ("type, extends(b), public :: t", "type"),
        ("type(t) :: x", "specification"),
        ("class(t), pointer :: x => null()", "specification"),
        ("integer :: function", "specification"),
        ("integer function_x", "specification"),
        ("integer function f(x)", "function"),
        ("real(dp) pure elemental function f(x) result(y)", "function"),
        ("type(t) function f()", "function"),
        ("character(len=*) function f(x)", "function"),
        ("character*(*) function f(x)", "function"),
        ("real*8 function f(x)", "function"),
        ("double precision function f(x)", "function"),
        ("recursive subroutine s", "subroutine"),
        ("module subroutine s(x)", "subroutine"),
        ("subroutine s() bind(c, name='s')", "subroutine"),
        ("module procedure p", "module procedure"),
        ("module m", "module"),
        ("submodule (a:b) c", "submodule"),
        ("abstract interface", "interface"),
        ("interface operator(+)", "interface"),
        ("enum, bind(c)", "enum"),
        ("ASSERT(x > 0)", "unknown"),
        ("call s(a = 1)", "call"),
        ("integer, parameter :: n = 3", "specification"),
        ("use m, only: a => b", "specification"),
        ("data x /1/", "specification"),
        ("open(unit=1, file='=')", "open"),
    ],
)
def test_classify(text: str, kind: str) -> None:
    assert classify(text).kind == kind


def test_main_program_without_program_between_others() -> None:
    text = "subroutine a\nend\nx = 1\ncall b\nend\nmodule m\nend module\nfunction f(x)\nend\n"
    assert units(text) == [("subroutine", "a"), ("program", ""), ("module", "m"), ("function", "f")]
    assert program(text).units[1].opening is None


HOST = """\
module m
  use k, only: q
  implicit none
  type, extends(b) :: t
    integer :: i
  contains
    procedure :: p
    generic :: assignment(=) => p
  end type t
  interface operator(+)
    module procedure add
    pure function plus(a, b) result(c)
      import t
      type(t), intent(in) :: a, b
    end function
  end interface
  abstract interface
    subroutine cb(x, *)
    end subroutine
  end interface
  enum, bind(c)
    enumerator :: red = 1
  end enum
contains
  pure recursive real(q) function f(x, y) result(z) bind(c)
    z = g(x)
  contains
    function g(x)
      g = x
    end function g
  end function f
end module m
submodule (m:n) s
contains
  module procedure p
    block
      integer :: i
      i = 1
    end block
  end procedure
end submodule
"""


def test_tree() -> None:
    found = program(HOST)
    assert [(u.kind, u.name) for u in found.walk()] == [
        ("module", "m"),
        ("type", "t"),
        ("interface", "operator(+)"),
        ("interface body", "plus"),
        ("interface", ""),
        ("interface body", "cb"),
        ("enum", ""),
        ("function", "f"),
        ("function", "g"),
        ("submodule", "s"),
        ("module procedure", "p"),
        ("block", ""),
    ]
    by: dict[str, Unit] = {u.name or u.kind: u for u in found.walk()}
    assert by["f"].prefix == ("pure", "recursive", "real")
    assert (by["f"].dummies, by["f"].result) == (("x", "y"), "z")
    assert (by["g"].dummies, by["g"].result) == (("x",), "g")
    assert by["cb"].dummies == ("x", "*")
    assert (by["cb"].procedure, by["plus"].procedure) == ("subroutine", "function")
    assert by["interface"].prefix == ("abstract",)
    assert by["s"].ancestor == "m:n"
    assert [s.text for s in by["m"].specification] == ["use k, only: q", "implicit none"]
    assert [s.text for s in by["operator(+)"].specification] == ["module procedure add"]
    assert [s.text for s in by["t"].specification][-1] == "generic :: assignment(=) => p"
    assert by["m"].contains is not None and by["m"].contains.span == Span(24, 24)
    assert by["block"].program_unit is by["p"]
    assert [e.unit.name or e.unit.kind for e in found.executables()] == ["f", "g", "p", "block"]


def test_constructs_and_guards() -> None:
    found = body(
        "o: do i = 1, n\nif (a) then\nx = 1\nelse if (b) then\ny = 2\nend if\n"
        "select type (q => z)\ntype is (t)\nq = 1\nend select\nend do o\nz = 1"
    )
    chains = {e.statement.text: [(c.kind, c.name) for c in e.constructs] for e in found}
    assert chains["x = 1"] == [("do", "o"), ("if", None)]
    assert chains["y = 2"] == chains["x = 1"]
    assert chains["q = 1"] == [("do", "o"), ("select type", None)]
    assert chains["z = 1"] == []
    guards = {e.statement.text: e.constructs[-1].guard for e in found if e.constructs}
    assert guards["x = 1"] is None
    assert guards["y = 2"] is not None and guards["y = 2"].text == "else if (b) then"
    assert guards["q = 1"] is not None and guards["q = 1"].text == "type is (t)"
    keys = {e.statement.text: e.constructs[-1].key for e in found if e.constructs}
    assert keys["x = 1"] == keys["y = 2"] != keys["q = 1"]


def test_labelled_loops_share_their_end() -> None:
    found = program("do 10 i = 1, 2\ndo 10 j = 1, 2\n10 a(:, i) = b\nx = 1\ndo 20 k = 1, 2\n20 end do\nend\n")
    chains = {e.statement.text: len(e.constructs) for e in found.executables()}
    assert chains["a(:, i) = b"] == 2
    assert chains["x = 1"] == 0
    assert found.units[0].block_labels == {"10", "20"}
    assert set(found.extents.values()) == {Span(1, 3), Span(2, 3), Span(5, 6)}


def test_one_line_forms() -> None:
    (plain, wheres, both) = body(
        "if (f(')')) a = b\nwhere (m) c = d\nif (q) forall (i=1:n) where (w(i, :)) e(i, :) = 1"
    )
    assert (plain.statement.text, plain.condition, plain.kind) == ("a = b", "f(')')", "assignment")
    assert (wheres.statement.text, wheres.where, wheres.condition) == ("c = d", "m", None)
    assert (both.condition, both.forall, both.where) == ("q", "i=1:n", "w(i, :)")
    assert both.statement.text == "e(i, :) = 1"


def test_place_keeps_siblings_and_comments() -> None:
    found = program("  i = 1; 10 a(:) = b + & ! one\n    c ; k = 2 ! two\nend\n")
    (_, middle, _) = found.executables()
    where = place(found, middle)
    assert where.before == ("i = 1",) and where.after == ("k = 2",)
    assert where.label == "10" and where.statement == "a(:) = b + c"
    assert where.comments == ("! one", "! two")
    assert where.original == ("  i = 1; 10 a(:) = b + & ! one\n", "    c ; k = 2 ! two\n")


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("!$omp parallel\na = 1\n!$omp end parallel\nb = 1", ["omp parallel", None]),
        ("!$omp parallel do\ndo i = 1, 2\na = 1\nend do\nb = 1", ["omp parallel do", None]),
        (
            "!$omp parallel do private(x)\ndo i = 1, 2\na = 1\nend do\n!$omp end parallel do\nb = 1",
            ["omp parallel do", None],
        ),
        ("!$omp atomic\na = 1\nb = 1", ["omp atomic", None]),
        (
            "!$omp parallel workshare\na = 1\n!$omp endparallel workshare\nb = 1",
            ["omp parallel workshare", None],
        ),
        ("!$acc kernels loop\ndo i = 1, 2\na = 1\nend do\nb = 1", ["acc kernels loop", None]),
        (
            "!$acc data copy(a)\n!$acc kernels\na = 1\n!$acc end kernels\nb = 1\n!$acc end data",
            ["acc kernels", "acc data"],
        ),
        ("!$omp barrier\na = 1\n!$omp target update to(x)\nb = 1", [None, None]),
        (
            "!$omp single\na = 1\n!$omp task\nb = 1\n!$omp end task\n!$omp end single",
            ["omp single", "omp task"],
        ),
        ("!DIR$ IVDEP\na = 1\nb = 1", ["!dir$", None]),
        ("!$omp do simd\ndo 10 i = 1, 2\n10 a = 1\nb = 1", ["omp do simd", None]),
    ],
)
def test_directive_regions(text: str, regions: list[str | None]) -> None:
    assert [e.region for e in body(text) if e.kind == "assignment"] == regions


def test_preprocessor_marks_and_macros() -> None:
    found = program(
        "program p\n#define N 3\n#ifdef A\ninteger :: i\n#endif\ninteger :: k\n"
        "#if 1\na = 1\n#else\nb = 1\n#endif\nc = 1\nd = N\nend\n"
    )
    assert {e.statement.text: e.preprocessed for e in found.executables()} == {
        "a = 1": True,
        "b = 1": True,
        "c = 1": False,
        "d = N": True,
    }
    conditional = [s.text for s in found.statements if s.ordinal in found.conditional]
    assert "integer :: i" in conditional and "integer :: k" not in conditional
    assert found.macros == {"N"}


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        (
            (
                "subroutine a\n#ifdef X\nif (x) then\n#else\nif (y) then\n#endif\nz = 1\nend if\nend\n"
                "subroutine b\nq = 1\nend\n"
            ),
            ["a"],
        ),
        (
            "#ifdef X\nsubroutine a(x)\n#else\nsubroutine a(x, y)\n#endif\nz = 1\nend\nsubroutine b\nend\n",
            ["a", "a"],
        ),
        (
            (
                "subroutine a\n#ifdef X\nif (x) then\n#endif\nz = 1\n#ifdef X\nend if\n#endif\nend\n"
                "subroutine b\nend\n"
            ),
            ["a"],
        ),
        ("subroutine a\n!$ do i = 1, 2\nz = 1\n!$ end do\nend\nsubroutine b\nend\n", ["a"]),
        ("subroutine a\n#if 0\ndon't read (this\n#endif\nend\n", ["a"]),
        ("subroutine a\n#ifdef X\nz = 1\n#else\nz = 2\n#endif\nend\n", []),
    ],
)
def test_split_structure_breaks_its_unit_only(text: str, broken: list[str]) -> None:
    found = program(text)
    assert [u.name for u in found.walk() if u.broken] == broken


def test_broken_unit_breaks_what_it_contains() -> None:
    found = program(
        "subroutine a\n#ifdef X\nif (x) then\n#endif\nz = 1\n#ifdef X\nend if\n#endif\n"
        "contains\nsubroutine b\nend\nend\n"
    )
    assert [u.name for u in found.walk() if u.broken] == ["a", "b"]


def test_unknown_statements_cost_nothing_else() -> None:
    found = program("subroutine s\nDECLARE_IT\ninteger :: i\ni = 1\nASSERT(i > 0)\ni = 2\nend\n")
    assert [e.kind for e in found.executables()] == ["assignment", "unknown", "assignment"]
    assert [s.text for s in found.units[0].specification] == ["DECLARE_IT", "integer :: i"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("program p\nif (x) then\na = 1\nend program\n", 4, "'end program' found where the IF of line 2"),
        ("program p\na = 1\n", 1, "PROGRAM has no END"),
        ("subroutine s\nend do\nend\n", 2, "'end do' found where the SUBROUTINE of line 1"),
        ("subroutine s\nend function\n", 2, "SUBROUTINE of line 1"),
        ("end\n", 1, "ends nothing"),
        ("module m\nsubroutine s\nend\nend\n", 2, "MODULE of line 1"),
        ("program p\nx = (1\nend\n", 2, "Parentheses"),
        ("program p\nx = 'a\nend\n", 2, "Character literal"),
        ("program p\nelse\nend\n", 2, "belongs to no open construct"),
        ("program p\ndo\ncontains\nend do\nend\n", 3, "CONTAINS"),
        ("Dear Sir,\nthis is no program.\n", 1, "Main program has no END"),
        ("<html>\n</html>\n", 1, "not a Fortran statement"),
        ("      x = 1 +\n     $ 2\n      end\n", 1, "Fixed source form"),
    ],
)
def test_errors(text: str, line: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        program(text)
    if "Fixed" not in words:
        assert caught.value.line == line
    assert words in caught.value.message


def test_nothing_in_an_empty_file() -> None:
    assert program("").units == ()
    assert program("! only a comment\n#define X\n").units == ()


def test_speed() -> None:
    import time

    text = (
        "subroutine s\n"
        + "  a(i, j) = b(i, j) + c*d(i + 1, j) ! note\n  call f(x, y)\n  ! note\n" * 4000
        + "end\n"
    )
    start = time.perf_counter()
    program(text)
    assert time.perf_counter() - start < 3.0
