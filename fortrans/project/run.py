"""A run over many files: what is kept from before, and the rest on several processors.

The results come in the order of the files, and are the same whatever the number of processes and
whatever the cache holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from fortrans.options import Options
from fortrans.project.cache import Cache, Cached, keyed
from fortrans.project.facts import Standing, standing
from fortrans.remarks import InputError
from fortrans.result import FileResult
from fortrans.source import Source, file_name

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fortrans.batch import Batch
    from fortrans.project.limit import Over

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
    every = [*sources, *context]
    at = standing(every, means.cache)
    known: dict[int, FileResult | InputError] = dict(at.problems)
    names: dict[int, str] = {}
    if means.cache is not None:
        key = keyed(options)
        for position, source in enumerate(sources):
            if position in known:
                continue
            needs = [at.digests[need] for need in at.needs[position]]
            names[position] = key(at.digests[position], needs, at.hosts.get(file_name(source.path)))
            if (found := means.cache.get(names[position], source.path)) is not None:
                known[position] = FileResult(source, Source(source.path, found.text), found.remarks)
    open_ = [position for position in range(len(sources)) if position not in known]
    fresh = _opened(every, at, open_, options, means)
    with closing(fresh):
        for position in range(len(sources)):
            result = known[position] if position in known else next(fresh)
            if means.cache is not None and position not in known and isinstance(result, FileResult):
                means.cache.put(names[position], Cached(result.output.text, result.remarks))
            done(position + 1, len(sources))
            if isinstance(result, FileResult):
                result = replace(result, needs=tuple(every[need].path for need in at.needs[position]))
            yield result
    if means.cache is not None and means.cache.stored:
        means.cache.trim()


def _opened(
    every: Sequence[Source], at: Standing, positions: Sequence[int], options: Options, means: Means
) -> Generator[FileResult | InputError]:
    """The results of the files at ``positions``, in order; no file is read that none of them needs."""
    if not positions:
        return
    from fortrans.batch import Batch

    wanted = {*positions, *(need for position in positions for need in at.needs[position])}
    order = sorted(wanted)
    read = {program.source: program for program in at.programs.values()}
    batch = Batch.of([every[position] for position in order], read=read)
    batch = replace(batch, hosts=at.hosts)
    place = {position: index for index, position in enumerate(order)}
    fresh = _fresh(batch, [place[position] for position in positions], options, means)
    with closing(fresh):
        yield from fresh


def _fresh(
    batch: Batch, positions: Sequence[int], options: Options, means: Means
) -> Generator[FileResult | InputError]:
    """The results of the files at ``positions``, in order."""
    if means.seconds is not None:
        from fortrans.project.limit import Over, limited


        if positions:
            _warm_up()
        jobs = means.jobs or processors()
        work = partial(batch.rewrite, options=options)
        found = limited(work, positions, jobs, means.seconds)
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
    if jobs < 2 or not hasattr(os, "fork"):
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
    from fortrans.pipeline import rewrite

    rewrite("subroutine s(a, b)\n  real :: a(9), b(9, 9)\n  a = sum(b, 2)\nend subroutine s\n")


_shared: tuple[Batch, Options] | None = None
"""What a forked process works on, set in that process only."""


def _forked(
    batch: Batch, positions: Sequence[int], options: Options, jobs: int
) -> Iterator[FileResult | InputError]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

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
    from fortrans.project.limit import end_with

    end_with(parent)
