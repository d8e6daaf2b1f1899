"""Gaps to supports that move, where nothing else limits the steps."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Harmonic,
    KelvinVoigt,
    Model,
    MovingSupport,
    Polygon,
    RigidBody,
    simulate,
)


@pytest.mark.parametrize(
    ("frequency", "amplitude", "height", "gravity"),
    [
        (51.0, 5.8e-3, 0.0729, 0.1),
        (369.0, 3.9e-3, 0.05, 9.81),
        (100.0, 5e-3, 0.08, 1.0),
    ],
)
def test_a_ball_in_flight_touches_a_floor_that_shakes(
    frequency, amplitude, height, gravity
):
    """Nothing that is integrated feels the floor: it was passed through."""
    floor = Harmonic(amplitude=amplitude, frequency_hz=frequency, phase=1.0)
    radius, omega = 0.05, 2.0 * math.pi * frequency
    start = height + amplitude
    ball = RigidBody(
        name="ball",
        mass=1.0,
        inertia=1e-3,
        position=(0.0, radius + start),
        shapes={"rim": Circle(radius=radius)},
    )
    model = Model(
        gravity=(0.0, -gravity),
        bodies=[MovingSupport(name="floor", y=floor), ball],
        contacts=[
            Contact(
                name="c",
                a="floor",
                b="ball.rim",
                normal=KelvinVoigt(stiffness=1e5, damping=10.0),
            )
        ],
    )

    def gap(t):
        fallen = 0.5 * gravity * t * t
        return start - fallen - amplitude * np.sin(omega * t + 1.0)

    t = np.arange(0.0, math.sqrt(2.0 * (start + amplitude) / gravity), 1e-6)
    k = int(np.argmax(gap(t) < 0.0))
    first = brentq(gap, t[k - 1], t[k], xtol=1e-15)
    result = simulate(model, first + 0.1 / frequency)
    assert result.events[0].kind == "touch_down"
    assert result.events[0].t == pytest.approx(first, rel=1e-13)


@pytest.mark.parametrize(("omega", "angle"), [(10.0, 2.0), (30.0, 5.0), (50.0, 3.0)])
def test_a_blade_on_a_support_meets_a_disc_that_rests(omega, angle):
    """A quarter of a turn may lie between nodes of a step in which nothing moves."""
    sides = ((0.0, -0.005), (0.4, -0.005), (0.4, 0.005), (0.0, 0.005))
    turn = ConstantRate(rate=omega, start=angle)
    blade = MovingSupport(
        name="blade", theta=turn, shapes={"edge": Polygon(vertices=sides)}
    )
    disc = RigidBody(
        name="disc",
        mass=1.0,
        inertia=1e-4,
        position=(0.0, 0.27),
        shapes={"rim": Circle(radius=0.01)},
    )
    contact = Contact(
        name="c", a="blade.edge", b="disc.rim", normal=KelvinVoigt(stiffness=1e5)
    )
    model = Model(bodies=[blade, disc], contacts=[contact])
    # Its face is 5 mm before its middle, the disc's rim 10 mm before its own.
    ahead = math.asin(0.015 / 0.27)
    first = ((0.5 * math.pi - ahead - angle) % (2.0 * math.pi)) / omega
    result = simulate(model, first + 1e-4)
    assert result.events[0].t == pytest.approx(first, rel=1e-12)
