"""Seven laws of friction on one belt: stick-slip, its smearing, and creep."""

from __future__ import annotations

from nonsmooth.elements.bodies import Ground, MovingSupport, PointMass
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.friction import (
    Coulomb,
    CoulombViscous,
    Dahl,
    FrictionLaw,
    Karnopp,
    LuGre,
    RegularisedCoulomb,
    Stribeck,
)
from nonsmooth.elements.joints import PinInSlot
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.gallery._checks import at_least, friction, positive
from nonsmooth.model import Model

UNTIL = 5.0  # s
RANGES = {
    "m": (0.1, 10.0),
    "k": (10.0, 1000.0),
    "speed": (0.01, 1.0),
    "mu0": (0.3, 1.0),
    "mu": (0.05, 0.4),
    "viscous": (0.0, 20.0),
    "velocity": (5e-3, 0.5),
    "dead_band": (1e-3, 0.1),
    "width": (1e-3, 0.5),
    "bristle_stiffness": (50.0, 5000.0),
    "bristle_damping": (0.0, 50.0),
    "gravity": (1.0, 25.0),
}

_LANE = 0.15  # m, between the blocks; it only shows in drawings


def friction_laws(
    *,
    m: float = 1.0,
    k: float = 100.0,
    speed: float = 0.1,
    mu0: float = 0.4,
    mu: float = 0.3,
    viscous: float = 2.0,
    velocity: float = 0.05,
    dead_band: float = 0.01,
    width: float = 0.05,
    bristle_stiffness: float = 500.0,
    bristle_damping: float = 5.0,
    gravity: float = 9.81,
) -> Model:
    """Let seven equal blocks ride on one belt, each rubbing by a law of its own.

    Every block is tied to a wall by a spring, as in the system `belt`, and runs in a
    slot of the belt, so that its normal force is m gravity throughout. At the start all
    ride on the belt and the springs are free of force; x of a block is the stretch of
    its spring.

    - `coulomb`: sticks until the spring pulls with mu0 m gravity at
      mu0 m gravity/(k speed), slips back, sticks again, for ever;
    - `viscous`: the same with a film, which takes so much of the first slip that the
      block never sticks again, and comes to a steady slip;
    - `stribeck`: friction falls with the speed of the slip, not at once;
    - `karnopp`: as `coulomb`, but slips slower than `dead_band` count as rest: it
      sticks early, and creeps on with the velocity it had;
    - `regularised`: never sticks, but creeps on the belt from the start, and comes to a
      steady slip since its friction grows with the speed;
    - `dahl`: bristles give way like a spring, by mu/bristle_stiffness; once they slide
      the block swings without loss;
    - `lugre`: bristles with the curve of `stribeck`: it sticks and slips, and creeps
      before it breaks away.

    Bodies `belt`, with a point for each block, and the blocks `coulomb`, `viscous`,
    `stribeck`, `karnopp`, `regularised`, `dahl` and `lugre`, point masses; joints
    `sole_coulomb`, `sole_viscous`, `sole_stribeck`, `sole_karnopp`, `sole_regularised`,
    `sole_dahl` and `sole_lugre`; forces `spring_coulomb`, `spring_viscous`,
    `spring_stribeck`, `spring_karnopp`, `spring_regularised`, `spring_dahl` and
    `spring_lugre`.

    Parameters
    ----------
    m : float
        Mass of a block, kg.
    k : float
        Stiffness of a spring, N/m.
    speed : float
        Velocity of the belt, m/s.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        Coefficient of friction in motion, 1. Not above mu0.
    viscous : float
        Friction in proportion to the velocity, of `viscous`, N s/m.
    velocity : float
        Speed over which friction falls from mu0 to mu, of `stribeck` and `lugre`, m/s.
    dead_band : float
        Velocity that counts as rest, of `karnopp`, m/s.
    width : float
        Velocity over which friction is smeared out, of `regularised`, m/s.
    bristle_stiffness : float
        Stiffness of the bristles per unit of load, of `dahl` and `lugre`, 1/m.
    bristle_damping : float
        Damping of the bristles per unit of load, of `lugre`, s/m.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic; the laws give theirs.
    """
    positive(
        "friction_laws",
        m=m,
        k=k,
        mu=mu,
        velocity=velocity,
        dead_band=dead_band,
        width=width,
        bristle_stiffness=bristle_stiffness,
        gravity=gravity,
    )
    at_least("friction_laws", 0.0, viscous=viscous, bristle_damping=bristle_damping)
    friction("friction_laws", mu0=mu0, mu=mu)
    laws: dict[str, FrictionLaw] = {
        "coulomb": Coulomb(mu=mu, mu_static=mu0),
        "viscous": CoulombViscous(mu=mu, mu_static=mu0, viscous=viscous),
        "stribeck": Stribeck(mu=mu, mu_static=mu0, velocity=velocity),
        "karnopp": Karnopp(mu=mu, mu_static=mu0, dead_band=dead_band),
        "regularised": RegularisedCoulomb(mu=mu, velocity=width),
        "dahl": Dahl(mu=mu, stiffness=bristle_stiffness),
        "lugre": LuGre(
            mu=mu,
            mu_static=mu0,
            velocity=velocity,
            stiffness=bristle_stiffness,
            damping=bristle_damping,
        ),
    }
    # A block swings about mu m g/k, by less than this even when thrown at `speed`.
    swing = mu0 * m * gravity / k + abs(speed) * (m / k) ** 0.5
    length = 1.0 + 4.0 * swing
    lanes = {law: (0.0, -_LANE * i) for i, law in enumerate(laws)}
    walls = {law: (-length, y) for law, (_, y) in lanes.items()}
    blocks = [
        PointMass(name=law, mass=m, position=place, velocity=(speed, 0.0))
        for law, place in lanes.items()
    ]
    return Model(
        title="seven laws of friction",
        gravity=(0.0, -gravity),
        bodies=(
            Ground(points=walls),
            MovingSupport(name="belt", x=ConstantRate(rate=speed), points=lanes),
            *blocks,
        ),
        joints=tuple(
            PinInSlot(name=f"sole_{name}", a=f"belt.{name}", b=name, friction=law)
            for name, law in laws.items()
        ),
        forces=tuple(
            SpringDamper(
                name=f"spring_{law}",
                a=f"ground.{law}",
                b=law,
                stiffness=k,
                rest_length=length,
            )
            for law in laws
        ),
    )
