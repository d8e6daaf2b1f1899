"""Transverse impact of two bars [HongLiu2012], section 1: first impact.

Figures and series: a full finite-element computation on two meshes (spec of the
project), peak 31.93 +- 0.10 N. Here the reductions are marched in plain NumPy, which
says that they are right; the engine is not in it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Bar, Patch, Rectangle, Refinement
from nonsmooth.fem import reduce
from oracles.pressed_patches import Bars

DATA = Path(__file__).parents[1] / "data" / "transverse_bars_first_impact.csv"
METAL = Material(youngs_modulus=70e9, poissons_ratio=0.3, density=2700.0)
SPEED, THICKNESS, REACH = 0.2, 0.002, 1.8e-4  # m/s, m, m


def bars(modes=40, size=15e-6, is_symmetric=True):
    tip, place = (0.3075, 0.0), (0.0, 0.0)
    options: dict[str, Any] = {
        "material": METAL,
        "thickness": THICKNESS,
        "modes": modes,
    }
    top = reduce(
        Bar(
            length=0.3075,
            width=0.015,
            size=3.75e-3,
            refine={"tip": Refinement(point=tip, size=size, radius=1.2e-4)},
        ),
        symmetric="x" if is_symmetric else None,
        patches={"head": Patch(boundary="head", center=tip, radius=REACH)},
        cache=False,
        **options,
    )
    low = reduce(
        Rectangle(
            width=0.6,
            height=0.015,
            center=(0.0, -0.0075),
            size=3.75e-3,
            refine={"tip": Refinement(point=place, size=size, radius=1.2e-4)},
        ),
        fixed=("left", "right"),
        symmetric="y" if is_symmetric else None,
        patches={"face": Patch(boundary="top", center=place, radius=REACH)},
        cache=False,
        **options,
    )
    return top, low


# Defaults of the project; and as many even modes, found without symmetry.
CASES = [(40, True), pytest.param(80, False, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("modes", "is_symmetric"), CASES)
def test_the_first_impact(modes, is_symmetric):
    top, low = bars(modes, is_symmetric=is_symmetric)
    area = 0.3 * 0.015 + 0.5 * np.pi * 0.0075**2
    assert top.mass == pytest.approx(2700.0 * THICKNESS * area, rel=1e-6)
    series = np.genfromtxt(DATA, delimiter=",", names=True)
    times = np.arange(0.0, 140e-6, 0.25e-6)
    force, impulse, change = Bars(top, low, "head", "face").march(SPEED, times)
    k = int(np.argmax(force))
    assert force[k] == pytest.approx(31.93, abs=0.3)
    assert times[k] == pytest.approx(17.5e-6, abs=1e-6)
    assert times[np.flatnonzero(force)[-1]] == pytest.approx(129.9e-6, abs=1e-6)
    assert impulse[-1] == pytest.approx(2.213e-3, rel=0.01)
    # The two meshes of the series differ by up to 0.17 N; the spec allows 0.3 N.
    exact = np.interp(times, series["t"], series["F_fine"])
    inside = times < series["t"][-1]
    assert np.abs(force - exact)[inside].max() < 0.3
    # Elastic energy of shapes and of G: nothing is lost but round-off of steps.
    assert abs(change) < 1e-5
