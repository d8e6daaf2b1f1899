"""Elastic blocks in guides as pictures draw them: meshes under the forces of nodes.

A block has no modes. The forces of its nodes, friction on them and the place of its
frame across the guide take their part: coordinates `BODY.eta.J` of a stage, no columns
of a result.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import Reduced
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.views.meshes import Face, Field, Skin, skin_of

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Limit, Result

Floats = NDArray[np.float64]
# How far the largest pressure reaches into the guide, beside the block's height.
REACH = 0.35
# Meshes that are kept.
_KEPT = 4
_known: OrderedDict[str, Skin] = OrderedDict()


def blocks_of(system: System) -> dict[str, Prismatic]:
    """Return joints with an elastic block by the body that is drawn as one."""
    found: dict[str, Prismatic] = {}
    for joint in system.model.joints:
        if isinstance(joint, Prismatic) and joint.block is not None:
            found.setdefault(joint.b.partition(".")[0], joint)
    return found


def block_skins(system: System) -> dict[str, Skin]:
    """Return the meshes of all elastic blocks, in the frames of their bodies."""
    found: dict[str, Skin] = {}
    for name, joint in blocks_of(system).items():
        assert joint.block is not None  # it was asked for
        assert joint.length is not None  # the joint was checked
        skin = _skin(joint.length, joint.height, joint.block)
        _, _, point = joint.b.partition(".")
        body: Any = system.model.element(name)
        turn = joint.axis - joint.angle
        found[name] = _placed(skin, turn, body.points[point] if point else (0.0, 0.0))
    return found


def _skin(length: float, height: float, block: ElasticBlock) -> Skin:
    """Return the mesh of a block about its middle; the last few are kept."""
    key = repr((length, height, block))
    if key not in _known:
        _known[key] = _drawn(length, height, block)
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return _known[key]


def _drawn(length: float, height: float, block: ElasticBlock) -> Skin:
    from nonsmooth.fem.guide import press, shapes

    one = press(length, height, block)
    laid = one.laid
    mesh, n = laid.mesh, len(laid.nodes)
    given: dict[str, Any] = dict.fromkeys(
        ("mass", "inertia", "stiffness", "lever", "gyro", "spin", "pull"), 0.0
    )
    shape = shapes(one)
    reduced = Reduced(**given, centre=np.zeros(2), sites={}, mesh=mesh, shapes=shape)
    skin = skin_of(block, reduced)
    pressure = np.zeros((len(mesh.nodes), 1, shape.shape[2]))
    pressure[laid.nodes, 0, np.arange(n)] = 1.0 / (laid.weights * block.thickness)
    field = Field(name="contact pressure", unit="Pa", shapes=pressure[skin.ids])
    place = np.full(len(mesh.nodes), -1, dtype=np.int64)
    place[skin.ids] = np.arange(len(skin.ids))
    kept = place[laid.nodes]
    faces = tuple(
        Face(nodes=kept[some & (kept >= 0)], normal=(0.0, -side), reach=REACH * height)
        for side in (1.0, -1.0)
        for some in (laid.sides == side,)
    )
    return replace(skin, fields={**skin.fields, "pressure": field}, faces=faces)


def _placed(skin: Skin, turn: float, place: Sequence[float]) -> Skin:
    """Return a mesh turned, with its origin at a place."""
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, -s], [s, c]])
    shapes = np.einsum("ab,nbk->nak", R, skin.shapes)
    displacement = replace(skin.fields["displacement"], shapes=shapes)
    faces = [replace(f, normal=tuple((R @ f.normal).tolist())) for f in skin.faces]
    return replace(
        skin,
        nodes=skin.nodes @ R.T + np.asarray(place),
        shapes=shapes,
        fields={**skin.fields, "displacement": displacement},
        faces=tuple(faces),
    )


def block_values(result: Result, t: Floats, limit: Limit) -> dict[str, Floats]:
    """Return the coordinates of all elastic blocks at some instants."""
    from nonsmooth.result.blocks import block_motion

    found: dict[str, Floats] = {}
    for name, joint in blocks_of(result.system).items():
        motion = block_motion(result, joint.name, t, limit)
        found |= {f"{name}.eta.{j}": values for j, values in enumerate(motion.T)}
    return found
