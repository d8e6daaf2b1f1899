"""What passes a corner between two nodes of a long step touches it all the same."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Circle,
    Contact,
    Ground,
    KelvinVoigt,
    Model,
    Polygon,
    RigidBody,
    Segment,
    simulate,
)

G = 9.81
UNTIL = 1.2
LAW = KelvinVoigt(stiffness=1e8, damping=1e3)
# Instants of the oracle, and the depth that it sees with them at 5 m/s.
MANY, SEEN = 60_001, 1e-6


def corners_at(corners, x, y, theta):
    """Corners of an outline at many poses, (n, 2, many)."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([(x + c * p - s * q, y + s * p + c * q) for p, q in corners])


def to_outline(p, corners, *, is_closed=True):
    """Distance of points from a fixed convex outline, or a segment."""
    height = np.full(np.shape(p[0]), -np.inf)
    far = np.full(np.shape(p[0]), np.inf)
    n = len(corners)
    for k in range(n if is_closed else 1):
        (x0, y0), (x1, y1) = corners[k], corners[(k + 1) % n]
        ex, ey = (x1 - x0), (y1 - y0)
        along = ((p[0] - x0) * ex + (p[1] - y0) * ey) / (ex * ex + ey * ey)
        along = np.clip(along, 0.0, 1.0)
        far = np.minimum(far, np.hypot(p[0] - x0 - along * ex, p[1] - y0 - along * ey))
        h = (ey * (p[0] - x0) - ex * (p[1] - y0)) / math.hypot(ex, ey)
        height = np.maximum(height, h)
    return np.where((height < 0.0) & is_closed, height, far)


def flight(body, t):
    """Place of a body thrown at t = 0."""
    (x, y), (u, v) = body.position, body.velocity
    return x + u * t, y + v * t - 0.5 * G * t * t


def first_touch(gap):
    """When a gap first falls to zero in the run, None if it is never seen to."""
    t = np.linspace(0.0, UNTIL, MANY)
    below = np.flatnonzero(gap(t) < 0.0)
    if not len(below):
        return None
    k = int(below[0])
    return brentq(gap, t[k - 1], t[k], xtol=1e-15)


def random_outline(rng, size):
    """A convex polygon about the origin."""
    n = int(rng.integers(3, 7))
    turns = np.sort((np.arange(n) + rng.uniform(-0.3, 0.3, n)) * 2.0 * math.pi / n)
    return [(size * math.cos(a), size * math.sin(a)) for a in turns]


def thrown(rng, shapes, size):
    """A body thrown so that it flies past the origin, more or less near."""
    when, side = rng.uniform(0.2, 1.0), rng.uniform(-2.0, 2.0) * size
    vx, vy = rng.uniform(-4.0, 4.0), rng.uniform(-3.0, 6.0)
    at = rng.uniform(0.0, 2.0 * math.pi)
    x, y = side * math.cos(at), side * math.sin(at)
    return RigidBody(
        name="ball",
        mass=1.0,
        inertia=0.5,
        position=(x - vx * when, y - vy * when + 0.5 * G * when**2),
        velocity=(vx, vy),
        angular_velocity=rng.uniform(-15.0, 15.0),
        shapes=shapes,
    )


def ball_past(rng, kind):
    """A ball past a polygon, a disc or a segment: model, and its gap in flight."""
    size, radius = rng.uniform(0.01, 0.1), rng.uniform(0.005, 0.06)
    ball = thrown(rng, {"rim": Circle(radius=radius)}, size + radius)
    if kind == "disc":
        peg = Circle(radius=size)
    elif kind == "segment":
        (x0, y0), (x1, y1) = random_outline(rng, size)[:2]
        peg = Segment(start=(x0, y0), end=(x1, y1))
    else:
        peg = Polygon(vertices=tuple(random_outline(rng, size)))

    def gap(t):
        x, y = flight(ball, t)
        if isinstance(peg, Circle):
            return np.hypot(x, y) - size - radius
        if isinstance(peg, Segment):
            return to_outline((x, y), (peg.start, peg.end), is_closed=False) - radius
        return to_outline((x, y), peg.vertices) - radius

    contact = Contact(name="c", a="ground.peg", b="ball.rim", normal=LAW)
    bodies = [Ground(shapes={"peg": peg}), ball]
    return Model(gravity=(0.0, -G), bodies=bodies, contacts=[contact]), gap


def tumbler_past(rng, kind):
    """A polygon that tumbles past a fixed one: corners of each in the other."""
    assert kind == "tumbler"
    size = rng.uniform(0.01, 0.1)
    peg = random_outline(rng, size)
    own = random_outline(rng, rng.uniform(0.02, 0.1))
    ball = thrown(rng, {"rim": Polygon(vertices=tuple(own))}, 2.0 * size)
    spin = ball.angular_velocity

    def gap(t):
        x, y = flight(ball, t)
        theta = spin * t
        mine = [to_outline(p, peg) for p in corners_at(own, x, y, theta)]
        # The peg's corners, seen from the body.
        c, s = np.cos(theta), np.sin(theta)
        for px, py in peg:
            dx, dy = px - x, py - y
            mine.append(to_outline((c * dx + s * dy, -s * dx + c * dy), own))
        return np.minimum.reduce(mine)

    shape = Polygon(vertices=tuple(peg))
    contact = Contact(name="c", a="ground.peg", b="ball.rim", normal=LAW)
    bodies = [Ground(shapes={"peg": shape}), ball]
    return Model(gravity=(0.0, -G), bodies=bodies, contacts=[contact]), gap


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("kind", ["polygon", "disc", "segment", "tumbler"])
def test_every_touch_in_flight_is_found(kind, rtol):
    """In free flight no error limits the step: against the parabola."""
    make = tumbler_past if kind == "tumbler" else ball_past
    n_touch = 0
    for seed in range(20):
        model, gap = make(np.random.default_rng(seed), kind)
        if gap(np.zeros(1))[0] <= 0.0:
            continue
        when = first_touch(gap)
        result = simulate(model, UNTIL, rtol=rtol)
        t = np.linspace(0.0, UNTIL, MANY)
        lowest = float(np.min(gap(t)))
        if when is None:
            # It may graze between two instants.
            assert len(result.events) == 0 or lowest < SEEN
            continue
        n_touch += 1
        assert len(result.events) > 0, f"seed {seed}: {lowest:.3g} m at {when:.6g} s"
        first = result.events[0]
        assert first.kind == "touch_down"
        # A grazing touch is as sharp as the root of the depth.
        sharp = 1e-12 + 1e-12 / math.sqrt(max(-lowest, 1e-12))
        assert first.t == pytest.approx(when, abs=sharp), seed
    assert n_touch > 5
