"""The system: a model packed into flat tables, with the names of their rows.

After packing, nothing looks at a model object: kernels read the tables, results
read the names.
"""

from __future__ import annotations

import dataclasses
import importlib
import logging
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Element, family_of, field_types
from nonsmooth.elements.bodies import (
    Body,
    Ground,
    MovingSupport,
    Point,
    PointMass,
    RigidBody,
)
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.joints import Joint, PinInSlot, Prismatic, Revolute
from nonsmooth.elements.laws import Constant, TimeLaw
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.elements.shapes import Line, Shape
from nonsmooth.errors import ModelError
from nonsmooth.kernels import abi
from nonsmooth.kernels.assemble import (
    CONTACT,
    GUIDE,
    NONE,
    PIN,
    PRESSING,
    SET_VALUED,
    SLOT,
    SMOOTH,
    TOUCH,
)
from nonsmooth.kernels.tables import Tables, Work
from nonsmooth.model import Model

Floats = NDArray[np.float64]

_DIRECTION = {"both": 0, "rising": 1, "falling": -1}


_log = logging.getLogger("nonsmooth")


def compile_kernels(has_contacts: bool = True) -> None:
    """Compile the kernels, or load them from the cache; once per process."""
    from nonsmooth.kernels import cache_folder, entry, loop

    stamps = {"the solver": cache_folder / "compiled"}
    if has_contacts:
        stamps["contacts"] = cache_folder / "compiled_contacts"
    new = [what for what, stamp in stamps.items() if abi.JIT and not stamp.exists()]
    if new:
        _log.warning(
            f"compiling the kernels of {' and '.join(new)} for the first time; this "
            f"takes about {30 * len(new)} s (`nonsmooth warmup` does it in advance)"
        )
    abi.link(has_contacts)
    if new:
        cache_folder.mkdir(parents=True, exist_ok=True)
        for what in new:
            stamps[what].touch()
    # Importing them declared their far kernels; the others compile when called.
    del entry, loop


