"""Zhang and Wang (2016): an elastic slider in a guide with clearance.

Three answers beside each other: the engine, the oracle's own finite elements with trial
of contact patterns, and the closed form of the rigid limit. The paper gives no figures.
"""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import gallery, simulate
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.materials import Material
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.fem.guide import condense
from nonsmooth.kernels.friction import faces
from nonsmooth.result.blocks import stiffness_ratio
from oracles import guide
from oracles import sliding_joint as sj
from oracles.elastic_slider import Slider

pytest.importorskip("skfem")

DATA = Path(__file__).parents[1] / "data"
ASKED = 1e-6  # m, s
RTOL = 1e-10
AREAS = {
    "f1_topleft": "top_left",
    "f2_topright": "top_right",
    "f3_botleft": "bottom_left",
    "f4_botright": "bottom_right",
}
OWN = "other finite elements, slow reference"
START = -0.2955064022  # m, where the rigid motion repeats at once
PAPER = Material(youngs_modulus=2.1e11, poissons_ratio=0.25, density=333.3)


def block(**given):
    return ElasticBlock(material=PAPER, thickness=0.01, **given)


def run(until, rtol=RTOL, **given):
    return simulate(gallery.build("flexible_slider", **given), until=until, rtol=rtol)


def of(result):
    """Return the guide's events: (time, kind)."""
    return [(e.t, e.kind) for e in result.events.of("guide")]


class Bearer:
    """The compiled load law alone, with arrays of its own."""

    def __init__(self, clearance, cells, length=0.6, height=0.5, **given):
        self.own = condense(length, height, block(cells=cells, **given))
        self.n = len(self.own.places)
        head = [self.n, clearance * self.own.stiffness, 0.5 * height, length]
        arrays = (self.own.places, self.own.sides, self.own.give, self.own.lean)
        self.p = np.concatenate([head, *(np.ravel(array) for array in arrays)])
        self.node = np.zeros(faces.n_numbers(self.n))
        self.mark = np.zeros(faces.n_marks(self.n), dtype=np.int64)

    def __call__(self, normal, moment, phi):
        """Return load, slopes and forces of nodes."""
        arrays = (self.p, self.node, self.mark)
        total = faces.bear(*arrays, 1, phi, normal, moment)
        at = faces.N_TOTAL + faces.N_ARRAY * self.n + faces.TOTAL
        first = at - faces.TOTAL + faces.N_TOTAL + faces.FORCES * self.n
        forces = self.node[first : first + self.n].copy()
        gaps = self.node[first + self.n : first + 2 * self.n].copy()
        return total, self.node[at + 1 : at + 3].copy(), forces, gaps


# -- the block alone -------------------------------------------------------------------


def test_condensed_block_is_that_of_the_oracle():
    """Two assemblies of the same triangles; round-off of a solve with 800 unknowns."""
    own = condense(0.6, 0.5, block())
    give, lean = Slider().gives
    scale = np.max(np.abs(own.give))
    np.testing.assert_allclose(own.give, give * own.stiffness, atol=1e-12 * scale)
    np.testing.assert_allclose(own.lean, lean * own.stiffness, atol=1e-12 * scale)


@pytest.mark.parametrize("clearance", [1e-4, 1e-7, 1e-8, 1e-9, 0.0])
def test_load_against_the_oracle(clearance, validate):
    """Random loads, warm starts; every condition of contact holds node by node."""
    rng = np.random.default_rng(7)
    bear = Bearer(clearance, (18, 19))
    slider = Slider(clearance=clearance)
    x, s = slider.places, slider.sides
    for _ in range(25):
        normal, moment = 30.0 * rng.standard_normal(), 10.0 * rng.standard_normal()
        phi = rng.uniform(-0.05, 0.05)
        load, _, forces, gaps = bear(normal, moment, phi)
        wanted = slider.solve(normal, moment, phi)
        # Gaps of 1e-4 m are 2e5 N here, whose round-off is 1e-12 of the forces.
        size = abs(normal) + abs(moment) / 0.6
        part = load / wanted.load
        validate("load of the block / exact", part, 1.0, 1e-10, "1", OWN)
        np.testing.assert_allclose(forces, wanted.forces, atol=1e-9 * size)
        slack = 1e-10 * size + 1e-12 * clearance * bear.own.stiffness
        assert forces.min() >= -slack
        assert gaps.min() >= -slack
        assert np.max(forces * np.maximum(gaps, 0.0)) <= slack * size
        assert np.sum(s * forces) == pytest.approx(normal, abs=1e-10 * size)
        arm = np.sum(s * forces * x) - phi * 0.25 * np.sum(s * forces)
        assert arm == pytest.approx(moment, abs=1e-10 * size)


