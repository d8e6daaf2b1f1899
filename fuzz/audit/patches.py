"""Patches on the floor, a ball or a patch: nodes neither overlap nor pull, from G."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit import tolerances
from fuzz.audit.newton import Sums, body_of
from fuzz.audit.notes import Notes
from fuzz.audit.scene import Scene
from nonsmooth import Contact, FlexibleBody, Model, Unilateral

# Instants at which the forces of all nodes are looked at.
MOST = 60


def pressed(model: Model) -> list[Contact]:
    """Return the contacts of patches."""
    return [c for c in model.contacts if isinstance(c.normal, Unilateral)]


def add_patches(scene: Scene, sums: Sums, contacts: list[Contact]) -> None:
    """Add the resultants of patches to what acts on bodies."""
    for contact in contacts:
        name = contact.name
        n, f = scene[f"{name}.normal_force"], scene[f"{name}.friction_force"]
        x, y = scene[f"{name}.normal_x"], scene[f"{name}.normal_y"]
        force = (n * x + f * y, n * y - f * x)
        place = (scene[f"{name}.point_x"], scene[f"{name}.point_y"])
        if contact.friction is not None and contact.a != "ground":
            # Friction of nodes is summed along tangents that are not quite one.
            sums.unseen |= {body_of(contact.a), body_of(contact.b)}
        wrench = (*force, scene.zero)
        sums.pair(body_of(contact.a), body_of(contact.b), place, wrench)


def check_patches(notes: Notes, result: Any, contacts: list[Contact]) -> None:
    """Compare gaps and forces of nodes on a surface with their condition.

    With the gaps g of the shapes alone, 0 <= lam _|_ g + N'G f + lam/k >= 0, where the
    forces f = N lam + T lam_t have friction in its cone; G = G_b + W G_a W'.
    """
    steps = np.asarray(result.t)
    t = steps[np.unique(np.linspace(0, len(steps) - 1, MOST).astype(int))]
    for contact in contacts:
        body, _, patch = contact.b.partition(".")
        nodes = result.system.flexible[body].sites[patch].nodes
        law: Any = contact.normal
        soft = 0.0 if law.penalty is None else 1.0 / (law.penalty * nodes.weights)
        columns = result.sample(t)
        for k, instant in enumerate(t.tolist()):
            found = result.pressure(contact.name, instant)
            n = len(found.forces)
            own = _places(result, body, patch, columns, k)
            size = np.abs(own - own.mean(axis=0)).max() * tolerances.PLACES
            off = np.abs(own - found.places).max(axis=1)
            notes.compare(
                "place of a node", contact.name, instant + 0.0 * off, off, size
            )
            gap, normals, G = _gaps(result, contact, columns, k, own)
            # The flexibility of b, from its axes.
            G = G + _turned(nodes.flexibility, columns[f"{body}.theta"][k])
            is_open = columns[f"{contact.name}.mode"][k] == 2.0
            lam = np.zeros(n) if is_open else found.forces
            rub = np.zeros(n) if is_open else found.friction
            along = np.stack((normals[:, 1], -normals[:, 0]), axis=1)
            force = lam[:, None] * normals + rub[:, None] * along
            give = np.sum((G @ force.ravel()).reshape(n, 2) * normals, axis=1)
            left = gap + give + soft * lam
            size = np.abs(gap[np.isfinite(gap)]).max(initial=0.0) + np.abs(give).max()
            bound = np.full(n, tolerances.NODES * size + tolerances.EPS * 100.0)
            at = np.full(n, instant)
            notes.compare("a node overlaps", contact.name, at, -left, bound)
            both = np.minimum(np.abs(left), np.where(lam > 0.0, np.inf, 0.0))
            notes.compare("a node that presses", contact.name, at, both, bound)
            pull = np.full(n, tolerances.NODES * (np.abs(lam).max() + 1e-300))
            notes.compare("a node pulls", contact.name, at, -lam, pull)
            mu = 0.0 if contact.friction is None else contact.friction.static
            notes.compare(
                "cone of a node", contact.name, at, np.abs(rub) - mu * lam, pull
            )


def _turned(G: Any, theta: float) -> Any:
    """Return a flexibility in global axes, from those of its body."""
    c, s = np.cos(theta), np.sin(theta)
    R = np.kron(np.eye(len(G) // 2), np.array([[c, -s], [s, c]]))
    return R @ G @ R.T


def _places(result: Any, name: str, patch: str, columns: Any, k: int) -> Any:
    """Return where the shapes put the nodes of a patch.

    r = s + Phi eta - 1/2 eta'K eta + (R(psi) - 1 - psi E)(s - s_c), psi = turn.eta
    """
    own = result.system.flexible[name]
    site, nodes = own.sites[patch], own.sites[patch].nodes
    eta = np.array([columns[f"{name}.eta.{j}"][k] for j in range(len(own.stiffness))])
    psi = float(np.asarray(site.turn) @ eta)
    c, s = np.cos(psi), np.sin(psi)
    arms = np.asarray(nodes.places) - np.asarray(site.place)
    finite = arms @ (np.array([[c, -s], [s, c]]) - [[1.0, -psi], [psi, 1.0]]).T
    bent = 0.5 * np.einsum("cij,i,j->c", site.bend, eta, eta)
    r = nodes.places - own.centre + nodes.shapes @ eta - bent + finite
    if result.system.model.element(name).fixed:
        # Our fixed bars lie as their meshes do.
        return own.centre + r
    x, y, theta = (columns[f"{name}.{q}"][k] for q in ("x", "y", "theta"))
    c, s = np.cos(theta), np.sin(theta)
    return np.array([x, y]) + r @ np.array([[c, s], [-s, c]])


def _gaps(result: Any, contact: Contact, columns: Any, k: int, places: Any) -> Any:
    """Return gaps and normals of nodes, and the flexibility of what they touch.

    Against the floor, y = 0, a disc, or the segments of a patch of a clamped bar.
    """
    n = len(places)
    none = np.zeros((2 * n, 2 * n))
    if contact.a == "ground":
        return places[:, 1], np.tile((0.0, 1.0), (n, 1)), none
    name, _, part = contact.a.partition(".")
    body: Any = result.system.model.element(name)
    if not isinstance(body, FlexibleBody):
        away = places - (columns[f"{name}.x"][k], columns[f"{name}.y"][k])
        distance = np.linalg.norm(away, axis=1)
        return distance - body.shapes[part].radius, away / distance[:, None], none
    line = _places(result, name, part, columns, k)
    gap, normals = np.full(n, np.inf), np.tile((0.0, 1.0), (n, 1))
    W = np.zeros((2 * n, 2 * len(line)))
    way = np.diff(line, axis=0)
    length = np.linalg.norm(way, axis=1)
    # The body is on the left of its boundary.
    out = np.stack((way[:, 1], -way[:, 0]), axis=1) / length[:, None]
    for i, p in enumerate(places):
        xi = np.sum((p - line[:-1]) * way, axis=1) / length**2
        across = np.flatnonzero((xi >= 0.0) & (xi <= 1.0))
        if not len(across):
            continue
        off = np.sum((p - line[:-1]) * out, axis=1)
        j = across[np.argmin(np.abs(off[across]))]
        gap[i], normals[i] = off[j], out[j]
        # What gives between two nodes is a smooth part of each.
        share = xi[j] ** 2 * (3.0 - 2.0 * xi[j])
        for node, part_of in ((j, 1.0 - share), (j + 1, share)):
            W[2 * i, 2 * node] = W[2 * i + 1, 2 * node + 1] = part_of
    G = result.system.flexible[name].sites[part].nodes.flexibility
    return gap, normals, W @ G @ W.T
