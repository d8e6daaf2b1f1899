"""Spans in which modes change without end, and models that no longer have any."""

import math
import re
from dataclasses import dataclass

import pytest

from nonsmooth import (
    ConstantRate,
    Contact,
    Coulomb,
    CoulombViscous,
    Event,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointMass,
    Revolute,
    RigidBody,
    simulate,
)
from nonsmooth.elements.base import quantity
from nonsmooth.elements.normal import NormalLaw

G, MU, HIGH = 9.81, 0.3, 1e-4


@dataclass(frozen=True, kw_only=True)
class Preloaded(NormalLaw):
    """Jumps to its preload at touch-down; `rebound` is the part left on the way out."""

    preload: float = quantity("N", above=0.0)
    rebound: float = quantity("1", above=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] if overlap_rate >= 0.0 else p[0] * p[1]


def test_the_error_of_a_span_is_as_estimated():
    """A sliding ball bounces ever faster until it rests on a preloaded floor.

    At rest the floor bears any load up to the preload: the limit of tiny steps is y = 0
    under the weight, and friction MU m g.
    """
    ball = PointMass(name="ball", mass=1.0, position=(0.0, HIGH), velocity=(1.0, 0.0))
    model = Model(
        gravity=(0.0, -G),
        bodies=[ball],
        contacts=[
            Contact(
                name="c",
                b="ball",
                normal=Preloaded(preload=30.0, rebound=0.5),
                friction=Coulomb(mu=MU),
            )
        ],
        events=[Event(name="there", b="ball", guard="x - 0.06", action="stop")],
    )
    rtol = 1e-8
    result = simulate(model, 3.0, rtol=rtol)
    # The stop lies in a span, and is seen at its end.
    assert result.status == "stopped"
    assert result.t_end == pytest.approx(0.066, abs=3e-3)
    assert len(result.crossed) > 5
    assert result.doubts
    text = " ".join(result.notes)
    found = re.search(r"estimated error is ([\d.e+-]+) times the tolerance", text)
    assert found
    # Of velocities, near 1 m/s; that of positions is no less.
    estimate = float(found[1]) * rtol
    t = result.t_end
    end = result.sample([t])
    error = max(
        abs(float(end["ball.vy"][0])),
        abs(float(end["ball.vx"][0]) - (1.0 - MU * G * t)),
        abs(float(end["ball.y"][0])),
        abs(float(end["ball.x"][0]) - (t - MU * (0.5 * G * t**2 - HIGH))),
    )
    assert error <= estimate
    # Errors of all spans are added up, though most of them cancel.
    assert error >= 1e-3 * estimate


@pytest.mark.parametrize("viscous", [5.0, 7.0, 20.0])
def test_drag_that_lifts_what_it_needs_is_decided(viscous):
    """A rod trails behind its hinge; drag at the tip lifts it, its weight presses.

    Balance about the hinge: m g a/2 = N a + lam_t h. From c v h = m g a/2 on the rod
    floats, with as much of the drag as bears it.
    """
    length, h = 0.5, 0.3
    a = math.sqrt(length**2 - h**2)
    angle = math.atan2(-h, -a)
    rod = RigidBody(
        name="rod",
        mass=1.0,
        inertia=length**2 / 12.0,
        position=(-0.5 * a, 0.5 * h),
        angle=angle,
        velocity=(1.0, 0.0),
        points={"hinge": (-0.5 * length, 0.0), "tip": (0.5 * length, 0.0)},
    )
    friction = CoulombViscous(mu=0.3, viscous=viscous)
    model = Model(
        gravity=(0.0, -G),
        bodies=[MovingSupport(name="car", x=ConstantRate(rate=1.0), y=h), rod],
        joints=[Revolute(name="j", a="car", b="rod.hinge")],
        contacts=[
            Contact(
                name="c",
                b="rod.tip",
                normal=KelvinVoigt(stiffness=1e5, damping=50.0),
                friction=friction,
            )
        ],
    )
    result = simulate(model, 0.3)
    assert len(result.crossed) == 0
    assert len(result.events) <= 10
    end = result.sample([0.3], ["c.normal_force", "c.friction_force"])
    load, drag = float(end["c.normal_force"][0]), -float(end["c.friction_force"][0])
    needed = 0.5 * G * a
    floats = viscous * h > needed
    # Where it presses: N a + (mu N + c v) h = m g a/2, at an angle that has sunk by
    # 1e-4 rad; where it floats the load is a trace of the weight.
    expected = 0.0 if floats else (needed - viscous * h) / (a + 0.3 * h)
    assert load == pytest.approx(expected, abs=1e-3 * G if not floats else 1e-6 * G)
    assert load * a + drag * h == pytest.approx(needed, rel=1e-3)
