"""Parts that share nothing march apart: the result is that of one march."""

import io
import pickle

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    Expression,
    Ground,
    Interrupted,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PointForce,
    PointMass,
    Result,
    Revolute,
    RigidBody,
    SolveError,
    SpringDamper,
    simulate,
)
from nonsmooth.pack import pack
from nonsmooth.result import Apart

UNTIL = 1.0
# Errors of steps, 1e-8 of a size of 0.1 m or of a radian each, add up over some hundred
# steps of either march.
AGREES = 3e-7


def shaken(events=(), forces=()):
    """Two boxes on one shaken table, two pendulums, one body that falls freely."""
    bodies = [
        MovingSupport(
            name="table", x=Expression(text="0.02*sin(20*t)"), shapes={"top": Line()}
        ),
        Ground(points={"left": (0.0, 1.0), "right": (1.0, 1.0)}),
        PointMass(name="stone", mass=0.5, position=(3.0, 3.0)),
    ]
    contacts, joints = [], []
    for k, side in enumerate(("left", "right")):
        bodies += [
            RigidBody(
                name=f"box_{side}",
                mass=1.0 + 0.5 * k,
                inertia=0.01,
                position=(float(k), 0.0499),
                velocity=(0.4 * k, 0.0),
                points={"foot": (0.0, -0.05)},
            ),
            RigidBody(
                name=f"rod_{side}",
                mass=1.0,
                inertia=0.02,
                position=(0.1 + k, 1.0),
                points={"end": (-0.1, 0.0)},
            ),
        ]
        contacts.append(
            Contact(
                name=f"foot_{side}",
                a="table.top",
                b=f"box_{side}.foot",
                normal=KelvinVoigt(stiffness=1e4, damping=20.0),
                friction=Coulomb(mu=0.3, mu_static=0.4),
            )
        )
        joints.append(
            Revolute(name=f"pin_{side}", a=f"ground.{side}", b=f"rod_{side}.end")
        )
    return Model(
        gravity=(0.0, -9.81),
        bodies=bodies,
        joints=joints,
        contacts=contacts,
        forces=forces,
        events=events,
    )


def jointly(model):
    """Return a system that is taken for one part."""
    system = pack(model)
    system.__dict__["parts"] = ()
    return system


@pytest.fixture(scope="module")
def runs():
    model = shaken([Event(name="turns", b="rod_left", guard="omega")])
    ours = simulate(model, UNTIL)
    theirs = simulate(jointly(model), UNTIL)
    assert isinstance(ours.steps, Apart)
    assert not isinstance(theirs.steps, Apart)
    return ours, theirs


def names(system):
    return [set(p.system.bodies[: p.system.n_moving]) for p in system.parts]


# ---- which parts there are -------------------------------------------------------


def test_supports_tie_nothing():
    expected = [{"stone"}, {"box_left"}, {"rod_left"}, {"box_right"}, {"rod_right"}]
    assert names(pack(shaken())) == expected


def test_what_reads_two_bodies_ties_them():
    spring = SpringDamper(name="s", a="rod_left", b="rod_right", stiffness=10.0)
    event = Event(name="meet", a="box_left", b="stone", guard="x - 1")
    found = names(pack(shaken([event], [spring])))
    assert found == [{"stone", "box_left"}, {"rod_left", "rod_right"}, {"box_right"}]


def test_one_part_is_marched_as_ever():
    one = Model(bodies=[PointMass(name="p", mass=1.0), PointMass(name="q", mass=2.0)])
    assert pack(one).parts == ()
    assert not isinstance(simulate(one, 1.0).steps, Apart)


def test_an_event_of_supports_alone_is_anyones():
    late = Event(name="late", b="table", guard="t - 0.25", action="stop")
    result = simulate(shaken([late]), UNTIL)
    assert result.t_end == pytest.approx(0.25, abs=1e-12)
    assert [(e.element, e.kind) for e in result.events][-1] == ("late", "rising")


# ---- the same result -------------------------------------------------------------


def assert_same(ours, theirs, t, limit="after"):
    mine, other = ours.sample(t, limit=limit), theirs.sample(t, limit=limit)
    assert ours.columns == theirs.columns
    for name in ours.columns:
        # Forces follow states by stiffness and damping, accelerations by 1/mass.
        size = 1.0 + np.max(np.abs(other[name]))
        scale = 1e3 if name.rpartition(".")[2] in ("ax", "ay", "alpha") else 1.0
        error = np.max(np.abs(mine[name] - other[name]))
        assert error <= AGREES * scale * size, name


def test_columns_agree_inside(runs):
    ours, theirs = runs
    assert_same(ours, theirs, np.linspace(0.0, UNTIL, 301))


@pytest.mark.parametrize("limit", ["before", "after"])
def test_limits_agree_at_events(runs, limit):
    ours, theirs = runs
    assert len(theirs.events) > 10
    kinds = [[(e.element, e.kind, e.before, e.after) for e in r.events] for r in runs]
    assert kinds[0] == kinds[1]
    assert np.max(np.abs(ours.events.t - theirs.events.t)) < AGREES
    for k, when in enumerate(ours.events.t):
        a = ours.sample(when, "foot_left.mode", limit)["foot_left.mode"]
        b = theirs.sample(theirs.events.t[k], "foot_left.mode", limit)["foot_left.mode"]
        assert a == b
    y = ours._states(ours.events.t, limit, project_inside=True)[0]
    z = theirs._states(theirs.events.t, limit, project_inside=True)[0]
    assert np.max(np.abs(y - z)) < 10 * AGREES  # velocities turn by 10 m/s^2


