"""What broke the viewer's data or its server; it fails as expected until mended."""

import threading
import time

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    ModelError,
    Revolute,
    RigidBody,
    SpringDamper,
    gallery,
    io,
    simulate,
)
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.views.scene import scene
from oracles.scene_reader import Document


def ball(x=0.0, name="ball"):
    """Return a ball that falls on a floor and rolls off, at a place."""
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            Ground(shapes={"floor": Line(point=(x, 0.0))}),
            RigidBody(
                name=name,
                mass=1.0,
                inertia=0.1,
                position=(x, 0.5),
                velocity=(1.0, 0.0),
                shapes={"disc": Circle(radius=0.1)},
            ),
        ],
        contacts=[
            Contact(
                name="sole",
                a="ground.floor",
                b=f"{name}.disc",
                normal=KelvinVoigt(stiffness=1e4, damping=5.0),
                friction=Coulomb(mu=0.3),
            )
        ],
    )


# ---- the document ----------------------------------------------------------------


@pytest.mark.parametrize("column", ["ball.x", "sole.place_x"])
def test_places_far_from_the_origin(column):
    """At 1000 km a ball that moves by 0.4 m must not jump by 6 cm."""
    result = simulate(ball(x=1e6), until=1.0)
    document = Document(scene(result))
    t = np.array(document.column("t"))
    # The disc touches below its centre.
    x = result.sample(t, ["ball.x"])["ball.x"]
    found = np.array(document.column(column))
    # A tenth of a pixel in a picture of 1000.
    assert np.max(np.abs(found - x)) < 1e-4 * np.ptp(x)


def sprung(name):
    return Model(
        gravity=(0.0, -9.81),
        bodies=[RigidBody(name="block", mass=1.0, inertia=1.0)],
        forces=[SpringDamper(name=name, b="block", stiffness=20.0, damping=1.0)],
    )


@pytest.mark.parametrize("name", ["kinetic", "potential", "mode", "side"])
def test_works_of_any_name(name):
    result = simulate(sprung(name), until=1.0)
    document = Document(scene(result))
    names = document.header["energy"]
    t = np.array(document.column("t"))
    ledger = result.energies(t)
    expected = [ledger.kinetic, ledger.potential, ledger.work[name]]
    columns = [names["kinetic"], names["potential"], *names["works"]]
    for column, values in zip(columns, expected, strict=True):
        # Single precision.
        size = 2.0**-23 * np.max(np.abs(values))
        np.testing.assert_allclose(document.column(column), values, rtol=0, atol=size)


def test_units_of_a_body_called_energy():
    document = Document(scene(simulate(ball(name="energy"), until=0.1)))
    units = {name: info["unit"] for name, info in document.infos.items()}
    assert units["energy.x"] == "m"
    assert units["energy.omega"] == "rad/s"
    assert units["energy:kinetic"] == "J"


@pytest.mark.parametrize("is_driven", [True, False])
def test_a_point_that_turns_fast(is_driven):
    """A crank turns 32 times in 4 steps: its tip moves on a circle all the same."""
    crank = RigidBody(
        name="crank",
        mass=1.0,
        inertia=0.1,
        angular_velocity=20.0,
        points={"tip": (1.0, 0.0)},
    )
    law = ConstantRate(rate=20.0)
    drives = [RotationDrive(name="motor", b="crank", law=law)] if is_driven else []
    model = Model(
        bodies=[crank], joints=[Revolute(name="pin", b="crank")], drives=drives
    )
    header = Document(scene(simulate(model, until=10.0))).header
    # Ten samples in a turn show the width of a circle to 1 - cos(pi / 10) = 5 %.
    np.testing.assert_allclose(header["box"], [-1, -1, 1, 1], rtol=0, atol=0.05)
    assert header["sampling"]["n"] > 10 * 20.0 * 10.0 / (2.0 * np.pi)


# ---- the gallery's sliders -------------------------------------------------------


def ends():
    """Yield the ends of all sliders."""
    for system in gallery.names():
        for item in gallery.parameters(system):
            if item.low is None or item.high is None:
                continue
            for end in (item.low, item.high):
                yield system, item.name, end


@pytest.mark.parametrize(("system", "name", "end"), list(ends()))
def test_the_end_of_one_slider_can_be_run(system, name, end):
    """All else as it is by default; a range that cannot be run is too wide."""
    simulate(gallery.build(system, **{name: end}), until=1e-3)


# ---- the server ------------------------------------------------------------------


def seconds(function, *arguments):
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def test_a_long_word_in_a_message():
    """A message may hold a word of a request, and a request has a million letters."""
    jobs = pytest.importorskip("nonsmooth.app.serve.jobs")
    short, long = (
        seconds(jobs.culprit, f"no parameter '{'a' * n}!'", ["m"]) for n in (2000, 8000)
    )
    # Four times as long takes four times as long, or sixteen times if from each
    # letter; 10 ms for the clock.
    assert long < 8.0 * short + 0.01


def test_whole_numbers_of_any_length():
    """Python writes numbers of at most 4300 digits; a message shows its number."""
    text = "nonsmooth: 1\nbodies:\n  - {type: PointMass, name: a, mass: 0xNUMBER}\n"
    with pytest.raises(ModelError, match="mass"):
        io.loads(text.replace("NUMBER", "f" * 5000))


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """Return runs whose first one waits until it is told to end."""
    module = pytest.importorskip("nonsmooth.app.serve.runs")
    go = threading.Event()

    def compute(self, run):
        assert go.wait(20.0)
        run.scene = b"computed"
        return "finished", ""

    monkeypatch.setattr(module.Runs, "_compute", compute)
    runs = module.Runs(tmp_path)
    yield module, runs, go
    go.set()
    assert runs.close(20.0)


def cancel_many(module, runs):
    from nonsmooth.app.serve.jobs import Job

    job = Job(source="system", name="belt")
    first = runs.add(job)
    while first.state == "queued":
        time.sleep(0.01)
    for _ in range(2 * module.MAX_KEPT):
        runs.cancel(runs.add(job).id)
    return first


def test_a_run_is_not_forgotten_as_it_ends(waiting):
    """Runs cancelled while it was computed are of no more use than its result."""
    module, runs, go = waiting
    first = cancel_many(module, runs)
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
    module, runs, _ = waiting
    cancel_many(module, runs)
    assert len(runs.all()) <= module.MAX_KEPT + module.MAX_QUEUE + 1
