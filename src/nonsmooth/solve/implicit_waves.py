"""Implicit steps of full finite elements, for comparison with central differences.

    newmark   M a + K u = f + J'lam,  0 <= lam _|_ g(u) >= 0      at the end of a step
              with mean accelerations, beta = 1/4, gamma = 1/2
    moreau    M (v+ - v) = h (f - K u_m) + J'p,  u_m the mean      theta = 1/2
              0 <= p _|_ J v+ >= 0 where g + h/2 J v <= 0

Newmark's rule with masses at nodes in contact rings without end: they are moved to the
other nodes of the body, so that mass, mass centre and moment of inertia stay
[KhenousEtAl2008]_. Gaps are linear, as they are at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg as stubs

from nonsmooth.complementarity import solve_lcp
from nonsmooth.errors import ModelError
from nonsmooth.kernels.march import waves as kernel
from nonsmooth.kernels.march.wave_tables import (
    CHAIN,
    DIVERGED,
    DONE,
    NODE,
    SEPARATE,
    TOUCH_DOWN,
    State,
)
from nonsmooth.pack.waves import Waves, contact_rows

linalg: Any = stubs  # they know neither options of splu nor types of results
Floats = NDArray[np.float64]


def implicit_stepper(waves: Waves, state: State, method: str) -> Callable[[int], int]:
    """Return what takes steps of a method and records them in a state."""
    if np.any(np.asarray(waves.solid.stiffness) > 0.0):
        raise ModelError(
            f"method = '{method}' has no penalty; use method 'central', or leave the "
            "penalty out"
        )
    return (_Newmark if method == "newmark" else _Moreau)(waves, state)


class _Implicit:
    """What both methods have: matrices, contact rows, the record."""

    def __init__(self, waves: Waves, state: State) -> None:
        m = waves.solid
        self.m, self.state, self.h = m, state, m.h
        self.free = np.flatnonzero(np.asarray(m.minv).ravel() > 0.0)
        self.mass = np.repeat(self.redistributed(waves), 2)
        self.stiffness = sparse.csr_array(waves.stiffness)
        # Nothing but its mass resists where a rod has no stiffness, across it.
        loose = self.stiffness.diagonal() == 0.0
        self.mass[loose] = np.repeat(np.asarray(m.mass), 2)[loose]
        self.rows = contact_rows(m)
        self.gap = np.array(state.gap)
        self.near = np.array(state.is_near) == 1
        fall = np.tile([m.fall_x, m.fall_y], m.n_node)
        self.load = fall * self.mass
        self.u: Floats = np.array(state.u, dtype=float).ravel()
        self.v: Floats = np.array(state.v, dtype=float).ravel()
        self.a: Floats = np.zeros_like(self.u)
        self.force = np.zeros(m.n_slave)
        self.work = np.zeros(m.n_slave)
        self.factor: Any = None

    def redistributed(self, waves: Waves) -> Floats:
        """Return the masses of the nodes."""
        return np.array(waves.solid.mass)

    def prepare(self, matrix: Any) -> None:
        """Factor a matrix, and condense it to the nodes in contact."""
        free = self.free
        self.factor = linalg.splu(sparse.csc_array(matrix[free][:, free]))
        small = self.rows[:, free].toarray()
        self.answers = self.factor.solve(np.ascontiguousarray(small.T))
        self.give = small @ self.answers

    def solve(self, load: Floats) -> Floats:
        """Return the solution without contact."""
        x = np.zeros_like(load)
        x[self.free] = self.factor.solve(load[self.free])
        return x

    def settle(self, value: Floats, active: NDArray[np.bool_]) -> Floats:
        """Return 0 <= lam _|_ value + give lam >= 0 for active nodes."""
        lam = np.zeros(len(value))
        if active.any() and value[active].min() < 0.0:
            give = self.give[np.ix_(active, active)]
            lam[active] = solve_lcp(give, value[active]).z
        return lam

    def add(self, x: Floats, lam: Floats) -> Floats:
        """Return a solution with contact."""
        x = x.copy()
        x[self.free] += self.answers @ lam
        return x

    def note(self) -> None:
        """Record the present instant: velocities and forces at it."""
        m, s = self.m, self.state
        s.u[...] = self.u.reshape(-1, 2)
        half = 0.5 * self.h * self.a
        s.old[...] = (self.v - half).reshape(-1, 2)
        s.v[...] = (self.v + half).reshape(-1, 2)
        s.lam[...] = self.force
        if s.n % s.stride == 0:
            row = s.n_row
            kernel.record(m, s, self.h)
            s.energies[row, 0] = 0.5 * float(self.mass @ self.v**2)
            inner = 0.5 * float(self.u @ (self.stiffness @ self.u))
            s.energies[row, 1] = inner - float(self.load @ self.u)
            first = np.asarray(m.contact_first)
            for k in range(m.n_contact):
                s.works[row, k] = self.work[first[k] : first[k + 1]].sum()
        s.v[...] = self.v.reshape(-1, 2)
        self.events()

    def events(self) -> None:
        """Note touch-downs and separations."""
        m, s = self.m, self.state
        first = np.asarray(m.contact_first)
        for k in range(m.n_contact):
            is_closed = int(self.force[first[k] : first[k + 1]].max() > 0.0)
            if is_closed != s.is_closed[k]:
                if s.n_event < s.n_events:
                    kind = TOUCH_DOWN if is_closed else SEPARATE
                    s.events[s.n_event] = (s.n, k, kind)
                s.n_event += 1
                s.is_closed[k] = is_closed

    def __call__(self, n: int) -> int:
        """Take n steps; record the instants at which they begin."""
        for _ in range(n):
            self.note()
            self.step()
            self.state.n += 1
            self.state.u[...] = self.u.reshape(-1, 2)
            self.state.v[...] = self.v.reshape(-1, 2)
            if not np.all(np.isfinite(self.v)):
                return DIVERGED
        return DONE

    def step(self) -> None:
        """Advance u, v, a, force and work by one step."""
        raise NotImplementedError


class _Newmark(_Implicit):
    """Mean accelerations, without masses at the nodes in contact."""

    def __init__(self, waves: Waves, state: State) -> None:
        super().__init__(waves, state)
        scaled = sparse.diags_array(4.0 / self.h**2 * self.mass)
        self.prepare(sparse.csr_array(self.stiffness + scaled))
        self.light = self.mass == 0.0
        fall = np.tile([self.m.fall_x, self.m.fall_y], self.m.n_node)
        self.a[self.free] = np.where(self.light, 0.0, fall)[self.free]

    def redistributed(self, waves: Waves) -> Floats:
        m = waves.solid
        masses = np.array(m.mass)
        touching: list[int] = np.asarray(m.slave).tolist()
        for k in range(m.n_contact):
            if m.contact_kind[k] in (CHAIN, NODE):
                touching += np.asarray(m.chain)[slice(*m.contact_chain[k])].tolist()
        is_light = np.zeros(m.n_node, dtype=bool)
        is_light[touching] = True
        for part in waves.parts.values():
            own = np.arange(part.first, part.first + part.n)
            if part.own is None or not is_light[own].any():
                continue
            x = np.asarray(m.place)[own] - part.place
            totals = np.stack((np.ones(part.n), x[:, 0], x[:, 1], (x**2).sum(axis=1)))
            heavy = ~is_light[own]
            lost = totals[:, ~heavy] @ masses[own[~heavy]]
            # Least change, each beside its own mass.
            weights = masses[own[heavy]]
            some = totals[:, heavy]
            square = (some * weights) @ some.T
            share = np.linalg.lstsq(square, lost, rcond=None)[0]
            change = weights * (some.T @ share)
            masses[own[heavy]] += change
            masses[own[~heavy]] = 0.0
        return masses

    def step(self) -> None:
        h, mass = self.h, self.mass
        ahead = 4.0 / h**2 * (self.u + h * self.v) + self.a
        free = self.solve(self.load + mass * ahead)
        lam = self.settle(self.gap + self.rows @ free, self.near)
        u = self.add(free, lam)
        move = u - self.u
        self.work += 0.5 * (self.force + lam) * (self.rows @ move)
        a = 4.0 / h**2 * (move - h * self.v) - self.a
        v = self.v + 0.5 * h * (self.a + a)
        # Nodes without mass follow the others: their velocity is that of the step.
        self.v = np.where(self.light, move / h, v)
        self.a = np.where(self.light, 0.0, a)
        self.u, self.force = u, lam


class _Moreau(_Implicit):
    """Impulses on velocities, theta = 1/2, no rebound."""

    def __init__(self, waves: Waves, state: State) -> None:
        super().__init__(waves, state)
        scaled = 0.25 * self.h**2 * self.stiffness
        self.prepare(sparse.csr_array(sparse.diags_array(self.mass) + scaled))

    def step(self) -> None:
        h = self.h
        middle = self.stiffness @ (self.u + 0.25 * h * self.v)
        free = self.solve(self.mass * self.v + h * (self.load - middle))
        rate = self.rows @ self.v
        gap = self.gap + self.rows @ self.u
        active = self.near & (gap + 0.5 * h * rate <= 0.0)
        impulse = self.settle(self.rows @ free, active)
        v = self.add(free, impulse)
        self.work += 0.5 * impulse * (rate + self.rows @ v)
        self.u = self.u + 0.5 * h * (self.v + v)
        self.a = (v - self.v) / h
        self.v, self.force = v, impulse / h
