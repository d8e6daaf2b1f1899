"""What begins to press from rest: it slips until its load can hold it."""

import math

import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Coulomb,
    KelvinVoigt,
    Model,
    PointMass,
    Polygon,
    RigidBody,
    simulate,
)

G, MASS, MU = 9.81, 1.0, 0.4
K, C = 1e5, 600.0


def on_a_slope(part, shape=None):
    """A mass that just touches a floor, gravity leaning by a part of the cone."""
    gravity = (G * part * MU, -G)
    law = KelvinVoigt(stiffness=K, damping=C)
    if shape is None:
        body = PointMass(name="box", mass=MASS)
    else:
        w, h = shape
        corners = ((-w, -h), (w, -h), (w, h), (-w, h))
        body = RigidBody(
            name="box",
            mass=MASS,
            inertia=MASS * (w * w + h * h) / 3.0,
            position=(0.0, h),
            shapes={"o": Polygon(vertices=corners)},
        )
    end = "box" if shape is None else "box.o"
    floor = Contact(name="c", b=end, normal=law, friction=Coulomb(mu=MU))
    return Model(gravity=gravity, bodies=[body], contacts=[floor])


def sinking(t):
    """Closed form of m d'' = m g - K d - C d' from rest: d, d'."""
    z = C / (2.0 * MASS)
    w = math.sqrt(K / MASS - z * z)
    rest = MASS * G / K
    fade = math.exp(-z * t)
    d = rest * (1.0 - fade * (math.cos(w * t) + z / w * math.sin(w * t)))
    rate = rest * fade * (z * z / w + w) * math.sin(w * t)
    return d, rate


@pytest.mark.parametrize("part", [0.05, 0.3, 0.8])
def test_a_mass_that_just_touches_slides_until_it_is_held(part):
    """Slip speed is g part mu t - mu P(t)/m, with the impulse P of its load."""

    def slip(t):
        _, rate = sinking(t)
        # The impulse of K d + C d' is m g t - m d'.
        return G * part * MU * t - MU * (G * t - rate)

    # From where the load is enough it only slows down; there is the root.
    held = brentq(
        lambda t: K * sinking(t)[0] + C * sinking(t)[1] - part * MASS * G, 1e-9, 5e-3
    )
    stops = brentq(slip, held, 20e-3)
    result = simulate(on_a_slope(part), 0.1, rtol=1e-10)
    [stick] = result.events
    assert stick.kind == "stick"
    assert stick.t == pytest.approx(stops, rel=1e-7)


@pytest.mark.parametrize("shape", [None, (0.1, 0.02)])
def test_without_a_slope_it_sticks_from_the_first(shape):
    result = simulate(on_a_slope(0.0, shape), 0.1)
    assert len(result.events) == 0
    assert result.sample([0.0])["c.mode"][0] == 0


def test_friction_keeps_its_limit_from_the_first():
    result = simulate(on_a_slope(0.3, (0.1, 0.02)), 0.1, rtol=1e-9)
    t = [0.0, *(10.0**k for k in range(-9, 0))]
    found = result.sample(t, ["c.friction_force", "c.normal_force"])
    beyond = abs(found["c.friction_force"]) - MU * found["c.normal_force"]
    # What is spared: 1e-9 of the weight.
    assert beyond.max() <= 1e-9 * MASS * G
