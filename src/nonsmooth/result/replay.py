"""Friction of an elastic block's nodes at rest, with its history.

At rest a guide bears what keeps the block there; how nodes share it does not act on the
motion, and is found when it is asked for. Each node that presses holds its place z on
the guide, as long as friction f on it can: with the mesh's own compliance, in one frame
(w, rho, a) with the guide,

    0 <= l  _|_  c/2 + s (w + rho x) + (A l - B f) >= 0
    |f| <= mu_static l,    a + s (h/2) rho + C l + D f = z  where it holds
    sum s l = N,    sum s l x + (h/2) sum s f = M,    sum f = F

A node that slips, or is open, takes its place along. Instants from the beginning of
rest on are solved one after the other: f has a history, unlike the springs of
[ZhangWang2016]_. Before rest all nodes slipped; a run that starts at rest starts with
friction shared as the normal forces are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.pack.blocks import joint_faces
from nonsmooth.result.blocks import borne, elastic_blocks
from nonsmooth.result.evaluate import evaluate

if TYPE_CHECKING:
    from nonsmooth.result.result import Limit, Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Instants of rest that are solved at least.
N_INSTANT = 40
# States of a node.
OPEN, STUCK, FORWARD, BACKWARD = 0, 1, 2, 3
# Trials of states before they are changed one by one, and before a load is halved.
PATIENCE, MAX_TRIAL, MAX_HALVED = 20, 300, 8
# Parts of the load: faults below are round-off.
ROUND_OFF = 1e-9


@dataclass(frozen=True, kw_only=True)
class Held:
    """What the nodes of a block at rest bear at one instant."""

    t: float  # s
    forces: Floats  # (n) N, along the normals
    friction: Floats  # (n) N, on the block along +x of the guide
    state: Ints  # (n) OPEN, STUCK, FORWARD, BACKWARD: sign of f
    places: Floats  # (n) m, U of each node along the guide
    is_converged: bool


@dataclass(frozen=True, kw_only=True)
class _Block:
    """A block's compliance, times E t, and its guide."""

    x: Floats
    s: Floats
    half: float  # m, h/2
    play: float  # N, c E t / 2
    normal: Floats  # (n, 2 n) gaps under l, f
    along: Floats  # (n, 2 n) places along the guide under l, f
    stiffness: float
    mu: float


@dataclass(frozen=True, kw_only=True)
class _Load:
    """What a block bears as a whole: N, M and F."""

    t: float
    forces: Floats  # as the motion has them, shared
    friction: Floats
    whole: Floats  # (3)


def at_rest_since(result: Result, joint: str, t: float, limit: Limit) -> float | None:
    """Return since when a joint rests, None if it slips at t."""
    if result.sample(t, f"{joint}.mode", limit=limit)[f"{joint}.mode"][0] != 0.0:
        return None
    began = result.t_start
    for event in result.events.of(joint):
        is_before = event.t < t or (event.t == t and limit == "after")
        if event.kind == "stick" and is_before:
            began = event.t
    return began


def replay(result: Result, joint: str, t: float, limit: Limit = "after") -> list[Held]:
    """Return what nodes bear from the beginning of rest until t; [] if it slips."""
    began = at_rest_since(result, joint, t, limit)
    if began is None:
        return []
    element = result.system.model.element(joint)
    assert isinstance(element, Prismatic)
    block = _block(element)
    steps = result.steps.t
    inner = steps[(steps > began) & (steps < t)]
    times = np.union1d(np.linspace(began, t, N_INSTANT + 1), inner)
    first = began if began == result.t_start else None
    before = _load(result, joint, began, "before" if first is None else "after")
    place, _ = _places(block, before.forces, before.friction)
    state = np.where(before.forces > 0.0, STUCK, OPEN)
    z, last, found = place, before, list[Held]()
    is_converged = True
    for time in times:
        own: Limit = limit if time == t and time > began else "after"
        load = _load(result, joint, float(time), own)
        held = _follow(block, last.whole, load.whole, z, state, 0)
        if held is None:
            # Shared as the motion has it, and said; history goes on from there.
            is_converged = False
            l, f = load.forces, load.friction
            state = np.where(l > 0.0, STUCK, OPEN)
            z = _places(block, l, f)[0]
        else:
            l, f, state, z = held
        moved = _places(block, l, f)[0] / block.stiffness
        found.append(
            Held(t=float(time), forces=l, friction=f, state=state, places=moved,
                 is_converged=is_converged)
        )  # fmt: skip
        last = load
    return found


def _block(joint: Prismatic) -> _Block:
    from nonsmooth.fem.guide import press

    assert joint.length is not None  # the joint was checked
    assert joint.clearance is not None
    own: Any = joint.block
    assert isinstance(own, ElasticBlock)
    faces = joint_faces(joint)
    one = press(joint.length, joint.height, own)
    n = len(faces.places)
    across = np.hstack([faces.give, -faces.lean])
    rows = one.moves[2 * one.laid.nodes]
    along = np.hstack([rows[:, :n], -rows[:, n:]])
    law: Any = joint.friction
    return _Block(
        x=faces.places,
        s=faces.sides,
        half=0.5 * joint.height,
        play=0.5 * joint.clearance * faces.stiffness,
        normal=across,
        along=along,
        stiffness=faces.stiffness,
        mu=law.static,
    )


