"""Flexible bodies of finite elements in the event loop; needs the extra `fem`."""

import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    ConstantRate,
    FlexibleBody,
    Material,
    ModalDamping,
    Model,
    ModelError,
    Patch,
    PointForce,
    Revolute,
    RotationDrive,
    Weld,
    fem,
    gallery,
    io,
    simulate,
)
from nonsmooth.elements.meshes import MeshFile, Rectangle
from nonsmooth.pack import pack
from nonsmooth.pack.flexible import loads_of, reduce
from nonsmooth.solve.linearise import linearise
from oracles.beam_theory import ball_on_beam

pytest.importorskip("skfem")

G = 9.81
# Without Poisson's ratio a clamped face does not squeeze the bar.
STEEL = Material(youngs_modulus=2e11, poissons_ratio=0.0, density=8000.0)


def bar(width=1.0, height=0.05, cells=4, **fields):
    given: dict[str, Any] = {"name": "bar", "thickness": 0.01, "modes": 6} | fields
    mesh = Rectangle(
        width=width, height=height, size=height / cells, cells="quadrilateral"
    )
    return FlexibleBody(mesh=mesh, material=STEEL, **given)


def test_flight_keeps_energy():
    body = bar(angular_velocity=40.0, eta=(0.03, 0.01), modes=8)
    balance = simulate(Model(bodies=[body]), until=0.02, rtol=1e-12).energy_balance
    # The figure asked for.
    assert balance.residual < 1e-10 * balance.kinetic[0]


def test_sag_between_two_walls_with_shear():
    body = bar(
        points={"middle": (0.0, 0.0)}, fixed=("left", "right"), modes=8, start="static"
    )
    result = simulate(Model(bodies=[body], gravity=(0.0, -G)), until=1e-4)
    load = STEEL.density * 0.01 * 0.05 * G
    bending = STEEL.youngs_modulus * 0.01 * 0.05**3 / 12.0
    shear = 5.0 / 6.0 * 0.5 * STEEL.youngs_modulus * 0.01 * 0.05
    exact = -load / (384.0 * bending) - load / (8.0 * shear)
    # The shear is 4 % of it. A clamped face cannot warp: 1e-3; modes left out: 1e-4.
    assert abs(result["bar.middle.y"][0] / exact - 1.0) < 2e-3


def blade(speed, damping=None):
    body = bar(
        height=0.02,
        cells=2,
        patches={"root": Patch(boundary="left")},
        position=(0.5, 0.0),
        velocity=(0.0, 0.5 * speed),
        angular_velocity=speed,
        damping=damping,
    )
    law = ConstantRate(rate=speed)
    return Model(
        bodies=[body],
        joints=[Revolute(name="hinge", b="bar.root")],
        drives=[RotationDrive(name="motor", b="bar.root", law=law)],
    )


def test_rotating_blade_stiffens():
    def first(speed):
        damped = blade(speed, ModalDamping(ratio=1.0))
        steady = simulate(damped, until=0.3, method="radau").state()
        values = np.linalg.eigvals(linearise(blade(speed), steady).jacobian)
        return np.min(values.imag[values.imag > 1.0])

    still, turning = first(0.0), first(10.0)
    # The figure asked for, of a slender beam clamped at the axis.
    assert abs((turning**2 - still**2) / 10.0**2 - 0.193) < 0.002


def test_a_weld_of_faces_is_no_joint():
    """Two halves that are welded sag as the whole."""

    def tip(bodies, joints, last):
        model = Model(bodies=bodies, joints=joints, gravity=(0.0, -G))
        return simulate(model, until=1e-4)[f"{last}.tip.y"][0]

    ends = {"left": Patch(boundary="left"), "right": Patch(boundary="right")}
    root = Weld(name="root", b="one.left")
    whole = bar(
        name="one",
        patches=ends,
        points={"tip": (0.5, 0.0)},
        position=(0.5, 0.0),
        start="static",
    )
    half = bar(name="one", width=0.5, patches=ends, position=(0.25, 0.0))
    other = replace(half, name="two", points={"tip": (0.25, 0.0)}, position=(0.75, 0.0))
    halves = [replace(body, start="static") for body in (half, other)]
    seam = Weld(name="seam", a="one.right", b="two.left")
    ours = tip(halves, [root, seam], "two")
    # A face that is welded may still warp, and both have eight shapes or so.
    assert abs(ours / tip([whole], [root], "one") - 1.0) < 1e-3


