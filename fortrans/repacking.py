"""The flow of repacking: procedures, plans, second versions, edits (see ``transforms.repack``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fortrans.ir.fresh import Fresh
from fortrans.ir.procedures import Procedure
from fortrans.options import Options
from fortrans.outcome import fault
from fortrans.remarks import Kind, Refusal, Remark
from fortrans.source import Edit, Source, Span

if TYPE_CHECKING:
    from fortrans.emit.style import Style
    from fortrans.frontend.modules import ModuleIndex
    from fortrans.frontend.resolve import Scopes
    from fortrans.frontend.units import Program, Unit
    from fortrans.transforms.repack import Repack, Verdict

MARK = "!fortrans$"


def asked(source: Source, options: Options) -> bool:
    """Whether anything in a file may have to be repacked."""
    wanted = options.repack or options.version_loops or options.repack_calls
    return bool(wanted) or MARK in source.text.lower()


def repack(
    program: Program,
    modules: ModuleIndex,
    options: Options,
    host: str | None,
    edits: list[Edit],
    remarks: list[Remark],
) -> None:
    """Add to ``edits`` and ``remarks`` those of a file's procedures.

    What is already edited is edited the same way in the second versions.
    """
    from fortrans.emit.style import detect
    from fortrans.frontend.resolve import resolve

    scopes = resolve(program, modules, options.assume_intrinsics)
    Repacker(program, scopes, detect(program.source), options, edits, remarks, host).run()


@dataclass(slots=True)
class Repacker:
    """The procedures of one file, innermost first, and the edits made so far."""

    program: Program
    scopes: Scopes
    style: Style
    options: Options
    edits: list[Edit]
    remarks: list[Remark]
    host: str | None = None

    def run(self) -> None:
        """Add the edits and remarks of repacking."""
        from fortrans.frontend.procedures import procedures

        words = self._words()
        found = list(procedures(self.program, self.scopes))
        if self.options.repack_calls:
            from fortrans.around_calls import AroundCalls

            # Versions of the callers shall have them too.
            AroundCalls(
                self.program, self.scopes, self.style, self.options, found, words, self.host
            ).run(self.edits, self.remarks)
        # A version of a procedure holds versions of its internal procedures, so these come first.
        for unit, procedure in reversed(found):
            self._procedure(unit, procedure, Fresh(words))

    def _words(self) -> frozenset[str]:
        from fortrans.frontend.tokens import words

        return frozenset(word for s in self.program.statements for word in words(s.text))

    def _procedure(self, unit: Unit, procedure: Procedure, fresh: Fresh) -> None:
        from fortrans.transforms.repack import plan

        verdicts: tuple[Verdict, ...] = ()
        failed: Refusal | None = None
        try:
            made, verdicts = plan(procedure, self.options)
            if made is not None and self.host is not None:
                raise Refusal("FT008", f"File is included in '{self.host}', where its names may mean more")
            if made is not None:
                self.edits += self._version(unit, made, fresh)
        except Refusal as refusal:
            failed = refusal
        except Exception as problem:
            if self.options.strict:
                raise
            failed = fault(problem)
        packed = {p.dummy.symbol.name for p in made.packings} if made is not None else set()
        for verdict in verdicts:
            name = verdict.dummy.symbol.name
            refusal_ = verdict.refusal or failed
            if refusal_ is not None:
                code, kind, text = refusal_.code, Kind.MISSED, refusal_.message
            elif name in packed:
                code, kind = "FT501", Kind.PASSED
                text = f"Dummy argument '{name}' of '{procedure.name}' is packed where it is not contiguous"
            else:
                code, kind = "FT502", Kind.PASSED
                text = f"'{procedure.name}' has a version for contiguous '{name}'"
            self.remarks.append(Remark(self.program.source.path, verdict.dummy.span, code, kind, text))

    def _version(self, unit: Unit, made: Repack, fresh: Fresh) -> list[Edit]:
        """The edits that add a version of a procedure, and the choice between both."""
        from fortrans.emit.repack import Choice
        from fortrans.emit.repack_views import Copied, names
        from fortrans.frontend import versions

        procedure = made.procedure
        new = names(procedure, made.explicit, fresh)
        bounds = {
            dummy.symbol.name: versions.explicit(dummy.bounds, new.extents[dummy.symbol.name])
            for dummy in made.explicit
        }
        words = "integer(selected_int_kind(18)), intent(in)"
        words = words.upper() if self.style.upper else words
        declaration = f"{words} :: {', '.join(new.all_extents)}"
        array = procedure.result is not None and bool(procedure.result.dims)
        own = versions.edits(self.program, unit, new.version, bounds, new.all_extents, declaration, array)
        text = self._copy(unit, [*self.edits, *own])
        step = procedure.steps[made.step]
        copied = [
            Copied(p.dummy, p.copy_in, p.copy_out, p.repeats) for p in made.packings
        ]
        choice = Choice(
            procedure, versions.actuals(unit), new, made.explicit, copied, made.guarded, made.innermost,
            self.style, self.options, fresh,
        ).lines(step.indent)  # fmt: skip
        return [Edit(Span(step.line, step.line - 1), choice), *self._home(unit, procedure, new.version, text)]

    def _copy(self, unit: Unit, edits: Sequence[Edit]) -> list[str]:
        """The lines of a unit with the edits that lie in it."""
        from fortrans.emit.continuation import fold

        assert unit.opening is not None and unit.closing is not None
        first, last = unit.opening.span.first, unit.closing.span.last
        inside = [
            Edit(Span(e.span.first - first + 1, e.span.last - first + 1), e.text)
            for e in edits
            if first <= e.span.first and e.span.last <= last and e.span.first <= last
        ]
        lines = [line.rstrip("\r\n") for line in self.program.lines[first - 1 : last]]
        applied = Source("", "".join(f"{line}\n" for line in lines)).apply(
            Edit(e.span, e.text.replace("\r\n", "\n")) for e in inside
        )
        limit = self.options.line_length
        whole = applied.text.removesuffix("\n").split("\n")
        return [part for line in whole for part in fold(line, limit, self.style.step)]

    def _home(self, unit: Unit, procedure: Procedure, name: str, lines: list[str]) -> list[Edit]:
        """Where the version stands: in the procedure itself, else beside it."""
        assert unit.opening is not None and unit.closing is not None
        newline = self.style.newline
        end = unit.closing.span
        if not procedure.contains and procedure.home != "internal":
            indent, step = unit.closing.indent, self.style.step
            room = all(len(line) + len(step) <= self.options.line_length for line in lines)
            if room and not any(line.count("'") % 2 or line.count('"') % 2 for line in lines):
                lines = [step + line if line.strip() else line for line in lines]
            word = "CONTAINS" if self.style.upper else "contains"
            return [Edit(Span(end.first, end.first - 1), newline.join([indent + word, *lines, ""]))]
        found = [Edit(Span(end.last + 1, end.last), newline.join(["", *lines, ""]))]
        parent = unit.parent
        if procedure.home == "module" and parent is not None and parent.contains is not None:
            contains = parent.contains
            word = "PRIVATE" if self.style.upper else "private"
            text = f"{contains.indent}{self.style.step}{word} :: {name}{newline}"
            found.append(Edit(Span(contains.span.first, contains.span.first - 1), text))
        return found
