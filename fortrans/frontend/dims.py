"""DIM arguments that are not constant: one nest for each value that one may have."""

from __future__ import annotations

from fortrans.frontend.classify import classify
from fortrans.frontend.expressions import convert
from fortrans.frontend.parse import expression
from fortrans.frontend.units import Executable
from fortrans.ir.expr import Call, Expr, Literal, Op, Ref, walk
from fortrans.ir.symbols import Scope, Symbol
from fortrans.remarks import Refusal

MOST = 3
"""The most values for which a nest each stays readable."""


class VariableDim(Refusal):
    """DIM of ``name`` is the expression ``dim``, not a constant; it may be 1 to ``highest``."""

    def __init__(self, name: str, dim: Expr, highest: int) -> None:
        super().__init__("FT402", f"DIM of {name.upper()} is not a constant")
        self.dim = dim
        self.highest = highest


def check_variable(found: VariableDim, executable: Executable, scope: Scope) -> None:
    """Raise Refusal where DIM is not to be tested: too many values, effects, or tested already."""
    if found.highest > MOST:
        raise Refusal("FT402", f"{found.message}, and it may have more than {MOST} values")
    for x in walk(found.dim):
        reads = isinstance(x, Ref) and isinstance(scope.lookup(_base(x)), Symbol)
        if isinstance(x, Call) or (isinstance(x, Ref) and not reads):
            raise Refusal("FT402", f"{found.message}, and is told by a function")
    for construct in executable.constructs:
        guard = construct.guard
        if construct.kind != "if" or guard is None or guard.text.split() != ["else"]:
            continue
        match convert(expression(classify(construct.opening.text).head)):
            case Op("==", (dim, Literal())) if dim == found.dim:
                raise Refusal("FT402", f"{found.message}, and has been tested")


def _base(expr: Expr) -> str:
    from fortrans.ir.arrays import base_name

    return base_name(expr)
