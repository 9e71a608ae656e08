"""Read files in a separate process, within limits of time and memory.

A hostile file cannot hang or exhaust the program that reads it: its process is ended,
and the next file gets a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any, TypeVar, cast

from oprag.files.text import NoTextError

T = TypeVar("T")

SECONDS = 20.0
"""Processor time to read any file, on systems that can count it. So a busy machine
makes no file fail that is otherwise read in time."""
SECONDS_PER_MB = 10.0
"""Further time for its size, unpacked; PDF pages full of text take about 2."""
WAITING = 20
"""Limit by the clock, as a multiple of that time: waiting for a disk uses no CPU."""
MEMORY = 3 << 30
"""Bytes of memory that the process may have, on systems that can limit it."""

_COUNTS_PROCESSOR = hasattr(signal, "setitimer")

_MAIN = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from oprag.files.worker import main; main()"
)


class _Worker:
    """A process that calls functions, one at a time, and is started when needed."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self._end)

    def call(self, seconds: float, function: Callable[..., T], *given: Any) -> T:
        with self._turn:
            process = self._running()
            waiting = seconds * WAITING if _COUNTS_PROCESSOR else seconds
            until = time.monotonic() + waiting
            try:
                _send(process.stdin, (seconds, waiting, function, given))
                answer = _receive(process.stdout)
            except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
                late = time.monotonic() >= until or _ran_out_of_time(process)
                self._end()
                within = f"cannot be read within {seconds:.0f} seconds"
                crashed = "cannot be read: it crashed its reader"
                raise NoTextError(within if late else crashed) from error
            except BaseException:  # half an answer may be left in the pipe
                self._end()
                raise
        if isinstance(answer, BaseException):
            raise answer
        return cast("T", answer)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            # A process that was forked off may not use the pipes of its parent.
            self._process.returncode, self._process = 0, None
        if self._process is None:
            self._owner = os.getpid()
            self._process = subprocess.Popen(  # noqa: S603 -- our own code
                [sys.executable, "-c", _MAIN, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # where libraries complain
                start_new_session=True,  # Ctrl-C is for the program
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()


_WORKER = _Worker()


def within_limits(size: int, function: Callable[..., T], *given: Any) -> T:
    """Call a function of this package in the process that reads files.

    Args:
        size: Bytes that are read, which set the time that it may take.
        function: A function of a module.
        *given: Its arguments. They can be pickled, and so can its result.

    Raises:
        NoTextError: It took too long or too much memory, or the process crashed.
        Exception: The error that the function raised.
    """
    return _WORKER.call(SECONDS + SECONDS_PER_MB * size / 1e6, function, *given)


def main() -> None:
    """Call the functions that are asked for on standard input, until it ends."""
    _limit_memory()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but answers goes there
    while True:
        try:
            seconds, waiting, function, given = _receive(asked)
        except EOFError:
            return
        # It ends by itself: who asked may have been killed.
        _limit_processor(seconds)
        faulthandler.dump_traceback_later(waiting, exit=True)
        try:
            answer = function(*given)
        except MemoryError:
            message = f"needs more than {MEMORY >> 30} GB of memory to be read"
            answer = NoTextError(message)
        except Exception as error:  # noqa: BLE001 -- raised in the process that asked
            answer = error
        faulthandler.cancel_dump_traceback_later()
        _limit_processor(0)
        _answer(answers, answer)


def _answer(answers: IO[bytes], answer: object) -> None:
    """Send an answer; in the place of an error that cannot be sent, its name."""
    try:
        pickled = pickle.dumps(answer)
    except Exception:  # noqa: BLE001 -- errors of libraries may hold anything
        reason = f"cannot be read: its reader failed ({type(answer).__name__})"
        pickled = pickle.dumps(NoTextError(reason))
    answers.write(pickled)
    answers.flush()


def _limit_processor(seconds: float) -> None:
    """End this process after so many seconds of processor time; 0 for no limit."""
    if _COUNTS_PROCESSOR:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _ran_out_of_time(process: subprocess.Popen[bytes]) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return _COUNTS_PROCESSOR and process.wait(1) == -signal.SIGPROF
    return False


def _limit_memory() -> None:
    # Windows has no such limit and macOS refuses it: there, time alone is limited.
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        allowed = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def _send(pipe: IO[bytes] | None, value: object) -> None:
    assert pipe is not None  # noqa: S101 -- opened with the process
    pickle.dump(value, pipe)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None  # noqa: S101 -- as above
    return pickle.load(pipe)  # noqa: S301 -- our own process
