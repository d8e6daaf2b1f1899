"""Pictures of joints with friction: blocks, pins, sides, arrows, over time."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Coulomb,
    Couple,
    Ground,
    Harmonic,
    KelvinVoigt,
    Model,
    ModelError,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.columns import SIDES as SIDE_NAMES
from nonsmooth.views import drawing
from nonsmooth.views.bearings import bearings
from nonsmooth.views.figure import MODES, PALETTE, SIDES
from nonsmooth.views.plots import (
    draw,
    plot_contacts,
    plot_series,
)
from nonsmooth.views.stage import Stage
from oracles.pictures import areas, labels, marks, panels, rgb, strokes

# A carriage in a guide, pushed at a height above its middle.
MASS, LENGTH, HEIGHT, ARM = 3.0, 0.4, 0.3, 0.2  # kg, m, m, m
PUSH, BEAT = 40.0, 12.0  # N, rad/s
LOAD = MASS * 9.81  # N, while it lies flat
SLIDE, REST = 0.2, 0.3  # coefficients of friction
# The run's rtol of 1e-8 at most times a few steps; what is wrong is larger by far.
RUN = 1e-7


def carriage_model(**fields: Any) -> Model:
    body = RigidBody(name="carriage", mass=MASS, inertia=0.08, points={"a": (0.2, ARM)})
    settings: dict[str, Any] = {
        "friction": Coulomb(mu=SLIDE, mu_static=REST),
        "length": LENGTH,
        "height": HEIGHT,
        **fields,
    }
    law = Harmonic(amplitude=PUSH, angular_frequency=BEAT)
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


# ---- halves of faces -------------------------------------------------------------


def test_halves_of_faces_are_called_so_and_have_a_linear_pressure():
    """F/l + 12 M x/l^3, integrated over either half; the ends bear F/2 +- M/l."""
    couple = 1.0  # N m, turns the front end, at +x, against the lower face
    body = RigidBody(name="block", mass=8.0, inertia=0.08)
    guide = Prismatic(
        name="guide",
        a="ground",
        b="block",
        length=0.3,
        height=0.0,
        friction=Coulomb(mu=0.2),
    )
    model = Model(
        gravity=(0.0, -9.81),
        bodies=[body],
        joints=[guide],
        forces=[Couple(name="turn", b="block", torque=-couple)],
    )
    result = simulate(model, 0.1)
    weight, low = 8.0 * 9.81, "guide.bottom"
    for name, force in (
        ("guide.front_force", 0.5 * weight + couple / 0.3),
        ("guide.rear_force", 0.5 * weight - couple / 0.3),
        (f"{low}_right.normal_force", 0.5 * weight + 1.5 * couple / 0.3),
        (f"{low}_left.normal_force", 0.5 * weight - 1.5 * couple / 0.3),
    ):
        assert result[name][-1] == pytest.approx(force, abs=1e-9 * weight)  # round-off
    (axes,) = panels(plot_series(result, ["guide.load", f"{low}_left.normal_force"]))
    label = axes.get_ylabel().replace("\n", " ")
    assert label == "load, normal force of half a face (N)"


def test_labels_of_panels_do_not_reach_into_others():
    """By the letters as they are drawn."""
    result = simulate(gallery.build("belt"), 0.1)
    names = ["block.x", "sole.normal_force", "sole.friction_force", "block.vx"]
    figure = plot_series(result, names)
    figure.draw_without_rendering()
    for axes in panels(figure):
        outer, label = axes.get_window_extent(), axes.yaxis.label.get_window_extent()
        assert outer.y0 <= label.y0 < label.y1 <= outer.y1