def test_the_ledger_agrees_and_a_support_gets_the_sum(runs):
    ours, theirs = runs
    t = np.linspace(0.0, UNTIL, 101)
    mine, other = ours.energies(t), theirs.energies(t)
    assert list(mine.work) == list(other.work)
    assert np.max(np.abs(other.work["table"])) > 0.01
    for name, work in other.work.items():
        assert np.max(np.abs(mine.work[name] - work)) < 10 * AGREES, name
    assert mine.residual < 10 * AGREES
    assert ours.energy_balance.residual < 10 * AGREES


def test_states_start_other_runs(runs):
    ours, theirs = runs
    state = ours.state(0.4)
    assert state.mode.keys() == theirs.state(0.4).mode.keys()
    later = simulate(ours.system, UNTIL, start=state)
    assert_same(later, theirs, np.linspace(0.4, UNTIL, 50))


def test_ends_of_steps_are_those_of_all_parts(runs):
    ours, _ = runs
    assert np.all(np.diff(ours.t) > 0.0)
    assert len(ours.t) <= 1 + ours.cost["steps"]
    k = np.arange(len(ours.steps.t))
    # Nothing jumps here: both sides of every step's end are the same.
    gap = ours.steps.after(k) - ours.steps.before(k)
    assert np.max(np.abs(gap)) < AGREES
    assert len(np.unique(ours.steps.arc)) == 1 + len(np.unique(ours.events.t)) - np.sum(
        ours.events.of("turns").t > 0.0
    )


def test_a_run_survives_files_and_pickling(runs):
    ours, _ = runs
    file = io.BytesIO()
    ours.save(file)
    file.seek(0)
    t = np.linspace(0.0, UNTIL, 77)
    for again in (Result.load(file), pickle.loads(pickle.dumps(ours))):
        assert again.states(t).tobytes() == ours.states(t).tobytes()
        assert str(again.events) == str(ours.events)
        assert again.state() == ours.state()


def test_verify_and_linearise(runs):
    ours, theirs = runs
    found = ours.verify()
    assert found.events
    assert max(found.position, found.angle) < AGREES
    mine, other = ours.linearise(0.3), theirs.linearise(0.3)
    assert np.allclose(mine.jacobian, other.jacobian, rtol=1e-4, atol=1e-4)


# ---- how it ends -----------------------------------------------------------------


def test_a_stop_in_one_stops_all():
    halt = Event(name="halt", b="rod_right", guard="theta + 0.9", action="stop")
    model = shaken([halt])
    ours, theirs = simulate(model, UNTIL), simulate(jointly(model), UNTIL)
    assert (ours.status, ours.message) == (theirs.status, theirs.message)
    assert ours.t_end == pytest.approx(theirs.t_end, abs=AGREES)
    assert ours.events[-1].element == "halt"
    assert np.all(ours.events.t <= ours.t_end)
    end = min(ours.t_end, theirs.t_end)
    assert_same(ours, theirs, np.linspace(0.0, end, 60))
    mine, other = ours.state(), theirs.state()
    for name, place in other.positions.items():
        assert mine.positions[name] == pytest.approx(place, abs=AGREES)
    assert ours.verify().events


def test_the_first_of_two_stops_counts():
    events = [
        Event(name="late", b="rod_left", guard="theta + 0.9", action="stop"),
        Event(name="early", b="rod_right", guard="theta + 0.3", action="stop"),
    ]
    result = simulate(shaken(events), UNTIL)
    assert result.message == "stopped by event 'early'"
    assert [e.element for e in result.events if e.action == "stop"] == ["early"]


def test_a_failure_hands_back_all_parts():
    # The force is no number any more from 0.3 s on.
    law = Expression(text="sqrt(0.3 - t)")
    with pytest.raises(SolveError) as caught:
        simulate(shaken(forces=[PointForce(name="f", b="rod_left", fx=law)]), UNTIL)
    partial = caught.value.result
    assert partial is not None
    assert partial.status == "failed"
    assert 0.0 < partial.t_end <= 0.3
    assert partial.states([partial.t_end]).shape == (1, partial.system.n_y)


def test_an_interruption_hands_back_what_all_have_reached():
    parts = []

    def progress(part):
        parts.append(part)
        if part > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        simulate(shaken(), 5.0, progress=progress)
    partial = caught.value.result
    assert partial is not None
    assert 0.3 * 5.0 <= partial.t_end < 5.0
    assert parts == sorted(parts)
    t = np.linspace(0.0, partial.t_end, 20)
    assert np.all(np.isfinite(partial.states(t)))


def test_cost_grows_with_the_parts():
    """Steps of one do not cut those of another."""

    def steps(n):
        bodies = [
            RigidBody(
                name=f"b{k}",
                mass=1.0,
                inertia=0.01,
                position=(float(k), 0.0499),
                velocity=(1.0 + 0.07 * k, 0.0),
                points={"foot": (0.0, -0.05)},
            )
            for k in range(n)
        ]
        contacts = [
            Contact(
                name=f"c{k}",
                a="ground.floor",
                b=f"b{k}.foot",
                normal=KelvinVoigt(stiffness=1e4, damping=20.0),
                friction=Coulomb(mu=0.3),
            )
            for k in range(n)
        ]
        ground = Ground(shapes={"floor": Line()})
        model = Model(gravity=(0.0, -9.81), bodies=[ground, *bodies], contacts=contacts)
        return simulate(model, 0.5).cost["evaluations"]

    assert steps(8) < 1.3 * 4 * steps(2)
