"""Writing a step to the log."""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.friction.modes import copy_mode


@kernel
def record(m, s, log, t, h, y, mode, fired, method):
    """Append the step from state y at t to the present state, in a given mode."""
    i = log.n
    log.t[i] = t
    log.h[i] = h
    log.cap[i] = s.t_cap
    log.arc[i] = s.arc
    log.method[i] = method
    coef, end = log.coef[i], log.end[i]
    for j in range(m.n_y):
        coef[0][j] = y[j]
        end[j] = s.y1[j]
    for p in range(s.n_coef):
        for j in range(m.n_y):
            coef[1 + p][j] = s.C[p][j]
    for k in range(m.n_watch):
        log.fired[i][k] = fired[k]
    for k in range(m.n_contact):
        copy_mode(mode[k], log.mode[i][k])
        log.impulse[i][k][0] = 0.0
        log.impulse[i][k][1] = 0.0
    log.n = i + 1


@kernel
def is_finite(n, x):
    """Return whether every entry is."""
    total = 0.0
    for i in range(n):
        total += abs(x[i])
    return total < 1e300
