"""emit: printing, the file's style, and what must survive around a rewritten statement."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fparser.two import Fortran2003
from fparser.two.parser import ParserFactory
from fparser.two.utils import BinaryOpBase, UnaryOpBase
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fortrans.emit.continuation import fold
from fortrans.emit.environment import indented
from fortrans.emit.layout import render
from fortrans.emit.printer import bounds, text
from fortrans.emit.style import Spelling, Style, detect, spelling
from fortrans.ir.arrays import Scalar
from fortrans.ir.expr import (
    ONE,
    ZERO,
    At,
    Call,
    Component,
    Expr,
    Keyword,
    Literal,
    Name,
    Op,
    Opaque,
    Range,
    Ref,
    Select,
    Substring,
    add,
    integer,
    sub,
    transform,
    walk,
)
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
from fortrans.ir.sites import Place
from fortrans.ir.symbols import INTEGER, LOGICAL, REAL, Type
from fortrans.options import Options
from fortrans.remarks import InputError, Refusal
from fortrans.source import Edit, Source, Span

A, B, C, I, J, N, X = (Name(id) for id in ("a", "b", "c", "i", "j", "n", "x"))  # noqa: E741
PLAIN = Spelling()


def op(name: str, *args: Expr) -> Expr:
    return Op(name, args)


# ---- printer -----------------------------------------------------------------

PRINTED = [
    (op("-", A, op("-", B, C)), "a - (b - c)"),
    (op("-", op("-", A, B), C), "a - b - c"),
    (op("+", A, op("+", B, C)), "a + (b + c)"),
    (op("/", A, op("*", B, C)), "a/(b*c)"),
    (op("*", op("/", A, B), C), "a/b*c"),
    (op("*", A, op("-", B)), "a*(-b)"),
    (op("*", op("-", A), B), "(-a)*b"),
    (op("-", op("*", A, B)), "-a*b"),
    (op("+", A, op("-", B)), "a + (-b)"),
    (op("+", op("-", A), B), "-a + b"),
    (op("-", op("-", A)), "-(-a)"),
    (op("-", op("+", A, B)), "-(a + b)"),
    (op("**", Literal("2"), integer(-1)), "2**(-1)"),
    (op("**", A, op("**", B, C)), "a**b**c"),
    (op("**", op("**", A, B), C), "(a**b)**c"),
    (op("-", op("**", A, Literal("2"))), "-a**2"),
    (op("**", op("-", A), Literal("2")), "(-a)**2"),
    (op("*", op("()", op("+", A, B)), C), "(a + b)*c"),
    (op("+", A, op("()", op("*", B, C))), "a + (b*c)"),
    (op("()", op("()", A)), "((a))"),
    (op("//", A, op("//", B, C)), "a // (b // c)"),
    (op("==", op("+", A, B), op("-", C)), "a + b == -c"),
    (op("==", op("==", A, B), C), "(a == b) == c"),
    (op(".not.", op("==", A, B)), ".not. a == b"),
    (op(".not.", op(".and.", A, B)), ".not. (a .and. b)"),
    (op(".not.", op(".not.", A)), ".not. (.not. a)"),
    (op(".and.", A, op(".not.", B)), "a .and. .not. b"),
    (op(".and.", op(".or.", A, B), C), "(a .or. b) .and. c"),
    (op(".or.", op(".and.", A, B), C), "a .and. b .or. c"),
    (op(".eqv.", A, op(".neqv.", B, C)), "a .eqv. (b .neqv. c)"),
    (op(".cross.", A, op(".eqv.", B, C)), "a .cross. b .eqv. c"),
    (op("+", op(".cross.", A, B), C), "(a .cross. b) + c"),
    (op("**", op(".inv.", A), B), ".inv. a**b"),
    (op(".inv.", op("**", A, B)), ".inv. (a**b)"),
    (op("*", Literal("-1"), A), "(-1)*a"),
    (op("*", Opaque("p%q(i + 1)%r", frozenset()), A), "p%q(i + 1)%r*a"),
    (op("*", Opaque("p + q", frozenset()), A), "(p + q)*a"),
    (op("*", Opaque("(p + q)", frozenset()), A), "(p + q)*a"),
    (op("*", Opaque("p.op.q", frozenset()), A), "(p.op.q)*a"),
    (op("//", Opaque("f('a + (')", frozenset()), A), "f('a + (') // a"),
    (Ref(Component(Ref(A, (I, op("+", J, ONE))), "u"), (ONE,)), "a(i, j + 1)%u(1)"),
    (Ref(A, (Range(None, None), Range(op("+", I, ONE), op("-", N, ONE), Literal("2")))), "a(:, i+1:n-1:2)"),
    (Ref(A, (Range(None, N), Range(ONE, None), Range(None, None, integer(-1)))), "a(:n, 1:, ::-1)"),
    (Substring(Ref(A, (I,)), ONE, N), "a(i)(1:n)"),
    (Call("sum", (A, Keyword("dim", Literal("2")))), "sum(a, dim=2)"),
    (Call("f", (op("()", A),)), "f((a))"),
    (Literal("(1.0, 2.0)"), "(1.0, 2.0)"),
    (Ref(A, (integer(-3),)), "a(-3)"),
]


@pytest.mark.parametrize(("expr", "expected"), PRINTED, ids=[e for _, e in PRINTED])
def test_printed(expr: Expr, expected: str) -> None:
    assert text(expr, PLAIN) == expected


def test_what_is_no_expression_of_the_language_is_never_printed() -> None:
    for expr in (Select(A, B, C), At(Scalar(A, REAL), (), A), op("+", A, Select(A, B, C))):
        with pytest.raises(TypeError):
            text(expr, PLAIN)
    for unknown in (op("&", A, B), op("*", A), op(".not.", A, B)):
        with pytest.raises(TypeError):
            text(unknown, PLAIN)


def test_a_bound_is_printed_close() -> None:
    assert bounds(ONE, sub(N, ONE), None, PLAIN) == "1:n-1"
    assert bounds(op("*", op("+", A, B), C), op("-", op("-", N), A), None, PLAIN) == "(a+b)*c:-n-a"


BINARY = ("**", "*", "/", "+", "-", "//", "==", "<", ".and.", ".or.", ".eqv.", ".neqv.", ".cross.")
UNARY = ("+", "-", ".not.", ".inv.", "()")
TREES = st.recursive(
    st.sampled_from([A, B, Ref(A, (I, N)), Literal("2"), Literal("1.5e-3"), Literal("'a*b'")]),
    lambda inner: st.one_of(
        st.builds(op, st.sampled_from(BINARY), inner, inner),
        st.builds(op, st.sampled_from(UNARY), inner),
    ),
    max_leaves=9,
)


def structure(expr: Expr) -> object:
    """Operators and leaves; whether parentheses were the user's or ours, a reader cannot tell."""
    match expr:
        case Op("()", (x,)):
            return structure(x)
        case Op(name, args):
            return (name, *map(structure, args))
        case _:
            return text(expr, PLAIN).replace(" ", "")


