"""OpenScop export: the text, the sets that isl reads from it, and Fortran's own iterations."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from openscop_reader import File, Matrix, at, pairs, points, read
from random_nests import draw, lines, run, subroutine

from fortrans.loops.export import Exports, export
from fortrans.options import Options
from fortrans.polyhedral import openscop
from fortrans.polyhedral.scops import Layout
from fortrans.source import Source

isl = pytest.importorskip("islpy")

EVERYTHING = Options(all=True, strict=True)

SEED = """\
subroutine s(A1, P1)
  integer, intent(in) :: P1
  real, intent(inout) :: A1(0:*)
  integer :: i1, M
  M = P1/2
  do i1 = 0, M - 1
    A1(i1 + M) = A1(i1)
    A1(i1/2 + M) = A1(i1)
  end do
end subroutine s
"""
DOMAIN = """\
DOMAIN
4 5 1 0 1 1
# e/i| i1 | l1 | P1 |  1\x20\x20
   1    1    0    0    0    ## i1 >= 0
   1    0   -2    1    0    ## -2*l1+P1 >= 0
   1    0    2   -1    1    ## 2*l1-P1+1 >= 0
   1   -1    1    0   -1    ## -i1+l1-1 >= 0
"""
# The stores of a test of Polymer's (load-store-local-vars), which has a local column more than needed.
POLYMER = (
    Matrix("WRITE", (4, 8, 2, 1, 2, 1), (
        (0, 0, -1, 1, 1, 0, 0, 0), (0, -1, 0, 0, 0, 0, 0, 1), (1, 0, 0, 0, -2, 0, 1, 0),
        (1, 0, 0, 0, 2, 0, -1, 1))),
    Matrix("WRITE", (6, 9, 2, 1, 3, 1), (
        (0, 0, -1, 0, 1, 1, 0, 0, 0), (0, -1, 0, 0, 0, 0, 0, 0, 1), (1, 0, 0, 1, -2, 0, 0, 0, 0),
        (1, 0, 0, -1, 2, 0, 0, 0, 1), (1, 0, 0, 0, 0, -2, 0, 1, 0), (1, 0, 0, 0, 0, 2, 0, -1, 1))),
)  # fmt: skip
BORROWED = Matrix("WRITE", (2, 7, 2, 1, 1, 1), ((0, -1, 0, 0, 0, 0, 1), (0, 0, -1, 1, 1, 0, 0)))


def exported(text: str, layout: Layout | None = None, path: str = "s.f90") -> Exports:
    return export(Source(path, text), EVERYTHING, layout=layout)


def only(text: str, layout: Layout | None = None) -> str:
    found = exported(text, layout)
    assert len(found.files) == 1, [str(remark) for remark in found.remarks]
    return found.files[0].text


# ---- the example of the design note ------------------------------------------------------


def test_the_domain_of_the_example_is_this_text() -> None:
    text = only(SEED)
    assert text.count(DOMAIN) == 2
    remarks = exported(SEED).remarks
    assert [str(remark) for remark in remarks] == [
        "s.f90:6: FT351 [passed] Loop nest of 2 statements is exported as 's.s.6.scop', for P1 >= 0 only"
    ]


def test_the_accesses_of_the_example_are_the_reference_ones() -> None:
    file = read(only(SEED))
    for statement, reference in zip(file.statements, POLYMER):
        kinds = [kind for kind, _ in statement.accesses]
        assert kinds == ["READ", "WRITE"]
        write = statement.accesses[1][1]
        wanted = reference.isl(file.parameters)
        assert write.is_equal(wanted) and write.is_single_valued()
    # A local that an access borrows from its domain is tied to nothing: many elements for one iteration.
    borrowed = BORROWED.isl(file.parameters)
    assert not borrowed.is_single_valued()
    assert file.statements[0].accesses[1][1].is_strict_subset(borrowed)


def test_the_interface_of_a_statement_is_arrays_indices_and_parameters() -> None:
    file = read(only(SEED))
    for statement in file.statements:
        words = set(re.findall(r"[A-Za-z]\w*", statement.body))
        assert words <= {*file.arrays.values(), *statement.iterators, *file.parameters}
    assert file.arrays == {1: "A1"} and file.parameters == ("P1",)


# ---- text -----------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [Layout(), Layout(c_order=False), Layout(promote=True)])
def test_text_data_text(layout: Layout) -> None:
    text = only(SEED, layout)
    data = openscop.loads(text)
    again = openscop.dumps(data)
    assert again == "".join(line for line in text.splitlines(True) if not line.startswith("# Loop nest")
                            and not line.startswith("# Subscripts"))  # fmt: skip
    assert openscop.loads(again) == data


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("4 5 1 0 1 1", "4 6 1 0 1 1", "a number of columns that is the sum of its parts"),
        ("   1    1    0    0    0 ", "   2    1    0    0    0 ", "an equality (0) or inequality (1)"),
        ("   1    1    0    0    0 ", "   1    1    0    x    0 ", "a row of integers"),
        ("   1    1    0    0    0 ", "   1    1    0    0 ", "a row of 5 integers"),
        ("DOMAIN\n", "DOMAINE\n", "the type of a relation"),
        ("</OpenScop>", "", "ends too early"),
        ("<OpenScop>", "<openscop>", "not '<OpenScop>'"),
    ],
)
def test_text_that_is_no_openscop_is_refused(before: str, after: str, message: str) -> None:
    text = only(SEED)
    assert before in text
    with pytest.raises(openscop.NotOpenScop, match=re.escape(message)):
        openscop.loads(text.replace(before, after, 1))


# ---- random nests against Fortran's arithmetic -------------------------------------------

SEEDS = range(30)
VALUES = ({"n": 5, "m": -3}, {"n": 0, "m": 2}, {"n": 8, "m": 7}, {"n": -4, "m": 0}, {"n": 3, "m": -9})


def check(file: File, steps: list[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]],
          values: dict[str, int], reverse: bool) -> None:  # fmt: skip
    """The iterations of a file at these parameters are ``steps``: which, when, and what they touch."""
    found = []
    for statement in file.statements:
        number = int(re.match(r"a(\d+)", statement.body)[1])  # type: ignore[index]
        domain = at(statement.domain, values)
        times = pairs(at(statement.schedule, values), domain)
        accesses = [(kind, pairs(at(relation, values), domain)) for kind, relation in statement.accesses]
        for point in points(domain):
            (time,) = times[point]
            touched = {}
            for kind, relation in accesses:
                ((array, *element),) = relation[point]
                assert file.arrays[array] == f"{'a' if kind == 'WRITE' else 'b'}{number}"
                touched[kind] = tuple(element[::-1] if reverse else element)
            found.append((time, (number, point, touched["WRITE"], touched["READ"])))
    assert [step for _, step in sorted(found)] == steps


@pytest.mark.parametrize("seed", SEEDS)
def test_random_nests_have_the_iterations_and_elements_of_fortran(seed: int) -> None:
    nest, count = draw(seed)
    if not count:
        return
    found = exported(subroutine(nest, count))
    reasons = [remark.message for remark in found.remarks if remark.code == "FT352"]
    assert all("too many cases" in reason or "is ever executed" in reason for reason in reasons)
    if not found.files or any(remark.code == "FT352" for remark in found.remarks):
        return
    file = read(found.files[0].text)
    for values in VALUES:
        inside = not at(file.context, values).is_empty()
        if inside:
            check(file, list(run((nest,), values)), values, reverse=True)
        else:
            assert "only" in found.remarks[0].message
    for statement in file.statements:
        assert all(relation.is_single_valued() for _, relation in statement.accesses)


FIXTURES = Path(__file__).resolve().parent.parent / "fixtures/openscop"


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_fixture(folder: Path, bless: bool) -> None:
    """Each file of golden text, read by isl: accesses of points are functions, writes are exact."""
    path = folder / "nests.f90"
    text = path.read_text("utf-8")
    found = exported(text, path="nests.f90")
    # What rewriting emits has golden text of its own: here it is read, not compared.
    said = "".join(f"{remark}\n" for remark in found.remarks if "Emitted" not in remark.message)
    written = {made.name: made.text for made in found.files if ".emitted" not in made.name}
    assert folder.name != "emitted" or len(found.files) > 3
    for made in found.files:
        file = read(made.text)
        assert made.text.endswith(openscop.dumps(openscop.loads(made.text)))
        words = {*file.parameters, *(name for name in file.arrays.values())}
        for statement in file.statements:
            assert not statement.domain.intersect_params(file.context.params()).is_empty()
            assert statement.schedule.is_injective()
            for kind, relation in statement.accesses:
                whole = "(" not in statement.body.partition("=")[0]
                sliced = whole or ":" in statement.body or "sum(" in statement.body or kind == "READ"
                assert sliced or relation.is_single_valued()
            if ".emitted" in made.name:
                continue
            used = set(re.findall(r"[A-Za-z]\w*", re.sub(r"\b\d\S*|'[^']*'", "", statement.body)))
            calls = set(re.findall(r"([A-Za-z]\w*)\s*\(", statement.body))
            parts = {part for word in words for part in word.split("%")}
            implied = set(re.findall(r"(\w+) = ", statement.body.partition(" = ")[2]))
            assert used - calls - parts - implied <= {*statement.iterators}
    if bless:
        for old in folder.glob("*.scop"):
            old.unlink()
        for name, content in written.items():
            (folder / name).write_text(content, "utf-8")
        (folder / "remarks.txt").write_text(said, "utf-8")
        return
    assert said == (folder / "remarks.txt").read_text("utf-8")
    golden = {old.name: old.read_text("utf-8") for old in folder.glob("*.scop")}
    assert written == golden


def test_the_evaluator_says_what_gfortran_says(tmp_path: Path) -> None:
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran here")
    nests = [nest for nest, count in map(draw, range(30)) if count]
    body, wanted = [], []
    for nest in nests:
        for values in VALUES:
            body += [f"  n = {values['n']}; m = {values['m']}", *lines((nest,), 1, trace=True)]
            wanted += [[s, *w, *r] for s, _, w, r in run((nest,), values)]
    source = tmp_path / "trace.f90"
    text = "program trace\n  integer :: n, m, i, j, k\n" + "\n".join(body) + "\nend program trace\n"
    source.write_text(text)
    flags = ("-O0", "-w", "-ffree-line-length-none")
    subprocess.run([compiler, *flags, source, "-o", tmp_path / "trace"], check=True)
    output = subprocess.check_output([tmp_path / "trace"], text=True)
    assert [list(map(int, line.split())) for line in output.splitlines()] == wanted
    assert len(wanted) > 500


@pytest.mark.parametrize("seed", range(12))
def test_promotion_keeps_iterations_and_elements(seed: int) -> None:
    nest, count = draw(seed)
    found = exported(subroutine(nest, count), Layout(promote=True, c_order=False)) if count else Exports()
    if not found.files or any(remark.code == "FT352" for remark in found.remarks):
        return
    file = read(found.files[0].text)
    plain = read(exported(subroutine(nest, count)).files[0].text)
    for values in VALUES[:3]:
        for short, long in zip(plain.statements, file.statements, strict=True):
            assert not any(long.locals)
            depth = len(short.iterators)
            more = _promoted(file, values)
            if more is None:
                continue
            domain, whole = at(short.domain, values), at(long.domain, more)
            assert [point[:depth] for point in points(whole)] == points(domain)
            for (kind, before), (other, after) in zip(short.accesses, long.accesses):
                assert kind == other
                wanted = pairs(at(before, values), domain)
                for point, elements in pairs(at(after, more), whole).items():
                    ((array, *element),) = wanted[point[:depth]]
                    assert elements == [(array, *element[::-1])]


def _promoted(file: File, values: dict[str, int]) -> dict[str, int] | None:
    """The values that the context gives to the parameters that are quotients; None outside it."""
    context = file.context
    for name, value in values.items():
        if name in file.parameters:
            context = context.fix_val(isl.dim_type.param, file.parameters.index(name), value)
    moved = context.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, len(file.parameters))
    found = points(moved)
    assert len(found) <= 1
    return dict(zip(file.parameters, found[0])) | values if found else None
