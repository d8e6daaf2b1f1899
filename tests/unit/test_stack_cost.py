"""What stacks of boxes cost: no searches in vain, few Jacobians; and what they do."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz.families import make
from nonsmooth import (
    DampedHertz,
    Flores,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.kernels.march import locate
from nonsmooth.kernels.run import N_NODE


def stays_above(value, rate, h):
    """Ask about a guard between the first two nodes of a step of size h."""
    function = getattr(locate.stays_above, "py_func", locate.stays_above)
    node = np.array([[[value(t), rate(t)]] for t in (0.0, h / N_NODE)])
    return function(SimpleNamespace(node=node), h, 0, 1, 1.0)


@pytest.mark.parametrize("lowest", [0.9, 0.6, 0.45, 1e-3, 0.0, -1e-9, -0.2, -3.0])
@pytest.mark.parametrize("middle", [0.2, 0.5, 0.7])
def test_a_guard_that_comes_near_zero_is_searched(lowest, middle):
    h = 8e-3
    end = h / N_NODE
    for power in (2, 4):

        def value(t, power=power):
            return lowest + (1.0 - lowest) * abs((t / end - middle) / middle) ** power

        def rate(t, power=power):
            x = (t / end - middle) / middle
            slope = power * abs(x) ** (power - 1) * np.sign(x)
            return (1.0 - lowest) * slope / (middle * end)

        if stays_above(value, rate, h):
            # The nearer end is one, or less where the far one is nearer to the middle.
            assert lowest > 0.5 * min(1.0, value(end))


def test_a_vibration_far_from_zero_is_not_searched():
    h = 1e-3
    pace = 2.0 * np.pi / (2.0 * h)  # two steps a period
    for phase in np.linspace(0.0, 2.0 * np.pi, 50):

        def value(t, phase=phase):
            return 1.0 + 0.3 * np.sin(pace * t + phase)

        def rate(t, phase=phase):
            return 0.3 * pace * np.cos(pace * t + phase)

        if rate(0.0) < 0.0 < rate(h / N_NODE):
            assert stays_above(value, rate, h)


def test_jacobians_of_many_coordinates_are_kept():
    """One of 57 coordinates costs as much as 38 iterations of Newton.

    Renewed whenever Newton is slower than 1e-3 there are three times as many.
    """
    case = make("stacks", 5023)
    result = simulate(case.model, 0.03 * case.until)
    assert result.cost["implicit_steps"] >= 200
    assert result.cost["jacobians"] <= 0.2 * result.cost["implicit_steps"]


K = 4 * 9.81 / 1e-4
LAWS = [
    KelvinVoigt(stiffness=K, damping=100.0),
    Hertz(stiffness=K / 1e-2),
    Hertz(stiffness=K / 1e-4**0.2, exponent=1.2),
    DampedHertz(stiffness=K / 1e-2, damping=1e6),
    HuntCrossley(stiffness=K / 1e-2, damping=10.0),
    LankaraniNikravesh(stiffness=K / 1e-2, restitution=0.8),
    Flores(stiffness=K / 1e-2, restitution=0.8),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_shaken_stack_of_every_law(law):
    """The weight is borne on average, energy is kept account of, boxes stay."""
    model = gallery.build("box_stack", n=4)
    contacts = [replace(c, normal=law) for c in model.contacts]
    exponent = getattr(law, "exponent", 1.0)
    boxes, sink = [], 0.0
    for k, box in enumerate(b for b in model.bodies if isinstance(b, RigidBody)):
        sink += ((4 - k) * 9.81 / law.stiffness) ** (1.0 / exponent)
        x = box.position[0]
        boxes.append(replace(box, position=(x, 0.05 + 0.1 * k - sink)))
    bodies = [b for b in model.bodies if b.name == "table"] + boxes
    result = simulate(replace(model, bodies=bodies, contacts=contacts), 0.2)
    assert result.status == "finished"
    # Of the energies exchanged; rtol is 1e-8, a few hundred steps.
    assert result.energy_balance.residual <= 1e-5
    assert not np.any(result["c1.mode"])  # it sticks throughout
    for k in range(4):
        load = result[f"c{k + 1}.normal_force"]
        assert np.mean(load) == pytest.approx((4 - k) * 9.81, rel=0.05)
