"""Patches on the floor or a ball: nodes neither overlap nor pull, once more from G."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit import tolerances
from fuzz.audit.newton import Sums, body_of
from fuzz.audit.notes import Notes
from fuzz.audit.scene import Scene
from nonsmooth import Contact, Model, Unilateral

# Instants at which the forces of all nodes are looked at.
MOST = 60


def pressed(model: Model) -> list[Contact]:
    """Return the contacts of patches."""
    return [c for c in model.contacts if isinstance(c.normal, Unilateral)]


def add_patches(scene: Scene, sums: Sums, contacts: list[Contact]) -> None:
    """Add the resultants of patches to what acts on bodies."""
    for contact in contacts:
        name = contact.name
        n = scene[f"{name}.normal_force"]
        force = (n * scene[f"{name}.normal_x"], n * scene[f"{name}.normal_y"])
        place = (scene[f"{name}.point_x"], scene[f"{name}.point_y"])
        wrench = (*force, scene.zero)
        sums.pair(body_of(contact.a), body_of(contact.b), place, wrench)


def check_patches(notes: Notes, result: Any, contacts: list[Contact]) -> None:
    """Compare gaps and forces of nodes on a surface with their condition.

    With the gaps g of the shapes alone, 0 <= lam _|_ g + (N'G N + 1/k) lam >= 0.
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
            theta, n = columns[f"{body}.theta"][k], len(found.forces)
            gap, normals = _gaps(result.system.model, contact, columns, k, found.places)
            # The normals in the axes of the body.
            c, s = np.cos(theta), np.sin(theta)
            own = normals @ np.array([[c, -s], [s, c]])
            G = nodes.flexibility.reshape(n, 2, n, 2)
            G = np.einsum("iajb,ia,jb->ij", G, own, own)
            is_open = columns[f"{contact.name}.mode"][k] == 2.0
            lam = np.zeros(n) if is_open else found.forces
            left = gap + G @ lam + soft * lam
            size = np.abs(gap).max() + np.abs(G @ lam).max()
            bound = np.full(n, tolerances.NODES * size + tolerances.EPS * 100.0)
            at = np.full(n, instant)
            notes.compare("a node overlaps", contact.name, at, -left, bound)
            both = np.minimum(np.abs(left), np.where(lam > 0.0, np.inf, 0.0))
            notes.compare("a node that presses", contact.name, at, both, bound)
            pull = np.full(n, tolerances.NODES * (np.abs(lam).max() + 1e-300))
            notes.compare("a node pulls", contact.name, at, -lam, pull)


def _gaps(model: Model, contact: Contact, columns: Any, k: int, places: Any) -> Any:
    """Return gaps and normals of nodes against the floor, y = 0, or against a disc."""
    if contact.a == "ground":
        return places[:, 1], np.tile((0.0, 1.0), (len(places), 1))
    name, _, shape = contact.a.partition(".")
    body: Any = model.element(name)
    away = places - (columns[f"{name}.x"][k], columns[f"{name}.y"][k])
    distance = np.linalg.norm(away, axis=1)
    return distance - body.shapes[shape].radius, away / distance[:, None]
