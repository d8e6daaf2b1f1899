"""The plate compactor in exudyn: cpu time and error of theta1 over 0.5 s.

A box and an eccentric rotor, driven at constant relative speed, start `equilibrium`;
F_N = max(0, K d^1.5 + c d d') and friction mu F_N clip(v_t / v_reg, -1, 1) at two
corners (they never stay stuck, so mu0 plays no part). Formulations: `bodies`, hinge and
drive as constraints, corners as connectors with symbolic user functions, generalised
alpha; `by_hand`, the three equations left without the rotor, in a Numba user function,
DOPRI5. `python -m benchmarks.peers.exudyn_compactor` prints the table of both.
"""

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
M1, M2, J1, J2 = 92.0, 7.0, 0.4423, 0.00247
K, C, MU, W, E, G, T_END = 3.1e6, 23e3, 0.45, 420.0, 0.018, 9.81, 0.5
# Seen from C1 in the box frame: centre O1, hinge A, the two corners.
CENTRE, HINGE, LEFT, RIGHT, BELOW = 0.033 - 0.032j, 0.063 + 0.092j, -0.167, 0.233, -0.16
SHORT = 3e-4  # s²/m, short step over v_reg: v_t changes by up to 1000 m/s²
# Largest error to reach, rad; step, s; v_reg, m/s; tolerance. The best of a scan.
BEST: tuple[tuple[Any, float, float, float, float], ...] = (
    ("bodies", 1e-3, 1e-4, 1e-2, 0.0), ("bodies", 1e-4, 4e-5, 1e-3, 0.0),
    ("bodies", 1e-5, 1e-5, 1e-4, 0.0), ("bodies", 1e-6, 5e-6, 1e-5, 0.0),
    ("by_hand", 1e-3, 1e-3, 1e-3, 1e-7), ("by_hand", 1e-4, 1e-3, 1e-3, 1e-8),
    ("by_hand", 1e-5, 1e-3, 1e-4, 3e-10), ("by_hand", 1e-6, 1e-3, 1e-8, 5e-11),
)  # fmt: skip


def _bodies(
    exu: Any, items: Any, mbs: Any, c1: complex, theta: float, v_reg: float,
    w: float = W,
):  # fmt: skip
    """Add box, rotor, joints and corners; return the box's node."""
    from exudyn.advancedUtilities import CreateSymbolicUserFunction  # pyright: ignore

    op, turn = exu.symbolic, cmath.exp(1j * theta)

    def body(mass: float, inertia: float, centre: complex, rate: list[float]):
        pose = {"referenceCoordinates": [centre.real, centre.imag, theta]}
        node = mbs.AddNode(items.NodeRigidBody2D(initialVelocities=rate, **pose))
        y = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1))
        mbs.AddLoad(items.LoadCoordinate(markerNumber=y, load=-mass * G))
        rigid = items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node)
        return node, mbs.AddObject(rigid)

    def law(kind: str, name: str, function: Any) -> dict[str, Any]:
        compiled = CreateSymbolicUserFunction(mbs, function, name, itemTypeName=kind)
        mbs.variables[len(mbs.variables)] = compiled  # has to live with the system
        return {name: compiled}

    def force(mbs, t, item, u, v, stiffness, damping, offset):
        d = op.max(-u[1], 0.0)
        f_n = op.max(0.0, d * (K * op.sqrt(d) - C * v[1]))
        return [MU * f_n * op.max(-1.0, op.min(1.0, v[0] / v_reg)), -1.0 * f_n, 0.0 * t]

    box, one = body(M1, J1, c1, [0.0, 0.0, 0.0])
    rate = [-w * E * turn.imag, w * E * turn.real, w]
    rotor, two = body(M2, J2, c1 + turn * (HINGE + E), rate)
    hinge = [
        mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=b, localPosition=[x, y, 0.0]))
        for b, x, y in ((one, HINGE.real, HINGE.imag), (two, -E, 0.0))
    ]
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=hinge))
    kind, name = "ObjectConnectorCoordinate", "offsetUserFunction"
    spin = law(kind, name, lambda mbs, t, item, offset: w * t)
    mbs.CreateCoordinateConstraint(itemNumbers=[box, rotor], coordinates=[2, 2], **spin)
    kind, name = "ObjectConnectorCartesianSpringDamper", "springForceUserFunction"
    pair = {"itemNumbers": [mbs.AddObject(items.ObjectGround()), one]}
    for at in ([LEFT, BELOW, 0.0], [RIGHT, BELOW, 0.0]):
        pair |= law(kind, name, force)
        mbs.CreateCartesianSpringDamper(localPosition1=at, **pair)
    return box


