"""Flat contacts: a stack of boxes with every normal law, its growth, and grippers.

The boxes of the gallery's `box_stack`, each law with the same stiffness under the whole
weight, at rest and on a table that is shaken by 0.1 and 0.7 g. Laws that damp nothing
after a start in contact ring on, so that steps follow the shortest vibration.
"""

from __future__ import annotations

import math

from benchmarks.blocks import growth
from benchmarks.common import Row, timed
from nonsmooth import (
    Contact,
    Coulomb,
    DampedHertz,
    Flores,
    Harmonic,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    Model,
    MovingSupport,
    Polygon,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.pack import pack

N_BOX, UNTIL, RTOL = 20, 1.0, 1e-8  # 1, s, 1
N_BOXES = (1, 2, 5, 10, 20)
FITTED = 2  # the fewest boxes that a slope is fitted to
LIFTED = 1.5  # s, of a gripper
MASS, GRAVITY = 1.0, 9.81  # kg, m/s^2
WIDTH, HEIGHT, SINK = 0.3, 0.1, 1e-4  # m
SHAKEN, PACE = (0.0, 0.1, 0.7), 20.0  # g, rad/s


def laws(weight: float) -> dict[str, NormalLaw]:
    """Return each law, under which a weight sinks in by `SINK`."""
    linear, power = weight / SINK, weight / SINK**1.5
    speed = math.sqrt(GRAVITY * SINK)
    return {
        "KelvinVoigt": KelvinVoigt(
            stiffness=linear, damping=0.4 * math.sqrt(linear * MASS)
        ),
        "Hertz": Hertz(stiffness=power),
        "DampedHertz": DampedHertz(
            stiffness=power, damping=0.3 * weight / (SINK * speed)
        ),
        "HuntCrossley": HuntCrossley(stiffness=power, damping=0.3 / speed),
        "LankaraniNikravesh": LankaraniNikravesh(stiffness=power, restitution=0.8),
        "Flores": Flores(stiffness=power, restitution=0.8),
        "Hertz, exponent 1.2": Hertz(stiffness=weight / SINK**1.2, exponent=1.2),
    }


def stack(n: int, law: NormalLaw, shaken: float) -> Model:
    """Return n boxes that carry each other, on a table shaken by a part of g."""
    x, y = 0.5 * WIDTH, 0.5 * HEIGHT
    outline = Polygon(vertices=((-x, -y), (x, -y), (x, y), (-x, y)))
    exponent = getattr(law, "exponent", 1.0)
    stiffness: float = getattr(law, "stiffness")  # noqa: B009 (not of every law)
    boxes: list[RigidBody] = []
    contacts: list[Contact] = []
    top = 0.0
    for k in range(n):
        top -= ((n - k) * MASS * GRAVITY / stiffness) ** (1.0 / exponent)
        boxes.append(
            RigidBody(
                name=f"box{k + 1}",
                mass=MASS,
                inertia=MASS * (WIDTH**2 + HEIGHT**2) / 12.0,
                position=(0.0, top + y),
                shapes={"outline": outline},
            )
        )
        contacts.append(
            Contact(
                name=f"c{k + 1}",
                a=f"box{k}" if k else "table",
                b=f"box{k + 1}",
                normal=law,
                friction=Coulomb(mu=0.4, mu_static=0.5),
            )
        )
        top += HEIGHT
    # From rest, at its end of the way.
    way = shaken * GRAVITY / PACE**2
    sway = Harmonic(
        amplitude=way, angular_frequency=PACE, phase=0.5 * math.pi, offset=-way
    )
    return Model(
        gravity=(0.0, -GRAVITY),
        bodies=(MovingSupport(name="table", x=sway), *boxes),
        contacts=contacts,
    )


def measure(what: str, model: Model, until: float, note: str) -> tuple[Row, float]:
    """Return what a run costs, and the time itself, s."""
    system = pack(model)
    # Runs of seconds: one after the first that compiles.
    one = timed(lambda: simulate(system, until, rtol=RTOL), 1)
    cost, n_event = one.result.cost, len(one.result.events)
    note += f"{cost['steps']} steps, {cost['evaluations']} right-hand sides"
    note += f", {n_event} events"
    return Row(what=what, value=one.cpu, unit="s", note=note), one.cpu


def run() -> list[Row]:
    """Measure every law, the growth with the number of boxes, and grippers."""
    rows: list[Row] = []
    weight = N_BOX * MASS * GRAVITY
    for name, law in laws(weight).items():
        for shaken in SHAKEN:
            how = f"shaken by {shaken:g} g" if shaken else "at rest"
            what = f"{N_BOX} boxes, {UNTIL:g} s, {name}, {how}"
            aim = "at most 3 s; " if not shaken else ""
            rows.append(measure(what, stack(N_BOX, law, shaken), UNTIL, aim)[0])
    for name in ("KelvinVoigt", "Hertz"):
        spent: dict[int, float] = {}
        for n in N_BOXES:
            # The same law as above: stiffness per box does not change.
            model = stack(n, laws(weight)[name], 0.1)
            row, spent[n] = measure(f"{n} boxes, {name}, 0.1 g", model, UNTIL, "")
            rows.append(row)
        rows.append(
            Row(what=f"growth with {name}: exponent of the number of boxes", unit="",
                value=growth(spent, FITTED), note=f"{FITTED} to {N_BOXES[-1]} boxes")
        )  # fmt: skip
    for pads in ("flat", "round"):
        for squeeze in (30.0, 100.0):
            model = gallery.build("gripper", pads=pads, squeeze=squeeze)
            what = f"gripper, {pads} pads, {squeeze:g} N, {LIFTED:g} s"
            rows.append(measure(what, model, LIFTED, "at most 0.3 s; ")[0])
    return rows
