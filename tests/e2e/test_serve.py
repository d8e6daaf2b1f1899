"""The app in a browser: pick, change, run, cancel, compare; the real command."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from nonsmooth import Result, gallery, io, simulate
from tests.e2e.conftest import PHONE, NewPage, Watch
from tests.e2e.pages import PATIENCE, check_readable, open_report, part, wait_until
from tests.e2e.runs import SINGLE, failing, stopping

pytestmark = pytest.mark.browser

START = 120.0  # s, that a busy machine may take to start the server
# A run loads the solver, and on a new machine compiles it, before it moves, ms.
FIRST_RUN = 240_000
# One for all servers of these tests, so that a page finds one that starts again.
TOKEN = "token-of-the-browser-tests"
# Refused requests are errors to the browser, and are what some tests are about.
REFUSED = r"status of 4\d\d"


@dataclass
class Server:
    """The command under way."""

    process: "subprocess.Popen[str]"
    address: str
    folder: Path

    def stop(self) -> int:
        """Press Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30.0)


def start(folder: Path, port: str = "0", token: str = TOKEN) -> Server:
    """Start the command and wait until it says where it is."""
    words = ["serve", str(folder), "--port", port, "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nonsmooth.app.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A group of its own: Ctrl-C in the terminal of the tests is not for it.
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NONSMOOTH_TOKEN": token},
    )
    lines: Queue[str] = Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    try:
        first = lines.get(timeout=START)
    except Empty:
        process.kill()
        raise AssertionError("the server says nothing") from None
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", first)
    if not found:
        process.kill()
        raise AssertionError(f"no address: {first}")
    return Server(process=process, address=found[0], folder=folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("models")
    io.save(stopping(), folder / "ball.yaml")
    running = start(folder)
    yield running
    if running.process.poll() is None:
        assert running.stop() == 0


def open_app(page: Page, server: Server, state: str = "system=belt&until=1") -> None:
    """Open the app on a system and wait until a run of it is shown."""
    page.goto(server.address + (f"#{state}" if state else ""))
    drawn(page)
    if page.evaluate("window.nonsmoothApp.viewer.isStill"):
        run(page)


def drawn(page: Page) -> None:
    """Wait until there is a picture: of a run, or of a start."""
    wait_until(page, "() => window.nonsmoothApp?.viewer", patience=FIRST_RUN)


def still(page: Page, title: str | None = None) -> None:
    """Wait until a start is drawn, and not a run."""
    wait_until(page, "() => window.nonsmoothApp?.viewer?.isStill")
    if title is not None:
        expect(part(page, "title")).to_have_text(title)


def shown(page: Page) -> None:
    """Wait until no run is under way and the viewer of one is there."""
    wait_until(
        page,
        "() => window.nonsmoothApp?.viewer && !window.nonsmoothApp.viewer.isStill"
        " && document.querySelector('[data-test=progress]')?.hidden",
        patience=FIRST_RUN,
    )


# The newest run of the list; that which is shown.
NEWEST = '[data-test="runs"] [data-test^="run-"]'
SHOWN = '[data-test="runs"] [aria-current]:not([aria-current="false"])'


def run(page: Page) -> str:
    """Press Run and wait until that run is shown; return its number."""
    name = "(at) => document.querySelector(at)?.dataset.test ?? null"
    before = page.evaluate(name, NEWEST)
    part(page, "run").click()
    wait_until(page, f"([at, last]) => ({name})(at) !== last", [NEWEST, before])
    found = page.evaluate(name, NEWEST)
    wait_until(page, f"([at, own]) => ({name})(at) === own", [SHOWN, found], FIRST_RUN)
    shown(page)
    return found.removeprefix("run-")


def simulating(page: Page, until: int) -> None:
    """Wait until the progress of a run is seen."""
    wait_until(
        page,
        "(words) => document.querySelector('[data-test=progress]').textContent"
        ".includes(words)",
        f"of {until} s",
        FIRST_RUN,
    )


def count(page: Page) -> int:
    return page.locator('[data-test="runs"] li').count()


def state(page: Page) -> dict[str, Any]:
    return page.evaluate("window.nonsmoothApp.viewer.state()")


def check_numbers(page: Page, result: Result, names: list[str]) -> None:
    """Compare values at the end of the run, and at its first event, with a result."""
    times = [result.t_end, *result.events.t.tolist()[:1]]
    for t in times:
        for name in names:
            found = page.evaluate(
                "([t, name]) => { const { viewer } = window.nonsmoothApp;"
                "viewer.setTime(t); return viewer.probe(name); }",
                [t, name],
            )
            for side in ("before", "after"):
                expected = float(result.sample(t, name, limit=side)[name][0])
                size = float(np.abs(result[name]).max())
                # The same code on the same numbers, then single precision.
                assert found[side] == pytest.approx(
                    expected, abs=2 * SINGLE * size + 1e-15
                )


# ---- running ---------------------------------------------------------------------


def test_the_page_draws_a_system_at_once(server: Server, page: Page):
    page.goto(server.address)
    still(page, "compactor")
    expect(part(page, "system")).to_have_value("compactor")
    expect(part(page, "status")).to_have_text("not run yet")
    assert page.locator(NEWEST).count() == 0
    names = (
        part(page, "system")
        .locator("option")
        .evaluate_all("options => options.map((option) => option.value)")
    )
    assert set(gallery.names()) <= set(names)
    assert "file:ball.yaml" in names


def test_a_parameter_by_field(server: Server, page: Page):
    open_app(page, server)
    part(page, "param-mu").fill("0.15")
    part(page, "until").fill("2.5")
    run(page)
    result = simulate(gallery.build("belt", mu=0.15), 2.5)
    check_numbers(page, result, ["block.x", "block.vx", "sole.friction_force"])
    values = page.evaluate(
        "window.nonsmoothApp.viewer.runs[0].header.parameters"
        ".map(({ name, value }) => [name, value])"
    )
    assert dict(values)["mu"] == 0.15


def test_a_parameter_by_slider(server: Server, page: Page):
    open_app(page, server)
    slider = part(page, "slider-speed")
    before = part(page, "param-speed").input_value()
    box = slider.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"])
    speed = part(page, "param-speed").input_value()
    assert speed != before
    low, high = next(
        (p.low, p.high) for p in gallery.parameters("belt") if p.name == "speed"
    )
    assert low is not None
    assert high is not None
    assert low <= float(speed) <= high
    # The field moves the slider, too.
    part(page, "param-speed").fill(str(low))
    assert slider.input_value() == "0"
    part(page, "param-speed").fill(speed)
    run(page)
    result = simulate(gallery.build("belt", speed=float(speed)), 1.0)
    check_numbers(page, result, ["block.x", "sole.slip_velocity"])


def test_picking_a_system(server: Server, page: Page):
    open_app(page, server)
    part(page, "system").select_option("slider_crank")
    still(page, gallery.build("slider_crank").title)
    # Every parameter has a field with its default.
    for parameter in gallery.parameters("slider_crank"):
        field = part(page, f"param-{parameter.name}")
        expect(field).to_have_count(1)
        if isinstance(parameter.default, float):
            value = float(field.input_value())
            # Fields show seven digits.
            assert value == pytest.approx(parameter.default, rel=1e-6)
    page.go_back()
    expect(part(page, "system")).to_have_value("belt")
    shown(page)
    expect(part(page, "title")).to_have_text(gallery.build("belt").title)


def test_progress_and_cancel(server: Server, page: Page):
    open_app(page, server)
    part(page, "system").select_option("compactor")
    still(page, "compactor")
    part(page, "until").fill("1000")
    part(page, "run").click()
    expect(part(page, "cancel")).to_be_visible()
    expect(part(page, "progress")).to_be_visible()
    # It moves.
    simulating(page, 1000)
    expect(part(page, "status")).to_have_text("running")
    # The page can be used meanwhile.
    part(page, "zoom-in").click()
    part(page, "cancel").click()
    expect(part(page, "progress")).to_be_hidden()
    expect(part(page, "message")).to_contain_text("cancelled at t =")
    current = page.locator(SHOWN)
    expect(current).to_have_attribute("data-state", "cancelled")
    # What was computed is there, and agrees with a run of that length.
    end = page.evaluate("window.nonsmoothApp.viewer.runs[0].header.run.t_end")
    assert 0.0 < end < 1000.0
    expect(part(page, "status")).to_have_text("stopped")
    # And the next run works.
    part(page, "until").fill("0.1")
    run(page)
    expect(part(page, "status")).to_have_text("finished")
    result = simulate(gallery.build("compactor"), 0.1)
    check_numbers(page, result, ["box.x", "left.normal_force"])


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("param-mu", "abc", "mu"),
        ("param-mu", "-1", "mu"),
        ("param-m", "0", "m = 0"),
        ("until", "-2", "until"),
        ("until", "soon", "until"),
    ],
)
def test_bad_input_is_explained_and_nothing_runs(
    server: Server, page: Page, watch: Watch, field: str, text: str, words: str
):
    watch.expect(REFUSED)
    open_app(page, server)
    runs = count(page)
    at = state(page)["t"]
    part(page, field).fill(text)
    # At the field, before anything is run.
    error = page.locator(".sv-error", has_text=words)
    expect(error).to_be_visible()
    part(page, "run").click()
    expect(error).to_be_visible()
    expect(part(page, "progress")).to_be_hidden()
    assert count(page) == runs
    assert state(page)["t"] == at
    # Set right, it works again.
    part(page, field).fill("0.2" if field == "param-mu" else "1")
    expect(page.locator(".sv-error", has_text=words)).to_have_count(0)
    run(page)
    expect(part(page, "status")).to_have_text("finished")


