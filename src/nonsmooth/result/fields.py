"""Fields of flexible bodies: displacement, velocity, strain, stress at their nodes.

Displacements are from where nodes lie in the undeformed body at the start, whatever has
moved them. A body with modes deforms by its shapes, and by what its nodes give beyond
them under the forces of patches at that instant; velocities are without the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.materials import find_material
from nonsmooth.elements.normal import Unilateral
from nonsmooth.errors import ModelError, brief, nearest
from nonsmooth.result.history import History
from nonsmooth.result.pressure import node_forces
from nonsmooth.result.track import Track

if TYPE_CHECKING:
    from nonsmooth.result.result import Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Nodes whose values give that of a place, and their shares, from name and place.
Shares = Callable[[str, tuple[float, float]], tuple[Ints, Floats]]
_PLANE, _TENSOR = ("x", "y"), ("xx", "yy", "xy", "zz")
# Name: components, label, unit.
FIELDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "displacement": (_PLANE, "displacement", "m"),
    "velocity": (_PLANE, "velocity", "m/s"),
    "strain": (_TENSOR, "strain", "1"),
    "stress": (_TENSOR, "stress", "Pa"),
    "principal_strain": (("1", "2"), "principal strain", "1"),
    "principal_stress": (("1", "2"), "principal stress", "Pa"),
    "von_mises": ((), "von Mises stress", "Pa"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """A quantity at the nodes of a body, at one instant."""

    body: str
    name: str
    t: float  # s
    label: str
    unit: str
    components: tuple[str, ...]  # empty of a single number
    values: Floats  # (n) or (n, n_component)
    nodes: Floats  # (n, 2) m, in the axes of the mesh
    places: Floats  # (n, 2) m, deformed, in global axes
    cells: Ints  # (n_cell, 2, 3, 4, 6 or 9): corners first
    shares: Shares = field(repr=False)

    def at(self, place: Sequence[float]) -> Any:
        """Return the value at a place of the mesh, m; all components where it has some.

        Between nodes it is that of the element's own shape functions.
        """
        x, y = (float(v) for v in place)
        try:
            used, weights = self.shares("the place", (x, y))
        except ModelError as error:
            raise ModelError(f"body '{self.body}': {error}") from None
        found = weights @ self.values[used]
        return float(found) if np.ndim(found) == 0 else found


def fields_of(result: Result, body: str, names: Sequence[str], t: float) -> list[Field]:
    """Return fields; a name may end with a component, as in "stress.xx"."""
    system = result.system
    flexible = [b.name for b in system.model.bodies if isinstance(b, FlexibleBody)]
    if body not in flexible:
        valid = nearest(body, flexible) if flexible else "no body is flexible"
        raise ModelError(f"no flexible body {brief(body)}; {valid}")
    known = [f"{n}.{c}" for n, (parts, _, _) in FIELDS.items() for c in parts]
    for name in names:
        if name not in FIELDS and name not in known:
            raise ModelError(
                f"no field {brief(name)}; {nearest(name, [*FIELDS, *known])}"
            )
    element: Any = system.model.element(body)
    if isinstance(result.steps, History):
        shown = _full(result.steps, body, t)
    else:
        shown = _modal(result, element, t)
    return [_field(shown, body, name) for name in names]


def _field(shown: _Shown, body: str, name: str) -> Field:
    kind, _, component = name.partition(".")
    parts, label, unit = FIELDS[kind]
    values = _values(shown, kind)
    if component:
        values, label = values[:, parts.index(component)], f"{label} {component}"
    return Field(
        body=body,
        name=name,
        t=shown.t,
        label=label,
        unit=unit,
        components=() if component else parts,
        values=values,
        nodes=shown.nodes,
        places=shown.places,
        cells=shown.cells,
        shares=shown.shares,
    )


@dataclass(frozen=True, eq=False)
class _Shown:
    """A body at one instant."""

    t: float
    nodes: Floats
    cells: Ints
    places: Floats
    local: Floats  # (n, 2) m, displacement in the axes of the mesh
    displacement: Floats
    velocity: Floats
    shares: Shares
    rows: Any  # of the strain
    material: Any
    state: Any


def _values(shown: _Shown, kind: str) -> Floats:
    from nonsmooth.fem import fields

    if kind in ("displacement", "velocity"):
        return shown.displacement if kind == "displacement" else shown.velocity
    strain: Floats = (shown.rows @ shown.local.ravel()).reshape(4, -1).T
    if kind == "strain":
        return strain
    if kind == "principal_strain":
        return fields.principal(strain)
    stress = fields.stress_of(strain, shown.material, shown.state)
    if kind == "stress":
        return stress
    return fields.von_mises(stress) if kind == "von_mises" else fields.principal(stress)


def _full(history: History, body: str, t: float) -> _Shown:
    """Return a body that is kept as finite elements."""
    part = history.waves.parts[body]
    own = part.own
    assert own is not None
    at, u, v = history.motion(t)
    where = part.nodes(np.arange(part.n))
    return _Shown(
        t=at,
        nodes=own.nodes,
        cells=own.cells,
        places=part.global_places(own.nodes) + u[where],
        local=u[where] @ part.turn,
        displacement=u[where],
        velocity=v[where],
        shares=own.weights_at,
        rows=_full_rows(history, body),
        material=own.material,
        state=own.state,
    )


@lru_cache(maxsize=4)
def _full_rows(history: History, body: str) -> Any:
    from nonsmooth.fem.fields import strain_rows

    own = history.waves.parts[body].own
    assert own is not None
    return strain_rows(own.nodes, own.mesh, own.state, own.material)


def _modal(result: Result, body: FlexibleBody, t: float) -> _Shown:
    """Return a body with modes: its shapes, and the static rest of patches' forces."""
    from nonsmooth.fem.patches import shares_at

    system = result.system
    found, rest, rows = _reduction(result, body.name)
    head = system.coordinates(body.name).start
    (x, y0, angle, *eta), (vx, vy, spin, *rate) = _coordinates(result, body.name, t)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([(c, -s), (s, c)])
    local: Floats = found.shapes @ eta
    moves: Floats = found.shapes @ rate
    # A fixed body's frame is where its mesh's mass centre lies.
    arms = found.mesh.nodes - found.center
    around = np.stack((-(arms + local)[:, 1], (arms + local)[:, 0]), axis=1)
    for nodes, forces in _loads(result, body, t):
        local = local + rest(nodes, forces)
    places = np.array([x, y0]) + (arms + local) @ turn.T
    x, y0, angle = system.start[head : head + 3, 0]
    c, s = np.cos(angle), np.sin(angle)
    begin = np.array([x, y0]) + arms @ np.array([(c, s), (-s, c)])
    return _Shown(
        t=t,
        nodes=found.mesh.nodes,
        cells=found.mesh.cells,
        places=places,
        local=local,
        displacement=places - begin,
        velocity=np.array([vx, vy]) + (spin * around + moves) @ turn.T,
        shares=partial(shares_at, found.mesh),
        rows=rows,
        material=find_material(body.material),
        state=body.plane,
    )


