"""Two aluminium rods that meet end to end: an experiment on waves."""

from __future__ import annotations

import math
from typing import Literal

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Gauge, MeshShape, Patch, Rectangle, Rod
from nonsmooth.elements.normal import KelvinVoigt, Unilateral
from nonsmooth.elements.shapes import Circle
from nonsmooth.gallery._checks import count, positive
from nonsmooth.model import Model

UNTIL = 6e-4  # s
RANGES = {
    "elements": (20, 1000),
    "speed": (0.05, 1.0),
    "length": (0.2, 2.0),
    "radius": (0.005, 0.03),
    "damping": (0.0, 1000.0),
    "youngs_modulus": (50e9, 400e9),
    "poissons_ratio": (0.0, 0.45),
    "density": (1000.0, 20000.0),
}

# Points along each rod; m, from the contact to the strain gauge.
_POINTS, _GAUGE = 11, 0.02


def rods(
    *,
    model: Literal["1d", "axisymmetric", "rigid_spring"] = "1d",
    elements: int = 200,
    speed: float = 0.21,
    length: float = 1.0,
    radius: float = 0.01,
    youngs_modulus: float = 70e9,
    poissons_ratio: float = 0.33,
    density: float = 2700.0,
    damping: float = 0.0,
) -> Model:
    """Let a rod strike another of its kind, which is at rest, end to end.

    The rods lie along x and touch at the origin at the start; `b1` comes from the left.
    A wave runs through each, strain -speed/(2 c) with c = sqrt(E/rho), and is back from
    the free ends after 2 length/c, when the rods part: b1 is at rest then, and b2 has
    the speed. With the defaults the force is 453.492 N for 392.792 us.

    With `model` = "axisymmetric" the rods are bodies of revolution, as in the
    experiment: the force begins at rho c_d A speed/2, with the speed c_d of waves that
    cannot widen, and rings about the same plateau; contact lasts a little longer. With
    "rigid_spring" they are rigid, with a spring between them that is pressed for the
    same time: no wave, no delay, and a force of half a sine whose peak is pi/2 times as
    high.

    Bodies `b1`, `b2` with the points `p0`, `p1`, `p2`, `p3`, `p4`, `p5`, `p6`, `p7`,
    `p8`, `p9`, `p10` from the contact to the far end, and the strain gauge `gauge` at
    2 cm from the contact; contact `contact`, its normal along x.

    Parameters
    ----------
    model : str
        What the rods are: elements that only stretch, bodies of revolution, or rigid
        bodies with a spring.
    elements : int
        Elements along each rod; those of a body of revolution are about as high as
        long, so that it needs 500 or more to ring as it should.
    speed : float
        Speed of b1 at the start, m/s.
    length, radius : float
        Size of each rod, m.
    youngs_modulus : float
        Young's modulus, Pa.
    poissons_ratio : float
        Poisson's ratio, 1.
    density : float
        Density, kg/m^3.
    damping : float
        Damper beside the spring between rigid rods, N s/m.

    References
    ----------
    [HongLiu2012]_ section 2.
    """
    system = "rods"
    count(system, elements=elements)
    positive(system, speed=speed, length=length, radius=radius, density=density)
    positive(system, youngs_modulus=youngs_modulus)
    metal = Material(
        youngs_modulus=youngs_modulus, poissons_ratio=poissons_ratio, density=density
    )
    if model == "rigid_spring":
        return _rigid(metal, speed, length, radius, damping)

    def body(name: str, way: float, pace: float) -> FlexibleBody:
        # The contact is at x = 0, the far end at x = way.
        left = min(0.0, way)
        mesh: MeshShape = Rod(
            length=length, radius=radius, elements=elements, start=(left, 0.0)
        )
        if model == "axisymmetric":
            mesh = Rectangle(
                width=length,
                height=radius,
                center=(left + 0.5 * length, 0.5 * radius),
                size=length / elements,
                cells="quadrilateral",
                order=1,
            )
        # On the surface of a body of revolution.
        height = radius if model == "axisymmetric" else 0.0
        sign = math.copysign(1.0, way)
        part = length / (_POINTS - 1)
        return FlexibleBody(
            name=name,
            mesh=mesh,
            material=metal,
            plane="axisymmetric" if model == "axisymmetric" else "stress",
            modes="full",
            velocity=(pace, 0.0),
            points={f"p{k}": (sign * k * part, 0.0) for k in range(_POINTS)},
            patches={"face": Patch(boundary="right" if way < 0.0 else "left")},
            gauges={"gauge": Gauge(point=(sign * min(_GAUGE, length), height))},
        )

    return Model(
        title="impact of two rods",
        bodies=(body("b1", -length, speed), body("b2", length, 0.0)),
        contacts=(
            Contact(name="contact", a="b1.face", b="b2.face", normal=Unilateral()),
        ),
    )


def _rigid(
    metal: Material, speed: float, length: float, radius: float, damping: float
) -> Model:
    """Return rigid rods with a spring that is pressed as long as waves travel."""
    area = math.pi * radius**2
    mass = metal.density * area * length
    contact = 2.0 * length / math.sqrt(metal.youngs_modulus / metal.density)
    stiffness = 0.5 * mass * (math.pi / contact) ** 2
    inertia = mass * (length**2 / 12.0 + radius**2 / 4.0)
    half = 0.5 * length
    bodies: list[RigidBody] = []
    for name, side, pace in (("b1", -1.0, speed), ("b2", 1.0, 0.0)):
        part = length / (_POINTS - 1)
        bodies.append(
            RigidBody(
                name=name,
                mass=mass,
                inertia=inertia,
                position=(side * half, 0.0),
                velocity=(pace, 0.0),
                points={
                    f"p{k}": (side * (k * part - half), 0.0) for k in range(_POINTS)
                },
                # Round ends: what touches is on the axis.
                shapes={
                    "end": Circle(center=(side * (radius - half), 0.0), radius=radius)
                },
            )
        )
    return Model(
        title="impact of two rods, rigid with a spring",
        bodies=tuple(bodies),
        contacts=(
            Contact(
                name="contact",
                a="b1.end",
                b="b2.end",
                normal=KelvinVoigt(stiffness=stiffness, damping=damping),
            ),
        ),
    )
