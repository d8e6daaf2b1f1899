"""The plate compactor in exudyn: cpu time and error of theta1 over 0.5 s.

A box and an eccentric rotor on it, driven at constant relative speed; two corners
with F_N = max(0, K d^1.5 + c d d') and friction mu F_N clip(v_t / v_reg, -1, 1). From
`equilibrium`, which never sticks for long, so mu0 plays no part. Two formulations:

bodies
    Box and rotor are bodies, hinge and drive constraints, the corners connectors with
    symbolic user functions; generalised alpha. It has no error control, so a user
    function asks for short steps while a pressed corner reverses.
by_hand
    The three equations left without the rotor, in a Numba user function; DOPRI5.

Run from the root: `python -m benchmarks.peers.exudyn_compactor`.
"""

import argparse
import cmath
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
# Seen from C1 in the box frame: centre O1, hinge A, the two corners.
CENTRE, HINGE, LEFT, RIGHT, BELOW = 0.033 - 0.032j, 0.063 + 0.092j, -0.167, 0.233, -0.16
SHORT = 1e-3  # s²/m, short step over v_reg: v_t changes by up to 400 m/s²

Formulation = Literal["bodies", "by_hand"]


def _bodies(exu: Any, items: Any, mbs: Any, c1: complex, theta: float, v_reg: float):
    """Add box, rotor, joints and corners; return the box's node and what must live."""
    from exudyn.advancedUtilities import (  # pyright: ignore
        CreateSymbolicUserFunction as symbolic,
    )

    op, keep = exu.symbolic, []

    def body(mass: float, inertia: float, centre: complex, rate: list[float]):
        pose = [centre.real, centre.imag, theta]
        node = mbs.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=pose, initialVelocities=rate)
        )
        rigid = items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node)
        y = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1))
        mbs.AddLoad(items.LoadCoordinate(markerNumber=y, load=-mass * G))
        return node, mbs.AddObject(rigid)

    def point(body: Any, x: float, y: float) -> Any:
        at = items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0.0])
        return mbs.AddMarker(at)

    def corner(mbs, t, item, u, v, stiffness, damping, offset):
        d = op.max(-u[1], 0.0)
        f_n = op.max(0.0, d * (K * op.sqrt(d) - C * v[1]))
        return [MU * f_n * op.max(-1.0, op.min(1.0, v[0] / v_reg)), -1.0 * f_n, 0.0 * t]

    def angle(mbs, t, item, offset):
        return W * t

    def compiled(function: Any, name: str, kind: Any) -> dict[str, Any]:
        keep.append(symbolic(mbs, function, name, itemTypeName=kind.__name__))
        return {name: keep[-1]}

    turn = cmath.exp(1j * theta)
    box, one = body(M1, J1, c1, [0.0, 0.0, 0.0])
    rate = [-W * E * turn.imag, W * E * turn.real, W]
    rotor, two = body(M2, J2, c1 + turn * (HINGE + E), rate)
    hinge = [point(one, HINGE.real, HINGE.imag), point(two, -E, 0.0)]
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=hinge))
    angles = [
        mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        for node in (box, rotor)
    ]
    kind = items.ObjectConnectorCoordinate
    drive = compiled(angle, "offsetUserFunction", kind)
    mbs.AddObject(kind(markerNumbers=angles, **drive))
    ground = point(mbs.AddObject(items.ObjectGround()), 0.0, 0.0)
    kind = items.ObjectConnectorCartesianSpringDamper
    for side in (LEFT, RIGHT):
        law = compiled(corner, "springForceUserFunction", kind)
        mbs.AddObject(kind(markerNumbers=[ground, point(one, side, BELOW)], **law))
    return box, keep


def _guard(mbs: Any, y: float, theta: float, v_reg: float, zone: float) -> None:
    """Ask for short steps while a pressed corner reverses or is below zone v_reg."""
    before, now, short = [0.0, 0.0], [0.0, 0.0], SHORT * v_reg
    data = mbs.systemData

    def after_newton(mbs, t):
        q, v, wanted = data.GetODE2Coordinates(), data.GetODE2Coordinates_t(), False
        c, s = math.cos(q[2] + theta), math.sin(q[2] + theta)
        for i, side in enumerate((LEFT, RIGHT)):
            h = s * side + c * BELOW
            now[i] = v_t = v[0] - v[2] * h
            if q[1] + y + h < 0.0:
                wanted |= v_t * before[i] <= 0.0 or abs(v_t) < zone * v_reg
        if wanted and mbs.sys["dynamicSolver"].it.currentStepSize > 1.001 * short:
            return [10.0, short]  # an error above exudyn's limit, 1: repeat the step
        return [0.0, -1.0]

    def after_step(mbs, t):
        before[:] = now
        return True

    mbs.SetPostNewtonUserFunction(after_newton)
    mbs.SetPostStepUserFunction(after_step)


