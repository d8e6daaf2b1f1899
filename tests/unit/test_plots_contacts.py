"""Pictures of contacts: shapes, marks, arrows, over time."""

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    ModelError,
    MovingSupport,
    PointMass,
    Polygon,
    RigidBody,
    Segment,
    Shape,
    gallery,
    simulate,
)
from nonsmooth.views import contacts
from nonsmooth.views.figure import MODES, PALETTE
from nonsmooth.views.places import nearest
from nonsmooth.views.plots import (
    draw,
    plot_contacts,
    plot_energy,
    plot_series,
)
from nonsmooth.views.symbols import GLYPHS
from oracles import bearings as slow
from oracles.pictures import areas, labels, marks, panels, poses_at, rgb, strokes

WEB = Path(__file__).parents[2] / "web" / "src"
MU, MU0, SPEED = 0.3, 0.4, 0.1  # of the belt
WEIGHT, STIFFNESS, FREQUENCY = 9.81, 100.0, 10.0  # N, N/m, rad/s
FIRST = MU0 * WEIGHT / (STIFFNESS * SPEED)  # s, the block lets go
# The run's rtol of 1e-8 at most times a few steps; what is wrong is larger by far.
RUN = 1e-7


@pytest.fixture(scope="module")
def belt():
    return simulate(gallery.build("belt"), until=2.0)


@pytest.fixture(scope="module")
def compactor():
    """Return a run with every mode but stick."""
    return simulate(gallery.build("compactor"), until=0.03)


@dataclass(frozen=True, kw_only=True)
class _Wall(Shape):
    """A shape of the user's own: a vertical wall, the body to its left."""

    x: float

    @staticmethod
    def nearest(p, a, b, out):
        out[0] = b[0] - a[0] - p[0]
        out[1] = 1.0
        out[2] = 0.0
        out[3] = 0.0


@dataclass(frozen=True, kw_only=True)
class _Pair(Shape):
    """Another one: two corners, the body above a level face."""

    def corners(self):
        return ((-0.1, 0.0), (0.1, 0.0))

    @staticmethod
    def nearest(p, a, b, out):
        out[0] = a[1] - b[1]
        out[1] = 0.0
        out[2] = -1.0
        out[3] = 0.0


SQUARE = ((-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1))


@pytest.fixture(scope="module")
def heap():
    """Return a run with all shapes, on bodies, a support and the ground."""
    soft = KelvinVoigt(stiffness=1e4, damping=10.0)
    rough = Coulomb(mu=0.3)

    def body(name, x, y, angle=0.0, **shapes):
        return RigidBody(
            name=name,
            mass=1.0,
            inertia=0.01,
            position=(x, y),
            angle=angle,
            velocity=(0.5, 0.0),
            shapes=shapes,
        )

    model = Model(
        gravity=(0.0, -9.81),
        bodies=(
            Ground(
                shapes={
                    "table": Polygon(vertices=((-1, -0.5), (1, -0.5), (1, 0), (-1, 0))),
                    "ramp": Segment(start=(3.0, 0.5), end=(2.0, 0.0)),
                    "ball": Circle(center=(4.0, 0.0), radius=0.3),
                    "slope": Line(point=(0.0, -1.0), angle=0.1),
                    "wall": _Wall(x=-2.0),
                }
            ),
            body("box", 0.0, 0.1, box=Polygon(vertices=SQUARE), face=Line()),
            body("wheel", 0.5, 0.15, rim=Circle(center=(0.0, 0.0), radius=0.15)),
            body("bar", 0.0, 0.35, 0.3, edge=Segment(start=(0.3, 0), end=(-0.3, 0))),
            body("twin", -0.6, 0.4, feet=_Pair()),
            PointMass(name="bead", mass=0.1, position=(1.5, 0.2)),
            MovingSupport(name="plate", x=1.5, y=0.0),
        ),
        contacts=(
            Contact(
                name="sole", a="ground.table", b="box.box", normal=soft, friction=rough
            ),
            Contact(name="roll", a="ground.table", b="wheel.rim", normal=soft),
            Contact(name="ride", a="box.box", b="bar.edge", normal=soft),
            Contact(name="bump", a="box.box", b="wheel.rim", normal=soft),
            Contact(name="fall", a="plate", b="bead", normal=soft, friction=rough),
            Contact(name="stand", a="ground.table", b="twin.feet", normal=soft),
            Contact(name="wall", a="ground.wall", b="twin", normal=soft),
            Contact(name="ball", a="ground.ball", b="box.box", normal=soft),
        ),
    )
    return simulate(model, until=0.05)


