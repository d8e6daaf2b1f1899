"""Finite elements: meshes, matrices and the modal reduction of flexible bodies.

    mesh = build(Bar(length=0.3, width=0.015, size=4e-3))
    body = reduce(mesh, material="steel", thickness=0.01, modes=20)

Needs scikit-fem, the extra `fem`, which is imported when a mesh is made.
"""

from nonsmooth.fem.assembly import Discretisation, Plane, discretise
from nonsmooth.fem.mesh import Mesh
from nonsmooth.fem.meshing import build
from nonsmooth.fem.reduce import reduce
from nonsmooth.fem.reduction import Marker, PatchData, Reduction

__all__ = [
    "Discretisation",
    "Marker",
    "Mesh",
    "PatchData",
    "Plane",
    "Reduction",
    "build",
    "discretise",
    "reduce",
]
