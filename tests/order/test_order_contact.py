"""Observed order through contacts: touch-down, release, stick and break-away.

Steps are given, not chosen, as in `test_order`: tolerances are so loose that `max_step`
rules. Events cut steps short, so errors are fitted over the step, not over the number
of steps taken.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Coulomb,
    Expression,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    PointForce,
    PointMass,
    RigidBody,
    gallery,
    simulate,
)
from oracles import stick_slip

# As in `test_order`: shares of other terms, and where an event falls in its step, move
# a slope by up to half an order; a method that lost a whole one would miss the bound.
BELOW, ABOVE = 0.5, 1.5


@dataclass(frozen=True)
class Method:
    """A method, its order, and steps between truncation and round-off."""

    name: str
    order: int
    steps: tuple[float, ...]  # s
    tolerance: tuple[float, float] = (0.5, 1e3)  # rtol, atol

    def options(self, h: float) -> dict:
        rtol, atol = self.tolerance
        found = {"method": self.name, "max_step": h, "rtol": rtol, "atol": atol}
        return found | {"loose": True}

    def __str__(self) -> str:
        return self.name


def spread(first: float, last: float, n: int = 12) -> tuple[float, ...]:
    """Steps in geometric progression, none of which divides another."""
    return tuple(np.geomspace(first, last, n).tolist())


def has_order(method: Method, errors, below: float = BELOW) -> bool:
    slope = float(np.polyfit(np.log(method.steps), np.log(errors), 1)[0])
    print(f"{method}: order {slope:.2f} of {method.order}, errors {errors}")
    return method.order - below < slope < method.order + ABOVE


# ---- the belt: break-away, stick, break-away -------------------------------------

BELT = stick_slip.Belt()
# w = 10 rad/s. Above the first step the rows of `max_step` would not hold: a slip of
# 0.47 s has to have several steps.
BELT_METHODS = [
    Method("dopri5", 5, spread(0.05, 0.008)),
    Method("dop853", 8, spread(0.12, 0.035)),
]


@pytest.mark.parametrize("method", BELT_METHODS, ids=str)
def test_order_through_stick_and_slip(method):
    model = gallery.build("belt")
    until = 1.4  # in the second slip
    exact = BELT.motion(until)
    times = BELT.events(3)
    late, ends = [], []
    for h in method.steps:
        result = simulate(model, until, **method.options(h))
        assert [r.kind for r in result.events] == ["break_away", "stick", "break_away"]
        late.append(float(np.max(np.abs(result.events.t - times)[1:])))
        x, v = result.state().positions["block"][0], result.state().velocities["block"]
        ends.append(math.hypot(x - float(exact.x), (v[0] - float(exact.v)) / 10.0))
    assert has_order(method, late)
    assert has_order(method, ends)


# ---- a ball on a spring and damper: touch-down, release, separate ----------------

STIFF, DAMP, DROP, GRAVITY = 400.0, 6.0, 0.3, 9.81
DECAY = 0.5 * DAMP
PACE = math.sqrt(STIFF - DECAY**2)


def pressed(s: float, speed: float) -> tuple[float, float]:
    """Overlap and its rate, s after touch-down at a speed; the mass is 1 kg.

    d'' + DAMP d' + STIFF d = g
    """
    sink = GRAVITY / STIFF
    a, b = -sink, (speed - DECAY * sink) / PACE
    fade, c, n = math.exp(-DECAY * s), math.cos(PACE * s), math.sin(PACE * s)
    d = sink + fade * (a * c + b * n)
    rate = fade * ((PACE * b - DECAY * a) * c - (PACE * a + DECAY * b) * n)
    return d, rate


def bounces(n: int) -> tuple[list[float], float, float]:
    """Times of the first 3 n events; speed and time of the last separation."""
    now, speed = math.sqrt(2 * DROP / GRAVITY), math.sqrt(2 * DROP * GRAVITY)
    times = []
    for _ in range(n):

        def force(s: float, v: float = speed) -> float:
            d, rate = pressed(s, v)
            return STIFF * d + DAMP * rate

        grip = brentq(force, 0.5 * math.pi / PACE, 1.6 * math.pi / PACE, xtol=1e-16)
        d, rate = pressed(grip, speed)
        # Free flight out of what is left of the overlap: d + rate s + g s²/2 = 0.
        up = -rate
        flight = (up - math.sqrt(up**2 - 2 * GRAVITY * d)) / GRAVITY
        speed = up - GRAVITY * flight
        times += [now, now + grip, now + grip + flight]
        now = times[-1] + 2 * speed / GRAVITY
    return times, speed, times[-1]


BOUNCE_METHODS = [
    Method("dopri5", 5, spread(0.04, 0.006)),
    Method("dop853", 8, spread(0.07, 0.02)),
    # Its iteration follows the tolerance, which therefore stays small.
    Method("radau", 5, spread(0.03, 0.006), (1e-3, 1e-10)),
]


@pytest.mark.parametrize("method", BOUNCE_METHODS, ids=str)
def test_order_through_impacts(method):
    """The force jumps at touch-down, and is smooth on either side."""
    model = Model(
        gravity=(0.0, -GRAVITY),
        bodies=[PointMass(name="ball", mass=1.0, position=(0.0, DROP))],
        contacts=[
            Contact(
                name="c", b="ball", normal=KelvinVoigt(stiffness=STIFF, damping=DAMP)
            )
        ],
    )
    times, speed, left = bounces(2)
    until = left + 0.05
    height = speed * 0.05 - 0.5 * GRAVITY * 0.05**2
    late, ends = [], []
    for h in method.steps:
        result = simulate(model, until, **method.options(h))
        kinds = [r.kind for r in result.events]
        assert kinds == ["touch_down", "release", "separate"] * 2
        late.append(float(np.max(np.abs(result.events.t - times))))
        ends.append(abs(result.state().positions["ball"][1] - height))
    assert has_order(method, late)
    assert has_order(method, ends)


# ---- two feet that decide together -----------------------------------------------


def sledge() -> Model:
    """On springs and dampers, shaken; feet of different height."""
    body = RigidBody(
        name="sledge",
        mass=2.0,
        inertia=0.1,
        position=(0.0, 0.25),
        velocity=(0.3, 0.0),
        points={"heel": (-0.3, -0.26), "toe": (0.25, -0.16)},
    )
    soft = KelvinVoigt(stiffness=1500.0, damping=20.0)
    ground = Ground(shapes={"floor": Line(), "step": Line(point=(0.0, 0.1))})
    contacts = [
        Contact(
            name=name,
            a=f"ground.{line}",
            b=f"sledge.{name}",
            normal=soft,
            friction=Coulomb(mu=0.25, mu_static=0.35),
        )
        for name, line in (("heel", "floor"), ("toe", "step"))
    ]
    shake = PointForce(name="shake", b="sledge", fx=Expression(text="9*sin(7*t)"))
    return Model(
        gravity=(0.0, -9.81),
        bodies=[body, ground],
        contacts=contacts,
        forces=[shake],
    )


# Friction at rest is landed on by a difference, from the dense output on. With longer
# steps than these the errors of two events cancel.
SLEDGE_METHODS = [
    Method("dopri5", 5, spread(0.0175, 0.0035)),
    Method("dop853", 7, spread(0.04, 0.007, 20)),
]


@pytest.mark.parametrize("method", SLEDGE_METHODS, ids=str)
def test_order_through_contacts_that_decide_together(method):
    model, until = sledge(), 1.5
    # Three orders of magnitude below the least error fitted.
    exact = simulate(model, until, rtol=1e-14)
    kinds = [(r.element, r.kind) for r in exact.events]
    assert {"stick", "break_away"} <= {kind for _, kind in kinds}
    assert len(kinds) >= 6
    late, ends = [], []
    for h in method.steps:
        result = simulate(model, until, **method.options(h))
        assert [(r.element, r.kind) for r in result.events] == kinds
        late.append(float(np.max(np.abs(result.events.t - exact.events.t))))
        ours = np.array(result.state().positions["sledge"])
        ends.append(float(np.max(np.abs(ours - exact.state().positions["sledge"]))))
    # Where in its step an event falls scatters its error tenfold.
    assert has_order(method, late, below=1.0)
    assert has_order(method, ends)
