"""An elastic block in a guide with clearance, whose pattern of contact is found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.materials import Material
from nonsmooth.errors import ModelError, show
from nonsmooth.gallery import _checks
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.gallery.systems.slider_in_guide import RANGES as RIGID
from nonsmooth.gallery.systems.slider_in_guide import slider_in_guide
from nonsmooth.model import Model

UNTIL = 24.0  # s, three periods
RANGES = {
    "clearance": (0.0, 1e-4),
    "mesh": (1, 4),
    "thickness": (1e-3, 0.1),
    "E": (1e5, 1e12),
    "nu": (0.0, 0.49),
    # As for the rigid block, but for what its corners are.
    **{k: v for k, v in RIGID.items() if k not in ("stiffness", "damping")},
}

_SYSTEM = "flexible_slider"
_CELLS = (18, 19)  # along the guide, across it: the paper's 684 triangles
_FINEST = 20


def flexible_slider(
    *,
    clearance: float = 1e-4,
    load: Literal["condensed", "corners", "penalty"] = "condensed",
    mesh: int = 1,
    thickness: float = 0.01,
    E: float = 2.1e11,
    nu: float = 0.25,
    penalty: float | None = None,
    mu: float = 0.03,
    mu0: float = 0.04,
    viscous: float = 0.0,
    law: Literal["coulomb", "karnopp"] = "coulomb",
    dead_band: float | None = None,
    spring_rest: float = 0.0,
    k: float = 1.0,
    force: float = 3.0,
    frequency: float = 0.5 * math.pi,
    speed: float = 0.25 * math.pi,
    position: float = 0.0,
    slider_mass: float = 1.0,
    slider_length: float = 0.6,
    slider_height: float = 0.5,
    bar_mass: float = 2.0,
    bar_length: float = 2.0,
    gravity: float = 9.81,
) -> Model:
    """Turn a bar on an elastic block that slides in a guide, one face or both pressed.

    The system is that of `slider_in_guide`, and so are its names. The block is of
    finite elements, held at its pin and pressed by the guide on nodes of both faces:
    those that touch are found at every instant. Friction acts under the sum G of the
    normal forces, `guide.load`; how G depends on reactions is set by the ratio
    E t c / F of stiffness times clearance to load. Above 70 two diagonal corners or
    one face bear, and the motion is that of a rigid block; below 0.1 the clearance is
    as good as none, both faces press over a length, G and friction are larger, and the
    block sticks longer, twice in a period.

    Normal forces and friction by areas are `guide.top_left.normal_force`,
    `guide.top_left.friction_force`, and so on with `top_right`, `bottom_left` and
    `bottom_right`.

    Bodies `slider` and `bar` (points `pin`, `tip`); joints `guide` and `pin`; drive
    `motor`, its torque acting on the bar; forces `spring` and `push`.

    Parameters
    ----------
    clearance : float
        Width of the guide less the height of the block, m; zero is allowed.
    load : str
        Who carries the load: the nodes of both faces, which cannot overlap the guide;
        the rigid block's corners, the limit that ignores the clearance; or the nodes on
        springs.
    mesh : int
        How fine the mesh is: 18 by 19 cells of two triangles, times this both ways.
    thickness : float
        Thickness of the block, m. The paper does not give it.
    E : float
        Young's modulus, Pa.
    nu : float
        Poisson's ratio, 1.
    penalty : float, optional
        Stiffness of the springs per length of face, N/m^2; set by `load`: 1e14 for
        penalty, and none for the others.
    mu : float
        Coefficient of friction in motion, 1.
    mu0 : float
        Coefficient of friction at rest, 1. Not below mu.
    viscous : float
        Friction in proportion to the velocity, N s/m. The paper has none.
    law : str
        Law of friction: set-valued at rest, or the paper's with a dead band.
    dead_band : float, optional
        Velocity below which the block counts as at rest, m/s; set by `law`: 1e-3 for
        karnopp, and none for coulomb.
    spring_rest : float
        Place of the block where the spring is relaxed, m. It only shifts the motion.
    k : float
        Stiffness of the spring, N/m.
    force : float
        Amplitude of the force, N.
    frequency : float
        Frequency of the force, rad/s.
    speed : float
        Angular velocity of the bar, counter-clockwise, rad/s.
    position : float
        Place of the block at the start, m.
    slider_mass : float
        Mass of the block, kg.
    slider_length : float
        Length of the block along the guide, m.
    slider_height : float
        Height of the block across the guide, m.
    bar_mass : float
        Mass of the bar, kg.
    bar_length : float
        Length of the bar, m.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    Zhang and Wang (2016) [ZhangWang2016]_.
    """
    positive(
        _SYSTEM,
        thickness=thickness,
        E=E,
        slider_mass=slider_mass,
        slider_length=slider_length,
        slider_height=slider_height,
        bar_mass=bar_mass,
        bar_length=bar_length,
    )
    at_least(_SYSTEM, 0.0, clearance=clearance, viscous=viscous, k=k, gravity=gravity)
    _checks.friction(_SYSTEM, mu0=mu0, mu=mu)
    if not 1 <= mesh <= _FINEST:
        raise ModelError(f"{_SYSTEM}: mesh = {show(mesh)}; give 1 to {_FINEST}")
    if not -1.0 < nu < 0.5:
        raise ModelError(f"{_SYSTEM}: nu = {show(nu)}; must be > -1 and < 0.5")
    if load == "penalty":
        penalty = 1e14 if penalty is None else penalty
        positive(_SYSTEM, penalty=penalty)
    elif penalty is not None:
        raise ModelError(
            f"{_SYSTEM}: penalty = {show(penalty)}; must be left out with load = "
            f"'{load}', which has no springs; give load = 'penalty'"
        )
    rigid = slider_in_guide(
        mu=mu,
        mu0=mu0,
        viscous=viscous,
        law=law,
        dead_band=dead_band,
        spring_rest=spring_rest,
        k=k,
        force=force,
        frequency=frequency,
        speed=speed,
        position=position,
        slider_mass=slider_mass,
        slider_length=slider_length,
        slider_height=slider_height,
        bar_mass=bar_mass,
        bar_length=bar_length,
        gravity=gravity,
    )
    if load == "corners":
        return replace(rigid, title="rigid slider in its guide")
    volume = slider_length * slider_height * thickness
    block = ElasticBlock(
        material=Material(
            youngs_modulus=E, poissons_ratio=nu, density=slider_mass / volume
        ),
        thickness=thickness,
        cells=(_CELLS[0] * mesh, _CELLS[1] * mesh),
        penalty=penalty,
    )
    guide, *others = rigid.joints
    assert isinstance(guide, Prismatic)  # the rigid system's first joint
    elastic = replace(guide, clearance=clearance, block=block)
    return replace(
        rigid, title="elastic slider in its guide", joints=(elastic, *others)
    )
