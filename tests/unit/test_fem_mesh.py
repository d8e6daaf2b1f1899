"""Meshes of our own and from files, and what is refused."""

import math
from typing import Any

import meshio
import numpy as np
import pytest

from nonsmooth.elements.meshes import (
    Bar,
    Disc,
    MeshFile,
    Outline,
    Rectangle,
    Refinement,
    Ring,
)
from nonsmooth.errors import ModelError
from nonsmooth.fem import build
from nonsmooth.fem.assembly import discretise
from nonsmooth.fem.mesh import make

KINDS = [(c, o) for c in ("triangle", "quadrilateral") for o in (1, 2)]
# An arc of straight edges loses h^2/12 of its length squared, of curved ones h^4.
ROUND = {1: 2e-2, 2: 2e-5}
SHAPES: dict[str, tuple[Any, dict[str, float], float]] = {
    "rectangle": (Rectangle, {"width": 0.6, "height": 0.2}, 0.12),
    "disc": (Disc, {"radius": 0.5}, math.pi / 4),
    "ring": (Ring, {"inner_radius": 0.3, "outer_radius": 0.5}, 0.16 * math.pi),
    "bar": (Bar, {"length": 1.0, "width": 0.4}, 0.32 + 0.02 * math.pi),
}


def area(mesh):
    return discretise(mesh, material="steel", thickness=1.0).volumes.sum()


def lengths(mesh, name):
    ends = mesh.nodes[mesh.boundary(name)[:, :2]]
    return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


def quality(mesh):
    """Return the worst triangle: 1 is equilateral, 0 flat."""
    x = mesh.nodes[mesh.cells[:, :3]]
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    double = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    squares = ((x - np.roll(x, -1, axis=1)) ** 2).sum(axis=(1, 2))
    return (2.0 * math.sqrt(3.0) * double / squares).min()


@pytest.mark.parametrize("symmetric", [None, "x", "y"])
@pytest.mark.parametrize(("cells", "order"), KINDS)
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_their_area_and_boundaries(name, cells, order, symmetric):
    kind, sizes, exact = SHAPES[name]
    if name == "bar" and symmetric == "y":
        pytest.skip("a head at one end only")
    shape = kind(**sizes, size=0.06, cells=cells, order=order)
    mesh = build(shape, symmetric=symmetric)
    assert area(mesh) == pytest.approx(exact, rel=ROUND[order])
    own = [key for key in mesh.edges if key != "outline"]
    assert sum(len(mesh.edges[key]) for key in own) == len(mesh.edges["outline"])
    assert lengths(mesh, "outline").max() <= 0.06 * 1.001
    for edges in mesh.edges.values():  # in order along the boundary
        assert np.count_nonzero(edges[1:, 0] != edges[:-1, 1]) <= 1
    if symmetric:
        k = 1 if symmetric == "x" else 0
        image = mesh.nodes.copy()
        low, high = image[:, k].min(), image[:, k].max()
        image[:, k] = low + high - image[:, k]
        away = np.linalg.norm(image[:, None] - mesh.nodes[None], axis=2).min(axis=1)
        assert away.max() < 1e-14


def test_the_names_of_a_reflected_half_are_those_of_the_whole():
    shape = Rectangle(width=0.6, height=0.2, size=0.05)
    for symmetric in ("x", "y"):
        mesh = build(shape, symmetric=symmetric)
        for name, k, value in (
            ("left", 0, -0.3),
            ("right", 0, 0.3),
            ("bottom", 1, -0.1),
            ("top", 1, 0.1),
        ):
            assert np.allclose(mesh.nodes[mesh.edges[name]][:, :, k], value)


def test_the_body_is_on_the_left_of_its_boundary():
    mesh = build(Ring(inner_radius=0.3, outer_radius=0.5, size=0.05))
    for name, side in (("outer", 1.0), ("inner", -1.0)):
        a, b = mesh.nodes[mesh.edges[name][:, :2]].transpose(1, 0, 2)
        assert np.all(side * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) > 0.0)


