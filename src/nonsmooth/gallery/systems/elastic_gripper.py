"""A gripper with elastic fingers lifts a box, or lets it slip."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.joints import Weld
from nonsmooth.elements.laws import SmoothStep
from nonsmooth.elements.materials import Material, ModalDamping
from nonsmooth.elements.meshes import Outline, Patch
from nonsmooth.elements.normal import KelvinVoigt, Unilateral
from nonsmooth.elements.shapes import Line
from nonsmooth.gallery._checks import at_least, coulomb, count, positive
from nonsmooth.gallery._shapes import rectangle
from nonsmooth.model import Model

UNTIL = 0.6  # s
RANGES = {
    "mu0": (0.4, 1.0),
    "mu": (0.0, 0.4),
    "squeeze": (0.5, 10.0),
    "lift": (0.0, 0.1),
    "m": (0.02, 0.5),
    "gravity": (0.0, 12.0),
    "modes": (1, 8),
    "youngs_modulus": (5e6, 1e8),
    "density": (500.0, 3000.0),
    "damping": (0.01, 0.5),
}

# The box, the fingers' length, depth and thickness, the pads, m.
_BOX, _LENGTH, _DEPTH, _THICK, _PAD = 0.04, 0.1, 0.01, 0.02, 0.02
_NU = 0.3
# s: fingers close until then, the hand goes up after it for so long.
_CLOSED, _BEGIN, _RISE = 0.1, 0.15, 0.25
# By which a pad stands out, m.
_STEP = 1e-3
# Between pads and box before they close, m.
_GAP = 1e-3
# Of the ground, N/m and N s/m.
_STIFFNESS, _DAMPING = 1e4, 20.0
# Longest side of an element over the depth of a finger.
_SIZE = 0.5


def elastic_gripper(
    *,
    mu0: float = 0.6,
    mu: float = 0.4,
    squeeze: float = 3.0,
    lift: float = 0.05,
    m: float = 0.15,
    gravity: float = 9.81,
    modes: int = 3,
    youngs_modulus: float = 3e7,
    density: float = 1200.0,
    damping: float = 0.2,
) -> Model:
    """Squeeze a rigid box of 4 cm between two elastic fingers, and lift it.

    The fingers, bars of 10 cm that hang from driven jaws, close within 0.1 s over a gap
    of 1 mm, and on by as much as a cantilever gives under `squeeze` at the middle of
    its pad. Between 0.15 s and 0.4 s the jaws go up by `lift`, with an acceleration of
    up to a = 5.774 `lift`/(0.25 s)^2; the box leaves the ground, a compliant contact.

    Pads press, stick and slip node by node. With the force N of a pad, `squeeze` or
    near it, the box is held while 2 mu N >= m (g + a), and not beyond 2 mu0 N: between
    these, nodes that slip first load the others until all have let go. Fingers are set
    at an angle by which the pads lie flat under it.

    Bodies `box`, the fingers `left` and `right` with their patch `pad`, and the jaws
    `left_jaw` and `right_jaw`; joints `left_root` and `right_root`; contacts `left`,
    `right` and `floor`.

    Parameters
    ----------
    mu0 : float
        Coefficient of friction of nodes that stick, 1.
    mu : float
        Coefficient of friction of nodes that slip, 1.
    squeeze : float
        Force of each finger on the box, as of a cantilever, N.
    lift : float
        How far the jaws go up, m.
    m : float
        Mass of the box, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    modes : int
        Modes of each finger.
    youngs_modulus : float
        Young's modulus of the fingers, Pa.
    density : float
        Density of the fingers, kg/m^3.
    damping : float
        Part of critical damping of each mode of the fingers, 1.

    References
    ----------
    A classic.
    """
    system = "elastic_gripper"
    count(system, modes=modes)
    positive(system, squeeze=squeeze, m=m, damping=damping)
    positive(system, youngs_modulus=youngs_modulus, density=density)
    at_least(system, 0.0, gravity=gravity, lift=lift)
    rub = coulomb(system, mu, mu0)
    rubber = Material(
        youngs_modulus=youngs_modulus, poissons_ratio=_NU, density=density
    )
    bodies: list[MovingSupport | FlexibleBody | RigidBody] = []
    joints: list[Weld] = []
    contacts: list[Contact] = []
    # From the root to the middle of the pad.
    arm = _LENGTH - 0.5 * _PAD
    deep = _DEPTH - _STEP
    inertia = _THICK * deep**3 / 12.0
    area, shear = _THICK * deep, youngs_modulus / (2.0 * (1.0 + _NU))
    give = arm**3 / (3.0 * youngs_modulus * inertia) + 1.2 * arm / (shear * area)
    turn = squeeze * arm**2 / (2.0 * youngs_modulus * inertia)
    # From the middle of a pad, whose lower end is nearest before it bends.
    away = _GAP + 0.5 * _PAD * math.sin(turn)
    close = away + squeeze * give
    for name, side in (("left", -1.0), ("right", 1.0)):
        # As much as the finger turns back under its load: then the pad lies flat.
        angle = -side * turn
        c, s = math.cos(angle), math.sin(angle)
        mesh, centre = _finger(side)
        # From the mass centre: the middle of the pad, and of the root.
        pad = (-side * 0.5 * _DEPTH - centre[0], 0.5 * (_PAD - _LENGTH) - centre[1])
        top = (side * 0.5 * _STEP - centre[0], 0.5 * _LENGTH - centre[1])
        middle = (
            side * (0.5 * _BOX + away) - c * pad[0] + s * pad[1],
            -s * pad[0] - c * pad[1],
        )
        root = (
            middle[0] + c * top[0] - s * top[1],
            middle[1] + s * top[0] + c * top[1],
        )
        law = SmoothStep(start=root[0], end=root[0] - side * close, duration=_CLOSED)
        up = SmoothStep(start=root[1], end=root[1] + lift, begin=_BEGIN, duration=_RISE)
        bodies += [
            MovingSupport(name=f"{name}_jaw", x=law, y=up, theta=angle),
            FlexibleBody(
                name=name,
                mesh=mesh,
                material=rubber,
                thickness=_THICK,
                modes=modes,
                damping=ModalDamping(ratio=damping),
                position=middle,
                angle=angle,
                patches={
                    "root": Patch(boundary="root"),
                    "pad": Patch(boundary="pad"),
                },
            ),
        ]
        joints.append(Weld(name=f"{name}_root", a=f"{name}_jaw", b=f"{name}.root"))
        contacts.append(
            Contact(
                name=name,
                a=f"box.{name}",
                b=f"{name}.pad",
                normal=Unilateral(),
                friction=rub,
            )
        )
    half = 0.5 * _BOX
    bodies.append(
        RigidBody(
            name="box",
            mass=m,
            inertia=m * _BOX**2 / 6.0,
            shapes={
                "outline": rectangle(_BOX, _BOX),
                "left": Line(point=(-half, 0.0), angle=0.5 * math.pi),
                "right": Line(point=(half, 0.0), angle=-0.5 * math.pi),
            },
        )
    )
    # The box rests on the ground as deep as it sinks in.
    floor = Line(point=(0.0, -half + m * gravity / _STIFFNESS))
    contacts.append(
        Contact(
            name="floor",
            a="ground.floor",
            b="box.outline",
            normal=KelvinVoigt(stiffness=_STIFFNESS, damping=_DAMPING),
        )
    )
    return Model(
        title="gripper with elastic fingers",
        gravity=(0.0, -gravity),
        bodies=(Ground(shapes={"floor": floor}), *bodies),
        joints=tuple(joints),
        contacts=tuple(contacts),
    )


def _finger(side: float) -> tuple[Outline, tuple[float, float]]:
    """Return a finger along y with its pad towards the box, and its mass centre."""
    half, end = 0.5 * _DEPTH, 0.5 * _LENGTH
    pad, inner = _PAD - end, half - _STEP
    corners = [(half, -end), (half, pad), (inner, pad), (inner, end)]
    corners += [(-half, end), (-half, -end)]
    names = ["pad", "step", "inner", "root", "outer", "tip"]
    areas = (2.0 * end * (inner + half), _STEP * _PAD)
    total = sum(areas)
    x = (0.5 * (inner - half) * areas[0] + 0.5 * (inner + half) * areas[1]) / total
    y = 0.5 * (pad - end) * areas[1] / total
    if side > 0.0:
        # The other way round: sides follow each other with the body on their left.
        corners = [(-a, b) for a, b in reversed(corners)]
        names = [*reversed(names[:-1]), names[-1]]
        x = -x
    mesh = Outline(vertices=tuple(corners), names=tuple(names), size=_SIZE * _DEPTH)
    return mesh, (x, y)
