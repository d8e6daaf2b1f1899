"""The notebook widget, without a browser: its traits, and what it says if missing."""

import sys
from dataclasses import replace

import pytest

from nonsmooth import ModelError, Run, gallery, simulate
from nonsmooth.views import report as report_module
from nonsmooth.views import widget as widget_module
from nonsmooth.views.scene import scene
from nonsmooth.views.widget import HEIGHT, widget
from oracles.scene_reader import Document


@pytest.fixture(scope="module")
def result():
    return simulate(gallery.build("incline"), until=0.5)


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """Let every test make its own class, with a viewer that is not the real one."""
    (tmp_path / "widget.js").write_text("export default { render() {} };")
    monkeypatch.setattr(report_module, "STATIC", tmp_path)
    widget_module._widget_class.cache_clear()
    yield
    widget_module._widget_class.cache_clear()


def test_traits(result):
    pytest.importorskip("anywidget")
    shown = result.widget([{"name": "mu", "value": 0.3}], state={"t": 0.25})
    assert shown.scene == scene(result, [{"name": "mu", "value": 0.3}])
    assert Document(shown.scene).header["parameters"][0]["name"] == "mu"
    assert shown.state == {"t": 0.25}
    assert shown.height == HEIGHT
    synced = set(shown.keys)  # what a notebook gets
    assert {"scene", "state", "height", "_esm"} <= synced
    assert "export default" in shown.get_state()["_esm"]


def test_state_is_the_callers_own(result):
    pytest.importorskip("anywidget")
    state = {"t": 0.1}
    shown = widget(result, state=state)
    shown.state = {"t": 0.2}
    assert state == {"t": 0.1}


def test_it_opens_on_the_plots_of_the_model():
    pytest.importorskip("anywidget")
    model = replace(gallery.build("incline"), run=Run(until=0.1, plot=("block.x",)))
    shown = simulate(model).widget()
    assert Document(shown.scene).header["plots"] == [["block.x"]]


def test_height(result):
    pytest.importorskip("anywidget")
    assert widget(result, height=300).height == 300
    with pytest.raises(ModelError, match="at least 240 px"):
        widget(result, height=10)


def test_without_anywidget(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'nonsmooth\[notebook\]'"):
        result.widget()


def test_without_build(result, tmp_path, monkeypatch):
    pytest.importorskip("anywidget")
    monkeypatch.setattr(report_module, "STATIC", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"widget\.js is missing"):
        result.widget()


def test_a_picture_where_there_are_no_widgets(result):
    """As in a notebook that was exported to HTML."""
    pytest.importorskip("anywidget")
    pytest.importorskip("matplotlib")
    data, _ = widget(result)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "Result of model" in data["text/html"]
    assert 'src="data:image/png;base64,' in data["text/html"]
