"""A model before it runs: pictures with warnings, and what a notebook shows."""

import base64
import html
import re

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    KelvinVoigt,
    Model,
    PointMass,
    Polygon,
    Revolute,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.app.cli import main
from nonsmooth.pack import pack
from nonsmooth.solve.preview import draw, preview
from nonsmooth.views.figure import WARNING
from oracles.pictures import areas, rgb

HALF = 0.05  # m


def boxes(*heights: float) -> Model:
    """Return boxes with their centres at some heights, on each other."""
    square = Polygon(vertices=((-0.1, -HALF), (0.1, -HALF), (0.1, HALF), (-0.1, HALF)))
    names = [f"box{k}" for k in range(len(heights))]
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            RigidBody(
                name=name,
                mass=1.0,
                inertia=0.01,
                position=(0.0, y),
                shapes={"s": square},
            )
            for name, y in zip(names, heights, strict=True)
        ],
        contacts=[
            Contact(name=f"c{k}", a=a, b=b, normal=KelvinVoigt(stiffness=1e5))
            for k, (a, b) in enumerate(zip(["ground", *names], names, strict=False))
        ],
    )


def ringed(figure) -> list[np.ndarray]:
    """Return the centres of the rings of warnings."""
    axes = figure.axes[0]
    return [
        outline.mean(axis=0)
        for collection in axes.collections
        for outline, edge in zip(
            (path.vertices[:-1] for path in collection.get_paths()),
            np.resize(collection.get_edgecolor(), (len(collection.get_paths()), 4)),
            strict=True,
        )
        if tuple(np.round(edge[:3], 6)) == tuple(np.round(rgb(WARNING), 6))
    ]


def test_a_start_has_its_forces_and_modes():
    """A box pressed in by its weight over the stiffness bears that weight."""
    start = preview(boxes(HALF - 9.81 / 1e5))
    assert start.is_valid
    assert start.warnings == ()
    # Depth is a difference of numbers of 0.05 m: 1e-17 of 1e-4.
    assert start.stage.values["c0.normal_force"][0] == pytest.approx(9.81, rel=1e-10)


def test_a_refused_start_is_drawn_and_says_why():
    model = boxes(0.02)
    with pytest.raises(ValueError, match=r"overlap by 0\.03 m") as refusal:
        simulate(model, 1.0)
    start = preview(model)
    assert not start.is_valid
    assert start.warnings == (str(refusal.value),)
    figure = draw(model)
    assert "overlap by 0.03 m" in figure.get_suptitle()
    (ring,) = ringed(figure)
    # At the body of the contact; pictures have single precision at worst.
    np.testing.assert_allclose(ring, (0.0, 0.02), atol=1e-6)


def test_a_body_that_nothing_holds_is_ringed():
    lost = PointMass(name="lost", mass=1.0, position=(0.4, 0.1))
    rod = RigidBody(name="rod", mass=1.0, inertia=0.1, points={"pin": (-0.5, 0.0)})
    model = Model(
        bodies=[rod, lost], joints=[Revolute(name="pin", a="ground", b="rod.pin")]
    )
    # The pin of the rod is off the ground's origin: that is said, too.
    words = preview(model).warnings
    assert any("'pin'" in text for text in words)
    assert "body 'lost': it has no joint, force or contact" in words
    rings = ringed(draw(model))
    assert any(np.allclose(ring, (0.4, 0.1), atol=1e-6) for ring in rings)


def test_a_stack_in_the_air_is_said():
    assert "starts in the air" in preview(boxes(0.06, 0.17)).warnings[0]


@pytest.mark.parametrize("system", ["compactor", "crank_rocker", "belt"])
def test_a_drawing_is_that_of_the_first_instant_of_a_run(system):
    model = gallery.build(system)
    run = simulate(model, 0.01).draw(0.0, names=True)
    start = model.draw()
    assert [t.get_text() for t in start.axes[0].texts] == [
        t.get_text() for t in run.axes[0].texts
    ]
    for (own, _), (other, _) in zip(
        areas(start.axes[0]), areas(run.axes[0]), strict=True
    ):
        np.testing.assert_array_equal(own, other)


def test_command(tmp_path, capsys):
    path = tmp_path / "start.svg"
    assert main(["draw", "belt", "--out", str(path)]) == 0
    assert "<svg" in path.read_text()
    printed = capsys.readouterr()
    assert printed.out == f"drawn in {path}\n"
    assert printed.err == ""


def test_command_of_a_file_that_is_none(tmp_path, capsys):
    assert main(["draw", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err


def picture_of(text: str) -> bytes:
    found = re.search(r"base64,([^\"]+)", text)
    assert found is not None
    return base64.b64decode(found[1])


def test_a_notebook_shows_words_and_a_picture():
    model = gallery.build("belt")
    result = simulate(model, 1.0)
    for thing in (model, pack(model), result):
        text = thing._repr_html_()
        assert html.escape(repr(thing)) in text
        assert picture_of(text).startswith(b"\x89PNG")


def test_a_notebook_shows_tables():
    result = simulate(gallery.build("belt"), 5.0)
    text = result.events._repr_html_()
    assert text.count("<tr>") == len(result.events) + 1
    assert "break_away" in text
    names = ["block.x", "contact.friction_force"]
    chosen = [n for n in names if n in result.columns] or list(result.columns[1:2])
    text = result.sample(np.linspace(0.0, 5.0, 100), chosen)._repr_html_()
    assert "... and 70 more" in text
    assert f"{chosen[0]} (m)" in text


def test_a_picture_that_fails_leaves_the_words(monkeypatch):
    model = gallery.build("belt")

    def fail(*args, **options):
        raise ImportError("plots need Matplotlib")

    monkeypatch.setattr("nonsmooth.solve.preview.draw", fail)
    text = model._repr_html_()
    assert "no picture: plots need Matplotlib" in text
