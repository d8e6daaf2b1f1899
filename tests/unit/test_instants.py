"""What expressions do at an instant is not stepped over: jumps, pulses, zeros."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    Expression,
    ExpressionForce,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    NonsmoothWarning,
    PointForce,
    PointMass,
    RigidBody,
    TranslationDrive,
    simulate,
)
from nonsmooth.elements.expressions import FUNCTIONS, OPCODES, TIME_VARIABLES, parse
from nonsmooth.errors import ModelError
from nonsmooth.pack import pack
from nonsmooth.pack.instants import stops
from nonsmooth.pack.ranges import ARITY, VALUES, jets
from tests.unit.test_expressions import law

PULSE = "where((t > 0.5)*(t < 0.501), 1000, 0)"


def free(text, start=(0.0, 0.0)):
    body = PointMass(name="m", mass=1.0, velocity=start)
    force = ExpressionForce(name="f", b="m", fx=text)
    return Model(bodies=[body], forces=[force])


# ---- bounds --------------------------------------------------------------------


def test_every_operation_has_bounds():
    assert set(VALUES) == set(OPCODES) - {"const", "var"}
    own = {name: function.arity for name, function in FUNCTIONS.items()}
    assert own.items() <= ARITY.items()


# Between the instants where a branch changes, on [low, high].
SMOOTH = (
    *("-t", "sin(3*t)", "cos(5*t)", "tan(t/4)", "asin(t/4)", "acos(t/4)", "atan(t)"),
    *("sinh(t)", "cosh(t - 1)", "tanh(3*t)", "exp(-t*t)", "log(t + 3)", "sqrt(t + 3)"),
    *(
        "abs(t - 9)",
        "smoothstep(t/8 + 0.5)",
        "sign(t + 9)*t",
        "floor(t/9 + 0.5)",
        "t/(t + 4)",
    ),
    *("(t - 1)**2", "t**3", "(t + 3)**-2", "(t + 3)**0.7", "2**t", "(t + 4)**sin(t)"),
    *("atan2(t + 5, t)", "hypot(t, 2)", "mod(t + 3, 9)", "min(t, 9)", "max(t*t, -1)"),
    *("(t < 9)*cos(t)", "(9 <= t)*t", "where(t < 9, t*sin(t), 1)", "t*(t - 1) - t*t"),
)


@pytest.mark.parametrize("text", SMOOTH)
def test_bounds_hold_what_the_kernel_computes(text):
    """Value and both rates of random points, by the compiled interpreter."""
    flat = parse(text, TIME_VARIABLES, "test")
    program = tuple(
        (OPCODES[int(n)], x) for n, x in zip(flat[1::2], flat[2::2], strict=True)
    )
    random = np.random.default_rng(1)
    low = random.uniform(-2.0, 1.5, 200)
    high = low + 10.0 ** random.uniform(-6.0, -0.3, 200)
    found = jets(program, low, high)
    assert not np.any(found.is_void)
    for t in (low, high, low + random.uniform(size=200) * (high - low)):
        exact = np.array([law(text, x) for x in t.tolist()])
        for k, (least, most) in enumerate((found.f, found.f1, found.f2)):
            # Bounds do not follow round-off: some units of the last digit.
            slack = 1e-12 * (1.0 + np.abs(exact[:, k]))
            assert np.all(exact[:, k] >= least - slack)
            assert np.all(exact[:, k] <= most + slack)


# ---- instants ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        (PULSE, 2.0, [0.5, 0.501]),
        ("abs(t - 1)", 2.0, [1.0]),
        ("floor(3*t)", 1.5, [1 / 3, 2 / 3, 1.0, 4 / 3]),
        ("mod(t, 0.25)", 1.0, [0.25, 0.5, 0.75]),
        ("max(0, sin(10*t))", 1.0, [math.pi / 10, math.pi / 5, 3 * math.pi / 10]),
        ("smoothstep((t - 0.5)/0.1)", 1.0, [0.5, 0.6]),
        ("where(mod(t, 0.5) < 1e-6, 1, 0)", 1.0, [1e-6, 0.5, 0.500001]),
        ("abs(abs(t - 1) - 0.5)", 3.0, [0.5, 1.0, 1.5]),
        ("(sin(7*t) > 0.99999999)*1", 0.5, []),
        ("(max(t - 1, 0) > 0)*1", 3.0, [1.0]),
        ("atan2(sin(t), cos(t))", 4.0, [math.pi]),
        ("sin(3*t)*exp(-t)", 9.0, []),
        ("x*(t > 0.3) + sign(vx)", 1.0, [0.3]),
    ],
)
def test_all_instants_are_found(text, end, expected):
    if text.startswith("(sin(7*t)"):
        half = math.acos(0.99999999) / 7.0
        expected = [math.pi / 14 - half, math.pi / 14 + half]
    found = stops(pack(free(text)), 0.0, end)
    # Of the comparison near its peak the condition is 1e4.
    assert found.breaks == pytest.approx(expected, rel=1e-11)
    assert len(found.marks) == 0


def test_a_break_is_beyond_the_change_and_its_cap_before():
    for text in ("t > 0.7", "t >= 0.7", "sin(9*t) > 0.3", "floor(7*t)", "mod(t, 0.3)"):
        system = pack(free(text))
        for stop, is_break, cap in stops(system, 0.0, 3.0):
            assert is_break
            near = [cap, stop, np.nextafter(stop, 9.0)]
            before, after, later = (law(text, float(t))[0] for t in near)
            assert abs(after - before) > 0.2
            assert later == pytest.approx(after, abs=1e-12)


def test_what_changes_too_often_is_said():
    with pytest.warns(NonsmoothWarning, match=r"force 'f': its expression changes too"):
        result = simulate(free("0*floor(1e7*t)"), 1.0)
    assert any("give max_step" in note for note in result.notes)


# ---- runs ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "dop853", "dopri5", "radau"])
def test_a_short_pulse_is_not_stepped_over(method):
    """1000 N for 1 ms on 1 kg is 1 m/s; the pulse is exact to round-off of times."""
    model = free(PULSE)
    timed = PointForce(name="f", b="m", fx=Expression(text=PULSE))
    for forces in (model.forces, [timed]):
        result = simulate(Model(bodies=model.bodies, forces=forces), 2.0, method=method)
        assert result["m.vx"][-1] == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize(
    ("text", "impulse"),
    [
        ("1000*exp(-((t - 0.5)/1e-4)**2)", 0.1 * math.sqrt(math.pi)),
        ("100*(tanh((t - 0.5)*1e6) - tanh((t - 0.5001)*1e6))", 0.02),
        ("1/(1 + ((t - 0.3)/1e-5)**2) - 0.1*vx", None),
        (
            "-abs(sin(40*t))**0.5*0 + 50*exp(-((t - 0.77)/1e-5)**2)",
            5e-4 * math.sqrt(math.pi),
        ),
    ],
)
def test_a_short_pulse_without_an_edge_is_not_stepped_over(text, impulse):
    result = simulate(free(text), 1.0)
    if impulse is None:  # of the Lorentzian, which the drag takes some of
        assert 2e-5 < result["m.vx"][-1] < 1e-5 * math.pi
    else:
        # Default tolerance, relative to the speed.
        assert result["m.vx"][-1] == pytest.approx(impulse, rel=1e-5)


def test_a_short_push_moves_a_block_at_rest():
    """It slides for v/(mu g) after a push of 1 N s, and rests again."""
    block = RigidBody(name="m", mass=1.0, inertia=0.1)
    push = PointForce(name="f", b="m", fx=Expression(text=PULSE))
    mu, g = 0.4, 9.81
    floor = Contact(
        name="sole",
        a="ground.floor",
        b="m",
        normal=KelvinVoigt(stiffness=1e6, damping=1e3),
        friction=Coulomb(mu=mu),
    )
    ground = Ground(shapes={"floor": Line(point=(0.0, 1.0 * g / 1e6))})
    model = Model(
        gravity=(0.0, -g), bodies=[ground, block], forces=[push], contacts=[floor]
    )
    result = simulate(model, 2.0)
    kinds = [(event.kind, event.t) for event in result.events.of("sole")]
    assert [kind for kind, _ in kinds] == ["break_away", "stick"]
    speed = (1000.0 - mu * g) * 1e-3
    assert kinds[0][1] == pytest.approx(0.5, abs=1e-12)
    assert kinds[1][1] == pytest.approx(0.501 + speed / (mu * g), rel=1e-9)


@pytest.mark.parametrize(("omega", "force"), [(2355.97, 8.1425), (11610.656, 10.7049)])
def test_a_packet_of_waves_moves_a_mass_at_rest(omega, force):
    """It breaks away at the first peak that friction does not hold."""
    g, mu0 = 9.81, 0.4
    law = Expression(text=f"{force}*sin({omega}*t)*exp(-((t - 0.5)/0.05)**2)")
    sole = Contact(
        name="c",
        b="b",
        normal=KelvinVoigt(stiffness=1e5, damping=100.0),
        friction=Coulomb(mu=0.3, mu_static=mu0),
    )
    model = Model(
        gravity=(0.0, -g),
        bodies=[PointMass(name="b", mass=1.0, position=(0.0, -g / 1e5))],
        forces=[PointForce(name="f", b="b", fx=law)],
        contacts=[sole],
    )

    def excess(t):
        wave = force * np.sin(omega * t) * np.exp(-(((t - 0.5) / 0.05) ** 2))
        return np.abs(wave) - mu0 * g

    t = np.linspace(0.0, 1.0, 4_000_001)
    k = int(np.argmax(excess(t) > 0.0))
    first = brentq(excess, t[k - 1], t[k], xtol=1e-15)
    events = simulate(model, 1.0).events
    assert events[0].kind == "break_away"
    assert events[0].t == pytest.approx(first, abs=1e-11)


@pytest.mark.parametrize(
    ("guard", "n"),
    [
        ("sin(100*t)", 318),
        ("sin(100*t)*(1 + 0*x)", 318),
        ("cos(16*pi*t) + 0.5", 160),
        ("cos(16*pi*x) + 0.5", 160),
        ("sin(1000*x)", 3183),
        ("sin(x*x*10)", 318),
        ("exp(-((t - 0.5)/1e-4)**2) - 0.5", 2),
        ("where(t > 0.5, 1, -1)", 1),
        ("sign(sin(20*t))", 63),
        ("mod(t, 0.3) - 0.29999", 66),
        ("sin(100*x) + 5", 0),
    ],
)
@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_all_zeros_of_a_guard_are_found_in_free_flight(guard, n, method):
    """10 s at 1 m/s: steps as long as they like."""
    body = PointMass(name="m", mass=1.0, velocity=(1.0, 0.0))
    model = Model(bodies=[body], events=[Event(name="e", b="m", guard=guard)])
    result = simulate(model, 10.0, method=method)
    assert len(result.events.of("e")) == n


def test_a_guard_far_from_zero_does_not_shorten_steps():
    body = PointMass(name="m", mass=1.0, velocity=(1.0, 0.0))
    for guard in ("x - 100", "sin(t) + 9", "y + 1"):
        model = Model(bodies=[body], events=[Event(name="e", b="m", guard=guard)])
        plain = simulate(Model(bodies=[body]), 10.0)
        assert simulate(model, 10.0).cost["steps"] <= plain.cost["steps"] + 2


def test_a_short_jump_of_a_drive_is_refused():
    """Between samples of its law, too."""
    body = PointMass(name="m", mass=1.0)
    drive = TranslationDrive(name="d", b="m", law=Expression(text=PULSE))
    with pytest.raises(
        ModelError, match=r"drive 'd': the law jumps by 1000 at t = 0.5"
    ):
        simulate(Model(bodies=[body], drives=[drive]), 2.0)
