"""Friction in joints: what it costs, how cost grows, and what smearing it costs.

1. Mechanisms with and without friction, on the same pieces of motion between events.
   A piece is run to its end and for its first instant, and the difference counts, so
   that the start is left out as events are. Runs to compare take turns.
2. Rows of four-bars with friction in all pins, which are one group of joints, and as
   many four-bars that have nothing to do with each other; measured likewise.
3. The crank-rocker, beside explicit Euler with Baumgarte's stabilisation, the paper's
   way; errors against the exact forces and work.
4. The slider in its guide: set-valued friction beside laws that smear it out.
5. A pendulum with friction in its pin, beside exudyn, where friction is smeared out.

Times are CPU seconds of the compiled loop; whole calls where a row says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.common import Row, Timed, loosest, reference, timed
from benchmarks.peers import exudyn_pendulum as exudyn
from nonsmooth import (
    Baumgarte,
    ConstantRate,
    Coulomb,
    FrictionLaw,
    Ground,
    Karnopp,
    LuGre,
    Model,
    PinInSlot,
    PointMass,
    Prismatic,
    RegularisedCoulomb,
    Result,
    Revolute,
    RigidBody,
    RotationDrive,
    gallery,
    simulate,
)
from nonsmooth.pack import System, pack
from nonsmooth.result import State
from tests.oracles import crank_rocker

FRICTION, RADIUS = Coulomb(mu=0.15), 0.02  # m, of the pins
REPEAT = 15  # runs of which the least counts
INSTANT = 1e-6  # part of a motion that is run to measure its start


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run, or some of it, took."""

    seconds: float = 0.0  # s of CPU time
    steps: int = 0
    evaluations: int = 0
    events: int = 0

    def plus(self, other: Cost, sign: int = 1) -> Cost:
        """Return a sum, or a difference."""
        return Cost(
            seconds=self.seconds + sign * other.seconds,
            steps=self.steps + sign * other.steps,
            evaluations=self.evaluations + sign * other.evaluations,
            events=self.events + sign * other.events,
        )

    @property
    def per_step(self) -> float:
        """Time, us."""
        return self.seconds / self.steps * 1e6

    @property
    def per_evaluation(self) -> float:
        """Time, us."""
        return self.seconds / self.evaluations * 1e6


def least(
    systems: Mapping[str, System], until: float, repeat: int = REPEAT, **options: Any
) -> dict[str, Cost]:
    """Run each system several times, in turns, and return the least costs."""
    found: dict[str, Cost] = {}
    for _ in range(repeat):
        for name, system in systems.items():
            result = simulate(system, until, **options)
            cost = Cost(
                seconds=float(result.cost["cpu_seconds"]),
                steps=int(result.cost["steps"]),
                evaluations=int(result.cost["evaluations"]),
                events=len(result.events),
            )
            before = found.get(name, cost)
            found[name] = min(before, cost, key=lambda c: c.seconds)
    return found


def without_start(
    systems: Mapping[str, System],
    until: float,
    start: State | None = None,
    repeat: int = REPEAT,
    **options: Any,
) -> dict[str, Cost]:
    """Return the least costs less those of the first instant."""
    begin = 0.0 if start is None else start.t
    instant = begin + INSTANT * (until - begin)
    options |= {"start": start, "repeat": repeat}
    whole, first = (least(systems, t, **options) for t in (until, instant))
    return {name: whole[name].plus(first[name], -1) for name in systems}


def in_turns(calls: Mapping[str, Callable[[], Result]]) -> dict[str, Timed]:
    """Repeat several runs in turns, so that a busy spell of the machine hits all."""
    found = {name: timed(call, 1) for name, call in calls.items()}
    for _ in range(REPEAT - 1):
        for name, call in calls.items():
            begin, cpu_begin = time.perf_counter(), time.process_time()
            result = call()
            cpu, wall = time.process_time() - cpu_begin, time.perf_counter() - begin
            before = found[name]
            found[name] = Timed(
                result=result,
                march=min(before.march, float(result.cost["cpu_seconds"])),
                cpu=min(before.cpu, cpu),
                wall=min(before.wall, wall),
            )
    return found


