"""A feeder: the tray moves gently forward and jerks back, and the part walks.

Where the tray asks for more than friction can hold, the part breaks away; it sticks
again where both have the same velocity. All instants are located, and listed.
"""

import numpy as np

from nonsmooth import (
    Contact,
    Coulomb,
    Expression,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointMass,
    simulate,
)

MASS, GRAVITY = 0.5, 9.81  # kg, m/s^2
MU, MU_STATIC = 0.3, 0.4
AMPLITUDE, FREQUENCY = 0.012, 20.0  # m, rad/s
STIFFNESS = 2e5  # N/m, of the part on the tray

# The part starts at rest on the tray: as deep as its weight asks, and as fast.
depth = MASS * GRAVITY / STIFFNESS
speed = AMPLITUDE * FREQUENCY * (1 - 2 * 0.35)

model = Model(
    title="vibratory feeder",
    gravity=(0, -GRAVITY),
    bodies=(
        MovingSupport(
            name="tray",
            x=Expression(
                text=f"{AMPLITUDE}*(sin({FREQUENCY}*t) - 0.35*sin(2*{FREQUENCY}*t))"
            ),
        ),
        PointMass(name="part", mass=MASS, position=(0, -depth), velocity=(speed, 0)),
    ),
    contacts=(
        Contact(
            name="sole",
            a="tray",
            b="part",
            normal=KelvinVoigt(stiffness=STIFFNESS),
            friction=Coulomb(mu=MU, mu_static=MU_STATIC),
        ),
    ),
)
result = simulate(model, until=3.0)

if __name__ == "__main__":
    print(result.events[:6])
    t = np.linspace(1.0, 3.0, 401)
    walk = np.polyfit(t, result.sample(t)["part.x"], 1)[0]
    print(f"the part walks at {1e3 * walk:.2f} mm/s, mean over 1 to 3 s")
    result.plot(["part.vx", "tray.vx", "sole.friction_force"], "feeder.png")
