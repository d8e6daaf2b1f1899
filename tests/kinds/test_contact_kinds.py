"""Every registered shape, normal law and friction law, checked by what all must obey.

A new kind is tested as soon as it has an example in the tables below; a kind without
one fails `test_every_kind_has_an_example`. Row functions are called as they are
written, and once compiled alone: no kernel is needed. The built-in kinds are compared
with oracles in `tests/unit/test_contact_elements.py`.
"""

import ctypes
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    CoulombViscous,
    Dahl,
    DampedHertz,
    Flores,
    FrictionLaw,
    Ground,
    Hertz,
    HuntCrossley,
    Karnopp,
    KelvinVoigt,
    LankaraniNikravesh,
    Line,
    LuGre,
    Model,
    ModelError,
    NormalLaw,
    Polygon,
    RegularisedCoulomb,
    RigidBody,
    Segment,
    Shape,
    Stribeck,
    Unilateral,
    io,
)
from nonsmooth.elements.base import Element
from nonsmooth.kernels import abi

pytestmark = pytest.mark.jit_off

# ---- examples ------------------------------------------------------------------

SHAPES: list[Shape] = [
    Line(point=(0.3, -0.2), angle=0.4),
    Circle(center=(0.2, -0.1), radius=0.7),
    Segment(start=(-0.5, 0.3), end=(0.6, -0.1)),
    Polygon(vertices=((-0.6, -0.4), (0.5, -0.5), (0.8, 0.2), (0.1, 0.7), (-0.7, 0.3))),
]
NORMALS: list[NormalLaw] = [
    KelvinVoigt(stiffness=2e5, damping=90.0),
    Hertz(stiffness=3e6, exponent=1.4),
    DampedHertz(stiffness=3e6, damping=2e5),
    HuntCrossley(stiffness=3e6, exponent=1.3, damping=0.7),
    LankaraniNikravesh(stiffness=3e6, restitution=0.6),
    Flores(stiffness=3e6, exponent=2.0, restitution=0.4),
]
# What they say is checked in test_friction_kinds.py.
FRICTIONS: list[FrictionLaw] = [
    Coulomb(mu=0.3, mu_static=0.4),
    Coulomb(mu=0.3),
    CoulombViscous(mu=0.3, viscous=2.0),
    Stribeck(mu=0.3, mu_static=0.4, velocity=0.1),
    Karnopp(mu=0.3, dead_band=1e-3),
    RegularisedCoulomb(mu=0.3, velocity=1e-2),
    Dahl(mu=0.3, stiffness=200.0),
    LuGre(mu=0.3, mu_static=0.4, velocity=0.1, stiffness=200.0),
]
# Laws whose force jumps at touch-down, as a damper of its own makes it.
JUMPS = (KelvinVoigt,)

FAMILIES: list[tuple[type[Element], list[Any]]] = [
    (Shape, SHAPES),
    (NormalLaw, NORMALS),
    (FrictionLaw, FRICTIONS),
]


def each(name: str, examples: list):
    return pytest.mark.parametrize(name, examples, ids=lambda x: type(x).__name__)


@pytest.mark.parametrize(("family", "examples"), FAMILIES)
def test_every_kind_has_an_example(family, examples):
    ours = {
        name: cls
        for name, cls in family.kinds.items()
        if cls.__module__.startswith("nonsmooth.")
        # Nodes of patches have no law of their own: test_patches.py.
        and cls is not Unilateral
    }
    assert set(ours.values()) == {type(example) for example in examples}
    assert all(cls.__name__ == name for name, cls in ours.items())


# ---- shapes ----------------------------------------------------------------------

FAR = 0.2  # m, kept from ends, vertices and centres, where the derivatives grow
# Central differences of fourth order: truncation 1e-16/30 of the fifth derivative, of
# the normal at most 4! (6.4/0.2)**5 = 8e8 with speeds up to 6.4 m/s; round-off near
# 1e-15/1e-4.
STEP, CLOSE = 1e-4, 1e-8
# Sums of a few products of numbers of order one.
ROUND = 1e-13
N_POSE = 300


