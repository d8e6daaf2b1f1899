"""Reductions against dense algebra, beams, Hertz, and what is refused."""

import logging
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from nonsmooth.elements.materials import (
    MATERIALS,
    Material,
    ModalDamping,
    RayleighDamping,
)
from nonsmooth.elements.meshes import Bar, Disc, Patch, Rectangle, Refinement
from nonsmooth.errors import ModelError
from nonsmooth.fem import bodies, build, discretise, reduce, store
from nonsmooth.fem.patches import choose, patch_rows, point_rows
from nonsmooth.fem.statics import rigid_motions
from oracles import beams
from oracles.pressed_patches import press

STEEL = MATERIALS["steel"]
BLOCK = Rectangle(width=0.2, height=0.1, size=0.05)
PATCHES = {"top": Patch(boundary="top", center=(0.05, 0.05), radius=0.04)}
POINTS = {"a": (-0.1, 0.0), "b": (0.03, 0.01)}
# The shift takes 1e-8 (c/L)^2/w^2 of the answer of the lowest mode that is not kept.
STATIC = 1e-8


def block(**options: Any):
    chosen: dict[str, Any] = {
        "material": STEEL,
        "thickness": 0.01,
        "modes": 6,
        "points": POINTS,
        "patches": PATCHES,
        "cache": False,
    }
    return reduce(options.pop("mesh", BLOCK), **(chosen | options))


def dense(mesh=BLOCK, fixed=None):
    """Return K, M and the static flexibility by dense algebra."""
    mesh = build(mesh)
    disc = discretise(mesh, material=STEEL, thickness=0.01)
    k, m = disc.stiffness.toarray(), disc.mass().toarray()
    if fixed:
        free = np.ones(len(k), bool)
        nodes = np.unique(mesh.edges[fixed])
        free[np.r_[2 * nodes, 2 * nodes + 1]] = False
        flexibility = np.zeros_like(k)
        flexibility[np.ix_(free, free)] = np.linalg.inv(k[np.ix_(free, free)])
        return k, m, flexibility
    r = rigid_motions(mesh.nodes, disc.mass())
    # Any answer will do, once rigid motion is removed from load and answer.
    p = np.eye(len(k)) - r @ r.T @ m
    # Springs on the rigid motions take no part in loads without resultant.
    held = k + m @ r @ r.T @ m * np.trace(k) / np.trace(m)
    return k, m, p @ np.linalg.solve(held, p.T)


def places(patch):
    return np.stack((2 * patch.nodes, 2 * patch.nodes + 1), axis=1).ravel()


# ---- statics and dynamics ------------------------------------------------------


@pytest.mark.parametrize("fixed", [None, "left"])
@pytest.mark.parametrize("forces", [(), ("a",), ("a", "b", "top")])
def test_modes_and_residual_give_the_static_flexibility(fixed, forces):
    """Phi W^-2 Phi' + G is the whole static answer, whatever shapes are kept."""
    if fixed and "a" in forces:
        forces = tuple(name for name in forces if name != "a")  # it is held
    body = block(
        fixed=(fixed,) if fixed else (),
        forces=forces,
        couples=("top",) if "top" in forces else (),
        points={k: v for k, v in POINTS.items() if not fixed or k != "a"},
    )
    _, _, exact = dense(fixed=fixed)
    patch = body.patches["top"]
    at = places(patch)
    shapes = patch.shapes.reshape(len(at), -1)
    found = (shapes / body.frequencies**2) @ shapes.T + patch.flexibility
    wanted = exact[np.ix_(at, at)]
    assert np.abs(found - wanted).max() < STATIC * np.abs(wanted).max()
    values = np.linalg.eigvalsh(patch.flexibility)
    assert values[0] > -1e-12 * values[-1]
    # Loads with attachment shapes lose nothing.
    for name in forces:
        assert np.all(body.marker(name).residual[:2] < STATIC)
    if not forces:
        assert np.all(patch.residual > 1e-3)


@pytest.mark.parametrize("fixed", [(), ("left",)])
def test_shapes_are_orthonormal_and_keep_the_stiffness(fixed):
    body = block(fixed=fixed, forces=("b",), couples=("top",))
    k, m, _ = dense()
    phi = body.shapes.reshape(len(k), -1)
    assert body.n == 6 + 5
    assert np.abs(phi.T @ m @ phi - np.eye(body.n)).max() < 1e-10
    w2 = body.frequencies**2
    assert np.abs(phi.T @ k @ phi - np.diag(w2)).max() < 1e-9 * w2.max()
    # The modes are modes: K phi = M phi w^2, beside the largest part of K phi.
    few = phi[:, :6]
    rest = k @ few - m @ few * w2[:6]
    if fixed:
        nodes = np.unique(body.mesh.edges["left"])
        rest[np.r_[2 * nodes, 2 * nodes + 1]] = 0.0  # reactions
    assert np.abs(rest).max() < 1e-9 * np.abs(k).max() * np.abs(few).max()