@numba.njit
def _force(t, y, theta, vx, vy, omega, v_reg):
    """Return forces and angular acceleration; y, vx, vy of the common mass centre."""
    c, s, m, share = math.cos(theta), math.sin(theta), M1 + M2, M2 / (M1 + M2)
    ex, ey = E * math.cos(W * t), E * math.sin(W * t)
    # The rotor's mass centre seen from C1 in the box frame, and its rate.
    sx, sy, ux, uy = HINGE.real + ex, HINGE.imag + ey, -W * ey, W * ex
    fx, fy, couple = 0.0, -m * G, W * W * (sx * ey - sy * ex)
    couple = M1 * share * (couple - 2.0 * omega * (sx * ux + sy * uy))
    for side in (LEFT, RIGHT):
        px, py = side - share * sx, BELOW - share * sy
        x, h = c * px - s * py, s * px + c * py
        v_t = vx - omega * h - share * (c * ux - s * uy)
        v_n = vy + omega * x - share * (s * ux + c * uy)
        d = max(0.0, -y - h)
        f_n = max(0.0, d * (K * math.sqrt(d) - C * v_n))
        f_t = -MU * f_n * max(-1.0, min(1.0, v_t / v_reg))
        fx, fy, couple = fx + f_t, fy + f_n, couple + x * f_n - h * f_t
    return fx, fy, couple / (J1 + J2 + M1 * share * (sx * sx + sy * sy))


def _by_hand(items: Any, mbs: Any, c1: complex, theta: float, v_reg: float, force: Any):
    """Add the reduced equations; return their node."""
    share, m = M2 / (M1 + M2) * cmath.exp(1j * theta), M1 + M2
    g, u = c1 + share * (HINGE + E), share * W * E * 1j

    def rhs(mbs, t, item, q, v):
        return force(t, q[1] + g.imag, q[2] + theta, v[0], v[1], v[2], v_reg)

    rhs(mbs, 0.0, 0, [0.0] * 3, [0.0] * 3)  # compiles
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[g.real, g.imag, theta],
            initialCoordinates=[0.0] * 3,
            initialCoordinates_t=[u.real, u.imag, 0.0],
            numberOfODE2Coordinates=3,
        )
    )
    kind, mass = items.ObjectGenericODE2, np.diag([m, m, 1.0])
    mbs.AddObject(kind(nodeNumbers=[node], massMatrix=mass, forceUserFunction=rhs))
    return node


def run(
    step: float,
    regularisation: float,
    formulation: Formulation = "bodies",
    *,
    tolerance: float = 1e-8,
    zone: float = 3.0,
    spectral_radius: float = 0.9,
    newton_tolerance: float = 1e-5,
    is_guarded: bool = True,
    is_compiled: bool = True,
    repeat: int = 3,
    reference: Path = REFERENCE,
) -> dict[str, Any]:
    exu, items = _load(True)
    exu.config.printToConsole = False
    table = np.genfromtxt(reference, delimiter=",", names=True)
    theta = float(table["theta1"][0])
    c1 = complex(table["x_O1"][0], table["y_O1"][0]) - cmath.exp(1j * theta) * CENTRE
    cpu = math.inf
    for is_last in [False] * repeat + [True]:
        container = exu.SystemContainer()
        mbs, s = container.AddSystem(), exu.SimulationSettings()
        ti = s.timeIntegration
        if formulation == "bodies":
            node, keep = _bodies(exu, items, mbs, c1, theta, regularisation)
            if is_guarded:
                _guard(mbs, c1.imag, theta, regularisation, zone)
            ti.newton.useModifiedNewton = False
            ti.newton.relativeTolerance = newton_tolerance
            ti.generalizedAlpha.spectralRadius = spectral_radius
            ti.adaptiveStepRecoverySteps, ti.adaptiveStepIncrease = 2, 2.0
            ti.adaptiveStepRecoveryIterations = 100
            ti.minimumStepSize = 1e-12
        else:
            force = _force if is_compiled else _force.py_func
            node = _by_hand(items, mbs, c1, theta, regularisation, force)
            ti.solverType = exu.DynamicSolverType.DOPRI5
            ti.automaticStepSize = True
            ti.absoluteTolerance = ti.relativeTolerance = tolerance
            ti.initialStepSize, ti.minimumStepSize = 1e-6, 1e-14
        sensors = []
        if is_last:
            kinds = exu.OutputVariableType
            sensors = [
                mbs.AddSensor(
                    items.SensorNode(
                        nodeNumber=node, outputVariableType=kind, storeInternal=True
                    )
                )
                for kind in (kinds.Coordinates, kinds.Coordinates_t)
            ]
        s.solution.file.write, s.solution.sensors.active = False, is_last
        s.solution.sensors.writePeriod = 1e-12
        s.parallel.numberOfThreads = 1
        ti.endTime, ti.numberOfSteps, ti.verboseMode = T_END, round(T_END / step), 0
        mbs.Assemble()
        begin = time.process_time()
        try:
            ok = bool(mbs.SolveDynamic(s, showCausingItems=False))
        except exu.ExudynError:
            ok = False
        if not is_last:
            cpu = min(cpu, time.process_time() - begin)
    q, v = (mbs.GetSensorStoredData(sensor) for sensor in sensors)
    t, first = np.unique(q[:, 0], return_index=True)
    motion = CubicHermiteSpline(t, q[first, 3] + theta, v[first, 3])
    error = np.abs(motion(table["t"]) - table["theta1"])
    count = mbs.sys["dynamicSolver"].it
    return dict(ok=ok, cpu_seconds=cpu, error=float(error.max()), error_end=float(error[-1]),
      steps=int(count.currentStepIndex)-1)
