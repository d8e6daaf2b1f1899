"""Flexible bodies: which of their markers are loaded, their reduction as numbers."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nonsmooth.elements.bodies import Tail
from nonsmooth.elements.flexible import FlexibleBody, Nodes, Reduced, Site
from nonsmooth.elements.meshes import MeshFile
from nonsmooth.elements.normal import Unilateral
from nonsmooth.errors import ModelError
from nonsmooth.model import Model

# Loads of a body: whether each loaded marker bears a couple as well as a force; None
# for a patch whose nodes are pressed, which needs no shapes: its nodes give way.
Loads = dict[str, bool | None]

# Fields that say how a body starts, and nothing of what it is.
_START = {"name", "position", "angle", "velocity", "angular_velocity", "damping"}
_START |= {"eta", "eta_rate", "start"}
# Reductions that are kept: a model is packed more than once.
_KEPT = 8
_known: OrderedDict[str, Reduced] = OrderedDict()


def loads_of(model: Model) -> dict[str, Loads]:
    """Return the markers of each flexible body at which something pushes."""
    found: dict[str, Loads] = {
        b.name: {} for b in model.bodies if isinstance(b, FlexibleBody)
    }

    def add(reference: str, is_turned: bool | None) -> None:
        body, _, point = reference.partition(".")
        if body in found and point:
            known = found[body].get(point)
            found[body][point] = known if is_turned is None else known or is_turned

    for element in (*model.joints, *model.drives, *model.forces):
        for end, is_turned in zip(
            (element.a, element.b), element.sees_angle, strict=True
        ):
            add(end, is_turned)
    for contact in model.contacts:
        if isinstance(contact.normal, Unilateral):
            add(contact.a, None)
            add(contact.b, None)
        else:
            add(contact.b, False)
    return found


def reduce(body: FlexibleBody, loads: Loads) -> Reduced:
    """Return a body's reduction for given loads; the last few are kept."""
    own = [(f.name, getattr(body, f.name)) for f in fields(body)]
    key = repr([(n, v) for n, v in own if n not in _START] + sorted(loads.items()))
    if isinstance(body.mesh, MeshFile):
        _known.pop(key, None)  # the file may be another by now
    if key not in _known:
        brought: Any = getattr(body.mesh, "reduce", None) or _by_elements
        try:
            _known[key] = brought(body, loads)
        except (ModelError, ImportError, OSError) as error:
            raise ModelError(f"{body.label()}: {error}") from error
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _by_elements(body: FlexibleBody, loads: Loads) -> Reduced:
    """Return the reduction of a mesh that `fem` makes."""
    # Finite elements are an extra, and slow to import.
    from nonsmooth import fem

    found = fem.reduce(
        body.mesh,
        material=body.material,
        thickness=body.thickness,
        plane=body.plane,
        modes=body.modes,
        fixed=body.fixed,
        symmetric=body.symmetric,
        points=body.points,
        patches=body.patches,
        base=getattr(body.mesh, "folder", "."),
        forces=tuple(sorted(name for name in loads if loads[name] is not None)),
        couples=tuple(sorted(name for name in loads if loads[name])),
    )
    sites: dict[str, Site] = {}
    for name, marker in (found.points | found.patches).items():
        if marker.turn is None and loads.get(name):
            raise ModelError(f"patch '{name}' has one node, and no rotation to hold")
        sites[name] = Site(
            place=marker.place + found.origin,
            shape=marker.shape,
            turn=np.zeros(found.n) if marker.turn is None else marker.turn,
            bend=marker.bend if name in loads else None,
            nodes=_nodes(marker, found.origin),
        )
    return Reduced(
        mass=found.mass,
        inertia=found.inertia,
        centre=found.center,
        stiffness=found.frequencies**2,
        lever=found.b,
        gyro=found.coupling,
        spin=found.spin,
        pull=found.weight.T,
        sites=sites,
    )


