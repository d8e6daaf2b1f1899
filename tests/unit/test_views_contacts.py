"""Pictures of contacts and joints with friction: shapes, marks, arrows, over time."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Ground,
    Harmonic,
    KelvinVoigt,
    Line,
    Model,
    ModelError,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Polygon,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    Segment,
    Shape,
    gallery,
    simulate,
)
from nonsmooth.columns import SIDES as SIDE_NAMES
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.forces import Force
from nonsmooth.elements.joints import Joint
from nonsmooth.views import contacts, drawing
from nonsmooth.views.bearings import bearings
from nonsmooth.views.figure import MODES, PALETTE, SIDES
from nonsmooth.views.places import nearest
from nonsmooth.views.plots import (
    draw,
    plot_contacts,
    plot_energy,
    plot_series,
)
from nonsmooth.views.sketch import symbol
from nonsmooth.views.stage import Stage
from oracles import bearings as slow

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


def panels(figure: Any) -> Any:
    return figure.axes


def labels(owner: Any) -> list[str]:
    return [text.get_text() for text in owner.get_texts()]


def areas(axes: Any) -> list[tuple[np.ndarray, tuple[float, ...]]]:
    """Return outline and colour of every area."""
    return [
        (path.vertices[:-1], tuple(face[:3]))
        for collection in axes.collections
        if type(collection).__name__ == "PolyCollection"
        for path, face in zip(
            collection.get_paths(), collection.get_facecolor(), strict=True
        )
    ]


def strokes(axes: Any) -> list[np.ndarray]:
    return [
        path.vertices
        for collection in axes.collections
        if type(collection).__name__ == "LineCollection"
        for path in collection.get_paths()
    ]


def rgb(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def marks(axes: Any) -> dict[str, list[np.ndarray]]:
    """Return the centres of the marks of contacts by mode."""
    found: dict[str, list[np.ndarray]] = {}
    for outline, face in areas(axes):
        for mode, colour in MODES.items():
            if np.allclose(face, rgb(colour)) and len(outline) == 64:
                found.setdefault(mode, []).append(np.mean(outline, axis=0))
    return found


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


def poses_at(result, t) -> dict[str, Any]:
    names = [name for name in result.system.bodies if name != "ground"]
    columns = [f"{name}.{c}" for name in names for c in ("x", "y", "theta")]
    found = result.sample(t, columns, "before")
    return {
        name: tuple(float(found[f"{name}.{c}"][0]) for c in ("x", "y", "theta"))
        for name in names
    }


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


def test_every_kind_has_a_symbol():
    for family in (Body, Joint, Drive, Force, Contact, Shape):
        for kind in family.kinds.values():
            assert any(base in symbol.kinds for base in kind.__mro__), kind


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


# ---- joints with friction ------------------------------------------------------------

# A carriage in a guide, pushed at a height above its middle.
MASS, LENGTH, HEIGHT, ARM = 3.0, 0.4, 0.3, 0.2  # kg, m, m, m
PUSH, BEAT = 40.0, 12.0  # N, rad/s
LOAD = MASS * 9.81  # N, while it lies flat
SLIDE, REST = 0.2, 0.3  # coefficients of friction


def carriage_model(**fields: Any) -> Model:
    body = RigidBody(name="carriage", mass=MASS, inertia=0.08, points={"a": (0.2, ARM)})
    settings: dict[str, Any] = {
        "friction": Coulomb(mu=SLIDE, mu_static=REST),
        "length": LENGTH,
        "height": HEIGHT,
        **fields,
    }
    law = Harmonic(amplitude=PUSH, frequency=BEAT)
    return Model(
        gravity=(0.0, -9.81),
        bodies=(body,),
        joints=(Prismatic(name="rails", b="carriage", **settings),),
        forces=(PointForce(name="push", b="carriage.a", fx=law),),
    )


@pytest.fixture(scope="module")
def carriage():
    return simulate(carriage_model(), until=0.3)


@pytest.fixture(scope="module")
def loose():
    """Return the carriage with play, so much that it can be seen."""
    corner = KelvinVoigt(stiffness=1e6, damping=2e3)
    model = carriage_model(clearance=0.02, normal=corner)
    body = replace(model.bodies[0], position=(0.0, -0.01 - 0.5 * LOAD / 1e6))
    return simulate(replace(model, bodies=(body,)), until=0.15)


@pytest.fixture(scope="module")
def rocker():
    """Return one turn of the paper's mechanism; its forces are known."""
    return simulate(gallery.build("crank_rocker", damping=8.0), until=2 * math.pi / 3)


