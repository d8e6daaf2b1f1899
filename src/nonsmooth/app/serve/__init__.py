"""The app: a local server that runs simulations for a page in the browser.

    nonsmooth serve models

It listens on 127.0.0.1 and nowhere else. Answers are JSON unless noted:

    GET    /                       the page
    GET    /static/NAME            the viewer's build
    GET    /api/systems            the gallery: names, stories, parameters with ranges
    GET    /api/files              model files in the folder
    POST   /api/check              can this be built? {ok, title, parameters} or
                                   {ok: false, error, field}
    POST   /api/runs               start a run: {id}
    GET    /api/runs               all runs, and a token of this server
    GET    /api/runs/ID            {state, progress, phase, message, seconds, ...}
    DELETE /api/runs/ID            forget it, after cancelling it
    POST   /api/runs/ID/cancel     end it early; what was computed is kept
    GET    /api/runs/ID/scene      the scene document (bytes; see views.scene)
    GET    /api/runs/ID/report     the report (HTML, to be saved)

A check or a run is asked for by an object with these fields:

    system, file or text    one of them: a gallery system, a file in the folder, a model
    format                  of a text: yaml (default) or json
    name                    of a text, to show
    parameters              of a system by name; of elements as in crank.mass
    until                   s; a system knows a sensible one
    options                 method, rtol, atol, step, max_step, scheme, branch,
                            baumgarte ([alpha, beta]), assemble

States are queued, running, finished, stopped (by an event of the model, or by this
server for want of memory), failed and cancelled. An error is {"error": "..."}, with
"field" where one is at fault: 400 not JSON, 403 not allowed, 404 not there, 409 too
early, 413 too large, 415 wrong content type, 422 not valid, 429 too much at once.

Limits: a request 1 MB; 4 checks at once; 8 runs wait, one is computed, the last 12 are
kept; the steps of one run 600 MB, seen in the memory of the process (not on Windows).
"""

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

__all__ = ["serve"]

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
