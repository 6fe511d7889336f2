"""Files that may not take longer than so many seconds.

Each is rewritten in a process of its own, which is killed when its time is over: also a search in
a library of C ends then, and nothing half done stays behind.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Over:
    """There is no result: the time was over, or (``killed``) something else ended the process."""

    killed: bool = False


@dataclass(frozen=True, slots=True)
class _Running(Generic[Result]):
    position: int
    process: ForkProcess
    deadline: float


def available() -> bool:
    """Whether this system can do it: a process starts with the memory of the one that starts it."""
    return "fork" in multiprocessing.get_all_start_methods()


def limited(
    work: Callable[[int], Result], positions: Sequence[int], jobs: int, seconds: float
) -> Generator[Result | Over]:
    """``work`` of each of the ``positions``, in order, ``jobs`` at a time; what ``work`` raises is raised.

    A result that took longer than ``seconds`` is ``Over``.
    """
    fork = multiprocessing.get_context("fork")
    running: dict[Connection, _Running[Result]] = {}
    ready: dict[int, Result | Over | BaseException] = {}
    waiting = list(reversed(positions))
    try:
        for position in positions:
            while position not in ready:
                while waiting and len(running) < jobs:
                    mine, theirs = fork.Pipe(duplex=False)
                    process = fork.Process(
                        target=_child, args=(theirs, work, waiting[-1], os.getpid()), daemon=True
                    )
                    process.start()
                    theirs.close()
                    running[mine] = _Running(waiting.pop(), process, time.monotonic() + seconds)
                _collect(running, ready)
            match ready.pop(position):
                case BaseException() as problem:
                    raise problem
                case result:
                    yield result
    finally:
        for connection in list(running):
            _end(connection, running)


def _collect(
    running: dict[Connection, _Running[Result]], ready: dict[int, Result | Over | BaseException]
) -> None:
    """Wait until something is ready or over, and put it among what is ``ready``."""
    soonest = min(child.deadline for child in running.values())
    for connection in wait(list(running), max(0.0, soonest - time.monotonic())):
        assert isinstance(connection, Connection)
        position = running[connection].position
        try:
            ready[position] = connection.recv()
        except EOFError:
            ready[position] = Over(killed=True)
        _end(connection, running)
    now = time.monotonic()
    for connection, child in list(running.items()):
        if child.deadline <= now:
            ready[child.position] = Over()
            _end(connection, running)


def _end(connection: Connection, running: dict[Connection, _Running[Result]]) -> None:
    process = running.pop(connection).process
    process.kill()
    process.join()
    connection.close()


def _child(connection: Connection, work: Callable[[int], Result], position: int, parent: int) -> None:
    end_with(parent)
    try:
        found: Result | BaseException = work(position)
    except Exception as problem:  # noqa: BLE001 (raised again where the result is asked for)
        found = problem
    connection.send(found)


def end_with(parent: int) -> None:
    """See to it that this process ends soon after its parent: a killed one cannot tell it to."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
