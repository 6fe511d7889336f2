"""Verdicts on overlap: the table of cases, and thousands of random ones against a simulation."""

from __future__ import annotations

import os
import random
import sys

import pytest
from arithmetic import drawn, read, value
from simulate import Case

from fortrans.ir.expr import Expr, Name, names
from fortrans.polyhedral import exact
from fortrans.polyhedral.affine import Facts
from fortrans.polyhedral.conflicts import Nest, Pair
from fortrans.polyhedral.verdict import Kind, Verdict, decide

CASES = int(os.environ.get("FORTRANS_VERDICTS", "60"))
"""How many random cases each seed draws; a long run sets it to thousands."""


def nest(loops: str, equal: str = "", least: dict[str, int] | None = None, stride: str = "") -> Nest:
    pairs = [tuple(read(x) for x in pair.split("==")) for pair in equal.split(";") if pair]
    return Nest(
        tuple((name.strip(), read(extent)) for name, extent in (x.split("=") for x in loops.split(";"))),
        tuple((x, y) for x, y in pairs),
        frozenset({Name(stride)} if stride else ()),
        Facts(least={Name(name): number for name, number in (least or {}).items()}),
    )


def indices(text: str) -> tuple[Expr, ...]:
    return tuple(read(x) for x in text.split(";"))


def pair(written: str, what: str) -> Pair:
    """``subscripts [if test, not test] [all k=extent]``"""
    what, _, inner = what.partition(" all ")
    what, _, tests = what.partition(" if ")
    return Pair(
        indices(written),
        indices(what),
        tuple(
            (read(t.removeprefix("not ").strip()), not t.strip().startswith("not "))
            for t in tests.split(" and ")
            if t
        ),
        tuple((x.split("=")[0], read(x.split("=")[1])) for x in inner.split(" and ") if x),
    )


