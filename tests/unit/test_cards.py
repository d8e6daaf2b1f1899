"""Two cards that lean on each other, corner on corner, exactly touching at the start.

Faces of corners change with round-off, and steps shrank without end.
"""

import math

import pytest

from nonsmooth import Contact, Coulomb, KelvinVoigt, Model, RigidBody, simulate
from nonsmooth.elements.shapes import Polygon

THICK, LONG, MASS = 0.003, 0.09, 0.005


def house(angle, stiffness, mu, *, has_roof, deep=0.0):
    """Cards of 90 mm that lean by an angle, with or without a third one on top."""
    law = KelvinVoigt(stiffness=stiffness, damping=0.6 * math.sqrt(MASS * stiffness))

    def card(name, wide, high, at, turn=0.0):
        w, h = 0.5 * wide, 0.5 * high
        corners = ((-w, -h), (w, -h), (w, h), (-w, h))
        return RigidBody(
            name=name,
            mass=MASS,
            inertia=MASS * (THICK**2 + LONG**2) / 12.0,
            position=at,
            angle=turn,
            shapes={"card": Polygon(vertices=corners)},
        )

    c, s = math.cos(angle), math.sin(angle)
    aside = 0.5 * (THICK * c + LONG * s)
    high = 0.5 * (THICK * s + LONG * c)
    bodies = [
        card("left", THICK, LONG, (-aside, high - deep), -angle),
        card("right", THICK, LONG, (aside, high - deep), angle),
    ]
    pairs = [("ground", "left"), ("ground", "right"), ("left", "right")]
    if has_roof:
        top = 2.0 * high + 0.5 * THICK - deep
        bodies.append(card("roof", LONG, THICK, (0.0, top)))
        pairs += [("left", "roof"), ("right", "roof")]
    contacts = [
        Contact(
            name=f"{a}_{b}",
            a=a if a == "ground" else f"{a}.card",
            b=f"{b}.card",
            normal=law,
            friction=Coulomb(mu=mu),
        )
        for a, b in pairs
    ]
    return Model(gravity=(0.0, -9.81), bodies=bodies, contacts=contacts)


@pytest.mark.parametrize(
    ("model", "rtol"),
    [
        (house(0.3, 1e6, 0.6, has_roof=False), 1e-8),
        (house(0.3911, 6.912e4, 0.241, has_roof=True), 1e-10),
        (house(0.3033, 1.949e6, 0.5159, has_roof=True), 1e-10),
        (house(0.2725, 1.192e6, 0.4259, has_roof=True, deep=1e-7), 1e-8),
    ],
    ids=["two", "slides", "roof", "deep"],
)
def test_a_house_of_cards_comes_to_its_end(model, rtol):
    result = simulate(model, 0.3, rtol=rtol)
    assert result.cost["steps"] < 20_000
    # What is crossed is a small part, and the rest closes the ledger.
    assert sum(end - begin for begin, end in result.crossed) < 0.01 * 0.3
    balance = result.energy_balance
    assert abs(balance.residual) < 1e-3 * balance.exchanged
    # It is symmetric; corner on corner that does not last, to the millimetre.
    x = [result[f"{name}.x"][-1] for name in ("left", "right")]
    assert x[0] == pytest.approx(-x[1], abs=1e-3)
