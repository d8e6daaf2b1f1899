"""Patches of flexible bodies that are pressed: node by node, without friction."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nonsmooth.pack.flexible as reductions
from nonsmooth import (
    Circle,
    Contact,
    FlexibleBody,
    Hertz,
    HuntCrossley,
    Material,
    ModalDamping,
    Model,
    ModelError,
    MovingSupport,
    Patch,
    Prismatic,
    RigidBody,
    SmoothStep,
    SolveError,
    Unilateral,
    gallery,
    io,
    simulate,
)
from nonsmooth.elements.meshes import Bar, Rectangle, Refinement
from nonsmooth.pack import pack
from oracles.beam_theory import ball_on_beam
from oracles.pressed_patches import disc_on_patch, press

METAL = Material(youngs_modulus=70e9, poissons_ratio=0.3, density=2700.0)
THICK = 2e-3  # m


def block(**changes):
    """Return a block that is held below, with a fine patch at (0, 0) on its top."""
    fine = Refinement(point=(0.0, 0.0), size=1.5e-5, radius=1e-4)
    body = FlexibleBody(
        name="block",
        mesh=Rectangle(
            width=0.02,
            height=0.02,
            center=(0.0, -0.01),
            size=2.5e-3,
            refine={"top": fine},
        ),
        material=METAL,
        thickness=THICK,
        modes=10,
        fixed=("bottom",),
        damping=ModalDamping(ratio=0.5),
        patches={"face": Patch(boundary="top", center=(0.0, 0.0), radius=1.2e-4)},
    )
    return replace(body, **changes)


def pressed_block(radius=7.5e-3, depth=2e-6, law=None):
    """Return a round support that is slowly pressed into the block."""
    way = SmoothStep(start=radius + 1e-7, end=radius - depth, duration=4e-4)
    return Model(
        bodies=(
            block(),
            MovingSupport(name="ball", y=way, shapes={"rim": Circle(radius=radius)}),
        ),
        contacts=(
            Contact(name="c", a="ball.rim", b="block.face", normal=law or Unilateral()),
        ),
    )


@pytest.fixture(scope="module")
def pressed():
    return simulate(pressed_block(), until=5e-4, rtol=1e-7)


def test_hertz_in_the_plane(pressed):
    """A round support on a block: a^2 = 4 F R/(pi E t), p = 2 F/(pi a t) sqrt(...)."""
    end = pressed.sample(5e-4, ["c.normal_force", "c.width", "c.normal_y"])
    force = end["c.normal_force"][0]
    half = math.sqrt(4.0 * force * 7.5e-3 / (math.pi * 70e9 * THICK))
    found = pressed.pressure("c")
    gap = np.diff(found.places[:, 0])
    # The edge lies between two nodes at either end.
    assert end["c.width"][0] == pytest.approx(2.0 * half, abs=2.0 * abs(gap).max())
    assert end["c.normal_y"][0] == pytest.approx(-1.0, abs=1e-6)
    # Nodal forces jump from corners to middles of sides of elements of order 2 as
    # their lengths do; pairs of neighbours are smooth.
    x = found.places[:, 0]
    inner = np.abs(x) < 0.7 * half
    exact = (
        2.0
        * force
        / (math.pi * half * THICK)
        * np.sqrt(1.0 - (x / half) ** 2, where=inner, out=np.zeros_like(x))
    )
    mean = 0.5 * (found.pressure[1:] + found.pressure[:-1])
    wanted = 0.5 * (exact[1:] + exact[:-1])
    both = inner[1:] & inner[:-1]
    # 0.4 % is what the reduction holds to; the rest is the spacing of nodes.
    assert mean[both] == pytest.approx(wanted[both], rel=0.03)
    assert found.forces.sum() == pytest.approx(force, rel=1e-4)


def test_nodes_do_not_pull_and_columns_agree(pressed):
    found = pressed.pressure("c")
    end = pressed.sample(5e-4)
    assert np.all(found.forces >= 0.0)
    assert end["c.n_closed"][0] == np.count_nonzero(found.forces)
    assert end["c.friction_force"][0] == 0.0
    assert end["ball.force_y"][0] == pytest.approx(-end["c.normal_force"][0], rel=1e-9)
    start = pressed.sample(0.0)
    assert start["c.mode"][0] == 2.0
    assert start["c.n_closed"][0] == 0.0
    assert [e.kind for e in pressed.events] == ["touch_down"]


def test_the_work_of_the_support_is_stored_or_damped(pressed):
    balance = pressed.energy_balance
    assert balance.residual < 1e-6 * balance.exchanged


# ---- against the ground --------------------------------------------------------


def rod(modes=30, speed=0.2, **changes):
    """Return a slender rod that falls on the ground with its flat end, standing."""
    body = FlexibleBody(
        name="rod",
        mesh=Rectangle(
            width=0.2, height=0.004, center=(0.1, 0.0), size=2e-3, cells="quadrilateral"
        ),
        material=replace(METAL, poissons_ratio=0.0),
        thickness=THICK,
        modes=modes,
        symmetric="x",
        angle=0.5 * math.pi,
        velocity=(0.0, -speed),
        points={"top": (0.2, 0.0)},
        patches={"foot": Patch(boundary="left")},
    )
    return replace(body, **changes)


def on_ground(body, patch, **model):
    contact = Contact(name="c", b=f"{body.name}.{patch}", normal=Unilateral())
    return Model(bodies=(body,), contacts=(contact,), **model)


def test_a_rod_on_a_wall_stays_for_two_runs_of_the_wave():
    """F = rho c A v for 2 L/c, and it leaves as fast as it came."""
    result = simulate(on_ground(rod(), "foot"), until=1.2e-4)
    c = math.sqrt(70e9 / 2700.0)
    end = next(e.t for e in result.events if e.kind == "separate")
    # The front of the wave is as steep as 30 even modes give it.
    assert end == pytest.approx(2.0 * 0.2 / c, rel=0.05)
    t = np.linspace(0.2 * end, 0.8 * end, 400)
    force = result.sample(t, "c.normal_force")["c.normal_force"].mean()
    assert force == pytest.approx(2700.0 * c * 0.004 * THICK * 0.2, rel=0.02)
    assert result["rod.vy"][-1] == pytest.approx(0.2, rel=0.02)
    balance = result.energy_balance
    assert balance.residual < 1e-6 * balance.kinetic[0]


def falling_bar(modulus, angle=-1.2, spin=3.0):
    """Return a bar with a round head that turns and falls on the ground."""
    return FlexibleBody(
        name="bar",
        mesh=Bar(
            length=0.1,
            width=0.02,
            size=5e-3,
            refine={
                "tip": Refinement(
                    point=(0.09 + 0.01 * math.sin(-angle), -0.01 * math.cos(angle)),
                    size=4e-4,
                    radius=2e-3,
                )
            },
        ),
        material=Material(youngs_modulus=modulus, poissons_ratio=0.3, density=2700.0),
        thickness=0.01,
        modes=12,
        angle=angle,
        position=(0.0, 0.055),
        velocity=(0.0, -1.0),
        angular_velocity=spin,
        patches={
            "tip": Patch(
                boundary="head",
                center=(0.09 + 0.01 * math.sin(-angle), -0.01 * math.cos(angle)),
                radius=2.5e-3,
            )
        },
    )


def test_a_turning_bar_keeps_its_energy():
    """Without friction vx is kept."""
    result = simulate(on_ground(falling_bar(70e9), "tip"), until=0.012)
    assert "separate" in [e.kind for e in result.events]
    balance = result.energy_balance
    assert balance.residual < 1e-5 * balance.kinetic[0]
    v = result["bar.vx"]
    assert np.abs(v).max() < 1e-12


def table(angle=0.0):
    """Return a bar that falls on two feet, the ends of its lower side."""
    feet = {
        name: Patch(boundary="bottom", center=(x, -0.005), radius=0.0195)
        for name, x in (("left", -0.05), ("right", 0.05))
    }
    body = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.1, height=0.01, size=2.5e-3, cells="quadrilateral"),
        material=METAL,
        thickness=THICK,
        modes=12,
        angle=angle,
        position=(0.0, 0.005 + 0.05 * math.sin(angle)),
        velocity=(0.0, -0.2),
        patches=feet,
    )
    contacts = [Contact(name=n, b=f"bar.{n}", normal=Unilateral()) for n in feet]
    return Model(bodies=(body,), contacts=contacts)


def test_two_patches_of_one_body_press_alike():
    """A bar on its two feet is its own image: equal forces, and it does not turn."""
    result = simulate(table(), until=4e-4)
    t = np.linspace(0.0, 4e-4, 2001)
    found = result.sample(t, ["left.normal_force", "right.normal_force"])
    left, right = found["left.normal_force"], found["right.normal_force"]
    assert left.max() > 100.0
    # A hundred times rtol: which of two nodes closes first is a matter of round-off.
    assert np.abs(left - right).max() < 1e-6 * left.max()
    mass = result.system.flexible["bar"].mass
    # Momentum; the forces have kinks, which the trapezoidal rule rounds off.
    change = mass * (result["bar.vy"][-1] + 0.2)
    assert np.trapezoid(left + right, t) == pytest.approx(change, rel=1e-3)
    balance = result.energy_balance
    assert balance.residual < 1e-5 * balance.kinetic[0]


def test_two_patches_of_one_body_touch_one_after_the_other():
    # Kinks of patterns inside steps: at rtol = 1e-8 the ledger of starts that differ by
    # a per cent closes to 3e-8 to 1.4e-5.
    result = simulate(table(angle=1e-3), until=1.5e-3, rtol=1e-9)
    kinds = [(e.element, e.kind) for e in result.events]
    downs = [name for name, kind in kinds if kind == "touch_down"]
    assert kinds[0] == ("left", "touch_down")
    assert "right" in downs
    balance = result.energy_balance
    assert balance.residual < 1e-5 * balance.kinetic[0]


def test_patterns_of_nodes_are_the_shapes():
    """The few patterns that are packed give the shapes of all nodes back."""
    system = pack(pressed_block())
    site = system.flexible["block"].sites["face"]
    nodes = site.nodes
    assert nodes is not None
    start = int(system.tables.contact_patch[0, 0])
    n, nm, nr = (int(x) for x in system.tables.par[start : start + 3])
    assert (n, nm) == (len(nodes.places), 10)
    assert nr <= nm
    own = system.tables.par[start + 3 + 2 * n :]
    patterns = own[: 2 * n * nr].reshape(nr, 2, n)
    parts = own[2 * n * nr : 2 * n * nr + nr * nm].reshape(nr, nm)
    exact = nodes.shapes - np.asarray(site.shape)
    found = np.einsum("rci,rj->icj", patterns, parts)
    # What is left out is below 1e-14 of the shapes, in the norm of all.
    assert np.abs(found - exact).max() < 1e-14 * np.linalg.norm(nodes.shapes)


def after_impact(bodies, contact):
    """Return vy and omega after the impact."""
    result = simulate(Model(bodies=bodies, contacts=(contact,)), until=0.012)
    assert [e.kind for e in result.events] == ["touch_down", "separate"]
    return np.array([result["bar.vy"][-1], result["bar.omega"][-1]])


def test_a_stiff_bar_on_springs_is_a_rigid_one():
    """E to infinity, on a bed of springs: F = 4 sqrt(2)/3 k sqrt(R) d^1.5."""
    bed = 3.5e9  # N/m^2
    law = Hertz(stiffness=4.0 * math.sqrt(2.0) / 3.0 * bed * math.sqrt(0.01))
    soft = falling_bar(70e9)
    reduced = pack(on_ground(soft, "tip")).flexible["bar"]
    x, y = reduced.centre
    assert soft.position is not None
    rigid = RigidBody(
        name="bar",
        mass=reduced.mass,
        inertia=reduced.inertia,
        position=soft.position,
        angle=soft.angle,
        velocity=soft.velocity,
        angular_velocity=soft.angular_velocity,
        shapes={"head": Circle(radius=0.01, center=(0.09 - x, -y))},
    )
    exact = after_impact((rigid,), Contact(name="c", b="bar.head", normal=law))
    away = []
    for modulus in (70e10, 70e11, 70e12):
        contact = Contact(name="c", b="bar.tip", normal=Unilateral(penalty=bed))
        found = after_impact((falling_bar(modulus),), contact)
        away.append(np.abs(found / exact - 1.0).max())
    # Elastic give falls as 1/E; what is left is the sum over nodes for an integral.
    assert away[0] - away[1] > 5.0 * abs(away[1] - away[2])
    assert away[2] < 2e-5


# ---- penalty and failures ------------------------------------------------------


def test_a_penalty_lets_nodes_overlap_in_proportion():
    soft = 1e13  # N/m^2
    result = simulate(
        pressed_block(law=Unilateral(penalty=soft)), until=5e-4, rtol=1e-7
    )
    hard = simulate(pressed_block(), until=5e-4, rtol=1e-7)
    name = "c.normal_force"
    peaks = [r.sample(5e-4, name)[name][0] for r in (result, hard)]
    assert peaks[0] < peaks[1]
    balance = result.energy_balance
    assert balance.residual < 1e-6 * balance.exchanged


def test_nodes_without_flexibility_fail_by_name_and_pattern(monkeypatch):
    whole = reductions._nodes

    def none(marker, origin):
        found = whole(marker, origin)
        return found and replace(found, flexibility=0.0 * found.flexibility)

    reductions._known.clear()
    monkeypatch.setattr(reductions, "_nodes", none)
    try:
        with pytest.raises(SolveError, match=r"contact 'c': no forces.* of \d+ nodes"):
            simulate(pressed_block(), until=5e-4)
    finally:
        reductions._known.clear()


BALL = RigidBody(name="ball", mass=1.0, inertia=1.0, shapes={"rim": Circle(radius=0.1)})
BARE = RigidBody(name="bare", mass=1.0, inertia=1.0)
REFUSED = [
    (
        {"a": "ball.rim", "b": "block.face", "normal": HuntCrossley(stiffness=1.0)},
        "give Unilateral",
    ),
    ({"a": "block.face", "b": "ball.rim", "normal": Unilateral()}, "exchange a and b"),
    ({"a": "ground", "b": "ball.rim", "normal": Unilateral()}, "HuntCrossley"),
    ({"a": "bare", "b": "block.face", "normal": Unilateral()}, "no surface"),
    (
        {"a": "ball.rim", "b": "block.corner", "normal": Unilateral()},
        "nodes of a patch",
    ),
]


@pytest.mark.parametrize(("fields", "said"), REFUSED)
def test_what_cannot_be_pressed_is_refused(fields, said):
    body = block(points={"corner": (0.01, 0.0)})
    with pytest.raises(ModelError, match=said):
        Model(bodies=(body, BALL, BARE), contacts=(Contact(name="c", **fields),))


def test_a_patch_of_one_node_is_refused():
    body = rod(patches={"foot": Patch(boundary="left", center=(0.0, 0.0), radius=1e-6)})
    with pytest.raises(ModelError, match="one node"):
        pack(on_ground(body, "foot"))


def test_events_alternate():
    result = simulate(on_ground(rod(modes=8), "foot", gravity=(0.0, -50.0)), until=2e-3)
    kinds = [e.kind for e in result.events]
    assert all(a != b for a, b in pairwise(kinds))


def test_a_patch_that_is_too_small_is_said(pressed):
    assert not any("too small" in note for note in pressed.notes)
    model = pressed_block()
    small = block(
        patches={"face": Patch(boundary="top", center=(0.0, 0.0), radius=3e-5)}
    )
    result = simulate(replace(model, bodies=(small, model.bodies[1])), until=5e-4)
    assert any("too small" in note for note in result.notes)


@pytest.mark.parametrize("law", [Unilateral(), Unilateral(penalty=1e12)])
def test_a_model_with_patches_survives_a_file(law):
    model = pressed_block(law=law)
    for form in ("yaml", "json"):
        assert io.loads(io.dumps(model, form), form) == model


def test_a_guide_has_no_nodes():
    guide = Prismatic(
        name="guide",
        a="ground",
        b="block",
        length=1.0,
        clearance=0.1,
        normal=Unilateral(),
    )
    rigid = RigidBody(name="block", mass=1.0, inertia=1.0)
    with pytest.raises(ModelError, match="corners have no nodes"):
        Model(bodies=[rigid], joints=[guide])


def test_patches_that_overlap_at_the_start_are_refused():
    model = pressed_block(depth=-1e-5)
    deep = SmoothStep(start=7.5e-3 - 1e-5, end=7.6e-3, duration=4e-4)
    ball = replace(model.bodies[1], y=deep)
    with pytest.raises(ModelError, match=r"patch overlaps by 1e-05 m"):
        simulate(replace(model, bodies=(model.bodies[0], ball)), until=1e-4)


def test_the_paper_s_scheme_has_no_patches():
    with pytest.raises(ModelError, match="has no patches"):
        simulate(pressed_block(), until=1e-4, scheme="paper", step=1e-6)


def test_a_run_goes_on_where_another_ended(pressed):
    """A state in contact starts another run, and gives the same."""
    first = simulate(pressed_block(), until=2e-4, rtol=1e-7)
    second = simulate(pressed_block(), until=5e-4, rtol=1e-7, start=first.state())
    name = "c.normal_force"
    one, two = (r.sample(5e-4, name)[name][0] for r in (pressed, second))
    assert two == pytest.approx(one, rel=1e-6)


def test_a_disc_on_a_beam_follows_small_displacements():
    """Against a march in NumPy that knows heights alone, with the same reduction."""
    model = gallery.build("ball_on_beam", contact="patch")
    result = simulate(model, until=3e-5)
    beam, ball = result.system.flexible["beam"], model.element("ball")
    nodes = beam.sites["face"].nodes
    assert nodes is not None
    assert isinstance(ball, RigidBody)
    rim = ball.shapes["rim"]
    assert isinstance(rim, Circle)
    x, heights = nodes.places[:, 0], nodes.shapes[:, 1, :]
    flexibility, n = nodes.flexibility[1::2, 1::2], 1 + len(beam.stiffness)
    mass, radius = ball.mass, rim.radius

    def forces(q):
        gaps = np.hypot(x, radius + q[0] - heights @ q[1:]) - radius
        return press(gaps, flexibility)

    def rate(_t, y):
        lam = forces(y[:n])
        own = -(heights.T @ lam) - beam.stiffness * y[1:n]
        return np.concatenate((y[n:], [lam.sum() / mass], own))

    start = np.zeros(2 * n)
    start[n] = -0.01
    atol = np.repeat([1e-15, 1e-11], n)
    t = np.linspace(0.0, 3e-5, 61)
    found = solve_ivp(rate, (0.0, 3e-5), start, "DOP853", t, rtol=1e-9, atol=atol)
    exact = np.array([forces(q).sum() for q in found.y[:n].T])
    name = "contact.normal_force"
    ours = result.sample(t, name)[name]
    # Nodes also move along the beam, by parts of the half-width of contact, which the
    # march in NumPy leaves out.
    assert np.abs(ours - exact).max() < 3e-3 * exact.max()
    assert ours.max() == pytest.approx(exact.max(), rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "within"),
    [
        ({}, 2e-3),
        pytest.param({"radius": 0.02, "speed": 0.02}, 5e-3, marks=pytest.mark.slow),
        pytest.param(
            {"height": 0.015, "length": 0.2, "modes": 30}, 2e-3, marks=pytest.mark.slow
        ),
    ],
)
def test_a_disc_on_a_beam_follows_timoshenko(changes, within):
    """His integral equation, with the local compliance of the nodes found statically.

    He knows one place of contact: that shapes differ over the patch, by parts of the
    width of contact, is what is left.
    """
    until = 1e-4
    model = gallery.build("ball_on_beam", contact="patch", **changes)
    result = simulate(model, until=until)
    beam, ball = result.system.flexible["beam"], model.element("ball")
    assert isinstance(ball, RigidBody)
    rim, face = ball.shapes["rim"], beam.sites["face"]
    assert isinstance(rim, Circle)
    depths = np.linspace(0.0, 2.0 * (rim.radius - result["ball.y"].min()), 400)
    law = (depths, disc_on_patch(face.nodes, rim.radius, depths))
    w, phi = np.sqrt(beam.stiffness), face.shape[1]
    t, exact = ball_on_beam(law, ball.mass, -ball.velocity[1], w, phi, until, 5000)
    ours = result.sample(t, "contact.normal_force")["contact.normal_force"]
    assert np.abs(ours - exact).max() < within * exact.max()
    assert ours.max() == pytest.approx(exact.max(), rel=5e-4)


def test_a_smooth_ball_beside_the_middle_is_not_spun():
    """What nodes give along the beam turns no normal of a disc: its energy is kept.

    Its normals turn with the place of the node, not with the disc.
    """
    beam = FlexibleBody(
        name="beam",
        mesh=Rectangle(width=0.4, height=0.02, center=(0.2, -0.01), size=0.01),
        material="steel",
        thickness=0.01,
        modes=6,
        fixed=("left",),
        patches={"face": Patch(boundary="top", center=(0.4, 0.0), radius=0.05)},
    )
    ball = RigidBody(
        name="ball",
        mass=0.1,
        inertia=2e-5,
        position=(0.383, 0.02),
        velocity=(0.0, -0.5),
        shapes={"rim": Circle(radius=0.02)},
    )
    contact = Contact(name="c", a="ball.rim", b="beam.face", normal=Unilateral())
    model = Model(bodies=[beam, ball], contacts=[contact])
    result = simulate(model, until=3e-4, rtol=1e-9)
    assert result["c.normal_force"].max() > 1000.0
    assert np.abs(result["ball.omega"]).max() < 1e-12
    balance = result.energy_balance
    # Without the forces that turn normals, 1e-6.
    assert balance.residual < 1e-8 * balance.kinetic[0]
    now = result.sample(2e-5)
    along = now["c.normal_force"] * now["c.normal_x"]
    assert ball.mass * now["ball.ax"] == pytest.approx(-along, rel=1e-9)
