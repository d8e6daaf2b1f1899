"""The gallery's systems of shapes: gripper, stack, latch and ratchet, by statics."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import gallery, simulate

G = 9.81


def run(system, until=None, **parameters):
    model = gallery.build(system, **parameters)
    result = simulate(model, until=until or gallery.duration(system))
    assert result.status == "finished"
    assert len(result.crossed) == 0
    return result


# ---- gripper -------------------------------------------------------------------

PEAK = 10.0 / math.sqrt(3.0) / 0.6**2  # 1/s^2, acceleration for each metre of lift


def hand(t, lift):
    """Acceleration of a smooth step from 0.3 s to 0.9 s."""
    u = (t - 0.3) / 0.6
    return lift * (60.0 * u - 180.0 * u**2 + 120.0 * u**3) / 0.6**2


def slipped(result):
    """How far the box is below where the hand took it."""
    return result["hand.y"][-1] - result["box.y"][-1]


@pytest.mark.parametrize("pads", ["flat", "round"])
@pytest.mark.parametrize(("mu0", "lift"), [(0.5, 0.2), (0.9, 0.4)])
def test_a_gripper_holds_what_friction_can_carry(pads, mu0, lift):
    limit = (G + PEAK * lift) / (2.0 * mu0)
    held = run("gripper", pads=pads, mu0=mu0, lift=lift, squeeze=1.001 * limit)
    assert not any(e.kind == "break_away" for e in held.events)
    assert slipped(held) == pytest.approx(0.0, abs=1e-12)
    for name in ("left", "right"):
        # The pads start where they carry the squeeze, but for their ends' part.
        assert held[f"{name}.normal_force"] == pytest.approx(1.001 * limit, rel=1e-3)
    lost = run("gripper", pads=pads, mu0=mu0, lift=lift, squeeze=0.98 * limit)
    first = next(e for e in lost.events if e.kind == "break_away")
    reached = 0.98 * 2.0 * mu0 * limit - G
    begin = brentq(lambda t: hand(t, lift) - reached, 0.3, 0.3 + 0.2113 * 0.6)
    assert first.t == pytest.approx(begin, rel=1e-4)
    assert slipped(lost) > 1e-3


def test_a_gripper_without_the_force_drops_the_box_at_once():
    result = run("gripper", squeeze=5.0, until=0.1)
    fall = 0.5 * (G - 2.0 * 0.3 * 5.0) * 0.1**2
    assert slipped(result) == pytest.approx(fall, rel=1e-3)


# ---- stack ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 4, 8])
def test_a_stack_at_rest_carries_its_weight(n):
    result = run("box_stack", n=n, amplitude=0.0, m=2.0, until=1.0)
    assert not result.events
    for k in range(n):
        load = result[f"c{k + 1}.normal_force"][-1]
        # The ends of faces carry less: a swing of 1e-4 that dies away within 1 s.
        assert load == pytest.approx((n - k) * 2.0 * G, rel=1e-6)
        assert result[f"c{k + 1}.friction_force"][-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("part", [0.9, 1.1])
def test_a_box_slides_where_the_table_is_too_fast(part):
    frequency = math.sqrt(part * 0.3 * G / 0.01)
    result = run("box_stack", n=1, frequency=frequency, until=0.5)
    away = [e for e in result.events if e.kind == "break_away"]
    if part < 1.0:
        assert not away
        return
    # On its springs it sways a little more than the table.
    assert away[0].t == pytest.approx(math.asin(1.0 / part) / frequency, rel=5e-3)


def test_a_stack_below_the_limit_does_not_slide():
    result = run("box_stack", n=5)
    assert not result.events
    for k in range(5):
        force = result[f"c{k + 1}.friction_force"]
        load = result[f"c{k + 1}.normal_force"]
        assert np.all(np.abs(force) < 0.3 * load)
        # Contact k takes the boxes above it along, which rock a little.
        expected = -(5 - k) * 1.0 * np.sin(10.0 * result.t)
        assert force == pytest.approx(expected, abs=0.2 * (5 - k))


# ---- latch ---------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.0, 0.15, 0.3])
def test_a_latch_opens_at_the_pull_of_its_flank(mu):
    result = run("latch", mu=mu)
    # The hook's tip leaves the bar: its flank carries all.
    (opens, *_) = (
        e
        for e in result.events
        if e.t > 1.0 and e.element == "catch.bar.tooth" and e.kind == "separate"
    )
    pull = 10.0 * math.tan(math.radians(60.0) + math.atan(mu))
    found = result.sample([opens.t])["push.force_x"]
    assert found[0] == pytest.approx(pull, rel=5e-3)
    assert result["bolt.x"][-1] > 0.02


@pytest.mark.parametrize("mu", [0.6, 1.0])
def test_a_latch_locks_itself(mu):
    assert mu > 1.0 / math.tan(math.radians(60.0))
    result = run("latch", mu=mu, pull=300.0)
    assert result["bolt.x"][-1] < -0.01
    assert result["push.force_x"][-1] == pytest.approx(300.0, rel=0.1)


def test_what_it_takes_to_close_a_latch():
    """The lead's flank carries all, once the tip has left the bar."""
    result = run("latch", mu=0.3, until=0.4)
    (leaves, *_) = (e for e in result.events if e.kind == "separate")
    force = -result["push.force_x"][(result.t > leaves.t) & (result.t < 0.3)]
    push = math.tan(math.radians(30.0) + math.atan(0.3))
    # From the preload to 3.2 N more, and a little to set it in motion.
    assert 10.0 * push < np.max(force) < 1.1 * 13.2 * push


