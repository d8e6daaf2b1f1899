"""A pendulum with friction in its pin, in exudyn: cpu time and error of its angle.

A body of mass m with inertia I about its mass centre, l from the pin; phi counts from
hanging down. The pin of radius r bears the force F and resists by mu r |F|. |F| depends
on phi'' and phi'' on |F|:

    J phi'' = -m g l sin phi - q |F|,    J = I + m l^2,    q = ± mu r
    |F|^2 = R^2 + (A - B |F|)^2
    R = m (l phi'^2 + g cos phi),  A = m g sin phi (1 - m l^2/J),  B = m l q/J

It starts at rest at a right angle, swings 19 times and sticks from 16.24 s on.
exudyn has no friction that depends on a reaction; here it is regularised,
q = mu r tanh(r phi'/v_reg). Formulations: `bodies`, a body on a revolute joint, whose
friction reads the joint's force in a user function, generalised alpha; `by_hand`, the
one equation above in a Numba user function, DOPRI5.
`python -m benchmarks.peers.exudyn_pendulum` prints the table of both.
"""

import math
import time
from typing import Any, Literal

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from benchmarks.peers.exudyn_n_four_bar import _load

MASS, ARM, INERTIA, RADIUS, MU, G = 1.0, 0.5, 1.0 / 12.0, 0.05, 0.3, 9.81
TOTAL = INERTIA + MASS * ARM**2  # kg m^2, J
START, T_END = 0.5 * math.pi, 20.0  # rad, s
SAMPLES = np.linspace(0.0, T_END, 2001)  # s
# Largest error to reach, rad; step, s; v_reg, m/s; tolerance; spectral radius. The best
# of a scan; the tolerance of `bodies` is Newton's.
BEST: tuple[tuple[Any, float, float, float, float, float], ...] = (
    ("bodies", 1e-3, 3e-3, 1e-5, 1e-5, 0.9), ("bodies", 1e-4, 5e-4, 1e-6, 1e-6, 0.9),
    ("bodies", 1e-5, 5e-5, 1e-7, 1e-6, 0.6),
    ("by_hand", 1e-3, 5e-2, 1e-5, 1e-6, 0.0), ("by_hand", 1e-4, 5e-2, 1e-6, 1e-8, 0.0),
    ("by_hand", 1e-5, 5e-2, 1e-7, 1e-8, 0.0),
)  # fmt: skip


@numba.njit
def _acceleration(phi, omega, q):
    """Return phi'' with the friction -q |F|."""
    radial = MASS * (ARM * omega * omega + G * math.cos(phi))
    a = MASS * G * math.sin(phi) * (1.0 - MASS * ARM * ARM / TOTAL)
    b = MASS * ARM * q / TOTAL
    rest = 1.0 - b * b
    load = math.sqrt(a * a * b * b + rest * (radial * radial + a * a)) - a * b
    return (-MASS * G * ARM * math.sin(phi) - q * load / rest) / TOTAL


@numba.njit
def _smeared(phi, omega, v_reg):
    """Return phi'' with regularised friction."""
    return _acceleration(phi, omega, MU * RADIUS * math.tanh(RADIUS * omega / v_reg))


