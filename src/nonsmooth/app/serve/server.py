"""The server of the app: listens on loopback until Ctrl-C."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn

from nonsmooth.app.serve.runs import Runs
from nonsmooth.app.serve.web import application
from nonsmooth.errors import ModelError

HOST = "127.0.0.1"
# Time that a run under way is given to end when the server does, s.
PATIENCE = 2.0


def serve(folder: Path, port: int, *, opens_browser: bool) -> None:
    """Serve the app until Ctrl-C.

    Parameters
    ----------
    folder : Path
        Where model files to pick from are.
    port : int
        Port to listen on; 0 for any that is free.
    opens_browser : bool
        Whether to open the page.

    Raises
    ------
    ModelError
        There is no such folder, or the port is taken.
    """
    if not folder.is_dir():
        raise ModelError(f"no folder '{folder}'")
    listener = _listener(port)
    port = listener.getsockname()[1]
    runs = Runs(folder)
    config = uvicorn.Config(
        application(folder, port, runs),
        log_level="warning",
        lifespan="off",
        ws="none",
        server_header=False,
        # Answers are short; whoever is slow to take one does not hold up the end.
        timeout_graceful_shutdown=1,
    )
    address = f"http://{HOST}:{port}/"
    print(f"nonsmooth is at {address} (Ctrl-C ends it)", flush=True)
    if opens_browser:
        # The socket listens already: a browser that is early waits.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        # The way to end it, so not an error.
        pass
    finally:
        listener.close()
        if not runs.close(PATIENCE):
            # The worker compiles, in code that does not come back before it is done;
            # to leave under it would crash.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


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
