"""The server of the app: listens on loopback until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import uvicorn

from nonsmooth.app.serve.runs import Runs
from nonsmooth.app.serve.web import application
from nonsmooth.app.serve.worker import Ended
from nonsmooth.caches import cache_root
from nonsmooth.errors import ModelError

HOST = "127.0.0.1"
# Time that what is under way is given to end when the server does, s.
PATIENCE = 5.0
# A token of one's own, so that a page outlives the server; not an option, which other
# users of the machine could read in the list of processes.
TOKEN = "NONSMOOTH_TOKEN"
IS_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,100}")


def serve(
    folder: Path,
    port: int,
    *,
    opens_browser: bool,
    begin: str = "",
    scripts: Sequence[str] = (),
) -> None:
    """Serve the app until Ctrl-C.

    Parameters
    ----------
    folder : Path
        Where model files to pick from are.
    port : int
        Port to listen on; 0 for any that is free.
    opens_browser : bool
        Whether to open the page.
    begin : str
        What the page begins with, as its address says it: "#system=belt".
    scripts : sequence of str
        Python files that define kinds of the user's own.

    Raises
    ------
    ModelError
        There is no such folder, or the port is taken.
    """
    if not folder.is_dir():
        raise ModelError(f"no folder '{folder}'")
    token = _token()
    listener = _listener(port)
    port = listener.getsockname()[1]
    runs = Runs(folder, scripts=scripts)
    config = uvicorn.Config(
        application(folder, port, runs, token),
        log_level="warning",
        lifespan="off",
        ws="none",
        server_header=False,
        # Answers are short; whoever is slow to take one does not hold up the end.
        timeout_graceful_shutdown=1,
    )
    address = f"http://{HOST}:{port}/{token}/{begin}"
    print(f"nonsmooth is at {address} (Ctrl-C ends it)", flush=True)
    with contextlib.ExitStack() as stack:
        stack.callback(listener.close)
        stack.callback(runs.close, PATIENCE)
        if opens_browser:
            place = stack.enter_context(_way_to(address))
            # The socket listens already: a browser that is early waits.
            threading.Thread(target=webbrowser.open, args=(place,), daemon=True).start()
        threading.Thread(target=_warm, args=(runs,), daemon=True).start()
        # Ctrl-C is the way to end it, so not an error.
        with contextlib.suppress(KeyboardInterrupt):
            _Quiet(config).run(sockets=[listener])


class _Quiet(uvicorn.Server):
    """A server that ends without a word about those who were slow to listen."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and let nothing be said of answers that are cut short."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        asyncio.get_running_loop().set_exception_handler(_unheard)
        await super().shutdown(sockets)


def _unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of what goes wrong while the server ends."""


def _warm(runs: Runs) -> None:
    with contextlib.suppress(Ended, OSError):
        runs.warm()


def _token() -> str:
    """Return what an address must have to be answered."""
    given = os.environ.get(TOKEN)
    if given is None:
        return secrets.token_urlsafe(18)
    if not IS_TOKEN.fullmatch(given):
        raise ModelError(
            f"{TOKEN}: {len(given)} letters; give 16 to 100 of A-Z a-z 0-9 - _, or "
            "unset it"
        )
    return given


@contextlib.contextmanager
def _way_to(address: str) -> Generator[str]:
    """Yield the address of a file, for this user only, that leads to the address.

    Other users can read the arguments of a browser, and so would learn the token.
    """
    folder = cache_root()
    path = folder / f"serve-{secrets.token_hex(4)}.html"
    page = (
        '<!doctype html><meta charset="utf-8"><title>nonsmooth</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">nonsmooth</a>'
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600),
            "w",
            encoding="utf-8",
        ) as f:
            f.write(page)
    except OSError:
        # Nowhere to write: the user opens the address that was printed.
        print("open it in a browser", flush=True)
        yield "about:blank"
        return
    try:
        yield path.resolve().as_uri()
    finally:
        path.unlink(missing_ok=True)


def _listener(port: int) -> socket.socket:
    """Return a socket that listens on loopback."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        # A server that has just ended leaves its port behind for a minute. On Windows
        # the option means that two may listen at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        why = "is taken" if not isinstance(error, PermissionError) else "is not allowed"
        raise ModelError(
            f"port {port} {why}; try --port {port + 1 if 1023 < port < 65535 else 8766}"
            ", or --port 0 for any that is free"
        ) from None
    return listener
