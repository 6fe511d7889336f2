"""Random assignments of an array from itself: shifted, reversed, transposed, from other places."""

from __future__ import annotations

from random import Random

from fortrans.verify.sections import Sections
from fortrans.verify.variables import Shape, Variable

_SUMS = {
    "i4": "mod({} + {}, 97)",
    "i8": "mod({} + {}, 97_i8)",
    "r4": "mod({} + {}, 97.0_sp)",
    "r8": "mod({} + {}, 97.0_dp)",
    "l": "{} .neqv. {}",
}
"""How two operands of a type become one of no greater magnitude."""


class Itself:
    """Writes right-hand sides that read the array that is assigned."""

    def __init__(self, random: Random, sections: Sections) -> None:
        self.random = random
        self.sections = sections

    def value(self, variable: Variable, left: str, shape: Shape) -> str:
        """What ``left``, a definable part of ``variable`` with that shape, is assigned."""
        first = self._operand(variable, left, shape)
        if variable.type not in _SUMS or self.random.random() < 0.5:
            return first
        value = _SUMS[variable.type].format(first, self._operand(variable, left, shape))
        if variable.type != "l" and self.random.random() < 0.3:
            value = _SUMS[variable.type].format(value, self._operand(variable, left, shape))
        return value

    def _operand(self, variable: Variable, left: str, shape: Shape) -> str:
        own = left if self.random.random() < 0.4 else self._elsewhere(variable, shape) or left
        dim = self.random.randint(1, len(shape)) if shape else 0
        match self.random.randrange(8):
            case 0 | 1 if shape:
                shift = self.sections.number(self.random.choice([1, 1, -1, 2, -2, 3, -7, 0]))
                return f"cshift({own}, {shift}, {dim})"
            case 2 if shape and variable.type != "c":
                shift = self.sections.number(self.random.choice([1, 1, -1, 2, -3, 0]))
                return f"eoshift({own}, {shift}, dim={dim})"
            case 3 if len(shape) == 2 and shape[0] == shape[1]:
                return f"transpose({own})"
            case 4 if len(shape) == 1 and shape[0]:
                row = self._elsewhere(variable, ())
                return f"spread({row}, 1, {shape[0]})" if row else own
            case 5 if len(shape) == 2:
                row = self._elsewhere(variable, shape[1:])
                return f"spread({row}, 1, {shape[0]})" if row else own
            case 6 if shape and variable.type in _SUMS and variable.type != "l":
                row = self._elsewhere(variable, shape[:1])
                return f"min({own}, minval({row}))" if row else own
            case _:
                return own

    def _elsewhere(self, variable: Variable, shape: Shape) -> str | None:
        """Another section of the variable with the same shape; None when there is none."""
        places = self.sections.places(variable, shape)
        if not places or variable.extents is None:
            return None
        dims = self.random.choice(places)
        parts = iter(shape)
        bounds = zip(variable.lower, variable.extents)
        subscripts = [
            self.sections.triplet(low, extent, next(parts), many_one=True)
            if d in dims
            else self.sections.subscript(low, extent)
            for d, (low, extent) in enumerate(bounds)
        ]
        return variable.section(", ".join(subscripts))
