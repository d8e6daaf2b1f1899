"""A segment has one face: what comes to it from behind ends a run."""

from dataclasses import replace

import pytest

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Ground,
    KelvinVoigt,
    Model,
    ModelError,
    MovingSupport,
    PointMass,
    Polygon,
    RigidBody,
    Segment,
    SolveError,
    simulate,
)

LAW = KelvinVoigt(stiffness=1e5, damping=50.0)


@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_what_flies_under_a_shelf_ends_the_run(radius):
    """Over the end of the shelf, from the side: it was thrown away by an overlap."""
    shelf = Segment(start=(-1.0, 0.5), end=(1.0, 0.5))
    ball = RigidBody(
        name="ball",
        mass=1.0,
        inertia=0.1,
        position=(2.0, 0.4),
        velocity=(-5.0, 0.0),
        shapes={"rim": Circle(radius=0.05)},
        points={"middle": (0.0, 0.0)},
    )
    touching = "ball.rim" if radius else "ball.middle"
    contact = Contact(name="shelf", a="ground.shelf", b=touching, normal=LAW)
    bodies = [Ground(shapes={"shelf": shelf}), ball]
    model = Model(bodies=bodies, contacts=[contact])
    with pytest.raises(SolveError, match=r"'shelf': it is .* m deep in a segment"):
        simulate(model, 0.5)
    plate = Polygon(vertices=((-1, 0.48), (1, 0.48), (1, 0.5), (-1, 0.5)))
    bodies = [Ground(shapes={"shelf": plate}), ball]
    assert not len(simulate(replace(model, bodies=bodies), 0.5).events)


@pytest.mark.parametrize(
    ("length", "limit"), [(0.2, "a quarter of the segment"), (4, "a tenth")]
)
def test_a_start_behind_a_segment_is_refused(length, limit):
    edge = Segment(start=(0.0, 0.0), end=(length, 0.0))
    ball = PointMass(name="ball", mass=1.0, position=(0.5 * length, -0.3 * length))
    contact = Contact(name="edge", a="ground.edge", b="ball", normal=LAW)
    bodies = [Ground(shapes={"edge": edge}, points={"far": (0.0, 3.0)}), ball]
    with pytest.raises(ModelError, match=f"{limit}.*exchange the ends"):
        simulate(Model(bodies=bodies, contacts=[contact]), 0.5)


def test_a_blade_that_sweeps_past_with_its_back_ends_the_run():
    """The mass gets behind the blade over its tip: energy came from nowhere."""
    edge = Segment(start=(0.0, 0.0), end=(1.0, 0.0))
    spin = ConstantRate(rate=-3.0, start=3.0)
    blade = MovingSupport(name="blade", theta=spin, shapes={"edge": edge})
    mass = PointMass(name="mass", mass=1.0, position=(0.8, 0.02))
    hit = Contact(name="hit", a="blade.edge", b="mass", normal=LAW)
    model = Model(bodies=[blade, mass], contacts=[hit])
    with pytest.raises(SolveError, match=r"'hit': .* from behind or past an end"):
        simulate(model, 1.0)
