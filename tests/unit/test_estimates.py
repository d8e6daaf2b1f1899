# Wrong types are refused too.
# pyright: reportArgumentType=false
"""Stiffness and damping from materials and restitution, against other computations."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from nonsmooth import (
    Contact,
    HuntCrossley,
    KelvinVoigt,
    Material,
    Model,
    ModelError,
    RigidBody,
    contact_stiffness,
    hunt_crossley_damping,
    kelvin_voigt_damping,
    simulate,
)

STEEL = Material(youngs_modulus=210e9, poissons_ratio=0.3, density=7850.0)
SOFT = Material(youngs_modulus=5e9, poissons_ratio=0.4, density=1100.0)


def plane_modulus(material: Material) -> float:
    return material.youngs_modulus / (1.0 - material.poissons_ratio**2)


@pytest.mark.parametrize("radius", [0.01, 0.3])
@pytest.mark.parametrize("other", [math.inf, 0.05, -0.5])
def test_balls_against_the_integral_of_boussinesq(radius, other):
    """Hertz's pressure on a half-space: its load and approach by quadrature."""
    together = 1.0 / (1.0 / plane_modulus(STEEL) + 1.0 / plane_modulus(SOFT))
    size = 1.0 / (1.0 / radius + 1.0 / other)
    a = 1e-3 * size
    most = 2.0 * a * together / (math.pi * size)

    # p = most cos(u) at r = a sin(u); the way is that of p dA/(pi E* r).
    def ring(u):
        return 2.0 * math.pi * a * math.cos(u) * most * math.cos(u)

    load = quad(lambda u: ring(u) * a * math.sin(u), 0.0, 0.5 * math.pi)[0]
    way = quad(lambda u: ring(u) / (math.pi * together), 0.0, 0.5 * math.pi)[0]
    found = contact_stiffness(
        radius=radius, material=STEEL, other=SOFT, other_radius=other
    )
    assert found * way**1.5 == pytest.approx(load, rel=1e-12)


def axis_stress(z: float, load: float, a: float) -> tuple[float, float]:
    """Stress across and along the axis below Hertz's line load; Johnson's (4.49)."""
    most, far = 2.0 * load / (math.pi * a), math.hypot(a, z)
    return -most / a * ((a * a + 2.0 * z * z) / far - 2.0 * z), -most * a / far


def shortened(material: Material, depth: float, load, a, is_disc: bool) -> float:
    """Return how much the axis shortens down to a depth, in plane strain."""
    nu = material.poissons_ratio

    def strain(log):
        z = math.exp(log)
        across, along = axis_stress(z, load, a)
        if is_disc:  # held at its axis: the load opposite, and a uniform tension
            along += -2.0 * load / (math.pi * (2.0 * depth - z))
            along += load / (math.pi * depth)
            across += load / (math.pi * depth)
        stretch = (along - nu / (1.0 - nu) * across) / plane_modulus(material)
        return -stretch * z

    return quad(strain, math.log(1e-9 * a), math.log(depth), limit=200)[0]


def test_cylinders_against_the_integral_of_strain():
    """A disc on a block that is held below: the axis shortens by the approach."""
    radius, depth, load = 0.05, 0.2, 2e4
    found = contact_stiffness(
        radius=radius, material=STEEL, other=SOFT, length=1.0, load=load, depth=depth
    )
    together = 1.0 / (1.0 / plane_modulus(STEEL) + 1.0 / plane_modulus(SOFT))
    a = math.sqrt(4.0 * load * radius / (math.pi * together))
    way = shortened(STEEL, radius, load, a, True) + shortened(
        SOFT, depth, load, a, False
    )
    # Johnson leaves out terms of (a/R)^2, here 1e-4.
    assert load / found == pytest.approx(way, rel=1e-4)


def bounce(law, mass: float, speed: float) -> float:
    """Return the restitution of a body that hits the ground, from a run."""
    body = RigidBody(
        name="ball",
        mass=mass,
        inertia=1.0,
        position=(0.0, 1e-3),
        velocity=(0.0, -speed),
    )
    contact = Contact(name="c", b="ball", normal=law)
    result = simulate(Model(bodies=[body], contacts=[contact]), 1.0, rtol=1e-10)
    return float(result["ball.vy"][-1] / speed)


@pytest.mark.parametrize("e", [0.05, 0.5, 0.9, 0.999])
def test_restitution_of_a_run(e):
    mass, speed, k = 2.0, 3.0, 1e6
    damping = hunt_crossley_damping(e, speed)
    law = HuntCrossley(stiffness=1e8, damping=damping)
    # rtol = 1e-10 of each step, of which there are hundreds.
    assert bounce(law, mass, speed) == pytest.approx(e, rel=1e-6)
    damping = kelvin_voigt_damping(e, k, mass)
    law = KelvinVoigt(stiffness=k, damping=damping)
    assert bounce(law, mass, speed) == pytest.approx(e, rel=1e-6)


@pytest.mark.parametrize("e", [1e-3, 0.01, 0.1, 0.6, 1.0 - 1e-6, 1.0])
def test_hunt_crossley_solves_its_equation(e):
    x = hunt_crossley_damping(e, 2.0) * 2.0
    assert 0.0 <= x < 1.0 / e
    # Near 1 by the first terms of its series; else as the equation stands.
    if 1.0 - e < 1e-4:
        assert x == pytest.approx(1.5 * (1.0 - e * e) / (1.0 + e**3), rel=1e-5)
    elif e > 0.05:
        assert x * (1.0 + e) == pytest.approx(np.log((1.0 + x) / (1.0 - e * x)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contact_stiffness(radius=0.0, material="steel"), "radius = 0.0; must"),
        (lambda: contact_stiffness(radius="1", material="steel"), "radius = '1'; must"),
        (
            lambda: contact_stiffness(radius=1.0, material="stel"),
            "did you mean 'steel'",
        ),
        (
            lambda: contact_stiffness(radius=1.0, material="steel", other_radius=-0.5),
            "other_radius = -0.5; must be > 0 m, or < -1 m",
        ),
        (
            lambda: contact_stiffness(radius=1.0, material="steel", length=0.1),
            "load = None; give load=..., in N",
        ),
        (
            lambda: contact_stiffness(
                radius=1.0, material="steel", length=0.1, load=1e3
            ),
            "depth = None; give depth=..., in m",
        ),
        (lambda: hunt_crossley_damping(0.0, 1.0), "restitution = 0.0; must be > 0 and"),
        (lambda: hunt_crossley_damping(1.1, 1.0), "restitution = 1.1; must be > 0 and"),
        (lambda: hunt_crossley_damping(0.5, -1.0), "speed = -1.0; must be > 0 m/s"),
        (
            lambda: kelvin_voigt_damping(0.5, math.nan, 1.0),
            "stiffness = nan; must be > 0 N/m",
        ),
        (lambda: kelvin_voigt_damping(0.5, 1.0, 0.0), "mass = 0.0; must be > 0 kg"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ModelError, match=message):
        call()
