"""Compiling on several cores: processes that are told what to compile, line by line."""

import base64
import gc
import importlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

from nonsmooth.kernels.abi.linking import far_kernels
from nonsmooth.kernels.abi.rows import Row


def compile_in_parallel(kernels, n_worker):
    """Yield each kernel with its object code, when that is done."""
    # Kernels of one module share parts: each worker has a stretch of its own, and
    # takes from the end of another's when that is done.
    ordered = sorted(kernels, key=lambda far: far.symbol)
    part = -(-len(ordered) // n_worker)
    waiting = [deque(ordered[i * part : (i + 1) * part]) for i in range(n_worker)]
    done: queue.Queue = queue.Queue()
    shared = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    command = [sys.executable, "-m", "nonsmooth.kernels.abi.workers", shared.name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes: list[subprocess.Popen] = []
    try:
        for own in waiting:
            # Ctrl-C is for us, who then end them.
            process = subprocess.Popen(
                command, text=True, start_new_session=True, **pipes
            )
            processes.append(process)
            work = threading.Thread(target=_work, args=(process, own, waiting, done))
            work.daemon = True
            work.start()
        for _ in kernels:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
        shared.cleanup()


def _next(own, waiting):
    """Return the next kernel to compile, None if there is none."""
    try:
        return own.popleft() if own else max(waiting, key=len).pop()
    except IndexError:
        return None


def _work(process, own, waiting, done):
    """Feed one process with kernels until none is left."""
    far = None
    try:
        while far := _next(own, waiting):
            process.stdin.write(json.dumps(_name(far)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise OSError("the compiling process has ended")
            done.put((far, base64.b64decode(line)))
    except (OSError, ValueError) as error:
        done.put(RuntimeError(f"{far and far.symbol} could not be compiled: {error}"))


def _name(far):
    function = far.py_func
    family = far.family if isinstance(far, Row) else None
    return family, function.__module__, function.__qualname__, far.symbol


def _find(family, module, name, symbol):
    found = importlib.import_module(module)
    if family is None:
        return far_kernels[symbol]
    for part in name.split("."):
        found = getattr(found, part)
    return Row(family, found)


def main(folder):
    """Compile what standard input names; answer with its object code.

    Parts are shared with others in a folder.
    """
    # Numba sets up coloured messages for each of the many it makes and never shows.
    sys.modules["colorama"] = None  # pyright: ignore[reportArgumentType]
    from nonsmooth.kernels.abi import parts
    from nonsmooth.kernels.abi.compiler import compile_object

    parts.share(Path(folder))
    # Garbage is what a kernel leaves behind, many small objects. Looking at older ones
    # as well, as Python does by itself, takes an eighth of the time.
    gc.disable()
    gc.freeze()
    for line in sys.stdin:
        data = compile_object(_find(*json.loads(line)))
        print(base64.b64encode(data).decode(), flush=True)
        gc.collect(0)


if __name__ == "__main__":
    try:
        with suppress(BrokenPipeError):  # whoever asked has gone
            main(sys.argv[1])
    finally:  # and may have been killed, so that nobody else tidies up
        shutil.rmtree(sys.argv[1], ignore_errors=True)
    os._exit(0)  # at once: there is nothing to be tidied up
