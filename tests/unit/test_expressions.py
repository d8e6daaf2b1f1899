"""Expressions: the language, what it refuses, and its jets."""

import ctypes
import gc
import inspect
import math
import re
import subprocess
import sys
import threading
import time

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nonsmooth import Expression
from nonsmooth.elements import expressions
from nonsmooth.elements.expressions import (
    FUNCTIONS,
    LENGTH_LIMIT,
    MARKER_VARIABLES,
    OPCODES,
    STACK_LIMIT,
    TIME_VARIABLES,
    parse,
)
from nonsmooth.errors import ModelError
from nonsmooth.kernels import abi
from nonsmooth.kernels.mechanics import program

NAN = math.nan
INF = math.inf


# ---- running a program ---------------------------------------------------------


def call(family, function, *arguments):
    """Call a row function as kernels do: by address if compiled, else directly."""
    address = abi.address(family, function)
    if abi.CHECKED:
        pytest.skip("a checked pointer is no C pointer")
    if not abi.JIT:
        # NumPy warns where compiled code just returns NaN.
        with np.errstate(all="ignore"):
            function(*arguments)
        return
    pointers = [isinstance(a, np.ndarray) for a in arguments]
    kinds = [ctypes.c_void_p if p else ctypes.c_double for p in pointers]
    values = [
        a.ctypes.data if p else a for a, p in zip(arguments, pointers, strict=True)
    ]
    ctypes.CFUNCTYPE(None, *kinds)(address)(*values)


def any_jet(p, s, a, b, out):
    """Run a program on the jets in `a`: a joint has enough pointers to borrow."""
    program.run(p, a, out)


def jet(text, **variables):
    """Return the jet of an expression, given the jets of its variables."""
    p = np.array(parse(text, tuple(variables), "test"))
    x = np.array([*variables.values()], dtype=np.float64).ravel()
    out = np.full(3, 7.0)
    call("joint", any_jet, p, x, x, x, out)
    return out


def law(text, t):
    p = np.array(parse(text, TIME_VARIABLES, "test"))
    out = np.full(3, 7.0)
    call("law", program.time_law, p, t, out)
    return out


def guard(text, t, a, b):
    p = np.array(parse(text, MARKER_VARIABLES, "test"))
    out = np.full(2, 7.0)
    call("guard", program.marker_guard, p, t, a, b, out)
    return out


def force(texts, t, a, b):
    p = np.concatenate([parse(text, MARKER_VARIABLES, "test") for text in texts])
    out = np.full(8, 7.0)
    call("force", program.marker_force, p, p, t, a, b, out)
    return out


# ---- the two halves agree ------------------------------------------------------


def test_both_modules_number_the_operations_alike():
    numbers = {name.upper(): k for k, name in enumerate(OPCODES)}
    others = {"SLOTS", "FLOATS", "EMPTY"}
    found = {
        name: value
        for name, value in vars(program).items()
        if name.isupper() and name not in others
    }
    assert found == numbers
    assert program.SLOTS == STACK_LIMIT
    assert set(FUNCTIONS) < set(OPCODES)


