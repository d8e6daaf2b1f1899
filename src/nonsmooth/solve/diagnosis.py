"""Why a run failed: when, where, what to try."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import MovingSupport
from nonsmooth.elements.joints import Joint, Revolute
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.shapes import Segment
from nonsmooth.errors import FAILURES
from nonsmooth.kernels import entry
from nonsmooth.kernels import run as codes
from nonsmooth.kernels.entry import Guards
from nonsmooth.kernels.friction import faces
from nonsmooth.kernels.friction.modes import PRESSING, STICK
from nonsmooth.kernels.mechanics import nodes, rough
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.kernels.run import Step
from nonsmooth.pack import System
from nonsmooth.result.bending import bent
from nonsmooth.result.blocks import elastic_blocks
from nonsmooth.solve.options import Options
from nonsmooth.solve.undecided import advice, jams, undecided

if TYPE_CHECKING:
    from nonsmooth.solve.driver import Driver

# Places at which a failed step is searched for the element that failed it.
N_SEARCH = 65
# Doublings of that way beyond which it is not searched: an implicit step asks farther.
N_AHEAD = 20
# Nodes of a patch that a message lists.
MAX_NODES = 12
# Load, N, that stands for none.
TINY = 1e-300
# A state this many times the model's size, or 1 m/s, has diverged.
DIVERGED = 1e9


def explain(
    system: System, options: Options, driver: Driver, status: int
) -> tuple[str, bool]:
    """Return the sentence for a failed run, and whether a switch is to blame.

    Nothing that goes wrong here may hide the failure itself.
    """
    step = driver.step
    if status == codes.END:
        step.t_fail, status = step.t, codes.NOT_FINITE
    try:
        text, is_switch = _explain(system, options, driver, status)
        return "; ".join([text, *bent(system, driver.step.y[None])]), is_switch
    except Exception:
        text = FAILURES["unexplained"].format(t=step.t_fail or step.t)
        return text, status == codes.UNDECIDED


def _explain(
    system: System, options: Options, driver: Driver, status: int
) -> tuple[str, bool]:
    step, work = driver.step, driver.work
    if status == codes.UNDECIDED:
        return undecided(system, driver.blocks.rest, work, options.step), True
    if status == codes.NOT_FINITE and options.step and has_diverged(system, step):
        back_to_numbers(driver)
        if has_diverged(system, step):
            return _unstable(options, step), False
    if status == codes.TOO_DEEP:
        return _too_deep(system, step, work), False
    if jam := jams(system, step, work):
        return jam, True
    culprit = _culprit(system, step, work)
    if text := _not_pressed(system, step, work):
        return text, False
    if not culprit and status == codes.NOT_FINITE and options.step:
        return _unstable(options, step), False
    if culprit or status == codes.NOT_FINITE:
        who, at = culprit or ("the motion", "")
        t = max(step.t, step.t_fail)
        return FAILURES["not_finite"].format(t=t, who=who, at=at), False
    if status == codes.CANNOT_ASSEMBLE:
        who = _worst_joint(system, work)
        return FAILURES["cannot_assemble"].format(t=step.t_fail, who=who), False
    if status == codes.NEWTON_FAILED:
        return FAILURES["newton_failed"].format(t=step.t_fail), False
    is_singular = math.isfinite(step.t_singular)
    if is_singular:
        return FAILURES["singular"].format(t=step.t), False
    told = advice(system, options.step)
    return FAILURES["step_too_small"].format(t=step.t, advice=told), False


def back_to_numbers(driver: Driver) -> None:
    """Go back to the begin of the last step if a fixed step has ended in no numbers."""
    step, log = driver.step, driver.log
    if log is not None and log.n and not np.isfinite(step.y).all():
        step.y[:] = log.coef[log.n - 1, 0]
        step.t_fail = max(step.t, step.t_fail)
        step.t = float(log.t[log.n - 1])
        n = driver.system.n_dof
        step.K[0] = 0.0
        step.K[0, :n] = step.y[n : 2 * n]


def _unstable(options: Options, step: Step) -> str:
    """Return the sentence for a fixed step that is too long."""
    alpha = options.baumgarte[0]
    why = f" (or for Baumgarte's alpha = {alpha:g} /s)" if alpha > 0.0 else ""
    return FAILURES["unstable"].format(t=step.t_fail, h=options.step, why=why)


def _too_deep(system: System, step: Step, work: Work) -> str:
    """Return the sentence for shapes that overlap too much."""
    m = system.tables
    y: Any = step.y
    entry.derivative(m, work, min(step.t, step.t_cap), y, 0.0, 0.0, np.empty_like(y))
    contact: Any = np.asarray(work.contact)
    ratio = -contact["gap"][: m.n_touch] / m.contact_deepest[: m.n_touch]
    k = int(np.argmax(ratio))
    facts: dict[str, Any] = {
        "t": step.t,
        "who": system.contacts[k],
        "depth": -float(contact["gap"][k]),
        "most": float(m.contact_deepest[k]),
    }
    if m.contact_flat[k] < 0:
        spot = system.spots[k]
        kind = "into_segment" if isinstance(spot.surface, Segment) else "through_disc"
        return FAILURES[kind].format(**facts, middle=spot.middle)
    mover = _mover(system, work, k)
    if not mover:
        return FAILURES["too_deep"].format(**facts)
    return FAILURES["locked" if _is_locked(system, work, k) else "pushed"].format(
        **facts,
        mover=mover,
        load=_borne(system, work, k) / float(ratio[k]) ** 2,
        needed=abs(float(contact["lam_t"][k])) / max(float(contact["lam_n"][k]), TINY),
    )


def _borne(system: System, work: Work, k: int) -> float:
    """Return the elastic force of a pair of outlines, N.

    Damping is no part of it, which holds nothing for long. The force of a corner falls
    with the square of the depth, that of a face less.
    """
    press: Any = np.asarray(work.press)[system.tables.contact_flat[k]]
    return math.hypot(float(press["F_x"]), float(press["F_y"]))


def _is_locked(system: System, work: Work, k: int) -> bool:
    """Return whether contact k sticks, and joints leave both its bodies no other way.

    Not where one is free: it is its own motion that presses it, and a stiffer law would
    stop it. Nor where one could turn about its hinge, which is beside the cone of
    friction.
    """
    mode: Any = work.mode[k]
    if system.tables.contact_row[k] < 0 or mode["side"] != PRESSING:
        return False
    spot, model = system.spots[k], system.model
    held = {end for j in (*model.joints, *model.drives) for end in _ends(j)}
    is_held = {spot.owner, spot.body} <= held | set(system.supports)
    is_stuck = mode["grip"] == STICK and work.contact[k]["lam_t"] != 0.0
    bodies = (spot.owner, spot.body)
    return is_held and is_stuck and not any(_turns(system, work, k, b) for b in bodies)


def _turns(system: System, work: Work, k: int, body: str) -> bool:
    """Return whether a body has one hinge alone, beside contact k's cone of friction.

    It bears a force that grows without bound if that passes through the hinge.
    """
    m, model = system.tables, system.model
    if any(body in _ends(drive) for drive in model.drives):
        return False
    joints = [j for j, joint in enumerate(model.joints) if body in _ends(joint)]
    if len(joints) != 1 or not isinstance(model.joints[joints[0]], Revolute):
        return False
    contact: Any = work.contact[k]
    hinge, a = work.motion[m.joint_a[joints[0]]], work.motion[m.contact_a[k]]
    x, y = (hinge[i] - a[i] - contact[f"arm_{'xy'[i]}"] for i in range(2))
    along = contact["n_x"] * x + contact["n_y"] * y
    across = contact["n_x"] * y - contact["n_y"] * x
    return bool(abs(across) > m.contact_mu0[k] * abs(along))


def _mover(system: System, work: Work, k: int) -> str:
    """Return the drive or support whose motion leads to contact k, or "".

    Joints lead, drives, and other contacts that press.
    """
    model, spot = system.model, system.spots[k]
    pairs = [_ends(joint) for joint in (*model.joints, *model.drives)]
    for other, one in enumerate(system.spots):
        if other != k and work.mode[other]["side"] == PRESSING:
            pairs.append({one.owner, one.body})
    led = {spot.owner, spot.body}
    for _ in model.bodies:
        led |= _led(pairs, led)
    for drive in model.drives:
        if _ends(drive) & led - {"ground"}:
            return f"drive '{drive.name}'"
    for body in model.bodies:
        if body.name in led and isinstance(body, MovingSupport) and _moves(body):
            return f"support '{body.name}'"
    return ""


def _ends(joint: Joint) -> set[str]:
    """Return the bodies that a joint or drive ties."""
    return {end.partition(".")[0] for end in (joint.a, joint.b)}


def _led(pairs: list[set[str]], led: set[str]) -> set[str]:
    """Return the bodies tied to some others; the ground leads to nothing."""
    moving = led - {"ground"}
    return {body for pair in pairs if pair & moving for body in pair}


def _moves(support: MovingSupport) -> bool:
    """Return whether a support is moved by a law."""
    laws = (support.x, support.y, support.theta)
    return any(isinstance(law, TimeLaw) for law in laws)


def _not_pressed(system: System, step: Step, work: Work) -> str:
    """Return the sentence for a patch whose last forces were not found, or ""."""
    m = system.tables
    for k in np.flatnonzero(m.contact_patch[:, 0] >= 0):
        at_b, _, _, first, _ = m.contact_patch[k].tolist()
        n = int(m.par[at_b])
        marks = work.node_mark[first : first + nodes.N_MARK * n + 2]
        if failed := int(marks[nodes.N_MARK * n + nodes.FAILED]):
            closed = np.flatnonzero(marks[:n])
            kind = "too_rough" if failed == -rough.NO_PIVOT else "not_pressed"
            return FAILURES[kind].format(
                t=step.t_fail,
                who=system.contacts[k],
                n=len(closed),
                of=n,
                which=_listed(closed),
            )
    return _not_borne(system, step, work)


def _not_borne(system: System, step: Step, work: Work) -> str:
    """Return the sentence for an elastic block whose forces were not found, or ""."""
    m = system.tables
    for name, k in elastic_blocks(system).items():
        par, _, first = m.contact_faces[k].tolist()
        n = int(m.par[par])
        for kept in range(faces.N_KEPT):
            begin = first + kept * (faces.CLOSED + n)
            marks = work.node_mark[begin : begin + faces.CLOSED + n]
            if marks[faces.FAILED]:
                closed = np.flatnonzero(marks[faces.CLOSED :])
                return FAILURES["not_borne"].format(
                    t=step.t_fail, who=name, n=len(closed), of=n, which=_listed(closed)
                )
    return ""


def _listed(nodes: NDArray[np.int64]) -> str:
    """Return the first of some nodes, as a text."""
    first = ", ".join(map(str, nodes[:MAX_NODES].tolist()))
    return (first or "none") + (", ..." if len(nodes) > MAX_NODES else "")


def has_diverged(system: System, step: Step) -> bool:
    """Return whether the last state is far beyond the model's size and speeds."""
    motion = np.abs(step.y[: 2 * system.n_dof])
    return not np.max(motion, initial=0.0) < DIVERGED * max(1.0, system.size)


