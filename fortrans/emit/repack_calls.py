"""A call and the sections to pack around it -> the BLOCK that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from fortrans.emit import continuation, environment
from fortrans.emit.repack_views import CallView
from fortrans.emit.style import Spelling, Style
from fortrans.ir.calls import Call, PackedActual, Triplet
from fortrans.ir.expr import Literal
from fortrans.ir.fresh import Fresh
from fortrans.ir.symbols import Type, bytes_of
from fortrans.options import Options

_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class ArgumentView:
    """An argument to pack, in finished strings.

    ``section`` has its subscripts kept in scalars; ``pays`` is asked first, then ``gaps``.
    """

    copy: str
    type: str
    colons: str
    flag: str
    section: str
    extents: tuple[str, ...]
    allocation: str
    pays: str
    gaps: str
    copy_in: bool
    copy_out: bool


@dataclass(frozen=True, slots=True)
class PackedCallView:
    """What the template prints."""

    long: str
    integers: tuple[str, ...]
    failed: str
    logicals: tuple[str, ...]
    packings: tuple[ArgumentView, ...]
    guarded: bool
    kept: tuple[str, ...]
    calls: tuple[CallView, ...]
    original: str


@dataclass(slots=True)
class PackedCall:
    """The lines in place of a call; ``guarded``: they ask whether OpenMP threads run."""

    call: Call
    packings: Sequence[PackedActual]
    guarded: bool
    style: Style
    options: Options
    fresh: Fresh
    case: Callable[[str], str] = field(init=False)
    long: str = field(init=False)
    failed: str = field(init=False)
    kept: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.case = str.upper if self.style.upper else str
        for p in self.packings:
            # Kinds that the type is declared with must not be hidden.
            self.fresh.reserve(re.findall(r"\w+", p.section.symbol.type.spelling.lower()))
        self.long = self.fresh.name("long")
        self.failed = self.fresh.name("failed")
        texts = [text for p in self.packings for text in _scalars(p) if not _NUMBER.fullmatch(text)]
        self.kept = {text: self.fresh.name("at") for text in dict.fromkeys(texts)}

    def lines(self) -> str:
        """The text, indented as the call is."""
        text = environment.run(
            "repack_call", self.options.templates, self.style.upper, v=self._view(), step=self.style.step
        )
        indent, step = self.call.indent, self.style.step
        found = [indent + line for line in text.removesuffix("\n").split("\n")]
        limit = self.options.line_length
        folded = [part for line in found for part in continuation.fold(line, limit, step)]
        return self.style.newline.join(folded) + self.style.newline

    def _view(self) -> PackedCallView:
        packings, extents = [], []
        for p in self.packings:
            own = [self.fresh.name("m") for s in p.section.subscripts if isinstance(s, Triplet)]
            extents += own
            packings.append(self._argument(p, own))
        return PackedCallView(
            long=self.long,
            integers=(*self.kept.values(), *extents),
            failed=self.failed,
            logicals=tuple(p.flag for p in packings),
            packings=tuple(packings),
            guarded=self.guarded,
            kept=tuple(f"{name} = {text}" for text, name in self.kept.items()),
            calls=tuple(self._calls(packings)),
            original=self.call.text,
        )

    def _argument(self, p: PackedActual, extents: Sequence[str]) -> ArgumentView:
        symbol = p.section.symbol
        copy, flag = self.fresh.name("packed"), self.fresh.name("pack")
        section = self._section(p, probe=False)
        size = self.case("size")
        return ArgumentView(
            copy=copy,
            type=self._type(symbol.type, p.section.spelled),
            colons=", ".join(":" * len(extents)),
            flag=flag,
            section=section,
            extents=tuple(
                f"{extent} = {size}({section}, {dim}, {self.long})" for dim, extent in enumerate(extents, 1)
            ),
            allocation=self._allocation(copy, extents),
            pays=" .and. ".join(self._pays(p, extents)),
            gaps=f".not. {self.case('is_contiguous')}({self._section(p, self.options.repack != 'whole')})",
            copy_in=p.copy_in,
            copy_out=p.copy_out,
        )

    def _allocation(self, copy: str, extents: Sequence[str]) -> str:
        """Where there is no memory for a copy, the section is passed."""
        made = f"{copy}({', '.join(extents)})"
        return f"{self.case('allocate')} ({made}, {self.case('stat')}={self.failed})"

    def _section(self, p: PackedActual, probe: bool) -> str:
        """The section with its subscripts kept; ``probe``: only its first column."""
        found, first = [], True
        for dim, s in enumerate(p.section.subscripts, 1):
            if isinstance(s, str):
                found.append(self._scalar(s))
            elif probe and not first:
                found.append(self._scalar(s.lower) or f"{self.case('lbound')}({p.section.spelled}, {dim})")
            else:
                stride = f":{self._scalar(s.stride)}" if s.stride else ""
                found.append(f"{self._scalar(s.lower)}:{self._scalar(s.upper)}{stride}")
                first = False
        return f"{p.section.spelled}({', '.join(found)})"

    def _scalar(self, text: str) -> str:
        return self.kept.get(text, text)

    def _pays(self, p: PackedActual, extents: Sequence[str]) -> Iterator[str]:
        """Conditions for a copy to pay: never is there one of nothing."""
        size, count = bytes_of(p.section.symbol.type), "*".join(extents)
        least, most = self.options.repack_min_size, self.options.repack_max_size
        if len(p.repeats) > 1:
            yield f"({' .or. '.join(p.repeats)})"
        elif p.repeats:
            yield p.repeats[0]
        if size is not None:
            yield f"{count} >= {max(1, -(-least // size))}"
            if most:
                yield f"{count} <= {most // size}"
            return
        each = f"({self.case('storage_size')}({p.section.spelled})/8)"
        if p.section.symbol.type.name == "character":
            each = f"{self.case('len')}({p.section.spelled})"
        yield f"{count} > 0"
        yield f"{count}*{each} >= {least}"
        if most:
            yield f"{count}*{each} <= {most}"
        if self.options.repack_max_element_size:
            yield f"{each} <= {self.options.repack_max_element_size}"

    def _type(self, type: Type, array: str) -> str:
        style = self.style
        if type.name != "character" or isinstance(type.length, Literal):
            return Spelling({}, style.spellings, style.upper, style.upper_names).type(type.spelling)
        return f"{self.case('character')}({self.case('len')}={self.case('len')}({array}))"

    def _calls(self, packings: Sequence[ArgumentView]) -> Iterator[CallView]:
        for chosen in product((True, False), repeat=len(packings)):
            if not any(chosen):
                continue
            tests = [p.flag if yes else f".not. {p.flag}" for p, yes in zip(packings, chosen)]
            text = self.call.text
            places = sorted(zip(self.packings, packings, chosen), key=lambda one: -one[0].actual.at)
            for p, view, yes in places:
                if yes:
                    at = p.actual.at
                    text = text[:at] + view.copy + text[at + len(p.actual.text) :]
            yield CallView(" .and. ".join(tests), text)


def _scalars(p: PackedActual) -> Iterator[str]:
    for s in p.section.subscripts:
        yield from filter(None, (s,) if isinstance(s, str) else (s.lower, s.upper, s.stride))