class Reader:
    """Rules R1002 to R1022, one method for each kind of rule, of text that is one expression."""

    TOKEN = re.compile(r"\s*('[^']*'|\.[a-z]+\.|\d[\d.]*e-\d+|[a-z]\w*\([^()]*\)|\w+|\*\*|//|==|[-+*/<()])")
    LEFT = (({".cross."}), ({".eqv.", ".neqv."}), ({".or."}), ({".and."}))

    def __init__(self, line: str) -> None:
        self.tokens = [*self.TOKEN.findall(line), ""]

    def read(self) -> object:
        tree = self.left(0)
        if self.tokens != [""]:
            raise SyntaxError(self.tokens[0])
        return tree

    def take(self, *wanted: str) -> str:
        return self.tokens.pop(0) if self.tokens[0] in wanted else ""

    def left(self, level: int) -> object:
        if level == len(self.LEFT):
            return (name, self.level4()) if (name := self.take(".not.")) else self.level4()
        tree = self.left(level + 1)
        while name := self.take(*self.LEFT[level]):
            tree = (name, tree, self.left(level + 1))
        return tree

    def level4(self) -> object:
        tree = self.level3()
        return (name, tree, self.level3()) if (name := self.take("==", "<")) else tree

    def level3(self) -> object:
        tree = self.level2()
        while name := self.take("//"):
            tree = (name, tree, self.level2())
        return tree

    def level2(self) -> object:
        sign = self.take("+", "-")
        tree = (sign, self.add_operand()) if sign else self.add_operand()
        while name := self.take("+", "-"):
            tree = (name, tree, self.add_operand())
        return tree

    def add_operand(self) -> object:
        tree = self.mult_operand()
        while name := self.take("*", "/"):
            tree = (name, tree, self.mult_operand())
        return tree

    def mult_operand(self) -> object:
        tree = self.level1()
        return (name, tree, self.mult_operand()) if (name := self.take("**")) else tree

    def level1(self) -> object:
        return (name, self.primary()) if (name := self.take(".inv.")) else self.primary()

    def primary(self) -> object:
        if self.take("("):
            tree = self.left(0)
            if not self.take(")"):
                raise SyntaxError(self.tokens[0])
            return tree
        if not self.tokens[0] or self.tokens[0][0] not in "'abcdefghijklmnopqrstuvwxyz0123456789":
            raise SyntaxError(self.tokens[0])
        return self.tokens.pop(0).replace(" ", "")


