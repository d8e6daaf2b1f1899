"""The app's server: every address, every refusal, and that nothing stops it."""

import asyncio
import gzip
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from nonsmooth import gallery
from nonsmooth.app import serve
from nonsmooth.app.cli import main
from nonsmooth.app.serve import jobs, tasks, web
from nonsmooth.app.serve import runs as runs_module
from nonsmooth.app.serve.runs import Runs
from nonsmooth.app.serve.web import application

PORT = 8765
TOKEN = "a-token-of-the-tests"
HOME = f"http://127.0.0.1:{PORT}/{TOKEN}"
# A cold cache compiles in the first run, s.
COMPILING = 200.0

ARM = """\
nonsmooth: 1
title: arm
gravity: [0, -9.81]
bodies:
  - {type: RigidBody, name: arm, mass: 1, inertia: 0.1, position: [0.5, 0],
     points: {pin: [-0.5, 0]}}
joints:
  - {type: Revolute, name: hinge, b: arm.pin}
"""

# Its force is not a number after half a second.
BURST = """\
nonsmooth: 1
bodies:
  - {type: RigidBody, name: block, mass: 1, inertia: 1}
forces:
  - {type: ExpressionForce, name: burst, b: block, fx: sqrt(0.5 - t)}
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder of model files, with things around it that are none of ours."""
    inside = tmp_path / "models"
    (inside / "deep").mkdir(parents=True)
    (inside / ".hidden").mkdir()
    (inside / "arm.yaml").write_text(ARM)
    (inside / "deep" / "burst.yml").write_text(BURST)
    (inside / ".hidden" / "arm.yaml").write_text(ARM)
    (inside / "notes.txt").write_text(ARM)
    (inside / "other.yaml").write_text("a: 1\n")
    (inside / "folder.yaml").mkdir()
    (tmp_path / "secret.yaml").write_text(ARM)
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inside / "link.json").symlink_to("/etc/passwd")
    (inside / "way").symlink_to(tmp_path, target_is_directory=True)
    (inside / "loop.yaml").symlink_to(inside / "loop.yaml")
    return inside


class Client:
    """The page's side of the conversation."""

    def __init__(self, folder, **options):
        self.runs = Runs(folder, **options)
        app = application(folder, PORT, self.runs, TOKEN)
        self.http = TestClient(app, base_url=HOME, raise_server_exceptions=False)

    def get(self, path):
        return self.http.get(path)

    def post(self, path, data=None, headers=None):
        # In ASCII, so that any text can be sent.
        content = json.dumps({} if data is None else data)
        headers = {"content-type": "application/json", **(headers or {})}
        return self.http.post(path, content=content, headers=headers)

    def start(self, **data):
        answer = self.post("/api/runs", data)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def wait(self, id, seconds=COMPILING):
        assert self.runs.get(id).done.wait(seconds)
        return self.get(f"/api/runs/{id}").json()

    def run(self, **data):
        return self.wait(self.start(**data))


@pytest.fixture
def client(folder):
    client = Client(folder)
    yield client
    assert client.runs.close(COMPILING)


