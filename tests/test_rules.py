"""``fixtures/rules.txt``: the table a reader checks, row by row; and argument association."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from notation import Reader, declarations, printed

from fortrans.intrinsics import INTRINSICS, apply, bind, fresh_indices
from fortrans.intrinsics.types import zero
from fortrans.ir.arrays import Apply, Array, Scalar, Section, Triplet, element, rank, shape
from fortrans.ir.expr import ONE, Expr, Literal, Name, Reduce, names
from fortrans.ir.symbols import INTEGER, LOGICAL, REAL, Type
from fortrans.remarks import Refusal

LINES = (Path(__file__).parent.parent / "fixtures" / "rules.txt").read_text().splitlines()
OBJECTS: dict[str, Section | Scalar] = {}
for _line in LINES:
    if "::" in _line and "=>" not in _line:
        OBJECTS.update(declarations(_line))
ROWS = [line for line in LINES if "=>" in line and not line.startswith("#")]


def answer(left: str) -> str:
    """What the tool says of a row's left side."""
    try:
        if inside := re.fullmatch(r"(SHAPE|TYPE)\((.*)\)", left):
            array = read(inside[2])
            if inside[1] == "TYPE":
                return array.type.spelling
            return f"[{', '.join(map(printed, shape(array)))}]"
        found = re.fullmatch(r"(.*?)(?:\{(.*)\})?", left)
        assert found
        index = tuple(Literal(j) if j.isdigit() else Name(j) for j in re.findall(r"\w+", found[2] or ""))
        return printed(element(read(found[1]), index))
    except Refusal as refusal:
        return refusal.code


def read(source: str) -> Array:
    reader = Reader(source, OBJECTS)
    array = reader.expression()
    assert not reader.tokens, reader.tokens
    return array


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str) -> None:
    left, _, right = row.partition(" => ")
    with fresh_indices():
        assert answer(left) == right


def test_every_intrinsic_has_rows() -> None:
    text = "\n".join(ROWS)
    assert [name for name in INTRINSICS if not re.search(rf"\b{name}\(", text)] == []


@pytest.mark.parametrize("entry", INTRINSICS.values(), ids=INTRINSICS)
def test_entry_is_documented(entry: object) -> None:
    """The rewriting rule first, the clause of Fortran 2018 below."""
    text = type(entry).__doc__ or ""
    assert re.search(r"Fortran 2018, 16\.9\.\d+", text)
    assert text.lower().startswith(type(entry).name + "(")  # type: ignore[attr-defined]


# ---- argument association ----------------------------------------------------------------


def array(extents: int, type: Type = REAL) -> Section:
    axes = tuple(Triplet(ONE, ONE, Name(f"n{d + 1}")) for d in range(extents))
    return Section(Name("abcd"[extents]), axes, type, whole=True)


A, V, L = array(2), array(1), array(2, LOGICAL)
ONE_, Q = Scalar(ONE, INTEGER), Scalar(Name("q"), LOGICAL)
SHAPE_ = Section(Name("e"), (Triplet(ONE, ONE, Literal("2")),), INTEGER)


@pytest.mark.parametrize(
    ("name", "positional", "expected"),
    [
        ("SUM", (A,), "array"),
        ("sum", (A, ONE_), "array dim"),
        ("sum", (A, L), "array mask"),
        ("sum", (A, Q), "array mask"),
        ("sum", (A, ONE_, L), "array dim mask"),
        ("maxloc", (A, L), "array mask"),
        ("maxloc", (A, L, ONE_), "array mask kind"),
        ("maxloc", (A, ONE_, L, ONE_, Q), "array dim mask kind back"),
        ("findloc", (A, ONE_, ONE_), "array value dim"),
        ("findloc", (A, ONE_, L), "array value mask"),
        ("any", (L, ONE_), "mask dim"),
        ("count", (L, ONE_, ONE_), "mask dim kind"),
        ("cshift", (A, ONE_, ONE_), "array shift dim"),
        ("eoshift", (A, ONE_, V, ONE_), "array shift boundary dim"),
        ("reshape", (A, SHAPE_, V, SHAPE_), "source shape pad order"),
        ("pack", (A, L, V), "array mask vector"),
        ("norm2", (A, ONE_), "x dim"),
    ],
)
def test_positional_arguments(name: str, positional: tuple[Array, ...], expected: str) -> None:
    assert list(bind(name, positional)) == expected.split()


