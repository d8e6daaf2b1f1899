"""What a notebook shows of a thing that can be drawn: its words and a picture."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def words_and_picture(thing: object, draw: Callable[[], Figure]) -> str:
    """Return HTML; without a picture where none can be made."""
    words = f"<pre>{html.escape(repr(thing))}</pre>"
    try:
        figure = draw()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=100)
    # A notebook asks by itself: whatever fails, the words are there.
    except Exception as error:
        return f"{words}<p>no picture: {html.escape(str(error))}</p>"
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'{words}<img alt="" src="data:image/png;base64,{data}">'
