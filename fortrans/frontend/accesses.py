"""Which data a statement's expressions touch, and which of them are integer index arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fortrans.frontend.designators import lower_bound, parts, symbols, upper_bound
from fortrans.frontend.lift import EXPOSED
from fortrans.intrinsics import INTRINSICS
from fortrans.intrinsics.elemental import ELEMENTAL
from fortrans.intrinsics.inquiry import INQUIRIES
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
from fortrans.ir.loops import Access, Parameter
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
class Objects:
    """The names that the data objects and parameters of one program unit go by."""

    taken: set[str]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    _names: dict[object, str] = field(default_factory=dict)

    def name(self, identity: object, wanted: str) -> str:
        """The one name of an object: ``wanted``, unless another object has it."""
        if identity not in self._names:
            used = set(self._names.values())
            name, number = wanted, 2
            while name in used:
                name, number = f"{wanted}_{number}", number + 1
            self._names[identity] = name
        return self._names[identity]

    def fresh(self, wanted: str) -> str:
        """``wanted``, or that with a number where a name of the file is so spelled."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name

    def parameter(self, wanted: str, value: Expr, root: str, extent: bool) -> Name:
        """The parameter that stands for ``value``."""
        for name, known in self.parameters.items():
            if known.value == value:
                return Name(name)
        name = self.fresh(wanted)
        self.parameters[name] = Parameter(value, root, extent)
        return Name(name)


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
        if name in self.known:
            return self.known[name]
        return None if symbol.attributes & _LOOSE else Name(name)

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
        root = self.renamed.get(listed[0].name, listed[0].name)
        return self.objects.parameter(wanted, value, root, name == "size")

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
        root = self.renamed.get(listed[0].name, listed[0].name)
        return self.objects.parameter("_".join(part.name for part in listed), expr, root, False)

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

    def designator(self, expr: Expr, write: bool = False) -> None:
        """Read (or define) the data object that ``expr`` designates, and read its subscripts."""
        if isinstance(expr, Substring):
            self.expressions((expr.first, expr.last))
            self.designator(expr.base, write)
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
                self.expressions(x for part in listed for x in part.subscripts or ())
            return
        for symbol in path:
            for attribute in symbol.attributes & _FORBIDDEN.keys():
                self.flaw(f"'{symbol.name}' {_FORBIDDEN[attribute]}")
        if path[-1].type.derived and (self.scope.defined_assignment() or self.scope.defined_operators()):
            self.flaw(f"'{listed[-1].name}' is of derived type, for which operations may be defined")
        found: list[Expr | None] = []
        so_far: Expr | None = None
        for part, symbol in zip(listed, path):
            so_far = Name(part.name) if so_far is None else Component(so_far, part.name)
            self.expressions(part.subscripts or ())
            if not symbol.rank:
                continue
            if part.subscripts is None or len(part.subscripts) != symbol.rank:
                found += [self._section(so_far, symbol, d, None, None, None) for d in range(symbol.rank)]
                continue
            for d, subscript in enumerate(part.subscripts):
                if isinstance(subscript, Range):
                    limits = subscript.first, subscript.last, subscript.step
                    found.append(self._section(so_far, symbol, d, *limits))
                else:
                    found.append(self.index(subscript))
            so_far = Ref(so_far, part.subscripts)
        if write and path[-1].rank and listed[-1].subscripts is None and "allocatable" in path[-1].attributes:
            self.flaw(f"assignment may reallocate '{listed[-1].name}'")
        root = self.renamed.get(listed[0].name, listed[0].name)
        name = "%".join((root, *(part.name for part in listed[1:])))
        own = listed[0].name in self.renamed
        identity = (root,) if own else (path[0].origin, path[0].remote or path[0].name)
        key = self.objects.name((identity, tuple(part.name for part in listed[1:])), name)
        self.accesses.append(Access(key, tuple(found), expr, write))

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


def mentioned(expr: Expr, objects: Objects) -> frozenset[str]:
    """The variables that the value of index arithmetic depends on."""
    names = {x.id for x in walk(expr) if isinstance(x, Name)}
    return frozenset(objects.parameters[n].root if n in objects.parameters else n for n in names)