def test_a_run_that_fails_is_explained(server: Server, page: Page):
    open_app(page, server)
    upload(page, "ends.yaml", io.dumps(failing()))
    part(page, "until").fill("0.3")
    part(page, "run").click()
    expect(part(page, "message")).to_contain_text("'push' is not finite")
    shown(page)
    # What came before is shown.
    expect(part(page, "status")).to_have_text("failed")
    expect(part(page, "title")).to_have_text("a force that ends")


# ---- files -----------------------------------------------------------------------


def upload(page: Page, name: str, text: str) -> None:
    file = {"name": name, "mimeType": "text/yaml", "buffer": text.encode()}
    part(page, "upload").set_input_files(file)  # type: ignore[arg-type]


def test_a_file_of_the_folder(server: Server, page: Page):
    open_app(page, server)
    part(page, "system").select_option("file:ball.yaml")
    part(page, "until").fill("1")
    # Its fields can be changed.
    field = part(page, "param-ball.mass")
    expect(field).to_have_value("1")
    field.fill("2")
    run(page)
    expect(part(page, "title")).to_have_text("a ball that is caught")
    expect(part(page, "status")).to_have_text("stopped")
    check_numbers(page, simulate(stopping(), 1.0), ["ball.y", "ball.vy"])
    kinetic = page.evaluate("window.nonsmoothApp.viewer.probe('energy:kinetic').after")
    # m g h with h = 0.5 m, at the first event, and single precision.
    assert kinetic == pytest.approx(2.0 * 9.81 * 0.5, rel=1e-6)


