"""The flow of packing around calls (see ``transforms.repack_calls``): calls, plans, edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fortrans.frontend.calls import calls
from fortrans.ir.calls import Call, PackedActual
from fortrans.ir.fresh import Fresh
from fortrans.options import Options
from fortrans.outcome import fault
from fortrans.remarks import Kind, Refusal, Remark
from fortrans.source import Edit
from fortrans.transforms.repack import AT_MOST, plan
from fortrans.transforms.repack_calls import LEFT, arguments, check_call, packed

if TYPE_CHECKING:
    from fortrans.emit.style import Style
    from fortrans.frontend.resolve import Scopes, View
    from fortrans.frontend.units import Executable, Program, Unit
    from fortrans.ir.procedures import Procedure


@dataclass(slots=True)
class AroundCalls:
    """The calls of one file.  ``procedures`` are those with assumed-shape dummies, ``words`` all names."""

    program: Program
    scopes: Scopes
    style: Style
    options: Options
    procedures: Sequence[tuple[Unit, Procedure]]
    words: frozenset[str]
    host: str | None = None

    def run(self, edits: list[Edit], remarks: list[Remark]) -> None:
        """Add to ``edits`` and ``remarks`` those of the calls; what is edited already is left."""
        known = {id(unit): procedure for unit, procedure in self.procedures}
        lines = {n for e in edits for n in range(e.span.first, e.span.last + 1)}
        for executable, callee, call in calls(self.program, self.scopes):
            span = executable.statement.span
            before = self.program.lines[span.first - 2] if span.first > 1 else ""
            if LEFT.match(before) or lines & set(range(span.first, span.last + 1)):
                continue
            if callee is not None and id(callee) not in known:
                continue
            procedure = known[id(callee)] if callee is not None else None
            try:
                self._call(executable, call, procedure, edits, remarks)
            except Refusal as refusal:
                remarks.append(self._missed(executable, refusal))
            except Exception as problem:
                if self.options.strict:
                    raise
                remarks.append(self._missed(executable, fault(problem)))

    def _missed(self, executable: Executable, refusal: Refusal) -> Remark:
        path, span = self.program.source.path, executable.statement.span
        return Remark(path, span, refusal.code, Kind.MISSED, refusal.message)

    def _call(
        self,
        executable: Executable,
        call: Call,
        procedure: Procedure | None,
        edits: list[Edit],
        remarks: list[Remark],
    ) -> None:
        view = self.scopes.at(executable)
        directives = [s.text for s in self.program.statements if s.form == "directive"]
        found: list[PackedActual] = []
        refused: list[Refusal] = []
        own = self._repacked(procedure)
        for actual in arguments(call):
            if procedure is None:
                check_call(call, directives)
                continue
            dummy = next((d for d in procedure.dummies if d.symbol.name == actual.dummy), None)
            if dummy is None or actual.dummy in own:
                continue
            try:
                if (one := packed(call, actual, procedure, dummy, view, self.options)) is not None:
                    found.append(one)
            except Refusal as refusal:
                refused.append(refusal)
        if found:
            try:
                check_call(call, directives)
                edits.append(self._edit(executable, call, found[:AT_MOST], view))
            except Refusal as refusal:
                refused.append(refusal)
                found = []
        for one in found[:AT_MOST]:
            text = f"'{one.section.spelled}' is packed around the call of '{call.name}' where it has gaps"
            span = executable.statement.span
            remarks.append(Remark(self.program.source.path, span, "FT503", Kind.PASSED, text))
        for one in found[AT_MOST:]:
            refused.append(Refusal("FT518", f"'{one.section.spelled}' is left: {AT_MOST} others are packed"))
        for why in refused:
            remarks.append(self._missed(executable, why))

    def _repacked(self, procedure: Procedure | None) -> frozenset[str]:
        """The dummies that the callee packs itself."""
        if procedure is None:
            return frozenset()
        made, _ = plan(procedure, self.options)
        return frozenset() if made is None else frozenset(p.dummy.symbol.name for p in made.packings)

    def _edit(self, executable: Executable, call: Call, packings: Sequence[PackedActual], view: View) -> Edit:
        from fortrans.emit.layout import comments
        from fortrans.emit.repack_calls import PackedCall

        if self.host is not None:
            raise Refusal("FT008", f"File is included in '{self.host}', where its names may mean more")
        guarded = self.options.openmp and not view.pure
        place = self.program.place(executable)
        kept = comments(place, replace(self.options, comments=False))
        text = PackedCall(call, packings, guarded, self.style, self.options, Fresh(self.words)).lines()
        return Edit(place.span, "".join(line + self.style.newline for line in kept) + text)
