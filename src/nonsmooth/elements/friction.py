"""Friction laws, for contacts and for joints alike.

lam_n >= 0 is the normal load, v_t the slip velocity of b relative to a along the
tangent, lam_t the friction force on b along the same. A kind supplies one of

    limit(p, lam_n, speed)         friction while slipping at `speed` = |v_t|, N, >= 0
    force(p, lam_n, v_t, z)        lam_t itself, N, where there is no rest to decide

With `limit` the law is set-valued at rest: a contact truly sticks as long as
|lam_t| <= static lam_n keeps it there, and events are located. With `force` friction is
a smooth function, and nothing ever sticks for good; such a law may have an internal
state z, m, integrated with the motion, if it supplies also

    rate(p, lam_n, v_t, z)         z', m/s

In a joint the load is a reaction, which depends on the friction in turn; so there
`limit` and `force` must be linear in lam_n, up to a constant. All laws below are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nonsmooth.elements.base import Element, quantity

# Slip velocities, m/s, at which a law is tried.
SPEEDS = (0.0, 1e-3, 1.0)
# A law in a joint may bend by this part of its values over the load.
LINEAR = 1e-9


@dataclass(frozen=True, kw_only=True)
class FrictionLaw(Element, family="friction law"):
    """Base of all friction laws; derive from it for a law of your own.

    A kind is a dataclass with one of the static functions

        limit(p, lam_n, speed)      friction while slipping, N, >= 0; it truly sticks
                                    as long as what `limit` is at no speed can hold it
        force(p, lam_n, v_t, z)     the friction force on b itself, N; it never sticks

    and with `force`, if it has an internal state z that is integrated with the motion,

        rate(p, lam_n, v_t, z)      z', m/s

        p          the numbers among the fields, in their order; one that may be None
                   last, as it is left out then
        lam_n      N, the load, not negative
        speed      m/s, |v_t|
        v_t        m/s, slip velocity of b past a, along the tangent
        z          m, the internal state; its size is the property `state_scale`

    They are compiled: numbers, `math`, other functions of numbers. In a joint they must
    be linear in lam_n, up to a constant. A law that holds more at rest than in the
    slowest slip overrides the property `static`, its coefficient at rest.

    Examples
    --------
    Dry friction that falls as the speed grows, on a block that slides until it stops::

        from dataclasses import dataclass

        from nonsmooth import Contact, FrictionLaw, KelvinVoigt
        from nonsmooth import Model, PointMass, simulate
        from nonsmooth.elements.base import quantity

        @dataclass(frozen=True, kw_only=True)
        class Fading(FrictionLaw):
            mu: float = quantity("", minimum=0.0)
            mu_static: float = quantity("", minimum=0.0)
            velocity: float = quantity("m/s", above=0.0)

            @staticmethod
            def limit(p, lam_n, speed):
                return (p[0] + (p[1] - p[0]) / (1.0 + speed / p[2])) * lam_n

        dry = Fading(mu=0.2, mu_static=0.4, velocity=0.1)
        rubber = KelvinVoigt(stiffness=2e5)
        block = PointMass(
            name="block", mass=2.0, position=(0.0, -1e-4), velocity=(1.0, 0.0)
        )
        sole = Contact(name="sole", b="block", normal=rubber, friction=dry)
        model = Model(gravity=(0.0, -9.81), bodies=[block], contacts=[sole])
        print(simulate(model, until=1.0).events.counts())

    In a model file it is `{type: Fading, mu: 0.2, mu_static: 0.4, velocity: 0.1}`, with
    `--import` of the Python file that defines it.
    """

    @classmethod
    def is_set_valued(cls) -> bool:
        """Return whether the law decides between stick and slip."""
        return callable(getattr(cls, "limit", None))

    @classmethod
    def has_state(cls) -> bool:
        """Return whether the law has an internal state."""
        return callable(getattr(cls, "rate", None))

    def evaluate(self, load: float, v_t: float, z: float = 0.0) -> float:
        """Return the friction force while slipping, N, for checks and pictures."""
        kind: Any = type(self)
        if self.is_set_valued():
            size = kind.limit(self.parameters(), load, abs(v_t))
            return float(-math.copysign(size, v_t))
        return float(kind.force(self.parameters(), load, v_t, z))

    def has_drag(self) -> bool:
        """Return whether friction remains without a load, as far as can be told."""
        try:
            return any(self.evaluate(0.0, v_t) != 0.0 for v_t in SPEEDS)
        except (OverflowError, ZeroDivisionError):
            return True

    @property
    def static(self) -> float:
        """The coefficient at rest; that of the slowest slip unless a kind has more."""
        limit: Any = getattr(type(self), "limit", None)
        if limit is None:
            return 0.0
        p = self.parameters()
        return float(limit(p, 1.0, 0.0) - limit(p, 0.0, 0.0))

    @property
    def band(self) -> float:
        """Slip velocity below which a contact counts as at rest, m/s."""
        return 0.0

    @property
    def state_scale(self) -> float:
        """Size of the internal state, m: the unit of its admissible error."""
        return 1.0


def check_law(owner: Element, law: FrictionLaw | None, *, in_joint: bool) -> None:
    """Refuse a law without its function, or one that has no meaning in a joint."""
    if law is None:
        return
    kind = type(law)
    if not (law.is_set_valued() or callable(getattr(kind, "force", None))):
        raise owner.fail(
            "friction",
            law,
            f"{kind.__name__} has no static function 'limit(p, lam_n, speed)', nor "
            "'force(p, lam_n, v_t, z)'",
        )
    if in_joint and not all(_is_linear(law, v_t) for v_t in SPEEDS):
        raise owner.fail(
            "friction",
            law,
            f"in a joint, {kind.__name__} must be linear in lam_n, up to a constant: "
            "the load depends on the friction there",
        )


def _is_linear(law: FrictionLaw, v_t: float) -> bool:
    """Return whether a law is linear in the load at a slip velocity."""
    z = 0.1 * law.state_scale
    try:
        f0, f1, f2 = (law.evaluate(load, v_t, z) for load in (0.0, 1.0, 2.0))
    except (OverflowError, ZeroDivisionError):
        # Beyond floating point at this speed: nothing can be said.
        return True
    first, second = f1 - f0, f2 - f1
    if not all(map(math.isfinite, (f0, f1, f2, first, second))):
        return True
    return abs(second - first) <= LINEAR * max(abs(f0), abs(f1), abs(f2))


def _check_static(law: Any) -> None:
    """Refuse less friction at rest than in motion."""
    if law.mu_static is not None and law.mu_static < law.mu:
        raise law.fail("mu_static", law.mu_static, f"must be >= mu = {law.mu:g}")


def _static(law: Any) -> float:
    """Return mu_static, or mu where it is left out."""
    return float(law.mu if law.mu_static is None else law.mu_static)


@dataclass(frozen=True, kw_only=True)
class Coulomb(FrictionLaw):
    """Dry friction, set-valued at rest.

    lam_t = -mu lam_n sgn(v_t)     while slipping
    |lam_t| <= mu_static lam_n     at rest, as much of it as keeps v_t = 0

    A contact at rest truly sticks; it breaks away where more than mu_static lam_n
    would be needed, and has mu from then on. The coefficients depend neither on speed
    nor on the time at rest. [WangWang2015]_ Eqs. (2)-(4).
    """

    mu: float = quantity("", minimum=0.0)  # while slipping
    mu_static: float | None = quantity("", default=None, minimum=0.0)  # mu by default

    def check(self) -> None:
        _check_static(self)

    @property
    def static(self) -> float:
        return _static(self)

    @staticmethod
    def limit(p, lam_n, speed):
        return p[0] * lam_n


@dataclass(frozen=True, kw_only=True)
class CoulombViscous(FrictionLaw):
    """Dry friction and a film that resists in proportion to speed.

    lam_t = -mu lam_n sgn(v_t) - viscous v_t     while slipping
    |lam_t| <= mu_static lam_n                    at rest

    The viscous part does not depend on the load: it is there in a joint that bears
    none. In a contact it acts while the contact presses.
    """

    mu: float = quantity("", minimum=0.0)  # while slipping
    viscous: float = quantity("N s/m", minimum=0.0)
    mu_static: float | None = quantity("", default=None, minimum=0.0)  # mu by default

    def check(self) -> None:
        _check_static(self)

    @property
    def static(self) -> float:
        return _static(self)

    @staticmethod
    def limit(p, lam_n, speed):
        return p[0] * lam_n + p[1] * speed


@dataclass(frozen=True, kw_only=True)
class Stribeck(FrictionLaw):
    """Dry friction that falls from rest to motion with the speed, set-valued at rest.

    lam_t = -(mu + (mu_static - mu) e^(-(|v_t|/velocity)^exponent)) lam_n sgn(v_t)
            - viscous v_t                          while slipping
    |lam_t| <= mu_static lam_n                     at rest

    Where friction falls with speed a steady slip may be unstable and stick-slip sets
    in. Exponent 2 is a Gaussian, 1 Tustin's exponential [ArmstrongEtAl1994]_.
    """

    mu: float = quantity("", minimum=0.0)  # far above `velocity`
    mu_static: float = quantity("", minimum=0.0)
    velocity: float = quantity("m/s", above=0.0)  # over which friction falls
    exponent: float = quantity("", default=2.0, minimum=0.5)
    viscous: float = quantity("N s/m", default=0.0, minimum=0.0)

    def check(self) -> None:
        _check_static(self)

    @staticmethod
    def limit(p, lam_n, speed):
        ratio = speed / p[2]
        power = ratio * ratio if p[3] == 2.0 else ratio ** p[3]
        return (p[0] + (p[1] - p[0]) * math.exp(-power)) * lam_n + p[4] * speed


@dataclass(frozen=True, kw_only=True)
class Karnopp(FrictionLaw):
    """Dry friction with a band of velocities that counts as rest.

    lam_t = -mu lam_n sgn(v_t) - viscous v_t     for |v_t| > dead_band
    lam_t = what keeps v_t constant, at most mu_static lam_n,  else

    Within the band friction balances what is applied, so that a contact "at rest"
    creeps with the velocity it came in with; where that takes more than mu_static
    lam_n, it is at this limit until it leaves the band. As dead_band -> 0 motions
    tend to those of `Coulomb`, with an error of about its square root where
    mu_static > mu. It was made for fixed steps that cannot find v_t = 0
    [Karnopp1985]_, [ZhangWang2016]_; here it serves comparison.
    """

    mu: float = quantity("", minimum=0.0)
    dead_band: float = quantity("m/s", above=0.0)
    viscous: float = quantity("N s/m", default=0.0, minimum=0.0)
    mu_static: float | None = quantity("", default=None, minimum=0.0)  # mu by default

    def check(self) -> None:
        _check_static(self)

    @property
    def static(self) -> float:
        return _static(self)

    @property
    def band(self) -> float:
        return self.dead_band

    @staticmethod
    def limit(p, lam_n, speed):
        return p[0] * lam_n + p[2] * speed


@dataclass(frozen=True, kw_only=True)
class RegularisedCoulomb(FrictionLaw):
    """Dry friction smeared out around zero velocity; nothing ever sticks.

    lam_t = -mu lam_n tanh(v_t/velocity)

    Under a load below mu lam_n a contact creeps instead of sticking, and the equations
    become stiff as `velocity` -> 0. For comparison with codes that have no other.
    """

    mu: float = quantity("", minimum=0.0)
    velocity: float = quantity("m/s", above=0.0)  # at which 76 % of it is there

    @staticmethod
    def force(p, lam_n, v_t, z):
        return -p[0] * lam_n * math.tanh(v_t / p[1])


@dataclass(frozen=True, kw_only=True)
class Dahl(FrictionLaw):
    """Friction as a spring that yields: bristles, elastic before they slide.

    lam_t = -stiffness lam_n z
    z'    = v_t (1 - stiffness z/mu sgn(v_t))

    z is the deflection of the bristles, at most mu/stiffness. A displacement within
    this range meets a hysteresis loop; steady slip meets mu lam_n [Dahl1968]_, with
    Dahl's exponent 1. The stiffness is that of N/m divided by the load, so that
    friction follows a changing load at once.
    """

    mu: float = quantity("", above=0.0)
    stiffness: float = quantity("1/m, of the bristles per unit of load", above=0.0)

    @property
    def state_scale(self) -> float:
        return self.mu / self.stiffness

    @staticmethod
    def force(p, lam_n, v_t, z):
        return -p[1] * lam_n * z

    @staticmethod
    def rate(p, lam_n, v_t, z):
        return v_t - abs(v_t) * p[1] * z / p[0]


@dataclass(frozen=True, kw_only=True)
class LuGre(FrictionLaw):
    """Bristles with Stribeck's curve and damping.

    lam_t = -(stiffness z + damping z') lam_n - viscous v_t
    z'    = v_t - stiffness |v_t| z/mu(v_t)
    mu(v) = mu + (mu_static - mu) e^(-(v/velocity)^2)

    Steady slip meets Stribeck's law; at rest the bristles hold up to about mu_static
    lam_n and creep, and a fast change of velocity meets more friction than a slow one
    [CanudasEtAl1995]_. Stiffness and damping are those of N/m and N s/m divided by
    the load, as in [CanudasTsiotras1999]_. Typical bristles are stiff: rates of
    stiffness |v_t|/mu make the equations stiff in motion, and `method="auto"` goes over
    to the implicit method.
    """

    mu: float = quantity("", above=0.0)
    mu_static: float = quantity("", above=0.0)
    velocity: float = quantity("m/s", above=0.0)  # over which friction falls
    stiffness: float = quantity("1/m, of the bristles per unit of load", above=0.0)
    damping: float = quantity("s/m, of the bristles", default=0.0, minimum=0.0)
    viscous: float = quantity("N s/m", default=0.0, minimum=0.0)

    def check(self) -> None:
        _check_static(self)

    @property
    def state_scale(self) -> float:
        return self.mu / self.stiffness

    @staticmethod
    def force(p, lam_n, v_t, z):
        ratio = v_t / p[2]
        mu = p[0] + (p[1] - p[0]) * math.exp(-ratio * ratio)
        rate = v_t - p[3] * abs(v_t) * z / mu
        return -(p[3] * z + p[4] * rate) * lam_n - p[5] * v_t

    @staticmethod
    def rate(p, lam_n, v_t, z):
        ratio = v_t / p[2]
        mu = p[0] + (p[1] - p[0]) * math.exp(-ratio * ratio)
        return v_t - p[3] * abs(v_t) * z / mu
