"""A stack of boxes on a table that is shaken."""

from __future__ import annotations

from nonsmooth.elements.bodies import MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.laws import Harmonic
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.gallery._checks import at_least, count, friction, positive
from nonsmooth.gallery._shapes import rectangle
from nonsmooth.model import Model

UNTIL = 2.0  # s
RANGES = {
    "n": (1, 20),
    "amplitude": (0.0, 0.02),
    "frequency": (0.0, 20.0),
    "mu0": (0.2, 1.0),
    "mu": (0.0, 0.2),
    "m": (0.1, 10.0),
    "gravity": (1.0, 12.0),
}

_WIDTH, _HEIGHT = 0.3, 0.1  # m
# How far the whole stack sinks into the table, m, and the part of critical damping.
_SINK, _DAMPING = 1e-4, 0.3


def box_stack(
    *,
    n: int = 5,
    amplitude: float = 0.01,
    frequency: float = 10.0,
    mu0: float = 0.3,
    mu: float = 0.2,
    m: float = 1.0,
    gravity: float = 9.81,
) -> Model:
    """Shake a stack of equal boxes of 0.3 m by 0.1 m.

    The table moves as amplitude sin(frequency t), and the boxes with it at the start.
    They stay on each other while amplitude frequency^2 < mu0 g, 1 against 2.94 m/s^2
    by default, and while they do not tip: as one they would stand on an edge at 3 g/n.
    At rest contact k carries (n - k + 1) m g.

    Bodies `table`, and from below `box1`, `box2`, ...; contacts `c1` on the table, `c2`
    on the first box, and so on, each with one friction force.

    Parameters
    ----------
    n : int
        Number of boxes.
    amplitude : float
        How far the table goes to either side, m.
    frequency : float
        Angular frequency of the table, rad/s.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        The same in motion, 1. Not above mu0.
    m : float
        Mass of a box, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic.
    """
    count("box_stack", n=n)
    at_least("box_stack", 0.0, amplitude=amplitude, frequency=frequency)
    positive("box_stack", m=m, gravity=gravity)
    friction("box_stack", mu0=mu0, mu=mu)
    stiffness = n * m * gravity / _SINK
    damping = 2.0 * _DAMPING * (stiffness * m) ** 0.5
    law = KelvinVoigt(stiffness=stiffness, damping=damping)
    outline = rectangle(_WIDTH, _HEIGHT)
    boxes: list[RigidBody] = []
    contacts: list[Contact] = []
    y = 0.0
    for k in range(n):
        y -= (n - k) * m * gravity / stiffness
        boxes.append(
            RigidBody(
                name=f"box{k + 1}",
                mass=m,
                inertia=m * (_WIDTH**2 + _HEIGHT**2) / 12.0,
                position=(0.0, y + 0.5 * _HEIGHT),
                velocity=(amplitude * frequency, 0.0),
                shapes={"outline": outline},
            )
        )
        contacts.append(
            Contact(
                name=f"c{k + 1}",
                a=f"box{k}" if k else "table",
                b=f"box{k + 1}",
                normal=law,
                friction=Coulomb(mu=mu, mu_static=mu0),
            )
        )
        y += _HEIGHT
    sway = Harmonic(amplitude=amplitude, angular_frequency=frequency)
    return Model(
        title="shaken stack of boxes",
        gravity=(0.0, -gravity),
        bodies=(MovingSupport(name="table", x=sway), *boxes),
        contacts=contacts,
    )