def _culprit(system: System, step: Step, work: Work) -> tuple[str, str] | None:
    """Return the element that is not finite where the run failed, and at what."""
    # Along the way from the last good state to where the step failed.
    n_flow = 2 * system.n_dof + system.n_state
    begin, rate = step.y[:n_flow], step.K[0, :n_flow]
    span = max(float(step.t_fail - step.t), 0.0)
    ahead = span * 2.0 ** np.arange(1, N_AHEAD)
    for dt in (*np.linspace(0.0, span, N_SEARCH).tolist(), *ahead.tolist()):
        y: Any = begin + dt * np.where(np.isfinite(rate), rate, 0.0)
        entry.laws_and_rows(system.tables, work, min(step.t + dt, step.t_cap), y)
        if (i := _first_bad(work.law)) >= 0:
            return system.law_owners[i], ""
        if (i := _first_bad(work.wrench[:, :6])) >= 0:
            return f"force '{system.forces[i]}'", _law_of(system.model.forces[i])
        contact: Any = np.asarray(work.contact)
        numbers = np.stack([contact[name] for name in contact.dtype.names], axis=1)
        if (i := _first_bad(numbers)) >= 0:
            family = "contact" if i < len(system.contacts) else "joint"
            return f"{family} '{system.with_mode[i]}'", _arguments(system, work, i)
        if (i := _first_bad(work.block)) >= 0:
            return system.row_label(i), ""
        if (i := _first_bad(_watched(system, step, work, y, dt))) >= 0:
            return f"event '{system.events[i]}'", ", its guard"
    return None


