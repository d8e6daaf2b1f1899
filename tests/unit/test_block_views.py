"""Elastic blocks in pictures and in the document of the viewer."""

import numpy as np
import pytest

from nonsmooth import gallery, simulate
from nonsmooth.columns import AREAS, OPEN_MODE
from nonsmooth.views.blocks import block_skins, block_values
from nonsmooth.views.meshes import eta_of
from nonsmooth.views.plots import draw, plot_contacts
from nonsmooth.views.scene import scene
from oracles.scene_reader import Document, sides, unblocked
from oracles.scene_schema import check

pytest.importorskip("skfem")

TIMES = np.array([0.2, 1.2, 2.1, 3.6])


@pytest.fixture(scope="module", params=[0.0, 3e-8])
def run(request):
    model = gallery.build("flexible_slider", clearance=request.param)
    return simulate(model, until=4.0), request.param


@pytest.fixture(scope="module")
def tight():
    return simulate(gallery.build("flexible_slider", clearance=0.0), until=4.0)


def test_faces_that_press_lie_on_the_guide(run):
    """Displacement of the drawn nodes closes the gap where there is pressure.

    Round-off of the solve beside deformations of 1e-8 m.
    """
    result, clearance = run
    skin = block_skins(result.system)["slider"]
    values = block_values(result, TIMES, "after")
    eta = eta_of(values, "slider", skin.shapes.shape[2])
    moved = skin.moved(eta) - skin.nodes
    for k, t in enumerate(TIMES):
        found = result.pressure("guide", t)
        n = len(found.forces) // 2
        for face, side, own in zip(
            skin.faces, (1.0, -1.0), (found.forces[:n], found.forces[n:]), strict=True
        ):
            gap = 0.5 * clearance + side * moved[k, face.nodes, 1]
            assert np.min(gap) > -1e-15
            np.testing.assert_allclose(gap[own > 0.0], 0.0, atol=1e-15)
            # Nothing that is open is pressed.
            pressure = skin.fields["pressure"].at(eta[k])[face.nodes]
            whole = found.pressure[:n] if side > 0.0 else found.pressure[n:]
            np.testing.assert_allclose(pressure, whole, rtol=1e-12)


def test_areas_are_open_where_nothing_presses(run):
    result, _ = run
    t = np.linspace(0.0, 4.0, 81)
    found = result.sample(t)
    for area in AREAS:
        is_open = found[f"guide.{area}.mode"] == OPEN_MODE
        force = found[f"guide.{area}.normal_force"]
        assert np.all(force[is_open] < 1e-6)
        pressed = ~is_open
        assert np.all(force[pressed] > 0.0)
        own = found[f"guide.{area}.mode"][pressed]
        assert np.array_equal(own, found["guide.mode"][pressed])
    # The pattern is an outcome: both diagonals, and the lower face alone.
    top = [found[f"guide.top_{end}.mode"] == OPEN_MODE for end in ("left", "right")]
    assert np.any(top[0] & ~top[1])
    assert np.any(top[1] & ~top[0])
    assert np.any(top[0] & top[1])


def test_document_of_a_block(tight):
    """Pressure from the few components of the document, to the error that they have."""
    document = Document(scene(tight))
    check(document, tight)
    header = document.header
    (body,) = [b for b in header["bodies"] if b["name"] == "slider"]
    (mesh,) = body["parts"]  # the outline is not drawn twice
    assert body["kind"] == "rigid"
    assert header["enlarged"] > 1e5
    spots = {spot["name"]: spot for spot in header["spots"]}
    assert {*spots} == {f"guide.{area}" for area in AREAS}
    (guide,) = [g for g in header["glyphs"] if g["name"] == "guide"]
    assert guide["is_elastic"]
    assert guide["has_block"] is False
    t, is_last = sides(document)
    eta = np.stack([document.column(name) for name in mesh["coordinates"]], axis=1)
    (field,) = [f for f in mesh["fields"] if f["name"] == "contact pressure"]
    shapes = unblocked(document, field["shapes"]).reshape(-1, eta.shape[1])
    top = field["range"][1]
    for k in np.flatnonzero(~is_last)[::40]:
        found = tight.pressure("guide", t[k])
        n = len(found.forces) // 2
        for face, own in zip(
            mesh["faces"], (found.pressure[:n], found.pressure[n:]), strict=True
        ):
            drawn = shapes[face["nodes"]] @ eta[k]
            # CLOSE of all that moves, stressed or pressed, is summed over nodes.
            assert np.max(np.abs(drawn - own)) < 0.05 * top
    # Friction along the normal turned by -90 degrees: opposite above.
    column = document.column("guide.top_left.friction_force")
    turned = document.column(spots["guide.top_left"]["friction"])
    np.testing.assert_allclose(turned, -np.array(column), atol=1e-6)


def test_pictures_of_a_block(tight):
    figure = draw(tight, [1.2, 3.6])
    texts = " ".join(t.get_text() for t in figure.legends[0].get_texts())
    assert "deformation × " in texts
    figure = plot_contacts(tight)
    labels = [t.get_text() for axes in figure.axes for t in axes.get_yticklabels()]
    assert [f"guide.{area}" in labels for area in AREAS] == [True] * 4
