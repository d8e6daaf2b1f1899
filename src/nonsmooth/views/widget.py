"""The viewer in a notebook: an anywidget with the same build as the report."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from nonsmooth.errors import ModelError
from nonsmooth.views.notebook import words_and_picture
from nonsmooth.views.report import static
from nonsmooth.views.scene import BUDGET, Parameters, scene

if TYPE_CHECKING:
    from nonsmooth.result import Result

HEIGHT = 640  # px
LEAST_HEIGHT = 240


@cache
def _widget_class() -> type[Any]:
    """Return the class of widgets; anywidget is imported when one is made."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError(
            "the notebook widget needs anywidget; install it with: "
            "pip install 'nonsmooth[notebook]'"
        ) from None

    class Viewer(anywidget.AnyWidget):
        """A run in a notebook.

        Attributes
        ----------
        scene : bytes
            The document of the run; setting it shows another run.
        state : dict
            What the viewer shows: time, side, speed, plots, options; both ways.
        height : int
            px.
        """

        _esm = static("widget.js")
        scene = traitlets.Bytes().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)
        height = traitlets.Int(HEIGHT, min=LEAST_HEIGHT).tag(sync=True)
        # What a page shows that has no widgets, such as an exported notebook.
        picture: Callable[[], str] = str

        def _repr_mimebundle_(self, **options: Any) -> Any:
            given = cast(Any, super()._repr_mimebundle_(**options))
            own: Any = given[0] if given else {}  # nothing, of one not yet open
            return {**own, "text/html": self.picture()}, {}

    return Viewer


def widget(
    result: Result,
    parameters: Parameters = (),
    *,
    height: int = HEIGHT,
    state: dict[str, Any] | None = None,
    title: str | None = None,
) -> Any:
    """Return a widget that shows a run in a notebook.

    Parameters
    ----------
    result : Result
    parameters : mapping, or sequence of dict
        What the run was made with, for the reader: values by name; or name and value
        of each, unit and meaning if it has them.
    height : int
        px.
    state : dict, optional
        What to show at first, e.g. {"t": 0.2, "plots": [["motor.torque"]]}.
    title : str, optional
        That of the model by default.
    """
    is_number = isinstance(height, int)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_number or height < LEAST_HEIGHT:
        raise ModelError(f"height = {height!r}; give at least {LEAST_HEIGHT} px")
    kind = _widget_class()
    document = scene(result, parameters, BUDGET, title)
    viewer = kind(scene=document, state=dict(state or {}), height=height)
    viewer.picture = lambda: words_and_picture(result, result.draw)
    return viewer
