"""Every registered kind, checked by differences and by balances.

A new kind is tested as soon as it has an example in the tables below; a kind without
one fails `test_every_kind_has_an_example`. Kinds that test files define are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Constant,
    ConstantRate,
    Contact,
    Coulomb,
    Couple,
    DampedHertz,
    Distance,
    Drive,
    Event,
    Expression,
    ExpressionForce,
    Force,
    Ground,
    Harmonic,
    Joint,
    Model,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    Shape,
    SmoothStep,
    SpringDamper,
    Table,
    TimeLaw,
    TorsionSpring,
    TranslationDrive,
    Weld,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.meshes import Patch, Rectangle
from nonsmooth.kernels import entry
from nonsmooth.pack import System, pack

pytestmark = pytest.mark.jit_off

# ---- examples ------------------------------------------------------------------

WAVE = Harmonic(amplitude=0.4, angular_frequency=1.7, phase=0.3, offset=0.2)

LAWS: list[TimeLaw] = [
    Constant(value=-0.7),
    ConstantRate(rate=1.3, start=0.4),
    WAVE,
    Harmonic(amplitude=0.4, frequency_hz=0.27, phase=0.3),
    Ramp(rate=2.0, duration=0.8, begin=0.3, start=-0.5),
    SmoothStep(start=-0.2, end=0.9, duration=1.1, begin=0.2),
    Table(times=(-1.0, 0.0, 0.4, 1.5, 3.0), values=(0.2, 1.0, -0.3, 0.5, 0.1)),
    Expression(text="0.8*sin(pi*t)*exp(-0.3*t) + t**3/9"),
]
JOINTS: list[Joint] = [
    Revolute(name="it", b="two.q"),
    PinInSlot(name="it", b="two.q", axis=0.4),
    Prismatic(name="it", b="two.q", axis=-0.3, angle=0.2),
    Weld(name="it", b="two.q", angle=0.6),
    Distance(name="it", b="two.q", length=0.8),
]
DRIVES: list[Drive] = [
    RotationDrive(name="it", b="two.q", law=WAVE),
    TranslationDrive(name="it", b="two.q", axis=0.5, law=WAVE),
]
FORCES: list[Force] = [
    SpringDamper(name="it", b="two.q", stiffness=30.0, damping=1.5, rest_length=0.3),
    TorsionSpring(name="it", b="two.q", stiffness=7.0, damping=0.9, rest_angle=0.4),
    PointForce(name="it", b="two.q", fx=WAVE, fy=3.0),
    PointForce(name="it", b="two.q", fx=WAVE, fy=3.0, frame="body"),
    Couple(name="it", b="two.q", torque=WAVE),
    ExpressionForce(
        name="it",
        b="two.q",
        fx="-3*x*abs(x) + 0.2*vy",
        fy="sin(2*t) - y - 0.3*omega",
        torque="-2*theta - 0.1*omega + t*x",
    ),
]
SHAPES: dict[str, Shape] = {"rim": Circle(center=(0.1, 0.2), radius=0.3)}
BODIES: list[Body] = [
    RigidBody(
        name="it", mass=1.5, inertia=0.2, points={"q": (0.3, -0.2)}, shapes=SHAPES
    ),
    PointMass(name="it", mass=0.7),
    MovingSupport(
        name="it", x=WAVE, y=0.3, theta=WAVE, points={"q": (0.3, -0.2)}, shapes=SHAPES
    ),
    Ground(points={"q": (0.3, -0.2)}, shapes=SHAPES),
]
RIGID = [*BODIES]
# Its own checks are in test_flexible.py.
BODIES.append(
    FlexibleBody(
        name="it",
        mesh=Rectangle(width=1.0, height=0.5, size=0.25, order=1),
        material="steel",
        modes=3,
        points={"q": (0.3, -0.2)},
        patches={"root": Patch(boundary="left")},
    )
)
# Their shapes, normal laws and friction laws are in test_contact_kinds.py.
CONTACTS: list[Contact] = [
    Contact(
        name="it",
        b="two.q",
        normal=DampedHertz(stiffness=1e6, exponent=1.4, damping=3e5),
        friction=Coulomb(mu=0.3, mu_static=0.4),
    ),
]
# What acts on one body alone: its partner receives nothing.
ONE_SIDED = (PointForce,)

FAMILIES = [
    (Joint, JOINTS),
    (Drive, DRIVES),
    (Force, FORCES),
    (TimeLaw, LAWS),
    (Body, BODIES),
    (Contact, CONTACTS),
]


def kind(element) -> str:
    return type(element).__name__


def each(name: str, examples: list):
    return pytest.mark.parametrize(name, examples, ids=kind)


@pytest.mark.parametrize(("family", "examples"), FAMILIES)
def test_every_kind_has_an_example(family, examples):
    ours = {
        name: cls
        for name, cls in family.kinds.items()
        if cls.__module__.startswith("nonsmooth.")
    }
    assert set(ours.values()) == {type(example) for example in examples}
    # The registry finds a kind under its class name, as model files write it.
    assert all(cls.__name__ == name for name, cls in ours.items())


# ---- differences ---------------------------------------------------------------

# Central differences of fourth order. First: truncation 1e-12/30 of the fifth
# derivative (below 1e3 for the motions here), round-off near 1e-16/1e-3.
STEP_1, CLOSE_1 = 1e-3, 1e-9
# Second: truncation 1.6e-11/90 of the sixth derivative (below 1e4), round-off near
# 5e-16/4e-6.
STEP_2, CLOSE_2 = 2e-3, 1e-7
# Sums of a few products of numbers of order one to thirty.
ROUND = 1e-13


def slope(f, h: float = STEP_1):
    """First derivative of f at 0."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


