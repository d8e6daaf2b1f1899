"""Ordinary machines against statics, closed forms and small integrations of their own.

Contacts are stiff, so that rigid statics holds to the part they sink: each tolerance is
that, or the tolerance of the run.
"""

from math import atan, cos, hypot, pi, sin, sqrt, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Couple,
    Expression,
    ExpressionForce,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Revolute,
    RigidBody,
    Segment,
    SpringDamper,
    TranslationDrive,
    simulate,
)
from nonsmooth.elements.shapes import Shape

G = 9.81
# Closed forms of motions that no stiffness enters, at the default tolerance.
CLOSE = 1e-6


def floor(mass, sink=1e-5):
    """Return a law on which a mass at rest sinks by so much, well damped."""
    stiffness = mass * G / sink
    return KelvinVoigt(stiffness=stiffness, damping=1.4 * sqrt(stiffness * mass))


def first(result, kind, element=None):
    return next(
        e.t
        for e in result.events
        if e.kind == kind and (element is None or e.element == element)
    )


def disc(mass, radius, sink=1e-5, **start):
    return RigidBody(
        name="disc",
        mass=mass,
        inertia=0.5 * mass * radius**2,
        position=(0.0, radius - sink),
        shapes={"rim": Circle(radius=radius)},
        **start,
    )


def test_a_bowled_disc_comes_to_roll():
    """At two thirds of its speed, after v0/(3 mu g)."""
    m, mu, speed = 2.0, 0.2, 3.0
    sole = Contact(name="c", b="disc.rim", normal=floor(m), friction=Coulomb(mu=mu))
    body = disc(m, 0.1, velocity=(speed, 0.0))
    result = simulate(Model(gravity=(0, -G), bodies=[body], contacts=[sole]), until=1.5)
    assert first(result, "stick") == pytest.approx(speed / (3 * mu * G), rel=CLOSE)
    assert result["disc.vx"][-1] == pytest.approx(2 / 3 * speed, rel=CLOSE)


def test_a_driven_wheel_begins_to_spin():
    """Rolling needs 2/3 T/r of friction."""
    m, r, mu0 = 2.0, 0.1, 0.3
    law = Coulomb(mu=0.2, mu_static=mu0)
    sole = Contact(name="c", b="disc.rim", normal=floor(m), friction=law)
    torque = Couple(name="T", b="disc", torque=ConstantRate(rate=-1.0))
    model = Model(
        gravity=(0, -G), bodies=[disc(m, r)], forces=[torque], contacts=[sole]
    )
    result = simulate(model, until=2.0)
    assert first(result, "break_away") == pytest.approx(
        1.5 * mu0 * m * G * r, rel=CLOSE
    )


@pytest.mark.parametrize(("mu_floor", "mu_wall"), [(0.4, None), (0.4, 0.3)])
def test_a_ladder_holds_if_it_is_steep(mu_floor, mu_wall):
    """Down to tan(angle) = (1 - mu_f mu_w)/(2 mu_f)."""
    length, m, sink = 3.0, 10.0, 3e-6
    least = atan((1.0 - mu_floor * (mu_wall or 0.0)) / (2.0 * mu_floor))

    def slides(angle):
        ladder = RigidBody(
            name="ladder",
            mass=m,
            inertia=m * length**2 / 12,
            position=(
                sink - 0.5 * length * cos(angle),
                0.5 * length * sin(angle) - sink,
            ),
            angle=angle,
            points={"foot": (-length / 2, 0.0), "top": (length / 2, 0.0)},
        )
        walls = Ground(shapes={"floor": Line(), "wall": Line(angle=pi / 2)})
        rub = None if mu_wall is None else Coulomb(mu=mu_wall)
        contacts = [
            Contact(
                name="foot",
                a="ground.floor",
                b="ladder.foot",
                normal=floor(m, sink),
                friction=Coulomb(mu=mu_floor),
            ),
            Contact(
                name="top",
                a="ground.wall",
                b="ladder.top",
                normal=floor(m, sink),
                friction=rub,
            ),
        ]
        model = Model(gravity=(0, -G), bodies=[walls, ladder], contacts=contacts)
        x = simulate(model, until=1.0)["ladder.x"]
        return abs(x[-1] - x[0]) > 1e-3

    assert slides(least - 0.01)
    assert not slides(least + 0.01)


