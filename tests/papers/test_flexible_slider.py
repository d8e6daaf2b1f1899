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
from scipy.sparse.linalg import splu

from nonsmooth import gallery, simulate
from nonsmooth.elements.bodies import MovingSupport, RigidBody
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.laws import Expression
from nonsmooth.elements.materials import Material
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.fem.guide import condense
from nonsmooth.fem.trial import Trial
from nonsmooth.gallery import kineto
from nonsmooth.kernels.friction import faces
from nonsmooth.result.blocks import stiffness_ratio
from nonsmooth.result.replay import STUCK, replay
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
def test_load_against_the_oracle(clearance):
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
        assert load == pytest.approx(wanted.load, rel=1e-10)
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


@pytest.mark.parametrize("clearance", [0.0, 1e-4])
def test_full_finite_elements_on_springs(clearance):
    """The library's own trial iteration against the oracle's node-wise contact."""
    guide_of = gallery.build(
        "flexible_slider", load="penalty", penalty=1e15, clearance=clearance
    ).joints[0]
    assert isinstance(guide_of, Prismatic)
    assert guide_of.block is not None
    tried = Trial(0.6, 0.5, guide_of.block, clearance)
    slider = Slider(clearance=clearance)
    for normal, moment, phi in ((29.43, 19.62, 0.03), (28.0, -14.0, -0.03)):
        found = tried.solve(normal, moment, phi)
        assert found.is_converged
        # 30 times 1e-6 m/s^2 in acceleration, for 3 kg and mu = 0.03 is 1e-4 N.
        assert found.load == pytest.approx(slider.load(normal, moment, phi), abs=1e-4)
    with pytest.raises(ModelError) as error:
        Trial(0.6, 0.5, block(), 0.0)
    assert "springs need one" in str(error.value)


def test_acceleration_as_the_penalty_grows(tight):
    """All finite elements against the condensed engine: first order, then 1e-6."""
    off = []
    for stiff in (1e13, 1e14, 1e15):
        slider = kineto.Equations({"clearance": 0.0, "penalty": stiff})
        errors = []
        for t in (1.3, 9.4):
            at = tight.sample(t)
            x, v = float(at["slider.x"][0]), float(at["slider.vx"][0])
            found = slider.slip(t, x, v, 0.03 * np.sign(v))
            errors.append(abs(found.a - at["slider.ax"][0]))
        off.append(max(errors))
    assert off[2] < 1e-6
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.1)


@pytest.mark.slow
def test_kineto_elastodynamics():
    """Newmark's steps of the paper; first order, where Karnopp's band ends."""
    model = gallery.build(
        "flexible_slider", clearance=0.0, load="penalty", law="karnopp"
    )
    engine = simulate(model, until=1.0)
    errors = []
    for step in (0.04, 0.02):
        found = kineto.kineto(1.0, step=step, clearance=0.0)
        assert found.is_converged
        assert len(found.t) == round(1.0 / step) + 1
        x = engine.sample(found.t, "slider.x")["slider.x"]
        errors.append(np.max(np.abs(found.x - x)))
    assert errors[1] < 2e-3
    assert errors[1] < 0.8 * errors[0]
    with pytest.raises(ModelError) as error:
        kineto.kineto(1.0, law="coulomb")
    assert "the paper's is 'karnopp'" in str(error.value)


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


def test_clearance_of_a_tenth_of_a_millimetre_has_the_rigid_motion(elastic, table):
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
    np.testing.assert_allclose(at["slider.x"], table["x2"], rtol=0, atol=ASKED)
    np.testing.assert_allclose(at["guide.load"], table["G"], rtol=0, atol=ASKED)
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
def test_zero_clearance_against_the_oracle():
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
    np.testing.assert_allclose(found, sj.sample(arcs, t)[0], rtol=0, atol=1e-7)


