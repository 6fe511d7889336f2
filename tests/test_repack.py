"""Repacking: procedures drawn at random, and the questions it asks of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.remarks import Kind, Remark
from fortrans.source import Source
from fortrans.verify.compare import compare
from fortrans.verify.procedures import generate

SEEDS = range(1, 4)
MORE = range(101, 161)
MODES = (
    Options(repack="whole", strict=True, repack_when="always", repack_min_size=0),
    Options(repack="innermost", strict=True, repack_when="always", repack_min_size=0),
    Options(repack="innermost", strict=True),
    Options(version_loops=True, strict=True),
    Options(repack="whole", version_loops=True, openmp=True, repack_min_size=0, strict=True),
)
#: What is read and written beside an array is noticed, too.
SANITIZED = ("-O0", "-g", "-fsanitize=address")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        more = MORE if metafunc.config.getoption("--thorough") else ()
        metafunc.parametrize("seed", [*SEEDS, *more])


def test_random_procedures_do_the_same(seed: int) -> None:
    text = generate(seed)
    result = rewrite(text, MODES[seed % len(MODES)])
    assert any(remark.code in ("FT501", "FT502") for remark in result.remarks)
    flags = SANITIZED if seed % 2 == 0 else ("-O0", "-fcheck=all", "-g")
    outcome = compare([Source("p.f90", text)], [Source("p.f90", result.text)], flags=flags)
    assert outcome.difference is None, outcome.difference


@pytest.mark.parametrize("number", range(1, 4))
def test_second_run_changes_nothing(number: int) -> None:
    for mode in MODES[number - 1 :: 3]:
        once = rewrite(generate(number), mode)
        assert rewrite(once.text, mode).text == once.text


def test_same_seed_same_program() -> None:
    assert generate(3) == generate(3) != generate(4)


def said(body: str, **options: object) -> Remark:
    """The remark about the dummy argument of a procedure with this body."""
    text = f"subroutine s(x, n)\n{body}\nend subroutine s\n"
    chosen = Options(**({"repack": "innermost", "strict": True} | options))  # type: ignore[arg-type]
    (remark,) = [r for r in rewrite(text, chosen).remarks if r.code.startswith("FT5")]
    return remark


HEAD = "integer, intent(in) :: n\nreal, intent(inout) :: x(:)\ninteger :: i, k\n"
LOOP = "do k = 1, n\ndo i = 1, size(x)\nx(i) = x(i) + k\nend do\nend do\n"


@pytest.mark.parametrize(
    "body",
    [
        HEAD + LOOP,
        HEAD + "do i = 1, size(x)\nx(i) = 2\nend do\nx = x + 1\nx(:) = x(:)*2\nx(2:) = 1\n",
        HEAD + "if (n < 0) return\n" + LOOP,
        HEAD + "if (n > 0) then\n" + LOOP + "end if\n",
        HEAD + "if (n < 0) then\nprint *, n\nelse if (n > 9) then\n" + LOOP + "else\nstop\nend if\n",
        HEAD + "select case (n)\ncase (1)\nprint *, n\ncase (2:)\n" + LOOP + "end select\n",
        HEAD + "if (n < 0) then\nprint *, n\nreturn\nend if\n" + LOOP,
        HEAD + "k = n*2\nif (k > 7) return\n" + LOOP,
        HEAD + "do while (x(1) < 3)\ndo concurrent (i = 1:size(x))\nx(i) = x(i) + 1\nend do\nend do\n",
        HEAD + "!$omp parallel do\n" + LOOP,
    ],
)
def test_repeated_walks_pay(body: str) -> None:
    assert said(body).kind is Kind.PASSED


@pytest.mark.parametrize(
    "body",
    [
        HEAD + "x(n) = 1",
        HEAD + "do i = 1, size(x)\nx(i) = i\nend do",
        HEAD + "do k = 1, n\nx(1) = x(1) + k\nend do",
        HEAD + "print *, size(x)",
        HEAD + "read *, k\nif (k > 3) then\n" + LOOP + "end if",
        HEAD + "read *, k\nif (k > 3) return\n" + LOOP,
        HEAD + "if (n < 0) then\nprint *, n\nelse if (other(n) > 9) then\n" + LOOP + "end if\n",
        HEAD
        + "o: if (n < 0) then\nif (n > 3) exit o\nread *, k\nreturn\nend if o\nif (k > 3) return\n"
        + LOOP,
        HEAD + "do k = 1, 3\ndo i = 1, size(x)\nx(i) = x(i) + k\nend do\nend do\n",
    ],
)
def test_what_does_not_pay_is_left(body: str) -> None:
    assert said(body).code == "FT517"
    assert said(body, repack_when="always").code == ("FT517" if body.endswith("size(x)") else "FT501")


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("FT511", HEAD.replace("intent(inout)", "target, intent(inout)") + LOOP),
        ("FT511", HEAD.replace("intent(inout)", "volatile, intent(inout)") + LOOP),
        ("FT512", HEAD + LOOP + "print *, loc(x)\n"),
        ("FT512", HEAD + LOOP + "print *, is_contiguous(x)\n"),
        ("FT512", HEAD + LOOP + "associate (y => x)\nprint *, loc(y)\nend associate\n"),
        ("FT512", HEAD + LOOP + "call mpi_irecv(x, n, 1, 2, 3, k)\n"),
        ("FT513", HEAD + "!$omp do\n" + LOOP),
        ("FT513", HEAD + "!$omp target map(tofrom: x)\n" + LOOP + "!$omp end target\n"),
        ("FT513", HEAD + "!$acc kernels present(x)\n" + LOOP + "!$acc end kernels\n"),
        ("FT514", HEAD + "integer, save :: calls\n" + LOOP),
        ("FT514", HEAD + "integer :: calls = 0\n" + LOOP),
        ("FT514", HEAD + LOOP + "block\ninteger, save :: calls\ncalls = 1\nend block\n"),
        ("FT514", HEAD + LOOP + "entry other(x, n)\n"),
        ("FT514", HEAD + "include 'more.inc'\n" + LOOP),
        ("FT514", HEAD + LOOP + "contains\nsubroutine t()\nend subroutine t\n"),
        ("FT515", HEAD.replace("real,", "class(*),") + "do k = 1, n\ncall t(x)\nend do\n"),
        ("FT516", HEAD.replace("intent(inout)", "contiguous, intent(inout)") + LOOP),
    ],
)
def test_refusals(code: str, body: str) -> None:
    remark = said(body)
    assert (remark.code, remark.kind) == (code, Kind.MISSED)


def test_intents_decide_what_is_copied() -> None:
    def made(intent: str, body: str) -> str:
        head = HEAD.replace("intent(inout)", f"intent({intent})")
        text = f"subroutine s(x, n)\n{head}{body}end subroutine s\n"
        return rewrite(text, Options(repack="whole", strict=True)).text

    there, back = "packed(j1) = x(j1)", "x(j1) = packed(j1)"
    read = made("in", LOOP.replace("x(i) = x(i) + k", "print *, x(i)"))
    assert there in read and back not in read
    assert there in made("inout", LOOP) and back in made("inout", LOOP)
    defined = made("out", "do i = 1, size(x)\nx(i) = 0\nend do\n" + LOOP)
    assert there not in defined and back in defined
    assert there not in made("out", "integer :: m\nm = size(x)\ndo i = 1, m\nx(i) = 0\nend do\n" + LOOP)
    for unsure in (
        LOOP,
        "if (n > 3) x = 0\n" + LOOP,
        "if (n > 3) return\nx = 0\n" + LOOP,
        "do i = 1, n\nx(i) = 0\nend do\n" + LOOP,
        "do i = 1, size(x)\nif (i == n) exit\nx(i) = 0\nend do\n" + LOOP,
        "do i = 1, size(x)\nif (i /= n) then\nx(i) = 0\nend if\nend do\n" + LOOP,
        "do i = 2, size(x)\nx(i) = 0\nend do\n" + LOOP,
    ):
        assert there in made("out", unsure), unsure


def test_only_what_was_asked_for() -> None:
    body = f"subroutine {{}}(x, n)\n{{}}{HEAD}{LOOP}end subroutine\n"
    text = body.format("s", "") + body.format("t", "")
    result = rewrite(text, Options(repack="whole", repack_only="T", strict=True))
    assert "t_packed" in result.text and "s_packed" not in result.text
    marked = body.format("s", "!fortrans$ repack(x)\n") + body.format("t", "")
    result = rewrite(marked, Options(strict=True))
    assert "s_packed" in result.text and "t_packed" not in result.text
    marked = body.format("s", "!fortrans$ norepack\n") + body.format("t", "")
    result = rewrite(marked, Options(repack="whole", strict=True))
    assert "t_packed" in result.text and "s_packed" not in result.text


def test_statements_are_rewritten_in_both_versions(tmp_path: Path) -> None:
    body = (
        "subroutine s(x, n)\nreal, intent(inout) :: x(:,:)\ninteger, intent(in) :: n\ninteger :: k\n"
        "do k = 1, n\nx = x + spread(sum(x, 1)/n, 1, size(x, 1))\nend do\nend subroutine\n"
    )
    plain = rewrite(body, Options(strict=True))
    nest = [line for line in plain.text.splitlines() if "do concurrent" in line]
    both = rewrite(body, Options(repack="whole", strict=True)).text
    assert nest
    for line in set(nest):
        assert both.count(line.strip()) >= 2 * nest.count(line)


@pytest.mark.parametrize(
    ("limit", "asked"),
    [
        ("n", "n >= 4"),
        ("n - 2", "n - 2 >= 4"),
        ("min(n, size(x))", "min(n, size(x)) >= 4"),
        ("n/k", None),
        ("int(x(n))", None),
        ("n**2", None),
        ("other()", None),
    ],
)
def test_conditions_are_asked_only_where_that_is_safe(limit: str, asked: str | None) -> None:
    loop = LOOP.replace("do k = 1, n", f"do k = 1, {limit}").replace("+ k", "+ 1")
    body = HEAD.replace("i, k", "i, k, m") + "if (n > 0) then\n" + loop + "end if\n"
    text = f"subroutine s(x, n)\n{body}end subroutine s\n"
    found = rewrite(text, Options(repack="whole", repack_min_size=0, openmp=False, strict=True)).text
    tests = [line.strip() for line in found.splitlines() if ">= 4" in line]
    assert tests == ([] if asked is None else [f"if ({asked}) then"])


def test_labels_may_be_jumped_to() -> None:
    body = HEAD + "10 k = n\nif (k < 0) return\n" + LOOP + "if (x(1) < 9) goto 10\n"
    text = f"subroutine s(x, n)\n{body}end subroutine s\n"
    always = Options(repack="whole", repack_when="always", strict=True)
    lines = [line.strip() for line in rewrite(text, always).text.splitlines()]
    assert lines.index("block") < lines.index("10 k = n")


def test_separate_bodies_without_declarations_are_left() -> None:
    text = (
        "module m\ninterface\nmodule subroutine s(x, n)\n"
        f"{HEAD.rpartition('integer :: ')[0]}end subroutine\nend interface\nend module\n"
        "submodule (m) b\ncontains\nmodule procedure s\ninteger :: i, k\n"
        f"{LOOP}end procedure\nend submodule\n"
    )
    (remark,) = [r for r in rewrite(text, MODES[0]).remarks if r.code.startswith("FT5")]
    assert remark.code == "FT514"


def test_what_was_packed_is_not_packed_again() -> None:
    inner = f"subroutine inner(x, n)\n{HEAD}{LOOP}end subroutine\n"
    passes_on = LOOP.replace("x(i) = x(i) + k\nend do\n", "x(i) = x(i)*0.5\nend do\ncall inner(x, n)\n")
    outer = f"subroutine outer(x, n)\n{HEAD}{passes_on}end subroutine\n"
    text = (
        f"module m\nimplicit none\ncontains\n{outer}{inner}end module\n"
        "program p\nuse m\nreal :: a(3, 50)\na = 1\ncall outer(a(2, :), 5)\ncall outer(a(:, 3), 5)\n"
        "print *, a\nend program\n"
    )
    result = rewrite(text, Options(repack="whole", repack_min_size=0, strict=True))
    # The version of the outer one has x(n1): inner finds it contiguous and allocates nothing.
    version = result.text.partition("subroutine outer_packed(")[2].partition("end subroutine")[0]
    assert "x(n1)" in version and "call inner(x, n)" in version and "allocate" not in version
    chosen = result.text.partition("subroutine inner(")[2]
    assert chosen.index("if (is_contiguous(x)) then") < chosen.index("allocate (packed(")
    outcome = compare([Source("p.f90", text)], [Source("p.f90", result.text)], flags=("-fcheck=all",))
    assert outcome.difference is None, outcome.difference


def test_without_memory_for_a_copy_the_body_goes_on() -> None:
    """The program is changed by hand to ask for more memory than there is."""
    module = "module m\ncontains\nsubroutine s(x, n)\n" + HEAD + LOOP + "end subroutine\nend module\n"
    made = rewrite(module, Options(repack="whole", strict=True)).text
    assert made.count("stat=failed") == 1
    made = made.replace("allocate (packed(n1)", "allocate (packed(huge(n1)/8)")
    program = "program p\nuse m\nreal :: a(2, 3000) = 1\ncall s(a(1, :), 5)\nprint *, sum(a, 2)\nend\n"
    outcome = compare([Source("p.f90", module + program)], [Source("p.f90", made + program)])
    assert outcome.difference is None, outcome.difference


def test_stack_limit_is_that_of_copies_too() -> None:
    text = f"subroutine s(x, n)\n{HEAD}{LOOP}end subroutine s\n"
    options = {"repack": "whole", "strict": True}
    assert "<= " not in rewrite(text, Options(**options)).text  # type: ignore[arg-type]
    limited = rewrite(text, Options(**options, stack_arrays=True, stack_limit=70000)).text  # type: ignore[arg-type]
    assert "4*n1 <= 70000" in limited and "allocate (packed" in limited
    never = rewrite(text, Options(**options, stack_arrays=True, stack_limit=0)).text  # type: ignore[arg-type]
    assert "<= 0" not in never and "allocate (packed" in never
