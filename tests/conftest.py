"""The fixture `validate`: a comparison that the page Validation shows.

A test calls it instead of an assert. The largest error of each comparison is kept in
`data/validation.json`, which `docs/validation.md` is made from. A test fails if its
error is above what it asks for, if the file does not know the comparison, or if the
error has grown tenfold, since the page would be wrong then. `pytest --record` writes
the comparisons of the tests it runs into the file.
"""

import pytest
import validation


def pytest_addoption(parser):
    parser.addoption(
        "--record", action="store_true", help="write tests/data/validation.json anew"
    )


@pytest.fixture(scope="session")
def comparisons(request):
    """Return what is kept, what this session found, and whether to write it."""
    is_recording = request.config.getoption("--record")
    if is_recording and hasattr(request.config, "workerinput"):
        pytest.exit("--record needs one process: leave -n out", 2)
    kept, found = validation.read(), {}
    yield kept, found, is_recording
    if is_recording and found:
        tests = {row["test"] for row in found.values()}
        rest = {name: row for name, row in kept.items() if row["test"] not in tests}
        validation.write(rest | found)


@pytest.fixture
def validate(request, comparisons):
    """Return a function that compares, asserts and records."""
    kept, seen, is_recording = comparisons
    test = request.node.nodeid.partition("[")[0]

    def compare(what, found, wanted, within, unit, against):
        """Assert |found - wanted| <= within; `against` says what `wanted` is."""
        row = validation.compared(test, what, found, wanted, within, unit, against)
        assert row["error"] <= within, f"{what}: off by {row['error']:.3g} {unit}"
        if is_recording:
            name = validation.key(row)
            seen[name] = validation.worse(row, seen.get(name, row))
            return
        wrong = validation.complaint(row, kept)
        assert not wrong, f"{wrong}; if so it is to be: pytest {test} --record"

    return compare