def slope(f, h: float = STEP):
    """First derivative of f at 0."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


def nearest(shape: Shape, a, b) -> np.ndarray:
    """Call the row function of a shape, with plain numbers as a debugger would."""
    out = [math.inf] * 4
    row: Any = shape.row_function()
    row(shape.parameters(), list(map(float, a)), list(map(float, b)), out)
    return np.array(out)


def moved(motion, x: float) -> np.ndarray:
    """A motion after the time x, at constant rates."""
    return np.concatenate([motion[:3] + x * motion[3:], motion[3:]])


def poses(shape: Shape):
    """Random motions of a and b at which the same feature stays nearest for a while."""
    random = np.random.default_rng(11)
    found = 0
    for _ in range(N_POSE):
        a, b = random.uniform(-1.0, 1.0, (2, 6))
        a[2] *= 3.0
        b[:2] *= 1.5
        # Whether the normal turns with the body tells a face from an end or vertex.
        near = [nearest(shape, moved(a, x), moved(b, x)) for x in (-3 * STEP, 3 * STEP)]
        on_face = [abs(n[3] - a[5]) < 1e-9 for n in near]
        turn = abs(near[0][1] * near[1][2] - near[0][2] * near[1][1])
        if on_face[0] != on_face[1] or turn > 0.1 or abs(near[0][0]) < FAR:
            continue
        if isinstance(shape, Circle) and near[0][0] + shape.radius < FAR:
            continue
        found += 1
        yield a, b
    assert found > N_POSE // 3


@each("shape", SHAPES)
def test_the_normal_is_the_gradient_of_the_distance(shape):
    for a, b in poses(shape):
        now = nearest(shape, a, b)
        assert math.isclose(math.hypot(now[1], now[2]), 1.0, abs_tol=ROUND)
        for i in range(2):
            e = np.eye(6)[i]

            def shifted(x, a=a, b=b, e=e):
                return nearest(shape, a, b + x * e)[0]

            assert math.isclose(now[1 + i], slope(shifted), abs_tol=CLOSE)


@each("shape", SHAPES)
def test_the_rate_of_the_normal_is_its_rate(shape):
    for a, b in poses(shape):
        now = nearest(shape, a, b)
        change = slope(lambda x, a=a, b=b: nearest(shape, moved(a, x), moved(b, x)))
        # n' = rate of rotation times n turned by 90 degrees
        expected = now[3] * np.array([-now[2], now[1]])
        assert np.allclose(change[1:3], expected, rtol=0.0, atol=CLOSE)


@each("shape", SHAPES)
def test_the_rate_of_the_distance_is_the_relative_velocity_along_the_normal(shape):
    """As the engine takes it: both bodies seen at b's centre."""
    for a, b in poses(shape):
        now = nearest(shape, a, b)
        change = slope(lambda x, a=a, b=b: nearest(shape, moved(a, x), moved(b, x)))
        rx, ry = b[0] - a[0], b[1] - a[1]
        velocity = np.array([b[3] - a[3] + a[5] * ry, b[4] - a[4] - a[5] * rx])
        assert math.isclose(change[0], now[1:3] @ velocity, abs_tol=CLOSE)


@each("shape", SHAPES)
def test_a_rigid_motion_of_both_bodies_turns_the_normal_and_no_more(shape):
    random = np.random.default_rng(12)
    for _ in range(N_POSE):
        a, b = random.uniform(-1.0, 1.0, (2, 6))
        now = nearest(shape, a, b)
        # Turn the scene by phi, move it by s, and let it all move with a twist.
        phi, sx, sy = random.uniform(-3.0, 3.0, 3)
        ux, uy, spin = random.uniform(-1.0, 1.0, 3)
        c, s = math.cos(phi), math.sin(phi)
        turn = np.array([[c, -s], [s, c]])
        images = []
        for motion in (a, b):
            place = turn @ motion[:2] + (sx, sy)
            drift = np.array([ux - spin * place[1], uy + spin * place[0]])
            images.append(
                np.concatenate(
                    [
                        place,
                        [motion[2] + phi],
                        turn @ motion[3:5] + drift,
                        [motion[5] + spin],
                    ]
                )
            )
        then = nearest(shape, *images)
        # Near an end the normal is as sharp as round-off over distance, its rate as
        # that over its square.
        sharp = 10 * ROUND / max(1e-3, min(1.0, abs(now[0]))) ** 2
        assert math.isclose(then[0], now[0], abs_tol=10 * ROUND)
        assert np.allclose(then[1:3], turn @ now[1:3], rtol=0.0, atol=sharp)
        assert math.isclose(then[3], now[3] + spin, abs_tol=sharp)


