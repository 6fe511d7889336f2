"""The names that data objects, and parameters that are no variables, go by in trees of loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from fortrans.ir.expr import Expr, Name, walk
from fortrans.ir.loops import Parameter


@dataclass(slots=True)
class Objects:
    """The names that the data objects and parameters of one program unit go by."""

    taken: set[str]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    _names: dict[object, str] = field(default_factory=dict)

    def name(self, identity: object, wanted: str) -> str:
        """The one name of an object: ``wanted``, unless another object has it."""
        if identity not in self._names:
            used = set(self._names.values())
            name, number = wanted, 2
            while name in used:
                name, number = f"{wanted}_{number}", number + 1
            self._names[identity] = name
        return self._names[identity]

    def fresh(self, wanted: str) -> str:
        """``wanted``, or that with a number where a name of the file is so spelled."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name

    def parameter(
        self, wanted: str, value: Expr, root: str, inquiry: bool = False, extent: bool = False
    ) -> Name:
        """The parameter that stands for ``value``."""
        for name, known in self.parameters.items():
            if known.value == value:
                return Name(name)
        name = self.fresh(wanted)
        self.parameters[name] = Parameter(value, root, inquiry, extent)
        return Name(name)


def mentioned(expr: Expr, objects: Objects) -> frozenset[str]:
    """The variables that the value of index arithmetic depends on."""
    names = {x.id for x in walk(expr) if isinstance(x, Name)}
    known = objects.parameters
    return frozenset(known[n].root.partition("%")[0] if n in known else n for n in names)
