"""Patches on the floor: their nodes neither overlap nor pull, once more from G."""

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
    """Compare gaps and forces of nodes on the floor, y = 0, with their condition.

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
            theta = columns[f"{body}.theta"][k]
            # The floor's normal in the axes of the body.
            up = np.array([np.sin(theta), np.cos(theta)])
            n = len(found.forces)
            G = np.einsum("iajb,a,b->ij", nodes.flexibility.reshape(n, 2, n, 2), up, up)
            gap = found.places[:, 1]
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