RADIUS = 0.05


@pytest.fixture(scope="module")
def pin():
    """Return a rod that swings on a pin, and one in a slot by a law without stick."""
    rod = RigidBody(
        name="rod", mass=1.0, inertia=0.1, position=(0.5, 0.0), points={"o": (-0.5, 0)}
    )
    bead = PointMass(name="bead", mass=1.0, position=(0.0, -1.0), velocity=(0.2, 0.0))
    model = Model(
        gravity=(0.0, -9.81),
        bodies=(Ground(points={"low": (0.0, -1.0)}), rod, bead),
        joints=(
            Revolute(name="pin", b="rod.o", friction=Coulomb(mu=SLIDE), radius=RADIUS),
            PinInSlot(
                name="slot",
                a="ground.low",
                b="bead",
                friction=RegularisedCoulomb(mu=0.1, velocity=0.01),
            ),
        ),
    )
    return simulate(model, until=0.6)


# While it slides forward the rear end leaves the lower flank where
# ARM F = LOAD (LENGTH - SLIDE HEIGHT)/2, from u_r = 0.
TILTS = math.asin(LOAD * 0.5 * (LENGTH - SLIDE * HEIGHT) / (ARM * PUSH)) / BEAT
BREAKS = math.asin(REST * LOAD / PUSH) / BEAT


def test_joints_have_the_panels_of_contacts(carriage):
    figure = plot_contacts(carriage)
    assert [axes.get_ylabel() for axes in panels(figure)] == [
        "normal force (N)",
        "friction force (N)",
        "slip velocity (m/s)",
        "mode",
        "side",
        "event",
    ]
    normal, friction, _, _, _, ticks = panels(figure)
    assert labels(normal.get_legend()) == ["rails", "load"]
    assert labels(friction.get_legend()) == ["± mu0 load"]
    kinds = [text.get_text() for text in ticks.get_yticklabels()]
    assert kinds == ["break away", "change side"]
    times = [x[0, 0] for x in strokes(ticks)]
    assert times == [event.t for event in carriage.events]
    assert times[:2] == pytest.approx([BREAKS, TILTS], abs=RUN)
    # The net normal force is the weight, to round-off of a force balance.
    load, net = (line.get_ydata() for line in normal.lines[:2])
    np.testing.assert_allclose(net[~np.isnan(net)], LOAD, rtol=1e-12)
    assert np.nanmax(load) > 1.2 * LOAD
    # Shaded: what the load allows at rest.
    band = [path.vertices[:, 1] for path in friction.collections[0].get_paths()]
    highest = max(y.max() for y in band)
    assert highest == pytest.approx(REST * np.nanmax(load), rel=1e-12)


def test_the_strip_of_sides(carriage, rocker):
    for result, name in ((carriage, "rails"), (rocker, "slider")):
        figure = plot_contacts(result)
        strip = panels(figure)[4]
        bars = sorted(
            (box.x0, box.x1, tuple(collection.get_facecolor()[0][:3]))
            for collection in strip.collections
            if len(collection.get_facecolor())
            for path in collection.get_paths()
            for box in [path.get_extents()]
        )
        # They follow one another, and change at events only. A bar is drawn by its
        # begin and width, which adds round-off.
        assert bars[0][0] == 0.0
        assert bars[-1][1] == pytest.approx(result.t_end, abs=1e-12)
        changes = [event.t for event in result.events]
        for (_, end, old), (begin, _, new) in pairwise(bars):
            assert end == pytest.approx(begin, abs=1e-12)
            assert old != new
            assert min(abs(end - t) for t in changes) < 1e-12
        for begin, end, colour in bars:
            # Sides as the column has them, inside.
            t = np.linspace(begin, end, 9)[1:-1]
            for value in result.sample(t, f"{name}.side")[f"{name}.side"]:
                assert colour == pytest.approx(rgb(SIDES[SIDE_NAMES[int(value)]]))
    assert labels(strip.get_legend()) == ["+", "−"]
    assert labels(panels(plot_contacts(carriage))[4].get_legend()) == [
        "+",
        "front +, rear −",
    ]


