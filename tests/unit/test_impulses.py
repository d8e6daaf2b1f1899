"""Impulses are what changes momentum and angular momentum."""

from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Ground,
    Hertz,
    KelvinVoigt,
    Model,
    ModelError,
    PointForce,
    PointMass,
    Polygon,
    Revolute,
    RigidBody,
    simulate,
)

# Impulses are of dense output and the change of momentum of steps: they differ by the
# error of integration, of which rtol is the size in a step.
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-14}
DRY = Coulomb(mu=0.3, mu_static=0.4)


def momentum(result, body, mass, inertia, t):
    """Return momentum, and angular momentum about the origin."""
    kinds = ("x", "y", "vx", "vy", "omega")
    s = result.sample(t, [f"{body}.{kind}" for kind in kinds])
    x, y, vx, vy, omega = (s[f"{body}.{kind}"][0] for kind in kinds)
    return np.array([mass * vx, mass * vy, mass * (x * vy - y * vx) + inertia * omega])


def test_double_pendulum_that_strikes_the_floor():
    """Without gravity: hinge and floor on both rods, elbow and floor on the second."""
    one = RigidBody(
        name="one",
        mass=2.0,
        inertia=0.05,
        position=(0.0, 0.75),
        angle=-np.pi / 2,
        angular_velocity=0.5,
        velocity=(0.125, 0.0),
        points={"top": (-0.25, 0.0), "end": (0.25, 0.0)},
    )
    two = RigidBody(
        name="two",
        mass=1.0,
        inertia=0.02,
        position=(0.25, 0.5),
        angular_velocity=-8.0,
        velocity=(0.25, -2.0),
        points={"end": (-0.25, 0.0)},
        shapes={"tip": Circle(radius=0.05, center=(0.25, 0.0))},
    )
    model = Model(
        bodies=[Ground(points={"hook": (0.0, 1.0)}), one, two],
        joints=[
            Revolute(name="hinge", b="one.top", a="ground.hook"),
            Revolute(name="elbow", a="one.end", b="two.end"),
        ],
        contacts=[
            Contact(
                name="floor", b="two.tip", normal=Hertz(stiffness=1e6), friction=DRY
            )
        ],
    )
    result = simulate(model, until=0.3, **TIGHT)
    assert {"touch_down", "separate"} <= {event.kind for event in result.events}
    rods = [("one", 2.0, 0.05), ("two", 1.0, 0.02)]
    touch = next(event.t for event in result.events if event.kind == "touch_down")
    # The second span begins in the middle of the blow.
    for begin, end in ((0.0, 0.3), (touch + 1e-3, 0.2)):
        gained = [
            momentum(result, *rod, end) - momentum(result, *rod, begin) for rod in rods
        ]
        hinge, elbow, floor = (
            np.array(result.impulse(name, begin, end))
            for name in ("hinge", "elbow", "floor")
        )
        size = np.abs(floor).max()
        assert hinge - elbow == pytest.approx(gained[0], abs=1e-9 * size)
        assert elbow + floor == pytest.approx(gained[1], abs=1e-9 * size)
        assert floor[1] > 0.1


def test_box_on_its_face():
    """A contact over an area, with friction, and one taken apart into its corners."""
    corners = ((-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1))
    box = RigidBody(
        name="box",
        mass=2.0,
        inertia=0.05,
        position=(0.3, 0.12),
        angle=0.05,
        velocity=(1.0, -1.0),
        shapes={"all": Polygon(vertices=corners)},
    )
    model = Model(
        bodies=[box],
        contacts=[
            Contact(
                name="floor",
                b="box.all",
                normal=KelvinVoigt(stiffness=2e5, damping=50.0),
                friction=DRY,
            )
        ],
    )
    result = simulate(model, until=0.1, **TIGHT)
    at = [momentum(result, "box", 2.0, 0.05, t) for t in (0.0, 0.1)]
    found = np.array(result.impulse("floor"))
    assert found[0] < -0.1
    assert found[1] > 1.0
    assert found == pytest.approx(at[1] - at[0], abs=1e-9 * found[1])


def test_force_over_part_of_a_run():
    ball = PointMass(name="ball", mass=2.0, position=(3.0, 0.0))
    push = PointForce(name="push", b="ball", fx=-4.0, fy=0.5)
    result = simulate(Model(bodies=[ball], forces=[push]), until=2.0)
    x, y, moment = result.impulse("push", 0.5, 1.5)
    assert (x, y) == pytest.approx((-4.0, 0.5))
    # x fy - y fx with x = 3 - t^2, y = t^2/8.
    third = (1.5**3 - 0.5**3) / 3.0
    assert moment == pytest.approx(0.5 * (3.0 - third) + 4.0 * third / 8.0)


def test_refusals():
    ball = PointMass(name="ball", mass=2.0)
    push = PointForce(name="push", b="ball", fx=1.0)
    result = simulate(Model(bodies=[ball], forces=[push]), until=1.0)
    with pytest.raises(ModelError, match=r"no contact, joint or force 'pull'.*push"):
        result.impulse("pull")
    with pytest.raises(ModelError, match=r"begin = 0\.5, end = 2: give a span within"):
        result.impulse("push", 0.5, 2.0)