def test_the_parser_imports_neither_numba_nor_numpy():
    code = (
        "import sys, nonsmooth.elements.expressions as e;"
        "e.parse('sin(t)', ('t',), '');"
        "assert not {'numba', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_describe_lists_everything():
    text = expressions.describe(TIME_VARIABLES)
    for name, function in FUNCTIONS.items():
        assert f"{name}({', '.join(function.arguments)})" in text
        assert function.meaning in text
        assert function.arity == len(function.arguments)
    assert "pi" in text


# ---- jets against mpmath -------------------------------------------------------


def mp_smoothstep(x):
    x = min(max(x, mpmath.mpf(0)), mpmath.mpf(1))
    return 6 * x**5 - 15 * x**4 + 10 * x**3


def mp_where(condition, a, b):
    return a if condition else b


MP = {
    **{name: getattr(mpmath, name, None) for name in FUNCTIONS},
    **{"abs": abs, "min": min, "max": max, "pi": math.pi},
    "mod": lambda a, b: a - b * mpmath.floor(a / b),
    "smoothstep": mp_smoothstep,
    "where": mp_where,
}


def mp_jet(text, names=MP, /, **jets):
    """Value and two derivatives of an expression, by differences at 60 digits.

    Each variable runs along the parabola of its jet. With steps of 1e-20 the
    differences are good to some 1e-19, far below float rounding.
    """
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20

        def at(s):
            path = {
                name: mpmath.mpf(f) + mpmath.mpf(f1) * s + mpmath.mpf(f2) * s * s / 2
                for name, (f, f1, f2) in jets.items()
            }
            return mpmath.mpf(eval(text, {"__builtins__": {}}, {**names, **path}))

        low, middle, high = at(-h), at(mpmath.mpf(0)), at(h)
        return np.array(
            [
                float(middle),
                float((high - low) / (2 * h)),
                float((high - 2 * middle + low) / h**2),
            ]
        )


ONE = (0.7, -1.3, 2.1)  # inside the domain of every function
TWO = (1.9, 0.4, -0.8)
UNARY = [name for name, f in FUNCTIONS.items() if f.arity == 1]
BINARY = [name for name, f in FUNCTIONS.items() if f.arity == 2]
TEXTS = [
    *("-x", "+x", "x + y", "x - y", "x*y", "x/y", "x**y", "y**x", "x**3", "x**-2"),
    *("(-x)**3", "(-x)**-2", "x**2", "x**1", "x**0", "x**1.5", "x**0.5", "2**x"),
    *("x < y", "x <= y", "x > y", "x >= y", "(x < y)*x", "1.5*x - 2*y/3"),
    *("where(x < y, x*x, y)", "where(x > y, x*x, y)", "where(x, y, 1)"),
    *("smoothstep(x + 1)", "smoothstep(-x)", "smoothstep((x + 1)/4)"),
    "exp(-0.3*x)*sin(2*pi*y) + atan2(sin(x), cos(y))",
]


@pytest.mark.jit_off
@pytest.mark.parametrize("text", TEXTS)
def test_jet_against_mpmath(text):
    found = jet(text, x=ONE, y=TWO)
    # A few roundings, on numbers of order ten.
    np.testing.assert_allclose(found, mp_jet(text, x=ONE, y=TWO), 1e-13, 1e-13)


@pytest.mark.jit_off
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_function_over_its_domain(name):
    random = np.random.default_rng(1)
    arguments = ("x", "y")[: FUNCTIONS[name].arity]
    text = f"{name}({', '.join(arguments)})"
    places = [("x", "x - 1.3"), ("x, y", "y, x", "-x, y", "y, -x")]
    for place in places[len(arguments) - 1]:
        if "-" in place and name in ("log", "sqrt"):
            continue
        fixed = f"{name}({place})"
        # A few roundings, on numbers of order ten.
        exact = mp_jet(fixed, x=ONE, y=TWO)
        np.testing.assert_allclose(jet(fixed, x=ONE, y=TWO), exact, 1e-13, 1e-13)
    for _ in range(30):
        jets = {a: random.uniform(-3, 3, 3) for a in arguments}
        if name in ("log", "sqrt"):
            jets["x"][0] = abs(jets["x"][0])
        if name in ("asin", "acos"):
            jets["x"][0] /= 3.001
        exact = mp_jet(text, **jets)
        # Near a pole the terms of f'' cancel: relative to the largest entry.
        atol = 1e-12 * np.abs(exact).max()
        np.testing.assert_allclose(jet(text, **jets), exact, 1e-12, atol)


# ---- conventions ---------------------------------------------------------------


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("abs(x)", (0, 2, 3), (0, 0, 0)),
        ("sign(x)", (0, 2, 3), (0, 0, 0)),
        ("sign(x)", (-0.5, 2, 3), (-1, 0, 0)),
        ("floor(x)", (-0.5, 2, 3), (-1, 0, 0)),
        ("floor(x)", (2, 2, 3), (2, 0, 0)),
        ("hypot(x, 0)", (0, 2, 3), (0, 0, 0)),
        ("hypot(x, x)", (0, 0, 0), (0, 0, 0)),
        ("mod(x, 3)", (-1, 2, 3), (2, 2, 3)),
        ("mod(x, 3)", (6, 2, 3), (0, 2, 3)),
        ("min(x, 2*x)", (0, 2, 3), (0, 2, 3)),
        ("max(x, 2*x)", (0, 2, 3), (0, 2, 3)),
        ("x < 1", (1, 2, 3), (0, 0, 0)),
        ("x <= 1", (1, 2, 3), (1, 0, 0)),
        ("x > 1", (1, 2, 3), (0, 0, 0)),
        ("x >= 1", (1, 2, 3), (1, 0, 0)),
        ("where(x, 5, 6)", (0, 2, 3), (6, 0, 0)),
        ("where(x, 5, 6)", (-1, 2, 3), (5, 0, 0)),
        ("smoothstep(x)", (0, 2, 3), (0, 0, 0)),
        ("smoothstep(x)", (1, 2, 3), (1, 0, 0)),
        ("smoothstep(x)", (9, 2, 3), (1, 0, 0)),
        ("x**2", (0, 2, 3), (0, 0, 8)),
        ("x**1", (0, 2, 3), (0, 2, 3)),
        ("x**0", (0, 2, 3), (1, 0, 0)),
        ("x**1.5", (0, 2, 3), (0, 0, INF)),
        ("sqrt(x)", (0, 2, 3), (0, INF, NAN)),
        ("sign(sqrt(x))", (0, 2, 3), (0, 0, 0)),
        ("atan2(x, x)", (0, 2, 3), (0, NAN, NAN)),
        # The constant 0 has no hidden infinite slope.
        ("x*sqrt(0)", (1, 2, 3), (0, 0, 0)),
        # The branch not taken may be undefined.
        ("where(x > 0, sqrt(x), 0)", (-1, 2, 3), (0, 0, 0)),
        ("where(x > 0, 1, log(x))", (1, 2, 3), (1, 0, 0)),
    ],
)
def test_conventions(text, x, expected):
    np.testing.assert_array_equal(jet(text, x=x), expected)


