"""Bodies that are kept as finite elements, as pictures draw them.

They have no modes. States at some instants take their part: coordinates `BODY.eta.J` of
a stage, each 1 at its instant and 0 at the others, straight in between. Frames stay
where they are at the start; nodes bring the whole motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.pack.flexible import full_of
from nonsmooth.views.meshes import Field, Skin, skin_of

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# States that a page has at most.
MOST_STATES = 48
# Fields that a page can colour bodies by, beside the displacement.
SHOWN = ("von_mises", "stress.xx", "velocity.x")
# Distance from the axis that is round-off, beside the body.
ON_AXIS = 1e-9


def still_skins(system: System) -> dict[str, Skin]:
    """Return the meshes of all such bodies, undeformed."""
    return {name: _still(system, name) for name in system.full}


def solid_skins(result: Result, instants: Floats) -> dict[str, Skin]:
    """Return the meshes of all such bodies, with their states at some instants."""
    found: dict[str, Skin] = {}
    for name, skin in still_skins(result.system).items():
        body: Any = result.system.model.element(name)
        first = result.system.coordinates(name).start
        angle = float(result.system.start[first + 2, 0])
        c, s = np.cos(angle), np.sin(angle)
        names = ("displacement", *SHOWN)
        states = [result.fields(name, names, float(t)) for t in instants]
        u = np.stack([one[0].values[skin.ids] for one in states], axis=2)
        u = np.einsum("ab,nak->nbk", np.array([(c, -s), (s, c)]), u)
        if body.plane == "axisymmetric":
            u[skin.nodes[:, 1] < 0.0, 1] *= -1.0
        fields = {"displacement": Field(name="displacement", unit="m", shapes=u)}
        for j, key in enumerate(SHOWN, start=1):
            values = np.stack([one[j].values[skin.ids] for one in states], axis=1)
            label, unit = states[0][j].label, states[0][j].unit
            fields[key] = Field(name=label, unit=unit, shapes=values[:, None, :])
        found[name] = replace(skin, shapes=u, fields=fields, is_wave=True)
    return found


def solid_values(system: System, instants: Floats, t: Floats) -> dict[str, Floats]:
    """Return the coordinates of all such bodies at times t."""
    parts = np.eye(len(instants))
    return {
        f"{name}.eta.{j}": np.interp(t, instants, parts[j])
        for name in system.full
        for j in range(len(instants))
    }


def states_of(result: Result, times: Floats | None = None) -> Floats:
    """Return instants whose states stand for a run; few times are taken as they are."""
    if not result.system.full:
        return np.zeros(0)
    if times is not None and len(times) <= MOST_STATES:
        return times
    kept = result.steps.frames.step * result.steps.h_step
    kept = kept[kept <= result.t_end]
    if len(kept) == 0:
        return np.array([result.t_start])
    chosen = np.linspace(0, len(kept) - 1, min(len(kept), MOST_STATES - 1))
    return np.unique([*kept[np.round(chosen).astype(np.int64)], result.t_end])


# ---- meshes ----------------------------------------------------------------------


def _still(system: System, name: str) -> Skin:
    body: Any = system.model.element(name)
    reduced, own = system.flexible[name], full_of(body)
    if own.mesh is None:
        places = {k: np.asarray(site.place) for k, site in reduced.sites.items()}
        return _rod(body, own.nodes - own.centre, places, own.centre)
    none = np.zeros((len(own.nodes), 2, 0))
    skin = skin_of(body, replace(reduced, mesh=own.mesh, shapes=none))
    return _whole(skin) if body.plane == "axisymmetric" else skin


def _rod(
    body: FlexibleBody, nodes: Floats, places: dict[str, Floats], centre: Floats
) -> Skin:
    """Return a rod as a row of cells as high as it is."""
    n = len(nodes)
    radius: float = getattr(body.mesh, "radius", 0.0)
    up = np.array([0.0, radius])
    k = np.arange(n - 1)
    cells = np.stack((k, k + 1, n + k + 1, n + k), axis=1)
    rim = np.concatenate((np.arange(n), n + np.arange(n)[::-1]))
    none = np.zeros((2 * n, 2, 0))
    return Skin(
        ids=np.tile(np.arange(n), 2),
        n_node=n,
        nodes=np.concatenate((nodes - up, nodes + up)),
        cells=tuple(cells),
        rims=(rim,),
        shapes=none,
        fields={"displacement": Field(name="displacement", unit="m", shapes=none)},
        sites={
            key: int(np.argmin(np.abs(nodes[:, 0] - (place - centre)[0])))
            for key, place in places.items()
        },
    )


def _whole(skin: Skin) -> Skin:
    """Return a body of revolution on both sides of its axis."""
    n = len(skin.nodes)
    below = skin.nodes * (1.0, -1.0)
    rims = [part for rim in skin.rims for part in _around(skin.nodes, rim)]
    none = np.zeros((2 * n, 2, 0))
    return replace(
        skin,
        ids=np.tile(skin.ids, 2),
        nodes=np.concatenate((skin.nodes, below)),
        cells=(*skin.cells, *(n + cell[::-1] for cell in skin.cells)),
        rims=tuple(rims),
        shapes=none,
        fields={"displacement": Field(name="displacement", unit="m", shapes=none)},
    )


def _around(nodes: Floats, rim: Ints) -> list[Ints]:
    """Return the boundary of both halves, as one where it meets the axis."""
    n, far = len(nodes), float(np.ptp(nodes, axis=0).max())
    is_on = nodes[rim, 1] <= ON_AXIS * far
    leaves = np.flatnonzero(is_on & ~np.roll(is_on, -1))
    if len(leaves) != 1:
        return [rim, n + rim[::-1]]
    rim, is_on = np.roll(rim, -leaves[0]), np.roll(is_on, -leaves[0])
    back = 1 + int(np.argmax(is_on[1:])) if is_on[1:].any() else 0
    upper = rim[: back + 1] if back else np.append(rim, rim[0])
    return [np.concatenate((upper, n + upper[1:-1][::-1]))]