def rub(model: Model, names: Sequence[str] | None = None) -> Model:
    """Return a model with friction in its pins, or in those named."""
    joints = (
        replace(joint, friction=FRICTION, radius=RADIUS)
        if isinstance(joint, Revolute) and (names is None or joint.name in names)
        else joint
        for joint in model.joints
    )
    return replace(model, joints=tuple(joints))


# ---- 1: cost between events ----------------------------------------------------------

SPEED = 15.0  # rad/s, of cranks: enough to go on turning
UNTIL = 2.0 * 2.0 * math.pi / SPEED  # s, two turns if driven
EDGE = 0.02  # part of a piece that is left out next to an event


def four_bar(*, is_driven: bool) -> Model:
    """Return a crank OA that turns round, a coupler AB and a rocker CB."""
    o, a, b, c = 0j, 0.4j, 0.8 + 0.9j, 1.0 + 0j  # m
    # (B - A) w2 - (B - C) w3 = -(A - O) w1 keeps the loop closed.
    matrix = [[(b - a).real, (c - b).real], [(b - a).imag, (c - b).imag]]
    w2, w3 = np.linalg.solve(matrix, [-SPEED * a.real, -SPEED * a.imag]).tolist()

    def rod(name: str, mass: float, root: complex, tip: complex, v: complex, w: float):
        """Return a uniform rod whose root has the velocity v."""
        middle, velocity = 0.5 * (root + tip), v + 0.5j * w * (tip - root)
        half = 0.5 * abs(tip - root)
        return RigidBody(
            name=name,
            mass=mass,
            inertia=mass * half**2 / 3.0,
            position=(middle.real, middle.imag),
            angle=float(np.angle(tip - root)),
            velocity=(velocity.real, velocity.imag),
            angular_velocity=w,
            points={"root": (-half, 0.0), "tip": (half, 0.0)},
        )

    crank = rod("crank", 1.0, o, a, 0j, SPEED)
    law = ConstantRate(rate=SPEED, start=crank.angle)
    return Model(
        gravity=(0.0, -9.81),
        bodies=(
            Ground(points={"C": (c.real, c.imag)}),
            crank,
            rod("coupler", 2.0, a, b, 1j * SPEED * a, w2),
            rod("rocker", 1.5, c, b, 0j, w3),
        ),
        joints=(
            Revolute(name="O", b="crank.root"),
            Revolute(name="A", a="crank.tip", b="coupler.root"),
            Revolute(name="B", a="rocker.tip", b="coupler.tip"),
            Revolute(name="C", a="ground.C", b="rocker.root"),
        ),
        drives=(RotationDrive(name="motor", b="crank", law=law),) if is_driven else (),
    )


def slider_crank(*, is_driven: bool, is_point: bool, has_friction: bool) -> Model:
    """Return a slider-crank that rubs in its guide only, as a block or as a point."""
    mu = FRICTION.mu if has_friction else 0.0
    model = gallery.build("slider_crank", speed=SPEED, angle=0.5, mu=mu)
    if not is_driven:
        model = replace(model, drives=())
    if not is_point:
        return model
    block = model.bodies[-1]
    assert isinstance(block, RigidBody)
    point = PointMass(
        name="slider", mass=block.mass, position=block.position, velocity=block.velocity
    )
    slot = PinInSlot(
        name="guide",
        a="ground.guide",
        b="slider",
        friction=FRICTION if has_friction else None,
    )
    return replace(
        model, bodies=(*model.bodies[:-1], point), joints=(*model.joints[:-1], slot)
    )


def mechanisms() -> dict[str, dict[str, Model]]:
    """Return what is compared: without friction first, with most of it last."""
    found: dict[str, dict[str, Model]] = {}
    for text, is_driven in (("free", False), ("driven", True)):
        plain = four_bar(is_driven=is_driven)
        found[f"four-bar, {text}"] = {
            "no friction": plain,
            "one pin": rub(plain, ["O"]),
            "four pins": rub(plain),
        }
        for kind, is_point in (("PinInSlot", True), ("Prismatic", False)):
            found[f"slider-crank, {text}, {kind}"] = {
                name: slider_crank(
                    is_driven=is_driven, is_point=is_point, has_friction=has_friction
                )
                for name, has_friction in (("no friction", False), ("slider", True))
            }
    return found


