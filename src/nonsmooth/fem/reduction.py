"""A body reduced to a few shapes: what `reduce` returns.

Plain arrays, in the axes of the mesh. The origin is the mass centre of a floating
body, that of the mesh for one that is held. nm is the number of shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.errors import ModelError, nearest
from nonsmooth.fem.mesh import Floats, Ints, Mesh


@dataclass(frozen=True, eq=False)
class Marker:
    """A place on the body, without deformation at `place`.

    r = place + shape eta - 1/2 eta'bend eta          in the body's axes
    theta = body's angle + turn.eta
    """

    place: Floats  # (2,) m
    shape: Floats  # (2, nm) Phi_k
    turn: Floats | None  # (nm,) rad per unit; None for a point, which has no rotation
    bend: Floats  # (2, nm, nm) K_k, symmetric
    # Share of the static displacement under a unit load, and couple, that the shapes
    # do not give: (2,) or (3,); 0 where attachment shapes were asked for.
    residual: Floats


@dataclass(frozen=True, eq=False)
class PatchData(Marker):
    """Nodes of a boundary; as a marker, their mean motion.

    Node i is at, in the body's axes, with psi = turn.eta and E a quarter turn,

        places[i] + shapes[i] eta - 1/2 eta'bend eta
            + (R(psi) - 1 - psi E) (places[i] - place) + (G forces)_i
    """

    nodes: Ints  # (np,) in the mesh, in order along the boundary, the body on the left
    places: Floats  # (np, 2) m
    shapes: Floats  # (np, 2, nm)
    normals: Floats  # (np, 2) unit, outwards, undeformed
    weights: Floats  # (np,) m, length of boundary of each node
    edges: Ints  # (n_edge, order + 1) start, end, middle, as places in `nodes`
    flexibility: Floats  # (2 np, 2 np) G, m/N; x and y of node 0, of node 1, ...


@dataclass(frozen=True, eq=False)
class Reduction:
    """A flexible body in mean axes, or held.

    Shapes are mass-normalised: the masses of eta are 1, the stiffnesses W^2.
    """

    mass: float  # kg
    inertia: float  # kg m^2, J0, about the mass centre
    center: Floats  # (2,) m, mass centre in the mesh's axes
    is_held: bool  # eta only, in the mesh's axes
    n_mode: int  # the first shapes are modes, the rest attachment shapes
    frequencies: Floats  # (nm,) W, rad/s
    damping: Floats  # (nm,) zeta, parts of critical damping
    b: Floats  # (nm,) Phi'M s
    coupling: Floats  # (nm, nm) C_ij = int phi_i x phi_j dm, antisymmetric
    spin: Floats  # (nm, nm) K_w, symmetric
    weight: Floats  # (nm, 2) Phi'M e_x, Phi'M e_y; 0 for a floating body
    mesh: Mesh  # nodes in the mesh's axes; subtract `origin` for the body's
    shapes: Floats  # (n, 2, nm) at all nodes
    points: dict[str, Marker]
    patches: dict[str, PatchData]
    seconds: dict[str, float]  # spent on each part

    @property
    def n(self) -> int:
        """Number of shapes."""
        return len(self.frequencies)

    @property
    def origin(self) -> Floats:
        """Origin of the body's frame in the mesh's axes, m."""
        return np.zeros(2) if self.is_held else self.center

    def marker(self, name: str) -> Marker:
        """Return a point or patch by its name."""
        known = self.points | self.patches
        if name not in known:
            raise ModelError(f"no point or patch '{name}'; {nearest(name, known)}")
        return known[name]

    def report(self) -> str:
        """Say in words what is kept and what is lost."""
        hertz = self.frequencies / (2.0 * np.pi)
        shown = ", ".join(f"{value:.6g}" for value in hertz[: min(6, self.n_mode)])
        more = ", ..." if self.n_mode > 6 else ""
        lines = [
            f"mass {self.mass:.6g} kg, inertia {self.inertia:.6g} kg m^2, centre "
            f"({self.center[0]:.6g}, {self.center[1]:.6g}) m",
            f"{len(self.mesh.nodes)} nodes, {len(self.mesh.cells)} elements; "
            f"{self.n_mode} modes to {hertz[: self.n_mode].max(initial=0.0):.6g} Hz, "
            f"{self.n - self.n_mode} attachment shapes to {hertz.max():.6g} Hz",
            f"frequencies {shown}{more} Hz",
        ]
        for name, one in (self.points | self.patches).items():
            kinds = ("force x", "force y", "couple")
            lost = zip(kinds, one.residual, strict=False)
            said = ", ".join(f"{kind} {100 * value:.3g} %" for kind, value in lost)
            lines.append(f"'{name}': static displacement not in the shapes: {said}")
        return "\n".join(lines)