def test_a_file_of_the_user(server: Server, page: Page, tmp_path: Path):
    open_app(page, server)
    path = tmp_path / "mine.yaml"
    io.save(stopping(), path)
    upload(page, "mine.yaml", path.read_text(encoding="utf-8"))
    expect(part(page, "system")).to_have_value("text:mine.yaml")
    part(page, "until").fill("1")
    run(page)
    check_numbers(page, simulate(stopping(), 1.0), ["ball.y", "ball.vy"])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("bad.yaml", "nonsmooth: 1\nbodies:\n  - {type: Rigidbody}\n", "Rigidbody"),
        ("bad.yaml", "a: [1, 2", "line 2"),
        ("bad.json", "{]", "line 1"),
        ("bad.txt", "hello", "ends in .yaml"),
    ],
)
def test_a_file_that_is_no_model(
    server: Server, page: Page, watch: Watch, name: str, text: str, words: str
):
    watch.expect(REFUSED)
    open_app(page, server)
    runs = count(page)
    upload(page, name, text)
    expect(part(page, "message")).to_contain_text(re.compile(words, re.IGNORECASE))
    assert count(page) == runs
    if name.endswith(".txt"):
        # What is no model is not taken at all.
        shown(page)
    else:
        # It is not the picture of another one.
        expect(part(page, "empty")).to_contain_text(f"{name} is not valid")
        expect(part(page, "empty")).to_contain_text(re.compile(words, re.IGNORECASE))
        assert page.locator(SHOWN).count() == 0
    # The app is as it was.
    part(page, "system").select_option("belt")
    drawn(page)