def test_markers_that_repeat_each_other_add_nothing():
    once = block(forces=("b",))
    twice = block(forces=("b", "c"), points=POINTS | {"c": POINTS["b"]})
    assert twice.n == once.n
    assert twice.frequencies == pytest.approx(once.frequencies, rel=1e-9)


def test_loads_on_what_is_held_add_nothing():
    points = {"a": POINTS["a"]}
    body = block(fixed=("left",), forces=("a",), points=points)
    assert body.n == 6
    assert not body.points["a"].residual.any()


def test_inertia_of_a_deformed_body():
    """J, momentum and the terms of theory/flexible.md against sums over the mesh."""
    body = block(couples=("top",))
    _, m, _ = dense()
    n = body.n
    random = np.random.default_rng(1)
    eta, rate = random.standard_normal((2, n))
    s = (body.mesh.nodes - body.center).ravel()
    phi = body.shapes.reshape(-1, n)
    assert body.mass == pytest.approx(STEEL.density * 0.2 * 0.1 * 0.01, rel=1e-13)
    exact = body.mass * (0.2**2 + 0.1**2) / 12.0
    assert body.inertia == pytest.approx(exact, rel=1e-13)
    assert np.abs(body.center).max() < 1e-16
    where, how = s + phi @ eta, phi @ rate
    turned = np.column_stack((-where[1::2], where[::2])).ravel()
    j = body.inertia + 2.0 * body.b @ eta + eta @ eta
    assert where @ m @ where == pytest.approx(j, rel=1e-12)
    # Angular momentum in the body's axes: int r x r' dm = eta'C eta'.
    assert turned @ m @ how == pytest.approx(eta @ body.coupling @ rate, rel=1e-9)
    assert np.array_equal(body.coupling, -body.coupling.T)
    # Mean axes: no momentum and, to first order, no angular momentum.
    assert np.abs(rigid_motions(body.mesh.nodes, m).T @ m @ phi).max() < 1e-10
    assert not body.weight.any()


def test_a_held_body_under_gravity_sags():
    """w L^4/(384 E I) + w L^2/(8 kappa G A) for a beam clamped at both ends."""
    own = Material(youngs_modulus=70e9, poissons_ratio=0.0, density=2700.0)
    length, h, t = 1.0, 0.04, 0.02
    body = reduce(
        Rectangle(width=length, height=h, size=0.01, cells="quadrilateral"),
        material=own,
        thickness=t,
        modes=12,
        fixed=("left", "right"),
        points={"middle": (0.0, 0.0)},
        forces=("middle",),
        cache=False,
    )
    gravity = np.array([0.0, -9.81])
    eta = body.weight @ gravity / body.frequencies**2
    load = 2700.0 * h * t * 9.81
    second, shear = t * h**3 / 12.0, 5.0 / 6.0 * 35e9 * h * t
    sag = load * length**4 / (384.0 * 70e9 * second) + load * length**2 / (8.0 * shear)
    # Beyond beam theory: (h/L)^2 of the shear's share of 1 %.
    x, y = body.points["middle"].shape @ eta
    assert y == pytest.approx(-sag, rel=2e-4)
    assert abs(x) < 1e-9 * sag
    assert body.is_held
    assert not body.spin.any()


# ---- second order --------------------------------------------------------------

SLENDER = Rectangle(width=1.0, height=0.01, size=0.01, cells="quadrilateral")


def slender(**options):
    own = Material(youngs_modulus=70e9, poissons_ratio=0.3, density=2700.0)
    return reduce(
        SLENDER,
        material=own,
        thickness=0.02,
        modes=3,
        points={"end": (0.5, 0.0), "root": (-0.5, 0.0)},
        cache=False,
        **options,
    )


def test_spinning_stiffens_a_free_beam(validate):
    """phi'K_w phi = 3.0498 for the first mode of a slender beam, by quadrature."""
    assert beams.spin_stiffening() == pytest.approx(3.0498, abs=5e-5)
    body = slender()
    for k in range(2):
        # Rotary inertia and shear: some (k h/L)^2 * 10.
        part = body.spin[k, k] / beams.spin_stiffening(k)
        what = "stiffening of a spinning beam / exact"
        validate(what, part, 1.0, 2e-3, "1", "closed form")
    assert np.abs(body.spin - body.spin.T).max() < 1e-12 * np.abs(body.spin).max()


