"""A bar strikes another across, head first: elastic bodies in contact."""

from __future__ import annotations

import math
from typing import Literal

from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Bar, Patch, Rectangle, Refinement
from nonsmooth.elements.normal import Unilateral
from nonsmooth.gallery._checks import count, positive
from nonsmooth.model import Model

UNTIL = 6e-3  # s
RANGES = {
    "penalty_factor": (0.01, 5.0),
    "contact_line": (2e-4, 2e-3),
    "modes": (10, 80),
    "speed": (0.05, 0.5),
    "mesh_size": (1.5e-3, 5e-3),
    "contact_size": (1e-5, 4e-5),
    "youngs_modulus": (50e9, 400e9),
    "poissons_ratio": (0.0, 0.45),
    "density": (1000.0, 20000.0),
}

# m, of both bars.
_WIDTH, _THICKNESS = 0.015, 0.002
# Largest half-width of contact, m, that follows from a speed of 0.2 m/s; half of a
# patch, as a multiple of it.
_CONTACT, _REACH = 8e-5, 1.5
# The same of a mesh of one size, in elements.
_COARSE = 3.2
# m, of contact line to which a penalty of one bulk modulus times thickness belongs.
_LINE = 0.5e-3


def transverse_bars(
    *,
    elements: Literal["modes", "full"] = "modes",
    method: Literal["constraint", "penalty"] = "constraint",
    penalty_factor: float = 1.0,
    contact_line: float = 0.5e-3,
    modes: int | Literal["full"] = 40,
    symmetric: bool = True,
    speed: float = 0.2,
    mesh_size: float = 3.75e-3,
    contact_size: float = 1.5e-5,
    youngs_modulus: float = 70e9,
    poissons_ratio: float = 0.3,
    density: float = 2700.0,
) -> Model:
    """Let a bar with a round head strike a clamped bar across, without gravity.

    The bar `b2`, 0.6 m by 15 mm, lies along x with the centre of its upper face at the
    origin, clamped at both ends. The bar `b1`, 0.3075 m long with its head of radius
    7.5 mm, stands above it and comes down along -y; it touches at the start. Both are 2
    mm thick, in plane stress. With the defaults the first impact has its peak of 31.9 N
    at 17.5 us and ends after 130 us; thirteen more follow until the bars part for good
    after 3.9 ms.

    Contact is a constraint of each node of the head that touches the face, or, with
    `method` = "penalty", a spring of

        k = penalty_factor K thickness        for each 0.5 mm of contact line

    with the bulk modulus K, on whose factor the force depends. The springs stand along
    `contact_line`: the softest, of factor 0.01, press along all its 0.5 mm with a first
    peak of 15.3 N, and with 17.4 N along one that is long enough.

    With `elements` = "full" the bars are kept as linear finite elements of one size,
    `mesh_size`, for the scheme "waves": explicit steps as in the paper. Their contact
    is coarse, and elements of 1.5 mm find a first peak that is a tenth too high.

    Bodies `b1` with its points `head` and `top`, `b2` with its point `middle`; contact
    `contact`.

    Parameters
    ----------
    elements : str
        What the bars are: modes, or full finite elements.
    method : str
        How nodes are kept apart: by constraints, or by penalty springs.
    penalty_factor : float
        Factor of the penalty, 1.
    contact_line : float
        Length of the line of penalty springs, m; longer for speeds above 0.2 m/s.
    modes : int
        Modes of each bar; with `symmetric`, even ones. "full" is `elements` = "full".
    symmetric : bool
        Leave out modes that the impact does not excite, and solve for half of each bar.
        Without it give twice the modes.
    speed : float
        Speed of b1 at the start, along -y, m/s.
    mesh_size : float
        Longest side of an element, m.
    contact_size : float
        The same where the bars touch, m.
    youngs_modulus : float
        Young's modulus of both, Pa.
    poissons_ratio : float
        Poisson's ratio of both, 1.
    density : float
        Density of both, kg/m^3.

    References
    ----------
    [HongLiu2012]_ section 1.
    """
    system = "transverse_bars"
    if modes == "full":
        elements, modes = "full", 1
    count(system, modes=modes)
    positive(system, penalty_factor=penalty_factor, contact_line=contact_line)
    positive(system, mesh_size=mesh_size)
    positive(system, contact_size=contact_size, density=density)
    metal = Material(
        youngs_modulus=youngs_modulus, poissons_ratio=poissons_ratio, density=density
    )
    origin, length = (0.0, 0.0), 0.3 + 0.5 * _WIDTH
    positive(system, speed=speed)
    half = _CONTACT * math.sqrt(speed / 0.2)
    refine = {"tip": Refinement(point=origin, size=contact_size, radius=_REACH * half)}
    penalty, reach = None, _REACH * half
    if method == "penalty":
        bulk = youngs_modulus / (3.0 * (1.0 - 2.0 * poissons_ratio))
        penalty = penalty_factor * bulk * _THICKNESS / _LINE
        reach = 0.5 * contact_line * max(1.0, math.sqrt(speed / 0.2))
    order: Literal[1, 2] = 2
    kept: int | Literal["full"] = modes
    cells: Literal["triangle", "quadrilateral"] = "triangle"
    if elements == "full":
        kept, order, cells, refine = "full", 1, "quadrilateral", {}
        reach = _COARSE * mesh_size
    return Model(
        title="transverse impact of two bars",
        bodies=(
            FlexibleBody(
                name="b1",
                mesh=Bar(
                    length=length,
                    width=_WIDTH,
                    start=(-length, 0.0),
                    size=mesh_size,
                    cells=cells,
                    order=order,
                    refine=refine,
                ),
                material=metal,
                thickness=_THICKNESS,
                modes=kept,
                symmetric="x" if symmetric else None,
                angle=-0.5 * math.pi,
                velocity=(0.0, -speed),
                points={"head": origin, "top": (-length, 0.0)},
                patches={"tip": Patch(boundary="head", center=origin, radius=reach)},
            ),
            FlexibleBody(
                name="b2",
                mesh=Rectangle(
                    width=0.6,
                    height=_WIDTH,
                    center=(0.0, -0.5 * _WIDTH),
                    size=mesh_size,
                    cells=cells,
                    order=order,
                    refine=refine,
                ),
                material=metal,
                thickness=_THICKNESS,
                modes=kept,
                symmetric="y" if symmetric else None,
                fixed=("left", "right"),
                points={"middle": origin},
                patches={"face": Patch(boundary="top", center=origin, radius=reach)},
            ),
        ),
        contacts=(
            Contact(
                name="contact",
                a="b2.face",
                b="b1.tip",
                normal=Unilateral(penalty=penalty),
            ),
        ),
    )
