"""The row functions of all built-in elements, which the compiled library holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nonsmooth.elements.base import Element
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.events import Event
from nonsmooth.elements.forces import Force
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.joints import Joint
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.elements.shapes import Shape
from nonsmooth.kernels.abi.rows import Row
from nonsmooth.pack.packer import load_kernel

# Families whose kinds have a row function, and the family of its signature.
ROW_FUNCTIONS: dict[str, tuple[type[Element], ...]] = {
    "law": (TimeLaw,),
    "joint": (Joint, Drive),
    "force": (Force,),
    "guard": (Event,),
    "shape": (Shape,),
    "normal": (NormalLaw,),
}
# Functions of a body with a tail, each a family of its own.
TAIL_FUNCTIONS = ("weigh", "inner", "place")
# Functions of a friction law, of which a kind has some, and their families.
FRICTION_FUNCTIONS = {"limit": "limit", "force": "smooth", "rate": "rate"}


def built_in_rows() -> list[Row]:
    """Return them; some kinds share one."""
    found: dict[str, Row] = {}
    for family, functions in _functions():
        for function in functions:
            row = Row(family, function)
            if row.is_ours:
                found.setdefault(row.symbol, row)
    return list(found.values())


def _functions() -> Iterator[tuple[str, list[Callable[..., Any]]]]:
    for signature, families in ROW_FUNCTIONS.items():
        for family in families:
            kinds = family.kinds.values()
            found = [k for k in kinds if k.row_kernel or hasattr(k, k.row_name or "-")]
            yield signature, [_row(kind) for kind in found]
    for name, signature in FRICTION_FUNCTIONS.items():
        kinds = FrictionLaw.kinds.values()
        yield signature, [getattr(k, name) for k in kinds if hasattr(k, name)]

    for name in TAIL_FUNCTIONS:
        kinds = [kind for kind in Body.kinds.values() if hasattr(kind, "weigh")]
        yield name, [_resolved(getattr(kind, name)) for kind in kinds]


def _resolved(function: str | Callable[..., Any]) -> Callable[..., Any]:
    return load_kernel(function) if isinstance(function, str) else function


def _row(kind: type[Element]) -> Callable[..., Any]:
    if kind.row_kernel:
        return load_kernel(kind.row_kernel)
    return getattr(kind, kind.row_name)
