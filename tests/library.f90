module lib
  implicit none
  private
  public :: centred, outer, tail, words, total, flip, grow, of_type, strict, scale, point
  type :: point
    real :: x
  end type
contains
  subroutine centred(a, b, w)
    real(8), intent(in) :: a(:, :)
    real(8), intent(out) :: b(:, :)
    real(8), intent(in), optional :: w(:)
    b = a - spread(sum(a, 1)/max(1, size(a, 1)), 1, size(a, 1))
    if (present(w)) b = b*spread(w, 2, size(a, 2))
  end subroutine
  function outer(x, y) result(z)
    real, intent(in) :: x(:), y(:)
    real :: z(size(x), size(y))
    z = spread(x, 2, size(y))*spread(y, 1, size(x))
  end function
  subroutine tail(n, m, a)
    integer, intent(in) :: n, m
    integer, intent(inout) :: a(n, m)
    a = cshift(a, 1, 2) + 1
  end subroutine
  function words(s) result(t)
    character(*), intent(in) :: s(:)
    character(len(s)) :: t(size(s))
    t = s(size(s):1:-1)
  end function
  real(8) function total(a, m)
    real(8), intent(in) :: a(:, :)
    logical, intent(in) :: m(:, :)
    total = sum(transpose(a)*2, mask=transpose(m))
  end function
  subroutine flip(a)
    real, intent(inout) :: a(:)
    a = a(size(a):1:-1)
  end subroutine
  subroutine grow(a)
    integer, allocatable, intent(inout) :: a(:)
    a = [a, 2*a]
  end subroutine
  subroutine of_type(p, a)
    type(point), intent(in) :: p
    real, intent(inout) :: a(:, :)
    a = transpose(a)*p%x
  end subroutine
  subroutine strict(a)
    real, intent(inout) :: a(:)
    if (size(a) /= 4) error stop 'four, please'
    a = a + sum(a*2)
  end subroutine
  complex elemental function scale(z, l)
    complex, intent(in) :: z
    logical, intent(in) :: l
    scale = merge(z*2, -z, l)
  end function
  subroutine hidden()
  end subroutine
end module
subroutine f77(n, x, y)
  integer n
  real x(n), y(n, *)
  y(:, 1:n) = spread(x, 2, n) + transpose(spread(x, 2, n))
end subroutine
subroutine shaped(a)
  real a(:)
  a = cshift(a, 1)
end subroutine
