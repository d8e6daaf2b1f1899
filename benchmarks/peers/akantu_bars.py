"""The first impact of two bars in akantu: explicit steps, lumped mass, penalty.

Half of each bar, linear triangles graded as ours; the plane x = 0 cannot be crossed.
Run it as a program with its settings, `akantu_bars.py size factor`: akantu keeps its
materials in one global place, and one run a process is what it is made for. It prints
peak (N), its time, end (s), impulse (N s), set-up and march (CPU s), steps, nodes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth import gallery
from nonsmooth.fem.meshing import build

E, NU, RHO, THICKNESS, SPEED = 70e9, 0.3, 2700.0, 0.002, 0.2
# Half-width of the surfaces that are searched for contact, m; end of the run, s; part
# of the stable step.
SURFACE, UNTIL, COURANT = 3e-4, 1.5e-4, 0.8

MATERIAL = """
material elastic [
  name = metal
  rho = {rho}
  E = {e}
  nu = {nu}
  Plane_Stress = true
]
contact_detector [
  type = explicit
  master = master
  slave = slave
  projection_tolerance = 1e-10
  max_iterations = 100
  extension_tolerance = 1e-5
]
contact_resolution penalty_linear [
  name = pair
  mu = 0.0
  epsilon_n = {penalty}
  epsilon_t = 0.0
  is_master_deformable = true
]
"""


def halves(size: float) -> tuple[Any, Any, Any, Any]:
    """Return nodes, triangles, their bodies and the segments of both surfaces."""
    model = gallery.build("transverse_bars", contact_size=size)
    nodes: list[Any] = []
    cells: list[Any] = []
    sides: list[Any] = []
    first = 0
    for body, edge in zip(model.bodies, ("head", "top"), strict=True):
        chosen: Any = body
        mesh = build(chosen.mesh, symmetric=chosen.symmetric)
        n = 3  # corners: linear triangles on the same vertices
        used, corners = np.unique(mesh.cells[:, :n], return_inverse=True)
        corners = corners.reshape(-1, n)
        number = np.full(len(mesh.nodes), -1)
        number[used] = np.arange(len(used))
        places = mesh.nodes[used]
        if chosen.name == "b1":
            places = np.stack((places[:, 1], -places[:, 0]), axis=1)
        kept = places[corners][:, :, 0].mean(axis=1) > 0.0
        corners = corners[kept]
        lines = number[mesh.edges[edge][:, :2]]
        middle = np.abs(places[lines][:, :, 0]).max(axis=1)
        inside = (middle < SURFACE) & (places[lines][:, :, 0].mean(axis=1) > 0.0)
        lines = lines[inside]
        alive = np.unique(corners)
        again = np.full(len(places), -1)
        again[alive] = np.arange(len(alive))
        nodes.append(places[alive])
        cells.append(again[corners] + first)
        sides.append(again[lines] + first)
        first += len(alive)
    return np.concatenate(nodes), cells[0], cells[1], sides


def write(folder: Path, size: float) -> Any:
    """Write the mesh for akantu; return the nodes of the upper bar."""
    meshio: Any = importlib.import_module("meshio")
    nodes, upper, lower, (slave, master) = halves(size)
    names = {"upper": [1, 2], "lower": [2, 2], "slave": [3, 1], "master": [4, 1]}
    blocks = [
        ("triangle", upper),
        ("triangle", lower),
        ("line", slave),
        ("line", master),
    ]
    tags = [np.full(len(part), k + 1) for k, (_, part) in enumerate(blocks)]
    mesh = meshio.Mesh(
        np.column_stack((nodes, np.zeros(len(nodes)))),
        blocks,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={name: np.array(pair) for name, pair in names.items()},
    )
    with contextlib.redirect_stdout(io.StringIO()):
        mesh.write(folder / "bars.msh", file_format="gmsh22", binary=False)
    return np.unique(upper)


def run(size: float, factor: float) -> tuple[float, ...]:
    """March the first impact; see the head of this file for what is returned."""
    aka: Any = importlib.import_module("akantu")
    begin = time.process_time()
    # As in our gallery: N/m^2 for a unit of thickness.
    penalty = factor * E / (3.0 * (1.0 - 2.0 * NU)) / 0.5e-3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upper = write(folder, size)
        text = MATERIAL.format(rho=RHO, e=E, nu=NU, penalty=penalty)
        (folder / "bars.dat").write_text(text, encoding="utf-8")
        aka.parseInput(str(folder / "bars.dat"))
        mesh = aka.Mesh(2)
        mesh.read(str(folder / "bars.msh"))
        coupler = aka.CouplerSolidContact(mesh)
        solid = coupler.getSolidMechanicsModel()
        contact = coupler.getContactMechanicsModel()
        coupler.initFull(_analysis_method=aka._explicit_lumped_mass)
    selector = aka.PhysicalSurfaceSelector(mesh)
    contact.getContactDetector().setSurfaceSelector(selector)
    places = mesh.getNodes()
    held = solid.getBlockedDOFs()
    held[np.abs(places[:, 0]) < 1e-9, 0] = True
    held[places[:, 0] > 0.3 - 1e-9, :] = True
    is_upper = np.zeros(len(places), dtype=bool)
    is_upper[upper] = True
    solid.getVelocity()[is_upper, 1] = -SPEED
    h = COURANT * solid.getStableTimeStep()
    coupler.setTimeStep(h)
    set_up = time.process_time() - begin
    n = int(UNTIL / h)
    force = np.zeros(n)
    begin = time.process_time()
    for k in range(n):
        coupler.solveStep()
        # Of both halves.
        force[k] = 2.0 * THICKNESS * contact.getInternalForce()[is_upper, 1].sum()
    march = time.process_time() - begin
    force = np.abs(force)
    times = h * np.arange(1, n + 1)
    peak = int(np.argmax(force[times < 5e-5]))
    end = float(times[np.flatnonzero(force > 0.0)[-1]])
    impulse = float(force.sum() * h)
    return (
        float(force[peak]),
        float(times[peak]),
        end,
        impulse,
        set_up,
        march,
        float(n),
        float(len(places)),
    )


if __name__ == "__main__":
    print(*run(float(sys.argv[1]), float(sys.argv[2])))
