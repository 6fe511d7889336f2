"""A plan at its place: the edit that replaces the statement's lines and keeps what stood around it."""

from __future__ import annotations

import re
from dataclasses import replace

from fortrans.emit import continuation, environment
from fortrans.emit.style import Spelling, Style
from fortrans.emit.style import spelling as spelling_at
from fortrans.emit.views import SiteView, views
from fortrans.ir.nest import Stmt
from fortrans.ir.sites import Place
from fortrans.options import Options
from fortrans.source import Edit

_LABEL = re.compile(r"[ \t]*(\d+)[ \t]+")
_DIRECTIVE = re.compile(r"!(?:\w*\$|ibm\*|ocl\b)", re.IGNORECASE)


def render(
    place: Place,
    plan: tuple[Stmt, ...],
    style: Style,
    options: Options,
    spelling: Spelling | None = None,
    template: str = "assignment",
) -> Edit:
    """The edit that puts ``plan`` where the statement at ``place`` stands.

    ``template`` is the stem of a file in ``templates/``.  Without ``spelling`` the one of the
    place is used.  Raises Refusal (FT103) when a line cannot be kept within
    ``options.line_length``, InputError when a user's template fails.
    """
    spelling = spelling or spelling_at(place, style)
    labelled = _LABEL.match(place.original[0]) if place.original else None
    if labelled and place.before:
        # The label is another statement's, so the front end did not count it as blanks.
        place = replace(place, indent=re.sub(r"\d", " ", labelled[0]))
    inner = place.indent if place.condition is None else place.indent + style.step
    site = SiteView(
        indent=place.indent,
        step=style.step,
        comments=_comments(place, options),
        before=_before(place, labelled),
        label=_label(place, labelled),
        condition=place.condition,
        body=views(plan, spelling, options.line_length - len(inner), len(style.step)),
        after=tuple(place.indent + text for text in place.after),
    )
    text = environment.run(template, options.templates, style.upper, site=site)
    newline = _newline(place, style)
    folded = [
        part
        for line in text.removesuffix("\n").split("\n")
        for part in continuation.fold(line, options.line_length, style.step)
    ]
    ended = not place.original or place.original[-1].endswith("\n")
    return Edit(place.span, newline.join(folded) + (newline if ended else ""))


def _newline(place: Place, style: Style) -> str:
    """The line end of the statement itself; a file may hold both."""
    for line in place.original:
        if line.endswith("\n"):
            return "\r\n" if line.endswith("\r\n") else "\n"
    return style.newline


def _before(place: Place, labelled: re.Match[str] | None) -> tuple[str, ...]:
    """The statements that came first on the line; the line's label stays where it was."""
    if not place.before:
        return ()
    first, *rest = place.before
    if labelled:
        first = labelled[0] + re.sub(rf"\A{labelled[1]}[ \t]+", "", first)
    else:
        first = place.indent + first
    return (first, *(place.indent + text for text in rest))


def _label(place: Place, labelled: re.Match[str] | None) -> str:
    """The statement's label, with the blanks before it and behind it."""
    if place.label is None:
        return ""
    if labelled and not place.before:
        return labelled[0]
    blanks = " " * (len(place.label) + 1)
    return f"{place.indent.removesuffix(blanks)}{place.label} "


def _comments(place: Place, options: Options) -> tuple[str, ...]:
    """The original statement as comment lines, or else the comments that stood in it."""
    if not options.comments:
        return tuple(place.indent + _inert(text) for text in place.comments)
    found: list[str] = []
    for physical in place.original:
        line = physical.rstrip("\r\n")
        code = line.lstrip(" \t")
        if not code or (code.startswith("!") and _inert(code) == code):
            found.append(line)
        else:
            text = line.removeprefix(place.indent) if line.startswith(place.indent) else code
            text = text.rstrip(" \t")
            found.extend(continuation.comment(text, options.line_length, place.indent))
    return tuple(found)


def _inert(comment: str) -> str:
    """A directive says nothing within a statement; on a line above a loop it must say no more."""
    return f"! {comment}" if _DIRECTIVE.match(comment) else comment
