"""A segment is touched from both sides: what is below it sees its back."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointMass,
    Polygon,
    RigidBody,
    Segment,
    simulate,
)

LAW = KelvinVoigt(stiffness=1e5, damping=0.0)
G = 9.81
SHELF = Segment(start=(-1.0, 0.5), end=(1.0, 0.5))


def ball(radius, at, velocity, shelf=SHELF, gravity=G):
    """A point or a ball near a shelf of 2 m that is 0.5 m high."""
    body = RigidBody(
        name="ball",
        mass=1.0,
        inertia=0.1,
        position=at,
        velocity=velocity,
        shapes={"rim": Circle(radius=radius or 1.0)},
        points={"middle": (0.0, 0.0)},
    )
    touching = "ball.rim" if radius else "ball.middle"
    contact = Contact(name="shelf", a="ground.shelf", b=touching, normal=LAW)
    bodies = [Ground(shapes={"shelf": shelf}), body]
    return Model(gravity=(0.0, -gravity), bodies=bodies, contacts=[contact])


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.2])
def test_what_hits_a_shelf_from_below_rebounds(radius):
    """At the time of free flight; without losses it comes down as it went up."""
    start, speed = 0.1, 6.0
    result = simulate(ball(radius, (0.3, start), (0.0, speed)), 0.2, rtol=1e-10)
    way = 0.5 - start - radius
    arrival = math.sqrt(speed**2 - 2.0 * G * way)
    down = result.events[0]
    assert (down.element, down.kind) == ("shelf", "touch_down")
    assert down.t == pytest.approx((speed - arrival) / G, rel=1e-12)
    # Half a swing about the place where spring and weight balance.
    pace = math.sqrt(LAW.stiffness)
    swing = (math.pi - 2.0 * math.atan(G / (pace * arrival))) / pace
    up = result.events[1]
    assert up.kind == "separate"
    assert up.t - down.t == pytest.approx(swing, rel=1e-8)
    assert result.sample([up.t])["ball.vy"] == pytest.approx([-arrival], rel=1e-9)


@pytest.mark.parametrize("radius", [0.0, 0.05])
@pytest.mark.parametrize("below", [0.02, 0.1, 0.4])
def test_what_flies_under_a_shelf_is_apart(radius, below):
    """In from the side: the distance is shown, and nothing presses."""
    high = 0.5 - radius - below
    model = ball(radius, (2.0, high), (-5.0, 0.0), gravity=0.0)
    result = simulate(model, 0.7)
    assert not len(result.events)
    columns = result.sample(np.linspace(0.3, 0.5, 21))
    assert columns["shelf.gap"] == pytest.approx(np.full(21, below), abs=1e-14)
    assert np.all(columns["ball.vy"] == 0.0)


def test_a_box_that_tips_over_the_end_of_a_shelf_falls():
    """As over a plate: its lower corner swings under the shelf."""
    w, h = 0.1, 0.1
    corners = ((-w, -h), (w, -h), (w, h), (-w, h))
    box = RigidBody(
        name="box",
        mass=2.0,
        inertia=2.0 * (w * w + h * h) / 3.0,
        position=(0.9, 0.6 - 1e-4),
        velocity=(0.6, 0.0),
        shapes={"outline": Polygon(vertices=corners)},
    )
    rubber = KelvinVoigt(stiffness=1e5, damping=300.0)

    def run(surface):
        shelf = Contact(
            name="shelf",
            a="ground.shelf",
            b="box.outline",
            normal=rubber,
            friction=Coulomb(mu=0.1),
        )
        model = Model(
            gravity=(0.0, -G),
            bodies=[Ground(shapes={"shelf": surface}), box],
            contacts=[shelf],
        )
        return simulate(model, 0.9)

    thin = run(SHELF)
    plate = run(Polygon(vertices=((-1.0, 0.48), (1.0, 0.48), (1.0, 0.5), (-1.0, 0.5))))
    for result in (thin, plate):
        assert result["box.y"][-1] < -0.2
        # Falling frees less than two metres of weight.
        assert np.hypot(result["box.vx"][-1], result["box.vy"][-1]) < math.sqrt(4 * G)
    # Corners, and areas on a plate of 20 mm: alike, not the same.
    for column in ("box.x", "box.y", "box.theta"):
        assert thin[column][-1] == pytest.approx(plate[column][-1], abs=0.3)


def test_a_box_on_short_segments_slides_over_their_ends():
    """Points that overlap go over from one to the next, in a hollow too."""
    knots = [(-1.0, 0.1), (-0.5, 0.02), (0.0, 0.0), (0.5, 0.02), (1.0, 0.1)]
    segments = {
        f"s{k}": Segment(start=a, end=b) for k, (a, b) in enumerate(pairwise(knots))
    }
    mass = PointMass(name="mass", mass=1.0, position=(-0.9, 0.084))
    contacts = [
        Contact(name=f"c{name}", a=f"ground.{name}", b="mass", normal=LAW)
        for name in segments
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(shapes=dict(segments)), mass],
        contacts=contacts,
    )
    result = simulate(model, 6.0, max_step=0.01)
    t = np.linspace(0.0, 6.0, 601)
    heights = result.sample(t)
    ground = np.interp(heights["mass.x"], *np.transpose(knots))
    assert np.min(heights["mass.y"] - ground) > -2e-3
    assert np.max(np.abs(heights["mass.x"])) < 1.0


@pytest.mark.parametrize("rate", [-3.0, 3.0])
def test_a_blade_hits_with_either_side(rate):
    """Turning evenly, from 3 rad, it meets a mass on the x axis."""
    edge = Segment(start=(0.0, 0.0), end=(1.0, 0.0))
    spin = ConstantRate(rate=rate, start=3.0)
    blade = MovingSupport(name="blade", theta=spin, shapes={"edge": edge})
    mass = PointMass(name="mass", mass=1.0, position=(0.8, 0.0))
    hit = Contact(name="hit", a="blade.edge", b="mass", normal=LAW)
    model = Model(bodies=[blade, mass], contacts=[hit])
    result = simulate(model, 1.5)
    angle = 3.0 if rate < 0.0 else 2.0 * math.pi - 3.0
    assert result.events[0].t == pytest.approx(angle / 3.0, rel=1e-12)
    # An elastic blow of what does not yield: twice its speed there.
    assert result["mass.vy"][-1] != 0.0
    turned = replace(model, bodies=[blade_of(edge.end, edge.start, spin), mass])
    other = simulate(turned, 1.5)
    assert other["mass.vy"][-1] == pytest.approx(result["mass.vy"][-1], rel=1e-9)


def blade_of(start, end, spin):
    """The same with its ends exchanged."""
    edge = Segment(start=start, end=end)
    return MovingSupport(name="blade", theta=spin, shapes={"edge": edge})


@pytest.mark.parametrize("x", [0.02, 0.05])
@pytest.mark.parametrize("is_turned", [False, True])
def test_an_inner_corner_does_not_throw_what_is_behind_its_wall(x, is_turned):
    """However the ends of the wall are named, it stands beside what falls."""
    low, high = (0.0, 0.0), (0.0, 1.0)
    wall = Segment(start=low, end=high) if is_turned else Segment(start=high, end=low)
    shapes = {"floor": Segment(start=(0.0, 0.0), end=(1.0, 0.0)), "wall": wall}
    mass = PointMass(name="mass", mass=1.0, position=(x, 0.2))
    contacts = [
        Contact(name=name, a=f"ground.{name}", b="mass", normal=LAW) for name in shapes
    ]
    bodies = [Ground(shapes=dict(shapes)), mass]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
    result = simulate(model, 0.5)
    assert {event.element for event in result.events} == {"floor"}
    assert np.all(result["mass.x"] == x)


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_box_starts_on_the_side_of_its_middle(is_turned):
    """It just touches two segments, and slides over their joint."""
    knots = [(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)]
    ends = [(b, a) if is_turned else (a, b) for a, b in pairwise(knots)]
    shapes = {f"s{k}": Segment(start=a, end=b) for k, (a, b) in enumerate(ends)}
    box = RigidBody(
        name="box",
        mass=1.0,
        inertia=0.01,
        position=(-0.5, 0.05),
        velocity=(1.0, 0.0),
        shapes={
            "outline": Polygon(
                vertices=((-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05))
            )
        },
    )
    rubber = KelvinVoigt(stiffness=1e5, damping=100.0)
    contacts = [
        Contact(name=name, a=f"ground.{name}", b="box.outline", normal=rubber)
        for name in shapes
    ]
    bodies = [Ground(shapes=dict(shapes)), box]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
    result = simulate(model, 0.8)
    # Ends press on the sides while they come in and go out past a corner.
    assert result["box.vx"][-1] == pytest.approx(1.0, abs=0.02)
    assert result["box.y"][-1] == pytest.approx(0.05, abs=2e-4)
