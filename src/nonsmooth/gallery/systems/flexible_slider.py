"""An elastic block in a guide with clearance, whose pattern of contact is found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import SpringDamper, TorsionSpring
from nonsmooth.elements.joints import ElasticBlock, PinInSlot, Prismatic
from nonsmooth.elements.materials import Material, RayleighDamping
from nonsmooth.elements.meshes import Patch, Rectangle
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Line
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
# Motion in the clearance: cells along the block, modes, and part of the block's mass
# that is the shoe's.
_COARSE, _MODES, _SHOE = 3, 1, 0.01
# s, of damping in proportion to stiffness: the modes die within a few of their periods.
_RELAXED = 2e-5
_FILM = 2e3  # N s/m


def flexible_slider(
    *,
    clearance: float = 1e-4,
    load: Literal["condensed", "corners", "penalty"] = "condensed",
    mesh: int = 1,
    thickness: float = 0.01,
    E: float = 2.1e11,
    nu: float = 0.25,
    penalty: float | None = None,
    motion: Literal["quasi-static", "dynamic"] = "quasi-static",
    film: float | None = None,
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

    With `motion` = "dynamic" the block moves in its clearance, from face to face, with
    impacts: it has a few modes, and its faces are patches that press on a light
    `shoe`, which it takes along and which rubs in the guide. So friction is decided for
    the block as a whole, as in the paper, under `guide.load`, the sum of the forces at
    the shoe's ends. `film` damps what the block does in its clearance. Contacts are
    `lower` and `upper`; `load`, and E t c / F, then have no meaning. Ask for rtol=1e-8:
    the block rings until it starts, by less than looser tolerances see.

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
    motion : str
        Motion in the clearance: at each instant where the loads are balanced, or by the
        equations of motion.
    film : float, optional
        Damping of what the block does across the guide, N s/m; set by `motion`: 2e3 for
        dynamic, and none for quasi-static.
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
        Angular frequency of the force, rad/s.
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
    _check_motion(motion, load, film, clearance)
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
    guide, *others = rigid.joints
    assert isinstance(guide, Prismatic)  # the rigid system's first joint
    if load == "corners":
        limit = replace(guide, clearance=clearance, load="corners")
        title = "rigid slider in its guide"
        return replace(rigid, title=title, joints=(limit, *others))
    volume = slider_length * slider_height * thickness
    material = Material(
        youngs_modulus=E, poissons_ratio=nu, density=slider_mass / volume
    )
    if motion == "dynamic":
        film = _FILM if film is None else film
        return _rattling(rigid, clearance, material, thickness, mesh, film)
    block = ElasticBlock(
        material=material,
        thickness=thickness,
        cells=(_CELLS[0] * mesh, _CELLS[1] * mesh),
        penalty=penalty,
    )
    elastic = replace(guide, clearance=clearance, block=block)
    return replace(
        rigid, title="elastic slider in its guide", joints=(elastic, *others)
    )


def _check_motion(motion: str, load: str, film: float | None, clearance: float) -> None:
    """Refuse what goes with one kind of motion in the clearance only."""
    if motion != "dynamic":
        if film is not None:
            raise ModelError(
                f"{_SYSTEM}: film = {show(film)}; must be left out with motion = "
                f"'{motion}', which has none; give motion = 'dynamic'"
            )
        return
    if load != "condensed":
        raise ModelError(
            f"{_SYSTEM}: load = {show(load)}; must be left out with motion = "
            "'dynamic', whose block has modes and patches"
        )
    positive(_SYSTEM, clearance=clearance)
    if film is not None:
        at_least(_SYSTEM, 0.0, film=film)


def _rattling(
    rigid: Model,
    clearance: float,
    material: Material,
    thickness: float,
    mesh: int,
    film: float,
) -> Model:
    """Return the system with a block that moves in its clearance.

    It starts as its weight and the bar's leave it: on its lower face, or on its front
    lower and rear upper corners.
    """
    guide, pin = rigid.joints
    assert isinstance(guide, Prismatic)  # as slider_in_guide has them
    assert guide.length is not None
    ground, block, bar = rigid.bodies
    assert isinstance(block, RigidBody)
    assert isinstance(bar, RigidBody)
    length, height, half = guide.length, guide.height, -bar.points["pin"][0]
    weight = -rigid.gravity[1] * (block.mass + bar.mass)
    moment = -rigid.gravity[1] * bar.mass * half
    is_tilted = moment > 0.5 * length * weight
    tilt = -clearance / length if is_tilted else 0.0
    x, y = block.position[0], 0.0 if is_tilted else -0.5 * clearance
    c, s = math.cos(tilt), math.sin(tilt)
    flank = 0.5 * (height + clearance)
    shoe = RigidBody(
        name="shoe",
        mass=_SHOE * block.mass,
        inertia=_SHOE * block.inertia,
        position=(x, 0.0),
        points={"film": (0.0, -height)},
        shapes={
            "lower": Line(point=(0.0, -flank)),
            "upper": Line(point=(0.0, flank), angle=math.pi),
        },
    )
    slider = FlexibleBody(
        name="slider",
        mesh=Rectangle(
            width=length, height=height, size=length / (_COARSE * mesh), order=1
        ),
        material=replace(material, density=(1.0 - _SHOE) * material.density),
        thickness=thickness,
        modes=_MODES,
        damping=RayleighDamping(stiffness=_RELAXED),
        points={"pin": (0.0, 0.0)},
        patches={k: Patch(boundary=k) for k in ("bottom", "top", "right")},
        position=(x, y),
        angle=tilt,
    )
    spin = bar.angular_velocity
    turned = replace(
        bar,
        position=(x + c * half, y + s * half),
        angle=tilt,
        velocity=(-spin * s * half, spin * c * half),
    )
    motor = replace(rigid.drives[0], a="slider.right")
    spring, push = rigid.forces
    return replace(
        rigid,
        title="slider that moves in its clearance",
        assemble=True,
        bodies=(ground, shoe, slider, turned),
        joints=(
            replace(guide, b="shoe"),
            PinInSlot(name="along", a="shoe", b="slider.pin", axis=0.5 * math.pi),
            replace(pin, a="slider.pin"),
        ),
        drives=(motor,),
        forces=(
            replace(spring, b="slider.pin"),
            replace(push, b="slider.pin"),
            SpringDamper(
                name="film",
                a="shoe.film",
                b="slider",
                damping=film,
                rest_length=height,
            ),
            TorsionSpring(
                name="film_turn",
                a="shoe",
                b="slider.right",
                damping=film * (0.5 * length) ** 2,
            ),
        ),
        contacts=tuple(
            Contact(
                name=flank, a=f"shoe.{flank}", b=f"slider.{face}", normal=Unilateral()
            )
            for flank, face in (("lower", "bottom"), ("upper", "top"))
        ),
    )
