"""Models of any size and pace: tolerances refer to the model, not to m and s."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    Model,
    ModelError,
    PointMass,
    Revolute,
    RigidBody,
    SolveError,
    SpringDamper,
    Weld,
    gallery,
    simulate,
)


def pendulum(length: float, opened: float = 0.0, turned: float = 0.0) -> Model:
    rod = RigidBody(
        name="rod",
        mass=1.0,
        inertia=length**2 / 12,
        position=(0.5 * length + opened * length, 0.0),
        angle=turned,
        points={"pin": (-0.5 * length, 0.0)},
    )
    hinge = Revolute(name="hinge", b="rod.pin")
    return Model(gravity=(0.0, -9.81 * length), bodies=[rod], joints=[hinge])


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_an_open_joint_is_refused_at_any_size(length):
    with pytest.raises(ModelError, match="inconsistent start: joint 'hinge'"):
        simulate(pendulum(length, opened=0.009), 0.1)
    assert simulate(pendulum(length), 0.1).notes == ()


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_a_velocity_against_a_joint_is_refused_at_any_size(length):
    """The rod turns by 1 rad/s; its pin leaves by 0.9 % of its length in a second."""
    model = pendulum(length)

    def turning(away: float) -> Model:
        velocity = (away * length, 0.5 * length)
        rod = replace(model.bodies[0], velocity=velocity, angular_velocity=1.0)
        return replace(model, bodies=[rod])

    with pytest.raises(ModelError, match="joint 'hinge' is violated at a rate of"):
        simulate(turning(0.009), 0.1)
    assert simulate(turning(0.0), 0.1).notes == ()
    # Accepted as rounding of the input, and noted.
    (note,) = simulate(turning(2e-9), 0.1).notes
    assert f"velocities by at most {2e-9 * length:.2g} m/s" in note


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_a_start_that_was_moved_is_noted(length):
    result = simulate(pendulum(length, opened=2e-9), 0.1)
    (note,) = result.notes
    assert note.startswith("the start was moved onto the joints and drives")
    assert f"positions by at most {2e-9 * length:.2g} m (body 'rod')" in note
    moved = simulate(replace(pendulum(length, opened=0.1), assemble=True), 0.1)
    assert any("the start was moved" in note for note in moved.notes)


def test_an_angle_is_measured_in_radians_whatever_the_size():
    small = 1e-6
    body = RigidBody(
        name="b", mass=1.0, inertia=1e-12, angle=1e-9, points={"p": (small, 0)}
    )
    weld = Weld(name="weld", b="b")
    # 1e-9 rad is rounding of the input; 1e-6 rad, the size of the body, is not.
    assert simulate(Model(bodies=[body], joints=[weld]), 0.1).status == "finished"
    turned = replace(body, angle=1e-6)
    with pytest.raises(ModelError, match="inconsistent start: joint 'weld'"):
        simulate(Model(bodies=[turned], joints=[weld]), 0.1)


@pytest.mark.parametrize("slow", [1e3, 1e7])
def test_a_mechanism_slowed_down_has_the_same_events(slow):
    """Kinematically driven, without gravity: all forces go with the square of speed."""
    fast = gallery.slider_crank(gravity=0.0, mu=0.2, mu0=0.3, pin_mu=0.1)
    late = gallery.slider_crank(
        gravity=0.0, mu=0.2, mu0=0.3, pin_mu=0.1, speed=10.0 / slow
    )
    a = simulate(fast, until=2.0, atol=1e-12)
    b = simulate(late, until=2.0 * slow, atol=1e-12 / slow)
    assert [(e.element, e.kind) for e in a.events] == [
        (e.element, e.kind) for e in b.events
    ]
    assert len(a.events) > 4
    # Located to round-off of the time, and to what rtol leaves of the motion.
    assert np.allclose(b.events.t, slow * a.events.t, rtol=1e-6)


# ---- numbers that overflow ---------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"mass": 1e200}, r"body 'ball': mass = 1e\+200; must be at most 1e\+100"),
        ({"mass": 1e-320}, r"body 'ball': mass = 1e-320; must be at least 1e-100"),
        ({"position": (0.0, 1e180)}, r"body 'ball': position\[1\] = 1e\+180"),
        ({"velocity": (1e160, 0.0)}, r"body 'ball': velocity\[0\] = 1e\+160"),
    ],
)
def test_numbers_whose_products_overflow_are_refused(changes, what):
    ball = PointMass(**({"name": "ball", "mass": 1.0} | changes))
    with pytest.raises(ModelError, match=what):
        simulate(Model(bodies=[ball]), 0.1)


def test_fields_of_laws_are_named_by_their_path():
    ball = PointMass(name="ball", mass=1.0)
    spring = SpringDamper(name="s", b="ball", stiffness=1e170)
    with pytest.raises(ModelError, match=r"force 's': stiffness = 1e\+170"):
        simulate(Model(bodies=[ball], forces=[spring]), 0.1)


BALL = Model(bodies=[PointMass(name="ball", mass=1.0)])


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"assemble": "x"}, "assemble = 'x'; give True, False or None"),
        ({"start": 5}, r"start = 5; give a state of an earlier run, result\.state"),
        ({"until": 10**400}, r"until = 1000.*\.\.\.; must be a time > 0 s"),
        ({"until": math.nan}, "until = nan; must be a time"),
        ({"until": "2"}, "until = '2'; must be a time"),
        ({"rtol": 1e300}, r"rtol = 1e\+300; must be <= 1"),
        (
            {"method": "rk4", "step": 1e-320},
            r"step = .*: inf steps|step = .* steps until",
        ),
    ],
)
def test_options_are_refused_in_a_sentence(options, what):
    with pytest.raises(ModelError, match=what):
        simulate(BALL, **({"until": 1.0} | options))


def test_sampling_nowhere_gives_nothing():
    result = simulate(BALL, 1.0)
    samples = result.sample([])
    assert len(samples["t"]) == 0
    assert len(samples["ball.x"]) == 0
    assert len(result.energies([]).kinetic) == 0


def test_a_failure_names_no_internals():
    """Forces that overflow while the friction problem is looked at."""
    model = gallery.crank_rocker(driven="rocker", mu=0.3)
    from nonsmooth import Baumgarte

    with pytest.raises(SolveError) as error:
        simulate(model, 2.0, rtol=1e-3, stabilisation=Baumgarte(alpha=1.0, beta=1.0))
    # What was computed is there, and finishing has not replaced the failure.
    assert error.value.result is not None
    assert error.value.result.t_end > 0.4
    for word in ("A_plus", "A_minus", "inconsistent start", "Traceback"):
        assert word not in str(error.value)
