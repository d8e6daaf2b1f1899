"""Runs of full finite elements: steps, what is kept of them, how they end."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import NODAL
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.errors import Interrupted, ModelError, SolveError
from nonsmooth.kernels.abi.library import variant
from nonsmooth.kernels.march import waves as kernel
from nonsmooth.kernels.march.wave_tables import DIVERGED, DONE, N_CONTACT, Solid
from nonsmooth.pack import System
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.pack.waves import Waves, first_state, pack_waves
from nonsmooth.result import Result
from nonsmooth.result.history import Frames, History
from nonsmooth.solve.options import Options
from nonsmooth.solve.progress import Done, Progress

Floats = NDArray[np.float64]

# Parts of the critical step that are taken by default: of rods waves are exact at 1.
COURANT_ROD, COURANT = 1.0, 0.9
# A step above the critical one by this part is it, but for round-off: what Lanczos'
# method is below it by.
ROUND_OFF = 1e-9
# What is kept of a run at most: rows of named quantities; states.
ROW_BYTES, FRAME_BYTES, MAX_FRAMES = 128_000_000, 128_000_000, 100
MAX_STEPS = 1e12
MAX_EVENTS = 100_000
# Linear elements that turn by a see a strain of a^2/2; that of waves is of the order of
# 1e-5. A run says so beyond the first angle, and ends at the second, rad.
TURN_NOTED, TURN_LARGEST = 2e-3, 0.1
# Python looks in this often, for progress and interruption.
TICK_SECONDS = 0.1
# Overlap at the start that is round-off, beside the extent of the model.
OVERLAP = 1e-9


class Stepper(Protocol):
    """A way to take steps."""

    def __call__(self, n: int) -> int:
        """Take n steps; return how that went."""
        ...


def march_waves(
    system: System, options: Options, until: float, progress: Progress | None
) -> Result:
    """March a model of full finite elements until a time."""
    waves = pack_waves(system)
    waves.solid.h = h = _step(waves, options)
    run = _Run(waves, options, until, h)
    return run.march(progress)


def _step(waves: Waves, options: Options) -> float:
    """Return the step; refuse one at which central differences are not stable."""
    critical = waves.critical_step
    courant = options.courant
    if options.step is None and courant is None:
        courant = COURANT_ROD if waves.is_rod else COURANT
    h = options.step if options.step is not None else float(courant or 1.0) * critical
    if options.method == "central" and h > critical * (1.0 + ROUND_OFF):
        given = (
            f"step = {h:.6g} s" if options.step else f"courant = {options.courant:g}"
        )
        raise ModelError(
            f"{given}: above the critical step {critical:.6g} s, where central "
            f"differences are not stable; give step <= {critical:.6g}, courant <= 1 or "
            "larger elements"
        )
    return h


class _Run:
    """One run in progress."""

    def __init__(self, waves: Waves, options: Options, until: float, h: float) -> None:
        self.waves, self.options, self.until, self.h = waves, options, until, h
        m = waves.solid
        n_step = math.ceil(until / h - 1e-9)
        if n_step > MAX_STEPS:
            raise ModelError(
                f"step = {h:g} s: {n_step:.3g} steps until {until:g} s; at most "
                f"{MAX_STEPS:g}"
            )
        one = 8 * (m.n_raw + m.n_contact + 2)
        self.stride = max(1, math.ceil(n_step * one / ROW_BYTES))
        # The row of an instant is written in the step that begins there.
        self.n_last = self.stride * math.ceil(n_step / self.stride) + 1
        self.state = first_state(
            m,
            n_capacity=self.n_last // self.stride + 1,
            n_events=MAX_EVENTS,
            v=waves.velocities(),
            stride=self.stride,
        )
        self._refuse_overlap()
        one = 8 * (4 * m.n_node + 2 * m.n_slave)
        most = max(2, min(MAX_FRAMES, FRAME_BYTES // one))
        self.spacing = max(1, math.ceil(self.n_last / most))
        self.frames = _frames(m, math.ceil(self.n_last / self.spacing))
        self.n_frame = 0
        self.turned = np.zeros(m.n_body)  # rad, at most
        self.begin = time.process_time()
        if options.method == "central":
            self.step: Any = self._central  # a Stepper
        else:
            from nonsmooth.solve.implicit_waves import implicit_stepper

            self.step = implicit_stepper(waves, self.state, options.method)

    def _refuse_overlap(self) -> None:
        m, state = self.waves.solid, self.state
        for k, name in enumerate(self.waves.system.contacts):
            own = slice(int(m.contact_first[k]), int(m.contact_first[k + 1]))
            near = np.asarray(state.is_near[own]) == 1
            worst = float(np.min(np.asarray(state.gap[own])[near], initial=0.0))
            if worst < -OVERLAP * self.waves.system.size:
                raise ModelError(
                    f"contact '{name}': overlap of {-worst:.3g} m at the start; move "
                    "the bodies apart"
                )

    def _central(self, n: int) -> int:
        return int(kernel.march(self.waves.solid, self.state, n))

    def _keep(self) -> None:
        """Keep the present state where its turn has come."""
        s, k = self.state, self.n_frame
        if s.n == k * self.spacing:
            self.frames.step[k] = s.n
            for name in ("u", "v", "lam", "segment"):
                getattr(self.frames, name)[k] = getattr(s, name)
            self.n_frame += 1

    def march(self, progress: Progress | None) -> Result:
        """Take all steps; say how the run ended."""
        state, status, chunk = self.state, DONE, 16
        try:
            self._keep()
            self.step(0)  # compile before the clock starts
            self.begin = time.process_time()
            while state.n < self.n_last and status == DONE:
                self._keep()
                left = self.spacing - state.n % self.spacing
                begin = time.perf_counter()
                status = self.step(min(chunk, left, self.n_last - state.n))
                spent = max(time.perf_counter() - begin, 1e-6)
                wanted = int(min(chunk, left) * TICK_SECONDS / spent)
                chunk = max(1, min(4 * chunk, wanted))
                self._refuse_turn()
                if progress is not None:
                    part = min(1.0, state.n / self.n_last)
                    progress(Done(part, part * self.until))
        except KeyboardInterrupt as interrupt:
            text = f"interrupted at t = {state.n * self.h:.6g} s"
            raise Interrupted(text, self._result("failed", text)) from interrupt
        if status != DONE:
            text = self._explain(status)
            raise SolveError(text, self._result("failed", text))
        return self._result("finished", "reached the end")

    def _refuse_turn(self) -> None:
        """End the run where a body has turned too far; keep the largest angles."""
        m, last = self.waves.solid, max(self.state.n_row - 1, 0)
        angles = np.asarray(self.state.rows)[last, 9 * np.arange(m.n_body) + 2]
        turned = np.abs(angles - np.asarray(m.body_start)[:, 2])
        self.turned = np.maximum(self.turned, np.nan_to_num(turned))
        for name, turn in zip(self.waves.parts, self.turned.tolist(), strict=True):
            if turn > TURN_LARGEST:
                text = (
                    f"t = {self.state.n * self.h:.6g} s: body '{name}' has turned by "
                    f"{turn:.3g} rad, and elements of scheme 'waves' do not turn; give "
                    "the flexible bodies a number of modes"
                )
                raise SolveError(text, self._result("failed", text))

    def _explain(self, status: int) -> str:
        t = self.state.n * self.h
        if status == DIVERGED:
            return (
                f"t = {t:.6g} s: the motion has diverged; give a smaller step or "
                "courant"
            )
        return (
            f"t = {t:.6g} s: the forces of nodes in contact do not settle; give both "
            "sides of the contact elements of like size"
        )

    def _result(self, outcome: Literal["finished", "failed"], message: str) -> Result:
        state, waves, options = self.state, self.waves, self.options
        n_row = state.n_row
        t_end = self.until
        if outcome == "failed":
            t_end = min(self.until, self.h * self.stride * max(n_row - 1, 0))
        names = waves.system.contacts
        is_soft = [has_penalty(waves.system, name) for name in waves.system.contacts]
        kinds = ["penalty" if soft else "onset" for soft in is_soft]
        history = History(
            waves=waves,
            method=options.method,
            h_step=self.h,
            stride=self.stride,
            t_end=t_end,
            rows=self._rows(),
            energies=np.array(state.energies[:n_row]),
            works={
                f"{name}.{kind}": np.array(state.works[:n_row, k])
                for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
            },
            changes_at=np.array(state.events[: min(state.n_event, MAX_EVENTS)]),
            edges=np.array(state.edge),
            frames=self.frames.first(self.n_frame),
        )
        return Result(
            system=waves.system,
            steps=history,
            t_start=0.0,
            t_end=t_end,
            status=outcome,
            message=message,
            options=options.asked(
                self.until, step=self.h, scheme="waves", stabilisation=None
            ),
            cost={
                "steps": state.n,
                "rejected": 0,
                "evaluations": state.n,
                "jacobians": 0,
                "implicit_steps": 0,
                "cpu_seconds": time.process_time() - self.begin,
            },
            violation=0.0,
            is_projected=False,
            remarks=tuple(self._remarks()),
            engine=variant(),
        )

    def _left_out(self) -> Iterator[str]:
        """Yield a sentence for each rigid body that contact would have turned."""
        m, rows = self.waves.solid, self._rows()
        first, span = m.n_raw - N_CONTACT * m.n_contact, self.h * self.stride
        turns: dict[str, Any] = {}
        for k in range(m.n_contact):
            owner = int(m.contact_owner[k])
            found = [p for p in self.waves.parts.values() if p.first == owner]
            body: Any = self.waves.system.model.element(found[0].name) if found else 0
            if not isinstance(body, RigidBody):
                continue
            own = rows[:, first + N_CONTACT * k :]
            at, n = NODAL.index("point_x"), NODAL.index("normal_x")
            arm = own[:, at : at + 2] - found[0].place
            force = -own[:, NODAL.index("normal_force"), None] * own[:, n : n + 2]
            torque = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
            spin = span / body.inertia * np.cumsum(torque)
            turns[body.name] = turns.get(body.name, 0.0) + span * np.cumsum(spin)
        for name, turn in turns.items():
            most = float(np.max(np.abs(turn), initial=0.0))
            if most > TURN_NOTED:
                yield (
                    f"body '{name}' would have turned by {most:.2g} rad, and rigid "
                    "bodies of scheme 'waves' do not turn; press it through its mass "
                    "centre, or give the flexible bodies a number of modes"
                )

    def _rows(self) -> Floats:
        """Return the rows; what presses all around an axis does so on the axis."""
        m, model = self.waves.solid, self.waves.system.model
        rows = np.array(self.state.rows[: self.state.n_row])
        first = m.n_raw - N_CONTACT * m.n_contact + NODAL.index("point_x")
        for k, name in enumerate(self.waves.system.contacts):
            element: Any = model.element(name)
            part = self.waves.parts[element.b.partition(".")[0]]
            if part.own is not None and part.own.state == "axisymmetric":
                at = first + N_CONTACT * k
                away = rows[:, at : at + 2] - part.place
                axis = part.turn[:, 0]
                rows[:, at : at + 2] = part.place + np.outer(away @ axis, axis)
        return rows

    def _remarks(self) -> list[str]:
        notes = [
            f"scheme 'waves': step {self.h:.6g} s, "
            f"{self.h / self.waves.critical_step:.4g} of the critical one; times of "
            "events are good to one step",
            *notes_on_angles(self.waves.system.model),
        ]
        if self.stride > 1:
            notes.append(
                f"one step in {self.stride} was recorded, to bound the memory of a "
                "result"
            )
        for name, turn in zip(self.waves.parts, self.turned.tolist(), strict=True):
            if turn > TURN_NOTED:
                notes.append(
                    f"body '{name}' turned by {turn:.2g} rad: strains of "
                    f"{0.5 * turn**2:.1g} in it are not real; give the flexible bodies "
                    "a number of modes"
                )
        notes += self._left_out()
        if self.state.n_event > MAX_EVENTS:
            notes.append(
                f"{self.state.n_event} events; the first {MAX_EVENTS} are kept"
            )
        return notes


def _frames(m: Solid, n: int) -> Frames:
    """Return places for n states; memory is taken as they are filled."""
    return Frames(
        step=np.zeros(n, dtype=np.int64),
        u=np.empty((n, m.n_node, 2)),
        v=np.empty((n, m.n_node, 2)),
        lam=np.empty((n, m.n_slave)),
        segment=np.empty((n, m.n_slave), dtype=np.int64),
    )


def has_penalty(system: System, contact: str) -> bool:
    """Return whether the nodes of a contact have springs."""
    element: Any = system.model.element(contact)
    return element.normal.penalty is not None
