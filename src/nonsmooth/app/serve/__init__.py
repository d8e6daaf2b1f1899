"""`nonsmooth serve`: a local server that runs simulations for a page in the browser.

    nonsmooth serve models

It listens on 127.0.0.1 and nowhere else. All addresses begin with a token, which it
prints when it starts: other users of the computer do not know it. Answers are JSON
unless noted:

    GET    /                       the page
    GET    /static/NAME            the viewer's build
    GET    /api/systems            the gallery: names, stories, parameters with ranges
    GET    /api/schema             the JSON schema of model files
    GET    /api/files              model files in the folder
    POST   /api/files              save a model file: {file, text, stamp} gives {file,
                                   stamp}; the stamp is that of `text`, null if new
    POST   /api/check              can this be built? {ok, title, until, parameters} or
                                   {ok: false, error, field, errors}
    POST   /api/draw               the scene document of its start (bytes)
    POST   /api/text               {text, format, name, stamp}: a model as a file
    POST   /api/runs               start a run: {id}
    GET    /api/runs               all runs, and a token of this server
    GET    /api/runs/ID            {state, progress, phase, message, seconds, ...}
    DELETE /api/runs/ID            forget it, after cancelling it
    POST   /api/runs/ID/cancel     end it early; what was computed is kept, unless this
                                   is said again while it is collected
    GET    /api/runs/ID/scene      the scene document (bytes; see views.scene)
    GET    /api/runs/ID/report     the report (HTML, to be saved)
    GET    /api/runs/ID/view       the same, to be shown in a frame of ours
    GET    /studies                a page: studies in the folder, by their indices
    GET    /study?file=NAME        the page of a study, which follows one under way
    GET    /api/studies            {studies: [{file, title, counts}, ...]}
    GET    /api/studies/data?file=NAME&since=STAMP
                                   {stamp, counts}, and if it is news all that the
                                   page shows
    POST   /api/studies/open       start a run of a study: {file, run} gives {id}

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

A run is computed in a process of its own, as is the drawing of a start: one that
crashes takes its process along, and nothing else. Cancelling is heard within a second.

Limits: a request 1 MB; 4 checks at once; 8 runs wait, one is computed, the last 12 are
kept; the steps of one run 600 MB, seen in the memory of the process (not on Windows).
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from nonsmooth import gallery
from nonsmooth.app.command import BAD_INPUT, DONE, Failed
from nonsmooth.errors import ModelError
from nonsmooth.study.systems import is_file, unknown

DEFAULT_PORT, MAX_PORT = 8765, 65535
SHORT = "the app: change parameters, run, look"
HELP = """\
Open the app in the browser: pick a built-in system or a model file, change its
parameters or its text, run it, see it move, compare runs. Studies in the folder, also
those that `nonsmooth sweep` is at, have a page of their own: a map of each, with its
progress, and a click opens a run. The server answers this computer only, and only at
the address that it prints: the token in it keeps other users out. Ctrl-C ends it.

examples:
  nonsmooth serve
  nonsmooth serve model.yaml        that file, and those beside it
  nonsmooth serve models --port 8000 --no-browser
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "place",
        metavar="PLACE",
        nargs="?",
        default=".",
        help="folder with model files to pick from (default: here), or a model file "
        "or built-in system to begin with",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=DEFAULT_PORT,
        help=f"port to listen on (default {DEFAULT_PORT}; 0: any that is free)",
    )
    parser.add_argument(
        "--no-browser",
        action="store_true",
        help="print the address, open nothing",
    )


def _port(text: str) -> int:
    is_whole = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PORT))
    if not (is_whole and int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to {MAX_PORT}")
    return int(text)


def _begin(place: str) -> tuple[Path, str]:
    """Return the folder to serve, and what the page begins with, as in its address."""
    path = Path(place)
    if path.is_dir():
        return path, ""
    if path.is_file() and is_file(place):
        return path.parent, f"#file={quote(path.name)}"
    if place in gallery.names():
        return Path(), f"#system={place}"
    why = str(unknown(place, gallery.names()))
    is_known = path.suffix or "did you mean" in why
    raise ModelError(why if is_known else f"no folder '{place}'")


def command(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    # Its packages are an extra, and no other command waits for them.
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise Failed(
            f"serve needs {' and '.join(missing)}: pip install 'nonsmooth[serve]'",
            BAD_INPUT,
        )
    from nonsmooth.app.serve.server import serve

    folder, begin = _begin(args.place)
    serve(
        folder,
        args.port,
        begin=begin,
        opens_browser=not args.no_browser,
        scripts=args.imports,
    )
    return DONE
