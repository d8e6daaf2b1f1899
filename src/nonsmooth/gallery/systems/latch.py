"""A latch that snaps in, and opens under a pull or locks itself by friction."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Prismatic
from nonsmooth.elements.laws import Expression
from nonsmooth.elements.normal import HuntCrossley
from nonsmooth.elements.shapes import Polygon
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.model import Model

UNTIL = 2.2  # s
RANGES = {"mu": (0.0, 1.0), "pull": (80.0, 300.0), "preload": (5.0, 15.0)}

_LEAD, _HOLD = math.radians(30.0), math.radians(60.0)  # of the flanks
_HIGH, _FLAT = 0.008, 0.006  # m, of a tooth and its tip
_ARM, _TALL = 0.01, 0.035  # m, width of the hook's arm, and its end above the tip
_LONG, _THICK = 0.1, 0.01  # m, of the bolt
_BOLT, _HOOK = 0.2, 0.05  # kg
_SPRING = 400.0  # N/m, of the hook, beside its preload
_DRAG = 20.0  # N s/m, of the spring by which the bolt is moved
_LAW = HuntCrossley(stiffness=5e6, exponent=1.0, damping=5.0)


def latch(*, mu: float = 0.3, pull: float = 120.0, preload: float = 10.0) -> Model:
    """Push a bolt under a hook until it snaps in, then pull.

    A spring presses the hook down by `preload`, and by 3.2 N more where it is highest;
    it and the bolt slide in guides without friction. A hand pushes the bolt in by a
    spring during the first half second, and draws it back from 1 s to 2 s, with up to
    `pull` if the latch holds. Flanks of 30 degrees let the bolt in, and flanks of 60
    degrees hold it. With rho = arctan(mu) the latch begins to open at the pull

        preload tan(60 deg + rho),

    42.3 N by default. From mu = 1/tan(60 deg) = 0.577 on it locks itself: no pull
    opens it.

    Bodies `bolt` (point `end`), a bar with a tooth, and `hook` (point `top`), an arm
    with a tooth, both of two convex pieces, and `hand`; joints `rail` and `guide`;
    springs `push` and `spring`; contact `catch`, of all pieces of the bolt with all of
    the hook. The hand pulls with `push.force_x`.

    Parameters
    ----------
    mu : float
        Coefficient of friction, at rest and in motion, 1.
    pull : float
        Force with which the hand pulls in the end if the latch holds, N.
    preload : float
        Force of the hook's spring where the latch is closed, N.

    References
    ----------
    A classic.
    """
    at_least("latch", 0.0, mu=mu)
    positive("latch", pull=pull, preload=preload)
    lead, hold = _HIGH / math.tan(_LEAD), _HIGH / math.tan(_HOLD)
    # Of the bolt, from the middle of its tooth's tip; the lead is on its left.
    half, w = 0.5 * _FLAT, 0.5 * _ARM
    tooth = ((-half - lead, 0.0), (half + hold, 0.0), (half, _HIGH), (-half, _HIGH))
    bar = ((-0.5 * _LONG, -_THICK), (0.5 * _LONG, -_THICK))
    bar += ((0.5 * _LONG, 0.0), (-0.5 * _LONG, 0.0))
    # Of the hook, from the middle of its tip; flanks are parallel to the bolt's.
    hook = ((-half, 0.0), (half, 0.0), (half + lead, _HIGH), (-half - hold, _HIGH))
    arm = ((-w, _HIGH), (w, _HIGH), (w, _TALL), (-w, _TALL))
    # Snapped in, tips are this far apart, with a clearance of a millimetre.
    apart = 2.0 * half + hold + 1e-3
    start = 2.0 * half + lead + 5e-3
    sink = preload / _LAW.stiffness
    long = 0.06  # m, of the spring of the hand
    far = 0.5 * _LONG + long
    way = f"{far + start!r} - {start + apart!r}*(smoothstep(2*t) - smoothstep(t - 1))"
    high = 0.04  # m, of the hook's spring where the latch is closed
    return Model(
        title="latch",
        bodies=(
            Ground(points={"top": (0.0, _TALL - sink + high)}),
            MovingSupport(name="hand", x=Expression(text=way), y=-0.5 * _THICK),
            RigidBody(
                name="bolt",
                mass=_BOLT,
                inertia=1e-4,
                position=(start, 0.0),
                points={"end": (0.5 * _LONG, -0.5 * _THICK)},
                shapes={"bar": Polygon(vertices=bar), "tooth": Polygon(vertices=tooth)},
            ),
            RigidBody(
                name="hook",
                mass=_HOOK,
                inertia=1e-5,
                position=(0.0, -sink),
                points={"top": (0.0, _TALL)},
                shapes={"arm": Polygon(vertices=arm), "tooth": Polygon(vertices=hook)},
            ),
        ),
        joints=(
            Prismatic(name="rail", b="bolt"),
            Prismatic(name="guide", b="hook", axis=0.5 * math.pi),
        ),
        forces=(
            SpringDamper(
                name="push",
                a="hand",
                b="bolt.end",
                stiffness=pull / (start + apart),
                damping=_DRAG,
                rest_length=long,
            ),
            SpringDamper(
                name="spring",
                a="ground.top",
                b="hook.top",
                stiffness=_SPRING,
                damping=2.0,
                rest_length=high + preload / _SPRING,
            ),
        ),
        contacts=(
            Contact(
                name="catch",
                a="bolt",
                b="hook",
                normal=_LAW,
                friction=Coulomb(mu=mu) if mu else None,
            ),
        ),
    )
