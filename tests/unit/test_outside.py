"""Contact outside the named patches is said, with time and place."""

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
    assert doubt.startswith("contact 'c': at t = 0.")
    assert "body 'bar' is 0." in doubt
    assert "inside 'ground' at (" in doubt


def test_nothing_is_said_of_what_presses():
    assert not said(simulate(tumbling(0.0), until=0.01))
    whole = tumbling(-30.0, end=Patch(boundary="outline"))
    assert not said(simulate(replace(whole, gravity=(0.0, -9.81)), until=0.03))