def test_forces_of_an_instant_against_the_oracle(tight):
    """Acceleration, load and nodal forces while it slides."""
    slider = Slider()
    p = guide.Guide(load=slider.load)
    for t in (1.3, 9.4, 13.8):
        at = tight.sample(t)
        slip = np.sign(at["slider.vx"][0])
        wanted = guide.slipping(p, t, float(at["slider.x"][0]), slip, p.mu)
        assert at["slider.ax"][0] == pytest.approx(wanted.a, abs=1e-9)
        assert at["guide.load"][0] == pytest.approx(wanted.total, abs=1e-8)
        found = tight.pressure("guide", t)
        nodes = slider.solve(wanted.normal, wanted.torque, slip * p.mu)
        np.testing.assert_allclose(found.forces, nodes.forces, atol=1e-7)
        assert found.places[0] == pytest.approx(
            (at["slider.x"][0] - 0.3, -0.25), abs=1e-9
        )
        assert found.normals[0] == pytest.approx((0.0, 1.0))
        # Pa: force over length of face and thickness; ends have half a length.
        assert found.pressure[3] == pytest.approx(nodes.forces[3] / (0.6 / 18 * 0.01))


@pytest.mark.parametrize("clearance", [0.0, 3e-8])
def test_friction_of_nodes_at_rest(clearance):
    """Replayed: Coulomb's bound, balance, no overlap, and places that are held.

    Displacements are those of the oracle's mesh, all nodes of it.
    """
    result = run(9.0, 1e-8, clearance=clearance)
    away = [e.t for e in result.events.of("guide") if e.kind == "break_away"]
    slider = Slider(clearance=clearance)
    ids, s, x = slider.faces, slider.sides, slider.places
    factored = splu(slider.system)
    n_held = 0
    for t in away:
        last: Any = None
        for now in replay(result, "guide", t, "before"):
            assert now.is_converged
            l, f = now.forces, now.friction
            assert np.all(np.abs(f) <= 0.04 * l)
            assert l.min() >= 0.0
            loads = np.zeros(slider.system.shape[0])
            loads[2 * ids + 1], loads[2 * ids] = s * l, f
            u = factored.solve(loads)
            closed = l > 0.0
            gaps = 0.5 * clearance + s * u[2 * ids + 1]
            frame = np.stack([s, s * x], axis=1)
            w = np.linalg.lstsq(frame[closed], -gaps[closed], rcond=None)[0]
            gaps += frame @ w
            # Deformations are some 1e-7 m; faults of 1e-9 of the load are allowed.
            assert np.max(np.abs(gaps[closed])) < 1e-15
            assert gaps.min() > -1e-15
            place = u[2 * ids] + 0.25 * s * w[1]
            at = result.sample(now.t, ["guide.friction_force", "guide.normal_force"])
            assert np.sum(s * l) == pytest.approx(at["guide.normal_force"][0], rel=1e-8)
            if now.t < t:
                whole = pytest.approx(at["guide.friction_force"][0], abs=1e-6)
                assert np.sum(f) == whole
            if last is not None:
                both = (now.state == STUCK) & (last[1] == STUCK)
                # One node holds wherever the frame is; two do not.
                if np.sum(both) > 1:
                    n_held += int(np.sum(both)) - 1
                    assert np.ptp((place - last[0])[both]) < 1e-15
            last = (place, now.state)
    assert n_held > 100
    # By the result itself: other than shared as the normal forces are.
    shared = result.pressure("guide", 0.9 * away[0])
    own = result.pressure("guide", 0.9 * away[0], history=True)
    assert own.is_converged
    assert np.sum(own.friction) == pytest.approx(np.sum(shared.friction), rel=1e-9)
    assert np.max(np.abs(own.friction - shared.friction)) > 1e-2
    # In motion there is no other history than that all nodes slip.
    later = result.pressure("guide", 1.5, history=True)
    np.testing.assert_allclose(later.friction, -0.03 * later.forces, rtol=1e-9)


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


