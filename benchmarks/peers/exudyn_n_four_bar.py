"""The N-four-bar in exudyn: cpu time and error against the exact motion.

N + 1 rockers and N couplers, uniform rods of 1 m and 1 kg, each a rigid body with
three coordinates; 3 N + 1 revolute joints. The rockers start upright at 1 rad/s and
pass the flat, singular poses twice a turn. `tests.oracles.n_four_bar` has the exact
motion.

Run from the root of the repository:

    python -m benchmarks.peers.exudyn_n_four_bar 1 10 100

Nothing is written to files. `README.md` in this folder has the findings.
"""

import argparse
import contextlib
import io
import logging
import math
import sys
import time
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any, Literal

from tests.oracles import n_four_bar as exact

log = logging.getLogger(__name__)

GRAVITY = exact.GRAVITY
TARGET = 1e-8  # m, the error to reach at t_end
# A second-order run on the right branch has an error of 3 h² to 10 h² here (h in s).
RIGHT = 30.0

Method = Literal["alpha_index3", "trapezoidal_index2"]
Newton = Literal["modified", "per_step", "full"]
Linear = Literal["auto", "dense", "eigen_dense", "sparse"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What can be chosen; the defaults are the best found for this problem."""

    method: Method = "alpha_index3"
    spectral_radius: float = 0.8  # generalised alpha only; see `best`
    # The Jacobian once per step: one Newton iteration then does, see README.
    newton: Newton = "per_step"
    relative_tolerance: float = 1e-4  # of the residual
    absolute_tolerance: float = 1e-10
    adaptive_step: bool = True  # halve the step when Newton fails
    linear: Linear = "auto"  # dense for one loop, sparse above
    fast_module: bool = True  # exudyn's build without range checks, if not yet loaded


# What a user gets who only sets times and steps; and the index-2 method.
DEFAULTS = Settings(
    spectral_radius=0.9, newton="modified", relative_tolerance=1e-8, linear="auto"
)
TRAPEZOIDAL = Settings(method="trapezoidal_index2", relative_tolerance=1e-8)


def _load(fast: bool) -> tuple[ModuleType, Any]:
    """Import exudyn and its item interface, quietly."""
    if "exudyn" not in sys.modules:
        # The documented switch; it must be there before the first import.
        sys.__dict__["exudynFast"] = fast
    with contextlib.redirect_stdout(io.StringIO()):
        import exudyn  # pyright: ignore
        import exudyn.itemInterface as items  # pyright: ignore

    return exudyn, items


def _build(exu: Any, items: Any, n: int) -> tuple[Any, Any, Any]:
    """Return container, assembled system and the first rocker."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(items.ObjectGround())

    def rod(x: float, y: float, angle: float, velocity: list[float]) -> Any:
        node = mbs.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[x, y, angle], initialVelocities=velocity
            )
        )
        body = mbs.AddObject(
            items.ObjectRigidBody2D(mass=1.0, inertia=1.0 / 12.0, nodeNumber=node)
        )
        # A load on the coordinate y costs least.
        marker = mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1)
        )
        mbs.AddLoad(items.LoadCoordinate(markerNumber=marker, load=-GRAVITY))
        return body

    def joint(a: Any, x_a: float, b: Any, x_b: float) -> None:
        markers = [
            mbs.AddMarker(
                items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0.0, 0.0])
            )
            for body, x in ((a, x_a), (b, x_b))
        ]
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))

    rockers: list[Any] = []
    for j in range(n + 1):
        rocker = rod(float(j), 0.5, 0.5 * math.pi, [0.5, 0.0, -1.0])
        joint(ground, float(j), rocker, -0.5)
        if rockers:
            coupler = rod(j - 0.5, 1.0, 0.0, [1.0, 0.0, 0.0])
            joint(rockers[-1], 0.5, coupler, -0.5)
            joint(coupler, 0.5, rocker, 0.5)
        rockers.append(rocker)
    mbs.Assemble()
    return container, mbs, rockers[0]


