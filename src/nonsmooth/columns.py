"""The columns of a result: name, place among what kernels compute, label and unit.

One function for each family. Nothing else knows where the numbers of a column are, or
takes its name apart to find a unit.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.errors import ModelError, nearest

if TYPE_CHECKING:
    from nonsmooth.pack import System

# Values of the column `mode`. Where a law knows no stick, 1 is pressing.
OPEN_MODE, RELEASED_MODE = 2, 3
MODES = {
    -1: "slip-",
    0: "stick",
    1: "slip+",
    OPEN_MODE: "open",
    RELEASED_MODE: "released",
}
# Values of the column `side`: the flank that pushes along +n or -n; that of either end
# where a block does not lie flat.
SIDES = {-2: "front- rear+", -1: "-", 0: "none", 1: "+", 2: "front+ rear-"}

# Where the force of a contact acts: for drawing, and nothing to plot.
ACTING = ("point_x", "point_y", "normal_x", "normal_y", "width")
POSE = ("x", "y", "theta", "vx", "vy", "omega", "ax", "ay", "alpha")
POINT = ("x", "y", "vx", "vy", "ax", "ay")
# Of a contact that is recorded, in the order of `kernels.march.waves`.
NODAL = ("gap", "gap_rate", "normal_force", "friction_force", "slip_velocity")
NODAL += ("point_x", "point_y", "normal_x", "normal_y", "width", "mode", "n_closed")
# Halves of the faces of a block in a guide: right is the front end, top the flank that
# pushes along -n. Of a rigid block that lies flat they are the resultants of a linear
# pressure that has the force and moment of its ends; it is largest at the end, so that
# they differ by more than the ends do.
AREAS = ("top_left", "top_right", "bottom_left", "bottom_right")
WRENCH = ("force_x", "force_y", "torque")
# Elements whose columns are shown.
MAX_ROWS = 30


class Quantity(NamedTuple):
    """What a kind of column is called, its unit, and names for its values if any."""

    label: str
    unit: str = ""
    values: Mapping[int, str] = {}


# By the last part of a name.
QUANTITIES = {
    **dict.fromkeys(("x", "y"), Quantity("position", "m")),
    "theta": Quantity("angle", "rad"),
    **dict.fromkeys(("vx", "vy"), Quantity("velocity", "m/s")),
    "omega": Quantity("angular velocity", "rad/s"),
    **dict.fromkeys(("ax", "ay"), Quantity("acceleration", "m/s²")),
    "alpha": Quantity("angular acceleration", "rad/s²"),
    **dict.fromkeys(("force", "force_x", "force_y"), Quantity("force", "N")),
    "torque": Quantity("torque", "N m"),
    "gap": Quantity("gap", "m"),
    "gap_rate": Quantity("gap rate", "m/s"),
    "normal_force": Quantity("normal force", "N"),
    "friction_force": Quantity("friction force", "N"),
    "slip_velocity": Quantity("slip velocity", "m/s"),
    **dict.fromkeys(("point_x", "point_y"), Quantity("point of the force", "m")),
    **dict.fromkeys(("normal_x", "normal_y"), Quantity("normal", "1")),
    "width": Quantity("width of contact", "m"),
    "n_closed": Quantity("nodes that press", "1"),
    "n_stuck": Quantity("nodes that stick", "1"),
    "load": Quantity("load", "N"),
    **dict.fromkeys(("front_force", "rear_force"), Quantity("normal force", "N")),
    "friction_torque": Quantity("friction torque", "N m"),
    "strain": Quantity("strain", "1"),
    "eta": Quantity("own coordinate"),
    "eta_rate": Quantity("rate of own coordinate"),
    "mode": Quantity("mode", values=MODES),
    "side": Quantity("side", values=SIDES),
}


class Names(tuple[str, ...]):
    """Names of columns; `units` has the unit of each, "" of one without."""

    units: dict[str, str]

    def __new__(cls, table: Mapping[str, Column]) -> Names:
        """Return the names of a table of columns, and of the time."""
        names = super().__new__(cls, ("t", *table))
        names.units = {"t": "s", **{name: c.unit for name, c in table.items()}}
        return names

    def __repr__(self) -> str:
        """Return names and units, a line for each element."""
        lines: dict[str, list[str]] = {}
        for name, unit in self.units.items():
            shown = f"{name} ({unit})" if unit else name
            lines.setdefault(name.rpartition(".")[0], []).append(shown)
        rows = [", ".join(parts) for parts in lines.values()]
        if len(rows) > MAX_ROWS:
            rows = [*rows[:MAX_ROWS], f"... and {len(rows) - MAX_ROWS} more"]
        return f"<{len(self)} columns:\n  " + "\n  ".join(rows) + ">"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: `factor` times what stands at `index` of a row of `array`."""

    name: str
    owner: str  # element, contact, or "body.point"
    kind: str  # last part of the name
    array: str
    index: int
    factor: float
    label: str
    unit: str
    values: Mapping[int, str]  # names of values, of a column of whole numbers