@pytest.mark.jit_off
@pytest.mark.parametrize(
    "text",
    [
        *("log(x)", "sqrt(x)", "asin(2*x)", "acos(2*x)", "x**0.5", "(x + 1)/(x + 1)"),
        *("min(sqrt(x), 1)", "min(1, sqrt(x))", "max(sqrt(x), 1)"),
        *("max(1, sqrt(x))", "where(sqrt(x), 1, 2)", "where(sqrt(x) < 1, 1, 2)"),
        *("smoothstep(sqrt(x))", "abs(sqrt(x))", "hypot(sqrt(x), 1)", "-sqrt(x)"),
    ],
)
def test_outside_the_domain_is_nan(text):
    assert np.isnan(jet(text, x=(-1, 2, 3))).all()


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("sign(sqrt(x))", NAN), ("floor(sqrt(x))", NAN), ("sqrt(x) <= 1", NAN)),
        *(
            ("1/(x + 1)", INF),
            ("mod(x, x + 1)", NAN),
            ("log(x + 1)", -INF),
            ("exp(-1e4*x)", INF),
        ),
        *(("sinh(1e4*x)", -INF), ("cosh(1e4*x)", INF), ("x**1e4*exp(-1e4*x)", INF)),
    ],
)
def test_values_at_the_edge(text, value):
    np.testing.assert_equal(jet(text, x=(-1, 2, 3))[0], value)


# ---- random expressions --------------------------------------------------------