def _simulation_settings(
    exu: Any, n: int, t_end: float, n_step: int, choice: Settings
) -> Any:
    """Translate our settings; no files, no sensors, no graphics, one thread."""
    s = exu.SimulationSettings()
    s.solution.file.write = False
    s.solution.sensors.active = False
    s.parallel.numberOfThreads = 1
    linear = choice.linear
    if linear == "auto":
        linear = "dense" if n == 1 else "sparse"
    s.linearSolver.solverType = {
        "dense": exu.LinearSolverType.EXUdense,
        "eigen_dense": exu.LinearSolverType.EigenDense,
        "sparse": exu.LinearSolverType.EigenSparse,
    }[linear]
    s.linearSolver.reuseAnalyzedPattern = linear == "sparse"
    s.linearSolver.showCausingItems = False
    ti = s.timeIntegration
    ti.verboseMode = 0
    ti.endTime = t_end
    ti.numberOfSteps = n_step
    ti.adaptiveStep = choice.adaptive_step
    ti.newton.relativeTolerance = choice.relative_tolerance
    ti.newton.absoluteTolerance = choice.absolute_tolerance
    ti.newton.useModifiedNewton = choice.newton != "full"
    ti.newton.modifiedNewtonJacUpdatePerStep = choice.newton == "per_step"
    ti.generalizedAlpha.spectralRadius = choice.spectral_radius
    ti.generalizedAlpha.computeInitialAccelerations = True
    ti.solverType = (
        exu.DynamicSolverType.TrapezoidalIndex2
        if choice.method == "trapezoidal_index2"
        else exu.DynamicSolverType.GeneralizedAlpha
    )
    return s


def run(
    n: int, t_end: float = 2.0, step: float = 1e-3, settings: Settings | None = None
) -> dict[str, Any]:
    """Solve the N-four-bar in exudyn once.

    Parameters
    ----------
    n
        Number of loops.
    t_end, step
        s; the step is rounded so that a whole number of them fits.
    settings
        Default `best(n)`.

    Returns
    -------
    dict
        `cpu_s`: process time of the solve alone, without building and assembling;
        `build_cpu_s`: of these; `top`: top of the first rocker relative to its own
        pin end, m; `error_m`: its distance from the exact one; `drift_m`: distance of
        the pin end from the pin; `succeeded`: what exudyn says; `outcome`: "right",
        "wrong" (exudyn says it succeeded, the error is far above second order) or
        "failed", then with `t_reached_s`; counts of steps, Newton iterations and
        Jacobians; version, compiled module and settings.
    """
    choice = settings or best(n)
    exu, items = _load(choice.fast_module)
    exu.config.printToConsole = False
    n_step = max(1, round(t_end / step))
    start = time.process_time()
    container, mbs, rocker = _build(exu, items, n)
    build_cpu = time.process_time() - start
    simulation = _simulation_settings(exu, n, t_end, n_step, choice)
    start = time.process_time()
    try:
        succeeded = bool(mbs.SolveDynamic(simulation, showCausingItems=False))
        message = ""
    except exu.ExudynError as error:
        succeeded, message = False, type(error).__name__
    cpu = time.process_time() - start

    position = exu.OutputVariableType.Position
    end = mbs.GetObjectOutputBody(rocker, position, [0.5, 0.0, 0.0])
    pin = mbs.GetObjectOutputBody(rocker, position, [-0.5, 0.0, 0.0])
    top = (float(end[0] - pin[0]), float(end[1] - pin[1]))
    x, y = exact.top(n, t_end)
    error_m = math.hypot(top[0] - float(x), top[1] - float(y))
    h = t_end / n_step
    if not succeeded:
        outcome = "failed"
    else:
        outcome = "right" if error_m <= max(RIGHT * h**2, TARGET) else "wrong"
    counts = mbs.sys["dynamicSolver"].it
    del container
    log.info(
        "N %d: step %.3e s, error %.2e m, cpu %.3f s, %s", n, h, error_m, cpu, outcome
    )
    return {
        "n": n,
        "t_end_s": t_end,
        "step_s": h,
        "cpu_s": cpu,
        "build_cpu_s": build_cpu,
        "cpu_per_step_and_loop_s": cpu / n_step / n,
        "top": top,
        "error_m": error_m,
        "drift_m": math.hypot(float(pin[0]), float(pin[1])),
        "succeeded": succeeded,
        "outcome": outcome,
        "message": message,
        "t_reached_s": float(counts.currentTime),
        # The index of the step to come, which counts from one.
        "n_step": int(counts.currentStepIndex) - 1,
        "n_newton": int(counts.newtonStepsCount),
        "n_jacobian": int(counts.newtonJacobiCount),
        "version": exu.config.Version(),
        "module": getattr(exu, "_compiledModuleName", "unknown"),
        "settings": asdict(choice),
    }