def columns_of(system: System) -> dict[str, Column]:
    """Return every column of a system's results by name, in their order."""
    if system.full:
        return {column.name: column for column in _recorded(system)}
    families = (
        _motion,
        _tails,
        _gauges,
        _joints,
        _drives,
        _forces,
        _contacts,
        _slides,
        _supports,
    )
    return {column.name: column for family in families for column in family(system)}


def missing(system: System, name: str, others: Sequence[str] = ()) -> str:
    """Return "" of a column, or of one of the others; else the nearest names."""
    table = columns_of(system)
    if name in table or name in others:
        return ""
    kinds: dict[str, list[str]] = {}
    for column in table.values():
        kinds.setdefault(column.owner, []).append(column.kind)
    owner, _, kind = name.rpartition(".")
    if owner not in kinds:
        return nearest(name, [*table, *kinds, *others])
    # Names of one owner are alike by that.
    if close := difflib.get_close_matches(kind, kinds[owner], n=1):
        return f"did you mean '{owner}.{close[0]}'?"
    return f"{owner} has {', '.join(kinds[owner])}"


def check_wishes(system: System) -> None:
    """Refuse quantities of the model's `run` that there are not."""
    wishes = system.model.run
    if wishes is None:
        return
    seen = (*system.markers, *system.with_mode)
    for field, names, others in (
        ("save", wishes.save, ("t",)),
        ("plot", wishes.plot, seen),
    ):
        for name in names:
            if hint := missing(system, name, others):
                raise ModelError(f"run: {field} = '{name}'; {hint}")


def width(system: System) -> int:
    """Return how many numbers are evaluated at an instant, whatever is asked for."""
    m = system.tables
    joined = 22 * m.n_contact + 8 * m.n_area
    return 9 * m.n_marker + 8 * m.n_force + 6 * m.n_dof + joined + 1


def _column(
    owner: str,
    kind: str,
    array: str,
    index: int,
    factor: float = 1.0,
    part: str = "",
) -> Column:
    """Return a column; `part` is what of its owner the label names."""
    # A drive of the user's own may have any output.
    quantity = QUANTITIES.get(kind.partition(".")[0])
    label, unit, values = quantity or Quantity("value")
    return Column(
        name=f"{owner}.{kind}",
        owner=owner,
        kind=kind,
        array=array,
        index=index,
        factor=factor,
        label=f"{label} {part}" if part else label,
        unit=unit,
        values=values,
    )


def _motion(system: System) -> Iterator[Column]:
    for name, k in system.markers.items():
        if name.partition(".")[0] != "ground":
            for kind in POINT if "." in name else POSE:
                yield _column(name, kind, "motion", 9 * k + POSE.index(kind))


def _tails(system: System) -> Iterator[Column]:
    """Yield the coordinates of bodies that have more than those of their frame."""
    for name in system.bodies[: system.n_moving]:
        where = system.coordinates(name)
        for j, i in enumerate(range(where.start + 3, where.stop)):
            yield _column(name, f"eta.{j}", "y", i)
            yield _column(name, f"eta_rate.{j}", "y", system.n_dof + i)


def _gauges(system: System) -> Iterator[Column]:
    for k, name in enumerate(system.gauges):
        yield _column(name, "strain", "gauge", k)