@pytest.mark.slow
def test_motion_in_the_clearance():
    """A few modes, two patches: extremes are those of the quasi-static motion."""
    whole = run(5.2, 1e-6, motion="dynamic", position=START)
    t = np.linspace(0.0, 5.2, 5201)
    x = whole.sample(t, "slider.x")["slider.x"]
    assert np.min(x) == pytest.approx(-0.389309, abs=3e-4)
    assert np.max(x) == pytest.approx(1.088372, abs=3e-4)
    # It strikes the upper face where it turns over, after 2.74 s, harder than it will
    # press on it.
    hits = [e.t for e in whole.events if (e.kind, e.element) == ("touch_down", "upper")]
    first = min(t for t in hits if t > 2.7)
    near = np.linspace(first, first + 2e-3, 401)
    forces = whole.sample(near, "upper.normal_force")["upper.normal_force"]
    calm = run(4.0, 1e-8, position=START)
    top = [f"guide.top_{end}.normal_force" for end in ("left", "right")]
    then = sum(calm.sample(first + 2e-3, name)[name][0] for name in top)
    assert np.max(forces) > 5.0 * then
    balance = whole.energy_balance
    assert balance.residual <= 1e-4 * balance.exchanged


def test_it_starts_in_its_clearance():
    """On two corners under the bar's weight, on its lower face without much of it."""
    whole = run(0.02, 1e-6, motion="dynamic")
    at = whole.sample(0.02)
    assert at["slider.theta"][0] == pytest.approx(-1e-4 / 0.6, rel=1e-2)
    assert abs(at["slider.y"][0]) < 1e-6
    assert at["guide.load"][0] == pytest.approx(66.0, abs=2.0)
    flat = run(0.02, 1e-6, motion="dynamic", bar_length=0.5).sample(0.02)
    assert flat["slider.y"][0] == pytest.approx(-5e-5, rel=1e-2)
    assert flat["guide.load"][0] == pytest.approx(29.43, abs=1.0)


def test_corners_say_that_they_ignore_the_clearance():
    result = run(0.1, load="corners", clearance=3e-4)
    assert "clearance = 0.0003 m is ignored" in result.notes[0]


def test_guides_that_move_are_fixed_ones_in_another_field():
    """A guide that is lifted ever faster: as under more gravity; no other frame."""
    lift = 2.0  # m/s^2
    heavy = gallery.build("flexible_slider", clearance=3e-8, gravity=9.81 + lift)
    still = gallery.build("flexible_slider", clearance=3e-8)
    _, slider, bar = still.bodies
    support = MovingSupport(
        name="base",
        y=Expression(text=f"{0.5 * lift}*t**2"),
        points={"wall": (-3.0, 0.0)},
    )
    guide_of, pin = still.joints
    spring, push = still.forces
    moving = replace(
        still,
        bodies=(support, slider, bar),
        joints=(replace(guide_of, a="base"), pin),
        forces=(replace(spring, a="base.wall"), push),
    )
    t = np.linspace(0.0, 4.0, 41)
    names = ["slider.x", "guide.load", "guide.top_left.normal_force", "motor.torque"]
    wanted = simulate(heavy, until=4.0, rtol=RTOL).sample(t, names)
    found = simulate(moving, until=4.0, rtol=RTOL).sample(t, names)
    for name in names:
        scale = np.max(np.abs(wanted[name]))
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6 * scale)


def test_a_heavy_guide_on_wheels():
    """A guide on a body of its own: momentum along the track, and the ledger."""
    still = gallery.build("flexible_slider", clearance=0.0, k=0.0, force=0.0)
    _, slider, bar = still.bodies
    cart = RigidBody(name="cart", mass=5.0, inertia=1.0)
    guide_of, pin = still.joints
    free = replace(
        still,
        bodies=(cart, slider, bar),
        joints=(
            Prismatic(name="track", b="cart"),
            replace(guide_of, a="cart"),
            pin,
        ),
        forces=(),
    )
    result = simulate(free, until=6.0, rtol=1e-9)
    at = result.sample(np.linspace(0.0, 6.0, 61))
    momentum = 5.0 * at["cart.vx"] + at["slider.vx"] + 2.0 * at["bar.vx"]
    np.testing.assert_allclose(momentum, momentum[0], atol=1e-9)
    assert np.ptp(at["cart.x"]) > 1e-3
    balance = result.energy_balance
    assert balance.residual <= 1e-7 * balance.exchanged


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
