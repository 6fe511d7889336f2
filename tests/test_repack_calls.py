"""Packing around calls: what is packed, what is left and why, and that it does the same."""

from __future__ import annotations

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.remarks import Kind, Remark
from fortrans.source import Source
from fortrans.verify.compare import compare
from fortrans.verify.procedures import generate

CALLS = Options(repack_calls=True, strict=True)
ALWAYS = Options(repack_calls=True, strict=True, repack_when="always", repack_min_size=0)
SEEDS = range(2, 4)
MORE = range(201, 241)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        more = MORE if metafunc.config.getoption("--thorough") else ()
        metafunc.parametrize("seed", [*SEEDS, *more])


def test_random_calls_do_the_same(seed: int) -> None:
    text = generate(seed)
    result = rewrite(text, ALWAYS)
    assert any(remark.code == "FT503" for remark in result.remarks)
    assert rewrite(result.text, ALWAYS).text == result.text
    flags = ("-O0", "-g", "-fsanitize=address") if seed % 2 == 0 else ("-O0", "-fcheck=all", "-g")
    outcome = compare([Source("p.f90", text)], [Source("p.f90", result.text)], flags=flags)
    assert outcome.difference is None, outcome.difference


HEAD = "integer, intent(in) :: n\nreal, intent(inout) :: x(:)\ninteger :: i, k\n"
LOOP = "do k = 1, n\ndo i = 1, size(x)\nx(i) = x(i) + k\nend do\nend do\n"
DATA = "real :: a(9, 9), b(9, 9)\ninteger :: i, j\n"
NO_INTENT = HEAD.replace(", intent(inout)", "") + LOOP
SHAPED = "real :: a(:, :)\ninteger :: i\n"
CALL = "call s(a(i, :), 5)\n"


def program(call: str = CALL, data: str = DATA, body: str = HEAD + LOOP, more: str = "") -> str:
    """A module with a procedure, and a subroutine that calls it."""
    return (
        f"module m\ncontains\nsubroutine s(x, n)\n{body}end subroutine\n{more}end module\n"
        f"subroutine caller\nuse m\n{data}{call}end subroutine\n"
    )


def said(text: str, options: Options = CALLS) -> list[Remark]:
    """The remarks about repacking."""
    return [r for r in rewrite(text, options).remarks if r.code.startswith("FT5")]


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        "call s(x=a(i + 1, 2:), n=9)\n",
        "call s(a(2:9:2, j), 4)\n",
        "call s(a(9:1:-1, j), 4) ! backwards\n",
        "call s(a(i, :), j)\n",
        "do i = 1, 9\ncall s(a(i, :), 4)\nend do\n",
        "if (i > 3) then\ncall s(a(i, :), size(a, 1))\nend if\n".replace("size(a, 1)", "9"),
    ],
)
def test_sections_with_gaps_are_packed(call: str) -> None:
    (remark,) = said(program(call))
    assert (remark.code, remark.kind) == ("FT503", Kind.PASSED)


@pytest.mark.parametrize(
    "call",
    ["call s(a(:, 3), 5)\n", "call s(a(2:7, 3), 5)\n", "call s([1.0, 2.0], 5)\n", "call s(b(:, i), 4)\n"],
)
def test_contiguous_arguments_are_not_spoken_of(call: str) -> None:
    text = program(call)
    assert said(text) == [] and rewrite(text, CALLS).text == text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("FT511", program(data=DATA.replace("real ::", "real, target ::"))),
        ("FT511", program(data=DATA.replace("real ::", "real, volatile ::"))),
        ("FT511", program(data=DATA + "common /c/ a\n")),
        ("FT511", program(data=DATA + "real :: v(81)\nequivalence (a, v)\n")),
        ("FT511", program("associate (c => a)\ncall s(c(i, :), 5)\nend associate\n")),
        ("FT511", program(body=HEAD.replace("intent(inout)", "target, intent(inout)") + LOOP)),
        ("FT512", program(body=HEAD + LOOP + "print *, is_contiguous(x)\n")),
        ("FT512", program(body=HEAD + LOOP + "print *, loc(x)\n")),
        ("FT513", program(body=HEAD + "!$omp do\n" + LOOP)),
        ("FT513", program("!$acc data copy(a)\n!$acc end data\n" + CALL)),
        ("FT515", program(body=HEAD.replace("real,", "class(*),") + "do k = 1, n\ncall t(x)\nend do\n")),
        ("FT516", program(body=HEAD.replace("intent(inout)", "contiguous, intent(inout)") + LOOP)),
        ("FT517", program(body=HEAD + "x(1) = n\n")),
        ("FT517", program("call s(a(i, :), 3)\n")),
        ("FT517", program("call s(a(i, :), 2*j)\n")),
        ("FT518", program("if (i > 3) " + CALL)),
        ("FT518", program("10 " + CALL + "if (i > 3) goto 10\n")),
        ("FT518", program("i = 3; " + CALL)),
        ("FT518", program("!$omp parallel\n" + CALL + "!$omp end parallel\n")),
        ("FT518", program("call s(a(i, :), int(a(1, 1)))\n")),
        ("FT518", program("call s(a(i, :), f(3))\n", more="integer function f(k)\nend function\n")),
        ("FT518", program("call s(a(int(b(1, 1)), :), 5)\n")),
        ("FT518", program("call t(a(i, :), 5)\n")),
        ("FT518", program("call u(a(i, :), 5)\n").replace("use m", "use m, u => s")),
        ("FT518", program(body=HEAD + "include 'more.inc'\n" + LOOP)),
        ("FT518", program(body=HEAD + "integer, save :: calls\n" + LOOP)),
        ("FT518", program(data=DATA + "real :: size\n")),
        ("FT518", program(data=SHAPED, body=NO_INTENT).replace("caller", "caller(a)")),
    ],
)  # fmt: skip
def test_refusals(code: str, text: str) -> None:
    result = rewrite(text, CALLS)
    (remark,) = [r for r in result.remarks if r.code.startswith("FT5")]
    assert (remark.code, remark.kind) == (code, Kind.MISSED), remark
    assert result.text == text


