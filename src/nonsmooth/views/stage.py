"""A mechanism and its motion at some instants, as every picture looks it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Element, Named
from nonsmooth.elements.bodies import Body, Ground, MovingSupport, RigidBody
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import Force, SpringDamper
from nonsmooth.elements.joints import Joint, PinInSlot, Prismatic
from nonsmooth.pack.blocks import joint_faces
from nonsmooth.views import contacts, drawing
from nonsmooth.views.figure import PALETTE
from nonsmooth.views.meshes import Skin, eta_of
from nonsmooth.views.places import places, to_global, to_local

if TYPE_CHECKING:
    from nonsmooth.pack import Spot, System

Floats = NDArray[np.float64]
E = TypeVar("E", bound=Element)
P = TypeVar("P")  # what is drawn on
R = TypeVar("R")  # what a function of an element returns

POSE = ("x", "y", "theta")
# Instants, all over a run, that tell how far an elastic body reaches: its outline.
FRAMES = 1000


class Looks(Generic[P, R]):
    """Functions that draw elements, each registered for a kind or a whole family.

    An element is looked up by its class, then by its base classes, so that a kind of
    the user's own is drawn like its family.
    """

    def __init__(self) -> None:
        self.kinds: dict[type[Element], Callable[[P, Any], R]] = {}

    def __call__(
        self, kind: type[E]
    ) -> Callable[[Callable[[P, E], R]], Callable[[P, E], R]]:
        """Register the function of a kind."""

        def register(function: Callable[[P, E], R]) -> Callable[[P, E], R]:
            self.kinds[kind] = function
            return function

        return register

    def draw(self, on: P, element: Element) -> R | None:
        """Draw an element, if its kind or family can be drawn."""
        for kind in type(element).__mro__:
            if kind in self.kinds:
                return self.kinds[kind](on, element)
        return None


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A mechanism and its motion at the instants of a picture, or of a film."""

    system: System
    values: Mapping[str, Floats]  # columns at the instants
    n: int  # instants
    unit: float = 0.0  # m, length of a symbol
    owner: str = ""  # body whose shape is being drawn
    skins: Mapping[str, Skin] = field(default_factory=dict[str, "Skin"])
    scale: float = 1.0  # by which deformation is enlarged
    # Poses of markers, which a sketch asks for again at every instant.
    known: dict[str, Floats] = field(default_factory=dict[str, "Floats"], repr=False)

    @cached_property
    def elements(self) -> tuple[Named, ...]:
        """All elements, the ground first, then other bodies."""
        ground = self.body("ground")
        others = (
            self.body(e.name) if isinstance(e, Body) else e
            for e in self.system.model.elements()
            if e.name != "ground"
        )
        return (ground, *others)

    @cached_property
    def bodies(self) -> dict[str, Body]:
        """Bodies of the model by name; a flexible one as it is undeformed."""
        return {
            body.name: _undeformed(self.system, body)
            if isinstance(body, FlexibleBody)
            else body
            for body in self.system.model.bodies
        }

    @cached_property
    def flexible(self) -> set[str]:
        """Flexible bodies, whose points do not move with their frame."""
        return {*self.system.flexible}

    @cached_property
    def poses(self) -> dict[str, Floats]:
        """Places and angles of the frames of all bodies but the ground, (n, 3) each."""
        return {
            name: np.tile(self.held[name], (self.n, 1))
            if name in self.held
            else np.column_stack([self.values[f"{name}.{c}"] for c in POSE])
            for name in self.system.bodies
            if name != "ground"
        }

    @cached_property
    def held(self) -> dict[str, Floats]:
        """Frames of flexible bodies that stay: their mass centres move, too."""
        found: dict[str, Floats] = {}
        for body in self.system.model.bodies:
            if not isinstance(body, FlexibleBody):
                continue
            if body.fixed or body.modes == "full":
                first = self.system.coordinates(body.name).start
                found[body.name] = np.array(self.system.start[first : first + 3, 0])
        return found

    def eta(self, name: str) -> Floats:
        """Return the coordinates of the modes of a flexible body, (n, n_mode)."""
        n = self.skins[name].shapes.shape[2]
        # Of a run that failed at once nothing is known.
        return np.nan_to_num(eta_of(self.values, name, n))

    def mesh(self, name: str) -> Floats:
        """Return the nodes of a body's mesh in its frame, (n, n_node, 2)."""
        return self.skins[name].moved(self.eta(name), self.scale)

    def pressed(self, joint: Prismatic) -> tuple[Floats, Floats, Floats]:
        """Return forces of a block's m nodes, (n, m), their places and sides, (m)."""
        faces = joint_faces(joint)
        name, m = self.body(joint.b).name, len(faces.places)
        forces = np.zeros((self.n, m))
        if name in self.skins:
            forces = self.eta(name)[:, :m]
        return forces, faces.places, faces.sides

    @cached_property
    def colours(self) -> dict[str, str]:
        """Colours of the bodies with mass; black is for outlines."""
        moving = self.system.bodies[: self.system.n_moving]
        return {n: PALETTE[k % (len(PALETTE) - 1)] for k, n in enumerate(moving)}

    @cached_property
    def blocks(self) -> set[str]:
        """Bodies that are drawn as the block of a guide."""
        joints = self.system.model.joints
        return {self.body(j.b).name for j in joints if isinstance(j, Prismatic)}

    @cached_property
    def floors(self) -> set[str]:
        """Bodies of which a contact means the line along their x axis."""
        names = {contact.a for contact in self.system.model.contacts}
        return {name for name in names if self.is_held(name)}

    @cached_property
    def can_stick(self) -> dict[str, bool]:
        """Whether the law of a contact, or of a joint with friction, knows stick."""
        return contacts.can_stick(self.system)

    def body(self, reference: str) -> Body:
        """Return the body of "body" or "body.point"."""
        return self.bodies.get(reference.partition(".")[0]) or Ground()

    def is_ground(self, reference: str) -> bool:
        """Return whether a marker is on the fixed frame."""
        return isinstance(self.body(reference), Ground)

    def is_held(self, reference: str) -> bool:
        """Return whether a marker is on the ground or on a support."""
        return isinstance(self.body(reference), Ground | MovingSupport)

    def point(self, reference: str) -> tuple[float, float]:
        """Return the place of "body" or "body.point" in the body's frame, m.

        Of "body.shape", as contacts name them, the middle of the shape.
        """
        _, _, name = reference.partition(".")
        body: Any = self.body(reference)
        if name in getattr(body, "points", {}):
            return tuple(body.points[name])
        shape = getattr(body, "shapes", {}).get(name)
        if vertices := getattr(shape, "vertices", ()):
            x, y = np.mean(vertices, axis=0).tolist()
            return x, y
        place: Any = getattr(shape, "center", getattr(shape, "point", (0.0, 0.0)))
        return place[0], place[1]

    def frame(self, reference: str) -> Floats:
        """Return x, y and theta of the body of a marker, (n, 3)."""
        return self.poses.get(reference.partition(".")[0], np.zeros((self.n, 3)))

    def pose(self, reference: str) -> Floats:
        """Return x, y and theta of "body" or "body.point", (n, 3)."""
        if reference not in self.known:
            body = self.frame(reference)
            place = to_global(body, np.array(self.point(reference)))
            if f"{reference}.x" in self.values and reference not in self.poses:
                place = self._deformed(reference, place)
            self.known[reference] = np.column_stack([place, body[:, 2]])
        return self.known[reference]

    def _deformed(self, reference: str, place: Floats) -> Floats:
        """Return where a point is, from where it is without deformation."""
        if reference.partition(".")[0] not in self.flexible:
            return place
        moved = np.column_stack([self.values[f"{reference}.{c}"] for c in "xy"])
        return place + self.scale * np.nan_to_num(moved - place)

    def travel(self, joint: PinInSlot | Prismatic) -> tuple[float, float]:
        """Return how far b lies along a line fixed in a, least and most."""
        a, b = self.pose(joint.a), self.pose(joint.b)
        phi = a[:, 2] + joint.axis
        along = np.cos(phi) * (b[:, 0] - a[:, 0]) + np.sin(phi) * (b[:, 1] - a[:, 1])
        return extremes(along)

    def normal(self, joint: PinInSlot | Prismatic) -> Floats:
        """Return the normal of a slot or guide, (n, 2)."""
        phi = self.pose(joint.a)[:, 2] + joint.axis
        return np.column_stack([-np.sin(phi), np.cos(phi)])

    def block(self, joint: Prismatic, unit: float) -> Floats:
        """Return the corners of a block, which turns with b, (n, 4, 2)."""
        own = drawing.block_corners(joint, unit) + np.array(self.point(joint.b))
        return to_global(self.frame(joint.b)[:, None, :], own)

    def shows_block(self, joint: Prismatic) -> bool:
        """Return whether a shape of b's body shows the block."""
        if joint.block is not None and self.body(joint.b).name in self.skins:
            return True
        corners = drawing.block_corners(joint, self.unit) + self.point(joint.b)
        return drawing.is_outlined(self.body(joint.b), corners, self.unit)

    def pivot(self, element: Joint | Force) -> str:
        """Return where a rotation between a and b is best shown: at their joint."""
        pair = {self.body(element.a).name, self.body(element.b).name}
        for joint in self.system.model.joints:
            if {self.body(joint.a).name, self.body(joint.b).name} == pair:
                return joint.b
        return element.b

    def touching(self, spot: Spot) -> tuple[Floats, Floats]:
        """Return where a disc is nearest to its surface, and the normal, (n, 2).

        Of outlines, where their force acts, or where they are nearest.
        """
        contact: Any = self.system.model.element(spot.element, "b")
        if spot.is_flat:
            point, normal = (
                np.column_stack([self.values[f"{spot.name}.{what}_{c}"] for c in "xy"])
                for what in ("point", "normal")
            )
            if spot.body in self.skins and self.scale != 1.0:
                # With the middle of its patch.
                true = replace(self, scale=1.0, known={})
                ends = self.pose(contact.b), true.pose(contact.b)
                point = point + (ends[0] - ends[1])[:, :2]
            return point, normal
        point, normal = places(spot, self.poses, self.n)
        if spot.body in self.flexible:
            point = self.pose(contact.b)[:, :2] - spot.radius * normal
        return point, normal

    def touched(self, spot: Spot) -> Floats:
        """Return where a surface is touched, in the frame of its body, (n, 2)."""
        return to_local(self.frame(spot.owner), self.touching(spot)[0])


