"""Every path of contact once, small enough to run as plain Python.

With NUMBA_DISABLE_JIT=1 the kernels are ordinary functions on arrays, with bounds
checked; with the JIT on the same tests run in no time. Expected values are closed
forms, so that both give the same numbers.
"""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Distance,
    Expression,
    Flores,
    Harmonic,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointForce,
    PointMass,
    Polygon,
    RigidBody,
    Segment,
    gallery,
    simulate,
)
from nonsmooth.kernels.abi import JIT
from oracles import stick_slip

pytestmark = pytest.mark.jit_off

G = 9.81
# Located events of motions that the method integrates to rtol = 1e-6 .. 1e-8.
LOCATED = 1e-6


def kinds(result):
    return [r.kind for r in result.events]


def test_the_first_slips_of_the_belt():
    result = simulate(gallery.build("belt"), 1.1, rtol=1e-6)
    assert kinds(result) == ["break_away", "stick", "break_away"]
    expected = stick_slip.Belt().events(3)
    np.testing.assert_allclose(result.events.t, expected, rtol=0.0, atol=LOCATED)


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_a_throw_up_the_incline(method):
    result = simulate(gallery.build("incline", mu0=0.35), 0.6, method=method, rtol=1e-5)
    assert kinds(result) == ["reverse"]
    assert result.events.t[0] == pytest.approx(0.490137375, abs=1e-4)


def test_a_bounce_and_its_release():
    """Without gravity: d'' + c d' + k d = 0 from the speed of touch-down."""
    k, c, speed = 400.0, 6.0, 2.0
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.1), velocity=(0.0, -speed))
    contact = Contact(name="c", b="ball", normal=KelvinVoigt(stiffness=k, damping=c))
    model = Model(bodies=[ball], contacts=[contact])
    result = simulate(model, 0.3, rtol=1e-8)
    assert kinds(result) == ["touch_down", "release", "separate"]
    w = math.sqrt(k - 0.25 * c * c)
    # k d + c d' = 0: tan ws = -c w/(k - c²/2)
    grip = (math.pi - math.atan2(c * w, k - 0.5 * c * c)) / w
    depth = speed / w * math.exp(-0.5 * c * grip) * math.sin(w * grip)
    up = k * depth / c
    times = np.cumsum([0.1 / speed, grip, depth / up])
    np.testing.assert_allclose(result.events.t, times, rtol=0.0, atol=LOCATED)
    assert result.state().velocities["ball"][1] == pytest.approx(up, abs=LOCATED)


def test_a_law_that_remembers_and_a_run_that_is_cut():
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.01))
    law = Flores(stiffness=2e4, restitution=0.6)
    contact = Contact(name="c", b="ball", normal=law)
    model = Model(gravity=(0.0, -G), bodies=[ball], contacts=[contact])
    whole = simulate(model, 0.1, rtol=1e-6)
    touch = math.sqrt(0.02 / G)
    assert whole.events.t[0] == pytest.approx(touch, abs=LOCATED)
    state = whole.state(touch + 5e-3)
    assert state.mode["c"]["approach"] == pytest.approx(G * touch, abs=LOCATED)
    rest = simulate(model, 0.1, rtol=1e-6, start=state)
    ours, theirs = (r.state().positions["ball"][1] for r in (whole, rest))
    assert ours == pytest.approx(theirs, abs=1e-5)


def test_a_disc_slides_and_rolls():
    radius, stiffness, speed, mu = 0.1, 1e3, 1.0, 0.5
    disc = RigidBody(
        name="disc",
        mass=1.0,
        inertia=0.5 * radius**2,
        position=(0.0, radius - G / stiffness),
        velocity=(speed, 0.0),
        shapes={"rim": Circle(radius=radius)},
    )
    contact = Contact(
        name="c",
        b="disc.rim",
        normal=KelvinVoigt(stiffness=stiffness),
        friction=Coulomb(mu=mu),
    )
    model = Model(gravity=(0.0, -G), bodies=[disc], contacts=[contact])
    result = simulate(model, 0.15, rtol=1e-6)
    assert kinds(result) == ["stick"]
    assert result.events.t[0] == pytest.approx(speed / (3 * mu * G), abs=LOCATED)
    assert result.state().velocities["disc"][0] == pytest.approx(
        2 / 3 * speed, abs=LOCATED
    )


def test_two_that_hold_each_other():
    """Joined by a rod: friction is not unique, the limit of both is."""
    sink = 1024.0
    bodies = [
        PointMass(name=f"b{k}", mass=1.0, position=(float(k), -G / sink))
        for k in range(2)
    ]
    contacts = [
        Contact(
            name=f"c{k}",
            b=f"b{k}",
            normal=KelvinVoigt(stiffness=sink),
            friction=Coulomb(mu=0.2, mu_static=0.3),
        )
        for k in range(2)
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        contacts=contacts,
        joints=[Distance(name="rod", a="b0", b="b1", length=1.0)],
        forces=[PointForce(name="push", b="b0", fx=Expression(text="100*t"))],
    )
    result = simulate(model, 0.08, rtol=1e-6)
    assert kinds(result) == ["break_away", "break_away"]
    np.testing.assert_allclose(result.events.t, 0.006 * G, rtol=0.0, atol=LOCATED)