@settings(max_examples=300, deadline=None)
@given(tree=TREES)
def test_reading_the_text_gives_the_tree_again(tree: Expr) -> None:
    assert Reader(text(tree, PLAIN)).read() == structure(tree)


@settings(max_examples=300, deadline=None)
@given(tree=TREES)
def test_no_parentheses_too_many(tree: Expr) -> None:
    """Without any one of our pairs the text means something else, or nothing."""
    ours = transform(tree, without_parentheses)
    printed = text(ours, PLAIN)
    for start, end in pairs(printed):
        less = printed[:start] + " " + printed[start + 1 : end] + " " + printed[end + 1 :]
        try:
            assert Reader(less).read() != structure(ours), less
        except SyntaxError:
            continue


def without_parentheses(expr: Expr) -> Expr | None:
    """The user's own parentheses taken away."""
    match expr:
        case Op("()", (x,)):
            return transform(x, without_parentheses)
    return None


def pairs(line: str) -> list[tuple[int, int]]:
    """The parentheses around expressions (those behind a name are subscripts')."""
    found, opened = [], []
    for column, char in enumerate(line):
        if char == "(":
            opened.append(column)
        elif char == ")":
            start = opened.pop()
            if start == 0 or not line[start - 1].isalnum():
                found.append((start, column))
    return found


def parsed(node: object) -> object:
    """The structure of a tree that fparser made."""
    match node:
        case Fortran2003.Parenthesis():
            return parsed(node.items[1])
        case BinaryOpBase():
            left, name, right = node.items
            return (str(name).lower(), parsed(left), parsed(right))
        case UnaryOpBase():
            name, operand = node.items
            return (str(name).lower(), parsed(operand))
        case _:
            return str(node).replace(" ", "").lower()


@settings(max_examples=60, deadline=None)
@given(tree=TREES)
def test_fparser_reads_the_same(tree: Expr) -> None:
    assume(not any(isinstance(x, Op) and x.op in (".cross.", ".inv.") for x in walk(tree)))
    ParserFactory().create(std="f2008")
    assert parsed(Fortran2003.Expr(text(tree, PLAIN))) == structure(tree)


# ---- style -------------------------------------------------------------------


def test_the_step_is_the_most_frequent_one() -> None:
    lines = [
        "program p",
        "   integer :: i",
        "   do i = 1, 2",
        "      if (i > 1 .and. &",
        "            i < 3) then",
    ]
    lines += [
        "         print *, i ! far in",
        "                   ! a comment",
        "      end if",
        "   end do",
        "end",
    ]
    assert detect(Source("f", "\n".join(lines))).step == "   "
    assert (
        detect(Source("f", "program p\n\tprint *\n\tif (.true.) then\n\t\tprint *\n\tend if\nend\n")).step
        == "\t"
    )
    assert detect(Source("f", "")) == Style()


def test_letter_case_and_line_end() -> None:
    loud = detect(
        Source("f", "PROGRAM P\r\n  REAL :: A\r\n  A = 1.0e5 ! a small comment, in small letters\r\nEND\r\n")
    )
    assert (loud.upper, loud.upper_names, loud.newline) == (True, True, "\r\n")
    mixed = detect(
        Source("f", "SUBROUTINE sub(x)\n  REAL, INTENT(IN) :: x\n  y = x + foo('QUITE LOUD') + bar\nEND\n")
    )
    assert (mixed.upper, mixed.upper_names, mixed.newline) == (True, False, "\n")
    assert not detect(Source("f", "program p\n real :: A, B, C\n A = B\nend program\n")).upper


