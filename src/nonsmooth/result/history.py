"""A run of the scheme `waves`: what was recorded, and states to go on from.

All states of a mesh would fill the memory. Named quantities are recorded at every
step, or at every so many; states are kept now and then, and one in between is marched
to again from the last one before it, which gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import NODAL
from nonsmooth.errors import ModelError, nearest
from nonsmooth.kernels.friction.modes import OPEN, PRESSING
from nonsmooth.kernels.march import waves as kernel
from nonsmooth.kernels.march.wave_tables import N_CONTACT, SEPARATE, State
from nonsmooth.result.energy import EnergyBalance
from nonsmooth.result.event_table import EventRecord
from nonsmooth.result.pressure import Pressure
from nonsmooth.result.state import MODE, Modes

if TYPE_CHECKING:
    # Not at run time: finite elements and SciPy's sparse matrices come with it.
    from nonsmooth.pack.waves import Waves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Steps between rows of a state that is only marched to: never.
NEVER = 1 << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class Frames:
    """States that were kept: before the steps of given numbers."""

    step: Ints  # (n)
    u: Floats  # (n, n_node, 2)
    v: Floats  # (n, n_node, 2), half a step before; of an implicit method, at it
    lam: Floats  # (n, n_slave)
    segment: Ints  # (n, n_slave)

    def first(self, n: int) -> Frames:
        """Return the first n."""
        if n == len(self.step):
            return self
        return Frames(
            step=self.step[:n].copy(),
            u=self.u[:n].copy(),
            v=self.v[:n].copy(),
            lam=self.lam[:n].copy(),
            segment=self.segment[:n].copy(),
        )

    @property
    def n_bytes(self) -> int:
        """Memory."""
        return self.u.nbytes + self.v.nbytes + self.lam.nbytes + self.segment.nbytes


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """What stands in place of `Steps` in the result of a run of `waves`."""

    waves: Waves
    method: str  # "central", "newmark" or "moreau"
    h_step: float  # s
    stride: int  # steps from row to row
    t_end: float  # s
    rows: Floats  # (n + 1, n_raw)
    energies: Floats  # (n + 1, 2), kinetic and potential, J
    works: dict[str, Floats]  # (n + 1) each, J
    changes_at: Floats  # (n_event, 3) step, contact, kind
    edges: Floats  # (n_contact) N, largest at the ends of patches
    frames: Frames

    @cached_property
    def instants(self) -> Floats:
        """Times of the rows, s; the last may lie after the end, by a part of a step."""
        return self.h_step * self.stride * np.arange(len(self.rows), dtype=float)

    @cached_property
    def t(self) -> Floats:
        """Begin of each span between two rows, s."""
        inside = self.instants < self.t_end * (1.0 - 1e-12)
        return self.instants[inside][: max(len(self.rows) - 1, 0)]

    @cached_property
    def h(self) -> Floats:
        """Length of each span, s."""
        return np.diff(np.append(self.t, self.t_end))

    @cached_property
    def mode(self) -> Modes:
        """Modes of contacts, (n, n_contact) records, as `Steps` has them."""
        m = self.waves.solid
        modes: Any = np.zeros((len(self.t), m.n_contact), dtype=MODE)
        for k in range(m.n_contact):
            column = m.n_raw - N_CONTACT * (m.n_contact - k) + NODAL.index("mode")
            is_open = self.rows[: len(self.t), column] == 2.0
            modes["side"][:, k] = np.where(is_open, OPEN, PRESSING)
        return modes

    @cached_property
    def arc(self) -> Ints:
        """Number of the arc that each span belongs to."""
        new = (np.diff(self.mode["side"], axis=0) != 0).any(axis=1)
        return np.concatenate(([0], np.cumsum(new))).astype(np.int64)

    def spins(self, t: Floats) -> Floats:
        """Return angular velocities: bodies of waves hardly turn."""
        return np.zeros((len(t), self.waves.system.n_moving))

    def sample(self, t: Floats) -> Floats:
        """Return rows at given times, on straight lines between those recorded."""
        x = t / (self.h_step * self.stride)
        k = np.clip(np.floor(x).astype(np.int64), 0, max(len(self.rows) - 2, 0))
        part = np.clip(x - k, 0.0, 1.0)[:, None]
        low, high = self.rows[k], self.rows[np.minimum(k + 1, len(self.rows) - 1)]
        # Where a contact has nothing to touch its gap is infinite: no 0 times it.
        rows = np.where(part == 0.0, low, np.where(part == 1.0, high, 0.0))
        inner = np.flatnonzero((part[:, 0] > 0.0) & (part[:, 0] < 1.0))
        rows[inner] = low[inner] + part[inner] * (high[inner] - low[inner])
        # A mode is not between two others.
        m = self.waves.solid
        begin = m.n_raw - N_CONTACT * m.n_contact
        for name in ("mode", "n_closed"):
            columns = range(begin + NODAL.index(name), m.n_raw, N_CONTACT)
            rows[:, list(columns)] = np.where(part < 1.0, low, high)[:, list(columns)]
        return rows

    def balance(self, t: Floats) -> EnergyBalance:
        """Return the energy ledger at given times."""
        at = self.instants

        def on(values: Floats) -> Floats:
            return np.interp(t, at, values)

        return EnergyBalance(
            t=t,
            kinetic=on(self.energies[:, 0]),
            potential=on(self.energies[:, 1]),
            work={name: on(values) for name, values in self.works.items()},
        )

    def events(self) -> list[EventRecord]:
        """Return touch-downs and separations, good to one step."""
        system, m = self.waves.system, self.waves.solid
        begin = m.n_raw - N_CONTACT * m.n_contact + NODAL.index("normal_force")
        records: list[EventRecord] = []
        for n, contact, kind in self.changes_at.tolist():
            if n * self.h_step > self.t_end:
                continue
            row, k = int(n) // self.stride, int(contact)
            force = self.rows[:, begin + N_CONTACT * k]
            is_last = kind == SEPARATE
            pair = (float(force[max(row - 1, 0)]), float(force[row]))
            records.append(
                EventRecord(
                    t=n * self.h_step,
                    element=system.contacts[k],
                    kind="separate" if is_last else "touch_down",
                    before="pressing" if is_last else "open",
                    after="open" if is_last else "pressing",
                    normal_force=pair if self.stride == 1 and n > 0 else None,
                )
            )
        return records

    # -- states ------------------------------------------------------------------

    def _before(self, n: int) -> State:
        """Return the state before step n."""
        m, frames = self.waves.solid, self.frames
        k = int(np.searchsorted(frames.step, n, side="right")) - 1
        sizes = m.sizes() | {"n_capacity": 1}
        state = State(
            sizes,
            n=int(frames.step[k]),
            u=frames.u[k],
            v=frames.v[k],
            lam=frames.lam[k],
            segment=frames.segment[k],
            stride=NEVER,
            n_events=0,
        )
        kernel.march(m, state, n - state.n)
        return state

    def motion(self, t: float) -> tuple[float, Floats, Floats]:
        """Return time, displacements and velocities of all nodes, (n_node, 2).

        The time is t but for implicit methods, of which the nearest state is taken
        that was kept.
        """
        frames = self.frames
        if self.method != "central":
            k = int(np.argmin(np.abs(frames.step * self.h_step - t)))
            return float(frames.step[k] * self.h_step), frames.u[k], frames.v[k]
        x = t / self.h_step
        n = int(np.floor(x * (1.0 + 1e-15)))
        part = min(max(x - n, 0.0), 1.0)
        state, m = self._before(n), self.waves.solid
        u0 = np.array(state.u)
        kernel.march(m, state, 1)
        old, mid = np.array(state.old), np.array(state.v)
        v0 = old if n == 0 else 0.5 * (old + mid)
        u1 = np.array(state.u)
        if part > 0.0:
            kernel.march(m, state, 1)
            v0 = v0 + part * (0.5 * (mid + np.asarray(state.v)) - v0)
        return t, u0 + part * (u1 - u0), v0

    def pressure(self, contact: str, t: float) -> Pressure:
        """Return what the nodes of a patch bear in the step that holds t."""
        system, m = self.waves.system, self.waves.solid
        if contact not in system.contacts:
            valid = nearest(contact, system.contacts)
            raise ModelError(f"contact '{contact}': it has no nodes; {valid}")
        if self.method != "central":
            raise ModelError(
                f"contact '{contact}': method '{self.method}' keeps no forces of "
                "nodes; use method 'central'"
            )
        state = self._before(int(np.floor(t / self.h_step * (1.0 + 1e-15))))
        u = np.array(state.u)
        kernel.march(m, state, 1)
        k = system.contacts.index(contact)
        where = slice(int(m.contact_first[k]), int(m.contact_first[k + 1]))
        element: Any = system.model.element(contact, "b")
        owner, _, patch = element.b.partition(".")
        own, body = self.waves.parts[owner].own, system.model.element(owner)
        assert own is not None
        areas = own.boundary(patch, body.patches[patch]).forces  # type: ignore[attr-defined]
        nodes, forces = m.slave[where], np.array(state.lam[where])
        return Pressure(
            t=t,
            places=np.asarray(m.place)[nodes] + u[nodes],
            normals=np.array(state.normal[where]),
            forces=forces,
            friction=np.zeros_like(forces),
            pressure=np.divide(
                forces, areas, out=np.full(len(areas), np.nan), where=areas > 0.0
            ),
        )

    def cut_patches(self) -> list[str]:
        """Return a sentence for each patch that presses at an end where it was cut."""
        found: list[str] = []
        for k, name in enumerate(self.waves.system.contacts):
            element: Any = self.waves.system.model.element(name, "b")
            owner, _, patch = element.b.partition(".")
            body: Any = self.waves.system.model.element(owner)
            if body.patches[patch].radius is not None and self.edges[k] > 0.0:
                found.append(
                    f"contact '{name}' presses at an end of patch '{element.b}': the "
                    "patch is too small for this load; give it a larger radius"
                )
        return found