# ---- comparing -------------------------------------------------------------------


def test_two_runs_side_by_side(server: Server, page: Page):
    open_app(page, server)
    part(page, "param-mu").fill("0.22")
    first = run(page)
    part(page, "param-mu").fill("0.28")
    second = run(page)
    assert second != first
    part(page, f"compare-{first}").check()
    expect(part(page, "run-legend")).to_contain_text("mu = 0.22")
    expect(part(page, "run-legend")).to_contain_text("mu = 0.28")
    runs = page.evaluate(
        "window.nonsmoothApp.viewer.runs.map((run) => run.header.parameters"
        ".find(({ name }) => name === 'mu').value)"
    )
    assert runs == [0.28, 0.22]
    # The legend gives both values at the time shown.
    t = 0.8
    page.evaluate("t => window.nonsmoothApp.viewer.setTime(t)", t)
    name = "sole.friction_force"
    text = page.locator(f'[data-name="{name}"] output').inner_text()
    values = [float(x.replace("−", "-")) for x in re.findall(r"[−\d.]+", text)]
    expected = [
        float(simulate(gallery.build("belt", mu=mu), 1.0).sample(t, name)[name][0])
        for mu in (0.28, 0.22)
    ]
    # Four digits.
    assert values == pytest.approx(expected, rel=1e-3)
    part(page, f"compare-{first}").uncheck()
    expect(part(page, "run-legend")).to_have_count(0)
    # Another run is shown with its form.
    part(page, f"run-{first}").click()
    expect(part(page, "param-mu")).to_have_value("0.22")
    runs_before = count(page)
    part(page, f"delete-{second}").click()
    expect(part(page, f"run-{second}")).to_have_count(0)
    assert count(page) == runs_before - 1


def test_what_is_compared_is_of_one_system(server: Server, page: Page):
    open_app(page, server)
    first = run(page)
    run(page)
    part(page, f"compare-{first}").check()
    expect(part(page, "run-legend")).to_be_visible()
    part(page, "system").select_option("incline")
    still(page, gallery.build("incline").title)
    run(page)
    assert page.evaluate("window.nonsmoothApp.viewer.runs.length") == 1


def test_the_report_of_a_run_works_alone(server: Server, page: Page, tmp_path: Path):
    open_app(page, server)
    number = run(page)
    with page.expect_download() as waiting:
        part(page, f"report-{number}").click()
    path = tmp_path / "run.html"
    waiting.value.save_as(path)
    open_report(page, path.as_uri())
    expect(part(page, "title")).to_have_text(gallery.build("belt").title)


# ---- the address -----------------------------------------------------------------


