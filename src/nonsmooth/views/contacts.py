"""Contacts of a run: where they are, and in which mode they are when.

The solver is imported when a result is there, not before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Body, Ground
from nonsmooth.elements.shapes import Point, Shape

if TYPE_CHECKING:
    from nonsmooth.result import Result
    from nonsmooth.system import System

Pose = tuple[float, float, float]
AT_ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place where bodies may touch: a disc on one, a surface on another.

    A point is a disc of radius zero. A contact has several spots if outlines touch.
    """

    name: str  # as in columns
    contact: str  # the element
    owner: str  # body of the surface
    surface: Shape
    body: str  # of the disc
    centre: Point  # m, of the disc in its body's frame
    radius: float  # m
    has_friction: bool

    def place(self, poses: Mapping[str, Pose]) -> tuple[Point, Point]:
        """Return the point of the disc nearest to the surface, and the normal there.

        The normal leads out of the surface.
        """
        x, y, theta = poses.get(self.body, AT_ORIGIN)
        c, s = math.cos(theta), math.sin(theta)
        x, y = (
            x + c * self.centre[0] - s * self.centre[1],
            y + s * self.centre[0] + c * self.centre[1],
        )
        nx, ny = nearest(self.surface, poses.get(self.owner, AT_ORIGIN), (x, y))[1:]
        return (x - self.radius * nx, y - self.radius * ny), (nx, ny)


def nearest(surface: Shape, pose: Pose, point: Point) -> tuple[float, float, float]:
    """Return the distance of a point from a surface, and the normal there."""
    out = [0.0, 0.0, 0.0, 0.0]
    find = getattr(type(surface), surface.row_name)
    find(surface.parameters(), [*pose, 0.0, 0.0, 0.0], [*point, *4 * [0.0]], out)
    return out[0], out[1], out[2]


def spots(system: System) -> tuple[Spot, ...]:
    """Return the spots of a system, in the order of `system.contacts`."""
    m, model = system.tables, system.model
    bodies: dict[str, Body] = {"ground": Ground()}
    bodies |= {body.name: body for body in model.bodies}
    contacts = {contact.name: contact for contact in model.contacts}
    found: list[Spot] = []
    for k, name in enumerate(system.contacts):
        contact = contacts[name.partition(".")[0]]
        surface_on, disc = int(m.contact_a[k]), int(m.contact_b[k])
        owner = system.bodies[int(m.marker_body[surface_on])]
        # Outlines touch each other both ways.
        on_a = contact.a.partition(".")[0] == owner
        reference = contact.a if on_a else contact.b
        surface = bodies[owner].shape(reference.partition(".")[2])
        assert surface is not None  # it was packed
        found.append(
            Spot(
                name=name,
                contact=contact.name,
                owner=owner,
                surface=surface,
                body=system.bodies[int(m.marker_body[disc])],
                centre=(float(m.marker_x[disc]), float(m.marker_y[disc])),
                radius=float(m.contact_radius[k]),
                has_friction=bool(m.contact_row[k] >= 0),
            )
        )
    return tuple(found)


def mode_of(spot: Spot, value: float) -> str:
    """Return the name of a value of the column `mode`."""
    from nonsmooth.kernels.assemble import PRESSING
    from nonsmooth.result import OPEN_MODE, RELEASED_MODE, mode_name

    if value == OPEN_MODE:
        return "open"
    if value == RELEASED_MODE:
        return "released"
    return mode_name(PRESSING, int(value), spot.has_friction)


def arc_begins(result: Result) -> NDArray[np.int64]:
    """Return the first step of each arc: after a break of a law, or a new mode."""
    return np.flatnonzero(np.diff(result.steps.arc, prepend=-1) != 0)


@dataclass(frozen=True, kw_only=True)
class Stay:
    """An interval that a contact spends in one mode."""

    begin: float  # s
    end: float  # s
    mode: str


def stays(result: Result) -> dict[str, list[Stay]]:
    """Return the modes of each contact over time."""
    from nonsmooth.result import mode_name

    steps = result.steps
    begins = arc_begins(result)
    times = [*steps.t[begins].tolist(), result.t_end]
    found: dict[str, list[Stay]] = {}
    for k, name in enumerate(result.system.contacts):
        has_friction = bool(result.system.tables.contact_row[k] >= 0)
        own: list[Stay] = []
        for i, step in enumerate(begins):
            modes = steps.modes
            side, slip = int(modes.side[step, k]), int(modes.slip[step, k])
            mode = mode_name(side, slip, has_friction)
            begin = times[i]
            if own and own[-1].mode == mode:
                begin = own.pop().begin
            own.append(Stay(begin=begin, end=times[i + 1], mode=mode))
        found[name] = own
    return found