@each("shape", SHAPES)
def test_only_four_numbers_are_written(shape):
    """The engine keeps the rest of a contact's record behind them."""
    out = np.full(12, 7.0)
    motion = np.linspace(-0.4, 0.9, 6)
    row: Any = shape.row_function()
    row(np.array(shape.parameters()), np.zeros(6), motion, out)
    assert np.all(out[4:] == 7.0)
    assert np.all(out[:4] != 7.0)


@each("shape", SHAPES)
def test_the_discs_that_stand_for_a_shape_are_part_of_it(shape):
    rest = np.zeros(6)
    for x, y in shape.corners():
        distance = nearest(shape, rest, [x, y, 0.0, 0.0, 0.0, 0.0])[0]
        assert math.isclose(distance, -shape.radius_of_corners(), abs_tol=ROUND)


# ---- normal laws -----------------------------------------------------------------

RATES = (-2.0, -0.3, 0.0, 0.4, 3.0)  # m/s
APPROACH = 1.7  # m/s


def force(law: NormalLaw, overlap: float, rate: float, approach: float = APPROACH):
    row: Any = law.row_function()
    return row(law.parameters(), overlap, rate, approach)


@each("law", NORMALS)
def test_the_force_is_zero_without_overlap(law):
    values = [force(law, 0.0, rate) for rate in RATES]
    if isinstance(law, JUMPS):
        assert values[RATES.index(0.0)] == 0.0
        assert values[-1] > 0.0
    else:
        assert values == [0.0] * len(RATES)


@each("law", NORMALS)
def test_the_force_grows_with_overlap_and_with_its_rate(law):
    overlaps = np.linspace(1e-5, 1e-2, 20)
    at_rest = np.array([force(law, d, 0.0) for d in overlaps])
    assert np.all(at_rest > 0.0)
    assert np.all(np.diff(at_rest) > 0.0)
    is_damped = not isinstance(law, Hertz)
    for d in overlaps:
        values = np.array([force(law, d, rate) for rate in RATES])
        steps = np.diff(values)
        assert np.all(steps > 0.0) if is_damped else np.all(steps == 0.0)


@each("law", NORMALS)
def test_a_contact_that_was_closed_at_the_start_has_a_force(law):
    """Its approach rate is zero, and that of one that opens again negative."""
    for approach in (0.0, -0.1):
        values = [force(law, 1e-3, rate, approach) for rate in RATES]
        assert np.all(np.isfinite(values))
        assert values[RATES.index(0.0)] == force(law, 1e-3, 0.0)


def rebound(law: NormalLaw, mass: float, speed: float) -> float:
    """Speed after an impact of a mass on a wall; the force never pulls."""

    def motion(_t, y):
        return [y[1], -max(0.0, force(law, max(0.0, y[0]), y[1], speed)) / mass]

    def separate(_t, y):
        return y[0]

    separate.__dict__.update(terminal=True, direction=-1.0)
    # Longer than any impact here: half a period of the softest spring is 0.007 s.
    solution: Any = solve_ivp(
        motion,
        (0.0, 1.0),
        [0.0, speed],
        method="LSODA",
        rtol=1e-9,
        atol=1e-12,
        max_step=1e-3,
        events=separate,
    )
    assert solution.status == 1
    return -float(solution.y_events[0][0][1])


@each("law", NORMALS)
@pytest.mark.parametrize("speed", [0.2, 3.0])
def test_an_impact_gives_back_no_more_than_it_was_given(law, speed):
    back = rebound(law, 1.3, speed)
    # The integration keeps 1e-9 a step, over some hundred steps.
    if isinstance(law, Hertz):
        assert math.isclose(back, speed, rel_tol=1e-6)
    else:
        assert 0.0 < back < 0.99 * speed


