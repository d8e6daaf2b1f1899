"""Studies in the app's server: the list, the page's data, runs to open, refusals."""

import json
import shutil
import sqlite3

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from nonsmooth import gallery, simulate
from nonsmooth.app.serve.runs import Runs
from nonsmooth.app.serve.web import application
from nonsmooth.study import Final, Grid, Stroboscopic, WholeRun, sweep

HOME = "http://127.0.0.1:8765/token-of-the-tests"
PATIENCE = 200.0  # s, a cold cache compiles


def belts(store, n=3, **outputs):
    return sweep(
        "belt",
        {"speed": Grid(low=0.1, high=0.3, n=n), "sole.friction.mu": [0.1, 0.2]},
        {"x": Final(column="block.x"), **outputs},
        until="0.2/speed",
        settings={"k": 120.0},
        title="belts <b>",
        store=store,
        rtol=1e-7,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a study, made once."""
    folder = tmp_path_factory.mktemp("made")
    points = Stroboscopic(column="block.x", period=0.1, n=4)
    table = belts(folder / "belts.db", points=points)
    return folder, table


@pytest.fixture
def folder(made, tmp_path):
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    for name in ("belts.db", "deep/belts.db"):
        shutil.copy(made[0] / "belts.db", inside / name)
    shutil.copy(made[0] / "belts.db", tmp_path / "secret.db")
    (inside / "link.db").symlink_to(tmp_path / "secret.db")
    (inside / "other.db").write_text("no database")
    with sqlite3.connect(inside / "foreign.db") as db:
        db.execute("CREATE TABLE runs (k)")
    return inside


@pytest.fixture
def client(folder):
    runs = Runs(folder)
    app = application(folder, 8765, runs, "token-of-the-tests")
    yield TestClient(app, base_url=HOME, raise_server_exceptions=False)
    assert runs.close(PATIENCE)


def post(client, path, data):
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(data), headers=headers)


def opened(client, data):
    """Open a run of a study and wait for it."""
    answer = post(client, "/api/studies/open", data)
    assert answer.status_code == 201, answer.text
    id = answer.json()["id"]
    own = client.app.routes[1].endpoint.__self__.runs
    assert own.get(id).done.wait(PATIENCE)
    return id, client.get(f"/api/runs/{id}").json()


def test_studies_are_listed(client):
    found = client.get("/api/studies").json()["studies"]
    assert [one["file"] for one in found] == ["belts.db", "deep/belts.db"]
    assert found[0]["title"] == "belts <b>"
    assert found[0]["counts"] == {"done": 6}
    page = client.get("/studies").text
    assert '<a href="study?file=deep/belts.db">belts &lt;b&gt;</a>' in page
    assert "6 done" in page


def test_page_and_script(client):
    answer = client.get("/study?file=deep/belts.db")
    assert '<script src="static/study.js">' in answer.text
    assert "belts &lt;b&gt;" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "frame-src 'self'" in policy
    script = client.get("/static/study.js")
    assert script.headers["content-type"].startswith("text/javascript")


def test_data_are_sent_when_they_are_news(client, made):
    data = client.get("/api/studies/data?file=belts.db").json()
    assert data["columns"]["x"] == made[1]["x"].tolist()
    assert data["columns"]["points"][0] == made[1]["points"][0]
    assert data["counts"] == {"done": 6}
    assert data["dims"] == {"speed": 3, "sole.friction.mu": 2}
    assert data["until"] == pytest.approx([2.0, 2.0, 1.0, 1.0, 2 / 3, 2 / 3])
    assert data["command"] == "nonsmooth run belt --set k=120.0 --rtol 1e-07"
    again = client.get(
        "/api/studies/data", params={"file": "belts.db", "since": data["stamp"]}
    ).json()
    assert set(again) == {"stamp", "counts"}


def test_a_run_is_opened_as_the_study_made_it(client, made):
    id, run = opened(client, {"file": "belts.db", "run": 3})
    assert run["state"] == "finished"
    assert run["until"] == 1.0
    model = gallery.belt(speed=0.2, k=120.0, mu=0.2)
    expected = simulate(model, 1.0, rtol=1e-7)
    assert run["summary"]["steps"] == len(expected.steps.t)
    assert made[1].run(3).sample(1.0, "block.x")["block.x"][0] == made[1]["x"][3]
    view = client.get(f"/api/runs/{id}/view")
    assert 'id="scene"' in view.text
    assert view.headers["x-frame-options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in view.headers["content-security-policy"]


def test_a_run_that_was_kept_is_read(client, folder):
    belts(folder / "whole.db", n=1, run=WholeRun())
    (folder / "whole.runs" / "1.nsr").rename(folder / "whole.runs" / "0.nsr")
    # Run 0 is now what run 1 was: it was read, and not computed again.
    _, run = opened(client, {"file": "whole.db", "run": 0})
    assert run["state"] == "finished"
    expected = simulate(gallery.belt(speed=0.1, k=120.0, mu=0.2), 2.0, rtol=1e-7)
    assert run["summary"]["steps"] == len(expected.steps.t)


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("", 403, "relative path"),
        ("../secret.db", 403, "relative path"),
        ("/etc/passwd", 403, "relative path"),
        ("link.db", 403, "outside the folder"),
        ("belts.yaml", 403, "ends in .db"),
        ("nothing.db", 404, "no file"),
        ("other.db", 422, "other.db: this is not the index of a study"),
        ("foreign.db", 422, "foreign.db: the index is damaged"),
    ],
)
def test_other_files_are_refused(client, folder, name, status, why):
    answers = [
        client.get("/study", params={"file": name}),
        client.get("/api/studies/data", params={"file": name}),
        post(client, "/api/studies/open", {"file": name, "run": 0}),
    ]
    for answer in answers:
        assert answer.status_code == status
        assert why in answer.json()["error"]
        assert str(folder) not in answer.text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"file": "belts.db"}, "give file"),
        ({"file": 3, "run": 0}, "give file"),
        ({"file": "belts.db", "run": 0, "more": 1}, "give file"),
        ({"file": "belts.db", "run": "0"}, "give a number"),
        ({"file": "belts.db", "run": 6}, "there are 0 to 5"),
        ({"file": "belts.db", "run": -1}, "there are 0 to 5"),
    ],
)
def test_bad_requests_are_refused(client, data, why):
    answer = post(client, "/api/studies/open", data)
    assert answer.status_code == 422
    assert why in answer.json()["error"]