def _guard(mbs: Any, y: float, theta: float, v_reg: float) -> None:
    """Ask for short steps while a pressed corner reverses or almost does."""
    before, data, short = [0.0, 0.0], mbs.systemData, SHORT * v_reg

    def after_newton(mbs, t):
        q, v = data.GetODE2Coordinates(), data.GetODE2Coordinates_t()
        c, s, wanted, now = math.cos(q[2] + theta), math.sin(q[2] + theta), False, []
        for side, old in ((LEFT, before[0]), (RIGHT, before[1])):
            h = s * side + c * BELOW
            now.append(v[0] - v[2] * h)
            is_slow = now[-1] * old <= 0.0 or abs(now[-1]) < 3.0 * v_reg
            wanted |= is_slow and q[1] + y + h < 0.0
        if wanted and mbs.sys["dynamicSolver"].it.currentStepSize > 1.001 * short:
            return [10.0, short]  # an error above 1 repeats the step
        before[:] = now
        return [0.0, -1.0]

    mbs.SetPostNewtonUserFunction(after_newton)


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


def sweep(speeds: list[float], until: float, step: float, v_reg: float) -> list[float]:
    """Return the mean speeds of the box, m/s, of a plain loop over rotor speeds.

    Formulation `bodies` with the guard, as in `run`; each model is built anew.
    """
    exu, items = _load(True)
    exu.config.printToConsole = False
    table = np.genfromtxt(REFERENCE, delimiter=",", names=True)
    theta = float(table["theta1"][0])
    c1 = complex(table["x_O1"][0], table["y_O1"][0]) - cmath.exp(1j * theta) * CENTRE
    found: list[float] = []
    for w in speeds:
        container, s = exu.SystemContainer(), exu.SimulationSettings()
        mbs, ti = container.AddSystem(), s.timeIntegration
        _bodies(exu, items, mbs, c1, theta, v_reg, w)
        _guard(mbs, c1.imag, theta, v_reg)
        _settle(ti, until, step)
        s.solution.file.write, s.solution.sensors.active = False, False
        s.parallel.numberOfThreads = 1
        mbs.Assemble()
        mbs.SolveDynamic(s, showCausingItems=False)
        found.append(float(mbs.systemData.GetODE2Coordinates()[0]) / until)
    return found


def _settle(ti: Any, until: float, step: float) -> None:
    """Set generalised alpha for `bodies` with the guard."""
    # One iteration a step; where Newton fails, go to short steps at once.
    ti.newton.useModifiedNewton, ti.newton.relativeTolerance = False, 1e-5
    ti.adaptiveStepDecrease, ti.adaptiveStepIncrease = 0.02, 1.5
    ti.adaptiveStepRecoverySteps, ti.adaptiveStepRecoveryIterations = 2, 100
    ti.initialStepSize, ti.minimumStepSize = 1e-6, 1e-14
    ti.endTime, ti.numberOfSteps, ti.verboseMode = until, round(until / step), 0


