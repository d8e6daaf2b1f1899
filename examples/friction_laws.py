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
        n = len(result.events.of(f"sole_{law}"))
        print(f"{law:<12} {1e3 * abs(way):7.3f} mm behind the belt, {n} events")
    t = np.linspace(0.0, UNTIL, 1201)
    late = result.sample(t)
    for law in LAWS:
        largest = 1e3 * np.max(late[f"{law}.x"])
        print(f"{law:<12} stretches its spring by up to {largest:.3f} mm")
    result.plot([f"{law}.x" for law in LAWS], "friction_laws.png")