def curve(f, h: float = STEP_2):
    """Second derivative of f at 0."""
    near, far = f(h) + f(-h), f(2 * h) + f(-2 * h)
    return (16.0 * near - far - 30.0 * f(0.0)) / (12.0 * h * h)


def close(a, b, atol: float) -> bool:
    return bool(np.allclose(a, b, rtol=0.0, atol=atol))


# ---- the arena: everything an element may be attached to -------------------------

PLACES = ("ground.p", "one.p", "one", "deck.p", "bob")
N_POSE = 4


def arena(joints=(), drives=(), forces=(), law: TimeLaw = WAVE) -> System:
    """Two bodies, a point mass, a moving support and the ground, all with points."""
    return pack(
        Model(
            bodies=[
                RigidBody(name="one", mass=2.0, inertia=0.3, points={"p": (0.3, -0.1)}),
                RigidBody(name="two", mass=1.2, inertia=0.1, points={"q": (-0.4, 0.2)}),
                PointMass(name="bob", mass=0.6),
                MovingSupport(
                    name="deck",
                    x=Harmonic(amplitude=0.3, angular_frequency=1.1, phase=0.2),
                    y=Harmonic(amplitude=0.2, angular_frequency=1.9, phase=1.0),
                    theta=Harmonic(amplitude=0.5, angular_frequency=1.4, phase=0.7),
                    points={"p": (0.25, 0.15)},
                ),
                Ground(points={"p": (0.2, -0.3)}),
            ],
            joints=joints,
            drives=drives,
            forces=forces,
        )
    )


@dataclass
class Rows:
    """What the kernels say of all constraint rows at one instant."""

    g: np.ndarray
    rate: np.ndarray
    g_t: np.ndarray
    bias: np.ndarray
    J: np.ndarray
    block: np.ndarray
    motion: np.ndarray


def rows(system: System, t: float, q, v) -> Rows:
    work, n = system.work(), system.n_row
    g, rate = np.zeros(n), np.zeros(n)
    entry.constraints(system.tables, work, t, q.copy(), v.copy(), g, rate)
    J = np.zeros((n, system.n_dof))
    entry.rows_matrix(system.tables, work, J)
    return Rows(
        g=g,
        rate=rate,
        g_t=work.g_t.copy(),
        bias=work.bias.copy(),
        J=J,
        block=work.block.copy(),
        motion=work.motion.copy(),
    )


def poses(system: System):
    """Random instants: t, q, v, a."""
    random = np.random.default_rng(20)
    n = system.n_dof
    for _ in range(N_POSE):
        t = float(random.uniform(0.1, 2.0))
        yield t, *(random.uniform(-1.0, 1.0, n) for _ in range(3))


