"""Contacts: geometry, normal laws, unilateral conditions; wrenches on bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzz.audit import laws, tolerances
from fuzz.audit.flats import pressure
from fuzz.audit.friction import Rub, check_friction, check_rest, shift_of
from fuzz.audit.geometry import Flat, Part, nearest, outline_gap
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene, Vector
from nonsmooth import Flores, LankaraniNikravesh

OPEN, RELEASED = 2.0, 3.0
# Instants at which the pressure between outlines is integrated.
MOST_FLATS = 300
# Times the round-off of places, as a part of the depth, that forces may be off by.
ROUND_OFF = 10.0
# Times the round-off of places that one may overlap by and be open, or the reverse.
GRAZES = 3.0
# Normals that are one; and how far that of a piece leans to those it will join.
SAME, LEANS = 1e-9, 0.15


class Pressed:
    """One contact at all instants: where it is, and what it does to bodies."""

    def __init__(self, scene: Scene, pair: Part | Flat) -> None:
        self.scene, self.pair, self.name = scene, pair, pair.name
        self.lam_n = scene[f"{pair.name}.normal_force"]
        self.lam_t = scene[f"{pair.name}.friction_force"]
        self.mode = scene[f"{pair.name}.mode"]
        self.slip = scene[f"{pair.name}.slip_velocity"]
        if isinstance(pair, Part):
            self.gap, nx, ny = nearest(scene, pair)
            centre = scene.place(pair.centre)
            self.normal: Vector = (nx, ny)
            self.place: Vector = (
                centre[0] - pair.radius * nx,
                centre[1] - pair.radius * ny,
            )
        else:
            self.gap, self.height = outline_gap(scene, pair)
            self.normal = (
                scene[f"{pair.name}.normal_x"],
                scene[f"{pair.name}.normal_y"],
            )
            self.place = (scene[f"{pair.name}.point_x"], scene[f"{pair.name}.point_y"])

    @property
    def presses(self) -> Any:
        """Where it is neither open nor released."""
        return (self.mode != OPEN) & (self.mode != RELEASED)

    @property
    def tangent(self) -> Vector:
        """The normal turned by -90 degrees."""
        return self.normal[1], -self.normal[0]

    def force(self) -> Vector:
        """Return the force on b at its place."""
        (nx, ny), (tx, ty) = self.normal, self.tangent
        return self.lam_n * nx + self.lam_t * tx, self.lam_n * ny + self.lam_t * ty

    def relative(self, along: Vector) -> Array:
        """Return the velocity of b past a along a direction."""
        (bx, by), (ax, ay) = (
            self.scene.velocity(body, self.place) for body in (self.pair.b, self.pair.a)
        )
        return along[0] * (bx - ax) + along[1] * (by - ay)

    def speed(self) -> Array:
        """Return the sum of the speeds that slip is the difference of."""
        return sum(
            (self.scene.speed(body, self.place) for body in (self.pair.b, self.pair.a)),
            self.scene.zero,
        )


def check_contact(
    notes: Notes,
    contact: Pressed,
    approach: Array,
    force: Array,
    shifts: dict[str, Array],
    even: Any,
    deflection: Array | None,
    rtol: float,
    mates: Sequence[Pressed] = (),
) -> None:
    """Check all that is said of one contact; mates are other pieces of both bodies."""
    scene, pair, t = contact.scene, contact.pair, contact.scene.t
    name, presses = contact.name, contact.presses
    length = tolerances.PLACE * scene.extent()
    speed = contact.speed() + scene.quiet()
    is_open = contact.mode == OPEN

    column = scene[f"{name}.gap"]
    notes.compare("gap", name, t, np.abs(column - contact.gap), length)
    # Events are located to round-off of time, in which a gap goes its rate's way.
    # Where one grazes the other, the round-off of a run tells if they still touch.
    slack = GRAZES * length + 1e-12 * speed * np.maximum(1.0, t)
    notes.compare(
        "overlap open", name, t[is_open], -contact.gap[is_open], slack[is_open]
    )
    closed = ~is_open
    notes.compare("gap closed", name, t[closed], contact.gap[closed], slack[closed])

    notes.compare("pulls", name, t, -contact.lam_n, tolerances.NEWTON * force)
    off = ~presses
    idle = np.abs(contact.lam_n) + np.abs(contact.lam_t)
    notes.compare("force while off", name, t[off], idle[off], 1e-12 * force[off])

    rate = contact.relative(contact.normal)
    if scene.has(f"{name}.gap_rate") and isinstance(pair, Part):
        miss = np.abs(scene[f"{name}.gap_rate"] - rate)
        notes.compare("gap rate", name, t, miss, 1e-9 * speed)
    slip = contact.relative(contact.tangent)
    shown = closed if isinstance(pair, Flat) else np.ones_like(closed)
    miss = np.abs(contact.slip - slip)
    notes.compare("slip", name, t[shown], miss[shown], 1e-9 * speed[shown])

    if isinstance(pair, Part):
        _check_law(notes, contact, rate, approach, length, speed)
    else:
        _check_flat(notes, contact, approach, mates)
    if pair.friction is None:
        none = np.abs(contact.lam_t)
        notes.compare("friction law", name, t, none, 1e-12 * force)
        return
    rub = Rub(
        name=name,
        law=pair.friction,
        load=contact.lam_n,
        friction=contact.lam_t,
        slip=contact.slip,
        mode=contact.mode,
        presses=presses,
        speed=contact.speed(),
        shift=shift_of(shifts, name),
        force=tolerances.LIMIT * 1e-3 * force,
        deflection=deflection,
        is_touch=True,
    )
    check_friction(notes, scene, rub, rtol)
    check_rest(notes, scene, even, rub)


def _check_law(
    notes: Notes,
    contact: Pressed,
    rate: Array,
    approach: Array,
    length: Array,
    speed: Array,
) -> None:
    """Compare the normal force of a disc with its law at this overlap."""
    law, t, presses = contact.pair.normal, contact.scene.t, contact.presses
    depth = np.maximum(-contact.gap, 0.0)
    expected = laws.normal_force(law, depth, -rate, approach)
    # What round-off of the overlap and of its rate makes of the force.
    nudged = laws.normal_force(law, depth + length, -rate, approach)
    hurried = laws.normal_force(law, depth, 1e-12 * speed - rate, approach)
    slack = np.abs(nudged - expected) + np.abs(hurried - expected)
    slack = slack + _unsure(law, depth, -rate, approach, 1e-12 * speed)
    bound = tolerances.NEWTON * np.abs(expected) + slack
    miss = np.abs(contact.lam_n - np.maximum(expected, 0.0))
    notes.compare("normal law", contact.name, t[presses], miss[presses], bound[presses])
    released = contact.mode == RELEASED
    # Released means that the law would pull; at the event it is zero.
    lost = expected[released]
    bound = 1e-6 * laws.normal_force(law, depth, np.abs(rate), approach) + slack
    notes.compare("released", contact.name, t[released], lost, bound[released])


def _unsure(
    law: Any, depth: Array, rate: Array, approach: Array, error: Array
) -> Array:
    """Return what an error of the approach, which some laws divide by, may do."""
    if not isinstance(law, LankaraniNikravesh | Flores):
        return np.zeros_like(depth)
    one, two = (
        laws.normal_force(law, depth, rate, x) for x in (approach, approach + error)
    )
    # Zero is no number but says that the contact was closed at the start.
    lost = (approach > 0.0) & (approach < 10.0 * error)
    change = np.where(approach > 0.0, np.abs(two - one), 0.0)
    return np.where(lost, np.inf, change)


def mates_of(contact: Pressed, contacts: Sequence[Pressed]) -> list[Pressed]:
    """Return other outlines of the same bodies whose friction may be one force."""
    if not isinstance(contact.pair, Flat) or contact.pair.friction is None:
        return []
    element = contact.name.partition(".")[0]
    return [
        other
        for other in contacts
        if isinstance(other.pair, Flat)
        and other is not contact
        and other.name.partition(".")[0] == element
    ]


def _turned(contact: Pressed, own: Vector, at: Any, mates: Sequence[Pressed]) -> Vector:
    """Return the elastic force across the normal, and its size.

    With those of pieces that have the same normal. A piece that has it for itself, and
    is about to join or to leave others, may lean from its own force towards theirs.
    """
    nx, ny = contact.normal[0][at], contact.normal[1][at]
    x, y = own
    low = high = nx * y - ny * x
    lean, all_of_them = np.abs(low), np.hypot(x, y)
    is_alone = np.ones(len(at), dtype=bool)
    for mate in mates:
        assert isinstance(mate.pair, Flat)
        zero = np.zeros_like(contact.scene.t)
        its = pressure(contact.scene, mate.pair, zero, at).elastic
        miss = np.hypot(mate.normal[0][at] - nx, mate.normal[1][at] - ny)
        is_same = (miss <= SAME) & (mate.gap[at] < 0.0)
        x, y = x + np.where(is_same, its[0], 0.0), y + np.where(is_same, its[1], 0.0)
        is_alone &= ~is_same
        all_of_them = all_of_them + np.where(mate.gap[at] < 0.0, np.hypot(*its), 0.0)
        across = nx * its[1] - ny * its[0]
        low, high = np.minimum(low, across), np.maximum(high, across)
    leans = lean <= LEANS * all_of_them
    is_between = is_alone & leans & (low <= 0.0) & (high >= 0.0) & bool(mates)
    across = np.abs(nx * y - ny * x)
    return np.where(is_between, 0.0, across), np.hypot(x, y)


def _check_flat(
    notes: Notes, contact: Pressed, approach: Array, mates: Sequence[Pressed]
) -> None:
    """Compare the wrench of outlines with the pressure on their edges."""
    scene, pair, name = contact.scene, contact.pair, contact.name
    assert isinstance(pair, Flat)
    # Less than round-off of the weight is no force that a law could be seen in.
    least = tolerances.EPS * scene.weight()
    # Nor is a depth of round-off one, at the instant of a touch-down.
    shallow = tolerances.PLACE * scene.extent()
    if mates:
        shallow = np.maximum(shallow, tolerances.BARELY * scene.size)
    is_deep = contact.gap < -shallow
    at = np.flatnonzero(contact.presses & (contact.lam_n > least) & is_deep)
    if len(at) > MOST_FLATS:
        at = at[np.linspace(0, len(at) - 1, MOST_FLATS).astype(int)]
    if not len(at):
        return
    t, lam_n = scene.t[at], contact.lam_n[at]
    nx, ny = contact.normal[0][at], contact.normal[1][at]
    notes.compare("normal", name, t, np.abs(np.hypot(nx, ny) - 1.0), 1e-12)
    found = pressure(scene, pair, approach, at)
    depth = np.maximum(-contact.gap[at], 1e-300)
    # Round-off of places is a part of the depth, and of the sideways force.
    part = tolerances.PRESSURE + tolerances.PLACE * scene.extent()[at] / depth
    own = found.elastic[0], found.elastic[1]
    turned, size = _turned(contact, own, at, mates)
    notes.compare("normal", name, t, turned, part * size)
    along = nx * found.total[0] + ny * found.total[1]
    # At a release elastic part and damping cancel, but not their round-off.
    fuzzy = ROUND_OFF * tolerances.EPS * scene.extent()[at] / depth * np.hypot(*own)
    miss = np.abs(lam_n - along)
    # Elastic part and damping are integrated each by itself.
    terms = np.maximum(found.size, np.hypot(*own))
    notes.compare("normal law", name, t, miss, part * terms + fuzzy)
    x, y = (contact.place[i][at] - scene.motion(pair.b, "xy"[i])[at] for i in range(2))
    # What is left of the pressure across the normal acts at the contact, unseen.
    moment = lam_n * (x * ny - y * nx)
    across = np.hypot(found.total[0] - along * nx, found.total[1] - along * ny)
    bound = (part * terms + across + fuzzy) * scene.size
    notes.compare("point", name, t, np.abs(moment - found.moment), bound)


def approach_rates(result: Any, contact: Pressed) -> Array:
    """Return the rate of overlap at the last touch-down before each instant.

    It is zero for a contact that was closed at the start. Instants of touch-downs are
    in the table of events; the rate there is sampled.
    """
    t, scene = contact.scene.t, contact.scene
    found = np.zeros_like(t)
    if not scene.has(f"{contact.name}.gap_rate"):
        return found
    downs = [
        e.t
        for e in result.events
        if e.element == contact.name and e.kind == "touch_down"
    ]
    if not downs:
        return found
    rates = result.sample(downs, f"{contact.name}.gap_rate", limit="before")
    for down, rate in zip(downs, -rates[f"{contact.name}.gap_rate"], strict=True):
        # Samples "before" at the very instant are open, whatever stands there.
        found = np.where(t >= down, rate, found)
    return found
