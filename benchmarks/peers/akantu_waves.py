"""Full finite elements of two bars in akantu, on our mesh and with our step.

`transverse_bars` with `modes="full"` and the penalty of factor 1: the same linear
quadrilaterals, nodes and lumped masses, the same springs of nodes. Run it as a program
with its settings, `akantu_waves.py size steps`, as `akantu_bars.py` is. It prints the
force at the last step (N), its impulse (N s), set-up and march (CPU s), elements.
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

from benchmarks.peers.akantu_bars import MATERIAL, NU, RHO, SPEED, THICKNESS, E
from nonsmooth import gallery
from nonsmooth.pack import pack
from nonsmooth.pack.waves import Waves, pack_waves

COURANT = 0.9


def bars(size: float) -> Waves:
    """Return our bars, without a step."""
    model = gallery.build(
        "transverse_bars", modes="full", method="penalty", mesh_size=size
    )
    return pack_waves(pack(model))


def write(folder: Path, waves: Waves) -> tuple[Any, int]:
    """Write the mesh for akantu; return the nodes of the upper bar, and all cells."""
    meshio: Any = importlib.import_module("meshio")
    nodes: list[Any] = []
    blocks: list[tuple[str, Any]] = []
    lines: list[tuple[str, Any]] = []
    first = 0
    model = waves.system.model
    for name, patch in (("b1", "tip"), ("b2", "face")):
        part, body = waves.parts[name], model.element(name)
        own: Any = part.own
        nodes.append(part.global_places(own.nodes))
        blocks.append(("quad", own.cells + first))
        chain = own.boundary(patch, body.patches[patch]).nodes  # type: ignore[attr-defined]
        lines.append(("line", np.stack((chain[:-1], chain[1:]), axis=1) + first))
        first += len(own.nodes)
    names = {"upper": [1, 2], "lower": [2, 2], "slave": [3, 1], "master": [4, 1]}
    blocks += lines
    tags = [np.full(len(part), k + 1) for k, (_, part) in enumerate(blocks)]
    places = np.concatenate(nodes)
    mesh = meshio.Mesh(
        np.column_stack((places, np.zeros(len(places)))),
        blocks,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={name: np.array(pair) for name, pair in names.items()},
    )
    with contextlib.redirect_stdout(io.StringIO()):
        mesh.write(folder / "bars.msh", file_format="gmsh22", binary=False)
    return np.unique(blocks[0][1]), len(blocks[0][1]) + len(blocks[1][1])


def run(size: float, steps: int) -> tuple[float, ...]:
    """March; see the head of this file for what is returned."""
    aka: Any = importlib.import_module("akantu")
    waves = bars(size)
    h = COURANT * waves.critical_step
    begin = time.process_time()
    penalty = E / (3.0 * (1.0 - 2.0 * NU)) / 0.5e-3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upper, n_cell = write(folder, waves)
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
    is_upper = np.zeros(len(places), dtype=bool)
    is_upper[upper] = True
    solid.getBlockedDOFs()[np.abs(places[:, 0]) > 0.3 - 1e-9, :] = True
    solid.getVelocity()[is_upper, 1] = -SPEED
    coupler.setTimeStep(h)
    set_up = time.process_time() - begin
    force = np.zeros(steps)
    begin = time.process_time()
    for k in range(steps):
        coupler.solveStep()
        force[k] = THICKNESS * contact.getInternalForce()[is_upper, 1].sum()
    march = time.process_time() - begin
    force = np.abs(force)
    return float(force[-1]), float(force.sum() * h), set_up, march, float(n_cell)


if __name__ == "__main__":
    print(*run(float(sys.argv[1]), int(sys.argv[2])))