NAMES = {
    **{name: function.value for name, function in FUNCTIONS.items()},
    "pi": math.pi,
}
numbers = st.floats(-4, 4).map(lambda v: f"{v:.3f}")
leaves = st.sampled_from(["x", "y", "x", "y", "pi"]) | numbers
# Tame enough that a deep tree keeps its values, and so its rounding, small.
ONE_PART = (
    *("sin({})", "cos({})", "atan({})", "tanh({})", "smoothstep({})", "abs({})"),
    *("-({})", "sign({})", "floor({})", "({})**2", "(1.5+sin({}))**1.5"),
    *("sqrt(1+({})**2)", "log(2+cos({}))", "exp(sin({}))", "tan(sin({}))"),
    *("asin(0.9*sin({}))", "acos(0.9*cos({}))", "sinh(tanh({}))", "cosh(tanh({}))"),
)
TWO_PARTS = (
    *("({}+{})", "({}-{})", "({})*({})", "({})/(1+({})**2)", "(1.5+sin({}))**({})"),
    *("min({},{})", "max({},{})", "hypot({},1+abs({}))", "atan2({},1+abs({}))"),
    *("mod({},2+sin({}))", "(({})<({}))", "(({})>=({}))"),
)
CHOICE = "where(({})<({}),{},{})"


def larger(parts):
    """Build one expression from smaller ones."""
    return (
        st.builds(str.format, st.sampled_from(ONE_PART), parts)
        | st.builds(str.format, st.sampled_from(TWO_PARTS), parts, parts)
        | st.builds(str.format, st.just(CHOICE), parts, parts, parts, parts)
    )


trees = st.recursive(leaves, larger, max_leaves=8)
moderate = st.floats(-3, 3).map(lambda v: round(v, 3))


def jets(odd):
    """Draw jets whose odd digits keep them off the round numbers and off ties."""
    return st.tuples(*[moderate.map(lambda v: v + odd)] * 3)


points = {"x": jets(1.2345e-4), "y": jets(7.5321e-4)}


@given(text=trees, **points)
@settings(max_examples=400, deadline=None)
def test_value_equals_python(text, x, y):
    names = {**NAMES, "x": x[0], "y": y[0]}
    expected = eval(text, {"__builtins__": {}}, names)
    # Python and the C library may round a function differently by one unit.
    assume(nowhere_rough(text, x=x, y=y))
    found = jet(text, x=x, y=y)[0]
    assert found == pytest.approx(float(expected), rel=1e-11, abs=1e-11)


@given(text=trees, **points)
@settings(max_examples=400, deadline=None)
def test_derivatives_equal_differences(text, x, y):
    assume(nowhere_rough(text, x=x, y=y))
    exact = mp_jet(text, x=x, y=y)
    assume(np.abs(exact).max() < 1e6)
    # Rounding grows with the derivatives it passes through; 1e-9 of them is far
    # below any wrong rule, and far above what is left of 1e-16.
    scale = 1 + np.abs(exact).max()
    np.testing.assert_allclose(jet(text, x=x, y=y), exact, 1e-9, 1e-9 * scale)


def nowhere_rough(text, x, y):
    """Tell whether no kink or jump lies within some 1e-7 of the point.

    There the derivative is a matter of convention, and rounding decides the side.
    All variables and functions are moved a little, each by its own amount.
    """
    low, middle, high = (
        mp_jet(
            text,
            {name: nudged(f, s * (2 + k)) for k, (name, f) in enumerate(MP.items())},
            x=(x[0] + s, *x[1:]),
            y=(y[0] + s * math.e, *y[1:]),
        )
        for s in (-1e-8, 0.0, 1e-8)
    )
    change = np.abs(high - low).max() + np.abs(middle - low).max()
    return bool(change < 1e-3 * (1 + np.abs(middle).max()))


def nudged(function, step):
    if not callable(function):
        return function
    return lambda *arguments: function(*arguments) + step


