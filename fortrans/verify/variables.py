"""The arrays of a random program: where they live, how they are declared, how they are reached."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

Shape = tuple[int, ...]

DECLARED = {
    "i4": "integer",
    "i8": "integer(i8)",
    "r4": "real(sp)",
    "r8": "real(dp)",
    "z8": "complex(dp)",
    "l": "logical",
    "c": "character(len=3)",
}


@dataclass(frozen=True, slots=True)
class Variable:
    """An array.  ``name`` is the whole of it; an element or section is ``base(...)tail``.

    ``extents`` is None while it is not allocated.  A dummy has the ``actual`` section that the
    main program passes of an array with ``actual_extents``.
    """

    name: str
    type: str
    extents: Shape | None
    lower: Shape
    declaration: str = ""
    allocatable: bool = False
    base: str = ""
    tail: str = ""
    actual: str = ""
    actual_extents: Shape = ()
    filled: bool = True

    @property
    def rank(self) -> int:
        return len(self.lower)

    @property
    def bounds(self) -> str:
        """The bounds as an ALLOCATE statement or a declaration gives them."""
        pairs = zip(self.lower, self.extents or ())
        return ", ".join(f"{low}:{low + extent - 1}" for low, extent in pairs)

    @property
    def actual_bounds(self) -> str:
        return ", ".join(map(str, self.actual_extents))

    def section(self, subscripts: str) -> str:
        return f"{self.base or self.name}({subscripts}){self.tail}"


def _colons(rank: int) -> str:
    return ", ".join([":"] * rank)


def _local(random: Random, name: str, kind: str, rank: int) -> Variable:
    extents = tuple(random.randint(2, 5) for _ in range(rank))
    lower = tuple(random.choice([1, 1, 0, -2, 3]) for _ in range(rank))
    plain = Variable(name, kind, extents, lower)
    match random.randrange(3):
        case 0:
            text = f"{DECLARED[kind]} :: {name}({plain.bounds})"
        case 1:
            text = f"{DECLARED[kind]}, dimension({plain.bounds}) :: {name}"
        case _:
            text = f"{DECLARED[kind]} {name}\n    dimension {name}({plain.bounds})"
    return Variable(name, kind, extents, lower, text)


def _automatic(random: Random, name: str, kind: str) -> Variable:
    # The main program passes n = 4 and m = 3.
    return random.choice(
        [
            Variable(name, kind, (4, 3), (1, 1), f"{DECLARED[kind]} :: {name}(n, m)"),
            Variable(name, kind, (5, 3), (0, 2), f"{DECLARED[kind]} :: {name}(0:n, 2:m + 1)"),
        ]
    )


def _allocatable(random: Random, name: str, kind: str, rank: int) -> Variable:
    text = f"{DECLARED[kind]}, allocatable :: {name}({_colons(rank)})"
    lower = tuple(random.choice([1, 0, -1, 4]) for _ in range(rank))
    if random.random() < 0.3:
        return Variable(name, kind, None, (1,) * rank, text, allocatable=True)
    extents = tuple(random.randint(1, 4) for _ in range(rank))
    return Variable(name, kind, extents, lower, text, allocatable=True)


def _dummy(random: Random, name: str, kind: str, rank: int) -> Variable:
    extents, lower, wide, sections, bounds = [], [], [], [], []
    for _ in range(rank):
        extent, low = random.randint(2, 5), random.choice([1, 1, 0, -3])
        step = random.choice([1, 1, 2, 3, -1, -2])
        first, last = 2, 2 + (extent - 1) * abs(step)
        sections.append(f"{first}:{last}:{step}" if step > 0 else f"{last}:{first}:{step}")
        wide.append(last + random.randint(0, 2))
        bounds.append(":" if low == 1 else f"{low}:")
        extents.append(extent)
        lower.append(low)
    text = f"{DECLARED[kind]}, intent(inout) :: {name}({', '.join(bounds)})"
    section = f"({', '.join(sections)})"
    return Variable(
        name, kind, tuple(extents), tuple(lower), text, actual=section, actual_extents=tuple(wide)
    )


def initial_variables(random: Random) -> list[Variable]:
    """The arrays of one program, of random types, ranks and bounds."""
    kinds = ["i4", "i4", "r8", "r8", "r4", "i8", "z8", "l", "c"]

    def kind() -> str:
        return random.choice(kinds)

    def rank() -> int:
        return random.choice([1, 1, 2, 2, 2, 3])

    return [
        *(_local(random, f"a{k}", "i4" if k == 0 else kind(), rank()) for k in range(5)),
        _automatic(random, "au", kind()),
        *(_allocatable(random, f"v{k}", kind(), random.choice([1, 2, 2])) for k in range(3)),
        *(_dummy(random, f"d{k}", kind(), rank()) for k in range(3)),
        Variable("tr", "r8", (9,), (1,), "real(dp), target :: tr(9)"),
        Variable("pr", "r8", (4,), (1,), "real(dp), pointer :: pr(:)", filled=False),
        Variable("table", "i4", (5,), (0,)),
        Variable("g%w", "i4", (5,), (-1,)),
        Variable("g%al", "r4", (2, 3), (1, 0), allocatable=True),
        Variable("g%c(2)%u", "r8", (2, 4), (1, 0)),
        Variable("g%c%k", "i4", (4,), (1,), base="g%c", tail="%k"),
        Variable("g%c%u(2, 1)", "r8", (4,), (1,), base="g%c", tail="%u(2, 1)"),
    ]
