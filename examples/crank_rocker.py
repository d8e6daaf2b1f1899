"""Friction in a sliding joint: the crank-rocker of Wang, Wang and Zhuang (2014).

The slider rubs on one flank of the rocker or on the other. Both one-sided values are
there where friction jumps; a rocker that is driven itself jams, and the error says so.
"""

import math

from nonsmooth import SwitchError, gallery, simulate, solvability

DAMPING, SPEED = 8.0, 3.0  # N m s/rad of the rocker, rad/s of the crank
TURN = 2 * math.pi / SPEED

model = gallery.build("crank_rocker", damping=DAMPING, speed=SPEED)
result = simulate(model, until=TURN)

# At half a turn the slider reverses: friction jumps, the torque does not. Ours is
# counter-clockwise, the paper's clockwise.
NAMES = ["slider.normal_force", "slider.friction_force", "motor.torque"]
reverse = next(event for event in result.events if event.kind == "reverse")
half_turn: dict[str, list[float]] = {}
for side in ("before", "after"):
    found = result.sample(reverse.t, NAMES, side)
    half_turn[side] = [float(found[name][0]) for name in NAMES]
work = result.energy_balance.work["slider.friction"][-1]

# A torque on the crank instead of a given speed: how much friction until forces are
# no longer unique?
free = gallery.build("crank_rocker", driven="torque", angle=math.radians(138.34))
critical = 0.2 * solvability(free).critical_factor


def jam() -> SwitchError | None:
    """Drive the rocker instead of the crank, towards the dead centre."""
    try:
        simulate(gallery.build("crank_rocker", driven="rocker"), until=1.0)
    except SwitchError as error:
        return error
    return None


if __name__ == "__main__":
    print(result.events)
    for side, values in half_turn.items():
        print(f"{side} {reverse.t:.6f} s:", dict(zip(NAMES, values, strict=True)))
    print(f"friction took {-work:.9f} J in a turn; critical mu {critical:.5f}")
    print(jam())
    result.plot([*NAMES, "slider.side"], "crank_rocker.png")