def test_a_bent_beam_is_shorter():
    """Its ends come nearer by half of int (x/L) phi'^2: tension from 0 to the load."""
    body = slender()
    for name, sign in (("end", 1.0), ("root", -1.0)):
        along, across = body.points[name].bend
        for k in range(2):
            exact = sign * beams.shortening(k) / body.mass
            assert along[k, k] == pytest.approx(exact, rel=2e-3)
        # A load across it pulls nothing, to first order.
        assert abs(across[0, 0]) < 1e-3 * abs(along[0, 0])


def test_a_clamped_beam_is_shorter_too():
    """Constant tension: K = int phi'^2 dx, from the deflections of the axis."""
    body = slender(fixed=("left",))
    x = np.linspace(-0.5, 0.5, 51)
    axis = reduce(
        SLENDER,
        material=Material(youngs_modulus=70e9, poissons_ratio=0.3, density=2700.0),
        thickness=0.02,
        modes=3,
        fixed=("left",),
        points={f"p{k}": (value, 0.0) for k, value in enumerate(x)},
        cache=False,
    )
    y = np.array([axis.points[f"p{k}"].shape[1, 0] for k in range(len(x))])
    slope = np.gradient(y, x, edge_order=2)
    exact = np.trapezoid(slope**2, x)
    assert body.points["end"].bend[0, 0, 0] == pytest.approx(exact, rel=2e-3)


def test_a_beam_clamped_in_a_rotor_stiffens():
    """(w^2 - w0^2)/W^2 = 0.1933 in plane, for a hub without radius.

    The floating body is welded by its root patch: theta = W t - turn.eta and
    c = -R r, r = s + Phi eta - 1/2 eta'K eta. Then the terms of second order of
    -1/2 (J + m r.r) are the stiffness of rotation, and
    1 + J0 turn turn' + m A'A, A = Phi - E s turn, the mass. Gyroscopic terms couple
    bending to stretching only, by the square of the ratio of their frequencies.
    """
    own = Material(youngs_modulus=70e9, poissons_ratio=0.3, density=2700.0)
    body = reduce(
        SLENDER,
        material=own,
        thickness=0.02,
        modes=12,
        patches={"root": Patch(boundary="left")},
        couples=("root",),
        cache=False,
    )
    root = body.patches["root"]
    s, phi, turn = root.place, root.shape, root.turn
    assert turn is not None
    arm = phi - np.outer((-s[1], s[0]), turn)
    one = np.eye(body.n)
    mass = one + body.inertia * np.outer(turn, turn) + body.mass * arm.T @ arm
    pull = np.einsum("a,aij->ij", s, root.bend) - phi.T @ phi
    change = -one + body.spin + body.mass * pull
    square, shapes = eigh(np.diag(body.frequencies**2), mass)
    first = shapes[:, 0]
    euler = 1.875104**4 * 70e9 * 0.01**2 / (12.0 * 2700.0)
    assert square[0] == pytest.approx(euler, rel=2e-3)
    assert first @ change @ first == pytest.approx(0.1933, abs=0.002)


# ---- markers -------------------------------------------------------------------


def test_a_patch_turns_with_its_nodes():
    """Rows of a patch: 1 for a turn about its centre, 0 for a translation."""
    mesh = build(BLOCK)
    place, rows = patch_rows(mesh, choose(mesh, "top", PATCHES["top"]))
    arms = mesh.nodes - place
    turn = np.column_stack((-arms[:, 1], arms[:, 0])).ravel()
    assert rows @ turn == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    assert rows @ np.tile((2.0, 3.0), len(arms)) == pytest.approx([2.0, 3.0, 0.0])
    # A point inside a cell: exact for quadratic fields.
    field = np.column_stack((mesh.nodes[:, 0] ** 2, mesh.nodes.prod(axis=1))).ravel()
    x, y = 0.0313, -0.0171
    assert point_rows(mesh, "p", (x, y)) @ field == pytest.approx([x * x, x * y])


def test_a_patch_knows_its_normals_and_lengths():
    mesh = Disc(radius=0.5, size=0.1)
    patch = block(mesh=mesh, points={}, patches={"rim": Patch(boundary="rim")})
    rim = patch.patches["rim"]
    out = rim.places / np.linalg.norm(rim.places, axis=1)[:, None]
    assert np.abs(rim.normals - out).max() < 1e-4  # of quadratic edges
    assert rim.weights.sum() == pytest.approx(np.pi, rel=1e-5)
    a, b = rim.places[rim.edges[:, 0]], rim.places[rim.edges[:, 1]]
    assert np.all(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 0.0)


