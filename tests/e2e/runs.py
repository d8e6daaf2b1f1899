"""The runs that are looked at, and what the pages should say of them."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    Expression,
    KelvinVoigt,
    Model,
    PointForce,
    PointMass,
    Polygon,
    Result,
    RigidBody,
    SolveError,
    gallery,
    simulate,
)

# Half the spacing of float32 numbers beside a number of size one.
SINGLE = 2.0**-24


@dataclass(frozen=True, kw_only=True)
class Report:
    """A run and the page that shows it."""

    result: Result
    path: Path

    @property
    def address(self) -> str:
        return self.path.as_uri()


def failing() -> Model:
    """Return a model whose force is no number after 0.1 s."""
    law = Expression(text="sqrt(0.1 - t)")
    return Model(
        title="a force that ends",
        bodies=[RigidBody(name="block", mass=1.0, inertia=0.1)],
        forces=[PointForce(name="push", b="block", fx=law)],
    )


def stopping() -> Model:
    """Return a model that an event stops after 0.32 s."""
    return Model(
        title="a ball that is caught",
        gravity=(0.0, -9.81),
        bodies=[PointMass(name="ball", mass=1.0, position=(0.0, 1.0))],
        events=[Event(name="low", b="ball", guard="y - 0.5", action="stop")],
    )


def boxes(n: int) -> Model:
    """Return boxes that are thrown on the ground, each with two corners that touch."""
    half, high = 0.15, 0.1
    corners = ((-half, -high), (half, -high), (half, high), (-half, high))
    bodies = [
        RigidBody(
            name=f"box{k}",
            mass=1.0,
            inertia=0.01,
            position=(0.5 * k, 0.25 + 0.002 * (37 * k % 100)),
            angle=0.02 * (13 * k % 11 - 5),
            velocity=(0.5 * (7 * k % 5 - 2), 0.0),
            points={"left": corners[0], "right": corners[1]},
            shapes={"hull": Polygon(vertices=corners)},
        )
        for k in range(n)
    ]
    contacts = [
        Contact(
            name=f"{side}{k}",
            a="ground",
            b=f"box{k}.{side}",
            normal=KelvinVoigt(stiffness=2e4, damping=40.0),
            friction=Coulomb(mu=0.3, mu_static=0.35),
        )
        for k in range(n)
        for side in ("left", "right")
    ]
    title = f"{n} boxes"
    return Model(title=title, gravity=(0.0, -9.81), bodies=bodies, contacts=contacts)


def run(name: str) -> Result:
    """Return a run by name: of the gallery, or one that does not get to its end."""
    if name == "failing":
        with pytest.raises(SolveError) as failure:
            simulate(failing(), 0.3)
        assert failure.value.result is not None
        return failure.value.result
    if name == "stopping":
        return simulate(stopping(), 1.0)
    if name == "boxes":
        return simulate(boxes(100), 0.4)
    until = {"compactor": 0.5, "belt": 3.0}.get(name, gallery.duration(name))
    return simulate(gallery.build(name), until)
