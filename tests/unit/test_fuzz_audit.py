# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportOptionalSubscript=false
"""The audit of the fuzz can fail: every check complains of what it is there for.

A result is audited against a model that differs a little, or with columns that were
tampered with; each time the check that should see it is named. Tolerances are those of
`fuzz.audit.tolerances`; changes are a few parts in a thousand, or what is said.
"""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz.audit import audit
from fuzz.audit.agreement import check_agreement
from fuzz.audit.notes import Notes
from fuzz.audit.pieces import whole
from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Couple,
    Dahl,
    Distance,
    Ground,
    Harmonic,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Polygon,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    simulate,
)

G = (0.0, -9.81)
DRY = Coulomb(mu=0.3, mu_static=0.4)


class Tampered:
    """A result whose columns, and whatever else is given, are not its own."""

    def __init__(self, result, change=None, **others):
        self._result, self._change, self._others = result, change or {}, others

    def __getattr__(self, name):
        if name in self._others:
            return self._others[name]
        return getattr(self._result, name)

    def sample(self, t=None, names=None, limit="after"):
        samples = self._result.sample(t, names, limit)
        columns = {name: samples[name].copy() for name in samples}
        for name, change in self._change.items():
            if name in columns:
                columns[name] = change(columns[name], columns["t"], limit)
        return columns


# -- scenes ----------------------------------------------------------------------------


@cache
def sliding():
    """A mass that slides, sticks, and is shaken off its table."""
    shake = Harmonic(amplitude=0.02, angular_frequency=8.0)
    lift = Harmonic(amplitude=20.0, angular_frequency=9.0)
    model = Model(
        gravity=G,
        bodies=[
            MovingSupport(name="table", x=shake),
            PointMass(name="box", mass=1.5, position=(0, -1e-3), velocity=(0.6, 0.0)),
        ],
        forces=[PointForce(name="lift", b="box", fy=lift)],
        contacts=[
            Contact(
                name="c",
                a="table",
                b="box",
                normal=KelvinVoigt(stiffness=1.5e4, damping=40.0),
                friction=DRY,
            )
        ],
    )
    return model, simulate(model, 1.2)


@cache
def wheel():
    """A wheel on a spring, with bristles on the floor and none on a slope."""
    model = Model(
        gravity=G,
        bodies=[
            Ground(
                points={"wall": (2.0, 0.1)},
                shapes={"slope": Line(point=(1.0, 0.0), angle=1.2)},
            ),
            RigidBody(
                name="wheel",
                mass=1.0,
                inertia=0.006,
                position=(0.0, 0.0995),
                velocity=(1.5, 0.0),
                shapes={"rim": Circle(radius=0.1)},
            ),
        ],
        forces=[
            SpringDamper(
                name="spring", a="ground.wall", b="wheel", stiffness=20.0, damping=0.5
            )
        ],
        contacts=[
            Contact(
                name="floor",
                b="wheel.rim",
                normal=KelvinVoigt(stiffness=2e4, damping=20.0),
                friction=Dahl(mu=0.4, stiffness=300.0),
            ),
            Contact(
                name="slope",
                a="ground.slope",
                b="wheel.rim",
                normal=KelvinVoigt(stiffness=2e4, damping=20.0),
            ),
        ],
    )
    return model, simulate(model, 1.0)


@cache
def machine():
    """A driven slider-crank: a pin and a block with friction, a bar, a slot."""
    r, rod = 0.1, 0.3
    start = Harmonic(amplitude=0.8, angular_frequency=7.0)
    model = Model(
        gravity=G,
        bodies=[
            RigidBody(
                name="crank",
                mass=1.0,
                inertia=2e-3,
                position=(r / 2, 0.0),
                points={"O": (-r / 2, 0.0), "A": (r / 2, 0.0)},
            ),
            RigidBody(
                name="slider",
                mass=2.0,
                inertia=0.01,
                position=(r + rod, 0.0),
                points={"e": (0.0, 0.1)},
            ),
            PointMass(name="bead", mass=0.2, position=(r + rod, 0.2)),
        ],
        joints=[
            Revolute(name="O", b="crank.O", friction=DRY, radius=0.02),
            Distance(name="bar", a="crank.A", b="slider", length=rod),
            Prismatic(name="guide", b="slider", friction=DRY, length=0.2, height=0.1),
            PinInSlot(name="slot", a="slider", b="bead", axis=1.4, friction=DRY),
        ],
        drives=[RotationDrive(name="motor", b="crank", law=start)],
        forces=[
            PointForce(
                name="push",
                b="slider.e",
                fx=Harmonic(amplitude=30.0, angular_frequency=11.0),
            ),
            Couple(name="turn", a="crank", b="slider", torque=0.4),
        ],
        assemble=True,
    )
    return model, simulate(model, 1.5)


