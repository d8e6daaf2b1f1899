"""Meshes of flexible bodies in pictures and in the document of the viewer."""

import math

import numpy as np
import pytest

from nonsmooth import FlexibleBody, Model, ModelError, gallery, simulate
from nonsmooth.elements.materials import find_material
from nonsmooth.elements.meshes import Bar, Disc, Rectangle
from nonsmooth.pack import pack
from nonsmooth.views import meshes
from nonsmooth.views.plots import draw
from oracles.scene_reader import unblocked

pytest.importorskip("skfem")


def reduced(mesh, **given):
    """Return a free body and its reduction."""
    body = FlexibleBody(name="b", mesh=mesh, material="steel", modes=6, **given)
    return body, pack(Model(bodies=[body])).flexible["b"]


def area(nodes, cells):
    total = 0.0
    for cell in cells:
        x, y = nodes[cell].T
        total += 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    return total


@pytest.mark.parametrize("cells", ["triangle", "quadrilateral"])
def test_a_small_mesh_is_drawn_as_it_is(cells):
    mesh = Rectangle(width=0.2, height=0.05, size=0.02, cells=cells)
    body, one = reduced(mesh)
    skin = meshes.skin_of(body, one)
    assert len(skin.cells) == len(one.mesh.cells)
    # Sums of a few hundred areas.
    assert area(skin.nodes, skin.cells) == pytest.approx(0.01, rel=1e-12)
    assert area(skin.nodes, skin.rims) == pytest.approx(0.01, rel=1e-12)
    assert np.array_equal(skin.nodes + np.asarray(one.centre), one.mesh.nodes[skin.ids])


def test_many_nodes_are_thinned_out(monkeypatch):
    """What is left covers the body, and keeps its corners."""
    monkeypatch.setattr(meshes, "MOST_NODES", 150)
    mesh = Bar(length=0.3, width=0.015, size=2e-3)
    body, one = reduced(mesh)
    skin = meshes.skin_of(body, one)
    assert 20 < len(skin.ids) <= 150 < len(one.mesh.nodes)
    whole = area(one.mesh.nodes, one.mesh.cells[:, :3])
    # The round head becomes a polygon.
    assert area(skin.nodes, skin.rims) == pytest.approx(whole, rel=0.02)
    assert area(skin.nodes, skin.cells) == pytest.approx(whole, rel=0.1)
    x, y = (skin.nodes + np.asarray(one.centre)).T
    low, high = one.mesh.nodes.min(axis=0), one.mesh.nodes.max(axis=0)
    for corner in ((low[0], low[1]), (low[0], high[1])):
        assert np.min(np.hypot(x - corner[0], y - corner[1])) < 1e-12