@given(text=trees)
@settings(max_examples=100, deadline=None)
def test_constants_are_folded_to_the_same_value(text):
    text = re.sub(r"\bx\b", "0.37", re.sub(r"\by\b", "(-1.21)", text))
    program_ = parse(text, (), "test")
    assert len(program_) == 3
    assert program_[:2] == (1.0, 0.0)
    expected = float(eval(text, {"__builtins__": {}}, NAMES))
    assert program_[2] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def parsed(text):
    """Return the program, or the message of the refusal."""
    try:
        return parse(text, ("t", "x"), "somewhere"), ""
    except ModelError as error:
        return (), str(error)


def stack_use(code):
    """Return the greatest and the final number of values on the stack."""
    depth = most = 0
    for op in code[1::2]:
        name = OPCODES[int(op)]
        pops = {"const": 0, "var": 0, "where": 3}.get(name, 2)
        if name == "neg" or (name in FUNCTIONS and FUNCTIONS[name].arity == 1):
            pops = 1
        assert depth >= pops
        depth += 1 - pops
        most = max(most, depth)
    return most, depth


pieces = st.sampled_from(
    [
        *("t", "x", "(", ")", ",", "+", "-", "*", "/", "**", "<", "<=", ">", "=="),
        *("1", ".5", "1e3", ".", "=", "e", "0x", " if ", " else ", " and ", "lambda "),
        *(" ", "\n", "'", "[", ":", *(f"{name}(" for name in FUNCTIONS)),
    ]
)


@given(st.lists(pieces, max_size=30).map("".join) | st.text(max_size=40))
@settings(max_examples=500, deadline=None)
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_any_text_is_a_program_or_a_model_error(text):
    code, message = parsed(text)
    if message:
        assert message.startswith("somewhere")
        assert len(message) < 500
    else:
        assert len(code) == 1 + 2 * code[0]  # pyright: ignore
        assert all(math.isfinite(value) for value in code)
        most, final = stack_use(code)
        assert most <= STACK_LIMIT
        assert final == 1


# ---- what is read --------------------------------------------------------------


def test_program_of_a_small_expression():
    code = parse("t*2", TIME_VARIABLES, "law")
    names = [OPCODES[int(op)] for op in code[1::2]]
    assert names == ["var", "const", "mul"]
    assert code[2::2] == (0.0, 2.0, 0.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            ("pi*2", 2 * math.pi),
            ("-2**2", -4),
            ("2**3**2", 512),
            ("2**-1", 0.5),
            ("1 - 2 - 3", -4),
        ),
        *(("8/4/2", 1), ("+-+2", -2), ("  2 +\n\t3 \r\n", 5), ("1e-3", 0.001)),
        *((".5", 0.5), ("0x10", 16), ("pi", math.pi), ("min(1, 2) < 3", 1)),
    ],
)
def test_reads_as_in_mathematics(text, value):
    assert parse(text, (), "test") == (1, 0, value)


# ---- what is refused -----------------------------------------------------------

ALL = "valid: numbers, t, pi, ( ), + - * / **, < <= > >=, and the functions sin, cos,"

