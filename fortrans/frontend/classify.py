"""What a statement is, from its words: no keyword is reserved, so assignments are told first."""

from __future__ import annotations

import re
from typing import NamedTuple


class What(NamedTuple):
    """A statement's kind and what its classification found on the way.

    ``kind``: "assignment", "pointer assignment", "specification", "unknown"; an action's keyword
    ("call", "print"); "if", "where", "forall" (one-line: ``head`` is the text in the parentheses,
    ``rest`` the action); an opening ("if then", "do", "do while", "do concurrent",
    "where construct", "forall construct", "select case", "associate", "block", ...); a "guard" of
    a construct; "end" (``word`` is what it ends, "" for a bare END); a unit's opening ("program",
    "module", "submodule", "subroutine", "function", "block data", "module procedure",
    "interface", "type", "enum"); "contains".
    ``name`` is a unit's or construct's name, lower case; ``head`` of a unit its prefix words.
    """

    kind: str
    name: str = ""
    word: str = ""
    head: str = ""
    rest: str = ""


UNKNOWN = What("unknown")
SPECIFICATION = What("specification")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMED = re.compile(r"\s*:(?!:)\s*")
_DESIGNATOR = re.compile(r"\s*(?:%\s*\w+\s*|\([^()'\"]*\)\s*|\[[^\[\]()'\"]*\]\s*)*")
_BRACKET = re.compile(r"[()\[\]]|'[^']*'|\"[^\"]*\"")
_TYPE_HEAD = re.compile(r"(?:\s*,[^:]*)?\s*::\s*([a-z_]\w*)|\s+([a-z_]\w*)\s*(?:\(.*)?$", re.IGNORECASE)
_END = re.compile(
    r"\s*(?:(subroutine|function|program|module|submodule|procedure|block\s*data|interface|type|enum"
    r"|if|do|select|where|forall|associate|block|critical|team|structure|union|map)\b)?\s*(\S.*)?$",
    re.IGNORECASE,
)
_DO = re.compile(
    r"(?:\s*(\d{1,5}))?\s*,?\s*(?:(while\s*\()|(concurrent\s*\()|([a-z_]\w*)\s*=|$)", re.IGNORECASE
)
_SUBMODULE = re.compile(r"\s*\(\s*(\w+\s*(?::\s*\w+)?)\s*\)\s*(\w+)\s*$")
_HEADER_NAME = re.compile(r"\s+([a-z_]\w*)\s*(\(|$|bind\b)", re.IGNORECASE)
_KIND_SELECTOR = re.compile(r"\s*\*\s*(?:\d+|(?=\())")

_PREFIXES = frozenset(
    "pure impure elemental recursive non_recursive module attributes launch_bounds simple".split()
)
_TYPES = frozenset("integer real double complex character logical byte type class doubleprecision".split())
_SPECIFICATIONS = frozenset(
    "use import implicit parameter dimension allocatable pointer target save external intrinsic intent"
    " optional volatile asynchronous protected public private value contiguous bind equivalence common"
    " namelist data format codimension generic final sequence enumerator procedure static automatic"
    " entry typeof classof record cluster dllexport".split()
) | (_TYPES - {"type", "class"})
_ACTIONS = frozenset(
    "call print write read open close inquire rewind backspace flush wait allocate deallocate nullify"
    " return stop error go goto continue cycle exit sync lock unlock event fail form assign pause"
    " notify decode encode accept".split()
)
_CLOSINGS = {
    "end" + word.replace(" ", ""): word
    for word in (
        "subroutine function program module submodule procedure interface type enum if do select where"
        " forall associate block critical team structure union map"
    ).split()
} | {"endblockdata": "block data"}
_CONSTRUCTS = frozenset(
    [
        "if then",
        "do",
        "do while",
        "do concurrent",
        "where construct",
        "forall construct",
        "select case",
        "select type",
        "select rank",
        "associate",
        "block",
        "critical",
        "team",
    ]
)