@pytest.mark.parametrize("angle", range(0, 360, 45))
def test_a_patch_is_one_piece_wherever_it_is(angle):
    """Nodes in order along the boundary, across the seam of the numbering too."""
    turn = np.radians(angle + 3)
    place = (0.5 * np.cos(turn), 0.5 * np.sin(turn))
    mesh = build(Disc(radius=0.5, size=0.1))
    chosen = choose(mesh, "p", Patch(boundary="rim", center=place, radius=0.2))
    steps = np.diff(mesh.nodes[chosen.nodes], axis=0)
    assert len(chosen.nodes) > 4
    assert np.linalg.norm(steps, axis=1).max() < 0.06
    around = mesh.nodes[chosen.nodes][:-1]
    assert np.all(around[:, 0] * steps[:, 1] - around[:, 1] * steps[:, 0] > 0.0)


def test_hertz(validate):
    """Contact of a disc with a rigid wall: a^2 = 4 F R/(pi E* t), E* = E.

    The pressure is a half ellipse, whose mean square distance is a^2/4. Fifteen nodes
    in the half width give it to some 1e-3; the disc is curved: (a/R)^2 = 1e-3.
    """
    radius, t = 0.01, 0.002
    body = reduce(
        Disc(
            radius=radius,
            size=0.002,
            refine={
                "foot": Refinement(point=(0.0, -radius), size=3e-5, radius=4e-4),
            },
        ),
        material=STEEL,
        thickness=t,
        modes=10,
        patches={"foot": Patch(boundary="rim", center=(0.0, -radius), radius=6e-4)},
        cache=False,
    )
    foot = body.patches["foot"]
    y = foot.shapes[:, 1]
    whole = (y / body.frequencies**2) @ y.T + foot.flexibility[1::2, 1::2]
    gap = foot.places[:, 1] - foot.places[:, 1].min()
    for depth in (5e-6, 1e-5):
        lam = press(gap - depth, whole)
        force = lam.sum()
        half = np.sqrt(4.0 * lam @ foot.places[:, 0] ** 2 / force)
        exact = np.sqrt(4.0 * force * radius / (np.pi * STEEL.youngs_modulus * t))
        part = half / exact
        validate("Hertz: half width / exact", part, 1.0, 4e-3, "1", "closed form")
        assert np.count_nonzero(lam) > 15
        assert half < 6e-4


# ---- symmetry ------------------------------------------------------------------


def test_half_a_body_has_the_even_modes_of_the_whole():
    shape = Bar(length=0.3, width=0.06, size=0.02)
    options = {
        "mesh": build(shape, symmetric="x"),
        "points": {"tip": (0.3, 0.0)},
        "patches": {"head": Patch(boundary="head")},
    }
    whole = block(modes=16, **options)
    half = block(modes=6, symmetric="x", **options)
    y = whole.points["tip"].shape[1]
    even = whole.frequencies[np.abs(y) < 1e-6 * np.abs(y).max()]
    n = min(len(even), half.n)
    assert n >= 4
    assert half.frequencies[:n] == pytest.approx(even[:n], rel=1e-9)
    # Loads that are not even are answered statically: with G, nothing is lost.
    answers = [
        (
            p := body.patches["head"],
            s := p.shapes.reshape(2 * len(p.nodes), -1),
            (s / body.frequencies**2) @ s.T + p.flexibility,
        )[2]
        for body in (whole, half)
    ]
    assert np.abs(answers[0] - answers[1]).max() < STATIC * np.abs(answers[0]).max()
    assert np.abs(half.points["tip"].shape[1]).max() < 1e-12
    assert half.mass == whole.mass
    assert np.abs(half.coupling).max() < 1e-12


def test_symmetry_that_is_not_there_is_refused():
    mesh = build(Bar(length=0.3, width=0.06, size=0.02))
    with pytest.raises(ModelError, match=r"symmetric = 'y'.* no image"):
        block(mesh=mesh, symmetric="y", points={}, patches={})
    with pytest.raises(ModelError, match="the supports are not"):
        block(symmetric="y", fixed=("left",), points={}, patches={})


# ---- damping, report, files ----------------------------------------------------


def test_damping():
    body = block(damping=ModalDamping(ratio=0.02))
    assert np.all(body.damping == 0.02)
    body = block(damping=RayleighDamping(mass=3.0, stiffness=1e-6))
    w = body.frequencies
    assert body.damping == pytest.approx(1.5 / w + 0.5e-6 * w)


def test_the_report_says_what_is_lost():
    text = block(couples=("top",)).report()
    assert "mass 1.57 kg" in text
    assert "6 modes to" in text
    assert "3 attachment shapes" in text
    assert "'a': static displacement not in the shapes: force x" in text