@cache
def lifted():
    """A mass at rest that is lifted straight up, so that it sticks until it leaves."""
    model = Model(
        gravity=G,
        bodies=[PointMass(name="box", mass=1.0, position=(0.0, -9.81e-4))],
        forces=[PointForce(name="pull", b="box", fy=ConstantRate(rate=50.0))],
        contacts=[
            Contact(
                name="c",
                b="box",
                normal=KelvinVoigt(stiffness=1e4, damping=20.0),
                friction=DRY,
            )
        ],
    )
    return model, simulate(model, 0.3)


SCENES = {"sliding": sliding, "wheel": wheel, "machine": machine, "lifted": lifted}


def failed(model, result):
    return {finding.check for finding in audit(model, result).findings}


def changed(model, family, name, **fields):
    """Return a model with fields of one element changed."""
    elements = [
        replace(e, **{k: f(getattr(e, k)) for k, f in fields.items()})
        if e.name == name
        else e
        for e in getattr(model, family)
    ]
    return replace(model, **{family: elements})


@pytest.mark.parametrize("scene", SCENES)
def test_a_true_result_passes(scene):
    model, result = SCENES[scene]()
    notes = audit(model, result)
    assert not notes.findings, [str(f) for f in notes.findings]


def test_every_check_was_made_and_is_tampered_with_below():
    made = set()
    for scene in SCENES.values():
        made |= set(audit(*scene()).counts)
    assert made == {check for *_, check in (*MODELS, *COLUMNS)} | {"ledger", "jump"}


# -- a model that differs a little -----------------------------------------------------


def by(factor):
    return lambda value: value * factor


def law_by(**factors):
    def change(law):
        return replace(law, **{k: getattr(law, k) * f for k, f in factors.items()})

    return change


MODELS = [
    ("sliding", "bodies", "box", {"mass": by(1.001)}, "Newton"),
    ("sliding", "bodies", "table", {"x": law_by(amplitude=1.001)}, "support"),
    ("sliding", "forces", "lift", {"fy": law_by(amplitude=1.001)}, "force element"),
    ("sliding", "contacts", "c", {"normal": law_by(stiffness=1.001)}, "normal law"),
    ("sliding", "contacts", "c", {"normal": law_by(damping=1.001)}, "normal law"),
    ("sliding", "contacts", "c", {"friction": law_by(mu=1.01)}, "friction law"),
    ("wheel", "bodies", "wheel", {"mass": by(0.999)}, "Newton"),
    ("wheel", "bodies", "wheel", {"inertia": by(1.001)}, "Euler"),
    ("wheel", "forces", "spring", {"stiffness": by(1.001)}, "force element"),
    ("wheel", "forces", "spring", {"damping": by(1.001)}, "force element"),
    ("wheel", "contacts", "floor", {"friction": law_by(stiffness=1.1)}, "friction law"),
    ("wheel", "contacts", "floor", {"normal": law_by(stiffness=0.999)}, "normal law"),
    ("machine", "bodies", "crank", {"inertia": by(1.001)}, "Euler"),
    ("machine", "joints", "O", {"radius": by(1.001)}, "joint wrench"),
    ("machine", "joints", "O", {"friction": law_by(mu=0.99)}, "friction law"),
    ("machine", "joints", "bar", {"length": by(1.001)}, "joint open"),
    ("machine", "joints", "guide", {"length": by(1.001)}, "block ends"),
    ("machine", "joints", "guide", {"height": by(1.001)}, "block ends"),
    ("machine", "joints", "slot", {"axis": by(1.001)}, "joint open"),
    ("machine", "joints", "slot", {"axis": by(1.001)}, "joint moves"),
    ("machine", "joints", "slot", {"friction": law_by(mu=1.01)}, "friction law"),
    ("machine", "drives", "motor", {"law": law_by(amplitude=1.001)}, "drive off"),
    ("machine", "forces", "turn", {"torque": by(1.001)}, "force element"),
]  # fmt: skip


