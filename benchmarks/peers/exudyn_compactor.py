"""The plate compactor in exudyn: cpu time and error of theta1 over 0.5 s.

A box and an eccentric rotor on it, driven at constant relative speed; two corners
with F_N = max(0, K d^1.5 + c d d') and Coulomb friction mu clip(v_t / v_reg, -1, 1).
From `equilibrium`, without lasting stick, so mu0 plays no part. Two formulations:

bodies
    Box and rotor are bodies, hinge and drive constraints, the corners connectors with
    symbolic user functions. Generalised alpha. As it has no error control, a user
    function asks for short steps while a pressed corner reverses.
by_hand
    The three equations left without the rotor, in a Numba user function. DOPRI5.

Run from the root of the repository:

    python -m benchmarks.peers.exudyn_compactor
"""

import argparse
import math
import time
from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np
from scipy.interpolate import CubicHermiteSpline

from benchmarks.peers.exudyn_n_four_bar import _load

REFERENCE = Path(__file__).parents[2] / "tests" / "data" / "compactor_transient.csv"
T_END = 0.5  # s
M1, M2, J1, J2 = 92.0, 7.0, 0.4423, 0.00247
K, C, MU, W, E, G = 3.1e6, 23e3, 0.45, 420.0, 0.018, 9.81
# From C1, in the box frame.
O1, HINGE = (0.033, -0.032), (0.063, 0.092)
LEFT, RIGHT, BELOW = -0.167, 0.233, -0.16
SHORT = 1e-3  # s²/m, short step over v_reg; slip changes by up to 400 m/s²

Formulation = Literal["bodies", "by_hand"]
# Target, rad: settings that keep to it all along, with a margin for other steps.
BEST: dict[Formulation, dict[float, dict[str, float]]] = {"bodies": {}, "by_hand": {}}


def _turned(angle: float, x: float, y: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


def _bodies(exu: Any, items: Any, mbs: Any, start: Any, v_reg: float) -> tuple[Any, ...]:
    """Add box, rotor, joints and corners; return the box's node and what must live."""
    from exudyn.advancedUtilities import (  # pyright: ignore
        CreateSymbolicUserFunction as symbolic,
    )

    op, keep = exu.symbolic, []

    def body(mass: float, inertia: float, pose: Any, rate: Any) -> tuple[Any, Any]:
        node = mbs.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=pose, initialVelocities=rate)
        )
        y = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1))
        mbs.AddLoad(items.LoadCoordinate(markerNumber=y, load=-mass * G))
        add = items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node)
        return node, mbs.AddObject(add)

    def point(body: Any, x: float, y: float) -> Any:
        add = items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0.0])
        return mbs.AddMarker(add)

    def corner(mbs, t, item, u, v, stiffness, damping, offset):
        d = op.max(-u[1], 0.0)
        f_n = op.max(0.0, d * (K * op.sqrt(d) - C * v[1]))
        return [MU * f_n * op.max(-1.0, op.min(1.0, v[0] / v_reg)), -1.0 * f_n, 0.0 * t]

    def angle(mbs, t, item, offset):
        return W * t

    def compiled(function: Any, name: str, kind: str) -> Any:
        keep.append(symbolic(mbs, function, name, itemTypeName=kind))
        return keep[-1]

    x, y, theta = start
    ex, ey = _turned(theta, E, 0.0)
    ax, ay = _turned(theta, *HINGE)
    box, one = body(M1, J1, [x, y, theta], [0.0, 0.0, 0.0])
    pose, rate = [x + ax + ex, y + ay + ey, theta], [-W * ey, W * ex, W]
    rotor, two = body(M2, J2, pose, rate)
    hinge = [point(one, *HINGE), point(two, -E, 0.0)]
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=hinge))
    turn = [
        mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        for node in (box, rotor)
    ]
    kind = "ObjectConnectorCoordinate"
    drive = compiled(angle, "offsetUserFunction", kind)
    add = items.ObjectConnectorCoordinate(markerNumbers=turn, offsetUserFunction=drive)
    mbs.AddObject(add)
    ground = point(mbs.AddObject(items.ObjectGround()), 0.0, 0.0)
    kind = "ObjectConnectorCartesianSpringDamper"
    for side in (LEFT, RIGHT):
        add = items.ObjectConnectorCartesianSpringDamper(
            markerNumbers=[ground, point(one, side, BELOW)],
            springForceUserFunction=compiled(corner, "springForceUserFunction", kind),
        )
        mbs.AddObject(add)
    return box, keep


