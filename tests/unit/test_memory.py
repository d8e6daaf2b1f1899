"""A log beyond its budget: nothing of it is lost in a file, else what is said."""

import io
import pickle
import re
import tempfile

import numpy as np
import pytest

from nonsmooth import Model, ModelError, PointMass, Result, gallery, simulate
from nonsmooth.result import kept

UNTIL = 1.0
SMALL = 5e4  # bytes: less than the first 64 steps take
TIMES = np.linspace(0.0, UNTIL, 777)


@pytest.fixture(scope="module")
def model():
    return gallery.compactor()


@pytest.fixture(scope="module")
def whole(model):
    return simulate(model, UNTIL)


@pytest.fixture(scope="module")
def filed(model):
    return simulate(model, UNTIL, memory=SMALL)


@pytest.fixture(scope="module")
def single(model):
    return simulate(model, UNTIL, memory=SMALL, beyond="single")


def kinds(result):
    return {type(chunk).__name__ for chunk in result.steps.chunks}


def assert_same_bits(ours, theirs):
    assert ours.states(TIMES).tobytes() == theirs.states(TIMES).tobytes()
    for limit in ("before", "after"):
        mine, other = (r.sample(r.events.t, limit=limit) for r in (ours, theirs))
        assert mine.to_numpy().tobytes() == other.to_numpy().tobytes()
    assert str(ours.events) == str(theirs.events)
    assert ours.energy_balance.residual == theirs.energy_balance.residual
    assert ours.steps.coef.tobytes() == theirs.steps.coef.tobytes()
    assert ours.steps.arc.tobytes() == theirs.steps.arc.tobytes()
    assert ours.state(0.3) == theirs.state(0.3)


def test_in_a_file_nothing_is_lost(whole, filed):
    assert "InFile" in kinds(filed)
    assert kinds(whole) == {"Log"}
    assert_same_bits(filed, whole)
    (note,) = filed.notes
    assert tempfile.gettempdir() in note
    assert whole.notes == ()


def test_a_run_in_a_file_is_pickled_and_saved(whole, filed):
    assert_same_bits(pickle.loads(pickle.dumps(filed)), whole)
    file = io.BytesIO()
    filed.save(file)
    file.seek(0)
    assert_same_bits(Result.load(file), whole)


def test_single_precision_loses_what_is_said(whole, single):
    assert "Single" in kinds(single)
    (note,) = single.notes
    found = re.search(r"within (\S+) \(m or rad\), rates within (\S+) \(m/s", note)
    assert found
    n = whole.system.n_dof
    error = np.max(np.abs(single.states(TIMES) - whole.states(TIMES)), axis=0)
    # Said with one digit; projection moves a state by as much at most.
    assert 0.0 < np.max(error[:n]) <= 2.0 * float(found[1])
    assert 0.0 < np.max(error[n : 2 * n]) <= 2.0 * float(found[2])
    # A step of the run is 1e-3 rad long; single precision has 7 digits.
    assert float(found[1]) < 1e-8


def test_ends_of_steps_are_exact_in_single_precision(whole, single):
    k = np.arange(len(whole.steps.t))
    for name in ("before", "after"):
        ours, theirs = (getattr(r.steps, name)(k) for r in (single, whole))
        assert ours.tobytes() == theirs.tobytes()
    assert single.events.t.tobytes() == whole.events.t.tobytes()
    assert single.summary()["energy_residual"] == whole.summary()["energy_residual"]
    for name in ("mode", "fired", "impulse"):
        ours, theirs = (np.asarray(getattr(r.steps, name)[k]) for r in (single, whole))
        assert ours.astype(theirs.dtype).tobytes() == theirs.tobytes()


def test_single_precision_takes_half(whole):
    log = max(whole.steps.chunks, key=lambda chunk: chunk.n)
    own = kept.Single(log)
    size = sum(v.nbytes for v in vars(own).values() if isinstance(v, np.ndarray))
    assert size < 0.5 * log.n * 1480  # bytes of a step of this model


def test_without_a_file_the_run_goes_on(model, whole, monkeypatch):
    def refuse(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    result = simulate(model, UNTIL, memory=SMALL)
    assert_same_bits(result, whole)
    assert "No space left on device" in result.notes[0]
    assert "TMPDIR" in result.notes[0]


def test_keep_moves_nothing(model):
    result = simulate(model, UNTIL, memory=SMALL, beyond="keep")
    assert kinds(result) == {"Log"}
    assert result.notes == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory": 0}, "memory = 0; must be > 0 bytes"),
        ({"memory": "1 GB"}, "memory = '1 GB'; must be > 0 bytes"),
        ({"memory": float("nan")}, "memory = nan; must be > 0 bytes"),
        ({"beyond": "flie"}, "beyond = 'flie'; "),
    ],
)
def test_refused(model, options, words):
    with pytest.raises(ModelError) as caught:
        simulate(model, UNTIL, **options)
    assert words in str(caught.value)


def test_parts_that_march_apart_share_the_budget():
    model = gallery.friction_laws()
    ours, theirs = simulate(model, 2.0, memory=1e4), simulate(model, 2.0)
    assert any("InFile" in kinds_of(steps) for steps in ours.steps.own)
    t = np.linspace(0.0, 2.0, 50)
    assert ours.states(t).tobytes() == theirs.states(t).tobytes()


def kinds_of(steps):
    return {type(chunk).__name__ for chunk in steps.chunks}


def test_a_model_without_contacts_goes_to_a_file():
    """Its tables of modes are empty, which ended the run."""
    body = PointMass(name="box", mass=1.0, velocity=(1.0, 0.0))
    result = simulate(Model(bodies=[body]), 1.0, max_step=1e-3, memory=SMALL)
    assert any("in a file" in note for note in result.notes)
    assert result.sample(1.0, "box.x")["box.x"][0] == pytest.approx(1.0)
