"""Expressions in model files: read against a whitelist, never run as Python.

    0.8*sin(pi*t)        where(t < 1, t, 1)        -2e3*(x - 0.1) - 30*vx

`parse` turns the text into a short program of plain floats, which
`nonsmooth.kernels.program` evaluates together with its first two derivatives
along the motion. `describe` prints the language.

- Numbers are floats: 9**9**9 is refused as not finite, not computed.
- A comparison is worth 1 where it holds and 0 where not, so (t > 1)*(t - 1) is
  valid, a*b means "and", max(a, b) means "or". where(c, a, b) is a where c is not
  zero, else b; the other one has no effect, even if it is undefined there.
- `pi` is the only built-in constant. Euler's number is exp(1), because e means
  restitution in this field.
- Outside its domain a function gives NaN, and so does anything computed from it.
- smoothstep(x) is 6x⁵ − 15x⁴ + 10x³ between 0 and 1.
- A part without variables is computed here and must be finite.

Derivatives at kinks and jumps are conventions. sign, floor and comparisons are
constant between their jumps: derivative 0. abs and hypot have derivative 0 at 0.
min and max follow their first argument in a tie. mod(a, b) is a - n b with n
constant between jumps. sqrt, asin, acos and powers that are not whole have
infinite derivatives, or none (NaN), at the ends of their domains; atan2 has none at
the origin. Nothing here announces a kink or a jump to the solver, which looks for those
of drives and supports itself, and refuses them: see `nonsmooth.solve.jumps`.
"""

from __future__ import annotations

import ast
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from nonsmooth.errors import ModelError, nearest

TIME_VARIABLES = ("t",)
# Motion of marker b from marker a: differences in global axes.
MARKER_VARIABLES = ("t", "x", "y", "theta", "vx", "vy", "omega")

LENGTH_LIMIT = 2000  # characters; also bounds what a hostile text can cost
STACK_LIMIT = 64  # numbers held at once; SLOTS of the interpreter
# CPython 3.11 counts the depth of a tree for all threads together, and fails with a
# SystemError where another one parses meanwhile.
_PARSING = threading.Lock()


class Function(NamedTuple):
    """One function of the language."""

    arguments: tuple[str, ...]
    meaning: str
    value: Callable[..., float]  # used on constants only

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return len(self.arguments)


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def _mod(a: float, b: float) -> float:
    return a - b * math.floor(a / b)


def _smoothstep(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (10 + x * (6 * x - 15))


def _where(condition: float, a: float, b: float) -> float:
    return a if condition else b


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sin": Function(("x",), "sine, x in radians", math.sin),
        "cos": Function(("x",), "cosine, x in radians", math.cos),
        "tan": Function(("x",), "tangent, x in radians", math.tan),
        "asin": Function(("x",), "inverse sine, -pi/2 to pi/2", math.asin),
        "acos": Function(("x",), "inverse cosine, 0 to pi", math.acos),
        "atan": Function(("x",), "inverse tangent, -pi/2 to pi/2", math.atan),
        "sinh": Function(("x",), "hyperbolic sine", math.sinh),
        "cosh": Function(("x",), "hyperbolic cosine", math.cosh),
        "tanh": Function(("x",), "hyperbolic tangent", math.tanh),
        "exp": Function(("x",), "exponential", math.exp),
        "log": Function(("x",), "natural logarithm", math.log),
        "sqrt": Function(("x",), "square root", math.sqrt),
        "abs": Function(("x",), "magnitude", math.fabs),
        "smoothstep": Function(
            ("x",),
            "from 0 at x = 0 to 1 at x = 1, speed and acceleration continuous",
            _smoothstep,
        ),
        "sign": Function(("x",), "-1, 0 or 1", _sign),
        "floor": Function(("x",), "largest whole number not above x", math.floor),
        "atan2": Function(
            ("y", "x"), "angle of the point (x, y), -pi to pi", math.atan2
        ),
        "hypot": Function(("x", "y"), "sqrt(x**2 + y**2)", math.hypot),
        "mod": Function(("a", "b"), "a - b*floor(a/b)", _mod),
        "min": Function(("a", "b"), "the smaller of two", min),
        "max": Function(("a", "b"), "the larger of two", max),
        "where": Function(("condition", "a", "b"), "a if condition, else b", _where),
    }
)

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})

# The number of an operation is its place here. The interpreter repeats the list,
# because importing it would import Numba; a test holds the two together.
OPCODES = (
    *("const", "var"),
    *("neg", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "sqrt", "abs", "smoothstep", "sign", "floor"),
    *("add", "sub", "mul", "div", "pow", "atan2", "hypot", "mod", "min", "max"),
    *("lt", "le"),
    "where",
)
_NUMBER = {name: number for number, name in enumerate(OPCODES)}

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
}
# (operation, whether the operands trade places): a > b is b < a.
_COMPARE: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("lt", False),
    ast.LtE: ("le", False),
    ast.Gt: ("lt", True),
    ast.GtE: ("le", True),
}


