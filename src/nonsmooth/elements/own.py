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

# Families of elements, their functions, and the families of those in the kernels.
FUNCTIONS = {
    "time law": {"evaluate": "law"},
    "joint": {"rows": "joint"},
    "drive": {"rows": "joint"},
    "force": {"wrench": "force"},
    "event": {"guard": "guard"},
    "shape": {"nearest": "shape"},
    "normal law": {"force": "normal"},
    "friction law": {"limit": "limit", "force": "smooth", "rate": "rate"},
}
# Where functions of numbers are tried: overlap and rates; load, slip velocity, state.
TRIED = {
    "normal": ((1e-3, 0.0, 0.1), (1e-3, -0.1, 0.1)),
    "limit": ((1.0, 0.0), (1.0, 1.0), (1e3, 1e-3)),
    "smooth": ((1.0, 0.1, 0.0),),
    "rate": ((1.0, 0.1, 0.0),),
}


def check_own(element: Element) -> None:
    """Refuse an element of a user's kind whose functions cannot work."""
    kind = type(element)
    for name, family in _functions(kind).items():
        function: Callable[..., Any] = getattr(kind, name)
        for numbers in TRIED.get(family) or (_zeros(family),):
            _try(element, name, function, numbers)


def _zeros(family: str) -> tuple[Any, ...]:
    """Return arguments after p: numbers, and lists where a function has pointers."""
    from nonsmooth.kernels.abi.rows import FAMILIES

    numbers = ("t", "overlap", "lam_n")
    return tuple(0.5 if n in numbers else [0.5] * 99 for n in [*FAMILIES[family]][1:])


@cache
def _functions(kind: type[Element]) -> dict[str, str]:
    """Return the functions of a kind with their families; refuse wrong ones."""
    # The kernels' table of arguments, which brings no compiler.
    from nonsmooth.kernels.abi.rows import FAMILIES

    known = FUNCTIONS.get(kind.family, {})
    found: dict[str, str] = {}
    for name, family in known.items():
        own = inspect.getattr_static(kind, name, None)
        function = own.__func__ if isinstance(own, staticmethod) else own
        is_own = inspect.isfunction(function) and not _is_ours(function)
        if function is None and name == kind.row_name and not kind.row_kernel:
            wanted = ", ".join(FAMILIES[family])
            raise ModelError(
                f"{kind.__name__}: {name} is missing; write @staticmethod "
                f"def {name}({wanted}) in its class"
            )
        if is_own:
            given = list(inspect.signature(function).parameters)
            _check_arguments(kind, name, given, list(FAMILIES[family]))
            _check_names(kind, name, function)
            found[name] = family
    return found


def _is_ours(function: Callable[..., Any]) -> bool:
    return function.__module__.startswith("nonsmooth.")


def _check_arguments(
    kind: type[Element], name: str, given: list[str], wanted: list[str]
) -> None:
    if len(given) == len(wanted):
        return
    remedy = f"write def {name}({', '.join(wanted)})"
    if given[:1] == ["self"]:
        remedy = f"write @staticmethod above it, and def {name}({', '.join(wanted)})"
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
    try:
        value = function(_Parameters(element.parameters()), *numbers)
    except _Beyond as beyond:
        n, told = len(element.parameters()), fields_told(type(element))
        raise ModelError(
            f"{element.label()}: {name} reads p[{beyond}], but p has {n} numbers: "
            f"{told or 'there are no fields'}"
        ) from None
    except Exception:
        # It may lean on what only kernels have; compiling will tell.
        return
    if any(isinstance(number, list) for number in numbers):
        return  # what it does is written elsewhere
    call = f"{name}(p, {', '.join(f'{number:g}' for number in numbers)})"
    label = element.label()
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


def fields_told(kind: type[Element]) -> str:
    """Return where a kind's function finds its fields."""
    numbers = [f.name for f in dataclasses.fields(kind) if "float" in str(f.type)]
    return ", ".join(f"p[{k}] is {name}" for k, name in enumerate(numbers[:6]))
