"""Static equilibrium: where, how stable, at which natural frequencies."""

import math

import numpy as np
import pytest

from nonsmooth import (
    Constant,
    Contact,
    Couple,
    ExpressionForce,
    FlexibleBody,
    Ground,
    Harmonic,
    Hertz,
    KelvinVoigt,
    Model,
    MovingSupport,
    PinInSlot,
    PointMass,
    Prismatic,
    Rectangle,
    Revolute,
    RigidBody,
    RotationDrive,
    SolveError,
    SpringDamper,
    State,
    Table,
    TimeLaw,
    TorsionSpring,
    Weld,
    equilibrium,
    simulate,
)
from oracles import oscillators as osc

G = 9.81
# Forces balance to 1e-11 of the largest; over stiffnesses near the largest force per
# metre that is as much in metres, and a few times more for softer ones.
PLACE = 1e-9
# Stiffness by central differences with steps of 6e-6: truncation 4e-11 and round-off
# 1e-16/6e-6 of the forces, joined with the place.
STIFFNESS = 1e-7


def rod(angle: float, x: float = 0.0, name: str = "rod") -> RigidBody:
    """A uniform rod of 1 m and 1 kg with its pin at (x, 0)."""
    return RigidBody(
        name=name,
        mass=1.0,
        inertia=1 / 12,
        position=(x + 0.5 * math.cos(angle), 0.5 * math.sin(angle)),
        angle=angle,
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    )


def pendulum(angle: float, **more) -> Model:
    return Model(
        gravity=(0.0, -G),
        bodies=[rod(angle)],
        joints=[Revolute(name="hinge", b="rod.pin")],
        **more,
    )


# ---- springs -------------------------------------------------------------------


def hanging(position=(0.0, -1.0), y: TimeLaw | float = 0.0, damping=0.0) -> Model:
    return Model(
        gravity=(0.0, -G),
        bodies=[
            PointMass(name="bob", mass=2.0, position=position),
            MovingSupport(name="hook", y=y),
        ],
        forces=[
            SpringDamper(
                name="spring",
                a="hook",
                b="bob",
                stiffness=150.0,
                damping=damping,
                rest_length=0.8,
            )
        ],
    )


LENGTH = 0.8 + 2.0 * G / 150.0


@pytest.mark.parametrize("position", [(0.0, -1.0), (0.3, -0.6), (-0.5, -2.0)])
def test_a_mass_hangs_on_its_spring(position):
    found = equilibrium(hanging(position))
    x, y, _ = found.state.positions["bob"]
    assert (x, y) == pytest.approx((0.0, -LENGTH), abs=PLACE)
    assert found.stability == "stable"
    # It swings as a pendulum and bounces on the spring.
    assert found.stiffness == pytest.approx([G / LENGTH, 75.0], rel=STIFFNESS)
    assert found.residual <= 1e-11 * 2.0 * G * 10
    assert found.state.velocities["bob"] == (0.0, 0.0, 0.0)


def test_natural_frequencies_of_a_chain_of_two(validate):
    """k/m (3 ± √5)/2 for equal masses and springs, held at one end."""
    k, m = 80.0, 2.0
    blocks = [
        RigidBody(name=name, mass=m, inertia=1.0, position=(x, 0.0))
        for name, x in (("one", 1.1), ("two", 1.9))
    ]
    model = Model(
        bodies=blocks,
        joints=[Prismatic(name=f"guide_{b.name}", b=b.name) for b in blocks],
        forces=[
            SpringDamper(name="s1", b="one", stiffness=k, rest_length=1.0),
            SpringDamper(name="s2", a="one", b="two", stiffness=k, rest_length=1.0),
        ],
    )
    found = equilibrium(model)
    assert found.state.positions["one"][0] == pytest.approx(1.0, abs=PLACE)
    assert found.state.positions["two"][0] == pytest.approx(2.0, abs=PLACE)
    expected = k / m * np.array([3 - math.sqrt(5), 3 + math.sqrt(5)]) / 2
    what = "chain of two: squares of frequencies / exact"
    part = np.asarray(found.stiffness) / expected
    validate(what, part, [1.0, 1.0], STIFFNESS, "1", "closed form")
    assert found.stability == "stable"


def test_natural_frequency_of_a_rod_on_a_torsion_spring():
    """J = 1/3; at rest k th = -g/2 cos th from the horizontal."""
    spring = TorsionSpring(name="spring", b="rod", stiffness=20.0)
    found = equilibrium(pendulum(0.0, forces=[spring]))
    angle = found.state.positions["rod"][2]
    assert 20.0 * angle == pytest.approx(-0.5 * G * math.cos(angle), abs=1e-8)
    assert found.stiffness == pytest.approx(
        [3.0 * (20.0 - 0.5 * G * math.sin(angle))], rel=STIFFNESS
    )


