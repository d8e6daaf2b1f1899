"""Runs of bodies that have few modes in flight and all of them in contact.

Two systems take turns, `pack.flight` tells how their states belong together. With all
shapes a run is left where every patch is clear: farther off than its shapes together
could bring it. With few it is left at a touch-down. The shapes that are dropped take
their energy along, joints are then closed again, and the whole difference is an entry
of the ledger. When they return they are what they were statically: nothing jumps.

Steps of flights are marked by `Mode.flank` of patches: results are evaluated by the
system that they were taken with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FAILURES, Interrupted, SolveError
from nonsmooth.kernels import entry
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.run import TICK
from nonsmooth.pack import System
from nonsmooth.pack.flight import Flight
from nonsmooth.pack.system import DROPPED
from nonsmooth.result import Result, Steps
from nonsmooth.result.evaluate import evaluate, grounded, instants
from nonsmooth.result.kept import Chunk
from nonsmooth.result.state import Modes
from nonsmooth.result.steps import FlightLog
from nonsmooth.solve.driver import Driver
from nonsmooth.solve.progress import Done, Progress

Floats = NDArray[np.float64]

# Part of the energy that is round-off of closing the joints.
SMALLEST = 1e-9
# Costs of a run that add up.
_SUMS = ("steps", "rejected", "evaluations", "jacobians", "implicit_steps")


class Journey:
    """A run in parts, with all shapes and with few."""

    def __init__(self, driver: Driver, flight: Flight, is_flying: bool) -> None:
        self.driver, self.flight, self.system = driver, flight, driver.system
        self.t_start, self.until = driver.t_start, driver.until
        self.is_flying = is_flying  # the state given is of a flight
        self.chunks: list[Chunk | FlightLog] = []
        self.parts: list[Result] = []
        self.notes: list[str] = []
        self.progress: Progress | None = None
        self.arc = 0
        self.before = np.array(driver.step.y)  # at the last take-off

    def run(self, progress: Progress | None) -> Result:
        """March from flight to contact and back until the end."""
        self.progress = progress
        driver, flies = self.driver, False
        t, y, mode = self.t_start, np.array(driver.step.y), np.array(driver.work.mode)
        is_known = bool(driver.blocks.rest.is_known)
        if self.is_flying or (self._is_open(mode) and self._is_clear(t, y, mode)):
            driver, flies = self._take_off(t, y, mode if is_known else None), True
        while True:
            self._watch(driver, flies)
            try:
                part = driver.run(self._told(driver))
            except (SolveError, Interrupted) as error:
                if error.result is not None:
                    error.result = self._joined(error.result, flies)
                raise
            if part.message:
                return self._joined(part, flies)
            self._keep(part, flies)
            driver = self._turn(driver, flies)
            flies = not flies

    # -- when ----------------------------------------------------------------------

    def _watch(self, driver: Driver, flies: bool) -> None:
        """Let a part of the run be left in time, a flight at its touch-down."""

        def lands(_status: int) -> bool:
            log: Any = driver.log
            sides = np.asarray(log.mode)["side"][: log.n, patches]
            # Of the last step the log does not know the mode after it.
            now = np.array(driver.work.mode)["side"][patches]
            touched = np.flatnonzero((sides != OPEN).any(axis=1))
            if len(touched):
                driver.back_to(int(touched[0]))
            return bool(len(touched) or (now != OPEN).any())

        def clears(status: int) -> bool:
            step, mode = driver.step, np.array(driver.work.mode)
            if status != TICK or not self._is_open(mode):
                return False
            return self._is_clear(float(step.t), np.array(step.y), mode)

        patches = self.flight.patches()
        driver.leaves = lands if flies else clears

    def _is_open(self, mode: Any) -> bool:
        """Return whether no patch presses."""
        return bool((mode["side"][self.flight.patches()] == OPEN).all())

    def _is_clear(self, t: float, y: Floats, mode: Modes) -> bool:
        """Return whether all patches are farther off than shapes could bring them."""
        plain, at = grounded(mode[None]), np.array([t])
        found = evaluate(self.system, self.system.work(), at, y[None], plain)
        contact: Any = np.asarray(found.contact)
        gaps = contact["gap"][0][self.flight.patches()]
        return bool((gaps > self.flight.reach(y)).all())

    # -- from one to the other -----------------------------------------------------

    def _turn(self, old: Driver, flies: bool) -> Driver:
        """Return the part of the run that goes on."""
        t, y, mode = float(old.step.t), np.array(old.step.y), np.array(old.work.mode)
        if not flies:
            return self._take_off(t, y, mode)
        return self._part(self.system, t, self._up(y), mode)

    def _take_off(self, t: float, y: Floats, mode: Modes | None) -> Driver:
        """Drop shapes, close joints, and book what that takes."""
        self.before = y
        flight, few = self.flight, self.flight.few
        low, n = flight.down(y), few.n_dof
        known: Any = np.array(self.driver.work.mode) if mode is None else mode
        before = _energies(self.system, t, y, grounded(known[None])[0])
        work = few.work()
        q, v = low[:n].copy(), low[n : 2 * n].copy()
        if few.n_row:
            entry.project_positions(few.tables, work, t, q, v, few.size)
            entry.project_velocities(few.tables, work, t, q, v)
        low[:n], low[n : 2 * n] = q, v
        after = _energies(few, t, low, grounded(known[None])[0])
        lost = before[0] - after[0]
        shares = self._shares(y)
        for name, share in shares.items():
            entry_of = self.system.works.index(f"{name}.{DROPPED}")
            low[2 * n + few.n_state + entry_of] -= share * lost
        if lost > SMALLEST * before[1]:
            self._judge(t, y, lost, before[1], shares)
        return self._part(few, t, low, mode)

    def _up(self, y: Floats) -> Floats:
        """Return states of a flight with all shapes and works."""
        found = self.flight.up(y)
        found[..., self.flight.idle] = self.before[self.flight.idle]
        return found

    def _shares(self, y: Floats) -> dict[str, float]:
        """Return the share of each body in the energy that is dropped."""
        n, own = self.system.n_dof, dict[str, float]()
        for name, T in self.flight.shapes.items():
            at = self.system.coordinates(name)
            eta, rate = (y[k + at.start + 3 : k + at.stop] for k in (0, n))
            eta, rate = eta - T @ (T.T @ eta), rate - T @ (T.T @ rate)
            stiffness = self.system.flexible[name].stiffness
            own[name] = 0.5 * float(rate @ rate + eta @ (stiffness * eta))
        total = sum(own.values())
        return {name: e / total if total > 0.0 else 0.0 for name, e in own.items()}

    def _judge(
        self, t: float, y: Floats, lost: float, moving: float, shares: dict[str, float]
    ) -> None:
        """Say what is dropped; fail if it is more than allowed."""
        for name, share in shares.items():
            body: Any = self.system.model.element(name)
            part = share * lost / moving if moving > 0.0 else 0.0
            facts = {
                "t": t,
                "who": name,
                "n": body.flight_modes,
                "lost": share * lost,
                "part": 100.0 * part,
                "allowed": 100.0 * body.flight_loss,
            }
            if part > body.flight_loss:
                text = FAILURES["dropped"].format(**facts)
                raise SolveError(text, self._failed(t, y, text))
            self.notes.append(
                "t = {t:.6g} s: in flight body '{who}' keeps {n} modes and drops "
                "{lost:.3g} J with the others, {part:.2g} % of the energy".format(
                    **facts
                )
            )

    def _part(self, system: System, t: float, y: Floats, mode: Modes | None) -> Driver:
        """Return a run of one of the systems from a state on."""
        first, n = self.driver, system.n_dof
        driver = Driver(
            system,
            first.options,
            first.scheme,
            system.work(),
            t,
            self.until,
            y[:n],
            y[n : 2 * n],
            span=self.until - self.t_start,
            store=first.store,
        )
        driver.step.y[:] = y
        self.arc += 1
        driver.step.arc = self.arc
        if mode is not None:
            plain = grounded(mode[None])
            at = instants(system, np.array([t]), y[None], plain)
            entry.set_mode(system.tables, driver.work, at, 0)
            driver.blocks.rest.is_known = 1
        return driver

    # -- what came out ---------------------------------------------------------------

    def _told(self, driver: Driver) -> Progress | None:
        """Return whom to tell how much of the whole run is done."""
        tell = self.progress
        if tell is None:
            return None
        before = (driver.t_start - self.t_start) / (self.until - self.t_start)
        left = 1.0 - before
        return lambda part: tell(Done(before + part * left, part.t, part.closed))

    def _keep(self, part: Result, flies: bool) -> None:
        """Keep the steps of a part."""
        chunks = [log for log in part.steps.chunks if log.n]
        if flies:
            self.chunks += [FlightLog(log, self.flight, self.before) for log in chunks]
        else:
            self.chunks += chunks
        if chunks:
            self.arc = max(self.arc, int(chunks[-1].arc[chunks[-1].n - 1]))
        self.parts.append(part)

    def _failed(self, t: float, y: Floats, text: str) -> Result:
        """Return what there is where shapes must not be dropped."""
        last = self.parts[-1]
        steps = replace(last.steps, chunks=tuple(self.chunks), y_end=y)
        changes: Any = {"status": "failed", "message": text, "t_end": t}
        return self._joined_of(last, steps, self.parts, changes)

    def _joined(self, last: Result, flies: bool) -> Result:
        """Return all parts as one run."""
        self._keep(last, flies)
        steps, mode = last.steps, np.array(last.steps.mode_end)
        if flies:
            for k in self.flight.patches():
                if mode["side"][k] == OPEN:
                    mode["flank"][k] = 1
        y: Floats = self._up(steps.y_end) if flies else steps.y_end
        joined = Steps(
            system=self.system, chunks=tuple(self.chunks), y_end=y, mode_end=mode
        )
        return self._joined_of(last, joined, self.parts, {})

    def _joined_of(
        self, last: Result, steps: Steps, parts: list[Result], changes: Any
    ) -> Result:
        cost = dict(last.cost)
        for name in (*_SUMS, "cpu_seconds"):
            cost[name] = sum(part.cost[name] for part in parts)
        notes = [*self.driver.notes, *self.notes]
        for part in parts:
            notes += [note for note in part.remarks if note not in notes]
        return replace(
            last,
            system=self.system,
            steps=steps,
            t_start=self.t_start,
            cost=cost,
            violation=max(part.violation for part in parts),
            remarks=tuple(notes),
            **changes,
        )


def _energies(system: System, t: float, y: Floats, mode: Modes) -> tuple[float, float]:
    """Return energy, and its part in motion and shapes."""
    found = evaluate(system, system.work(), np.array([t]), y[None], mode[None])
    m, q = system.tables, y[: system.n_dof]
    wrench = np.asarray(found.wrench).reshape(m.n_force, 8)
    springs = wrench[np.flatnonzero(m.force_has_potential), 6].sum()
    contact: Any = np.asarray(found.contact)
    moving = float(found.kinetic[0] + np.sum(found.inner))
    rest = float(-(q @ m.weight) + springs + contact["stored"].sum())
    return moving + rest, moving