# ---- ratchet -------------------------------------------------------------------


def largest(mu, spring):
    """Torque at which the heel carries nothing and the toe's friction is used up."""
    x, y = 0.005 * math.sin(math.pi / 6.0), 0.09 + 0.005 * math.cos(math.pi / 6.0)
    return spring / 0.08 * (x + y / math.tan(math.pi / 6.0 - math.atan(mu)))


@pytest.mark.parametrize(("mu", "spring"), [(0.3, 0.3), (0.1, 0.2)])
def test_a_ratchet_holds_up_to_a_torque(mu, spring):
    limit = largest(mu, spring)
    holds = run("ratchet", torque=0.985 * limit, mu=mu, spring=spring, until=1.0)
    assert holds["wheel.theta"][-1] == pytest.approx(0.0, abs=2e-3)
    slips = run("ratchet", torque=1.03 * limit, mu=mu, spring=spring, until=1.5)
    assert slips["wheel.theta"][-1] > 0.02
    lifts = next(
        e for e in slips.events if e.kind == "separate" and e.element == "tooth.t2.nose"
    )
    load = slips.sample([lifts.t])["load.torque"]
    assert load[0] == pytest.approx(limit, rel=1e-2)


def test_a_contact_of_many_parts_has_columns_of_the_whole():
    result = simulate(gallery.ratchet(torque=0.5), 0.4)
    at = result.sample(np.linspace(0.0, 0.4, 20))
    parts = [name for name in result.system.contacts if name.startswith("tooth.")]
    assert len(parts) > 10
    loads = np.array([at[f"{name}.normal_force"] for name in parts])
    gaps = np.array([at[f"{name}.gap"] for name in parts])
    # Toe and heel both bear.
    assert np.all(np.count_nonzero(loads[:, 1:] > 0.0, axis=0) == 2)
    assert at["tooth.normal_force"] == pytest.approx(loads.sum(axis=0), rel=1e-14)
    assert np.array_equal(at["tooth.gap"], gaps.min(axis=0))


def test_a_ratchet_with_much_friction_holds_any_torque():
    result = run("ratchet", torque=10.0, mu=0.7, until=1.0)
    assert abs(result["wheel.theta"][-1]) < 5e-3


def test_a_ratchet_turns_the_other_way_tooth_by_tooth():
    result = run("ratchet", torque=-0.8)
    pitch = 2.0 * math.pi / 12.0
    passed = -result["wheel.theta"][-1] / pitch
    assert passed > 5.0
    # The pawl falls onto one tooth after the other.
    teeth = [
        e.element.split(".")[1]
        for e in result.events
        if e.kind == "touch_down" and e.element.endswith(".nose")
    ]
    backs = list(dict.fromkeys(teeth))
    assert [int(name[1:]) for name in backs if name != "t1"] == sorted(
        int(name[1:]) for name in backs if name != "t1"
    )
    assert abs(len(backs) - passed) <= 2.0
    # It falls between two teeth each time, and holds there.
    assert np.min(result["pawl.theta"]) < 1e-3
