"""Flexible bodies as users build them: columns that buckle, fingers that slide."""

import math

import numpy as np
import pytest

from nonsmooth import (
    Bar,
    ConstantRate,
    Contact,
    Coulomb,
    FlexibleBody,
    Ground,
    KelvinVoigt,
    Line,
    Material,
    ModalDamping,
    Model,
    MovingSupport,
    Patch,
    PinInSlot,
    PointForce,
    Prismatic,
    Rectangle,
    Refinement,
    Revolute,
    RigidBody,
    RotationDrive,
    SmoothStep,
    SpringDamper,
    Unilateral,
    Weld,
    equilibrium,
    simulate,
)

PLASTIC = Material(youngs_modulus=2e9, poissons_ratio=0.3, density=1200.0)
LENGTH, DEPTH, THICK = 0.5, 0.01, 0.02
BENDING = PLASTIC.youngs_modulus * THICK * DEPTH**3 / 12.0
EULER = math.pi**2 * BENDING / LENGTH**2
# Of a beam that shears: P = P_E/(1 + P_E/(k G A)).
SHEAR = PLASTIC.youngs_modulus / 2.6 * THICK * DEPTH * 5.0 / 6.0


def column(load, ends):
    """Return a column along x under a load at its right end."""
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(
            width=LENGTH, height=DEPTH, center=(LENGTH / 2.0, 0.0), size=0.01
        ),
        material=PLASTIC,
        thickness=THICK,
        modes=6,
        patches={"left": Patch(boundary="left"), "right": Patch(boundary="right")},
    )
    joints = {
        "pinned": (
            Revolute(name="foot", a="ground", b="bar.left"),
            PinInSlot(name="head", a="ground.head", b="bar.right"),
        ),
        "clamped": (
            Weld(name="foot", a="ground", b="bar.left"),
            Prismatic(name="head", a="ground.head", b="bar.right"),
        ),
        "free": (Weld(name="foot", a="ground", b="bar.left"),),
    }
    return Model(
        bodies=[Ground(points={"head": (LENGTH, 0.0)}), bar],
        joints=joints[ends],
        forces=[PointForce(name="load", b="bar.right", fx=-load)],
    )


@pytest.mark.parametrize(
    ("ends", "factor", "within"),
    # Modes of free ends come to clamped ones more slowly: 6 of them.
    [("pinned", 1.0, 5e-4), ("free", 0.25, 2e-4), ("clamped", 4.0, 2e-3)],
)
def test_a_column_buckles_at_the_load_of_euler(ends, factor, within):
    """The lowest stiffness goes through zero there; above it that is said."""
    expected = factor * EULER / (1.0 + factor * EULER / SHEAR)
    loads = np.array([0.97, 1.03]) * expected
    below, above = (equilibrium(column(load, ends)) for load in loads)
    assert below.stability == "stable"
    assert above.stability == "unstable"
    assert "body 'bar' buckles" in above.notes[0]
    a, b = below.stiffness[0], above.stiffness[0]
    critical = loads[0] + (loads[1] - loads[0]) * a / (a - b)
    assert critical == pytest.approx(expected, rel=within)


def test_a_fixed_body_that_bends_too_far_is_told_with_the_size():
    """Its frame has no inertia that would tell; its boundary turns by P L^2/(2 E I)."""

    def end(load):
        bar = FlexibleBody(
            name="bar",
            mesh=Rectangle(width=LENGTH, height=DEPTH, center=(0.25, 0.0), size=0.01),
            material=PLASTIC,
            thickness=THICK,
            modes=4,
            fixed=("left",),
            start="static",
            points={"end": (LENGTH, 0.0)},
        )
        force = PointForce(name="load", b="bar.end", fy=-load)
        return simulate(Model(bodies=[bar], forces=[force]), until=0.01)

    per = 2.0 * BENDING / LENGTH**2  # N/rad
    assert not end(0.3 * per).doubts
    (told,) = end(0.9 * per).doubts
    turn = float(told.split("turns by ")[1].split(" rad")[0])
    assert turn == pytest.approx(0.9, abs=0.02)


# ---- a finger that slides along a beam -----------------------------------------------