REFUSED = [
    # text, column, what is said
    ("tt + 1", 1, "unknown name 'tt'; did you mean 't'?"),
    ("1 + omega", 5, "unknown name 'omega'; valid: t, pi"),
    ("\n  q", 4, "unknown name 'q'"),
    ("2*e", 3, "unknown name 'e'; Euler's number is exp(1)"),
    ("2*sine(t)", 3, "unknown function 'sine'; did you mean 'sin'?"),
    ("ln(t)", 1, "unknown function 'ln'; the natural logarithm is log(x)"),
    ("step(t)", 1, "unknown function 'step'; write (x >= 0), or smoothstep(x)"),
    ("__import__(t)", 1, "unknown function '__import__'; valid: sin, cos,"),
    ("eval(t)", 1, "unknown function 'eval'"),
    ("__import__('os')", 12, 'character "\'" is not valid; there is no text'),
    ('"t"', 1, "character '\"' is not valid; there is no text"),
    ("t.__class__", 1, "'t.__class__': attribute access is not available; " + ALL),
    ("1 + t.real", 5, "'t.real': attribute access is not available"),
    ("math.sin(t)", 1, "'math.sin': attribute access is not available"),
    ("t.conjugate()", 1, "attribute access is not available"),
    ("t[0]", 2, "character '[' is not valid; group with ( ); there are no lists"),
    ("{t}", 1, "character '{' is not valid; group with ( )"),
    ("lambda: t", 7, "character ':' is not valid; there is no assignment and no lam"),
    ("(y := 2)", 4, "character ':' is not valid; there is no assignment"),
    ("t ^ 2", 3, "character '^' is not valid; write a power as a**b"),
    ("t % 2", 3, "character '%' is not valid; use mod(a, b)"),
    ("t # time", 3, "character '#' is not valid; there are no comments"),
    ("2·t", 2, "character '·' is not valid; write *"),
    ("3 − t", 3, "character '−' is not valid; write -"),
    ("t;t", 2, "character ';' is not valid; " + ALL),
    ("ｔ", 1, "character 'ｔ' is not valid"),
    (" \u00a0t", 2, r"character '\xa0' is not valid"),
    ("t\0", 2, r"character '\x00' is not valid"),
    ("t\\", 2, "is not valid"),
    ("t if t > 0 else 1", 1, "'if ... else' is not available; use where(condition,"),
    ("(t > 0) and (t < 1)", 1, "use a*b for 'and', max(a, b) for 'or'"),
    ("not t", 1, "'not' is not available; use 1 - condition"),
    ("1 + (0 < t < 1)", 6, "'0 < t < 1' is a chain of comparisons; write a product"),
    ("t == 1", 1, "'t == 1': this comparison is not available; use < <= > >="),
    ("t in t", 1, "'t in t': this comparison is not available"),
    ("t != 1", 3, "character '!' is not valid; use < <= > >="),
    ("t // 2", 1, "'t // 2': this operator is not available; use floor(a/b)"),
    ("t << 2", 1, "'t << 2': this operator is not available; " + ALL),
    ("sin", 1, "'sin' is a function; write sin(x)"),
    ("1 + sin()", 5, "'sin' takes 1 argument, not 0; write sin(x)"),
    ("where(t < 1, 2)", 1, "takes 3 arguments, not 2; write where(condition, a, b)"),
    ("max(t, 1, 2)", 1, "'max' takes 2 arguments, not 3; write max(a, b)"),
    ("atan2(y=1, x=t)", 7, "arguments of 'atan2' have no names; write atan2(y, x)"),
    ("sin(**t)", 5, "arguments of 'sin' have no names"),
    ("sin(*t)", 5, "'*t': * before an argument is not available"),
    ("min(t for t in t)", 1, "'min' takes 2 arguments, not 1"),
    ("sin(t for t in t)", 4, "a comprehension is not available"),
    ("3 + 2(t)", 5, "'2' is not a function; write a product as a*(b)"),
    ("t(2)", 1, "'t' is not a function; write a product as a*(b)"),
    ("pi(t)", 1, "'pi' is not a function"),
    ("sin(t)(t)", 1, "'sin(t)' is not a function"),
    ("1, 5", 1, "'1, 5': this is not one value; a comma only separates arguments"),
    ("await t", 1, "'await t': this is not part of the language; " + ALL),
    ("True", 1, "'True' is not a real number; " + ALL),
    ("None", 1, "'None' is not a real number"),
    ("...", 1, "'...' is not a real number"),
    ("1 + 2j", 5, "'2j' is not a real number"),
    ("1e999", 1, "1e999 is too large for a float"),
    ("t + " + "9" * 400, 5, "... is too large for a float"),
    ("t*(1/0)", 4, "'1/0' is not a finite number"),
    ("t + sqrt(-1)", 5, "'sqrt(-1)' is not a finite number"),
    ("(-8)**(1/3)", 1, "'(-8)**(1/3)' is not a finite number"),
    ("9**9**9", 1, "'9**9**9' is not a finite number"),
    ("1e200*1e200", 1, "is not a finite number"),
    ("mod(1, 0)", 1, "'mod(1, 0)' is not a finite number"),
    # After the colon these go on in Python's words, which differ by version.
    ("3t", 1, "cannot read the expression at '3t': "),
    ("t +", 4, "cannot read the expression at its end: "),
    ("t + * 2", 5, "cannot read the expression at '* 2': "),
    ("t = 1", 3, "cannot read the expression at '= 1': "),
    ("  (t", 3, "cannot read the expression at '(t': "),
    ("t)", 2, "cannot read the expression at ')': "),
    ("import os", 1, "cannot read the expression at 'import os': "),
]


