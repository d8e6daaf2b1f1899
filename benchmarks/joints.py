"""Friction in joints: what it costs, how cost grows, and what smearing it costs.

1. Mechanisms with and without friction, on the same pieces of motion between events.
   A piece is run as a whole and for its first instant, and the difference counts, so
   that the start is left out as events are. Runs to compare take turns.
2. Rows of four-bars with friction in all pins, one group of joints, and as many
   four-bars that do not touch each other; likewise.
3. The crank-rocker beside explicit Euler with Baumgarte's stabilisation, the paper's
   way; errors against the exact forces and work.
4. The slider in its guide: set-valued friction beside laws that smear it out.
5. A pendulum with friction in its pin beside exudyn, where it is regularised.

Times are CPU seconds of the compiled loop; whole calls where notes say so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.common import Row, Timed, loosest, reference, timed
from nonsmooth import (
    Baumgarte,
    Body,
    ConstantRate,
    Coulomb,
    FrictionLaw,
    Ground,
    Joint,
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
from nonsmooth.result import State
from nonsmooth.system import System, pack
from tests.oracles import crank_rocker as exact

FRICTION, RADIUS = Coulomb(mu=0.15), 0.02  # m, of the pins
REPEAT = 15


def rub(model: Model, names: Sequence[str] | None = None) -> Model:
    """Return a model with friction in its pins, or in those named."""
    joints = (
        replace(joint, friction=FRICTION, radius=RADIUS)
        if isinstance(joint, Revolute) and (names is None or joint.name in names)
        else joint
        for joint in model.joints
    )
    return replace(model, joints=tuple(joints))


# ---- cost between events -------------------------------------------------------------

SPEED = 15.0  # rad/s, of cranks: fast enough to turn on for the whole run
TURNS = 2.0 * 2.0 * math.pi / SPEED  # s
EDGE = 0.02  # part of a piece that is left out next to an event
INSTANT = 1e-6  # part of a piece that is run to measure its start


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run, or some of it, took."""

    seconds: float = 0.0  # s of CPU time
    steps: int = 0
    evaluations: int = 0

    def plus(self, other: Cost, sign: int = 1) -> Cost:
        """Return a sum, or a difference."""
        return Cost(
            seconds=self.seconds + sign * other.seconds,
            steps=self.steps + sign * other.steps,
            evaluations=self.evaluations + sign * other.evaluations,
        )


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Motion between two events."""

    start: State | None
    begin: float  # s
    end: float  # s


def between_events(result: Result) -> list[Piece]:
    """Cut a run at its events."""
    times = [result.t_start, *(event.t for event in result.events), result.t_end]
    pieces: list[Piece] = []
    for one, two in zip(times, times[1:], strict=False):
        gap = EDGE * (two - one)
        # What is shorter lies between two events that belong together.
        if two - one > EDGE * (result.t_end - result.t_start):
            state = result.state(one + gap)
            pieces.append(Piece(start=state, begin=one + gap, end=two - gap))
    return pieces


def smooth_costs(
    systems: Mapping[str, System], pieces: Sequence[Piece], **options: Any
) -> dict[str, Cost]:
    """Return the cost of pieces of motion without their starts, of each system."""
    found = dict.fromkeys(systems, Cost())
    for piece in pieces:
        ends = (piece.end, piece.begin + INSTANT * (piece.end - piece.begin))
        least: dict[tuple[str, int], Cost] = {}
        for _ in range(REPEAT):
            for name, system in systems.items():
                for k, end in enumerate(ends):
                    cost = simulate(system, end, start=piece.start, **options).cost
                    now = Cost(
                        seconds=float(cost["cpu_seconds"]),
                        steps=int(cost["steps"]),
                        evaluations=int(cost["evaluations"]),
                    )
                    before = least.get((name, k), now)
                    least[name, k] = min(now, before, key=lambda c: c.seconds)
        for name in systems:
            whole = least[name, 0].plus(least[name, 1], -1)
            found[name] = found[name].plus(whole)
    return found


def four_bar(*, is_driven: bool) -> Model:
    """Return a crank OA, a coupler AB and a rocker CB; the crank turns round."""
    o, a, b, c = 0j, 0.4j, 0.8 + 0.9j, 1.0 + 0j
    # (B - A) w2 - (B - C) w3 = -(A - O) w1 keeps the loop closed.
    sides = np.array([b - a, c - b])
    matrix = np.array([sides.real, sides.imag])
    w2, w3 = np.linalg.solve(matrix, -SPEED * np.array([a.real, a.imag])).tolist()

    def rod(name: str, mass: float, tail: complex, tip: complex, root: complex, w: Any):
        """Return a uniform rod whose tail has the velocity `root`."""
        middle, velocity = 0.5 * (tail + tip), root + 0.5j * w * (tip - tail)
        half = 0.5 * abs(tip - tail)
        return RigidBody(
            name=name,
            mass=mass,
            inertia=mass * half**2 / 3.0,
            position=(middle.real, middle.imag),
            angle=float(np.angle(tip - tail)),
            velocity=(velocity.real, velocity.imag),
            angular_velocity=w,
            points={"tail": (-half, 0.0), "tip": (half, 0.0)},
        )

    bodies = (
        Ground(points={"C": (c.real, c.imag)}),
        rod("crank", 1.0, o, a, 0j, SPEED),
        rod("coupler", 2.0, a, b, 1j * SPEED * a, w2),
        rod("rocker", 1.5, c, b, 0j, w3),
    )
    motor = RotationDrive(
        name="motor", b="crank", law=ConstantRate(rate=SPEED, start=bodies[1].angle)
    )
    return Model(
        gravity=(0.0, -9.81),
        bodies=bodies,
        joints=(
            Revolute(name="O", b="crank.tail"),
            Revolute(name="A", a="crank.tip", b="coupler.tail"),
            Revolute(name="B", a="rocker.tip", b="coupler.tip"),
            Revolute(name="C", a="ground.C", b="rocker.tail"),
        ),
        drives=(motor,) if is_driven else (),
    )


def slider_crank(*, is_driven: bool, is_point: bool, mu: float) -> Model:
    """Return a slider-crank with friction in its guide only, block or point."""
    model = gallery.build("slider_crank", speed=SPEED, angle=0.5, mu=mu)
    if not is_driven:
        model = replace(model, drives=())
    if not is_point:
        return model
    slider = model.bodies[-1]
    assert isinstance(slider, RigidBody)
    point = PointMass(
        name="slider",
        mass=slider.mass,
        position=slider.position,
        velocity=slider.velocity,
    )
    slot = PinInSlot(name="guide", a="ground.guide", b="slider")
    if mu:
        slot = replace(slot, friction=Coulomb(mu=mu))
    return replace(
        model, bodies=(*model.bodies[:-1], point), joints=(*model.joints[:-1], slot)
    )


def mechanisms() -> dict[str, dict[str, Model]]:
    """Return what is compared; the first is without friction, the last has most."""
    found: dict[str, dict[str, Model]] = {}
    for text, is_driven in (("free", False), ("driven", True)):
        plain = four_bar(is_driven=is_driven)
        found[f"four-bar, {text}"] = {
            "no friction": plain,
            "one pin": rub(plain, ["O"]),
            "four pins": rub(plain),
        }
        for kind, is_point in (("PinInSlot", True), ("Prismatic", False)):
            found[f"slider-crank, {text}"] = found.get(f"slider-crank, {text}", {})
            found[f"slider-crank, {kind}, {text}"] = {
                "no friction": slider_crank(
                    is_driven=is_driven, is_point=is_point, mu=0.0
                ),
                kind: slider_crank(
                    is_driven=is_driven, is_point=is_point, mu=FRICTION.mu
                ),
            }
    return {name: models for name, models in found.items() if models}


def cost_rows() -> list[Row]:
    """Compare mechanisms with and without friction."""
    rows: list[Row] = []
    for mechanism, models in mechanisms().items():
        systems = {name: pack(model) for name, model in models.items()}
        plain, *rubbing = systems
        runs = [simulate(system, TURNS) for system in systems.values()]
        pieces = between_events(runs[-1])
        costs = smooth_costs(systems, pieces)
        seconds = sum(piece.end - piece.begin for piece in pieces)
        base = costs[plain]
        rows.append(
            Row(what=f"{mechanism}, no friction: per simulated second",
                value=base.seconds / seconds * 1e3, unit="ms",
                note=f"{per(base)}; {len(pieces)} pieces, {seconds:.3f} s in all")
        )  # fmt: skip
        whole = [least(system) for system in systems.values()]
        for name, one in zip(rubbing, whole[1:], strict=True):
            now = costs[name]
            goal = "to reach: 1.5; " if name == "four pins" else ""
            steps, evaluations = (
                per_step(now) / per_step(base),
                per_evaluation(now) / per_evaluation(base),
            )
            rows.append(
                Row(what=f"{mechanism}, {name}: friction / none between events",
                    value=now.seconds / base.seconds, unit="",
                    note=f"{goal}{steps:.2f} per step, {evaluations:.2f} per right-hand"
                    f" side; {per(now)}; with events {one.seconds / whole[0].seconds:.2f}"
                    f" ({one.events} events, {one.steps} steps to {whole[0].steps})")
            )  # fmt: skip
    return rows
