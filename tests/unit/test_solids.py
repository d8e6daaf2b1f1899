"""Pictures of bodies that are kept as finite elements: meshes, colours, ranges."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from nonsmooth import ModelError, gallery, simulate
from nonsmooth.views.scene import scene
from nonsmooth.views.shades import shading_of
from nonsmooth.views.sketch import stage_of
from nonsmooth.views.solids import solid_skins, solid_values, states_of, still_skins
from oracles.rods import Rods

EXACT = Rods()


@pytest.fixture(scope="module")
def rods():
    return simulate(gallery.build("rods", elements=40), 3e-4)


@pytest.fixture(scope="module")
def revolved():
    return simulate(gallery.build("rods", model="axisymmetric", elements=50), 5e-5)


def test_drawn_meshes_have_the_outline_of_the_body(rods, revolved):
    """A rod as high as it is; a body of revolution on both sides of its axis."""
    for run in (rods, revolved):
        skin = still_skins(run.system)["b2"]
        low, high = skin.nodes.min(axis=0), skin.nodes.max(axis=0)
        assert np.allclose(high, (0.5, 0.01), atol=1e-12)
        assert np.allclose(low, (-0.5, -0.01), atol=1e-12)
        (rim,) = skin.rims
        x, y = skin.nodes[rim].T
        area = 0.5 * (np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
        assert area == pytest.approx(1.0 * 0.02, rel=1e-12)
        cells = sum(_area(skin.nodes[cell]) for cell in skin.cells)
        assert cells == pytest.approx(area, rel=1e-12)


def _area(corners):
    x, y = corners.T
    return 0.5 * (np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def test_drawn_nodes_are_where_the_field_has_them(revolved):
    times = np.array([1.1e-5, 3.3e-5])
    stage = stage_of(revolved, times, scale=1.0)
    skin = stage.skins["b2"]
    drawn = stage.mesh("b2") + stage.held["b2"][:2]
    for k, t in enumerate(times):
        places = revolved.field("b2", "displacement", t).places[skin.ids]
        upper = skin.nodes[:, 1] > 0.0
        assert np.allclose(drawn[k][upper], places[upper], atol=1e-15)
        mirrored = places[~upper] * (1.0, -1.0)
        assert np.allclose(drawn[k][~upper], mirrored, atol=1e-15)


def test_states_stand_for_a_run_and_are_straight_between(rods):
    states = states_of(rods)
    assert 10 < len(states) <= 48
    assert states[-1] == rods.t_end
    t = 0.25 * states[3] + 0.75 * states[4]
    values = solid_values(rods.system, states, np.array([t]))
    parts = np.array([values[f"b1.eta.{j}"][0] for j in range(len(states))])
    assert np.allclose(parts[[3, 4]], (0.25, 0.75))
    assert parts.sum() == pytest.approx(1.0)
    skin = solid_skins(rods, states)["b1"]
    wave = skin.fields["stress.xx"].at(np.eye(len(states))[4])
    exact = rods.field("b1", "stress.xx", float(states[4])).values
    assert np.array_equal(wave, exact[skin.ids])


def test_colours_have_the_range_over_the_run(rods):
    """At the first instant nothing is stressed; the bar knows what comes."""
    times = np.array([0.0])
    stage = stage_of(rods, times)
    level = EXACT.youngs_modulus * EXACT.strain
    shading = shading_of(rods, stage, times, "stress.xx")
    assert np.allclose(shading.values["b1"], 0.0)
    assert shading.range[0] == pytest.approx(level, rel=1e-6)
    assert shading.label == "stress xx (Pa)"
    size = shading_of(rods, stage, times, "velocity")
    assert size.range == pytest.approx((0.0, EXACT.speed), abs=1e-9)
    with pytest.raises(ModelError, match="no field 'strss'; did you mean 'stress'"):
        shading_of(rods, stage, times, "strss")
    with pytest.raises(ModelError, match=r"give one of stress\.xx"):
        shading_of(rods, stage, times, "stress")
    with pytest.raises(ModelError, match=r"\(41,\)"):
        shading_of(rods, stage, times, {"b1": np.zeros(3)})


def test_a_page_has_meshes_and_fields(rods):
    raw = gzip.decompress(scene(rods))
    head = json.loads(raw[4 : 4 + int.from_bytes(raw[:4], "little")])
    parts = [part for body in head["bodies"] for part in body["parts"]]
    meshes = [part for part in parts if part["kind"] == "mesh"]
    assert len(meshes) == 2
    names = [field["name"] for field in meshes[0]["fields"]]
    assert names == ["displacement", "von Mises stress", "stress xx", "velocity x"]
    low, high = meshes[0]["fields"][2]["range"]
    level = EXACT.youngs_modulus * EXACT.strain
    assert low == pytest.approx(level, rel=1e-6)
    assert abs(high) < 1e-6 * abs(level)
    assert head["enlarged"] > 100.0


def test_pictures_of_waves(rods, revolved, tmp_path):
    rods.draw([1e-4], str(tmp_path / "a.png"), field="stress.xx", forces=True)
    revolved.draw(path=str(tmp_path / "b.png"), field="von_mises")
    assert (tmp_path / "a.png").stat().st_size > 10_000
    axes = revolved.plot_waves("b2", "stress.xx").axes
    assert axes[0].get_xlabel() == "x (m)"
    assert axes[0].get_ylabel() == "t (µs)"
    with pytest.raises(ModelError, match="along = 'z'; give 'x' or 'y'"):
        revolved.plot_waves("b2", "stress.xx", along="z")
