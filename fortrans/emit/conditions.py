"""A condition at its place: the edits that compute it before the statement that tests it."""

from __future__ import annotations

from dataclasses import dataclass

from fortrans.emit import environment, printer
from fortrans.emit.layout import before_of, comments, folded, label_of, labelled, newline_of, unlabelled
from fortrans.emit.style import Style
from fortrans.emit.style import spelling as spelling_at
from fortrans.emit.views import BlockView, View, views
from fortrans.ir.expr import Expr, Op
from fortrans.ir.nest import Stmt
from fortrans.ir.sites import Place
from fortrans.options import Options
from fortrans.source import Edit, Span


@dataclass(frozen=True, slots=True)
class Opening:
    """The statement with the condition: see ``frontend.conditions.Head``; ``last`` ends its construct."""

    form: str
    name: str = ""
    label: str = ""
    action: str = ""
    last: int | None = None


@dataclass(frozen=True, slots=True)
class ConditionView:
    """What the template sees.  ``inner`` is the indentation of the BLOCK."""

    form: str
    indent: str
    inner: str
    step: str
    comments: tuple[str, ...]
    label: str
    name: str
    end_label: str
    block: BlockView
    test: str
    action: str
    then: tuple[View, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def render_condition(
    place: Place,
    opening: Opening,
    body: tuple[Stmt, ...],
    test: Expr,
    style: Style,
    options: Options,
    then: tuple[Stmt, ...] | None = None,
) -> tuple[Edit, ...]:
    """The edits that put ``body`` before the test; an IF construct's end is followed by END BLOCK.

    ``then`` stands for the action of a one-line IF.  Raises Refusal (FT103) when a line cannot be
    kept within the line length, InputError when a user's template fails.
    """
    spelling = spelling_at(place, style)
    own = labelled(place)
    place = unlabelled(place, own)
    inner = place.indent + style.step if opening.form == "do while" else place.indent
    width = options.line_length - len(inner)
    (block,) = views(body, spelling, width, len(style.step))
    assert isinstance(block, BlockView)
    if opening.form == "do while":
        test = Op(".not.", (test,))
    view = ConditionView(
        form=opening.form,
        indent=place.indent,
        inner=inner,
        step=style.step,
        comments=comments(place, options),
        label=label_of(place, own),
        name=f"{opening.name}: " if opening.name else "",
        end_label=f" {opening.label}" if opening.label else "",
        block=block,
        test=printer.text(test, spelling),
        action=opening.action,
        then=views(then or (), spelling, width - 2 * len(style.step), len(style.step)),
        before=before_of(place, own),
        after=tuple(place.indent + text for text in place.after),
    )
    text = environment.run("condition", options.templates, style.upper, site=view)
    edit = folded(text, place, style, options)
    if opening.last is None:
        return (edit,)
    closing = place.indent + spelling.keyword("end block") + newline_of(place, style)
    return edit, Edit(Span(opening.last + 1, opening.last), closing)