_VALUES: Mapping[str, Callable[..., float]] = {
    "neg": float.__neg__,
    "add": float.__add__,
    "sub": float.__sub__,
    "mul": float.__mul__,
    "div": float.__truediv__,
    "pow": math.pow,  # ** makes a complex number of (-8)**(1/3)
    "lt": float.__lt__,
    "le": float.__le__,
    **{name: function.value for name, function in FUNCTIONS.items()},
}

# Only these reach Python's parser: no quotes, brackets, colons or comments.
_ALPHABET = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,+-*/()<>= "
)
_INSTEAD_OF = {
    "^": "write a power as a**b",
    "²": "write a power as a**b",
    "³": "write a power as a**b",
    "%": "use mod(a, b)",
    "&": "'and' is the product of two comparisons",
    "|": "'or' is max(a, b) of two comparisons",
    "!": "use < <= > >=",
    "'": "there is no text inside an expression",
    '"': "there is no text inside an expression",
    "[": "group with ( ); there are no lists and no indexing",
    "]": "group with ( ); there are no lists and no indexing",
    "{": "group with ( )",
    "}": "group with ( )",
    ":": "there is no assignment and no lambda",
    "#": "there are no comments inside an expression",
    "·": "write *",
    "×": "write *",
    "−": "write -",
    "–": "write -",
    "π": "write pi",
}
_INSTEAD_OF_NAME = {
    "e": "Euler's number is exp(1), and e**x is exp(x)",
    "ln": "the natural logarithm is log(x)",
    "pow": "write a power as a**b",
    "step": "write (x >= 0), or smoothstep(x) for a smooth one",
    "heaviside": "write (x >= 0), or smoothstep(x) for a smooth one",
}
# What a piece is, and what to write; nothing means the list of all that is valid.
_KINDS: Mapping[type[ast.expr], tuple[str, str]] = {
    ast.IfExp: ("'if ... else' is not available", "use where(condition, a, b)"),
    ast.BoolOp: (
        "'and' and 'or' are not available",
        "use a*b for 'and', max(a, b) for 'or'",
    ),
    ast.Tuple: ("this is not one value", "a comma only separates arguments"),
    ast.Attribute: ("attribute access is not available", ""),
    ast.GeneratorExp: ("a comprehension is not available", ""),
    ast.Starred: ("* before an argument is not available", ""),
}


class _Step(NamedTuple):
    """One instruction, and where it came from."""

    operation: str
    argument: float
    arity: int
    node: ast.expr


