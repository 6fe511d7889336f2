"""Plans for the values that a DIM argument may have become one, chosen at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fortrans.ir.expr import Expr, Name, Op, integer, transform
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Block, Declaration, If, Stmt, Store
from fortrans.ir.symbols import INTEGER
from fortrans.transforms.plan import Plan


def chosen(dim: Expr, arms: Sequence[tuple[int, Plan]], original: Store, fresh: Fresh) -> Plan:
    """An IF chain over the values of ``dim``; any other value meets the statement as it was.

    Fortran 2018, 16.9: DIM is a scalar between 1 and the rank.  It is evaluated once.
    """
    declared: tuple[Declaration, ...] = ()
    before: tuple[Stmt, ...] = ()
    if not isinstance(dim, Name):
        local = Name(fresh.name("dim"))
        declared, before = (Declaration(local.id, INTEGER),), (Store(local, dim),)
        original = Store(original.target, _with(original.value, dim, local))
        dim = local
    rest: tuple[Stmt, ...] = (original,)
    for value, plan in reversed(arms):
        rest = (If(Op("==", (dim, integer(value))), plan.body, rest),)
    plans = [plan for _, plan in arms]
    code = next((plan.code for plan in plans if plan.code == "FT104"), plans[0].code)
    return replace(
        plans[0],
        body=(Block(declared, (*before, *rest)),),
        code=code,
        temporaries=tuple(dict.fromkeys(x for plan in plans for x in plan.temporaries)),
        kept=tuple(dict.fromkeys(x for plan in plans for x in plan.kept)),
        because=next((plan.because for plan in plans if plan.because), ""),
        maybe=any(plan.maybe for plan in plans),
        arms=len(arms),
    )


def _with(value: Expr, old: Expr, new: Expr) -> Expr:
    return transform(value, lambda x: new if x == old else None)