# ---- friction laws ---------------------------------------------------------------


@each("law", [law for law in FRICTIONS if law.is_set_valued()])
def test_friction_at_rest_is_no_less_than_in_motion(law):
    assert law.static >= law.mu >= 0.0


# ---- compiled --------------------------------------------------------------------

POINTER = ctypes.POINTER(ctypes.c_double)
NUMBER = ctypes.c_double
PROTOTYPES: dict[str, Any] = {
    "shape": ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, POINTER),
    "normal": ctypes.CFUNCTYPE(NUMBER, POINTER, NUMBER, NUMBER, NUMBER),
}


def compiled(family: str, element) -> Any:
    """The row function as kernels call it: by its address, with pointers."""
    if abi.CHECKED:
        pytest.skip("a checked pointer is no C pointer")
    if not abi.JIT:
        pytest.skip("the JIT is off")
    return PROTOTYPES[family](abi.address(family, element.row_function()))


def pointer(values) -> Any:
    return (NUMBER * len(values))(*map(float, values))


@each("shape", SHAPES)
def test_a_compiled_shape_says_the_same(shape):
    row = compiled("shape", shape)
    p = pointer(shape.parameters())
    random = np.random.default_rng(13)
    for _ in range(N_POSE):
        a, b = random.uniform(-1.0, 1.0, (2, 6))
        out = pointer([0.0] * 4)
        row(p, pointer(a), pointer(b), out)
        # The compiler may contract products and sums; near an end that is divided by
        # the distance, 1e-3 m at the least here, squared.
        expected = nearest(shape, a, b)
        assert np.allclose(out[:], expected, rtol=1e-9, atol=1e-9)


def test_a_compiled_circle_has_no_normal_at_its_centre():
    shape = Circle(center=(0.25, 0.5), radius=2.0)
    out = pointer([0.0] * 4)
    b = pointer([0.25, 0.5, 0.0, 1.0, 1.0, 1.0])
    compiled("shape", shape)(pointer(shape.parameters()), pointer([0.0] * 6), b, out)
    assert out[0] == -2.0
    assert np.all(np.isnan(out[1:]))


@each("law", NORMALS)
def test_a_compiled_law_says_the_same(law):
    row = compiled("normal", law)
    p = pointer(law.parameters())
    for overlap in (0.0, 1e-6, 3e-3):
        for rate in RATES:
            for approach in (APPROACH, 0.0):
                # One power, which two libraries may round differently.
                assert math.isclose(
                    row(p, overlap, rate, approach),
                    force(law, overlap, rate, approach),
                    rel_tol=1e-13,
                )


# ---- all of them -----------------------------------------------------------------


def model_of(element) -> Model:
    """The smallest model an element can stand in."""
    shape = element if isinstance(element, Shape) else Line()
    normal = element if isinstance(element, NormalLaw) else Hertz(stiffness=1e6)
    friction = element if isinstance(element, FrictionLaw) else None
    return Model(
        bodies=[
            RigidBody(name="body", mass=1.0, inertia=1.0, points={"tip": (0.1, 0.2)}),
            Ground(shapes={"floor": shape}),
        ],
        contacts=[
            Contact(
                name="it",
                a="ground.floor",
                b="body.tip",
                normal=normal,
                friction=friction,
            )
        ],
    )


ALL: list[Any] = [*SHAPES, *NORMALS, *FRICTIONS]


@each("element", ALL)
def test_a_kind_survives_a_file(element):
    model = model_of(element)
    for format in ("yaml", "json"):
        assert io.loads(io.dumps(model, format), format) == model


def test_kinds_are_immutable_and_compare_by_value():
    for element in ALL:
        assert replace(element) == element
        with pytest.raises(AttributeError):
            element.anything = 1.0


@each("element", ALL)
def test_what_is_not_finite_is_refused(element):
    for item in fields(element):
        where = rf"^{type(element).__name__}: {item.name} = nan; "
        with pytest.raises(ModelError, match=where):
            replace(element, **{item.name: math.nan})
