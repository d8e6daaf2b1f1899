"""Friction that locks: what a run says of it when it stops, against statics."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fuzz.audit import laws
from nonsmooth import Model, Revolute

# What a run says of a contact that sticks while a drive moves on.
LOCKED = re.compile(r"contact '([^']*)': .* friction locks it")


def is_refuted(model: Model, result: Any, message: str) -> bool:
    """Return whether a lock that a run tells of cannot be one.

    A body on one hinge bears any force whose line passes through the hinge, and no
    other as it grows without bound. So friction locks it if the way from the contact
    to the hinge is within the cone about the normal, tan(angle) <= mu_static. Other
    bodies are not judged.
    """
    told = LOCKED.search(message)
    if told is None:
        return False
    name = told[1]
    contact: Any = next(c for c in model.contacts if name.split(".")[0] == c.name)
    bodies = {contact.a.partition(".")[0], contact.b.partition(".")[0]}
    end = result.sample([result.t_end])
    for body in bodies:
        joints = [j for j in model.joints if body in _ends(j)]
        drives = [d for d in model.drives if body in _ends(d)]
        if drives or len(joints) != 1 or not isinstance(joints[0], Revolute):
            continue
        x, y = _place(model, joints[0])
        way = (x - end[f"{name}.point_x"][0], y - end[f"{name}.point_y"][0])
        n = (end[f"{name}.normal_x"][0], end[f"{name}.normal_y"][0])
        along, across = np.dot(n, way), n[0] * way[1] - n[1] * way[0]
        return bool(abs(across) > laws.static(contact.friction) * abs(along))
    return False


def _ends(element: Any) -> set[str]:
    """Return the bodies of a joint or drive."""
    return {end.partition(".")[0] for end in (element.a, element.b)}


def _place(model: Model, joint: Revolute) -> tuple[float, float]:
    """Return where a hinge is on the ground, m."""
    body, _, point = joint.a.partition(".")
    assert body == "ground"
    ground: Any = next((b for b in model.bodies if b.name == body), None)
    return ground.points[point] if point else (0.0, 0.0)
