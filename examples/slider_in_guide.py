"""A block in a guide: a turning bar presses it on one face or on diagonal corners.

Set-valued friction and Karnopp's, whose dead band makes the block creep instead of
sticking: the difference shrinks with the band.
"""

import numpy as np

from nonsmooth import gallery, simulate

PERIOD = 8.0  # s, one turn of the bar
START = -0.2955064022  # m, where the periodic motion sticks at t = 0
BANDS = (1e-2, 1e-3, 1e-4)  # m/s

model = gallery.build("slider_in_guide", position=START)
result = simulate(model, until=2 * PERIOD)

t = np.linspace(PERIOD, 2 * PERIOD, 801)
x = result.sample(t, "slider.x")["slider.x"]
errors: dict[float, float] = {}
for band in BANDS:
    creeping = gallery.build(
        "slider_in_guide", law="karnopp", dead_band=band, position=START
    )
    found = simulate(creeping, until=2 * PERIOD).sample(t, "slider.x")["slider.x"]
    errors[band] = float(np.max(np.abs(found - x)))

if __name__ == "__main__":
    print(result.events)
    side = result.sample(t, "guide.side")["guide.side"]
    for value, which in (
        (1, "flat on the lower face"),
        (2, "front lower, rear upper"),
        (-2, "rear lower, front upper"),
    ):
        print(f"{which}: {100 * np.mean(side == value):.1f} % of the time")
    for band, error in errors.items():
        print(f"dead band {band:g} m/s: the motion is off by {error:.2e} m")
    names = [
        "slider.x",
        "guide.friction_force",
        "guide.front_force",
        "guide.rear_force",
    ]
    result.plot([*names, "motor.torque"], "slider_in_guide.png")