def load_kernel(reference: str) -> Callable[..., Any]:
    """Return the row function named "module:name" in `nonsmooth.kernels`."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(f"nonsmooth.kernels.{module}"), name)


@dataclass(frozen=True, kw_only=True)
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
    contacts: tuple[str, ...]  # one for each pair of a surface and a disc
    slides: tuple[str, ...]  # joints with friction
    spots: tuple[Spot, ...]  # of the contacts
    works: tuple[str, ...]  # entries of the ledger
    markers: dict[str, int]  # "body" or "body.point" -> row
    size: float  # m, extent of the model
    breaks: tuple[float, ...]  # s, where a time law is not smooth
    span: tuple[float, float]  # s, where every time law is defined
    law_owners: tuple[str, ...]  # the element each time law belongs to

    @property
    def n_dof(self) -> int:
        """Number of coordinates."""
        return 3 * self.n_moving

    @property
    def n_row(self) -> int:
        """Number of constraint rows."""
        return self.tables.n_row

    @property
    def n_y(self) -> int:
        """Length of the integrated state (q, v, z, work)."""
        return 2 * self.n_dof + self.n_state + len(self.works)

    @property
    def n_state(self) -> int:
        """Number of internal states of friction laws."""
        return self.tables.n_state

    @property
    def n_held(self) -> int:
        """Number of joints that are constraints; drives follow them."""
        return len(self.joints) - len(self.model.drives)

    @property
    def with_mode(self) -> tuple[str, ...]:
        """Contacts, then joints with friction: everything that sticks and slips."""
        return (*self.contacts, *self.slides)

    def row_owner(self, row: int) -> str:
        """Return the name of the joint, drive or contact that owns a constraint row."""
        first, n = self.tables.joint_row, self.tables.joint_n_row
        owners = np.flatnonzero((first <= row) & (row < first + n))
        if len(owners):
            return self.joints[int(owners[0])]
        k = int(np.flatnonzero(self.tables.contact_row == row)[0])
        return self.with_mode[k].partition(".")[0]

    def work(self) -> Work:
        """Return fresh scratch arrays for one thread."""
        m = self.tables
        n_slide = int(np.diff(m.group_slide).max(initial=0))
        sizes = {
            "law": 3 * m.n_law,
            "support": 9 * m.n_support,
            "turn": 2 * m.n_body,
            "arm": 2 * m.n_marker,
            "motion": 9 * m.n_marker,
            "block": 9 * m.n_row,
            "J": 6 * m.n_row,
            "g": m.n_row,
            "g_t": m.n_row,
            "bias": m.n_row,
            "wrench": 8 * m.n_force,
            "f": m.n_dof,
            "load": 3 * m.n_support,
            "S": m.n_profile,
            "L": m.n_profile,
            "d": m.n_row,
            "r": m.n_row,
            "x": m.n_row,
            "lam": m.n_row,
            "a": m.n_dof,
            "contact": CONTACT * m.n_contact,
            "approach": m.n_contact,
            "hold": m.n_contact,
            "part": m.n_group,
            "ratio": m.n_contact,
            "z": m.n_state,
            "response": n_slide * m.n_row,
            "new": m.n_row if n_slide else 0,
            "rub_force": n_slide,
            "rub_block": 6 * n_slide,
            "excess": n_slide,
            "matrix": n_slide**2,
            "lu": n_slide**2,
            "load_of": n_slide,
            "cone": 2 * m.n_contact,
            "weight": m.n_row,
        }
        arrays: dict[str, Any] = {name: np.zeros(size) for name, size in sizes.items()}
        arrays["weight"][:] = 1.0
        arrays["ratio"][:] = 1.0
        # Joints always hold; the rows of contacts begin empty.
        active = np.ones(m.n_row, dtype=np.int64)
        active[m.contact_row[m.contact_row >= 0]] = 0
        arrays |= {
            "side": np.zeros(m.n_contact, dtype=np.int64),
            "slip": np.zeros(m.n_contact, dtype=np.int64),
            "flank": np.zeros(m.n_contact, dtype=np.int64),
            "is_active": active,
            "first": np.where(active == 1, m.first, np.arange(m.n_row, dtype=np.int64)),
            "swap": np.zeros(n_slide, dtype=np.int64),
            "rub": np.zeros(n_slide, dtype=np.int64),
            "leader": np.full(m.n_group, -1),
            "n_row": 1 + int(np.flatnonzero(active).max(initial=-1)),
            "n_stuck": 0,
            "n_gripped": 0,
            "is_quiet": 0,
            "n_pinned": 0,
            "n_rub": 0,
            "is_bare": 0,
            "is_chosen": 0,
            "margin": 1.0,
            "coupling": 0.0,
            "speed": 0.0,
            "spin": 0.0,
            "is_clamped": 0,
        }
        # A joint is always closed.
        arrays["side"][m.n_touch :] = PRESSING
        return Work(pivot=1.0, has_lost_rank=0, n_rank_loss=0, **arrays)


class _Packer:
    """Collects parameters, kinds, laws and markers while tables are written."""

    def __init__(self, model: Model) -> None:
        self.par: list[float] = []
        self.functions: list[int] = []
        self._kind: dict[tuple[str, object], int] = {}
        self.laws: list[tuple[int, int]] = []
        self.law_owners: list[str] = []
        self._owner = ""
        self.breaks: set[float] = set()
        self.span = (-math.inf, math.inf)
        self.markers: dict[str, int] = {}
        self.marker_rows: list[tuple[int, float, float]] = []
        declared = {body.name: body for body in model.bodies}
        ground = declared.pop("ground", Ground())
        moving = [b for b in declared.values() if isinstance(b, RigidBody | PointMass)]
        supports = [b for b in declared.values() if isinstance(b, MovingSupport)]
        self.moving = moving
        self.supports: list[Body] = [*supports, ground]
        self.bodies: list[Body] = [*moving, *self.supports]
        self.index = {body.name: k for k, body in enumerate(self.bodies)}
        for body in self.bodies:
            self.marker(body.name)
            for point in getattr(body, "points", {}):
                self.marker(f"{body.name}.{point}")

    def marker(self, reference: str) -> int:
        """Return the row of a marker, adding it if it is new."""
        if reference not in self.markers:
            name, _, point = reference.partition(".")
            place = self.bodies[self.index[name]].marker(point)
            assert place is not None, reference  # the model was checked
            self.markers[reference] = len(self.marker_rows)
            self.marker_rows.append((self.index[name], *place))
        return self.markers[reference]

    def place(self, name: str, point: Point) -> int:
        """Return a marker at a point of a body that has no name."""
        self.marker_rows.append((self.index[name], *point))
        return len(self.marker_rows) - 1

    def kind(self, family: str, element: Element) -> int:
        """Return the number of an element's row function, compiling it if new."""
        return self.function(family, element, element.row_function())

    def function(
        self, family: str, element: Element, function: Callable[..., Any] | str
    ) -> int:
        """Return the number of a row function, compiling it if new."""
        key = (family, function)
        if key not in self._kind:
            resolved = load_kernel(function) if isinstance(function, str) else function
            try:
                address = abi.address(family, resolved)
            except Exception as error:
                owner = f"{self._owner}, law" if family == "law" else element.label()
                raise ModelError(
                    f"{owner}: {type(element).__name__} does not compile: "
                    f"{_first_line(error)}"
                ) from error
            self._kind[key] = len(self.functions)
            self.functions.append(address)
        return self._kind[key]

    def pool(self, element: Element) -> int:
        """Append an element's parameters; return where they begin."""
        return self.append(element.parameters())

    def append(self, values: list[float]) -> int:
        """Append parameters; return where they begin."""
        offset = len(self.par)
        self.par.extend(values)
        return offset

    def law(self, law: TimeLaw | float) -> int:
        """Append a time law; return its number."""
        if not isinstance(law, TimeLaw):
            law = Constant(value=law)
        self.laws.append((self.kind("law", law), self.pool(law)))
        self.law_owners.append(self._owner)
        self.span = (max(self.span[0], law.span()[0]), min(self.span[1], law.span()[1]))
        self.breaks.update(law.breaks())
        return len(self.laws) - 1

    def own_laws(self, element: Element) -> int:
        """Append the time laws among an element's fields; return the first."""
        first = len(self.laws)
        self._owner = element.label()
        types = field_types(type(element))
        for item in dataclasses.fields(element):
            if family_of(types[item.name]) is TimeLaw:
                self.law(getattr(element, item.name))
        return first


