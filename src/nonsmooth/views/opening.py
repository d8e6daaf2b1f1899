"""What a report plots when it is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from nonsmooth.columns import columns_of
from nonsmooth.errors import ModelError, nearest

if TYPE_CHECKING:
    from nonsmooth.pack import System

# Of contacts and joints with friction, a panel each.
TOUCH = ("normal_force", "friction_force", "slip_velocity")
ENDS = ("front_force", "rear_force")
# Lines in a panel that is chosen for the reader.
PANEL = 4


def opening(system: System) -> str:
    """Return the viewer's state as `web/src/ui/state.ts` reads it; "" for its own.

    The plots are those that the model's author wishes. The viewer would choose the
    halves of a block's faces like any contacts: of a block in a guide its ends are
    chosen here.
    """
    plots = list(_wished(system)) or _of_guides(system)
    # What separates names is escaped twice.
    panels = (",".join(quote(name, safe=".:_-") for name in names) for names in plots)
    return f"plots={quote(';'.join(panels), safe=',;.:_-')}" if plots else ""


def _wished(system: System) -> Iterable[list[str]]:
    """Return the model's own plots, a panel for each unit."""
    wishes = system.model.run
    table = columns_of(system)
    panels: dict[str, list[str]] = {}
    for wish in wishes.plot if wishes else ():
        for name in _columns(system, wish):
            if name not in table:
                known = (*table, *system.markers, *system.with_mode)
                raise ModelError(f"run: plot = '{wish}'; {nearest(wish, known)}")
            panel = panels.setdefault(table[name].unit or table[name].label, [])
            panel.extend([name] if name not in panel else [])
    return panels.values()


def _columns(system: System, wish: str) -> Iterator[str]:
    """Yield the columns of a contact, of a point or of one column."""
    if wish in system.with_mode:
        yield from (f"{wish}.{kind}" for kind in TOUCH)
    elif wish in system.markers:
        yield from (f"{wish}.{kind}" for kind in ("x", "y"))
    else:
        yield wish


def _of_guides(system: System) -> list[list[str]]:
    """Return forces, friction and slip where a block rubs in a guide, else nothing."""
    table = columns_of(system)
    blocks = {column.owner for column in table.values() if column.kind in ENDS}
    if not blocks:
        return []
    panels: list[list[str]] = []
    for kind in TOUCH:
        names: list[str] = []
        for owner in system.with_mode:
            is_pair = owner in blocks and kind == "normal_force"
            names += [f"{owner}.{each}" for each in (ENDS if is_pair else (kind,))]
        panels.append(names[:PANEL])
    return panels
