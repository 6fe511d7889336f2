"""A run over many files: what is kept from before, and the rest on several processors.

The results come in the order of the files, and are the same whatever the number of processes and
whatever the cache holds.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from fortrans.batch import Batch
from fortrans.frontend.units import Program
from fortrans.options import Options
from fortrans.pipeline import FileResult, rewrite
from fortrans.project import limit
from fortrans.project.cache import Cache, Cached, digest, key
from fortrans.project.limit import Over
from fortrans.remarks import InputError
from fortrans.source import Source

SMALL = 2000
"""Lines that one process rewrites before another one would have started."""

Done = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Means:
    """What a run may use: ``jobs`` processes (0: one for each processor), and a cache or none.

    ``seconds``: how long the rewriting of one file may take, None for as long as it takes.
    """

    jobs: int = 1
    cache: Cache | None = None
    seconds: float | None = None


def processors() -> int:
    """The processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    sources: Sequence[Source],
    options: Options,
    context: Sequence[Source] = (),
    means: Means | None = None,
    done: Done = lambda count, total: None,
) -> Iterator[FileResult | InputError]:
    """As ``pipeline.rewrite_sources``, with ``means``; ``done`` is told how many files are done."""
    means = means or Means()
    batch = Batch.of(sources, context)
    needs = _needs(batch)
    names = _keys(batch, options, needs) if means.cache is not None else [""] * len(sources)
    known: dict[int, FileResult | InputError] = {}
    if means.cache is not None:
        for position, (source, name) in enumerate(zip(sources, names, strict=True)):
            if name and (found := means.cache.get(name, source.path)) is not None:
                known[position] = FileResult(source, Source(source.path, found.text), found.remarks)
    open_ = [position for position in range(len(sources)) if position not in known]
    fresh = _fresh(batch, open_, options, means)
    with closing(fresh):
        for position, result in enumerate(_merged(len(sources), known, fresh)):
            if means.cache is not None and position not in known and isinstance(result, FileResult):
                means.cache.put(names[position], Cached(result.output.text, result.remarks))
            done(position + 1, len(sources))
            if isinstance(result, FileResult):
                result = replace(result, needs=tuple(need.source.path for need in needs[position]))
            yield result
    if means.cache is not None and means.cache.stored:
        means.cache.trim()


def _merged(
    count: int, known: dict[int, FileResult | InputError], fresh: Iterator[FileResult | InputError]
) -> Iterator[FileResult | InputError]:
    for position in range(count):
        yield known[position] if position in known else next(fresh)


Needs = list[tuple[Program, ...]]


def _needs(batch: Batch) -> Needs:
    """The files that each file depends on."""
    from fortrans.frontend.dependencies import Dependencies

    dependencies = Dependencies(batch.known)
    return [
        () if isinstance(program, InputError) else dependencies.of(program) for program in batch.programs
    ]


def _keys(batch: Batch, options: Options, needs: Needs) -> list[str]:
    """The name of each file's result in the cache; "" where a file has none."""
    digests = {id(program): digest(program.source) for program in batch.known}
    return [
        ""
        if isinstance(program, InputError)
        else key(program.source, [digests[id(need)] for need in mine], options, batch.host(program))
        for program, mine in zip(batch.programs, needs, strict=True)
    ]


def _fresh(
    batch: Batch, positions: Sequence[int], options: Options, means: Means
) -> Generator[FileResult | InputError]:
    """The results of the files at ``positions``, in order."""
    if means.seconds is not None:
        if positions:
            _warm_up()
        jobs = means.jobs or processors()
        work = partial(batch.rewrite, options=options)
        found = limit.limited(work, positions, jobs, means.seconds)
        with closing(found):
            for position, result in zip(positions, found, strict=True):
                yield _late(batch, position, result, means.seconds) if isinstance(result, Over) else result
        return
    size = sum(
        len(program.lines)
        for position in positions
        if not isinstance(program := batch.programs[position], InputError)
    )
    jobs = min(means.jobs or processors(), len(positions), size // SMALL + 1)
    if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
        for position in positions:
            yield batch.rewrite(position, options)
        return
    yield from _forked(batch, positions, options, jobs)


def _late(batch: Batch, position: int, over: Over, seconds: float) -> InputError:
    program = batch.programs[position]
    path = program.path if isinstance(program, InputError) else program.source.path
    if over.killed:
        return InputError(path, "File is left as it was, the process that rewrote it was killed")
    message = f"File is left as it was, rewriting it takes longer than {seconds:g} s (--timeout)"
    return InputError(path, message)


def _warm_up() -> None:
    """Load what rewriting needs, once and not in each process that starts with this one's memory."""
    rewrite("subroutine s(a, b)\n  real :: a(9), b(9, 9)\n  a = sum(b, 2)\nend subroutine s\n")


_shared: tuple[Batch, Options] | None = None
"""What a forked process works on, set in that process only."""


def _forked(
    batch: Batch, positions: Sequence[int], options: Options, jobs: int
) -> Iterator[FileResult | InputError]:
    # A forked process has the parent's memory: what it starts with is not sent.
    start = (batch, options, os.getpid())
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, start)
    try:
        # What is large goes first, so that no processor is left with it at the end.
        order = sorted(positions, key=lambda position: -_weight(batch, position))
        futures: dict[int, Future[FileResult | InputError]] = {
            position: pool.submit(_work, position) for position in order
        }
        for position in positions:
            try:
                yield futures[position].result()
            except BrokenProcessPool:
                # One process was killed, and the pool with it: what is left is done here.
                yield batch.rewrite(position, options)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _weight(batch: Batch, position: int) -> int:
    program = batch.programs[position]
    return 0 if isinstance(program, InputError) else len(program.lines)


def _work(position: int) -> FileResult | InputError:
    assert _shared is not None
    batch, options = _shared
    return batch.rewrite(position, options)


def _begin(batch: Batch, options: Options, parent: int) -> None:
    """What a process does first."""
    global _shared
    _shared = (batch, options)
    limit.end_with(parent)
