"""The executable statements of a procedure as steps: loops, branches, and how names stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from fortrans.frontend.lines import Statement
from fortrans.frontend.resolve import Scopes
from fortrans.frontend.tokens import NAME, bare, closing, split, words
from fortrans.frontend.units import Construct, Executable, Program
from fortrans.ir.procedures import Loop, Mention, Step
from fortrans.ir.symbols import Intrinsic, Scope, Symbol

_INQUIRIES = frozenset(
    "size shape lbound ubound present kind len storage_size rank bit_size digits epsilon huge tiny"
    " maxexponent minexponent precision radix range".split()
)
_TOTAL = frozenset("size lbound ubound min max abs".split())
_LOOPS = frozenset({"do", "do while", "do concurrent"})
_CHOICES = frozenset({"if", "select case", "select type", "select rank"})
_LEAVING = frozenset({"return", "stop", "error", "go", "goto", "exit", "cycle", "arithmetic if", "assign"})
_ENDING = frozenset({"return", "stop", "error"})
_COUNTED = re.compile(rf"(?:{NAME}\s*:\s*)?do\s*(?:\d+\s*,?)?\s*({NAME})\s*=(.*)$", re.I | re.S)
_CONCURRENT = re.compile(rf"(?:{NAME}\s*:\s*)?do\s*(?:\d+\s*,?)?\s*concurrent\s*\(", re.I)
_SIZE = re.compile(rf"(size|lbound|ubound)\s*\(\s*({NAME})\s*(?:,\s*(?:dim\s*=\s*)?(\d+)\s*)?\)", re.I)
_INDEX = re.compile(rf"({NAME})\s*=(?!=)")
_DOTTED = re.compile(r"\.\s*([a-z]+)\s*\.", re.I)
_OPERATORS = frozenset("and or not eqv neqv eq ne lt le gt ge true false".split())
_OWN = frozenset({"dummy", "host", "use", "save", "common", "equivalence", "pointer", "allocatable"}) | {
    "volatile",
    "associate",
    "asynchronous",
    "codimension",
}
_PLAIN = frozenset({"integer", "real", "complex", "logical", "character"})
_READING = frozenset(
    {"assignment", "do", "do while", "if then", "select case", "guard", "print", "write", "continue"}
    | _LEAVING
)
_HEADS = frozenset({"if", "elseif", "while", "case"})
_IF = re.compile(rf"(?:{NAME}\s*:\s*)?(?:else\s*)?if\s*\(", re.I)


def steps(
    program: Program, found: Sequence[Executable], scopes: Scopes, wanted: frozenset[str]
) -> tuple[Step, ...]:
    """One step for each of a procedure's executable statements, in order.

    ``wanted`` are the names whose mentions count.
    """
    sizes = _sizes(found)
    loops = {
        construct.key: _loop(construct, found, scopes, sizes)
        for executable in found
        for construct in executable.constructs
        if construct.kind in _LOOPS
    }
    regions = [None, *(executable.region for executable in found)]
    return tuple(
        replace(_step(executable, loops, scopes, wanted), **_insertion(program, executable, before))
        for executable, before in zip(found, regions)
    )


def _step(
    executable: Executable, loops: dict[int, Loop], scopes: Scopes, wanted: frozenset[str]
) -> Step:
    statement = executable.statement
    text = bare(statement.text).lower()
    whole = text if executable.condition is None else f"{bare(executable.condition).lower()} ; {text}"
    inside = [loops[c.key] for c in executable.constructs if c.key in loops]
    outside = takewhile(lambda c: c.kind not in _LOOPS, executable.constructs)
    branches = tuple(
        (c.key, -1 if c.guard is None else c.guard.ordinal) for c in outside if c.kind in _CHOICES
    )
    read = frozenset(words(whole))
    return Step(
        span=statement.span,
        kind=executable.kind,
        text=text,
        indent=statement.indent,
        loops=tuple(inside),
        branches=branches,
        mentions={
            name: tuple(mentions(whole, name, executable.kind == "assignment"))
            for name in wanted & read
        },
        words=read,
        conditional=executable.condition is not None,
        leaves=executable.kind in _LEAVING,
        repeatable=_repeatable(executable, scopes),
        touched=frozenset(name for name in wanted & read if _touches(executable, whole, name, scopes)),
        simple=_is_simple(executable),
    )


def _is_simple(executable: Executable) -> bool:
    masked = executable.where is not None or executable.forall is not None
    alone = executable.condition is None and not masked
    return alone and all(c.kind == "do" for c in executable.constructs)


def _insertion(program: Program, executable: Executable, before: str | None) -> dict[str, Any]:
    """Whether lines may stand before a statement, and at which line: above directives of its own."""
    statement = executable.statement
    at = statement.ordinal
    while at and program.statements[at - 1].form == "directive" and before is None:
        at -= 1
    own = executable.region is None or at < statement.ordinal
    free = statement.siblings == 1 and before is None and own and not executable.preprocessed
    return {"free": free, "line": program.statements[at].span.first}


# -- loops


def _sizes(found: Sequence[Executable]) -> dict[str, str]:
    """Variables that are assigned once, before all choices and loops, and then a SIZE or a bound."""
    sizes: dict[str, str] = {}
    for executable in found:
        if executable.constructs or executable.condition is not None:
            continue
        name, _, value = (part.strip().lower() for part in bare(executable.statement.text).partition("="))
        if executable.kind == "assignment" and _SIZE.fullmatch(value):
            sizes[name] = value
    for executable in found:
        text = bare(executable.statement.text).lower()
        if executable.kind == "assignment":
            name, _, value = (part.strip() for part in text.partition("="))
            if name in sizes and sizes[name] != value:
                del sizes[name]
        elif executable.kind in ("call", "read") or ((match := _COUNTED.match(text)) and match[1] in sizes):
            for word in words(text.partition("=")[0] if executable.kind == "do" else text):
                sizes.pop(word, None)
    return sizes


def _whole(index: str, limits: Sequence[str], sizes: Mapping[str, str]) -> tuple[str, str, str, str] | None:
    lower, upper = (sizes.get(limit.strip().lower(), limit.strip().lower()) for limit in limits)
    if (last := _SIZE.fullmatch(upper)) is None:
        return None
    if lower == "1" and last[1] == "size":
        return last[2], last[3] or "", index, "size"
    first = _SIZE.fullmatch(lower)
    if first is None or (first[1], last[1]) != ("lbound", "ubound"):
        return None
    if first.groups()[1:] != last.groups()[1:]:
        return None
    return last[2], last[3] or "", index, "bounds"


def _loop(
    construct: Construct, found: Sequence[Executable], scopes: Scopes, sizes: Mapping[str, str]
) -> Loop:
    text = bare(construct.opening.text)
    variables: frozenset[str] = frozenset()
    trips: int | tuple[str, str] | None = None
    reads: frozenset[str] = frozenset()
    whole: tuple[str, str, str, str] | None = None
    if match := _CONCURRENT.match(text):
        header = text[match.end() : closing(text, match.end() - 1)]
        variables = frozenset(name.lower() for name in _INDEX.findall(header))
    elif construct.kind == "do" and (match := _COUNTED.match(text)):
        variables = frozenset({match[1].lower()})
        limits = split(match[2])
        if len(limits) == 2:
            inside = next(e for e in found if any(c.key == construct.key for c in e.constructs))
            trips = _trips(limits[0].strip(), limits[1].strip())
            if isinstance(trips, tuple):
                sure = all(map(_harmless, trips)) and repeatable(" ; ".join(trips), scopes.at(inside))
                trips = trips if sure else None
            reads = frozenset(words(" ; ".join(limits)))
            whole = _whole(match[1].lower(), limits, sizes)
    return Loop(construct.key, variables, trips, reads, frozenset(_assigned(construct, found)), whole)


def _trips(lower: str, upper: str) -> int | tuple[str, str]:
    try:
        return max(int(upper) - int(lower) + 1, 0)
    except ValueError:
        return lower, upper


def _harmless(text: str) -> bool:
    """Whether evaluating ``text`` ahead of time can fail nowhere: no division, no element."""
    called = re.findall(rf"({NAME})\s*\(", text)
    return not re.search(r"/|\*\*|%|'|\"", text) and all(name.lower() in _TOTAL for name in called)


def _assigned(construct: Construct, found: Sequence[Executable]) -> Iterator[str]:
    """Names that the body of a loop may define, indices of loops in it left out."""
    for executable in found:
        if all(c.key != construct.key for c in executable.constructs):
            continue
        text = bare(executable.statement.text)
        if executable.kind == "assignment":
            yield from words(text)[:1]
        elif executable.kind in ("call", "read"):
            yield from words(text)


# -- what may be executed twice


def repeatable(text: str, scope: Scope) -> bool:
    """Whether evaluating ``text`` has no effect and reads nothing that may change by itself."""
    low = bare(text).lower()
    if "[" in low or re.search(rf"%\s*{NAME}\s*\(", low):
        return False
    if any(op not in _OPERATORS for op in _DOTTED.findall(low)):
        return False
    for match in re.finditer(rf"(?<![\w%$.])({NAME})\s*(\(|=(?!=)|%)?", low):
        name, after = match[1], match[2]
        if after == "=" or re.search(r"%\s*$", low[: match.start()]):
            continue
        match scope.lookup(name):
            case Symbol() as symbol:
                plain = symbol.type.name in _PLAIN or after == "%"
                if not plain or symbol.attributes & {"volatile", "asynchronous"}:
                    return False
                if after == "(" and not symbol.dims and symbol.type.name != "character":
                    return False
            case Intrinsic():
                if after != "(":
                    return False
            case _:
                return False
    return True


def _repeatable(executable: Executable, scopes: Scopes) -> bool:
    scope = scopes.at(executable)
    if executable.statement.label is not None:
        return False  # A jump may lead there, when more has been done.
    if executable.where is not None or executable.forall is not None or executable.region is not None:
        return False
    if executable.condition is not None and not repeatable(executable.condition, scope):
        return False
    text = executable.statement.text
    match executable.kind:
        case "continue":
            return True
        case "return" | "stop" | "error":
            return executable.condition is not None
        case "if then":
            return repeatable(condition(executable.statement), scope)
        case "select case":
            at = text.index("(")
            return repeatable(text[at + 1 : closing(text, at)], scope)
        case "guard":
            # Guards of CASE are constants; those of other constructs are not asked for.
            return repeatable(condition(executable.statement), scope)
        case "assignment":
            left, _, right = text.partition("=")
            symbol = scope.lookup(left.strip())
            if not re.fullmatch(NAME, left.strip()) or not isinstance(symbol, Symbol):
                return False
            own = not symbol.dims and not symbol.attributes & _OWN and symbol.type.name in _PLAIN
            return own and repeatable(right, scope)
    return False


def condition(statement: Statement) -> str:
    """The text in the parentheses of IF or ELSE IF; "" for ELSE."""
    match = _IF.match(statement.text)
    return statement.text[match.end() : closing(statement.text, match.end() - 1)] if match else ""


# -- what may be defined


def _touches(executable: Executable, text: str, name: str, scopes: Scopes) -> bool:
    """Whether a statement may define ``name``: all may, but those that are known to read it.

    These read what is no variable of theirs, and no argument but an intrinsic function's.
    """
    masked = executable.where is not None or executable.forall is not None
    if executable.kind not in _READING or masked:
        return True
    if executable.kind == "assignment" and words(executable.statement.text)[0].lower() == name:
        return True
    scope = scopes.at(executable)
    for mention in mentions(text, name):
        function = mention.function
        if mention.role == "inquiry" or function in ("", name) or function in _HEADS:
            continue
        meaning = scope.lookup(function)
        array = isinstance(meaning, Symbol) and meaning.dims
        if re.search(rf"%\s*{function}\s*\(", text) or not (array or isinstance(meaning, Intrinsic)):
            return True
    return False


# -- mentions


def mentions(text: str, name: str, assignment: bool = False) -> Iterator[Mention]:
    """How ``name`` stands in a statement (lower case, strings emptied)."""
    for match in re.finditer(rf"(?<![\w$%])(?<!%\s){re.escape(name)}(?![\w$])", text):
        rest = text[match.end() :].lstrip()
        function = _function(text, match.start())
        first = assignment and not text[: match.start()].strip()
        if rest.startswith("=") and not rest.startswith("==") and not first:
            continue  # A keyword, or an index.
        if function in _INQUIRIES:
            yield Mention("inquiry", function=function)
            continue
        defined = first
        if not rest.startswith("("):
            yield Mention("whole", function=function, defined=defined)
            continue
        inside = rest[1 : closing(rest, 0)]
        ranged = any(_ranges(part) for part in split(inside))
        role = "section" if ranged else "element"
        yield Mention(role, frozenset(words(inside)), function, defined)  # type: ignore[arg-type]


def _ranges(part: str) -> bool:
    depth = 0
    for char in part:
        depth += (char in "([") - (char in ")]")
        if char == ":" and depth == 0:
            return True
    return False


def _function(text: str, position: int) -> str:
    """The name before the innermost parenthesis around ``position``; "" when there is none."""
    depth = 0
    for at in range(position - 1, -1, -1):
        char = text[at]
        depth += (char == ")") - (char == "(")
        if depth < 0:
            before = re.search(rf"({NAME})\s*$", text[:at])
            return before[1] if before else ""
    return ""