def test_a_roller_turns_in_a_groove():
    """One side lets go first, the other bears more, then the roller turns.

    Both sides stick: f on each, N0 -+ f, hence f = mu (N0 - f) at the first break-away.
    Both slip: N = m g (1 -+ mu)/(sqrt(2) (1 + mu^2)).
    """
    m, r, mu, rate, sink = 1.0, 0.05, 0.3, 0.02, 1e-6
    sides: dict[str, Shape] = {
        "left": Line(angle=-pi / 4),
        "right": Line(angle=pi / 4),
    }
    contacts = [
        Contact(
            name=name,
            a=f"ground.{name}",
            b="roller.rim",
            normal=floor(m, sink),
            friction=Coulomb(mu=mu),
        )
        for name in sides
    ]
    roller = RigidBody(
        name="roller",
        mass=m,
        inertia=0.5 * m * r**2,
        position=(0.0, sqrt(2.0) * r - sink),
        shapes={"rim": Circle(radius=r)},
    )
    model = Model(
        gravity=(0, -G),
        bodies=[Ground(shapes=sides), roller],
        forces=[Couple(name="T", b="roller", torque=ConstantRate(rate=rate))],
        contacts=contacts,
    )
    result = simulate(model, until=12.0)
    all_of_it = sqrt(2.0) * mu * m * G * r / rate
    times = [e.t for e in result.events if e.kind == "break_away"]
    assert times == pytest.approx(
        [all_of_it / (1.0 + mu), all_of_it / (1.0 + mu**2)], rel=1e-4
    )


@pytest.mark.parametrize("sense", [1, -1], ids=["leading", "trailing"])
def test_a_brake_shoe(sense):
    """A short shoe on a lever: N = P a/(b -+ mu c)."""
    R, mu, P, inertia, until = 0.2, 0.3, 100.0, 2.0, 0.5
    a, b, c = 0.6, 0.3, 0.05
    drum = RigidBody(
        name="drum",
        mass=5.0,
        inertia=inertia,
        angular_velocity=50.0 * sense,
        shapes={"rim": Circle(radius=R)},
    )
    lever = RigidBody(
        name="lever",
        mass=1.0,
        inertia=0.05,
        position=(-b, R + c),
        points={"pad": (b, -c), "end": (a, -c)},
    )
    shoe = Contact(
        name="shoe",
        a="drum.rim",
        b="lever.pad",
        normal=KelvinVoigt(stiffness=1e8, damping=2e4),
        friction=Coulomb(mu=mu),
    )
    model = Model(
        bodies=[Ground(points={"pin": (-b, R + c)}), drum, lever],
        joints=[
            Revolute(name="axle", b="drum"),
            Revolute(name="pin", a="ground.pin", b="lever"),
        ],
        forces=[PointForce(name="P", b="lever.end", fy=-P)],
        contacts=[shoe],
    )
    result = simulate(model, until=until)
    load = P * a / (b - sense * mu * c)
    assert result["shoe.normal_force"][-1] == pytest.approx(load, rel=1e-4)
    speed = sense * (50.0 - mu * load * R / inertia * until)
    assert result["drum.omega"][-1] == pytest.approx(speed, rel=1e-3)


