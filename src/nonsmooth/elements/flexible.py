"""Flexible bodies: finite elements, reduced to modes when a model is packed.

A flexible body is plain data like any other: what its mesh is made of, not the mesh.
Named points are places on it; a patch is a set of its boundary nodes, a marker like a
point, but one that has a rotation. A kind of mesh is laid out by `nonsmooth.fem`, or
brings the method `reduce(body, loads)` that returns a `Reduced` itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nonsmooth.elements.base import quantity
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.materials import Damping, Material, find_material
from nonsmooth.elements.meshes import MeshShape, Patch
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """The n nodes of a patch that is pressed, along the boundary, the body on the left.

    G is what they give beyond the shapes, x and y of node 0, of node 1, ...
    """

    places: Any  # (n, 2), m, in the coordinates of the mesh
    shapes: Any  # (n, 2, n_mode), displacement
    weights: Any  # (n), m, length of boundary of each
    flexibility: Any  # (2 n, 2 n), m/N, G


@dataclass(frozen=True, kw_only=True)
class Site:
    """A marker of a reduced body; arrays of its n modes."""

    place: Any  # (2), m, in the coordinates of the mesh
    shape: Any  # (2, n), displacement
    turn: Any  # (n), rotation; zero for a point, which has none
    bend: Any = None  # (2, n, n), K of both directions, if it is loaded
    nodes: Nodes | None = None  # if it is pressed


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """A body as modes of unit mass: all that the equations of motion need."""

    mass: float  # kg
    inertia: float  # kg m^2, J0 about the mass centre
    centre: Any  # (2), m, in the coordinates of the mesh
    stiffness: Any  # (n), W^2
    lever: Any  # (n), b = Phi^T M s
    gyro: Any  # (n, n), C
    spin: Any  # (n, n), K_w
    pull: Any  # (2, n), integrals of the modes over the mass; zero in mean axes
    sites: dict[str, Site]  # by the names of points and patches
    notes: tuple[str, ...] = ()  # what the reduction loses


@dataclass(frozen=True, kw_only=True)
class FlexibleBody(Body):
    """A linear elastic body of finite elements that moves and turns freely.

    Its frame is in mean axes, with the mass centre as its origin; behind x, y and theta
    it has the coordinates `eta` of its modes, and of the shapes with which it answers
    to loads at its points and patches. With `fixed` boundaries its frame is at rest and
    the modes are those of the clamped body.

    `points` and `patches` are in the coordinates of the mesh. A joint or drive that
    takes hold of a rotation needs a patch.
    """

    has_mass: ClassVar[bool] = True
    inner_work: ClassVar[str] = "damping"
    weigh: ClassVar[str] = "mechanics.flexible:weigh"
    inner: ClassVar[str] = "mechanics.flexible:inner"
    place: ClassVar[str] = "mechanics.flexible:place"

    mesh: MeshShape
    material: Material | str  # or its name
    thickness: float = quantity("m", default=1.0, above=0.0)
    plane: Literal["stress", "strain"] = "stress"
    modes: int = 20  # to keep, without those for loads
    damping: Damping | None = None
    fixed: tuple[str, ...] = ()  # boundaries that do not move
    symmetric: Literal["x", "y"] | None = None  # axis of reflection: half is solved
    points: dict[str, Point] = field(default_factory=dict)  # m
    patches: dict[str, Patch] = field(default_factory=dict)
    position: Point | None = None  # m, of the mass centre; None: as the mesh lies
    angle: float = quantity("rad, about the mesh's origin or the centre", default=0.0)
    velocity: Point = (0.0, 0.0)  # m/s
    angular_velocity: float = quantity("rad/s", default=0.0)
    eta: tuple[float, ...] = ()  # m kg^1/2, at the start; zero where left out
    eta_rate: tuple[float, ...] = ()  # m kg^1/2/s
    start: Literal["given", "static"] = "given"  # as given, or at rest under loads

    def marker(self, point: str) -> Point | None:
        """Return the place of a point; that of a patch is known when it is packed."""
        if not point or point in self.patches:
            return (0.0, 0.0)
        return self.points.get(point)

    def check(self) -> None:
        super().check()
        if self.modes < 1:
            raise self.fail("modes", self.modes, "must be at least 1")
        try:
            find_material(self.material)
        except ModelError as error:
            raise ModelError(f"{self.label()}: {error}") from None
        for name in self.patches:
            if not name.isidentifier():
                raise self.fail("patches", name, "use letters, digits and '_'")
            if name in self.points:
                raise self.fail(
                    "patches", name, "a point has this name; choose another"
                )
        if self.fixed and (any(self.velocity) or self.angular_velocity):
            raise self.fail("velocity", self.velocity, "a fixed body does not move")
        if self.start == "static" and (self.eta or any(self.eta_rate)):
            raise self.fail("eta", self.eta, "start = 'static' finds the shape")
