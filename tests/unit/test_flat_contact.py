"""Outlines on a line and on each other: one contact, one friction force."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Ground,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    Model,
    ModelError,
    PointForce,
    Polygon,
    RigidBody,
    Segment,
    Shape,
    SolveError,
    gallery,
    simulate,
)
from nonsmooth.elements.base import quantity
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.solve.preview import preview

G, MASS, WIDTH, HEIGHT = 9.81, 2.0, 0.4, 0.2
WEIGHT = MASS * G
K = 1e5
ROUGH = Coulomb(mu=0.4, mu_static=0.5)
FIRM = KelvinVoigt(stiffness=K, damping=300.0)
COLUMNS = ("gap", "normal_force", "friction_force", "slip_velocity", "mode")
COLUMNS += ("point_x", "point_y", "normal_x", "normal_y", "width")


def outline(width=WIDTH, height=HEIGHT):
    w, h = 0.5 * width, 0.5 * height
    return Polygon(vertices=((-w, -h), (w, -h), (w, h), (-w, h)))


def box(name="box", at=(0.0, 0.5 * HEIGHT), width=WIDTH, height=HEIGHT, **more):
    inertia = MASS * (width**2 + height**2) / 12.0
    shapes: dict[str, Shape] = {"o": outline(width, height)}
    return RigidBody(
        name=name, mass=MASS, inertia=inertia, position=at, shapes=shapes, **more
    )


def on_floor(law, friction=None, forces=(), **more):
    contact = Contact(name="c", b="box.o", normal=law, friction=friction)
    bodies = [box(**more)]
    return Model(gravity=(0.0, -G), bodies=bodies, contacts=[contact], forces=forces)


def at_end(result, *names):
    found = result.sample([result.t_end], list(names))
    return [float(found[name][0]) for name in names]


def test_it_is_one_contact_under_its_own_name():
    sink = WEIGHT / K
    result = simulate(on_floor(FIRM, ROUGH, at=(0.3, 0.1 - sink)), 0.1)
    assert result.system.contacts == ("c",)
    names = [f"c.{n}" for n in ("normal_force", "friction_force", "gap", "width")]
    load, friction, gap, width = at_end(result, *names)
    # The full face has the stiffness of the law.
    assert load == pytest.approx(WEIGHT, rel=1e-9)
    assert friction == pytest.approx(0.0, abs=1e-9 * WEIGHT)
    assert gap == pytest.approx(-sink, rel=1e-9)
    assert width == pytest.approx(WIDTH, rel=1e-12)
    x, y, nx, ny = at_end(result, "c.point_x", "c.point_y", "c.normal_x", "c.normal_y")
    assert x == pytest.approx(0.3, abs=1e-12)
    assert -sink <= y <= 0.0
    assert (nx, ny) == pytest.approx((0.0, 1.0), abs=1e-15)


@pytest.mark.parametrize("law", [KelvinVoigt(stiffness=K), Hertz(stiffness=1e7)])
def test_a_rocking_box_keeps_its_energy(law):
    """Seen in flight, where no energy is in the contact."""
    model = on_floor(law, at=(0.0, 0.104), angle=0.02)
    result = simulate(model, 2.0, rtol=1e-12)
    flies = result["c.mode"] == 2.0
    energy = (result.energy_balance.kinetic + result.energy_balance.potential)[flies]
    assert np.count_nonzero(flies) > 50
    # 35 flights; what is lost is the error of steps across kinks of the force's slope.
    assert np.ptp(energy) <= 1e-9 * energy[0]
    assert result.energy_balance.residual <= 1e-10


def test_it_settles():
    law = HuntCrossley(stiffness=K, exponent=1.0, damping=2.0)
    result = simulate(on_floor(law, ROUGH, at=(0.0, 0.104), angle=0.02), 10.0)
    first, last = (result.sample([t, t + 0.001, t + 0.3]) for t in (0.5, 9.5))
    swing = [np.abs(s["box.omega"]).max() for s in (first, last)]
    # Its damping falls with the depth, and rocking fades with it: as 1/t at the end.
    assert swing[1] <= 0.1 * swing[0]
    assert at_end(result, "c.normal_force")[0] == pytest.approx(WEIGHT, rel=1e-2)


def pushed(height, width=WIDTH, tall=HEIGHT, top=1.2 * ROUGH.static * WEIGHT):
    """A box under a force that grows slowly, from the balance of half the limit."""
    point = (0.0, height - 0.5 * tall)
    rate = 0.2
    begin = 0.5 * ROUGH.static * WEIGHT
    sink = WEIGHT / K
    # The moment of push and friction, and that of the tilted weight, borne by the
    # pressure under a tilted face: K w^2/12 tilt.
    lever = begin * (height - sink) + WEIGHT * 0.0
    tilt = lever / (K * width**2 / 12.0 - WEIGHT * 0.5 * tall)
    body = box(at=(0.0, 0.5 * tall - sink), width=width, height=tall, angle=-tilt)
    body = replace(body, points={"p": point})
    push = PointForce(name="p", b="box.p", fx=ConstantRate(start=begin, rate=rate))
    model = Model(
        gravity=(0.0, -G),
        bodies=[body],
        forces=[push],
        contacts=[Contact(name="c", b="box.o", normal=FIRM, friction=ROUGH)],
    )
    return simulate(model, (top - begin) / rate), lambda t: begin + rate * t


def test_a_box_pushed_at_its_middle_begins_to_slide_at_the_limit():
    result, force = pushed(0.5 * HEIGHT)
    away = [r.t for r in result.events if r.kind == "break_away"]
    assert len(away) == 1
    assert force(away[0]) == pytest.approx(ROUGH.static * WEIGHT, rel=1e-9)


def test_a_tall_box_tips_instead():
    """Pushed at 0.45 of 0.5 m, 0.1 m wide: m g w/2 h, a fifth of what it slides at."""
    tip = WEIGHT * 0.5 * 0.1 / 0.45
    body = box(at=(0.0, 0.25 - 0.05 * WEIGHT / K), width=0.1, height=0.5)
    body = replace(body, points={"p": (0.0, 0.2)})
    firm = KelvinVoigt(stiffness=100.0 * K, damping=1e4)
    contact = Contact(name="c", b="box.o", normal=firm, friction=ROUGH)
    push = PointForce(name="p", b="box.p", fx=ConstantRate(rate=0.4 * tip))
    model = Model(gravity=(0.0, -G), bodies=[body], forces=[push], contacts=[contact])
    result = simulate(model, 2.9)
    # It leans by 1e-3 rad on its elastic foot, a fifth of the longest face, and then
    # goes over.
    over = float(result.t[np.argmax(result["box.theta"] < -0.05)])
    assert not [r for r in result.events if r.kind == "break_away" and r.t < over]
    assert 0.9 * tip <= 0.4 * tip * over <= 1.15 * tip


def test_a_brick_over_the_edge_tips_when_its_centre_passes_it():
    """With its centre 5 mm before the edge it stays, 5 mm beyond it falls."""
    corners = ((-1.0, -1.0), (0.0, -1.0), (0.0, 0.0), (-1.0, 0.0))
    table = Ground(shapes={"top": Polygon(vertices=corners)})
    firm = KelvinVoigt(stiffness=1e9, damping=1e6)
    found = []
    for x in (-5e-3, 5e-3):
        brick = box(at=(x, 0.5 * HEIGHT))
        contact = Contact(
            name="c", a="ground.top", b="box.o", normal=firm, friction=ROUGH
        )
        model = Model(gravity=(0.0, -G), bodies=[table, brick], contacts=[contact])
        result = simulate(model, 1.0)
        found.append(at_end(result, "box.theta", "box.omega", "c.point_x"))
    # Where it stays the table bears it below its centre, near the edge: 2 W spread
    # over 15 mm of face is 1e-6 m deep, a lean of 7e-5 rad.
    assert abs(found[0][0]) < 2e-4
    assert abs(found[0][1]) < 1e-3
    assert found[0][2] == pytest.approx(-5e-3, abs=1e-4)
    assert found[1][0] < -0.2


def test_forces_and_points_balance_both_bodies():
    """Newton and Euler for both, from the columns alone, damping included."""
    lower = box("low", at=(0.0, 0.1 - 2.0 * WEIGHT / K), width=0.6)
    upper = box("up", at=(0.05, 0.305), angle=0.03, velocity=(0.2, -0.1))
    contacts = [
        Contact(name="c1", b="low.o", normal=FIRM, friction=ROUGH),
        Contact(name="c2", a="low.o", b="up.o", normal=FIRM, friction=ROUGH),
    ]
    model = Model(gravity=(0.0, -G), bodies=[lower, upper], contacts=contacts)
    result = simulate(model, 0.3)
    s = result.sample(np.linspace(0.0, 0.3, 301))
    assert np.count_nonzero(s["c2.normal_force"]) > 100
    for body, acting in (("low", (("c1", 1.0), ("c2", -1.0))), ("up", (("c2", 1.0),))):
        total = np.array([0.0, -WEIGHT, 0.0])[:, None] * np.ones(301)
        size = WEIGHT * np.ones(301)
        for name, sign in acting:
            nx, ny = s[f"{name}.normal_x"], s[f"{name}.normal_y"]
            N, F = s[f"{name}.normal_force"], s[f"{name}.friction_force"]
            fx, fy = sign * (N * nx + F * ny), sign * (N * ny - F * nx)
            dx = s[f"{name}.point_x"] - s[f"{body}.x"]
            dy = s[f"{name}.point_y"] - s[f"{body}.y"]
            total += np.array([fx, fy, dx * fy - dy * fx])
            size += np.abs(N)
        inertia = MASS * ((0.6 if body == "low" else WIDTH) ** 2 + HEIGHT**2) / 12.0
        parts = np.array(
            [
                MASS * s[f"{body}.ax"],
                MASS * s[f"{body}.ay"],
                inertia * s[f"{body}.alpha"],
            ]
        )
        # Round-off of what is summed.
        assert np.all(np.abs(parts - total) <= 1e-12 * size)
    assert result.energy_balance.residual <= 1e-8
    # Friction within its limits.
    for name in ("c1", "c2"):
        limit = ROUGH.static * s[f"{name}.normal_force"]
        assert np.all(np.abs(s[f"{name}.friction_force"]) <= limit + 1e-9 * WEIGHT)


def test_the_normal_points_from_a_to_b():
    ball = RigidBody(
        name="ball",
        mass=1.0,
        inertia=0.01,
        position=(0.02, 0.3 - 1e-4),
        velocity=(0.5, 0.0),
        shapes={"o": Circle(radius=0.1)},
    )
    forces = []
    for a, b in (("box.o", "ball.o"), ("ball.o", "box.o")):
        contacts = [
            Contact(name="floor", b="box.o", normal=FIRM, friction=ROUGH),
            Contact(name="c", a=a, b=b, normal=FIRM, friction=ROUGH),
        ]
        bodies = [box(at=(0.0, 0.1 - 2e-4)), ball]
        model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
        s = simulate(model, 0.01).sample([0.004, 0.008])
        sign = 1.0 if b == "ball.o" else -1.0
        assert s["c.normal_y"] == pytest.approx(sign, abs=1e-3)
        assert np.all(s["c.width"] == 0.0)
        # The slip of b past a along a tangent that turns with the normal.
        assert np.all(s["c.slip_velocity"] > 0.3)
        forces.append([s[f"c.{n}"] for n in ("normal_force", "friction_force")])
    assert forces[0] == pytest.approx(np.array(forces[1]), rel=1e-6)


@pytest.mark.parametrize("order", ["lower_upper", "upper_lower"])
def test_columns_of_outlines_closed_and_open(order):
    """Whichever of two boxes is a: gap, normal, point and forces on b."""
    deep, apart = 1e-4, 0.02
    a, b = order.split("_")
    up = 1.0 if b == "upper" else -1.0
    for gap in (-deep, apart):
        low = box(at=(0.0, 0.0), name="lower")
        high = box(at=(0.05, 0.2 + gap), name="upper")
        contact = Contact(name="c", a=f"{a}.o", b=f"{b}.o", normal=FIRM, friction=ROUGH)
        s = simulate(Model(bodies=[low, high], contacts=[contact]), 1e-9).sample(0.0)
        found = {n: s[f"c.{n}"][0] for n in COLUMNS}
        # Closed, minus the greatest depth; open, the distance.
        assert found["gap"] == pytest.approx(gap, rel=1e-9)
        assert found["normal_y"] == pytest.approx(up, abs=1e-3)
        is_closed = gap < 0.0
        # Halves of both ends push aside, by half the depth.
        lean = deep / (2.0 * 0.35) if is_closed else 0.0
        assert abs(found["normal_x"]) <= lean / (1.0 - lean) + 1e-12
        assert found["width"] == pytest.approx(0.35 if is_closed else 0.0, abs=2e-4)
        assert (found["normal_force"] > 0.0) == is_closed
        assert (found["mode"] == 2) == (not is_closed)
        if is_closed:
            assert found["point_x"] == pytest.approx(0.025, abs=1e-3)
            assert abs(found["point_y"] - 0.1) <= deep
        else:
            # On b, where it is nearest to a.
            assert found["point_y"] == pytest.approx(0.1 + max(0.0, up) * apart)


def test_a_segment_touches_outlines_in_points():
    shelf = Ground(shapes={"s": Segment(start=(-1.0, 0.0), end=(1.0, 0.0))})
    contact = Contact(name="c", a="ground.s", b="box.o", normal=FIRM, friction=ROUGH)
    bodies = [shelf, box(at=(0.0, 0.1 - 1e-4))]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=[contact])
    result = simulate(model, 0.01)
    assert result.system.contacts[:2] == ("c.1", "c.2")


def test_deep_outlines_are_refused_at_the_start():
    with pytest.raises(
        ModelError, match=r"contact 'c': the outlines overlap by 0.06 m"
    ):
        simulate(on_floor(FIRM, at=(0.0, 0.04)), 0.1)


@pytest.mark.parametrize(
    ("air", "told"),
    [
        ((0, 0), ""),
        ((1, 1), "contacts 'c1', 'c2' are open by up to 0.01 m at the start"),
        ((1, 0), "contact 'c1' is open by 0.01 m at the start"),
        ((0, 1), "contact 'c2' is open by 0.01 m at the start"),
    ],
)
def test_a_stack_that_starts_in_the_air_is_named(air, told):
    """Two boxes, each apart from what is below by 0.01 m, or touching it."""
    first = 0.1 + 0.01 * air[0]
    second = first + 0.2 + 0.01 * air[1]
    lower = box(at=(0.0, first))
    upper = replace(box(at=(0.0, second)), name="top")
    contacts = [
        Contact(name="c1", b="box.o", normal=FIRM, friction=ROUGH),
        Contact(name="c2", a="box.o", b="top.o", normal=FIRM, friction=ROUGH),
    ]
    model = Model(gravity=(0.0, -G), bodies=[lower, upper], contacts=contacts)
    text = " ".join(simulate(model, 1e-3).notes)
    assert told in text
    assert ("starts in the air" in text) == bool(told)


def test_one_box_may_be_dropped():
    notes = simulate(on_floor(FIRM, at=(0.0, 0.11)), 1e-3).notes
    assert not any("in the air" in note for note in notes)


def test_pads_that_are_apart_are_no_stack():
    """A gripper that closes on a box: normals are level, and pads hang on guides."""
    model = gallery.build("gripper")
    notes = preview(model).warnings
    assert not any("in the air" in note for note in notes)
    wide = [
        replace(b, position=(b.position[0] * 1.1, b.position[1]))
        if isinstance(b, RigidBody) and b.name != "box"
        else b
        for b in model.bodies
    ]
    notes = preview(replace(model, bodies=wide)).warnings
    assert not any("in the air" in note for note in notes)


def test_a_stiffness_in_other_units_is_named():
    """1e5 meant as N/m in a law that has N/m^1.5: it sinks by 3 mm, of 4 mm."""
    thin = on_floor(Hertz(stiffness=1e5), at=(0.0, 0.002), height=0.004)
    with pytest.raises(
        SolveError, match=r"contact 'c': .* a quarter of the thick"
    ) as e:
        simulate(thin, 1.0)
    assert "N/m to the power of the exponent" in str(e.value)


def test_outlines_that_sink_too_deep_end_the_run():
    soft = KelvinVoigt(stiffness=300.0)
    with pytest.raises(
        SolveError, match=r"t = 0\.\d+ s, contact 'c': the outlines"
    ) as e:
        simulate(on_floor(soft, at=(0.0, 0.1)), 1.0)
    assert e.value.result is not None
    assert at_end(e.value.result, "c.gap")[0] < -0.05


@dataclass(frozen=True, kw_only=True)
class Foam(NormalLaw):
    """A law of the user's own, neither a power nor a polynomial."""

    stiffness: float = quantity("N/m", above=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * math.sinh(200.0 * overlap) / 200.0 * (1.0 + 0.5 * overlap_rate)


def test_a_law_of_the_users_own():
    result = simulate(
        on_floor(Foam(stiffness=K), ROUGH, at=(0.0, 0.1001), angle=0.01), 0.5
    )
    assert result.energy_balance.residual <= 1e-8
    assert np.max(result["c.normal_force"]) > WEIGHT