def test_slopes_of_the_load():
    """Central differences within one pattern; G is linear there."""
    bear = Bearer(2e-9, (18, 19))
    for normal, moment in ((29.0, 4.0), (29.0, 12.0), (-10.0, -7.0)):
        _, slopes, _, _ = bear(normal, moment, 0.03)
        for i, step in enumerate(np.eye(2) * 1e-6):
            ahead = bear(normal + step[0], moment + step[1], 0.03)[0]
            behind = bear(normal - step[0], moment - step[1], 0.03)[0]
            # Round-off of 1e-15 of 30 N over the step.
            assert slopes[i] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


def test_rigid_limit_of_the_load():
    """A stiff block in a wide guide bears as corners or a face do, in closed form."""
    bear = Bearer(1e-3, (6, 6))
    rng = np.random.default_rng(3)
    for _ in range(40):
        normal, moment = 30.0 * rng.standard_normal(), 10.0 * rng.standard_normal()
        phi = rng.uniform(-0.1, 0.1)
        wanted = max(abs(normal), abs(moment + phi * 0.25 * normal) / 0.3)
        assert bear(normal, moment, phi)[0] == pytest.approx(wanted, rel=1e-9)


def test_warm_starts_do_not_change_the_answer():
    rng = np.random.default_rng(11)
    warm, cold = Bearer(0.0, (18, 19)), Bearer(0.0, (18, 19))
    for _ in range(30):
        load = (30.0 * rng.standard_normal(), 10.0 * rng.standard_normal())
        cold.mark[:] = 0
        assert warm(*load, 0.03)[0] == pytest.approx(cold(*load, 0.03)[0], rel=1e-12)


def test_no_load_and_no_answer():
    bear = Bearer(0.0, (6, 6))
    assert bear(0.0, 0.0, 0.03)[0] == 0.0
    assert np.isnan(bear(np.nan, 1.0, 0.03)[0])
    assert bear.mark[faces.CLOSED + bear.n + faces.FAILED] == 1
    # And it recovers.
    assert bear(30.0, 1.0, 0.03)[0] > 0.0


def test_penalty_tends_to_the_condensed_block():
    """All nodes of the mesh, on springs, with trial iteration: first order in 1/k.

    The oracle's springs are alike on all nodes; ours go with the length of face.
    """
    exact = Slider().load(29.43, 9.0, 0.03)
    errors = []
    for stiff in (1e11, 1e13):
        found = Slider().penalty(29.43, 9.0, 0.03, stiff).load
        assert found == pytest.approx(
            Slider(spring=1.0 / stiff).load(29.43, 9.0, 0.03), rel=1e-9
        )
        errors.append(abs(found - exact))
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.02)
    pitch = 0.6 / 18
    ours = [
        abs(Bearer(0.0, (18, 19), penalty=stiff / pitch)(29.43, 9.0, 0.03)[0] - exact)
        for stiff in (1e12, 1e16)
    ]
    assert ours[1] <= 1e-6 * exact < ours[0]


