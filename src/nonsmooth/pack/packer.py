"""Collecting parameters, kinds, laws and markers while tables are written."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from nonsmooth.elements.base import Element, family_of, field_types
from nonsmooth.elements.bodies import Body, Ground, MovingSupport, Point
from nonsmooth.elements.flexible import FlexibleBody, Reduced
from nonsmooth.elements.laws import Constant, TimeLaw
from nonsmooth.elements.own import fields_told
from nonsmooth.errors import ModelError
from nonsmooth.kernels import abi
from nonsmooth.model import Model
from nonsmooth.pack.flexible import Flexible, loads_of, reduce
from nonsmooth.pack.instants import Text


def load_kernel(reference: str) -> Callable[..., Any]:
    """Return the row function named "module:name" in `nonsmooth.kernels`."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(f"nonsmooth.kernels.{module}"), name)


class Packer:
    """Collects parameters, kinds, laws and markers while tables are written."""

    def __init__(self, model: Model, reduced: Mapping[str, Reduced]) -> None:
        self.par: list[float] = []
        self.functions: list[int] = []
        self._kind: dict[tuple[str, object], int] = {}
        self.laws: list[tuple[int, int]] = []
        self.law_owners: list[str] = []
        self.law_is_smooth: list[bool] = []
        self._owner = ""
        self.breaks: set[float] = set()
        self.texts: list[Text] = []
        self.span = (-math.inf, math.inf)
        self.markers: dict[str, int] = {}
        self.marker_rows: list[tuple[int, float, float]] = []
        self.reach: list[tuple[int, float, float]] = []  # corners that are no markers
        self.works: list[str] = []
        declared = {body.name: body for body in model.bodies}
        ground = declared.pop("ground", Ground())
        moving: list[Any] = [b for b in declared.values() if b.has_mass]
        supports = [b for b in declared.values() if isinstance(b, MovingSupport)]
        self.moving = moving
        self.supports: list[Body] = [*supports, ground]
        self.bodies: list[Body] = [*moving, *self.supports]
        self.index = {body.name: k for k, body in enumerate(self.bodies)}
        loads = loads_of(model)
        self.flexible = {
            body.name: Flexible(
                body=body,
                reduced=reduced.get(body.name) or reduce(body, loads[body.name]),
            )
            for body in moving
            if isinstance(body, FlexibleBody)
        }
        for body in self.bodies:
            self.marker(body.name)
            for field in ("points", "patches"):
                for point in getattr(body, field, {}):
                    self.marker(f"{body.name}.{point}")

    def marker(self, reference: str) -> int:
        """Return the row of a marker, adding it if it is new."""
        if reference not in self.markers:
            name, _, point = reference.partition(".")
            flexible = self.flexible.get(name)
            place = self.bodies[self.index[name]].marker(point)
            place = flexible.place(point) if flexible else place
            assert place is not None, reference  # the model was checked
            self.markers[reference] = len(self.marker_rows)
            self.marker_rows.append((self.index[name], *place))
        return self.markers[reference]

    def place(self, name: str, point: Point) -> int:
        """Return a marker at a point of a body that has no name."""
        self.marker_rows.append((self.index[name], *point))
        return len(self.marker_rows) - 1

    def ledger(self, name: str) -> int:
        """Return the number of a new entry of the ledger."""
        self.works.append(name)
        return len(self.works) - 1

    def kind(self, family: str, element: Element) -> int:
        """Return the number of an element's row function, compiling it if new."""
        return self.function(family, element, element.row_function())

    def function(
        self, family: str, element: Element, function: Callable[..., Any] | str
    ) -> int:
        """Return the number of a row function, compiling it if new."""
        key = (family, function)
        if key not in self._kind:
            resolved = load_kernel(function) if isinstance(function, str) else function
            try:
                address = abi.address(family, resolved)
            except Exception as error:
                from nonsmooth.pack.reasons import reason

                owner = f"{self._owner}, law" if family == "law" else element.label()
                kind = type(element)
                told, why = fields_told(kind), reason(error, resolved)
                raise ModelError(
                    f"{owner}: {kind.__name__} does not compile: {why}"
                    + (f"; {told}" if told else "")
                ) from error
            self._kind[key] = len(self.functions)
            self.functions.append(address)
        return self._kind[key]

    def pool(self, element: Element) -> int:
        """Append an element's parameters; return where they begin."""
        owner = self._owner if isinstance(element, TimeLaw) else element.label()
        for program in element.programs():
            is_guard = element.family == "event"
            self.texts.append(Text(owner=owner, numbers=program, is_guard=is_guard))
        return self.append(element.parameters())

    def append(self, values: list[float]) -> int:
        """Append parameters; return where they begin."""
        offset = len(self.par)
        self.par.extend(values)
        return offset

    def law(self, law: TimeLaw | float) -> int:
        """Append a time law; return its number."""
        if not isinstance(law, TimeLaw):
            law = Constant(value=law)
        self.laws.append((self.kind("law", law), self.pool(law)))
        self.law_owners.append(self._owner)
        self.law_is_smooth.append(law.is_smooth)
        self.span = (max(self.span[0], law.span()[0]), min(self.span[1], law.span()[1]))
        self.breaks.update(law.breaks())
        return len(self.laws) - 1

    def own_laws(self, element: Element) -> int:
        """Append the time laws among an element's fields; return the first."""
        first = len(self.laws)
        self._owner = element.label()
        types = field_types(type(element))
        for item in dataclasses.fields(element):
            if family_of(types[item.name]) is TimeLaw:
                self.law(getattr(element, item.name))
        return first
