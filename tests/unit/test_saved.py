"""Runs on disk: what is loaded says what was saved; anything else is refused."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import (
    Baumgarte,
    Contact,
    Coulomb,
    FlexibleBody,
    HuntCrossley,
    Model,
    ModelError,
    PointMass,
    Result,
    SolveError,
    gallery,
    simulate,
)
from nonsmooth.solve.saved import FORMAT_KEY, HEAD


def bouncing(**changes) -> Model:
    sole = Contact(
        name="sole",
        b="ball",
        normal=HuntCrossley(stiffness=1e5, damping=0.1),
        friction=Coulomb(mu=0.3, mu_static=0.5),
    )
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.2), velocity=(1.0, 0.0))
    return Model(gravity=(0.0, -9.81), bodies=[ball], contacts=[sole], **changes)


@pytest.fixture(scope="module")
def result():
    return simulate(bouncing(), until=0.7)


@pytest.fixture
def file(result, tmp_path):
    result.save(tmp_path / "run.nsr")
    return tmp_path / "run.nsr"


def again(result: Result) -> Result:
    whole = io.BytesIO()
    result.save(whole)
    whole.seek(0)
    return Result.load(whole)


def assert_same(a: Result, b: Result) -> None:
    """Compare everything two results say, to the last bit."""
    assert a.system.model == b.system.model
    assert a.summary() == b.summary()
    assert a.columns == b.columns
    assert str(a.events) == str(b.events)
    if len(a.steps.t) == 0:
        return
    t = np.linspace(a.t_start, a.t_end, 37)
    for limit in ("before", "after"):
        ours, theirs = a.sample(t, limit=limit), b.sample(t, limit=limit)
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    if a.options["scheme"] != "waves":
        # A state has NaN where nothing has touched down.
        assert repr(a.state()) == repr(b.state())
    np.testing.assert_array_equal(a.steps.arc, b.steps.arc)
    np.testing.assert_array_equal(a.crossed, b.crossed)
    for name, work in a.energy_balance.work.items():
        np.testing.assert_array_equal(work, b.energy_balance.work[name])


# Parts of their usual time after which systems of the gallery have something to say;
# the others have after a hundredth.
PARTS = {"belt": 0.1, "compactor": 0.05, "box_stack": 0.03, "flexible_slider": 0.05}


@pytest.mark.parametrize("name", gallery.names())
def test_systems_of_the_gallery_come_back(name):
    until = PARTS.get(name, 0.01) * gallery.duration(name)
    result = simulate(gallery.build(name), until=until)
    loaded = again(result)
    assert_same(result, loaded)
    for flexible in (b.name for b in result.system.model.bodies if is_flexible(b)):
        ours, theirs = (r.field(flexible, "stress", r.t_end) for r in (result, loaded))
        np.testing.assert_array_equal(ours.places, theirs.places)
        np.testing.assert_array_equal(ours.values, theirs.values)


def is_flexible(body) -> bool:
    return isinstance(body, FlexibleBody)


@pytest.mark.parametrize("method", ["central", "newmark", "moreau"])
def test_waves_come_back(method):
    step = None if method == "central" else 1e-6
    result = simulate(gallery.build("rods"), 1e-4, method=method, step=step)
    loaded = again(result)
    assert_same(result, loaded)
    if method == "central":
        contact = result.system.contacts[0]
        ours, theirs = (r.pressure(contact, 5e-5) for r in (result, loaded))
        np.testing.assert_array_equal(ours.forces, theirs.forces)


def test_waves_of_another_mesh_are_refused(tmp_path):
    simulate(gallery.build("rods"), 2e-5).save(tmp_path / "run.nsr")

    def move(head, members):
        raw = io.BytesIO()
        np.save(raw, np.load(io.BytesIO(members["waves/place.npy"])) + 1e-6)
        members["waves/place.npy"] = raw.getvalue()

    with pytest.raises(ModelError, match="other meshes"):
        Result.load(edited(tmp_path / "run.nsr", move))


def test_options_come_back():
    result = simulate(
        gallery.build("slider_crank"),
        0.1,
        method="rk4",
        step=1e-3,
        stabilisation=Baumgarte(alpha=3.0, beta=70.0),
    )
    loaded = again(result)
    assert_same(result, loaded)
    assert loaded.options["stabilisation"] == Baumgarte(alpha=3.0, beta=70.0)


def test_a_failed_run_comes_back():
    with pytest.raises(SolveError) as caught:
        simulate(gallery.build("crank_rocker", mu=3.0, driven="rocker"), 5.0)
    result = caught.value.result
    assert result is not None
    loaded = again(result)
    assert_same(result, loaded)
    assert loaded.status == "failed"
    assert loaded.message == str(caught.value)


def test_a_long_run_of_many_chunks_comes_back():
    result = simulate(gallery.build("belt", speed=0.3), 80.0)
    assert len(result.steps.chunks) > 2
    loaded = again(result)
    assert len(loaded.steps.chunks) == len(result.steps.chunks)
    np.testing.assert_array_equal(result["block.x"], loaded["block.x"])


def test_a_flexible_body_needs_no_finite_elements(monkeypatch):
    model = gallery.build("transverse_bars")
    assert any(isinstance(body, FlexibleBody) for body in model.bodies)
    result = simulate(model, 2e-5)
    whole = io.BytesIO()
    result.save(whole)

    def refuse(*_):
        raise AssertionError("the body was reduced again")

    monkeypatch.setattr("nonsmooth.pack.packer.reduce", refuse)
    assert_same(result, Result.load(whole))


def test_another_process_says_the_same(file, result):
    code = (
        "import sys; from nonsmooth import Result; r = Result.load(sys.argv[1]);"
        "print(repr(r.sample([0.0, 0.31, 0.7], 'ball.y')['ball.y'].tolist()));"
        "print(r.events); print(r.verify().events)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = repr(result.sample([0.0, 0.31, 0.7], "ball.y")["ball.y"].tolist())
    assert found.stdout == f"{expected}\n{result.events}\nTrue\n"


def test_a_run_goes_on_from_a_file(result):
    whole = simulate(result.system, 1.0, start=result.state())
    loaded = again(result)
    parts = simulate(loaded.system, 1.0, start=loaded.state())
    np.testing.assert_array_equal(whole["ball.x"], parts["ball.x"])
    assert str(whole.events) == str(parts.events)


def test_numpy_reads_the_numbers(file, result):
    with np.load(file, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["0/t"], result.steps.t[:64])


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.9, 0.9999])
def test_a_torn_file_is_refused(file, part):
    whole = file.read_bytes()
    file.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ModelError, match=r"run\.nsr: (this is not|the file is torn)"):
        Result.load(file)


def test_every_flipped_byte_is_refused_or_harmless(file, result):
    whole = bytearray(file.read_bytes())
    random = np.random.default_rng(5)
    n_refused = 0
    for at in random.integers(0, len(whole), 60).tolist():
        torn = whole.copy()
        torn[at] ^= 0x40
        file.write_bytes(torn)
        try:
            loaded = Result.load(file)
        except ModelError:
            n_refused += 1
        else:
            # Dates and other fields of the archive that say nothing.
            np.testing.assert_array_equal(loaded["ball.y"], result["ball.y"])
    assert n_refused > 30


@pytest.mark.parametrize(
    "content", [b"", b"t,x\n0,1\n", b"\x89PNG\r\n", b"PK\x03\x04 and no more"]
)
def test_a_foreign_file_is_refused(tmp_path, content):
    (tmp_path / "foreign.nsr").write_bytes(content)
    with pytest.raises(ModelError, match=r"foreign\.nsr: "):
        Result.load(tmp_path / "foreign.nsr")


def test_a_foreign_archive_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ModelError, match="not a saved run"):
        Result.load(tmp_path / "other.npz")


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "none.nsr")


def edited(file: Path, change) -> Path:
    """Return a file with another head."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(members[HEAD])
    change(head, members)
    members[HEAD] = json.dumps(head).encode()
    other = file.with_name("edited.nsr")
    with zipfile.ZipFile(other, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return other


def test_another_format_is_refused(file):
    other = edited(file, lambda head, _: head.update({FORMAT_KEY: 7, "library": "3.2"}))
    with pytest.raises(ModelError, match=r"format 7, saved by nonsmooth 3\.2"):
        Result.load(other)


def test_another_model_is_refused(file):
    def change(head, _):
        head["model"]["contacts"][0].pop("friction")

    with pytest.raises(ModelError, match="this release gives the model other guards"):
        Result.load(edited(file, change))


def test_another_order_is_read(file, result):
    """A release that packs in another order reads the file by its names."""

    def change(head, members):
        for what, n_axis in (("state", -1), ("guards", 1), ("contacts", 1)):
            head["layout"][what].reverse()
            for name in members:
                is_own = {
                    "state": name.endswith(("coef.npy", "/end.npy", "y_end.npy")),
                    "guards": name.endswith("fired.npy"),
                    "contacts": name.endswith(("impulse.npy", "/mode.npy")),
                }[what]
                if is_own:
                    array = np.load(io.BytesIO(members[name]))
                    raw = io.BytesIO()
                    np.save(raw, np.flip(array, n_axis))
                    members[name] = raw.getvalue()

    assert_same(result, Result.load(edited(file, change)))


def test_missing_steps_are_refused(file):
    def change(head, members):
        head["chunks"][-1] += 1

    with pytest.raises(ModelError, match="steps are missing"):
        Result.load(edited(file, change))


def test_nothing_pickled_is_read(file):
    def change(head, members):
        raw = io.BytesIO()
        np.save(raw, np.array([object()], dtype=object), allow_pickle=True)
        members["y_end.npy"] = raw.getvalue()

    with pytest.raises(ModelError, match="damaged"):
        Result.load(edited(file, change))
