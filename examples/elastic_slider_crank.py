"""A slider-crank with an elastic slider, in a guide without clearance; its pins rub."""

from dataclasses import replace

import numpy as np

from nonsmooth import FlexibleBody, Material, Result, gallery, simulate
from nonsmooth.elements.meshes import Rectangle

rigid = gallery.build(
    "slider_crank", mu=0.1, pin_mu=0.1, slider_length=0.1, slider_height=0.05
)
# The same mass, 20 mm thick, of a plastic: its faces give way by micrometres.
plastic = Material(
    youngs_modulus=3e9, poissons_ratio=0.35, density=1.0 / (0.1 * 0.05 * 0.02)
)
slider = FlexibleBody(
    name="slider",
    mesh=Rectangle(width=0.1, height=0.05, size=0.005, order=1),
    material=plastic,
    thickness=0.02,
    position=(0.4, 0.0),
)
bodies = [slider if body.name == "slider" else body for body in rigid.bodies]
guide = rigid.element("guide")
t = np.linspace(0.0, 1.0, 401)


def run(clearance: float | None) -> Result:
    """Return one second, of the elastic slider unless there is no clearance given."""
    if clearance is None:
        return simulate(rigid, until=1.0)
    own = replace(guide, clearance=clearance)  # pyright: ignore[reportCallIssue]
    joints = [own if joint is guide else joint for joint in rigid.joints]
    return simulate(replace(rigid, bodies=bodies, joints=joints), until=1.0)


results = {clearance: run(clearance) for clearance in (None, 1e-4, 0.0)}
loads = {c: r.sample(t, "guide.load")["guide.load"] for c, r in results.items()}

if __name__ == "__main__":
    for clearance, load in loads.items():
        print(f"clearance {clearance}: largest load {load.max():.1f} N")
        print(*results[clearance].notes)
