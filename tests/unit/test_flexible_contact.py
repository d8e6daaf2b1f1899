"""Contact, friction and mechanisms with flexible bodies; see test_flexible.py."""

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Ground,
    Hertz,
    KelvinVoigt,
    Material,
    ModalDamping,
    Model,
    MovingSupport,
    PinInSlot,
    PointMass,
    Revolute,
    RigidBody,
    RotationDrive,
    SolveError,
    SpringDamper,
    io,
    simulate,
)
from nonsmooth.pack.flexible import loads_of, reduce
from oracles.beam_modes import STEEL, beam
from oracles.beam_theory import ball_on_beam

G = 9.81


# ---- contact and friction --------------------------------------------------------

RADIUS, SPEED, SPAN, SIDE = 0.01, 0.01, 0.1535, 0.01
BALL = Material(youngs_modulus=2.1e11, poissons_ratio=0.3, density=7850.0)


def ball_model(modes=12, n=20):
    mass = BALL.density * 4.0 / 3.0 * math.pi * RADIUS**3
    points = {"left": (0.0, 0.0), "right": (SPAN, 0.0), "middle": (0.5 * SPAN, 0.0)}
    body = beam(
        name="beam",
        length=SPAN,
        height=SIDE,
        n=n,
        thickness=SIDE,
        material=BALL,
        modes=modes,
        points=points,
        position=(0.0, 0.0),
    )
    sphere = RigidBody(
        name="ball",
        mass=mass,
        inertia=0.4 * mass * RADIUS**2,
        position=(0.0, RADIUS),
        velocity=(0.0, -SPEED),
        shapes={"rim": Circle(radius=RADIUS)},
    )
    stiffness = 4.0 / 3.0 * math.sqrt(RADIUS) * 0.5 * 2.1e11 / (1.0 - 0.09)
    ground = Ground(points={"left": (-0.5 * SPAN, 0.0)})
    return Model(
        bodies=[ground, body, sphere],
        joints=[
            Revolute(name="pin", a="ground.left", b="beam.left"),
            PinInSlot(name="roller", b="beam.right"),
        ],
        contacts=[
            Contact(
                name="contact",
                a="ball.rim",
                b="beam.middle",
                normal=Hertz(stiffness=stiffness),
            )
        ],
    ), stiffness


def supported_modes(model):
    """Frequencies and middle's shapes of the beam on its supports, from its arrays."""
    body = model.bodies[1]
    one = reduce(body, loads_of(model)["beam"])
    n = len(one.stiffness)
    M = np.diag([one.mass, one.mass, one.inertia, *np.ones(n)])
    K = np.diag([0.0, 0.0, 0.0, *one.stiffness])

    def rows(name):
        site = one.sites[name]
        x = site.place[0] - one.centre[0]
        return np.array(
            [[1.0, 0.0, 0.0, *site.shape[0]], [0.0, 1.0, x, *site.shape[1]]]
        )

    J = np.vstack([rows("left"), rows("right")[1:]])
    _, _, vt = np.linalg.svd(J)
    free = vt[3:].T
    w2, vectors = eigh(free.T @ K @ free, free.T @ M @ free)
    return np.sqrt(w2), rows("middle")[1] @ free @ vectors


def test_ball_on_a_beam_follows_timoshenko(validate):
    model, stiffness = ball_model()
    ball = model.bodies[2]
    assert isinstance(ball, RigidBody)
    w, phi = supported_modes(model)
    first = math.pi**2 / SPAN**2 * math.sqrt(2.1e11 * SIDE**2 / 12.0 / BALL.density)
    assert abs(w[0] - first) < 1e-4 * first
    until = 1e-3
    t, force = ball_on_beam(stiffness, ball.mass, SPEED, w, phi, until, 200_000)
    result = simulate(model, until=until, rtol=1e-9)
    at = slice(None, None, 50)
    ours = result.sample(t[at], ["contact.normal_force"])["contact.normal_force"]
    peak = force.max()
    assert peak > 4.0
    # Both solutions are good to about 1e-8 of the peak.
    within, against = 1e-6 * peak, "Timoshenko's integral equation"
    validate("ball on a beam: force", ours, force[at], within, "N", against)
    kinds = [e.kind for e in result.events if e.element == "contact"]
    assert kinds.count("separate") + kinds.count("release") >= 1
    assert result.energy_balance.residual < 1e-7 * result.energy_balance.kinetic[0]


