"""A plate compactor: an eccentric rotor shakes a box along the ground."""

from __future__ import annotations

import math
from typing import Literal

from nonsmooth.elements.bodies import Point, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.elements.normal import DampedHertz
from nonsmooth.elements.shapes import Circle, Polygon
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, friction, positive
from nonsmooth.model import Model

UNTIL = 0.5  # s
RANGES = {
    "rotor_speed": (0.0, 600.0),
    "eccentricity": (0.0, 0.15),
    "mu0": (0.45, 1.2),
    "mu": (0.0, 0.6),
    "K": (1e6, 1e8),
    "c": (0.0, 1e5),
    "n": (1.0, 2.0),
    "gravity": (0.0, 25.0),
    "box_mass": (20.0, 300.0),
    "box_inertia": (0.05, 5.0),
    "rotor_mass": (0.5, 30.0),
    "rotor_inertia": (1e-4, 0.05),
    "a": (0.1, 0.5),
    "b": (0.05, 0.4),
    "c1x": (-0.1, 0.1),
    "c1y": (-0.1, 0.1),
    "ax": (-0.15, 0.15),
    "ay": (-0.1, 0.2),
}

# Newton's method on one smooth equation: six steps reach round-off.
_MAX_NEWTON = 50
_ROUND_OFF = 1e-15  # rad


def compactor(
    *,
    rotor_speed: float = 420.0,
    eccentricity: float = 0.018,
    start: Literal["equilibrium", "touching", "spinning", "dropped"] = "equilibrium",
    height: float | None = None,
    tilt: float | None = None,
    phase: float | None = None,
    mu0: float = 0.6,
    mu: float = 0.45,
    K: float = 3.1e6,
    c: float = 23e3,
    n: float = 1.5,
    gravity: float = 9.81,
    box_mass: float = 92.0,
    box_inertia: float = 0.4423,
    rotor_mass: float = 7.0,
    rotor_inertia: float = 0.00247,
    a: float = 0.2,
    b: float = 0.128,
    c1x: float = -0.033,
    c1y: float = 0.032,
    ax: float = 0.03,
    ay: float = 0.124,
) -> Model:
    """Let an eccentric rotor shake a box that stands on two corners.

    The box has its mass centre C1 beside its geometric centre O1 and carries the
    rotor, of mass centre C2, on a hinge A without friction. A motor between them
    prescribes the relative rotation rotor_speed t; at the start C2 lies from A along
    +x of the box. The ground is the line y = 0. A corner at the depth d is pressed up
    by max(0, K d^n + c d d') and rubs with mu0 at rest and mu in motion.

    Four starts, all with C1 at x = 0:

    - `equilibrium`: the box rests on its two corners, tilted a little, with the
      rotor as dead weight and no friction; the rotor turns already, as the motor
      demands;
    - `touching`: the box is level and at rest, its corners just touch; the rotor
      turns already;
    - `spinning`: as `touching`, but all is at rest except for the rotation of the
      rotor. Hinge and motor contradict that; they make the velocities agree by
      their impulse when a run begins;
    - `dropped`: the box is at rest, tilted, its lower corner above the ground; the
      rotor turns already, from an angle of its own.

    At the default speed several steady motions coexist, and `dropped` decides which is
    reached; from `equilibrium` the box hops to the right, and every v_t = 0 is a
    reversal. Slow rotors of large eccentricity make it stick: try rotor_speed = 20 and
    eccentricity = 0.1.

    Bodies `box` (points `O1`, `A`, `left`, `right`) and `rotor` (`A`); joint `hinge`,
    its force acting on the rotor; drive `motor`, its torque acting on the rotor;
    contacts `left` and `right` of the corners.

    Parameters
    ----------
    rotor_speed : float
        Angular velocity of the rotor relative to the box, counter-clockwise, rad/s.
    eccentricity : float
        Distance from A to C2, m.
    start : str
        Where the motion begins, see above.
    height : float, optional
        Height of the lower corner above the ground, m; given where dropped, else set
        by `start`.
    tilt : float, optional
        Angle of the box, rad; given where dropped, else set by `start`.
    phase : float, optional
        Angle of the rotor relative to the box, rad; given where dropped, else set
        by `start`.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        Coefficient of friction in motion, 1. Not above mu0.
    K : float
        Stiffness of the ground, N/m^n.
    c : float
        Damping of the ground, N s/m^2.
    n : float
        Exponent of the depth, 1.
    gravity : float
        Acceleration of free fall, along -y, m/s^2. The paper gives none.
    box_mass : float
        Mass of the box, kg.
    box_inertia : float
        Moment of inertia of the box about C1, kg m^2.
    rotor_mass : float
        Mass of the rotor, kg.
    rotor_inertia : float
        Moment of inertia of the rotor about C2, kg m^2.
    a : float
        Half the length of the box, m.
    b : float
        Half the height of the box, m.
    c1x : float
        Place of C1 along the box, from O1, m.
    c1y : float
        Place of C1 across the box, from O1, m.
    ax : float
        Place of A along the box, from O1, m.
    ay : float
        Place of A across the box, from O1, m.

    References
    ----------
    Wang and Wang (2015) [WangWang2015]_.
    """
    positive(
        "compactor",
        K=K,
        box_mass=box_mass,
        box_inertia=box_inertia,
        rotor_mass=rotor_mass,
        rotor_inertia=rotor_inertia,
        a=a,
        b=b,
    )
    at_least("compactor", 0.0, eccentricity=eccentricity, c=c, gravity=gravity)
    at_least("compactor", 1.0, n=n)
    friction("compactor", mu0=mu0, mu=mu)
    dropped = {"height": height, "tilt": tilt, "phase": phase}
    for name, value in dropped.items():
        if value is not None and start != "dropped":
            raise ModelError(
                f"compactor: {name} = {value:g}; it is for start = 'dropped', and "
                f"start = '{start}'"
            )
    height, tilt, phase = (value or 0.0 for value in dropped.values())
    at_least("compactor", 0.0, height=height)

    # In the box's frame, whose origin is C1.
    left, right = (-c1x - a, -c1y - b), (-c1x + a, -c1y - b)
    hinge = (ax - c1x, ay - c1y)
    theta, level = 0.0, b + c1y
    if start == "dropped":
        theta = tilt
        lift = min(math.sin(tilt) * x + math.cos(tilt) * y for x, y in (left, right))
        level = height - lift
    if start == "equilibrium" and gravity > 0.0:
        mass = box_mass + rotor_mass
        part = rotor_mass / mass
        center = (part * (hinge[0] + eccentricity), part * hinge[1])
        theta, level = _equilibrium(left, right, center, mass * gravity, K, n)
    cos, sin = math.cos(theta), math.sin(theta)
    along = (math.cos(theta + phase), math.sin(theta + phase))  # from A to C2
    turning = 0.0 if start == "spinning" else rotor_speed * eccentricity

    box = RigidBody(
        name="box",
        mass=box_mass,
        inertia=box_inertia,
        position=(0.0, level),
        angle=theta,
        points={"O1": (-c1x, -c1y), "A": hinge, "left": left, "right": right},
        shapes={
            "outline": Polygon(
                vertices=(left, right, (right[0], b - c1y), (left[0], b - c1y))
            )
        },
    )
    rotor = RigidBody(
        name="rotor",
        mass=rotor_mass,
        inertia=rotor_inertia,
        position=(
            cos * hinge[0] - sin * hinge[1] + eccentricity * along[0],
            level + sin * hinge[0] + cos * hinge[1] + eccentricity * along[1],
        ),
        angle=theta + phase,
        velocity=(-turning * along[1], turning * along[0]),
        angular_velocity=rotor_speed,
        points={"A": (-eccentricity, 0.0)},
        # Drawn as the uniform disc of its inertia.
        shapes={"disc": Circle(radius=math.sqrt(2.0 * rotor_inertia / rotor_mass))},
    )
    normal = DampedHertz(stiffness=K, exponent=n, damping=c)
    rubbing = Coulomb(mu=mu, mu_static=mu0)
    return Model(
        title="compactor",
        gravity=(0.0, -gravity),
        bodies=(box, rotor),
        joints=(Revolute(name="hinge", a="box.A", b="rotor.A"),),
        drives=(
            RotationDrive(
                name="motor",
                a="box",
                b="rotor",
                law=ConstantRate(rate=rotor_speed, start=phase),
            ),
        ),
        contacts=(
            Contact(name="left", b="box.left", normal=normal, friction=rubbing),
            Contact(name="right", b="box.right", normal=normal, friction=rubbing),
        ),
        assemble=start == "spinning",
    )


