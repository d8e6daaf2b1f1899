"""The gallery: ready-made systems from papers and textbooks.

    from nonsmooth import gallery, simulate

    model = gallery.pendulum_chain(n=3)  # or gallery.build("pendulum_chain", n=3)
    result = simulate(model, until=gallery.duration("pendulum_chain"))

A system is a module of `gallery.systems` that holds a function of the same name. Its
typed keyword-only parameters and its NumPy docstring say all there is to know; the
module's first line is its summary, its `UNTIL` a time, in s, worth simulating, and its
`RANGES` the ends between which a parameter is worth trying. Nothing else lists the
systems.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from nonsmooth.errors import ModelError, brief, nearest, worded
from nonsmooth.gallery import systems
from nonsmooth.gallery._convert import convert, is_either, without_none
from nonsmooth.model import Model

__all__ = [
    "Parameter",
    "build",
    "describe",
    "duration",
    "names",
    "parameters",
    "summary",
    "values",
]

# Decimal exponent from which on powers and products of numbers leave floating point.
EXTREME = 75

_SYMBOL = r"(?:1|kg|m|s|rad|deg|N|J|W|Hz|Pa)(?:\^(?:\d|n))?"
# The unit closes the first clause of a parameter's text: "Length of a rod, m."
_UNIT = re.compile(rf", ({_SYMBOL}(?:[ /]{_SYMBOL})*)(?=[.;:])")
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a gallery system."""

    name: str
    type: str  # "int", "float", "bool", "str", or the choices: "a | b"
    default: int | float | bool | str | None  # None: another parameter sets it
    unit: str  # SI; "" for counts and choices
    meaning: str
    # Ends of a slider; None: no range. Values outside may be valid as well, and values
    # inside may not be, depending on the other parameters.
    low: int | float | None = None
    high: int | float | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """What there is to choose from; nothing unless the type is a choice."""
        return tuple(self.type.split(" | ")) if " | " in self.type else ()


def names() -> tuple[str, ...]:
    """Return the names of all systems."""
    return _names(tuple(systems.__path__))


@functools.cache  # looking into folders takes a tenth of making a model
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in pkgutil.iter_modules(folders)))


def __getattr__(name: str) -> Callable[..., Model]:
    """Return the function that builds a system."""
    if name in names():
        return _builder(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Return the public names, those of the systems included."""
    return sorted([*__all__, *names()])


@functools.cache
def _builder(system: str) -> Callable[..., Model]:
    """Return `build` for one system, with its signature and documentation."""

    @worded
    @functools.wraps(_function(system))
    def builder(**parameters: Any) -> Model:
        return build(system, **parameters)

    builder.__module__ = __name__  # where pickle will look for it
    return builder


@worded
def build(system: str, /, **parameters: Any) -> Model:
    """Return the model of a system.

    Parameters
    ----------
    system : str
        One of `names()`.
    **parameters
        See `parameters(system)`. Text, as it comes from a command line, is
        converted to the parameter's type.

    Raises
    ------
    ModelError
        There is no such system or parameter, or a value is not valid.
    """
    chosen = values(system, **parameters)
    try:
        return _function(system)(**chosen)
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        blamed = _extreme(system, chosen)
        if not blamed:
            raise
        raise ModelError(f"{system}: {blamed}") from None


def _extreme(system: str, chosen: dict[str, Any]) -> str:
    """Return what is wrong with a value whose powers overflow or vanish, or ""."""
    sizes = {
        name: abs(math.log10(abs(value)))
        for name, value in chosen.items()
        if isinstance(value, float) and value != 0.0
    }
    name = max(sizes, key=lambda name: sizes[name], default="")
    if not name or sizes[name] < EXTREME:
        return ""
    (p,) = (p for p in parameters(system) if p.name == name)
    size = "large" if abs(chosen[name]) > 1.0 else "small"
    valid = "give one of an everyday size"
    if p.low is not None:
        valid = f"{p.low:g} to {p.high:g} is usual"
    return f"{name} = {chosen[name]!r}; too {size} to compute with, {valid}"


def values(system: str, /, **parameters: Any) -> dict[str, Any]:
    """Return the value of every parameter: those given, converted, else the default.

    Nothing is built: whether the values go together is left to `build`. Parameters
    and errors are those of `build`.
    """
    defaults, types = _defaults(_function(system))
    found = dict(defaults)
    for name, value in parameters.items():
        if name not in found:
            raise ModelError(f"{system}: no parameter '{name}'; {nearest(name, found)}")
        found[name] = convert(f"{system}: {name}", types[name], value)
    return found


@functools.cache
def _defaults(
    function: Callable[..., Model],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the default and the type of every parameter."""
    known = inspect.signature(function).parameters
    return {p.name: p.default for p in known.values()}, get_type_hints(function)


def parameters(system: str) -> tuple[Parameter, ...]:
    """Return the parameters of a system, in the order of its signature."""
    function = _function(system)
    types = get_type_hints(function)
    texts = _parameter_texts(function)
    ranges = _ranges(system)
    found: list[Parameter] = []
    for name, item in inspect.signature(function).parameters.items():
        text = texts.get(name, "")
        unit = _UNIT.search(text)
        if unit:
            text = text[: unit.start()] + text[unit.end() :]
        low, high = ranges.get(name, (None, None))
        found.append(
            Parameter(
                name=name,
                type=_type_name(types[name]),
                default=item.default,
                unit=unit[1] if unit else "",
                meaning=text.rstrip("."),
                low=low,
                high=high,
            )
        )
    return tuple(found)


def summary(system: str) -> str:
    """Return what a system is, in one line."""
    return (_module(system).__doc__ or "").partition("\n")[0].rstrip(".")


def describe(system: str) -> str:
    """Return the story of a system: its docstring without the parameters."""
    sections = _sections(inspect.getdoc(_function(system)) or "")
    source = sections.get("References", "").replace("]_", "]")
    return sections[""] + (f"\n\nSource: {source}" if source else "")


def duration(system: str) -> float:
    """Return a time worth simulating, s."""
    return float(_module(system).UNTIL)


def _ranges(system: str) -> dict[str, tuple[int | float, int | float]]:
    return getattr(_module(system), "RANGES", {})


# Not by a look into sys.modules: another thread may still be importing the module.
@functools.cache
def _module(system: str) -> ModuleType:
    known = names()
    if system not in known:
        raise ModelError(f"no gallery system {brief(system)}; {nearest(system, known)}")
    return importlib.import_module(f"{systems.__name__}.{system}")


def _function(system: str) -> Callable[..., Model]:
    return getattr(_module(system), system)


def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a NumPy docstring by title; "" for what comes first."""
    parts = _SECTION.split(doc)
    found = {"": parts[0].strip()}
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        found[title] = text.strip("\n")
    return found


def _parameter_texts(function: Callable[..., Model]) -> dict[str, str]:
    """Return the text of each parameter in one line."""
    section = _sections(inspect.getdoc(function) or "").get("Parameters", "")
    parts = _ENTRY.split(section)
    texts: dict[str, str] = {}
    for heads, text in zip(parts[1::2], parts[2::2], strict=True):
        for name in heads.split(", "):
            texts[name] = " ".join(text.split())
    return texts


def _type_name(annotation: Any) -> str:
    annotation = without_none(annotation)
    if is_either(annotation):
        annotation = get_args(annotation)[0]  # a word stands for one of its values
    if get_origin(annotation) is Literal:
        return " | ".join(map(str, get_args(annotation)))
    return annotation.__name__
