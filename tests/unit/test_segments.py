"""A segment has one face: what is far behind it is apart, what comes from there ends
a run."""

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Ground,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointMass,
    RigidBody,
    Segment,
    SolveError,
    simulate,
)

LAW = KelvinVoigt(stiffness=1e5, damping=50.0)
FACING_UP = Segment(start=(-1.0, 0.5), end=(1.0, 0.5))
FACING_DOWN = Segment(start=(1.0, 0.5), end=(-1.0, 0.5))


def below_shelf(speed, shelf, radius=0.0):
    """A point or a ball below a shelf of 2 m, thrown up, above a floor."""
    at, touching = (0.0, 0.22), "ball.rim" if radius else "ball"
    ball = PointMass(name="ball", mass=1.0, position=at, velocity=(0.0, speed))
    if radius:
        ball = RigidBody(
            name="ball",
            mass=1.0,
            inertia=0.1,
            position=at,
            velocity=(0.0, speed),
            shapes={"rim": Circle(radius=radius)},
        )
    contacts = [
        Contact(name=name, a=a, b=touching, normal=LAW)
        for name, a in (("shelf", "ground.shelf"), ("floor", "ground"))
    ]
    bodies = [Ground(shapes={"shelf": shelf}), ball]
    return Model(gravity=(0.0, -9.81), bodies=bodies, contacts=contacts)


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.15])
def test_what_moves_below_a_shelf_is_apart(radius):
    """It shows the distance from there, and nothing presses but the floor."""
    result = simulate(below_shelf(0.5, FACING_UP, radius), 0.5)
    assert {e.element for e in result.events} == {"floor"}
    columns = result.sample(np.linspace(0.0, 0.5, 51))
    distance = 0.5 - columns["ball.y"] - radius
    assert columns["shelf.gap"] == pytest.approx(distance, abs=1e-14)
    assert not np.any(columns["shelf.normal_force"])


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.15])
def test_what_hits_a_shelf_from_behind_ends_the_run(radius):
    with pytest.raises(SolveError, match=r"'shelf': it is .* m deep in a segment"):
        simulate(below_shelf(6.0, FACING_UP, radius), 0.5)


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.15])
def test_exchanging_the_ends_is_the_remedy(radius):
    result = simulate(below_shelf(6.0, FACING_DOWN, radius), 0.5)
    first = next(e for e in result.events if e.element == "shelf")
    # As free flight has it.
    way = 0.5 - 0.22 - radius
    assert first.t == pytest.approx(
        (6.0 - np.sqrt(36.0 - 2.0 * 9.81 * way)) / 9.81, rel=1e-12
    )


def test_a_blade_that_sweeps_past_with_its_back_ends_the_run():
    """The mass gets behind the blade over its tip: energy came from nowhere."""
    edge = Segment(start=(0.0, 0.0), end=(1.0, 0.0))
    spin = ConstantRate(rate=-3.0, start=1.5)
    blade = MovingSupport(name="blade", theta=spin, shapes={"edge": edge})
    mass = PointMass(name="mass", mass=1.0, position=(0.8, 0.02))
    hit = Contact(name="hit", a="blade.edge", b="mass", normal=LAW)
    model = Model(bodies=[blade, mass], contacts=[hit])
    with pytest.raises(SolveError, match=r"'hit': .* from behind or past an end"):
        simulate(model, 1.0)