OUTLINE = ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))


@pytest.mark.parametrize(
    "shape",
    [
        Segment(start=(0.1, 0.1), end=(0.1, -0.1)),
        Polygon(vertices=OUTLINE),
        Circle(radius=0.1),
    ],
    ids=lambda s: type(s).__name__,
)
def test_shapes_that_meet_in_flight(shape):
    bodies = [
        RigidBody(
            name="a", mass=1.0, inertia=0.01, velocity=(1.0, 0.0), shapes={"s": shape}
        ),
        RigidBody(
            name="b",
            mass=1.0,
            inertia=0.01,
            position=(0.25, 0.02),
            shapes={"s": Circle(radius=0.1)},
        ),
    ]
    contact = Contact(
        name="c",
        a="a.s",
        b="b.s",
        normal=KelvinVoigt(stiffness=2e3),
        friction=Coulomb(mu=0.2),
    )
    result = simulate(Model(bodies=bodies, contacts=[contact]), 0.15, rtol=1e-6)
    assert kinds(result)[0] == "touch_down"
    assert kinds(result)[-1] == "separate"
    end = result.state().velocities
    assert end["a"][0] + end["b"][0] == pytest.approx(1.0, abs=1e-12)
    balance = result.energy_balance
    assert balance.residual <= 1e-5 * balance.exchanged


def test_released_and_gripped_again_on_a_driven_plate():
    plate = MovingSupport(
        name="plate", y=Harmonic(amplitude=1.3e-3, angular_frequency=100.0)
    )
    ball = PointMass(name="ball", mass=1.0, position=(0.0, -1e-3), velocity=(0.0, 0.13))
    contact = Contact(
        name="c",
        a="plate",
        b="ball",
        normal=KelvinVoigt(stiffness=4e3, damping=120.0),
    )
    model = Model(gravity=(0.0, -G), bodies=[plate, ball], contacts=[contact])
    result = simulate(model, 0.12, rtol=1e-6)
    assert kinds(result)[:2] == ["release", "re_engage"]
    balance = result.energy_balance
    assert balance.residual <= 1e-5 * balance.exchanged


def test_the_papers_scheme():
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.01), velocity=(0.3, 0.0))
    contact = Contact(
        name="c",
        b="ball",
        normal=KelvinVoigt(stiffness=2e3, damping=60.0),
        friction=Coulomb(mu=0.5),
    )
    model = Model(gravity=(0.0, -G), bodies=[ball], contacts=[contact])
    result = simulate(model, 0.15, scheme="paper", step=2e-4, stabilisation="none")
    assert kinds(result)[0] == "touch_down"
    # To one step.
    assert result.events.t[0] == pytest.approx(math.sqrt(0.02 / G), abs=2e-4)
    assert "stick" in kinds(result)


SCRIPT = """
import json
from nonsmooth import *
ground = Ground(shapes={"floor": Line(), "step": Line(point=(0.0, 0.1))})
body = RigidBody(name="sledge", mass=2.0, inertia=0.1, position=(0.0, 0.25),
                 velocity=(0.1, 0.0),
                 points={"heel": (-0.3, -0.26), "toe": (0.25, -0.16)})
soft = KelvinVoigt(stiffness=1500.0, damping=20.0)
dry = Coulomb(mu=0.25, mu_static=0.35)
model = Model(
    gravity=(0.0, -9.81), bodies=[body, ground],
    contacts=[
        Contact(name=name, a=a, b="sledge." + name, normal=soft, friction=dry)
        for name, a in (("heel", "ground.floor"), ("toe", "ground.step"))
    ],
    forces=[PointForce(name="shake", b="sledge", fx=Expression(text="9*sin(20*t)"))],
)
result = simulate(model, 0.25, rtol=1e-6)
print(json.dumps({
    "events": [(r.t, r.element, r.kind) for r in result.events],
    "end": result.state().positions["sledge"],
}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="compares this process with one without the JIT")
def test_plain_python_gives_the_same_run():
    """Both feet together, in two processes."""

    def run(**environment):
        found = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(found.stdout)

    ours, theirs = run(), run(NUMBA_DISABLE_JIT="1")
    assert [e[1:] for e in ours["events"]] == [e[1:] for e in theirs["events"]]
    assert len(ours["events"]) >= 3
    # The compiler contracts and reorders sums: round-off of some hundred steps.
    t, s = ([e[0] for e in run["events"]] for run in (ours, theirs))
    np.testing.assert_allclose(t, s, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(ours["end"], theirs["end"], rtol=0.0, atol=1e-11)