@pytest.mark.parametrize(("text", "column", "said"), REFUSED)
def test_refused_with_place_and_remedy(text, column, said):
    with pytest.raises(ModelError) as caught:
        parse(text, TIME_VARIABLES, "drive 'motor', law.text")
    message = str(caught.value)
    assert message.startswith(f"drive 'motor', law.text, column {column}: ")
    assert said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the expression is empty; " + ALL),
        (" \n", "the expression is empty"),
        ("t" * 2001, "has 2001 characters; at most 2000 are allowed"),
        (0.5, "an expression is text, not 0.5; put it in quotes"),
        (None, "an expression is text, not None"),
    ],
)
def test_refused_as_a_whole(text, said):
    with pytest.raises(ModelError, match=r"^law\.text: ") as caught:
        parse(text, TIME_VARIABLES, "law.text")
    assert said in str(caught.value)


def test_a_product_without_star_is_explained():
    with pytest.raises(ModelError, match=r"write a product as 3\*t$"):
        parse("3t", TIME_VARIABLES, "law")


# ---- hostile text --------------------------------------------------------------

DEEP = "the expression is nested too deeply"


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 10000 + "t" + ")" * 10000, "(" * 900 + "t" + ")" * 900, "(" * 1999),
        *(
            "sin(" * 300 + "t" + ")" * 300,
            "sin(t," * 300,
            "t+(" * 150 + "t" + ")" * 150,
        ),
        *("t" + "**t" * 600, "9" + "**9" * 600, "t" + ".a" * 900, "t" + "()" * 900),
        *("t<" * 900 + "t", "not " * 490 + "t", "t if t else " * 150 + "t"),
        *("9" * 1999, "1e" + "9" * 1990, "t" * 2000, "sin(" + "*" * 1900),
        "max(t," * 90 + "t" + ")" * 90,
    ],
)
def test_hostile_text_is_refused_quickly(text):
    start = time.perf_counter()
    with pytest.raises(ModelError) as caught:
        parse(text, TIME_VARIABLES, "law")
    # Milliseconds in practice; the bound only tells them from a blow-up.
    assert time.perf_counter() - start < 2.0
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "terms"),
    [("t" + "+t" * 999, 1000), ("-" * 1998 + "t", 1), ("+" * 1999 + "t", 1)],
)
def test_long_chains_need_no_stack(text, terms):
    # Some versions of Python refuse to parse such chains; then so do we.
    code, message = parsed(text)
    if message:
        assert DEEP in message
    else:
        assert stack_use(code)[0] <= 2
        np.testing.assert_array_equal(jet(text, t=(0.5, 1, 0)), (terms / 2, terms, 0))


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_a_parser_that_gives_up_is_reported(monkeypatch, error):
    def give_up(*args, **kwargs):
        raise error

    monkeypatch.setattr(expressions.ast, "parse", give_up)
    with pytest.raises(ModelError, match=DEEP):
        parse("t", TIME_VARIABLES, "law")


def test_the_stack_limit_is_exact():
    def nested(depth):
        return "t+(" * (depth - 1) + "t" + ")" * (depth - 1)

    text = nested(STACK_LIMIT)
    assert stack_use(parse(text, TIME_VARIABLES, "law")) == (STACK_LIMIT, 1)
    np.testing.assert_array_equal(law(text, 1.0), (STACK_LIMIT, STACK_LIMIT, 0))
    with pytest.raises(ModelError, match="more than 64 numbers wait"):
        parse(nested(STACK_LIMIT + 1), TIME_VARIABLES, "law")
    assert len(text) < LENGTH_LIMIT


