"""The gripper with elastic fingers: its force by beam theory, and when it holds."""

import numpy as np
import pytest

from nonsmooth import gallery, simulate

FALL, LIFT, MASS = 9.81, 0.05, 0.15
# Largest acceleration of the jaws.
UP = 5.774 * LIFT / 0.25**2


def forces(squeeze, youngs_modulus):
    """Return the force of each pad once the fingers are closed and still."""
    model = gallery.build(
        "elastic_gripper", squeeze=squeeze, youngs_modulus=youngs_modulus, gravity=0.0
    )
    result = simulate(model, until=0.14)
    names = ["left.normal_force", "right.normal_force"]
    found = result.sample(0.14, names)
    return [found[name][0] for name in names]


def test_pads_press_as_cantilevers_do():
    """P L^3/(3 E I) with shear, in the limit of small bending.

    Beside it the pad, which makes the finger's end deeper by a tenth.
    """
    left = []
    for squeeze in (2.0, 0.5):
        both = forces(squeeze, 1e8)
        assert both[0] == pytest.approx(both[1], rel=1e-6)
        left.append(both[0] / squeeze - 1.0)
    # What bending adds is of first order in the force: 0.5 and 2 N give that of none.
    assert abs(left[1] - (left[0] - left[1]) / 3.0) < 0.01
    assert abs(left[1]) < 0.5 * abs(left[0])


@pytest.mark.parametrize(
    "changes",
    [{"squeeze": 3.0}, {"squeeze": 1.3}, {"m": 0.05, "squeeze": 1.0, "density": 600.0}],
)
def test_the_box_is_held_or_not(changes):
    """Above 2 mu N it goes up with the jaws, below 2 mu0 N it stays behind."""
    result = simulate(gallery.build("elastic_gripper", **changes), until=0.45)
    found = result.sample([0.14, 0.45], ["left.normal_force", "box.y"])
    weight = changes.get("m", MASS) * (FALL + UP)
    press = found["left.normal_force"].min()
    rise = np.diff(found["box.y"])[0]
    if 2.0 * 0.4 * press > weight:
        assert rise == pytest.approx(LIFT, rel=2e-3)
    else:
        assert 2.0 * 0.6 * press < weight  # else neither is sure
        assert rise < 0.5 * LIFT
    balance = result.energy_balance
    assert balance.residual < 1e-5 * balance.exchanged
