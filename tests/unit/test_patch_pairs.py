"""Patches of two flexible bodies: what acts between them turns and drives nothing."""

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    FlexibleBody,
    Material,
    Model,
    Patch,
    Unilateral,
    simulate,
)
from nonsmooth.elements.meshes import Rectangle

# Soft and high: nodes give way by much beside their distances.
RUBBER = Material(youngs_modulus=1e6, poissons_ratio=0.3, density=1000.0)
HIGH, SIZE = 0.02, 0.01  # m


def colliding(mu):
    """Return a bar, and a shorter one that is thrown at its upper side, both free."""
    lower = FlexibleBody(
        name="lower",
        mesh=Rectangle(width=0.2, height=HIGH, size=SIZE),
        material=RUBBER,
        thickness=0.01,
        modes=6,
        angle=0.2,
        angular_velocity=1.0,
        patches={"face": Patch(boundary="top")},
    )
    upper = FlexibleBody(
        name="upper",
        mesh=Rectangle(width=0.06, height=HIGH, size=SIZE),
        material=RUBBER,
        thickness=0.01,
        modes=6,
        angle=0.25,
        position=(0.02, 0.029),
        velocity=(0.4, -1.0),
        patches={"sole": Patch(boundary="bottom")},
    )
    contact = Contact(
        name="c",
        a="lower.face",
        b="upper.sole",
        normal=Unilateral(),
        friction=None if mu is None else Coulomb(mu=mu, mu_static=1.3 * mu),
    )
    return Model(bodies=[lower, upper], contacts=[contact])


def momentum(result, t):
    """Return momentum and angular momentum of both bars, of shapes and rates."""
    total, n = np.zeros(3), result.system.n_dof
    y = result.states(t)[0]
    for name in ("lower", "upper"):
        body, own = result.system.flexible[name], result.system.coordinates(name)
        (px, py), eta = y[:n][own][:2], y[:n][own][3:]
        (vx, vy, omega), rate = y[n : 2 * n][own][:3], y[n : 2 * n][own][3:]
        spread = 2.0 * body.lever @ eta + eta @ eta - eta @ body.spin @ eta
        turning = (body.inertia + spread) * omega + eta @ body.gyro @ rate
        total += body.mass * np.array([vx, vy, px * vy - py * vx])
        total[2] += turning
    return total


@pytest.mark.parametrize("mu", [None, 0.4])
def test_two_bars_keep_their_momentum_and_their_energy(mu):
    result = simulate(colliding(mu), until=0.03, rtol=1e-10)
    kinds = [event.kind for event in result.events]
    assert kinds[0] == "touch_down"
    assert "separate" in kinds
    load = result["c.normal_force"].max()
    assert load > 5.0
    change = momentum(result, 0.03) - momentum(result, 0.0)
    size = result.system.flexible["upper"].mass
    # Tolerances of steps. With friction of a at the foot of a node, without the moment
    # of its gap, 1e-3 of the angular momentum; with the turn of segments left out,
    # 1.5e-3 of the energy.
    assert np.abs(change).max() < 1e-12 * size
    balance = result.energy_balance
    assert balance.residual < 1e-7 * balance.exchanged
    rubbed = -balance.work["c.friction"][-1]
    assert rubbed == 0.0 if mu is None else rubbed > 0.03 * balance.exchanged
