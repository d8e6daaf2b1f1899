"""Patches of flexible bodies that are pressed, as parameters of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.elements.flexible import Nodes
from nonsmooth.errors import ModelError
from nonsmooth.kernels.mechanics.nodes import N_MARK, N_PAIR, N_PART
from nonsmooth.pack.packer import Packer


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
    shapes = nodes.shapes - np.asarray(site.shape)
    by_mode = shapes.transpose(1, 2, 0)  # x and y, modes, nodes
    by_node = shapes.transpose(1, 0, 2)
    give = nodes.flexibility.reshape(n, 2, n, 2).transpose(1, 3, 0, 2)
    soft = np.zeros(n) if penalty is None else 1.0 / (penalty * nodes.weights)
    arms = (nodes.places - np.asarray(site.place)).T
    arrays = (arms, by_mode, by_node, site.turn, give, soft)
    values = [x for array in arrays for x in np.ravel(array).tolist()]
    return PackedPatch(par=packer.append([float(n), float(n_shape), *values]), n=n)


def scratch(b: PackedPatch, a: PackedPatch | None) -> tuple[int, int]:
    """Return how many numbers and integers a pair is worked out in."""
    n_both = b.n + (a.n if a else 0)
    return N_PART * n_both + (N_PAIR + 2 * b.n) * b.n, N_MARK * b.n + 2
