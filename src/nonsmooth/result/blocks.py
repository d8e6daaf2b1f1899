"""Elastic blocks in guides: forces of their nodes, and what their stiffness implies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.joints import Prismatic
from nonsmooth.fem.guide import Faces
from nonsmooth.kernels.friction import faces
from nonsmooth.kernels.friction.modes import HELD, STICK
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.pack.blocks import joint_faces
from nonsmooth.result.evaluate import evaluate

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result.result import Limit, Result

Floats = NDArray[np.float64]
# E t c / F up to which the clearance is as good as none, and from which on corners bear
# as those of a rigid block.
TIGHT, RIGID = 0.1, 70.0
# Parts by which a penalty may change the load, and by which it may exceed the block's
# own stiffness before equations lose digits.
SOFT, HARD = 1e-2, 1e8
# Instants that are looked at.
MAX_INSTANTS = 2000


def elastic_blocks(system: System) -> dict[str, int]:
    """Return the contact of each joint with an elastic block."""
    return {
        name: k
        for k, name in enumerate(system.slides, len(system.contacts))
        if system.tables.contact_faces[k, 0] >= 0
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class Borne:
    """The n nodes of an elastic block at an instant, and where its frame is."""

    forces: Floats  # (n) N, along the normals
    part: float  # phi: friction of each is -phi times its force, along the guide
    gaps: Floats  # (n) m
    shift: Floats  # (2) w, m, and rho, rad: of the frame across the guide


def borne(system: System, work: Work, k: int, own: Faces) -> Borne:
    """Return the nodes of block k at the instant last evaluated."""
    m = system.tables
    par, first, _ = m.contact_faces[k].tolist()
    n = int(m.par[par])
    mode, phi = work.mode[k], float(work.contact["phi"][k])
    rests = m.contact_row[k] >= 0 and mode["grip"] in (STICK, HELD)
    way = 0 if rests or phi == 0.0 else 1 if phi > 0.0 else 2
    begin = first + way * (faces.N_TOTAL + faces.N_ARRAY * n)
    part = float(work.node[begin + faces.PHI])
    begin += faces.N_TOTAL + faces.FORCES * n
    forces, gaps = np.array(work.node[begin : begin + 2 * n]).reshape(2, n)
    if not np.any(forces):
        # Nothing presses: it is in the middle.
        play = float(m.par[par + faces.PLAY]) / own.stiffness
        gaps = np.full(n, 0.5 * play)
        return Borne(forces=forces, part=0.0, gaps=gaps, shift=np.zeros(2))
    # What is left of the gaps is the place of the frame.
    gives = 0.5 * float(m.par[par + faces.PLAY]) + (own.give + part * own.lean) @ forces
    left = own.sides * (gaps - gives) / own.stiffness
    x = own.places
    shift = np.array([left.mean(), (left @ x) / (x @ x)])
    return Borne(forces=forces, part=part, gaps=gaps / own.stiffness, shift=shift)


def block_motion(result: Result, joint: str, t: Floats, limit: Limit) -> Floats:
    """Return forces of the n nodes of a block, friction on them, w and rho.

    Shape (n_t, 2 n + 2), N, m and rad: what `nonsmooth.fem.guide.shapes` are times.
    """
    system = result.system
    element = system.model.element(joint)
    assert isinstance(element, Prismatic)
    k, own, work = elastic_blocks(system)[joint], joint_faces(element), system.work()
    y, t_law, mode = result.at(t, limit)
    n = len(own.places)
    found = np.empty((len(t), 2 * n + 2))
    for i in range(len(t)):
        at = slice(i, i + 1)
        evaluate(system, work, t_law[at], y[at], mode[at])
        one = borne(system, work, k, own)
        found[i] = np.concatenate([one.forces, -one.part * one.forces, one.shift])
    return found


def stiffness_ratio(result: Result, joint: str) -> float:
    """Return E t c / F of an elastic block, F its largest load at the ends of steps."""
    element = result.system.model.element(joint)
    assert isinstance(element, Prismatic)
    assert element.clearance is not None
    return element.clearance * joint_faces(element).stiffness / _most(result, joint)


def at_ends(result: Result) -> Any:
    """Return the contacts, (n, n_contact) records, at the ends of some steps."""
    steps = result.steps
    index = np.arange(0, len(steps.t), 1 + len(steps.t) // MAX_INSTANTS)
    t = np.minimum(steps.t[index] + steps.h[index], steps.cap[index])
    system = result.system
    found = evaluate(system, system.work(), t, steps.before(index), steps.mode[index])
    return np.asarray(found.contact)


def _most(result: Result, joint: str) -> float:
    """Return the largest load of a joint."""
    k = elastic_blocks(result.system)[joint]
    return float(np.max(at_ends(result)["lam_n"][:, k], initial=0.0))


def regimes(result: Result) -> Iterator[str]:
    """Yield what the stiffness of each elastic block implies."""
    for joint in result.system.model.joints:
        if isinstance(joint, Prismatic) and joint.load == "corners":
            yield (
                f"joint '{joint.name}': load = 'corners' is the limit of a rigid block "
                f"and a small clearance: clearance = {joint.clearance:g} m is ignored"
            )
    if len(result.steps.t) == 0:
        return
    for name in elastic_blocks(result.system):
        if not _most(result, name) > 0.0:
            continue
        ratio = stiffness_ratio(result, name)
        if ratio < TIGHT:
            means = "the clearance is as good as none: both faces press over a length"
        elif ratio > RIGID:
            means = "it bears on a face or on two corners, as a rigid block does"
        else:
            means = "elasticity and clearance both set the pattern of contact"
        yield f"joint '{name}': E t c / F = {ratio:.3g}; {means}"


def penalty_doubts(result: Result) -> Iterator[str]:
    """Yield a sentence for each penalty so soft or so hard that the answer changes."""
    for name in elastic_blocks(result.system):
        joint = result.system.model.element(name)
        assert isinstance(joint, Prismatic)
        if joint.block is None or joint.block.penalty is None:
            continue
        own = joint_faces(joint)
        spring = own.stiffness / (joint.block.penalty * own.weights)
        part = float(np.max(spring / (np.diag(own.give) - spring)))
        if part > SOFT:
            yield (
                f"joint '{name}': penalty = {joint.block.penalty:g} N/m^2 gives way by "
                f"{part:.2g} of what the block does: the answer is that of the "
                "springs; give a larger one, or none"
            )
        elif part < 1.0 / HARD:
            yield (
                f"joint '{name}': penalty = {joint.block.penalty:g} N/m^2 is "
                f"{1.0 / part:.2g} times as stiff as the block: it adds nothing but "
                "round-off; leave it out"
            )
