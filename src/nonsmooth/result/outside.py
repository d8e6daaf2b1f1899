"""Contact that no patch sees: a body whose deepest place is outside its patch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Ground
from nonsmooth.elements.normal import Unilateral

if TYPE_CHECKING:
    from nonsmooth.result.result import Result

Floats = NDArray[np.float64]

# Instants of a run that are looked at, evenly among its steps, and in time.
LOOKS = 300
# Overlaps below this part of the model's size are of patches that press.
SMALL = 1e-6


def outside_patches(result: Result) -> Iterator[str]:
    """Say where a body with a patch enters what that touches, elsewhere.

    Nodes of the whole boundary, where the shapes put them, against the surface of each
    contact of a patch.
    """
    system = result.system
    if len(result.steps.t) == 0:
        return
    picked = np.unique(np.linspace(0, len(result.t) - 1, LOOKS).astype(int))
    even = np.linspace(result.t_start, result.t_end, LOOKS)
    t = np.unique(np.concatenate((result.t[picked], even)))
    pressed = {
        contact.name: contact
        for contact in system.model.contacts
        if isinstance(contact.normal, Unilateral)
    }
    for k, spot in enumerate(system.spots):
        # Of others, and of corners of a guide, there is nothing to say.
        contact = pressed.get(spot.element)
        if contact is None:
            continue
        body, _, patch = contact.b.partition(".")
        owner, _, part = contact.a.partition(".")
        own = system.flexible[body]
        others = (b for b in system.model.bodies if b.name == owner)
        pieces = next(others, Ground()).pieces(part, "a")
        surface = next(iter(pieces.values()), None)
        if own.mesh is None or surface is None:
            continue
        depth, places = _deepest(result, t, body, patch, owner, surface)
        found = np.flatnonzero(depth > SMALL * system.size)
        if len(found):
            x, y = places[found[0]]
            yield (
                f"contact '{system.contacts[k]}': from t = {t[found[0]]:.6g} s on body "
                f"'{body}' is inside '{contact.a}' at ({x:.4g}, {y:.4g}) m, outside "
                f"its patch '{patch}', where nothing presses, by up to "
                f"{depth.max():.3g} m; give it a patch that reaches there"
            )


def _deepest(
    result: Result, t: Floats, body: str, patch: str, owner: str, surface: Any
) -> tuple[Floats, Floats]:
    """Return by how much nodes outside the patch are deeper than it, and where."""
    system = result.system
    own: Any = system.flexible[body]
    mesh, where = own.mesh, system.coordinates(body)
    edge = np.unique(np.concatenate([np.ravel(e) for e in mesh.edges.values()]))
    inside = own.sites[patch].nodes.places
    y = result.at(t)[0][:, where]
    names = [f"{owner}.{axis}" for axis in ("x", "y", "theta")]
    poses = np.zeros((len(t), 3))
    if owner != "ground":
        found = result.sample(t, names)
        poses = np.stack([found[name] for name in names], axis=1)
    nodes = mesh.nodes[edge]
    is_own = np.abs(nodes[:, None] - inside[None]).sum(axis=2).min(axis=1) < 1e-12
    depth, places = np.zeros(len(t)), np.zeros((len(t), 2))
    p = surface.pair_parameters(None)
    for i in range(len(t)):
        local = nodes - own.centre + own.shapes[edge] @ y[i, 3:]
        c, s = np.cos(y[i, 2]), np.sin(y[i, 2])
        at = y[i, :2] + local @ np.array([[c, s], [-s, c]])
        gaps = _gaps(surface, p, poses[i], at)
        gaps = np.where(np.isfinite(gaps), gaps, np.inf)
        least = float(gaps[is_own].min(initial=0.0))
        k = int(np.argmin(np.where(is_own, np.inf, gaps)))
        if not is_own[k] and gaps[k] < min(least, 0.0):
            depth[i], places[i] = min(least, 0.0) - gaps[k], at[k]
    return depth, places


def _gaps(surface: Any, p: list[float], pose: Floats, at: Floats) -> Floats:
    """Return the gaps of points to a surface."""
    a = [*pose.tolist(), *[0.0] * 6]
    out = [0.0] * 4
    found = np.empty(len(at))
    for k, (x, y) in enumerate(at.tolist()):
        type(surface).nearest(p, a, [x, y, *[0.0] * 7], out)
        found[k] = out[0]
    return found