def test_an_expression_force_is_as_good_as_a_spring():
    bob = PointMass(name="bob", mass=2.0, position=(0.2, -0.3))
    force = ExpressionForce(name="f", b="bob", fx="-150*x", fy="-150*y")
    found = equilibrium(Model(gravity=(0.0, -G), bodies=[bob], forces=[force]))
    x, y, _ = found.state.positions["bob"]
    assert (x, y) == pytest.approx((0.0, -2.0 * G / 150.0), abs=PLACE)
    assert found.stiffness == pytest.approx([75.0, 75.0], rel=STIFFNESS)


# ---- pendulums -----------------------------------------------------------------


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 13))
def test_a_pendulum_hangs_from_wherever_it_begins(angle):
    found = equilibrium(pendulum(angle))
    turns = (found.state.positions["rod"][2] + math.pi / 2) / (2.0 * math.pi)
    assert turns == pytest.approx(round(turns), abs=PLACE)
    assert found.stability == "stable"
    assert found.stiffness == pytest.approx([1.5 * G], rel=STIFFNESS)


def test_a_pendulum_started_upright_is_unstable():
    found = equilibrium(pendulum(math.pi / 2))
    assert found.state.positions["rod"][2] == pytest.approx(math.pi / 2, abs=PLACE)
    assert found.stability == "unstable"
    assert found.stiffness == pytest.approx([-1.5 * G], rel=STIFFNESS)


def test_a_spring_can_hold_a_pendulum_upright():
    """k > m g l/2 turns the sign: J w² = k - m g l/2."""
    spring = TorsionSpring(
        name="spring", b="rod", stiffness=8.0, rest_angle=math.pi / 2
    )
    found = equilibrium(pendulum(math.pi / 2, forces=[spring]))
    assert found.stability == "stable"
    assert found.stiffness == pytest.approx([3.0 * (8.0 - 0.5 * G)], rel=STIFFNESS)


def test_a_balanced_disc_is_neutral():
    disc = RigidBody(name="disc", mass=2.0, inertia=0.1, angle=0.7)
    axle = Revolute(name="axle", b="disc")
    found = equilibrium(Model(gravity=(0.0, -G), bodies=[disc], joints=[axle]))
    assert found.stability == "neutral"
    # Differences of forces that cancel: round-off of 20 N over 6e-6.
    assert found.stiffness == pytest.approx([0.0], abs=1e-6)
    assert found.state.positions["disc"][2] == 0.7


def test_a_free_motion_beside_stable_ones_is_neutral():
    """A cart with a pendulum on a level rail: it may stand anywhere."""
    cart = RigidBody(name="cart", mass=3.0, inertia=1.0)
    model = Model(
        gravity=(0.0, -G),
        bodies=[cart, rod(-1.0)],
        joints=[
            Prismatic(name="rail", b="cart"),
            Revolute(name="pin", a="cart", b="rod.pin"),
        ],
    )
    found = equilibrium(model)
    assert found.stability == "neutral"
    # J w² = m g d with the reduced inertia J = 1/3 - m d²·m/(M + m) = 1/3 - 1/16.
    assert found.stiffness[0] == pytest.approx(0.0, abs=1e-6)
    assert found.stiffness[1] == pytest.approx(
        0.5 * G / (1 / 3 - 0.25 / 4), rel=STIFFNESS
    )


def test_one_unstable_motion_among_stable_ones_is_unstable():
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            rod(math.pi / 2),
            rod(-math.pi / 2, x=3.0, name="other"),
            Ground(points={"p": (3.0, 0.0)}),
        ],
        joints=[
            Revolute(name="hinge", b="rod.pin"),
            Revolute(name="second", a="ground.p", b="other.pin"),
        ],
    )
    found = equilibrium(model)
    assert found.stability == "unstable"
    assert found.stiffness == pytest.approx([-1.5 * G, 1.5 * G], rel=STIFFNESS)


# ---- supports and drives -------------------------------------------------------