def closing(text: str, opening: int) -> int:
    """Index of the bracket that closes the one at ``opening``; -1 when there is none."""
    depth = 0
    for match in _BRACKET.finditer(text, opening):
        bracket = match.group()
        if bracket in "([":
            depth += 1
        elif bracket in ")]":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def _assigned(text: str, position: int) -> What | None:
    """Whether a designator that goes on at ``position`` is followed by ``=`` or ``=>``."""
    while True:
        match = _DESIGNATOR.match(text, position)
        position = match.end() if match else position
        mark = text[position : position + 2]
        match mark[:1]:
            case "=":
                if mark == "=>":
                    return _POINTER_ASSIGNMENT
                return None if mark == "==" else _ASSIGNMENT
            case "(" | "[":
                position = closing(text, position) + 1
                if position == 0:
                    return None
            case _:
                return None


_ASSIGNMENT = What("assignment")
_POINTER_ASSIGNMENT = What("pointer assignment")


def classify(text: str) -> What:
    """The kind of a joined statement, as far as it can be told without its context.

    A designator followed by ``=`` is an assignment whatever its name (F2018 2.5.2 reserves no
    word); everything else is told by its first word.
    """
    match = _WORD.match(text)
    if match is None:
        return UNKNOWN
    position = match.end()
    word = match.group().lower()
    assigned = _assigned(text, position)
    if assigned is not None:
        return assigned
    named = _NAMED.match(text, position)
    if named is not None:
        what = classify(text[named.end() :])
        if what.kind in _CONSTRUCTS:
            return what._replace(name=word)
    if word not in _KNOWN:
        return UNKNOWN
    return _keyword(text, word, position)


def _keyword(text: str, word: str, position: int) -> What:
    if word in _ACTIONS:
        return What(word)
    if word in _HEADERS:
        header = _header(text)
        if header is not None:
            return header
    if word in _SPECIFICATIONS:
        return SPECIFICATION
    if word in _CLOSINGS:
        return _end(text, position, _CLOSINGS[word])
    return _structural(text, word, position)


def _structural(text: str, word: str, position: int) -> What:
    rest = text[position:].strip()
    low = rest.lower()
    match word:
        case "if" | "where" | "forall" if rest.startswith("("):
            return _headed(rest, word)
        case "do" | "dowhile":
            return _do(text[:2] + " " + text[2:] if word == "dowhile" else text)
        case "end":
            match = _END.match(text, position)
            return _end(
                text,
                match.start(2) if match and match.group(2) else len(text),
                match.group(1) if match else None,
            )
        case "else" | "elseif" | "elsewhere" | "case" | "rank":
            return _guard(word, low)
        case "class" | "select" | "selectcase" | "selecttype":
            return _select(word, low)
        case "type":
            return _type(text, position, low)
        case (
            "program"
            | "module"
            | "submodule"
            | "block"
            | "blockdata"
            | "contains"
            | "interface"
            | "abstract"
            | "enum"
        ):
            return _unit(text, word, position, low)
        case "associate" if rest.startswith("("):
            return What("associate")
        case "critical" if not rest or rest.startswith("("):
            return What("critical")
        case "change" if low.startswith("team"):
            return What("team")
        case "endfile":
            return What("endfile")
        case "include":
            return What("include")
    return UNKNOWN


def _headed(rest: str, word: str) -> What:
    """IF, WHERE or FORALL with its parentheses: construct, or one-line with its action."""
    end = closing(rest, 0)
    if end < 0:
        return UNKNOWN
    head, action = rest[1:end].strip(), rest[end + 1 :].strip()
    if word == "if":
        if action.lower() == "then":
            return What("if then", head=head)
        if not action or not (action[0].isalpha() or action[0] == "_"):
            return What("arithmetic if", head=head)
        return What("if", head=head, rest=action)
    if not action:
        return What(f"{word} construct", head=head)
    return What(word, head=head, rest=action)


def _do(text: str) -> What:
    match = _DO.match(text, 2)
    if match is None:
        return UNKNOWN
    label, loop, concurrent, _ = match.groups()
    kind = "do while" if loop else "do concurrent" if concurrent else "do"
    return What(kind, word=label or "")