def attached(example) -> Iterator[tuple[Any, System]]:
    """Yield systems with the example between every admissible pair of places."""
    for a in PLACES:
        for b in ("two.q", "bob", "deck.p"):
            if a.split(".")[0] == b.split(".")[0]:
                continue
            is_force = isinstance(example, Force)
            held = example.turns if is_force else example.holds_angle
            if (held[0] and a == "bob") or (held[1] and b == "bob"):
                continue
            if a == "ground.p" and b == "deck.p":
                continue  # neither has mass
            if isinstance(example, ONE_SIDED):
                if a != "ground.p" or b == "deck.p":
                    continue
                element = replace(example, b=b)
            else:
                element = replace(example, a=a, b=b)
            family = "drives" if isinstance(element, Drive) else "joints"
            if isinstance(element, Force):
                family = "forces"
            yield element, arena(**{family: [element]})  # pyright: ignore


def pair_of(system: System, element, motion) -> tuple[np.ndarray, np.ndarray]:
    """Motion of the element's two markers."""
    return motion[system.markers[element.a]], motion[system.markers[element.b]]


def common_motion(marker, ux: float, uy: float, omega: float) -> np.ndarray:
    """Rate of a marker that moves with the whole plane."""
    return np.array([ux - omega * marker[1], uy + omega * marker[0], omega])


# ---- joints and drives -----------------------------------------------------------


@each("example", [*JOINTS, *DRIVES])
def test_jacobian_is_the_derivative_of_the_violation(example):
    for _, system in attached(example):
        for t, q, v, _ in poses(system):
            now = rows(system, t, q, v)
            for j in range(system.n_dof):
                e = np.eye(system.n_dof)[j]

                def shifted(x, t=t, q=q, v=v, e=e, system=system):
                    return rows(system, t, q + x * e, v).g

                assert close(now.J[:, j], slope(shifted), CLOSE_1)


@each("example", [*JOINTS, *DRIVES])
def test_rates_and_bias_follow_the_violation_along_a_motion(example):
    for _, system in attached(example):
        for t, q, v, a in poses(system):
            now = rows(system, t, q, v)

            def along(x, t=t, q=q, v=v, a=a, system=system):
                return rows(system, t + x, q + x * v + 0.5 * x * x * a, v).g

            def in_time(x, t=t, q=q, v=v, system=system):
                return rows(system, t + x, q, v).g

            assert close(now.g_t, slope(in_time), CLOSE_1)
            assert close(now.rate, slope(along), CLOSE_1)
            assert close(now.rate, now.J @ v + now.g_t, ROUND)
            assert close(now.J @ a + now.bias, curve(along), CLOSE_2)


@each("example", [*JOINTS, *DRIVES])
def test_constraint_forces_do_no_work_on_a_common_rigid_motion(example):
    for element, system in attached(example):
        for t, q, v, _ in poses(system):
            # Where a joint is violated its two forces do not meet: assemble first.
            work = system.work()
            entry.project_positions(system.tables, work, t, q, v, system.size)
            now = rows(system, t, q, v)
            assert close(now.g, 0.0, ROUND)
            a, b = pair_of(system, element, now.motion)
            for twist in np.eye(3):
                power = now.block[:, 3:6] @ common_motion(a, *twist)
                power += now.block[:, 6:9] @ common_motion(b, *twist)
                assert close(power, 0.0, ROUND)


@each("example", [*JOINTS, *DRIVES])
def test_a_joint_declares_which_angles_it_holds(example):
    column = np.zeros(2)
    for _, system in attached(example):
        for t, q, v, _ in poses(system):
            block = rows(system, t, q, v).block
            column = np.maximum(column, np.abs(block[:, [5, 8]]).max(axis=0))
    assert tuple(column > ROUND) == example.holds_angle


# ---- forces ----------------------------------------------------------------------


@dataclass
class Push:
    """What the kernels say of one force at one instant."""

    on_b: np.ndarray
    on_a: np.ndarray
    potential: float
    rest: float  # power beside that of the potential
    f: np.ndarray
    ledger: float
    motion: np.ndarray


