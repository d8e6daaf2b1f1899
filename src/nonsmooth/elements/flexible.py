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
from nonsmooth.elements.meshes import Gauge, MeshShape, Patch, Rod
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
    lost: Any = ()  # shares of static displacement not in the shapes: x, y, couple


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
    gauges: Any = None  # (n_gauge, n), strain of each by the modes
    notes: tuple[str, ...] = ()  # what the reduction loses
    mesh: Any = None  # `fem.Mesh`, for pictures; None if the body brought none
    shapes: Any = None  # (n_node, 2, n), displacement of all nodes
    n_mode: int | None = None  # the first are modes, the rest answers to loads


@dataclass(frozen=True, kw_only=True)
class FlexibleBody(Body):
    """A linear elastic body of finite elements that moves and turns freely.

    Its frame is in mean axes, with the mass centre as its origin; behind x, y and theta
    it has the coordinates `eta` of its modes, and of the shapes with which it answers
    to loads at its points and patches. With `fixed` boundaries its frame is at rest and
    the modes are those of the clamped body.

    `points`, `patches` and `gauges` are in the coordinates of the mesh. A joint or
    drive that takes hold of a rotation needs a patch.

    With `flight_modes` it has fewer modes where all patches in contact are clear, so
    far off that all shapes together could not bring them. What the others hold is lost
    then, and booked as `NAME.dropped`; they are there again at touch-down.

    With `modes` = "full" it is kept as finite elements with masses at the nodes, for
    waves: it may move and deform a little, but not turn, and the scheme is "waves".
    `plane` = "axisymmetric", of such a body, is one of revolution about the x axis of
    the mesh, which is of its half with y >= 0.
    """

    has_mass: ClassVar[bool] = True
    inner_work: ClassVar[str] = "damping"
    weigh: ClassVar[str] = "mechanics.flexible:weigh"
    inner: ClassVar[str] = "mechanics.flexible:inner"
    place: ClassVar[str] = "mechanics.flexible:place"

    mesh: MeshShape
    material: Material | str  # or its name
    thickness: float = quantity("m", default=1.0, above=0.0)
    plane: Literal["stress", "strain", "axisymmetric"] = "stress"
    modes: int | Literal["full"] = 20  # to keep, without those for loads
    flight_modes: int | Literal["all"] = "all"  # of these, while no patch is near
    # Part of the energy that a flight may drop with the modes, else the run fails.
    flight_loss: float = quantity("1", default=0.1, minimum=0.0)
    lumped: bool = False  # masses at the nodes, as "full" has them
    damping: Damping | None = None
    fixed: tuple[str, ...] = ()  # boundaries that do not move
    symmetric: Literal["x", "y"] | None = None  # axis of reflection: half is solved
    points: dict[str, Point] = quantity("m", default=dict)
    patches: dict[str, Patch] = field(default_factory=dict)
    gauges: dict[str, Gauge] = field(default_factory=dict)
    position: Point | None = quantity(
        "m, of the mass centre; None: as the mesh lies", default=None
    )
    angle: float = quantity("rad, about the mesh's origin or the centre", default=0.0)
    velocity: Point = quantity("m/s", default=(0.0, 0.0))
    angular_velocity: float = quantity("rad/s", default=0.0)
    eta: tuple[float, ...] = quantity(
        "m kg^1/2, at the start; zero where left out", default=()
    )
    eta_rate: tuple[float, ...] = quantity("m kg^1/2/s", default=())
    start: Literal["given", "static"] = "given"  # as given, or at rest under loads

    def marker(self, point: str) -> Point | None:
        """Return the place of a point; that of a patch is known when it is packed."""
        if not point or point in self.patches:
            return (0.0, 0.0)
        return self.points.get(point)

    def check(self) -> None:
        super().check()
        if self.modes != "full" and self.modes < 1:
            raise self.fail("modes", self.modes, "must be at least 1, or 'full'")
        if self.flight_modes != "all" and self.flight_modes < 1:
            valid = "must be at least 1, or 'all'"
            raise self.fail("flight_modes", self.flight_modes, valid)
        self._check_full()
        try:
            find_material(self.material)
        except ModelError as error:
            raise ModelError(f"{self.label()}: {error}") from None
        for field_name in ("patches", "gauges"):
            self.check_names(field_name)
            for name in getattr(self, field_name):
                if name in self.points:
                    raise self.fail(
                        field_name, name, "a point has this name; choose another"
                    )
        for name in self.gauges:
            if name in self.patches:
                raise self.fail("gauges", name, "a patch has this name; choose another")
        if self.fixed and (any(self.velocity) or self.angular_velocity):
            raise self.fail("velocity", self.velocity, "a fixed body does not move")
        if self.start == "static" and (self.eta or any(self.eta_rate)):
            raise self.fail("eta", self.eta, "start = 'static' finds the shape")

    def _check_full(self) -> None:
        """Refuse what only a body kept as finite elements has, or has not."""
        if self.modes != "full":
            if self.plane == "axisymmetric":
                valid = "a body of revolution is not reduced; give modes = 'full'"
                raise self.fail("plane", self.plane, valid)
            if isinstance(self.mesh, Rod):
                valid = "a rod is not reduced; give modes = 'full', or a Rectangle"
                raise self.fail("mesh", self.mesh, valid)
            return
        if self.angular_velocity:
            valid = "a body with modes = 'full' does not turn; give a number of modes"
            raise self.fail("angular_velocity", self.angular_velocity, valid)
        if self.flight_modes != "all":
            valid = "a body with modes = 'full' drops none; leave it out"
            raise self.fail("flight_modes", self.flight_modes, valid)
        if self.damping is not None:
            valid = "a body with modes = 'full' has no damping; leave it out"
            raise self.fail("damping", self.damping, valid)
        if self.eta or self.eta_rate:
            valid = "a body with modes = 'full' has no modes; leave it out"
            raise self.fail("eta", self.eta or self.eta_rate, valid)
        if self.start == "static":
            valid = "a body with modes = 'full' starts undeformed; leave it out"
            raise self.fail("start", self.start, valid)
        if isinstance(self.mesh, Rod) and self.plane != "stress":
            raise self.fail("plane", self.plane, "a rod has none; leave it out")