def test_a_pure_caller_cannot_ask_for_threads() -> None:
    text = program().replace("subroutine s(", "pure subroutine s(")
    text = text.replace("subroutine caller", "pure subroutine caller(i)")
    text = text.replace(":: i, j", ", intent(in) :: i")
    (remark,) = said(text)
    assert remark.code == "FT513"
    (remark,) = said(text, Options(repack_calls=True, openmp=False, strict=True))
    assert remark.code == "FT503"


def test_intents_decide_what_is_copied() -> None:
    def made(intent: str, body: str) -> str:
        return rewrite(program(body=HEAD.replace("intent(inout)", f"intent({intent})") + body), CALLS).text

    there, back = "packed(:) = a(at, :)", "a(at, :) = packed(:)"
    read = made("in", LOOP.replace("x(i) = x(i) + k", "print *, x(i)"))
    assert there in read and back not in read
    assert there in made("inout", LOOP) and back in made("inout", LOOP)
    defined = made("out", "x = 0\n" + LOOP)
    assert there not in defined and back in defined
    assert there in made("out", "if (n > 3) x = 0\n" + LOOP)


def test_what_the_callee_repacks_is_not_packed_around_its_calls() -> None:
    both = Options(repack="innermost", repack_calls=True, strict=True)
    (remark,) = said(program(), both)
    assert remark.code == "FT501"
    asked = program(body=HEAD + "!fortrans$ norepack\n" + LOOP)
    assert said(asked, both) == [] and rewrite(asked, both).text == asked


def test_a_directive_leaves_a_call() -> None:
    text = program("!fortrans$ norepack call\n" + CALL)
    assert said(text) == [] and rewrite(text, CALLS).text == text


def test_versions_of_the_caller_pack_too() -> None:
    caller = (
        "subroutine outer(y, n)\ninteger, intent(in) :: n\nreal, intent(inout) :: y(:, :)\n"
        "integer :: i, j, k\ndo k = 1, n\ndo j = 1, size(y, 2)\ndo i = 1, size(y, 1)\n"
        "y(i, j) = y(i, j) + 1\nend do\nend do\ncall s(y(2, :), 4)\nend do\nend subroutine\n"
    )
    text = program("a = 1\ncall outer(a(1:9:2, :), 6)\nprint *, a\n", more=caller)
    text = text.replace("subroutine caller", "program caller")
    text = text.removesuffix("end subroutine\n") + "end program\n"
    options = Options(
        repack="innermost", repack_only="outer", repack_calls=True, repack_min_size=0, strict=True
    )
    result = rewrite(text, options)
    assert [r.code for r in result.remarks if r.code.startswith("FT5")] == ["FT501", "FT503"]
    version = result.text.partition("subroutine outer_packed(")[2].partition("end subroutine")[0]
    assert "call s(packed" in version
    outcome = compare([Source("p.f90", text)], [Source("p.f90", result.text)], flags=("-fcheck=all",))
    assert outcome.difference is None, outcome.difference