TIP = -1e-5  # m, of the finger's mesh: above the beam at the start


def finger_on_beam(mu):
    """Return a beam between walls, and a finger that a hand presses and drags on it."""
    damping = ModalDamping(ratio=0.05)
    beam = FlexibleBody(
        name="beam",
        mesh=Rectangle(width=0.2, height=0.01, center=(0.0, -0.005), size=4e-3),
        material=PLASTIC,
        thickness=0.01,
        modes=8,
        fixed=("left", "right"),
        damping=damping,
        patches={"top": Patch(boundary="top")},
    )
    near = Refinement(point=(TIP, 0.0), size=1.5e-3, radius=3e-3)
    finger = FlexibleBody(
        name="finger",
        mesh=Bar(
            length=0.05,
            width=0.01,
            start=(TIP - 0.05, 0.0),
            size=3e-3,
            refine={"tip": near},
        ),
        material=PLASTIC,
        thickness=0.01,
        modes=8,
        angle=-math.pi / 2.0,
        damping=damping,
        patches={
            "root": Patch(boundary="end"),
            "tip": Patch(boundary="head", center=(TIP, 0.0), radius=4.5e-3),
        },
    )
    high = 0.05 - TIP
    hand = MovingSupport(
        name="hand",
        theta=-math.pi / 2.0,
        x=SmoothStep(end=0.02, begin=0.02, duration=0.05),
        y=SmoothStep(start=high, end=high - 5e-4, duration=0.02),
    )
    rough = Contact(
        name="c",
        a="beam.top",
        b="finger.tip",
        normal=Unilateral(),
        friction=Coulomb(mu=mu, mu_static=1.3 * mu),
    )
    grip = Weld(name="grip", a="hand", b="finger.root")
    return Model(bodies=[beam, finger, hand], joints=[grip], contacts=[rough])


def test_a_finger_slides_along_a_beam():
    """Over segments of 2 mm forces are smooth: the flexibility of a segment between its
    nodes is smaller than at these, here by half a per cent of what else gives way.
    """
    result = simulate(finger_on_beam(0.3), until=0.06)
    t = np.linspace(0.04, 0.058, 2001)
    found = result.sample(t, ["c.normal_force", "c.friction_force", "c.point_x"])
    x, press = found["c.point_x"], found["c.normal_force"]
    # At least four nodes of the beam are passed.
    assert x[-1] - x[0] > 8e-3
    smooth = np.polynomial.Polynomial.fit(x, press, 4)(x)
    assert np.abs(press - smooth).max() < 0.0075 * press.mean()
    assert np.allclose(found["c.friction_force"], -0.3 * press, rtol=1e-6)
    balance = result.energy_balance
    # 7e-7, by kinks where nodes change; 4e-4 if segments and places did not count.
    assert balance.residual < 5e-6 * balance.exchanged
    assert balance.work["c.friction"][-1] < 0.0


def test_the_corner_of_a_body_is_no_cut_of_a_patch():
    """A patch may end where its boundary does: no larger radius reaches farther."""
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.2, height=0.01, center=(0.0, 0.0), size=5e-3),
        material=PLASTIC,
        thickness=0.01,
        modes=4,
        position=(0.0, 0.0052 + 0.1 * math.sin(0.3)),
        angle=0.3,
        velocity=(0.0, -0.5),
        patches={"sole": Patch(boundary="bottom", center=(-0.1, -0.005), radius=0.03)},
    )
    sole = Contact(name="c", b="bar.sole", normal=Unilateral())
    result = simulate(Model(bodies=[bar], contacts=[sole]), until=2e-3)
    assert result["c.normal_force"].max() > 1.0
    assert not any("at an end of patch" in doubt for doubt in result.doubts)


