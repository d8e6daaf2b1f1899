"""The system: a model packed into flat tables, with the names of their rows.

After packing, nothing looks at a model object: kernels read the tables, results
read the names.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Point
from nonsmooth.elements.flexible import Reduced
from nonsmooth.elements.shapes import Circle, Shape
from nonsmooth.kernels.complementarity.box import Box
from nonsmooth.kernels.complementarity.fixed_point import Search
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.look import Look
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.model import Model
from nonsmooth.pack.patches import N_HISTORY

if TYPE_CHECKING:
    from nonsmooth.pack.flight import Flight
    from nonsmooth.pack.instants import Text
    from nonsmooth.pack.parts import Part

# Entry of the ledger for what a body loses with the modes that it drops in flight.
DROPPED = "dropped"


@dataclass(frozen=True, kw_only=True, repr=False)
class System:
    """Tables for the kernels, and the names that go with their rows."""

    model: Model
    tables: Tables
    bodies: tuple[str, ...]  # in the order of the tables, moving ones first
    n_moving: int
    joints: tuple[str, ...]  # joints, then drives
    forces: tuple[str, ...]
    supports: tuple[str, ...]  # moving supports, then the ground
    events: tuple[str, ...]
    contacts: tuple[str, ...]  # pairs of a surface and a disc, or of outlines
    slides: tuple[str, ...]  # joints with friction
    spots: tuple[Spot, ...]  # of the contacts
    works: tuple[str, ...]  # entries of the ledger
    markers: dict[str, int]  # "body" or "body.point" -> row
    start: NDArray[np.float64]  # (n_dof, 2), value and rate of each coordinate
    flexible: dict[str, Reduced]  # by the names of flexible bodies
    size: float  # m, extent of the model
    breaks: tuple[float, ...]  # s, where a time law says that it is not smooth
    texts: tuple[Text, ...]  # expressions, to be looked through for such instants
    span: tuple[float, float]  # s, where every time law is defined
    law_owners: tuple[str, ...]  # the element each time law belongs to
    law_is_smooth: tuple[bool, ...]  # whether it cannot jump

    @property
    def n_dof(self) -> int:
        """Number of coordinates."""
        return self.tables.n_dof

    @property
    def n_row(self) -> int:
        """Number of constraint rows."""
        return self.tables.n_row

    @property
    def n_y(self) -> int:
        """Length of the integrated state (q, v, z, work)."""
        return self.tables.n_y

    def histories(self) -> dict[str, slice]:
        """Return where in the state stands what each rough patch remembers."""
        m, found = self.tables, dict[str, slice]()
        first = m.n_y - m.n_history
        for k, name in enumerate(self.contacts):
            at_b, at = int(m.contact_patch[k, 0]), int(m.contact_patch[k, 4])
            if at >= 0:
                n = N_HISTORY * int(m.par[at_b])
                found[name] = slice(first + at, first + at + n)
        return found

    def state_names(self) -> tuple[str, ...]:
        """Return a name for every entry of the integrated state."""
        m = self.tables
        own = self.by_body(np.zeros(self.n_dof))
        q = [f"{name}.{i}" for name, values in own.items() for i in range(len(values))]
        z = [""] * self.n_state
        for name, k in zip(self.with_mode, m.contact_state.tolist(), strict=True):
            if k >= 0:
                z[k] = name
        h = [""] * m.n_history
        for name, where in self.histories().items():
            for i in range(where.start, where.stop):
                h[i - m.n_y] = f"{name}.{i - where.start}"
        kinds = {"q": q, "v": q, "z": z, "work": self.works, "history": h}
        return tuple(
            f"{kind} {name}" for kind, names in kinds.items() for name in names
        )

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Parts that share nothing, as systems of their own; empty if all is one."""
        from nonsmooth.pack.parts import parts_of  # which packs

        return parts_of(self)

    @cached_property
    def flight(self) -> Flight | None:
        """The same with fewer shapes, in flight; None where no body drops any."""
        from nonsmooth.pack.flight import flight_of

        return flight_of(self)

    @property
    def n_state(self) -> int:
        """Number of internal states of friction laws."""
        return self.tables.n_state

    @property
    def n_held(self) -> int:
        """Number of joints that are constraints; drives follow them."""
        return len(self.joints) - len(self.model.drives)

    @property
    def full(self) -> tuple[str, ...]:
        """Bodies that are kept as finite elements; the scheme is "waves" then."""
        bodies = self.model.bodies
        return tuple(b.name for b in bodies if getattr(b, "modes", None) == "full")

    @property
    def points(self) -> tuple[str, ...]:
        """Points and patches of all bodies but the ground, "body.point"."""
        names = (name for name in self.markers if "." in name)
        return tuple(name for name in names if name.partition(".")[0] != "ground")

    @property
    def whole(self) -> dict[str, tuple[int, ...]]:
        """Parts of every contact that is taken apart, by its name."""
        parts: dict[str, tuple[int, ...]] = {}
        for contact in self.model.contacts:
            name = contact.name
            own = tuple(k for k, s in enumerate(self.spots) if s.element == name)
            if own and name not in self.contacts:
                parts[name] = own
        return parts

    @property
    def gauges(self) -> tuple[str, ...]:
        """Gauges of all bodies, "body.gauge"."""
        bodies: Any = self.model.bodies
        return tuple(
            f"{body.name}.{name}"
            for body in bodies
            for name in getattr(body, "gauges", ())
        )

    @property
    def with_mode(self) -> tuple[str, ...]:
        """Contacts, then joints with friction: everything that sticks and slips."""
        return (*self.contacts, *self.slides)

    def __repr__(self) -> str:
        """Return what it is of, in a line."""
        return (
            f"<System of {self.model!r}: {self.n_dof} coordinates, "
            f"{self.tables.n_row} constraints>"
        )

    def _repr_html_(self) -> str:
        """Return the same with a picture of the start, as a notebook shows it."""
        from nonsmooth.solve.preview import shown

        return shown(self)

    def coordinates(self, body: str) -> slice:
        """Return where the coordinates of a body with mass stand."""
        k = self.bodies.index(body)
        first = int(self.tables.body_dof[k])
        return slice(first, first + int(self.tables.body_n[k]))

    def by_body(self, values: NDArray[np.float64]) -> dict[str, tuple[float, ...]]:
        """Return the entries of a vector of coordinates for each body with mass."""
        names = self.bodies[: self.n_moving]
        found: dict[str, tuple[float, ...]] = {}
        for name in names:
            own: list[float] = values[self.coordinates(name)].tolist()
            found[name] = tuple(own)
        return found

    def row_owner(self, row: int) -> str:
        """Return the name of the joint, drive or contact that owns a constraint row."""
        first, n = self.tables.joint_row, self.tables.joint_n_row
        owners = np.flatnonzero((first <= row) & (row < first + n))
        if len(owners):
            return self.joints[int(owners[0])]
        k = int(np.flatnonzero(self.tables.contact_row == row)[0])
        return self.with_mode[k].partition(".")[0]

    def row_label(self, row: int) -> str:
        """Return how messages call the owner of a row."""
        return self.model.element(self.row_owner(row), "a").label()

    def work(self) -> Work:
        """Return fresh scratch arrays for one thread."""
        return copy(self._blank)

    @cached_property
    def _blank(self) -> Work:
        m = self.tables
        # Joints always hold; the rows of contacts begin empty.
        n_row: int = m.n_row
        active = np.ones(n_row, dtype=np.int64)
        active[m.contact_row[m.contact_row >= 0]] = 0
        work = Work(
            m.sizes(),
            box=Box(m.sizes(), look=Look()),
            search=Search(m.sizes()),
            weight=np.ones(n_row),
            ratio=np.ones(len(self.with_mode)),
            minv=m.minv,
            is_active=active,
            first=np.where(active == 1, m.first, np.arange(n_row)),
            n_active=1 + int(np.flatnonzero(active).max(initial=-1)),
            margin=1.0,
            pivot=1.0,
            force=m.weight_of_all or m.moment,
        )
        # A joint is always closed.
        mode: Any = work.mode
        mode.side[m.n_touch :] = PRESSING
        return work


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place where bodies may touch: a disc on one, a surface on another.

    A point is a disc of radius zero. Of two outlines the columns tell where it is.
    """

    name: str  # as in columns
    element: str  # the contact, or the guide with clearance
    owner: str  # body of the surface
    surface: Shape | None  # None for the patch of a flexible body
    body: str  # of the disc
    centre: Point  # m, of the disc in its body's frame
    radius: float  # m
    has_friction: bool
    reach: float = 0.0  # m, of b's outline about its origin
    is_flat: bool = False  # two outlines, or a patch of nodes: one contact
    is_swapped: bool = False  # the surface is b's, and its normal points from b to a

    @property
    def middle(self) -> str:
        """Where the normal of a disc that sinks in is lost, in a message's words."""
        if isinstance(self.surface, Circle):
            return "their centres are one"
        return "it is in the middle of the polygon"