def pieces(result: Result) -> list[tuple[State, float]]:
    """Cut a run at its events: where to start, and until when."""
    times = [result.t_start, *(event.t for event in result.events), result.t_end]
    found: list[tuple[State, float]] = []
    for one, two in pairwise(times):
        # What is shorter lies between two events that belong together.
        if two - one > EDGE * (result.t_end - result.t_start):
            gap = EDGE * (two - one)
            found.append((result.state(one + gap), two - gap))
    return found


def cost_rows() -> list[Row]:
    """Compare mechanisms with and without friction."""
    rows: list[Row] = []
    for mechanism, models in mechanisms().items():
        systems = {name: pack(model) for name, model in models.items()}
        plain, *rubbing = systems
        parts = pieces(simulate(systems[rubbing[-1]], UNTIL))
        costs = dict.fromkeys(systems, Cost())
        for start, until in parts:
            now = without_start(systems, until, start)
            costs = {name: costs[name].plus(now[name]) for name in systems}
        with_events = least(systems, UNTIL)
        seconds = sum(until - start.t for start, until in parts)
        base = costs[plain]
        rows.append(
            Row(what=f"{mechanism}, no friction: per simulated second",
                value=base.seconds / seconds * 1e3, unit="ms",
                note=f"{base.per_step:.2f} us per step, {base.per_evaluation:.3f} per "
                f"right-hand side; {base.steps} steps, {base.evaluations} right-hand "
                f"sides in {len(parts)} pieces, {seconds:.3f} s in all")
        )  # fmt: skip
        for name in rubbing:
            now, all_of_it = costs[name], with_events[name]
            goal = "to reach: 1.5; " if name == "four pins" else ""
            ratio = all_of_it.seconds / with_events[plain].seconds
            rows.append(
                Row(what=f"{mechanism}, {name}: friction / none between events",
                    value=now.seconds / base.seconds, unit="",
                    note=f"{goal}{now.per_step / base.per_step:.2f} per step, "
                    f"{now.per_evaluation / base.per_evaluation:.2f} per right-hand "
                    f"side; {now.steps} steps, {now.evaluations} right-hand sides; "
                    f"{ratio:.2f} with {all_of_it.events} events and the start in "
                    f"{UNTIL:.3f} s")
            )  # fmt: skip
    return rows


# ---- 2: growth with size -------------------------------------------------------------

LOOPS = (1, 3, 10, 30, 100)
# rad/s, s, s: two thirds of the way to the flat pose, in even steps.
ROW_SPEED, ROW_UNTIL, ROW_STEP = 10.0, 0.1, 5e-3
# There, near it, rows this long may have several solutions: what watching this costs.
WATCHED, NEAR = 45, 0.14  # four-bars, s


def copies(model: Model, n: int) -> Model:
    """Return n copies of a model in one, on the same ground."""

    def of(place: str, k: int) -> str:
        body, dot, point = place.partition(".")
        return place if body == "ground" else f"{body}_{k}{dot}{point}"

    ground, *bodies = model.bodies
    return replace(
        model,
        bodies=(
            ground,
            *(replace(b, name=of(b.name, k)) for k in range(n) for b in bodies),
        ),
        joints=tuple(
            replace(j, name=f"{j.name}_{k}", a=of(j.a, k), b=of(j.b, k))
            for k in range(n)
            for j in model.joints
        ),
    )


def slopes(values: Mapping[int, float]) -> list[tuple[int, int, float]]:
    """Return the exponents of n from one size to the next, for the last three."""
    return [
        (m, n, math.log(two / one) / math.log(n / m))
        for (m, one), (n, two) in pairwise(list(values.items())[-3:])
    ]