class _Reader:
    """The text of one expression and the names it may use."""

    def __init__(self, text: str, variables: Sequence[str], where: str) -> None:
        self.where = where
        self.variables = {name: k for k, name in enumerate(variables)}
        self.text = self.checked(text)

    def checked(self, text: str) -> str:
        """Return the text with plain spaces, or refuse it."""
        # A file may well hold a bare number here.
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(
                f"{self.where}: an expression is text, not {text!r}; put it in quotes"
            )
        if len(text) > LENGTH_LIMIT:
            raise ModelError(
                f"{self.where}: the expression has {len(text)} characters; "
                f"at most {LENGTH_LIMIT} are allowed"
            )
        # Line breaks come from folded text in YAML. Python would take leading space
        # for indentation.
        text = text.translate({ord(c): " " for c in "\t\r\n"}).rstrip(" ")
        self.indent = len(text) - len(text.lstrip(" "))
        text = text[self.indent :]
        if not text:
            raise ModelError(
                f"{self.where}: the expression is empty; {self.language()}"
            )
        for column, letter in enumerate(text):
            if letter not in _ALPHABET:
                remedy = _INSTEAD_OF.get(letter, self.language())
                self.refuse(column, f"the character {letter!r} is not valid", remedy)
        return text

    def language(self) -> str:
        """Return one sentence that says what is valid."""
        names = ", ".join([*self.variables, *CONSTANTS])
        return (
            f"valid: numbers, {names}, ( ), + - * / **, < <= > >=, and the functions "
            f"{', '.join(FUNCTIONS)}"
        )

    def refuse(self, column: int, what: str, remedy: str = "") -> NoReturn:
        """Raise the error for the piece at `column` of the stripped text, from 0."""
        remedy = remedy and f"; {remedy}"
        place = f"{self.where}, column {self.indent + column + 1}"
        raise ModelError(f"{place}: {what}{remedy}") from None

    def piece(self, node: ast.expr) -> str:
        """Return the text of a node, shortened."""
        text = self.text[node.col_offset : node.end_col_offset]
        return text if len(text) <= 40 else text[:37] + "..."

    def tree(self) -> ast.expr:
        """Return the syntax tree; Python is used as a parser only."""
        try:
            with _PARSING:
                body = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            # Some messages go on with advice that is valid in Python only.
            message = error.msg.split(". ")[0].split("; ")[0]
            # Python gives 0, or a place past the last letter, for an early end.
            column = min((error.offset or LENGTH_LIMIT) - 1, len(self.text))
            rest = self.text[column : column + 20]
            place = f"at '{rest}'" if rest else "at its end"
            self.refuse(
                column,
                f"cannot read the expression {place}: {message}",
                "write a product as 3*t" if "invalid decimal" in message else "",
            )
        except (RecursionError, MemoryError):
            self.refuse(0, "the expression is nested too deeply", "split it")
        return body

    def visit(self, node: ast.expr) -> tuple[_Step, Sequence[ast.expr]]:
        """Return the instruction of a node, and its operands in order."""
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            node = node.operand
        if isinstance(node, ast.Constant):
            return _Step("const", self.number(node), 0, node), ()
        if isinstance(node, ast.Name):
            return self.name(node), ()
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return _Step("neg", 0.0, 1, node), (node.operand,)
        if isinstance(node, ast.UnaryOp):
            self.refuse(node.col_offset, "'not' is not available", "use 1 - condition")
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        what, remedy = _KINDS.get(type(node), ("this is not part of the language", ""))
        self.refuse(
            node.col_offset,
            f"'{self.piece(node)}': {what}",
            remedy or self.language(),
        )

    def number(self, node: ast.Constant) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(
                node.col_offset,
                f"'{self.piece(node)}' is not a real number",
                self.language(),
            )
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            self.refuse(node.col_offset, f"{self.piece(node)} is too large for a float")
        return value

    def name(self, node: ast.Name) -> _Step:
        name = node.id
        if name in self.variables:
            return _Step("var", float(self.variables[name]), 0, node)
        if name in CONSTANTS:
            return _Step("const", CONSTANTS[name], 0, node)
        if name in FUNCTIONS:
            usage = f"{name}({', '.join(FUNCTIONS[name].arguments)})"
            self.refuse(node.col_offset, f"'{name}' is a function", f"write {usage}")
        remedy = _INSTEAD_OF_NAME.get(name)
        if remedy is None:
            remedy = nearest(name, [*self.variables, *CONSTANTS])
        self.refuse(node.col_offset, f"unknown name '{self.piece(node)}'", remedy)

    def binary(self, node: ast.BinOp) -> tuple[_Step, Sequence[ast.expr]]:
        operation = _BINARY.get(type(node.op))
        if operation is None:
            is_floor = isinstance(node.op, ast.FloorDiv)
            self.refuse(
                node.col_offset,
                f"'{self.piece(node)}': this operator is not available",
                "use floor(a/b)" if is_floor else self.language(),
            )
        return _Step(operation, 0.0, 2, node), (node.left, node.right)

    def compare(self, node: ast.Compare) -> tuple[_Step, Sequence[ast.expr]]:
        a, b = node.left, node.comparators[0]
        if len(node.ops) > 1:
            self.refuse(
                node.col_offset,
                f"'{self.piece(node)}' is a chain of comparisons",
                "write a product, as (0 < t)*(t < 1)",
            )
        found = _COMPARE.get(type(node.ops[0]))
        if found is None:
            self.refuse(
                node.col_offset,
                f"'{self.piece(node)}': this comparison is not available",
                "use < <= > >=",
            )
        operation, swaps = found
        return _Step(operation, 0.0, 2, node), (b, a) if swaps else (a, b)

    def call(self, node: ast.Call) -> tuple[_Step, Sequence[ast.expr]]:
        called = node.func
        if isinstance(called, ast.Attribute):
            return self.visit(called)  # refused there, with the right words
        if not isinstance(called, ast.Name) or (
            called.id in self.variables or called.id in CONSTANTS
        ):
            self.refuse(
                called.col_offset,
                f"'{self.piece(called)}' is not a function",
                "write a product as a*(b)",
            )
        function = FUNCTIONS.get(called.id)
        if function is None:
            remedy = _INSTEAD_OF_NAME.get(called.id) or nearest(called.id, FUNCTIONS)
            what = f"unknown function '{self.piece(called)}'"
            self.refuse(called.col_offset, what, remedy)
        usage = f"{called.id}({', '.join(function.arguments)})"
        if node.keywords:
            self.refuse(
                node.keywords[0].col_offset,
                f"arguments of '{called.id}' have no names",
                f"write {usage}",
            )
        if len(node.args) != function.arity:
            self.refuse(
                node.col_offset,
                f"'{called.id}' takes {function.arity} argument"
                f"{'s' if function.arity > 1 else ''}, not {len(node.args)}",
                f"write {usage}",
            )
        return _Step(called.id, 0.0, function.arity, node), node.args

    def fold(self, step: _Step, values: Sequence[float]) -> float:
        """Apply an operation to constants."""
        try:
            value = float(_VALUES[step.operation](*values))
        except (ValueError, OverflowError, ZeroDivisionError):
            value = math.nan
        if not math.isfinite(value):
            self.refuse(
                step.node.col_offset,
                f"'{self.piece(step.node)}' is not a finite number",
            )
        return value


