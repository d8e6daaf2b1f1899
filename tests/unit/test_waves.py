"""The scheme `waves`: contact of nodes, what it refuses, what it gives back."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Ground,
    Interrupted,
    Line,
    Model,
    ModelError,
    RigidBody,
    SolveError,
    equilibrium,
    gallery,
    simulate,
)
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import PointForce
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.materials import Material, ModalDamping
from nonsmooth.elements.meshes import Gauge, Patch, Rectangle, Rod
from nonsmooth.elements.normal import Unilateral
from nonsmooth.result.history import History
from nonsmooth.study import Mean, sweep
from oracles.rods import Rods

METAL = Material(youngs_modulus=70e9, poissons_ratio=0.0, density=2700.0)


def rod(name="rod", way=1.0, velocity=(-0.2, 0.0), n=20, **more):
    fields: dict[str, Any] = {
        "mesh": Rod(length=0.5, radius=0.01, elements=n),
        "material": METAL,
        "modes": "full",
        "velocity": velocity,
        "patches": {"face": Patch(boundary="left")},
    }
    return FlexibleBody(name=name, **(fields | more))


def on_wall(body, **more):
    wall = Ground(shapes={"wall": Line(angle=-0.5 * np.pi)})
    touch = Contact(
        name="contact", a="ground.wall", b=f"{body.name}.face", normal=Unilateral()
    )
    return Model(bodies=[wall, body], contacts=[replace(touch, **more)])


@pytest.mark.jit_off
def test_a_rod_on_a_wall():
    """F = rho c A v for 2 L/c, then it flies back."""
    c = np.sqrt(70e9 / 2700.0)
    run = simulate(on_wall(rod(n=8)), 2.4 * 0.5 / c)
    force = run["contact.normal_force"]
    expected = 2700.0 * c * np.pi * 1e-4 * 0.2
    # What is left at the parting is round-off.
    pressed = np.flatnonzero(force > 1e-9 * expected)
    assert np.allclose(force[pressed], expected, rtol=1e-9)
    assert run.t[pressed[-1]] == pytest.approx(1.0 / c, abs=1.01 * run.options["step"])
    assert run["contact.normal_x"][0] == 1.0
    balance = run.energy_balance
    # The end node, half of one of 8 elements, stops: 1/16 of the energy.
    lost = balance.work["contact.onset"][-1] / balance.kinetic[0]
    assert lost == pytest.approx(-1.0 / 16.0, rel=1e-9)
    assert balance.residual < 1e-12 * balance.kinetic[0]


@pytest.mark.parametrize("angle", [0.0, 0.5 * np.pi, np.pi, 0.3])
def test_the_direction_of_a_plate_does_not_matter(angle):
    """A plate strikes a wall with its side: the same in any direction."""
    turn = np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    body = FlexibleBody(
        name="plate",
        mesh=Rectangle(width=0.04, height=0.02, center=(0.02, 0.0), size=0.01, order=1),
        material=METAL,
        modes="full",
        thickness=0.01,
        angle=angle,
        velocity=tuple(turn @ (-0.2, 0.0)),
        patches={"face": Patch(boundary="left")},
        points={"far": (0.04, 0.0)},
        gauges={"gauge": Gauge(point=(0.02, 0.0))},
    )
    wall = Ground(shapes={"wall": Line(angle=angle - 0.5 * np.pi)})
    touch = Contact(
        name="contact", a="ground.wall", b="plate.face", normal=Unilateral()
    )
    run = simulate(Model(bodies=[wall, body], contacts=[touch]), 2e-5)
    straight = simulate(
        on_wall(replace(body, name="plate", angle=0.0, velocity=(-0.2, 0.0))), 2e-5
    )
    for name in ("contact.normal_force", "plate.gauge.strain", "contact.gap"):
        size = np.abs(straight[name]).max()
        assert np.allclose(run[name], straight[name], atol=1e-9 * size)
    there = np.stack((run["plate.far.x"], run["plate.far.y"]), axis=1) @ turn
    assert np.allclose(there[:, 0], straight["plate.far.x"], atol=1e-14)


@pytest.mark.parametrize("sizes", [(5.6e-3, 3.1e-3), (5.6e-3, 3.2e-3), (5e-3, 4.3e-3)])
def test_forces_settle_at_the_origin(sizes):
    """A node there has the round-off of those with which it shares others."""
    angle = 0.37
    c, s = np.cos(angle), np.sin(angle)
    steel = Material(youngs_modulus=210e9, poissons_ratio=0.3, density=7850.0)

    def plate(name, side, size, speed, face, material):
        x = 0.02 * side
        mesh = Rectangle(
            width=0.04,
            height=0.02,
            center=(x, 0.0),
            size=size,
            cells="quadrilateral",
            order=1,
        )
        return FlexibleBody(
            name=name,
            mesh=mesh,
            material=material,
            modes="full",
            thickness=0.01,
            angle=angle,
            position=(x * c, x * s),
            velocity=(speed * c, speed * s),
            patches={"face": Patch(boundary=face)},
        )

    touch = Contact(name="contact", a="a.face", b="b.face", normal=Unilateral())
    bodies = [
        plate("a", -1, sizes[0], 0.2, "right", METAL),
        plate("b", 1, sizes[1], 0.0, "left", steel),
    ]
    run = simulate(Model(bodies=bodies, contacts=[touch]), 1e-5)
    given = 2700.0 * 0.2
    total = c * (2700.0 * run["a.vx"] + 7850.0 * run["b.vx"])
    total += s * (2700.0 * run["a.vy"] + 7850.0 * run["b.vy"])
    assert np.allclose(total, given, rtol=1e-13)


def test_unlike_nodes_on_segments_keep_momentum_and_energy():
    """Two plates whose nodes do not match; nothing is lost but at onsets."""

    def plate(name, x, size, velocity, face):
        mesh = Rectangle(width=0.04, height=0.02, center=(x, 0.0), size=size, order=1)
        return FlexibleBody(
            name=name,
            mesh=mesh,
            material=METAL,
            modes="full",
            thickness=0.01,
            velocity=velocity,
            patches={"face": Patch(boundary=face)},
        )

    model = Model(
        bodies=[
            plate("a", -0.02, 0.005, (0.2, 0.0), "right"),
            plate("b", 0.02, 0.0035, (0.0, 0.0), "left"),
        ],
        contacts=[Contact(name="contact", a="a.face", b="b.face", normal=Unilateral())],
    )
    run = simulate(model, 3e-5)
    total = run["a.vx"] + run["b.vx"]
    assert np.allclose(total, 0.2, rtol=1e-12)
    # Plane waves without Poisson's ratio: as a rod.
    like = Rods(length=0.04, speed=0.2)
    c = like.wave_speed
    force = run["contact.normal_force"]
    middle = (run.t > 2e-6) & (run.t < 0.06 / c)
    assert np.mean(force[middle]) == pytest.approx(
        0.5 * 2700.0 * c * 0.02 * 0.01 * 0.2, rel=0.01
    )
    assert np.max(run["contact.gap"][1:]) < 1e-5
    assert np.min(run["contact.gap"]) > -1e-12
    balance = run.energy_balance
    assert balance.residual < 1e-11 * balance.kinetic[0]
    # Normals turn by strains, 1e-5, from step to step: a constraint that holds does a
    # little work.
    assert np.diff(balance.work["contact.onset"]).max() < 1e-6 * balance.kinetic[0]


def test_a_rigid_ball_strikes_a_plate():
    ball = RigidBody(
        name="ball",
        mass=0.02,
        inertia=1e-6,
        position=(0.0, 0.01),
        velocity=(0.0, -0.5),
        shapes={"rim": Circle(radius=0.01)},
    )
    plate = FlexibleBody(
        name="plate",
        mesh=Rectangle(
            width=0.1, height=0.01, center=(0.0, -0.005), size=0.002, order=1
        ),
        material=METAL,
        modes="full",
        thickness=0.01,
        fixed=("left", "right"),
        patches={"face": Patch(boundary="top", center=(0.0, 0.0), radius=0.01)},
    )
    touch = Contact(name="contact", a="ball.rim", b="plate.face", normal=Unilateral())
    run = simulate(Model(bodies=[ball, plate], contacts=[touch]), 2e-4)
    force = run["contact.normal_force"]
    h = run.options["step"]
    # The normal points from the ball to the plate; impulse is change of momentum.
    assert run["contact.normal_y"][0] == -1.0
    gained = 0.02 * (run["ball.vy"][-1] + 0.5)
    assert h * np.sum(force[1:-1]) + 0.5 * h * force[0] == pytest.approx(
        gained, rel=1e-2
    )
    assert gained > 0.0
    assert run.energy_balance.residual < 1e-11 * run.energy_balance.kinetic[0]
    # Forces of nodes add up to the normal force.
    at = run.t[np.argmax(force)]
    shown = run.pressure("contact", float(at))
    assert np.linalg.norm(shown.forces @ shown.normals) == pytest.approx(
        force.max(), rel=1e-12
    )


@pytest.mark.parametrize("angle", [0.0, 0.5 * np.pi])
def test_a_rigid_hammer_strikes_a_rod(angle):
    """Its speed falls by exp(-Z t/m) until the wave is back, Z = rho c A."""
    c, s = np.cos(angle), np.sin(angle)
    hammer = RigidBody(
        name="hammer",
        mass=0.4,
        inertia=1e-3,
        position=(-0.05 * c, -0.05 * s),
        angle=angle,
        velocity=(0.2 * c, 0.2 * s),
        shapes={"face": Line(point=(0.05, 0.0), angle=-0.5 * np.pi)},
    )
    still = rod(velocity=(0.0, 0.0), n=200, angle=angle, position=(0.25 * c, 0.25 * s))
    touch = Contact(name="contact", a="hammer.face", b="rod.face", normal=Unilateral())
    speed = np.sqrt(70e9 / 2700.0)
    run = simulate(Model(bodies=[hammer, still], contacts=[touch]), 0.99 / speed)
    impedance = 2700.0 * speed * np.pi * 1e-4
    expected = 0.2 * np.exp(-impedance / 0.4 * run.t)
    found = c * run["hammer.vx"] + s * run["hammer.vy"]
    # The end node, half an element, is taken along at once.
    assert np.allclose(found[2:], expected[2:], rtol=2e-3)
    assert np.allclose(
        run["contact.normal_force"][2:], impedance * expected[2:], rtol=4e-3
    )
    assert not any("would have turned" in note for note in run.notes)


def test_a_rigid_body_that_would_turn_is_said():
    hammer = RigidBody(
        name="hammer",
        mass=0.4,
        inertia=1e-7,
        position=(-0.05, 0.02),
        velocity=(0.2, 0.0),
        shapes={"face": Line(point=(0.05, 0.0), angle=-0.5 * np.pi)},
    )
    still = rod(velocity=(0.0, 0.0), n=200)
    touch = Contact(name="contact", a="hammer.face", b="rod.face", normal=Unilateral())
    run = simulate(Model(bodies=[hammer, still], contacts=[touch]), 1e-4)
    # A force of Z v exp(-Z t/m) with an arm of 2 cm, integrated twice.
    impedance = np.sqrt(2700.0 * 70e9) * np.pi * 1e-4
    rate = impedance / 0.4
    twice = (1e-4 * rate + np.exp(-1e-4 * rate) - 1.0) / rate**2
    turn = impedance * 0.2 * 0.02 / 1e-7 * twice
    (note,) = [note for note in run.notes if "would have turned" in note]
    told = float(note.split("turned by ")[1].split()[0])
    assert told == pytest.approx(turn, rel=0.05)


def test_a_penalty_shrinks_the_critical_step():
    """Springs of nodes: k = penalty times length, w^2 = k (1/m + 1/m) and more."""
    steps = []
    for penalty in (None, 1e11, 1e13, 1e15):
        law = Unilateral(penalty=penalty)
        run = simulate(on_wall(rod(), normal=law), 1e-4)
        steps.append(run.options["step"])
        if penalty is not None:
            assert run.energy_balance.residual < 1e-11 * run.energy_balance.kinetic[0]
    assert steps[0] > steps[2] > steps[3]
    # A stiff spring is alone with its node: h = 2 sqrt(m/k).
    mass = 0.5 * 2700.0 * np.pi * 1e-4 * 0.5 / 20
    assert steps[3] == pytest.approx(2.0 * np.sqrt(mass / (1e15 * 0.02)), rel=1e-2)


def test_a_clamped_plate_sags_about_its_static_shape():
    """Under gravity from rest it swings about w L^4/(384 E I), plus shear."""
    length, height = 0.2, 0.02
    body = FlexibleBody(
        name="beam",
        mesh=Rectangle(width=length, height=height, size=0.005, order=2),
        material=METAL,
        modes="full",
        fixed=("left", "right"),
        points={"middle": (0.0, 0.0)},
    )
    run = simulate(Model(gravity=(0.0, -9.81), bodies=[body]), 2.2e-3)
    weight = 2700.0 * 9.81 * height
    bending = weight * length**4 / (384.0 * 70e9 * height**3 / 12.0)
    shear = weight * length**2 / (8.0 * 5.0 / 6.0 * 35e9 * height)
    sag = run["beam.middle.y"]
    # Twice the static one at most; the third mode adds a per cent.
    assert -sag.min() == pytest.approx(2.0 * (bending + shear), rel=0.02)
    # The first half step sees the weight at once: m (g h)^2/8.
    mass, h = 2700.0 * length * height, run.options["step"]
    assert run.energy_balance.residual < 1.01 * mass * (9.81 * h) ** 2 / 8.0


# ---- what it gives back ------------------------------------------------------------


def test_result_is_as_of_every_run(tmp_path):
    run = simulate(gallery.build("rods", elements=20), 4.5e-4)
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again["b2.p3.vx"], run["b2.p3.vx"])
    assert again.summary()["events"] == {"touch_down": 1, "separate": 1}
    assert run.summary()["options"]["scheme"] == "waves"
    samples = run.sample(np.linspace(0.0, run.t_end, 7))
    samples.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().startswith("t,b1.x,")
    for path, draw in (
        ("force.png", lambda p: run.plot("contact.normal_force", p)),
        ("energy.png", run.plot_energy),
        ("contacts.png", run.plot_contacts),
        ("waves.png", lambda p: run.plot_waves(["b1", "b2"], "stress.xx", p)),
    ):
        draw(str(tmp_path / path))
        assert (tmp_path / path).stat().st_size > 5000
    with pytest.raises(ModelError, match="outside the run"):
        run.sample([1.0], "b1.x")
    with pytest.raises(ModelError, match="no state that another could start from"):
        run.state()


def test_progress_and_interruption():
    parts = []
    model = gallery.build("rods", elements=200)
    simulate(model, 1e-3, progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0

    def stop(part):
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        simulate(model, 1e-3, progress=stop)
    partial: Any = caught.value.result
    assert partial.status == "failed"
    assert 0.4e-3 < partial.t_end < 1e-3
    assert partial["contact.normal_force"][0] > 0.0


def test_memory_is_bounded(monkeypatch):
    """Rows are thinned and states marched to again: the same numbers."""
    from nonsmooth.solve import waves

    model = gallery.build("rods", elements=50)
    whole = simulate(model, 4.5e-4)
    monkeypatch.setattr(waves, "ROW_BYTES", 60_000)
    monkeypatch.setattr(waves, "FRAME_BYTES", 20_000)
    thin = simulate(model, 4.5e-4)
    kept = thin.steps
    assert isinstance(kept, History)
    assert kept.stride > 1
    assert kept.rows.nbytes < 70_000
    assert kept.frames.n_bytes < 25_000
    assert any("was recorded" in note for note in thin.notes)
    t = kept.stride * thin.options["step"] * 7
    one, other = (r.sample(t, "b2.vx")["b2.vx"][0] for r in (thin, whole))
    assert one == pytest.approx(other, rel=1e-9)
    for name in ("velocity", "stress"):
        one, other = (r.field("b2", name, 2.345e-4) for r in (thin, whole))
        assert np.array_equal(one.values, other.values)


def test_half_the_step_verifies_a_run():
    run = simulate(gallery.build("rods", model="axisymmetric", elements=50), 5e-5)
    found = run.verify()
    assert found.tighter.options["step"] == pytest.approx(0.5 * run.options["step"])
    assert found.events
    assert found.position < 1e-3 * 0.21 * 5e-5
    # What presses around an axis does so on it.
    assert np.all(run["contact.point_y"] == 0.0)


def test_a_study_over_waves():
    """F = rho c A v/2, for each speed."""
    table = sweep(
        "rods",
        {"speed": [0.1, 0.3]},
        {"force": Mean(column="contact.normal_force")},
        settings={"elements": 20},
        until=3e-4,
    )
    expected = [Rods(speed=v).force for v in (0.1, 0.3)]
    assert np.allclose(table["force"], expected, rtol=1e-9)


def test_the_command_line_runs_waves(capsys, tmp_path):
    from nonsmooth.app.cli import main

    page = tmp_path / "page.html"
    words = ["run", "rods", "--until", "1e-4", "--courant", "0.5"]
    assert main([*words, "--report", str(page)]) == 0
    assert "0.5 of the critical one" in capsys.readouterr().out
    assert page.stat().st_size > 100_000


# ---- what it refuses -----------------------------------------------------------------


def refuse(model, match, **options):
    with pytest.raises(ModelError, match=match):
        simulate(model, 1e-5, **options)


def test_a_step_above_the_critical_one():
    model = gallery.build("rods", elements=200)
    critical = 1.0 / 200 / Rods().wave_speed
    refuse(model, "above the critical step 9.81981e-07 s", step=1.01 * critical)
    refuse(model, "courant = 1.1: above the critical", courant=1.1)
    refuse(model, "both given", courant=0.5, step=1e-8)
    refuse(model, "courant = -1", courant=-1.0)
    # An implicit method has none.
    simulate(model, 1e-5, method="newmark", courant=2.0)


def test_mixtures_joints_forces_friction_and_rotation():
    full, reduced = rod(), rod(name="other", mesh=Rectangle(width=1, height=1, size=1))
    refuse(
        Model(bodies=[full, replace(reduced, modes=3, patches={})]),
        "'other': modes = 3, but 'rod' has modes = 'full'",
    )
    hinged = replace(full, points={"end": (0.0, 0.0)})
    joint = Revolute(name="hinge", a="ground", b="rod.end")
    refuse(Model(bodies=[hinged], joints=[joint]), "joint 'hinge': scheme 'waves' has")
    force = PointForce(name="push", b="rod.end", fx=1.0)
    refuse(Model(bodies=[hinged], forces=[force]), "force 'push'")
    with pytest.raises(ModelError, match="no friction"):
        simulate(on_wall(full, friction=Coulomb(mu=0.3)), 1e-5)
    wheel = RigidBody(name="wheel", mass=1.0, inertia=1.0, angular_velocity=3.0)
    refuse(Model(bodies=[full, wheel]), "'wheel': angular_velocity = 3")
    refuse(on_wall(full), "for scheme 'waves', not 'events'", scheme="events")
    refuse(on_wall(full), "of scheme 'waves'", method="rk4")
    refuse(on_wall(full), "has none: give step", max_step=1e-6)
    refuse(on_wall(full, normal=Unilateral(penalty=1e12)), "penalty", method="moreau")
    with pytest.raises(ModelError, match="does not turn"):
        rod(angular_velocity=1.0)
    with pytest.raises(ModelError, match="no damping"):
        rod(damping=ModalDamping(ratio=0.1))
    with pytest.raises(ModelError, match="give modes = 'full'"):
        rod(modes=4)
    with pytest.raises(ModelError, match="must be at least 1, or 'full'"):
        rod(modes=0)


def test_a_body_that_turns():
    """Hit at one end it begins to turn: noted, then refused with the remedy."""
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.1, height=0.01, center=(0.0, 0.005), size=5e-3, order=1),
        material=METAL,
        modes="full",
        thickness=0.01,
        velocity=(0.0, -1.0),
        patches={"foot": Patch(boundary="bottom", center=(0.05, 0.0), radius=0.012)},
    )
    touch = Contact(name="c", a="ground.floor", b="bar.foot", normal=Unilateral())
    ground = Ground(shapes={"floor": Line()})
    slow = simulate(Model(bodies=[ground, bar], contacts=[touch]), 5e-4)
    turned = np.abs(slow["bar.theta"]).max()
    assert 2e-3 < turned < 0.1
    assert any("'bar' turned by" in note for note in slow.notes)
    fast = replace(bar, velocity=(0.0, -20.0))
    with pytest.raises(
        SolveError, match=r"has turned by .*give the flexible"
    ) as caught:
        simulate(Model(bodies=[ground, fast], contacts=[touch]), 2e-3)
    assert "give the flexible bodies a number of modes" in str(caught.value)
    partial: Any = caught.value.result
    assert 0.09 < np.abs(partial["bar.theta"]).max() < 0.15


def test_no_equilibrium():
    with pytest.raises(ModelError, match="'b1': modes = 'full' is for waves"):
        equilibrium(gallery.build("rods", elements=10))


def test_scheme_waves_without_full_bodies_and_its_methods_elsewhere():
    model = gallery.build("pendulum_chain")
    refuse(model, "no body has modes = 'full'", scheme="waves")
    refuse(model, "it belongs to scheme 'waves'", method="central")
    refuse(model, "the step of scheme 'waves' only", courant=0.5)


def test_places_outside_and_overlap():
    outside = {"gauge": Gauge(point=(0.7, 0.0))}
    refuse(on_wall(rod(gauges=outside)), r"gauges\['gauge'\].*outside the rod")
    plate = FlexibleBody(
        name="plate",
        mesh=Rectangle(width=0.1, height=0.1, size=0.05, order=1),
        material=METAL,
        modes="full",
        gauges={"gauge": Gauge(point=(0.2, 0.0))},
    )
    refuse(Model(bodies=[plate]), r"body 'plate'.*gauges\['gauge'\].*outside the mesh")
    refuse(
        Model(bodies=[replace(plate, gauges={}, plane="axisymmetric")]),
        "below its axis",
    )
    refuse(on_wall(rod(position=(0.2, 0.0))), "overlap of 0.05 m at the start")
    refuse(on_wall(rod(patches={"face": Patch(boundary="lft")})), "no boundary 'lft'")