def _undeformed(system: System, body: FlexibleBody) -> RigidBody:
    """Return a flexible body as a rigid one that moves with its frame."""
    m = system.tables
    points: dict[str, tuple[float, float]] = {}
    for name in (*body.points, *body.patches):
        k = system.markers[f"{body.name}.{name}"]
        points[name] = (float(m.marker_x[k]), float(m.marker_y[k]))
    first = system.coordinates(body.name).start
    mass, inertia = float(m.mass[first]), float(m.mass[first + 2])
    return RigidBody(name=body.name, mass=mass, inertia=inertia, points=points)


def extremes(values: Floats) -> tuple[float, float]:
    """Return least and most of what is finite."""
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def reach(stage: Stage, has_bare: bool) -> tuple[Floats, list[float]]:
    """Return places that a picture has to show, (n, 2), and the sizes of bodies, m.

    Supports without points or shapes count only where they are drawn.
    """
    found: list[Floats] = []
    sizes: list[float] = []
    for element in stage.elements:
        if isinstance(element, Body) and element.name in stage.poses:
            is_support = isinstance(element, MovingSupport)
            if is_support and not (has_bare or element.points or element.shapes):
                continue
            own, poses = drawing.reach_of(element), stage.poses[element.name]
            if element.name in stage.skins:
                some = np.linspace(0, stage.n - 1, min(stage.n, FRAMES)).astype(int)
                eta, poses = stage.eta(element.name)[some], poses[some]
                own = stage.skins[element.name].outline(eta, stage.scale)
            all_places = to_global(poses[:, None, :], own)
            found.append(all_places.reshape(-1, 2))
            sizes.append(float(np.ptp(all_places[-1], axis=0).max()))
        elif isinstance(element, Joint) and not isinstance(element, Drive):
            sides = [s for s in (element.a, element.b) if stage.is_ground(s)]
            found += [stage.pose(side)[:1, :2] for side in sides]
            if isinstance(element, Prismatic) and element.length is not None:
                # Its own size, not that of a symbol.
                found.append(stage.block(element, unit=0.0).reshape(-1, 2))
        elif isinstance(element, Ground):
            found += [drawing.corners_of(s) for s in drawing.shapes_of(element)]
        elif isinstance(element, SpringDamper):
            found += [stage.pose(side)[:, :2] for side in (element.a, element.b)]
    if not any(len(part) for part in found):
        found += [pose[:, :2] for pose in stage.poses.values()]
    seen = np.concatenate([*found, np.zeros((0, 2))])
    seen = seen[np.all(np.isfinite(seen), axis=1)]
    known = [size for size in sizes if size > 0.0 and np.isfinite(size)]
    return (seen if len(seen) else np.zeros((1, 2))), known
