"""Flexible bodies: which of their markers are loaded, their reduction as numbers."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nonsmooth.elements.bodies import Tail
from nonsmooth.elements.flexible import FlexibleBody, Nodes, Reduced, Site
from nonsmooth.elements.meshes import MeshFile, Plane
from nonsmooth.elements.normal import Unilateral
from nonsmooth.errors import ModelError
from nonsmooth.kernels.mechanics.flexible import COUPLED, FLOATS, HELD
from nonsmooth.model import Model

# Loads of a body: whether each loaded marker bears a couple as well as a force; None
# for a patch whose nodes are pressed, which needs no shapes: its nodes give way.
Loads = dict[str, bool | None]

# Fields that say how a body starts, and nothing of what it is.
_START = {"name", "position", "angle", "velocity", "angular_velocity", "damping"}
_START |= {"eta", "eta_rate", "start", "flight_modes", "flight_loss"}
# Part of a symmetric body's size by which a load may be off its axis: round-off.
_ON_AXIS = 1e-6
# Reductions that are kept: a model is packed more than once.
_KEPT = 8
_known: OrderedDict[str, Reduced] = OrderedDict()
_known_full: OrderedDict[str, Any] = OrderedDict()


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
        if body.modes == "full":
            brought = _as_frame
        try:
            _known[key] = brought(body, loads)
        except (ModelError, ImportError, OSError) as error:
            raise ModelError(f"{body.label()}: {error}") from error
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def reduction(body: FlexibleBody, loads: Loads) -> Any:
    """Return the reduction of a mesh that `fem` makes, with its mesh and shapes."""
    # Finite elements are an extra, and slow to import.
    from nonsmooth import fem

    assert body.modes != "full"
    return fem.reduce(
        body.mesh,
        material=body.material,
        thickness=body.thickness,
        plane=_plane(body),
        modes=body.modes,
        fixed=body.fixed,
        symmetric=body.symmetric,
        lumped=body.lumped,
        points=body.points,
        patches=body.patches,
        base=getattr(body.mesh, "folder", "."),
        forces=tuple(sorted(name for name in loads if loads[name] is not None)),
        couples=tuple(sorted(name for name in loads if loads[name])),
    )


def _plane(body: FlexibleBody) -> Plane:
    assert body.plane != "axisymmetric"  # the body was checked
    return body.plane


def _by_elements(body: FlexibleBody, loads: Loads) -> Reduced:
    """Return the reduction of a mesh that `fem` makes."""
    found = reduction(body, loads)
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
            lost=marker.residual,
        )
    _check_symmetry(body, sites, loads, found)
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
        mesh=found.mesh,
        shapes=found.shapes,
        n_mode=found.n_mode,
        gauges=_gauges(body, found),
    )


def _check_symmetry(
    body: FlexibleBody, sites: dict[str, Site], loads: Loads, found: Any
) -> None:
    """Refuse loads on one side of a symmetric body: they excite modes it leaves out."""
    if body.symmetric is None:
        return
    near = _ON_AXIS * float(np.ptp(found.mesh.nodes, axis=0).max())
    flip = (1.0, -1.0) if body.symmetric == "x" else (-1.0, 1.0)
    places = {name: np.asarray(sites[name].place) for name in loads}
    for name, place in places.items():
        image = found.center + (place - found.center) * flip
        if not any(np.linalg.norm(image - other) <= near for other in places.values()):
            raise ModelError(
                f"symmetric = {body.symmetric!r}: '{name}' is loaded at "
                f"({place[0]:.6g}, {place[1]:.6g}) m, beside the axis, and its image "
                "is not; leave `symmetric` out, which leaves out odd modes"
            )


def _gauges(body: FlexibleBody, found: Any) -> Any:
    """Return the strain of each gauge by the shapes, (n_gauge, n)."""
    rows = np.zeros((len(body.gauges), found.n))
    if body.gauges:
        from nonsmooth.elements.materials import find_material
        from nonsmooth.fem.fields import gauge_row, strain_rows
        from nonsmooth.fem.patches import point_rows

        mesh, state = found.mesh, _plane(body)
        strains = strain_rows(mesh.nodes, mesh, state, find_material(body.material))
        for k, (name, gauge) in enumerate(body.gauges.items()):
            share = point_rows(mesh, f"gauges['{name}']", gauge.point)[0, ::2]
            used = np.flatnonzero(share)
            row = gauge_row(strains, len(mesh.nodes), used, share[used], gauge.angle)
            rows[k] = row @ found.shapes.reshape(-1, found.n)
    return rows


def full_of(body: FlexibleBody) -> Any:
    """Return a body with modes = "full" as finite elements; the last few are kept."""
    from nonsmooth.fem.full import full

    own = [(f.name, getattr(body, f.name)) for f in fields(body)]
    key = repr([(n, v) for n, v in own if n not in _START])
    if isinstance(body.mesh, MeshFile):
        _known_full.pop(key, None)  # the file may be another by now
    if key not in _known_full:
        _known_full[key] = full(
            body.mesh,
            material=body.material,
            thickness=body.thickness,
            plane=body.plane,
            fixed=body.fixed,
            symmetric=body.symmetric,
            points=body.points,
            base=getattr(body.mesh, "folder", "."),
        )
        while len(_known_full) > _KEPT:
            _known_full.popitem(last=False)
    _known_full.move_to_end(key)
    return _known_full[key]


def _as_frame(body: FlexibleBody, _loads: Loads) -> Reduced:
    """Return what stands in the tables for a body that is kept as finite elements.

    Its frame alone, with its places: nothing marches by it. A patch has its ends.
    """
    own = full_of(body)
    none, give = np.zeros((2, 0)), 1.0 / (own.material.youngs_modulus * body.thickness)
    sites: dict[str, Site] = {}
    for name, place in body.points.items():
        own.weights_at(name, place)  # refuses a place outside
        sites[name] = Site(place=np.array(place), shape=none, turn=np.zeros(0))
    for name, patch in body.patches.items():
        found = own.boundary(name, patch)
        ends = own.nodes[found.nodes[[0, -1]]]
        half = 0.5 * float(found.weights.sum())
        if len(found.nodes) == 1:
            ends = ends + np.array([(0.0, -half), (0.0, half)])
        sites[name] = Site(
            place=found.weights @ own.nodes[found.nodes] / found.weights.sum(),
            shape=none,
            turn=np.zeros(0),
            nodes=Nodes(
                places=ends,
                shapes=np.zeros((2, 2, 0)),
                weights=np.full(2, half),
                flexibility=give * np.eye(4),
            ),
        )
    for name, gauge in body.gauges.items():
        own.weights_at(f"gauges['{name}']", gauge.point)
    square = np.zeros((0, 0))
    return Reduced(
        mass=own.mass,
        inertia=own.inertia,
        centre=own.centre,
        stiffness=np.zeros(0),
        lever=np.zeros(0),
        gyro=square,
        spin=square,
        pull=none,
        sites=sites,
        gauges=np.zeros((len(body.gauges), 0)),
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
        frame = HELD if body.fixed else COUPLED if np.any(r.gyro) else FLOATS
        head = [float(self.n), r.inertia, frame]
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
        has_bend = (False, False)
        if site.bend is not None:
            has_bend = (np.any(site.bend[0]), np.any(site.bend[1]))
        head = [*self.place(marker), 1.0 * has_bend[0] + 2.0 * has_bend[1]]
        arrays = [*site.shape, site.turn]
        if site.bend is not None:
            arrays += [*site.bend]
        return head + [x for part in arrays for x in np.ravel(part).tolist()]