def test_reductions_are_kept_and_damaged_ones_made_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    made = []
    compute = bodies.compute
    monkeypatch.setattr(bodies, "compute", lambda t: made.append(t) or compute(t))
    first = block(cache=True)
    again = block(cache=True)
    assert len(made) == 1
    assert np.array_equal(first.shapes, again.shapes)
    flexibility = again.patches["top"].flexibility
    assert np.array_equal(first.patches["top"].flexibility, flexibility)
    block(cache=True, thickness=0.011)
    block(cache=True, patches={"top": Patch(boundary="top")})
    block(cache=True, mesh=build(BLOCK))
    assert len(made) == 4
    file = max(
        (tmp_path / "reductions").iterdir(), key=lambda path: path.stat().st_size
    )
    whole = file.read_bytes()
    for damaged in (whole[:-9], b"", whole[:90] + b"?" + whole[91:]):
        for path in (tmp_path / "reductions").iterdir():
            path.write_bytes(damaged)
        caplog.clear()
        block(cache=True)
        assert "its file is damaged" in caplog.text
    assert len(made) == 7


def test_a_cache_that_cannot_be_written_is_noted(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path / "file"))
    with caplog.at_level(logging.INFO, logger="nonsmooth"):
        assert block(cache=True).n == 6
    assert "cannot be kept" in caplog.text


def test_few_files_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(store, "KEPT", 2)
    for k in range(4):
        block(cache=True, thickness=0.01 + 0.001 * k)
    assert len(list((tmp_path / "reductions").iterdir())) == 2


LAZY = """
import sys
from nonsmooth.elements.meshes import Disc
from nonsmooth.fem import reduce
body = reduce(Disc(radius=0.5, size=0.2), material="steel", thickness=0.1, modes=2)
print([name for name in ("skfem", "scipy", "meshio", "numba") if name in sys.modules])
"""


def test_a_known_body_needs_no_mesh(tmp_path):
    """scikit-fem and SciPy, a second to import, are loaded only to reduce a body."""
    env = os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", LAZY],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert said == ["['skfem', 'scipy']\n", "[]\n"]


def test_a_reduction_is_plain_data():
    body = block(couples=("top",))
    copy = pickle.loads(pickle.dumps(body))
    assert np.array_equal(copy.points["a"].bend, body.points["a"].bend)
    assert copy.mesh.edges.keys() == body.mesh.edges.keys()


def test_runs_repeat_to_the_last_bit():
    assert np.array_equal(block().shapes, block().shapes)


# ---- refusals ------------------------------------------------------------------

BAD = [
    ({"modes": 0}, "modes = 0; give 1 or more"),
    ({"modes": 10_000}, "modes = 10000; the mesh has"),
    ({"fixed": ("lef",)}, "'lef'; did you mean 'left'"),
    ({"fixed": ("a",)}, "can still turn"),
    ({"fixed": ("b",)}, "point 'b' is not at a node; the nearest is at"),
    ({"points": {"a": (0.5, 0.0)}}, r"points\['a'\] = \(0.5, 0.0\); outside the mesh"),
    ({"points": {"top": (0.0, 0.0)}}, "a point is called 'top' too"),
    ({"forces": ("q",)}, "forces: no point 'q'; valid: a, b, top"),
    ({"couples": ("a",)}, "point 'a' has no rotation; give a patch"),
    ({"patches": {"t": Patch(boundary="tp")}}, "no boundary 'tp'; did you mean 'top'"),
    (
        {"patches": {"t": Patch(boundary="top", center=(9, 9), radius=1e-3)}},
        "patch 't': no node of boundary 'top' is within 0.001 m",
    ),
    (
        {
            "patches": {"t": Patch(boundary="top", center=(0, 0.05), radius=1e-6)},
            "couples": ("t",),
        },
        "one node and no rotation",
    ),
    ({"symmetric": "z"}, "symmetric = 'z'; give 'x', 'y' or None"),
    ({"thickness": -1.0}, "thickness = -1.0; must be > 0 m"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ModelError, match=message):
        block(**change)


def test_two_pins_hold_a_body():
    body = block(fixed=("a", "c"), points={"a": (-0.1, 0.0), "c": (0.1, 0.0)})
    assert body.is_held
    assert body.frequencies[0] > 0.0
    assert np.abs(body.points["a"].shape).max() < 1e-12


def test_a_patch_wants_centre_and_radius():
    with pytest.raises(ModelError, match="give center and radius, or neither"):
        Patch(boundary="top", center=(0, 0))
