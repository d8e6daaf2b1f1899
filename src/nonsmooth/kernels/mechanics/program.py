"""The interpreter of expressions, on second-order jets.

An expression arrives as floats in postfix order: the number of instructions, then
a pair (operation, argument) for each. A stack slot holds the jet (f, f', f''),
the value and its first two derivatives along the motion, so that one pass gives
a time law its speed and acceleration, and a guard its rate. With h applied to f,

    (h ∘ f)'  = h' f'
    (h ∘ f)'' = h'' f'² + h' f''

`nonsmooth.elements.expressions` writes the programs and states what each
operation means. It limits their stack, so nothing is checked here. Outside its
domain an operation gives NaN (with the JIT off, NumPy also warns).
"""

import numpy as np

from nonsmooth.kernels.abi import at, kernel, stack_floats

# Numbers of the operations: the order of OPCODES in elements/expressions.py,
# which cannot import them from here because that would import Numba.
# fmt: off
(CONST, VAR,
 NEG, SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, EXP, LOG, SQRT, ABS,
 SMOOTHSTEP, SIGN, FLOOR,
 ADD, SUB, MUL, DIV, POW, ATAN2, HYPOT, MOD, MIN, MAX, LT, LE,
 WHERE) = range(32)
# fmt: on

SLOTS = 64  # jets on the stack; equals STACK_LIMIT in elements/expressions.py
FLOATS = 3 * SLOTS
EMPTY = np.int64(-3)  # a plain -3 would make Numba compile `unary` once more


@kernel
def unary(op, s, k):
    """Apply an operation of one argument to the jet at s[k]."""
    f, f1, f2 = s[k], s[k + 1], s[k + 2]
    h1 = h2 = 0.0
    if op == NEG:
        h, h1 = -f, -1.0
    elif op == SIN:
        h, h1 = np.sin(f), np.cos(f)
        h2 = -h
    elif op == COS:
        h, h1 = np.cos(f), -np.sin(f)
        h2 = -h
    elif op == TAN:
        h = np.tan(f)
        h1 = 1.0 + h * h
        h2 = 2.0 * h * h1
    elif ASIN <= op <= ACOS:
        h = np.arcsin(f) if op == ASIN else np.arccos(f)
        c2 = (1.0 - f) * (1.0 + f)
        h1 = (1.0 if op == ASIN else -1.0) / np.sqrt(c2)
        h2 = f * h1 / c2
    elif op == ATAN:
        h, h1 = np.arctan(f), 1.0 / (1.0 + f * f)
        h2 = -2.0 * f * h1 * h1
    elif op == SINH:
        h, h1 = np.sinh(f), np.cosh(f)
        h2 = h
    elif op == COSH:
        h, h1 = np.cosh(f), np.sinh(f)
        h2 = h
    elif op == TANH:
        h = np.tanh(f)
        h1 = 1.0 - h * h
        h2 = -2.0 * h * h1
    elif op == EXP:
        h = np.exp(f)
        h1 = h2 = h
    elif op == LOG:
        # 1/f would give log(f < 0) a slope.
        h, h1 = np.log(f), (1.0 / f if f >= 0.0 else np.nan)
        h2 = -h1 * h1
    elif op == SQRT:
        h = np.sqrt(f)
        h1 = 0.5 / h
        h2 = -0.5 * h1 / f
    elif op == ABS:
        h, h1 = abs(f), np.sign(f)
    elif op == SMOOTHSTEP:
        # Flat outside (0, 1); a NaN takes the last branch and stays one.
        if f <= 0.0:
            h = 0.0
        elif f >= 1.0:
            h = 1.0
        else:
            h = f * f * f * (10.0 + f * (6.0 * f - 15.0))
            h1 = 30.0 * f * f * (1.0 - f) * (1.0 - f)
            h2 = 60.0 * f * (1.0 - f) * (1.0 - 2.0 * f)
    else:
        # Constant between jumps, also where f' is infinite.
        h, f1, f2 = (np.sign(f) if op == SIGN else np.floor(f)), 0.0, 0.0
    s[k], s[k + 1], s[k + 2] = h, h1 * f1, h2 * f1 * f1 + h1 * f2


@kernel
def power(f, f1, f2, g, g1, g2):
    """Return the jet of f**g.

    With g constant the rule of t**g holds for every base it is defined for;
    otherwise f**g = exp(g log f), and a base f ≤ 0 has no derivatives.
    """
    h = f**g
    if g1 == 0.0 and g2 == 0.0:
        # A coefficient of zero removes its term, even 0 * 0**-1.
        h1 = h2 = 0.0
        if g != 0.0:
            h1 = g * f ** (g - 1.0)
            if g != 1.0:
                h2 = g * (g - 1.0) * f ** (g - 2.0)
        return h, h1 * f1, h2 * f1 * f1 + h1 * f2
    log, q1 = np.log(f), f1 / f
    u1 = g1 * log + g * q1
    u2 = g2 * log + 2.0 * g1 * q1 + g * (f2 / f - q1 * q1)
    return h, h * u1, h * (u2 + u1 * u1)