def feet():
    normal = KelvinVoigt(stiffness=1e5, damping=100.0)
    friction = Coulomb(mu=0.2, mu_static=0.3)
    return [
        Contact(name=name, b=f"rod.{name}", normal=normal, friction=friction)
        for name in ("heel", "toe")
    ]


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_friction_stops_a_bar_as_a_rigid_one(method):
    points = {"heel": (0.0, 0.0), "toe": (0.5, 0.0)}
    start: dict[str, Any] = {"position": (0.0, -2e-5), "velocity": (0.3, 0.0)}
    damping = ModalDamping(ratio=0.05)
    bar = beam(modes=3, n=10, height=0.05, points=points, damping=damping, **start)
    one = reduce(bar, {"heel": False, "toe": False})
    rigid = RigidBody(
        name="rod",
        mass=one.mass,
        inertia=one.inertia,
        points={"heel": (-0.25, 0.0), "toe": (0.25, 0.0)},
        **start,
    )
    results = [
        simulate(
            Model(bodies=[body], contacts=feet(), gravity=(0.0, -G)),
            until=0.3,
            method=method,
        )
        for body in (bar, rigid)
    ]
    stops = [
        next(e.t for e in r.events if e.kind == "stick" and e.element == "toe")
        for r in results
    ]
    assert abs(stops[0] - 0.3 / (0.2 * G)) < 2e-3
    assert abs(stops[0] - stops[1]) < 1e-4
    ours = results[0]
    assert abs(ours["rod.x"][-1] - results[1]["rod.x"][-1]) < 1e-5
    assert ours.energy_balance.residual < 1e-6 * ours.energy_balance.exchanged
    assert ours["toe.mode"][-1] == 0.0
    assert abs(ours["toe.slip_velocity"][-1]) < 1e-9


def test_stick_and_slip_of_a_reed_on_a_belt():
    """A cantilever is dragged along by a belt, slips back, and sticks again."""
    reed = beam(
        name="reed",
        length=0.2,
        height=0.002,
        modes=3,
        points={"tip": (0.2, 0.0)},
        fixed=("left",),
        position=(0.0, 0.1 - 1e-4),
        angle=-math.pi / 2,
        damping=ModalDamping(ratio=0.01),
    )
    belt = MovingSupport(name="belt", x=ConstantRate(rate=0.05))
    tip = Contact(
        name="tip",
        a="belt",
        b="reed.tip",
        normal=KelvinVoigt(stiffness=1e4, damping=5.0),
        friction=Coulomb(mu=0.2, mu_static=0.4),
    )
    result = simulate(Model(bodies=[reed, belt], contacts=[tip]), until=1.0)
    kinds = [e.kind for e in result.events]
    assert kinds.count("break_away") >= 3
    assert kinds.count("stick") >= 3
    sticks = result["tip.mode"] == 0.0
    # Round-off of a row that is kept by projection.
    assert np.max(np.abs(result["tip.slip_velocity"][sticks])) < 1e-8
    slips = np.abs(result["tip.mode"]) == 1.0
    ratio = np.abs(result["tip.friction_force"] / result["tip.normal_force"])
    assert np.allclose(ratio[slips], 0.2, rtol=1e-9)
    assert np.max(ratio[sticks]) < 0.4 * (1.0 + 1e-6)
    assert result.energy_balance.residual < 1e-6 * result.energy_balance.exchanged


def slider_crank(**link):
    crank = RigidBody(
        name="crank",
        mass=0.5,
        inertia=1e-3,
        position=(0.05, 0.0),
        velocity=(0.0, 0.05 * 20.0),
        angular_velocity=20.0,
        points={"axis": (-0.05, 0.0), "pin": (0.05, 0.0)},
    )
    rod = beam(
        name="link",
        length=0.4,
        height=0.005,
        points={"a": (0.0, 0.0), "b": (0.4, 0.0)},
        position=(0.3, 0.0),
        velocity=(0.0, 1.0),
        angular_velocity=-5.0,
        **link,
    )
    slider = PointMass(name="slider", mass=0.3, position=(0.5, 0.0))
    return Model(
        bodies=[crank, rod, slider],
        joints=[
            Revolute(name="o", b="crank.axis"),
            Revolute(name="a", a="crank.pin", b="link.a"),
            Revolute(name="b", a="link.b", b="slider"),
            PinInSlot(name="guide", b="slider"),
        ],
        drives=[RotationDrive(name="motor", b="crank", law=ConstantRate(rate=20.0))],
        gravity=(0.0, -G),
        assemble=True,
    )


