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
    own = labelled(place)
    place = unlabelled(place, own)
    inner = place.indent if place.condition is None else place.indent + style.step
    site = SiteView(
        indent=place.indent,
        step=style.step,
        comments=comments(place, options),
        before=before_of(place, own),
        label=label_of(place, own),
        condition=place.condition,
        body=views(plan, spelling, options.line_length - len(inner), len(style.step)),
        after=tuple(place.indent + text for text in place.after),
    )
    text = environment.run(template, options.templates, style.upper, site=site)
    return folded(text, place, style, options)


def folded(text: str, place: Place, style: Style, options: Options) -> Edit:
    """The edit that puts ``text`` at ``place``, long lines continued.  Raises Refusal (FT103)."""
    newline = newline_of(place, style)
    lines = [
        part
        for line in text.removesuffix("\n").split("\n")
        for part in continuation.fold(line, options.line_length, style.step)
    ]
    ended = not place.original or place.original[-1].endswith("\n")
    return Edit(place.span, newline.join(lines) + (newline if ended else ""))


def labelled(place: Place) -> re.Match[str] | None:
    """The label in front of the first line, with the blanks around it."""
    return _LABEL.match(place.original[0]) if place.original else None


def unlabelled(place: Place, label: re.Match[str] | None) -> Place:
    """The place with an indentation of blanks, when a label stands before another statement of the line."""
    if label and place.before:
        # The label is another statement's, so the front end did not count it as blanks.
        return replace(place, indent=re.sub(r"\d", " ", label[0]))
    return place


def newline_of(place: Place, style: Style) -> str:
    """The line end of the statement itself; a file may hold both."""
    for line in place.original:
        if line.endswith("\n"):
            return "\r\n" if line.endswith("\r\n") else "\n"
    return style.newline


def before_of(place: Place, label: re.Match[str] | None) -> tuple[str, ...]:
    """The statements that came first on the line; the line's label stays where it was."""
    if not place.before:
        return ()
    first, *rest = place.before
    if label:
        first = label[0] + re.sub(rf"\A{label[1]}[ \t]+", "", first)
    else:
        first = place.indent + first
    return (first, *(place.indent + text for text in rest))


def label_of(place: Place, label: re.Match[str] | None) -> str:
    """The statement's label, with the blanks before it and behind it."""
    if place.label is None:
        return ""
    if label and not place.before:
        return label[0]
    blanks = " " * (len(place.label) + 1)
    return f"{place.indent.removesuffix(blanks)}{place.label} "


def comments(place: Place, options: Options) -> tuple[str, ...]:
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
