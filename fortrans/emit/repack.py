"""A plan to repack -> the lines that choose between a procedure and its second version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from fortrans.emit import continuation, environment
from fortrans.emit.repack_views import CallView, ChoiceView, Copied, Names, PackingView
from fortrans.emit.style import Spelling, Style
from fortrans.ir.expr import Literal
from fortrans.ir.fresh import Fresh
from fortrans.ir.procedures import Dummy, Procedure
from fortrans.ir.symbols import Type, bytes_of
from fortrans.options import Options

CALL_PAYS = 512
"""Bytes of a contiguous array from which on the call of the version is not felt."""


@dataclass(slots=True)
class Choice:
    """The lines before the first statement that the second version may do instead."""

    procedure: Procedure
    actuals: Sequence[str]
    new: Names
    explicit: Sequence[Dummy]
    packings: Sequence[Copied]
    guarded: bool
    innermost: bool
    style: Style
    options: Options
    fresh: Fresh
    case: Callable[[str], str] = field(init=False)
    spelled: dict[str, str] = field(init=False)
    indices: tuple[str, ...] = field(init=False)
    copies: list[str] = field(init=False)
    failed: str = field(init=False)
    guard: str = field(init=False)
    packed: list[str] = field(init=False)
    flags: dict[str, str] = field(init=False)
    lengths: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.case = str.upper if self.style.upper else str
        self.spelled = {name.lower(): name for name in self.actuals}
        rank = max((p.dummy.symbol.rank for p in self.packings), default=0)
        self.indices = self.fresh.numbered("j", rank) if rank else ()
        self.copies = [self.fresh.name("packed") for _ in self.packings]
        self.failed = self.fresh.name("failed") if self.packings else ""
        self.guard = self.fresh.name("alone") if self.guarded else ""
        self.packed = [p.dummy.symbol.name for p in self.packings]
        optional = any(_optional(d) for d in self.explicit)
        # The length of what is absent cannot be asked in a declaration.
        self.lengths = {
            d.symbol.name: self.fresh.name("length")
            for d in self.explicit
            if _optional(d) and _measured(d.symbol.type)
        }
        flagged = optional or len(self.packings) > 1
        # Whether each must be packed, or else stands in the way, is asked once.
        self.flags = {}
        for name in (d.symbol.name for d in self.explicit if flagged):
            stem = "pack" if name in self.packed else "gaps"
            self.flags[name] = self.fresh.name(f"{stem}_{name}"[:60])

    def lines(self, indent: str) -> str:
        """The text, with ``indent`` before each line."""
        view = self._view()
        step = self.style.step
        text = environment.run("repack", self.options.templates, self.style.upper, v=view, step=step)
        found = [indent + line if line else line for line in text.removesuffix("\n").split("\n")]
        folded = [part for line in found for part in _fold(line, self.options.line_length, step)]
        return self.style.newline.join(folded) + self.style.newline

    def _view(self) -> ChoiceView:
        pays = self.fresh.name("pays") if self.packings else ""
        decisions, test = self._decisions(pays)
        flags = tuple(self.flags.values())
        contiguous = " .and. ".join(self._contiguous(d) for d in self.explicit)
        if flags:
            contiguous = f".not. {flags[0]}" if len(flags) == 1 else f".not. ({' .or. '.join(flags)})"
        return ChoiceView(
            long=self.new.long,
            integers=(*self.new.all_extents, *self.lengths.values(), *self.indices),
            logicals=tuple(name for name in (self.guard, *flags, pays if decisions else "") if name),
            packings=tuple(self._packing(p, copy) for p, copy in zip(self.packings, self.copies)),
            failed=self.failed,
            guard=self.guard,
            questions=tuple(self._questions()),
            large=" .or. ".join(filter(None, map(self._large, self.explicit))),
            stack=self._stack() if self.packings else "",
            contiguous=contiguous,
            direct=self._call({}),
            decisions=tuple(decisions),
            pays=test,
            calls=tuple(self._calls()),
        )

    def _name(self, dummy: Dummy) -> str:
        return self.spelled[dummy.symbol.name]

    def _contiguous(self, dummy: Dummy) -> str:
        return f"{self.case('is_contiguous')}({self._name(dummy)})"

    def _questions(self) -> Iterator[str]:
        """The extents, and which dummies are not contiguous; an absent one has none and is."""
        for dummy in self.explicit:
            name, extents = self._name(dummy), self.new.extents[dummy.symbol.name]
            sizes = [
                f"{extent} = {self.case('size')}({name}, {dim}, {self.new.long})"
                for dim, extent in enumerate(extents, 1)
            ]
            flag = self.flags.get(dummy.symbol.name)
            gaps = [f"{flag} = .not. {self._contiguous(dummy)}"] if flag else []
            if length := self.lengths.get(dummy.symbol.name):
                yield f"{length} = 0"
                sizes.append(f"{length} = {self.case('len')}({name})")
            if not _optional(dummy):
                yield from [*sizes, *gaps]
                continue
            yield from (f"{extent} = 0" for extent in extents)
            yield f"{flag} = .false."
            yield f"{self.case('if')} ({self.case('present')}({name})) {self.case('then')}"
            yield from (self.style.step + line for line in [*sizes, *gaps])
            yield self.case("end if")

    def _call(self, replaced: dict[str, str]) -> str:
        arguments = [*self.new.all_extents, *(replaced.get(name.lower(), name) for name in self.actuals)]
        result = self.procedure.result
        spelled = "" if result is None else self.style.spellings.get(result.name, result.name)
        if result is not None and result.dims:
            # The version is a subroutine: an array is not copied to get it back.
            arguments.append(spelled)
        text = f"{self.new.version}({', '.join(arguments)})"
        if result is None or result.dims:
            return f"{self.case('call')} {text}"
        return f"{spelled} = {text}"

    def _calls(self) -> Iterator[CallView]:
        for chosen in product((True, False), repeat=len(self.packings)):
            if not any(chosen):
                continue
            replaced = {name: copy for name, copy, yes in zip(self.packed, self.copies, chosen) if yes}
            flags = [self.flags.get(name, "") for name in self.packed]
            tests = [flag if yes else f".not. {flag}" for flag, yes in zip(flags, chosen)]
            yield CallView(" .and. ".join(tests), self._call(replaced))

    def _packing(self, p: Copied, copy: str) -> PackingView:
        symbol = p.dummy.symbol
        array = self._name(p.dummy)
        extents = self.new.extents[symbol.name]
        own = self.indices[: symbol.rank]
        offsets = []
        for dim, (index, bound) in enumerate(zip(own, p.dummy.bounds), 1):
            lower = _lower(bound)
            if lower == "1":
                offsets.append(index)
            elif lower == "0":
                offsets.append(f"{index} - 1")
            else:
                offsets.append(f"{index} + {self.case('lbound')}({array}, {dim}) - 1")
        return PackingView(
            array=array,
            copy=copy,
            type=self._type(symbol.type, array, symbol.name in self.lengths),
            allocation=self._allocation(p, copy, extents),
            automatic=self._automatic(p, copy, extents),
            colons=", ".join(":" * symbol.rank),
            loops=tuple(reversed(list(zip(own, extents)))),
            element={copy: f"{copy}({', '.join(own)})", array: f"{array}({', '.join(offsets)})"},
            copy_in=p.copy_in,
            copy_out=p.copy_out,
            chosen=self.flags.get(symbol.name, ""),
        )

    def _allocation(self, p: Copied, copy: str, extents: Sequence[str]) -> str:
        """Where there is no memory for a copy, the body goes on without one."""
        made = self._allocated(p, copy, extents)
        return f"{self.case('allocate')} ({made}, {self.case('stat')}={self.failed})"

    def _allocated(self, p: Copied, copy: str, extents: Sequence[str]) -> str:
        length = self.lengths.get(p.dummy.symbol.name)
        typed = f"{self.case('character')}({self.case('len')}={length}) :: " if length else ""
        return f"{typed}{copy}({self._bounds(p, extents)})"

    def _automatic(self, p: Copied, copy: str, extents: Sequence[str]) -> str:
        symbol = p.dummy.symbol
        if symbol.name in self.lengths:
            return self._allocated(p, copy, extents)
        type = self._type(symbol.type, self._name(p.dummy), False)
        return f"{type} :: {copy}({self._bounds(p, extents)})"

    def _bounds(self, p: Copied, extents: Sequence[str]) -> str:
        """A copy that is not wanted has no elements; to a compiler one that is not made is unsafe."""
        first, *rest = extents
        if len(self.packings) > 1:
            flag = self.flags[p.dummy.symbol.name]
            first = f"{self.case('merge')}({first}, 0_{self.new.long}, {flag})"
        return ", ".join([first, *rest])

    def _stack(self) -> str:
        """Whether all copies together are small enough for the stack: never, when ""."""
        if not (self.options.stack_arrays and self.options.stack_limit):
            return ""
        terms = []
        for p in self.packings:
            count = "*".join(self.new.extents[p.dummy.symbol.name])
            size = bytes_of(p.dummy.symbol.type)
            terms.append(f"{size or self._each(p.dummy)}*{count}")
        return f"{' + '.join(terms)} <= {self.options.stack_limit}"

    def _type(self, type: Type, array: str, deferred: bool) -> str:
        style = self.style
        spelling = Spelling({}, style.spellings, style.upper, style.upper_names)
        if type.name != "character" or isinstance(type.length, Literal):
            return spelling.type(type.spelling)
        length = ":" if deferred else f"{self.case('len')}({array})"
        kind = "" if type.kind == 1 else self.case(f", kind=kind({array})")
        return f"{self.case('character')}({self.case('len')}={length}{kind})"

    # -- whether to pack

    def _decisions(self, pays: str) -> tuple[list[str], str]:
        """Statements that decide whether to pack, and the condition that then holds."""
        if not self.packings:
            return [], ""
        others = [d for d in self.explicit if d.symbol.name not in self.packed]
        first = [self.guard] if self.guard else []
        first += [f".not. {self.flags[d.symbol.name]}" if self.flags else self._contiguous(d) for d in others]
        if not self.flags:
            (p,) = self.packings
            tests, strided = first + self._tests(p), self._strided(p)
            if not strided:
                return [], " .and. ".join(tests) or ".true."
            lines = [f"{pays} = {' .and. '.join(tests) or '.true.'}"]
            return [*lines, *(f"if ({pays}) {pays} = {test}" for test in strided)], pays
        lines = [f"{pays} = {' .and. '.join(first) or '.true.'}"]
        for p in self.packings:
            flag = self.flags[p.dummy.symbol.name]
            if tests := self._tests(p):
                lines.append(f"if ({flag}) {pays} = {pays} .and. {' .and. '.join(tests)}")
            lines += [f"if ({flag} .and. {pays}) {pays} = {test}" for test in self._strided(p)]
        return lines, pays

    def _tests(self, p: Copied) -> list[str]:
        """Conditions for a copy to pay that may be asked of any array that is present."""
        size = bytes_of(p.dummy.symbol.type)
        extents = self.new.extents[p.dummy.symbol.name]
        count = "*".join(extents)
        each = self._each(p.dummy)
        tests = [p.repeats[0]] if len(p.repeats) == 1 else []
        if len(p.repeats) > 1:
            tests = [f"({' .or. '.join(p.repeats)})"]
        least, most, largest = (
            self.options.repack_min_size,
            self.options.repack_max_size,
            self.options.repack_max_element_size,
        )
        if least:
            # Of one dummy the least for a call was asked before all else.
            if len(self.explicit) > 1 or least > CALL_PAYS:
                tests.append(self._least(p.dummy, least))
        elif self._strided(p):
            tests += [f"{extent} > 0" for extent in extents]
        if most:
            tests.append(f"{count} <= {most // size}" if size else f"{count}*{each} <= {most}")
        if largest and size is None:
            tests.append(f"{each} <= {largest}")
        return tests

    def _each(self, dummy: Dummy) -> str:
        name = dummy.symbol.name
        if dummy.symbol.type.name == "character":
            return self.lengths.get(name) or f"{self.case('len')}({self.spelled[name]})"
        return f"({self.case('storage_size')}({self.spelled[name]})/8)"

    def _large(self, dummy: Dummy) -> str:
        """Whether a dummy is large enough for a call to pay, "" when that is not asked.

        Asked before anything else: what a small array could gain is less than a call costs.
        """
        return self._least(dummy, min(CALL_PAYS, self.options.repack_min_size))

    def _least(self, dummy: Dummy, least: int) -> str:
        size = bytes_of(dummy.symbol.type)
        count = "*".join(self.new.extents[dummy.symbol.name])
        if not least:
            return ""
        return f"{count} >= {-(-least // size)}" if size else f"{count}*{self._each(dummy)} >= {least}"

    def _strided(self, p: Copied) -> list[str]:
        """Conditions that look at the first elements: to be asked where there are some."""
        symbol, array = p.dummy.symbol, self._name(p.dummy)
        bases = [
            "1" if _lower(bound) == "1" else f"{self.case('lbound')}({array}, {dim})"
            for dim, bound in enumerate(p.dummy.bounds, 1)
        ]
        tests = []
        if self.innermost and symbol.rank > 1:
            tests.append(f".not. {self.case('is_contiguous')}({array}(:, {', '.join(bases[1:])}))")
        if self.options.repack_min_stride:
            second = ", ".join(["2" if bases[0] == "1" else f"{bases[0]} + 1", *bases[1:]])
            distance = f"loc({array}({second})) - loc({array}({', '.join(bases)}))"
            tests.append(f"{self.new.extents[symbol.name][0]} > 1")
            tests.append(f"abs({distance}) >= {self.options.repack_min_stride}")
        return tests


def _optional(dummy: Dummy) -> bool:
    return "optional" in dummy.symbol.attributes


def _measured(type: Type) -> bool:
    """Whether the length of a character must be asked."""
    return type.name == "character" and not isinstance(type.length, Literal)


def _fold(line: str, limit: int, step: str) -> list[str]:
    if line.lstrip().startswith("!$ "):
        return [line]
    return continuation.fold(line, limit, step)


def _lower(bound: str) -> str:
    """The lower bound, 1 when there is none."""
    return bound.partition(":")[0].strip() or "1"
