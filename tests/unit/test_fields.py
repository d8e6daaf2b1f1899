"""Fields against closed forms: patch test, bending, Hertz; both kinds of bodies."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from nonsmooth import Model, ModelError, gallery, simulate
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import PointForce
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Gauge, Patch, Rectangle
from nonsmooth.fem import build
from nonsmooth.fem.fields import principal, strain_rows, stress_of, von_mises
from nonsmooth.views.shades import shading_of
from nonsmooth.views.sketch import stage_of
from oracles.rods import Rods

METAL = Material(youngs_modulus=70e9, poissons_ratio=0.33, density=2700.0)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("cells", ["triangle", "quadrilateral"])
@pytest.mark.parametrize("state", ["stress", "strain", "axisymmetric"])
def test_patch_test(order, cells, state):
    """A displacement that is linear gives its strain and stress exactly."""
    shape = Rectangle(
        width=2.0, height=1.0, center=(0.0, 0.5), size=0.4, cells=cells, order=order
    )
    mesh = build(shape)
    slope = np.array([(2e-3, 4e-4), (-1e-3, -5e-4)])
    if state == "axisymmetric":
        slope = np.diag([2e-3, -5e-4])  # no other keeps the axis straight
    u = mesh.nodes @ slope.T
    rows = strain_rows(mesh.nodes, mesh, state, METAL)
    strain = (rows @ u.ravel()).reshape(4, -1).T
    stress = stress_of(strain, METAL, state)
    even = 0.5 * (slope + slope.T)
    nu, e = 0.33, 70e9
    across = {
        "stress": -nu / (1 - nu) * np.trace(even),
        "strain": 0.0,
        "axisymmetric": even[1, 1],
    }[state]
    expected = np.diag([*np.diag(even), across])
    expected[0, 1] = expected[1, 0] = even[0, 1]
    hooke = (
        e / (1 + nu) * (expected + nu / (1 - 2 * nu) * np.trace(expected) * np.eye(3))
    )
    wanted = [hooke[0, 0], hooke[1, 1], hooke[0, 1], hooke[2, 2]]
    # Round-off of gradients of a millimetre over a metre.
    assert np.allclose(strain[:, :3], [even[0, 0], even[1, 1], even[0, 1]], atol=1e-13)
    assert np.allclose(stress, wanted, atol=1e-2)
    values = np.linalg.eigvalsh(hooke[:2, :2])
    assert np.allclose(principal(stress), values[::-1], atol=1e-2)
    deviator = hooke - np.trace(hooke) / 3.0 * np.eye(3)
    assert np.allclose(von_mises(stress), np.sqrt(1.5 * np.sum(deviator**2)), atol=1e-2)


def test_stress_behind_a_wave():
    run = simulate(gallery.build("rods"), 2.2e-4)
    exact = Rods()
    t = 1e-4
    for body, sign in (("b1", -1.0), ("b2", 1.0)):
        field = run.field(body, "stress.xx", t)
        x = sign * field.nodes[:, 0]
        front = exact.wave_speed * t
        behind, ahead = x < front - 0.02, x > front + 0.02
        level = exact.youngs_modulus * exact.strain
        assert np.allclose(field.values[behind], level, rtol=1e-8)
        assert np.allclose(field.values[ahead], 0.0, atol=1e-6 * abs(level))
        assert field.unit == "Pa"
        mises = run.field(body, "von_mises", t).values
        assert np.allclose(mises, np.abs(field.values), rtol=1e-12)
    moved = run.field("b2", "displacement", t)
    assert moved.components == ("x", "y")
    assert np.allclose(moved.places, moved.nodes + moved.values)
    # A point of the same body, recorded as it went.
    p3 = run.sample(t, ["b2.p3.x", "b2.p3.vx"])
    at = int(np.argmin(np.abs(moved.nodes[:, 0] - 0.3)))
    assert p3["b2.p3.x"][0] == pytest.approx(moved.places[at, 0], rel=1e-12)
    speed = run.field("b2", "velocity.x", t).values[at]
    assert p3["b2.p3.vx"][0] == pytest.approx(speed, rel=1e-9)


def cantilever(load):
    """A beam in static equilibrium under a load at its end."""
    body = FlexibleBody(
        name="beam",
        mesh=Rectangle(width=0.4, height=0.02, size=0.005),
        material=METAL,
        thickness=0.01,
        modes=6,
        fixed=("left",),
        patches={"tip": Patch(boundary="right")},
        gauges={"top": Gauge(point=(0.0, 0.01))},
        start="static",
    )
    force = PointForce(name="load", b="beam.tip", fy=load)
    return Model(bodies=[body], forces=[force])


def test_bending_of_a_body_with_modes():
    """sigma = M y/I; the attachment shape of the load holds the static answer."""
    load, length, height, wide = -5.0, 0.4, 0.02, 0.01
    run = simulate(cantilever(load), 1e-5)
    field = run.field("beam", "stress", 0.0)
    x, y = field.nodes.T
    inner = np.abs(x) < 0.1
    moment = load * (0.5 * length - x)
    expected = -moment * y / (wide * height**3 / 12.0)
    size = np.abs(expected).max()
    # Quadratic elements; recovery at nodes of the surface.
    assert np.allclose(field.values[inner, 0], expected[inner], atol=0.01 * size)
    top = run["beam.top.strain"][0]
    wanted = -load * 0.5 * length * 0.01 / (70e9 * wide * height**3 / 12.0)
    assert top == pytest.approx(wanted, rel=0.01)


@pytest.fixture(scope="module")
def bars():
    model = gallery.build("transverse_bars", modes=20)
    return simulate(model, 2e-5)


def test_nodes_that_press_touch(bars):
    """What both patches give beyond the modes closes the gap between the bodies."""
    t = 1.5e-5
    shown = bars.pressure("contact", t)
    own, other = (bars.field(b, "displacement", t) for b in ("b1", "b2"))
    top = np.flatnonzero(np.abs(other.nodes[:, 1]) < 1e-12)
    top = top[np.argsort(other.places[top, 0])]
    # b1 stands: the x axis of its mesh is down.
    head = np.flatnonzero(np.hypot(*own.nodes.T) < 1.2e-4)
    on_rim = np.abs(np.hypot(own.nodes[head, 0] + 0.0075, own.nodes[head, 1]) - 0.0075)
    head = head[on_rim < 1e-7]
    gap = own.places[head, 1] - np.interp(own.places[head, 0], *other.places[top].T)
    half = 0.4 * np.ptp(shown.places[shown.forces > 0.0, 0])
    inside = np.abs(own.places[head, 0]) < half
    assert inside.sum() > 10
    # The modes alone overlap by 1.5 micrometres. Between nodes a polyline gives by a
    # smooth part; forces on nodes, and so the field, have the straight one: 1e-3 of it.
    assert np.abs(gap[inside]).max() < 2e-3 * 1.5e-6
    assert gap.min() > -2e-3 * 1.5e-6


def test_the_pressure_of_hertz(bars):
    """p0 = 2 F/(pi a t), a^2 = 4 F R/(pi E* t); nodes of the surface are coarse."""
    t, thick, radius = 1.5e-5, 0.002, 0.0075
    force = float(bars.sample(t, "contact.normal_force")["contact.normal_force"][0])
    a = np.sqrt(4.0 * force * radius / (np.pi * 35e9 * thick))
    peak = 2.0 * force / (np.pi * a * thick)
    field = bars.field("b2", "stress.yy", t)
    # Below the surface: p0 ((1 + 2 z^2)/sqrt(1 + z^2) - 2 z) is the one across, and
    # p0/sqrt(1 + z^2) this one, z = depth/a.
    for depth in (0.5, 1.0, 2.0):
        found = field.at((0.0, -depth * a))
        assert found == pytest.approx(-peak / np.sqrt(1.0 + depth**2), rel=0.03)
    assert field.values.min() == pytest.approx(-peak, rel=0.25)


def test_velocities_and_displacements_mean_the_same_in_both_kinds(bars):
    """Both count the motion of the frame; points know them as well."""
    t = 1.5e-5
    top = int(np.argmin(bars.field("b1", "velocity", t).nodes[:, 0]))
    full = simulate(gallery.build("transverse_bars", modes="full"), 2e-5)
    for run in (bars, full):
        found = run.sample(t, ["b1.top.vy", "b1.top.y", "b2.middle.vy"])
        speed = run.field("b1", "velocity.y", t).at((-0.3075, 0.0))
        moved = run.field("b1", "displacement.y", t).at((-0.3075, 0.0))
        assert speed == pytest.approx(found["b1.top.vy"][0], rel=1e-6)
        # The column is without what the far end gives beyond the modes.
        assert moved == pytest.approx(found["b1.top.y"][0] - 0.3075, rel=1e-3)
        assert moved == pytest.approx(-0.2 * t, rel=1e-2)
    assert bars.field("b1", "velocity.y", t).values[top] == pytest.approx(
        -0.2, rel=1e-2
    )


def test_a_spot_does_not_take_all_colours(bars):
    times = np.array([1.5e-5])
    shading = shading_of(bars, stage_of(bars, times), times, "stress.yy")
    pressed = bars.field("b2", "stress.yy", 1.5e-5).values.min()
    assert shading.is_cut
    assert pressed < 3.0 * shading.range[0]
    assert "in all" in shading.label


def test_probes():
    run = simulate(gallery.build("rods", elements=50), 1e-4)
    field = run.field("b2", "stress", 1e-4)
    assert field.at((0.1234, 0.0))[0] == pytest.approx(
        Rods().youngs_modulus * Rods().strain, rel=1e-8
    )
    with pytest.raises(ModelError, match=r"body 'b2'.*outside the rod"):
        field.at((1.2, 0.0))


def test_vtu_reads_back(tmp_path):
    meshio = pytest.importorskip("meshio")
    run = simulate(gallery.build("rods", model="axisymmetric", elements=60), 2e-5)
    files = run.save_vtu(tmp_path / "out", [0.0, 2e-5])
    assert len(files) == 5
    series = ElementTree.parse(tmp_path / "out" / "series.pvd")
    assert len(series.findall(".//DataSet")) == 4
    read = meshio.read(tmp_path / "out" / "b2_0001.vtu")
    field = run.field("b2", "stress", 2e-5)
    assert np.array_equal(read.point_data["stress"], field.values)
    assert np.array_equal(read.cells[0].data, field.cells)
    moved = read.points[:, :2] + read.point_data["displacement"][:, :2]
    assert np.allclose(moved, field.places, atol=1e-15)


def test_fields_that_do_not_exist():
    run = simulate(gallery.build("rods", elements=10), 1e-5)
    with pytest.raises(ModelError, match="no field 'strss'; did you mean 'stress'"):
        run.field("b1", "strss")
    with pytest.raises(ModelError, match=r"no field 'stress.xz'"):
        run.field("b1", "stress.xz")
    with pytest.raises(ModelError, match="no flexible body 'b3'"):
        run.field("b3", "stress")
    with pytest.raises(ModelError, match="outside the run"):
        run.field("b1", "stress", 1.0)
    with pytest.raises(ModelError, match=r"give one of velocity\.x"):
        run.plot_waves("b1", "velocity")
