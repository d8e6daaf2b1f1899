"""Where contacts press, and joints with friction, at the instants of a stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.joints import PinInSlot, Prismatic, Revolute
from nonsmooth.views import drawing
from nonsmooth.views.stage import Stage

if TYPE_CHECKING:
    from nonsmooth.pack import Spot

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Bearing:
    """A place where something presses on b, or on the body of a disc."""

    name: str  # of the contact or joint; of a block with its end
    element: str
    owner: str  # contact or joint that has the mode
    force: str  # column of the normal force
    place: Floats  # (n, 2) m
    normal: Floats  # (n, 2)
    friction: Floats  # (n) N
    spot: Spot | None = None  # of a contact
    along: str = ""  # column of the friction, if it is not that of its name

    @property
    def rub(self) -> str:
        """Column of the friction, along the normal turned by -90 degrees."""
        return self.along or f"{self.name}.friction_force"


def bearings(stage: Stage) -> Iterator[Bearing]:
    """Yield all of them: of contacts first, then of joints."""
    for spot in stage.system.spots:
        yield _single(stage, spot.name, stage.touching(spot), spot)
    for name in stage.system.slides:
        joint = stage.system.model.element(name)
        if isinstance(joint, Revolute):
            yield _single(stage, name, _rim(stage, joint))
        elif isinstance(joint, PinInSlot):
            yield _single(stage, name, _flank(stage, joint))
        elif isinstance(joint, Prismatic) and joint.block is not None:
            yield from _areas(stage, joint)
        elif isinstance(joint, Prismatic):
            yield from _ends(stage, joint)


def _single(
    stage: Stage, name: str, where: tuple[Floats, Floats], spot: Spot | None = None
) -> Bearing:
    return Bearing(
        name=name,
        element=spot.element if spot else name,
        owner=name,
        force=f"{name}.normal_force",
        place=where[0],
        normal=where[1],
        friction=stage.values[f"{name}.friction_force"],
        spot=spot,
    )


def _rim(stage: Stage, joint: Revolute) -> tuple[Floats, Floats]:
    """Return where a pin presses: at its rim, against its force."""
    radius = max(joint.radius or 0.0, drawing.PIN * stage.unit)
    force = np.column_stack([stage.values[f"{joint.name}.force_{c}"] for c in "xy"])
    size = np.hypot(force[:, 0], force[:, 1])[:, None]
    up = np.broadcast_to(np.array([0.0, 1.0]), force.shape)
    normal = np.divide(force, size, out=np.array(up), where=size > 0.0)
    return stage.pose(joint.b)[:, :2] - radius * normal, normal


def _flank(stage: Stage, joint: PinInSlot) -> tuple[Floats, Floats]:
    normal = stage.normal(joint)
    # lam > 0 pushes along n: the slider rests on the flank below.
    side = np.sign(stage.values[f"{joint.name}.normal_force"])[:, None]
    high = drawing.SLIDER[1] * stage.unit
    return stage.pose(joint.b)[:, :2] - side * high * normal, normal


def _areas(stage: Stage, joint: Prismatic) -> Iterator[Bearing]:
    """Yield the four areas of an elastic block, each where its nodes press on average.

    At the corner of one that is open.
    """
    name, values, up = joint.name, stage.values, stage.normal(joint)
    along = np.column_stack([up[:, 1], -up[:, 0]])
    half, high = drawing.block_size(joint, stage.unit)
    high += 0.5 * stage.scale * (joint.clearance or 0.0)
    forces, x, sides = stage.pressed(joint)
    middle = stage.pose(joint.b)[:, :2]
    for area, side, end in (
        ("top_left", -1.0, -1.0),
        ("top_right", -1.0, 1.0),
        ("bottom_left", 1.0, -1.0),
        ("bottom_right", 1.0, 1.0),
    ):
        own = forces * ((end * x >= 0.0) & (sides == side))
        total = np.sum(own, axis=1)
        far = np.full(stage.n, end * half)
        far = np.divide(own @ x, total, out=far, where=total > 0.0)
        yield Bearing(
            name=f"{name}.{area}",
            element=name,
            owner=f"{name}.{area}",
            force=f"{name}.{area}.normal_force",
            place=middle + far[:, None] * along - side * high * up,
            normal=side * up,
            friction=side * values[f"{name}.{area}.friction_force"],
            along="" if side > 0.0 else f"{name}.{area}.turned_friction",
        )


def _ends(stage: Stage, joint: Prismatic) -> Iterator[Bearing]:
    """Yield the ends of a block; they share its friction."""
    name, values, normal = joint.name, stage.values, stage.normal(joint)
    along = np.column_stack([normal[:, 1], -normal[:, 0]])
    half, high = drawing.block_size(joint, stage.unit)
    front, rear = (values[f"{name}.{end}_force"] for end in ("front", "rear"))
    load = np.abs(front) + np.abs(rear)
    # Both ends have the same coefficient; without a load there is drag alone.
    share = np.full(stage.n, 0.5)
    share = np.divide(np.abs(front), load, out=share, where=load > 0.0)
    for end, sign, force, part in (
        ("front", 1.0, front, share),
        ("rear", -1.0, rear, 1.0 - share),
    ):
        side = np.where(force < 0.0, -1.0, 1.0)[:, None]
        place = stage.pose(joint.b)[:, :2] + sign * half * along
        yield Bearing(
            name=f"{name}.{end}",
            element=name,
            owner=name,
            force=f"{name}.{end}_force",
            place=place - side * high * normal,
            normal=normal,
            friction=part * values[f"{name}.friction_force"],
        )
