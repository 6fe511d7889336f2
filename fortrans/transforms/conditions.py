"""A condition becomes statements and a test: ``FT105``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fortrans.ir.expr import Expr, Name, Op
from fortrans.ir.fresh import Fresh
from fortrans.ir.nest import Block, Declaration, If, Store
from fortrans.ir.sites import Assignment, Condition, Decision, Leaf, Test
from fortrans.ir.symbols import LOGICAL
from fortrans.options import Options
from fortrans.transforms.compose import compose
from fortrans.transforms.pieces import Piece
from fortrans.transforms.plan import Plan
from fortrans.transforms.prune import prune


def compose_condition(site: Condition, fresh: Fresh, options: Options) -> Plan:
    """The plan for a condition: its statements, and in ``test`` what is left of it.  Raises Refusal."""
    name = site.target.value
    assert isinstance(name, Name)
    plans: list[Plan] = []
    piece, test = _evaluated(site.test, name, partial(compose, fresh=fresh, options=options), plans)
    declared = Declaration(name.id, LOGICAL)
    if site.encloses and any(d.shape for d in piece.declarations):
        # Arrays are not kept while the construct runs.
        stored = piece + Piece((), (Store(name, test),))
        piece, test = Piece((), stored.body), name
    block = prune(Block((declared, *piece.declarations), (*piece.statements, If(test, ()))))
    assert isinstance(block, Block)
    return Plan(
        (Block(block.declarations, block.body[:-1]),),
        "FT105",
        tuple(dict.fromkeys(name for plan in plans for name in plan.temporaries)),
        tuple(dict.fromkeys(name for plan in plans for name in plan.kept)),
        test=test,
    )


def _evaluated(
    test: Test, name: Name, composed: Callable[[Assignment], Plan], plans: list[Plan]
) -> tuple[Piece, Expr]:
    """What must run before the test, and the expression that tells it then.

    One local is enough: where the second operand is evaluated, it is the result.
    """
    match test:
        case Leaf(site=site):
            plan = composed(site)
            plans.append(plan)
            (block,) = plan.body
            assert isinstance(block, Block)
            *before, last = block.body
            # The value read once needs no name; the accumulators live as long as the test.
            if isinstance(last, Store) and last.target == name:
                return Piece(block.declarations, tuple(before)), last.value
            return Piece(block.declarations, block.body), name
        case Decision(op, left, right):
            first, value = _evaluated(left, name, composed, plans)
            second, other = _evaluated(right, name, composed, plans)
            if not second.statements:
                return first + second, Op(op, (value, other))
            begun = _stored(name, value)
            reached: Expr = name if op == ".and." else Op(".not.", (name,))
            rest = If(reached, (*second.statements, *_stored(name, other)))
            return first + Piece(second.declarations, (*begun, rest)), name
        case _:
            return Piece(), test


def _stored(name: Name, value: Expr) -> tuple[Store, ...]:
    return () if value == name else (Store(name, value),)
