"""Consistent starts: checked, or assembled on request."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Body, PointMass, RigidBody
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.shapes import Segment
from nonsmooth.errors import ModelError, NonsmoothWarning, show, worded
from nonsmooth.kernels import entry
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import IN_FRONT, TINY
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.result import State

Floats = NDArray[np.float64]

# A start is taken as consistent when it violates nothing by more than this part of
# the model's size, one radian, or its speeds; what is left is rounding of the input
# and is projected away.
CONSISTENT = 1e-8
# Sizes or radians in a second below which a model is at rest: what is left of its rates
# is round-off of faster motion before.
SLOWEST = 1e-5
# Moved by more than this part of the size, or of the speeds, is noted.
MOVED = 1e-12
# Assembly from far away: Newton steps until the violation is at round-off.
MAX_ASSEMBLY = 200
ASSEMBLED = 1e-12
# Part a row must have in a null vector to be named as redundant.
INVOLVED = 1e-6
# Prescribed accelerations that no motion can follow, relative to their size: far above
# the round-off of a least-norm solution (1e-9), far below any real disagreement.
CONTRADICTORY = 1e-6
# Eigenvalues of S, scaled to a unit diagonal, below which a row depends on others; per
# row, since their round-off adds up.
DEPENDENT = 1e-9
# Largest overlap at the start, as a part of the model's size: bodies are nearly rigid.
DEEPEST = 0.1
# Overlap of patches at the start, in parts of the model's size, that is round-off of
# meshes.
PRESSED = 1e-9
# Part of the model's size by which outlines are apart at the start that is no rounding
# of the input.
APART = 1e-9
# Cosine of the angle between up and the normal to what stands above.
ABOVE = 0.5
# Above this many rows redundant constraints are counted, not named.
MAX_NAMED = 600


def check_state(start: Any) -> None:
    """Refuse what is no state of a run."""
    if start is not None and not isinstance(start, State):
        raise ModelError(
            f"start = {show(start)}; give a state of an earlier run, result.state(t)"
        )


def initial_values(system: System, start: State | None) -> tuple[Floats, Floats]:
    """Return q and v from the model, or from a given state.

    Internal states of friction laws follow the velocities.
    """
    n = system.n_dof
    q, v = np.zeros(n), np.zeros(n + system.n_state)
    names = system.bodies[: system.n_moving]
    if start is not None:
        for what, given in (
            ("positions", start.positions),
            ("velocities", start.velocities),
        ):
            if set(given) != set(names):
                wrong = sorted(set(given) ^ set(names))
                raise ModelError(
                    f"start.{what}: bodies differ from the model's: {wrong}"
                )
        for name in names:
            where = system.coordinates(name)
            for vector, given, what in (
                (q, start.positions, "positions"),
                (v, start.velocities, "velocities"),
            ):
                if len(given[name]) != where.stop - where.start:
                    raise ModelError(
                        f"start.{what}['{name}'] = {given[name]!r}; give "
                        f"{where.stop - where.start} numbers"
                    )
                vector[where] = given[name]
        state = system.tables.contact_state.tolist()
        for name, k in zip(system.with_mode, state, strict=True):
            if k >= 0:
                v[n + k] = start.deflection.get(name, 0.0)
        return q, v
    q[:], v[:n] = system.start.T
    return q, v


def _residuals(
    system: System, work: Work, t: float, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    g, rate = np.zeros(system.n_row), np.zeros(system.n_row)
    entry.constraints(system.tables, work, t, q, v, g, rate)
    return g, rate


def _worst(
    system: System, values: Floats, scale: Floats | float = 1.0
) -> tuple[str, float]:
    row = int(np.argmax(np.abs(values) / np.maximum(scale, TINY)))
    return system.row_label(row), float(values[row])


def consistent_start(
    system: System, work: Work, t: float, start: State | None, assemble: bool | None
) -> tuple[Floats, Floats]:
    """Return consistent q and v, or refuse the start."""
    from nonsmooth.solve.equilibrium import rest_shapes  # which begins at a start

    q, v = initial_values(system, start)
    wanted = system.model.assemble if assemble is None else assemble
    # A state of an earlier run is consistent unless the model has changed.
    if assemble or (wanted and start is None):
        _assemble(system, work, t, q, v)
        if start is None:
            q[:] = rest_shapes(system, t, q)
            entry.project_velocities(system.tables, work, t, q, v)
        return q, v
    if start is None:
        q[:] = rest_shapes(system, t, q)
    if system.n_row:
        _check(system, work, t, q, v)
        entry.project_positions(system.tables, work, t, q, v, system.size)
        entry.project_velocities(system.tables, work, t, q, v)
    return q, v


@dataclass(frozen=True)
class _Violation:
    """How far a start is from the constraints, in units of their own size."""

    g: Floats  # m or rad
    rate: Floats  # m/s or rad/s
    size: Floats  # m or rad, of each row
    speed: Floats  # m/s or rad/s, of each row: its own terms, or the model's pace

    def is_placed(self) -> bool:
        return bool(np.all(np.abs(self.g) <= CONSISTENT * self.size))

    def is_moving_along(self) -> bool:
        return bool(np.all(np.abs(self.rate) <= CONSISTENT * self.speed))


def _violation(
    system: System, work: Work, t: float, q: Floats, v: Floats
) -> _Violation:
    g, rate = _residuals(system, work, t, q, v)
    size, terms = np.zeros_like(g), np.zeros_like(g)
    entry.row_sizes(system.tables, work, v, size, terms)
    # Sizes, or radians, in a second, of what moves fastest.
    pace = np.max(np.abs(v[: system.n_dof]) / system.tables.scale, initial=SLOWEST)
    pace = max(float(pace), float(np.max(terms / np.maximum(size, TINY), initial=0.0)))
    return _Violation(g, rate, size, np.maximum(terms, size * pace))


def _check(system: System, work: Work, t: float, q: Floats, v: Floats) -> None:
    found = _violation(system, work, t, q, v)
    if not found.is_placed():
        name, value = _worst(system, found.g, found.size)
        odd = "".join(f"; {note}" for note in notes_on_angles(system.model))
        raise ModelError(
            f"inconsistent start: {name} is violated by {value:.6g} (m or rad) at "
            f"t = {t:g} s{_ends(system, name, q)}; correct the positions, or set "
            f"assemble=True{odd}"
        )
    if not found.is_moving_along():
        name, value = _worst(system, found.rate, found.speed)
        raise ModelError(
            f"inconsistent start: {name} is violated at a rate of {value:.6g} "
            f"(m/s or rad/s) at t = {t:g} s; correct the velocities, or set "
            "assemble=True, which applies the impulse of the joints and drives"
        )


def _ends(system: System, name: str, q: Floats) -> str:
    """Return where the ends of a joint or drive are, those on rigid bodies."""
    model = system.model
    ends = [
        (side, getattr(element, side))
        for element in (*model.joints, *model.drives)
        if element.label() == name
        for side in ("a", "b")
    ]
    told: list[str] = []
    for side, given in ends:
        body, _, point = given.partition(".")
        found = next((one for one in model.bodies if one.name == body), None)
        x, y = getattr(found, "points", {}).get(point, (0.0, 0.0))
        if isinstance(found, RigidBody | PointMass):
            place = q[system.coordinates(body)]
            turn = float(place[2]) if len(place) > 2 else 0.0
            c, s = math.cos(turn), math.sin(turn)
            x, y = place[0] + c * x - s * y, place[1] + s * x + c * y
        elif body != "ground":
            continue
        told.append(f"{side} = '{given}' is at ({x:.4g}, {y:.4g})")
    return f" ({', '.join(told)})" if told else ""


def moved(system: System, start: State | None, q: Floats, v: Floats) -> str | None:
    """Return a note if the start is not as given, by more than round-off, else None."""
    n, scale = system.n_dof, system.tables.scale
    given_q, given_v = initial_values(system, start)
    fastest = float(np.max(np.abs(v[:n]) / scale, initial=SLOWEST))
    places, rates = np.abs(q - given_q), np.abs(v[:n] - given_v[:n])
    told: list[str] = []
    for body in system.model.bodies if start is None else ():
        if getattr(body, "start", "given") == "static":
            told.append(f"body '{body.name}' begins deformed, in static equilibrium")
            places[system.coordinates(body.name)] = 0.0
    places[places <= MOVED * scale] = 0.0
    rates[rates <= MOVED * scale * fastest] = 0.0
    changes = [
        f"{what} by at most {most}"
        for what, most in (
            ("positions", largest(system, places, ("m", "rad"))),
            ("velocities", largest(system, rates, ("m/s", "rad/s"))),
        )
        if most
    ]
    if changes:
        moved = ", ".join(changes)
        told.append(f"the start was moved onto the joints and drives: {moved}")
    return "; ".join(told) or None


def largest(system: System, change: Floats, units: tuple[str, str]) -> str:
    """Return the largest changes of place and angle, with the body; "" for none."""
    most: dict[str, tuple[float, str]] = {}
    for name in system.bodies[: system.n_moving]:
        own = change[system.coordinates(name)]
        for unit, part in zip(units, (own[:2], own[2:3]), strict=True):
            found = (float(np.max(part, initial=0.0)), name)
            if found[0] > most.get(unit, (0.0, ""))[0]:
                most[unit] = found
    told = (
        f"{value:.2g} {unit} (body '{name}')" for unit, (value, name) in most.items()
    )
    return " and ".join(told)


def _with_masses(system: System, minv: Floats) -> Tables:
    """Return the tables with other inverse masses."""
    return system.tables.copy_with(minv=minv)


def _assemble(system: System, work: Work, t: float, q: Floats, v: Floats) -> None:
    """Move q and v to the nearest consistent start, in place."""
    minv = system.tables.minv.copy()
    for name in system.model.keep:
        body, _, coordinate = name.partition(".")
        k = system.bodies.index(body)
        if k >= system.n_moving:
            raise ModelError(f"keep: '{name}' is not a coordinate of a body with mass")
        first = int(system.tables.body_dof[k])
        minv[first + ("x", "y", "theta").index(coordinate)] = 0.0
    held = _with_masses(system, minv)
    work.minv[:] = minv
    left: Any = np.inf
    for _ in range(MAX_ASSEMBLY):
        left = entry.project_positions(held, work, t, q, v, system.size)  # pyright: ignore[reportUnknownVariableType]
        if left <= ASSEMBLED * system.size:
            break
    if not left <= CONSISTENT * system.size:
        g, _ = _residuals(system, work, t, q, v)
        name, value = _worst(system, g)
        kept = f" with {', '.join(system.model.keep)} kept" if system.model.keep else ""
        raise ModelError(
            f"the start cannot be assembled{kept}: {name} stays violated by "
            f"{value:.6g} (m or rad); give positions nearer to a consistent pose"
        )
    work.minv[:] = system.tables.minv
    entry.project_velocities(system.tables, work, t, q, v)
    if not _violation(system, work, t, q, v).is_moving_along():
        raise _contradiction(system, work, t, q, v)


def _redundant(
    system: System, work: Work, t: float, q: Floats, v: Floats
) -> tuple[list[str], int]:
    """Return the joints and drives in the null space of S, and its dimension."""
    n = system.n_row
    zero = np.zeros(n)
    entry.constraints(system.tables, work, t, q, v, zero.copy(), zero)
    if n > MAX_NAMED:
        return [], 0
    S = np.zeros((n, n))
    entry.dense_matrix(system.tables, work, S)
    scale = 1.0 / np.sqrt(np.where(np.diag(S) > 0.0, np.diag(S), 1.0))
    values, vectors = np.linalg.eigh(S * scale[:, None] * scale)
    null = vectors[:, values < DEPENDENT * n]
    rows = np.flatnonzero(np.sum(null**2, axis=1) > INVOLVED)
    names = sorted({system.row_owner(int(row)) for row in rows})
    return names, null.shape[1]


def _contradiction(
    system: System, work: Work, t: float, q: Floats, v: Floats
) -> ModelError:
    names, _ = _redundant(system, work, t, q, v)
    return ModelError(
        f"contradictory joints or drives at t = {t:g} s: "
        f"{', '.join(names) or 'the constraints'} prescribe motions that exclude "
        "each other; remove or change one of them"
    )


def check_redundancy(
    system: System, work: Work, t: float, q: Floats, v: Floats
) -> str | None:
    """Warn of reactions that are not unique at the start; refuse contradictions.

    Returns the warning's text, if any.
    """
    if not system.n_row:
        return None
    g, rate = np.zeros(system.n_row), np.zeros(system.n_row)
    entry.constraints(system.tables, work, t, q, v, g, rate)
    if not work.has_lost_rank:
        return None
    bias = work.bias.copy()
    # J a = -bias must have a solution, that is bias must lie in the range of S. Rates
    # that exclude each other were refused with the velocities.
    unreachable = entry.gaps(system.tables, work, bias)
    if unreachable > CONTRADICTORY * max(1.0, float(np.max(np.abs(bias)))):
        raise _contradiction(system, work, t, q, v)
    names, n_null = _redundant(system, work, t, q, v)
    text = (
        f"{n_null or 'some'} constraint(s) among {', '.join(names) or 'the joints'} "
        f"are redundant at t = {t:g} s: the motion is unique, these reactions are not, "
        "and least-norm values are reported"
    )
    warnings.warn(text, NonsmoothWarning, stacklevel=4)
    return text


def _is_behind(system: System, k: int, overlap: float) -> bool:
    """Return whether contact k begins behind a segment, and does not overlap there."""
    if not isinstance(system.spots[k].surface, Segment):
        return False
    radius = system.spots[k].radius
    return overlap > (radius or IN_FRONT * float(system.tables.contact_deepest[k]))


def check_overlaps(
    system: System, work: Work, t: float, q: Floats, v: Floats, *, is_new: bool = True
) -> None:
    """Refuse a start with a contact that overlaps as no compliant law describes.

    And one with undeformed bodies whose patches overlap, if it is no later state.
    """
    if not system.contacts:
        return
    side = work.mode["side"].copy()
    work.mode["side"] = PRESSING
    _residuals(system, work, t, q, v)
    work.mode["side"] = side
    deepest: list[float] = system.tables.contact_deepest.tolist()
    for k, name in enumerate(system.contacts):
        contact: Any = work.contact[k]
        overlap, force = -float(contact["gap"]), float(contact["force"])
        if is_new and overlap > PRESSED * system.size and _is_bare(system, name, q):
            raise ModelError(
                f"contact '{name}': its patch overlaps by {overlap:.6g} m at t = {t:g} "
                "s, with the body undeformed: move them apart, or start from a state "
                "in which they press"
            )
        is_flat = system.tables.contact_flat[k] >= 0
        if is_flat and overlap > deepest[k]:
            raise ModelError(
                f"contact '{name}': the outlines overlap by {overlap:.6g} m at "
                f"t = {t:g} s; at most {deepest[k]:.3g} m, a quarter of the thickness "
                "of the thinner, is in the range of a compliant law: correct the "
                "positions"
            )
        if _is_behind(system, k, overlap):
            continue
        if overlap > deepest[k]:
            raise ModelError(
                f"contact '{name}': overlaps by {overlap:.6g} m at t = {t:g} s; at "
                f"most {deepest[k]:.3g} m, half way to where "
                f"{system.spots[k].middle}, is in the range of a compliant law: "
                "correct the positions"
            )
        if overlap > DEEPEST * system.size:
            raise ModelError(
                f"contact '{name}': overlaps by {overlap:.6g} m at t = {t:g} s; at "
                f"most {DEEPEST * system.size:.3g} m, a tenth of the model's size, "
                "is in the range of a compliant law: correct the positions; if the "
                "body is on the wrong side, turn the line by pi (a circle is touched "
                "from outside only)"
            )
        if not np.isfinite(force) or not np.isfinite(overlap):
            raise ModelError(
                f"contact '{name}': its normal law is not finite at t = {t:g} s, "
                f"overlap {overlap:.6g} m"
            )


def in_the_air(system: System, t: float, q: Floats, v: Floats) -> str | None:
    """Return a note if a stack of outlines starts apart and at rest, else None.

    One outline may be dropped on purpose; where nothing but contacts holds what is
    apart from that below it, and either touches a third, they were meant to stand.
    """
    tables = system.tables
    flat = np.flatnonzero(tables.contact_flat >= 0).tolist()
    gravity = np.array(system.model.gravity)
    if tables.weight_of_all == 0.0 or not np.any(gravity) or len(flat) < 2:
        return None
    work = system.work()
    g, rate = np.zeros(system.n_row), np.zeros(system.n_row)
    entry.constraints(tables, work, t, q, v, g, rate)
    # Of pieces of one contact the nearest counts.
    nearest: dict[str, int] = {}
    gap: Any = np.asarray(work.contact)["gap"]
    for k in sorted(flat, key=lambda k: gap[k]):
        nearest.setdefault(system.spots[k].element, k)
    ends = tables.marker_body[np.array([tables.contact_a, tables.contact_b])]
    joints = tables.marker_body[np.array([tables.joint_a, tables.joint_b])]
    up = -gravity / np.linalg.norm(gravity)
    falling = {
        k: {body for body in ends[:, k].tolist() if tables.body_support[body] < 0}
        for k in nearest.values()
    }
    n_touching = Counter(body for bodies in falling.values() for body in bodies)
    found: dict[str, float] = {}
    for name, k in sorted(nearest.items(), key=lambda item: item[1]):
        contact: Any = work.contact[k]
        rise = up[0] * contact["n_x"] + up[1] * contact["n_y"]
        above = ends[1 if rise > 0.0 else 0, k]
        is_free = tables.body_support[above] < 0 and above not in joints
        is_stack = any(n_touching[body] > 1 for body in falling[k])
        is_still = abs(contact["gap_rate"]) <= SLOWEST * system.size
        is_apart = contact["gap"] > APART * system.size and abs(rise) > ABOVE
        if is_apart and is_free and is_stack and is_still:
            found[name] = float(contact["gap"])
    if not found:
        return None
    names = ", ".join(f"'{name}'" for name in found)
    who = f"contacts {names} are open by up to" if len(found) > 1 else ""
    return (
        f"{who or f'contact {names} is open by'} {max(found.values()):.3g} m at the "
        "start, and its bodies at rest: a stack that starts in the air falls; if it is "
        "to stand, lower its bodies until they overlap, each by its load over the "
        "stiffness"
    )


def _is_bare(system: System, contact: str, q: Floats) -> bool:
    """Return whether a contact is of a patch, and no flexible body is deformed."""
    k = system.contacts.index(contact)
    if system.tables.contact_patch[k, 0] < 0:
        return False
    own = [system.coordinates(name) for name in system.flexible]
    return not any(np.any(q[one.start + 3 : one.stop]) for one in own)


@worded
def assembled(model: Model, t: float = 0.0) -> Model:
    """Return the model with its start moved to the nearest consistent one.

    Positions move by the mass-weighted shortest way, the coordinates named in
    `model.keep` not at all; velocities change by the impulse that joints and drives
    exert.
    """
    system = pack(model)
    q, v = consistent_start(system, system.work(), t, None, True)
    bodies: list[Body] = []
    for body in model.bodies:
        if body.has_mass:
            k = system.coordinates(body.name).start
            changes: dict[str, Any] = {
                "position": (float(q[k]), float(q[k + 1])),
                "velocity": (float(v[k]), float(v[k + 1])),
            }
            if not isinstance(body, PointMass):
                changes |= {
                    "angle": float(q[k + 2]),
                    "angular_velocity": float(v[k + 2]),
                }
            if isinstance(body, FlexibleBody):
                own = slice(k + 3, system.coordinates(body.name).stop)
                changes |= {
                    "eta": tuple(q[own].tolist()),
                    "eta_rate": tuple(v[own].tolist()),
                    "start": "given",
                }
            body = replace(body, **changes)
        bodies.append(body)
    return replace(model, bodies=tuple(bodies), assemble=False, keep=())