def _by_hand(items: Any, mbs: Any, c1: complex, theta: float, v_reg: float):
    """Add the reduced equations; return their node."""
    m, share = M1 + M2, M2 / (M1 + M2) * cmath.exp(1j * theta)
    g, u = c1 + share * (HINGE + E), share * W * E * 1j

    def rhs(mbs, t, item, q, v):
        return _force(t, q[1] + g.imag, q[2] + theta, v[0], v[1], v[2], v_reg)

    rhs(mbs, 0.0, 0, [0.0] * 3, [0.0] * 3)  # compiles
    node = mbs.AddNode(items.NodeGenericODE2(
        referenceCoordinates=[g.real, g.imag, theta], initialCoordinates=[0.0] * 3,
        initialCoordinates_t=[u.real, u.imag, 0.0], numberOfODE2Coordinates=3,
    ))  # fmt: skip
    mass = {"massMatrix": np.diag([m, m, 1.0]), "nodeNumbers": [node]}
    mbs.AddObject(items.ObjectGenericODE2(forceUserFunction=rhs, **mass))
    return node


def run(
    step: float, regularisation: float, *, tolerance: float = 0.0, repeat: int = 3,
    formulation: Literal["bodies", "by_hand"] = "bodies", is_guarded: bool = True,
) -> dict[str, float]:  # fmt: skip
    """Solve `repeat` times for the least process time, once more for the series.

    `step` is the longest, s; `regularisation` v_reg, m/s; `tolerance` of `by_hand`;
    `error` the largest of theta1, rad, `error_end` at 0.5 s. Raises what exudyn raises.
    """
    exu, items = _load(True)
    exu.config.printToConsole = False
    table = np.genfromtxt(REFERENCE, delimiter=",", names=True)
    theta, v_reg = float(table["theta1"][0]), regularisation
    c1 = complex(table["x_O1"][0], table["y_O1"][0]) - cmath.exp(1j * theta) * CENTRE
    cpu, series, what = [math.inf], [], exu.OutputVariableType
    for is_recorded in (*[False] * repeat, True):
        container, s = exu.SystemContainer(), exu.SimulationSettings()
        mbs, ti = container.AddSystem(), s.timeIntegration
        if formulation == "bodies":
            node = _bodies(exu, items, mbs, c1, theta, v_reg)
            if is_guarded:
                _guard(mbs, c1.imag, theta, v_reg)
            _settle(ti, T_END, step)
        else:
            node = _by_hand(items, mbs, c1, theta, v_reg)
            ti.solverType, ti.automaticStepSize = exu.DynamicSolverType.DOPRI5, True
            ti.absoluteTolerance = ti.relativeTolerance = tolerance
        ti.initialStepSize, ti.minimumStepSize = 1e-6, 1e-14
        ti.endTime, ti.numberOfSteps, ti.verboseMode = T_END, round(T_END / step), 0
        s.solution.file.write, s.solution.sensors.active = False, is_recorded
        s.solution.sensors.writePeriod, s.parallel.numberOfThreads = 1e-12, 1
        for kind in (what.Coordinates, what.Coordinates_t) if is_recorded else ():
            fields = {"nodeNumber": node, "outputVariableType": kind}
            series.append(mbs.AddSensor(items.SensorNode(storeInternal=True, **fields)))
        mbs.Assemble()
        begin = time.process_time()
        mbs.SolveDynamic(s, showCausingItems=False)
        cpu += [] if is_recorded else [time.process_time() - begin]
        series = [mbs.GetSensorStoredData(i) for i in series]
    q, v = series  # at every step
    motion = CubicHermiteSpline(q[:, 0], theta + q[:, 3], v[:, 3])
    error = np.abs(motion(table["t"]) - table["theta1"])
    result = {"cpu_seconds": min(cpu), "error": float(error.max())}
    return result | {"error_end": float(error[-1]), "n_step": len(q) - 1}


def main() -> None:
    """Print a line for each of the best settings."""
    print("formulation target step  v_reg tol     cpu s error   at end  steps")
    for name, target, step, v_reg, tol in BEST:
        r = run(step, v_reg, formulation=name, tolerance=tol)
        print(f"{name:11} {target:.0e}  {step:.0e} {v_reg:.0e} {tol:.0e}", end=" ")
        print("{cpu_seconds:7.4f} {error:.1e} {error_end:.1e} {n_step}".format(**r))


if __name__ == "__main__":
    main()
