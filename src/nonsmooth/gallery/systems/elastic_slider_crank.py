"""A slider-crank whose connecting rod bends."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.elements.materials import Material, ModalDamping
from nonsmooth.elements.meshes import Patch, Rectangle
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, coulomb, count, positive
from nonsmooth.model import Model

UNTIL = 4.0 * math.pi / 150.0  # s, two turns
RANGES = {
    "crank_length": (0.05, 0.25),
    "rod_length": (0.2, 1.0),
    "depth": (2e-3, 0.03),
    "crank_mass": (0.1, 2.0),
    "slider_mass": (0.02, 1.0),
    "speed": (10.0, 300.0),
    "gravity": (0.0, 25.0),
    "modes": (1, 20),
    "damping": (0.0, 0.1),
    "mu": (0.0, 0.5),
    "youngs_modulus": (1e9, 400e9),
    "poissons_ratio": (0.0, 0.45),
    "density": (1000.0, 20000.0),
}

# Longest side of an element over the depth of the rod.
_SIZE = 0.5


def elastic_slider_crank(
    *,
    crank_length: float = 0.15,
    rod_length: float = 0.3,
    depth: float = 8e-3,
    crank_mass: float = 0.36,
    slider_mass: float = 0.075552,
    speed: float = 150.0,
    gravity: float = 0.0,
    modes: int = 10,
    damping: float = 0.0,
    mu: float = 0.0,
    youngs_modulus: float = 200e9,
    poissons_ratio: float = 0.3,
    density: float = 7870.0,
) -> Model:
    """Drive a slider by a crank and an elastic rod, as thick as it is deep.

    The crank turns about the origin at constant speed, from +x on; the slider runs
    along x. The rod begins straight and with the motion of a rigid one, so that it
    swings about the shape that its own inertia gives it. Without a guide's friction the
    defaults are those of [Simeon1996]_, whose rod bends in two sines, without shear.

    How far the rod's middle is off the line of its pins, to the left going from A to B:

        ((middle - A) x (B - A))_z / |B - A|, with its sign changed

    Bodies `crank` (points `O`, `A`), `rod` (faces `A`, `B`, point `middle`) and
    `slider`; joints `main_pin` at O, `crank_pin` at A, `slider_pin` at B and `guide`;
    drive `motor`.

    Parameters
    ----------
    crank_length : float
        Distance from O to A, m.
    rod_length : float
        Length of the rod, from A to B, m. More than the crank's.
    depth : float
        Depth and thickness of the rod, m.
    crank_mass : float
        Mass of the crank, kg.
    slider_mass : float
        Mass of the slider, kg.
    speed : float
        Angular velocity of the crank, counter-clockwise, rad/s.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    modes : int
        Modes of the rod.
    damping : float
        Part of critical damping of each mode, 1.
    mu : float
        Coefficient of friction of the slider in its guide, 1.
    youngs_modulus : float
        Young's modulus of the rod, Pa.
    poissons_ratio : float
        Poisson's ratio of the rod, 1.
    density : float
        Density of the rod, kg/m^3.

    References
    ----------
    [Simeon1996]_
    """
    system = "elastic_slider_crank"
    count(system, modes=modes)
    positive(system, crank_length=crank_length, rod_length=rod_length, depth=depth)
    positive(system, crank_mass=crank_mass, slider_mass=slider_mass)
    positive(system, youngs_modulus=youngs_modulus, density=density)
    at_least(system, 0.0, damping=damping)
    least = max(crank_length, 4.0 * depth)
    if not rod_length > least:
        raise ModelError(
            f"{system}: rod_length = {rod_length!r}; give more than {least:g} m, "
            "crank_length and four times the depth"
        )
    r, l = crank_length, rod_length
    turn = -r * speed / l
    crank = RigidBody(
        name="crank",
        mass=crank_mass,
        inertia=crank_mass * r**2 / 12.0,
        position=(0.5 * r, 0.0),
        velocity=(0.0, 0.5 * r * speed),
        angular_velocity=speed,
        points={"O": (-0.5 * r, 0.0), "A": (0.5 * r, 0.0)},
    )
    rod = FlexibleBody(
        name="rod",
        mesh=Rectangle(
            width=l,
            height=depth,
            center=(0.5 * l, 0.0),
            size=_SIZE * depth,
            cells="quadrilateral",
        ),
        material=Material(
            youngs_modulus=youngs_modulus,
            poissons_ratio=poissons_ratio,
            density=density,
        ),
        thickness=depth,
        modes=modes,
        damping=ModalDamping(ratio=damping) if damping else None,
        position=(r + 0.5 * l, 0.0),
        velocity=(0.0, r * speed + 0.5 * l * turn),
        angular_velocity=turn,
        points={"middle": (0.5 * l, 0.0)},
        patches={"A": Patch(boundary="left"), "B": Patch(boundary="right")},
    )
    slider = RigidBody(
        name="slider",
        mass=slider_mass,
        # Of no influence: the slider never turns.
        inertia=slider_mass * depth**2,
        position=(r + l, 0.0),
    )
    rub = coulomb(system, mu, None)
    guide = Prismatic(name="guide", b="slider")
    if rub is not None:
        guide = Prismatic(
            name="guide", b="slider", friction=rub, length=0.2 * r, height=0.1 * r
        )
    return Model(
        title="slider-crank with an elastic rod",
        gravity=(0.0, -gravity),
        bodies=(Ground(), crank, rod, slider),
        joints=(
            Revolute(name="main_pin", b="crank.O"),
            Revolute(name="crank_pin", a="crank.A", b="rod.A"),
            Revolute(name="slider_pin", a="rod.B", b="slider"),
            guide,
        ),
        drives=(RotationDrive(name="motor", b="crank", law=ConstantRate(rate=speed)),),
    )
