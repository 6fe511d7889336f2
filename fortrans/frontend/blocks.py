"""The names that constructs bring: BLOCK, ASSOCIATE, SELECT TYPE (F2018 11.1.3, 11.1.4, 11.1.11)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fortrans.frontend.frames import Frame
from fortrans.frontend.resolve import View
from fortrans.frontend.tokens import bare, words
from fortrans.frontend.units import Executable
from fortrans.ir.symbols import Symbol
from fortrans.remarks import Refusal

_ASSOCIATED = re.compile(r"(\w+)\s*=>")
_KEPT = re.compile(r"\bsave\b|\bdata\b|::.*=|\bpointer\b|\btarget\b|\bequivalence\b")


def declared(view: View | None, opening: Executable) -> Iterator[str]:
    """The variables of the BLOCK that ``opening`` opens, lower case; ``view`` is the scope inside.

    Each execution has its own.  Raises Refusal where one may be kept from one to the next (SAVE,
    an initial value) or be another's storage.
    """
    if view is None:
        return
    frame: Frame | None = view.frame
    while frame is not None and (
        frame.unit.opening is None or frame.unit.opening.ordinal != opening.statement.ordinal
    ):
        frame = frame.host
    if frame is None:
        raise Refusal("FT002", "BLOCK construct is not read")
    for statement in frame.unit.specification:
        text = bare(statement.text).lower()
        if _KEPT.search(text) and not re.search(r"\bparameter\b", text):
            raise Refusal("FT002", "BLOCK construct declares more than plain variables")
        for name in dict.fromkeys(words(text)):
            entity = frame.own(name)
            if entity is None or not isinstance(entity.meaning, Symbol):
                continue
            if "parameter" not in entity.meaning.attributes:
                yield name


def brought(opening: Executable) -> set[str]:
    """The names that an ASSOCIATE or SELECT TYPE gives, lower case; of the latter its words, too."""
    text = opening.statement.text
    names = {name.lower() for name in _ASSOCIATED.findall(text)}
    return names | set(words(text)) if opening.kind == "select type" else names
