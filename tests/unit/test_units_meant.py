"""Numbers in units that were not meant: degrees, millimetres."""

import math
import re
from dataclasses import replace

import pytest

from nonsmooth import (
    Ground,
    Line,
    Model,
    ModelError,
    PinInSlot,
    Revolute,
    RigidBody,
    save,
    simulate,
)
from nonsmooth.app.cli import main
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.solve.preview import preview

# ---- angles in degrees -----------------------------------------------------------


BLOCK = (RigidBody(name="block", mass=1.0, inertia=1.0),)


def sliding(axis: float) -> Model:
    return Model(bodies=BLOCK, joints=[PinInSlot(name="slot", b="block", axis=axis)])


def test_an_angle_meant_in_degrees_is_noted_where_it_is_seen(capsys, tmp_path):
    told = (
        "joint 'slot': axis = 90; angles are in radians, and 90 rad is 14.3 turns; for "
        "degrees math.radians(90), 1.5708"
    )
    assert told in simulate(sliding(90.0), 0.1).notes
    assert preview(sliding(90.0)).warnings.count(told) == 1
    path = tmp_path / "model.yaml"
    save(sliding(90.0), path)
    assert main(["check", str(path)]) == 0
    assert told in capsys.readouterr().out
    assert simulate(sliding(2.0 * math.pi), 0.1).notes == ()


def test_an_angle_meant_in_degrees_is_named_where_the_start_is_refused():
    far = PinInSlot(name="other", b="block.p", axis=90.0)
    body = RigidBody(name="block", mass=1.0, inertia=1.0, points={"p": (1.0, 0.0)})
    model = replace(sliding(0.0), bodies=[body])
    model = replace(model, joints=[*model.joints, far])
    with pytest.raises(ModelError, match=r"violated.*joint 'other': axis = 90; angles"):
        simulate(model, 0.1)
    assert any("axis = 90;" in text for text in preview(model).warnings)


def test_angles_inside_elements_are_noted_by_their_path():
    ground = Ground(shapes={"floor": Line(angle=45.0)})
    (note,) = notes_on_angles(replace(sliding(0.0), bodies=[ground, *BLOCK]))
    assert note.startswith("body 'ground': shapes['floor'].angle = 45; ")


# ---- millimetres -----------------------------------------------------------------


def pendulum(x: float) -> Model:
    rod = RigidBody(
        name="rod",
        mass=1.0,
        inertia=0.01,
        position=(x, 0.0),
        points={"pin": (-0.15, 0.0), "tip": (0.15, 0.0)},
    )
    bob = RigidBody(name="bob", mass=1.0, inertia=0.01, position=(0.3, 0.0))
    joints = [
        Revolute(name="hinge", b="rod.pin"),
        Revolute(name="eye", a="rod.tip", b="bob"),
    ]
    return Model(bodies=[rod, bob], joints=joints, assemble=True)


def test_a_start_assembled_from_very_far_is_doubted():
    result = simulate(pendulum(150.0), 0.01)
    (doubt,) = [one for one in result.doubts if "to be assembled" in one]
    found = re.match(r"body '(rod|bob)' was moved by (\S+) m to be assembled", doubt)
    assert found is not None
    positions = result.state(0.0).positions
    given = {"rod": (150.0, 0.0), "bob": (0.3, 0.0)}
    ways = {name: math.dist(positions[name][:2], at) for name, at in given.items()}
    assert found[1] == max(ways, key=ways.__getitem__)
    assert float(found[2]) == pytest.approx(ways[found[1]], rel=5e-3)  # three digits
    assert "the mechanism is 0.3 m large; lengths are in m" in doubt


@pytest.mark.parametrize("x", [0.15, 0.2, 1.0])
def test_a_start_that_is_only_rough_is_not(x):
    result = simulate(pendulum(x), 0.01)
    assert result.doubts == ()
    noted = [note for note in result.notes if "the start was moved" in note]
    assert len(noted) == (x != 0.15)
    for note in noted:
        assert "m (body '" in note
        assert "m or rad" not in note
