"""Blocks: slots that declare their shapes, seen from Python and from kernels."""

import pickle

import numpy as np
import pytest

from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    Block,
    complexes,
    floats,
    integers,
    jit,
    records,
)


class Spot(Block):
    """A record."""

    side = INTEGER
    gap = NUMBER


class Inner(Block):
    """A block inside another."""

    n = INTEGER
    x = floats("n")


class Sample(Block):
    """A block with one slot of every kind."""

    count = INTEGER
    size = NUMBER
    values = floats("count")
    places = integers("count")
    rows = floats("count, 2")
    deep = floats("n_deep, count, 3")
    waves = complexes("count")
    spots = records(Spot, "count")
    inner = Inner


def sample(**changes) -> Sample:
    fields = {
        "count": 3,
        "size": 2.5,
        "values": np.arange(3.0),
        "places": np.array([2, 0, 1]),
        "inner": Inner(n=2, x=np.array([5.0, 6.0])),
    }
    return Sample({"n_deep": 2}, **(fields | changes))


@jit
def use(block):
    """Read every slot, and write some."""
    total = block.size
    for i in range(block.count):
        total += block.values[block.places[i]]
        block.rows[i][1] = i
        block.deep[1][i][2] = 10.0 * i
        block.waves[i] = complex(i, 1.0)
        spot = block.spots[i]
        spot.side = i
        spot.gap = 0.5 * spot.side
    for i in range(block.count):
        block.values[i] = -1.0
    block.size = total + block.inner.x[1]
    block.inner.x[0] = 8.0
    block.count += 4
    return total


@pytest.mark.jit_off
def test_kernels_read_and_write_a_block():
    block = sample()
    assert use(block) == 5.5
    assert block.size == 11.5
    assert block.count == 7
    assert block.values.tolist() == [-1.0, -1.0, -1.0]
    assert block.rows.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]
    assert block.deep[1, :, 2].tolist() == [0.0, 10.0, 20.0]
    assert not block.deep[0].any()
    assert block.waves.tolist() == [1j, 1 + 1j, 2 + 1j]
    assert block.spots["side"].tolist() == [0, 1, 2]
    assert block.spots["gap"].tolist() == [0.0, 0.5, 1.0]
    assert block.inner.x.tolist() == [8.0, 6.0]


@pytest.mark.jit_off
def test_what_is_given_is_copied_and_what_is_not_is_zero():
    values = np.arange(3.0)
    block = sample(values=values)
    use(block)
    assert values.tolist() == [0.0, 1.0, 2.0]
    assert not sample().rows.any()
    assert sample().rows.shape == (3, 2)
    assert sample().deep.shape == (2, 3, 3)


@pytest.mark.jit_off
def test_slots_can_be_set_but_arrays_not_replaced():
    block = sample()
    block.size = 1
    block.count = 7
    assert (block.size, block.count) == (1.0, 7)
    assert isinstance(block.size, float)
    assert isinstance(block.count, int)
    with pytest.raises(AttributeError, match="values"):
        block.values = np.zeros(3)


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "extra"),
        ({"values": np.zeros(4)}, r"Sample.values: float64 \(4,\) given, .* \(3,\)"),
        ({"rows": np.zeros((2, 3))}, r"Sample.rows: .* \(2, 3\) given"),
        ({"places": np.zeros(3)}, r"Sample.places: float64"),
        ({"inner": None}, r"Sample.inner"),
    ],
)
def test_a_block_refuses_what_its_slots_do_not_declare(changes, message):
    with pytest.raises(TypeError, match=message):
        sample(**changes)


@pytest.mark.jit_off
def test_a_block_refuses_a_missing_block():
    with pytest.raises(TypeError, match=r"missing.*inner"):
        Sample({"n_deep": 1}, count=1)


@pytest.mark.jit_off
def test_a_copy_with_changes_has_memory_of_its_own():
    block = sample()
    other = block.copy_with(size=9.0, places=np.array([0, 1, 2]))
    assert (block.size, other.size) == (2.5, 9.0)
    assert other.count == 3
    assert not np.shares_memory(block.values, other.values)
    assert other.places.tolist() == [0, 1, 2]
    assert block.places.tolist() == [2, 0, 1]
    assert other.inner is not block.inner


@pytest.mark.jit_off
def test_a_pickled_block_works_in_its_own_memory():
    block = sample()
    other = pickle.loads(pickle.dumps(block))
    assert use(other) == 5.5
    assert block.size == 2.5
    assert block.inner.x.tolist() == [5.0, 6.0]
    assert other.inner.x.tolist() == [8.0, 6.0]


@pytest.mark.jit_off
def test_a_block_is_cut_to_other_sizes():
    whole = Inner(n=5, x=np.arange(5.0))
    part = whole.cut({}, n=2)
    assert part.x.tolist() == [0.0, 1.0]
    assert (part.n, whole.n) == (2, 5)
    assert Inner.n_bytes({"n": 5}) - Inner.n_bytes({"n": 2}) == 24
