"""Forces and pressure of the nodes of a patch that is pressed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.meshes import Patch
from nonsmooth.errors import ModelError, brief, nearest, show
from nonsmooth.kernels.mechanics import nodes
from nonsmooth.kernels.tolerances import TINY
from nonsmooth.pack.blocks import joint_faces
from nonsmooth.result.blocks import borne, elastic_blocks
from nonsmooth.result.evaluate import evaluate, grounded
from nonsmooth.result.replay import replay
from nonsmooth.result.state import Modes

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result.result import Limit, Result

Floats = NDArray[np.float64]
# Instants that are looked at.
MAX_INSTANTS = 4000


@dataclass(frozen=True, kw_only=True)
class Pressure:
    """What the nodes of b's patch bear at one instant, in order along its boundary.

    Of an elastic block, the nodes of its lower face, then of its upper one, both from
    the rear to the front; the guide's lower face is the one that pushes along +n.

    The pressure of a node is its force over its own part of the boundary, times the
    thickness of the body: beside the edge of contact it jumps.
    """

    t: float  # s
    places: Floats  # (n, 2) m, without what the nodes give beyond the shapes
    normals: Floats  # (n, 2) from a to b
    forces: Floats  # (n) N, on b along the normal
    friction: Floats  # (n) N, on b along the tangent; on a block along the guide
    pressure: Floats  # (n) Pa
    # Whether the forces were found; False where the history of friction at rest was
    # not, and friction is shared as the normal forces are.
    is_converged: bool = True


def with_history(
    result: Result, joint: str, t: float, limit: Limit, found: Pressure
) -> Pressure:
    """Return the pressure of an elastic block at rest with friction's history."""
    if joint not in elastic_blocks(result.system):
        return found  # the nodes of a patch have theirs
    held = replay(result, joint, t, limit)
    if not held:
        return found
    last = held[-1]
    element: Any = result.system.model.element(joint)
    lengths = joint_faces(element).weights * element.block.thickness
    return replace(
        found,
        forces=last.forces,
        friction=last.friction,
        pressure=last.forces / lengths,
        is_converged=last.is_converged,
    )


def pressure_of(
    system: System, contact: str, t: float, y: Floats, mode: Modes
) -> Pressure:
    """Return the pressure of a contact at one state."""
    m = system.tables
    if not isinstance(contact, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"contact = {show(contact)}; give its name")
    if contact in elastic_blocks(system):
        return _block_pressure(system, contact, t, y, mode)
    pressed = [
        name for k, name in enumerate(system.contacts) if m.contact_patch[k, 0] >= 0
    ]
    pressed += elastic_blocks(system)
    if contact not in pressed:
        valid = nearest(contact, pressed) if pressed else "no patch is pressed"
        raise ModelError(f"contact {brief(contact)}: it has no nodes; {valid}")
    k = system.contacts.index(contact)
    element: Any = system.model.element(contact, "b")
    body_name, _, patch = element.b.partition(".")
    body: Any = system.model.element(body_name)
    nodes_b = system.flexible[body_name].sites[patch].nodes
    assert nodes_b is not None  # it was packed
    weights = nodes_b.weights
    work = system.work()
    # Nodes of a patch that is clear are where all shapes put them.
    evaluate(system, work, np.array([t]), y, grounded(mode))
    n, at_a, place = (
        len(weights),
        int(m.contact_patch[k, 1]),
        int(m.contact_patch[k, 2]),
    )
    n_a = int(m.par[at_a]) if at_a >= 0 else 0
    part = work.node[place : place + nodes.N_PART * n].reshape(-1, n)
    begin = place + nodes.N_PART * (n + n_a)
    pair = work.node[begin : begin + nodes.N_PAIR * n].reshape(-1, n)
    return Pressure(
        t=t,
        places=part[[nodes.AT_X, nodes.AT_Y]].T.copy(),
        normals=pair[[nodes.N_X, nodes.N_Y]].T.copy(),
        forces=pair[nodes.LAM].copy(),
        friction=pair[nodes.LAM_T].copy(),
        pressure=pair[nodes.LAM] / (weights * body.thickness),
    )


