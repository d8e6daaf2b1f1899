"""The flexible slider: 40 s with clearance and without, over the mesh.

Errors are those of x at the end of each period, against runs of tighter tolerance: with
clearance of the rigid block on its corners, without on the same mesh. Condensation is a
cost of its own, paid once for each mesh.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row, cpu_time, timed
from nonsmooth import ElasticBlock, Result, gallery, simulate
from nonsmooth.elements.joints import Prismatic
from nonsmooth.fem.guide import condense
from nonsmooth.pack import pack

UNTIL, PERIOD = 40.0, 8.0  # s
RTOL, TIGHT = 1e-8, 1e-11
MESHES = (1, 2, 3)
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
    return [*rows, *condensations()]


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