def test_both_friction_forces_of_a_joint_at_a_reversal(rocker):
    """At half a turn friction jumps from 9.6 N to -9.6 N, exactly."""
    friction = panels(plot_contacts(rocker))[1]
    t, force = friction.lines[0].get_data()
    half = np.flatnonzero(np.abs(t - math.pi / 3) < RUN)
    assert force[half[0]] == pytest.approx(9.6, abs=1e-4)  # RUN times its slope
    assert force[half[-1]] == pytest.approx(-9.6, abs=1e-4)
    assert np.isnan(force[half[0] + 1])


def test_a_law_without_stick_has_no_limit(pin):
    figure = plot_contacts(pin, names="slot")
    _, friction, _, modes, ticks = panels(figure)
    assert not friction.collections
    assert friction.get_legend() is None
    assert labels(modes.get_legend()) == ["pressing"]
    assert [text.get_text() for text in ticks.get_yticklabels()] == ["none"]


def test_simultaneous_events_share_a_row():
    """Both ends of a trammel reverse at once where it turns."""
    result = simulate(gallery.build("trammel"), until=1.5)
    turn = result.events[4:6]
    assert {event.element for event in turn} == {"guide_x", "guide_y"}
    assert turn[0].t == pytest.approx(turn[1].t, abs=RUN)
    times = [event.t for event in turn]
    ticks = [x for x in strokes(panels(plot_contacts(result))[-1]) if x[0, 0] in times]
    (low, high), (other_low, other_high) = sorted(sorted(x[:, 1]) for x in ticks)
    assert high == pytest.approx(other_low, abs=1e-12)  # round-off of a sum
    assert high - low == pytest.approx(other_high - other_low, abs=1e-12)


def test_series_of_sides_and_modes(carriage):
    names = ["rails.load", "rails.side", "rails.mode", "rails.front_force"]
    force, side, mode = panels(plot_series(carriage, names))
    assert force.get_ylabel() == "load, normal force (N)"
    assert (side.get_ylabel(), mode.get_ylabel()) == ("side", "mode")
    words = [text.get_text() for text in side.get_yticklabels()]
    assert words == ["front −, rear +", "−", "none", "+", "front +, rear −"]


def test_bearings_are_the_whole_wrench(carriage):
    """Forces on the two ends have the sum and the moment of the joint's reaction."""
    t = np.linspace(0.0, 0.3, 31)
    values = carriage.sample(t)
    ends = list(bearings(Stage(system=carriage.system, values=values, n=len(t))))
    normal = sum(values[b.force] for b in ends)
    friction = sum(b.friction for b in ends)
    # u > 0 pushes up, at the lower corner; friction acts there.
    moment = sum(
        (b.place[:, 0] - values["carriage.x"]) * values[b.force]
        - (b.place[:, 1] - values["carriage.y"]) * b.friction
        for b in ends
    )
    # Round-off of forces of some 50 N.
    assert normal == pytest.approx(LOAD, abs=1e-9)
    assert friction == pytest.approx(values["rails.force_x"], abs=1e-9)
    assert moment == pytest.approx(values["rails.torque"], abs=1e-9)