def test_ball_on_beam_follows_timoshenko():
    model = gallery.build("ball_on_beam")
    parts: dict[str, Any] = {n: model.element(n) for n in ("beam", "ball", "contact")}
    one = reduce(parts["beam"], loads_of(model)["beam"])
    w, phi = np.sqrt(one.stiffness), one.sites["middle"].shape[1]
    stiffness = parts["contact"].normal.stiffness
    t, force = ball_on_beam(stiffness, parts["ball"].mass, 0.01, w, phi, 3e-4, 60_000)
    result = simulate(model, until=3e-4, rtol=1e-9)
    at = slice(None, None, 20)
    ours = result.sample(t[at], ["contact.normal_force"])["contact.normal_force"]
    # Steps of the oracle, 5 ns, with an error of second order.
    assert np.max(np.abs(ours - force[at])) < 2e-6 * force.max()
    assert abs(w[0] / (2.0 * math.pi) - 988.0) < 1.0
    # Contact ends once, and does not come back.
    assert [e.kind for e in result.events] == ["separate"]


def test_bad_meshes_are_refused_by_name():
    body = bar(points={"tip": (2.0, 0.0)})
    with pytest.raises(ModelError, match="body 'bar': points"):
        simulate(Model(bodies=[body]), until=1.0)
    body = bar(patches={"root": Patch(boundary="lft")})
    with pytest.raises(ModelError, match=r"body 'bar': .*did you mean 'left'"):
        simulate(Model(bodies=[body]), until=1.0)
    alone = Patch(boundary="left", center=(-0.5, 0.0), radius=1e-4)
    body = bar(patches={"root": alone})
    model = Model(bodies=[body], joints=[Weld(name="w", b="bar.root")])
    with pytest.raises(ModelError, match="one node"):
        simulate(model, until=1.0)


def test_a_symmetric_body_is_not_loaded_on_one_side():
    """A load beside the axis is one of a pair; its odd modes are not there."""
    body = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=1.0, height=0.1, size=0.1),
        material="steel",
        modes=3,
        points={"l": (-0.4, 0.0), "r": (0.4, 0.0)},
        symmetric="y",
    )
    push = PointForce(name="push", b="bar.l", fy=1.0)
    with pytest.raises(ModelError, match=r"'l' is loaded at \(-0\.4, 0\) m, beside"):
        pack(Model(bodies=[body], forces=[push]))
    both = [push, PointForce(name="other", b="bar.r", fy=1.0)]
    assert pack(Model(bodies=[body], forces=both)).flexible["bar"].n_mode == 3


def test_a_mesh_file_lies_beside_the_model(tmp_path):
    meshio = pytest.importorskip("meshio")
    mesh = fem.build(Rectangle(width=1.0, height=0.2, size=0.1, order=1))
    cells = [("triangle", mesh.cells), ("line", mesh.edges["left"])]
    points = np.column_stack([mesh.nodes, np.zeros(len(mesh.nodes))])
    tags = [np.zeros(len(mesh.cells), int), np.ones(len(mesh.edges["left"]), int)]
    folder = tmp_path / "models"
    folder.mkdir()
    meshio.Mesh(
        points,
        cells,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"left": np.array([1, 1])},
    ).write(folder / "bar.msh", file_format="gmsh22", binary=False)
    body = FlexibleBody(
        name="bar",
        mesh=MeshFile(path="bar.msh"),
        material="steel",
        modes=3,
        fixed=("left",),
    )
    model = Model(bodies=[body], gravity=(0.0, -G))
    io.save(model, folder / "bar.yaml")
    read = io.load(folder / "bar.yaml")
    assert read == model
    assert simulate(read, until=1e-4).status == "finished"
    # Saved elsewhere it takes its mesh along, but not over another file.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    io.save(read, elsewhere / "bar.yaml")
    assert simulate(io.load(elsewhere / "bar.yaml"), until=1e-4).status == "finished"
    (elsewhere / "bar.msh").write_text("another")
    with pytest.raises(ModelError, match=r"bar\.msh'; another file of this name"):
        io.save(read, elsewhere / "bar.yaml")
    # Made in Python it lies in the current folder, where there is none.
    with pytest.raises(ModelError, match=r"body 'bar': .*bar\.msh"):
        simulate(model, until=1e-4)


def test_without_the_extra_the_error_says_how_to_get_it():
    code = (
        "import sys; sys.modules['skfem'] = None\n"
        "from nonsmooth import FlexibleBody, Model, ModelError, simulate\n"
        "from nonsmooth.elements.meshes import Rectangle\n"
        "mesh = Rectangle(width=1.0, height=0.3, size=0.31)\n"
        "body = FlexibleBody(name='b', mesh=mesh, material='brass', modes=2)\n"
        "try:\n"
        "    simulate(Model(bodies=[body]), until=1.0)\n"
        "except ModelError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "body 'b': " in done.stdout
    assert "nonsmooth[fem]" in done.stdout
