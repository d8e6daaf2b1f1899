"""Motion through, and close by, singular poses."""

import math

import numpy as np
import pytest

from nonsmooth import (
    Ground,
    Model,
    Revolute,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.pack import pack
from oracles import n_four_bar as exact

pytestmark = pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")

T_END = 2.0  # s: past both flat poses


def error_at_end(system, n, rtol):
    result = simulate(system, T_END, rtol=rtol)
    last = result.sample(T_END, ["rocker0.top.x", "rocker0.top.y"])
    x, y = exact.top(n, T_END)
    return math.hypot(
        last["rocker0.top.x"][0] - x, last["rocker0.top.y"][0] - y
    ), result


@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_flat_poses_are_passed_at_every_tolerance(n):
    system = pack(gallery.build("n_four_bar", n=n))
    for rtol in np.logspace(-6, -12, 13):
        error, result = error_at_end(system, n, rtol)
        # Some forty steps, each within the tolerance.
        assert error < 40 * rtol
        # The smooth motion takes 14 to 71 steps: none was wasted at the poses.
        assert result.cost["steps"] < 100


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rtol"), [(100, 1e-8), (400, 1e-10), (1000, 1e-10)])
def test_many_loops_pass_flat_poses(n, rtol):
    system = pack(gallery.build("n_four_bar", n=n))
    error, result = error_at_end(system, n, rtol)
    assert error < 40 * rtol
    assert result.cost["steps"] < 100


def nearly_parallel(excess: float) -> Model:
    """Return a four-bar whose coupler is too long by a part of its length."""
    rockers = [
        RigidBody(
            name=f"rocker{k}",
            mass=1.0,
            inertia=1 / 12,
            position=(float(k), 0.5),
            angle=math.pi / 2,
            velocity=(0.5, 0.0),
            angular_velocity=-1.0,
            points={"pin": (-0.5, 0.0), "top": (0.5, 0.0)},
        )
        for k in range(2)
    ]
    half = 0.5 * (1.0 + excess)
    coupler = RigidBody(
        name="coupler",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5, 1.0),
        velocity=(1.0, 0.0),
        points={"left": (-half, 0.0), "right": (half, 0.0)},
    )
    ground = Ground(points={"A": (0.0, 0.0), "B": (1.0, 0.0)})
    joints = [
        Revolute(name="a", a="ground.A", b="rocker0.pin"),
        Revolute(name="b", a="ground.B", b="rocker1.pin"),
        Revolute(name="left", a="rocker0.top", b="coupler.left"),
        Revolute(name="right", a="rocker1.top", b="coupler.right"),
    ]
    bodies = [ground, *rockers, coupler]
    return Model(gravity=(0.0, -9.81), bodies=bodies, joints=joints, assemble=True)


@pytest.mark.parametrize("excess", [0.1, 0.01, 0.001])
def test_a_near_miss_keeps_its_accuracy(excess):
    """Close by a singular pose the motion turns sharply, and must be followed."""
    model = nearly_parallel(excess)
    reference = simulate(model, T_END, rtol=1e-13).sample(T_END, "rocker0.theta")
    for rtol in (1e-6, 1e-8, 1e-10):
        result = simulate(model, T_END, rtol=rtol)
        theta = result.sample(T_END, "rocker0.theta")["rocker0.theta"]
        # The sharp turn multiplies what went wrong before it by up to a hundred.
        assert theta == pytest.approx(reference["rocker0.theta"], abs=300 * rtol)