def best(n: int) -> Settings:
    """Return the best settings found: many loops need more numerical damping."""
    return Settings(spectral_radius=0.8 if n <= 10 else 0.7)


def reach(
    n: int,
    target: float = TARGET,
    t_end: float = 2.0,
    budget: float = 150.0,
    settings: Settings | None = None,
) -> dict[str, Any]:
    """Find the cpu time for a given error.

    Runs with steps of 1 ms and 0.5 ms show the order (others follow if one of them goes
    wrong). The step that follows from it, less a margin of 3 per cent, is run if all
    runs together fit into the budget (cpu seconds), and shortened until the target is
    met. Otherwise the time is extrapolated, and the fields say so: with the order seen,
    or, where only one run was right, with order two. Where a smaller step no longer
    helps, nothing is extrapolated.
    """
    choice = settings or best(n)
    runs = [run(n, t_end, step, choice) for step in (1e-3, 5e-4)]
    while True:
        right = [r for r in runs if r["outcome"] == "right"]
        result: dict[str, Any] = {"n": n, "target_m": target, "runs": runs}
        if right and right[-1]["error_m"] <= target:
            keys = ("cpu_s", "step_s", "error_m", "n_step", "cpu_per_step_and_loop_s")
            return result | {"reached": True} | {key: right[-1][key] for key in keys}
        if len(right) < 2:
            if sum(r["cpu_s"] for r in runs) > 0.5 * budget or len(runs) == 5:
                result |= {"reached": False}
                for r in right:
                    wanted = r["step_s"] * math.sqrt(target / r["error_m"])
                    guess = r["cpu_s"] * r["step_s"] / wanted
                    result["cpu_extrapolated_if_second_order_s"] = guess
                return result
            runs.append(run(n, t_end, 0.8 * runs[-1]["step_s"], choice))
            continue
        one, two = right[-2:]
        ratio = math.log(one["step_s"] / two["step_s"])
        order = math.log(one["error_m"] / two["error_m"]) / ratio
        result |= {
            "reached": False,
            "order_observed": order,
            "smallest_step_measured_s": two["step_s"],
            "error_at_smallest_step_m": two["error_m"],
            "cpu_at_smallest_step_s": two["cpu_s"],
            "cpu_per_step_and_loop_s": two["cpu_per_step_and_loop_s"],
        }
        # Below this it is not the order of the method that is seen.
        if order < 1.5:
            return result
        wanted = 0.97 * two["step_s"] * (target / two["error_m"]) ** (1.0 / order)
        # A run that failed or went wrong at the last step is tried next to it.
        wanted = min(wanted, 0.97 * runs[-1]["step_s"])
        cpu = two["cpu_s"] * two["step_s"] / wanted
        if cpu + sum(r["cpu_s"] for r in runs) > budget:
            return result | {
                "cpu_extrapolated_s": cpu,
                "step_extrapolated_s": wanted,
            }
        runs.append(run(n, t_end, wanted, choice))


def survey(
    n: int, settings: Settings, n_run: int = 20, t_end: float = 2.0
) -> dict[str, int]:
    """Count outcomes over steps from 1 ms to 30 us, evenly spaced in the logarithm."""
    counts = {"right": 0, "wrong": 0, "failed": 0}
    for i in range(n_run):
        step = 1e-3 * 0.03 ** (i / max(1, n_run - 1))
        counts[run(n, t_end, step, settings)["outcome"]] += 1
    return counts


def main(arguments: list[str] | None = None) -> None:
    """Print one line per N."""
    parser = argparse.ArgumentParser(description="The N-four-bar in exudyn")
    parser.add_argument("n", type=int, nargs="*", default=[1, 10, 100])
    parser.add_argument("--target", type=float, default=TARGET, help="m at 2 s")
    parser.add_argument("--budget", type=float, default=150.0, help="cpu s per N")
    parser.add_argument("--survey", action="store_true", help="count outcomes instead")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for n in options.n:
        if options.survey:
            for name, choice in (
                ("best found", best(n)),
                ("defaults", DEFAULTS),
                ("trapezoidal", TRAPEZOIDAL),
            ):
                print(n, name, survey(n, choice), flush=True)
            continue
        found = reach(n, options.target, budget=options.budget)
        del found["runs"]
        print(", ".join(f"{key} {value}" for key, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
