"""An elastic block on penalty springs, all nodes of it, by trial: as in the paper.

Springs of stiffness k_i, the penalty times each node's length of face, stand between
the faces and the guide. For given contact states of nodes the displacements d solve

    (K + K_c) d = F,    l_i = -k_i gap_i,    gap_i = c/2 + s_i d_yi

with the friction -phi l_i along the guide, so that K_c is not symmetric; the pin bears
(N, M). States are tried until they agree with the gaps [ZhangWang2016]_. Nothing is
condensed: this is for comparison with `fem.guide`, which finds the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.elements.joints import ElasticBlock
from nonsmooth.fem.guide import Laid, hold, lay
from nonsmooth.fem.mesh import Floats

# Of contact states, from each of four beginnings.
MAX_TRIAL = 40


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What the nodes of both faces bear, and how it was found."""

    forces: Floats  # (n) N
    gaps: Floats  # (n) m, negative where springs are pressed
    trials: int
    is_converged: bool

    @property
    def load(self) -> float:
        """G, N."""
        return float(np.sum(self.forces))


class Trial:
    """A block of given length and height in a guide with clearance."""

    def __init__(
        self, length: float, height: float, block: ElasticBlock, clearance: float
    ) -> None:
        from scipy import sparse

        from nonsmooth.fem.assembly import discretise

        if block.penalty is None:
            raise block.fail(
                "penalty", None, "the paper's springs need one; give N/m^2"
            )
        self.laid: Laid = lay(length, height, block)
        body = discretise(
            self.laid.mesh,
            material=block.material,
            thickness=block.thickness,
            plane=block.plane,
        )
        self.clearance = clearance
        self.springs: Floats = block.penalty * self.laid.weights
        self._stiffness: Any = sparse.csc_array(body.stiffness)
        # Forces on the nodes that hold: two of 1 N in all, and a couple of 1 N m.
        pin = hold(self.laid.mesh.nodes, self.laid.pitch)
        x, y = self.laid.mesh.nodes.T
        self._pin = pin / np.array(
            [np.sum(pin[::2, 0]), np.sum(pin[1::2, 1]),
             np.sum(x * pin[1::2, 2] - y * pin[::2, 2])]
        )  # fmt: skip
        self.closed = np.ones(len(self.laid.nodes), dtype=bool)

    def solve(self, normal: float, moment: float, phi: float) -> Tried:
        """Try contact states, beginning with the last ones, until they agree."""
        x, s = self.laid.mesh.nodes[self.laid.nodes, 0], self.laid.sides
        ends = np.abs(x) > 0.999 * np.max(np.abs(x))
        one_face = s * normal > 0.0
        corners = ends & (s * x * moment > 0.0)
        n = 0
        for start in (self.closed, one_face, corners, np.ones_like(ends)):
            closed = start
            for _ in range(MAX_TRIAL):
                gaps, n = self._gaps(normal, moment, phi, closed), n + 1
                now = gaps < 0.0
                if np.array_equal(now, closed):
                    self.closed = closed
                    forces = np.where(closed, -self.springs * gaps, 0.0)
                    return Tried(forces=forces, gaps=gaps, trials=n, is_converged=True)
                if np.sum(now) < 2:
                    break
                closed = now
        bad = np.full(len(x), np.nan)
        return Tried(forces=bad, gaps=bad, trials=n, is_converged=False)

    def _gaps(self, normal: float, moment: float, phi: float, closed: Any) -> Floats:
        """Return the gaps of all nodes while some have their springs."""
        from scipy import sparse
        from scipy.sparse import linalg as stubs

        linalg: Any = stubs  # they do not know the types of results
        laid, half = self.laid, 0.5 * self.clearance
        chosen = laid.nodes[closed]
        k, s = self.springs[closed], laid.sides[closed]
        size = self._stiffness.shape[0]
        rows = np.concatenate([2 * chosen + 1, 2 * chosen])
        columns = np.concatenate([2 * chosen + 1] * 2)
        values = np.concatenate([k, -phi * k * s])
        springs: Any = sparse.coo_array((values, (rows, columns)), (size, size))
        right = -self._pin[:, 1] * normal - self._pin[:, 2] * moment
        right[2 * chosen + 1] -= k * s * half
        right[2 * chosen] += phi * k * half
        along = self._pin[:, :1] * float(np.mean(self.springs))
        # Along the guide nothing but the pin holds.
        blocks: Any = [[self._stiffness + springs, along], [along.T, None]]
        whole: Any = sparse.block_array(blocks, format="csc")
        factors = linalg.splu(whole)
        right = np.append(right, 0.0)
        d = factors.solve(right)
        d += factors.solve(right - whole @ d)  # springs are stiff: once more
        return half + laid.sides * np.asarray(d[2 * laid.nodes + 1], float)
