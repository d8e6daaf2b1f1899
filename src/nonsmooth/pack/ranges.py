"""What an expression of time does over whole intervals: bounds of it and its rates.

A program of `nonsmooth.elements.expressions` is evaluated on many intervals of time at
once. Each slot of the stack holds the value in the middle and bounds of the jet
(f, f', f'') by interval arithmetic [Moore1966]_, as in `kernels.mechanics.program`.
Which branch a function takes, where it has several, the middle tells: intervals are
to lie between the instants where that changes. Round-off is not followed: bounds are
for the search, not for proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]
Program = tuple[tuple[str, float], ...]  # operations and their arguments, postfix


def _mod(a: Floats, b: Floats) -> Floats:
    return a - b * np.floor(a / b)


def _smoothstep(x: Floats) -> Floats:
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def _where(c: Floats, a: Floats, b: Floats) -> Floats:
    return np.where(c != 0.0, a, b)


VALUES: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "smoothstep": _smoothstep,
    "sign": np.sign,
    "floor": np.floor,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "mod": _mod,
    "min": np.minimum,
    "max": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "where": _where,
}
ARITY = dict.fromkeys(VALUES, 2) | dict.fromkeys(list(VALUES)[:17], 1) | {"where": 3}


def values(program: Program, t: Floats) -> Floats:
    """Return the values of a program of time; NaN outside its domain."""
    stack: list[Floats] = []
    with np.errstate(all="ignore"):
        for name, argument in program:
            if name == "const":
                stack.append(np.full(len(t), argument))
            elif name == "var":
                stack.append(t)
            else:
                n = ARITY[name]
                stack[-n:] = [1.0 * VALUES[name](*stack[-n:])]
    return stack[0]


class Jet(NamedTuple):
    """Value in the middle of each interval, and bounds of value and two rates."""

    middle: Floats
    f: Bounds
    f1: Bounds
    f2: Bounds
    is_void: NDArray[np.bool_]  # nowhere defined


def jets(program: Program, low: Floats, high: Floats) -> Jet:
    """Return the jet of a program of time on each interval [low, high]."""
    n, half = len(low), 0.5 * (high - low)
    nil, one = np.zeros(n), np.ones(n)
    stack: list[Jet] = []
    with np.errstate(all="ignore"):
        for name, argument in program:
            if name == "const":
                x = np.full(n, argument)
                stack.append(Jet(x, (x, x), (nil, nil), (nil, nil), nil > 0.0))
            elif name == "var":
                own = Jet(low + half, (low, high), (one, one), (nil, nil), nil > 0.0)
                stack.append(own)
            else:
                k = ARITY[name]
                stack[-k:] = [_applied(name, stack[-k:], half)]
    return stack[0]


def _applied(name: str, of: Sequence[Jet], half: Floats) -> Jet:
    """Return the jet of an operation on jets."""
    middle: Floats = 1.0 * VALUES[name](*(jet.middle for jet in of))
    is_void: Any = (
        of[0].is_void if name == "where" else np.any([j.is_void for j in of], 0)
    )
    beyond: Any = False
    if name in _UNARY:
        h, h1, h2, beyond = _UNARY[name](of[0].f, of[0].middle)
        jet = _chained(h, h1, h2, of[0])
    elif name in _BINARY:
        jet = _BINARY[name](*of)
    elif name == "where":
        jet = _chosen(of[0].middle != 0.0, of[1], of[2])
        beyond = np.where(of[0].middle != 0.0, of[1].is_void, of[2].is_void)
    elif name in ("min", "max"):
        a, b = of[0].middle, of[1].middle
        jet = _chosen(a <= b if name == "min" else a >= b, of[0], of[1])
    else:  # constant between its jumps
        nil = 0.0 * half
        jet = ((middle, middle), (nil, nil), (nil, nil))
    f, f1, f2 = (_known(bounds) for bounds in jet)
    # The mean value theorem narrows what is known by terms that cancel.
    way = _times(f1, (-half, half))
    low = np.fmax(f[0], middle + way[0])
    high = np.fmin(f[1], middle + way[1])
    return Jet(middle, (low, high), f1, f2, is_void | beyond)


def _both(x: Floats) -> Bounds:
    return x, x


def _known(x: Bounds) -> Bounds:
    """Return bounds in which what is not a number may be anything."""
    low, high = x
    return np.where(low == low, low, -np.inf), np.where(high == high, high, np.inf)


def _plus(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Bounds, b: Bounds) -> Bounds:
    return a[0] - b[1], a[1] - b[0]


def _times(a: Bounds, b: Bounds) -> Bounds:
    products = [x * y for x in a for y in b]
    # Zero times infinity: a bound of zero is exact.
    products = [np.where(p == p, p, 0.0) for p in products]
    return np.minimum.reduce(products), np.maximum.reduce(products)


def _scaled(c: float, a: Bounds) -> Bounds:
    return (c * a[0], c * a[1]) if c >= 0.0 else (c * a[1], c * a[0])


def _square(a: Bounds) -> Bounds:
    low, high = a[0] * a[0], a[1] * a[1]
    least = np.where((a[0] <= 0.0) & (a[1] >= 0.0), 0.0, np.minimum(low, high))
    return least, np.maximum(low, high)


def _over(a: Bounds, b: Bounds) -> Bounds:
    has_zero = (b[0] <= 0.0) & (b[1] >= 0.0)
    inverse = np.where(has_zero, -np.inf, 1.0 / b[1]), 1.0 / b[0]
    return _times(a, (inverse[0], np.where(has_zero, np.inf, inverse[1])))


def _chosen(first: Any, a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    """Return the jet a where `first`, else b."""
    pairs = zip(a[1:4], b[1:4], strict=True)
    chosen = [tuple(np.where(first, x[i], y[i]) for i in (0, 1)) for x, y in pairs]
    return tuple(chosen)  # pyright: ignore[reportReturnType]


def _chained(
    h: Bounds, h1: Bounds, h2: Bounds, x: Jet
) -> tuple[Bounds, Bounds, Bounds]:
    """Return the jet of h(x)."""
    bend = _plus(_times(_known(h2), _square(x.f1)), _times(_known(h1), x.f2))
    return h, _times(_known(h1), x.f1), bend


# ---- functions of one argument: bounds of h, h', h'', and where it is undefined ---


def _wave(x: Bounds, phase: float) -> Bounds:
    """Return bounds of sin(x + phase)."""
    a, b = x[0] + phase, x[1] + phase
    turn = 2.0 * np.pi
    low, high = np.minimum(np.sin(a), np.sin(b)), np.maximum(np.sin(a), np.sin(b))

    def has(peak: float) -> Any:
        return ~(np.floor((b - peak) / turn) < np.ceil((a - peak) / turn))

    low = np.where(has(-0.5 * np.pi), -1.0, low)
    return _known((low, np.where(has(0.5 * np.pi), 1.0, high)))


def _rising(function: Callable[[Floats], Any], x: Bounds) -> Bounds:
    return function(x[0]), function(x[1])


def _falling(function: Callable[[Floats], Any], x: Bounds) -> Bounds:
    return function(x[1]), function(x[0])


def _sine(x: Bounds, _: Floats) -> Any:
    sine = _wave(x, 0.0)
    return sine, _wave(x, 0.5 * np.pi), _scaled(-1.0, sine), False


def _cosine(x: Bounds, _: Floats) -> Any:
    cosine = _wave(x, 0.5 * np.pi)
    return cosine, _wave(x, np.pi), _scaled(-1.0, cosine), False


def _tangent(x: Bounds, _: Floats) -> Any:
    has_pole = np.floor(x[1] / np.pi + 0.5) != np.floor(x[0] / np.pi + 0.5)
    low, high = _rising(np.tan, x)
    h = np.where(has_pole, -np.inf, low), np.where(has_pole, np.inf, high)
    square = _square(h)
    h1 = 1.0 + square[0], 1.0 + square[1]
    return h, h1, _scaled(2.0, _times(h, h1)), False


def _inverse(x: Bounds, _: Floats, sign: float = 1.0) -> Any:
    """Of the inverse sine, or of the inverse cosine where sign is -1."""
    inside = np.clip(x[0], -1.0, 1.0), np.clip(x[1], -1.0, 1.0)
    h = _rising(np.arcsin, inside) if sign > 0 else _falling(np.arccos, inside)
    square = _square(inside)
    rest = 1.0 - square[1], 1.0 - square[0]
    h1 = _falling(lambda c: 1.0 / np.sqrt(c), rest)
    h2 = _times(inside, _times(h1, _over((1.0, 1.0), rest)))  # pyright: ignore[reportArgumentType]
    return h, _scaled(sign, h1), _scaled(sign, h2), (x[0] > 1.0) | (x[1] < -1.0)


def _arctangent(x: Bounds, _: Floats) -> Any:
    h1 = _falling(lambda s: 1.0 / (1.0 + s), _square(x))
    return _rising(np.arctan, x), h1, _scaled(-2.0, _times(x, _square(h1))), False


def _hyperbolic_cosine(x: Bounds) -> Bounds:
    size = np.maximum(np.abs(x[0]), np.abs(x[1]))
    least = np.where((x[0] <= 0.0) & (x[1] >= 0.0), 0.0, np.minimum(*map(np.abs, x)))
    return np.cosh(least), np.cosh(size)


def _hyperbolic_tangent(x: Bounds, _: Floats) -> Any:
    h = _rising(np.tanh, x)
    h1 = _falling(lambda s: 1.0 - s, _square(h))
    return h, h1, _scaled(-2.0, _times(h, h1)), False


def _exponential(x: Bounds, _: Floats) -> Any:
    h = _rising(np.exp, x)
    return h, h, h, False


def _logarithm(x: Bounds, _: Floats) -> Any:
    inside = np.maximum(x[0], 0.0), x[1]
    h1 = _falling(lambda f: 1.0 / f, inside)
    return _rising(np.log, inside), h1, _scaled(-1.0, _square(h1)), ~(x[1] > 0.0)


def _root(x: Bounds, _: Floats) -> Any:
    inside = np.maximum(x[0], 0.0), x[1]
    h1 = _falling(lambda f: 0.5 / np.sqrt(f), inside)
    h2 = _scaled(-0.5, _times(h1, _falling(lambda f: 1.0 / f, inside)))
    return _rising(np.sqrt, inside), h1, h2, x[1] < 0.0


def _magnitude(x: Bounds, middle: Floats) -> Any:
    sign, nil = np.sign(middle), 0.0 * middle
    return _times(x, (sign, sign)), (sign, sign), (nil, nil), False


def _smooth(x: Bounds, middle: Floats) -> Any:
    is_inside = (middle > 0.0) & (middle < 1.0)
    rest = _minus((1.0, 1.0), x)  # pyright: ignore[reportArgumentType]
    h1 = _scaled(30.0, _times(_square(x), _square(rest)))
    h2 = _scaled(60.0, _times(_times(x, rest), _minus(rest, x)))
    inner = [
        (np.where(is_inside, b[0], 0.0), np.where(is_inside, b[1], 0.0))
        for b in (h1, h2)
    ]
    ends = _rising(_smoothstep, x)
    flat = _smoothstep(middle)
    h = np.where(is_inside, ends[0], flat), np.where(is_inside, ends[1], flat)
    return h, *inner, False


_UNARY: dict[str, Callable[[Bounds, Floats], Any]] = {
    "neg": lambda x, m: (_scaled(-1.0, x), (-1.0 + 0 * m,) * 2, (0.0 * m,) * 2, False),
    "sin": _sine,
    "cos": _cosine,
    "tan": _tangent,
    "asin": _inverse,
    "acos": lambda x, m: _inverse(x, m, -1.0),
    "atan": _arctangent,
    "sinh": lambda x, _: (
        _rising(np.sinh, x),
        _hyperbolic_cosine(x),
        _rising(np.sinh, x),
        False,
    ),
    "cosh": lambda x, _: (
        _hyperbolic_cosine(x),
        _rising(np.sinh, x),
        _hyperbolic_cosine(x),
        False,
    ),
    "tanh": _hyperbolic_tangent,
    "exp": _exponential,
    "log": _logarithm,
    "sqrt": _root,
    "abs": _magnitude,
    "smoothstep": _smooth,
}


# ---- functions of two arguments ------------------------------------------------


def _product(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    f1 = _plus(_times(a.f1, b.f), _times(a.f, b.f1))
    cross = _scaled(2.0, _times(a.f1, b.f1))
    f2 = _plus(_plus(_times(a.f2, b.f), cross), _times(a.f, b.f2))
    return _times(a.f, b.f), f1, f2


def _quotient(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    f = _over(a.f, b.f)
    f1 = _over(_minus(a.f1, _times(f, b.f1)), b.f)
    bend = _minus(a.f2, _scaled(2.0, _times(f1, b.f1)))
    return f, f1, _over(_minus(bend, _times(f, b.f2)), b.f)


def _raised(x: Bounds, g: float) -> Bounds:
    """Return bounds of x**g."""
    if g < 0.0:
        return _over(_both(np.ones_like(x[0])), _raised(x, -g))
    low, high = np.power(x[0], g), np.power(x[1], g)
    if g != np.floor(g):
        return np.power(np.maximum(x[0], 0.0), g), high
    if g % 2.0:
        return low, high
    has_zero = (x[0] <= 0.0) & (x[1] >= 0.0) & (g > 0.0)
    return np.where(has_zero, 0.0, np.minimum(low, high)), np.maximum(low, high)


def _power(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    g = float(b.middle[0]) if len(b.middle) else 1.0
    if np.all(b.f[0] == g) and np.all(b.f[1] == g):
        h1 = _scaled(g, _raised(a.f, g - 1.0)) if g else _both(0.0 * a.middle)
        h2 = _both(0.0 * a.middle)
        if g not in (0.0, 1.0):
            h2 = _scaled(g * (g - 1.0), _raised(a.f, g - 2.0))
        return _chained(_raised(a.f, g), h1, h2, a)
    h, h1, h2, _ = _logarithm(a.f, a.middle)
    f, f1, f2 = _chained(h, h1, h2, a)
    f, f1, f2 = _product(b, Jet(a.middle, f, f1, f2, a.is_void))
    power = _rising(np.exp, f)
    return _chained(power, power, power, Jet(a.middle, f, f1, f2, a.is_void))


def _angle(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    d = _plus(_square(a.f), _square(b.f))
    f1 = _over(_minus(_times(b.f, a.f1), _times(a.f, b.f1)), d)
    cross = _scaled(2.0, _times(f1, _plus(_times(a.f, a.f1), _times(b.f, b.f1))))
    bend = _minus(_times(b.f, a.f2), _times(a.f, b.f2))
    turn = np.full(len(a.middle), np.pi)
    return (-turn, turn), f1, _over(_minus(bend, cross), d)


def _length(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    f = _rising(np.sqrt, _plus(_square(a.f), _square(b.f)))
    f1 = _over(_plus(_times(a.f, a.f1), _times(b.f, b.f1)), f)
    turn = _plus(_square(a.f1), _square(b.f1))
    bend = _plus(turn, _plus(_times(a.f, a.f2), _times(b.f, b.f2)))
    return f, f1, _over(_minus(bend, _square(f1)), f)


def _remainder(a: Jet, b: Jet) -> tuple[Bounds, Bounds, Bounds]:
    turns = np.floor(a.middle / b.middle)
    own = [
        _minus(x, _times((turns, turns), y))
        for x, y in zip(a[1:4], b[1:4], strict=True)
    ]
    return own[0], own[1], own[2]


_BINARY: dict[str, Callable[[Jet, Jet], tuple[Bounds, Bounds, Bounds]]] = {
    "add": lambda a, b: (_plus(a.f, b.f), _plus(a.f1, b.f1), _plus(a.f2, b.f2)),
    "sub": lambda a, b: (_minus(a.f, b.f), _minus(a.f1, b.f1), _minus(a.f2, b.f2)),
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "atan2": _angle,
    "hypot": _length,
    "mod": _remainder,
}