def test_keywords_in_any_order_and_case() -> None:
    assert bind("sum", (), {"MASK": L, "Array": A, "dim": ONE_}) == {"mask": L, "array": A, "dim": ONE_}
    assert bind("eoshift", (A, ONE_), {"dim": ONE_}) == {"array": A, "shift": ONE_, "dim": ONE_}


@pytest.mark.parametrize(
    ("name", "positional", "keywords", "message"),
    [
        ("sum", (), {}, "argument 'array' is missing"),
        ("sum", (A,), {"array": A}, "argument 'array' is given twice"),
        ("cshift", (A,), {}, "argument 'shift' is missing"),
        ("transpose", (A, A), {}, "it has more than 1 arguments"),
        ("spread", (A, ONE_), {"copies": ONE_}, "it has no argument 'copies'"),
        ("spread", (A, V, ONE_), {}, "argument 'dim' must be integer"),
        ("sum", (A, V), {}, "argument 'dim' must be integer"),
        ("any", (A,), {}, "argument 'mask' must be logical"),
        ("sum", (A,), {"mask": array(1, LOGICAL)}, "argument 'mask' has the wrong rank"),
        ("eoshift", (V, ONE_, V), {}, "argument 'boundary' has the wrong rank"),
        ("transpose", (V,), {}, "argument 'matrix' must be rank 2"),
        ("unpack", (V, L, V), {}, "argument 'field' has the wrong rank"),
    ],
)
def test_nonsense_is_refused(
    name: str, positional: tuple[Array, ...], keywords: dict[str, Array], message: str
) -> None:
    with pytest.raises(Refusal) as refused:
        bind(name, positional, keywords)
    assert refused.value.code == "FT401"
    assert refused.value.message == f"Reference to {name.upper()} is not understood: {message}"


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(Refusal, match="'sumx' is no transformational intrinsic"):
        bind("sumx", (A,))


# ---- names of reduction indices ---------------------------------------------------------


def indices(expr: Expr) -> list[str]:
    return sorted(name for name in names(expr) if name.startswith("$"))


def test_equal_reductions_share_their_names_and_others_do_not() -> None:
    rows, columns = apply("sum", (A, ONE_)), apply("sum", (A, Scalar(Literal("2"), INTEGER)))
    j, k = Name("j"), Name("k")
    with fresh_indices():
        first = element(rows, (j,))
        assert element(rows, (j,)) == first
        assert indices(element(rows, (k,))) != indices(first) != indices(element(columns, (j,)))
    with fresh_indices():
        assert element(rows, (j,)) == first


def test_an_inner_reduction_captures_nothing() -> None:
    with fresh_indices():
        total = element(apply("maxval", (apply("sum", (array(3), ONE_)),)), ())
    assert isinstance(total, Reduce)
    assert indices(total) == ["$1", "$2", "$3"]


# ---- constants of a type -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (INTEGER, "0"),
        (Type("integer", 8, "integer(int64)"), "0_int64"),
        (Type("real", 8, "real(8)"), "0.0_8"),
        (Type("real", 8, "real*8"), "0.0_8"),
        (Type("real", 8, "double precision"), "0.0d0"),
        (Type("real", 8, ""), "0.0_8"),
        (Type("real", "kind(a)", "real(kind(a))"), "real(0.0, kind(a))"),
        (Type("logical", 1, "logical(1)"), ".false._1"),
        (Type("complex", 8, "complex(dp)"), "(0.0_dp, 0.0_dp)"),
        (Type("character", 1, "character(len=k)", Name("k")), "repeat(' ', k)"),
        (Type("character", 1, "character(2)", Literal("2")), "'  '"),
    ],
)
def test_zero_of_a_type(type: Type, expected: str) -> None:
    assert printed(zero(type)) == expected


@pytest.mark.parametrize(
    ("type", "code"),
    [
        (Type("real", None, ""), "FT203"),
        (Type("character", 1, "character(*)"), "FT205"),
        (Type("type", None, "type(t)", derived="t"), "FT401"),
    ],
)
def test_zero_that_cannot_be_printed(type: Type, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        zero(type)
    assert refused.value.code == code


def test_entries_keep_the_contract() -> None:
    for name, entry in INTRINSICS.items():
        assert entry.name == name
        assert {*entry.required, *entry.optional} == {d for form in entry.forms for d in form.dummies}
        assert isinstance(Apply(entry, {}, REAL).intrinsic.composed, bool)
    assert rank(apply("spread", (ONE_, ONE_, ONE_))) == 1
