"""The checked build: every index into a slot, a stack or an array.

`./dev test` runs the tests marked jit_off with NONSMOOTH_CHECKED=1; here it is shown
that it would notice.
"""

import os
import subprocess
import sys

import pytest

from nonsmooth.kernels.abi import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="starts compiled processes")

CODE = """
import numpy as np
from nonsmooth.kernels.abi import (
    CHECKED, FLOATS, INTEGER, NUMBER, Block, at, far, floats, records,
    stack_floats,
)
assert CHECKED

class Spot(Block):
    gap = NUMBER

class Bag(Block):
    n = INTEGER
    x = floats("n")
    rows = floats("n, 3")
    deep = floats("2, n, 2")
    spots = records(Spot, "n")

@far(FLOATS, INTEGER, returns=NUMBER)
def read(x, i):
    return x[i]

@far(Bag, INTEGER, INTEGER, FLOATS, returns=NUMBER)
def try_it(b, case, i, array):
    if case == 0:
        return b.x[i]
    if case == 1:
        b.x[i] = 3.0
    if case == 2:
        return b.rows[i][2]
    if case == 3:
        return b.rows[0][i]
    if case == 4:
        return read(at(b.x, 2), i)
    if case == 5:
        return b.spots[i].gap
    if case == 6:
        return at(b.rows, 1)[i]
    if case == 7:
        return array[i]
    if case == 8:
        return stack_floats(2)[i]
    if case == 9:
        return b.deep[1][i][1]
    if case == 10:
        return at(b.x, i)[0]
    return 0.0

read.address  # compiled before its caller
bag = Bag(n=4)
# (case, last index that is inside, where it is)
limits = [(0, 3, "Bag.x"), (1, 3, "Bag.x"), (2, 3, "Bag.rows"), (3, 2, "Bag.rows"),
          (4, 1, "Bag.x"), (5, 3, "Bag.spots"), (6, 8, "Bag.rows"), (7, 4, "an array"),
          (8, 1, "an array on the stack"), (9, 3, "Bag.deep"), (10, 3, "Bag.x")]
for case, last, where in limits:
    for i in (last + 1, -1, 10**9):
        try:
            try_it(bag, case, i, np.zeros(5))
        except IndexError as error:
            # The end of a slot is a place, with nothing there.
            index = 0 if case == 10 and i == 4 else i
            assert f": {where}: index {index} outside" in str(error), (case, error)
        else:
            raise AssertionError((case, i))
    try_it(bag, case, last, np.zeros(5))
    try_it(bag, case, 0, np.zeros(5))
assert bag.x.tolist() == [3.0, 0.0, 0.0, 3.0], bag.x
print("checked")
"""


def test_an_index_outside_its_slot_is_told_by_name(tmp_path):
    script = tmp_path / "bag.py"
    script.write_text(CODE)
    env = os.environ | {
        "NONSMOOTH_CHECKED": "1",
        "NONSMOOTH_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True
    )
    assert done.stdout.strip() == "checked", done.stderr


def test_checked_code_has_a_cache_of_its_own():
    code = "from nonsmooth.kernels import cache_folder; print(cache_folder.name)"
    names = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NONSMOOTH_CHECKED": flag},
            capture_output=True,
            text=True,
        ).stdout
        for flag in ("", "1")
    }
    assert len(names) == 2