def test_a_wedge_lifts_a_load():
    """F = W tan(alpha + phi_1) + mu_2 (W + W_wedge)."""
    W, alpha, mu_slope, mu_floor, m = 50.0, 0.2, 0.2, 0.15, 0.1
    half = 0.3
    wedge = RigidBody(
        name="wedge",
        mass=m,
        inertia=0.01,
        position=(0.0, 0.1),
        points={"l": (-0.2, -0.1), "r": (0.2, -0.1)},
        shapes={
            "top": Segment(
                start=(-half, -half * tan(alpha)), end=(half, half * tan(alpha))
            )
        },
    )
    stiff = KelvinVoigt(stiffness=1e7, damping=1e4)
    contacts = [
        Contact(
            name="slope",
            a="wedge.top",
            b="load",
            normal=stiff,
            friction=Coulomb(mu=mu_slope),
        )
    ] + [
        Contact(name=n, b=f"wedge.{n}", normal=stiff, friction=Coulomb(mu=mu_floor))
        for n in "lr"
    ]
    law = Expression(text="-0.05*(t - 0.1*(1 - exp(-t/0.1)))")
    model = Model(
        gravity=(0, -G),
        bodies=[wedge, PointMass(name="load", mass=W / G, position=(0.0, 0.1))],
        joints=[PinInSlot(name="guide", b="load", axis=pi / 2)],
        drives=[TranslationDrive(name="push", b="wedge", law=law, axis=0.0)],
        contacts=contacts,
    )
    result = simulate(model, until=2.0)
    force = W * tan(alpha + atan(mu_slope)) + mu_floor * (W + m * G)
    assert abs(result["push.force"][-1]) == pytest.approx(force, rel=1e-4)


def test_a_wheel_is_pulled_over_a_step():
    """It leaves the floor at F = W d/(r - h), d its distance before the edge."""
    m, r, h, rate, sink = 10.0, 0.3, 0.1, 10.0, 1e-6
    d = sqrt(r**2 - (r - h) ** 2)
    wheel = RigidBody(
        name="wheel",
        mass=m,
        inertia=0.5 * m * r**2,
        position=(-d, r - sink),
        shapes={"rim": Circle(radius=r)},
    )
    contacts = [
        Contact(name="floor", b="wheel.rim", normal=floor(m, sink), friction=law)
        if name == "floor"
        else Contact(
            name=name,
            a="wheel.rim",
            b="ground.edge",
            normal=floor(m, sink),
            friction=law,
        )
        for name, law in (("floor", Coulomb(mu=0.5)), ("edge", Coulomb(mu=0.9)))
    ]
    model = Model(
        gravity=(0, -G),
        bodies=[Ground(points={"edge": (0.0, h)}), wheel],
        forces=[PointForce(name="F", b="wheel", fx=ConstantRate(rate=rate))],
        contacts=contacts,
    )
    result = simulate(model, until=12.5)
    least = m * G * d / (r - h)
    assert first(result, "separate", "floor") == pytest.approx(least / rate, rel=1e-3)


def test_a_flat_follower_leaves_its_cam():
    """N = m (y'' + g) + k (y - y0) falls to zero on y = r + e sin(w t)."""
    e, r, m, k, w, given, stiffness = 0.01, 0.03, 0.5, 400.0, 75.0, 0.03, 1e8

    def load(t):
        lift = e * sin(w * t)
        return m * (G - w * w * lift) + k * (lift + given)

    cam = MovingSupport(
        name="cam",
        theta=ConstantRate(rate=w),
        shapes={"disc": Circle(center=(e, 0.0), radius=r)},
    )
    follower = RigidBody(
        name="follower",
        mass=m,
        inertia=1e-3,
        position=(0.0, r - load(0.0) / stiffness),
        velocity=(0.0, e * w),
        shapes={"face": Line(angle=pi)},
    )
    model = Model(
        gravity=(0, -G),
        bodies=[cam, follower],
        joints=[Prismatic(name="guide", b="follower", axis=pi / 2)],
        forces=[ExpressionForce(name="k", b="follower", fy=f"-{k}*(y - {r - given})")],
        contacts=[
            Contact(
                name="c",
                a="follower.face",
                b="cam.disc",
                normal=KelvinVoigt(stiffness=stiffness, damping=5e3),
            )
        ],
    )
    result = simulate(model, until=0.015)
    expected = brentq(load, 0.0, 0.5 * pi / w)
    assert first(result, "release") == pytest.approx(expected, rel=1e-3)