def test_spelling_is_the_statements_then_the_files() -> None:
    style = detect(Source("f", "real :: Flux(3), flux2\nFlux = 1\nflux = FLUX2\nFlux = Size(Flux)\n"))
    here = spelling(Place(Span(1, 1), "", ("x\n",), "flux = A .AND. 1.0_WP", condition="Q"), style)
    assert [here.name(x) for x in ("flux", "flux2", "a", "q", "wp")] == ["flux", "flux2", "A", "Q", "wp"]
    assert spelling(Place(Span(1, 1), "", ("x\n",), ""), style).name("flux") == "Flux"
    assert text(op(".and.", Name("q"), Call("size", (Name("flux"),))), here) == "Q .AND. Size(flux)"


def test_a_file_in_capitals_gets_capitals() -> None:
    here = Spelling(own={"x": "x"}, upper=True, upper_names=True)
    expr = op(".and.", Call("size", (X,)), op(".my.", Name("j1"), Literal("1.0d0")))
    assert text(expr, here) == "SIZE(x) .AND. (J1 .MY. 1.0d0)"
    assert here.type("real(kind(x))") == "REAL(KIND(x))"
    assert Spelling(upper=True).type("type(vector)") == "TYPE(vector)"


# ---- layout ------------------------------------------------------------------


def place(*original: str, indent: str = "  ", **more: object) -> Place:
    return Place(Span(3, 2 + len(original)), indent, original, "c = a", **more)  # type: ignore[arg-type]


def laid(stmts: tuple[Stmt, ...], at: Place | None = None, style: Style = Style(), **options: object) -> str:  # noqa: B008
    return render(at or place("  c = a\n"), stmts, style, Options(**options)).text  # type: ignore[arg-type]


def loop(index: str, last: Expr, *body: Stmt) -> Loop:
    return Loop(index, ONE, last, body)


STORE = Store(Ref(C, (I, J)), op("*", Ref(A, (add(I, ONE), J)), Literal("2.0")))
NEST = (
    Block(
        (Declaration("i", INTEGER), Declaration("j", INTEGER)), (loop("j", N, loop("i", sub(N, ONE), STORE)),)
    ),
)
QUIET = {"comments": False}


def test_a_nest() -> None:
    edit = render(place("  c = a(2:, :)*2.0\n"), NEST, Style(), Options())
    assert edit == Edit(
        Span(3, 3),
        """\
  ! c = a(2:, :)*2.0
  block
    integer :: i, j
    do concurrent (j = 1:n)
      do concurrent (i = 1:n-1)
        c(i, j) = a(i + 1, j)*2.0
      end do
    end do
  end block
""",
    )


def test_every_form_of_statement() -> None:
    real = Type("real", 8, "real(dp)")
    t = Name("t")
    plan: tuple[Stmt, ...] = (
        Block(
            (
                Declaration("i", INTEGER),
                Declaration("t", real, (N, N), allocatable=True),
                Declaration("s", real),
                Declaration("j", INTEGER),
                Declaration("w", real, (integer(3), N)),
            ),
            (
                Allocate(t, (N, N), (ONE, ZERO)),
                Allocate(Name("u"), ()),
                Block((), (Loop("i", ONE, sub(N, ONE), (If(op(">", X, ONE), (Exit(),)),), False),)),
                Loop("j", N, ONE, (Store(X, ONE),), False, integer(-1)),
                Loop("j", ONE, N, (Store(X, ONE),), True, integer(2)),
                If(Name("q"), (Store(X, ONE), Exit()), (Store(X, ZERO),)),
                If(Name("q"), (If(X, (Exit(),)),)),
                CallStmt("move_alloc", (t, A)),
                Deallocate(t),
            ),
        ),
    )
    assert (
        laid(plan, **QUIET)
        == """\
  block
    integer :: i, j
    real(dp), allocatable :: t(:, :)
    real(dp) :: s, w(3, n)
    allocate (t(n, 0:n-1))
    allocate (u)
    do i = 1, n - 1
      if (x > 1) exit
    end do
    do j = n, 1, -1
      x = 1
    end do
    do concurrent (j = 1:n:2)
      x = 1
    end do
    if (q) then
      x = 1
      exit
    else
      x = 0
    end if
    if (q) then
      if (x) exit
    end if
    call move_alloc(t, a)
    deallocate (t)
  end block
"""
    )


def test_a_declaration_without_spelling_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="'s'"):
        laid((Block((Declaration("s", Type("real", 8, "")),), (Store(X, ONE),)),))