def exact(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return phi with set-valued friction, swing by swing until it sticks."""
    now, y, phi = 0.0, [START, 0.0], np.zeros(len(t))
    while now < T_END:
        if ARM * abs(math.sin(y[0])) <= MU * RADIUS:  # |F| = m g at rest
            phi[t >= now] = y[0]
            break
        q = -math.copysign(MU * RADIUS, y[0])

        def slope(t: float, y: Any, q: float = q) -> list[float]:
            return [y[1], _acceleration(y[0], y[1], q)]

        def stop(t: float, y: Any) -> float:
            return float(y[1])

        stop.__dict__.update(terminal=True, direction=-q)
        swing: Any = solve_ivp(
            slope, (now, T_END), y, "DOP853", events=stop, rtol=1e-13, atol=1e-14,
            max_step=0.02, dense_output=True,
        )  # fmt: skip
        end = float(swing.t[-1])
        is_in = (t >= now) & (t <= end)
        phi[is_in] = swing.sol(t[is_in])[0]
        now, y = end, [float(swing.y[0, -1]), 0.0]
    return phi


def _bodies(items: Any, mbs: Any, v_reg: float) -> Any:
    """Add the body, its joint and the friction; return the body's node."""
    pose = {"referenceCoordinates": [ARM, 0.0, 0.0]}
    node = mbs.AddNode(items.NodeRigidBody2D(initialVelocities=[0.0] * 3, **pose))
    rigid = items.ObjectRigidBody2D(mass=MASS, inertia=INERTIA, nodeNumber=node)
    body, ground = mbs.AddObject(rigid), mbs.AddObject(items.ObjectGround())
    fixed = mbs.AddNode(items.NodePointGround())
    y, angle, still = (
        mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=n, coordinate=c))
        for n, c in ((node, 1), (node, 2), (fixed, 0))
    )
    mbs.AddLoad(items.LoadCoordinate(markerNumber=y, load=-MASS * G))
    pin = [
        mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=b, localPosition=[x, 0, 0]))
        for b, x in ((ground, 0.0), (body, -ARM))
    ]
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=pin))
    data, tanh, hypot = mbs.systemData, math.tanh, math.hypot

    def torque(mbs, t, item, u, v, *law):
        x, y = data.GetAECoordinates()  # the joint's force, of this iteration
        return MU * RADIUS * hypot(x, y) * tanh(RADIUS * v / v_reg)

    friction = {"markerNumbers": [still, angle], "springForceUserFunction": torque}
    mbs.AddObject(items.ObjectConnectorCoordinateSpringDamper(**friction))
    return node


def _by_hand(items: Any, mbs: Any, v_reg: float) -> Any:
    """Add the one equation; return its node."""

    def rhs(mbs, t, item, q, v):
        return [_smeared(q[0] + START, v[0], v_reg)]

    rhs(mbs, 0.0, 0, [0.0], [0.0])  # compiles
    node = mbs.AddNode(items.NodeGenericODE2(
        referenceCoordinates=[START], initialCoordinates=[0.0],
        initialCoordinates_t=[0.0], numberOfODE2Coordinates=1,
    ))  # fmt: skip
    mass = {"massMatrix": np.eye(1), "nodeNumbers": [node]}
    mbs.AddObject(items.ObjectGenericODE2(forceUserFunction=rhs, **mass))
    return node


def run(
    step: float, regularisation: float, tolerance: float, *, repeat: int = 2,
    formulation: Literal["bodies", "by_hand"] = "bodies", radius: float = 0.9,
) -> dict[str, float]:  # fmt: skip
    """Solve `repeat` times for the least process time, once more for the series.

    `step` is the longest, s; `regularisation` v_reg, m/s; `tolerance` Newton's in
    `bodies`, the step's in `by_hand`; `radius` the spectral one. `error` is the largest
    of phi over the samples, `error_moving` up to 16.2 s, rad. Raises what exudyn does.
    """
    exu, items = _load(True)
    exu.config.printToConsole = False
    cpu, series, what = [math.inf], [], exu.OutputVariableType
    column = 3 if formulation == "bodies" else 1
    for is_recorded in (*[False] * repeat, True):
        container, s = exu.SystemContainer(), exu.SimulationSettings()
        mbs, ti = container.AddSystem(), s.timeIntegration
        if formulation == "bodies":
            node = _bodies(items, mbs, regularisation)
            # The Jacobian is kept; it does not know how friction depends on the force.
            ti.newton.useModifiedNewton, ti.newton.relativeTolerance = True, tolerance
            ti.generalizedAlpha.spectralRadius = radius
            s.linearSolver.solverType = exu.LinearSolverType.EXUdense
        else:
            node = _by_hand(items, mbs, regularisation)
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
    motion = CubicHermiteSpline(q[:, 0], START + q[:, column], v[:, column])
    error = np.abs(motion(SAMPLES) - exact(SAMPLES))
    result = {"cpu_seconds": min(cpu), "error": float(error.max())}
    moving = float(error[SAMPLES < 16.2].max())
    return result | {"error_moving": moving, "n_step": len(q) - 1}


def main() -> None:
    """Print a line for each of the best settings."""
    print("formulation target step  v_reg tol     cpu s error   moving  steps")
    for name, target, step, v_reg, tol, radius in BEST:
        r = run(step, v_reg, tol, formulation=name, radius=radius)
        print(f"{name:11} {target:.0e}  {step:.0e} {v_reg:.0e} {tol:.0e}", end=" ")
        print("{cpu_seconds:7.4f} {error:.1e} {error_moving:.1e} {n_step}".format(**r))


if __name__ == "__main__":
    main()
