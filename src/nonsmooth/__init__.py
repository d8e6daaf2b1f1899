"""Planar multibody systems that stick, slip, hit and separate.

    from nonsmooth import Model, RigidBody, Revolute, simulate

The names below are the public interface. Numba is imported only when a model is
packed, matplotlib only when something is plotted.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nonsmooth.elements.bodies import (
    Ground,
    MovingSupport,
    PointMass,
    RigidBody,
)
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import Drive, RotationDrive, TranslationDrive
from nonsmooth.elements.estimates import (
    contact_stiffness,
    hunt_crossley_damping,
    kelvin_voigt_damping,
)
from nonsmooth.elements.events import Event
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import (
    Couple,
    ExpressionForce,
    Force,
    PointForce,
    SpringDamper,
    TorsionSpring,
)
from nonsmooth.elements.friction import (
    Coulomb,
    CoulombViscous,
    Dahl,
    FrictionLaw,
    Karnopp,
    LuGre,
    RegularisedCoulomb,
    Stribeck,
)
from nonsmooth.elements.joints import (
    Distance,
    ElasticBlock,
    Joint,
    PinInSlot,
    Prismatic,
    Revolute,
    Weld,
)
from nonsmooth.elements.laws import (
    Constant,
    ConstantRate,
    Expression,
    Harmonic,
    Ramp,
    SmoothStep,
    Table,
    TimeLaw,
)
from nonsmooth.elements.materials import (
    Damping,
    Material,
    ModalDamping,
    RayleighDamping,
)
from nonsmooth.elements.meshes import (
    Bar,
    Disc,
    Gauge,
    MeshFile,
    MeshShape,
    Outline,
    Patch,
    Rectangle,
    Refinement,
    Ring,
    Rod,
)
from nonsmooth.elements.normal import (
    DampedHertz,
    Flores,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    NormalLaw,
    Unilateral,
)
from nonsmooth.elements.shapes import Circle, Line, Polygon, Segment, Shape
from nonsmooth.elements.wishes import Run
from nonsmooth.errors import (
    Interrupted,
    ModelError,
    NonsmoothWarning,
    SolveError,
    SwitchError,
    nearest,
)
from nonsmooth.model import Model

if TYPE_CHECKING:
    from nonsmooth import gallery
    from nonsmooth.io import load, save
    from nonsmooth.result import Result, State
    from nonsmooth.solve.equilibrium import equilibrium
    from nonsmooth.solve.options import Baumgarte
    from nonsmooth.solve.simulate import simulate
    from nonsmooth.solve.solvability import solvability
    from nonsmooth.solve.start import assembled
    from nonsmooth.study.sweeping import sweep

__version__ = "0.2.0"

# Names that bring Numba with them, or are seldom needed: imported on first use.
_LAZY = {
    "Baumgarte": "nonsmooth.solve.options",
    "Result": "nonsmooth.result",
    "State": "nonsmooth.result",
    "assembled": "nonsmooth.solve.start",
    "equilibrium": "nonsmooth.solve.equilibrium",
    "load": "nonsmooth.io",
    "save": "nonsmooth.io",
    "simulate": "nonsmooth.solve.simulate",
    "solvability": "nonsmooth.solve.solvability",
    "sweep": "nonsmooth.study.sweeping",
}


def __getattr__(name: str) -> Any:
    """Import a lazy name."""
    if name == "gallery":
        return importlib.import_module("nonsmooth.gallery")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    # Python asks every module for names like __path__.
    hint = "" if name.startswith("_") else f"; {nearest(name, __all__)}"
    raise AttributeError(f"module 'nonsmooth' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


__all__ = [
    "Bar",
    "Baumgarte",
    "Circle",
    "Constant",
    "ConstantRate",
    "Contact",
    "Coulomb",
    "CoulombViscous",
    "Couple",
    "Dahl",
    "DampedHertz",
    "Damping",
    "Disc",
    "Distance",
    "Drive",
    "ElasticBlock",
    "Event",
    "Expression",
    "ExpressionForce",
    "FlexibleBody",
    "Flores",
    "Force",
    "FrictionLaw",
    "Gauge",
    "Ground",
    "Harmonic",
    "Hertz",
    "HuntCrossley",
    "Interrupted",
    "Joint",
    "Karnopp",
    "KelvinVoigt",
    "LankaraniNikravesh",
    "Line",
    "LuGre",
    "Material",
    "MeshFile",
    "MeshShape",
    "ModalDamping",
    "Model",
    "ModelError",
    "MovingSupport",
    "NonsmoothWarning",
    "NormalLaw",
    "Outline",
    "Patch",
    "PinInSlot",
    "PointForce",
    "PointMass",
    "Polygon",
    "Prismatic",
    "Ramp",
    "RayleighDamping",
    "Rectangle",
    "Refinement",
    "RegularisedCoulomb",
    "Result",
    "Revolute",
    "RigidBody",
    "Ring",
    "Rod",
    "RotationDrive",
    "Run",
    "Segment",
    "Shape",
    "SmoothStep",
    "SolveError",
    "SpringDamper",
    "State",
    "Stribeck",
    "SwitchError",
    "Table",
    "TimeLaw",
    "TorsionSpring",
    "TranslationDrive",
    "Unilateral",
    "Weld",
    "assembled",
    "contact_stiffness",
    "equilibrium",
    "gallery",
    "hunt_crossley_damping",
    "kelvin_voigt_damping",
    "load",
    "save",
    "simulate",
    "solvability",
    "sweep",
]