def test_a_one_line_if_only_where_it_fits() -> None:
    plan = (If(op(">", X, ONE), (Store(X, Name("y" * 20)),)),)
    assert laid(plan, line_length=39, **QUIET) == f"  if (x > 1) x = {'y' * 20}\n"
    assert laid(plan, line_length=35, **QUIET) == f"  if (x > 1) then\n    x = {'y' * 20}\n  end if\n"


def test_the_original_stays_as_a_comment() -> None:
    original = ("    c = a & ! why  \n", "\n", "    ! said already\n", "#if 0\n", "      + b\n", "  - d\n")
    at = place(*original, indent="    ", comments=("! why", "! said already"))
    assert laid((Store(C, A),), at) == (
        "    ! c = a & ! why\n\n    ! said already\n    ! #if 0\n    !   + b\n    ! - d\n    c = a\n"
    )
    assert laid((Store(C, A),), at, **QUIET) == "    ! why\n    ! said already\n    c = a\n"


def test_a_comment_keeps_to_the_line_length() -> None:
    long = "c = " + " + ".join(["aaaa"] * 12)
    lines = laid((Store(C, A),), place(f"        {long}\n", indent="    "), line_length=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert "".join(line.strip("! ") for line in lines[:-1]).replace(" ", "") == long.replace(" ", "")
    assert all(line.startswith("    ! ") for line in lines[:-1])
    fits = place("          c = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", indent="    ")
    assert laid((Store(C, A),), fits, line_length=60).startswith("    ! c = aaa")


def test_line_end_indentation_and_the_end_of_the_file() -> None:
    at = place("\tc = a &\r\n", "\t+ b", indent="\t")
    assert laid(NEST[0].body, at, Style(step="\t")) == (
        "\t! c = a &\r\n\t! + b\r\n\tdo concurrent (j = 1:n)\r\n\t\tdo concurrent (i = 1:n-1)\r\n"
        "\t\t\tc(i, j) = a(i + 1, j)*2.0\r\n\t\tend do\r\n\tend do"
    )
    assert laid((Store(C, A),), place("c = a", indent=""), Style(newline="\r\n")) == "! c = a\r\nc = a"


def test_a_label_stays_on_a_line_of_its_own() -> None:
    assert laid((Store(C, A),), place(" 10   c = a\n", indent="      ", label="10")) == (
        "      ! 10   c = a\n 10   continue\n      c = a\n"
    )
    second = place("  b = 1; 20 c = a\n", indent="     ", label="20", before=("b = 1",))
    assert laid((Store(C, A),), second, **QUIET) == "     b = 1\n  20 continue\n     c = a\n"


def test_siblings_stay_in_order() -> None:
    line = "10  x = 1; z = 2; c = a; y = ';'; 30 w = 1\n"
    at = place(line, indent="", before=("10 x = 1", "z = 2"), after=("y = ';'", "30 w = 1"))
    expected = "10  x = 1\n    z = 2\n    c = a\n    y = ';'\n    30 w = 1\n"
    assert laid((Store(C, A),), at, **QUIET) == expected


def test_a_comment_never_becomes_a_directive() -> None:
    at = place(
        "  c = a & !$omp simd\n",
        "  !DIR$ ivdep\n",
        "  ! $5\n",
        "  + b\n",
        comments=("!$omp simd", "!DIR$ ivdep", "! $5"),
    )
    assert laid((Store(C, A),), at) == "  ! c = a & !$omp simd\n  ! !DIR$ ivdep\n  ! $5\n  ! + b\n  c = a\n"
    assert laid((Store(C, A),), at, **QUIET) == "  ! !$omp simd\n  ! !DIR$ ivdep\n  ! $5\n  c = a\n"


def test_a_one_line_if_becomes_a_construct() -> None:
    at = place("  if (x > ')') c = a; y = 1\n", condition="x > ')'", after=("y = 1",))
    assert laid(NEST[0].body[0].body, at, **QUIET) == (
        "  if (x > ')') then\n    do concurrent (i = 1:n-1)\n      c(i, j) = a(i + 1, j)*2.0\n"
        "    end do\n  end if\n  y = 1\n"
    )


def test_a_file_in_capitals() -> None:
    style = detect(Source("f", "PROGRAM P\n  REAL :: A(N), C(N)\n  C = CSHIFT(A, 1)\nEND PROGRAM\n"))
    at = Place(Span(1, 1), "  ", ("  C = Flux(a)\n",), "C = Flux(a)", condition="Q(1)")
    plan = (
        Block(
            (Declaration("j", INTEGER),),
            (loop("j", N, If(op("<", A, ONE), (Exit(),), (Store(C, Name("flux")),))),),
        ),
    )
    assert laid(plan, at, style, **QUIET) == (
        "  IF (Q(1)) THEN\n    BLOCK\n      INTEGER :: J\n      DO CONCURRENT (J = 1:N)\n"
        "        IF (a < 1) THEN\n          EXIT\n        ELSE\n          C = Flux\n        END IF\n"
        "      END DO\n    END BLOCK\n  END IF\n"
    )


def test_a_reduction_has_its_own_template() -> None:
    at = place("  x = sum(a)\n")
    assert (
        render(at, (Store(X, ZERO),), Style(), Options(), PLAIN, "reduction").text
        == "  ! x = sum(a)\n  x = 0\n"
    )


def test_a_users_template_comes_first(tmp_path: Path) -> None:
    (tmp_path / "assignment.f90.j2").write_text(
        '{% from "macros.f90.j2" import statements %}\n! rewritten\n{{ statements(site.body, "") -}}\n',
        newline="",
    )
    assert laid((Store(C, A),), templates=str(tmp_path)) == "! rewritten\nc = a\n"
    (tmp_path / "reduction.f90.j2").write_text("\n{{ site.nothing }}\n")
    (tmp_path / "broken.f90.j2").write_text("\n{% if %}\n")
    (tmp_path / "unsafe.f90.j2").write_text("{{ site.__class__.__mro__ }}\n")
    (tmp_path / "latin.f90.j2").write_bytes(b"! \xe9\n")
    for template, line in (
        ("latin", None),
        ("reduction", None),
        ("broken", 2),
        ("unsafe", None),
        ("absent", None),
    ):
        with pytest.raises(InputError) as caught:
            options = Options(templates=str(tmp_path))
            render(place("  c = a\n"), (Store(C, A),), Style(), options, PLAIN, template)
        assert caught.value.line == line
        assert caught.value.path == str(tmp_path / f"{template}.f90.j2")


def test_only_line_feeds_end_lines() -> None:
    plan = (If(X, (Store(C, Literal("'a\x85b\x0cc\u2028d'")), Exit())),)
    assert laid(plan, **QUIET) == "  if (x) then\n    c = 'a\x85b\x0cc\u2028d'\n    exit\n  end if\n"
    assert indented("a\n\nb\n", "\t") == "\ta\n\n\tb\n"


def test_jinja_is_imported_only_when_something_is_rendered() -> None:
    code = "import sys, fortrans.emit.layout, fortrans.emit.environment; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- long lines --------------------------------------------------------------


def joined(lines: list[str]) -> str:
    """The statement that a compiler sees (6.3.2.4), inside a literal or not."""
    result = lines[0]
    for line in lines[1:]:
        assert result.endswith("&")
        line = line.lstrip()
        result = result[:-1].rstrip() + " " + line if line[0] != "&" else result[:-1] + line[1:]
    return result


def test_a_break_behind_a_comma_or_an_operator_outside_brackets() -> None:
    line = "  flux(i, j) = alpha(i, j)*(beta(i, j) + gamma(i, j)) + delta(i + 1, j + 1)"
    assert fold(line, 80, "  ") == [line]
    assert fold(line, 66, "  ") == [
        "  flux(i, j) = alpha(i, j)*(beta(i, j) + gamma(i, j)) + &",
        "      delta(i + 1, j + 1)",
    ]
    assert fold("  call f('a, b', 'it''s, (c', x)", 24, "  ") == [
        "  call f('a, b', &",
        "      'it''s, (c', x)",
    ]
    assert fold("x=aaaaaa(1)+bbbbbb(2)+cccccc(3)", 20, " ") == [
        "x=aaaaaa(1) &",
        "  +bbbbbb(2) &",
        "  +cccccc(3)",
    ]


def test_a_literal_is_cut_only_when_nothing_else_helps() -> None:
    assert fold("x = 'abcdefghijklmnop''qrstu & vw'", 22, "  ") == [
        "x = &",
        "    'abcdefghijklmnop&",
        "    &''qrstu & vw'",
    ]


@settings(max_examples=200, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["+", ",", "'a ''b'' & c!'", "x", "(", ")", "%", '"it\'s"', "=", "abcdefghij", " "]),
        max_size=60,
    ),
    limit=st.integers(16, 40),
)
def test_folding_changes_no_token_and_keeps_the_limit(words: list[str], limit: int) -> None:
    line = "  x" + " ".join(words).rstrip()
    lines = fold(line, limit, "  ")
    assert all(len(x) <= limit for x in lines)
    assert squeezed(joined(lines)) == squeezed(line)
    assert LITERAL.findall(joined(lines)) == LITERAL.findall(line)


LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")


def squeezed(line: str) -> str:
    """Without the blanks that are not in a literal."""
    return re.sub(rf"({LITERAL.pattern})| ", lambda m: m[1] or "", line)


def test_a_statement_that_cannot_be_folded_is_refused() -> None:
    with pytest.raises(Refusal, match="Statement is too long to be printed in 20 columns") as caught:
        fold("x = " + " + ".join(["aaaaaaaaaa"] * 300), 20, "  ")
    assert caught.value.code == "FT103"
    with pytest.raises(Refusal):
        fold(" " * 30 + "x = a + b", 20, "  ")
    assert fold("! " + "x" * 50, 20, "  ") == ["! " + "x" * 50]
    assert fold("x = aaaa + bbbb + cccc ! said", 20, " ") == ["x = aaaa + bbbb + &", "  cccc ! said"]


# ---- the compiler ------------------------------------------------------------


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
def test_gfortran_takes_what_is_rendered(tmp_path: Path) -> None:
    """Folded, labelled, joined and conditional forms, in one program that checks itself."""
    real = Type("real", 8, "real(dp)")
    t, s = Name("t"), Name("s")
    verse = "it's & so on! " * 12
    long = op("//", Literal("'" + verse.replace("'", "''") + "'"), Literal('"end"'))
    total = Name("x")
    for k in range(60):
        total = op("+", total, Ref(Name("a"), (integer(k % 4 + 1), ONE)))
    reduction = (
        Block(
            (
                Declaration("j", INTEGER),
                Declaration("t", real, (N, N), True),
                Declaration("ok", LOGICAL),
                Declaration("s", real),
            ),
            (
                Allocate(t, (N, N), (ZERO, integer(-1))),
                Loop(
                    "j",
                    ONE,
                    N,
                    (Store(Ref(t, (sub(J, ONE), sub(J, integer(2)))), Call("real", (J, Name("dp")))),),
                ),
                Store(s, Literal("0.0_dp")),
                Loop(
                    "j",
                    N,
                    ONE,
                    (
                        Store(s, op("+", s, Ref(t, (op("-", J, ONE), op("-", J, Literal("2")))))),
                        Store(Name("ok"), op(">", s, Literal("9.0_dp"))),
                        If(Name("ok"), (Exit(),)),
                    ),
                    False,
                    integer(-1),
                ),
                If(op(".not.", Name("ok")), (Store(s, integer(-1)),), (Store(X, s),)),
                Deallocate(t),
            ),
        ),
    )
    pieces = [
        laid(reduction, place("  10 x = sum(a)\n", label="10", condition="n > 3")),
        laid((Store(Name("text"), long),), place("  text = 'a'; n = n\n", after=("n = n",))),
        laid((Store(X, total),), place("  x = &\n", "    0 ! hi\n")),
        laid(NEST, place("  c = a\n")).upper(),
    ]
    program = (
        "program p\n  implicit none\n  integer, parameter :: dp = kind(1d0)\n  integer :: n\n"
        "  real(dp) :: x, a(5, 4), c(5, 4)\n  character(200) :: text\n  n = 4\n  a = 1\n  go to 10\n"
        + "".join(pieces)
        + "  if (abs(x - 70) > 0 .or. c(3, 4) < 2 .or. len_trim(text) /= 171) error stop\n"
        + "  print '(f0.1, 1x, a)', x, trim(text)\nend program p\n"
    )
    assert max(map(len, program.splitlines())) <= 132
    path = tmp_path / "p.f90"
    path.write_text(program.replace("\n", "\r\n"), newline="")
    flags = ["-std=f2008", "-Wall", "-Wextra", "-fcheck=all", "-Werror"]
    built = subprocess.run(
        ["gfortran", *flags, path.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.stderr == ""
    ran = subprocess.run([tmp_path / "a.out"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"70.0 {verse}end\n"
