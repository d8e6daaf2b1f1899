"""The app's server: models as texts, their drawings, and files that are saved."""

import json

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from nonsmooth import gallery, io
from tests.unit.test_serve import ARM, client, folder, header, refused

__all__ = ["client", "folder"]


def test_the_schema_is_no_model(client, folder):
    (folder / "model.schema.json").write_text(json.dumps(io.schema(), indent=2))
    (folder / "plain.json").write_text(json.dumps({"nonsmooth": 1, "bodies": []}))
    (folder / "about.yaml").write_text("text: nonsmooth is a library\n")
    files = client.get("/api/files").json()["files"]
    assert files == ["arm.yaml", "plain.json", "deep/burst.yml"]
    assert client.get("/api/schema").json() == io.schema()


@pytest.mark.parametrize("name", ["belt", "compactor", "latch", "rods", "ball_on_beam"])
def test_a_start_is_drawn_without_a_run(client, name):
    answer = client.post("/api/draw", {"system": name})
    assert answer.status_code == 200, answer.text
    found = header(answer.content)
    assert found["run"]["message"] == "not run yet"
    bodies = {body["name"] for body in found["bodies"]} - {"ground"}
    assert bodies == {body.name for body in gallery.build(name).bodies} - {"ground"}
    assert client.get("/api/runs").json()["runs"] == []


def test_a_drawing_follows_its_parameters(client):
    boxes = [
        header(client.post("/api/draw", {"file": "arm.yaml", **more}).content)["box"]
        for more in ({}, {"parameters": {"arm.angle": 1.5707963267948966}})
    ]
    # The stand of the hinge is at (0, 0), the mass centre at (0.5, 0), the pin 0.5 m
    # left of it, or turned 0.5 m below it.
    assert boxes[0] == pytest.approx([0.0, 0.0, 0.5, 0.0], abs=1e-6)
    assert boxes[1] == pytest.approx([0.0, -0.5, 0.5, 0.0], abs=1e-6)


def test_what_cannot_be_drawn_is_refused(client):
    answer = client.post("/api/draw", {"text": "nonsmooth: 1\nbodies: 3"})
    assert "bodies" in refused(answer, 422)
    text = ARM.replace("arm.pin", "arm.pim")
    answer = client.post("/api/draw", {"text": text})
    assert "'arm.pim'" in refused(answer, 422)
    assert client.post("/api/draw", {"system": "belt"}).status_code == 200


def test_all_errors_of_a_text_are_told(client):
    text = ARM.replace("mass: 1", "mass: -1").replace("Revolute", "Revolut")
    found = client.post("/api/check", {"text": text, "name": "mine.yaml"}).json()
    assert found["ok"] is False
    assert found["error"] == found["errors"][0]
    assert [("line 5" in e, "line 8" in e) for e in found["errors"]] == [
        (True, False),
        (False, True),
    ]


def test_a_text_knows_how_long_it_runs(client):
    text = f"{ARM}run: {{until: 0.25}}\n"
    assert client.post("/api/check", {"text": text}).json()["until"] == 0.25
    assert client.run(text=text)["summary"]["t_end"] == 0.25
    assert client.run(text=text, until=0.1)["summary"]["t_end"] == 0.1


def test_a_model_as_a_text(client, folder):
    (folder / "arm.yaml").write_text(f"# a remark\n{ARM}")
    found = client.post("/api/text", {"file": "arm.yaml"}).json()
    assert found["text"] == f"# a remark\n{ARM}"
    assert (found["name"], found["format"]) == ("arm.yaml", "yaml")
    data = {"system": "belt", "parameters": {"mu": 0.25}}
    found = client.post("/api/text", data).json()
    assert found["name"] == "belt.yaml"
    assert found["stamp"] is None
    assert io.loads(found["text"]) == gallery.build("belt", mu=0.25)


def test_a_file_is_saved(client, folder):
    data = {"file": "new.yaml", "text": ARM, "stamp": None}
    answer = client.post("/api/files", data)
    assert answer.status_code == 201
    assert (folder / "new.yaml").read_text() == ARM
    assert "new.yaml" in client.get("/api/files").json()["files"]
    # What is there is not overwritten unawares.
    assert "is there already" in refused(client.post("/api/files", data), 409)
    data["stamp"], data["text"] = answer.json()["stamp"], ARM + "# more\n"
    assert client.post("/api/files", data).status_code == 201
    assert (folder / "new.yaml").read_text() == ARM + "# more\n"
    (folder / "new.yaml").write_text("someone else\n")
    assert "has changed meanwhile" in refused(client.post("/api/files", data), 409)
    assert (folder / "new.yaml").read_text() == "someone else\n"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("../out.yaml", 403),
        ("/tmp/out.yaml", 403),
        ("out.txt", 403),
        ("out", 403),
        (".out.yaml", 403),
        ("way/out.yaml", 403),
        ("link.yaml", 403),
        ("loop.yaml", 403),
        ("folder.yaml", 403),
        ("none/out.yaml", 404),
        ("a\0.yaml", 403),
        ("x" * 300 + ".yaml", 422),
        ("", 403),
    ],
)
def test_files_are_saved_in_the_folder_only(client, folder, name, status):
    before = {path: path.lstat().st_mtime_ns for path in folder.parent.rglob("*")}
    data = {"file": name, "text": "gone", "stamp": None}
    refused(client.post("/api/files", data), status)
    after = {path: path.lstat().st_mtime_ns for path in folder.parent.rglob("*")}
    assert after == before


def test_bad_savings_are_refused(client):
    for data in ({}, {"file": "a.yaml"}, {"file": 1, "text": "", "stamp": None}):
        refused(client.post("/api/files", data), 422)
    data = {"file": "a.yaml", "text": "\ud800", "stamp": None}
    assert "not valid Unicode" in refused(client.post("/api/files", data), 422)