def test_slider_crank_with_a_flexible_link():
    model = slider_crank(modes=4, damping=ModalDamping(ratio=0.02))
    result = simulate(model, until=0.7)
    balance = result.energy_balance
    assert balance.residual < 1e-7 * balance.exchanged
    assert balance.work["link.damping"][-1] < 0.0
    assert result.violation < 1e-10
    # The link bends by more than its rigid twin, which is none at all, could.
    assert np.max(np.abs(result["link.eta.0"])) > 1e-5
    again = pickle.loads(pickle.dumps(result))
    assert again["slider.x"][-1] == result["slider.x"][-1]
    found = result.verify()
    assert found.position < 1e-5
    middle = simulate(model, until=0.35)
    rest = simulate(model, until=0.7, start=middle.state())
    # Both at rtol 1e-8.
    assert abs(rest["slider.x"][-1] - result["slider.x"][-1]) < 1e-6


def test_methods_agree():
    spring = SpringDamper(
        name="spring", b="rod.tip", stiffness=200.0, damping=2.0, rest_length=0.1
    )
    body = beam(points={"tip": (0.5, 0.0), "pin": (0.0, 0.0)}, modes=3, n=10)
    hinge = Revolute(name="hinge", b="rod.pin")
    model = Model(
        bodies=[replace(body, position=(0.25, 0.0))],
        joints=[hinge],
        forces=[spring],
        gravity=(0.0, -G),
    )
    ends = [
        simulate(model, until=0.05, method=method, rtol=1e-9)["rod.tip.y"][-1]
        for method in ("auto", "radau")
    ]
    assert abs(ends[0] - ends[1]) < 1e-8


def test_too_few_modes_are_told():
    model, stiffness = ball_model(modes=1)
    ball, contact = model.bodies[2], model.contacts[0]
    assert isinstance(ball, RigidBody)
    assert not simulate(model, until=2e-4).doubts
    # A light ball, a hundred times as stiff: a blow of 2 us.
    light = replace(ball, mass=ball.mass / 300.0, velocity=(0.0, -1.0))
    hard = replace(contact, normal=Hertz(stiffness=100.0 * stiffness))
    struck = replace(model, bodies=(*model.bodies[:2], light), contacts=(hard,))
    assert "body 'beam': up to" in simulate(struck, until=2e-4).notes[-1]


def test_too_much_bending_is_told():
    soft = replace(STEEL, youngs_modulus=2e9)
    model = Model(bodies=[beam(material=soft, eta=(0.025,))])
    assert "cut it into pieces" in simulate(model, until=0.01).notes[-1]
    shape = (0.05, 0.02, 0.01)
    far = Model(bodies=[beam(material=soft, eta=shape, angular_velocity=30.0)])
    with pytest.raises(SolveError, match="cut it into pieces"):
        simulate(far, until=0.2)


@pytest.mark.parametrize("angle", [0.7, -2.0])
def test_the_scene_may_be_turned(angle):
    """Gravity, supports and starts turned alike give the same motion, turned."""

    def run(angle):
        c, s = math.cos(angle), math.sin(angle)
        body = beam(
            points={"pin": (0.0, 0.0), "tip": (0.5, 0.0)},
            position=(0.25 * c, 0.25 * s),
            angle=angle,
            modes=3,
            n=10,
        )
        reed = beam(
            name="reed",
            fixed=("left",),
            modes=3,
            n=10,
            points={"tip": (0.5, 0.0)},
            angle=angle,
        )
        spring = SpringDamper(name="s", a="reed.tip", b="rod.tip", stiffness=100.0)
        hinge = Revolute(name="hinge", b="rod.pin")
        gravity = (G * s, -G * c)
        model = Model(
            bodies=[body, reed], joints=[hinge], forces=[spring], gravity=gravity
        )
        return simulate(model, until=0.02, rtol=1e-9)

    still, turned = run(0.0), run(angle)
    for name in ("rod.eta.0", "reed.eta.0", "rod.eta.4"):
        size = np.max(np.abs(still[name]))
        assert abs(still[name][-1] - turned[name][-1]) < 1e-6 * size
    assert abs(turned["rod.theta"][-1] - still["rod.theta"][-1] - angle) < 1e-8


def test_files_hold_flexible_bodies():
    model = slider_crank(modes=4, damping=ModalDamping(ratio=0.02))
    for kind in ("yaml", "json"):
        text = io.dumps(model, kind)
        assert "FlexibleBody" in text
        assert io.loads(text, kind) == model
