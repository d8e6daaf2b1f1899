"""The notebook widget in a browser, with a model that stands for the notebook's.

The traits are those of a real widget; the messages between kernel and page are not.
"""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from nonsmooth import Result
from tests.e2e.conftest import Watch
from tests.e2e.pages import part, settle, wait_until
from tests.e2e.runs import SINGLE, run

pytest.importorskip("anywidget")
pytestmark = pytest.mark.browser

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>a notebook</title>
<link rel="icon" href="data:,"></head>
<body><div id="before">above</div><div id="cell" style="width: 900px"></div>
<textarea id="code"></textarea></body>
</html>
"""

# What anywidget hands to a widget, with bytes as a DataView and events in the page.
MODEL = """async ({ height, state }) => {
  const traits = { height, state };
  const bytes = await (await fetch("belt.scene")).arrayBuffer();
  traits.scene = new DataView(bytes);
  const listeners = new Map();
  const tell = (name) => (listeners.get(`change:${name}`) ?? []).forEach((f) => f());
  window.saved = 0;
  window.model = {
    get: (name) => traits[name],
    set: (name, value) => {
      traits[name] = structuredClone(value);
      tell(name);
    },
    save_changes: () => (window.saved += 1),
    on: (event, f) => listeners.set(event, [...(listeners.get(event) ?? []), f]),
    off: (event, f) =>
      listeners.set(event, (listeners.get(event) ?? []).filter((g) => g !== f)),
  };
  window.listening = () => [...listeners.values()].flat().length;
  const { default: widget } = await import("./widget.js");
  const el = document.getElementById("cell");
  window.cleanUp = await widget.render({ model: window.model, el });
}"""


class Quiet(SimpleHTTPRequestHandler):
    def guess_type(self, path: Any) -> str:
        # A module is taken as one only by this type, which some systems do not know.
        if str(path).endswith(".js"):
            return "text/javascript"
        return super().guess_type(path)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def belt() -> Result:
    return run("belt")


@pytest.fixture(scope="module")
def address(belt: Result, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A notebook's server: the page, the module and two documents."""
    folder: Path = tmp_path_factory.mktemp("notebook")
    widget = belt.widget(height=500)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "widget.js").write_text(str(widget._esm), encoding="utf-8")
    (folder / "belt.scene").write_bytes(widget.scene)
    other = run("stopping").widget()
    (folder / "other.scene").write_bytes(other.scene)
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
        server.shutdown()
        thread.join()


def show(page: Page, address: str, **state: Any) -> None:
    page.goto(address)
    page.evaluate(MODEL, {"height": 500, "state": state})
    expect(part(page, "scene")).to_be_visible()
    settle(page)


def sent(page: Page) -> dict[str, Any]:
    return page.evaluate("window.model.get('state')")