def growth_rows() -> list[Row]:
    """Measure rows of four-bars, and four-bars apart."""
    rows: list[Row] = []
    per_step: dict[str, dict[int, float]] = {}
    single = gallery.build("n_four_bar", speed=ROW_SPEED)
    for n in LOOPS:
        row = gallery.build("n_four_bar", n=n, speed=ROW_SPEED)
        models = {
            "row, no friction": row,
            "row": rub(row),
            "apart, no friction": copies(single, n),
            "apart": copies(rub(single), n),
        }
        systems = {name: pack(model) for name, model in models.items()}
        repeat = {30: 7, 100: 2}.get(n, REPEAT)
        costs = without_start(systems, ROW_UNTIL, repeat=repeat, max_step=ROW_STEP)
        for name, cost in costs.items():
            # Those apart march apart, and each counts its own steps.
            per_loop = cost.per_step / (n if name.startswith("row") else 1)
            per_step.setdefault(name, {})[n] = per_loop * n
            pins = 3 * n + 1 if name.startswith("row") else 4 * n
            rows.append(
                Row(what=f"{n} four-bars, {name}: per step and loop",
                    value=per_loop, unit="us",
                    note=f"{pins} pins, {cost.steps} steps, {cost.evaluations} "
                    f"right-hand sides of {cost.per_evaluation:.2f} us")
            )  # fmt: skip
        for name in ("row", "apart"):
            rows.append(
                Row(what=f"{n} four-bars, {name}: friction / none", unit="",
                    value=costs[name].seconds / costs[f"{name}, no friction"].seconds)
            )  # fmt: skip
        rows.append(
            Row(what=f"{n} four-bars: row / apart", unit="", note="to reach: 5",
                value=costs["row"].seconds / costs["apart"].seconds)
        )  # fmt: skip
    for name, values in per_step.items():
        rows += [
            Row(what=f"growth of time per step, {name}, {m} to {n}: exponent of n",
                value=slope, unit="")
            for m, n, slope in slopes(values)
        ]  # fmt: skip
    return [*rows, watched_row()]


def watched_row() -> Row:
    """Measure a long row where its pins nearly lock each other."""
    row = gallery.build("n_four_bar", n=WATCHED, speed=ROW_SPEED)
    systems = {"row": pack(rub(row))}
    ends = [
        least(systems, until, repeat=3, max_step=ROW_STEP)["row"]
        for until in (ROW_UNTIL, NEAR - 2.0 * ROW_STEP, NEAR)
    ]
    near, far = ends[2].plus(ends[1], -1), ends[0]
    return Row(
        what=f"{WATCHED} four-bars, row: near the flat pose / before, per step",
        value=near.per_step / far.per_step,
        unit="",
        note=f"last {near.steps} steps before {NEAR:g} s, all before {ROW_UNTIL:g} s",
    )


# ---- 3: crank-rocker, and the paper's way --------------------------------------------

TURN = gallery.duration("crank_rocker")  # s
DAMPING = 8.0  # N m s/rad
RTOLS = tuple(10.0**-k for k in range(3, 13))
STABILISATION = Baumgarte(alpha=20.0, beta=100.0)  # 1/s, 1/s^2
EULER_STEPS = (1e-3, 1e-4, 1e-5)  # s
ANGLES = np.radians(np.arange(360) + 0.5)  # of the crank, off the reversals


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A timed turn of the crank and its errors."""

    timed: Timed
    normal: float  # N
    torque: float  # N m
    work: float  # J

    @property
    def note(self) -> str:
        """Errors, and what they cost."""
        run = self.timed
        return (
            f"error {self.work:.1e} J of work, {self.normal:.1e} N of normal force, "
            f"{self.torque:.1e} N m; {run.result.cost['steps']} steps, "
            f"{len(run.result.events)} events; whole call {run.cpu:.5f} CPU"
        )


def turn(run: Timed) -> Turn:
    """Compare a run with the exact forces, in the paper's signs, and work."""
    parameters = crank_rocker.Parameters(damping=DAMPING)
    forces = crank_rocker.forces(parameters, ANGLES)
    names = ("slider.normal_force", "motor.torque")
    found = run.result.sample(ANGLES / parameters.speed, names)
    work = run.result.energy_balance.work["motor"][-1]
    return Turn(
        timed=run,
        normal=float(np.max(np.abs(found[names[0]] - forces.lam))),
        torque=float(np.max(np.abs(found[names[1]] + forces.torque))),
        work=abs(float(work) - crank_rocker.work_per_turn(parameters).motor),
    )


