"""Packing: from a model to the tables that kernels read."""

from nonsmooth.pack.parts import Part
from nonsmooth.pack.system import Spot, System
from nonsmooth.pack.tables import pack

__all__ = ["Part", "Spot", "System", "pack"]