def _end(text: str, position: int, word: str | None) -> What:
    rest = text[position:].strip()
    if word is None:
        if not rest:
            return What("end")
        return What("endfile") if rest.lower().startswith("file") else UNKNOWN
    word = re.sub(r"block\s*data", "block data", word.lower())
    if rest[:1] in ("(", "%", "=", ",") and word not in ("team", "interface"):
        return UNKNOWN
    return What("end", name=rest.lower(), word=word)


def _guard(word: str, low: str) -> What:
    match word:
        case "case" if not (low.startswith(("(", "default"))):
            return UNKNOWN
        case "rank" if not (low.startswith(("(", "default"))):
            return UNKNOWN
    return What("guard", word=word if word in ("case", "rank") else "else")


def _select(word: str, low: str) -> What:
    if word == "class":
        return What("guard", word="type") if re.match(r"is\s*\(|default\b", low) else SPECIFICATION
    if word == "select":
        match = re.match(r"(case|type|rank)\s*\(", low)
        return What(f"select {match.group(1)}") if match else UNKNOWN
    return What(f"select {word[6:]}") if low.startswith("(") else UNKNOWN


def _type(text: str, position: int, low: str) -> What:
    if low.startswith("("):
        return SPECIFICATION
    if re.match(r"is\s*\(", low):
        return What("guard", word="type")
    match = None if low.startswith(", deferred") else _TYPE_HEAD.match(text, position)
    return What("type", name=(match.group(1) or match.group(2)).lower()) if match else UNKNOWN


def _unit(text: str, word: str, position: int, low: str) -> What:
    match word:
        case "program" | "module" if re.fullmatch(r"[a-z_]\w*", low):
            return What(word, name=low)
        case "module" if match := re.match(r"procedure\b\s*(?:::)?\s*([a-z_]\w*)", low):
            return What("module procedure", name=match.group(1))
        case "submodule" if match := _SUBMODULE.match(text, position):
            parent = re.sub(r"\s", "", match.group(1)).lower()
            return What("submodule", name=match.group(2).lower(), head=parent)
        case "block" if not low:
            return What("block")
        case "block" if match := re.fullmatch(r"data(?:\s+(\w+))?", low):
            return What("block data", name=match.group(1) or "")
        case "blockdata":
            return What("block data", name=low)
        case "contains" if not low:
            return What("contains")
        case "interface":
            return What("interface", name=low)
        case "abstract" if low == "interface":
            return What("interface", head="abstract")
        case "enum" if low.startswith(","):
            return What("enum")
    return UNKNOWN


def _header(text: str) -> What | None:
    """FUNCTION or SUBROUTINE statement with any prefix (15.6.2.1), or None."""
    low = text.lower()
    if "function" not in low and "subroutine" not in low:
        return None
    position = 0
    prefix: list[str] = []
    while match := _WORD.match(low, position):
        word = match.group()
        position = match.end()
        if word in ("function", "subroutine"):
            name = _HEADER_NAME.match(text, position)
            if name is None or (word == "function" and name.group(2) != "("):
                return None
            return What(word, name=name.group(1).lower(), head=" ".join(prefix))
        if word not in _PREFIXES and word not in _TYPES and word != "precision":
            return None
        prefix.append(word)
        selector = _KIND_SELECTOR.match(low, position)
        position = selector.end() if selector else position
        position += len(low[position:]) - len(low[position:].lstrip())
        if low[position : position + 1] == "(":
            position = closing(low, position) + 1
            if position == 0:
                return None
            position += len(low[position:]) - len(low[position:].lstrip())
    return None


_HEADERS = _PREFIXES | _TYPES | {"function", "subroutine"}
_KNOWN = (
    _HEADERS
    | _SPECIFICATIONS
    | _ACTIONS
    | frozenset(_CLOSINGS)
    | frozenset(
        "if where forall do dowhile end else elseif elsewhere case rank class select selectcase selecttype"
        " type program module submodule block blockdata contains interface abstract enum associate"
        " critical change endfile include".split()
    )
)
