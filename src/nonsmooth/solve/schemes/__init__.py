"""Schemes: ways to advance in time, on the same assembly.

A scheme is a name, the blocks it works in, and a march. Its kernels are in
`kernels/march/NAME.py`, its Python side here in a file of its own; it is registered by
being listed in `SCHEMES`.
"""

from __future__ import annotations

from nonsmooth.solve.schemes.base import Run, Scheme
from nonsmooth.solve.schemes.events import EventDriven
from nonsmooth.solve.schemes.paper import PaperScheme

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme for scheme in (EventDriven(), PaperScheme())
}

__all__ = ["SCHEMES", "Run", "Scheme"]
