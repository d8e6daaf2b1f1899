"""Outlines the systems share."""

from __future__ import annotations

from nonsmooth.elements.shapes import Polygon


def rectangle(width: float, height: float) -> Polygon:
    """Return a rectangle about the origin."""
    w, h = 0.5 * width, 0.5 * height
    return Polygon(vertices=((-w, -h), (w, -h), (w, h), (-w, h)))
