"""A motor runs up a slider-crank; torque and reactions are part of the result."""

import math

from nonsmooth import (
    Model,
    PointForce,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    simulate,
)

CRANK, ROD = 0.1, 0.3  # m
SPEED = 4 * math.pi  # rad/s, after the run-up
RUN_UP = 0.5  # s
LOAD = -20.0  # N, on the slider

crank = RigidBody(
    name="crank",
    mass=1.0,
    inertia=CRANK**2 / 12,
    position=(CRANK / 2, 0),
    points={"O": (-CRANK / 2, 0), "A": (CRANK / 2, 0)},
)
rod = RigidBody(
    name="rod",
    mass=1.0,
    inertia=ROD**2 / 12,
    position=(CRANK + ROD / 2, 0),
    points={"A": (-ROD / 2, 0), "B": (ROD / 2, 0)},
)
slider = RigidBody(name="slider", mass=1.0, inertia=1e-3, position=(CRANK + ROD, 0))

model = Model(
    title="slider-crank",
    gravity=(0, -9.81),
    bodies=(crank, rod, slider),
    joints=(
        Revolute(name="bearing", b="crank.O"),
        Revolute(name="crank_pin", a="crank.A", b="rod.A"),
        Revolute(name="wrist_pin", a="rod.B", b="slider"),
        Prismatic(name="guide", b="slider"),
    ),
    drives=(
        RotationDrive(name="motor", b="crank", law=Ramp(rate=SPEED, duration=RUN_UP)),
    ),
    forces=(PointForce(name="load", b="slider", fx=LOAD),),
)
result = simulate(model, until=1.5)

if __name__ == "__main__":
    # The torque jumps where the run-up ends: both one-sided values are there.
    print(result.sample(RUN_UP, "motor.torque", limit="before")["motor.torque"])
    print(result.sample(RUN_UP, "motor.torque")["motor.torque"])
    result.plot(["slider.x", "motor.torque", "guide.force_y"], "slider_crank.png")
