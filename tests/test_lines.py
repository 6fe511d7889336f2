"""Logical lines: spans, joining, labels, comments, directives, and what is wrong in a line."""

import pytest

from fortrans.frontend.lines import Statement, check_form, looks_fixed, read_lines
from fortrans.remarks import InputError
from fortrans.source import Source, Span


def lines(text: str) -> tuple[Statement, ...]:
    return read_lines(Source("a.f90", text))


def one(text: str) -> Statement:
    (statement,) = lines(text)
    return statement


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("a = b + &\n    c\n", "a = b + c"),
        ("a = b + &\n  & c\n", "a = b + c"),
        ("a = lo&\n  &ng\n", "a = long"),
        ("a = b&\n+ c", "a = b +c".replace("+c", "+ c")),
        ("x = 'it&\n   & is'\n", "x = 'it is'"),
        ("x = 'it&\n   &is'\n", "x = 'itis'"),
        ("x = 'it&\n   is'\n", "x = 'it   is'"),
        ("x = 'it  &\n! note\n\n  &is'\n", "x = 'it  is'"),
        ("x = 'a!b&c;d'\n", "x = 'a!b&c;d'"),
        ('x = "it\'s &\n  &""quoted""" ! c\n', 'x = "it\'s ""quoted"""'),
        ("x = 'it''s' ! it's\n", "x = 'it''s'"),
        ("x = 'it'&\n&'s'", "x = 'it''s'"),
        ("a = b + & ! why\n\n ! more\n   c ! end\n", "a = b + c"),
        ("a = b + &\n&\n& c\n", "a = b + c"),
        ("\ta = b\f\r\n", "a = b"),
        ("a = b + &\r\n  c\r\n", "a = b + c"),
        ("a = b", "a = b"),
        ("call s(a, & ! x & y\n b)", "call s(a, b)"),
    ],
)
def test_joins_as_the_language_does(text: str, joined: str) -> None:
    assert one(text).text == joined
    assert one(text).flaw is None


def test_span_covers_the_continuation_and_not_what_follows() -> None:
    first, second = lines("\n  a = b + &\n  ! note\n\n  c  ! end\n! after\nd = 1\n")
    assert first.span == Span(2, 5)
    assert first.comments == ("! note", "! end")
    assert first.indent == "  "
    assert second.span == Span(7, 7)


def test_semicolons_share_a_span_and_comments() -> None:
    found = lines("  i = 1; c = ';' ;; 10 d = f(x, &\n  y) ! note\n")
    assert [s.text for s in found] == ["i = 1", "c = ';'", "d = f(x, y)"]
    assert {s.span for s in found} == {Span(1, 2)}
    assert [s.position for s in found] == [0, 1, 2]
    assert {s.siblings for s in found} == {3}
    assert [s.label for s in found] == [None, None, "10"]
    assert all(s.comments == ("! note",) for s in found)
    assert [s.ordinal for s in found] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "label", "rest", "indent"),
    [
        ("10 continue", "10", "continue", "   "),
        ("  010   a = b", "010", "a = b", "        "),
        ("100 format(1x,'(')", "100", "format(1x,'(')", "    "),
    ],
)
def test_label(text: str, label: str, rest: str, indent: str) -> None:
    statement = one(text)
    assert (statement.label, statement.text, statement.indent) == (label, rest, indent)
    assert statement.flaw is None


def test_form_of_lines_that_are_no_statements() -> None:
    found = lines(
        "#ifdef A \\\n  B\n"
        "include 'x.inc' ! c\n"
        "!$omp parallel do & ! c\n!$omp& private(i)\n"
        "!DIR$ IVDEP\n"
        "!$Id: a.f90 $\n"
        "! plain\n"
        "!$ x = 1 + &\n!$ & 2\n"
        "x = 1\n"
    )
    assert [(s.form, s.text) for s in found] == [
        ("cpp", "#ifdef A \\\n  B"),
        ("include", "include 'x.inc'"),
        ("directive", "!$omp parallel do private(i)"),
        ("directive", "!DIR$ IVDEP"),
        ("fortran", "x = 1 + 2"),
        ("fortran", "x = 1"),
    ]
    assert [s.sentinel for s in found] == [False, False, False, False, True, False]
    assert found[2].span == Span(4, 5)
    assert found[4].span == Span(9, 10)


@pytest.mark.parametrize(
    "text",
    [
        "call s(a, &\n#ifdef B\n  b, &\n#endif\n  c)\n",
        "x = a + &\n!$ & b + &\n & c\n",
    ],
)
def test_a_line_that_may_be_absent_makes_the_statement_conditional(text: str) -> None:
    assert one(text).conditional


def test_a_comment_inside_does_not() -> None:
    assert not one("x = a + &\n!$omp nothing\n ! $ c\n & c\n").conditional


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 'abc\n", "Character literal"),
        ("x = 'abc ! & d\n", "Character literal"),
        ("x = (a + b\n", "Parentheses"),
        ("x = f(')'\n", "Parentheses"),
        ("     & + b\n", "not a Fortran statement"),
        ("* a comment\n", "not a Fortran statement"),
        ("     1 + b\n", "not a Fortran statement"),
    ],
)
def test_flaw(text: str, words: str) -> None:
    flaw = one(text).flaw
    assert flaw is not None
    assert words in flaw


@pytest.mark.parametrize("path", ["a.f", "a.F", "b.for", "b.FTN", "c.f77"])
def test_fixed_form_by_name_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="Fixed source form"):
        check_form(Source(path, ""))


def test_fixed_form_by_content() -> None:
    assert looks_fixed(["C     comment", "      x = 1"])
    assert looks_fixed(["      x = 1 +", "     1 2"])
    assert not looks_fixed(["      x = 1 + &", "      2", "     & + 3"])
    assert not looks_fixed(["call s", "c=3"])


def test_six_blanks_are_free_form() -> None:
    check_form(Source("a.f90", ""))
    assert one("      x = 1 + &\n     & 2\n").text == "x = 1 + 2"


def test_byte_order_mark_and_unicode_line_separators() -> None:
    found = lines("\ufeffx = 1\ny = '\u2028'\nz = 1\n")
    assert [s.text for s in found] == ["x = 1", "y = '\u2028'", "z = 1"]
    assert found[2].span == Span(3, 3)
