"""What a reduced body gives beyond its shapes, at all its nodes.

    u = P (K + s M)^-1 P'F - sum phi phi'F / W^2

as G of a patch is at its own nodes. The factorisation is made when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from nonsmooth.elements.materials import Material, find_material
from nonsmooth.elements.meshes import Plane
from nonsmooth.fem.assembly import discretise
from nonsmooth.fem.bodies import held_by
from nonsmooth.fem.mesh import Floats, Ints
from nonsmooth.fem.reduction import Reduction
from nonsmooth.fem.statics import Statics, statics

Answer = Callable[[Ints, Floats], Floats]


def residual(
    found: Reduction,
    material: Material | str,
    thickness: float,
    plane: Plane,
    fixed: tuple[str, ...],
) -> Answer:
    """Return u(nodes, forces), displacements (n, 2) of all nodes beyond the shapes."""
    chosen = find_material(material)
    n = len(found.mesh.nodes)

    @cache
    def solver() -> Statics:
        disc = discretise(found.mesh, material=chosen, thickness=thickness, plane=plane)
        origin = found.origin
        points = {
            name: (float(p[0]), float(p[1]))
            for name, p in ((k, m.place + origin) for k, m in found.points.items())
        }
        return statics(
            found.mesh.nodes,
            disc.stiffness,
            disc.mass(),
            held=held_by(fixed, points, found.mesh),
            symmetric=None,
            speed=float(np.sqrt(chosen.youngs_modulus / chosen.density)),
        )

    def answer(nodes: Ints, forces: Floats) -> Floats:
        load = np.zeros((n, 2))
        np.add.at(load, nodes, forces)
        shapes = found.shapes.reshape(2 * n, -1)
        u = solver().solve(load.ravel()[:, None])[:, 0]
        u = u - shapes @ ((shapes.T @ load.ravel()) / found.frequencies**2)
        return u.reshape(n, 2)

    return answer