@pytest.mark.parametrize("t", [0.05, 0.12])
def test_a_block_is_drawn_in_its_guide(carriage, t):
    figure = draw(carriage, t, forces=True)
    axes = panels(figure)[0]
    x = carriage.sample(t, "carriage.x")["carriage.x"][0]
    corners = np.array(
        [(x + a * LENGTH / 2, b * HEIGHT / 2) for a, b in drawing.SQUARE]
    )
    outlines = [outline for outline, _ in areas(axes)]
    assert any(len(o) == 4 and np.allclose(o, corners, atol=1e-12) for o in outlines)
    # Both flanks, longer than the block.
    flanks = [s for s in strokes(axes) if np.ptp(s[:, 1]) == 0.0]
    for y in (-HEIGHT / 2, HEIGHT / 2):
        (flank,) = [s for s in flanks if s[0, 1] == y and np.ptp(s[:, 0]) > LENGTH]
        assert flank[:, 0].min() < corners[:, 0].min()
        assert flank[:, 0].max() > corners[:, 0].max()
    # Flat on the lower flank, then the rear end on the upper one.
    rear = -1 if t < TILTS else 1
    wanted = [corners[1], corners[0 if rear < 0 else 3]]
    found = marks(axes)["slip+"]
    assert len(found) == 2
    for corner in wanted:
        assert any(np.allclose(corner, mark, atol=1e-12) for mark in found)
    legend = labels(axes.figure.legends[0])
    values = carriage.sample(t)
    end = max(abs(values[f"rails.{e}_force"][0]) for e in ("front", "rear"))
    largest = end * math.hypot(1.0, SLIDE)
    assert legend == ["slip +", f"joint forces, the largest {largest:.4g} N"]


def test_arrows_of_joints_are_to_scale(carriage):
    t = 0.12
    axes = panels(draw(carriage, t, forces=True))[0]
    # `push` is drawn alike, as long as any force: leave it out.
    values = carriage.sample(t)
    handle = [values["carriage.a.x"][0], values["carriage.a.y"][0]]
    heads = [
        outline[0]
        for outline, face in areas(axes)
        if len(outline) == 3
        and np.allclose(face, rgb(PALETTE[3]))
        and not np.allclose(outline[0], handle)
    ]
    assert len(heads) == 4
    front, rear = (values[f"rails.{end}_force"][0] for end in ("front", "rear"))
    x = values["carriage.x"][0]
    corners = {
        front: np.array([x + LENGTH / 2, -HEIGHT / 2]),
        rear: np.array([x - LENGTH / 2, HEIGHT / 2]),
    }
    assert front > 0.0 > rear
    scales: list[float] = []
    for normal, corner in corners.items():
        steps = [head - corner for head in heads]
        scales += [step[1] / normal for step in steps if abs(step[0]) < 1e-12]
        friction = -SLIDE * abs(normal)
        scales += [step[0] / friction for step in steps if abs(step[1]) < 1e-12]
    # One scale for all, to round-off of coordinates of order one.
    assert len(scales) == 4
    np.testing.assert_allclose(scales, scales[0], rtol=1e-9)


def test_a_guide_with_clearance_has_its_gap(loose):
    """The block lies on the lower flank: the gap above it is the clearance."""
    axes = panels(draw(loose, [0.0]))[0]
    flanks = {s[0, 1] for s in strokes(axes) if np.ptp(s[:, 1]) == 0.0}
    assert {-(HEIGHT / 2 + 0.01), HEIGHT / 2 + 0.01} <= flanks
    names = {"stick": "lower", "open": "upper"}
    found = marks(axes)
    block = next(o for o, _ in areas(axes) if len(o) == 4)
    for mode, flank in names.items():
        places = block[:2] if flank == "lower" else block[2:]
        for place in places:
            # The mark is on the block, in its overlap of 15 um.
            assert any(np.allclose(place, x, atol=1e-12) for x in found[mode])
    gap = HEIGHT / 2 + 0.01 - block[:, 1].max()
    assert gap == pytest.approx(0.02, abs=2e-5)
    # It turns with the body, in no mode of its own.
    figure = draw(loose, 0.12, forces=True)
    tilt = loose.sample(0.12, "carriage.theta")["carriage.theta"][0]
    block = next(o for o, _ in areas(panels(figure)[0]) if len(o) == 4)
    assert math.atan2(*(block[1] - block[0])[::-1]) == pytest.approx(tilt, abs=1e-12)
    assert abs(tilt) > 1e-3
    text = labels(panels(figure)[0].figure.legends[0])[-1]
    assert text.startswith("contact forces, the largest ")


