"""Where temporaries live, what is allocated, and that all of it is released."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.source import Source
from fortrans.verify.build import BuildFailed, Run, build, run

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "storage"
ARRAY_FUNCTION = """\
  interface
    function f(x)
      real :: x(:)
      real :: f(size(x))
    end function f
  end interface
"""
STRICT = Options(all=True, strict=True)


def rewritten(body: str, declarations: str = "", options: Options = STRICT) -> str:
    """The subroutine with this body, rewritten, without its comments."""
    text = (
        "subroutine s(n, x, c)\n  implicit none\n  integer, intent(in) :: n\n"
        "  real :: x(n), c(9)\n  real, allocatable :: a(:), b(:)\n  integer :: i\n"
        f"{declarations}{body}end subroutine s\n"
    )
    return re.sub(r"(?m)^ *!.*\n", "", rewrite(text, options).text)


@pytest.mark.parametrize(
    ("limit", "allocated"), [(0, True), (31, True), (32, False), (8192, False)]
)
def test_small_temporaries_are_on_the_stack(limit: int, allocated: bool) -> None:
    body, declared = "  c(:8) = c(which)*2\n", "  integer :: which(8)\n"
    text = rewritten(body, declared, Options(all=True, stack_limit=limit))
    assert ("real, allocatable :: tmp(:)" in text) == allocated
    assert ("allocate (tmp(8))" in text) == allocated


def test_the_limit_is_for_all_of_a_statement() -> None:
    body = "  k = k(:, j) + eoshift(l, 1, dim=2, boundary=[7, 8, 9]) - eoshift(l, -1, [5, 6, 7, 8])\n"
    limits = (Options(all=True, stack_limit=limit) for limit in (12 + 15, 12 + 16, 12 + 16 + 48))
    found = [rewritten(body, "  integer :: j(4), k(3, 4), l(3, 4)\n", options) for options in limits]
    assert [text.count("allocate (tmp") for text in found] == [2, 1, 0]


def test_named_constants_are_constants() -> None:
    declared = "  integer, parameter :: m = 6\n  real :: y(m)\n  integer :: k(m - 1)\n"
    text = rewritten("  y(:m - 1) = y(k)\n", declared)
    assert "real :: tmp(" in text and "allocate" not in text


def test_every_temporary_on_the_stack() -> None:
    everywhere = Options(all=True, stack_arrays=True)
    text = rewritten("  x = x(k)\n", "  integer :: k(n)\n", everywhere)
    assert "real :: tmp(n)" in text and "allocate" not in text
    # What a left side takes over is allocated.
    assert "call move_alloc(tmp, a)" in rewritten("  a = [a, 1.0]\n", options=everywhere)


def test_an_extent_that_is_computed_first_gets_a_block_within() -> None:
    declared = "  interface\n    integer function k()\n    end function k\n  end interface\n"
    everywhere = Options(all=True, stack_arrays=True)
    text = rewritten("  x(3:) = x(j(:k()))\n", f"  integer :: j(n)\n{declared}", everywhere)
    assert "    val = k()\n    block\n      real :: tmp(val)\n" in text


def test_a_longer_value_is_never_copied_back() -> None:
    text = rewritten("  a = [a, x(1)]\n")
    assert "call move_alloc(tmp, a)" in text and "if" not in text
    text = rewritten("  a = a(2:)\n")
    assert "if (size(a, 1) /= size(tmp, 1)) then" in text


def test_what_may_not_be_allocated_is_asked() -> None:
    declared = "  type t\n    real, allocatable :: a(:), b(:)\n  end type t\n  type(t) :: g\n"
    text = rewritten("  g%a = cshift(g%b, 1)\n", declared)
    assert "if (allocated(g%a)) then" in text


def test_no_reallocation_when_the_compiler_does_none() -> None:
    text = rewritten("  a = cshift(b, 1)*2\n", options=Options(all=True, realloc_lhs=False))
    assert "allocate (" not in text


@pytest.mark.parametrize(
    ("statement", "made"),
    [
        ("allocate (a, source=x*2)", "allocate (a(n))"),
        ("allocate (a(0:n - 1), source=cshift(x, 1))", "allocate (a(0:n-1))"),
        ("allocate (a(n), b(2:n + 1), source=-x, stat=i)", "allocate (a(n), b(2:n+1), stat=i)"),
        ("allocate (a(4), source=sum(x*x))", "allocate (a(4), source=val)"),
        ("allocate (a, source=sqrt(x(:3)), ERRMSG=m)", "allocate (a(3), errmsg=m)"),
        ("if (n > 2) allocate (a, source=2*x)", "allocate (a(n))"),
    ],
)
def test_new_storage_is_populated_directly(statement: str, made: str) -> None:
    text = rewritten(f"  {statement}\n", "  character(9) :: m\n")
    assert made in text.replace("ERRMSG", "errmsg") and "tmp" not in text


@pytest.mark.parametrize(
    "statement",
    [
        "allocate (a, mold=x*2)",
        "allocate (a, source=x)",
        "allocate (a, source=b)",
        "allocate (a(n), source=1.5)",
        "allocate (a(n))",
        "allocate (a, source=(/ 1.0, 2.0 /))",
        "allocate (k, source=x*2)",
        "allocate (a, source=a*2)",
        "allocate (a, source=x*i, stat=i)",
        "allocate (real :: a(n))",
        "allocate (z, source=2*x)",
    ],
)
def test_other_allocations_stay(statement: str) -> None:
    declared = "  integer, allocatable :: k(:)\n  class(*), allocatable :: z(:)\n"
    assert f"  {statement}\n" in rewritten(f"  {statement}\n", declared)


def test_right_after_its_allocation_a_shape_is_known() -> None:
    text = rewritten("  allocate (a(0:n - 1), b(n))\n  b = x*3\n  a = cshift(x, 1)\n")
    assert "allocated(" not in text


@pytest.mark.parametrize(
    "before",
    [
        "  allocate (a(n), stat=i)\n",
        "  if (n > 3) allocate (a(n))\n",
        "  allocate (a(i))\n  i = i + 1\n",
        "  allocate (a(n))\n  a = c\n",
        "  allocate (a(n))\n  call t(a)\n",
        "  allocate (a(n))\n  x = f(x)\n",
        "  allocate (a(n))\n10 continue\n",
    ],
)
def test_otherwise_it_is_not(before: str) -> None:
    text = rewritten(f"{before}  a = cshift(x, 1)*2\n", f"  external :: t\n{ARRAY_FUNCTION}")
    assert "if (allocated(a)) then" in text


def sanitized(text: str, folder: Path) -> Run:
    """The program as a subroutine that is called once, with every use of memory checked."""
    name = re.search(r"(?m)^program (\w+)", text)
    assert name is not None
    text = re.sub(rf"(?m)^(end )?program {name[1]}", r"\1subroutine work_of_it", text)
    text += "program main\n  call work_of_it()\nend program main\n"
    flags = ("-w", "-g", "-O1", "-fsanitize=address,undefined")
    try:
        return run(build([Source("p.f90", text)], flags, folder).executable)
    except BuildFailed as failed:
        if "asan" in failed.messages:
            pytest.skip("the compiler has no AddressSanitizer")
        raise


def leaked(result: Run) -> int:
    """The bytes that were not released, by LeakSanitizer's count."""
    found = re.search(rb"(\d+) byte\(s\) leaked", result.stderr)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("case", ["taken_over", "allocate_source"])
def test_what_is_allocated_is_released(case: str, tmp_path: Path) -> None:
    texts = [(FIXTURES / case / f"{name}.f90").read_text("utf-8") for name in ("input", "expected")]
    before, after = (sanitized(text, tmp_path / str(i)) for i, text in enumerate(texts))
    assert b"runtime error" not in after.stderr
    assert not re.search(rb"AddressSanitizer: (?!\d)", after.stderr)
    assert before.stdout == after.stdout
    assert leaked(after) <= leaked(before)


@pytest.mark.parametrize(
    "options,told",
    [
        ((), "taking n elements on the heap"),
        (("--stack-arrays",), "taking n elements on the stack"),
    ],
)
def test_a_remark_tells_what_a_temporary_takes(options: tuple[str, ...], told: str, tmp_path: Path) -> None:
    source = tmp_path / "s.f90"
    source.write_text(
        "subroutine s(a, p, n)\ninteger :: n, p(n)\nreal :: a(n)\na(1:n) = a(p(1:n)) + 1\nend subroutine\n"
    )
    command = [sys.executable, "-m", "fortrans", "rewrite", "--all", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told in done.stderr
