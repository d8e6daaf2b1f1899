"""Static equilibrium, its stability, and the small swing about it."""

import math

from nonsmooth import (
    Ground,
    Model,
    Revolute,
    RigidBody,
    SpringDamper,
    equilibrium,
    simulate,
)

LENGTH, MASS = 1.0, 3.0  # m, kg
STIFFNESS = 40.0  # N/m
HOOK = (1.0, 0.8)  # m, where the spring hangs

rod = RigidBody(
    name="rod",
    mass=MASS,
    inertia=MASS * LENGTH**2 / 12,
    position=(LENGTH / 2, 0),
    points={"pin": (-LENGTH / 2, 0), "tip": (LENGTH / 2, 0)},
)
model = Model(
    title="rod held by a spring",
    gravity=(0, -9.81),
    bodies=(Ground(points={"hook": HOOK}), rod),
    joints=(Revolute(name="pin", b="rod.pin"),),
    forces=(
        SpringDamper(name="spring", a="ground.hook", b="rod.tip", stiffness=STIFFNESS),
    ),
)
rest = equilibrium(model)
angle = rest.state.positions["rod"][2]  # rad
period = 2 * math.pi / math.sqrt(rest.stiffness[0])  # s

# A state of any origin starts a run; here at rest, so that nothing moves.
result = simulate(model, until=period, start=rest.state)

if __name__ == "__main__":
    print(f"{rest.stability} at {math.degrees(angle):.3f} degrees")
    print(f"period of small swings {period:.4f} s")
    result.draw(period, "equilibrium.png")
