"""The light front end tells the same structure as fparser's parse of the whole file.

``compare`` yields records that only one of the two has: kind, name, first and last line, and all
that encloses, of each unit, construct and assignment.
"""

from pathlib import Path

import pytest
from structures import Unfit, compare

from fortrans.verify import kernels

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
FILES = sorted(
    path
    for path in FIXTURES.rglob("*")
    if path.suffix.lower() == ".f90" and kernels.KERNELS not in path.parents
)

# What fparser does not read, which leaves nothing to compare with.
NOT_READ = {
    "assignment/preprocessed",
    "refused/coarray",
    "concurrent/conflicts",
    "concurrent/legal",
    "concurrent/traps",
    "openscop/control",
    "openscop/traps",
}

TRICKY = {
    "names": """\
program names
  implicit none
  integer :: if(2), end, do, type, block, where(3), select
  end = 3; do = 1
  if (end == 3) if(1) = 2
  type = 1 ; block = 2 ! ; note = 1
  where(1) = 3
  if (do == 1) then; select = 'a;b' == "c!" // 'd' ; end if
end program names
""",
    "continued": """\
module m
contains
  subroutine s(a, & ! first
               b)   ! second
    real, intent(inout) :: a(:), &

      ! a comment
      b(:)
    a = b + &
      & 1.0 ! here
    outer: do i = 1, &
      2
      if (a(1) > 0 .and. &
          b(1) > 0) then
        b = 'x&
          &y' // ')'
      else if (a(1) < 0) then
        where (a > 0) b = a
        where (a > 0)
          b = 1
        elsewhere (a < -1)
          b = 2
        end where
      endif
    enddo outer
  end subroutine s
end module m
""",
    "prefixes": """\
module m
  type, abstract :: base
    integer :: i = 3
  contains
    procedure :: p
  end type
  type t
    real x
  end type t
  interface
    subroutine ext(a)
      real a
    end subroutine ext
    real function g(a)
      real a
    end function
  end interface
  interface operator(+)
    module procedure add
  end interface
  enum, bind(c)
    enumerator :: red = 1
  end enum
contains
  pure elemental real function f(x) result(y)
    real, intent(in) :: x
    y = x
  end function f
  type(t) function h()
    h = t(1.0)
  contains
    subroutine inner
      k = 1
    end subroutine
  end function h
  character(len=*) recursive function c(x)
    c = ' '
  end function
  subroutine p(self)
    class(base) :: self
    self%i = 1
  end
end module m
subroutine external
end subroutine
""",
    "constructs": """\
program p
  block
    integer :: i
    i = 1
    associate (q => i)
      q = 2
    end associate
  end block
  select case (i)
  case (1:2)
    j = 1
  case default
    j = 2
  end select
  select type (w => v)
  type is (integer)
    k = 1
  class is (t)
    k = 2
  class default
    k = 3
  end select
  do while (k > 0)
    k = k - 1
  end do
  do concurrent (i = 1:n, j = 1:m)
    a(i, j) = 0
  end do
  do
    exit
    k = 2
  end do
  forall (i = 1:n)
    b(i) = i
  end forall
  forall (i = 1:n) b(i) = 2
  do 10 i = 1, 3
    x = 1
10 continue
  do 20 i = 1, 3
    x = 2
20 end do
  critical
    x = 3
  end critical
end program
""",
    "layout": "program p\r\n\tx = 1 ; y = 2\r\n#ifdef A\r\n  z = 1\r\n#else\r\n  z = 2\r\n#endif\r\n\r\n"
    "!$omp parallel do\r\n      do i = 1, 2\r\n!$ z = 3\r\n      a(:, i) = b\r\n      enddo\r\nend",
}


@pytest.mark.parametrize("name", sorted(TRICKY))
def test_tricky_source(name: str) -> None:
    missing, extra = compare(f"{name}.f90", TRICKY[name])
    assert (missing, extra) == (set(), set())


def test_the_comparison_can_fail() -> None:
    text = "program p\ndo 10 i = 1, 2\ndo 10 j = 1, 2\nx = 1\n10 continue\nend\n"
    missing, extra = compare("a.f90", text)
    assert missing, "fparser flattens DOs with a shared end: where it no longer does, add it above"
    assert extra


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FIXTURES)) for path in FILES])
def test_fixture(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.parent.relative_to(FIXTURES).as_posix() in NOT_READ:
        with pytest.raises(Unfit):
            compare(str(path), text)
    else:
        assert compare(str(path), text) == (set(), set())


@pytest.mark.parametrize("path", sorted(kernels.KERNELS.glob("*.f90")), ids=lambda path: path.name)
def test_kernel(path: Path) -> None:
    first = next(iter(kernels.read(path)))
    assert compare(path.name, first.text) == (set(), set())