@pytest.mark.slow
def test_load_converges_with_the_mesh():
    """Zero clearance: 18, 36 and 72 cells along the guide; the last two to 0.2 %."""
    loads = np.array(
        [
            [Slider(cells=(n, n + n // 18)).load(29.43, m, 0.03) for m in (19.62, 9.0)]
            for n in (18, 36, 72)
        ]
    )
    steps = np.abs(np.diff(loads, axis=0)) / loads[2]
    assert np.all(steps[1] < 2e-3)
    assert np.all(steps[0] < 3e-2)
    ours = Bearer(0.0, (36, 38))(29.43, 9.0, 0.03)[0]
    assert ours == pytest.approx(loads[1, 1], rel=1e-10)


# -- the motion ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def elastic():
    return run(16.0, position=START)


@pytest.fixture(scope="module")
def tight():
    return run(16.0, rtol=1e-9, clearance=0.0)


@pytest.fixture(scope="module")
def table():
    with (DATA / "flexible_slider_rigid_cycle.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_clearance_of_a_tenth_of_a_millimetre_has_the_rigid_motion(
    elastic, table, validate
):
    expected = [
        (0.239317, "break_away"),
        (2.736925, "reverse"),
        (5.092205, "reverse"),
        (6.451162, "reverse"),
        (7.707030, "stick"),
    ]
    found = of(elastic)[:5]
    assert [kind for _, kind in found] == [kind for _, kind in expected]
    assert [t for t, _ in found] == pytest.approx([t for t, _ in expected], abs=ASKED)
    at = elastic.sample(table["t"], ["slider.x", "guide.load", "motor.torque"])
    limit = "closed form of the rigid limit"
    validate("clearance: place", at["slider.x"], table["x2"], ASKED, "m", limit)
    validate("clearance: load", at["guide.load"], table["G"], ASKED, "N", limit)
    np.testing.assert_allclose(at["motor.torque"], table["torque"], rtol=0, atol=ASKED)
    from_rest = run(1.0)
    assert of(from_rest)[0] == (pytest.approx(0.304720, abs=ASKED), "break_away")


def test_extremes(elastic):
    t = np.linspace(0.0, 8.0, 8001)
    for column, low, high, digits in (
        ("slider.x", -0.389309, 1.088372, 1e-6),
        ("motor.torque", -19.6218, 19.6200, 6e-5),
        ("guide.load", 28.196, 66.141, 6e-4),
    ):
        values = elastic.sample(t, column)[column]
        assert np.min(values) == pytest.approx(low, abs=digits)
        assert np.max(values) == pytest.approx(high, abs=digits)


def test_friction_by_areas(table):
    """Corners: the reference's rule for a flat face; elastic: the same on corners."""
    rigid = run(8.0, position=START, load="corners")
    names = [f"guide.{area}.friction_force" for area in AREAS.values()]
    found = rigid.sample(table["t"], names)
    for column, area in AREAS.items():
        values = found[f"guide.{area}.friction_force"]
        np.testing.assert_allclose(values, table[column], rtol=0, atol=ASKED)


def test_areas_add_up(elastic, tight):
    t = np.linspace(0.0, 16.0, 301)
    for result in (elastic, tight):
        found = result.sample(t)
        parts = [f"guide.{area}" for area in AREAS.values()]
        normal = [found[f"{part}.normal_force"] for part in parts]
        assert np.min(normal) >= -1e-9
        scale = np.max(found["guide.load"])
        np.testing.assert_allclose(sum(normal), found["guide.load"], atol=1e-9 * scale)
        up = normal[2] + normal[3] - normal[0] - normal[1]
        np.testing.assert_allclose(up, found["guide.normal_force"], atol=1e-9 * scale)
        friction = sum(found[f"{part}.friction_force"] for part in parts)
        np.testing.assert_allclose(
            friction, found["guide.friction_force"], atol=1e-9 * scale
        )
        # Coulomb's bound, at rest and in motion.
        most = 0.04 * found["guide.load"] * (1.0 + 1e-9)
        assert np.all(np.abs(found["guide.friction_force"]) <= most)


def test_zero_clearance_sticks_twice_in_a_period(tight):
    kinds = [kind for t, kind in of(tight) if 8.0 < t <= 16.0]
    assert kinds.count("stick") == 2
    assert kinds.count("break_away") == 2
    rigid = run(8.0, load="corners")
    loads = [
        result.sample(np.linspace(0.0, 8.0, 801), "guide.load")["guide.load"].max()
        for result in (tight, rigid)
    ]
    assert loads[0] > 1.4 * loads[1]
    balance = tight.energy_balance
    assert balance.residual <= 1e-8 * balance.exchanged


@pytest.mark.slow
def test_zero_clearance_against_the_oracle(validate):
    """Event-located integration of the oracle's own block.

    The oracle's steps pass over changes of pattern, where its friction has kinks: some
    1e-8 m.
    """
    slider = Slider(cells=(6, 6))
    arcs = guide.motion(guide.Guide(load=slider.load), 3.0)
    model = gallery.build("flexible_slider", clearance=0.0)
    joint, *others = model.joints
    assert isinstance(joint, Prismatic)
    coarse = replace(joint, block=block(cells=(6, 6)))
    model = replace(model, joints=(coarse, *others))
    result = simulate(model, until=3.0, rtol=RTOL)
    times = [event[0] for event in sj.events(arcs)]
    assert len(times) == 2
    assert [t for t, _ in of(result)] == pytest.approx(times, abs=1e-6)
    t = np.linspace(0.0, 3.0, 61)
    found = result.sample(t, "slider.x")["slider.x"]
    validate("no clearance: place, 3 s", found, sj.sample(arcs, t)[0], 1e-7, "m", OWN)


def test_forces_of_an_instant_against_the_oracle(tight, validate):
    """Acceleration, load and nodal forces while it slides."""
    slider = Slider()
    p = guide.Guide(load=slider.load)
    for t in (1.3, 9.4, 13.8):
        at = tight.sample(t)
        slip = np.sign(at["slider.vx"][0])
        wanted = guide.slipping(p, t, float(at["slider.x"][0]), slip, p.mu)
        a, load = at["slider.ax"][0], at["guide.load"][0]
        validate("no clearance: acceleration", a, wanted.a, 1e-9, "m/s²", OWN)
        validate("no clearance: load", load, wanted.total, 1e-8, "N", OWN)
        found = tight.pressure("guide", t)
        nodes = slider.solve(wanted.normal, wanted.torque, slip * p.mu)
        np.testing.assert_allclose(found.forces, nodes.forces, atol=1e-7)
        assert found.places[0] == pytest.approx(
            (at["slider.x"][0] - 0.3, -0.25), abs=1e-9
        )
        assert found.normals[0] == pytest.approx((0.0, 1.0))
        # Pa: force over length of face and thickness; ends have half a length.
        assert found.pressure[3] == pytest.approx(nodes.forces[3] / (0.6 / 18 * 0.01))


def test_regimes_are_told(elastic, tight):
    # 2.1e9 N/m times 1e-4 m over 66 N
    assert stiffness_ratio(elastic, "guide") == pytest.approx(3.2e3, rel=0.05)
    assert "as a rigid block does" in elastic.notes[0]
    assert "as good as none" in tight.notes[0]
    between = run(0.5, clearance=5e-8)
    assert "both set the pattern" in between.notes[0]
    assert not elastic.doubts
    assert not tight.doubts


@pytest.mark.slow
def test_transition_over_the_clearance():
    """From none to the rigid limit; E t c / F decides."""
    t = np.linspace(0.0, 8.0, 161)
    limit = run(8.0, load="corners").sample(t, "slider.x")["slider.x"]
    none = run(8.0, clearance=0.0, rtol=1e-8).sample(t, "slider.x")["slider.x"]
    far = np.max(np.abs(limit - none))
    off = []
    for clearance in (1e-10, 1e-8, 1e-7, 1e-6, 4e-6):
        result = run(8.0, clearance=clearance, rtol=1e-8)
        x = result.sample(t, "slider.x")["slider.x"]
        off.append((np.max(np.abs(x - limit)) / far, np.max(np.abs(x - none)) / far))
    # Below 0.1 as without clearance, above 70 as corners.
    assert off[0][1] < 0.02
    assert off[-1][0] < 1e-4
    # The last two differ by the error of the runs alone.
    assert np.all(np.diff([pair[0] for pair in off[:-1]]) < 0.0)


def test_slider_crank_with_an_elastic_block_and_rubbing_pins():
    """Pins and block in one group of joints; in a wide guide it is the rigid one."""
    rigid = gallery.build("slider_crank", mu=0.1, pin_mu=0.1, pin_radius=0.02)
    guide_of = rigid.element("guide")
    assert isinstance(guide_of, Prismatic)
    joints = [joint for joint in rigid.joints if joint.name != "guide"]
    assert guide_of.length is not None
    high = replace(guide_of, height=0.5 * guide_of.length)
    t = np.linspace(0.0, 1.0, 101)
    found = []
    for joint in (
        high,
        replace(high, clearance=1e-2, block=block(cells=(6, 4))),
        replace(high, clearance=0.0, block=block(cells=(6, 4))),
    ):
        model = replace(rigid, joints=(*joints, joint))
        result = simulate(model, until=1.0, rtol=1e-9)
        balance = result.energy_balance
        assert balance.residual <= 1e-7 * balance.exchanged
        found.append(result.sample(t, "guide.load")["guide.load"])
    scale = np.max(found[0])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6 * scale)
    # Without clearance both faces press, with more force.
    assert np.max(found[2]) > 1.01 * scale


def test_karnopp_tends_to_coulomb():
    """As for the rigid block: error with the root of the band, since mu' > mu."""
    t = np.linspace(0.0, 3.0, 151)
    true = run(3.0, rtol=1e-9).sample(t, "slider.x")["slider.x"]
    errors = []
    for band in (1e-3, 1e-5):
        result = run(3.0, rtol=1e-9, law="karnopp", dead_band=band)
        x = result.sample(t, "slider.x")["slider.x"]
        errors.append(np.max(np.abs(x - true)))
        # The run says how late it is, in place an upper bound.
        (note,) = [note for note in result.notes if "Karnopp's band" in note]
        bound = float(note.split("off by up to ")[1].split(" m")[0])
        assert 0.5 * errors[-1] < bound < 10.0 * errors[-1]
    assert np.log10(errors[0] / errors[1]) / 2.0 == pytest.approx(0.5, abs=0.05)


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"clearance": -1e-4}, "clearance = -0.0001; must be >= 0"),
        ({"mesh": 0}, "mesh = 0; give 1 to 20"),
        ({"nu": 0.5}, "nu = 0.5; must be > -1 and < 0.5"),
        ({"E": 0.0}, "E = 0.0; must be > 0"),
        ({"load": "soft"}, "load = 'soft'; "),
        ({"penalty": 1e9}, "must be left out with load = 'condensed'"),
        ({"load": "penalty", "penalty": -1.0}, "penalty = -1.0; must be > 0"),
        ({"mu": 0.1}, "mu = 0.1; must be <= mu0"),
        ({"film": 1.0}, "film = 1.0; must be left out with motion = 'quasi-static'"),
        ({"motion": "dynamic", "load": "corners"}, "must be left out with motion"),
        ({"motion": "dynamic", "clearance": 0.0}, "clearance = 0.0; must be > 0"),
    ],
)
def test_refused_parameters(given, text):
    with pytest.raises(ModelError) as error:
        gallery.build("flexible_slider", **given)
    assert text in str(error.value)