# ---- where contacts are ------------------------------------------------------------


def test_spots_are_where_the_solver_has_them(heap, compactor, belt):
    """Distance and normal in Python against the gap that the kernels give."""
    for result in (heap, compactor, belt):
        t = result.t_end
        poses = poses_at(result, t)
        found = result.system.spots
        assert [spot.name for spot in found] == list(result.system.contacts)
        for spot in found:
            if spot.is_flat:
                continue  # its columns tell, and are tested with them
            point, normal = slow.place(spot, poses)
            owner = poses.get(spot.owner, (0.0, 0.0, 0.0))
            distance = nearest(spot.surface, owner, point)[0]
            gap = result.sample(t, f"{spot.name}.gap", "before")[f"{spot.name}.gap"][0]
            # Round-off of positions of order one.
            assert distance == pytest.approx(gap, abs=1e-12)
            assert math.hypot(*normal) == pytest.approx(1.0, abs=1e-12)


def test_outlines_touch_both_ways(heap):
    found = [x for x in heap.system.spots if x.element == "ride"]
    assert {(x.owner, x.body) for x in found} == {("box", "bar"), ("bar", "box")}
    # Two ends of the bar on the box, four corners of the box on the bar.
    assert [x.owner for x in found].count("box") == 2
    assert [x.owner for x in found].count("bar") == 4


def test_stays_of_a_belt(belt):
    """Stick lasts 2 D/speed, slip the rest of the period, by the closed form."""
    stays = contacts.stays(belt)["sole"]
    assert stays[0].begin == 0.0
    assert stays[-1].end == belt.t_end
    assert [stay.mode for stay in stays[:3]] == ["stick", "slip-", "stick"]
    swing = (MU0 - MU) * WEIGHT / STIFFNESS
    stick = 2.0 * swing / SPEED
    slip = (2.0 * math.pi - 2.0 * math.atan(swing * FREQUENCY / SPEED)) / FREQUENCY
    assert stays[0].end == pytest.approx(FIRST, abs=RUN)
    assert stays[1].end - stays[1].begin == pytest.approx(slip, abs=RUN)
    assert stays[2].end - stays[2].begin == pytest.approx(stick, abs=RUN)
    for before, after in pairwise(stays):
        assert before.end == after.begin
        assert before.mode != after.mode


def test_arcs_begin_at_new_modes(belt):
    begins = belt.steps.t[contacts.arc_begins(belt)]
    np.testing.assert_array_equal(begins, [0.0, *belt.events.t])


# ---- the mechanism -----------------------------------------------------------------


def test_every_glyph_has_a_painter():
    """What the viewer may be told to draw, a sketch can draw, too."""
    text = (WEB / "scene" / "glyphs.ts").read_text(encoding="utf-8")
    painted = set(re.findall(r'(?m)^registerGlyph\("([^"]+)"', text))
    assert {name.removeprefix("any ") for name in painted} == GLYPHS.keys()


