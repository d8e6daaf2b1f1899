"""What a flexible body is asked for; the answer is computed, or known from before.

The equations are in `bodies`, and in docs/theory/flexible.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nonsmooth.elements.materials import Damping, Material, find_material
from nonsmooth.elements.meshes import Axis, MeshShape, Patch, Plane
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, nearest, show
from nonsmooth.fem import store
from nonsmooth.fem.mesh import Mesh
from nonsmooth.fem.reduction import Reduction


@dataclass(frozen=True)
class Task:
    """What `reduce` was asked for."""

    mesh: Mesh | MeshShape
    base: Path
    material: Material
    thickness: float
    plane: Plane
    modes: int
    damping: Damping | None
    fixed: tuple[str, ...]
    symmetric: Axis | None
    points: dict[str, Point]
    patches: dict[str, Patch]
    forces: tuple[str, ...]
    couples: tuple[str, ...]
    lumped: bool


def reduce(
    mesh: Mesh | MeshShape,
    *,
    material: str | Material,
    thickness: float,
    plane: Plane = "stress",
    modes: int = 20,
    damping: Damping | None = None,
    fixed: Sequence[str] = (),
    symmetric: Axis | None = None,
    points: Mapping[str, Point] | None = None,
    patches: Mapping[str, Patch] | None = None,
    forces: Sequence[str] = (),
    couples: Sequence[str] = (),
    lumped: bool = False,
    base: str | Path = ".",
    cache: bool = True,
) -> Reduction:
    """Reduce a body to its lowest modes and what loads on it need.

    Parameters
    ----------
    mesh : Mesh or MeshShape
        With a description nothing is meshed if the result is known.
    material : str or Material
    thickness : float
        Across the plane, m.
    plane : {"stress", "strain"}
    modes : int
        Elastic modes to keep; of a symmetric body, even ones.
    damping : Damping, optional
    fixed : names
        Boundaries that are clamped, points that are pinned. None: the body floats.
    symmetric : {"x", "y"}, optional
        Keep only modes that are even about the axis along x or y through the mass
        centre. Odd loads are answered statically.
    points : dict of (x, y), optional
        Named places, in the mesh's axes.
    patches : dict of Patch, optional
        Named parts of the boundary.
    forces, couples : names
        Points and patches that get attachment shapes for two forces, and patches that
        get one for a couple too.
    lumped : bool
        Masses at nodes instead of the consistent mass.
    base : path
        Folder of a `MeshFile`.
    cache : bool
        Look for the result in the user's cache, and keep it there.
    """
    task = Task(
        mesh=mesh,
        base=Path(base),
        material=find_material(material),
        thickness=thickness,
        plane=plane,
        modes=modes,
        damping=damping,
        fixed=tuple(fixed),
        symmetric=symmetric,
        points={name: (float(x), float(y)) for name, (x, y) in (points or {}).items()},
        patches=dict(patches or {}),
        forces=tuple(dict.fromkeys((*forces, *couples))),
        couples=tuple(couples),
        lumped=lumped,
    )
    _check(task)
    key = store.digest(task, task.base) if cache else ""
    found = store.load(key) if cache else None
    if found is None:
        # Loads SciPy's solvers, which a known body does without.
        from nonsmooth.fem import bodies

        found = bodies.compute(task)
        if cache:
            store.save(key, found)
    return found


def _check(task: Task) -> None:
    if task.modes < 0 or (task.modes == 0 and not task.forces):
        valid = "give 1 or more, or 0 with attachment shapes"
        raise ModelError(f"modes = {show(task.modes)}; {valid}")
    if task.symmetric not in (None, "x", "y"):
        raise ModelError(f"symmetric = {show(task.symmetric)}; give 'x', 'y' or None")
    for name in task.patches:
        if name in task.points:
            raise ModelError(f"patches: a point is called '{name}' too; rename one")
    known = [*task.points, *task.patches]
    for name in task.forces:
        if name not in known:
            raise ModelError(f"forces: no point '{name}'; {nearest(name, known)}")
    for name in task.couples:
        if name in task.points:
            raise ModelError(
                f"couples: point '{name}' has no rotation; give a patch there"
            )