@pytest.mark.parametrize(("scene", "family", "name", "fields", "check"), MODELS)
def test_a_model_that_differs_a_little(scene, family, name, fields, check):
    model, result = SCENES[scene]()
    assert check in failed(changed(model, family, name, **fields), result)


@pytest.mark.parametrize("scene", SCENES)
def test_gravity_that_differs_a_little(scene):
    model, result = SCENES[scene]()
    assert "Newton" in failed(replace(model, gravity=(0.0, -9.8)), result)


def test_less_friction_at_rest():
    """At rest mu_static is told from 1 % less where friction comes that far.

    A break-away is located as well as the dense output is: some 1e-6 of the load.
    """
    model, result = sliding()
    breaks = [e for e in result.events if e.kind == "break_away"]
    assert breaks
    worst = max(abs(e.friction_force[0] / e.normal_force[0]) for e in breaks)
    assert worst == pytest.approx(DRY.mu_static, rel=1e-5)
    less = changed(model, "contacts", "c", friction=law_by(mu_static=0.99))
    assert "limit at rest" in failed(less, result)


# -- columns that were tampered with ---------------------------------------------------


def add(value):
    return lambda x, t, limit: x + value


def scale(factor):
    return lambda x, t, limit: x * factor


def where(column_is, value):
    return lambda x, t, limit: np.where(column_is(x), value, x)


COLUMNS = [
    ("sliding", {"c.gap": add(1e-9)}, "gap"),
    ("sliding", {"c.gap_rate": scale(1.001)}, "gap rate"),
    ("sliding", {"c.slip_velocity": add(1e-7)}, "slip"),
    ("sliding", {"c.slip_velocity": add(1e-7)}, "slip at rest"),
    ("sliding", {"c.slip_velocity": scale(-1.0)}, "slip sign"),
    ("sliding", {"c.normal_force": scale(1.0 - 1e-6)}, "normal law"),
    ("sliding", {"c.normal_force": add(-1e-6)}, "pulls"),
    ("sliding", {"c.normal_force": add(1e-6)}, "force while off"),
    ("sliding", {"c.friction_force": scale(1.0 + 1e-6)}, "friction law"),
    ("sliding", {"c.friction_force": scale(1.5)}, "limit at rest"),
    ("lifted", {"c.friction_force": add(1e-7)}, "lift-off"),
    ("sliding", {"c.mode": where(lambda x: x == 2.0, 3.0)}, "gap closed"),
    ("sliding", {"c.mode": where(lambda x: x != 2.0, 2.0)}, "overlap open"),
    ("sliding", {"c.mode": where(lambda x: np.abs(x) == 1.0, 3.0)}, "released"),
    ("sliding", {"c.mode": where(lambda x: x == 0.0, 1.0)}, "mode at rest"),
    ("sliding", {"table.force_x": scale(1.001)}, "Newton"),
    ("sliding", {"table.x": scale(1.0 + 1e-6)}, "support"),
    ("sliding", {"lift.force_y": scale(1.0 + 1e-6)}, "force element"),
    ("sliding", {"box.vx": scale(1.01)}, "integral"),
    ("wheel", {"wheel.alpha": scale(1.0 + 1e-6)}, "Euler"),
    ("machine", {"guide.load": scale(1.0 + 1e-6)}, "load"),
    ("machine", {"guide.front_force": scale(1.0 + 1e-6)}, "block ends"),
    ("machine", {"slot.side": scale(-1.0)}, "side"),
    ("machine", {"slot.friction_force": scale(1.0 + 1e-6)}, "joint wrench"),
    ("machine", {"bar.torque": add(1e-6)}, "joint wrench"),
    ("machine", {"slider.y": add(1e-6)}, "joint open"),
    ("machine", {"slider.vy": add(1e-6)}, "joint moves"),
    ("machine", {"crank.theta": add(1e-6)}, "drive off"),
    ("wheel", {}, "bristles"),
]  # fmt: skip