def test_all_shapes_are_drawn(heap):
    figure = draw(heap, 0.0, names=True)
    axes = figure.axes[0]
    outlines = [outline for outline, _ in areas(axes)]
    drawn = strokes(axes)

    def has(points, among):
        # Drawn coordinates are those of the shapes, to round-off.
        return any(
            len(x) == len(points) and np.allclose(x, points, atol=1e-12) for x in among
        )

    assert has([(-1, -0.5), (1, -0.5), (1, 0), (-1, 0)], outlines)
    assert has(np.add(SQUARE, (0.0, 0.1)), outlines)
    assert has([(3.0, 0.5), (2.0, 0.0)], drawn)
    turned = 0.3 * np.array([math.cos(0.3), math.sin(0.3)])
    assert has(np.add([turned, -turned], (0.0, 0.35)), drawn)
    assert has([(-0.7, 0.4), (-0.5, 0.4)], drawn)  # a user's shape, by its corners
    for centre, radius in (((0.5, 0.15), 0.15), ((4.0, 0.0), 0.3)):
        rims = [np.hypot(*(x - centre).T) for x in outlines]
        assert any(len(x) == 64 and np.allclose(x, radius, atol=1e-12) for x in rims)
    # The slope goes through the picture, its hatching below.
    slope = [x for x in drawn if abs(np.ptp(x[:, 1]) / np.ptp(x[:, 0]) - 0.1003) < 1e-3]
    longest = max(slope, key=lambda x: np.ptp(x[:, 0]))
    assert longest[:, 0].min() < -1.0
    assert longest[:, 0].max() > 4.0
    np.testing.assert_allclose(
        longest[:, 1], -1.0 + math.tan(0.1) * longest[:, 0], atol=1e-9
    )
    written = {text.get_text() for text in axes.texts}
    assert written == {e.name for e in heap.system.model.elements()} - {"ground"}
    figure.canvas.draw()


def test_names_do_not_cover_each_other(heap, compactor):
    for result in (heap, compactor):
        figure = draw(result, result.t_end, names=True)
        figure.canvas.draw()
        boxes = [text.get_window_extent() for text in panels(figure)[0].texts]
        for k, box in enumerate(boxes):
            for other in boxes[:k]:
                across = min(box.x1, other.x1) - max(box.x0, other.x0)
                up = min(box.y1, other.y1) - max(box.y0, other.y0)
                # Letters are less high than their boxes.
                assert across <= 0.0 or up <= 0.5 * box.height


def test_the_floor_of_a_contact_is_drawn_and_hatched_below(compactor):
    drawn = strokes(panels(draw(compactor, 0.0))[0])
    floor = [x for x in drawn if np.all(x[:, 1] == 0.0) and np.ptp(x[:, 0]) > 0.4]
    assert len(floor) == 1
    hatching = [x for x in drawn if x[0, 1] == 0.0 and x[1, 1] < 0.0]
    assert len(hatching) > 10


@pytest.mark.parametrize("t", [0.001, 0.005, 0.01])
def test_marks_have_the_place_and_the_colour_of_the_mode(compactor, t):
    figure = draw(compactor, t)
    found = marks(figure.axes[0])
    names = {0: "stick", 1: "slip+", -1: "slip-", 2: "open", 3: "released"}
    values = compactor.sample(t)
    wanted: dict[str, list[tuple[float, float]]] = {}
    for corner in ("left", "right"):
        mode = names[int(values[f"{corner}.mode"][0])]
        place = (values[f"box.{corner}.x"][0], values[f"box.{corner}.y"][0])
        wanted.setdefault(mode, []).append(place)
    for mode, places in wanted.items():
        for place in places:
            # Round-off, and that of the mean of a circle.
            assert any(np.allclose(place, x, atol=1e-12) for x in found[mode])
    legend = labels(panels(figure)[0].figure.legends[0])
    spoken = {"slip+": "slip +", "slip-": "slip −"}
    assert sorted(legend) == sorted(spoken.get(mode, mode) for mode in wanted)


