"""How accurate is a run: repeat it at tighter tolerance and compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.errors import ModelError, show
from nonsmooth.result import Result
from nonsmooth.result.events import event_tables
from nonsmooth.solve.options import FIXED
from nonsmooth.solve.simulate import simulate

N_COMPARE = 201


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Largest differences between a run and its repetition.

    Attributes
    ----------
    position, angle : float
        Over all bodies and times, m and rad.
    velocity, angular_velocity : float
        m/s and rad/s.
    worst : str
        Body with the largest difference in position or angle.
    events : bool
        Whether both runs have the same events in the same order.
    event_time : float
        Largest difference in the time of an event, s; nan if the events differ.
    tighter : Result
        The repetition.
    """

    position: float
    angle: float
    velocity: float
    angular_velocity: float
    worst: str
    events: bool
    event_time: float
    tighter: Result

    def __str__(self) -> str:
        """Return a readable line."""
        same = "no events"
        if not self.events:
            same = "DIFFERENT events"
        elif len(self.tighter.events):
            same = f"same events, times within {self.event_time:.1e} s"
        return (
            f"within {self.position:.1e} m, {self.angle:.1e} rad, "
            f"{self.velocity:.1e} m/s, {self.angular_velocity:.1e} rad/s "
            f"(largest at '{self.worst}'); {same}"
        )


def verify(result: Result, factor: float = 1e-2) -> Verification:
    """Repeat a run with rtol, or the fixed step, times `factor`.

    Steps of waves are halved at most: they shrink with elements, which are the same.
    """
    if not isinstance(factor, int | float) or not 0.0 < factor < 1.0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"factor = {show(factor)}; must lie between 0 and 1")
    options = dict(result.options)
    until = options.pop("until")
    if result.system.full:
        options = {key: options[key] for key in ("scheme", "method", "step")}
        options["step"] *= max(factor, 0.5)
    else:
        if options["method"] in FIXED:
            options["step"] *= factor
        else:
            options["rtol"] = max(options["rtol"] * factor, 1e-14)
            options["atol"] *= factor
        options |= {"start": result.state(result.t_start), "loose": True}
    tighter = simulate(result.system, until, **options)
    t_end = min(result.t_end, tighter.t_end)
    t = np.linspace(result.t_start, t_end, N_COMPARE)
    names = result.system.bodies[: result.system.n_moving]
    difference = np.zeros((len(names), 6))
    for k, name in enumerate(names):
        columns = [f"{name}.{c}" for c in ("x", "y", "theta", "vx", "vy", "omega")]
        ours, theirs = result.sample(t, columns), tighter.sample(t, columns)
        for i, column in enumerate(columns):
            difference[k, i] = np.max(np.abs(ours[column] - theirs[column]))
    worst = int(np.argmax(difference[:, :3].max(axis=1)))
    # Parts that share nothing have no order among each other.
    tables = [
        [r.events] if r.system.full else event_tables(r.system, r.steps, r.t_end)
        for r in (result, tighter)
    ]
    kinds = [[[(e.element, e.kind) for e in own] for own in every] for every in tables]
    same = kinds[0] == kinds[1]
    gap = np.nan
    if same:
        ours, theirs = (np.concatenate([own.t for own in every]) for every in tables)
        gap = float(np.max(np.abs(ours - theirs), initial=0.0))
    return Verification(
        position=float(difference[:, :2].max()),
        angle=float(difference[:, 2].max()),
        velocity=float(difference[:, 3:5].max()),
        angular_velocity=float(difference[:, 5].max()),
        worst=names[worst],
        events=same,
        event_time=gap,
        tighter=tighter,
    )
