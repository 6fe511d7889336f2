"""Repacking under OpenMP: threads that update one strided section, and wait for each other in between."""

from __future__ import annotations

from pathlib import Path

from fortrans.options import Options
from fortrans.pipeline import rewrite
from fortrans.source import Source
from fortrans.verify.build import build, run

PROGRAM = """\
module meeting
  implicit none
contains
  subroutine meet()
    !$omp barrier
  end subroutine meet
end module meeting

module updating
  use meeting
  implicit none
contains
  subroutine bump(x, first, last, times)
    integer, intent(inout) :: x(:)
    integer, intent(in) :: first, last, times
    integer :: i, k
    call meet()
    do k = 1, times
      do i = first, last
        x(i) = x(i) + k
      end do
    end do
    call meet()
  end subroutine bump

  function total(x, times)
    integer, intent(in) :: x(:), times
    integer :: total, i, k
    total = 0
    do k = 1, times
      do i = 1, size(x)
        total = total + k*x(i)
      end do
    end do
  end function total
end module updating

program main
  use omp_lib
  use updating
  implicit none
  integer, parameter :: part = 500
  integer :: a(3, 8*part), me, threads, round, got
  a = 0
  got = 0
  do round = 1, 20
    threads = 1 + modulo(round, 8)
    !$omp parallel num_threads(threads) private(me) reduction(+: got)
    me = omp_get_thread_num()
    call bump(a(2, :), part*me + 1, part*me + part, 5)
    got = got + total(a(2, :), 4)
    !$omp end parallel
    call bump(a(1, :), 1, 8*part, 5)
  end do
  print *, sum(a, 2), got
  print *, a(2, ::part)
end program main
"""
FLAGS = ("-O2", "-fopenmp")


def printed(text: str, folder: Path, threads: int) -> list[str]:
    built = build([Source("p.f90", text)], FLAGS, folder)
    found = set()
    for _ in range(5):
        # Every round has the threads it asks for, however few the machine has.
        out = run(built.executable, variables={"OMP_DYNAMIC": "false", "OMP_THREAD_LIMIT": str(threads)})
        assert out.exit == 0, out.stderr
        found.add(out.stdout.decode())
    return sorted(found)


def repacked(**options: bool) -> str:
    text = rewrite(PROGRAM, Options(repack="whole", strict=True, **options)).text  # type: ignore[arg-type]
    assert "bump_packed" in text and "total_packed" in text
    return text


def test_guarded_copies_lose_no_update(tmp_path: Path) -> None:
    expected = printed(PROGRAM, tmp_path / "original", 64)
    assert len(expected) == 1
    assert printed(repacked(), tmp_path / "guarded", 64) == expected


def test_serial_programs_do_the_same(tmp_path: Path) -> None:
    expected = printed(PROGRAM, tmp_path / "original", 1)
    assert printed(repacked(), tmp_path / "guarded", 1) == expected


def test_without_the_guard_updates_are_lost(tmp_path: Path) -> None:
    """The program shows the fault that the guard is for: each thread's copy is of all of the section."""
    expected = printed(PROGRAM, tmp_path / "original", 64)
    assert printed(repacked(openmp=False), tmp_path / "promised", 64) != expected
