"""OpenScop files: what one holds, its text, and the reading of it.

The format is the OpenScop specification's (periscop/openscop, doc/openscop.texi): relations as
integer matrices, statements with domain, scattering and accesses, and extensions in tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fortrans.polyhedral.relation import ACCESSES, Relation, Row, Union, text


class NotOpenScop(ValueError):
    """Raised for text that is not an OpenScop file; the message is one sentence, without period."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: the iterations it is executed for, when, and what each reads and writes."""

    domain: Union
    scattering: Union
    accesses: tuple[Union, ...]
    iterators: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where in which file the nest stands; lines from 1."""

    path: str
    first: int
    last: int
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Scop:
    """A nest of loops.  ``arrays`` maps the numbers in access relations to names."""

    language: str
    context: Union
    parameters: tuple[str, ...]
    statements: tuple[Statement, ...]
    arrays: Mapping[int, str]
    coordinates: Coordinates | None = None
    comments: tuple[str, ...] = ()
    """Lines for the head of the file; reading does not bring them back."""


# ---- printing --------------------------------------------------------------------

_RULE = "# " + "=" * 47


def dumps(scop: Scop) -> str:
    """The file's text."""
    return "\n".join(_parts(scop)) + "\n"


def _parts(scop: Scop) -> Iterator[str]:
    arrays = dict(scop.arrays)
    yield from (f"# {comment}" for comment in scop.comments)
    yield "<OpenScop>\n"
    yield f"{_RULE} Global"
    yield f"# Language\n{scop.language}\n"
    yield f"# Context\n{text(scop.context)}"
    yield "# Parameters are provided\n1\n<strings>"
    yield f"{' '.join(scop.parameters)}\n</strings>\n"
    yield f"# Number of statements\n{len(scop.statements)}\n"
    for number, statement in enumerate(scop.statements, 1):
        thin = f"# {'-' * 46}  {number}."
        yield f"{_RULE} Statement {number}"
        yield f"# Number of relations describing the statement:\n{2 + len(statement.accesses)}\n"
        yield f"{thin}1 Domain\n{text(statement.domain)}"
        yield f"{thin}2 Scattering\n{text(statement.scattering)}"
        yield f"{thin}3 Access"
        for access in statement.accesses:
            yield text(access, arrays)
        yield f"{thin}4 Statement Extensions\n# Number of Statement Extensions\n1\n<body>"
        yield f"# Number of original iterators\n{len(statement.iterators)}"
        if statement.iterators:
            yield f"# List of original iterators\n{' '.join(statement.iterators)}"
        yield f"# Statement body expression\n{statement.body}\n</body>\n"
    yield f"{_RULE} Extensions"
    names = max((s.scattering[0].outputs for s in scop.statements), key=len, default=())
    if names:
        yield f"<scatnames>\n{' '.join(names)}\n</scatnames>\n"
    yield f"<arrays>\n# Number of arrays\n{len(arrays)}"
    if arrays:
        yield "# Mapping array-identifiers/array-names"
    yield from (f"{number} {name}" for number, name in arrays.items())
    yield "</arrays>\n"
    if (at := scop.coordinates) is not None:
        yield f"<coordinates>\n# File name\n{at.path}"
        yield f"# Starting line and column\n{at.first} 0\n# Ending line and column\n{at.last} 0"
        yield f"# Indentation\n{at.indent}\n</coordinates>\n"
    yield "</OpenScop>"


# ---- reading ---------------------------------------------------------------------


class _Lines:
    """The lines of a file without comments and blank lines, one after the other."""

    def __init__(self, source: str) -> None:
        stripped = ((n, line.partition("#")[0].strip()) for n, line in enumerate(source.splitlines(), 1))
        self.lines = [(number, line) for number, line in stripped if line]
        self.at = 0

    def peek(self) -> str:
        if self.at == len(self.lines):
            raise NotOpenScop("OpenScop text ends too early")
        return self.lines[self.at][1]

    def next(self) -> str:
        line = self.peek()
        self.at += 1
        return line

    def fail(self, wanted: str) -> NotOpenScop:
        number = self.lines[min(self.at, len(self.lines)) - 1][0] if self.lines else 1
        return NotOpenScop(f"Line {number} of the OpenScop text is not {wanted}")

    def expect(self, wanted: str) -> None:
        if self.next() != wanted:
            raise self.fail(f"'{wanted}'")

    def numbers(self, count: int | None = None) -> tuple[int, ...]:
        try:
            found = tuple(map(int, self.next().split()))
        except ValueError:
            raise self.fail("a row of integers") from None
        if count is not None and len(found) != count:
            raise self.fail(f"a row of {count} integers")
        return found

    def number(self) -> int:
        return self.numbers(1)[0]

    def until(self, tag: str) -> tuple[str, ...]:
        found: list[str] = []
        while self.peek() != tag:
            found.append(self.next())
        self.next()
        return tuple(found)