TABLE = [
    # name, loops outermost first, written, reads, verdict, further arguments of nest
    ("a(1:n/2) = a(n/2+1:n/2*2)", "i=n/2", "i", ["n/2+i"], "disjoint", {}),
    ("the same for n >= 0", "i=n/2", "i", ["n/2+i"], "disjoint", {"least": {"n": 0}}),
    ("a(1:m) = a(2:m+1)", "i=m", "i", ["i+1"], "ordered i+", {}),
    ("a(2:m+1) = a(1:m)", "i=m", "i+1", ["i"], "ordered i-", {}),
    ("a(1:n:2) = a(2:n:2)", "i=(n+1)/2", "2*i-1", ["2*i"], "disjoint", {}),
    ("a(1:n) = a(1:n)*2", "i=n", "i", ["i"], "identity", {}),
    ("a(n:1:-1) = a(1:n)", "i=n", "n+1-i", ["i"], "swapped i", {}),
    ("a(1:n/2) = a(n:n-n/2+1:-1)", "i=n/2", "i", ["n+1-i"], "disjoint", {}),
    ("a(:,j) = a(:,k)", "i=n", "i;j", ["i;k"], "identity", {}),
    ("a(1:n) = a(1+k:n+k)", "i=n", "i", ["i+k"], "guarded i+ / i-", {}),
    ("a(1:n) = a(1+k:n+k), k >= 1", "i=n", "i", ["i+k"], "ordered i+", {"least": {"k": 1}}),
    ("a = transpose(a)", "j=m;i=n", "i;j", ["j;i"], "swapped j,i", {"equal": "n==m"}),
    ("a(1,2:) = a(2:,1)", "j=n-1", "1;j+1", ["j+1;1"], "disjoint", {}),
    ("a(2:,:) = a(:n-1,:)", "j=m;i=n-1", "i+1;j", ["i;j"], "ordered j i-", {}),
    ("a(2:n-1,2:m-1) = a(3:n,1:m-2)", "j=m-2;i=n-2", "i+1;j+1", ["i+2;j"], "ordered j- i", {}),
    ("five points, two of them", "j=m;i=n-2", "i+1;j", ["i;j", "i+2;j"], "strip 1 at 1", {}),
    ("a(i,j) = a(i-1,j) + a(i,j-1)", "j=m;i=n", "i+1;j+1", ["i;j+1", "i+1;j"], "ordered j- i-", {}),
    ("a(i,j) = a(i-1,j+1) + a(i,j-1)", "j=m;i=n", "i+1;j+1", ["i;j+2", "i+1;j"], "strip 1 at 0", {}),
    ("a(idx) = a", "i=n", "idx(i)", ["i"], "temporary", {}),
    ("a(idx) = a(idx) + 1", "i=n", "idx(i)", ["idx(i)"], "identity", {}),
    ("a(idx,1) = a(:,2)", "i=n", "idx(i);1", ["i;2"], "disjoint", {}),
    ("a(1:n:s) = a(1:n:s) + 1", "i=(n+s-1)/s", "s*(i-1)+1", ["s*(i-1)+1"], "identity", {}),
    ("a(1:n:s) = a(1+s:n+s:s)", "i=n", "s*(i-1)+1", ["s*i+1"], "ordered i+", {"stride": "s"}),
    ("a(1:2*n:2) = a(1:n)", "i=n", "2*i-1", ["i"], "ordered i-", {}),
    ("a(1:n) = a(1:2*n:2)", "i=n", "i", ["2*i-1"], "ordered i+", {}),
    ("w = (i+1)/2 + n, r = i", "i=n", "(i+1)/2+n", ["i"], "disjoint", {}),
    ("a(i) = a(i/2)", "i=n", "i", ["i/2"], "ordered i-", {}),
    ("parity", "i=2*n", "i", ["i+1-2*mod(i+1,2)"], "strip 1 at 0", {}),
    ("row 1 = rows 2 and 3", "j=n", "1;j", ["2;j", "3;j"], "disjoint", {}),
    ("a = cshift(a,1)", "i=n", "i", ["i+1 if i<=n-1", "i-n+1 if not i<=n-1"], "save 1 in i+", {}),
    ("a = cshift(a,-1)", "i=n", "i", ["i-1 if not i<=1", "i+n-1 if i<=1"], "save 1 in i-", {}),
    (
        "a = cshift(a,s)",
        "i=n",
        "i",
        ["i+modulo(s,n) if i<=n-modulo(s,n)", "i+modulo(s,n)-n if not i<=n-modulo(s,n)"],
        "save 1 in i+",
        {},
    ),
    ("a = eoshift(a,1)", "i=n", "i", ["i+1 if i<=n-1"], "ordered i+", {}),
    (
        "a = cshift(a,1,dim=2)",
        "j=m;i=n",
        "i;j",
        ["i;j+1 if j<=m-1", "i;j-m+1 if not j<=m-1"],
        "save 1 in j+ i",
        {},
    ),
    (
        "a = cshift(a,1,dim=1)",
        "j=m;i=n",
        "i;j",
        ["i+1;j if i<=n-1", "i-n+1;j if not i<=n-1"],
        "save 1 in j i+",
        {},
    ),
    ("cshift of 8 by modulo", "i=8", "i", ["modulo(i,8)+1"], "strip 1 at 0", {}),
    ("cshift by modulo of n", "i=n", "i", ["modulo(i-1+s,n)+1"], "temporary", {}),
    (
        "a = reshape(reshape(a,[8,3]),[4,6])",
        "j=6;i=4",
        "i;j",
        [
            "modulo(modulo(i-1+4*(j-1),8)+8*((i-1+4*(j-1))/8),4)+1;(modulo(i-1+4*(j-1),8)+8*((i-1+4*(j-1))/8))/4+1"
        ],
        "identity",
        {},
    ),
    (
        "a = reshape(a,shape(a))",
        "j=m;i=n",
        "i;j",
        ["modulo(i-1+n*(j-1),n)+1;(i-1+n*(j-1))/n+1"],
        "identity",
        {},
    ),
    (
        "a(n,m) = reshape(a,[n,m],order=[2,1])",
        "j=m;i=n",
        "i;j",
        ["modulo(j-1+m*(i-1),n)+1;(j-1+m*(i-1))/n+1"],
        "temporary",
        {},
    ),
    (
        "a(4,6) = reshape(a,[4,6],order=[2,1])",
        "j=6;i=4",
        "i;j",
        ["modulo(j-1+6*(i-1),4)+1;(j-1+6*(i-1))/4+1"],
        "temporary",
        {},
    ),
    ("a(:,1) = sum(a,dim=2)", "i=n", "i;1", ["i;k all k=m"], "identity", {}),
    ("a(:,1) = matmul(b,a(:,1))", "i=n", "i;1", ["k;1 all k=n"], "temporary", {}),
    ("a(:,2) = matmul(b,a(:,1))", "i=n", "i;2", ["k;1 all k=n"], "disjoint", {}),
    ("a = spread(a(1,:),1,n)", "j=m;i=n", "i;j", ["1;j"], "ordered j i-", {}),
    ("a = spread(a(k,:),1,n)", "j=m;i=n", "i;j", ["k;j"], "save 1 in j i", {}),
    ("(a(i-1) + a(i) + a(i+1))/3", "i=n-2", "i+1", ["i", "i+1", "i+2"], "strip 1 at 0", {}),
    ("a = (a + transpose(a))/2", "j=n;i=m", "i;j", ["i;j", "j;i"], "swapped j,i", {"equal": "m==n"}),
    ("a(1:k) = a(n/2+1:n), conformity", "i=k", "i", ["n-k+i"], "disjoint", {"equal": "k==n/2"}),
    ("a = a(n:1:-1,:)", "j=m;i=n", "i;j", ["n+1-i;j"], "swapped i", {}),
]