def crank_rocker_rows() -> list[Row]:
    """Measure one turn, ours and with fixed steps."""
    system = pack(gallery.build("crank_rocker", damping=DAMPING))
    fixed = [("euler", h) for h in EULER_STEPS] + [("rk4", EULER_STEPS[0])]
    options: dict[str, dict[str, Any]] = {
        f"crank-rocker, rtol {rtol:.0e}": {"rtol": rtol} for rtol in RTOLS
    }
    options |= {
        f"crank-rocker, {method}, h = {h:g} s": {
            "method": method, "step": h, "stabilisation": STABILISATION
        }
        for method, h in fixed
    }  # fmt: skip
    runs = in_turns(
        {name: partial(simulate, system, TURN, **o) for name, o in options.items()}
    )
    turns = {name: turn(run) for name, run in runs.items()}
    rows = [
        Row(what=name, value=one.timed.march, unit="s", note=one.note)
        for name, one in turns.items()
    ]
    ours = list(turns.values())[: len(RTOLS)]
    for name, paper in list(turns.items())[len(RTOLS) :]:
        k = loosest([one.work for one in ours], paper.work)
        best = ours[k]
        rows.append(
            Row(what=f"{name} / nonsmooth at no more than its error", unit="",
                value=paper.timed.march / best.timed.march,
                note=f"of work; {paper.timed.cpu / best.timed.cpu:.0f} by whole calls; "
                f"ours at rtol {RTOLS[k]:.0e}, error {best.work:.1e} J, "
                f"{best.normal:.1e} N, {best.torque:.1e} N m")
        )  # fmt: skip
    return rows


# ---- 4: slider in its guide, and smeared friction ------------------------------------

MU, MU0 = 0.03, 0.04
GUIDE_RTOL = 1e-6  # of smeared laws: its own error is far below theirs


def laws(mu0: float) -> dict[str, FrictionLaw]:
    """Return laws that tend to Coulomb's."""
    found: dict[str, FrictionLaw] = {
        f"Karnopp, dead band {band:g} m/s": Karnopp(
            mu=MU, mu_static=mu0, dead_band=band
        )
        for band in (1e-2, 1e-3, 1e-4, 1e-5)
    }
    # This one has no more friction at rest than in motion.
    if mu0 == MU:
        found |= {
            f"regularised, {width:g} m/s": RegularisedCoulomb(mu=MU, velocity=width)
            for width in (1e-2, 1e-3, 1e-4, 1e-5)
        }
    # Bristles under 0.1 kg for each N of load, damped by half; steep enough to hold mu0
    # up to a break-away, yet less and less.
    return found | {
        f"LuGre, bristles {k:g} /m": LuGre(
            mu=MU, mu_static=mu0, velocity=0.1 / math.sqrt(k), stiffness=k,
            damping=math.sqrt(0.1 * k),
        )
        for k in (1e4, 1e5, 1e6)
    }  # fmt: skip


