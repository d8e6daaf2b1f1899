"""Bodies: rigid bodies, point masses, moving supports and the ground.

Every body answers for named points fixed on it; `"crank"` alone means its origin
(the mass centre), `"crank.pin"` the point `pin`. The ground is always there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nonsmooth.elements.base import Named, quantity
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.shapes import Shape

Point = tuple[float, float]  # m, m


@dataclass(frozen=True, kw_only=True)
class Body(Named, family="body"):
    """Base of all bodies."""

    def marker(self, point: str) -> Point | None:
        """Return the place of a point in the body's frame, or None if unknown."""
        points: dict[str, Point] = getattr(self, "points", {})
        return (0.0, 0.0) if not point else points.get(point)

    def shape(self, name: str) -> Shape | None:
        """Return a shape by name, or None."""
        shapes: dict[str, Shape] = getattr(self, "shapes", {})
        return shapes.get(name)

    def check(self) -> None:
        super().check()
        for field_name in ("points", "shapes"):
            for name in getattr(self, field_name, {}):
                if not name.isidentifier():
                    raise self.fail(field_name, name, "use letters, digits and '_'")
        for name in getattr(self, "shapes", {}):
            if name in getattr(self, "points", {}):
                raise self.fail("shapes", name, "is also the name of a point")


@dataclass(frozen=True, kw_only=True)
class RigidBody(Body):
    """A rigid body; its frame has its origin at the mass centre."""

    mass: float = quantity("kg", above=0.0)
    inertia: float = quantity("kg m^2, about the mass centre", above=0.0)
    position: Point = (0.0, 0.0)  # m, of the mass centre at the start
    angle: float = quantity("rad", default=0.0)
    velocity: Point = (0.0, 0.0)  # m/s
    angular_velocity: float = quantity("rad/s", default=0.0)
    points: dict[str, Point] = field(default_factory=dict)  # m, in the body's frame
    shapes: dict[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PointMass(Body):
    """A mass without extent: two coordinates, no rotation, no other points."""

    mass: float = quantity("kg", above=0.0)
    position: Point = (0.0, 0.0)  # m
    velocity: Point = (0.0, 0.0)  # m/s


@dataclass(frozen=True, kw_only=True)
class MovingSupport(Body):
    """A massless body whose whole motion is prescribed; reports its drive force.

    A plain number holds that coordinate fixed.
    """

    x: TimeLaw | float = 0.0  # m
    y: TimeLaw | float = 0.0  # m
    theta: TimeLaw | float = 0.0  # rad
    points: dict[str, Point] = field(default_factory=dict)  # m, in its frame
    shapes: dict[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ground(Body):
    """The fixed frame; needed in a model only to name points on it."""

    name: str = "ground"
    points: dict[str, Point] = field(default_factory=dict)  # m
    shapes: dict[str, Shape] = field(default_factory=dict)

    def check(self) -> None:
        super().check()
        if self.name != "ground":
            raise self.fail("name", self.name, "the ground is called 'ground'")