def _equilibrium(
    left: Point, right: Point, center: Point, weight: float, K: float, n: float
) -> tuple[float, float]:
    """Return angle and height at which a body rests on two corners.

    Corners and mass centre are in the body's frame; `height` is of its origin. The
    balance of moments gives both forces at an angle, the ground's law the depths,
    and these must fit the angle:

        N_r = W (u - v tan th) / l,  N_l = W - N_r,  d = (N / K)^(1/n)
        l sin th = d_l - d_r

    with l the distance of the corners and (u, v) = center - left.
    """
    length = right[0] - left[0]
    u, v = center[0] - left[0], center[1] - left[1]
    theta = 0.0
    for _ in range(_MAX_NEWTON):
        force_right = weight * (u - v * math.tan(theta)) / length
        force_left = weight - force_right
        if not (force_left > 0.0 and force_right > 0.0):
            break
        depth_left = (force_left / K) ** (1.0 / n)
        depth_right = (force_right / K) ** (1.0 / n)
        error = length * math.sin(theta) - depth_left + depth_right
        shift = -weight * v / (length * math.cos(theta) ** 2)  # of the right force
        softness = depth_left / (n * force_left) + depth_right / (n * force_right)
        step = -error / (length * math.cos(theta) + softness * shift)
        theta += step
        if abs(step) <= _ROUND_OFF:
            lift = math.sin(theta) * left[0] + math.cos(theta) * left[1]
            return theta, -depth_left - lift
    raise ModelError(
        "compactor: start = 'equilibrium'; the box cannot rest on both corners: its "
        f"mass centre with the rotor's is {u:g} m from the left one, the right one "
        f"{length:g} m; give start = 'touching'"
    )