def test_refinement_reaches_its_size_and_keeps_the_arc_round():
    """The bar of the paper: 3.75 mm to 15 um, no flat triangles."""
    tip = Refinement(point=(0.3075, 0.0), size=15e-6, radius=1.2e-4)
    shape = Bar(length=0.3075, width=0.015, size=3.75e-3, refine={"tip": tip})
    mesh = build(shape, symmetric="x")
    nodes = mesh.nodes[np.unique(mesh.edges["head"])]
    radii = np.linalg.norm(nodes - (0.3, 0.0), axis=1)
    assert np.abs(radii - 0.0075).max() < 1e-16
    ends = mesh.nodes[mesh.edges["head"][:, :2]]
    near = np.linalg.norm(ends.mean(axis=1) - tip.point, axis=1) < tip.radius
    sides = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)[near]
    assert sides.max() <= 15e-6
    assert sides.min() >= 7e-6
    assert quality(mesh) > 0.4
    assert len(mesh.cells) < 6000
    assert any(np.array_equal(node, (0.3075, 0.0)) for node in nodes)


def test_an_outline_of_lines_and_arcs():
    """A stadium with a notch; its half circle is a bulge of 1."""
    shape = Outline(
        vertices=((0, 0), (2, 0), (2, 1), (1.2, 1), (1, 0.6), (0.8, 1), (0, 1)),
        bulges=(0, 1, 0, 0, 0, 0, 1),
        names=("floor", "right", "", "notch", "notch", "", "left"),
        size=0.1,
    )
    mesh = build(shape)
    exact = 2.0 + math.pi / 4 - 0.5 * 0.4 * 0.4
    assert area(mesh) == pytest.approx(exact, rel=1e-5)
    assert quality(mesh) > 0.6
    assert lengths(mesh, "notch").sum() == pytest.approx(2 * math.hypot(0.2, 0.4))
    fine = build(
        Outline(
            vertices=shape.vertices,
            bulges=shape.bulges,
            size=0.1,
            refine={"notch": Refinement(point=(1, 0.6), size=1e-3)},
        )
    )
    assert lengths(fine, "outline").min() < 1e-3
    assert area(fine) == pytest.approx(exact, rel=1e-5)


BAD_SHAPES = [
    (Rectangle, {"width": -1.0, "height": 1.0, "size": 0.1}, "width = -1.0"),
    (Rectangle, {"width": 1.0, "height": 1.0, "size": 0.0}, "size = 0.0"),
    (Ring, {"inner_radius": 1, "outer_radius": 1, "size": 0.1}, "must be > inner"),
    (Bar, {"length": 0.1, "width": 0.3, "size": 0.1}, "length = 0.1"),
    (Outline, {"vertices": ((0, 0), (1, 0)), "size": 0.1}, "three or more"),
    (MeshFile, {"path": "../a.msh"}, "without '..'"),
    (MeshFile, {"path": "/etc/a.msh"}, "inside the folder"),
    (MeshFile, {"path": "c:/a.msh"}, "inside the folder"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), BAD_SHAPES)
def test_bad_shapes_are_refused(kind, fields, message):
    with pytest.raises(ModelError, match=message):
        kind(**fields)


BAD_OUTLINES = [
    (((0, 0), (0, 1), (1, 1), (1, 0)), "clockwise"),
    (((0, 0), (1, 1), (1, 0), (0, 1.5)), "clockwise|crosses"),
    (((0, 0), (2, 0), (0.5, 1), (1.5, 1)), "crosses"),
]


@pytest.mark.parametrize(("vertices", "message"), BAD_OUTLINES)
def test_bad_outlines_are_refused(vertices, message):
    with pytest.raises(ModelError, match=message):
        build(Outline(vertices=vertices, size=0.1))


