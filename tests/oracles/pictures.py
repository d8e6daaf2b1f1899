"""Read what Matplotlib was given to draw, and where bodies are; no drawing."""

from typing import Any

import numpy as np

from nonsmooth.views.figure import MODES


def panels(figure: Any) -> Any:
    return figure.axes


def labels(owner: Any) -> list[str]:
    return [text.get_text() for text in owner.get_texts()]


def areas(axes: Any) -> list[tuple[np.ndarray, tuple[float, ...]]]:
    """Return outline and colour of every area."""
    return [
        (path.vertices[:-1], tuple(face[:3]))
        for collection in axes.collections
        if type(collection).__name__ == "PolyCollection"
        for path, face in zip(
            collection.get_paths(), collection.get_facecolor(), strict=True
        )
    ]


def strokes(axes: Any) -> list[np.ndarray]:
    return [
        path.vertices
        for collection in axes.collections
        if type(collection).__name__ == "LineCollection"
        for path in collection.get_paths()
    ]


def rgb(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def marks(axes: Any) -> dict[str, list[np.ndarray]]:
    """Return the centres of the marks of contacts by mode."""
    found: dict[str, list[np.ndarray]] = {}
    for outline, face in areas(axes):
        for mode, colour in MODES.items():
            if np.allclose(face, rgb(colour)) and len(outline) == 64:
                found.setdefault(mode, []).append(np.mean(outline, axis=0))
    return found


def poses_at(result, t) -> dict[str, Any]:
    names = [name for name in result.system.bodies if name != "ground"]
    columns = [f"{name}.{c}" for name in names for c in ("x", "y", "theta")]
    found = result.sample(t, columns, "before")
    return {
        name: tuple(float(found[f"{name}.{c}"][0]) for c in ("x", "y", "theta"))
        for name in names
    }
