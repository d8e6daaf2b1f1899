"""The flexible slider: 40 s with clearance and without, over mesh and guide nodes.

Errors are those of x at the end of each period, against runs of tighter tolerance: with
clearance of the rigid block on its corners, without on the same mesh. Condensation is a
cost of its own, paid once for each mesh. Nodes of the guide at about the same number of
triangles tell what their number alone costs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.common import Row, cpu_time, timed
from nonsmooth import ElasticBlock, Result, gallery, simulate
from nonsmooth.elements.joints import Prismatic
from nonsmooth.fem.guide import condense
from nonsmooth.pack import pack

UNTIL, PERIOD = 40.0, 8.0  # s
RTOL, TIGHT = 1e-8, 1e-11
MESHES = (1, 2, 3)
CELLS = ((9, 38), (18, 19), (36, 10), (72, 5))  # some 350 each
AT = np.arange(PERIOD, UNTIL + 1.0, PERIOD)


def places(result: Result) -> np.ndarray:
    """Return x at the end of each period, m."""
    return result.sample(AT, "slider.x")["slider.x"]


def run() -> list[Row]:
    """Measure runs with clearance and without."""
    rigid = gallery.build("flexible_slider", load="corners")
    limit = places(simulate(rigid, UNTIL, rtol=TIGHT))
    rows: list[Row] = []
    for clearance, wanted in ((1e-4, 0.1), (0.0, 0.5)):
        for mesh in MESHES:
            model = gallery.build("flexible_slider", clearance=clearance, mesh=mesh)
            system = pack(model)
            one = timed(lambda s=system: simulate(s, UNTIL, rtol=RTOL), 5)
            exact = places(simulate(system, UNTIL, rtol=TIGHT))
            if clearance > 0.0:
                exact = limit
            error = float(np.abs(places(one.result) - exact).max())
            aim = f"; to reach: {wanted:g}" if mesh == 1 else ""
            n = 2 * (18 * mesh + 1)
            rows.append(
                Row(what=f"c = {clearance:g} m, {684 * mesh**2} triangles, {n} nodes",
                    value=one.cpu, unit="s",
                    note=f"whole call, {UNTIL:g} s of motion; loop {one.march:.4f} s; "
                    f"{one.result.cost['steps']} steps; x off by {error:.1e} m{aim}")
            )  # fmt: skip
    return [*rows, *guide_nodes(), *condensations(), in_motion()]


def guide_nodes() -> list[Row]:
    """Measure runs without clearance over the number of nodes on the guide."""
    rows: list[Row] = []
    model = gallery.build("flexible_slider", clearance=0.0)
    joint, *others = model.joints
    assert isinstance(joint, Prismatic)
    assert joint.block is not None
    for cells in CELLS:
        own = replace(joint, block=replace(joint.block, cells=cells))
        system = pack(replace(model, joints=(own, *others)))
        one = timed(lambda s=system: simulate(s, UNTIL, rtol=RTOL), 5)
        rows.append(
            Row(what=f"c = 0, {2 * (cells[0] + 1)} nodes, {2 * cells[0] * cells[1]} "
                "triangles", value=one.cpu, unit="s",
                note=f"{one.result.cost['steps']} steps")
        )  # fmt: skip
    return rows


def in_motion() -> Row:
    """Measure the block that moves in its clearance."""
    system = pack(gallery.build("flexible_slider", motion="dynamic"))
    one = timed(lambda: simulate(system, 2.0, rtol=1e-6), 1)
    return Row(what="motion in the clearance, c = 0.0001 m", value=one.cpu, unit="s",
               note=f"2 s of motion; {one.result.cost['steps']} steps")  # fmt: skip


def condensations() -> list[Row]:
    """Measure condensation over the mesh."""
    rows: list[Row] = []
    for mesh in MESHES:
        joint = gallery.build("flexible_slider", mesh=mesh).element("guide")
        assert isinstance(joint, Prismatic)
        block = joint.block
        assert isinstance(block, ElasticBlock)
        seconds = cpu_time(lambda b=block: condense(0.6, 0.5, b), 3)
        rows.append(
            Row(what=f"condensation, {684 * mesh**2} triangles",
                value=seconds, unit="s", note="once for each mesh")
        )  # fmt: skip
    return rows