def test_all_kinds_of_elements_in_one_closed_loop():
    """A driven four-bar with an elastic coupler: spring, rough pin, stop and ceiling.

    Its ledger closes, and every part of it has its entry.
    """
    crank, coupler, rocker, apart, angle = 0.1, 0.3, 0.25, 0.3, 0.5
    a = crank * np.array([math.cos(angle), math.sin(angle)])
    far = np.array([apart, 0.0]) - a
    way = float(np.hypot(*far))
    open_by = math.acos((coupler**2 + way**2 - rocker**2) / (2.0 * coupler * way))
    lie = math.atan2(far[1], far[0]) + open_by
    b = a + coupler * np.array([math.cos(lie), math.sin(lie)])
    stand = math.atan2(b[1], b[0] - apart)
    ground = Ground(
        points={"right": (apart, 0.0), "spring": (0.1, -0.1)},
        shapes={
            "ceiling": Line(point=(0.0, 0.2538), angle=math.pi),
            "wall": Line(point=(0.314, 0.0), angle=math.pi / 2.0),
        },
    )
    bodies = [
        ground,
        RigidBody(
            name="crank",
            mass=0.2,
            inertia=1e-3,
            position=tuple(0.5 * a),
            angle=angle,
            points={"o": (-0.5 * crank, 0.0), "a": (0.5 * crank, 0.0)},
        ),
        FlexibleBody(
            name="coupler",
            mesh=Rectangle(
                width=coupler, height=0.01, center=(0.5 * coupler, 0.0), size=5e-3
            ),
            material=PLASTIC,
            thickness=0.01,
            modes=6,
            position=tuple(0.5 * (a + b)),
            angle=lie,
            damping=ModalDamping(ratio=0.02),
            points={"middle": (0.5 * coupler, 0.0)},
            patches={
                "top": Patch(boundary="top", center=(coupler, 5e-3), radius=0.05),
                "left": Patch(boundary="left"),
                "right": Patch(boundary="right"),
            },
        ),
        RigidBody(
            name="rocker",
            mass=0.2,
            inertia=2e-3,
            position=tuple(0.5 * (b + np.array([apart, 0.0]))),
            angle=stand,
            points={
                "o": (-0.5 * rocker, 0.0),
                "b": (0.5 * rocker, 0.0),
                "side": (0.0, -0.01),
            },
        ),
    ]
    dry = Coulomb(mu=0.1)
    soft = KelvinVoigt(stiffness=2e4, damping=5.0)
    model = Model(
        gravity=(0.0, -9.81),
        bodies=bodies,
        joints=[
            Revolute(name="j0", a="ground", b="crank.o"),
            Revolute(name="j1", a="crank.a", b="coupler.left"),
            Revolute(
                name="j2", a="coupler.right", b="rocker.b", friction=dry, radius=5e-3
            ),
            Revolute(name="j3", a="ground.right", b="rocker.o"),
        ],
        drives=[
            RotationDrive(
                name="motor", b="crank", law=ConstantRate(start=angle, rate=20.0)
            )
        ],
        forces=[
            SpringDamper(
                name="spring",
                a="ground.spring",
                b="coupler.middle",
                stiffness=200.0,
                damping=0.5,
                rest_length=0.05,
            )
        ],
        contacts=[
            Contact(
                name="ceiling",
                a="ground.ceiling",
                b="coupler.top",
                normal=Unilateral(),
                friction=Coulomb(mu=0.2, mu_static=0.24),
            ),
            Contact(
                name="wall",
                a="ground.wall",
                b="rocker.side",
                normal=soft,
                friction=Coulomb(mu=0.3),
            ),
        ],
    )
    result = simulate(model, until=0.35, assemble=True)
    balance = result.energy_balance
    # Histories of nodes are of first order in the step; all else holds to 1e-11.
    assert balance.residual < 2e-6 * balance.exchanged
    for name in ("ceiling.friction", "wall.normal", "wall.friction", "j2.friction"):
        assert balance.work[name][-1] < -1e-4, name
    assert result["ceiling.normal_force"].max() > 100.0
    kinds = result.events.counts()
    assert kinds["touch_down"] >= 1
    assert kinds["stick"] >= 10
    rub = result.sample(result.t, ["ceiling.normal_force", "ceiling.friction_force"])
    press, along = (rub[f"ceiling.{x}_force"] for x in ("normal", "friction"))
    assert np.all(np.abs(along) <= 0.24 * press * (1.0 + 1e-9))
    assert result.violation < 1e-12
