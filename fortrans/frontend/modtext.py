"""A module file of gfortran's as the Fortran text of a module that declares the same names.

The text is read like any other source.  What is not understood is mentioned in a statement that
declares nothing, so that its name is not known; it is never left out, where another module or an
intrinsic procedure would be taken for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fortrans.frontend import intrinsic_modules
from fortrans.frontend.modfile import (
    Entry,
    ModuleFile,
    Record,
    Tree,
    Unclear,
    attributes_of,
    identifier,
)
from fortrans.frontend.modshapes import (
    HIDDEN,
    INTENTS,
    UNKNOWN,
    Home,
    Inside,
    as_result,
    bindings,
    entity,
    prefix,
)
from fortrans.frontend.modvalues import constant


def text(name: str, module: ModuleFile) -> str:
    """The text of module ``name``."""
    return _Writer(name, module).text()


@dataclass(slots=True)
class _Writer:
    name: str
    file: ModuleFile
    local: dict[int, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    contained: list[str] = field(default_factory=list)
    copied: list[Entry] = field(default_factory=list)

    def text(self) -> str:
        own = [entry for entry in self.file.entries.values() if self._is_own(entry)]
        self.taken = {entry.name for entry in own} | {name.lower() for name, _, _ in self.file.names}
        self.local = {entry.number: entry.name for entry in own}
        public: dict[str, None] = {}
        for name, ambiguous, number in self.file.names:
            found = self.file.entries.get(number)
            record = None if found is None else found.record
            hidden = record is not None and record.attributes.bits & HIDDEN
            if not hidden and (record is None or record.attributes.flavor != "MODULE"):
                public[name.lower()] = None
                self._accessible(name.lower(), ambiguous, found)
        for entry in own:
            self._declare(entry, entry.name)
        for name, module, specifics in self.file.generics:
            public[name] = None
            self._generic(name, module, specifics)
        while self.copied:
            entry = self.copied.pop()
            self._declare(entry, self.local[entry.number])
        for spec in self.file.operators:
            public[spec] = None
            self.lines += [f"interface {spec}", "end interface"]
        for group in self.file.equivalent:
            listed = [self.local[number] for number in group if number in self.local]
            if len(listed) > 1:
                self.lines.append(f"equivalence ({', '.join(listed)})")
        return "\n".join(
            [
                f"module {self.name}",
                *self.uses,
                "implicit none",
                "private",
                *(f"public :: {name}" for name in public),
                *(f"{UNKNOWN} :: {name}" for name in self.unknown),
                *self.lines,
                *(["contains", *self.contained] if self.contained else []),
                f"end module {self.name}",
                "",
            ]
        )

    def _is_own(self, entry: Entry) -> bool:
        bits = frozenset() if entry.record is None else entry.record.attributes.bits
        return (
            entry.module == self.name
            and entry.space == 1
            and entry.name != "@"
            and not bits & HIDDEN
        )

    def _accessible(self, name: str, ambiguous: bool, entry: Entry | None) -> None:
        """A name that a USE brings."""
        if entry is None or ambiguous or entry.module in ("", "(intrinsic)"):
            self.unknown.append(name)
        elif entry.module == self.name:
            if name != entry.name:
                self.unknown.append(name)
        elif not self._is_generic(entry):
            self.local.setdefault(entry.number, name)
            self._use(name, entry)
        elif not any(generic == name for generic, _, _ in self.file.generics):
            self._use(name, entry)

    @staticmethod
    def _is_generic(entry: Entry) -> bool:
        return entry.record is not None and "GENERIC" in entry.record.attributes.bits

    def _use(self, name: str, entry: Entry) -> None:
        module = entry.module.removeprefix("__")
        if not module.isidentifier() or entry.name == "@":
            self.unknown.append(name)
            return
        intrinsic = intrinsic_modules.source(module) is not None
        constant_ = entry.record is not None and entry.record.attributes.flavor == "PARAMETER"
        if intrinsic and constant_ and not intrinsic_modules.declares(module, entry.name):
            # The name it has there is not kept; its value is.
            self._declare(entry, name)
            return
        nature = ", intrinsic" if intrinsic else ""
        renamed = name if name == entry.name else f"{name} => {entry.name}"
        self.uses.append(f"use{nature} :: {module}, only: {renamed}")

    def named(self, number: int) -> str:
        """The name a symbol has in the module, brought there when it has none."""
        if number not in self.local:
            entry = self.file.entries.get(number)
            if entry is None or entry.module in ("", "(intrinsic)") or entry.name == "@":
                raise Unclear(number)
            self.local[number] = self._free(entry)
            self._use(self.local[number], entry)
        return self.local[number]

    def _free(self, entry: Entry) -> str:
        usable = entry.name != "@" and entry.name not in self.taken
        name = entry.name if usable else f"{UNKNOWN}_{entry.number}"
        self.taken.add(name)
        return name

    # -- declarations

    def _declare(self, entry: Entry, name: str) -> None:
        """Declare a symbol in the module, or say that it is not known."""
        record = entry.record
        try:
            if record is None:
                raise Unclear(name)
            match record.attributes.flavor:
                case "VARIABLE" | "PARAMETER":
                    self.lines += self._data(record, name, Home(self))
                case "DERIVED":
                    self.lines += self._derived(record, name)
                case "NAMELIST":
                    self.lines += [f"namelist /{name}/ {self.named(number)}" for number in record.group]
                case "PROCEDURE":
                    self._procedure(entry, record, name)
                case "MODULE":
                    pass
                case _:
                    raise Unclear(name)
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
            self.unknown.append(name)

    def _data(self, record: Record, name: str, home: Home) -> list[str]:
        attributes = record.attributes
        constant_ = attributes.flavor == "PARAMETER"
        if attributes.flavor not in ("VARIABLE", "PARAMETER") or record.parameters:
            raise Unclear(name)
        head = entity(record.type, record.shape, attributes, home)
        head += [INTENTS[attributes.intent]] if INTENTS[attributes.intent] else []
        if constant_:
            head.append("parameter")
        if attributes.save == "EXPLICIT-SAVE":
            head.append("save")
        value = constant(record.value) if constant_ else None
        found = [f"{', '.join(head)} :: {name}" + (f" = {value}" if value is not None else "")]
        if "IN_COMMON" in attributes.bits:
            found.append(f"common /{UNKNOWN}/ {name}")
        return found

    # -- derived types

    def _derived(self, record: Record, name: str) -> list[str]:
        bits = record.attributes.bits
        components = list(record.components)
        extends = ""
        body: list[str] = []
        home = Home(self)
        for position, component in enumerate(components):
            if len(component) < 8:
                raise Unclear(name)
            _, label, type_, shape, kind, parameters, attributes, *_ = component
            if label.startswith("_"):  # the length of a deferred-length component
                continue
            own = identifier(label)
            if kind or parameters:
                raise Unclear(name)
            said = attributes_of(attributes)
            if not position and self._is_parent(own, type_):
                extends = f", extends({home.named(type_[1])})"
                continue
            if "PROC_POINTER" in said.bits:
                body.append(f"procedure(), pointer, nopass :: {own}")
                continue
            body.append(f"{', '.join(entity(type_, shape, said, home))} :: {own}")
        bound = list(bindings(record.bound))
        abstract = ", abstract" if "ABSTRACT" in bits else ""
        sequence = ["sequence"] if "SEQUENCE" in bits else []
        below = ["contains", *bound] if bound else []
        return [f"type{extends}{abstract} :: {name}", *sequence, *body, *below, f"end type {name}"]

    def _is_parent(self, name: str, type_: Tree) -> bool:
        """Whether the first component is the parent: it has the parent's name."""
        return type_[0] == "DERIVED" and self.file.entries[type_[1]].name == name

    # -- procedures

    def _procedure(self, entry: Entry, record: Record, name: str) -> None:
        bits = record.attributes.bits
        if "GENERIC" in bits and not bits & {"SUBROUTINE"} and not record.type[1] and not record.space:
            return  # a generic name: the list of generics tells its procedures
        if "INTRINSIC" in bits:
            self.lines.append(f"intrinsic :: {name}")
            return
        if "PROC_POINTER" in bits or record.attributes.source not in ("DECL", "BODY"):
            raise Unclear(name)
        written = self._interface(entry, record, name)
        if record.attributes.source == "DECL":
            self.contained += written
        elif "MODULE_PROCEDURE" in bits:
            self.lines += ["interface", f"module {written[0]}", *written[1:], "end interface"]
        else:
            opening = "abstract interface" if "ABSTRACT" in bits else "interface"
            self.lines += [opening, written[0], "import", *written[1:], "end interface"]

    def _interface(self, entry: Entry, record: Record, name: str) -> list[str]:
        bits = record.attributes.bits
        function = "FUNCTION" in bits
        if function == ("SUBROUTINE" in bits):
            raise Unclear(name)
        arguments = [self._argument(number, record.space) for number in record.dummies]
        inner = {a.number: a.name for a in arguments if a is not None}
        result = name
        if function and record.result not in (0, entry.number):
            found = self.file.entries[record.result]
            result = found.name
            if result == "@":
                raise Unclear(name)
            inner[found.number] = result
        home = Inside(self, inner, frozenset(inner.values()) | {name})
        lines: list[str] = []
        for argument in arguments:
            if argument is not None:
                lines += self._dummy(argument, home)
        if function:
            of = self.file.entries[record.result] if result != name else entry
            if of.record is None:
                raise Unclear(name)
            head = entity(of.record.type, of.record.shape, as_result(of.record), home)
            lines.append(f"{', '.join(head)} :: {result}")
        kind = "function" if function else "subroutine"
        shown = ", ".join("*" if argument is None else argument.name for argument in arguments)
        suffix = f" result({result})" if result != name else ""
        return [f"{prefix(bits)}{kind} {name}({shown}){suffix}", *lines, f"end {kind} {name}"]

    def _argument(self, number: int, space: int) -> Entry | None:
        """A dummy argument; None for an alternate return."""
        if not number:
            return None
        entry = self.file.entries[number]
        if entry.space != space or entry.record is None or entry.name == "@":
            raise Unclear(entry.name)
        return entry

    def _dummy(self, entry: Entry, home: Inside) -> list[str]:
        assert entry.record is not None
        if entry.record.attributes.flavor != "PROCEDURE":
            return self._data(entry.record, entry.name, home)
        optional = [f"optional :: {entry.name}"] if "OPTIONAL" in entry.record.attributes.bits else []
        if "PROC_POINTER" in entry.record.attributes.bits:
            raise Unclear(entry.name)
        return [f"external :: {entry.name}", *optional]

    # -- generic names

    def _generic(self, name: str, module: str, specifics: Sequence[int]) -> None:
        listed: list[str] = []
        for number in specifics:
            entry = self.file.entries.get(number)
            if entry is None:
                listed.append(UNKNOWN)
            elif entry.derived:
                if self.local.get(number) != name:
                    self.local.setdefault(number, self._free(entry))
                    self._use(name, entry)
            elif entry.number in self.local:
                listed.append(self.local[entry.number])
            else:
                self.local[entry.number] = self._free(entry)
                self.copied.append(entry)
                listed.append(self.local[entry.number])
        if listed:
            self.lines += [f"interface {name}", *(f"procedure {each}" for each in listed), "end interface"]