def told(verdict: Verdict) -> str:
    """A verdict in a few words."""
    steps = " ".join(name + {0: "", 1: "+", -1: "-"}[sign] for name, sign in verdict.steps)
    match verdict.kind:
        case Kind.ORDERED:
            return f"ordered {steps}"
        case Kind.GUARDED:
            assert verdict.otherwise is not None
            return f"guarded {steps} / {told(verdict.otherwise).removeprefix('ordered ')}"
        case Kind.SWAPPED:
            assert verdict.mirror is not None
            other = f",{verdict.mirror.other}" if verdict.mirror.other else ""
            return f"swapped {verdict.mirror.index}{other}"
        case Kind.BUFFERED if verdict.lag is not None:
            return f"strip {verdict.lag} at {verdict.depth}"
        case Kind.BUFFERED:
            return f"save {len(verdict.late)} in {steps}"
        case kind:
            return kind.value


@pytest.mark.parametrize("name,loops,written,reads,expected,more", TABLE, ids=[row[0] for row in TABLE])
def test_table(name: str, loops: str, written: str, reads: list[str], expected: str, more: dict) -> None:  # type: ignore[type-arg]
    found = decide([pair(written, x) for x in reads], nest(loops, **more))
    assert told(found).startswith(expected) or told(found) == expected


RIGHT = [row for row in TABLE if "modulo(i-1+s" not in row[3][0]]


