"""Every registered friction law, checked by what all must obey.

A new kind is tested as soon as it has an example below; a kind without one fails
`test_every_kind_has_an_example`. Row functions are called as they are written, and once
compiled alone. Motions under the laws are in `tests/unit/test_friction_laws.py`.
"""

import ctypes
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Coulomb,
    CoulombViscous,
    Dahl,
    FrictionLaw,
    Karnopp,
    KelvinVoigt,
    LuGre,
    Model,
    PinInSlot,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    Stribeck,
)
from nonsmooth.kernels import abi
from nonsmooth.pack import pack

pytestmark = pytest.mark.jit_off

EXAMPLES: list[FrictionLaw] = [
    Coulomb(mu=0.3, mu_static=0.4),
    CoulombViscous(mu=0.3, viscous=2.0, mu_static=0.35),
    Stribeck(mu=0.2, mu_static=0.4, velocity=0.1, exponent=1.3, viscous=0.7),
    Karnopp(mu=0.3, dead_band=1e-3, viscous=0.4, mu_static=0.5),
    RegularisedCoulomb(mu=0.3, velocity=1e-2),
    Dahl(mu=0.3, stiffness=200.0),
    LuGre(
        mu=0.2,
        mu_static=0.4,
        velocity=0.1,
        stiffness=200.0,
        damping=0.3,
        viscous=0.6,
    ),
]
SET_VALUED = [law for law in EXAMPLES if law.is_set_valued()]
SMOOTH = [law for law in EXAMPLES if not law.is_set_valued()]
WITH_STATE = [law for law in EXAMPLES if law.has_state()]

SPEEDS = (1e-6, 1e-3, 0.05, 0.1, 0.7, 20.0)  # m/s
LOADS = (0.0, 1e-6, 3.0, 250.0)  # N
# A few products of the numbers above.
ROUND = 1e-13


def each(laws):
    return pytest.mark.parametrize("law", laws, ids=lambda x: type(x).__name__)


def limit(law: Any, lam_n: float, speed: float) -> float:
    return law.limit(law.parameters(), lam_n, speed)


def force(law: Any, lam_n: float, v_t: float, z: float = 0.0) -> float:
    return law.force(law.parameters(), lam_n, v_t, z)


def rate(law: Any, lam_n: float, v_t: float, z: float) -> float:
    return law.rate(law.parameters(), lam_n, v_t, z)


def steady_state(law: Any, lam_n: float, v_t: float) -> float:
    """The deflection at which the law's own rate is zero; 0 without a state."""
    if not law.has_state():
        return 0.0
    far, close = 1e3 * law.state_scale, np.float64(1e-15)
    found: Any = brentq(
        lambda z: rate(law, lam_n, v_t, z), -far, far, xtol=1e-300, rtol=close
    )
    return float(found)


def slip_force(law: Any, lam_n: float, v_t: float) -> float:
    """lam_t in steady slip."""
    if law.is_set_valued():
        return -math.copysign(limit(law, lam_n, abs(v_t)), v_t)
    return force(law, lam_n, v_t, steady_state(law, lam_n, v_t))


def test_every_kind_has_an_example():
    ours = {
        cls
        for cls in FrictionLaw.kinds.values()
        if cls.__module__.startswith("nonsmooth.")
    }
    assert ours == {type(law) for law in EXAMPLES}


@each(EXAMPLES)
def test_a_law_decides_or_is_a_function(law):
    kind = type(law)
    assert hasattr(kind, "limit") != hasattr(kind, "force")
    assert hasattr(kind, "force") or not hasattr(kind, "rate")
    assert law.state_scale > 0.0
    assert law.band >= 0.0


@each(EXAMPLES)
def test_steady_slip_meets_resistance(law):
    """Friction takes energy, and takes more under more load."""
    for lam_n in LOADS:
        for speed in SPEEDS:
            for v_t in (speed, -speed):
                power = slip_force(law, lam_n, v_t) * v_t
                assert power <= 0.0
                assert power < 0.0 or lam_n == 0.0
    for speed in SPEEDS:
        sizes = [abs(slip_force(law, lam_n, speed)) for lam_n in LOADS]
        assert np.all(np.diff(sizes) > 0.0)


@each(EXAMPLES)
def test_friction_has_no_preferred_direction(law):
    for lam_n in LOADS:
        for v_t in SPEEDS:
            there, back = slip_force(law, lam_n, v_t), slip_force(law, lam_n, -v_t)
            # The root of the rate is found to round-off.
            assert there == pytest.approx(-back, rel=1e-12, abs=1e-300)


@each(EXAMPLES)
def test_friction_is_linear_in_the_load_up_to_a_constant(law):
    """So that a joint's load, a reaction, follows from a linear problem."""
    for speed in SPEEDS:
        for z in (0.0, 0.3 * law.state_scale, -law.state_scale):

            def value(lam_n, speed=speed, z=z):
                if law.is_set_valued():
                    return limit(law, lam_n, speed)
                return force(law, lam_n, -speed, z)

            base, unit = value(0.0), value(1.0) - value(0.0)
            for lam_n in LOADS:
                expected = base + lam_n * unit
                # `unit` is the difference of two values near `base`.
                close = ROUND * max(1.0, abs(base)) * max(1.0, lam_n)
                assert value(lam_n) == pytest.approx(expected, rel=ROUND, abs=close)


@each(EXAMPLES)
def test_the_rate_of_a_state_does_not_depend_on_the_load_of_these_laws(law):
    if law.has_state():
        for v_t in (-0.2, 1e-3, 0.4):
            values = {rate(law, lam_n, v_t, 1e-4) for lam_n in LOADS}
            assert len(values) == 1


