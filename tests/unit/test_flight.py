"""Few modes in flight, all of them in contact: what is dropped, booked and restored."""

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    FlexibleBody,
    Material,
    Model,
    ModelError,
    Patch,
    Result,
    SolveError,
    Unilateral,
    Weld,
    simulate,
)
from nonsmooth.elements.meshes import Rectangle
from nonsmooth.pack import pack

RUBBER = Material(youngs_modulus=1e7, poissons_ratio=0.3, density=1000.0)
UNTIL = 0.06  # s
N, FEW = 10, 3


def dropped(**changes):
    """Return a bar that falls on its end, with friction, and bounces."""
    bar = FlexibleBody(
        name="bar",
        mesh=Rectangle(width=0.1, height=0.01, size=5e-3),
        material=RUBBER,
        thickness=0.01,
        modes=N,
        flight_modes=FEW,
        flight_loss=1.0,
        position=(0.0, 0.045),
        angle=0.7,
        velocity=(0.0, -1.0),
        patches={"end": Patch(boundary="left")},
    )
    return Model(
        gravity=(0.0, -9.81),
        bodies=(replace(bar, **changes),),
        contacts=(
            Contact(
                name="c",
                b="bar.end",
                normal=Unilateral(),
                friction=Coulomb(mu=0.3),
            ),
        ),
    )


@pytest.fixture(scope="module")
def run():
    return simulate(dropped(), until=UNTIL)


def test_switches_are_events(run):
    """In flight from the start, back at the first touch-down, and off again."""
    own = [event for event in run.events if event.element == "bar"]
    assert [event.kind for event in own[:2]] == ["return_modes", "drop_modes"]
    assert (own[0].before, own[0].after) == (f"{FEW} shapes", f"{N} shapes")
    touch = next(event for event in run.events if event.kind == "touch_down")
    assert own[0].t == touch.t


def test_what_is_dropped_is_booked(run):
    balance = run.energy_balance
    lost = balance.work["bar.dropped"]
    assert lost[-1] < 0.0
    off = next(event.t for event in run.events if event.kind == "drop_modes")
    # Friction of nodes is booked to first order in the step, in contact before.
    k = int(np.searchsorted(balance.t, off))
    assert balance.t[k] == off
    left = balance.imbalance[k - 3 :]
    assert np.ptp(left) < 1e-8 * balance.kinetic[0]
    before, after = (run.sample(off, "bar.eta.7", limit=x) for x in ("before", "after"))
    assert after["bar.eta.7"][0] == 0.0 != before["bar.eta.7"][0]
    before, after = (
        np.array(run.state(off, x).velocities["bar"]) for x in ("before", "after")
    )
    # A free body: nothing closes joints, and kept modes go on as they did.
    assert after[: 3 + FEW] == pytest.approx(before[: 3 + FEW], abs=1e-12)
    held = 0.5 * np.sum(before[3 + FEW :] ** 2)
    w2 = run.system.flexible["bar"].stiffness[FEW:]
    q = np.array(run.state(off, "before").positions["bar"][3 + FEW :])
    jump = np.interp(off + 1e-9, balance.t, lost)
    # Beside it what turns with them, h and J of a soft bar: some per cent.
    assert -jump == pytest.approx(held + 0.5 * np.sum(w2 * q**2), rel=0.05)


def test_flight_as_with_so_many_modes(run):
    """Until the first touch-down it is the run of a body with few modes."""
    few = simulate(dropped(modes=FEW, flight_modes="all"), until=UNTIL)
    touch = [next(e.t for e in r.events if e.kind == "touch_down") for r in (run, few)]
    assert touch[0] == pytest.approx(touch[1], rel=1e-9)
    names = ["bar.x", "bar.y", "bar.theta", "bar.ay", "bar.eta.2"]
    one, two = (r.sample(0.5 * touch[0], names) for r in (run, few))
    for name in names:
        assert one[name] == pytest.approx(two[name], rel=1e-7, abs=1e-12)


def test_split_and_saved(run, tmp_path):
    t = [0.002, 0.02, UNTIL]
    names = ["bar.y", "bar.eta.1", "bar.eta.8", "c.normal_force"]
    run.save(tmp_path / "run.nsr")
    again = Result.load(tmp_path / "run.nsr")
    for name in names:
        assert again.sample(t, names)[name] == pytest.approx(run.sample(t, names)[name])
    off = next(event.t for event in run.events if event.kind == "drop_modes")
    state = run.state(off + 1e-4)
    assert state.mode["c"]["flank"] == 1
    on = simulate(dropped(), until=off + 1e-3, start=state)
    assert not on.energy_balance.work["bar.dropped"].any()
    for name in names[:3]:
        one, two = (r.sample(off + 1e-3, names)[name] for r in (run, on))
        assert one == pytest.approx(two, rel=1e-6, abs=1e-10)


def test_too_much_is_told():
    with pytest.raises(SolveError, match=r"body 'bar': a flight with 3 modes") as told:
        simulate(dropped(flight_loss=1e-6), until=UNTIL)
    result = told.value.result
    assert result is not None
    assert result.status == "failed"
    assert 0.0 < result.t_end < UNTIL
    assert result.energy_balance.residual < 1e-3


def test_refusals():
    with pytest.raises(ModelError, match=r"flight_modes = 0; must be at least 1"):
        dropped(flight_modes=0)
    model = replace(dropped(), contacts=())
    with pytest.raises(ModelError, match=r"flight_modes = 3; no patch is in contact"):
        simulate(model, until=0.01)


def test_nothing_to_drop():
    assert pack(dropped(flight_modes=N)).flight is None
    assert pack(dropped(flight_modes="all")).flight is None


def test_welded_faces_keep_their_static_answers():
    """Modes of free ends bear no couple: shapes for it are kept as well."""
    bar = dropped().bodies[0]
    faces = {"end": Patch(boundary="left"), "face": Patch(boundary="right")}
    model = replace(
        dropped(),
        bodies=(replace(bar, patches=faces),),
        joints=(Weld(name="w", a="ground", b="bar.face"),),
        assemble=False,
    )
    system = pack(model)
    flight = system.flight
    assert flight is not None
    T = flight.shapes["bar"]
    assert T.shape == (N + 3, FEW + 3)
    assert pytest.approx(np.eye(FEW + 3), abs=1e-12) == T.T @ T
    own, few = system.flexible["bar"], flight.few.flexible["bar"]
    stiffness = T.T @ (own.stiffness[:, None] * T)
    assert stiffness == pytest.approx(
        np.diag(few.stiffness), abs=1e-9 * few.stiffness[-1]
    )
    # Flexibility of the face, forces and couple, is that of all shapes.
    flexibility = []
    for shapes in (own, few):
        site = shapes.sites["face"]
        rows = np.array([*site.shape, site.turn])
        flexibility.append(rows / shapes.stiffness @ rows.T)
    wanted, found = flexibility
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12 * np.abs(wanted).max())
