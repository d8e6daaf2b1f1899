"""What a user's own kind may get wrong, said before anything is compiled."""

from __future__ import annotations

import builtins
import dataclasses
import dis
import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from nonsmooth.errors import ModelError, nearest, show

if TYPE_CHECKING:
    from nonsmooth.elements.base import Element

# Functions of each family and their arguments, as `kernels.abi.rows` has them.
FUNCTIONS = {
    "time law": {"evaluate": "p t s"},
    "joint": {"rows": "p s a b out"},
    "drive": {"rows": "p s a b out"},
    "force": {"wrench": "p s t a b out"},
    "event": {"guard": "p t a b out"},
    "shape": {"nearest": "p a b out"},
    "normal law": {"force": "p overlap overlap_rate approach_rate"},
    "friction law": {
        "limit": "p lam_n speed",
        "force": "p lam_n v_t z",
        "rate": "p lam_n v_t z",
    },
}
# Where functions of numbers are tried: overlap and rates; load, slip velocity, state.
TRIED = {
    "overlap": ((1e-3, 0.0, 0.1), (1e-3, -0.1, 0.1)),
    "speed": ((1.0, 0.0), (1.0, 1.0), (1e3, 1e-3)),
    "v_t": ((1.0, 0.1, 0.0),),
}


def check_own(element: Element) -> None:
    """Refuse an element of a user's kind whose functions cannot work."""
    kind = type(element)
    for name, words in _functions(kind).items():
        function: Callable[..., Any] = getattr(kind, name)
        tried = [TRIED[word] for word in words if word in TRIED]
        # Lists where a function has pointers, long enough for any.
        zeros = tuple(0.5 if word == "t" else [0.5] * 99 for word in words[1:])
        for numbers in tried[0] if tried else (zeros,):
            _try(element, name, function, numbers)


@cache
def _functions(kind: type[Element]) -> dict[str, list[str]]:
    """Return the functions of a kind with their arguments; refuse wrong ones."""
    found: dict[str, list[str]] = {}
    for name, words in FUNCTIONS.get(kind.family, {}).items():
        wanted = words.split()
        own = inspect.getattr_static(kind, name, None)
        function = own.__func__ if isinstance(own, staticmethod) else own
        if function is None and name == kind.row_name and not kind.row_kernel:
            raise ModelError(
                f"{kind.__name__}: {name} is missing; write @staticmethod "
                f"def {name}({', '.join(wanted)}) in its class"
            )
        if inspect.isfunction(function) and not _is_ours(function):
            given = list(inspect.signature(function).parameters)
            _check_arguments(kind, name, given, wanted)
            _check_names(kind, name, function)
            found[name] = wanted
    return found


def _is_ours(function: Callable[..., Any]) -> bool:
    return function.__module__.startswith("nonsmooth.")


def _check_arguments(
    kind: type[Element], name: str, given: list[str], wanted: list[str]
) -> None:
    remedy = f"write def {name}({', '.join(wanted)})"
    if given[:1] == ["self"]:
        told = fields_told(kind)
        raise ModelError(
            f"{kind.__name__}: {name}({', '.join(given)}) has self; it is compiled "
            f"without its object: write @staticmethod above it, and def "
            f"{name}({', '.join(wanted)})" + (f", where {told}" if told else "")
        )
    if len(given) == len(wanted):
        return
    raise ModelError(
        f"{kind.__name__}: {name}({', '.join(given)}) has {len(given)} arguments; it "
        f"is called with {len(wanted)}: {remedy}"
    )


def _check_names(kind: type[Element], name: str, function: Any) -> None:
    """Refuse a name that is neither an argument nor known where the kind is defined."""
    known = {*function.__globals__, *vars(builtins)}
    for step in dis.get_instructions(function):
        if step.opname == "LOAD_GLOBAL" and step.argval not in known:
            local = function.__code__.co_varnames
            near = nearest(step.argval, [*local, *function.__globals__])
            raise ModelError(
                f"{kind.__name__}: {name} uses '{step.argval}', which is not defined; "
                f"{near if near.startswith('did') else 'define or import it'}"
            )


class _Beyond(Exception):
    """A parameter was read that there is not."""


class _Parameters(list[float]):
    """Parameters as a function reads them."""

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, int) and not 0 <= k < len(self):
            raise _Beyond(k)
        return super().__getitem__(k)


def _try(
    element: Element,
    name: str,
    function: Callable[..., Any],
    numbers: tuple[Any, ...],
) -> None:
    """Refuse what is no number, and a limit below zero, where that can be told."""
    label = element.label()
    try:
        value = function(_Parameters(element.parameters()), *numbers)
    except _Beyond as beyond:
        n, told = len(element.parameters()), fields_told(type(element))
        raise ModelError(
            f"{label}: {name} reads p[{beyond}], but p has {n} numbers: "
            f"{told or 'there are no fields'}"
        ) from None
    except Exception as error:
        if element.family == "friction law":
            # Packing asks it for its coefficient, in Python.
            why = f"{type(error).__name__}: {error}"
            raise ModelError(f"{label}: {_call(name, numbers)} fails: {why}") from None
        # It may lean on what only kernels have; compiling will tell.
        return
    if any(isinstance(number, list) for number in numbers):
        return  # what it does is written elsewhere
    call = _call(name, numbers)
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ModelError(
            f"{label}: {call} returns {show(value)}; return a number, N"
            + (" (is there a return?)" if value is None else "")
        )
    if name == "limit" and (math.isnan(value) or value < 0.0):
        raise ModelError(
            f"{label}: {call} = {float(value):g} N; must be >= 0: it is the largest "
            "friction force, whatever its direction"
        )


def _call(name: str, numbers: tuple[Any, ...]) -> str:
    return f"{name}(p, {', '.join(f'{number:g}' for number in numbers)})"


def fields_told(kind: type[Element]) -> str:
    """Return where a kind's function finds its fields."""
    numbers = [f.name for f in dataclasses.fields(kind) if "float" in str(f.type)]
    return ", ".join(f"p[{k}] is {name}" for k, name in enumerate(numbers[:6]))
