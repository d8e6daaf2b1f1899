"""Parts of a model that share nothing, each packed alone.

Bodies that a joint, a drive, a force, a contact or an event ties to each other are in
one part. Supports and the ground move as prescribed, whatever pushes them: they tie
nothing, and each part has what it uses of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Body
from nonsmooth.model import Model
from nonsmooth.pack.system import System
from nonsmooth.pack.tables import pack

Integers = NDArray[np.int64]

_TYING = ("joints", "drives", "forces", "contacts", "events")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part as a system of its own, and where its numbers stand in the whole's."""

    system: System
    state: Integers  # of its (q, v, z, work, history)
    contact: Integers  # of its contacts and joints with friction


def parts_of(system: System) -> tuple[Part, ...]:
    """Return the parts of a system, in the order of their first bodies."""
    members = list(_members(system.model))
    if len(members) < 2:
        return ()
    # A support may be pushed by several parts, and then by their sum.
    names = system.state_names()
    place = {name: k for k, name in enumerate(names)}
    own = {name: k for k, name in enumerate(system.with_mode)}
    if len(place) < len(names) or len(own) < len(system.with_mode):
        return ()
    parts: list[Part] = []
    for bodies, elements in members:
        model = _model(system.model, bodies, elements)
        alone = pack(model, system.flexible, size=system.size)
        parts.append(
            Part(
                system=alone,
                state=_places(place, alone.state_names()),
                contact=_places(own, alone.with_mode),
            )
        )
    return tuple(parts)


def _places(place: dict[str, int], names: tuple[str, ...]) -> Integers:
    return np.array([place[name] for name in names], dtype=np.int64)


def _ends(element: Any) -> tuple[str, str]:
    return element.a.partition(".")[0], element.b.partition(".")[0]


def _members(model: Model) -> Iterator[tuple[set[str], dict[str, list[Any]]]]:
    """Yield the bodies with mass of each part, and its elements by family."""
    leader = {body.name: body.name for body in model.bodies if body.has_mass}

    def lead(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    elements = [(name, e) for name in _TYING for e in getattr(model, name)]
    is_bare = set(leader)
    for _, element in elements:
        ends = [lead(name) for name in _ends(element) if name in leader]
        is_bare -= {name for name in _ends(element)}
        for end in ends[1:]:
            leader[end] = ends[0]
    # Bodies that nothing touches fall alike: one march serves all of them.
    first = next((name for name in leader if name in is_bare), "")
    for name in is_bare:
        leader[name] = first
    bodies: dict[str, set[str]] = {}
    for name in leader:
        bodies.setdefault(lead(name), set()).add(name)
    of: dict[str, dict[str, list[Any]]] = {
        key: {name: [] for name in _TYING} for key in bodies
    }
    for family, element in elements:
        # An event of supports alone is anyone's.
        ends = [lead(name) for name in _ends(element) if name in leader]
        of[ends[0] if ends else next(iter(bodies))][family].append(element)
    for key, own in bodies.items():
        yield own, of[key]


def _model(model: Model, bodies: set[str], elements: dict[str, list[Any]]) -> Model:
    """Return a part as a model."""
    used = [r for own in elements.values() for e in own for r in (e.a, e.b)]
    return replace(
        model,
        bodies=tuple(_bodies(model, bodies, used)),
        **{family: tuple(own) for family, own in elements.items()},
        assemble=False,
        keep=(),
    )


def _bodies(model: Model, own: set[str], used: list[str]) -> Iterator[Body]:
    """Yield the bodies of a part; supports, the ground and their points if used."""
    names = {reference.partition(".")[0] for reference in used}
    for body in model.bodies:
        if body.name in own:
            yield body
        elif not body.has_mass and body.name in names:
            points: dict[str, Any] = getattr(body, "points", {})
            kept = {p: at for p, at in points.items() if f"{body.name}.{p}" in used}
            whole: Any = body
            yield replace(whole, points=kept) if len(kept) < len(points) else whole