def loads(source: str) -> Scop:
    """The file that ``source`` is the text of.

    Columns that the format does not name get names of their own (``i1``, ``l1``, ``c1``).
    Raises NotOpenScop.
    """
    lines = _Lines(source)
    lines.expect("<OpenScop>")
    language = lines.next()
    context = _relation(lines)
    parameters: tuple[str, ...] = ()
    if lines.number():
        lines.expect("<strings>")
        parameters = tuple(" ".join(lines.until("</strings>")).split())
    count = lines.number()
    statements = tuple(_statement(lines) for _ in range(count))
    arrays: dict[int, str] = {}
    coordinates: Coordinates | None = None
    while (tag := lines.next()) != "</OpenScop>":
        if not (tag.startswith("<") and tag.endswith(">")):
            raise lines.fail("the beginning of an extension")
        content = lines.until(f"</{tag[1:]}")
        match tag:
            case "<arrays>":
                for entry in content[1:]:
                    number, _, name = entry.partition(" ")
                    arrays[int(number)] = name.strip()
            case "<coordinates>":
                first, last = int(content[1].split()[0]), int(content[2].split()[0])
                coordinates = Coordinates(content[0], first, last, int(content[3]))
    scop = Scop(language, context, parameters, statements, arrays, coordinates)
    return _named(scop)


def _relation(lines: _Lines) -> Union:
    kind = lines.next()
    if kind not in ("CONTEXT", "DOMAIN", "SCATTERING", *ACCESSES):
        raise lines.fail("the type of a relation")
    first = lines.numbers()
    count = 1
    if len(first) == 1:
        count, first = first[0], lines.numbers()
    found = []
    for part in range(count):
        sizes = first if part == 0 else lines.numbers()
        if len(sizes) != 6:
            raise lines.fail("the six sizes of a relation")
        height, width, outputs, inputs, locals_, parameters = sizes
        if width != outputs + inputs + locals_ + parameters + 2 or min(sizes) < 0:
            raise lines.fail("a number of columns that is the sum of its parts")
        rows = []
        for _ in range(height):
            values = lines.numbers(width)
            if values[0] not in (0, 1):
                raise lines.fail("an equality (0) or inequality (1)")
            rows.append(Row(values[0] == 0, values[1:-1], values[-1]))
        found.append(
            Relation(
                kind,
                _outputs(kind, outputs),
                _numbered("i", inputs),
                _numbered("l", locals_),
                _numbered("P", parameters),
                tuple(rows),
            )
        )
    return tuple(found)


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number + 1}" for number in range(count))


def _outputs(kind: str, count: int) -> tuple[str, ...]:
    if kind in ACCESSES:
        return ("Arr", *(f"[{number}]" for number in range(1, count)))[:count]
    return _numbered("c" if kind == "SCATTERING" else "i", count)


def _statement(lines: _Lines) -> Statement:
    relations = [_relation(lines) for _ in range(lines.number())]
    kinds = [union[0].kind for union in relations]
    if kinds[:2] != ["DOMAIN", "SCATTERING"] or set(kinds[2:]) - set(ACCESSES):
        raise lines.fail("preceded by a domain, a scattering and accesses in that order")
    iterators: tuple[str, ...] = ()
    body = ""
    for _ in range(lines.number()):
        tag = lines.next()
        content = lines.until(f"</{tag[1:]}")
        if tag == "<body>":
            count = int(content[0])
            iterators = tuple(content[1].split()) if count else ()
            body = content[-1] if len(content) > (2 if count else 1) else ""
    return Statement(relations[0], relations[1], tuple(relations[2:]), iterators, body)


def _named(scop: Scop) -> Scop:
    """The names of iterators and parameters put to the columns they belong to."""
    statements = tuple(
        Statement(
            tuple(_with(r, scop.parameters, outputs=s.iterators) for r in s.domain),
            tuple(_with(r, scop.parameters, inputs=s.iterators) for r in s.scattering),
            tuple(
                tuple(_with(r, scop.parameters, inputs=s.iterators) for r in union) for union in s.accesses
            ),
            s.iterators,
            s.body,
        )
        for s in scop.statements
    )
    context = tuple(_with(r, scop.parameters) for r in scop.context)
    return Scop(scop.language, context, scop.parameters, statements, scop.arrays, scop.coordinates)


def _with(
    relation: Relation,
    parameters: tuple[str, ...],
    outputs: tuple[str, ...] = (),
    inputs: tuple[str, ...] = (),
) -> Relation:
    def fitting(names: tuple[str, ...], held: tuple[str, ...]) -> tuple[str, ...]:
        return names if len(names) == len(held) else held

    return Relation(
        relation.kind,
        fitting(outputs, relation.outputs),
        fitting(inputs, relation.inputs),
        relation.locals,
        fitting(parameters, relation.parameters),
        relation.rows,
    )