def test_refused_joints():
    guide_of = gallery.build("flexible_slider").joints[0]
    assert isinstance(guide_of, Prismatic)
    whole: dict[str, Any] = {
        "name": "guide",
        "b": "slider",
        "friction": guide_of.friction,
        "length": 0.6,
        "height": 0.5,
        "clearance": 0.0,
        "block": block(),
    }
    for change, text in (
        ({"clearance": None}, "clearance"),
        ({"clearance": -1.0}, "clearance = -1"),
        ({"friction": None}, "block"),
        ({"height": 0.0}, "height = 0"),
    ):
        with pytest.raises(ModelError) as error:
            Prismatic(**(whole | dict[str, Any](change)))
        assert "guide" in str(error.value)
        assert text in str(error.value)
    with pytest.raises(ModelError) as error:
        block(cells=(1, 5))
    assert "give 2 to 400" in str(error.value)


@pytest.mark.slow
def test_no_pattern_is_told():
    """Friction that locks a block short beside its height: when, which, what to try."""
    with pytest.raises(SolveError) as error:
        run(0.01, 1e-8, clearance=0.0, mu=0.9, mu0=0.9,
            slider_length=0.15, slider_height=0.9)  # fmt: skip
    text = str(error.value)
    assert text.startswith("t = ")
    assert "joint 'guide': no pattern of contact was found" in text
    assert "of 38 nodes" in text
    assert "try less friction" in text
    assert error.value.result is not None
    assert error.value.result.status == "failed"


def test_penalty_that_changes_the_answer_is_told():
    soft = run(0.1, load="penalty", penalty=1e9)
    assert any("give a larger one" in doubt for doubt in soft.doubts)
    hard = run(0.1, load="penalty", penalty=1e20)
    assert any("leave it out" in doubt for doubt in hard.doubts)
    assert not run(0.1, load="penalty").doubts