def test_redundant_supports_do_not_disturb():
    """Three rockers under one plate hang as one pendulum."""
    places = (0.0, 0.9, 2.0)
    bodies = [rod(-1.0, x=x, name=f"r{k}") for k, x in enumerate(places)]
    c, s = math.cos(-1.0), math.sin(-1.0)
    bodies.append(
        RigidBody(
            name="plate",
            mass=2.0,
            inertia=0.5,
            position=(1.0 + c, s),
            points={f"p{k}": (x - 1.0, 0.0) for k, x in enumerate(places)},
        )
    )
    joints = []
    for k in range(3):
        joints.append(Revolute(name=f"pin{k}", a=f"ground.g{k}", b=f"r{k}.pin"))
        joints.append(Revolute(name=f"top{k}", a=f"r{k}.tip", b=f"plate.p{k}"))
    ground = Ground(points={f"g{k}": (x, 0.0) for k, x in enumerate(places)})
    model = Model(gravity=(0.0, -G), bodies=[*bodies, ground], joints=joints)
    found = equilibrium(model)
    for k in range(3):
        angle = found.state.positions[f"r{k}"][2]
        assert angle == pytest.approx(-math.pi / 2, abs=PLACE)
    whole = osc.Pendulum(mass=1.0, distance=3.5, inertia=3.0, gravity=G)
    assert found.stability == "stable"
    assert found.stiffness == pytest.approx([whole.frequency**2], rel=STIFFNESS)


def test_a_block_on_two_bolts_has_no_motion_left():
    block = RigidBody(name="block", mass=3.0, inertia=0.1)
    bolts = [Weld(name=name, b="block") for name in ("one", "two")]
    found = equilibrium(Model(gravity=(0.0, -G), bodies=[block], joints=bolts))
    assert len(found.stiffness) == 0
    assert found.stability == "stable"
    assert found.state.positions["block"] == pytest.approx((0.0, 0.0, 0.0), abs=PLACE)


TABLE = Table(times=(0.0, 0.4, 1.0), values=(0.0, 0.3, -0.1))


@pytest.mark.parametrize(("t", "height"), [(0.0, 0.0), (0.4, 0.3), (1.0, -0.1)])
def test_supports_are_frozen_at_the_time_given(t, height):
    """Their speed is left out: a damper to a moving support pulls nothing."""
    found = equilibrium(hanging(y=TABLE, damping=50.0), t=t)
    assert found.state.t == t
    y = found.state.positions["bob"][1]
    assert y == pytest.approx(height - LENGTH, abs=PLACE)


def test_drives_are_frozen_at_the_time_given():
    """A driven arm carries a pendulum; its acceleration is left out."""
    wave = Harmonic(amplitude=0.8, angular_frequency=2.0)
    arm, bob = rod(0.0), rod(-1.0, x=1.0, name="bob")
    model = Model(
        gravity=(0.0, -G),
        bodies=[arm, bob],
        joints=[
            Revolute(name="hinge", b="rod.pin"),
            Revolute(name="pin", a="rod.tip", b="bob.pin"),
        ],
        drives=[RotationDrive(name="motor", b="rod", law=wave)],
    )
    found = equilibrium(model, t=0.6)
    angle = 0.8 * math.sin(1.2)
    assert found.state.positions["rod"][2] == pytest.approx(angle, abs=PLACE)
    x, y, hang = found.state.positions["bob"]
    assert hang == pytest.approx(-math.pi / 2, abs=PLACE)
    tip = (math.cos(angle), math.sin(angle) - 0.5)
    assert (x, y) == pytest.approx(tip, abs=PLACE)
    assert found.stiffness == pytest.approx([1.5 * G], rel=STIFFNESS)


def test_an_inconsistent_start_is_assembled_on_the_way():
    body = rod(0.3)
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            RigidBody(
                name="rod",
                mass=1.0,
                inertia=1 / 12,
                position=(0.9, 0.2),
                angle=0.3,
                points=body.points,
            )
        ],
        joints=[Revolute(name="hinge", b="rod.pin")],
    )
    x, y, angle = equilibrium(model).state.positions["rod"]
    assert (x, y, angle) == pytest.approx((0.0, -0.5, -math.pi / 2), abs=PLACE)


# ---- starting and failing ------------------------------------------------------


def test_a_run_from_an_equilibrium_stays_there():
    model = hanging((0.2, -0.7))
    found = equilibrium(model)
    result = simulate(model, 2.0, start=found.state)
    for name, place in (("bob.x", 0.0), ("bob.y", -LENGTH)):
        # A stable rest: what was left of the forces is all that moves it.
        assert result[name] == pytest.approx(np.full(len(result.t), place), abs=1e-8)


