"""A double pendulum whose elastic lower rod strikes the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypedDict

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.joints import Joint, Revolute, Weld
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import (
    Bar,
    MeshShape,
    Outline,
    Patch,
    Rectangle,
    Refinement,
)
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Line, Point
from nonsmooth.errors import ModelError, show
from nonsmooth.gallery._checks import at_least, coulomb, count, positive
from nonsmooth.model import Model

UNTIL = 7e-4  # s
RANGES = {
    "gravity": (0.0, 25.0),
    "modes": (20, 150),
    "flight_modes": (5, 80),
    "pieces": (1, 8),
    "mu0": (0.6, 1.0),
    "mu": (0.0, 0.6),
    "length": (0.2, 1.0),
    "depth": (5e-3, 0.02),
    "contact_size": (1e-5, 1e-4),
    "youngs_modulus": (50e9, 400e9),
    "poissons_ratio": (0.0, 0.45),
    "density": (1000.0, 20000.0),
}

# The upper rod: m, kg, kg m^2 about its middle.
_ARM, _MASS, _INERTIA = 0.5, 5.0, 0.15
# At contact: angles from +x, rad, and rates, rad/s.
_ANGLES, _RATES = (4.0 * math.pi / 3.0, 5.0 * math.pi / 4.0), (3.0, 10.0)
# s, from release to contact, and steps in which it is gone back through.
_FLIGHT, _STEPS = 0.095, 400
# Half of the patch over the radius of the tip: 2.5 half-widths of the largest contact,
# 0.18 mm on 5 mm, and how far it rolls.
_REACH = 0.12
# Longest side of an element over the depth of the rod, away from the tip.
_COARSE = 0.35
# The same in the head, over its radius.
_HEAD = 0.15
# Arcs of a larger radius, over the depth, end inside the patch.
_LARGEST = 0.63
_ROUND_OFF = 1e-9


def flexible_double_pendulum(
    *,
    start: Literal["release", "contact"] = "contact",
    gravity: float = 9.81,
    modes: int = 80,
    flight_modes: int | Literal["all"] = 20,
    pieces: int = 1,
    length: float = 0.5,
    depth: float = 0.01,
    tip_radius: float | None = None,
    mu0: float = 0.7,
    mu: float = 0.6,
    elbow: Literal["node", "face"] = "node",
    contact_size: float = 5e-5,
    youngs_modulus: float = 200e9,
    poissons_ratio: float = 0.3,
    density: float = 8000.0,
) -> Model:
    """Let the elastic lower rod of a double pendulum strike the ground.

    The rigid rod `b1`, 0.5 m, 5 kg, hangs on the frame at the origin by `hinge`; the
    elastic rod `b2` hangs on its other end by `elbow`, is as thick as it is deep, in
    plane stress, and has a round tip. At contact the rods are at 4 pi/3 and 5 pi/4
    from +x and turn by 3 and 10 rad/s; the ground is the line below the tip then.

    With `start` = "release" the rods begin 95 ms earlier, undeformed, where the same
    pendulum of rigid rods would have been.

    Cut into `pieces` that are welded at their faces, the rod may bend more than one
    frame follows: `b2` is the last piece, with the tip, those before are `b2_1`,
    `b2_2`, ...; each has its share of the modes.

    Bodies `b1`, `b2` with its patch `tip`; joints `hinge`, `elbow`; contact `contact`.

    Parameters
    ----------
    start : str
        Begin at contact, or at rest of the elastic rod before it.
    gravity : float
        Acceleration of gravity, along -y, m/s^2.
    modes : int
        Modes of b2.
    flight_modes : int or str
        Modes of b2 in flight, "all" for `modes`; what the others hold is lost there.
    pieces : int
        Pieces that b2 is cut into.
    length : float
        Length of b2, with its tip, m.
    depth : float
        Depth and thickness of b2, m.
    tip_radius : float, optional
        Radius of the tip, m; set by `depth`, half of it.
    mu0 : float
        Coefficient of friction of nodes that stick, 1.
    mu : float
        Coefficient of friction of nodes that slip, 1.
    elbow : str
        What of b2's end the elbow holds: its middle node, whose compliance depends on
        the mesh, or the mean of its face.
    contact_size : float
        Longest side of an element where the tip touches, m.
    youngs_modulus : float
        Young's modulus of b2, Pa.
    poissons_ratio : float
        Poisson's ratio of b2, 1.
    density : float
        Density of b2, kg/m^3.

    References
    ----------
    [HongLiu2012]_ section 3, whose length, thickness and tip are not given.
    """
    system = "flexible_double_pendulum"
    count(system, modes=modes, pieces=pieces)
    positive(system, length=length, depth=depth, contact_size=contact_size)
    positive(system, youngs_modulus=youngs_modulus, density=density)
    at_least(system, 0.0, gravity=gravity)
    rub = coulomb(system, mu, mu0)
    radius = 0.5 * depth if tip_radius is None else tip_radius
    if not 0.5 * depth <= radius <= (_LARGEST + _ROUND_OFF) * depth:
        raise ModelError(
            f"{system}: tip_radius = {show(radius)}; give {0.5 * depth:g} to "
            f"{_LARGEST * depth:g} m, half the depth to {_LARGEST:g} of it"
        )
    least = 2.0 * depth * pieces
    if not length > least:
        raise ModelError(
            f"{system}: length = {show(length)}; give more than {least:g} m, twice the "
            "depth for each piece"
        )
    rod = _Rod(length, depth, radius)
    angles, rates = _ANGLES, _RATES
    ground = _ARM * math.sin(angles[0]) + rod.lowest(angles[1])
    if start == "release":
        angles, rates = rod.released(gravity, density * depth)
    material = Material(
        youngs_modulus=youngs_modulus, poissons_ratio=poissons_ratio, density=density
    )
    few: int | Literal["all"] = flight_modes
    if few != "all":
        count(system, flight_modes=few)
        few = few if few < modes else "all"
    size = _COARSE * depth
    bodies: list[FlexibleBody] = []
    joints: list[Joint] = []
    for k in range(pieces):
        name = "b2" if k == pieces - 1 else f"b2_{k + 1}"
        mesh = rod.mesh(k, pieces, size, contact_size)
        patches: dict[str, Patch] = {}
        if k > 0:
            patches["left"] = Patch(boundary=rod.face(mesh))
        if k < pieces - 1:
            patches["right"] = Patch(boundary="right")
        else:
            patches["tip"] = Patch(
                boundary="head", center=rod.touching, radius=_REACH * radius
            )
        points: dict[str, Point] = {}
        if k == 0 and elbow == "node":
            points = {"elbow": (0.0, 0.0)}
        elif k == 0:
            patches["elbow"] = Patch(boundary=rod.face(mesh))
        bodies.append(
            FlexibleBody(
                name=name,
                mesh=mesh,
                material=material,
                thickness=depth,
                modes=-(-modes // pieces),
                flight_modes="all" if few == "all" else -(-few // pieces),
                points=points,
                patches=patches,
                **rod.motion(rod.centre(k, pieces), angles, rates),
            )
        )
        if k > 0:
            before = f"b2_{k}.right"
            joints.append(Weld(name=f"weld_{k}", a=before, b=f"{name}.left"))
    c, s = math.cos(angles[0]), math.sin(angles[0])
    half = 0.5 * _ARM
    upper = RigidBody(
        name="b1",
        mass=_MASS,
        inertia=_INERTIA,
        position=(half * c, half * s),
        angle=angles[0],
        velocity=(-rates[0] * half * s, rates[0] * half * c),
        angular_velocity=rates[0],
        points={"hinge": (-half, 0.0), "elbow": (half, 0.0)},
    )
    return Model(
        title="flexible double pendulum that strikes the ground",
        gravity=(0.0, -gravity),
        bodies=(
            Ground(shapes={"floor": Line(point=(0.0, ground))}),
            upper,
            *bodies,
        ),
        joints=(
            Revolute(name="hinge", a="ground", b="b1.hinge"),
            Revolute(name="elbow", a="b1.elbow", b=f"{bodies[0].name}.elbow"),
            *joints,
        ),
        contacts=(
            Contact(
                name="contact",
                a="ground.floor",
                b="b2.tip",
                normal=Unilateral(),
                friction=rub,
            ),
        ),
    )


Pair = tuple[float, float]


class _Motion(TypedDict):
    """How a piece of the rod starts."""

    position: Pair
    angle: float
    velocity: Pair
    angular_velocity: float


@dataclass(frozen=True)
class _Rod:
    """A rod along x from the origin, with a round tip."""

    length: float  # m, with its tip
    depth: float
    radius: float  # of the tip

    @property
    def _half_angle(self) -> float:
        """Half of the arc of the tip."""
        return math.asin(min(1.0, 0.5 * self.depth / self.radius))

    @property
    def _straight(self) -> float:
        """Length of the rod without its tip."""
        return self.length - self.radius * (1.0 - math.cos(self._half_angle))

    @property
    def touching(self) -> Pair:
        """Place on the tip that is lowest at contact."""
        below = -0.5 * math.pi - _ANGLES[1]
        x = self.length - self.radius + self.radius * math.cos(below)
        return (x, self.radius * math.sin(below))

    def lowest(self, angle: float) -> float:
        """Return how high the lowest place of the tip is above the elbow."""
        return (self.length - self.radius) * math.sin(angle) - self.radius

    def mesh(self, k: int, pieces: int, size: float, fine: float) -> MeshShape:
        """Return the mesh of piece k."""
        x, step, depth = self.length * k / pieces, self.length / pieces, self.depth
        if k < pieces - 1:
            middle = (x + 0.5 * step, 0.0)
            return Rectangle(width=step, height=depth, center=middle, size=size)
        r = self.radius
        refine = {
            "tip": Refinement(point=self.touching, size=fine, radius=_REACH * r),
            # Arcs of the mesh bulge as circles do, and its mass centre is ours.
            "head": Refinement(point=(self.length - r, 0.0), size=_HEAD * r, radius=r),
        }
        if self.radius == 0.5 * depth:
            return Bar(
                length=self.length - x,
                width=depth,
                start=(x, 0.0),
                size=size,
                refine=refine,
            )
        half, end = 0.5 * depth, self._straight
        # With a node in the middle of the flat face.
        return Outline(
            vertices=((x, 0.0), (x, -half), (end, -half), (end, half), (x, half)),
            bulges=(0.0, 0.0, math.tan(0.5 * self._half_angle), 0.0, 0.0),
            names=("end", "lower", "head", "upper", "end"),
            size=size,
            refine=refine,
        )

    def face(self, mesh: MeshShape) -> str:
        """Return what the face towards the elbow is called."""
        return "left" if isinstance(mesh, Rectangle) else "end"

    def _moments(self, x: float) -> tuple[float, float, float]:
        """Return area, first and polar second moment of all beyond x, about x.

        The tip is a sector less its triangle, about the centre of its arc.
        """
        r, a, d = self.radius, self._half_angle, self.depth
        k, c = math.tan(a) if a < 1.57 else 0.0, r * math.cos(a)
        area = r * r * (a - math.sin(a) * math.cos(a))
        first = 2.0 / 3.0 * r**3 * math.sin(a) ** 3
        second = 0.5 * a * r**4 - 0.25 * c**4 * (2.0 * k + 2.0 / 3.0 * k**3)
        shift = self.length - r - x
        second += 2.0 * shift * first + shift * shift * area
        first += shift * area
        b = self._straight - x
        area, first = area + b * d, first + 0.5 * b * b * d
        return area, first, second + b**3 * d / 3.0 + b * d**3 / 12.0

    def centre(self, k: int, pieces: int) -> float:
        """Return how far from the elbow the mass centre of piece k is."""
        x, step = self.length * k / pieces, self.length / pieces
        if k < pieces - 1:
            return x + 0.5 * step
        area, first, _ = self._moments(x)
        return x + first / area

    def motion(self, at: float, angles: Pair, rates: Pair) -> _Motion:
        """Return the motion of a place on the axis, so far from the elbow."""
        c, s = [math.cos(a) for a in angles], [math.sin(a) for a in angles]
        return {
            "position": (_ARM * c[0] + at * c[1], _ARM * s[0] + at * s[1]),
            "angle": angles[1],
            "velocity": (
                -rates[0] * _ARM * s[0] - rates[1] * at * s[1],
                rates[0] * _ARM * c[0] + rates[1] * at * c[1],
            ),
            "angular_velocity": rates[1],
        }

    def released(self, gravity: float, weight: float) -> tuple[Pair, Pair]:
        """Return angles and rates of rigid rods before contact.

        Lagrange's equations, and steps of Runge and Kutta back through time; `weight`
        is the mass of an area of the rod, kg/m^2.
        """
        area, first, second = (weight * x for x in self._moments(0.0))
        own = _INERTIA + _MASS * 0.25 * _ARM**2 + area * _ARM**2
        pull = (0.5 * _MASS + area) * _ARM * gravity

        def rate(y: tuple[float, ...]) -> tuple[float, ...]:
            c, s = math.cos(y[0] - y[1]), math.sin(y[0] - y[1])
            both = first * _ARM
            f0 = -both * s * y[3] ** 2 - pull * math.cos(y[0])
            f1 = both * s * y[2] ** 2 - first * gravity * math.cos(y[1])
            det = own * second - (both * c) ** 2
            a0 = (second * f0 - both * c * f1) / det
            a1 = (own * f1 - both * c * f0) / det
            return (y[2], y[3], a0, a1)

        y: tuple[float, ...] = (*_ANGLES, *_RATES)
        h = -_FLIGHT / _STEPS
        for _ in range(_STEPS):
            k1 = rate(y)
            k2 = rate(_along(y, 0.5 * h, k1))
            k3 = rate(_along(y, 0.5 * h, k2))
            k4 = rate(_along(y, h, k3))
            y = tuple(
                x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
                for x, a, b, c, d in zip(y, k1, k2, k3, k4, strict=True)
            )
        return (y[0], y[1]), (y[2], y[3])


def _along(y: tuple[float, ...], h: float, k: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a + h * b for a, b in zip(y, k, strict=True))