def _coordinates(result: Result, body: str, t: float) -> tuple[Floats, Floats]:
    """Return the coordinates of a body with modes, and their rates."""
    where, n = result.system.coordinates(body), result.system.n_dof
    if not isinstance(result.steps, Track):
        y = result.states(np.array([t]))[0]
        return y[where], y[n + where.start : n + where.stop]
    own = range(where.stop - where.start - 3)
    pose = [*("x", "y", "theta"), *(f"eta.{j}" for j in own)]
    rates = [*("vx", "vy", "omega"), *(f"eta_rate.{j}" for j in own)]
    found = result.sample(t)
    values = np.array([found[f"{body}.{name}"][0] for name in pose + rates])
    return values[: len(pose)], values[len(pose) :]


@lru_cache(maxsize=4)
def _reduction(result: Result, name: str) -> Any:
    """Return a body's reduction, what its nodes give beyond the shapes, strain rows."""
    from nonsmooth.fem.fields import strain_rows
    from nonsmooth.fem.residual import residual
    from nonsmooth.pack.flexible import loads_of, reduction

    body: Any = result.system.model.element(name)
    if getattr(body.mesh, "reduce", None) is not None:
        raise ModelError(
            f"body '{name}': its mesh brings a reduction of its own, without nodes"
        )
    found = reduction(body, loads_of(result.system.model)[name])
    rest = residual(found, body.material, body.thickness, body.plane, body.fixed)
    material = find_material(body.material)
    return found, rest, strain_rows(found.mesh.nodes, found.mesh, body.plane, material)


def _loads(result: Result, body: FlexibleBody, t: float) -> list[tuple[Ints, Floats]]:
    """Return nodes and forces (n, 2), in the body's axes, of patches that press."""
    found: list[tuple[Ints, Floats]] = []
    if isinstance(result.steps, Track):
        return found
    reduced = _reduction(result, body.name)[0]
    y, t_law, mode = result.at(np.array([t]), "after")
    for contact in result.system.model.contacts:
        owners = {end.partition(".")[0] for end in (contact.a, contact.b)}
        if body.name not in owners or not isinstance(contact.normal, Unilateral):
            continue
        forces = node_forces(result.system, contact.name, float(t_law[0]), y, mode)
        for end, of_nodes in forces.items():
            owner, _, patch = end.partition(".")
            if owner == body.name and np.any(of_nodes):
                found.append((reduced.patches[patch].nodes, of_nodes))
    return found