def test_the_start_chooses_among_several():
    """Snap-through: two springs meet at a sliding pin, flat is unstable."""
    model = Model(
        bodies=[
            PointMass(name="pin", mass=1.0, position=(1.0, 0.3)),
            Ground(points={"right": (2.0, 0.0), "axis": (1.0, 0.0)}),
        ],
        joints=[PinInSlot(name="slot", a="ground.axis", b="pin", axis=math.pi / 2)],
        forces=[
            SpringDamper(name="s1", b="pin", stiffness=50.0, rest_length=1.25),
            SpringDamper(
                name="s2", a="ground.right", b="pin", stiffness=50.0, rest_length=1.25
            ),
        ],
    )

    def place(y: float):
        start = State(
            t=0.0, positions={"pin": (1.0, y, 0.0)}, velocities={"pin": (0, 0, 0)}
        )
        found = equilibrium(model, start=start)
        return found.state.positions["pin"][1], found.stability

    for y, expected, stability in (
        (0.2, 0.75, "stable"),
        (-0.2, -0.75, "stable"),
        (0.0, 0.0, "unstable"),
    ):
        found, kind = place(y)
        assert found == pytest.approx(expected, abs=PLACE)
        assert kind == stability


@pytest.mark.parametrize(
    "model",
    [
        Model(gravity=(0.0, -G), bodies=[PointMass(name="ball", mass=1.0)]),
        Model(
            bodies=[RigidBody(name="disc", mass=1.0, inertia=1.0)],
            joints=[Revolute(name="axle", b="disc")],
            forces=[Couple(name="twist", b="disc", torque=Constant(value=1.0))],
        ),
    ],
    ids=["falls", "spins"],
)
def test_without_equilibrium_it_says_so(model):
    with pytest.raises(SolveError, match=r"no static equilibrium.*holds every motion"):
        equilibrium(model)


# ---- on contacts -----------------------------------------------------------------


def test_a_body_rests_on_its_normal_springs():
    """Two unequal springs under an off-centre load, K d = reaction of the lever."""
    beam = RigidBody(
        name="beam",
        mass=2.0,
        inertia=0.1,
        position=(0.0, 0.1),
        points={"left": (-0.3, -0.1), "right": (0.1, -0.1)},
    )
    stiffness = {"left": 1e4, "right": 3e4}
    model = Model(
        gravity=(0.0, -10.0),
        bodies=(beam,),
        contacts=[
            Contact(name=k, b=f"beam.{k}", normal=KelvinVoigt(stiffness=stiffness[k]))
            for k in stiffness
        ],
    )
    rest = equilibrium(model)
    # Sliding along the floor is neutral.
    assert rest.stability == "neutral"
    result = simulate(model, 0.1, start=rest.state, rtol=1e-10)
    force = result.sample([0.0, 0.1])
    # Levers of 0.1 and 0.3 m, to the first order in a tilt of 1e-3; then to the
    # balance that `equilibrium` asks for.
    assert force["left.normal_force"] == pytest.approx(5.0, abs=0.02)
    total = force["left.normal_force"] + force["right.normal_force"]
    assert total == pytest.approx(20.0, abs=1e-9)


@pytest.mark.parametrize(
    "normal",
    [KelvinVoigt(stiffness=1e6, damping=50.0), Hertz(stiffness=1e9)],
)
def test_a_leaf_that_only_a_contact_bends(normal):
    """Without weight the forces at work are those of the contact and of the leaf."""
    leaf = FlexibleBody(
        name="leaf",
        mesh=Rectangle(width=0.1, height=0.002, center=(0.05, 0.001), size=0.001),
        material="steel",
        thickness=0.01,
        modes=4,
        fixed=("left",),
        points={"tip": (0.1, 0.0)},
        start="static",
    )
    model = Model(
        bodies=[leaf, MovingSupport(name="table", y=5e-4)],
        contacts=[Contact(name="rub", a="table", b="leaf.tip", normal=normal)],
    )
    found = equilibrium(model)
    assert found.stability == "stable"
    result = simulate(model, 1e-4)
    assert result.notes == ("body 'leaf' begins deformed, in static equilibrium",)
    force = float(result.sample(0.0, "rub.normal_force")["rub.normal_force"][0])
    # A cantilever of plane stress, 3 E I w / l^3, to what shear and four modes change.
    overlap = (
        (force / 1e6) if isinstance(normal, KelvinVoigt) else (force / 1e9) ** (2 / 3)
    )
    stiff = 3.0 * 210e9 * (0.01 * 0.002**3 / 12.0) / 0.1**3
    assert force == pytest.approx(stiff * (5e-4 - overlap), rel=0.02)
    # `SETTLED`: what round-off of places leaves behind the stiffest modes.
    assert found.residual < 1e-7 * force