@kernel
def binary(op, s, k):
    """Replace the jets f at s[k] and g at s[k + 3] by one."""
    f, f1, f2, g, g1, g2 = s[k], s[k + 1], s[k + 2], s[k + 3], s[k + 4], s[k + 5]
    h1 = h2 = 0.0
    if op == ADD:
        h, h1, h2 = f + g, f1 + g1, f2 + g2
    elif op == SUB:
        h, h1, h2 = f - g, f1 - g1, f2 - g2
    elif op == MUL:
        h, h1, h2 = f * g, f1 * g + f * g1, f2 * g + 2.0 * f1 * g1 + f * g2
    elif op == DIV:
        h = f / g
        h1 = (f1 - h * g1) / g
        h2 = (f2 - 2.0 * h1 * g1 - h * g2) / g
    elif op == POW:
        h, h1, h2 = power(f, f1, f2, g, g1, g2)
    elif op == ATAN2:
        h, d = np.arctan2(f, g), f * f + g * g
        h1 = (g * f1 - f * g1) / d
        h2 = (g * f2 - f * g2 - 2.0 * h1 * (f * f1 + g * g1)) / d
    elif op == HYPOT:
        h = np.hypot(f, g)
        if h != 0.0:
            h1 = (f * f1 + g * g1) / h
            h2 = (f1 * f1 + g1 * g1 + f * f2 + g * g2 - h1 * h1) / h
    elif op == MOD:
        turns = np.floor(f / g)
        h, h1, h2 = f - turns * g, f1 - turns * g1, f2 - turns * g2
    elif MIN <= op <= MAX:
        # A NaN wins from either side.
        if f != f or (f <= g if op == MIN else f >= g):
            h, h1, h2 = f, f1, f2
        else:
            h, h1, h2 = g, g1, g2
    elif f != f or g != g:
        h = np.nan
    else:
        h = 1.0 if (f < g if op == LT else f <= g) else 0.0
    s[k], s[k + 1], s[k + 2] = h, h1, h2


@kernel
def run(p, x, out):
    """Evaluate a program.

    Parameters
    ----------
    p : pointer
        The number of instructions, then (operation, argument) for each.
    x : pointer
        Jets of the variables, three floats each.
    out : pointer
        The jet of the expression: value, first and second derivative.
    """
    s = stack_floats(FLOATS)
    top = EMPTY
    for i in range(1, 1 + 2 * int(p[0]), 2):
        op = int(p[i])
        if op == CONST:
            top += 3
            s[top], s[top + 1], s[top + 2] = p[i + 1], 0.0, 0.0
        elif op == VAR:
            top += 3
            k = 3 * int(p[i + 1])
            s[top], s[top + 1], s[top + 2] = x[k], x[k + 1], x[k + 2]
        elif op < ADD:
            unary(op, s, top)
        elif op < WHERE:
            top -= 3
            binary(op, s, top)
        else:
            top -= 6
            # The branch not taken may be NaN; a condition that is NaN takes none.
            c = s[top]
            k = top + 3 if c != 0.0 else top + 6
            for j in range(3):
                s[top + j] = s[k + j] if c == c else c
    out[0], out[1], out[2] = s[0], s[1], s[2]


@kernel
def relative_motion(t, a, b, x):
    """Write the jets of t, x, y, theta, vx, vy, omega of marker `b` from `a`.

    Differences in global axes. The third derivatives of motion are not known;
    the rates' second derivatives are left at zero and must not be used.
    """
    x[0], x[1], x[2] = t, 1.0, 0.0
    for k in range(3):
        i, j = 3 + 3 * k, 12 + 3 * k
        x[i] = b[k] - a[k]
        x[i + 1] = x[j] = b[3 + k] - a[3 + k]
        x[i + 2] = x[j + 1] = b[6 + k] - a[6 + k]
        x[j + 2] = 0.0


def time_law(p, t, s):
    """Evaluate a time law, a program of t: s, s', s''."""
    x = stack_floats(3)
    x[0], x[1], x[2] = t, 1.0, 0.0
    run(p, x, s)


def marker_guard(p, t, a, b, out):
    """Evaluate a guard, a program of the relative motion: g, g'."""
    x = stack_floats(21)
    jet = stack_floats(3)
    relative_motion(t, a, b, x)
    run(p, x, jet)
    out[0], out[1] = jet[0], jet[1]


def marker_force(p, s, t, a, b, out):
    """Evaluate a force law, three programs in a row: fx, fy and torque on `b`.

        on a:  -f,  -torque - r × f      r = p_b - p_a

    so that the pair does no work under a common rigid motion.
    """
    x = stack_floats(21)
    jet = stack_floats(3)
    relative_motion(t, a, b, x)
    start = 0
    for k in range(3):
        run(at(p, start), x, jet)
        out[k] = jet[0]
        start += 1 + 2 * int(p[start])
    out[3], out[4] = -out[0], -out[1]
    out[5] = -out[2] - ((b[0] - a[0]) * out[1] - (b[1] - a[1]) * out[0])
    # Without a potential the last two are not used, but must be written.
    out[6] = out[7] = 0.0
