"""Patches of flexible bodies that are pressed, as parameters of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import Nodes
from nonsmooth.errors import ModelError
from nonsmooth.kernels.mechanics.nodes import N_MARK, N_PAIR, N_PART
from nonsmooth.kernels.mechanics.rough import N_ROUGH
from nonsmooth.pack.packer import Packer

Floats = NDArray[np.float64]
# Numbers that a rough patch remembers of a node.
N_HISTORY = 3
# Of the shapes of a patch: less is round-off of their computation.
ROUND_OFF = 1e-14


@dataclass(frozen=True, kw_only=True)
class PackedPatch:
    """A patch among the parameters."""

    par: int  # where it begins
    n: int  # nodes


def pack_patch(packer: Packer, reference: str, penalty: float | None) -> PackedPatch:
    """Append a patch, with the give of a penalty of so many N/m^2."""
    body, _, name = reference.partition(".")
    site = packer.flexible[body].reduced.sites[name]
    nodes: Nodes | None = site.nodes
    if nodes is None:
        raise ModelError(
            f"body '{body}': its reduction has no nodes at '{name}'; a patch that is "
            "pressed needs the flexibility of its nodes"
        )
    n, n_shape = len(nodes.places), len(site.turn)
    if n < 2:
        raise ModelError(
            f"body '{body}': patch '{name}' has one node; to be pressed it needs two "
            "or more: give a larger radius or a finer mesh"
        )
    patterns, parts = _patterns(nodes.shapes, np.asarray(site.shape))
    give = nodes.flexibility.reshape(n, 2, n, 2).transpose(1, 3, 0, 2)
    soft = np.zeros(n) if penalty is None else 1.0 / (penalty * nodes.weights)
    arms = (nodes.places - np.asarray(site.place)).T
    arrays = (arms, patterns, parts, site.turn, give, soft)
    values = [x for array in arrays for x in np.ravel(array).tolist()]
    head = [float(n), float(n_shape), float(len(parts))]
    return PackedPatch(par=packer.append([*head, *values]), n=n)


def _patterns(shapes: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """Return U (nr, 2 n) and V (nr, n_shape) of shapes less those of the centre.

    The singular vectors: over a small patch shapes differ by few patterns. What is
    below round-off of the shapes is left out.
    """
    n, _, n_shape = shapes.shape
    whole = shapes.transpose(1, 0, 2).reshape(2 * n, n_shape)
    local = (shapes - centre).transpose(1, 0, 2).reshape(whole.shape)
    left, sizes, right = np.linalg.svd(local, full_matrices=False)
    kept = sizes > ROUND_OFF * np.linalg.norm(whole)
    return left[:, kept].T, sizes[kept, None] * right[kept]


def scratch(
    b: PackedPatch, a: PackedPatch | None, *, is_rough: bool
) -> tuple[int, int]:
    """Return how many numbers and integers a pair is worked out in."""
    n_both = b.n + (a.n if a else 0)
    own = N_PAIR + (N_ROUGH + 8 * b.n if is_rough else b.n)
    return N_PART * n_both + own * b.n, N_MARK * b.n + 2
