"""Runs of the gallery and their documents, made once for all that look at them."""

from typing import Any

import pytest

from nonsmooth import gallery, simulate
from nonsmooth.views.scene import scene
from oracles.scene_reader import Document

# Shorter than by default, s.
UNTIL = {
    "ball_on_beam": 2e-4,
    "box_stack": 0.5,
    "compactor": 0.2,
    "elastic_gripper": 0.05,
    "elastic_slider_crank": 0.01,
    "free_standing": 1.0,
    "friction_laws": 2.0,
    "latch": 0.5,
    "transverse_bars": 5e-4,
}


@pytest.fixture(scope="session")
def documents():
    """Return a result and its document by the name of the system."""
    found: dict[str, Any] = {}

    def get(name):
        if name not in found:
            until = UNTIL.get(name, gallery.duration(name))
            result = simulate(gallery.build(name), until=until)
            found[name] = result, Document(scene(result))
        return found[name]

    return get