def node_forces(
    system: System, contact: str, t: float, y: Floats, mode: Modes
) -> dict[str, Floats]:
    """Return forces (n, 2) on the nodes of both patches, N, each in its body's axes."""
    m, k = system.tables, system.contacts.index(contact)
    element: Any = system.model.element(contact, "b")
    work = system.work()
    evaluate(system, work, np.array([t]), y, mode)
    place = int(m.contact_patch[k, nodes.PLACE])
    found: dict[str, Floats] = {}
    for reference, column in ((element.b, nodes.OF_B), (element.a, nodes.OF_A)):
        at = int(m.contact_patch[k, column])
        if at >= 0:
            n = int(m.par[at])
            part = work.node[place : place + nodes.N_PART * n].reshape(-1, n)
            found[reference] = part[[nodes.F_X, nodes.F_Y]].T.copy()
            place += nodes.N_PART * n
    return found


def _block_pressure(
    system: System, joint: str, t: float, y: Floats, mode: Modes
) -> Pressure:
    """Return the pressure of an elastic block at one state."""
    k = elastic_blocks(system)[joint]
    element: Any = system.model.element(joint)
    faces = joint_faces(element)
    work = system.work()
    evaluate(system, work, np.array([t]), y, mode)
    forces = borne(system, work, k, faces).forces
    m = system.tables
    contact: Any = work.contact[k]
    friction = float(contact["lam_t"])
    angle = float(work.motion[m.contact_a[k], 2]) + element.axis
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    local = np.stack([faces.places, -0.5 * element.height * faces.sides], axis=1)
    up = np.stack([np.zeros_like(faces.sides), faces.sides], axis=1)
    return Pressure(
        t=t,
        places=work.motion[m.contact_b[k], :2] + local @ turn,
        normals=up @ turn,
        forces=forces,
        friction=friction * forces / max(float(np.sum(forces)), TINY),
        pressure=forces / (faces.weights * element.block.thickness),
    )


def _cut_ends(own: Any, given: Patch, name: str) -> tuple[bool, bool]:
    """Return whether the ends of a patch are not those of its boundary."""
    if given.radius is None or own.mesh is None:
        return (False, False)
    edges, places = own.mesh.edges[given.boundary], own.sites[name].nodes.places
    if edges[0, 0] == edges[-1, 1]:
        return (True, True)
    ends = own.mesh.nodes[[edges[0, 0], edges[-1, 1]]]
    first, last = (bool(np.any(places[i] != ends[i])) for i in (0, -1))
    return first, last


def cut_patches(result: Result) -> Iterator[str]:
    """Yield a sentence for each patch that presses to an end at which it was cut."""
    system = result.system
    for k, name in enumerate(system.contacts):
        if system.tables.contact_patch[k, 0] < 0:
            continue
        element: Any = system.model.element(name, "b")
        body, _, patch = element.b.partition(".")
        owner: Any = system.model.element(body)
        cut = _cut_ends(system.flexible[body], owner.patches[patch], patch)
        if not any(cut):
            continue
        steps = result.steps
        index = np.arange(0, len(steps.t), 1 + len(steps.t) // MAX_INSTANTS)
        t = np.minimum(steps.t[index] + steps.h[index], steps.cap[index])
        mode = steps.mode[index]
        found = evaluate(system, system.work(), t, steps.before(index), mode)
        contact: Any = np.asarray(found.contact)[:, k]
        ends = (contact["front"].max(), contact["rear"].max())
        if any(is_cut and force > 0.0 for is_cut, force in zip(cut, ends, strict=True)):
            yield (
                f"contact '{name}' presses at an end of patch '{element.b}': the patch "
                "is too small for this load; give it a larger radius"
            )