# ---- row functions -------------------------------------------------------------


@pytest.mark.jit_off
def test_time_law():
    t = 0.3
    w = 2 * math.pi
    expected = [math.sin(w * t), w * math.cos(w * t), -w * w * math.sin(w * t)]
    np.testing.assert_allclose(law("sin(2*pi*t)", t), expected, 1e-14)


def motion(t, phase):
    """Pose, rate and acceleration of a marker that moves along sines."""
    k = np.arange(1, 4) + phase
    return np.concatenate([np.sin(k * t), k * np.cos(k * t), -k * k * np.sin(k * t)])


@pytest.mark.jit_off
@pytest.mark.parametrize(
    "text",
    [*MARKER_VARIABLES, "hypot(x, y) - 0.2*t", "vx*cos(theta) + omega*y*sin(t)"],
)
def test_guard_follows_the_motion(text):
    t, h = 0.4, 1e-4
    a, b = motion(t, 0.3), motion(t, 0.0)
    g, rate = guard(text, t, a, b)
    names = dict(zip(MARKER_VARIABLES, [t, *(b - a)[:6]], strict=True))
    assert g == pytest.approx(eval(text, {**NAMES, **names}), rel=1e-14)
    before, after = (
        guard(text, t + s, motion(t + s, 0.3), motion(t + s, 0.0))[0] for s in (-h, h)
    )
    # A central difference errs by h²/6 times a third derivative below 200.
    assert rate == pytest.approx((after - before) / (2 * h), abs=1e-6)


@pytest.mark.jit_off
def test_force_pair_does_no_work_in_a_rigid_motion():
    t = 0.4
    a, b = motion(t, 0.3), motion(t, 0.0)
    texts = ("-3*x + t", "y*vy - 2", "theta**2 + omega")
    out = force(texts, t, a, b)
    x, y, theta, _, vy, omega = (b - a)[:6]
    expected = [-3 * x + t, y * vy - 2, theta**2 + omega]
    np.testing.assert_allclose(out[:3], expected, 1e-14)
    np.testing.assert_array_equal(out[6:], 0.0)
    # A common rigid motion: velocity (u, v) of the origin and spin w.
    u, v, w = 0.7, -1.1, 2.3
    power = 0.0
    for pose, wrench in ((b, out[:3]), (a, out[3:6])):
        rate = np.array([u - w * pose[1], v + w * pose[0], w])
        power += rate @ wrench
    assert power == pytest.approx(0.0, abs=1e-13)


def test_force_values_ignore_unknown_accelerations():
    a, b = motion(0.4, 0.3), motion(0.4, 0.0)
    texts = ("2**x", "hypot(x, y)", "vx**2/theta")
    expected = force(texts, 0.4, a, b)
    b[6:] = NAN
    np.testing.assert_array_equal(force(texts, 0.4, a, b), expected)


def test_expressions_are_parsed_by_several_threads():
    """CPython 3.11 fails where threads parse at once, and code runs in between.

    Garbage with a finalizer makes code run while trees are made.
    """

    class Garbage:
        def __init__(self):
            self.itself = self

        def __del__(self):
            for _ in range(20):
                pass

    text = "(" * 30 + "t" + ")" * 30 + "+t*2" * 100
    failures = []

    def read():
        for _ in range(25):
            Garbage()
            try:
                parse(text, TIME_VARIABLES, "test")
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    often, threshold = sys.getswitchinterval(), gc.get_threshold()
    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(50)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(often)
        gc.set_threshold(*threshold)
    assert failures == []


def test_help_of_a_law_lists_the_functions():
    text = inspect.getdoc(Expression) or ""
    assert "\n    variables  t\n    constants" in text
    assert "Parameters" in text
    for name, function in FUNCTIONS.items():
        assert f"{name}({', '.join(function.arguments)})" in text
    assert "omega" not in text  # a variable of forces
