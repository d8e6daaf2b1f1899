"""A process that computes for the server, and the server's end of the pipe to it.

What crashes there, in compiled code or for want of memory, does not take the server
along, and what does not listen can be ended. The process stays from task to task,
since it takes half a second to start and its solver is loaded. Tasks are the functions
of `tasks`; a task is heard of by what it passes to `tell`, and asks `is_cancelled`.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

# Between looks at the pipe, s; what a cancelled task may take to hear of it, s.
TICK, GRACE = 0.03, 0.8
CANCEL, HEARD, DONE, FAILED = "cancel", "heard", "done", "failed"


class Died(Exception):
    """The process ended under its task; says how."""


class Ended(Exception):
    """The process was ended: its task was cancelled, and did not hear of it."""


class Worker:
    """A process that does one task at a time; it is started when it is needed."""

    def __init__(self, scripts: Sequence[str] = ()) -> None:
        self._scripts = tuple(scripts)
        self._process: Any = None
        self._pipe: Any = None
        self._lock = threading.Lock()  # of starting and ending
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        process = self._process
        return None if process is None else process.pid

    def start(self) -> None:
        """Start the process, if there is none."""
        with self._lock:
            if self._is_closed:
                raise Ended
            if self._process is not None and self._process.is_alive():
                return
            self._drop()
            # A copy of this process would have its locks, as they happen to be.
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(
                target=_main, args=(theirs, self._scripts), daemon=True
            )
            self._process.start()
            theirs.close()

    def ask(
        self,
        task: str,
        arguments: Sequence[Any],
        hear: Callable[..., None],
        is_cancelled: Callable[[], bool],
        is_dropped: Callable[[], bool] = lambda: False,
    ) -> Any:
        """Have a task done; return its answer.

        One that is cancelled is told so; one that is dropped is ended at once.

        Raises
        ------
        Died
            The process ended by itself.
        Ended
            The task was cancelled and did not hear of it in time, or this was closed.
        Exception
            What the task raised.
        """
        self.start()
        pipe, process = self._pipe, self._process
        late = math.inf  # when it has to have heard of its end
        is_told = False
        try:
            pipe.send((task, tuple(arguments)))
            while True:
                # One at a time: what tells much is cancelled all the same.
                if pipe.poll(TICK):
                    kind, *rest = pipe.recv()
                    if kind == DONE:
                        return rest[0]
                    if kind == FAILED:
                        raise rest[0]
                    if kind == HEARD:
                        late = math.inf
                        hear(HEARD)
                    else:
                        hear(kind, *rest)
                if not is_told and is_cancelled():
                    pipe.send(CANCEL)
                    is_told, late = True, time.monotonic() + GRACE
                if is_dropped() or time.monotonic() > late:
                    self.end()
                    raise Ended
        except (EOFError, OSError):
            process.join(1.0)
            if self._is_closed:
                raise Ended from None
            self.end()
            raise Died(_how(process.exitcode)) from None

    def end(self) -> None:
        """End the process; the next task starts another."""
        with self._lock:
            self._drop()

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        self.end()

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            # Whoever waits is told; it may take longer to give back its memory.
            process.join(0.2)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"by signal {-code}, {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"
    return f"with code {code}"


# ---- the other end -------------------------------------------------------------


class Task:
    """What a task may do: tell the server, and ask whether to go on."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._sending = threading.Lock()
        self._cancelled = threading.Event()

    def tell(self, *message: Any) -> None:
        """Send a message."""
        with self._sending:
            self._pipe.send(message)

    def is_cancelled(self) -> bool:
        """Return whether the task is to end; whoever asks ends it."""
        if self._cancelled.is_set():
            self.tell(HEARD)
            return True
        return False

    def listen(self, asked: queue.SimpleQueue[Any]) -> None:
        """Receive until the server has gone."""
        try:
            while True:
                message = self._pipe.recv()
                if message == CANCEL:
                    self._cancelled.set()
                else:
                    # Messages keep their order, so that this is never a later cancel.
                    self._cancelled.clear()
                    asked.put(message)
        except (EOFError, OSError):
            os._exit(0)


def _main(pipe: Connection, scripts: Sequence[str]) -> None:
    """Do tasks until the server has gone."""
    # Ctrl-C in a terminal is for all processes; this one is ended by the server.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from nonsmooth.app.imports import import_script
    from nonsmooth.app.serve import tasks

    task, asked = Task(pipe), queue.SimpleQueue[Any]()
    threading.Thread(target=task.listen, args=(asked,), daemon=True).start()
    for script in scripts:
        import_script(script)
    tasks.load()
    while True:
        name, arguments = asked.get()
        try:
            answer = getattr(tasks, name)(task, *arguments)
        except Exception as error:
            message = FAILED, tasks.portable(error)
        else:
            message = DONE, answer
        try:
            task.tell(*message)
        except OSError:  # the server has gone
            os._exit(0)
