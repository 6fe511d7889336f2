"""Random programs over all types and kinds whose real data hold NaN, infinities and both zeros.

Each statement assigns a composition of transformational intrinsics of one type and prints every
bit of the result.  Numbers are small multiples of powers of two, so that sums are exact in any
order and the programs print the same however a compiler adds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fortrans.verify.generate import Program, wrapped

#: Type, declaration, and the values of its arrays.
_NUMBERS = ("1", "-1", "0", "2", "-2", "3")
_REALS = ("0.5", "-0.0", "2.0", "nan", "inf", "-1.25", "0.0", "-inf", "4.0", "1.0", "-2.0")
_TAME = ("0.5", "-0.0", "2.0", "-1.25", "0.0", "4.0", "1.0", "-2.0")
TYPES = {
    "i1": "integer(1)",
    "i2": "integer(2)",
    "i4": "integer",
    "i8": "integer(8)",
    "r4": "real",
    "r8": "real(8)",
    "z4": "complex",
    "z8": "complex(8)",
    "l1": "logical(1)",
    "l4": "logical",
    "l8": "logical(8)",
    "c": "character(len=2)",
}
_SHAPES = ((3, 4), (4, 3), (4,), (3,), (2, 0))
Shape = tuple[int, ...]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(f"special {seed}")
        self.values = self.random.choice((_REALS, _REALS, _TAME))

    def one(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    # ---- data

    def literal(self, kind: str) -> str:
        match kind[0]:
            case "i":
                return f"{self.random.choice(_NUMBERS)}_{kind[1]}".replace("--", "")
            case "l":
                return f"{self.random.choice(('.true.', '.false.'))}_{kind[1]}"
            case "c":
                return self.random.choice(("'ab'", "'b '", "'zz'"))
            case "z":
                return f"cmplx({self.number(kind[1])}, {self.number(kind[1])}, {kind[1]})"
            case _:
                return self.number(kind[1])

    def number(self, kind: str) -> str:
        text = self.random.choice(self.values)
        return {"nan": f"nan{kind}", "inf": f"inf{kind}", "-inf": f"-inf{kind}"}.get(text, f"{text}_{kind}")

    def fill(self, kind: str) -> str:
        lines = []
        for name, count, shape in (
            ("a", 12, "[3, 4]"), ("b", 12, "[4, 3]"), ("v", 4, ""), ("w", 3, ""),
        ):  # fmt: skip
            items = ", ".join(self.literal(kind) for _ in range(count))
            made = f"reshape([{items}], {shape})" if shape else f"[{items}]"
            lines.append(wrapped(f"{name}_{kind} = {made}", "  "))
        return "".join(lines)

    # ---- expressions

    def value(self, kind: str, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self.leaf(kind, shape)
        match len(shape):
            case 2:
                return self.matrix(kind, shape, depth - 1)
            case 1:
                return self.vector(kind, shape, depth - 1)
            case _:
                return self.scalar(kind, depth - 1)

    def leaf(self, kind: str, shape: Shape) -> str:
        match shape:
            case (3, 4):
                return self.random.choice((f"a_{kind}", f"a_{kind}(3:1:-1, :)", f"z_{kind}(:, 2:5)"))
            case (4, 3):
                return self.random.choice((f"b_{kind}", f"b_{kind}(:, 3:1:-1)"))
            case (2, 0):
                return f"a_{kind}(:2, 3:2)"
            case (4,):
                return self.random.choice((f"v_{kind}", f"a_{kind}(2, :)", f"b_{kind}(:, 1)"))
            case (3,):
                return self.random.choice((f"w_{kind}", f"a_{kind}(:, 4)", f"v_{kind}(4:2:-1)"))
            case (0,):
                return f"v_{kind}(3:2)"
            case (2,):
                return f"v_{kind}(1:3:2)"
            case _:
                return self.random.choice((f"v_{kind}(2)", self.literal(kind)))

    def operation(self, kind: str, shape: Shape, depth: int) -> str:
        x, y = (self.value(kind, shape, depth) for _ in range(2))
        match kind[0]:
            case "i" | "r" | "z":
                return f"({x} {self.random.choice('+-*')} {y})"
            case "l":
                return f"({x} {self.random.choice(('.and.', '.or.', '.neqv.'))} {y})"
            case _:
                return f"merge({x}, {y}, {self.mask(shape, depth)})"

    def mask(self, shape: Shape, depth: int) -> str:
        if not shape or self.random.random() < 0.5:
            return self.value("l4", shape, depth)
        kind = self.random.choice(("i4", "r8", "r4", "c"))
        one = {"i4": "0", "r8": "0.5_8", "r4": "0.5", "c": "'b '"}[kind]
        return f"({self.value(kind, shape, depth)} > {one})"

    def matrix(self, kind: str, shape: Shape, depth: int) -> str:
        m, n = shape
        dim = self.random.choice((1, 2))
        shift = self.random.choice(("1", "-1", "2", "k", "-7"))
        along = n if dim == 1 else m
        shifts = f"[{', '.join(str(self.random.randint(-4, 4)) for _ in range(along))}]"

        def x(of: Shape = shape) -> str:
            return self.value(kind, of, depth)

        several = [
            lambda: f"cshift({x()}, {shift}, {dim})",
            lambda: f"eoshift({x()}, {shift}, {self.value(kind, (), 0)}, {dim})",
            lambda: f"spread({x((n,))}, 1, {m})",
            lambda: f"spread({x((m,))}, 2, {n})",
            lambda: f"merge({x()}, {x()}, {self.mask(shape, depth)})",
            lambda: self.operation(kind, shape, depth),
        ]
        if 0 not in shape:
            several += [
                lambda: f"transpose({x((n, m))})",
                lambda: f"reshape({x((n, m))}, [{m}, {n}])",
                lambda: f"reshape({x((n, m))}, [{m}, {n}], order=[2, 1])",
                lambda: f"cshift({x()}, {shifts}, {dim})",
                lambda: f"unpack({x((4,))}, a_l4 .and. .false., {x()})" if shape == (3, 4) else x(),
            ]
        return self.one(*several)

    def reduced(self, kind: str, shape: Shape, dim: str, depth: int) -> str:
        """A reduction of ``kind`` to ``kind``."""
        x = self.value(kind, shape, depth)
        masked = f", mask={self.mask(shape, depth)}" if self.random.random() < 0.4 else ""
        match kind[0]:
            case "i":
                names = ["sum", "maxval", "minval", "iall", "iany", "iparity"]
                names += ["product"] if kind in ("i4", "i8") else []
            case "r":
                names = ["sum", "product", "maxval", "minval"]
            case "z":
                names = ["sum", "product"]
            case "l":
                return f"{self.random.choice(('any', 'all', 'parity'))}({x}{dim})"
            case _:
                return x if dim else self.leaf(kind, ())
        return f"{self.random.choice(names)}({x}{dim}{masked})"

    def vector(self, kind: str, shape: Shape, depth: int) -> str:
        (n,) = shape
        wide: Shape = (3, n) if n == 4 else (4, n) if n == 3 else (2, n)

        def x() -> str:
            return self.value(kind, shape, depth)

        several = [
            lambda: f"cshift({x()}, {self.random.randint(-5, 5)})",
            lambda: f"eoshift({x()}, {self.random.randint(-5, 5)})",
            lambda: f"merge({x()}, {x()}, {self.mask(shape, depth)})",
            lambda: self.operation(kind, shape, depth),
        ]
        if n in (3, 4):
            tall = wide[::-1]
            if kind != "c":
                several += [
                    lambda: self.reduced(kind, wide, ", dim=1", depth),
                    lambda: self.reduced(kind, tall, ", dim=2", depth),
                ]
            several += [
                lambda: f"pack({x()}, {self.mask(shape, depth)}, {x()})",
                lambda: f"[{', '.join(self.value(kind, (), 0) for _ in range(n))}]",
                lambda: f"[{self.value(kind, (2,), depth)}, {self.value(kind, (n - 2,), 0)}]"
                if n == 4
                else x(),
            ]
            if kind in ("i4", "r8", "z8", "l4", "r4"):
                several.append(
                    lambda: f"matmul({self.value(kind, tall, 0)}, {self.value(kind, wide[:1], 0)})"
                )
        return self.one(*several)

    def scalar(self, kind: str, depth: int) -> str:
        shape = self.random.choice(_SHAPES)
        several = [lambda: self.reduced(kind, shape, "", depth)]
        if kind == "i4":
            other = self.random.choice(("i4", "r4", "r8"))
            several += [
                lambda: f"count({self.mask(shape, depth)})",
                lambda: f"sum({self.random.choice(('maxloc', 'minloc'))}({self.value(other, shape, depth)}))",
                lambda: f"size({self.value(other, (3, 4), depth)}, 2)",
            ]
        if kind in ("i4", "r4", "r8", "z4", "z8", "l4"):
            several.append(
                lambda: f"dot_product({self.value(kind, (4,), depth)}, {self.value(kind, (4,), depth)})"
            )
        return self.one(*several)

    def statement(self) -> str:
        kind = self.random.choice(list(TYPES))
        shape = self.random.choice((*_SHAPES, ()))
        depth = self.random.choice((1, 2, 2, 3))
        text = self.value(kind, shape, depth)
        target = f"{'sqr'[len(shape)]}_{kind}"
        shown = f"[{target}]" if not shape else f"reshape({target}, [size({target})])"
        extents = f"  print *, shape({target})\n" if shape else ""
        return wrapped(f"{target} = {text}", "  ") + extents + f"  call show_{kind}({shown})\n"


def _show(kind: str, declaration: str) -> str:
    match kind[0]:
        case "r":
            digits = int(kind[1]) * 2
            body = (
                "    do i = 1, size(x)\n      if (x(i) /= x(i)) then\n        print '(a)', 'NaN'\n"
                # Which zero MAXVAL and MERGE of equal values give is the processor's choice.
                f"      else\n        print '(z{digits}.{digits})', x(i) + 0.0_{kind[1]}\n"
                "      end if\n    end do\n"
            )
        case "z":
            body = (
                "    do i = 1, size(x)\n"
                f"      call show_r{kind[1]}([real(x(i), {kind[1]})])\n"
                f"      call show_r{kind[1]}([aimag(x(i))])\n    end do\n"
            )
        case _:
            body = "    do i = 1, size(x)\n      print *, x(i)\n    end do\n"
    return (
        f"  subroutine show_{kind}(x)\n    {declaration}, intent(in) :: x(:)\n    integer :: i\n"
        f"{body}  end subroutine show_{kind}\n"
    )


def generate(seed: int, size: int = 25) -> Program:
    """The program of ``seed`` with ``size`` statements."""
    writer = _Writer(seed)
    declared = "".join(
        f"  {text} :: a_{kind}(3, 4), b_{kind}(4, 3), v_{kind}(4), w_{kind}(0:2), z_{kind}(3, 0:6)\n"
        f"  {text}, allocatable :: r_{kind}(:, :), q_{kind}(:)\n  {text} :: s_{kind}\n"
        for kind, text in TYPES.items()
    )
    filled = "".join(
        f"{writer.fill(kind)}  z_{kind} = reshape(a_{kind}, [3, 7], a_{kind})\n" for kind in TYPES
    )
    head = (
        "program special\n"
        "  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan, ieee_positive_inf\n"
        f"  implicit none\n{declared}"
        "  real(4) :: nan4, inf4\n  real(8) :: nan8, inf8\n  integer :: k\n"
        "  k = 3\n"
        "  nan4 = ieee_value(nan4, ieee_quiet_nan)\n  nan8 = ieee_value(nan8, ieee_quiet_nan)\n"
        "  inf4 = ieee_value(inf4, ieee_positive_inf)\n  inf8 = ieee_value(inf8, ieee_positive_inf)\n"
        f"{filled}"
    )
    statements = tuple(writer.statement() for _ in range(size))
    tail = "contains\n" + "".join(_show(k, text) for k, text in TYPES.items()) + "end program special\n"
    return Program(seed, head, statements, tail)
