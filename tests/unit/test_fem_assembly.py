"""Matrices against linear fields, beams, rings, and their own order."""

import itertools
import math

import numpy as np
import pytest

from nonsmooth.elements.materials import MATERIALS, Material
from nonsmooth.elements.meshes import Rectangle, Ring
from nonsmooth.errors import ModelError
from nonsmooth.fem import build, discretise, reduce
from nonsmooth.fem.mesh import make
from oracles import beams

KINDS = [(c, o) for c in ("triangle", "quadrilateral") for o in (1, 2)]
STEEL = MATERIALS["steel"]


def distorted(cells, order, seed=0):
    """Return a square whose inner nodes are moved; of order 2, with curved sides."""
    mesh = build(Rectangle(width=1.0, height=1.0, size=0.25, cells=cells, order=1))
    points = mesh.nodes.copy()
    inner = np.setdiff1d(np.arange(len(points)), mesh.edges["outline"])
    random = np.random.default_rng(seed)
    points[inner] += random.uniform(-0.06, 0.06, (len(inner), 2))
    names = {name: edges[:, :2] for name, edges in mesh.edges.items()}
    made = make(points, mesh.cells, order, names)
    if order == 2:
        loose = np.setdiff1d(
            np.arange(len(points), len(made.nodes)), made.edges["outline"]
        )
        made.nodes[loose] += random.uniform(-0.01, 0.01, (len(loose), 2))
    return made


@pytest.mark.parametrize("plane", ["stress", "strain"])
@pytest.mark.parametrize(("cells", "order"), KINDS)
def test_a_linear_field_is_exact(cells, order, plane):
    """The patch test: constant stress, no forces inside, the energy of Hooke's law."""
    mesh = distorted(cells, order)
    thickness = 0.3
    disc = discretise(mesh, material=STEEL, thickness=thickness, plane=plane)
    slope = np.array([[1.0, 0.4], [-0.7, 0.5]]) * 1e-3
    u = mesh.nodes @ slope.T
    strain = 0.5 * (slope + slope.T)
    e, nu = STEEL.youngs_modulus, STEEL.poissons_ratio
    if plane == "stress":
        mean = e * nu / (1.0 - nu**2) * np.trace(strain)
    else:
        mean = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)) * np.trace(strain)
    stress = mean * np.eye(2) + e / (1.0 + nu) * strain
    assert np.allclose(disc.stress(u.ravel()), stress, rtol=0, atol=1e-12 * e)
    forces = (disc.stiffness @ u.ravel()).reshape(-1, 2)
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.edges["outline"])
    assert inner.size > 0
    # Round-off of sums of some twenty terms.
    assert np.abs(forces[inner]).max() < 1e-14 * np.abs(disc.stiffness.data).max()
    energy = 0.5 * thickness * np.sum(stress * strain)
    assert 0.5 * np.sum(u * forces) == pytest.approx(energy, rel=1e-12)
    # The resultant on the right side is its stress times its area.
    on = np.unique(mesh.edges["right"])
    far = np.unique(mesh.edges["left"])
    assert len(on) == len(far)
    pull = np.zeros_like(u)
    pull[on] = forces[on]
    middle = np.setdiff1d(
        on, np.r_[mesh.edges["top"].ravel(), mesh.edges["bottom"].ravel()]
    )
    share = pull[middle].sum(axis=0) / (thickness * stress[:, 0])
    assert share[0] == pytest.approx(share[1], rel=1e-10)


@pytest.mark.parametrize(("cells", "order"), KINDS)
def test_masses(cells, order):
    mesh = distorted(cells, order)
    disc = discretise(mesh, material=STEEL, thickness=0.3)
    total = STEEL.density * 0.3
    # 1, x and y are in every element's space: rigid inertia is exact for order 1, and
    # as exact as the integration for curved sides.
    x = mesh.nodes
    full = disc.scalar_mass
    assert full.sum() == pytest.approx(total, rel=1e-13)
    inertia = sum(x[:, k] @ (full @ x[:, k]) for k in range(2))
    assert inertia == pytest.approx(total / 6.0, rel=1e-12 if order == 1 else 1e-4)
    assert np.all(disc.scalar_lumped > 0.0)
    assert disc.scalar_lumped.sum() == pytest.approx(total, rel=1e-13)
    assert disc.mass(lumped=True).trace() == pytest.approx(2.0 * total, rel=1e-13)
    # u'M u of a translation is twice its kinetic energy at unit speed.
    along = np.tile((0.6, 0.8), len(x))
    assert along @ (disc.mass() @ along) == pytest.approx(total, rel=1e-13)


def test_rigid_motion_costs_nothing():
    disc = discretise(distorted("triangle", 2), material=STEEL, thickness=0.3)
    x = disc.mesh.nodes
    for u in (np.ones_like(x), np.column_stack((-x[:, 1], x[:, 0]))):
        forces = disc.stiffness @ u.ravel()
        assert np.abs(forces).max() < 1e-13 * np.abs(disc.stiffness.data).max()