def push(system: System, t: float, q, v) -> Push:
    work = system.work()
    y = np.concatenate([q, v, np.zeros(len(system.works))])
    dy = np.zeros_like(y)
    entry.derivative(system.tables, work, t, y, 0.0, 0.0, dy)
    w = work.wrench[0]
    return Push(
        on_b=w[0:3].copy(),
        on_a=w[3:6].copy(),
        potential=float(w[6]),
        rest=float(w[7]),
        f=work.f.copy(),
        ledger=float(dy[2 * system.n_dof + system.works.index("it")]),
        motion=work.motion.copy(),
    )


def power_of(system: System, element, now: Push) -> float:
    a, b = pair_of(system, element, now.motion)
    return float(now.on_b @ b[3:6] + now.on_a @ a[3:6])


@each("example", FORCES)
def test_force_pairs_do_no_work_on_a_common_rigid_motion(example):
    for element, system in attached(example):
        for t, q, v, _ in poses(system):
            now = push(system, t, q, v)
            if isinstance(element, ONE_SIDED):
                assert not np.any(now.on_a)
                continue
            a, b = pair_of(system, element, now.motion)
            for twist in np.eye(3):
                power = now.on_b @ common_motion(b, *twist)
                power += now.on_a @ common_motion(a, *twist)
                # Forces here reach a hundred newtons.
                assert close(power, 0.0, 100 * ROUND)


@each("example", FORCES)
def test_the_ledger_and_the_potential_add_up_to_the_power(example):
    has_moved = False
    for element, system in attached(example):
        for t, q, v, _ in poses(system):
            now = push(system, t, q, v)
            power = power_of(system, element, now)
            if not element.has_potential:
                assert close(now.ledger, power, 100 * ROUND)
                continue

            def stored(x, t=t, q=q, v=v, system=system):
                # A support moves with time, bodies with their velocities.
                return push(system, t + x, q + x * v, v).potential

            change = slope(stored)
            has_moved = has_moved or abs(change) > 1e-3
            # Potentials here reach a hundred joules.
            assert close(now.rest, power + change, 100 * CLOSE_1)
            assert now.ledger == now.rest
    assert has_moved == example.has_potential


@each("example", [f for f in FORCES if f.has_potential])
def test_a_potential_is_that_of_the_force_at_rest(example):
    for element, system in attached(example):
        if "deck" in (element.a.split(".")[0], element.b.split(".")[0]):
            continue  # its velocity is prescribed: not at rest
        rest = np.zeros(system.n_dof)
        for t, q, _, _ in poses(system):
            now = push(system, t, q, rest)
            assert now.rest == 0.0
            for j in range(system.n_dof):
                e = np.eye(system.n_dof)[j]

                def stored(x, t=t, q=q, e=e, rest=rest, system=system):
                    return push(system, t, q + x * e, rest).potential

                assert close(now.f[j], -slope(stored), 100 * CLOSE_1)


@each("example", FORCES)
def test_a_wrench_is_carried_to_the_mass_centres(example):
    """Generalised forces times rates give the power at the markers."""
    for element, system in attached(example):
        if "deck" in (element.a.split(".")[0], element.b.split(".")[0]):
            continue
        for t, q, v, _ in poses(system):
            now = push(system, t, q, v)
            power = power_of(system, element, now)
            assert close(now.f @ v, power, 100 * ROUND)


@each("example", FORCES)
def test_a_force_declares_which_bodies_it_turns(example):
    couple = np.zeros(2)
    for _, system in attached(example):
        for t, q, v, _ in poses(system):
            now = push(system, t, q, v)
            couple = np.maximum(couple, np.abs([now.on_a[2], now.on_b[2]]))
    assert tuple(couple > ROUND) == example.turns


# ---- time laws -------------------------------------------------------------------


class Law:
    """A law as the kernels see it."""

    def __init__(self, law: TimeLaw) -> None:
        self.system = arena(drives=[RotationDrive(name="it", b="one", law=law)])
        self.rest = np.zeros(self.system.n_dof)

    def __call__(self, t: float) -> np.ndarray:
        work = self.system.work()
        y = np.concatenate([self.rest, self.rest])
        entry.laws_and_rows(self.system.tables, work, t, y)
        return work.law[0].copy()


