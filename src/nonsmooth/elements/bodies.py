"""Bodies: rigid bodies, point masses, moving supports and the ground.

Every body answers for named points fixed on it; `"crank"` alone means its origin
(the mass centre), `"crank.pin"` the point `pin`. Contacts refer to its shapes in the
same way, `"crank.rim"`, and take `"crank"` alone for all of them. The ground is always
there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from nonsmooth.elements.base import Named, quantity
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.shapes import Line, Point, Shape


@dataclass(frozen=True, kw_only=True)
class Tail:
    """Coordinates of a body beside those of its frame, as they start."""

    masses: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()  # size of each, in its unit
    values: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.masses)


@dataclass(frozen=True, kw_only=True)
class Body(Named, family="body"):
    """Base of all bodies.

    A kind with coordinates of its own says so by `tail`, and supplies the static
    functions `weigh(p, q, out)`, `inner(p, q, v, out)` and `place(p, s, q, v, out)`,
    see `nonsmooth.kernels.mechanics.bodies`.
    """

    # Whether contacts take its name alone in a for the line along its x axis.
    is_floor: ClassVar[bool] = False
    # Whether it has coordinates; else it is prescribed.
    has_mass: ClassVar[bool] = False
    # What the ledger calls the work of a kind with coordinates of its own.
    inner_work: ClassVar[str] = "inner"

    def marker(self, point: str) -> Point | None:
        """Return the place of a point in the body's frame, or None if unknown."""
        points: dict[str, Point] = getattr(self, "points", {})
        return (0.0, 0.0) if not point else points.get(point)

    def pieces(self, name: str, side: str) -> dict[str, Shape]:
        """Return the shapes that a contact means by a name in `a` or `b`.

        The body alone has all shapes with corners, but a floor in `a` the line along
        its x axis. Where there are none the contact means a point.
        """
        shapes: dict[str, Shape] = getattr(self, "shapes", {})
        if name:
            return {name: shapes[name]} if name in shapes else {}
        found = {own: shape for own, shape in shapes.items() if shape.corners()}
        is_line = self.is_floor and (side == "a" or not found)
        return {"": Line()} if is_line else found

    def tail(self) -> Tail:
        """Return its coordinates beside those of its frame; none for most bodies."""
        return Tail()

    def check(self) -> None:
        super().check()
        for field_name in ("points", "shapes"):
            self.check_names(field_name)
        for name in getattr(self, "shapes", {}):
            if name in getattr(self, "points", {}):
                raise self.fail("shapes", name, "a point has this name; choose another")


@dataclass(frozen=True, kw_only=True)
class RigidBody(Body):
    """A rigid body; its frame has its origin at the mass centre."""

    has_mass: ClassVar[bool] = True

    mass: float = quantity("kg", above=0.0)
    inertia: float = quantity("kg m^2, about the mass centre", above=0.0)
    position: Point = quantity("m, of the mass centre at the start", default=(0.0, 0.0))
    angle: float = quantity("rad", default=0.0)
    velocity: Point = quantity("m/s", default=(0.0, 0.0))
    angular_velocity: float = quantity("rad/s", default=0.0)
    points: dict[str, Point] = quantity("m, in the body's frame", default=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)  # in the body's frame


@dataclass(frozen=True, kw_only=True)
class PointMass(Body):
    """A mass without extent: two coordinates, no rotation, no points, no shapes."""

    has_mass: ClassVar[bool] = True

    mass: float = quantity("kg", above=0.0)
    position: Point = quantity("m", default=(0.0, 0.0))
    velocity: Point = quantity("m/s", default=(0.0, 0.0))


@dataclass(frozen=True, kw_only=True)
class MovingSupport(Body):
    """A massless body whose whole motion is prescribed; reports its drive force.

    A plain number holds that coordinate fixed. A contact may name the support alone in
    `a`: it then means the line through its origin along its x axis, the support below.
    """

    is_floor: ClassVar[bool] = True

    x: TimeLaw | float = quantity("m", default=0.0)
    y: TimeLaw | float = quantity("m", default=0.0)
    theta: TimeLaw | float = quantity("rad", default=0.0)
    points: dict[str, Point] = quantity("m, in its frame", default=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)  # in its frame


@dataclass(frozen=True, kw_only=True)
class Ground(Body):
    """The fixed frame; needed in a model only to name points and shapes on it.

    A contact may name the ground alone in `a`: it then means the line y = 0, the
    ground below.
    """

    is_floor: ClassVar[bool] = True

    name: str = "ground"
    points: dict[str, Point] = quantity("m", default=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)  # in the global frame

    def check(self) -> None:
        super().check()
        if self.name != "ground":
            raise self.fail("name", self.name, "the ground is called 'ground'")