def _first_line(error: Exception) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        # Numba's typing errors open with the stage; the reason comes after it.
        if not line.startswith(("Failed in", "-", "During")):
            return line
    return lines[0] if lines else type(error).__name__


def _columns(prefix: str, names: str, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return one integer column for each name, {prefix_name: column}."""
    fields = names.split()
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(fields))
    return {
        f"{prefix}_{name}": np.ascontiguousarray(table[:, k])
        for k, name in enumerate(fields)
    }


def pack(model: Model) -> System:
    """Write a model's tables; compiles what is not compiled yet."""
    compile_kernels(has_contacts=False)
    packer = _Packer(model)
    n_moving = len(packer.moving)
    works: list[str] = []

    def ledger(name: str) -> int:
        works.append(name)
        return len(works) - 1

    joints: list[tuple[int, ...]] = []
    row = 0
    held = [joint for joint in model.joints if not _has_clearance(joint)]
    for joint in (*held, *model.drives):
        is_drive = joint.family == "drive"
        first_law = packer.own_laws(joint)
        joints.append(
            (
                packer.kind("joint", joint),
                packer.marker(joint.a),
                packer.marker(joint.b),
                packer.pool(joint),
                first_law,
                row,
                joint.n_row,
                ledger(joint.name) if is_drive else -1,
            )
        )
        row += joint.n_row
    forces: list[tuple[int, ...]] = []
    for force in model.forces:
        first_law = packer.own_laws(force)
        forces.append(
            (
                packer.kind("force", force),
                packer.marker(force.a),
                packer.marker(force.b),
                packer.pool(force),
                first_law,
                int(force.has_potential),
                ledger(force.name),
            )
        )
    supports: list[tuple[int, ...]] = []
    for support in packer.supports:
        if isinstance(support, MovingSupport):
            first_law = packer.own_laws(support)
            supports.append((first_law, ledger(support.name)))
        else:
            supports.append((-1, -1))
    contacts = _pack_contacts(model, packer, ledger)
    n_touch = len(contacts)
    contacts += _pack_slides(held, packer, ledger)
    if contacts:
        compile_kernels()
    guards = [
        (
            packer.kind("guard", event),
            packer.marker(event.a),
            packer.marker(event.b),
            packer.pool(event),
            _DIRECTION[event.direction],
            int(event.action == "stop"),
        )
        for event in model.events
    ]

    mass = np.zeros(3 * n_moving)
    for k, body in enumerate(packer.moving):
        inertia = body.inertia if isinstance(body, RigidBody) else 0.0
        mass[3 * k : 3 * k + 3] = (body.mass, body.mass, inertia)
    minv = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    weight = mass * np.tile([*model.gravity, 0.0], n_moving)
    size = _size(packer)

    places = np.array(packer.marker_rows, dtype=float).reshape(-1, 3)
    marker_body = places[:, 0].astype(np.int64)
    joint = _columns("joint", "kind a b par law row n_row work", joints)
    group = _groups(
        n_moving,
        marker_body[np.stack([joint["joint_a"], joint["joint_b"]], axis=1)],
        marker_body[np.array([(c.a, c.b) for c in contacts], int).reshape(-1, 2)],
    )
    # The joints of one group stand together.
    order = [*range(n_touch), *(n_touch + np.argsort(group[n_touch:], kind="stable"))]
    contacts, group = [contacts[k] for k in order], group[order]
    contact = _contact_columns(contacts)
    # Joints and the rows of sticking contacts are ordered together.
    has_row = np.array([c.can_stick for c in contacts], dtype=bool)
    ends = np.concatenate(
        [
            np.stack([joint["joint_a"], joint["joint_b"]], axis=1),
            np.stack([contact["contact_a"], contact["contact_b"]], axis=1)[has_row],
        ]
    )
    n_row = np.concatenate([joint["joint_n_row"], np.ones(has_row.sum(), np.int64)])
    row += int(has_row.sum())
    sides = marker_body[ends]
    # First coordinate of each side of each owner of rows, -1 if prescribed.
    dof = np.where(sides < n_moving, 3 * sides, -1)
    begins = _order_rows(n_row, dof)
    joint["joint_row"] = begins[: len(joints)].copy()
    contact["contact_row"] = np.full(len(contacts), -1)
    contact["contact_row"][has_row] = begins[len(joints) :]
    contact["contact_joint"] = np.array(
        [joint["joint_row"][c.joint] if c.joint >= 0 else -1 for c in contacts],
        dtype=np.int64,
    )
    row_dof = np.empty((row, 2), dtype=np.int64)
    for k, begin in enumerate(begins):
        row_dof[begin : begin + n_row[k]] = dof[k]
    first, start, pairs = _skyline(row_dof)
    # Those with the row of a contact last.
    of_contact = np.zeros(row + 1, dtype=bool)
    of_contact[contact["contact_row"][has_row]] = True
    is_late = [bool(of_contact[i // 6] or of_contact[j // 6]) for i, j, _, _ in pairs]
    late = [pair for pair, last in zip(pairs, is_late, strict=True) if last]
    pairs = [pair for pair, last in zip(pairs, is_late, strict=True) if not last]
    n_joint_pair = len(pairs)
    pairs += late
    sides_of = row_dof.reshape(-1)
    order_of = np.argsort(sides_of, kind="stable")
    body_row = order_of[sides_of[order_of] >= 0].astype(np.int64)
    body_first = np.searchsorted(sides_of[body_row] // 3, np.arange(n_moving + 1))
    n_group = int(group.max(initial=-1)) + 1
    group_slide, group_row, group_end = _group_ranges(
        n_group, group, n_touch, contacts, row_dof, n_moving, marker_body, joint
    )
    fall = float(np.hypot(*model.gravity))
    tables = Tables(
        n_body=len(packer.bodies),
        n_support=len(packer.supports),
        n_dof=3 * n_moving,
        n_marker=len(marker_body),
        n_law=len(packer.laws),
        n_joint=len(joints),
        n_row=row,
        n_pair=len(pairs),
        n_joint_pair=n_joint_pair,
        n_profile=int(np.sum(np.arange(row) - first + 1)),
        n_force=len(forces),
        n_touch=n_touch,
        n_contact=len(contacts),
        n_state=sum(c.has_state for c in contacts),
        n_group=n_group,
        n_largest=int(np.bincount(group).max(initial=0)),
        n_guard=len(guards),
        n_watch=len(guards) + 4 * len(contacts) + int(len(contacts) > n_touch),
        n_work=len(works),
        par=np.array(packer.par, dtype=float),
        address=np.array(packer.functions, dtype=np.int64),
        force=float(np.sum(mass[0::3])) * (fall if fall > 0.0 else size),
        energy=float(0.5 * np.sum(mass[0::3]) * size**2),
        mass=mass,
        minv=minv,
        weight=weight,
        scale=np.tile([size, size, 1.0], n_moving),
        marker_body=marker_body,
        marker_x=places[:, 1].copy(),
        marker_y=places[:, 2].copy(),
        row_dof=row_dof,
        body_first=body_first,
        body_row=body_row,
        first=first,
        start=start,
        contact_group=group,
        group_slide=group_slide,
        group_row=group_row,
        group_end=group_end,
        state_scale=np.array([c.state_scale for c in contacts if c.has_state], float),
        **joint,
        **contact,
        **_columns("support", "law work", supports),
        **_columns("law", "kind par", packer.laws),
        **_columns("pair", "i j dof at", pairs),
        **_columns("force", "kind a b par law has_potential work", forces),
        **_columns("guard", "kind a b par direction is_stop", guards),
    )
    return System(
        model=model,
        tables=tables,
        bodies=tuple(b.name for b in packer.bodies),
        n_moving=n_moving,
        joints=tuple(j.name for j in (*held, *model.drives)),
        forces=tuple(f.name for f in model.forces),
        supports=tuple(b.name for b in packer.supports),
        events=tuple(e.name for e in model.events),
        contacts=tuple(c.name for c in contacts[:n_touch]),
        slides=tuple(c.name for c in contacts[n_touch:]),
        spots=tuple(c.spot for c in contacts if c.spot is not None),
        works=tuple(works),
        markers=packer.markers,
        size=size,
        breaks=tuple(sorted(packer.breaks)),
        span=packer.span,
        law_owners=tuple(packer.law_owners),
    )


def _size(packer: _Packer) -> float:
    """Return a typical length: the farthest point from its body's origin.

    Falls back on the spread of the bodies, then on one metre.
    """
    reach = [
        float(np.hypot(x, y))
        for k, x, y in packer.marker_rows
        if k < len(packer.moving)
    ]
    largest = max(reach, default=0.0)
    if largest == 0.0:
        places = np.array([body.position for body in packer.moving])
        largest = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    return largest if largest > 0.0 else 1.0


def _order_rows(n_row: NDArray[np.int64], dof: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give rows numbers such that owners that share a body stand close together.

    Reverse Cuthill-McKee on the graph of joints and contacts. For a handful of rows
    the profile is full in any order, and SciPy need not be imported.
    """
    n = len(dof)
    order = np.arange(n)
    if n_row.sum() > 12:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        k, side = np.nonzero(dof >= 0)
        incidence = coo_array(
            (np.ones(len(k)), (k, dof[k, side] // 3)), shape=(n, dof.max() // 3 + 1)
        ).tocsr()
        graph = (incidence @ incidence.T).tocsr()
        order = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True))
    begins = np.zeros(n, dtype=np.int64)
    begins[order] = np.cumsum(n_row[order]) - n_row[order]
    return begins


def _groups(
    n_moving: int, joints: NDArray[np.int64], contacts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the group of each contact: those linked through bodies with mass."""
    leader = _leaders(n_moving, joints, contacts)
    owners = leader[contacts.min(axis=1)] if len(contacts) else contacts[:, 0]
    return np.unique(owners, return_inverse=True)[1].astype(np.int64)


def _leaders(
    n_moving: int, joints: NDArray[np.int64], contacts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one body for each body with mass, the same for all that are linked."""
    leader = list(range(n_moving))

    def find(body: int) -> int:
        while leader[body] != body:
            leader[body] = body = leader[leader[body]]
        return body

    for a, b in (*joints.tolist(), *contacts.tolist()):
        if a < n_moving and b < n_moving:
            leader[find(a)] = find(b)
    return np.array([find(body) for body in range(n_moving)], dtype=np.int64)


def _has_clearance(joint: Joint) -> bool:
    return isinstance(joint, Prismatic) and joint.clearance is not None


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place where bodies may touch: a disc on one, a surface on another.

    A point is a disc of radius zero. A contact has several spots if outlines touch.
    """

    name: str  # as in columns
    element: str  # the contact, or the guide with clearance
    owner: str  # body of the surface
    surface: Shape
    body: str  # of the disc
    centre: Point  # m, of the disc in its body's frame
    radius: float  # m
    has_friction: bool


@dataclass(frozen=True, kw_only=True)
class _ContactRow:
    """One row of the contact tables."""

    name: str
    a: int  # marker
    b: int  # marker
    kind: int = TOUCH
    shape: int = -1
    shape_par: int = 0
    radius: float = 0.0
    normal: int = -1
    normal_par: int = 0
    normal_work: int = -1
    work: int
    joint: int = -1
    length: float = 0.0
    height: float = 0.0
    law: int = NONE
    friction: int = -1
    friction_par: int = 0
    rate: int = -1
    mu0: float = 0.0
    band: float = 0.0
    has_drag: bool = False
    state_scale: float = 1.0
    spot: Spot | None = None

    @property
    def can_stick(self) -> bool:
        return self.law == SET_VALUED

    @property
    def has_state(self) -> bool:
        return self.rate >= 0


def _contact_columns(contacts: list[_ContactRow]) -> dict[str, Any]:
    """Return the columns of the contact tables that need no more than the rows."""
    integers = "a b kind shape shape_par normal normal_par normal_work work law"
    integers += " friction friction_par rate has_drag"
    columns: dict[str, Any] = {
        f"contact_{name}": np.array([getattr(c, name) for c in contacts], np.int64)
        for name in integers.split()
    }
    columns |= {
        f"contact_{name}": np.array([getattr(c, name) for c in contacts], float)
        for name in ["radius", "length", "height", "mu0", "band"]
    }
    has_state = np.array([c.has_state for c in contacts], dtype=bool)
    state = np.cumsum(has_state) - 1
    columns["contact_state"] = np.where(has_state, state, -1).astype(np.int64)
    return columns


def _friction(packer: _Packer, law: FrictionLaw | None) -> dict[str, Any]:
    """Return the columns of a friction law, {} for none."""
    if law is None:
        return {}
    kind = type(law)
    limit: Any = getattr(kind, "limit", None)
    force: Any = getattr(kind, "force", None)
    has_drag = law.has_drag()
    columns: dict[str, Any] = {
        "friction_par": packer.pool(law),
        "mu0": law.static,
        "band": law.band,
    }
    if law.is_set_valued():
        if law.static == 0.0 and limit(law.parameters(), 1.0, 1.0) == 0.0:
            return {}
        columns |= {
            "law": SET_VALUED,
            "friction": packer.function("limit", law, limit),
            "has_drag": has_drag,
        }
        return columns
    columns |= {
        "law": SMOOTH,
        "friction": packer.function("smooth", law, force),
        "has_drag": has_drag,
    }
    if law.has_state():
        columns["rate"] = packer.function("rate", law, getattr(kind, "rate"))  # noqa: B009
        columns["state_scale"] = law.state_scale
    return columns


def _pack_contacts(
    model: Model, packer: _Packer, ledger: Callable[[str], int]
) -> list[_ContactRow]:
    """Take contacts, and guides with clearance, apart into discs against surfaces."""
    rows: list[_ContactRow] = []

    def add(
        element: Contact | Prismatic,
        name: str,
        normal: NormalLaw,
        pair: tuple[Shape, str, int, float, Point | None],
    ) -> None:
        surface, body_a, marker_b, radius, arm = pair
        friction = _friction(packer, element.friction)
        body, x, y = packer.marker_rows[marker_b]
        normal_work = ledger(f"{name}.normal")
        rows.append(
            _ContactRow(
                name=name,
                a=packer.marker(body_a),
                b=marker_b,
                shape=packer.kind("shape", surface),
                shape_par=packer.append(surface.pair_parameters(arm)),
                radius=radius,
                normal=packer.kind("normal", normal),
                normal_par=packer.pool(normal),
                normal_work=normal_work,
                work=ledger(f"{name}.friction"),
                spot=Spot(
                    name=name,
                    element=element.name,
                    owner=body_a,
                    surface=surface,
                    body=packer.bodies[body].name,
                    centre=(x, y),
                    radius=radius,
                    has_friction=friction.get("law", NONE) == SET_VALUED,
                ),
                **friction,
            )
        )

    for contact in model.contacts:
        pairs = list(_elementary(packer, contact))
        for k, pair in enumerate(pairs):
            name = contact.name if len(pairs) == 1 else f"{contact.name}.{k + 1}"
            add(contact, name, contact.normal, pair)
    for joint in model.joints:
        if isinstance(joint, Prismatic) and joint.normal is not None:
            for corner, pair in _corners(packer, joint):
                add(joint, f"{joint.name}.{corner}", joint.normal, pair)
    return rows


def _corners(
    packer: _Packer, joint: Prismatic
) -> Iterator[tuple[str, tuple[Shape, str, int, float, Point | None]]]:
    """Yield name and contact of each corner of a block in a guide with clearance."""
    assert joint.length is not None  # the joint was checked
    assert joint.clearance is not None
    body_a, x_a, y_a = packer.marker_rows[packer.marker(joint.a)]
    body_b, x_b, y_b = packer.marker_rows[packer.marker(joint.b)]
    half, wide = 0.5 * joint.length, 0.5 * joint.height
    gap = wide + 0.5 * joint.clearance
    turn = joint.axis - joint.angle  # of the guide in b's frame
    c, s = math.cos(turn), math.sin(turn)
    nx, ny = -math.sin(joint.axis), math.cos(joint.axis)
    for flank, sign in (("lower", -1.0), ("upper", 1.0)):
        surface = Line(
            point=(x_a + sign * gap * nx, y_a + sign * gap * ny),
            angle=joint.axis if sign < 0.0 else joint.axis + math.pi,
        )
        for end, side in (("front", 1.0), ("rear", -1.0)):
            x, y = side * half, sign * wide
            corner = (x_b + c * x - s * y, y_b + s * x + c * y)
            disc = packer.place(packer.bodies[body_b].name, corner)
            owner = packer.bodies[body_a].name
            yield f"{end}_{flank}", (surface, owner, disc, 0.0, None)


def _pack_slides(
    joints: list[Joint], packer: _Packer, ledger: Callable[[str], int]
) -> list[_ContactRow]:
    """Return the sliding contacts inside joints with friction."""
    rows: list[_ContactRow] = []
    for k, joint in enumerate(joints):
        if not isinstance(joint, Revolute | PinInSlot | Prismatic):
            continue
        friction = _friction(packer, joint.friction)
        if not friction:
            continue
        place: dict[str, Any] = {"kind": PIN, "radius": getattr(joint, "radius", None)}
        if not isinstance(joint, Revolute):
            guide = Line(angle=joint.axis)
            place = {
                "kind": SLOT,
                "shape": packer.kind("shape", guide),
                "shape_par": packer.append(guide.pair_parameters(None)),
            }
        if isinstance(joint, Prismatic):
            place |= {"kind": GUIDE, "length": joint.length, "height": joint.height}
        rows.append(
            _ContactRow(
                name=joint.name,
                a=packer.marker(joint.a),
                b=packer.marker(joint.b),
                work=ledger(f"{joint.name}.friction"),
                joint=k,
                **place,
                **friction,
            )
        )
    return rows


def _group_ranges(
    n_group: int,
    group: NDArray[np.int64],
    n_touch: int,
    contacts: list[_ContactRow],
    row_dof: NDArray[np.int64],
    n_moving: int,
    marker_body: NDArray[np.int64],
    joint: dict[str, Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the joints with friction of each group, and its rows from to."""
    counts = np.bincount(group[n_touch:], minlength=n_group)
    slide = n_touch + np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    leader = _leaders(
        n_moving,
        marker_body[np.stack([joint["joint_a"], joint["joint_b"]], axis=1)],
        marker_body[np.array([(c.a, c.b) for c in contacts], int).reshape(-1, 2)],
    )
    begin = np.zeros(n_group, dtype=np.int64)
    end = np.zeros(n_group, dtype=np.int64)
    bodies = np.where(row_dof[:, 0] >= 0, row_dof[:, 0], row_dof[:, 1]) // 3
    of_row = leader[bodies] if len(bodies) else np.zeros(0, dtype=np.int64)
    for g in range(n_group):
        k = int(np.flatnonzero(group == g)[0])
        body = min(int(marker_body[contacts[k].a]), int(marker_body[contacts[k].b]))
        rows = np.flatnonzero(of_row == leader[body])
        if len(rows):
            begin[g], end[g] = rows[0], rows[-1] + 1
    return slide, begin, end


def _elementary(
    packer: _Packer, contact: Contact
) -> Iterator[tuple[Shape, str, int, float, Point | None]]:
    """Yield (surface, its body, marker and radius of the disc, its arm).

    The arm leads from a corner of an outline to its middle.
    """
    body_a, _, part_a = contact.a.partition(".")
    body_b, _, part_b = contact.b.partition(".")
    surface = packer.bodies[packer.index[body_a]].shape(part_a)
    outline = packer.bodies[packer.index[body_b]].shape(part_b)
    assert surface is not None  # the model was checked
    if outline is None:
        yield surface, body_a, packer.marker(contact.b), 0.0, None
        return
    corners, radius = outline.corners(), outline.radius_of_corners()
    if len(corners) > 1 and surface.radius_of_corners() > 0.0:
        # A disc touches an outline's corners as well as its edges.
        for corner in surface.corners():
            disc = packer.place(body_a, corner)
            yield outline, body_b, disc, surface.radius_of_corners(), None
        return
    for corner in corners:
        arm = _arm(corner, corners)
        yield surface, body_a, packer.place(body_b, corner), radius, arm
    if len(corners) > 1:
        # An outline is also touched on its edges by the corners of the other.
        for corner in surface.corners():
            arm = _arm(corner, surface.corners())
            yield outline, body_b, packer.place(body_a, corner), 0.0, arm


def _arm(corner: Point, corners: tuple[Point, ...]) -> Point | None:
    """Return the way from a corner to the middle of its outline, None for a disc."""
    if len(corners) == 1:
        return None
    x, y = (sum(values) / len(corners) for values in zip(*corners, strict=True))
    return (x - corner[0], y - corner[1])


def _skyline(
    row_dof: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[tuple[int, int, int, int]]]:
    """Return profile and the pairs of row blocks that meet in each of its entries."""
    n_row = len(row_dof)
    touching: dict[int, list[tuple[int, int]]] = {}
    for i in range(n_row):
        for side in range(2):
            if row_dof[i, side] >= 0:
                touching.setdefault(int(row_dof[i, side]), []).append((i, side))
    first = np.arange(n_row)
    for blocks in touching.values():
        rows = [i for i, _ in blocks]
        first[rows] = np.minimum(first[rows], min(rows))
    length = np.arange(n_row) - first + 1
    start = np.cumsum(length) - length - first
    pairs = [
        (3 * (2 * i + side_i), 3 * (2 * j + side_j), dof, int(start[i]) + j)
        for dof, blocks in touching.items()
        for i, side_i in blocks
        for j, side_j in blocks
        if j <= i
    ]
    return first, start, pairs