def test_arrows_show_the_forces_to_scale(compactor):
    """Both corners slip at 0.001 s: friction is mu N against the motion."""
    t = 0.001
    figure = draw(compactor, t, forces=True)
    arrows = [
        outline[0]
        for outline, face in areas(figure.axes[0])
        if len(outline) == 3 and np.allclose(face, rgb(PALETTE[3]))
    ]
    assert len(arrows) == 4
    values = compactor.sample(t)
    scales = []
    for corner in ("left", "right"):
        place = np.array([values[f"box.{corner}.{c}"][0] for c in "xy"])
        force = {c: values[f"{corner}.{c}_force"][0] for c in ("normal", "friction")}
        assert abs(force["friction"]) == pytest.approx(0.45 * force["normal"])
        up = [x for x in arrows if abs(x[0] - place[0]) < 1e-12]
        along = [x for x in arrows if abs(x[1] - place[1]) < 1e-12]
        scales += [(x[1] - place[1]) / force["normal"] for x in up]
        near = min(along, key=lambda x: abs(x[0] - place[0]))
        scales.append((near[0] - place[0]) / force["friction"])
    # One scale for all; coordinates of order 0.1 are drawn to round-off.
    assert len(scales) == 4
    assert min(scales) > 0.0
    np.testing.assert_allclose(scales, scales[0], rtol=1e-9)
    largest = max(
        math.hypot(*(values[f"{c}.{x}_force"][0] for x in ("normal", "friction")))
        for c in ("left", "right")
    )
    legend = labels(panels(figure)[0].figure.legends[0])
    assert legend[-1] == f"contact forces, the largest {largest:.4g} N"


def test_no_legend_without_contacts():
    chain = simulate(gallery.build("pendulum_chain"), until=0.1)
    assert not draw(chain).legends


def test_a_lone_block_is_not_as_large_as_the_picture():
    """A picture of one point has no extent of its own."""
    result = simulate(gallery.build("incline"), until=0.1)
    axes = panels(draw(result, 0.05))[0]
    width = axes.dataLim.width
    block = next(outline for outline, _ in areas(axes) if len(outline) == 4)
    assert np.ptp(block[:, 0]) < 0.25 * width


# ---- over time ---------------------------------------------------------------------


def test_both_friction_forces_are_drawn_at_a_jump(belt):
    figure = plot_contacts(belt)
    normal, friction, slip, _, _ = panels(figure)
    t, force = friction.lines[0].get_data()
    gap = np.flatnonzero(np.isnan(force))[0]
    assert t[gap - 1] == pytest.approx(FIRST, abs=RUN)
    assert t[gap + 1] == pytest.approx(FIRST, abs=RUN)
    # mu0 N before the block lets go, mu N after.
    assert force[gap - 1] == pytest.approx(MU0 * WEIGHT, abs=RUN)
    assert force[gap + 1] == pytest.approx(MU * WEIGHT, abs=RUN)
    n = normal.lines[0].get_ydata()
    np.testing.assert_allclose(n[~np.isnan(n)], WEIGHT, rtol=1e-12)
    v = slip.lines[0].get_ydata()[: gap - 1]
    # Stuck: no slip, to round-off of the belt's speed.
    np.testing.assert_allclose(v, 0.0, atol=1e-14)
    assert [axes.get_ylabel() for axes in panels(figure)] == [
        "normal force (N)",
        "friction force (N)",
        "slip velocity (m/s)",
        "mode",
        "event",
    ]
    assert labels(normal.get_legend()) == ["sole"]


def test_the_limit_of_friction_is_shaded(belt):
    friction = panels(plot_contacts(belt))[1]
    band = friction.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(MU0 * WEIGHT, rel=1e-12)
    assert band[:, 1].min() == pytest.approx(-MU0 * WEIGHT, rel=1e-12)