def parse(
    text: str,
    variables: Sequence[str],
    where: str,
) -> tuple[float, ...]:
    """Return the program of an expression, or say what is wrong with it.

    Parameters
    ----------
    text : str
        The expression.
    variables : sequence of str
        Names it may use, in the order in which the interpreter gets them.
    where : str
        How error messages begin, e.g. "drive 'motor', law.text".

    Returns
    -------
    tuple of float
        Number of instructions, then (operation, argument) for each, in postfix
        order. The order of `OPCODES` numbers the operations; the argument is the
        value of "const", the index of "var", and 0 elsewhere.

    Raises
    ------
    ModelError
        With `where`, the column, the offending piece and what is valid.

    Examples
    --------
    >>> parse("2*t", TIME_VARIABLES, "law")
    (3.0, 0.0, 2.0, 1.0, 0.0, 21.0, 0.0)
    """
    reader = _Reader(text, variables, where)
    program: list[tuple[str, float]] = []
    depth = 0
    # No recursion: a long sum is a tree as deep as it has terms.
    todo: list[ast.expr | _Step] = [reader.tree()]
    while todo:
        item = todo.pop()
        if isinstance(item, ast.expr):
            step, operands = reader.visit(item)
            todo.append(step)
            todo.extend(reversed(operands))
            continue
        depth += 1 - item.arity
        if depth > STACK_LIMIT:
            reader.refuse(
                item.node.col_offset,
                f"the expression is nested too deeply: more than {STACK_LIMIT} "
                f"numbers wait for their operation",
                "split it, or begin with the inner part",
            )
        # The last instructions are the operands if they are all constants.
        last = program[len(program) - item.arity :]
        if last and all(operation == "const" for operation, _ in last):
            del program[-item.arity :]
            value = reader.fold(item, [value for _, value in last])
            program.append(("const", value))
        else:
            program.append((item.operation, item.argument))
    flat = [float(len(program))]
    for operation, argument in program:
        flat += [float(_NUMBER[operation]), argument]
    return tuple(flat)


def evaluate(text: str, values: Mapping[str, float], where: str) -> float:
    """Return the value of an expression at given values of its variables.

    >>> evaluate("2*pi/w", {"w": 4.0}, "period") == math.pi / 2
    True
    """
    flat = parse(text, list(values), where)
    numbers, stack = list(values.values()), list[float]()
    for number, argument in zip(flat[1::2], flat[2::2], strict=True):
        operation = OPCODES[int(number)]
        if operation == "const":
            stack.append(argument)
        elif operation == "var":
            stack.append(float(numbers[int(argument)]))
        else:
            function = _VALUES[operation]
            arity = 1 if operation == "neg" else 2
            if operation in FUNCTIONS:
                arity = FUNCTIONS[operation].arity
            operands = stack[-arity:]
            del stack[-arity:]
            try:
                stack.append(float(function(*operands)))
            except (ValueError, OverflowError, ZeroDivisionError):
                stack.append(math.nan)
    (value,) = stack
    if not math.isfinite(value):
        at = ", ".join(f"{name} = {x:g}" for name, x in values.items())
        raise ModelError(f"{where} = {text!r}; not a finite number at {at}")
    return value


def describe(variables: Sequence[str] = MARKER_VARIABLES) -> str:
    """Return the language as a short text."""
    usage = {
        f"{name}({', '.join(function.arguments)})": function.meaning
        for name, function in FUNCTIONS.items()
    }
    width = max(map(len, usage))
    lines = [
        f"variables  {', '.join(variables)}",
        f"constants  numbers, {', '.join(CONSTANTS)}",
        "operators  + - * / **, parentheses",
        "           < <= > >=, worth 1 where they hold, else 0",
        "functions",
        *(f"  {call:<{width}}  {meaning}" for call, meaning in usage.items()),
    ]
    return "\n".join(lines)
