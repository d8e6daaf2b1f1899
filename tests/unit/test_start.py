"""Consistent starts: refused, assembled, redundant, singular, locking."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, minimize

from nonsmooth import (
    ConstantRate,
    Distance,
    Expression,
    Ground,
    Model,
    ModelError,
    MovingSupport,
    NonsmoothWarning,
    PinInSlot,
    PointMass,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    SolveError,
    TranslationDrive,
    Weld,
    assembled,
    simulate,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.kernels import entry
from nonsmooth.pack import pack
from oracles import oscillators as osc

G = 9.81
# Sums of a few products of order one.
ROUND = 1e-13


def rod(**changes) -> RigidBody:
    body = RigidBody(
        name="rod",
        mass=2.0,
        inertia=1 / 6,
        position=(0.5, 0.0),
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    )
    return replace(body, **changes)


HINGE = Revolute(name="hinge", b="rod.pin")


def hinged(body: RigidBody | None = None, **more) -> Model:
    return Model(bodies=[body or rod()], joints=[HINGE], **more)


# ---- refusals ------------------------------------------------------------------


def test_a_start_off_its_joint_is_refused_with_joint_and_size():
    with pytest.raises(
        ModelError,
        match=r"inconsistent start: joint 'hinge' is violated by 0\.1 \(m or rad\) at "
        r"t = 0 s \(a = 'ground' is at \(0, 0\), b = 'rod.pin' is at \(0.1, 0\)\); cor",
    ):
        simulate(hinged(rod(position=(0.6, 0.0))), 1.0)


def test_velocities_against_a_joint_are_refused_with_joint_and_size():
    with pytest.raises(
        ModelError, match=r"joint 'hinge' is violated at a rate of 0\.6 .*assemble=True"
    ):
        simulate(hinged(rod(velocity=(0.6, 0.0))), 1.0)


def test_a_start_off_its_drive_is_refused():
    drive = RotationDrive(name="motor", b="rod", law=ConstantRate(start=0.2, rate=0.0))
    with pytest.raises(ModelError, match=r"drive 'motor' is violated by -0\.2"):
        simulate(hinged(drives=[drive]), 1.0)
    drive = RotationDrive(name="motor", b="rod", law=ConstantRate(rate=0.3))
    with pytest.raises(ModelError, match=r"drive 'motor' .* at a rate of -0\.3"):
        simulate(hinged(drives=[drive]), 1.0)


def test_the_worst_violation_is_named():
    other = RigidBody(name="other", mass=1.0, inertia=1.0, position=(3.0, 0.2))
    model = Model(
        bodies=[rod(position=(0.6, 0.0)), other, Ground(points={"nail": (3.0, 0.0)})],
        joints=[HINGE, Weld(name="bolt", a="ground.nail", b="other")],
    )
    with pytest.raises(ModelError, match=r"joint 'bolt' is violated by 0\.2 "):
        simulate(model, 1.0)


def test_rounded_input_is_accepted_and_put_right():
    """Nine digits in a file are consistent enough; the rest is projected away."""
    angle = 0.7
    body = rod(
        position=(round(0.5 * math.cos(angle), 9), round(0.5 * math.sin(angle), 9)),
        angle=angle,
    )
    result = simulate(hinged(body), 0.1)
    pin = result.sample([0.0], ["rod.pin.x", "rod.pin.y"]).to_numpy()[0, 1:]
    assert np.max(np.abs(pin)) < 1e-15


def test_a_violation_just_above_the_slack_is_refused():
    # CONSISTENT is 1e-8 of the joint's own size, here 0.5 m.
    with pytest.raises(ModelError, match="inconsistent start"):
        simulate(hinged(rod(position=(0.5 + 2e-8, 0.0))), 0.1)


def test_the_call_may_override_the_model():
    body = rod(position=(0.6, 0.0))
    assert simulate(hinged(body), 0.1, assemble=True).status == "finished"
    with pytest.raises(ModelError, match="inconsistent start"):
        simulate(hinged(body, assemble=True), 0.1, assemble=False)


# ---- assembly of positions -----------------------------------------------------


def rigid(body: Body) -> RigidBody:
    assert isinstance(body, RigidBody)
    return body


def pose(body: Body) -> np.ndarray:
    return np.array([*rigid(body).position, rigid(body).angle])


def position_of(model: Model, name: str = "rod") -> np.ndarray:
    return pose(next(b for b in assembled(model).bodies if b.name == name))


def test_assembly_keeps_a_chosen_angle():
    body = rod(position=(0.9, 0.7), angle=0.4)
    q = position_of(hinged(body, assemble=True, keep=["rod.theta"]))
    assert q[2] == 0.4
    expected = (0.5 * math.cos(0.4), 0.5 * math.sin(0.4))
    assert q[:2] == pytest.approx(expected, abs=ROUND)


def test_assembly_keeps_a_chosen_place():
    body = rod(position=(0.3, 0.7), angle=0.4)
    q = position_of(hinged(body, assemble=True, keep=["rod.x"]))
    assert q[0] == 0.3
    assert q == pytest.approx([0.3, 0.4, math.atan2(0.4, 0.3)], abs=ROUND)


def violated(size: float) -> Model:
    """A crank and a rod, moved off their joints by `size`."""
    crank = RigidBody(
        name="crank",
        mass=1.0,
        inertia=0.05,
        position=(0.15 + size, 0.2 - 2 * size),
        angle=math.atan2(0.4, 0.3) + size,
        points={"o": (-0.25, 0.0), "a": (0.25, 0.0)},
    )
    bar = RigidBody(
        name="bar",
        mass=3.0,
        inertia=0.2,
        position=(0.8 - size, 0.4 + size),
        points={"a": (-0.5, 0.0), "b": (0.5, 0.0)},
    )
    return Model(
        bodies=[crank, bar],
        joints=[
            Revolute(name="o", b="crank.o"),
            Revolute(name="a", a="crank.a", b="bar.a"),
            Distance(name="rope", b="bar.b", length=math.hypot(1.3, 0.4)),
        ],
        assemble=True,
    )


def test_assembly_goes_the_mass_weighted_shortest_way():
    model = violated(1e-3)
    system = pack(model)
    start = np.concatenate([pose(body) for body in model.bodies])
    q = np.concatenate([pose(body) for body in assembled(model).bodies])

    def g(x):
        out, rate = np.zeros(system.n_row), np.zeros(system.n_row)
        work, rest = system.work(), np.zeros(system.n_dof)
        entry.constraints(system.tables, work, 0.0, x.copy(), rest, out, rate)
        return out

    mass = system.tables.mass
    best = minimize(
        lambda x: 1e4 * (x - start) @ (mass * (x - start)),
        start,
        constraints=NonlinearConstraint(g, 0.0, 0.0),
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    assert np.max(np.abs(g(q))) < ROUND
    # The projection's path bends with the constraints: the end differs from the
    # nearest point by the square of the way, (2e-3)², times curvatures near five.
    assert q == pytest.approx(best.x, abs=2e-5)
    assert np.max(np.abs(q - start)) > 5e-4


def test_assembly_keeps_a_coordinate_of_any_body():
    """Five rows on six coordinates: one can be chosen."""
    model = replace(violated(0.05), keep=("bar.theta",))
    moved = assembled(model)
    before, after = rigid(model.bodies[1]), rigid(moved.bodies[1])
    assert after.angle == before.angle
    assert after.position != before.position
    assert simulate(moved, 0.01).violation < ROUND


def test_assembly_reaches_a_pose_far_away():
    q = position_of(hinged(rod(position=(5.0, -3.0), angle=2.0), assemble=True))
    assert q[:2] == pytest.approx(
        (0.5 * math.cos(q[2]), 0.5 * math.sin(q[2])), abs=ROUND
    )


def test_a_consistent_start_is_not_moved():
    model = hinged(rod(angular_velocity=2.0, velocity=(0.0, 1.0)), assemble=True)
    assert assembled(model).bodies == model.bodies


def test_what_cannot_be_kept_is_refused():
    body = rod(position=(0.9, 0.7), angle=0.4)
    with pytest.raises(
        ModelError,
        match=r"cannot be assembled with rod\.x kept: joint 'hinge' stays violated by",
    ):
        simulate(hinged(body, assemble=True, keep=["rod.x"]), 1.0)


def test_joints_that_never_meet_are_refused():
    model = Model(
        bodies=[rod(), Ground(points={"far": (3.0, 0.0)})],
        joints=[HINGE, Revolute(name="far", a="ground.far", b="rod.tip")],
        assemble=True,
    )
    with pytest.raises(ModelError, match=r"cannot be assembled: joint '\w+' stays"):
        simulate(model, 1.0)


def test_only_bodies_with_mass_can_be_kept():
    model = Model(
        bodies=[rod(), MovingSupport(name="deck")],
        joints=[HINGE],
        assemble=True,
        keep=["deck.x"],
    )
    with pytest.raises(ModelError, match=r"'deck.x' is not a coordinate of a body"):
        simulate(model, 1.0)


# ---- assembly of velocities ----------------------------------------------------


def projected(J, mass, v, target):
    """v - M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ (J v - target), by NumPy."""
    JM = J / mass
    return v - JM.T @ np.linalg.solve(JM @ J.T, J @ v - target)


def test_velocities_change_by_the_impulse_of_the_hinge():
    v = np.array([1.0, -2.0, 0.7])
    angle = 0.4
    c, s = 0.5 * math.cos(angle), 0.5 * math.sin(angle)
    body = rod(
        position=(c, s), angle=angle, velocity=tuple(v[:2]), angular_velocity=v[2]
    )
    moved = rigid(assembled(hinged(body, assemble=True)).bodies[0])
    # Velocity of the pin, at (-c, -s) from the centre.
    J = np.array([[1.0, 0.0, s], [0.0, 1.0, -c]])
    expected = projected(J, np.array([2.0, 2.0, 1 / 6]), v, np.zeros(2))
    found = [*moved.velocity, moved.angular_velocity]
    assert found == pytest.approx(expected, abs=ROUND)
    # The rod's angular momentum about the hinge is what an impulse there leaves.
    before = 2.0 * (c * v[1] - s * v[0]) + v[2] / 6
    after = 2.0 * (c * found[1] - s * found[0]) + found[2] / 6
    assert after == pytest.approx(before, abs=ROUND)


def test_drives_start_with_their_impulse():
    """A cart set in motion by its drive drags the hanging rod along."""
    cart = RigidBody(name="cart", mass=3.0, inertia=1.0)
    body = rod(position=(0.0, -0.5), angle=-math.pi / 2)
    model = Model(
        bodies=[cart, body],
        joints=[
            Prismatic(name="rail", b="cart"),
            Revolute(name="pin", a="cart", b="rod.pin"),
        ],
        drives=[TranslationDrive(name="motor", b="cart", law=ConstantRate(rate=1.5))],
        assemble=True,
    )
    cart, body = (rigid(body) for body in assembled(model).bodies)
    assert cart.velocity == pytest.approx((1.5, 0.0), abs=ROUND)
    # Impulse P at the pin: m v = P, J w = P l/2 about the centre, v + w l/2 = 1.5 in
    # the sense that brings the pin along: v = 1.5/(1 + m l²/(4 J)) = 1.5/4.
    assert body.velocity == pytest.approx((0.375, 0.0), abs=ROUND)
    assert body.angular_velocity == pytest.approx(-2.25, abs=ROUND)


def test_keep_holds_positions_but_not_velocities():
    body = rod(position=(0.5, 0.1), velocity=(1.0, 0.0))
    model = hinged(body, assemble=True, keep=["rod.theta"])
    moved = rigid(assembled(model).bodies[0])
    assert moved.velocity == pytest.approx((0.0, 0.0), abs=ROUND)


# ---- contradictions ------------------------------------------------------------


def rockers(places=(0.0, 2.0), angle=1.0, rate=0.0, **more) -> Model:
    """Unit rockers side by side under one coupler of 2 m and 2 kg: a parallelogram."""
    c, s = math.cos(angle), math.sin(angle)
    bodies, joints = [], []
    for k, x in enumerate(places):
        bodies.append(
            RigidBody(
                name=f"rocker{k}",
                mass=1.0,
                inertia=1 / 12,
                position=(x + 0.5 * c, 0.5 * s),
                angle=angle,
                velocity=(-0.5 * s * rate, 0.5 * c * rate),
                angular_velocity=rate,
                points={"pin": (-0.5, 0.0), "top": (0.5, 0.0)},
            )
        )
        joints.append(Revolute(name=f"pin{k}", a=f"ground.g{k}", b=f"rocker{k}.pin"))
        joints.append(Revolute(name=f"top{k}", a=f"rocker{k}.top", b=f"coupler.p{k}"))
    bodies.append(
        RigidBody(
            name="coupler",
            mass=2.0,
            inertia=2 / 3,
            position=(1.0 + c, s),
            velocity=(-s * rate, c * rate),
            points={f"p{k}": (x - 1.0, 0.0) for k, x in enumerate(places)},
        )
    )
    bodies.append(Ground(points={f"g{k}": (x, 0.0) for k, x in enumerate(places)}))
    return Model(gravity=(0.0, -G), bodies=bodies, joints=joints, **more)


def two_drives(law) -> Model:
    """One rocker at 1 rad/s, the other by another law."""
    return rockers(
        rate=1.0,
        drives=[
            RotationDrive(name="m0", b="rocker0", law=ConstantRate(start=1, rate=1)),
            RotationDrive(name="m1", b="rocker1", law=law),
        ],
    )


@pytest.mark.parametrize("b", ["rod", "rod.tip"])
def test_two_drives_of_one_motion_are_refused(b):
    drives = [
        RotationDrive(name="m0", b="rod", law=ConstantRate(rate=0.0)),
        RotationDrive(name="m1", b=b, law=Ramp(rate=1.0, duration=1.0)),
    ]
    with pytest.raises(ModelError, match=r"m1.*(m0.*already|exclude)"):
        simulate(hinged(drives=drives), 1.0)


def test_drives_that_differ_in_acceleration_are_refused_through_the_linkage():
    with pytest.raises(ModelError, match=r"contradictory.*m0, m1.*exclude each other"):
        simulate(two_drives(Expression(text="1 + t + t**2")), 1.0)


@pytest.mark.parametrize("assemble", [False, True])
def test_drives_that_differ_in_speed_are_refused_through_the_linkage(assemble):
    model = two_drives(ConstantRate(start=1.0, rate=1.1))
    message = r"contradictory.*m0, m1" if assemble else r"drive 'm1'.*rate of -0\.1"
    with pytest.raises(ModelError, match=message):
        simulate(model, 1.0, assemble=assemble)


def test_drives_that_part_later_end_the_run():
    """They agree at the start to second order, and part as t³ afterwards."""
    with pytest.warns(NonsmoothWarning, match="m0, m1"), pytest.raises(SolveError) as e:
        simulate(two_drives(Expression(text="1 + t + t**3")), 1.0)
    assert e.value.result is not None
    assert e.value.result.status == "failed"
    # 1e-7 of the size is where a constraint counts as violated: t = (1e-7)^(1/3),
    # and the two drives share the violation with the linkage.
    assert 0.0 < e.value.result.t_end < 0.02


def test_drives_that_agree_are_redundant_only():
    with pytest.warns(NonsmoothWarning, match=r"m0, m1.* are redundant"):
        result = simulate(two_drives(ConstantRate(start=1.0, rate=1.0)), 1.0)
    assert result["rocker0.theta"] == pytest.approx(1.0 + result.t, abs=ROUND)
    # By symmetry least norm shares the torque, some 7 N m, equally; in the null space
    # round-off is divided by the regularisation, 1e-7.
    ours, theirs = result["m0.torque"], result["m1.torque"]
    assert ours == pytest.approx(theirs, abs=1e-7)


# ---- redundant constraints -----------------------------------------------------

THREE = (0.0, 0.9, 2.0)


def rocker_pendulum(n: int) -> osc.Pendulum:
    """n rockers and the coupler as one: J = n/3 + 2, m d = n/2 + 2."""
    return osc.Pendulum(mass=1.0, distance=n / 2 + 2.0, inertia=n / 3 + 2.0, gravity=G)


def test_redundant_joints_are_named_and_noted():
    with pytest.warns(NonsmoothWarning) as caught:
        result = simulate(rockers(THREE), 0.5)
    (text,) = [str(w.message) for w in caught]
    assert "1 constraint(s)" in text
    for joint in ("pin0", "pin1", "pin2", "top0", "top1", "top2"):
        assert joint in text
    assert result.notes == (text,)


def test_only_the_joints_involved_are_named():
    model = rockers(THREE)
    free = RigidBody(name="free", mass=1.0, inertia=1.0, position=(9.0, 0.0))
    lone = Revolute(name="lone", a="ground.g9", b="free")
    last = model.bodies[-1]
    assert isinstance(last, Ground)
    ground = Ground(points={**last.points, "g9": (9.0, 0.0)})
    model = replace(
        model,
        bodies=(*model.bodies[:-1], free, ground),
        joints=(*model.joints, lone),
    )
    with pytest.warns(NonsmoothWarning) as caught:
        simulate(model, 0.1)
    assert "lone" not in str(caught[0].message)


def test_without_redundancy_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(rockers(), 0.5).notes == ()


@pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")
def test_motion_with_a_redundant_rocker_is_exact():
    angle, rate = 1.0, 0.3
    result = simulate(rockers(THREE, angle=angle, rate=rate), 1.0, rtol=1e-10)
    # From the downward vertical, counter-clockwise.
    exact = osc.pendulum(
        rocker_pendulum(3), result.t, angle=angle + math.pi / 2, rate=rate
    )
    for k in range(3):
        # A hundred steps of rtol.
        assert result[f"rocker{k}.theta"] == pytest.approx(
            exact.q - math.pi / 2, abs=1e-8
        )


@pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")
def test_redundant_reactions_have_the_least_norm():
    """Weighted by diag(S): x = D pinv(D S D) D b with D = diag(S)^(-1/2)."""
    model = rockers(THREE, rate=0.8)
    result = simulate(model, 0.1)
    samples = result.sample([0.0])
    system = pack(model)
    work, n = system.work(), system.n_row
    bodies = [body for body in model.bodies if isinstance(body, RigidBody)]
    q = np.concatenate([pose(body) for body in bodies])
    v = np.concatenate([[*body.velocity, body.angular_velocity] for body in bodies])
    entry.constraints(system.tables, work, 0.0, q, v, np.zeros(n), np.zeros(n))
    J = np.zeros((n, system.n_dof))
    entry.rows_matrix(system.tables, work, J)
    mass = system.tables.mass
    force = mass * np.tile([0.0, -G, 0.0], system.n_moving)
    S = (J / mass) @ J.T
    assert np.linalg.matrix_rank(S, tol=1e-9) == n - 1
    b = -work.bias - J @ (force / mass)
    D = np.diag(1.0 / np.sqrt(np.diag(S)))
    lam = D @ np.linalg.pinv(D @ S @ D, rcond=1e-9) @ D @ b
    # Regularised by 1e-7 and refined: the doc of skyline.py claims 1e-9 in the null
    # space; forces here reach 30 N.
    for name, row in zip(system.joints, system.tables.joint_row, strict=True):
        found = [samples[f"{name}.force_{axis}"][0] for axis in "xy"]
        assert found == pytest.approx(lam[row : row + 2], abs=30 * 1e-9)


def test_two_equal_welds_share_the_load():
    """One block on two bolts at one place: each carries half of its weight."""
    block = RigidBody(name="block", mass=3.0, inertia=0.1)
    joints = [Weld(name=name, b="block") for name in ("one", "two")]
    model = Model(gravity=(0.0, -G), bodies=[block], joints=joints)
    with pytest.warns(NonsmoothWarning, match=r"3 constraint\(s\) among one, two"):
        result = simulate(model, 0.2)
    for name in ("one", "two"):
        assert result[f"{name}.force_y"] == pytest.approx(0.5 * 3.0 * G, abs=30 * 1e-9)


# ---- singular poses ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")
@pytest.mark.parametrize(
    ("method", "places"),
    [
        ("auto", (0.0, 2.0)),
        ("dopri5", (0.0, 2.0)),
        ("radau", (0.0, 2.0)),
        # Newton's iteration may fail where a singular pose and redundancy meet.
        ("auto", THREE),
        ("dopri5", THREE),
    ],
)
def test_a_parallelogram_passes_its_flat_poses(places, method):
    """From upright it falls and goes round; in both flat poses it could fold."""
    model = rockers(places, angle=math.pi / 2, rate=-1.0)
    result = simulate(model, 3.0, method=method, rtol=1e-9)
    n = len(places)
    exact = osc.pendulum(rocker_pendulum(n), result.t, angle=math.pi, rate=-1.0)
    # At least two flat poses lie behind.
    assert result["rocker0.theta"][-1] < -1.6 * math.pi
    # A hundred steps of 1e-9, some tenfold by the fall from the upright pose.
    for k in range(n):
        assert result[f"rocker{k}.theta"] == pytest.approx(
            exact.q - math.pi / 2, abs=1e-6
        )
    assert np.max(np.abs(result["coupler.theta"])) < 1e-6


def test_a_start_in_a_flat_pose_warns():
    model = rockers(angle=0.0, rate=1.0)
    with pytest.warns(NonsmoothWarning, match=r"redundant|singular"):
        result = simulate(model, 0.2)
    # Moving on as a parallelogram, as the velocities say.
    assert result["rocker0.omega"] == pytest.approx(result["rocker1.omega"], abs=1e-6)


# ---- locking -------------------------------------------------------------------


def locking_crank() -> Model:
    """A crank of 1 m, a rod of 0.8 m and a slider: it locks at sin(angle) = 0.8."""
    angle = 0.3
    tilt = -math.asin(math.sin(angle) / 0.8)
    ax, ay = math.cos(angle), math.sin(angle)
    bx = ax + 0.8 * math.cos(tilt)
    return Model(
        bodies=[
            RigidBody(
                name="crank",
                mass=1.0,
                inertia=0.1,
                position=(0.5 * ax, 0.5 * ay),
                angle=angle,
                points={"o": (-0.5, 0.0), "a": (0.5, 0.0)},
            ),
            RigidBody(
                name="rod",
                mass=1.0,
                inertia=0.1,
                position=(0.5 * (ax + bx), 0.5 * ay),
                angle=tilt,
                points={"a": (-0.4, 0.0), "b": (0.4, 0.0)},
            ),
            PointMass(name="slider", mass=1.0, position=(bx, 0.0)),
        ],
        joints=[
            Revolute(name="o", b="crank.o"),
            Revolute(name="a", a="crank.a", b="rod.a"),
            Revolute(name="b", a="rod.b", b="slider"),
            PinInSlot(name="rail", b="slider"),
        ],
        drives=[
            RotationDrive(
                name="motor", b="crank", law=ConstantRate(start=angle, rate=1.0)
            )
        ],
        assemble=True,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"method": "auto"},
        {"method": "dopri5"},
        {"method": "radau"},
        {"method": "rk4", "step": 1e-3},
    ],
    ids=lambda x: x["method"],
)
def test_a_mechanism_that_locks_ends_with_a_partial_result(options):
    lock = math.asin(0.8) - 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonsmoothWarning)
        with pytest.raises(SolveError) as caught:
            simulate(locking_crank(), 3.0, **options)
    result = caught.value.result
    assert result is not None
    assert result.status == "failed"
    assert result.message == str(caught.value)
    assert f"t = {lock:.3f}"[:7] in result.message
    # Constraints give way by 1e-7 of the size at most; a fixed step may be one short.
    within = options.get("step", 1e-6)
    assert result.t_end == pytest.approx(lock, abs=within)
    # What was computed before the lock is right: the crank follows its law.
    t = np.linspace(0.0, 0.6, 7)
    samples = result.sample(t, ["crank.theta", "slider.x"])
    assert samples["crank.theta"] == pytest.approx(0.3 + t, abs=1e-12)
    place = np.cos(0.3 + t) + np.sqrt(0.64 - np.sin(0.3 + t) ** 2)
    assert samples["slider.x"] == pytest.approx(place, abs=1e-12)


def test_a_drive_beyond_reach_says_so():
    body = rod(position=(0.25, 0.5 * math.sin(math.acos(0.5))), angle=math.acos(0.5))
    pull = TranslationDrive(
        name="pull", b="rod.tip", law=ConstantRate(start=0.5, rate=0.2)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonsmoothWarning)
        with pytest.raises(SolveError, match=r"locks, or a drive asks for more") as e:
            simulate(hinged(body, drives=[pull], assemble=True), 4.0)
    assert e.value.result is not None
    # The tip is at full reach, x = 1, at 2.5 s.
    assert e.value.result.t_end == pytest.approx(2.5, abs=1e-6)
