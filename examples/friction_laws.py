"""Seven laws of friction under one belt: which of them stick, slip, smear and creep."""

import numpy as np

from nonsmooth import gallery, simulate

LAWS = ("coulomb", "viscous", "stribeck", "karnopp", "regularised", "dahl", "lugre")
UNTIL = 3.0  # s

result = simulate(gallery.build("friction_laws"), until=UNTIL)

# How far each block has crept on the belt when the first one breaks away.
away = result.events.of("sole_coulomb").t[0]
found = result.sample(away, [f"{law}.x" for law in LAWS])
belt = result.sample(away, "belt.x")["belt.x"][0]
creep = {law: float(belt - found[f"{law}.x"][0]) for law in LAWS}

if __name__ == "__main__":
    print(f"first break-away at {away:.6f} s")
    for law, way in creep.items():
        kinds = [event.kind for event in result.events.of(f"sole_{law}")]
        print(f"{law:<12} {1e3 * way:7.3f} mm behind the belt, {len(kinds)} events")
    t = np.linspace(0.0, UNTIL, 1201)
    print("largest stretch of the spring, mm:")
    for law, x in result.sample(t, [f"{law}.x" for law in LAWS]).items():
        print(f"{law:<14} {1e3 * np.max(x):7.3f}")
    result.plot([f"{law}.x" for law in LAWS], "friction_laws.png")
