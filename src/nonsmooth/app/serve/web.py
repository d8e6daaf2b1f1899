"""The server's addresses, and what it refuses. The package's docstring lists both."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from pathlib import Path
from secrets import compare_digest
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nonsmooth import __version__, gallery, io
from nonsmooth.app.serve import jobs, studies
from nonsmooth.app.serve.jobs import Refused
from nonsmooth.app.serve.runs import Runs
from nonsmooth.errors import ModelError
from nonsmooth.model import Model
from nonsmooth.solve.options import BRANCHES, METHODS, SCHEMES
from nonsmooth.views.report import POLICY as REPORT_POLICY
from nonsmooth.views.report import page, static
from nonsmooth.views.study_page import SCRIPT as STUDY_SCRIPT

log = logging.getLogger(__name__)

# Bytes of a request: a model file of thousands of elements.
MAX_BODY = 1_000_000
# Models built at once to be checked; some take long.
MAX_CHECKS = 4
HOSTS = ("127.0.0.1", "localhost", "[::1]")
# Nothing else of the package is served.
SCRIPT_TYPE = "text/javascript; charset=utf-8"
STATIC = {"serve.js": SCRIPT_TYPE}

# Style sheets are put in by the script, which the policy calls inline.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
# The page of a study has the viewer in a frame, and that frame is a report.
STUDY_HEADERS = {"content-security-policy": f"{POLICY}; frame-src 'self'"}
FRAME_HEADERS = {
    "content-security-policy": f"{REPORT_POLICY}; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
}
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>nonsmooth</title>
<link rel="icon" href="data:,">
<style>
#studies { position: fixed; left: 250px; top: 13px; z-index: 5;
  font: 14px system-ui, sans-serif; color: light-dark(#0b5cad, #5fb0f5);
  background: light-dark(#fff, #15181d); }
@media (max-width: 900px) { #studies { display: none; } }
</style>
</head>
<body>
<a id="studies" href="studies">studies</a>
<div id="nonsmooth"><noscript>This page needs JavaScript.</noscript></div>
<script src="static/serve.js"></script>
</body>
</html>
"""

NO_TOKEN = (
    "this address lacks the token of the server, or has that of an earlier one; use "
    "the whole address that `nonsmooth serve` printed when it started"
)

Handler = Callable[[Request], Awaitable[Response]]


def reply(data: Any, status: int = 200) -> Response:
    """Return plain data as JSON, in ASCII: any text in it can be written so."""
    text = json.dumps(data, allow_nan=False)
    return Response(text, status, media_type="application/json")


def _wrong(errors: list[str], field: str | None) -> dict[str, Any]:
    return {"ok": False, "error": errors[0], "errors": errors, "field": field}


def refusal(error: Refused) -> Response:
    """Return a refusal as JSON."""
    data: dict[str, Any] = {"error": str(error)}
    if error.name is not None:
        data["field"] = error.name
    return reply(data, error.status)


# ---- who may ask ---------------------------------------------------------------


class Guard:
    """Answers this computer only, its own pages only, and who knows the token.

    Another user of this computer can reach the port, but does not know the token, with
    which all addresses begin. A page of another site may send requests here, from this
    computer's browser. It cannot set our host name, unless its own name was made to
    mean this computer (DNS rebinding): so the host is checked. What changes anything
    needs a content type that such a page may not send unasked, and no foreign origin.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._token = token.encode()
        hosts = {f"{host}:{port}" for host in HOSTS}
        if port == 80:
            hosts |= set(HOSTS)
        self._hosts = hosts
        self._origins = {f"http://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; add the headers."""
        if scope["type"] != "http":
            # There are no web sockets here.
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _seal(message)
            await send(message)

        error = self._fault(scope)
        token, slash, path = scope["path"].removeprefix("/").partition("/")
        if error is None and not compare_digest(token.encode(), self._token):
            error = Refused(403, NO_TOKEN)
        app = self._app if error is None else refusal(error)
        if error is None and not slash:
            # Addresses on our pages are relative to this one.
            app = RedirectResponse(f"/{token}/")
        await app({**scope, "path": f"/{path}"}, receive, sealed)

    def _fault(self, scope: Scope) -> Refused | None:
        found: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts = [host.lower() for host in found.get(b"host", [])]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refused(403, "this server answers to 127.0.0.1 and localhost only")
        origins = [origin.lower() for origin in found.get(b"origin", [])]
        if any(origin not in self._origins for origin in origins):
            return Refused(403, "requests from other pages are refused")
        if scope["method"] not in ("GET", "HEAD"):
            kinds = [kind.partition(";")[0] for kind in found.get(b"content-type", [])]
            if [kind.strip().lower() for kind in kinds] != ["application/json"]:
                return Refused(415, "send Content-Type: application/json")
        return None


