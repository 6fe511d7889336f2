"""How the file is written: indentation, letter case, line end, and the user's spelling of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fortrans.ir.sites import Place
from fortrans.source import Source

# Literals come first so that neither a kind (1.0_dp), an exponent (1.e5) nor text in quotes or
# comments is taken for a name.
_TOKEN = re.compile(
    r"'[^'\n]*'|\"[^\"\n]*\"|![^\n]*|^\#[^\n]*"
    r"|(?<!\w)\d+(?:\.\d+|\.(?![A-Za-z]{2}))?(?:[edED][+-]?\d+)?(?:_\w+)?"
    r"|(?P<word>\.[A-Za-z]+\.|(?<!\w)[A-Za-z]\w*)",
    re.MULTILINE | re.ASCII,
)
_NAME = re.compile(r"(?<!\w)[A-Za-z]\w*", re.ASCII)

# Words that are hardly ever names of data: they alone tell the letter case of keywords.
# fmt: off
KEYWORDS = frozenset({
    "allocatable", "allocate", "block", "call", "case", "character", "class", "complex",
    "concurrent", "contains", "continue", "cycle", "deallocate", "dimension", "do", "double",
    "else", "elseif", "end", "enddo", "endif", "exit", "function", "if", "implicit", "integer",
    "intent", "kind", "len", "logical", "module", "none", "optional", "parameter", "pointer",
    "precision", "private", "procedure", "program", "public", "pure", "real", "return", "save",
    "select", "subroutine", "target", "then", "type", "use", "where", "while",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Style:
    """What ``detect`` found.

    ``step`` is the blanks (or the tab) of one level of indentation; ``upper`` and ``upper_names``
    tell the letter case of keywords and of names; ``spellings`` maps each name, lower case, to its
    most frequent spelling in the file.
    """

    step: str = "  "
    upper: bool = False
    upper_names: bool = False
    newline: str = "\n"
    spellings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spelling:
    """From lower case back to the user's spelling: the statement's own, then the file's."""

    own: Mapping[str, str] = field(default_factory=dict)
    file: Mapping[str, str] = field(default_factory=dict)
    upper: bool = False
    upper_names: bool = False

    def name(self, id: str) -> str:
        """A variable, named constant or component; a new one in the letter case of the file's."""
        return self._found(id) or (id.upper() if self.upper_names else id)

    def function(self, id: str) -> str:
        """A function or subroutine; one the file never names is an intrinsic, cased as keywords."""
        return self._found(id) or self.keyword(id)

    def keyword(self, word: str) -> str:
        """A keyword of the language, an intrinsic type or a dotted operator."""
        return word.upper() if self.upper else word

    def operator(self, op: str) -> str:
        """An operator; dotted ones as the statement spells them, else as keywords."""
        if not op.startswith("."):
            return op
        return self.own.get(op) or (self.keyword(op) if op in _INTRINSIC else self.function(op))

    def type(self, spec: str) -> str:
        """A type-spec (``Type.spelling``) in the letter case of the file."""

        def restore(match: re.Match[str]) -> str:
            word = match[0].lower()
            return self.keyword(word) if word in KEYWORDS else self.name(word)

        return _NAME.sub(restore, spec)

    def _found(self, id: str) -> str | None:
        return self.own.get(id) or self.file.get(id)


_INTRINSIC = frozenset({".and.", ".or.", ".not.", ".eqv.", ".neqv."})


def spelling(place: Place, style: Style) -> Spelling:
    """The spelling that holds at a place: the statement's own text decides before the file."""
    text = place.statement if place.condition is None else f"{place.statement}\n{place.condition}"
    return Spelling(_frequent(_words(text)), style.spellings, style.upper, style.upper_names)


def detect(source: Source) -> Style:
    """The style of a file, read from its text alone; ties and silence give the defaults."""
    words = Counter(_words(source.text))
    return Style(
        step=_step(source.lines),
        upper=_mostly_upper((w, n) for w, n in words.items() if w.lower() in KEYWORDS),
        upper_names=_mostly_upper(
            (w, n) for w, n in words.items() if w.lower() not in KEYWORDS and w[0] != "."
        ),
        newline="\r\n" if 2 * source.text.count("\r\n") > source.text.count("\n") else "\n",
        spellings=_frequent(words),
    )


def _words(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        if word := match["word"]:
            yield word


def _frequent(words: Iterable[str] | Counter[str]) -> dict[str, str]:
    """The most frequent spelling of each word; of equally frequent ones the first."""
    found: dict[str, str] = {}
    for word, _ in (words if isinstance(words, Counter) else Counter(words)).most_common():
        found.setdefault(word.lower(), word)
    return found


def _mostly_upper(words: Iterable[tuple[str, int]]) -> bool:
    balance = 0
    for word, count in words:
        balance += count if word.isupper() else -count
    return balance > 0


def _step(lines: list[str]) -> str:
    """The blanks most often added from one statement to the next."""
    steps: Counter[str] = Counter()
    before: str | None = None
    continued = False
    for line in lines:
        code = line.strip(" \t\r\n")
        if not code or code[0] in "!#":
            continue
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if not continued and not code[0].isdigit():
            if before is not None and indent != before and indent.startswith(before):
                steps[indent[len(before) :]] += 1
            before = indent
        continued = code.partition("!")[0].rstrip(" \t").endswith("&")
    return steps.most_common(1)[0][0] if steps else "  "
