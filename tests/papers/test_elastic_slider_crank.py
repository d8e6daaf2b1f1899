"""The slider-crank with an elastic rod, with the data of [Simeon1996]."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import ModelError, RigidBody, gallery, simulate
from nonsmooth.pack import pack
from oracles.swung_rod import swing

TURN = 2.0 * math.pi / 150.0  # s
PLACES = [f"rod.{point}.{axis}" for point in ("middle", "A", "B") for axis in "xy"]


def deflection(result, t):
    """Return how far the rod's middle is off the line of its pins."""
    found = result.sample(t, PLACES)
    m_x, m_y, a_x, a_y, b_x, b_y = (found[name] for name in PLACES)
    d_x, d_y = b_x - a_x, b_y - a_y
    return ((m_y - a_y) * d_x - (m_x - a_x) * d_y) / np.hypot(d_x, d_y)


def built(mesh, **parameters):
    """Return the model with a mesh of triangles of given size, and its rod."""
    model = gallery.build("elastic_slider_crank", **parameters)
    body: Any = next(body for body in model.bodies if body.name == "rod")
    rod = replace(body, mesh=replace(body.mesh, size=mesh, cells="triangle"))
    bodies = tuple(rod if one.name == "rod" else one for one in model.bodies)
    return replace(model, bodies=bodies), rod


@pytest.mark.slow
def test_finite_rotations_over_two_turns(validate):
    """Elements with mass and finite rotations, of the same mesh.

    Modes left out, and what K neglects, are 1e-3 of the largest deflection.
    """
    model, rod = built(8e-3, modes=10)
    until = 2.0 * TURN
    t, off, slider = swing(
        rod,
        until=until,
        crank=0.15,
        speed=150.0,
        slider_mass=0.075552,
        material=rod.material,
    )
    result = simulate(model, until=until)
    at = np.linspace(0.0, until, 400)[1:]
    wanted = np.interp(at, t, off)
    assert np.abs(wanted).max() > 1.5e-3
    bent = deflection(result, at)
    validate("deflection", bent, wanted, 2e-3 * 1.87e-3, "m", "finite rotations")
    found = result.sample(at, "slider.x")["slider.x"]
    assert found == pytest.approx(np.interp(at, t, slider), abs=2e-6)


def test_energy_over_two_turns():
    """The motor's work and the energy of rod, crank and slider, to the tolerance."""
    result = simulate(gallery.build("elastic_slider_crank", modes=4), until=2.0 * TURN)
    balance = result.energy_balance
    assert balance.residual < 1e-7 * balance.kinetic[0]


def test_rigid_limit():
    """Stiff, it is the slider-crank with a rigid rod: to first order in 1/E."""
    t = np.linspace(1e-4, 1e-3, 20)
    names = ["slider.x", "slider.vx", "rod.theta", "rod.x"]
    left = []
    for stiffer in (1e3, 1e4):
        model = gallery.build(
            "elastic_slider_crank", modes=2, youngs_modulus=200e9 * stiffer
        )
        own = pack(model).flexible["rod"]
        rigid = RigidBody(
            name="rod",
            mass=own.mass,
            inertia=own.inertia,
            position=(0.3, 0.0),
            velocity=(0.0, 0.5 * 0.15 * 150.0),
            angular_velocity=-75.0,
            points={"A": (-0.15, 0.0), "B": (0.15, 0.0), "middle": (0.0, 0.0)},
        )
        bodies = tuple(rigid if one.name == "rod" else one for one in model.bodies)
        one = simulate(model, until=1e-3).sample(t, names)
        two = simulate(replace(model, bodies=bodies), until=1e-3).sample(t, names)
        off = [np.abs(one[name] - two[name]).max() for name in names]
        left.append(np.array(off) / (0.3, 0.15 * 150.0, 1.0, 0.3))
    stiff, stiffer = np.array(left)
    assert stiffer[[0, 2, 3]].max() < 1e-6
    # Places go with 1/E, velocities of the ringing rod with its root.
    assert np.all(stiffer[[0, 2, 3]] < 0.15 * stiff[[0, 2, 3]])
    assert stiffer[1] < 0.4 * stiff[1]


def test_friction_in_the_guide():
    """A frictional joint on an elastic rod: the slider's work, and its reversals."""
    model = gallery.build("elastic_slider_crank", modes=2, mu=0.2)
    result = simulate(model, until=TURN)
    balance = result.energy_balance
    assert balance.work["guide.friction"][-1] < -0.1
    assert balance.residual < 1e-6 * balance.kinetic[0]
    assert sum(event.kind == "reverse" for event in result.events.of("guide")) >= 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rod_length": 0.1}, r"rod_length = 0\.1; give more than 0\.15 m"),
        ({"modes": 0}, r"modes = 0"),
        ({"mu": -0.1}, r"mu = -0\.1"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ModelError, match=message):
        gallery.build("elastic_slider_crank", **given)