def test_a_refinement_away_from_the_mesh_is_refused():
    """With `symmetric`, one on the half that is left out is not."""
    far = {"tip": Refinement(point=(3.0, 0.0), size=0.01)}
    with pytest.raises(ModelError, match=r"refine\['tip'\]: .* 2\.5 m from the near"):
        build(Rectangle(width=1.0, height=0.2, size=0.1, refine=far))
    ends = {
        n: Refinement(point=(x, 0.0), size=0.01) for n, x in (("l", -0.5), ("r", 0.5))
    }
    shape = Rectangle(width=1.0, height=0.2, size=0.1, refine=ends)
    assert lengths(build(shape, symmetric="y"), "left").min() < 0.02


def test_too_many_elements_are_refused_at_once():
    with pytest.raises(ModelError, match="more than 1000000 elements"):
        build(Rectangle(width=1.0, height=1.0, size=1e-5))


def test_inverted_and_flat_elements_are_named():
    points = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
    good = np.array([(0, 1, 2), (0, 2, 3)])
    make(points, good, 1, {})
    with pytest.raises(ModelError, match=r"element 1 at .* nodes run clockwise"):
        make(points, np.array([(0, 1, 2), (0, 3, 2)]), 1, {})
    flat = np.array([(0, 0), (1, 0), (1, 1), (0.5, 0.5)])
    with pytest.raises(ModelError, match=r"element 1 at .* has no area"):
        make(flat, good, 2, {})
    # A quadrilateral with a corner that turns inwards.
    points = np.array([(0, 0), (1, 0), (0.2, 0.2), (0, 1)], float)
    with pytest.raises(ModelError, match=r"element 0 at .* is inverted"):
        make(points, np.array([(0, 1, 2, 3)]), 1, {})
    with pytest.raises(ModelError, match="node 3 belongs to no element"):
        make(points, np.array([(0, 1, 2)]), 1, {})


def test_a_boundary_that_is_missing_is_named():
    mesh = build(Rectangle(width=1.0, height=1.0, size=0.5))
    with pytest.raises(ModelError, match="'lef'; did you mean 'left'"):
        mesh.boundary("lef")


FILES = {"triangle": "triangle", "quadrilateral": "quad"}


@pytest.mark.parametrize(("cells", "order"), KINDS)
def test_mesh_files_come_back(tmp_path, cells, order):
    mesh = build(Disc(radius=0.5, size=0.2, cells=cells, order=order))
    kind = FILES[cells] + {("triangle", 2): "6", ("quadrilateral", 2): "9"}.get(
        (cells, order), ""
    )
    write(tmp_path / "disc.msh", mesh, kind, "line3" if order == 2 else "line")
    found = build(MeshFile(path="disc.msh"), base=tmp_path)
    assert area(found) == pytest.approx(area(mesh), rel=1e-14)
    assert (found.cell, found.order) == (cells, order)
    assert len(found.edges["rim"]) == len(mesh.edges["rim"])


def write(path, mesh, kind, line):
    nodes = np.column_stack((mesh.nodes, np.zeros(len(mesh.nodes))))
    edges = mesh.edges["rim"]
    tags = [np.full(len(mesh.cells), 1), np.full(len(edges), 7)]
    data: dict[str, Any] = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    names = {"rim": np.array([7, 1]), "inside": np.array([1, 2])}
    made = meshio.Mesh(
        nodes, [(kind, mesh.cells), (line, edges)], cell_data=data, field_data=names
    )
    made.write(path, file_format="gmsh22", binary=False)


def test_mesh_files_that_are_refused(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "outside.msh").write_text("")
    (inside / "link.msh").symlink_to(tmp_path / "outside.msh")
    (inside / "broken.msh").write_text("$MeshFormat\nnonsense")
    solid = meshio.Mesh(np.eye(4, 3), [("tetra", [[0, 1, 2, 3]])])
    solid.write(inside / "solid.vtk")
    for name, message in (
        ("link.msh", "outside the folder"),
        ("none.msh", "no such file"),
        ("broken.msh", "cannot be read"),
        ("solid.vtk", "has cells tetra"),
    ):
        with pytest.raises(ModelError, match=message):
            build(MeshFile(path=name), base=inside)