def test_a_block_that_its_body_shows_is_not_drawn_twice():
    result = simulate(gallery.build("slider_in_guide"), until=0.1)
    outlines = [o for o, _ in areas(panels(draw(result, 0.0))[0])]
    assert sum(len(o) == 4 for o in outlines) == 1


def test_a_pin_has_its_radius_and_mode(pin):
    """The rod falls: it turns backwards, and friction turns it forwards."""
    t = 0.1
    axes = panels(draw(pin, t, forces=True))[0]
    values = pin.sample(t)
    discs = [(o, face) for o, face in areas(axes) if len(o) == 64 and _radius(o) > 0.04]
    outline, face = discs[-1]
    assert _radius(outline) == pytest.approx(RADIUS, rel=1e-12)
    np.testing.assert_allclose(np.mean(outline, axis=0), (0.0, 0.0), atol=1e-12)
    assert face == pytest.approx(rgb(MODES["slip-"]))
    force = np.array([values[f"pin.force_{c}"][0] for c in "xy"])
    size = np.hypot(*force)
    rim = -RADIUS * force / size
    tangent = np.array([force[1], -force[0]]) / size
    heads = [
        o[0]
        for o, colour in areas(axes)
        if len(o) == 3 and np.allclose(colour, rgb(PALETTE[3]))
    ]
    scale = max((head - rim) @ force for head in heads) / size**2
    moved = scale * SLIDE * size * tangent
    for head in (rim + scale * force, rim + moved):
        assert any(np.allclose(head, x, atol=1e-9) for x in heads)
    # Force at the rim times radius is the torque, forwards.
    torque = rim[0] * moved[1] - rim[1] * moved[0]
    assert torque / scale == pytest.approx(values["pin.friction_torque"][0], rel=1e-9)
    assert torque > 0.0


def _radius(outline):
    return float(np.mean(np.hypot(*(outline - np.mean(outline, axis=0)).T)))


def test_a_slider_shows_the_flank_that_bears(rocker):
    """A strip on the side against which the normal force pushes the crank pin."""
    for t, sign in ((0.2, 1), (0.8, -1), (1.5, 1)):
        axes = panels(draw(rocker, t))[0]
        values = rocker.sample(t)
        assert np.sign(values["slider.normal_force"][0]) == sign
        mode = {1.0: "slip+", -1.0: "slip-"}[values["slider.mode"][0]]
        (strip,) = [
            o
            for o, face in areas(axes)
            if len(o) == 4 and np.allclose(face, rgb(MODES[mode]))
        ]
        angle = values["rocker.theta"][0]
        normal = np.array([-math.sin(angle), math.cos(angle)])
        place = np.mean(strip, axis=0) - [values[f"crank.B.{c}"][0] for c in "xy"]
        assert np.sign(place @ normal) == -sign
        (pin_place,) = marks(axes)[mode]
        where = [values[f"crank.B.{c}"][0] for c in "xy"]
        np.testing.assert_allclose(pin_place, where, atol=1e-12)


def test_names_of_joints_are_all_there(pin, carriage, loose):
    for result in (pin, carriage, loose):
        axes = panels(draw(result, result.t_end, names=True))[0]
        written = {text.get_text() for text in axes.texts}
        model = result.system.model
        assert written == {e.name for e in model.elements()} - {"ground"}


def test_joints_without_friction_have_no_legend():
    result = simulate(gallery.build("slider_crank"), until=0.1)
    assert not draw(result, forces=True).legends
    with pytest.raises(ModelError, match="no contacts, nor friction in joints"):
        plot_contacts(result)