def _seal(message: MutableMapping[str, Any]) -> None:
    headers: list[tuple[bytes, bytes]] = list(message.get("headers", []))
    present = {name.lower() for name, _ in headers}
    for name, value in HEADERS.items():
        if name.encode() not in present:
            headers.append((name.encode(), value.encode()))
    message["headers"] = headers


async def body(request: Request) -> dict[str, Any]:
    """Read a JSON object, and no more than is allowed."""
    length = request.headers.get("content-length", "")
    limit = f"the request is larger than {MAX_BODY // 1_000_000} MB"
    if length.isdigit() and (len(length) > 18 or int(length) > MAX_BODY):
        raise Refused(413, limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            raise Refused(413, limit)
        parts.append(part)
    return jobs.decoded(b"".join(parts))


# ---- what is answered ----------------------------------------------------------


@cache
def systems() -> list[dict[str, Any]]:
    """Return all that is known of the gallery."""
    return [
        {
            "name": name,
            "summary": gallery.summary(name),
            "story": gallery.describe(name),
            "duration": gallery.duration(name),
            "parameters": jobs.described(gallery.parameters(name)),
        }
        for name in gallery.names()
    ]


class Server:
    """The handlers of all addresses."""

    def __init__(self, folder: Path, runs: Runs) -> None:
        self.folder = folder
        self.runs = runs
        self.n_check = 0
        # Tells a page that its runs are gone: the server is another one.
        self.token = secrets.token_hex(8)

    async def page(self, request: Request) -> Response:
        """Send the app."""
        return Response(PAGE, media_type="text/html")

    async def static(self, request: Request) -> Response:
        """Send a file of the viewer's build."""
        name = request.path_params["name"]
        if name == "study.js":
            script = STUDY_SCRIPT.read_text(encoding="utf-8")
            return Response(script, headers={"content-type": SCRIPT_TYPE})
        if name not in STATIC:
            raise Refused(404, f"no file '{name}' here")
        try:
            return Response(static(name), headers={"content-type": STATIC[name]})
        except FileNotFoundError as error:
            raise Refused(404, str(error)) from None

    async def systems(self, request: Request) -> Response:
        """List the gallery."""
        options = {"methods": METHODS, "schemes": SCHEMES, "branches": BRANCHES}
        return reply({"version": __version__, "systems": systems(), **options})

    async def files(self, request: Request) -> Response:
        """List model files to pick from."""
        found = await run_in_threadpool(jobs.files, self.folder)
        return reply({"folder": self.folder.resolve().name, "files": found})

    async def check(self, request: Request) -> Response:
        """Say whether a model can be built."""
        data = await body(request)
        try:
            job = jobs.job(data, self.folder)
            model = await self._built(job)
        except ModelError as error:
            names = data.get("parameters", {})
            errors = jobs.sentences(error)
            field = jobs.culprit(errors[0], names)
            return reply(_wrong(errors, field))
        except Refused as error:
            if error.status != 422:
                raise
            return reply(_wrong([str(error)], error.name))
        fields = [] if job.source == "system" else jobs.fields_of(model)
        until = model.run.until if model.run else None
        found = {"title": model.title, "until": until, "parameters": fields}
        return reply({"ok": True, **found})

    async def draw(self, request: Request) -> Response:
        """Send the scene of a model as it starts."""
        job = jobs.job(await body(request), self.folder)
        try:
            data = await run_in_threadpool(self.runs.draw, job)
        except ModelError as error:
            raise Refused(422, str(error)) from None
        return Response(data, media_type="application/octet-stream")

    async def text(self, request: Request) -> Response:
        """Send a model as the text of a file."""
        job = jobs.job(await body(request), self.folder)
        try:
            return reply(await run_in_threadpool(jobs.text_of, job, self.folder))
        except ModelError as error:
            raise Refused(422, str(error)) from None

    async def save(self, request: Request) -> Response:
        """Write a model file."""
        data = await body(request)
        return reply(await run_in_threadpool(jobs.save, data, self.folder), 201)

    async def schema(self, request: Request) -> Response:
        """Send the schema of model files."""
        return reply(io.schema())

    async def _built(self, job: jobs.Job) -> Model:
        if self.n_check >= MAX_CHECKS:
            raise Refused(429, f"{MAX_CHECKS} models are being checked; try again")
        self.n_check += 1
        try:
            return await run_in_threadpool(jobs.build, job, self.folder)
        finally:
            self.n_check -= 1

    async def start(self, request: Request) -> Response:
        """Start a run."""
        data = await body(request)
        job = jobs.job(data, self.folder)
        try:
            # What cannot be built is refused here, and does not wait in a queue.
            model = await self._built(job)
        except ModelError as error:
            field = jobs.culprit(str(error), job.parameters)
            raise Refused(422, str(error), field) from None
        until = model.run.until if model.run else None
        return reply({"id": self.runs.add(job, until).id}, 201)

    async def list(self, request: Request) -> Response:
        """List all runs."""
        runs = [run.plain() for run in self.runs.all()]
        return reply({"server": self.token, "runs": runs})

    async def run(self, request: Request) -> Response:
        """Say how a run is doing."""
        return reply(self.runs.get(request.path_params["id"]).plain())

    async def cancel(self, request: Request) -> Response:
        """End a run early."""
        return reply(self.runs.cancel(request.path_params["id"]).plain())

    async def delete(self, request: Request) -> Response:
        """Forget a run."""
        self.runs.delete(request.path_params["id"])
        return reply({})

    async def scene(self, request: Request) -> Response:
        """Send what was computed, for the viewer."""
        data = self._document(request)
        return Response(data, media_type="application/octet-stream")

    async def report(self, request: Request) -> Response:
        """Send what was computed, as a page of its own."""
        data = self._document(request)
        run = self.runs.get(request.path_params["id"])
        text = await run_in_threadpool(page, data, run.title)
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in run.title)
        name = f"{plain.strip('_')[:40] or 'run'}_{run.id}.html"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="text/html", headers=headers)

    async def view(self, request: Request) -> Response:
        """Send what was computed, as a page to be shown in a frame."""
        run = self.runs.get(request.path_params["id"])
        text = await run_in_threadpool(page, self._document(request), run.title)
        return Response(text, media_type="text/html", headers=FRAME_HEADERS)

    # ---- studies ---------------------------------------------------------------

    async def studies(self, request: Request) -> Response:
        """List the studies in the folder."""
        return reply({"studies": await run_in_threadpool(studies.listed, self.folder)})

    async def studies_page(self, request: Request) -> Response:
        """Send a page that lists them."""
        text = await run_in_threadpool(studies.list_page, self.folder)
        return Response(text, media_type="text/html")

    async def study_page(self, request: Request) -> Response:
        """Send the page of a study."""
        name = request.query_params.get("file", "")
        text = await run_in_threadpool(studies.page, self.folder, name)
        return Response(text, media_type="text/html", headers=STUDY_HEADERS)

    async def study(self, request: Request) -> Response:
        """Send what the page of a study shows."""
        asked = request.query_params
        name, since = asked.get("file", ""), asked.get("since", "")
        return reply(await run_in_threadpool(studies.data, self.folder, name, since))

    async def open(self, request: Request) -> Response:
        """Start a run of a study, to be looked at."""
        data = await body(request)
        job = await run_in_threadpool(studies.job, self.folder, data)
        return reply({"id": self.runs.add(job).id}, 201)

    def _document(self, request: Request) -> bytes:
        run = self.runs.get(request.path_params["id"])
        if run.scene is not None:
            return run.scene
        if run.is_over:
            raise Refused(404, f"nothing was computed: {run.message}")
        raise Refused(409, "the run is not over yet")

    def routes(self) -> list[Route]:
        """Return all addresses."""
        one = "/api/runs/{id}"
        return [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/systems", self.systems),
            Route("/api/schema", self.schema),
            Route("/api/files", self.files),
            Route("/api/files", self.save, methods=["POST"]),
            Route("/api/check", self.check, methods=["POST"]),
            Route("/api/draw", self.draw, methods=["POST"]),
            Route("/api/text", self.text, methods=["POST"]),
            Route("/api/runs", self.list),
            Route("/api/runs", self.start, methods=["POST"]),
            Route(one, self.run),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/cancel", self.cancel, methods=["POST"]),
            Route(f"{one}/scene", self.scene),
            Route(f"{one}/report", self.report),
            Route(f"{one}/view", self.view),
            Route("/studies", self.studies_page),
            Route("/study", self.study_page),
            Route("/api/studies", self.studies),
            Route("/api/studies/data", self.study),
            Route("/api/studies/open", self.open, methods=["POST"]),
        ]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(error)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return reply({"error": error.detail.lower()}, error.status_code)


async def _gone(request: Request, error: Exception) -> Response:
    return reply({"error": "the request was cut short"}, 400)


async def _failed(request: Request, error: Exception) -> Response:
    # Starlette raises the error again after this answer, and uvicorn logs it.
    return reply({"error": "internal error; the server's log has the details"}, 500)


def application(folder: Path, port: int, runs: Runs, token: str) -> Starlette:
    """Return the app for a folder of model files, as it is reached at a port."""
    return Starlette(
        routes=Server(folder, runs).routes(),
        middleware=[Middleware(Guard, port=port, token=token)],
        exception_handlers={
            Refused: _refused,
            HTTPException: _no_route,
            ClientDisconnect: _gone,
            Exception: _failed,
        },
    )