def test_modes_are_bars_and_events_ticks(compactor):
    figure = plot_contacts(compactor)
    *_, modes, ticks = panels(figure)
    stays = contacts.stays(compactor)
    bars = [
        (rgb_of, path.get_extents())
        for collection in modes.collections
        for path in collection.get_paths()
        for rgb_of in [tuple(collection.get_facecolor()[:1].ravel()[:3])]
    ]
    for row, corner in enumerate(("left", "right")):
        for stay in stays[corner]:
            assert any(
                np.allclose(colour, rgb(MODES[stay.mode]))
                and box.x0 == pytest.approx(stay.begin, abs=1e-15)
                and box.x1 == pytest.approx(stay.end, abs=1e-15)
                and box.y0 < row < box.y1
                for colour, box in bars
                if len(colour) == 3
            )
    kinds = [text.get_text() for text in ticks.get_yticklabels()]
    assert kinds == ["reverse", "release", "separate", "touch down"]
    n_tick = sum(len(collection.get_paths()) for collection in ticks.collections)
    assert n_tick == len(compactor.events) > 10


def test_slip_is_not_shown_in_flight(compactor):
    slip = panels(plot_contacts(compactor))[2]
    for line, corner in zip(slip.lines[:2], ("left", "right"), strict=True):
        t, v = line.get_data()
        mode = compactor.sample(t[~np.isnan(t)], f"{corner}.mode")[f"{corner}.mode"]
        is_shown = ~np.isnan(v[~np.isnan(t)])
        # Instants of events belong to both sides.
        inner = ~np.isin(t[~np.isnan(t)], compactor.events.t)
        np.testing.assert_array_equal(is_shown[inner], (np.abs(mode) <= 1)[inner])


def test_choice_of_contacts_and_times(compactor):
    figure = plot_contacts(compactor, names="right", span=(0.0, 0.01))
    assert labels(panels(figure)[0].get_legend()) == ["right"]
    assert panels(figure)[-1].get_xlim() == (0.0, 0.01)
    assert [x.get_text() for x in panels(figure)[3].get_yticklabels()] == ["right"]


def test_bad_input(compactor):
    with pytest.raises(ModelError, match="did you mean 'left'"):
        plot_contacts(compactor, names=["lft"])
    with pytest.raises(ModelError, match=r"span = \(0.0, 9.0\); give two times from 0"):
        plot_contacts(compactor, span=(0.0, 9.0))
    chain = simulate(gallery.build("pendulum_chain"), until=0.1)
    with pytest.raises(ModelError, match="the model has no contacts"):
        plot_contacts(chain)


def test_a_method_of_the_result(belt, tmp_path):
    path = tmp_path / "belt.png"
    assert belt.plot_contacts(str(path)).axes
    assert path.read_bytes().startswith(b"\x89PNG")


def test_series_mark_events_by_kind_and_name_modes(belt):
    top, below = panels(plot_series(belt, ["block.x", "sole.mode"]))
    assert labels(top.get_legend()) == ["block.x", "break away", "stick"]
    marked = {line.get_label(): line.get_xdata() for line in top.lines}
    for kind in ("break_away", "stick"):
        times = [record.t for record in belt.events if record.kind == kind]
        np.testing.assert_array_equal(marked[kind.replace("_", " ")], times)
    ticks = dict(
        zip(
            below.get_yticks(),
            [text.get_text() for text in below.get_yticklabels()],
            strict=True,
        )
    )
    assert ticks == {-1: "slip −", 0: "stick", 1: "slip +", 2: "open", 3: "released"}


def test_many_events_are_counted_not_marked():
    result = simulate(gallery.build("compactor"), until=0.3)
    assert len(result.events) > 40
    axes = panels(plot_series(result, "box.theta"))[0]
    assert labels(axes.get_legend()) == ["box.theta", f"{len(result.events)} events"]
    # Lines of the ledger can be told from each other.
    upper = panels(plot_energy(result))[0]
    looks = [(x.get_color(), x.get_linestyle()) for x in upper.lines[:-1]]
    assert len(set(looks)) == len(looks) == 8
