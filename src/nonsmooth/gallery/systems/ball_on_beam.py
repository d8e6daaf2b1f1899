"""Timoshenko's steel ball, dropped on the middle of a beam on two supports."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Patch, Rectangle, Refinement
from nonsmooth.elements.normal import Hertz, NormalLaw, Unilateral
from nonsmooth.elements.shapes import Circle
from nonsmooth.gallery._checks import count, positive
from nonsmooth.model import Model

UNTIL = 1e-3  # s
RANGES = {
    "speed": (1e-3, 0.1),
    "radius": (0.005, 0.03),
    "length": (0.08, 0.4),
    "height": (0.005, 0.02),
    "width": (0.005, 0.02),
    "modes": (3, 60),
    "youngs_modulus": (50e9, 400e9),
    "poissons_ratio": (0.0, 0.45),
    "density": (1000.0, 20000.0),
}

# Elements over the height of the beam.
_ACROSS = 4
# Half of a patch, and elements, in half-widths of contact.
_REACH, _FINE = 2.0, 4.0


def ball_on_beam(
    *,
    contact: Literal["hertz", "patch"] = "hertz",
    modes: int = 20,
    radius: float = 0.01,
    speed: float = 0.01,
    length: float = 0.1535,
    height: float = 0.01,
    width: float = 0.01,
    youngs_modulus: float = 210e9,
    poissons_ratio: float = 0.3,
    density: float = 7850.0,
) -> Model:
    """Drop a ball on a beam of the same steel, without gravity.

    The beam lies along x with the middle of its upper face at the origin; the ends of
    its axis are pinned. The ball touches it there at the start, and presses with the
    force of [Hertz1881]_,

        F = 4/3 E/(2 (1 - nu^2)) sqrt(radius) depth^1.5.

    By default the first mode of the beam has 988 Hz, and contact lasts for 0.16 ms of
    its period of 1.01 ms. [Timoshenko1913]_ found the force from

        depth = speed t - 1/m int (t - s) F ds - sum phi^2/w int sin(w (t - s)) F ds.

    The beam's answer to a load at a point holds some local compliance beside Hertz's,
    a hundredth of it here.

    With `contact` = "patch" the ball is a rigid disc as thick as the beam, and no node
    of a fine patch on the beam may overlap with it: the local compliance is that of the
    beam's elements, in plane stress.

    Bodies `ball` and `beam` with its points `middle`, `left_pin` and `right_pin`;
    contact `contact`.

    Parameters
    ----------
    contact : str
        How they touch: by Hertz's law at a point, or in a patch of nodes.
    modes : int
        Modes of the beam, without the shapes for a load at its middle.
    radius : float
        Radius of the ball, m.
    speed : float
        Speed of the ball at the start, along -y, m/s.
    length : float
        Length of the beam between its supports, m.
    height, width : float
        Section of the beam, in and across the plane, m.
    youngs_modulus : float
        Young's modulus of both, Pa.
    poissons_ratio : float
        Poisson's ratio of both, 1.
    density : float
        Density of both, kg/m^3.

    References
    ----------
    [Timoshenko1913]_
    """
    count("ball_on_beam", modes=modes)
    positive("ball_on_beam", radius=radius, length=length, height=height, width=width)
    positive("ball_on_beam", density=density, youngs_modulus=youngs_modulus)
    steel = Material(
        youngs_modulus=youngs_modulus, poissons_ratio=poissons_ratio, density=density
    )
    pair = youngs_modulus / (2.0 * (1.0 - poissons_ratio**2))
    half, axis = 0.5 * length, -0.5 * height
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    inertia, middle = 0.4 * mass * radius**2, "middle"
    law: NormalLaw = Hertz(stiffness=4.0 / 3.0 * pair * math.sqrt(radius))
    mesh = Rectangle(
        width=length,
        height=height,
        center=(0.0, axis),
        size=height / _ACROSS,
        cells="quadrilateral",
    )
    patches: dict[str, Patch] = {}
    if contact == "patch":
        positive("ball_on_beam", speed=speed)
        mass = density * math.pi * radius**2 * width
        inertia, middle, law = 0.5 * mass * radius**2, "face", Unilateral()
        # Half-width of plane contact under the force that a local stiffness E width/3
        # would give.
        force = speed * math.sqrt(mass * youngs_modulus * width / 3.0)
        wide = math.sqrt(4.0 * force * radius / (math.pi * youngs_modulus * width))
        origin, reach = (0.0, 0.0), _REACH * wide
        fine = Refinement(point=origin, size=wide / _FINE, radius=reach)
        mesh = replace(mesh, cells="triangle", refine={"face": fine})
        patches["face"] = Patch(boundary="top", center=origin, radius=reach)
    return Model(
        title="ball on a beam",
        bodies=(
            FlexibleBody(
                name="beam",
                mesh=mesh,
                material=steel,
                thickness=width,
                modes=modes,
                fixed=("left_pin", "right_pin"),
                points={
                    "left_pin": (-half, axis),
                    "right_pin": (half, axis),
                    "middle": (0.0, 0.0),
                },
                patches=patches,
            ),
            RigidBody(
                name="ball",
                mass=mass,
                inertia=inertia,
                position=(0.0, radius),
                velocity=(0.0, -speed),
                shapes={"rim": Circle(radius=radius)},
            ),
        ),
        contacts=(
            Contact(
                name="contact",
                a="ball.rim",
                b=f"beam.{middle}",
                normal=law,
            ),
        ),
    )