def _recorded(system: System) -> Iterator[Column]:
    """Yield what the scheme `waves` records, in the order of its kernel."""
    names: list[tuple[str, str]] = []
    names += [(b, kind) for b in system.bodies[: system.n_moving] for kind in POSE]
    names += [(point, kind) for point in system.points for kind in POINT]
    names += [(gauge, "strain") for gauge in system.gauges]
    names += [(contact, kind) for contact in system.contacts for kind in NODAL]
    for k, (owner, kind) in enumerate(names):
        yield _column(owner, kind, "series", k)


def _joints(system: System) -> Iterator[Column]:
    for k, name in enumerate(system.joints[: system.n_held]):
        for i, kind in enumerate(WRENCH):
            yield _column(name, kind, "joint", 3 * k + i)


def _drives(system: System) -> Iterator[Column]:
    rows = system.tables.joint_row[system.n_held :].tolist()
    for drive, row in zip(system.model.drives, rows, strict=True):
        yield _column(drive.name, drive.output, "lam", row)


def _forces(system: System) -> Iterator[Column]:
    for k, name in enumerate(system.forces):
        for i, kind in enumerate(WRENCH):
            yield _column(name, kind, "wrench", 8 * k + i)


def _contacts(system: System) -> Iterator[Column]:
    kinds = {
        "gap": "gap",
        "gap_rate": "gap_rate",
        "normal_force": "lam_n",
        "friction_force": "lam_t",
        "slip_velocity": "v_t",
        "point_x": "point_x",
        "point_y": "point_y",
        "normal_x": "n_x",
        "normal_y": "n_y",
        "width": "width",
    }
    for k, (name, spot) in enumerate(zip(system.contacts, system.spots, strict=True)):
        for kind, field in kinds.items():
            # The normal points from a to b, whatever is the surface's; slip and
            # friction are the same seen from either.
            is_turned = spot.is_swapped and field in ("n_x", "n_y")
            yield _of_contact(name, kind, k, field, -1.0 if is_turned else 1.0)
        if system.tables.contact_patch[k, 0] >= 0:
            yield _of_contact(name, "n_closed", k, "n_closed")
            yield _of_contact(name, "n_stuck", k, "n_stuck")
        yield _column(name, "mode", "mode", k)
    for i, name in enumerate(system.whole):
        for j, kind in enumerate(("gap", "normal_force")):
            yield _column(name, kind, "whole", 2 * i + j)


def _of_contact(
    owner: str, kind: str, k: int, field: str, factor: float = 1.0
) -> Column:
    """Return a column of a field of contact k."""
    # Kernels bring the compiler: not before there is a system.
    from nonsmooth.kernels.mechanics.tables import Contact

    fields: tuple[str, ...] = Contact.dtype().names or ()
    place = len(fields) * k + fields.index(field)
    return _column(owner, kind, "contact", place, factor)


def _slides(system: System) -> Iterator[Column]:
    """Yield the columns that joints have because they have friction."""
    kinds = {
        "normal_force": "force",
        "load": "lam_n",
        "friction_force": "lam_t",
        "slip_velocity": "v_t",
    }
    for k, name in enumerate(system.slides, len(system.contacts)):
        for kind, field in kinds.items():
            yield _of_contact(name, kind, k, field)
        joint = system.model.element(name)
        if isinstance(joint, Revolute):
            radius = float(system.tables.contact_radius[k])
            yield _of_contact(name, "friction_torque", k, "lam_t", radius)
        else:
            yield _column(name, "side", "flank", k)
        if isinstance(joint, Prismatic):
            yield _of_contact(name, "front_force", k, "front")
            yield _of_contact(name, "rear_force", k, "rear")
            first = 8 * int(system.tables.contact_area[k])
            for i, area in enumerate(AREAS):
                own, half = f"{name}.{area}", "of half a face"
                for j, kind in enumerate(("normal_force", "friction_force")):
                    yield _column(own, kind, "area", first + 4 * j + i, part=half)
                if joint.block is not None:
                    yield _column(own, "mode", "pattern", first // 2 + i)
        yield _column(name, "mode", "mode", k)


def _supports(system: System) -> Iterator[Column]:
    for k, name in enumerate(system.supports[:-1]):
        for i, kind in enumerate(WRENCH):
            # What moves a support is the opposite of what it feels.
            yield _column(name, kind, "load", 3 * k + i, -1.0)
