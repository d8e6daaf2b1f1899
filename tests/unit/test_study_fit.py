"""Fits: parameters from noisy series, their intervals, refusals, pictures."""

import math

import numpy as np
import pytest

from nonsmooth import ModelError, gallery, simulate
from nonsmooth.study import fit

TRUE = {"mu": 0.27, "mu0": 0.43, "k": 90.0}
GUESS = {"mu": (0.1, 0.25, 0.4), "mu0": (0.3, 0.45, 0.8), "k": (50.0, 95.0, 200.0)}
NOISE = 2e-3  # m, standard deviation
N_REPEAT = 100


@pytest.fixture(scope="module")
def record():
    """A record of stick-slip without noise."""
    result = simulate(gallery.build("belt", speed=0.15, **TRUE), 3.0)
    t = np.linspace(0.02, 3.0, 150)
    return {"t": t, "block.x": result.sample(t, "block.x")["block.x"]}


def noisy(record, seed):
    noise = np.random.default_rng(seed).standard_normal(len(record["t"]))
    return {**record, "block.x": record["block.x"] + NOISE * noise}


def test_a_record_without_noise_gives_the_parameters_back(record):
    found = fit("belt", GUESS, record, settings={"speed": 0.15})
    assert found.method == "differences"
    for name, value in TRUE.items():
        # The run's tolerance, 1e-8, seen through the shape of the minimum.
        assert found.values[name] == pytest.approx(value, rel=1e-5)


def test_intervals_shrink_with_the_noise_and_say_their_sigma(record):
    found = fit("belt", GUESS, noisy(record, 1), settings={"speed": 0.15})
    # The estimate of a standard deviation from 147 degrees of freedom.
    assert found.sigma == pytest.approx(NOISE, rel=4.0 / math.sqrt(2 * 147))
    wide = fit(
        "belt", GUESS, noisy(record, 1), settings={"speed": 0.15}, confidence=0.99
    )
    for name, (low, high) in found.intervals.items():
        assert low < found.values[name] < high
        assert wide.intervals[name][0] < low
    np.testing.assert_allclose(
        found.residuals["block.x"],
        found.result.sample(found.t, "block.x")["block.x"]
        - noisy(record, 1)["block.x"],
        atol=1e-15,
    )


@pytest.mark.slow
def test_intervals_cover_the_truth(record):
    """95 % intervals cover each parameter in at least 90 of 100 repetitions."""
    covered = dict.fromkeys(TRUE, 0)
    for seed in range(N_REPEAT):
        data = noisy(record, 1000 + seed)
        found = fit("belt", GUESS, data, settings={"speed": 0.15}, method="differences")
        for name, (low, high) in found.intervals.items():
            covered[name] += low <= TRUE[name] <= high
    assert all(n >= 90 for n in covered.values()), covered


def test_a_poor_guess_needs_more_starts(record):
    """From half the stiffness the search ends elsewhere; from the best of 64 not."""
    poor = {"mu": (0.05, 0.35, 0.4), "mu0": (0.3, 0.45, 0.8), "k": (50.0, 60.0, 200.0)}
    data = noisy(record, 1)
    stuck = fit("belt", poor, data, settings={"speed": 0.15})
    assert stuck.sigma > 5.0 * NOISE
    found = fit("belt", poor, data, settings={"speed": 0.15}, starts=64)
    assert found.sigma == pytest.approx(NOISE, rel=4.0 / math.sqrt(2 * 147))
    for name, (low, high) in found.intervals.items():
        assert low < TRUE[name] < high


def test_paths_are_fitted_from_a_file(record, tmp_path):
    model = gallery.build("belt", speed=0.15, mu=0.27, mu0=0.43, k=90.0)
    lines = [f"{t},{x}" for t, x in zip(record["t"], record["block.x"], strict=True)]
    path = tmp_path / "record.csv"
    path.write_text("\n".join(["t,block.x", *lines]))
    found = fit(model, {"forces.spring.stiffness": (50.0, 80.0, 200.0)}, path)
    assert found.values["forces.spring.stiffness"] == pytest.approx(90.0, rel=1e-5)
    found.plot(str(tmp_path / "residuals.png"))
    assert (tmp_path / "residuals.png").stat().st_size > 5000
    assert "forces.spring.stiffness = 90" in str(found)


def test_events_that_differ_beside_the_optimum_are_told():
    """At the edge of one more slip the events differ: no derivatives, and said so."""
    first = 0.43 * 9.81 / (90.0 * 0.15)  # s, of the first slip
    t = np.linspace(0.02, first + 2e-5, 40)
    model = gallery.build("belt", speed=0.15, **TRUE)
    x = simulate(model, float(t[-1])).sample(t, "block.x")["block.x"]
    found = fit(
        model,
        {"forces.spring.stiffness": (80.0, 90.0, 100.0)},
        {"t": t, "block.x": x},
    )
    assert found.method == "without derivatives"
    assert "events beside the optimum differ" in found.notes[0]


def test_what_data_do_not_determine_is_told(record):
    """As long as the block sticks, friction in motion has no effect."""
    data = {name: values[:8] for name, values in record.items()}
    found = fit("belt", {"mu": (0.1, 0.2, 0.4)}, data, settings={"speed": 0.15})
    assert any("do not determine mu" in note for note in found.notes)
    assert found.intervals["mu"] == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("parameters", "data", "changes", "why"),
    [
        ({"nu": (0.1, 0.2, 0.3)}, None, {}, "no parameter 'nu'"),
        ({"mu": (0.3, 0.2, 0.1)}, None, {}, r"give \(least, guess, largest\)"),
        ({"mu": 0.2}, None, {}, r"give \(least, guess, largest\)"),
        ({"mu": (0.1, 0.2, 0.3)}, {"t": [0.1]}, {}, "and a column at least"),
        ({"mu": (0.1, 0.2, 0.3)}, {"t": [1.0, 0.5], "x": [0, 0]}, {}, "and grow"),
        (
            {"mu": (0.1, 0.2, 0.3)},
            {"t": [0.5, 1.0], "blok.x": [0, 0]},
            {},
            "did you mean 'block.x'",
        ),
        (
            {"mu": (0.1, 0.2, 0.3)},
            {"t": [0.5, 1.0], "block.x": [0, math.nan]},
            {},
            "finite numbers",
        ),
        ({"mu": (0.1, 0.2, 0.3)}, {"t": [1.0], "block.x": [0]}, {}, "1 measurements"),
        ({"mu": (0.1, 0.2, 0.3)}, None, {"method": "newton"}, "method = 'newton'"),
        ({"mu": (0.1, 0.2, 0.3)}, None, {"confidence": 1.0}, "between 0 and 1"),
        ({"mu": (0.1, 0.2, 0.3)}, None, {"starts": 0}, "starts = 0; give at least 1"),
        (
            {"mu": (0.1, 0.2, 0.3)},
            None,
            {"sigma": {"block.y": 1.0}},
            "sigma: no column",
        ),
    ],
)
def test_bad_fits_are_refused(record, parameters, data, changes, why):
    with pytest.raises(ModelError, match=why):
        fit("belt", parameters, record if data is None else data, **changes)


@pytest.mark.parametrize(
    "text", ["t,block.x\n0,one\n", "t\n0\n1\n", "t,block.x\n0.1\n0.2\n", ""]
)
def test_bad_files_are_refused(tmp_path, text):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ModelError, match=r"bad\.csv: "):
        fit("belt", {"mu": (0.1, 0.2, 0.3)}, tmp_path / "bad.csv")
