"""The app's server: who may ask, what crashes, what does not listen, how it ends."""

import os
import signal
import socket
import subprocess
import time
import urllib.request

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from nonsmooth.app.serve import server, web, worker
from nonsmooth.errors import ModelError
from tests.unit.test_serve import (
    HOME,
    PORT,
    TOKEN,
    Client,
    began,
    client,
    command,
    folder,
    refused,
)

__all__ = ["client", "command", "folder"]

# ---- the token -------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/", "/api/runs", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"//{TOKEN}/", "/x/" + TOKEN],
)
def test_without_its_token_nothing_is_answered(client, path):
    home = f"http://127.0.0.1:{PORT}"
    assert refused(client.http.get(home + path), 403) == web.NO_TOKEN
    data = {"system": "belt", "until": 0.1}
    headers = {"content-type": "application/json"}
    answer = client.http.post(f"{home}/api/runs", json=data, headers=headers)
    assert refused(answer, 403) == web.NO_TOKEN
    assert client.get("/api/runs").json()["runs"] == []


def test_the_address_may_lack_its_last_slash(client):
    answer = client.http.get(HOME, follow_redirects=False)
    assert answer.headers["location"] == f"/{TOKEN}/"


def test_each_server_has_a_token_of_its_own(monkeypatch):
    monkeypatch.delenv(server.TOKEN, raising=False)
    one, other = server._token(), server._token()
    assert one != other
    assert server.IS_TOKEN.fullmatch(one)
    monkeypatch.setenv(server.TOKEN, "short")
    with pytest.raises(ModelError, match="NONSMOOTH_TOKEN: 5 letters; give 16 to 100"):
        server._token()


def test_the_way_to_the_browser_is_for_this_user(monkeypatch, tmp_path):
    """The arguments of a browser are seen by all; the file that it opens is not."""
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path / "cache"))
    with server._way_to("http://127.0.0.1:1/secret/") as place:
        (path,) = (tmp_path / "cache").iterdir()
        assert "secret" not in place
        assert place == path.as_uri()
        assert "http://127.0.0.1:1/secret/" in path.read_text()
        if os.name != "nt":
            assert path.stat().st_mode & 0o077 == 0
    assert not path.exists()


# ---- crashing, not listening -----------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_a_run_that_crashes_takes_its_process_only(client):
    id = client.start(system="compactor", until=1000.0)
    began(client, id)
    waits = client.start(system="belt", until=0.1)
    os.kill(client.runs.worker.pid, signal.SIGSEGV)
    run = client.wait(id)
    assert run["state"] == "failed"
    assert "ended by signal 11, SIGSEGV, while simulating" in run["message"]
    assert "nothing was computed" in refused(client.get(f"/api/runs/{id}/scene"), 404)
    assert client.wait(waits)["state"] == "finished"


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_what_does_not_listen_is_ended(client):
    """A second after Cancel the run is over, whatever its process does."""
    id = client.start(system="compactor", until=1000.0)
    began(client, id)
    # It cannot hear: its process stands still.
    os.kill(client.runs.worker.pid, signal.SIGSTOP)
    begin = time.monotonic()
    client.post(f"/api/runs/{id}/cancel")
    run = client.wait(id)
    # The grace, and what ending and starting threads takes on a busy machine.
    assert time.monotonic() - begin < worker.GRACE + 1.0
    assert run["state"] == "cancelled"
    assert run["message"] == "cancelled while simulating"
    assert client.run(system="belt", until=0.1)["state"] == "finished"


def test_an_answer_that_nobody_takes_does_not_hold_up_the_end(command):
    """The end is quiet, and comes."""
    process, port, token = command
    address = f"http://127.0.0.1:{port}{token}"
    with urllib.request.urlopen(f"{address}/static/serve.js") as answer:
        size = len(answer.read())
    assert size > 100_000
    slow = []
    for _ in range(20):
        raw = socket.socket()
        # So small that the answer does not fit between the two.
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", port))
        raw.sendall(
            f"GET {token}/static/serve.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            "".encode()
        )
        slow.append(raw)
    # One that has said half of what it wants.
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(
        f"POST {token}/api/check HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
    )
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        pytest.fail("the server did not end")
    for raw in (*slow, half):
        raw.close()
    assert process.returncode == 0, err
    assert err == ""
    assert out == ""


def test_the_limit_of_memory_ends_a_run(folder):
    client = Client(folder, max_memory=20_000_000)
    run = client.run(system="compactor", until=1000.0)
    assert run["state"] == "stopped"
    assert "fill 20 MB, the limit" in run["message"]
    assert run["has_scene"]
    assert client.runs.close(20.0)