@pytest.mark.parametrize(("scene", "change", "check"), COLUMNS)
def test_a_column_that_was_tampered_with(scene, change, check):
    model, result = SCENES[scene]()
    others = {}
    if check == "bristles":

        def state(t, limit="after"):
            true = result.state(t, limit)
            return replace(true, deflection={"floor": 1.01 * 0.4 / 300.0})

        others["state"] = state
    assert check in failed(model, Tampered(result, change, **others))


def test_a_jump_at_an_event():
    model, result = sliding()
    t = result.events.t[1]

    def jump(x, times, limit):
        return x + 1e-4 * ((times > t) | ((times == t) & (limit == "after")))

    assert "jump" in failed(model, Tampered(result, {"box.vx": jump}))


def test_a_ledger_that_does_not_close():
    model, result = sliding()
    true = result.energy_balance
    balance = SimpleNamespace(exchanged=true.exchanged, residual=1e-3 * true.exchanged)
    assert "ledger" in failed(model, Tampered(result, energy_balance=balance))


# -- agreement -------------------------------------------------------------------------


def disagreement(model, result, until):
    notes = Notes()

    def run(other, rtol):
        return simulate(other, until, rtol=rtol)

    check_agreement(notes, model, result, run, 1e-8)
    return notes.findings


def test_a_run_agrees_with_tighter_ones():
    model, result = machine()
    assert not disagreement(model, result, 1.5)


def test_a_run_that_drifts_does_not_agree_with_tighter_ones():
    model, result = machine()
    drifting = {"bead.x": lambda x, t, limit: x + 1e-4 * t}
    assert disagreement(model, Tampered(result, drifting), 1.5)


def test_what_nobody_can_predict_is_not_held_against_a_run():
    """A pencil that stands on its tip falls to either side."""
    pencil = RigidBody(
        name="pencil",
        mass=1.0,
        inertia=0.01,
        position=(0.0, 0.1),
        points={"tip": (0.0, -0.1)},
    )
    model = Model(
        gravity=G,
        bodies=[pencil],
        joints=[Revolute(name="tip", b="pencil.tip")],
        assemble=True,
    )
    nudged = replace(model, bodies=[replace(pencil, angular_velocity=1e-8)])
    assert not disagreement(model, simulate(nudged, 3.0), 3.0)


# -- outlines as one contact: columns that a run may have ------------------------------

HALF, DEPTH, STIFFNESS = 0.1, 1e-3, 9.81e3


class Written:
    """A result that was written down: a box at rest on a floor, flat."""

    t_start, t_end, notes = 0.0, 1.0, ()
    t = np.linspace(0.0, 1.0, 11)
    energy_balance = SimpleNamespace(exchanged=0.0, residual=0.0)

    def __init__(self, **columns):
        self.events = _NoEvents()
        kinds = ("x", "theta", "vx", "vy", "omega", "ax", "ay", "alpha")
        rest = dict.fromkeys(kinds, 0.0)
        self.columns = {f"box.{k}": v for k, v in rest.items()}
        self.columns |= {
            "box.y": HALF - DEPTH,
            "sole.gap": -DEPTH,
            "sole.normal_force": 9.81,
            "sole.friction_force": 0.0,
            "sole.point_x": 0.0,
            "sole.point_y": -DEPTH / 2,
            "sole.normal_x": 0.0,
            "sole.normal_y": 1.0,
            "sole.width": 2 * HALF,
            "sole.slip_velocity": 0.0,
            "sole.mode": 0.0,
        } | {k.replace("__", "."): v for k, v in columns.items()}

    def sample(self, t=None, names=None, limit="after"):
        times = np.atleast_1d(np.asarray(self.t if t is None else t, dtype=float))
        return {"t": times} | {
            k: np.full_like(times, v) for k, v in self.columns.items()
        }