@pytest.mark.parametrize("blocked", [False, True], ids=["isl", "no isl"])
@pytest.mark.parametrize("row", RIGHT, ids=[row[0] for row in RIGHT])
def test_table_by_simulation(row: tuple, blocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[type-arg]
    if blocked:
        monkeypatch.setitem(sys.modules, "islpy", None)
    _, loops, written, reads, _, more = row
    pairs, loop_nest = [pair(written, x) for x in reads], nest(loops, **more)
    verdict = decide(pairs, loop_nest)
    rng = random.Random(5)
    for n in range(7):
        for m in range(5):
            for k in range(-3, 4):
                values = {"n": n, "m": m, "k": k, "s": k or 2, "j": 1}
                if any(values[name] < low for name, low in (more.get("least") or {}).items()):
                    continue
                if "stride" not in more and "(n+s-1)/s" in loops and k < 1:
                    continue
                if all(value(x, values) == value(y, values) for x, y in loop_nest.equal):
                    check(pairs, loop_nest, verdict, values, rng)


def check(
    pairs: list[Pair], loop_nest: Nest, verdict: Verdict, values: dict[str, int], rng: random.Random
) -> bool:
    try:
        case = Case(loop_nest, pairs, values)
    except ZeroDivisionError:
        return False
    if not case.points or not case.distinct:
        return False
    expected = case.expected()
    for _ in range(2):
        assert case.run(verdict, rng) == expected, (verdict, loop_nest, pairs, values)
    return True


def drawn_case(rng: random.Random) -> tuple[list[Pair], Nest]:
    """Random loops; a section on the left, anything on the right, under tests now and then."""
    rank = rng.choice([1, 1, 2, 2, 3])
    loops = ("j3", "j2", "j1")[3 - rank :]
    extents = ["n", "m", "n-1", "n/2", "3", "n+m", "2*n-3", "(n+1)/2", "m-k", "max(n,0)"]
    spans = tuple((name, read(rng.choice(extents))) for name in loops)

    def own(name: str) -> str:
        step = rng.choice(["1", "1", "1", "2", "-1", "-2", "3"])
        return f"{step}*{name}+{rng.choice(['0', '1', 'n', 'k', 'n/2', '2'])}"

    written = [own(name) for name in reversed(loops)]
    if rng.random() < 0.2:
        written.append(rng.choice(["1", "k"]))
    if rng.random() < 0.08:
        written[0] = f"idx({loops[-1]})"

    def other(at: int) -> Expr:
        roll = rng.random()
        if roll < 0.35:
            return read(written[at])
        if roll < 0.6:
            return read(f"{written[at]}+{rng.choice(['1', '-1', '2', '-2', 'k', 'n', '-n', 'm'])}")
        if roll < 0.7:
            return read(f"n+1-{rng.choice(loops)}")
        if roll < 0.8:
            return read(rng.choice(loops))
        if roll < 0.85:
            return read(f"{rng.choice(['1', 'k'])}")
        return drawn(rng, 2, (*loops, "n", "k"))

    pairs = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        tests: tuple[tuple[Expr, bool], ...] = ()
        if rng.random() < 0.25:
            limit = rng.choice(["n-1", "1", "k", "n-k", "m", "n/2"])
            tests = ((read(f"{rng.choice(loops)} <= {limit}"), rng.random() < 0.5),)
        subscripts = tuple(other(at) for at in range(len(written)))
        inner: tuple[tuple[str, Expr], ...] = ()
        if rng.random() < 0.12:
            inner = (("q", read(rng.choice(["n", "m", "k"]))),)
            at = rng.randrange(len(subscripts))
            subscripts = tuple(Name("q") if i == at else x for i, x in enumerate(subscripts))
        pairs.append(Pair(tuple(read(x) for x in written), subscripts, tests, inner))
    equal = ()
    if rng.random() < 0.3:
        extent = rng.choice(spans)[1]
        equal = ((extent, read(rng.choice(["m", "m+k", "2*k", "m+1", "n"]))),)
    return pairs, Nest(spans, equal)


@pytest.mark.parametrize("blocked", [False, True], ids=["isl", "no isl"])
@pytest.mark.parametrize("seed", range(4))
def test_random_cases(seed: int, blocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if blocked:
        monkeypatch.setattr(exact, "isl_or_none", lambda: None)
        monkeypatch.setitem(sys.modules, "islpy", None)
    rng = random.Random(seed + 100 * blocked)
    seen: dict[str, int] = {}
    for _ in range(CASES):
        pairs, loop_nest = drawn_case(rng)
        verdict = decide(pairs, loop_nest)
        seen[verdict.kind.value] = seen.get(verdict.kind.value, 0) + 1
        for _ in range(12):
            values = {"n": rng.randint(-1, 6), "m": rng.randint(-1, 5), "k": rng.randint(-3, 5)}
            # Extents that conform are equal numbers of elements.
            if all(max(value(x, values), 0) == max(value(y, values), 0) for x, y in loop_nest.equal):
                check(pairs, loop_nest, verdict, values, rng)
    if CASES >= 250:
        assert {"ordered", "identity", "disjoint", "temporary", "buffered"} <= set(seen)


def test_without_islpy_the_answer_is_conservative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    reads = ["modulo(i-1+4*(j-1),8)+1;(i-1+4*(j-1))/8+1"]
    assert decide([pair("i;j", reads[0])], nest("j=6;i=4")).kind is Kind.TEMPORARY
    assert decide([pair("i", "i+1")], nest("i=n")).kind is Kind.ORDERED


def test_a_question_that_costs_too_much_is_answered_conservatively(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "MOST_OPERATIONS", 1)
    row = next(r for r in TABLE if r[0].startswith("a = reshape(reshape"))
    assert decide([pair(row[2], row[3][0])], nest(row[1])).kind is Kind.TEMPORARY


def test_names_of_indices_are_all_that_moves() -> None:
    assert names(read("n+idx(i)")) == {"n", "idx", "i"}
