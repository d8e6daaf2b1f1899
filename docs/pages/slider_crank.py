"""The slider-crank, with friction and a loose guide."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth import gallery, solvability
from nonsmooth.views.plots import draw, plot_contacts
from pages import Floats, Page, curves, run

R, L, W, M, G = 0.1, 0.3, 10.0, 1.0, 9.81
PINS = ("main_pin", "crank_pin", "slider_pin")


def exact_torque(t: Floats) -> Floats:
    """Return the motor's torque without friction, from the balance of power.

    Kinetic and potential energy are functions of the crank's angle alone, and the
    torque is their derivative with respect to it.
    """

    def energy(angle: Floats) -> Floats:
        s2 = -R * np.sin(angle) / L
        c2 = np.sqrt(1.0 - s2**2)
        w2 = -R * np.cos(angle) * W / (L * c2)
        vx = -R * np.sin(angle) * W - 0.5 * L * s2 * w2
        vy = R * np.cos(angle) * W + 0.5 * L * c2 * w2
        slider = -R * np.sin(angle) * W - L * s2 * w2
        kinetic = 0.5 * M * (vx**2 + vy**2 + L**2 / 12.0 * w2**2 + slider**2)
        height = 0.5 * R * np.sin(angle) + R * np.sin(angle) + 0.5 * L * s2
        return kinetic + M * G * height

    h = 1e-4  # rad: differences of fourth order leave 1e-10 of the energy
    a = W * t
    steps = energy(a + h) - energy(a - h), energy(a + 2 * h) - energy(a - 2 * h)
    return (8.0 * steps[0] - steps[1]) / (12.0 * h)


def fill(page: Page) -> None:
    """Run it smooth, rough and loose."""
    smooth = run("slider_crank")
    t = np.linspace(0.0, 2.0, 1001)
    torque = smooth.sample(t, "motor.torque")["motor.torque"]
    off = np.abs(torque - exact_torque(t)).max()
    page.number("torque_off", off, ".0e", near=0.0, within=1e-7)
    page.number("torque_low", torque.min(), ".4f")
    page.number("torque_high", torque.max(), ".4f")
    losses(page)
    limits(page)
    early = t <= 2.0 * math.pi / W
    title = "torque (N m)"
    rough = run("slider_crank", mu=0.1, pin_mu=0.1)
    at = np.linspace(0.0, 2.0 * math.pi / W, 25)
    page.figure(
        "torque",
        curves(
            {
                title: {
                    "no friction": (t[early], torque[early]),
                    "μ = 0.1 everywhere": (
                        t[early],
                        rough.sample(t[early], "motor.torque")["motor.torque"],
                    ),
                }
            },
            dots={title: {"closed form": (at, exact_torque(at))}},
            height=2.3,
        ),
    )
    loose = run("slider_crank", 0.4, clearance=1e-3, mu=0.1, speed=30.0)
    page.figure("loose", plot_contacts(loose))
    page.figure("sketch", draw(smooth, [0.15, 0.42], names=True))
    page.live(loose, clearance=1e-3, mu=0.1, speed=30.0)


def losses(page: Page) -> None:
    """Put in the works of friction."""
    rows: list[list[str]] = []
    for label, mu, pin_mu in (
        ("μ = 0.1", 0.1, 0.0),
        ("pin_mu = 0.1, radius 10 mm", 0.0, 0.1),
        ("both", 0.1, 0.1),
    ):
        balance = run("slider_crank", mu=mu, pin_mu=pin_mu).energy_balance
        work = {name: float(values[-1]) for name, values in balance.work.items()}
        cells = [label, f"{work['motor']:.6f}"]
        for joint in ("guide", *PINS):
            value = work.get(f"{joint}.friction")
            cells.append("" if value is None else f"−{-value:.6f}")
        rows.append(cells)
    page.table("losses", rows)


def limits(page: Page) -> None:
    """Put in how much friction the guide bears at 90 degrees."""

    def limit(**given: float) -> float:
        model = gallery.build("slider_crank", mu=0.1, angle=0.5 * math.pi, **given)
        return 0.1 * solvability(model).critical_factor

    exact = math.sqrt(L**2 - R**2) / R
    page.number("limit_exact", exact, ".5f")
    page.number("limit", limit(slider_height=0.0), ".5f", near=exact, within=1e-5)
    page.number("limit_square", limit(), ".5f")