def _nodes(marker: Any, origin: Any) -> Nodes | None:
    """Return the nodes of a patch, None of a point."""
    if not hasattr(marker, "flexibility"):
        return None
    return Nodes(
        places=marker.places + origin,
        shapes=marker.shapes,
        weights=marker.weights,
        flexibility=marker.flexibility,
    )


@dataclass(frozen=True, kw_only=True)
class Flexible:
    """A flexible body as the tables want it."""

    body: FlexibleBody
    reduced: Reduced

    @property
    def n(self) -> int:
        """Number of its modes."""
        return len(self.reduced.stiffness)

    @property
    def size(self) -> float:
        """Half the length of a rod of this mass and inertia, m."""
        return math.sqrt(3.0 * self.reduced.inertia / self.reduced.mass)

    def tail(self, size: float) -> Tail:
        """Return its coordinates; one scale for all, or idle modes rule the step."""
        scale = size * math.sqrt(self.reduced.mass)
        return Tail(
            masses=(1.0,) * self.n,
            scales=(scale,) * self.n,
            values=self._filled("eta"),
            rates=self._filled("eta_rate"),
        )

    def _filled(self, name: str) -> tuple[float, ...]:
        given: tuple[float, ...] = getattr(self.body, name)
        if len(given) > self.n:
            raise self.body.fail(
                name, given, f"the body has {self.n} modes; give no more"
            )
        return (*given, *(0.0,) * (self.n - len(given)))

    def position(self) -> tuple[float, float]:
        """Return where its mass centre starts."""
        if self.body.position is not None:
            return self.body.position
        c, s = math.cos(self.body.angle), math.sin(self.body.angle)
        x, y = self.reduced.centre
        return (float(c * x - s * y), float(s * x + c * y))

    def weight(self, gravity: tuple[float, float]) -> list[float]:
        """Return the force of gravity on frame and modes."""
        if not self.body.fixed:
            # In mean axes the mass centre alone feels it.
            return [self.reduced.mass * g for g in gravity] + [0.0] * (1 + self.n)
        c, s = math.cos(self.body.angle), math.sin(self.body.angle)
        x, y = gravity
        own = np.array([c * x + s * y, -s * x + c * y])
        return [0.0, 0.0, 0.0, *(own @ self.reduced.pull).tolist()]

    def place(self, marker: str) -> tuple[float, float]:
        """Return a marker in the frame of the undeformed body."""
        if not marker:
            return (0.0, 0.0)
        x, y = np.asarray(self.reduced.sites[marker].place) - self.reduced.centre
        return (float(x), float(y))

    def parameters(self) -> list[float]:
        """Return what `kernels.mechanics.flexible` expects of a body."""
        r, body = self.reduced, self.body
        frequency = np.sqrt(r.stiffness)
        damping = np.zeros(self.n)
        if body.damping is not None:
            damping = 2.0 * frequency * body.damping.ratios(frequency.tolist())
        head = [float(self.n), r.inertia, 0.0 if body.fixed else 1.0]
        arrays = (r.lever, r.stiffness, damping, r.gyro, r.spin)
        return head + [x for part in arrays for x in np.ravel(part).tolist()]

    def marker_parameters(self, marker: str) -> list[float]:
        """Return what it expects of a marker; the mass centre is one as well."""
        site = self.reduced.sites.get(marker)
        if site is None:
            # In mean axes it is carried by no mode.
            shape = self.reduced.pull / self.reduced.mass
            if not self.body.fixed:
                shape = np.zeros((2, self.n))
            site = Site(place=self.reduced.centre, shape=shape, turn=np.zeros(self.n))
        head = [*self.place(marker), 0.0 if site.bend is None else 1.0]
        arrays = [*site.shape, site.turn]
        if site.bend is not None:
            arrays += [*site.bend]
        return head + [x for part in arrays for x in np.ravel(part).tolist()]