def _watched(system: System, step: Step, work: Work, y: Any, dt: float) -> Any:
    """Return the guards of events at a state, (n, 1)."""
    m, watch = system.tables, Guards(system.tables.sizes())
    whole, t = np.array(step.y), min(step.t + dt, step.t_cap)
    whole[: len(y)] = y
    a = step.K[0, system.n_dof : 2 * system.n_dof].copy()
    entry.guard_values(m, work, t, whole, a, np.zeros(m.n_y), system.size, watch)
    return watch.guard[: m.n_user, :1]


def _law_of(element: Any) -> str:
    return f", {type(element).__name__}"


def _arguments(system: System, work: Work, k: int) -> str:
    """Return the law of a contact or joint that gave no number, and what it was given.

    Of outlines the overlap is that of the deepest point; others are asked for, too.
    """
    contact: Any = work.contact[k]
    name = system.with_mode[k].partition(".")[0]
    element: Any = system.model.element(name, "a")
    of = {name: float(contact[name]) for name in contact.dtype.names}
    bad = {name for name, value in of.items() if not math.isfinite(value)}
    is_normal = k < len(system.contacts) and bad != {"lam_t"}
    law = getattr(element, "normal" if is_normal else "friction", None)
    if law is None:
        return ""
    if not is_normal:
        load = f" under lam_n = {of['lam_n']:.6g} N" if k < len(system.contacts) else ""
        return f"{_law_of(law)}{load} at v_t = {of['v_t']:.6g} m/s"
    approach = max(float(work.mode[k]["approach"]), 0.0)
    return (
        f"{_law_of(law)} at overlap = {-of['gap']:.6g} m, overlap_rate = "
        f"{-of['gap_rate']:.6g} m/s, approach_rate = {approach:.6g} m/s"
    )


def _first_bad(rows: Any) -> int:
    """Return the first row with an entry that is not finite, -1 for none."""
    bad = ~np.isfinite(rows).all(axis=1)
    return int(np.argmax(bad)) if bad.any() else -1


def _worst_joint(system: System, work: Work) -> str:
    row = int(np.argmax(np.abs(work.g)))
    return f"{system.row_label(row)} stays violated by {abs(work.g[row]):.3g}"
