# pyright: basic
"""Where a step ends that meets an event: on its dense output, or taken again."""

import numpy as np
import pytest

from benchmarks.blocks import row_of_blocks
from nonsmooth import Contact, Coulomb, DampedHertz, Event, Model, PointMass, simulate
from nonsmooth.pack import pack

N_BLOCK, UNTIL = 60, 1.0
# Right-hand sides of a step of order 8, with its end and its dense output; of one that
# is refused.
WHOLE, REFUSED = 15, 12


@pytest.fixture(scope="module")
def blocks():
    return pack(row_of_blocks(N_BLOCK))


def test_a_switch_ends_its_step_without_taking_it_again(blocks):
    result = simulate(blocks, UNTIL)
    cost, n = result.cost, len(result.events)
    assert n > N_BLOCK
    more = cost["evaluations"] - WHOLE * cost["steps"] - REFUSED * cost["rejected"]
    # Beside the landing, with one move along the tangent, an event has a start and may
    # be decided at several states; a step that is taken again has WHOLE more.
    assert more < 0.6 * WHOLE * n


def test_events_so_landed_on_have_the_error_of_the_tolerance(blocks):
    found, exact = (simulate(blocks, UNTIL, rtol=rtol) for rtol in (1e-8, 1e-12))
    assert [e.element for e in found.events] == [e.element for e in exact.events]
    # Velocities of 0.1 m/s err by 1e-9 of themselves a step, in some tens of steps
    # since the start; accelerations that bring a slip to rest are of order one.
    assert np.max(np.abs(found.events.t - exact.events.t)) < 3e-8


def test_steps_held_by_the_longest_allowed_are_taken_again(blocks):
    """Their error is not that of the tolerance: it would not fall with the step."""
    result = simulate(blocks, UNTIL, max_step=2e-3)
    cost, n = result.cost, len(result.events)
    assert cost["evaluations"] > WHOLE * (cost["steps"] + 0.9 * n)


def test_an_event_of_the_user_is_landed_on_by_the_step_itself():
    """Motion of a constant rate is exact; so is then the time, to round-off."""
    event = Event(name="pass", b="mass", guard="x - 0.7")
    mass = PointMass(name="mass", mass=1.0, velocity=(1.0, 0.0))
    result = simulate(Model(bodies=[mass], events=[event]), 2.0)
    assert result.events.t == pytest.approx([0.7], abs=4e-16)


def test_a_release_from_a_force_as_steep_as_a_power_is_where_the_force_ends():
    """Force over overlap is K d^0.2 - D v: a step of another d has another tangent.

    Steps of a coarse tolerance are taken again, and gave up with 0.95 of the spring's
    force left.
    """
    stiffness, exponent, damping = 2e6, 1.2, 4e6
    law = DampedHertz(stiffness=stiffness, exponent=exponent, damping=damping)
    ball = PointMass(
        name="ball", mass=0.15, position=(0.0, 2e-3), velocity=(0.3, -0.01)
    )
    floor = Contact(name="floor", b="ball", normal=law, friction=Coulomb(mu=0.3))
    model = Model(gravity=(0.0, -9.81), bodies=[ball], contacts=[floor])
    result = simulate(model, 0.3, rtol=1e-3, atol=1e-4)
    released = [event.t for event in result.events if event.kind == "release"]
    assert len(released) >= 3
    found = result.sample(released)
    d, rate = -found["floor.gap"], found["floor.gap_rate"]
    spring = stiffness * d**exponent
    # Overlaps of 1e-8 m beside places of 1e-3 m are known to 1e-11 of themselves.
    assert damping * d * rate == pytest.approx(spring, rel=1e-8)
