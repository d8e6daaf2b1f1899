"""Studies: many runs of one system over parameters and starts.

    from nonsmooth.study import Grid, Mean, sweep

    table = sweep(
        "compactor",
        {"rotor_speed": Grid(low=300, high=450, n=31)},
        {"speed": Mean(column="box.vx", last=0.2)},
        until=2.0,
        store="compactor.db",
    )

Names are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth.study.attraction import Basins, basins
    from nonsmooth.study.definition import Study, load_study
    from nonsmooth.study.design import Between, Grid, Listed
    from nonsmooth.study.diagrams import Diagram, bifurcation
    from nonsmooth.study.fitting import Fit, fit
    from nonsmooth.study.reducers import (
        AtEvents,
        Count,
        EnergyPerCycle,
        Final,
        FirstTime,
        Maximum,
        Mean,
        Minimum,
        Multiple,
        Period,
        Sequence,
        Span,
        Stroboscopic,
        WholeRun,
    )
    from nonsmooth.study.steady import (
        Motion,
        classify,
        event_map,
        groups,
        stroboscopic,
    )
    from nonsmooth.study.sweeping import Progress, sweep
    from nonsmooth.study.table import Table

_PLACES = {
    "attraction": ("Basins", "basins"),
    "diagrams": ("Diagram", "bifurcation"),
    "definition": ("Study", "load_study"),
    "design": ("Between", "Grid", "Listed"),
    "fitting": ("Fit", "fit"),
    "reducers": (
        *("AtEvents", "Count", "EnergyPerCycle", "Final", "FirstTime", "Maximum"),
        *("Mean", "Minimum", "Multiple", "Period", "Sequence", "Span"),
        *("Stroboscopic", "WholeRun"),
    ),
    "steady": ("Motion", "classify", "event_map", "groups", "stroboscopic"),
    "sweeping": ("Progress", "sweep"),
    "table": ("Table",),
}
_MODULES = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(_MODULES)


__all__ = [
    "AtEvents",
    "Basins",
    "Between",
    "Count",
    "Diagram",
    "EnergyPerCycle",
    "Final",
    "FirstTime",
    "Fit",
    "Grid",
    "Listed",
    "Maximum",
    "Mean",
    "Minimum",
    "Motion",
    "Multiple",
    "Period",
    "Progress",
    "Sequence",
    "Span",
    "Stroboscopic",
    "Study",
    "Table",
    "WholeRun",
    "basins",
    "bifurcation",
    "classify",
    "event_map",
    "fit",
    "groups",
    "load_study",
    "stroboscopic",
    "sweep",
]