def guide_rows() -> list[Row]:
    """Measure one period of the settled motion under each law."""
    series = reference("flexible_slider_rigid_cycle.csv")
    t, until = series["t"], float(series["t"][-1])
    model = gallery.build("slider_in_guide", position=float(series["x2"][0]))

    def with_law(law: FrictionLaw) -> System:
        joints = (
            replace(joint, friction=law) if isinstance(joint, Prismatic) else joint
            for joint in model.joints
        )
        return pack(replace(model, joints=tuple(joints)))

    def place(result: Result) -> Any:
        return result.sample(t, "slider.x")["slider.x"]

    rows: list[Row] = []
    for mu0 in (MU0, MU):
        coulomb = Coulomb(mu=MU, mu_static=mu0)
        # Without a series of its own, the tightest run.
        x = series["x2"]
        if mu0 == MU:
            x = place(simulate(with_law(coulomb), until, rtol=1e-13))
        cases = [(f"Coulomb, rtol {r:.0e}", coulomb, r) for r in (1e-6, 1e-8, 1e-10)]
        cases += [(name, law, GUIDE_RTOL) for name, law in laws(mu0).items()]
        runs = in_turns(
            {
                name: partial(simulate, with_law(law), until, rtol=rtol)
                for name, law, rtol in cases
            }
        )
        base = next(iter(runs.values())).march
        for name, run in runs.items():
            cost, error = run.result.cost, np.abs(place(run.result) - x)
            rows.append(
                Row(what=f"slider in guide, mu0 = {mu0:g}: {name}", value=run.march,
                    unit="s", note=f"error {error.max():.1e} m at most, {error[-1]:.1e}"
                    f" at the end; {run.march / base:.1f} times Coulomb at rtol "
                    f"{GUIDE_RTOL:g}; {cost['steps']} steps, {cost['implicit_steps']} "
                    f"implicit, {len(run.result.events)} events; whole call "
                    f"{run.cpu:.5f} CPU")
            )  # fmt: skip
    return rows


# ---- 5: pendulum, and exudyn ---------------------------------------------------------


def pendulum() -> Model:
    """Return the peer's pendulum."""
    arm = exudyn.ARM
    rod = RigidBody(
        name="rod",
        mass=exudyn.MASS,
        inertia=exudyn.INERTIA,
        position=(arm, 0.0),
        points={"pin": (-arm, 0.0)},
    )
    pin = Revolute(
        name="pin",
        b="rod.pin",
        friction=Coulomb(mu=exudyn.MU),
        radius=exudyn.RADIUS,
    )
    return Model(gravity=(0.0, -exudyn.G), bodies=(rod,), joints=(pin,))


def pendulum_rows() -> list[Row]:
    """Measure ours, and the peer where it is installed."""
    system, t = pack(pendulum()), exudyn.SAMPLES
    phi = exudyn.exact(t)
    runs = [timed(lambda r=r: simulate(system, exudyn.T_END, rtol=r), 7) for r in RTOLS]
    errors: list[float] = []
    rows: list[Row] = []
    for rtol, run in zip(RTOLS, runs, strict=True):
        # The model counts its angle from +x.
        theta = run.result.sample(t, "rod.theta")["rod.theta"]
        errors.append(float(np.max(np.abs(theta + exudyn.START - phi))))
        rows.append(
            Row(what=f"pendulum, rtol {rtol:.0e}: whole call", value=run.cpu, unit="s",
                note=f"error {errors[-1]:.1e} rad at most; compiled loop "
                f"{run.march:.5f}; {run.result.cost['steps']} steps, "
                f"{len(run.result.events)} events")
        )  # fmt: skip
    for form, target, step, v_reg, tolerance, radius in exudyn.BEST:
        try:
            repeat = 7 if target > 1e-5 else 2
            found = exudyn.run(
                step, v_reg, tolerance, formulation=form, radius=radius, repeat=repeat
            )
        except ImportError as error:
            print(f"exudyn left out: {error}")
            return rows
        cost, k = found["cpu_seconds"], loosest(errors, target)
        is_reached = found["error"] <= target
        name = f"pendulum, exudyn {form.replace('_', ' ')}, to {target:g} rad"
        rows += [
            Row(what=name, value=cost, unit="s",
                note=f"{'reached' if is_reached else 'not reached'}: "
                f"{found['error']:.1e} rad at most, {found['error_moving']:.1e} before "
                f"it sticks; {found['n_step']} steps, v_reg {v_reg:g} m/s"),
            Row(what=f"{name} / nonsmooth", value=cost / runs[k].cpu, unit="",
                note=f"whole calls; ours at rtol {RTOLS[k]:.0e}, {errors[k]:.1e} rad"),
        ]  # fmt: skip
    return rows


def run() -> list[Row]:
    """Measure all five."""
    return [
        *cost_rows(),
        *growth_rows(),
        *crank_rocker_rows(),
        *guide_rows(),
        *pendulum_rows(),
    ]
