"""A block on a dragged block."""

from __future__ import annotations

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, jumps, printed, run


def fill(page: Page) -> None:
    """Drag the lower block until both slip."""
    result = run("two_blocks")
    first = 0.5 * 3.0 * 9.81 / (100.0 * 0.2)
    page.number("first_exact", first, ".5f")
    both = result.events[:2]
    page.number("first", both[0].t, ".9f", near=first, within=1e-9)
    page.check(
        "both contacts break away in the same instant",
        [e.kind for e in both] == ["break_away"] * 2 and both[0].t == both[1].t,
    )
    page.check("the first frees the second", both[1].cause == both[0].element)
    rows: list[list[str]] = []
    for event in both:
        assert event.normal_force is not None
        assert event.friction_force is not None
        before, after = (printed(force, ".3f") for force in event.friction_force)
        cause = f"because of `{event.cause}`" if event.cause else ""
        modes = f"breaks away, {event.before} to {event.after}"
        normal = printed(event.normal_force[0], ".3f")
        name = f"`{event.element}`"
        friction = f"{before} to {after}"
        rows.append([f"{event.t:.6f}", name, modes, normal, friction, cause])
    page.table("events", rows)
    names = ["lower.x", "upper.x", "lower.vx", "upper.vx"]
    found = jumps(result, names, 3000)
    t = found["t"]
    page.figure(
        "motion",
        curves(
            {
                "place (m)": {x: (t, found[f"{x}.x"]) for x in ("lower", "upper")},
                "velocity (m/s)": {
                    x: (t, found[f"{x}.vx"]) for x in ("lower", "upper")
                },
            }
        ),
    )
    page.figure("contacts", plot_contacts(result, span=(0.0, 4.0)))
    page.figure("sketch", draw(result, 1.0, names=True))
    page.live(result)