def test_a_friction_damper_comes_to_rest_off_its_middle():
    """Each half swing loses 2 mu m g/k, at the undamped pace."""
    m, k, mu, x = 1.0, 100.0, 0.1, 0.1
    model = Model(
        gravity=(0, -G),
        bodies=[PointMass(name="b", mass=m, position=(x, -1e-5))],
        forces=[ExpressionForce(name="s", b="b", fx=f"-{k}*x")],
        contacts=[Contact(name="c", b="b", normal=floor(m), friction=Coulomb(mu=mu))],
    )
    result = simulate(model, until=4.0)
    zone, n = mu * m * G / k, 0
    while abs(x) > zone:
        x, n = -(x - np.sign(x) * 2.0 * zone), n + 1
    assert result["b.x"][-1] == pytest.approx(x, abs=CLOSE)
    assert first(result, "stick") == pytest.approx(n * pi / sqrt(k / m), rel=CLOSE)


def test_two_sprung_blocks_on_a_belt():
    """Against 1.5e5 set-valued implicit steps of first order."""
    m, k, link, belt, until, h = 1.0, 100.0, 40.0, 0.2, 3.0, 2e-5
    mu = np.array([0.3, 0.5])
    forces = [
        ExpressionForce(name=f"s{i}", b=f"b{i}", fx=f"-{k}*(x - {i})") for i in range(2)
    ]
    model = Model(
        gravity=(0, -G),
        bodies=[
            MovingSupport(name="belt", x=ConstantRate(rate=belt)),
            *(PointMass(name=f"b{i}", mass=m, position=(i, -1e-5)) for i in range(2)),
        ],
        forces=[
            *forces,
            SpringDamper(name="link", a="b0", b="b1", stiffness=link, rest_length=1.0),
        ],
        contacts=[
            Contact(
                name=f"c{i}",
                a="belt",
                b=f"b{i}",
                normal=floor(m),
                friction=Coulomb(mu=float(mu[i])),
            )
            for i in range(2)
        ],
    )
    result = simulate(model, until=until)
    x0 = x1 = 0.0
    v0 = v1 = 0.0
    l0, l1 = mu * G * h
    for _ in range(round(until / h)):
        x0, x1 = x0 + 0.5 * h * v0, x1 + 0.5 * h * v1
        pull = link * (x1 - x0)
        w0, w1 = (
            v0 + h * (pull - k * x0) / m - belt,
            v1 - h * (pull + k * x1) / m - belt,
        )
        v0 = belt + (max(w0 - l0, 0.0) if w0 > 0.0 else min(w0 + l0, 0.0))
        v1 = belt + (max(w1 - l1, 0.0) if w1 > 0.0 else min(w1 + l1, 0.0))
        x0, x1 = x0 + 0.5 * h * v0, x1 + 0.5 * h * v1
    assert result["b0.x"][-1] == pytest.approx(x0, abs=h)
    assert result["b1.x"][-1] - 1.0 == pytest.approx(x1, abs=h)


def test_a_box_slides_off_a_seesaw():
    """It sticks while the plank falls, against an integration of that."""
    m, inertia, x, mu, sink = 2.0, 1.0, 0.2, 0.3, 1e-6
    plank = RigidBody(name="plank", mass=4.0, inertia=inertia, shapes={"top": Line()})
    model = Model(
        gravity=(0, -G),
        bodies=[plank, PointMass(name="box", mass=m, position=(x, -sink))],
        joints=[Revolute(name="pin", b="plank")],
        contacts=[
            Contact(
                name="c",
                a="plank.top",
                b="box",
                normal=floor(m, sink),
                friction=Coulomb(mu=mu),
            )
        ],
    )
    result = simulate(model, until=0.8)

    def motion(_, y):
        return [y[1], -m * G * x * cos(y[0]) / (inertia + m * x**2)]

    def left(t, y):
        load = m * (G * cos(y[0]) + motion(t, y)[1] * x)
        return mu * load - abs(m * (G * sin(y[0]) - y[1] ** 2 * x))

    left.__dict__.update(terminal=True)
    found = solve_ivp(motion, (0, 2), [0, 0], events=left, rtol=1e-11, atol=1e-13)
    assert found.y_events is not None
    assert hypot(*found.y_events[0][0]) > 0.1
    assert first(result, "break_away") == pytest.approx(found.t[-1], rel=1e-4)
