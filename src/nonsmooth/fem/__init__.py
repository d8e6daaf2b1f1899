"""Finite elements: meshes, matrices and the modal reduction of flexible bodies.

    mesh = build(Bar(length=0.3, width=0.015, size=4e-3))
    body = reduce(mesh, material="steel", thickness=0.01, modes=20)

Needs scikit-fem, the extra `fem`, which is imported when a mesh is made; SciPy's
solvers are imported when a body is reduced that is not known from before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonsmooth.fem.mesh import Mesh
from nonsmooth.fem.reduce import reduce
from nonsmooth.fem.reduction import Marker, PatchData, Reduction

if TYPE_CHECKING:
    from nonsmooth.fem.assembly import Discretisation, discretise
    from nonsmooth.fem.meshing import build

__all__ = [
    "Discretisation",
    "Marker",
    "Mesh",
    "PatchData",
    "Reduction",
    "build",
    "discretise",
    "reduce",
]


def __getattr__(name: str) -> Any:
    """Import what is heavy when it is asked for."""
    if name in ("Discretisation", "discretise"):
        from nonsmooth.fem import assembly

        return getattr(assembly, name)
    if name == "build":
        from nonsmooth.fem import meshing

        return meshing.build
    raise AttributeError(f"module 'nonsmooth.fem' has no attribute {name!r}")