def pieces(law: TimeLaw) -> list[tuple[float, float]]:
    low, high = (max(-1.0, law.span()[0]), min(3.0, law.span()[1]))
    cuts = [low, *(b for b in law.breaks() if low < b < high), high]
    return list(pairwise(cuts))


@each("law", LAWS)
def test_a_law_gives_its_own_derivatives(law):
    value = Law(law)
    random = np.random.default_rng(3)
    for low, high in pieces(law):
        # The third derivative of a spline jumps at its knots, and differences of
        # s' across one are of first order only: keep off them.
        knots = np.array([low, high, *getattr(law, "times", ())])
        for t in random.uniform(low, high, 6):
            if np.min(np.abs(knots - t)) < 3 * STEP_1:
                continue
            rate = slope(lambda x, t=t: value(t + x))
            s = value(t)
            assert close(s[1:], rate[:2], CLOSE_1)


def largest_change(value: Law, law: TimeLaw, n: int) -> np.ndarray:
    """Largest change of s, s', s'' between neighbours with no break between them."""
    change = np.zeros(3)
    for low, high in pieces(law):
        grid = np.linspace(low, high, n, endpoint=False)
        values = np.array([value(t) for t in grid])
        change = np.maximum(change, np.abs(np.diff(values, axis=0)).max(axis=0))
    return change


@each("law", LAWS)
def test_a_law_jumps_nowhere_but_at_its_breaks(law):
    value = Law(law)
    coarse, fine = (largest_change(value, law, n) for n in (50, 400))
    # What is continuous changes an eighth on an eight times finer grid, what jumps
    # does not change less; half is midway.
    assert np.all((fine < 0.5 * coarse) | (fine < ROUND))


@pytest.mark.parametrize("law", [x for x in LAWS if x.breaks()], ids=kind)
def test_at_a_break_a_law_gives_the_values_after_it(law):
    """The solver reads a law before a break up to the last number below it."""
    value = Law(law)
    for instant in law.breaks():
        for side, at in ((1, instant), (-1, np.nextafter(instant, -np.inf))):
            # Six points to the side: s is a polynomial of degree five at most, and
            # extrapolates to round-off times the sum of the weights, 63.
            x = side * 0.02 * np.arange(1, 7)
            near = np.array([value(instant + dx) for dx in x])
            limit = [np.polyval(np.polyfit(x, c, 5), 0.0) for c in near.T]
            assert close(value(at), limit, 100 * ROUND)


def test_a_ramp_has_two_accelerations_at_each_break():
    value = Law(Ramp(rate=2.0, duration=0.8, begin=0.3))
    for instant, before, after in ((0.3, 0.0, 2.5), (0.3 + 0.8, 2.5, 0.0)):
        assert value(np.nextafter(instant, -np.inf))[2] == before
        assert value(instant)[2] == after


@each("law", LAWS)
def test_the_span_of_a_law_is_where_it_is_finite(law):
    low, high = law.span()
    assert low < high
    value = Law(law)
    for t in (max(low, -1.0), min(high, 3.0)):
        assert np.all(np.isfinite(value(t)))


# ---- bodies ----------------------------------------------------------------------


def body_system(body: Body) -> System:
    partner = RigidBody(name="other", mass=1.0, inertia=1.0)
    return pack(Model(bodies=[body, partner]))


def markers_of(system: System, t: float, q, v) -> np.ndarray:
    work = system.work()
    entry.laws_and_rows(system.tables, work, t, np.concatenate([q, v]))
    return work.motion.copy()


