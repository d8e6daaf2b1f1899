"""What a viewer plots when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nonsmooth.columns import check_wishes, columns_of

if TYPE_CHECKING:
    from nonsmooth.pack import System

# Of contacts and joints with friction, a panel each.
TOUCH = ("normal_force", "friction_force", "slip_velocity")
ENDS = ("front_force", "rear_force")
# Lines in a panel that is chosen for the reader.
PANEL = 4


def opening(system: System) -> list[list[str]]:
    """Return the quantities of each panel; nothing where the viewer chooses.

    The plots are those that the model's author wishes. The viewer would choose the
    halves of a block's faces like any contacts: of a block in a guide its ends are
    chosen here.
    """
    return _wished(system) or _of_guides(system)


def _wished(system: System) -> list[list[str]]:
    """Return the model's own plots, a panel for each unit."""
    wishes = system.model.run
    if wishes is None or not wishes.plot:
        return []
    check_wishes(system)
    table = columns_of(system)
    panels: dict[str, list[str]] = {}
    for wish in wishes.plot:
        for name in _columns(system, wish):
            panel = panels.setdefault(table[name].unit or table[name].label, [])
            panel.extend([name] if name not in panel else [])
    return list(panels.values())


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