def refused(answer, status):
    """Return the message of a refusal; that is all it may hold."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    data = answer.json()
    assert set(data) <= {"error", "field"}
    assert "Traceback" not in data["error"]
    assert ".py" not in data["error"]
    return data["error"]


def header(document):
    """Return the header of a scene document."""
    data = gzip.decompress(document)
    (size,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + size])


# ---- what is answered ------------------------------------------------------------


def test_page(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert '<script src="static/serve.js">' in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    # Neither the page nor its policy names any other place.
    assert "http" not in answer.text.replace("http-equiv", "")
    assert "http" not in policy


def test_static(client):
    answer = client.get("/static/serve.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    for name in ("report.js", "..%2Fscene.py", "%2e%2e/scene.py", "serve.js%00", "x"):
        refused(client.get(f"/static/{name}"), 404)


def test_systems(client):
    data = client.get("/api/systems").json()
    assert [system["name"] for system in data["systems"]] == list(gallery.names())
    found = {system["name"]: system for system in data["systems"]}["compactor"]
    assert found["summary"] == gallery.summary("compactor")
    assert found["story"] == gallery.describe("compactor")
    assert found["duration"] == gallery.duration("compactor")
    parameters = {p["name"]: p for p in found["parameters"]}
    assert parameters["rotor_speed"] == {
        "name": "rotor_speed",
        "type": "float",
        "default": 420.0,
        "unit": "rad/s",
        "meaning": "Angular velocity of the rotor relative to the box, "
        "counter-clockwise",
        "low": 0.0,
        "high": 600.0,
        "choices": [],
    }
    assert parameters["start"]["choices"][:2] == ["equilibrium", "touching"]
    assert "events" in data["schemes"]


def test_files(client):
    data = client.get("/api/files").json()
    # No text files, no links that lead out, nothing hidden, no other YAML.
    assert data["files"] == ["arm.yaml", "deep/burst.yml"]
    assert data["folder"] == "models"


def test_only_so_many_files_are_listed(client, folder, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_FILES", 3)
    for k in range(10):
        (folder / f"many{k}.yaml").write_text(ARM)
    assert len(client.get("/api/files").json()["files"]) == 3
    monkeypatch.setattr(jobs, "MAX_ENTRIES", 4)
    assert len(client.get("/api/files").json()["files"]) <= 4


def test_a_run_to_its_end(client):
    id = client.start(system="belt", parameters={"speed": 0.2, "mu0": "0.5"}, until=0.5)
    run = client.wait(id)
    assert run["state"] == "finished", run
    assert run["message"] == "reached the end"
    assert run["progress"] == 1.0
    assert run["title"] == "block on a belt"
    assert run["has_scene"]
    assert run["summary"]["t_end"] == 0.5
    # The first slip begins at mu0 m g/(k speed) = 0.245 s.
    assert run["summary"]["events"]["break_away"] == 1
    assert run["request"]["parameters"] == {"speed": 0.2, "mu0": "0.5"}
    answer = client.get(f"/api/runs/{id}/scene")
    assert answer.headers["content-type"] == "application/octet-stream"
    found = header(answer.content)
    assert found["run"]["t_end"] == 0.5
    values = {p["name"]: p["value"] for p in found["parameters"]}
    assert values == {**gallery.values("belt"), "speed": 0.2, "mu0": 0.5}
    assert {p["name"]: p["unit"] for p in found["parameters"]}["speed"] == "m/s"
    assert [r["id"] for r in client.get("/api/runs").json()["runs"]] == [id]


def test_duration_is_the_systems_own(client):
    run = client.run(system="incline")
    assert run["summary"]["t_end"] == gallery.duration("incline")


def test_report(client):
    id = client.start(system="incline", until=0.1)
    client.wait(id)
    answer = client.get(f"/api/runs/{id}/report")
    assert answer.status_code == 200
    assert re.fullmatch(
        r'attachment; filename="\w+_1\.html"', answer.headers["content-disposition"]
    )
    assert answer.text.lstrip().lower().startswith("<!doctype html>")
    assert "application/octet-stream" in answer.text


def test_files_and_texts_run(client):
    for source in ({"file": "arm.yaml"}, {"text": ARM, "name": "mine"}):
        run = client.run(**source, until=0.2, parameters={"arm.mass": 3})
        assert run["state"] == "finished", run
        assert run["title"] == "arm"
        found = header(client.get(f"/api/runs/{run['id']}/scene").content)
        changed = [(p["name"], p["value"]) for p in found["parameters"]]
        assert ("arm.mass", 3) in changed
    text = json.dumps({"nonsmooth": 1, "gallery": "belt"})
    assert client.run(text=text, format="json", until=0.1)["state"] == "finished"


def test_options_are_used(client):
    options = {"method": "rk4", "step": 1e-2, "baumgarte": [10, 100], "atol": None}
    run = client.run(system="pendulum_chain", until=0.1, options=options)
    assert run["state"] == "finished", run
    assert run["summary"]["steps"] == 10


def test_check(client):
    good = client.post("/api/check", {"system": "belt", "parameters": {"k": 50}})
    assert good.json() == {
        "ok": True,
        "title": "block on a belt",
        "until": None,
        "parameters": [],
    }
    good = client.post("/api/check", {"file": "arm.yaml"}).json()
    assert good["ok"]
    fields = {p["name"]: p for p in good["parameters"]}
    assert fields["arm.mass"]["default"] == 1.0
    assert fields["arm.mass"]["unit"] == "kg"
    assert fields["arm.inertia"]["unit"] == "kg m^2"
    # All of them can be set, as they are.
    same = {name: p["default"] for name, p in fields.items()}
    answer = client.post("/api/check", {"file": "arm.yaml", "parameters": same})
    assert answer.json()["ok"]


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        ({"system": "belt", "parameters": {"mu": 0.9}}, "mu", "must be <= mu0 = 0.4"),
        ({"system": "belt", "parameters": {"m": "x"}}, "m", "give a number"),
        ({"system": "belt", "parameters": {"mm": 1}}, "mm", "no parameter 'mm'"),
        ({"system": "crank_rocker", "parameters": {"torque": 5}}, "torque", "driven"),
        ({"system": "belt", "until": -1}, "until", "must be a time > 0"),
        ({"system": "belt", "options": {"rtol": 0}}, "rtol", "must be a number > 0"),
        ({"system": "belt", "options": {"method": "x"}}, "method", "valid: auto"),
        ({"file": "arm.yaml", "parameters": {"arm.mass": -1}}, "arm.mass", "> 0 kg"),
        ({"file": "arm.yaml", "parameters": {"arm.masss": 1}}, "arm.masss", "mass"),
        ({"file": "arm.yaml", "parameters": {"arm.": 1}}, "arm.", "no field"),
        ({"file": "arm.yaml", "parameters": {"leg.mass": 1}}, "leg.mass", "leg"),
        ({"file": "other.yaml"}, None, "other.yaml"),
        ({"text": "nonsmooth: 1\nbodies: 3"}, None, "bodies"),
        ({"text": "{", "format": "json"}, None, "line 1, column 2"),
    ],
)
def test_check_names_the_field(client, folder, data, field, message):
    found = client.post("/api/check", data).json()
    assert found["ok"] is False
    assert found["field"] == field
    assert message in found["error"]
    # The client knows files by their names in the folder.
    assert str(folder) not in found["error"]


def test_text_runs_no_code(client, tmp_path):
    mark = tmp_path / "mark"
    text = f"nonsmooth: 1\nbodies: !!python/object/apply:os.mkdir ['{mark}']"
    assert client.post("/api/check", {"text": text}).json()["ok"] is False
    assert not mark.exists()


# ---- failing, cancelling ---------------------------------------------------------


def test_a_failing_run_keeps_what_it_computed(client):
    run = client.run(file="deep/burst.yml", until=1.0)
    assert run["state"] == "failed"
    assert "force 'burst' is not finite" in run["message"]
    found = header(client.get(f"/api/runs/{run['id']}/scene").content)
    assert found["run"]["status"] == "failed"
    # It fails at 0.5 s, and is computed up to there.
    assert 0.4 < found["run"]["t_end"] <= 0.5


def test_a_model_that_cannot_be_built(client):
    answer = client.post("/api/runs", {"system": "belt", "parameters": {"mu": 0.9}})
    assert refused(answer, 422) == "belt: mu = 0.9; must be <= mu0 = 0.4"
    assert answer.json()["field"] == "mu"
    assert client.get("/api/runs").json()["runs"] == []
    assert client.run(system="belt", until=0.1)["state"] == "finished"


@pytest.mark.parametrize("error", [MemoryError(), ZeroDivisionError("secret.py")])
def test_any_error_is_survived(client, monkeypatch, error):
    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Runs, "_compute", fail)
        run = client.run(system="belt")
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "build", fail)
        answer = client.post("/api/check", {"system": "belt"})
    assert run["state"] == "failed"
    assert type(error).__name__ in run["message"]
    assert "secret" not in run["message"]
    assert refused(answer, 500).startswith("internal error")
    # The same from the other process, which sends it as it is said.
    words = str(tasks.portable(error))
    assert "memory" in words or "ZeroDivisionError" in words
    assert "secret" not in words
    assert client.run(system="belt", until=0.1)["state"] == "finished"


def began(client, id):
    """Wait until a run moves."""
    deadline = time.monotonic() + COMPILING
    while client.runs.get(id).progress == 0.0:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_cancel(client):
    """A run that would take minutes ends at once, and shows what it computed."""
    id = client.start(system="compactor", until=1000.0)
    began(client, id)
    begin = time.monotonic()
    assert client.post(f"/api/runs/{id}/cancel").json()["phase"] == "cancelling"
    run = client.wait(id)
    # The solver looks in every 0.1 s; drawing what there is takes a moment.
    assert time.monotonic() - begin < 5.0
    assert run["state"] == "cancelled"
    assert re.fullmatch(r"cancelled at t = [\d.e-]+ s", run["message"])
    assert 0.0 < run["progress"] < 1.0
    found = header(client.get(f"/api/runs/{id}/scene").content)
    assert found["run"]["status"] == "stopped"
    assert found["run"]["message"] == run["message"]
    # Cancelling what is over changes nothing.
    assert client.post(f"/api/runs/{id}/cancel").json()["state"] == "cancelled"


class Blocked:
    """Runs, or checks, that wait until they are let go."""

    def __init__(self, monkeypatch, owner: Any = Runs, name: str = "_compute"):
        self.go = threading.Event()
        whole = getattr(owner, name)

        def wait(*args):
            assert self.go.wait(COMPILING)
            return whole(*args)

        monkeypatch.setattr(owner, name, wait)


def test_queue(client, monkeypatch):
    blocked = Blocked(monkeypatch)
    ids = [client.start(system="belt", until=0.01)]
    while client.runs.get(ids[0]).state == "queued":
        time.sleep(0.001)
    for _ in range(runs_module.MAX_QUEUE):
        ids.append(client.start(system="belt", until=0.01))
    answer = client.post("/api/runs", {"system": "belt"})
    assert "8 runs wait already" in refused(answer, 429)
    # Cancelling one that waits makes room, deleting one too.
    assert client.post(f"/api/runs/{ids[1]}/cancel").json()["state"] == "cancelled"
    ids.append(client.start(system="belt", until=0.01))
    refused(client.post("/api/runs", {"system": "belt"}), 429)
    refused(client.get(f"/api/runs/{ids[2]}/scene"), 409)
    gone = client.http.request("DELETE", f"/api/runs/{ids[2]}", json={})
    assert gone.status_code == 200
    refused(client.get(f"/api/runs/{ids[2]}"), 404)
    blocked.go.set()
    assert client.wait(ids[-1])["state"] == "finished"
    states = [run["state"] for run in client.get("/api/runs").json()["runs"]]
    assert states == ["finished", "cancelled", *["finished"] * 7]


def test_only_so_many_checks_at_once(client, monkeypatch):
    blocked = Blocked(monkeypatch, jobs, "build")
    codes = []

    def check():
        codes.append(client.post("/api/check", {"system": "belt"}).status_code)

    threads = [threading.Thread(target=check) for _ in range(web.MAX_CHECKS + 3)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20.0
    while len(codes) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    # Those beyond the limit are refused while the others are still under way.
    assert codes == [429] * 3
    blocked.go.set()
    for thread in threads:
        thread.join(20.0)
    assert codes[3:] == [200] * web.MAX_CHECKS
    assert client.post("/api/check", {"system": "belt"}).json()["ok"]


def test_old_runs_are_forgotten(client, monkeypatch):
    monkeypatch.setattr(runs_module, "MAX_KEPT", 3)
    for _ in range(5):
        client.run(system="belt", until=0.01)
    assert [r["id"] for r in client.get("/api/runs").json()["runs"]] == ["3", "4", "5"]
    assert "no run '1'" in refused(client.get("/api/runs/1"), 404)
    # Scenes are bounded as well; the newest always stays.
    monkeypatch.setattr(runs_module, "MAX_SCENES", 1)
    client.run(system="belt", until=0.01)
    assert [r["id"] for r in client.get("/api/runs").json()["runs"]] == ["6"]


# ---- refusals --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        ({}, 422, "exactly one of system, file and text"),
        ({"system": "belt", "file": "arm.yaml"}, 422, "exactly one"),
        ({"system": "blet"}, 422, "no gallery system 'blet'; did you mean 'belt'?"),
        ({"system": "_checks"}, 422, "no gallery system"),
        ({"system": 3}, 422, "system: give text"),
        ({"system": "belt", "untill": 1}, 422, "no field 'untill'; did you mean"),
        ({"system": "belt", "until": "1"}, 422, "until = '1'; must be a time > 0"),
        ({"system": "belt", "until": 0}, 422, "must be a time > 0 s"),
        ({"system": "belt", "until": True}, 422, "must be a time > 0 s"),
        ({"system": "belt", "until": 10**400}, 422, "must be a time > 0 s"),
        ({"system": "belt", "parameters": []}, 422, "parameters: give an object"),
        ({"system": "belt", "parameters": {"m": [1]}}, 422, "m: give a number"),
        ({"system": "belt", "parameters": {"m": None}}, 422, "m = None; give a number"),
        ({"system": "belt", "parameters": {"n": 1}}, 422, "no parameter 'n'"),
        ({"system": "belt", "parameters": {"m": "\ud800"}}, 422, "give a number"),
        ({"system": "belt", "options": {"tol": 1}}, 422, "did you mean 'rtol'"),
        ({"system": "belt", "options": {"rtol": "1"}}, 422, "rtol = '1'; give a num"),
        ({"system": "belt", "options": {"method": 1}}, 422, "method = 1; give text"),
        ({"system": "belt", "options": {"method": "rk4"}}, 422, "needs step"),
        ({"system": "belt", "options": {"assemble": 1}}, 422, "give true or false"),
        ({"system": "belt", "options": {"baumgarte": [1]}}, 422, "two numbers"),
        ({"system": "belt", "options": {"baumgarte": [-1, 1]}}, 422, "must be >= 0"),
        ({"system": "belt", "format": "json"}, 422, "format: only of a text"),
        ({"text": ARM, "format": "xml"}, 422, "give yaml or json"),
        ({"text": ARM, "format": ["yaml"]}, 422, "give yaml or json"),
        ({"text": ARM}, 422, "until: a model needs a time"),
        ({"file": "arm.yaml", "until": 1, "parameters": {"m": 1}}, 422, "crank.mass"),
    ],
)
def test_bad_requests(client, data, status, message):
    answer = client.post("/api/runs", data)
    assert message in refused(answer, status)
    assert client.get("/api/runs").json()["runs"] == []


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"[]", 400, "must be a JSON object"),
        (b'"belt"', 400, "must be a JSON object"),
        (b'{"until": NaN}', 400, "NaN is not a number"),
        (b'{"until": 1, "until": 2}', 400, "a key is given twice"),
        (b"\xff\xfe", 400, "not UTF-8"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"until": ' + b"9" * 5000 + b"}", 400, "not JSON"),
        (b" " * 1_000_001, 413, "larger than 1 MB"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_bad_bodies(client, content, status, message):
    headers = {"content-type": "application/json"}
    for path in ("/api/runs", "/api/check"):
        answer = client.http.post(path, content=content, headers=headers)
        assert message in refused(answer, status), path


def test_oversize_without_a_length(folder):
    """The limit holds while a body is read: what comes later is never asked for."""
    runs = Runs(folder)
    app = application(folder, PORT, runs, TOKEN)
    asked, sent = [], []

    async def receive():
        asked.append(100_000)
        return {"type": "http.request", "body": b" " * 100_000, "more_body": True}

    async def send(message):
        sent.append(message)

    host = f"127.0.0.1:{PORT}".encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/{TOKEN}/api/runs",
        "raw_path": f"/{TOKEN}/api/runs".encode(),
        "query_string": b"",
        "headers": [(b"host", host), (b"content-type", b"application/json")],
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 413
    assert b"larger than 1 MB" in sent[1]["body"]
    # The part that goes beyond the limit is the last.
    assert sum(asked) == web.MAX_BODY + 100_000
    assert runs.close(COMPILING)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("", 403),
        ("/etc/passwd", 403),
        ("/etc/passwd.yaml", 403),
        ("../secret.yaml", 403),
        ("deep/../../secret.yaml", 403),
        ("deep/../arm.yaml", 403),
        ("./arm.yaml", 403),
        ("deep//burst.yml", 403),
        ("..\\secret.yaml", 403),
        ("deep\\burst.yml", 403),
        ("C:/secret.yaml", 403),
        ("arm.yaml\0", 403),
        ("arm.yaml\0.json", 403),
        ("arm.yaml\n", 403),
        ("\ud800.yaml", 403),
        (".hidden/arm.yaml", 403),
        ("notes.txt", 403),
        ("arm", 403),
        ("link.yaml", 403),
        ("link.json", 403),
        ("way/secret.yaml", 403),
        ("~/arm.yaml", 404),
        ("%2e%2e/secret.yaml", 404),
        ("..%2fsecret.yaml", 403),
        ("%252e%252e%252fsecret.yaml", 404),
        ("．．/secret.yaml", 404),
        ("file:arm.yaml", 403),
        ("loop.yaml", 404),
        ("folder.yaml", 404),
        ("none.yaml", 404),
        ("a" * 5000 + ".yaml", 404),
        ("a/" * 5000 + "a.yaml", 404),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_traversal(client, folder, name, status):
    for path in ("/api/runs", "/api/check"):
        message = refused(client.post(path, {"file": name, "until": 1}), status)
        assert "root:" not in message, path
        assert str(folder.parent) not in message, path


def test_a_pipe_is_not_read(client, folder):
    os.mkfifo(folder / "pipe.yaml")
    refused(client.post("/api/check", {"file": "pipe.yaml"}), 404)
    assert "pipe.yaml" not in client.get("/api/files").json()["files"]


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        f"example.org:{PORT}",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1.example.org:{PORT}",
        f"localhost.example.org:{PORT}",
        f"0.0.0.0:{PORT}",
        f"user@127.0.0.1:{PORT}",
        "",
    ],
)
def test_other_hosts(client, host):
    for path in ("/", "/static/serve.js", "/api/systems", "/none"):
        answer = client.http.get(path, headers={"host": host})
        assert "127.0.0.1 and localhost only" in refused(answer, 403), path


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "LocalHost"])
def test_own_hosts(client, host):
    headers = {"host": f"{host}:{PORT}", "origin": f"http://{host}:{PORT}"}
    assert client.http.get("/api/runs", headers=headers).status_code == 200
    answer = client.post("/api/check", {"system": "belt"}, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://example.org",
        "null",
        "http://127.0.0.1",
        f"https://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT + 1}",
        f"http://127.0.0.1:{PORT}.example.org",
    ],
)
def test_other_origins(client, origin):
    headers = {"origin": origin}
    data = {"system": "belt"}
    refused(client.post("/api/runs", data, headers=headers), 403)
    refused(client.post("/api/check", data, headers=headers), 403)
    gone = client.http.request("DELETE", "/api/runs/1", json={}, headers=headers)
    refused(gone, 403)
    assert client.get("/api/runs").json()["runs"] == []


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None],
)
def test_content_types(client, kind):
    headers = {} if kind is None else {"content-type": kind}
    for method, path in (
        ("POST", "/api/runs"),
        ("POST", "/api/check"),
        ("POST", "/api/runs/1/cancel"),
        ("DELETE", "/api/runs/1"),
    ):
        content = b'{"system": "belt"}'
        answer = client.http.request(method, path, content=content, headers=headers)
        assert "application/json" in refused(answer, 415)


def test_unknown_addresses(client):
    for path in ("/none", "/api", "/api/runs/1/none", "/..%2f..%2fetc/passwd"):
        assert refused(client.get(path), 404) == "not found"
    for path in ("/api/runs/1", "/api/runs/x", "/api/runs/" + "9" * 5000):
        assert "no run" in refused(client.get(path), 404)
    refused(client.post("/api/systems"), 405)
    refused(client.get("/api/check"), 405)


def test_headers(client):
    for answer in (client.get("/"), client.get("/none"), client.get("/api/runs")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"] == web.POLICY
        assert not any("access-control" in name for name in answer.headers)


def test_messages_are_short(client):
    answer = client.post("/api/runs", {"system": "x" * 900_000})
    assert len(refused(answer, 422)) <= jobs.MAX_MESSAGE


# ---- the command -----------------------------------------------------------------


def test_command_refuses(capsys, tmp_path):
    for argv, message in (
        ([str(tmp_path / "none")], "no folder"),
        (["--port", "x"], "'x' is not a port"),
        (["--port", "65536"], "is not a port"),
        (["--port", "-1"], "--port"),
    ):
        assert main(["serve", "--no-browser", *argv]) == 2
        assert message in capsys.readouterr().err


def test_a_port_that_is_taken(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["serve", "--no-browser", "--port", str(port)]) == 2
    message = capsys.readouterr().err
    assert f"port {port} is taken; try --port" in message


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_missing_packages(capsys, monkeypatch, missing):
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == missing else 1)
    assert main(["serve"]) == 2
    expected = f"error: serve needs {missing}: pip install 'nonsmooth[serve]'\n"
    assert capsys.readouterr().err == expected


def ask(address, data=None):
    """Send a request over loopback; return status and answer."""
    body = None if data is None else json.dumps(data).encode()
    headers = {"content-type": "application/json"}
    try:
        request = urllib.request.Request(address, body, headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture
def command(folder):
    argv = ["serve", str(folder), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nonsmooth.app.cli", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/[\w-]{24})/", line)
    assert found, line
    yield process, int(found[1]), found[2]
    process.kill()
    process.wait()


def other_addresses():
    """Return addresses of this computer beside 127.0.0.1."""
    found = {"127.0.0.2"}
    # Nothing is sent: this only asks which address would be used.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(probe.getsockname()[0])
        except OSError:
            pass
    return found - {"127.0.0.1"}


def test_command(command):
    """Serve, simulate, refuse, and end on Ctrl-C in the middle of a run.

    The code is 0: Ctrl-C is how this command is meant to end.
    """
    process, port, token = command
    address = f"http://127.0.0.1:{port}{token}"
    status, page = ask(f"{address}/")
    assert status == 200
    assert b"nonsmooth" in page
    for other in other_addresses():
        with socket.socket() as probe:
            probe.settimeout(5.0)
            assert probe.connect_ex((other, port)) != 0, other
    # A body that never says how long it is, and is too long.
    with socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
        raw.sendall(
            b"POST %s/api/runs HTTP/1.1\r\n" % token.encode()
            + b"Host: 127.0.0.1:%d\r\n" % port
            + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        part = b"%x\r\n%s\r\n" % (100_000, b" " * 100_000)
        try:
            for _ in range(100):
                raw.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all was sent
        else:
            assert b" 413 " in raw.recv(100)
    status, answer = ask(f"{address}/api/runs", {"system": "compactor", "until": 1e3})
    assert status == 201
    id = json.loads(answer)["id"]
    deadline = time.monotonic() + COMPILING
    while True:
        begin = time.monotonic()
        status, answer = ask(f"{address}/api/runs/{id}")
        assert status == 200
        # Answers come while kernels run, or compile: in 0.1 s on a machine that has
        # nothing else to do, which this one need not be.
        assert time.monotonic() - begin < 2.0
        run = json.loads(answer)
        assert run["state"] in ("queued", "running"), run
        if run["progress"] > 0.0:
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert out == ""


def test_command_ends_on_an_early_interrupt(command):
    process, port, token = command
    ask(
        f"http://127.0.0.1:{port}{token}/api/runs",
        {"system": "compactor", "until": 1e3},
    )
    # It is importing, loading or compiling the solver now.
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err


# ---- what may grow without bound -------------------------------------------------


def seconds(function, *arguments):
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def test_a_long_word_in_a_message():
    """A message may hold a word of a request, and a request has a million letters."""
    short, long = (
        seconds(jobs.culprit, f"no parameter '{'a' * n}!'", ["m"]) for n in (2000, 8000)
    )
    # Four times as long takes four times as long, or sixteen times if from each
    # letter; 10 ms for the clock.
    assert long < 8.0 * short + 0.01


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """Return runs whose first one waits until it is told to end."""
    go = threading.Event()

    def compute(self, run):
        assert go.wait(20.0)
        run.scene = b"computed"
        return "finished", ""

    monkeypatch.setattr(Runs, "_compute", compute)
    runs = Runs(tmp_path)
    yield runs, go
    go.set()
    assert runs.close(20.0)


def cancel_many(runs):
    job = jobs.Job(source="system", name="belt")
    first = runs.add(job)
    while first.state == "queued":
        time.sleep(0.01)
    for _ in range(2 * runs_module.MAX_KEPT):
        runs.cancel(runs.add(job).id)
    return first


def test_a_run_is_not_forgotten_as_it_ends(waiting):
    """Runs cancelled while it was computed are of no more use than its result."""
    runs, go = waiting
    first = cancel_many(runs)
    go.set()
    assert first.done.wait(20.0)
    # The worker forgets runs just after, with this lock held.
    with runs._changed:
        kept = dict(runs._runs)
    time.sleep(0.1)
    assert first.id in kept
    assert runs.get(first.id).scene == b"computed"


def test_cancelled_runs_do_not_pile_up(waiting):
    """Each may hold a model of 1 MB."""
    runs, _ = waiting
    cancel_many(runs)
    assert len(runs.all()) <= runs_module.MAX_KEPT + runs_module.MAX_QUEUE + 1
