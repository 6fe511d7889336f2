"""Which data a statement's expressions touch, and which of them are integer index arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fortrans.frontend.designators import lower_bound, parts, symbols, upper_bound
from fortrans.frontend.lift import EXPOSED
from fortrans.frontend.objects import Objects
from fortrans.intrinsics import INTRINSICS
from fortrans.intrinsics.elemental import ELEMENTAL
from fortrans.intrinsics.inquiry import INQUIRIES
from fortrans.ir.arrays import Part
from fortrans.ir.expr import (
    Call,
    Component,
    Expr,
    ImpliedDo,
    Items,
    Keyword,
    Literal,
    Name,
    Op,
    Opaque,
    Range,
    Ref,
    Substring,
    children,
    constant,
    integer,
    walk,
)
from fortrans.ir.loops import Access
from fortrans.ir.symbols import Generic, Intrinsic, Procedure, Scope, Symbol
from fortrans.remarks import Refusal

_LOOSE = (EXPOSED - {"common"}) | frozenset(
    "volatile asynchronous codimension threadprivate ambiguous allocatable".split()
)
_FORBIDDEN = {
    "volatile": "is VOLATILE",
    "asynchronous": "is ASYNCHRONOUS",
    "codimension": "is a coarray",
    "threadprivate": "is private to a thread",
}
_NUMBER = re.compile(r"(\d+)(?:_\w+)?")
_COMPARISONS = frozenset("== /= < <= > >=".split())
_ARITHMETIC = frozenset("+ - * /".split())
_OPERATORS = frozenset("+ - * / ** // == /= < <= > >= .and. .or. .not. .eqv. .neqv. ()".split())


@dataclass(slots=True)
class Reading:
    """The accesses of one statement, gathered in the order in which they are met.

    ``known`` are scalars with a value in terms of others; ``renamed`` variables that a BLOCK
    declares; ``indices`` the loop indices in force.
    """

    scope: Scope
    objects: Objects
    known: Mapping[str, Expr] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    indices: frozenset[str] = frozenset()
    accesses: list[Access] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    _local: frozenset[str] = frozenset()
    _arithmetic: bool = False

    # -- index arithmetic

    def index(self, expr: Expr) -> Expr | None:
        """``expr`` as index arithmetic (see ``fortrans.ir.loops``), None when it is not."""
        match expr:
            case Literal(text):
                number = _NUMBER.fullmatch(text)
                return Literal(number.group(1)) if number else None
            case Name(id):
                return self._name(id)
            case Op("()", (x,)):
                return self.index(x)
            case Op("+" | "-" as op, (x,)):
                value = self.index(x)
                return None if value is None else Op(op, (value,)) if op == "-" else value
            case Op(op, (x, y)) if op in _ARITHMETIC:
                left, right = self.index(x), self.index(y)
                return None if left is None or right is None else Op(op, (left, right))
            case Ref(Name(id), args) if isinstance(self.scope.lookup(id), Intrinsic):
                return self.index(Call(id, args))
            case Call(name, args) if isinstance(self.scope.lookup(name), Intrinsic):
                return self._call(name, args)
            case Component():
                return self._component(expr)
        return self._constant(expr)

    def _constant(self, expr: Expr) -> Expr | None:
        value = self.scope.constant(expr)
        return None if value is None else integer(value)

    def _name(self, id: str) -> Expr | None:
        name = self.renamed.get(id, id)
        if id in self._local:
            return None
        if name in self.indices:
            return Name(name)
        symbol = self.scope.lookup(id)
        if not isinstance(symbol, Symbol) or symbol.type.name != "integer" or symbol.rank:
            return None
        if "parameter" in symbol.attributes:
            return self._constant(Name(id))
        if symbol.attributes & _LOOSE:
            return None
        return self.known.get(name, Name(name))

    def _call(self, name: str, args: tuple[Expr, ...]) -> Expr | None:
        match name, args:
            case "mod" | "modulo" | "min" | "max", (_, _, *_):
                values = [self.index(x) for x in args if not isinstance(x, Keyword)]
                found = tuple(x for x in values if x is not None)
                return Call(name, found) if len(found) == len(args) else None
            case "int", (x, *_):
                return self.index(x)
            case "size" | "lbound" | "ubound", (x, *rest) if len(rest) < 2:
                dim = rest[0] if rest else integer(1)
                if isinstance(dim, Keyword):
                    dim = dim.value if dim.name == "dim" else Name(name)
                number = self.scope.constant(dim)
                return None if number is None else self._bound(name, x, number, bool(rest))
        return self._constant(Call(name, args))

    def _bound(self, name: str, array: Expr, number: int, given: bool) -> Expr | None:
        """SIZE, LBOUND or UBOUND of a whole array that no statement of a nest reallocates."""
        try:
            path, listed = symbols(array, self.scope), parts(array)
        except Refusal:
            return None
        if path is None or any(part.subscripts is not None for part in listed):
            return None
        last = path[-1]
        if any("pointer" in s.attributes for s in path) or not 1 <= number <= last.rank:
            return None
        if not given and (name != "size" or last.rank != 1):
            return None
        dim = last.dims[number - 1]
        lower = None if dim.lower is None else self.scope.constant(dim.lower)
        upper = None if dim.upper is None else self.scope.constant(dim.upper)
        if dim.form == "explicit" and lower is not None and upper is not None:
            extent = max(upper - lower + 1, 0)
            first, final = (lower, upper) if extent else (1, 0)
            return integer({"size": extent, "lbound": first, "ubound": final}[name])
        if dim.form in ("explicit", "assumed") and lower == 1:
            if name == "lbound":
                return integer(1)
            name = "size"  # UBOUND of an array that starts at 1 is its extent, also when that is 0.
        wanted = "_".join((name, *(part.name for part in listed), str(number)))
        value = Call(name, (array, integer(number)))
        return self.objects.parameter(wanted, value, self._key(listed), True, name == "size")

    def _component(self, expr: Expr) -> Expr | None:
        try:
            path, listed = symbols(expr, self.scope), parts(expr)
        except Refusal:
            return None
        if path is None or any(part.subscripts is not None or s.rank for part, s in zip(listed, path)):
            return None
        attributes = frozenset(a for symbol in path for a in symbol.attributes)
        if path[-1].type.name != "integer" or attributes & _LOOSE or listed[0].name in self._local:
            return None
        return self.objects.parameter("_".join(part.name for part in listed), expr, self._key(listed))

    def _key(self, listed: Sequence[Part]) -> str:
        """``g%u`` for its parts, as renamed."""
        root = self.renamed.get(listed[0].name, listed[0].name)
        return "%".join((root, *(part.name for part in listed[1:])))

    def test(self, expr: Expr) -> Expr | None:
        """A logical expression whose operands are comparisons of index arithmetic, else None."""
        match expr:
            case Literal(text) if text.lower() in (".true.", ".false."):
                return Literal(text.lower())
            case Op("()", (x,)):
                return self.test(x)
            case Op(".not.", (x,)):
                inner = self.test(x)
                return None if inner is None else Op(".not.", (inner,))
            case Op(".and." | ".or." | ".eqv." | ".neqv." as op, (x, y)):
                left, right = self.test(x), self.test(y)
                return None if left is None or right is None else Op(op, (left, right))
            case Op(op, (x, y)) if op in _COMPARISONS:
                left, right = self.index(x), self.index(y)
                return None if left is None or right is None else Op(op, (left, right))
        return None

    # -- data

    def flaw(self, clause: str) -> None:
        """Note why the statement is not understood."""
        if clause not in self.flaws:
            self.flaws.append(clause)

    def expressions(self, exprs: Iterable[Expr | None]) -> None:
        """Read each of ``exprs`` for its value."""
        for expr in exprs:
            if expr is not None:
                self.expression(expr)

    def controls(self, exprs: Iterable[Expr | None]) -> None:
        """Read subscripts, bounds or tests: index arithmetic, most of them."""
        outer = self._arithmetic
        for expr in exprs:
            limits = (expr.first, expr.last, expr.step) if isinstance(expr, Range) else (expr,)
            for x in limits:
                if x is not None:
                    self._arithmetic = self.index(x) is not None or self.test(x) is not None
                    self.expression(x)
        self._arithmetic = outer

    def expression(self, expr: Expr) -> None:
        """Read ``expr`` for its value."""
        match expr:
            case Literal():
                pass
            case Op(op, args):
                if op not in _OPERATORS:
                    self.flaw(f"operator '{op}' is not intrinsic")
                self.expressions(args)
            case Name(id) if id in self._local or self.renamed.get(id, id) in self.indices:
                pass
            case Ref(Name(id), args) if not isinstance(self.scope.lookup(id), Symbol):
                self.expression(Call(id, args))
            case Name() | Component() | Ref() | Substring():
                self.designator(expr)
            case Call(name, args):
                self._reference(name, args)
            case Keyword(_, value):
                self.expression(value)
            case Range(first, last, step):
                self.expressions((first, last, step))
            case Items(items):
                self.expressions(items)
            case ImpliedDo(items, name, first, last, step):
                self.expressions((first, last, step))
                outer, self._local = self._local, self._local | {name}
                self.expressions(items)
                self._local = outer
            case Opaque(text):
                self.flaw(f"'{text}' is of a form that is not read")
            case _:
                self.expressions(children(expr))

    def _reference(self, name: str, args: tuple[Expr, ...]) -> None:
        match self.scope.lookup(name):
            case Intrinsic():
                if name in INQUIRIES or name == "associated":
                    return
                if name not in ELEMENTAL and name not in INTRINSICS:
                    self.flaw(f"intrinsic '{name.upper()}' is not known")
            case Procedure(pure=True, form=form) if form != "internal":
                self.calls.append(name)
            case Procedure(pure=True):
                self.flaw(f"internal function '{name}' may read any variable of its host")
            case Procedure() | Generic():
                self.flaw(f"function '{name}' is not known to be PURE")
            case _:
                self.flaw(f"name '{name}' is not known")
        self.expressions(args)

    def designator(self, expr: Expr, write: bool = False, part: bool = False) -> None:
        """Read (or define) the data object that ``expr`` designates, and read its subscripts."""
        if isinstance(expr, Substring):
            self.controls((expr.first, expr.last))
            self.designator(expr.base, write, part=True)
            return
        try:
            path, listed = symbols(expr, self.scope), parts(expr)
        except Refusal as refusal:
            self.flaw(refusal.message[:1].lower() + refusal.message[1:])
            return
        if path is None:
            self.flaw(f"name '{'%'.join(part.name for part in listed)}' is not known")
            return
        if "parameter" in path[0].attributes:
            if not write:
                self.controls(x for part in listed for x in part.subscripts or ())
            return
        root = self.renamed.get(listed[0].name, listed[0].name)
        if not write and len(listed) == 1 and root in self.known and not path[0].attributes & _LOOSE:
            # What it stands for is read instead: variables that keep their values.
            self.expressions(x for x in walk(self.known[root]) if isinstance(x, Name))
            return
        for symbol in path:
            for attribute in symbol.attributes & _FORBIDDEN.keys():
                self.flaw(f"'{symbol.name}' {_FORBIDDEN[attribute]}")
        if path[-1].type.derived and (self.scope.defined_assignment() or self.scope.defined_operators()):
            self.flaw(f"'{listed[-1].name}' is of derived type, for which operations may be defined")
        found: list[Expr | None] = []
        so_far: Expr | None = None
        seen: list[str] = []
        for piece, symbol in zip(listed, path):
            so_far = Name(piece.name) if so_far is None else Component(so_far, piece.name)
            seen.append(piece.name)
            given = piece.subscripts
            self.controls(given or ())
            if not symbol.rank:
                part = part or given is not None  # A substring.
                continue
            if given is None or len(given) != symbol.rank:
                found += [self._section(so_far, symbol, d, None, None, None) for d in range(symbol.rank)]
                continue
            if "pointer" in frozenset[str]().union(*(s.attributes for s in path[len(seen) :])):
                self.flaw(f"elements of '{'%'.join(seen)}' have pointers, which may lead to one target")
            for d, subscript in enumerate(given):
                if isinstance(subscript, Range):
                    limits = subscript.first, subscript.last, subscript.step
                    found.append(self._section(so_far, symbol, d, *limits))
                else:
                    found.append(self.index(subscript))
            so_far = Ref(so_far, given)
        if write and path[-1].rank and listed[-1].subscripts is None and "allocatable" in path[-1].attributes:
            self.flaw(f"assignment may reallocate '{listed[-1].name}'")
        name = self._key(listed)
        own = listed[0].name in self.renamed
        identity = (name.partition("%")[0],) if own else (path[0].origin, path[0].remote or path[0].name)
        key = self.objects.name((identity, tuple(part.name for part in listed[1:])), name)
        self.accesses.append(Access(key, tuple(found), expr, write, self._arithmetic, part))

    def _section(
        self, base: Expr, symbol: Symbol, d: int, first: Expr | None, last: Expr | None, step: Expr | None
    ) -> Expr | None:
        try:
            lower = lower_bound(base, symbol, d, self.scope) if first is None else first
            upper = upper_bound(base, symbol, d) if last is None else last
        except Refusal:
            return None
        low, high = self.index(lower), self.index(upper)
        stride = integer(1) if step is None else self.index(step)
        if low is None or high is None or stride is None or not constant(stride):
            return None
        return Range(low, high, stride)

    def assignment(self, target: Expr, value: Expr) -> None:
        """Read ``value`` and the subscripts of ``target``, then define ``target``."""
        self.expression(value)
        before = len(self.accesses)
        self.designator(target, write=True)
        if not any(access.write for access in self.accesses[before:]):
            self.flaw("what it assigns to is not known")

    def printable(self, expr: Expr) -> Expr:
        """``expr`` with the scalars whose value is known replaced by it, for printing."""
        from fortrans.ir.expr import transform

        def visit(x: Expr) -> Expr | None:
            match x:
                case Name(id) if self.renamed.get(id, id) in self.known and id not in self._local:
                    return self.known[self.renamed.get(id, id)]
                case Name(id) if id in self.renamed:
                    return Name(self.renamed[id])
            return None

        return transform(expr, visit)