def test_the_address_restores_form_and_view(server: Server, page: Page):
    open_app(page, server)
    part(page, "param-mu").fill("0.17")
    part(page, "until").fill("1.5")
    run(page)
    part(page, "next-event").click()
    part(page, "tab-energy").click()
    t = state(page)["t"]
    wait_until(page, "() => location.hash.includes('tab=energy')")
    address = page.url
    runs = count(page)
    page.reload()
    shown(page)
    expect(part(page, "system")).to_have_value("belt")
    expect(part(page, "param-mu")).to_have_value("0.17")
    expect(part(page, "until")).to_have_value("1.5")
    assert state(page)["t"] == t
    assert state(page)["tab"] == "energy"
    # The server has that run: it is not computed again.
    assert count(page) == runs
    page.goto("about:blank")
    page.goto(address)
    shown(page)
    assert state(page)["t"] == t


@pytest.mark.parametrize(
    "state",
    [
        "system=nothing",
        "system=belt&p.mu=%F0%9F&until=abc",
        "file=../../etc/passwd",
        "t=NaN&plots=;;&speed=-1",
    ],
)
def test_an_address_that_makes_no_sense(
    server: Server, page: Page, watch: Watch, state: str
):
    watch.expect(REFUSED)
    page.goto(f"{server.address}#{state}")
    wait_until(page, "() => window.nonsmoothApp !== undefined")
    # Whatever it was, one can go on from here.
    part(page, "system").select_option("incline")
    expect(part(page, "title")).to_have_text(
        gallery.build("incline").title, timeout=FIRST_RUN
    )


# ---- around ----------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_names_and_contrast(server: Server, new_page: NewPage, theme: Any):
    page = new_page(color_scheme=theme)
    open_app(page, server)
    part(page, "param-mu").fill("0.9")
    expect(page.locator(".sv-error:visible")).to_have_count(1)
    page.evaluate(
        "document.querySelectorAll('.sv-panel details')"
        ".forEach((fold) => { fold.open = true; })"
    )
    check_readable(page)


def test_the_app_on_a_phone(server: Server, new_page: NewPage):
    page = new_page(
        viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=3.0
    )
    open_app(page, server)
    wide = "document.scrollingElement.scrollWidth"
    assert page.evaluate(wide) <= PHONE["width"]
    part(page, "drawer").tap()
    expect(part(page, "run")).to_be_in_viewport()
    assert page.evaluate(wide) <= PHONE["width"]
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(
            "[data-test=drawer], [data-test=run], [data-test=system], "
            + "[data-test=until], [data-test=param-mu]"
          )].map((node) => [
            node.dataset.test, node.getBoundingClientRect().height
          ])"""
    )
    assert len(sizes) == 5
    for name, high in sizes:
        assert high >= 40.0, (name, high)
    part(page, "param-mu").fill("0.23")
    part(page, "run").tap()
    # The drawer closes, and the picture is seen.
    expect(part(page, "scene")).to_be_in_viewport()
    shown(page)
    expect(part(page, "status")).to_have_text("finished")


def test_a_lost_server_is_missed_and_found(page: Page, watch: Watch, tmp_path: Path):
    watch.expect("ERR_CONNECTION|ERR_EMPTY|Failed to fetch|status of")
    server = start(tmp_path)
    open_app(page, server)
    assert server.stop() == 0
    part(page, "run").click()
    banner = page.get_by_text("does not answer")
    expect(banner).to_be_visible()
    port = str(urlsplit(server.address).port)
    # The picture can still be played.
    part(page, "play").click()
    expect(part(page, "pause")).to_be_visible()
    again = start(tmp_path, port)
    try:
        expect(banner).to_be_hidden(timeout=4 * PATIENCE)
        part(page, "until").fill("1.25")
        part(page, "run").click()
        wait_until(
            page,
            "() => window.nonsmoothApp.viewer?.runs[0].header.run.t_end === 1.25",
            patience=FIRST_RUN,
        )
    finally:
        assert again.stop() == 0


def test_the_server_ends_during_a_run(page: Page, watch: Watch, tmp_path: Path):
    watch.expect("ERR_|Failed to fetch|status of")
    server = start(tmp_path)
    open_app(page, server)
    part(page, "system").select_option("compactor")
    still(page, "compactor")
    part(page, "until").fill("1000")
    part(page, "run").click()
    simulating(page, 1000)
    assert server.stop() == 0