def _guard(mbs: Any, y_0: float, theta_0: float, v_reg: float, zone: float) -> None:
    """Ask for short steps while a pressed corner is slow or reverses."""
    before, now = [0.0, 0.0], [0.0, 0.0]

    def after_newton(mbs, t):
        q, v = mbs.systemData.GetODE2Coordinates(), mbs.systemData.GetODE2Coordinates_t()
        s, c = math.sin(q[2] + theta_0), math.cos(q[2] + theta_0)
        wanted = False
        for i, side in enumerate((LEFT, RIGHT)):
            height = s * side + c * BELOW
            now[i] = slip = v[0] - v[2] * height
            if q[1] + y_0 + height < 0.0:
                wanted |= slip * before[i] <= 0.0 or abs(slip) < zone * v_reg
        short = SHORT * v_reg
        if wanted and mbs.sys["dynamicSolver"].it.currentStepSize > 1.001 * short:
            return [10.0, short]  # an error above exudyn's limit of 1: repeat
        return [0.0, -1.0]

    def after_step(mbs, t):
        before[:] = now
        return True

    mbs.SetPostNewtonUserFunction(after_newton)
    mbs.SetPostStepUserFunction(after_step)


@numba.njit
def _force(t, y, theta, vx, vy, omega, v_reg):  # pragma: no cover
    """Return force and angular acceleration; x and y are of the common mass centre."""
    c, s, m = math.cos(theta), math.sin(theta), M1 + M2
    ex, ey = E * math.cos(W * t), E * math.sin(W * t)
    # The rotor seen from C1 in the box frame, and its rate.
    sx, sy, tx, ty = HINGE[0] + ex, HINGE[1] + ey, -W * ey, W * ex
    share, reduced = M2 / m, M1 * M2 / m
    fx, fy = 0.0, -m * G
    moment = reduced * (W * W * (sx * ey - sy * ex) - 2.0 * omega * (sx * tx + sy * ty))
    for side in (LEFT, RIGHT):
        px, py = side - share * sx, BELOW - share * sy
        x, h = c * px - s * py, s * px + c * py
        v_n = vy + omega * x - share * (s * tx + c * ty)
        d = max(0.0, -y - h)
        f_n = max(0.0, d * (K * math.sqrt(d) - C * v_n))
        v_t = vx - omega * h - share * (c * tx - s * ty)
        f_t = -MU * f_n * max(-1.0, min(1.0, v_t / v_reg))
        fx, fy, moment = fx + f_t, fy + f_n, moment + x * f_n - h * f_t
    return fx, fy, moment / (J1 + J2 + reduced * (sx * sx + sy * sy))


def _by_hand(items: Any, mbs: Any, start: Any, v_reg: float, python: bool) -> Any:
    """Add the reduced equations; return their node."""
    x, y, theta = start
    share, force = M2 / (M1 + M2), _force.py_func if python else _force
    gx, gy = _turned(theta, share * (HINGE[0] + E), share * HINGE[1])
    ux, uy = _turned(theta, 0.0, share * W * E)
    y_g = y + gy

    def rhs(mbs, t, item, q, v):
        return force(t, q[1] + y_g, q[2] + theta, v[0], v[1], v[2], v_reg)

    rhs(None, 0.0, 0, [0.0] * 3, [0.0] * 3)  # compiles
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[x + gx, y_g, theta],
            initialCoordinates=[0.0] * 3,
            initialCoordinates_t=[ux, uy, 0.0],
            numberOfODE2Coordinates=3,
        )
    )
    mass = np.diag([M1 + M2, M1 + M2, 1.0])
    mbs.AddObject(
        items.ObjectGenericODE2(
            nodeNumbers=[node], massMatrix=mass, forceUserFunction=rhs
        )
    )
    return node
