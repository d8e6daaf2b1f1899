"""A fixed point of a map, by Broyden's method from plain iteration.

    x = y(x),   f = x - y,   x <- x - B f

B begins as one, so that the first step is the map itself, and then learns from each
step how f changes. A map that contracts is met in a few steps more than Newton's method
would take, and one that does not may be met as well.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, floats, kernel
from nonsmooth.kernels.tolerances import TINY

# A fixed point is met within this part of its largest number; within the second, if a
# step does not come nearer: the round-off of the map.
MET, NEARLY_MET = 1e-14, 1e-11
# Steps until what was learnt is given up, and in all.
RELEARN, MOST_STEPS = 20, 60


class Search(Block):
    """Where a search is."""

    n_step = INTEGER
    apart = NUMBER  # largest of f, beside the largest number
    x = floats("n_largest")  # the numbers
    y = floats("n_largest")  # what the map makes of them
    f = floats("n_largest")  # x - y, before the last step
    step = floats("n_largest")  # the last step
    turned = floats("n_largest")  # scratch
    B = floats("n_largest * n_largest")


@kernel
def begin(p, n):
    """Begin a search at p.x."""
    p.n_step = 0
    forget(p, n)


@kernel
def forget(p, n):
    """Take the map for one that hardly changes."""
    for i in range(n):
        for j in range(n):
            p.B[i * n + j] = 1.0 if i == j else 0.0


@kernel
def is_met(p, n):
    """Return whether p.y is p.x, but for round-off."""
    largest, apart = TINY, 0.0
    for i in range(n):
        largest = max(largest, abs(p.y[i]))
        apart = max(apart, abs(p.x[i] - p.y[i]))
    last = p.apart if p.n_step > 0 else math.inf
    p.apart = apart / largest
    return p.apart <= MET or (p.apart <= NEARLY_MET and p.apart >= last)


@kernel
def learn(p, n):
    """Change B so that it takes the last change of f to the last step."""
    along = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += p.B[i * n + j] * (p.x[j] - p.y[j] - p.f[j])
        p.turned[i] = total
        along += p.step[i] * total
    if abs(along) < TINY:
        return
    for j in range(n):
        row = 0.0
        for i in range(n):
            row += p.step[i] * p.B[i * n + j]
        # What is written to column j is not read again.
        p.f[j] = row / along
    for i in range(n):
        for j in range(n):
            p.B[i * n + j] += (p.step[i] - p.turned[i]) * p.f[j]


@kernel
def advance(p, n):
    """Take a step from p.x, with p.y known there; return whether there is one left."""
    p.n_step += 1
    if p.n_step % RELEARN == 0:
        forget(p, n)
    elif p.n_step > 1:
        learn(p, n)
    for i in range(n):
        p.f[i] = p.x[i] - p.y[i]
    for i in range(n):
        change = 0.0
        for j in range(n):
            change -= p.B[i * n + j] * p.f[j]
        p.step[i] = change
    for i in range(n):
        p.x[i] += p.step[i]
    return p.n_step < MOST_STEPS
