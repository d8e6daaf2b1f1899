"""Contact outside the named patches is said, with time and place."""

import math
from dataclasses import replace

from nonsmooth import (
    Contact,
    FlexibleBody,
    Material,
    Model,
    Patch,
    Unilateral,
    simulate,
)
from nonsmooth.elements.meshes import Rectangle


def tumbling(spin, **patches):
    """Return a bar that strikes the ground with its left end, and turns."""
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.1, height=0.01, size=5e-3),
        material=Material(youngs_modulus=1e7, poissons_ratio=0.3, density=1000.0),
        thickness=0.01,
        modes=6,
        position=(0.0, 0.045),
        angle=0.7,
        velocity=(0.0, -1.0),
        angular_velocity=spin,
        patches=patches or {"end": Patch(boundary="left")},
    )
    return Model(
        bodies=(bar,),
        contacts=(Contact(name="c", b="bar.end", normal=Unilateral()),),
    )


def said(result):
    return [doubt for doubt in result.doubts if "outside its patch" in doubt]


def test_the_other_end_goes_through_the_ground():
    result = simulate(tumbling(-30.0), until=0.1)
    (doubt,) = said(result)
    assert doubt.startswith("contact 'c': from t = 0.")
    assert "body 'bar' is inside 'ground' at (" in doubt


def test_nothing_is_said_of_what_presses():
    assert not said(simulate(tumbling(0.0), until=0.01))
    whole = tumbling(-30.0, end=Patch(boundary="outline"))
    assert not said(simulate(replace(whole, gravity=(0.0, -9.81)), until=0.03))


def test_the_first_instant_is_told_between_long_steps():
    """In flight there are few steps: the far end of a falling bar is seen in time.

    It falls from y = 0.03 - 0.1 sin 0.2 - 0.005 cos 0.2 by 1 m/s: 5.1 ms.
    """
    plastic = Material(youngs_modulus=2e9, poissons_ratio=0.3, density=1200.0)
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.2, height=0.01, center=(0.0, 0.0), size=5e-3),
        material=plastic,
        thickness=0.01,
        modes=4,
        position=(0.0, 0.03),
        angle=-0.2,
        velocity=(0.0, -1.0),
        patches={"foot": Patch(boundary="bottom", center=(-0.1, -0.005), radius=0.03)},
    )
    foot = Contact(name="c", b="bar.foot", normal=Unilateral())
    result = simulate(Model(bodies=[bar], contacts=[foot]), until=0.02)
    (told,) = result.doubts
    found = float(told.split("t = ")[1].split(" s")[0])
    expected = 0.03 - 0.1 * math.sin(0.2) - 0.005 * math.cos(0.2)
    # One of the 300 instants after it.
    assert expected < found < expected + 0.02 / 299.0 + 1e-6
    assert "(0.097" in told