# ---- set-valued laws -------------------------------------------------------------


@each(SET_VALUED)
def test_friction_at_rest_is_no_less_than_in_the_slowest_slip(law):
    for lam_n in LOADS:
        slowest = limit(law, lam_n, 0.0)
        assert 0.0 <= slowest <= law.static * lam_n * (1.0 + ROUND)


@each(SET_VALUED)
def test_friction_is_continuous_in_the_speed(law):
    """Only at rest is there a choice."""
    speeds = np.linspace(0.0, 1.0, 20001)
    values = np.array([limit(law, 10.0, speed) for speed in speeds])
    # Half of Stribeck's fall over a tenth of its velocity, at the steepest.
    assert np.max(np.abs(np.diff(values))) < 1e-3 * np.max(values)


# ---- functions, and their states --------------------------------------------------


@each(SMOOTH)
def test_there_is_no_friction_at_rest_with_straight_bristles(law):
    for lam_n in LOADS:
        assert force(law, lam_n, 0.0, 0.0) == 0.0


@each(WITH_STATE)
def test_the_rate_is_zero_in_steady_slip_and_at_rest(law):
    for v_t in (*SPEEDS, *(-speed for speed in SPEEDS)):
        z = steady_state(law, 1.0, v_t)
        assert z * v_t > 0.0
        # Beside the speed, of which it is the difference of two multiples.
        assert abs(rate(law, 1.0, v_t, z)) <= 1e-14 * abs(v_t)
        for part in (0.3, -0.7):
            assert rate(law, 1.0, 0.0, part * z) == 0.0


@each(WITH_STATE)
def test_bristles_relax_towards_the_steady_state(law):
    for v_t in (*SPEEDS, *(-speed for speed in SPEEDS)):
        z = steady_state(law, 1.0, v_t)
        for part in (-1.0, 0.0, 0.5, 0.99, 1.01, 2.0):
            assert rate(law, 1.0, v_t, part * z) * (1.0 - part) * z > 0.0


@each(WITH_STATE)
def test_bristles_begin_as_a_spring(law):
    """z' = v_t where they are straight, and the spring pushes back."""
    for v_t in (1e-3, -0.4):
        assert rate(law, 1.0, v_t, 0.0) == v_t
    scale = law.state_scale
    for z in (0.5 * scale, -0.1 * scale):
        assert force(law, 2.0, 0.0, z) * z < 0.0


# ---- compiled, packed ------------------------------------------------------------

NUMBER = ctypes.c_double
POINTER = ctypes.POINTER(NUMBER)
TWO = ctypes.CFUNCTYPE(NUMBER, POINTER, NUMBER, NUMBER)
THREE = ctypes.CFUNCTYPE(NUMBER, POINTER, NUMBER, NUMBER, NUMBER)


@pytest.mark.skipif(abi.CHECKED, reason="a checked pointer is no C pointer")
@each(EXAMPLES)
def test_a_compiled_law_says_the_same(law):
    if not abi.JIT:
        pytest.skip("the JIT is off")
    kind: Any = type(law)
    p = (NUMBER * len(law.parameters()))(*law.parameters())
    states = [part * law.state_scale for part in (0.0, 0.4, -0.9)]
    for lam_n in LOADS:
        for speed in (0.0, *SPEEDS):
            if law.is_set_valued():
                row = TWO(abi.address("limit", kind.limit))
                # One power and one exponential, which two libraries may round
                # differently.
                assert math.isclose(
                    row(p, lam_n, speed), limit(law, lam_n, speed), rel_tol=ROUND
                )
                continue
            for v_t in (speed, -speed):
                for z in states:
                    row = THREE(abi.address("smooth", kind.force))
                    # Of terms that cancel, up to the spring's.
                    close = ROUND * (1.0 + lam_n)
                    expected = force(law, lam_n, v_t, z)
                    assert math.isclose(
                        row(p, lam_n, v_t, z), expected, rel_tol=ROUND, abs_tol=close
                    )
                    if law.has_state():
                        row = THREE(abi.address("rate", kind.rate))
                        assert math.isclose(
                            row(p, lam_n, v_t, z),
                            rate(law, lam_n, v_t, z),
                            rel_tol=1e-12,
                            abs_tol=ROUND * abs(v_t),
                        )


def body() -> RigidBody:
    return RigidBody(name="body", mass=1.0, inertia=0.1, position=(0.0, -1e-3))


HOSTS: dict[str, Any] = {
    "contact": lambda law: {
        "contacts": [
            Contact(
                name="it", b="body", normal=KelvinVoigt(stiffness=1e4), friction=law
            )
        ]
    },
    "slot": lambda law: {"joints": [PinInSlot(name="it", b="body", friction=law)]},
    "guide": lambda law: {
        "joints": [Prismatic(name="it", b="body", friction=law, length=0.2, height=0.1)]
    },
    "pin": lambda law: {
        "joints": [Revolute(name="it", b="body", friction=law, radius=0.05)]
    },
}


@each(EXAMPLES)
def test_a_packed_law_keeps_its_numbers(law):
    """And what the engine must know of it; the same in a contact and in a joint."""
    for host in HOSTS.values():
        system = pack(Model(bodies=[body()], **host(law)))
        tables: Any = system.tables
        assert tables.n_contact == 1
        begin = tables.contact_friction_par[0]
        p = law.parameters()
        assert tables.par[begin : begin + len(p)].tolist() == p
        assert tables.contact_mu0[0] == law.static
        assert tables.contact_band[0] == law.band
        assert (tables.contact_row[0] >= 0) == law.is_set_valued()
        assert (tables.contact_state[0] >= 0) == law.has_state()
        if law.has_state():
            assert tables.state_scale[0] == law.state_scale