def _load(result: Result, joint: str, t: float, limit: Limit) -> _Load:
    """Return the forces of the motion at an instant, and what they add up to."""
    system = result.system
    element = system.model.element(joint)
    assert isinstance(element, Prismatic)
    own, work = joint_faces(element), system.work()
    y, t_law, mode = result.at(np.array([t]), limit)
    evaluate(system, work, t_law, y, mode)
    one = borne(system, work, elastic_blocks(system)[joint], own)
    l, f = one.forces, -one.part * one.forces
    s, x, half = own.sides, own.places, 0.5 * element.height
    whole = [s @ l, (s * x) @ l + half * (s @ f), np.sum(f)]
    return _Load(t=t, forces=l, friction=f, whole=np.array(whole))


def _places(block: _Block, l: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return U of all nodes for a = 0, and (w, rho), times E t."""
    both = np.concatenate([l, f])
    gives = block.play + block.normal @ both
    closed = l > 0.0
    frame = np.stack([block.s, block.s * block.x], axis=1)
    fit: Any = np.linalg.lstsq(frame[closed], -gives[closed], rcond=None)
    w: Floats = np.asarray(fit[0], float)
    return block.along @ both + block.s * block.half * w[1], w


def _follow(
    block: _Block, last: Floats, load: Floats, z: Floats, state: Ints, depth: int
) -> tuple[Floats, Floats, Ints, Floats] | None:
    """Solve an increment of the load; halve it where no states agree."""
    found = _solve(block, load, z, state)
    if found is not None or depth == MAX_HALVED:
        return found
    middle = 0.5 * (last + load)
    half = _follow(block, last, middle, z, state, depth + 1)
    if half is None:
        return None
    _, _, state, z = half
    return _follow(block, middle, load, z, state, depth + 1)


def _solve(
    block: _Block, load: Floats, z: Floats, start: Ints
) -> tuple[Floats, Floats, Ints, Floats] | None:
    """Find states of nodes by trial; return forces, friction, states and places."""
    size = abs(load[0]) + abs(load[1]) / np.ptp(block.x)
    tiny, state = ROUND_OFF * size, start.copy()
    for trial in range(MAX_TRIAL):
        solved = _linear(block, load, z, state)
        if solved is None:
            return None
        l, f, gap, place = solved
        slip, most = place - z, block.mu * l
        fault = np.zeros(len(l))
        new = state.copy()
        closed = state != OPEN
        for where, amount, to in (
            (closed, -l, OPEN),
            (~closed, -gap, STUCK),
            (state == STUCK, np.abs(f) - most, np.where(f > 0.0, FORWARD, BACKWARD)),
            # Friction forward means that it slips backward.
            (state == FORWARD, slip, STUCK),
            (state == BACKWARD, -slip, STUCK),
        ):
            is_wrong = where & (amount > tiny) & (amount > fault)
            new = np.where(is_wrong, to, new)
            fault = np.where(is_wrong, amount, fault)
        if not np.any(fault):
            kept = np.where(state == STUCK, z, place)
            l = np.maximum(l, 0.0)
            return l, np.clip(f, -block.mu * l, block.mu * l), state, kept
        before = state
        if trial < PATIENCE:
            state = new
        else:
            # As in the solver of the motion [JudicePires1994]_.
            last = int(np.flatnonzero(fault)[-1])
            state = state.copy()
            state[last] = new[last]
        if not np.any(state == STUCK):
            way = float(np.sum(np.where(before == STUCK, f, 0.0)))
            state[_holding(state, way, slip, most - np.abs(f))] = STUCK
    return None


def _holding(state: Ints, way: float, slip: Floats, spare: Floats) -> int:
    """Return the node that holds the block where all others slip.

    The block moves on until the first of those sticks whose friction is along its
    motion, which is against the friction `way` that held it; if there is none, it is
    the node with most to spare.
    """
    wrong = BACKWARD if way > 0.0 else FORWARD
    if np.any(state == wrong):
        return int(np.argmin(np.where(state == wrong, np.abs(slip), np.inf)))
    return int(np.argmax(np.where(state != OPEN, spare, -np.inf)))


def _linear(
    block: _Block, load: Floats, z: Floats, state: Ints
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Return forces, friction, gaps and places for given states."""
    n = len(state)
    closed, stuck = np.flatnonzero(state != OPEN), np.flatnonzero(state == STUCK)
    part = np.where(state == FORWARD, 1.0, np.where(state == BACKWARD, -1.0, 0.0))
    m, k = len(closed), len(stuck)
    if m < 2 or k < 1:
        return None
    # Forces by the unknowns: l of closed nodes, f of stuck ones; then w, rho, a.
    by = np.zeros((2 * n, m + k))
    by[closed, np.arange(m)] = 1.0
    by[n + closed, np.arange(m)] = block.mu * part[closed]
    by[n + stuck, m + np.arange(k)] = 1.0
    s, x, h = block.s, block.x, block.half
    frame = np.stack([s, s * x, np.zeros(n)], axis=1)
    along = np.stack([np.zeros(n), s * h, np.ones(n)], axis=1)
    gaps = np.hstack([block.normal @ by, frame])
    places = np.hstack([block.along @ by, along])
    sums = np.zeros((3, 2 * n))
    sums[0, :n], sums[1, :n], sums[1, n:], sums[2, n:] = s, s * x, s * h, 1.0
    matrix = np.vstack(
        [gaps[closed], places[stuck], np.hstack([sums @ by, np.zeros((3, 3))])]
    )
    right = np.concatenate([np.full(m, -block.play), z[stuck], load])
    try:
        y = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return None
    both = by @ y[: m + k]
    return both[:n], both[n:], block.play + gaps @ y, places @ y