class _NoEvents(tuple):
    t = np.zeros(0)


SQUARE = Polygon(vertices=[(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)])
FLAT = Model(
    gravity=G,
    bodies=[RigidBody(name="box", mass=1.0, inertia=0.01, shapes={"outline": SQUARE})],
    contacts=[
        Contact(
            name="sole",
            b="box.outline",
            normal=KelvinVoigt(stiffness=STIFFNESS),
            friction=DRY,
        )
    ],
)


def test_a_flat_contact_at_rest_passes():
    assert not failed(FLAT, Written())


@pytest.mark.parametrize(
    ("columns", "check"),
    [
        ({"sole__gap": -0.9 * DEPTH}, "gap"),
        ({"sole__normal_x": 1e-6}, "normal"),
        ({"sole__point_x": 1e-6}, "point"),
        ({"sole__normal_force": 9.8100001}, "normal law"),
        ({"sole__point_x": 1e-6}, "Euler"),
        ({"sole__normal_force": 9.82}, "Newton"),
        ({"sole__friction_force": 4.0}, "limit at rest"),
        ({"sole__slip_velocity": 1e-6}, "slip"),
        ({"sole__mode": 2.0}, "overlap open"),
    ],
)
def test_a_flat_contact_that_was_tampered_with(columns, check):
    assert check in failed(FLAT, Written(**columns))


def test_a_tilted_box_floats_by_archimedes():
    """The pressure on a corner is the weight of the triangle that it displaces."""
    tilt = 0.1
    c, s = math.cos(tilt), math.sin(tilt)
    # With a positive angle the left corner of the lower face is the deepest.
    corner = (-HALF * c + HALF * s, -HALF * s - HALF * c)
    area = 0.5 * DEPTH**2 * (c / s + s / c)
    # Centroid of the triangle between the corner and where its edges meet the floor.
    x = (corner[0] - DEPTH * s / c + corner[0] + DEPTH * c / s + corner[0]) / 3.0
    force = STIFFNESS / (2 * HALF) * area
    told = {
        "box__theta": tilt,
        "box__y": -corner[1] - DEPTH,
        "sole__normal_force": force,
        "sole__point_x": x,
    }
    checks = {"gap", "normal", "normal law", "point"}
    assert not checks & failed(FLAT, Written(**told))
    wrong = told | {"sole__normal_force": force * 1.00001}
    assert "normal law" in failed(FLAT, Written(**wrong))
    wrong = told | {"sole__point_x": x + 1e-5 * DEPTH}
    assert "point" in failed(FLAT, Written(**wrong))


def test_a_body_of_pieces(monkeypatch):
    """It passes, and fails if the audit takes covered faces for open ones."""

    def plate(x0, x1, y0, y1):
        return Polygon(vertices=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))

    tee = {"plate": plate(-0.3, 0.3, -0.05, 0.0), "web": plate(-0.1, 0.1, -0.4, -0.05)}
    step = tee | {"step": plate(-0.1, 0.1, 0.0, 0.05)}
    block = RigidBody(
        name="block",
        mass=1.0,
        inertia=0.01,
        position=(0.2 - 1e-4, 0.1),
        velocity=(-0.5, -0.1),
        shapes={"o": plate(-0.1, 0.1, -0.1, 0.1)},
    )
    law = KelvinVoigt(stiffness=1e5, damping=50.0)
    model = Model(
        gravity=(0.0, -9.81),
        bodies=[MovingSupport(name="table", shapes=step), block],
        contacts=[
            Contact(
                name="c", a="block", b="table", normal=law, friction=Coulomb(mu=0.3)
            )
        ],
    )
    result = simulate(model, until=0.1)
    assert result.system.contacts == ("c.plate", "c.web", "c.step")
    assert np.max(result["c.step.normal_force"]) > 0.0
    assert not failed(model, result)
    monkeypatch.setattr(
        "fuzz.audit.geometry.uncovered",
        lambda shapes: {name: whole(shape) for name, shape in shapes.items()},
    )
    assert failed(model, result) & {"normal law", "normal", "point"}