@each("body", BODIES)
def test_markers_move_with_their_body(body):
    """Pose, rate and acceleration bias, by differences of the pose."""
    system = body_system(body)
    random = np.random.default_rng(5)
    for t in (0.2, 0.9):
        q, v, a = (random.uniform(-1.0, 1.0, system.n_dof) for _ in range(3))

        def pose(x, t=t, q=q, v=v, a=a):
            return markers_of(system, t + x, q + x * v + 0.5 * x * x * a, v)[:, :3]

        def coasting(x, t=t, q=q, v=v):
            return markers_of(system, t + x, q + x * v, v)[:, :3]

        now = markers_of(system, t, q, v)
        assert close(now[:, 3:6], slope(pose), CLOSE_1)
        assert close(now[:, 6:9], curve(coasting), CLOSE_2)
        work = system.work()
        y = np.concatenate([q, v])
        out = entry.Guards(system.tables.sizes())
        entry.guard_values(system.tables, work, t, y, a, np.zeros_like(a), 1.0, out)
        full = work.motion
        assert close(full[:, 6:9], curve(pose), CLOSE_2)


@each("body", RIGID)
def test_points_of_a_body_are_where_its_pose_puts_them(body):
    system = body_system(body)
    q = np.linspace(-0.8, 0.9, system.n_dof)
    now = markers_of(system, 0.4, q, np.zeros(system.n_dof))
    origin = now[system.markers[body.name]][:3]
    for point, (x, y) in getattr(body, "points", {}).items():
        marker = now[system.markers[f"{body.name}.{point}"]][:3]
        c, s = np.cos(origin[2]), np.sin(origin[2])
        expected = origin + np.array([c * x - s * y, s * x + c * y, 0.0])
        assert close(marker, expected, ROUND)


@each("body", RIGID)
def test_only_bodies_with_mass_have_coordinates(body):
    system = body_system(body)
    mass = getattr(body, "mass", None)
    assert (body.name in system.bodies[: system.n_moving]) == (mass is not None)
    if mass is None:
        return
    k = 3 * system.bodies.index(body.name)
    inertia = getattr(body, "inertia", 0.0)
    assert system.tables.mass[k : k + 3].tolist() == [mass, mass, inertia]
    inverse = [1 / mass, 1 / mass, 1 / inertia if inertia else 0.0]
    assert system.tables.minv[k : k + 3].tolist() == inverse


# ---- packing and files -----------------------------------------------------------


def model_of(element) -> Model:
    """The smallest model an element can stand in."""
    bodies = [
        RigidBody(name="one", mass=2.0, inertia=0.3, points={"p": (0.3, -0.1)}),
        RigidBody(name="two", mass=1.2, inertia=0.1, points={"q": (-0.4, 0.2)}),
    ]
    if isinstance(element, TimeLaw):
        drive = RotationDrive(name="motor", b="one", law=element)
        return Model(bodies=bodies, drives=[drive])
    if isinstance(element, Body):
        return Model(bodies=[*bodies, element])
    if isinstance(element, Event):
        return Model(bodies=bodies, events=[element])
    if isinstance(element, Force):
        return Model(bodies=bodies, forces=[element])
    if isinstance(element, Drive):
        return Model(bodies=bodies, drives=[element])
    if isinstance(element, Contact):
        return Model(bodies=bodies, contacts=[element])
    return Model(bodies=bodies, joints=[element])


EVENT = Event(name="it", b="two.q", guard="y - 0.2", direction="falling")
ALL: list[Any] = [*JOINTS, *DRIVES, *FORCES, *LAWS, *BODIES, *CONTACTS, EVENT]


@each("element", ALL)
def test_a_kind_survives_a_file(element):
    io = pytest.importorskip("nonsmooth.io")
    model = model_of(element)
    ours = pack(model).tables
    for format in ("yaml", "json"):
        back = io.loads(io.dumps(model, format), format)
        assert back == model
        theirs = pack(back).tables
        for name in type(ours)._layout.slots:
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@each("element", [*JOINTS, *DRIVES, *FORCES])
def test_parameters_stand_in_the_pool_where_the_table_points(element):
    system = pack(model_of(element))
    family = "force" if isinstance(element, Force) else "joint"
    offset = getattr(system.tables, f"{family}_par")[0]
    parameters = element.parameters()
    pool = system.tables.par[offset : offset + len(parameters)]
    assert pool.tolist() == parameters


def test_kinds_are_immutable_and_compare_by_value():
    for element in ALL:
        assert replace(element) == element
        with pytest.raises(AttributeError):
            element.anything = 1.0
