"""Elastic blocks in guides, as parameters of the kernels."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from nonsmooth.elements.joints import Prismatic
from nonsmooth.fem.guide import Faces, condense
from nonsmooth.kernels.friction.faces import n_marks, n_numbers
from nonsmooth.kernels.mechanics.tables import FACES
from nonsmooth.pack.packer import Packer

# Condensed blocks that are kept: a model is packed more than once.
_KEPT = 8
_known: OrderedDict[str, Faces] = OrderedDict()


def joint_faces(joint: Prismatic) -> Faces:
    """Return the faces of a joint's elastic block, condensed once."""
    assert joint.length is not None  # the joint was checked
    assert joint.block is not None
    key = repr((joint.length, joint.height, joint.block))
    if key not in _known:
        _known[key] = condense(joint.length, joint.height, joint.block)
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def pack_block(packer: Packer, joint: Prismatic) -> dict[str, Any]:
    """Append the faces of an elastic block; return the columns of its contact."""
    assert joint.length is not None  # the joint was checked
    assert joint.clearance is not None
    faces = joint_faces(joint)
    n = len(faces.places)
    head = [float(n), joint.clearance * faces.stiffness, 0.5 * joint.height]
    arrays = (faces.places, faces.sides, faces.give, faces.lean)
    values = np.concatenate([np.ravel(array) for array in arrays])
    return {
        "kind": FACES,
        "faces": packer.append([*head, joint.length, *values.tolist()]),
        "n_node": n_numbers(n),
        "n_node_mark": n_marks(n),
    }