def test_it_draws_in_its_cell(page: Page, address: str):
    show(page, address)
    cell = page.locator("#cell").bounding_box()
    scene = part(page, "scene").bounding_box()
    assert cell is not None
    assert scene is not None
    assert cell["height"] == pytest.approx(500.0, abs=1.0)
    assert scene["x"] >= cell["x"]
    assert scene["y"] >= cell["y"]
    assert scene["x"] + scene["width"] <= cell["x"] + cell["width"] + 0.5
    assert scene["y"] + scene["height"] <= cell["y"] + cell["height"] + 0.5
    assert scene["width"] > 200.0
    assert scene["height"] > 100.0
    colours = part(page, "scene").evaluate(
        """canvas => {
          const { width, height } = canvas;
          const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )
    assert colours > 5
    expect(part(page, "plot").first).to_be_visible()
    # The rest of the notebook looks as before.
    assert page.evaluate("getComputedStyle(document.body).overflow") == "visible"
    height = "getComputedStyle(document.getElementById('cell')).height"
    page.evaluate("window.model.set('height', 620)")
    wait_until(page, f"() => {height} === '620px'")


def test_the_state_goes_both_ways(page: Page, address: str, belt: Result):
    t = belt.events[2].t
    show(page, address, t=t, side="before", tab="events")
    # From Python at first,
    expect(part(page, "side")).to_have_attribute("data-side", "before")
    expect(part(page, "tab-events")).to_have_attribute("aria-selected", "true")
    # from the page to Python,
    part(page, "next-event").click()
    wait_until(page, "(t) => window.model.get('state').t === t", belt.events[3].t)
    assert sent(page)["side"] == "after"
    assert page.evaluate("window.saved") >= 1
    # and from Python later.
    t = belt.events[5].t
    page.evaluate("(t) => window.model.set('state', { t, tab: 'plots' })", t)
    expect(part(page, "tab-plots")).to_have_attribute("aria-selected", "true")
    text = part(page, "time").inner_text()
    assert float(text.removesuffix(" s")) == pytest.approx(t, abs=1e-4)
    # A legend is that of the result; its numbers have four digits.
    name = "sole.normal_force"
    value = page.locator(f'[data-name="{name}"] output').inner_text()
    expected = float(belt.sample(t, name)[name][0])
    assert float(value.split()[-2]) == pytest.approx(expected, rel=0.5e-3 + SINGLE)


def test_playing_does_not_flood_the_kernel(page: Page, address: str):
    show(page, address)
    part(page, "play").click()
    settle(page, 40)
    # Nothing is sent but what the reader sets: the time follows when it rests.
    assert page.evaluate("window.saved") <= 2
    part(page, "pause").click()
    wait_until(page, "() => window.model.get('state').t > 0")


def test_another_run(page: Page, address: str):
    show(page, address)
    page.evaluate(
        """async () => {
          const bytes = await (await fetch("other.scene")).arrayBuffer();
          window.model.set("scene", new DataView(bytes));
        }"""
    )
    expect(page.locator('[data-name^="ball."]').first).to_be_visible()
    expect(page.locator('[data-name^="sole."]')).to_have_count(0)


def test_a_broken_run_is_explained(page: Page, address: str, watch: Watch):
    watch.expect("console")
    show(page, address)
    page.evaluate(
        "window.model.set('scene', new DataView(new Uint8Array([1, 2, 3]).buffer))"
    )
    expect(part(page, "error")).to_contain_text("cannot be shown")
    # A good one brings it back.
    page.evaluate(
        """async () => {
          const bytes = await (await fetch("belt.scene")).arrayBuffer();
          window.model.set("scene", new DataView(bytes));
        }"""
    )
    expect(part(page, "scene")).to_be_visible()


def test_keys_belong_to_the_notebook(page: Page, address: str, belt: Result):
    show(page, address)
    page.locator("#code").click()
    page.keyboard.type("f = 1. , ")
    page.keyboard.press("Home")
    assert page.locator("#code").input_value() == "f = 1. , "
    expect(part(page, "play")).to_be_visible()
    page.locator("#before").click()
    page.keyboard.press("Space")
    expect(part(page, "play")).to_be_visible()
    # In the cell they are the viewer's.
    part(page, "timeline").focus()
    page.keyboard.press(".")
    wait_until(page, "(t) => window.model.get('state').t === t", belt.events[0].t)


def test_nothing_is_left_behind(page: Page, address: str):
    show(page, address)
    part(page, "play").click()
    assert page.evaluate("window.listening()") > 0
    page.evaluate("window.cleanUp()")
    assert page.evaluate("window.listening()") == 0
    assert page.locator("#cell").inner_html() == ""
    saved = page.evaluate("window.saved")
    # No frame is asked for any more but by this test, and no message is late.
    settle(page)
    page.evaluate(
        """() => {
          const ask = window.requestAnimationFrame.bind(window);
          window.asked = 0;
          window.requestAnimationFrame = (call) => ((window.asked += 1), ask(call));
        }"""
    )
    settle(page, 40)
    assert page.evaluate("window.asked") == 40
    assert page.evaluate("window.saved") == saved
