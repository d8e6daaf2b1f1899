"""Compiling on several cores: processes that are told what to compile, line by line."""

import importlib
import json
import queue
import subprocess
import sys
import threading
from collections import deque

from nonsmooth.kernels.abi.library import object_of
from nonsmooth.kernels.abi.linking import far_kernels
from nonsmooth.kernels.abi.rows import Row


def compile_in_parallel(kernels, n_worker):
    """Yield each kernel when its object code is in the cache."""
    # Kernels of one module share parts: each worker has a stretch of its own, and
    # takes from the end of another's when that is done.
    ordered = sorted(kernels, key=lambda far: far.symbol)
    part = -(-len(ordered) // n_worker)
    waiting = [deque(ordered[i * part : (i + 1) * part]) for i in range(n_worker)]
    done: queue.Queue = queue.Queue()
    for own in waiting:
        threading.Thread(target=_work, args=(own, waiting, done), daemon=True).start()
    try:
        for _ in kernels:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for own in waiting:
            own.clear()


def _next(own, waiting):
    """Return the next kernel to compile, None if there is none."""
    try:
        return own.popleft() if own else max(waiting, key=len).pop()
    except IndexError:
        return None


def _work(own, waiting, done):
    """Feed one process with kernels until none is left."""
    command = [sys.executable, "-m", "nonsmooth.kernels.abi.workers"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    try:
        with subprocess.Popen(command, text=True, **pipes) as process:
            while far := _next(own, waiting):
                process.stdin.write(json.dumps(_name(far)) + "\n")
                process.stdin.flush()
                if process.stdout.readline().strip() != far.symbol:
                    raise RuntimeError(f"{far.symbol} could not be compiled")
                done.put(far)
            process.stdin.close()
    except (OSError, RuntimeError) as error:
        done.put(error)


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


def main():
    """Compile what standard input names; answer with its symbol."""
    for line in sys.stdin:
        far = _find(*json.loads(line))
        object_of(far)
        print(far.symbol, flush=True)


if __name__ == "__main__":
    main()