@pytest.mark.parametrize("cells", ["triangle", "quadrilateral"])
@pytest.mark.parametrize("ends", ["free", "clamped", "tip"])
def test_beams_against_timoshenko(ends, cells):
    """A beam 20 times longer than high; without Poisson's effect where it is clamped.

    Timoshenko's theory leaves out the warping of sections: some (h/L)^2 of the shear's
    own share, 1e-3 here in the third mode, and less than that in frequency.
    """
    nu = 0.3 if ends == "free" else 0.0
    sizes = {"length": 1.0, "height": 0.05, "thickness": 0.02}
    own = Material(youngs_modulus=70e9, poissons_ratio=nu, density=2700.0)
    body = reduce(
        Rectangle(width=1.0, height=0.05, size=0.0125, cells=cells),
        material=own,
        thickness=0.02,
        modes=3,
        fixed={"free": (), "clamped": ("left", "right"), "tip": ("left",)}[ends],
        cache=False,
    )
    exact = beams.frequencies(ends, 3, **sizes, e=70e9, nu=nu, rho=2700.0)
    assert body.frequencies == pytest.approx(exact, rel=4e-4)


def test_a_slender_beam_against_euler():
    """At 200 times its height, shear and rotary inertia are below 1e-3 in mode 3."""
    body = reduce(
        Rectangle(width=1.0, height=0.005, size=0.005, cells="quadrilateral"),
        material=STEEL,
        thickness=0.01,
        modes=3,
        cache=False,
    )
    unit = math.sqrt(STEEL.youngs_modulus * 0.005**2 / (12.0 * STEEL.density))
    exact = np.array(beams.FREE_ROOTS) ** 2 * unit
    assert body.frequencies == pytest.approx(exact, rel=1e-3)


def test_a_thin_ring():
    """w^2 = E I n^2 (n^2 - 1)^2/(rho A R^4 (n^2 + 1)), every mode twice.

    Shear and stretching lower it by some (n h/R)^2, 1e-3 for h/R = 0.02.
    """
    h = 0.02
    body = reduce(
        Ring(inner_radius=1 - h / 2, outer_radius=1 + h / 2, size=0.04),
        material=STEEL,
        thickness=0.01,
        modes=4,
        cache=False,
    )
    n = np.array([2, 2, 3, 3])
    square = n**2 * (n**2 - 1) ** 2 / (n**2 + 1) * h**2 / 12.0
    exact = np.sqrt(STEEL.youngs_modulus / STEEL.density * square)
    assert body.frequencies == pytest.approx(exact, rel=1e-3)
    # Exactly twice as a circle has them: the mesh has the symmetry of a square.
    assert body.frequencies[2] == pytest.approx(body.frequencies[3], rel=1e-7)


@pytest.mark.parametrize("lumped", [False, True])
@pytest.mark.parametrize(("cells", "order"), KINDS)
def test_the_order_of_frequencies(cells, order, lumped):
    """Frequencies of a ring, which has no corners, converge with order 2p.

    A lumped mass of order 2 has order 2 [HintonEtAl1976].
    """
    found = []
    for n in (2, 4, 8):
        shape = Ring(
            inner_radius=0.6, outer_radius=1.0, size=0.2 / n, cells=cells, order=order
        )
        body = reduce(
            shape, material=STEEL, thickness=0.1, modes=5, lumped=lumped, cache=False
        )
        found.append(body.frequencies[4])
    first, second = np.abs(np.diff(found))
    slope = math.log2(first / second)
    expected = 2 if lumped else 2 * order
    assert slope == pytest.approx(expected, abs=0.15)


def test_the_geometric_stiffness_of_a_pull():
    """A strip under constant stress: u'Kg u = stress int (du/dx)^2 dV."""
    mesh = distorted("quadrilateral", 2)
    disc = discretise(mesh, material=STEEL, thickness=0.3)
    stress = np.zeros((*disc.volumes.shape, 2, 2))
    stress[..., 0, 0] = 5.0
    u = 2.0 * mesh.nodes[:, 0] + 7.0 * mesh.nodes[:, 1]
    assert u @ (disc.geometric(stress) @ u) == pytest.approx(5.0 * 4.0 * 0.3)


BAD = [
    ({"youngs_modulus": 0.0}, "youngs_modulus = 0.0; must be > 0 Pa"),
    ({"density": -1.0}, "density = -1.0; must be > 0"),
    ({"poissons_ratio": 0.5}, "poissons_ratio = 0.5; must be > -1 and < 0.5"),
    ({"poissons_ratio": -1.0}, "poissons_ratio = -1.0"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_materials_are_refused(change, message):
    fields = {"youngs_modulus": 1e9, "poissons_ratio": 0.3, "density": 1e3}
    with pytest.raises(ModelError, match=message):
        Material(**(fields | change))


def test_bad_bodies_are_refused():
    mesh = build(Rectangle(width=1.0, height=1.0, size=0.5))
    for thickness, plane in itertools.product((0.0, -1.0, math.nan), ("stress",)):
        with pytest.raises(ModelError, match=r"thickness = .* must be > 0 m"):
            discretise(mesh, material="steel", thickness=thickness, plane=plane)
    with pytest.raises(ModelError, match="give 'stress' or 'strain'"):
        discretise(mesh, material="steel", thickness=1.0, plane="stres")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ModelError, match="'stel'; did you mean 'steel'"):
        discretise(mesh, material="stel", thickness=1.0)
