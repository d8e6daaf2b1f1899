"""Colours of flexible bodies in pictures: a field at some instants, and its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import ModelError, nearest
from nonsmooth.views.blocks import block_values
from nonsmooth.views.meshes import Skin, eta_of
from nonsmooth.views.solids import states_of

if TYPE_CHECKING:
    from nonsmooth.result import Field, Result
    from nonsmooth.views.stage import Stage

Floats = NDArray[np.float64]

# Values of a field by body, of all nodes of its mesh: (n_node), or (n_time, n_node).
Shades = Mapping[str, ArrayLike]
# Where contact presses on a small spot, colours of the whole range would show nothing
# else: if it is so many times as wide as that of all but such a part of the values at
# either end, the latter is taken, and the label has the whole.
RARE, TOO_WIDE = 2e-3, 3.0
# Instants at which the range of a field is looked at: of modes, and where it is dear.
MOST_SEEN, FEW_SEEN = 400, 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Shading:
    """Values of drawn nodes by body, (n_time, n), the range of colours, what it is."""

    values: dict[str, Floats]
    range: tuple[float, float]
    label: str
    is_cut: bool = False  # whether there are values beyond the range


def shading_of(
    result: Result, stage: Stage, times: Floats, field: str | Shades
) -> Shading:
    """Return the colours of a field by name, or of values that are given."""
    if not stage.skins:
        raise ModelError("a field needs a flexible body with a mesh; there is none")
    if not isinstance(field, str):
        return _given(stage, field)
    values: dict[str, Floats] = {}
    seen: list[Floats] = []
    label = field
    for name, skin in stage.skins.items():
        if name in stage.system.full or (
            name in stage.flexible and field not in skin.fields
        ):
            label, values[name], over = _exact(result, name, skin, times, field)
        elif field in skin.fields:
            one = skin.fields[field]
            label = f"{one.name} ({one.unit})"
            values[name] = one.at(stage.eta(name))
            over = one.at(_eta_over(result, name, skin))
        else:
            continue
        seen += [values[name], over]
    if not values:
        known = [key for skin in stage.skins.values() for key in skin.fields]
        raise ModelError(f"no field '{field}'; {nearest(field, known)}")
    return _shading(values, seen, label)


def _given(stage: Stage, field: Shades) -> Shading:
    """Return the colours of values that are given."""
    values: dict[str, Floats] = {}
    for name, skin in stage.skins.items():
        if name not in field or name not in stage.flexible:
            continue
        given = np.asarray(field[name], dtype=float)
        shape = (stage.n, skin.n_node)
        if given.shape not in (shape, shape[1:]):
            raise ModelError(
                f"field of body '{name}': {given.shape} numbers; give one for each "
                f"node, {shape[1:]}, or for each time and node, {shape}"
            )
        values[name] = np.broadcast_to(given, shape)[:, skin.ids]
    if not values:
        valid = nearest(next(iter(field), ""), stage.skins)
        raise ModelError(f"field: no values of a flexible body with a mesh; {valid}")
    return _shading(values, [*values.values()], "")


def _shading(values: dict[str, Floats], seen: list[Floats], label: str) -> Shading:
    """Return colours whose range is that of all that is seen over the run."""
    flat = np.concatenate([v.ravel() for v in seen])
    low, most, least, high = np.quantile(flat, (0.0, 1.0, RARE, 1.0 - RARE)).tolist()
    if least < high and most - low > TOO_WIDE * (high - least):
        label = f"{label}, in all {low:.3g} to {most:.3g}".removeprefix(", ")
        return Shading(values=values, range=(least, high), label=label, is_cut=True)
    return Shading(values=values, range=(low, most), label=label)


def _eta_over(result: Result, name: str, skin: Skin) -> Floats:
    """Return the coordinates of the modes over the run."""
    t = np.linspace(result.t_start, result.t_end, MOST_SEEN)
    n = skin.shapes.shape[2]
    own = block_values(result, t, "after")
    if f"{name}.eta.0" not in own:
        own = result.sample(t, [f"{name}.eta.{j}" for j in range(n)])
    return np.nan_to_num(eta_of(own, name, n))


def _exact(
    result: Result, name: str, skin: Skin, times: Floats, field: str
) -> tuple[str, Floats, Floats]:
    """Return label, values at times and over the run, as `Result.field` has them."""
    seen = states_of(result)
    if len(seen) == 0:
        seen = np.linspace(result.t_start, result.t_end, FEW_SEEN)
    found = [result.field(name, field, float(t)) for t in (*times, *seen)]
    one = found[0]
    values = np.stack([_number(f)[skin.ids] for f in found])
    return f"{one.label} ({one.unit})", values[: len(times)], values[len(times) :]


def _number(field: Field) -> Floats:
    """Return a field of one number for each node; of a vector its size."""
    if field.values.ndim == 1:
        return field.values
    if field.components == ("x", "y"):
        return np.hypot(*field.values.T)
    parts = ", ".join(f"{field.name}.{c}" for c in field.components)
    raise ModelError(
        f"field '{field.name}' has several components; give one of {parts}"
    )
