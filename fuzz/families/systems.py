"""The gallery's systems of shapes, with parameters over their whole ranges."""

from __future__ import annotations

from fuzz.families.common import Case, G, Rng, pick, uniform
from nonsmooth import gallery


def systems(rng: Rng) -> Case:
    """Return a gripper, a stack, a latch or a ratchet of the gallery."""
    name = pick(rng, ("gripper", "box_stack", "latch", "ratchet"))
    if name == "gripper":
        mu0 = uniform(rng, 0.1, 1.0)
        model = gallery.gripper(
            pads=pick(rng, ("flat", "round")),
            mu0=mu0,
            mu=mu0 * uniform(rng, 0.1, 1.0),
            squeeze=uniform(rng, 5.0, 60.0),
            lift=uniform(rng, 0.0, 0.5),
            m=uniform(rng, 0.2, 2.0),
        )
        return Case(model=model, until=1.5, traits=(name,))
    if name == "box_stack":
        frequency, mu0 = uniform(rng, 4.0, 20.0), uniform(rng, 0.1, 1.0)
        model = gallery.box_stack(
            n=int(rng.integers(1, 21)),
            amplitude=uniform(rng, 0.02, 0.7) * G / frequency**2,
            frequency=frequency,
            mu0=mu0,
            mu=mu0 * uniform(rng, 0.1, 1.0),
        )
        return Case(model=model, until=1.0, traits=(name,))
    if name == "latch":
        model = gallery.latch(
            mu=uniform(rng, 0.05, 1.0),
            pull=uniform(rng, 80.0, 300.0),
            preload=uniform(rng, 5.0, 15.0),
        )
        return Case(model=model, until=2.2, traits=(name,))
    model = gallery.ratchet(
        torque=uniform(rng, -2.0, 2.0),
        mu=uniform(rng, 0.05, 0.8),
        spring=uniform(rng, 0.1, 0.5),
    )
    return Case(model=model, until=2.0, traits=(name,))
