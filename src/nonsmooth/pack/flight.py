"""The same system with fewer shapes: what flexible bodies keep while nothing touches.

A body with `flight_modes` keeps that many of its modes in flight, and what the others
give statically where it is clamped or welded: modes of free ends answer to a force, but
hardly to a couple. With the loads F there, the modes Phi_h that are left out and their
frequencies W_h,

    X = W_h^-2 Phi_h'F        (X'W_h^2 X) Z = (X'X) Z w^2        B = X Z
    eta = T xi,  T = diag(1, B)

has T'T = 1, and T'W^2 T is diagonal: a reduction like any other, so that the whole
system is packed once more with it. See docs/theory/flexible.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import FlexibleBody, Nodes, Reduced, Site
from nonsmooth.elements.normal import Unilateral
from nonsmooth.pack.flexible import Loads, loads_of
from nonsmooth.pack.system import System

Floats = NDArray[np.float64]

# Static answers that hold less than this share of the largest are combinations.
DEPENDENT = 1e-10


@dataclass(frozen=True, kw_only=True)
class Flight:
    """A system with few shapes, and how its state is that of the whole system.

    Its patches have no friction, and nothing to remember: they are clear.
    """

    whole: Any  # System
    few: System
    shapes: dict[str, Floats]  # T of each body that drops some, (n, n_few)

    def up(self, y: Floats) -> Floats:
        """Return states (..., n_y) of all shapes, but for what is `idle`."""
        return self._moved(y, self.few, self.whole, 1)

    def down(self, y: Floats) -> Floats:
        """Return states of few shapes: what others hold is lost."""
        return self._moved(y, self.whole, self.few, 0)

    def up_rates(self, a: Floats) -> Floats:
        """Return accelerations (..., n_dof) of all shapes."""
        return self._coordinates(a, self.few, self.whole, 1)

    def _moved(self, y: Floats, of: System, to: System, way: int) -> Floats:
        n, n_state = of.n_dof, of.n_state
        parts = [self._coordinates(y[..., k : k + n], of, to, way) for k in (0, n)]
        out = np.zeros((*y.shape[:-1], to.n_y))
        out[..., : 2 * to.n_dof] = np.concatenate(parts, axis=-1)
        rest, new = y[..., 2 * n :], out[..., 2 * to.n_dof :]
        new[..., :n_state] = rest[..., :n_state]
        for k, name in enumerate(of.works):
            if name in to.works:
                new[..., n_state + to.works.index(name)] = rest[..., n_state + k]
        return out

    @cached_property
    def idle(self) -> list[int]:
        """Return which entries of the whole state rest in flight: works of patches."""
        first = 2 * self.whole.n_dof + self.whole.n_state
        works = enumerate(self.whole.works)
        return [first + k for k, name in works if name not in self.few.works]

    def _coordinates(self, q: Floats, of: System, to: System, way: int) -> Floats:
        out = np.empty((*q.shape[:-1], to.n_dof))
        for name in to.bodies[: to.n_moving]:
            own = q[..., of.coordinates(name)]
            turned = self.shapes.get(name)
            if turned is not None:
                tail = own[..., 3:] @ (turned.T if way else turned)
                own = np.concatenate([own[..., :3], tail], axis=-1)
            out[..., to.coordinates(name)] = own
        return out

    def patches(self) -> list[int]:
        """Return the contacts of patches."""
        return np.flatnonzero(self.whole.tables.contact_patch[:, 0] >= 0).tolist()

    def reach(self, y: Floats) -> Floats:
        """Return how far shapes may move the nodes of each contact of patches, m.

        All of them at once and in one direction, each with the energy that it has.
        """
        n, found = self.whole.n_dof, list[float]()
        for k in self.patches():
            contact: Any = self.whole.model.element(self.whole.contacts[k], "b")
            far = 0.0
            for end in (contact.a, contact.b):
                name, _, patch = end.partition(".")
                own = self.whole.flexible.get(name)
                if own is None or own.sites[patch].nodes is None:
                    continue
                tail = self.whole.coordinates(name)
                at = slice(tail.start + 3, tail.stop)
                eta, rate = y[:n][at], y[n : 2 * n][at]
                size = np.sqrt(eta**2 + rate**2 / own.stiffness)
                moves = np.linalg.norm(own.sites[patch].nodes.shapes, axis=1)
                far += float(moves.max(axis=0) @ size)
            found.append(far)
        return np.array(found)

    def is_flying(self, mode: Any) -> NDArray[np.bool_]:
        """Return whether few shapes were in use, by modes (n, n_contact)."""
        return (mode["flank"][:, self.patches()] != 0).any(axis=1)


def flight_of(system: System) -> Flight | None:
    """Return the system with few shapes, None where no body drops any."""
    bodies = [b for b in system.model.bodies if isinstance(b, FlexibleBody)]
    asked = [b for b in bodies if b.flight_modes != "all"]
    if not asked:
        return None
    if not (system.tables.contact_patch[:, 0] >= 0).any():
        raise asked[0].fail(
            "flight_modes",
            asked[0].flight_modes,
            "no patch is in contact, and nothing tells when it flies; leave it out",
        )
    loads, turned, few = loads_of(system.model), dict[str, Floats](), dict[str, Any]()
    for body in bodies:
        own = few[body.name] = system.flexible[body.name]
        if body.flight_modes != "all" and body.modes != "full":
            kept = min(body.flight_modes, body.modes)
            shapes = _kept(own, loads[body.name], kept)
            if shapes.shape[1] < len(own.stiffness):
                turned[body.name] = shapes
                few[body.name] = _cut(own, shapes)
    if not turned:
        return None
    plain = tuple(
        replace(b, eta=(), eta_rate=(), start="given") if b in bodies else b
        for b in system.model.bodies
    )
    # Elements above this module pack a model: it is imported where it is needed.
    from nonsmooth.pack.tables import pack

    smooth = tuple(
        replace(c, friction=None) if isinstance(c.normal, Unilateral) else c
        for c in system.model.contacts
    )
    model = replace(system.model, bodies=plain, contacts=smooth)
    return Flight(whole=system, few=pack(model, few, size=system.size), shapes=turned)


def _kept(own: Reduced, loads: Loads, n_few: int) -> Floats:
    """Return T: the first modes, and static answers in the rest."""
    n = len(own.stiffness)
    rows: list[Floats] = []
    for name, is_turned in loads.items():
        if is_turned:
            site = own.sites[name]
            rows += [*site.shape, site.turn]
    stiffness = np.asarray(own.stiffness)[n_few:]
    load: Floats = np.array(rows).reshape(-1, n)[:, n_few:].T
    x: Floats = load / stiffness[:, None]
    first = np.eye(n)[:, :n_few]
    scale = np.sqrt(np.einsum("ij,ij->j", x, load))
    x = x[:, scale > 0.0] / scale[scale > 0.0]
    if x.shape[1] == 0:
        return first
    values, vectors = np.linalg.eigh(x.T @ (stiffness[:, None] * x))
    x = x @ vectors[:, values > DEPENDENT * values[-1]]
    mass: Floats = x.T @ x
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    x = x @ inverse.T
    _, z = np.linalg.eigh(x.T @ (stiffness[:, None] * x))
    last = np.zeros((n, z.shape[1]))
    last[n_few:] = x @ z
    return np.concatenate([first, last], axis=1)


def _cut(own: Reduced, T: Floats) -> Reduced:
    """Return a reduction in fewer shapes."""

    def site(one: Site) -> Site:
        nodes: Nodes | None = one.nodes
        if nodes is not None:
            nodes = replace(nodes, shapes=nodes.shapes @ T)
        bend = None if one.bend is None else T.T @ one.bend @ T
        return replace(
            one, shape=one.shape @ T, turn=one.turn @ T, bend=bend, nodes=nodes
        )

    return replace(
        own,
        stiffness=np.einsum("ij,i,ij->j", T, own.stiffness, T),
        lever=own.lever @ T,
        gyro=T.T @ own.gyro @ T,
        spin=T.T @ own.spin @ T,
        pull=own.pull @ T,
        sites={name: site(one) for name, one in own.sites.items()},
        gauges=None if own.gauges is None else own.gauges @ T,
        shapes=None if own.shapes is None else own.shapes @ T,
    )