@pytest.mark.parametrize("plane", ["stress", "strain"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("cells", ["triangle", "quadrilateral"])
def test_stress_of_a_patch_test(cells, order, plane):
    """Displacements that are linear in the place have one stress everywhere."""
    mesh = Rectangle(width=0.2, height=0.1, size=0.04, cells=cells, order=order)
    body, one = reduced(mesh, plane=plane)
    x, y = one.mesh.nodes.T
    a, b, c = 1e-3, -4e-4, 7e-4
    shapes = np.stack([a * x + c * y, c * x + b * y], axis=1)[:, :, None]
    found = meshes._stress(body, one.mesh, shapes)
    steel = find_material("steel")
    e, nu = steel.youngs_modulus, steel.poissons_ratio
    # Hooke's law of a plane, in textbook form.
    if plane == "stress":
        xx, yy = e / (1 - nu**2) * (a + nu * b), e / (1 - nu**2) * (b + nu * a)
    else:
        k = e / ((1 + nu) * (1 - 2 * nu))
        xx, yy = k * ((1 - nu) * a + nu * b), k * ((1 - nu) * b + nu * a)
    xy = e / (1 + nu) * c
    inner = np.unique(one.mesh.cells[:, : one.mesh.n_corner])
    for part, exact in zip(found[inner, :, 0].T, (xx, yy, xy), strict=True):
        # Round-off of slopes beside sizes of cells.
        assert part == pytest.approx(np.full(len(inner), exact), rel=1e-9)


def test_von_mises():
    shapes = np.array([[[3.0], [0.0], [0.0]], [[0.0], [0.0], [2.0]]])
    field = meshes.Field(name="s", unit="Pa", shapes=shapes)
    # Tension s has s, shear s the root of three times it.
    assert field.at(np.ones(1)) == pytest.approx([3.0, 2.0 * math.sqrt(3.0)])
    strain = meshes.Field(name="s", unit="Pa", shapes=shapes, across=0.5)
    # With nu = 1/2 the mean stress has no part: root of 3/4.
    assert strain.at(np.ones(1))[0] == pytest.approx(3.0 * math.sqrt(0.75))


def test_a_motion_is_condensed():
    body, one = reduced(Disc(radius=0.1, size=0.03))
    skin = meshes.skin_of(body, one)
    t = np.linspace(0.0, 1.0, 300)
    eta = np.zeros((300, one.shapes.shape[2]))
    eta[:, 0], eta[:, 2] = np.sin(9.0 * t), 0.3 * np.cos(31.0 * t)
    found = meshes.condense(skin, eta)
    assert found.coordinates.shape[1] == 2
    exact = np.einsum("nck,tk->tnc", skin.shapes, eta)
    again = np.einsum("nck,tk->tnc", skin.shapes @ found.turn, found.coordinates)
    # Two components are all there is.
    assert again == pytest.approx(exact, abs=1e-10 * np.max(np.abs(exact)))
    still = meshes.condense(skin, np.zeros((5, eta.shape[1])))
    assert not np.any(still.coordinates)


@pytest.mark.parametrize(
    ("largest", "factor"),
    [(0.0, 1.0), (0.02, 1.0), (1e-4, 200.0), (1e-6, 2e4), (1e-10, 1.0)],
)
def test_enlargement_is_a_round_factor(largest, factor):
    assert meshes.enlargement(largest, 0.6) == factor


def test_mesh_in_the_document(documents):
    """Nodes that the viewer computes are where the body's are."""
    result, document = documents("ball_on_beam")
    body = next(b for b in document.header["bodies"] if b["name"] == "beam")
    (mesh,) = body["parts"]
    skin = meshes.skins_of(result.system)["beam"]
    nodes = unblocked(document, mesh["nodes"]).reshape(-1, 2)
    # Two bytes: half a step of 2**-15 of the largest.
    assert nodes == pytest.approx(skin.nodes, abs=2.0**-15 * np.max(np.abs(nodes)))
    t = np.array(document.column("t"))
    n_mode = skin.shapes.shape[2]
    eta = result.sample(t, [f"beam.eta.{j}" for j in range(n_mode)])
    exact = np.einsum("nck,tk->tnc", skin.shapes, meshes.eta_of(eta, "beam", n_mode))
    columns = np.array([document.column(name) for name in mesh["coordinates"]]).T
    shapes = unblocked(document, mesh["fields"][0]["shapes"])
    shapes = shapes.reshape(len(nodes), 2, len(mesh["coordinates"]))
    found = np.einsum("nck,tk->tnc", shapes, columns)
    size = np.max(np.abs(exact))
    assert np.max(np.abs(found - exact)) <= meshes.CLOSE * size
    assert mesh["fields"][0]["range"][1] == pytest.approx(size, rel=0.02)
    # The marker of the column is the node, undeformed at its place.
    site = mesh["sites"]["middle"]
    assert nodes[site] == pytest.approx(body["points"]["middle"], abs=1e-5)
    assert body["frame"] == pytest.approx([0.0, -0.005, 0.0], abs=1e-12)


def test_points_of_flexible_bodies_are_where_they_are():
    """A picture enlarges what a point moves, and nothing else."""
    result = simulate(gallery.build("ball_on_beam"), until=2e-4)
    way = result.sample([2e-4], "beam.middle.y")["beam.middle.y"][0]
    factor = 2000.0
    axes = draw(result, [2e-4], scale=factor).axes[0]
    rims = [
        np.asarray(path.vertices)
        for collection in axes.collections
        for path in collection.get_paths()
        if len(np.asarray(path.vertices)) > 200
    ]
    top = max(rims, key=len)
    middle = top[np.argmin(np.hypot(top[:, 0], top[:, 1] - factor * way))]
    assert middle[1] == pytest.approx(factor * way, rel=1e-6)
    legend = axes.figure.legends[0]
    assert "deformation × 2000" in [text.get_text() for text in legend.get_texts()]


def test_any_values_colour_a_mesh():
    result = simulate(gallery.build("ball_on_beam"), until=2e-5)
    n = len(result.system.flexible["beam"].shapes)
    figure = draw(result, [2e-5], field={"beam": np.linspace(-1.0, 3.0, n)})
    bar = figure.axes[1]
    low, high = bar.get_ylim()
    assert low >= -1.0
    assert 0.0 < high <= 3.0
    with pytest.raises(ModelError, match=r"field of body 'beam': \(5,\) numbers"):
        draw(result, [2e-5], field={"beam": np.zeros(5)})
    with pytest.raises(ModelError, match=r"no field 'mises'.*von_mises"):
        draw(result, [2e-5], field="mises")
    rigid = simulate(gallery.build("two_blocks"), until=0.1)
    with pytest.raises(ModelError, match="needs a flexible body"):
        draw(rigid, [0.1], field="von_mises")
