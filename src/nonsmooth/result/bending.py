"""What tells against the modes of a flexible body: too few, or too much bending.

energy in shape j   1/2 eta_j'^2 + 1/2 W_j^2 eta_j^2
bending             eta.K_w eta / J0, the second-order part of its inertia; turns
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.result.track import Track

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result.result import Result

# The upper part of the shapes, and the part of the energy of vibration that may be in
# their motion: it falls off well before it for loads that they describe, and is spread
# evenly by blows that are shorter than their periods. A shape that only follows its
# load has no energy of motion.
HIGHEST, LIVELY = 0.5, 0.05
# Second-order part of the inertia beyond which the next order counts.
BENT = 0.1
# Turn of a side of the boundary in the body's frame, rad, beyond which the next order
# counts: 0.5^2/6 is 4 %. A body with fixed boundaries has no inertia that would tell.
TURNED = 0.5
# Instants that are looked at.
MAX_INSTANTS = 4000

# Amplitudes of the shapes of a body and their rates, (n, n_shape) each.
Motion = tuple[Any, Any]


def modal_doubts(result: Result) -> Iterator[str]:
    """Yield a sentence for each flexible body that its modes do not describe well."""
    system = result.system
    if not system.flexible:
        return
    stride = 1 + len(result.steps.t) // MAX_INSTANTS
    motions: dict[str, Motion] = {}
    if isinstance(result.steps, Track):
        motions = {name: result.steps.amplitudes(name) for name in system.flexible}
    else:
        y = result.steps.before(np.arange(0, len(result.steps.t), stride))
        for name in system.flexible:
            where = system.coordinates(name)
            own = slice(where.start + 3, where.stop)
            rates = slice(system.n_dof + own.start, system.n_dof + own.stop)
            motions[name] = (y[:, own], y[:, rates])
    for name, (eta, rate) in motions.items():
        stiffness = system.flexible[name].stiffness
        kinetic = 0.5 * rate**2
        whole = float(np.max(np.sum(kinetic + 0.5 * stiffness * eta**2, axis=1)))
        n_high = max(1, round(HIGHEST * eta.shape[1]))
        high = np.argsort(stiffness)[-n_high:]
        part = float(np.max(np.sum(kinetic[:, high], axis=1))) / max(whole, 1e-300)
        if part > LIVELY:
            yield (
                f"body '{name}': up to {100.0 * part:.2g} % of the energy of its "
                "vibration was in the upper half of its shapes: it may have too few "
                "modes for this load"
            )
    yield from _bent(system, {name: eta for name, (eta, _) in motions.items()})


def bent(system: System, y: Any) -> Iterator[str]:
    """Yield a sentence for each body that bends too far in one of the states y."""
    etas: dict[str, Any] = {}
    for name in system.flexible:
        where = system.coordinates(name)
        etas[name] = y[:, where.start + 3 : where.stop]
    yield from _bent(system, etas)


def _bent(system: System, etas: dict[str, Any]) -> Iterator[str]:
    for name, eta in etas.items():
        reduced = system.flexible[name]
        change = np.einsum("ti,ij,tj->t", eta, reduced.spin, eta) / reduced.inertia
        worst = float(np.max(np.abs(change), initial=0.0))
        if worst > BENT:
            yield (
                f"body '{name}' bends so far that second-order terms are {worst:.2g} "
                "of its inertia: cut it into pieces and weld them"
            )
        elif reduced.mesh is not None and len(eta):
            turn = np.max(np.abs(eta @ _turns(reduced)), initial=0.0)
            if turn > TURNED:
                yield (
                    f"body '{name}' bends so far that its boundary turns by {turn:.2g} "
                    "rad in its frame: cut it into pieces and weld them"
                )


def _turns(reduced: Any) -> Any:
    """Return by how much each side of the boundary turns, (n_mode, n_side)."""
    a, b = np.asarray(reduced.mesh.edges["outline"])[:, :2].T
    way = reduced.mesh.nodes[b] - reduced.mesh.nodes[a]
    across = np.stack((-way[:, 1], way[:, 0]), axis=1)
    across /= np.sum(way**2, axis=1, keepdims=True)
    shapes = np.asarray(reduced.shapes)
    return np.einsum("sc,scn->ns", across, shapes[b] - shapes[a])
