"""The report in a browser: what it shows is what the result says."""

import csv
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from nonsmooth import Result
from nonsmooth.app import cli
from nonsmooth.columns import ACTING
from nonsmooth.views import contacts
from nonsmooth.views.figure import MODES
from oracles.bearings import place
from tests.e2e.conftest import PHONE, NewPage, Watch
from tests.e2e.pages import check_readable, open_report, part, settle, wait_until
from tests.e2e.runs import SINGLE, Report, run

pytestmark = pytest.mark.browser

RUNS = (
    "compactor",
    "belt",
    "free_standing",
    "slider_in_guide",
    "pendulum_chain",
    "failing",
    "stopping",
)
SIDES: tuple[Literal["before"], Literal["after"]] = ("before", "after")
# Digits of numbers in legends, and half a unit of the last one.
DIGITS, HALF = 4, 0.5e-3
LARGEST = 2_000_000  # bytes of a report of a typical run


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("reports")
    found: dict[str, Report] = {}
    for name in RUNS:
        result = run(name)
        path = folder / f"{name}.html"
        result.report(path)
        found[name] = Report(result=result, path=path)
    return found


# ---- what a test does on a page --------------------------------------------------


def show(page: Page, report: Report) -> None:
    open_report(page, report.address)


def state(page: Page) -> dict[str, Any]:
    return page.evaluate("window.nonsmooth.viewer.state()")


def set_time(page: Page, t: float, side: str = "after") -> None:
    page.evaluate("([t, side]) => window.nonsmooth.viewer.setTime(t, side)", [t, side])


def set_speed(page: Page, speed: float) -> None:
    values = (
        part(page, "speed")
        .locator("option")
        .evaluate_all("options => options.map((option) => option.value)")
    )
    part(page, "speed").select_option(next(v for v in values if float(v) == speed))
    assert state(page)["speed"] == speed


def header(page: Page) -> dict[str, Any]:
    return page.evaluate("window.nonsmooth.run.header")


def picture(page: Page) -> str:
    """Return what is on the canvas."""
    return part(page, "scene").evaluate("canvas => canvas.toDataURL()")


def shown_number(text: str) -> float:
    """Return a number as the viewer writes it: −1.2·10⁻³."""
    plain = text.strip().replace("−", "-")
    plain = re.sub(r"·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "e" + _plain(m[1]), plain)
    return float(plain)


def _plain(raised: str) -> str:
    return raised.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))


def shown_sides(text: str, unit: str) -> tuple[float, float]:
    """Return the one-sided values in a legend: one if they agree, else two."""
    assert text.endswith(unit), text
    numbers = [shown_number(piece) for piece in text.removesuffix(unit).split("→")]
    return numbers[0], numbers[-1]


def instants(result: Result) -> list[float]:
    """Return the times of events, each once."""
    return sorted(set(result.events.t.tolist()))


def sample(result: Result, t: float, name: str, side: Any) -> float:
    return float(result.sample(t, name, limit=side)[name][0])


# ---- opening ---------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_a_report_opens_and_says_what_it_is(
    reports: dict[str, Report], page: Page, name: str
):
    report = reports[name]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    show(page, report)
    result = report.result
    expect(part(page, "title")).to_have_text(result.system.model.title)
    expect(page).to_have_title(re.compile(re.escape(result.system.model.title)))
    expect(part(page, "status")).to_have_text(result.status)
    if result.status != "finished":
        expect(page.get_by_text(result.message).first).to_be_visible()
    # A drawing, not an empty sheet: paper, grid and at least outlines.
    colours = part(page, "scene").evaluate(
        """canvas => {
          const { width, height } = canvas;
          const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )
    assert colours > 5
    assert asked == [report.address]
    assert report.path.stat().st_size <= LARGEST
    part(page, "tab-summary").click()
    expect(page.get_by_text("written by")).to_be_visible()
    for tab in ("energy", "events", "plots"):
        part(page, f"tab-{tab}").click()
        settle(page)


def test_the_watch_sees_what_a_page_asks_for(page: Page, watch: Watch):
    """Other tests rely on it to prove that nothing is fetched."""
    page.set_content('<img src="http://example.invalid/a.png">')
    page.evaluate("fetch('https://example.invalid/b').catch(() => null)")
    page.evaluate("console.error('c')")
    found = " ".join(watch.problems)
    for words in ("invalid/a.png", "invalid/b", "console: c"):
        assert words in found
    watch.problems.clear()


def test_the_command_writes_the_same_page(tmp_path: Path, page: Page):
    path = tmp_path / "belt.html"
    words = ["run", "belt", "--until", "1", "--set", "mu=0.25", "--report", str(path)]
    assert cli.main(words) == 0
    open_report(page, path.as_uri())
    values = {item["name"]: item["value"] for item in header(page)["parameters"]}
    assert values["mu"] == 0.25
    part(page, "tab-summary").click()
    row = page.locator("tr", has=page.locator("th", has_text=re.compile("^mu$")))
    expect(row).to_contain_text("0.25")


def test_a_damaged_report_says_so(
    reports: dict[str, Report], page: Page, watch: Watch, tmp_path: Path
):
    watch.expect("console|error")
    text = reports["belt"].path.read_text(encoding="utf-8")
    found = re.search(r'(id="scene"[^>]*>)([^<]*)', text)
    assert found is not None
    path = tmp_path / "damaged.html"
    data = found[2]
    path.write_text(text.replace(data, data[: len(data) // 8 * 4]), encoding="utf-8")
    page.goto(path.as_uri())
    expect(part(page, "error")).to_be_visible()
    expect(part(page, "error")).to_contain_text("cannot be shown")


def test_the_address_keeps_what_is_seen(reports: dict[str, Report], page: Page):
    report = reports["belt"]
    show(page, report)
    t = instants(report.result)[2]
    set_time(page, t, "before")
    part(page, "toggle-names").click()
    part(page, "tab-energy").click()
    wait_until(page, "() => location.hash.includes('tab=energy')")
    before = state(page)
    page.reload()
    wait_until(page, "() => window.nonsmooth !== undefined")
    settle(page)
    assert state(page) == before
    assert before["t"] == t
    assert before["side"] == "before"
    expect(part(page, "side")).to_have_attribute("data-side", "before")


def test_a_guide_opens_on_the_ends_of_its_block(
    page: Page, reports: dict[str, Report]
) -> None:
    """What the page asks for is what the viewer reads, and an address overrules it."""
    show(page, reports["slider_in_guide"])
    assert state(page)["plots"][0] == ["guide.front_force", "guide.rear_force"]
    open_report(page, f"{reports['slider_in_guide'].address}#plots=slider.x")
    assert state(page)["plots"] == [["slider.x"]]


# ---- time ------------------------------------------------------------------------

# Wraps the scene's draw: what time it was on the wall, and in the picture.
RECORD = """() => {
  const { scene } = window.nonsmooth.viewer;
  const draw = scene.draw;
  window.frames_drawn = [];
  scene.draw = function (instant, ...rest) {
    window.frames_drawn.push([performance.now() / 1000, instant.t]);
    return draw.call(this, instant, ...rest);
  };
}"""


@pytest.mark.parametrize("speed", [1.0, 0.1, 1e-3, 1e-6])
def test_time_passes_at_the_speed_chosen(
    reports: dict[str, Report], page: Page, speed: float
):
    show(page, reports["belt"])
    set_speed(page, speed)
    set_time(page, 0.5)
    page.evaluate(RECORD)
    part(page, "play").click()
    wait_until(page, "() => window.frames_drawn.length >= 25")
    part(page, "pause").click()
    drawn = np.array(page.evaluate("window.frames_drawn"))
    wall, t = drawn[1:20].T
    assert np.all(np.diff(t) > 0.0)
    # The wall's time is read a little after the frame's, by some 0.1 ms of 300 ms or
    # more; a frame lost or counted twice would be 5 %.
    assert (t[-1] - t[0]) / (wall[-1] - wall[0]) == pytest.approx(speed, rel=0.02)
    # Paused, nothing moves and nothing is drawn.
    at = state(page)["t"]
    n = page.evaluate("window.frames_drawn.length")
    settle(page, 5)
    assert state(page)["t"] == at
    assert page.evaluate("window.frames_drawn.length") == n


def test_speeds_from_real_time_to_a_millionth(reports: dict[str, Report], page: Page):
    show(page, reports["belt"])
    values = (
        part(page, "speed")
        .locator("option")
        .evaluate_all("options => options.map((option) => Number(option.value))")
    )
    assert 1.0 in values
    assert min(values) == 1e-6
    # No gap wider than a factor of 2.5 between: 1, 2, 5, 10.
    ratios = np.array(values[:-1]) / np.array(values[1:])
    assert np.all((ratios > 1.0) & (ratios <= 2.5 * (1.0 + 1e-12)))


def test_the_end_stops_and_the_loop_goes_on(reports: dict[str, Report], page: Page):
    report = reports["belt"]
    show(page, report)
    end = report.result.t_end
    set_speed(page, 10.0)
    part(page, "play").click()
    expect(part(page, "play")).to_be_visible()
    assert state(page)["t"] == end
    # From the end it begins again; with the loop on it does so by itself.
    part(page, "loop").click()
    page.evaluate(RECORD)
    part(page, "play").click()
    wait_until(
        page,
        "() => window.frames_drawn.some(([, t], k, all) => k > 1 && t < all[k - 1][1])",
    )
    part(page, "pause").click()


def test_steps_from_event_to_event(reports: dict[str, Report], page: Page):
    report = reports["compactor"]
    show(page, report)
    times = instants(report.result)
    assert len(times) > 20
    for t in times[:20]:
        part(page, "next-event").click()
        assert state(page)["t"] == t
        text = part(page, "time").inner_text()
        digits = len(text.removesuffix(" s").partition(".")[2])
        assert float(text.removesuffix(" s")) == pytest.approx(
            t, abs=0.5000001 * 10.0**-digits
        )
        # Enough digits to tell it from its neighbours.
        apart = min(abs(t - other) for other in times if other != t)
        assert 10.0**-digits <= max(apart, 1e-12)
    part(page, "prev-event").click()
    assert state(page)["t"] == times[18]
    first = report.result.events[0]
    set_time(page, 0.0)
    part(page, "next-event").click()
    expect(part(page, "event-now")).to_contain_text(first.element)
    expect(part(page, "event-now")).to_contain_text(first.kind.replace("_", " "))


def test_scrubbing_on_the_timeline(reports: dict[str, Report], page: Page):
    report = reports["pendulum_chain"]
    show(page, report)
    box = part(page, "timeline").bounding_box()
    assert box is not None
    y = box["y"] + 0.5 * box["height"]
    right = box["x"] + box["width"] - 1.0
    page.mouse.move(right, y)
    page.mouse.down()
    times: list[float] = []
    for k in range(4):
        page.mouse.move(right - 150.0 * k, y, steps=4)
        times.append(state(page)["t"])
    page.mouse.move(right + 300.0, y, steps=3)
    assert state(page)["t"] == report.result.t_end
    page.mouse.up()
    # The pointer stands a pixel beside the end.
    per_pixel = (times[0] - times[3]) / 450.0
    assert times[0] == pytest.approx(report.result.t_end, abs=1.6 * per_pixel)
    # Equal ways are equal times; clientX has no rounding to speak of.
    assert np.diff(times) == pytest.approx(3 * [-150.0 * per_pixel], rel=1e-6)
    # Released, the pointer means nothing.
    page.mouse.move(right - 200.0, y)
    assert state(page)["t"] == report.result.t_end


def test_a_click_on_a_tick_is_the_event(reports: dict[str, Report], page: Page):
    report = reports["belt"]
    show(page, report)
    box = part(page, "timeline").bounding_box()
    assert box is not None
    t = instants(report.result)[1]
    x = page.evaluate("(t) => window.nonsmooth.viewer.timeline.toPixel(t)", t)
    # Two pixels beside it: one cannot point more exactly.
    page.mouse.click(box["x"] + x + 2.0, box["y"] + 4.0)
    assert state(page)["t"] == t
    expect(part(page, "side")).to_have_attribute("data-side", "after")


def test_a_row_of_the_table_is_the_event(reports: dict[str, Report], page: Page):
    report = reports["compactor"]
    show(page, report)
    part(page, "tab-events").click()
    for k in (0, 5, 11):
        event = report.result.events[k]
        row = page.locator(f'[data-test="event-row"][data-index="{k}"]')
        row.click()
        expect(row).to_have_attribute("aria-selected", "true")
        assert state(page)["t"] == event.t
        assert state(page)["side"] == "after"
        detail = part(page, "event-detail")
        expect(detail).to_contain_text(event.element)
        expect(detail).to_contain_text(event.kind.replace("_", " "))
        expect(detail).to_contain_text(event.after.replace("-", "−"))
    # All rows can be reached, though only those in sight exist.
    n = len(report.result.events)
    rows = part(page, "event-row")
    assert rows.count() < n
    set_time(page, report.result.events[n - 1].t)
    expect(
        page.locator(f'[data-test="event-row"][data-index="{n - 1}"]')
    ).to_be_visible()
    part(page, "filter-kind").select_option("release")
    expect(page.get_by_text(f"of {n} events")).to_contain_text(
        str(report.result.events.counts()["release"])
    )


def test_the_keyboard(reports: dict[str, Report], page: Page):
    report = reports["belt"]
    show(page, report)
    times = instants(report.result)
    keys = page.keyboard
    keys.press(".")
    assert state(page)["t"] == times[0]
    keys.press("Shift+ArrowRight")
    assert state(page)["t"] == times[1]
    keys.press(",")
    assert state(page)["t"] == times[0]
    keys.press("ArrowRight")
    later = state(page)["t"]
    assert times[0] < later < times[1]
    keys.press("ArrowLeft")
    assert state(page)["t"] == pytest.approx(times[0], abs=1e-12)
    keys.press("End")
    assert state(page)["t"] == report.result.t_end
    keys.press("Home")
    assert state(page)["t"] == report.result.t_start
    keys.press("Space")
    expect(part(page, "pause")).to_be_visible()
    keys.press("Space")
    expect(part(page, "play")).to_be_visible()
    scale = page.evaluate("window.nonsmooth.viewer.scene.view.scale")
    keys.press("+")
    assert page.evaluate("window.nonsmooth.viewer.scene.view.scale") > scale
    keys.press("f")
    assert page.evaluate("window.nonsmooth.viewer.scene.view.scale") == scale
    # In a field keys are letters.
    set_time(page, 1.0)
    part(page, "pick").click()
    page.keyboard.type("f. ")
    assert state(page)["t"] == 1.0
    expect(part(page, "play")).to_have_count(1)


# ---- the picture -----------------------------------------------------------------

# Colours on the canvas at places of the plane, at instants.
PIXELS = """(points) => {
  const { viewer } = window.nonsmooth;
  const canvas = document.querySelector('[data-test="scene"]');
  const context = canvas.getContext("2d");
  const ratio = window.devicePixelRatio;
  return points.map(({ t, side, x, y }) => {
    viewer.setTime(t, side);
    const [px, py] = viewer.scene.toScreen(x, y).map((p) => Math.floor(p * ratio));
    return [...context.getImageData(px, py, 1, 1).data].slice(0, 3);
  });
}"""


def rgb(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def spots_at(result: Result, t: float, side: Any) -> list[tuple[float, float, str]]:
    """Return place and mode of all spots, by way of the result alone."""
    sample = result.sample(t, limit=side)
    poses: dict[str, tuple[float, float, float]] = {}
    for body in result.system.model.bodies:
        names = [f"{body.name}.{q}" for q in ("x", "y", "theta")]
        if names[0] in sample:
            x, y, theta = (float(sample[n][0]) if n in sample else 0.0 for n in names)
            poses[body.name] = (x, y, theta)
    sticks = contacts.can_stick(result.system)
    found: list[tuple[float, float, str]] = []
    for spot in result.system.spots:
        (x, y), _ = place(spot, poses)
        value = float(sample[f"{spot.name}.mode"][0])
        found.append((x, y, contacts.mode_of(value, sticks[spot.name])))
    return found


@pytest.mark.parametrize(
    ("name", "modes", "ratio"),
    [
        ("compactor", {"slip+", "slip-", "released", "open"}, 1.0),
        ("belt", {"stick", "slip-"}, 2.0),
        ("free_standing", {"stick", "slip+", "slip-"}, 1.5),
    ],
)
def test_contacts_have_the_colour_of_their_mode(
    reports: dict[str, Report],
    new_page: NewPage,
    name: str,
    modes: set[str],
    ratio: float,
):
    page = new_page(color_scheme="light", device_scale_factor=ratio)
    report = reports[name]
    show(page, report)
    # Arrows begin in the middle of the discs.
    part(page, "toggle-forces").click()
    points: list[dict[str, Any]] = []
    expected: list[str] = []
    for t in instants(report.result)[:40]:
        for side in SIDES:
            for x, y, mode in spots_at(report.result, t, side):
                points.append({"t": t, "side": side, "x": x, "y": y})
                expected.append(mode)
    assert set(expected) >= modes
    found = page.evaluate(PIXELS, points)
    wrong = [
        (point, mode, colour)
        for point, mode, colour in zip(points, expected, found, strict=True)
        if colour != rgb(MODES[mode])
    ]
    assert not wrong


def test_bearings_of_joints_have_the_colour_of_their_mode(
    reports: dict[str, Report], page: Page
):
    report = reports["slider_in_guide"]
    result = report.result
    show(page, report)
    part(page, "toggle-forces").click()
    places = """([t, side]) => {
      const { run } = window.nonsmooth;
      const at = run.locate({ t, side });
      return run.header.spots.map(({ x, y }) => [run.value(x, at), run.value(y, at)]);
    }"""
    points: list[dict[str, Any]] = []
    expected: list[str] = []
    for t in instants(result):
        for side in SIDES:
            mode = contacts.mode_of(sample(result, t, "guide.mode", side), True)
            for x, y in page.evaluate(places, [t, side]):
                points.append({"t": t, "side": side, "x": x, "y": y})
                expected.append(mode)
    assert set(expected) == {"stick", "slip+", "slip-"}
    found = page.evaluate(PIXELS, points)
    wrong = [
        (point, mode, colour)
        for point, mode, colour in zip(points, expected, found, strict=True)
        if colour != rgb(MODES[mode])
    ]
    assert not wrong


def test_an_event_changes_the_colour_by_hand(reports: dict[str, Report], page: Page):
    """The same by clicks: the next event, and its two sides."""
    report = reports["belt"]
    show(page, report)
    part(page, "toggle-forces").click()
    event = report.result.events[0]
    part(page, "next-event").click()
    assert state(page)["t"] == event.t
    colours: dict[str, list[int]] = {}
    for side in SIDES:
        part(page, "side").get_by_text(side).click()
        expect(part(page, "side")).to_have_attribute("data-side", side)
        ((x, y, _),) = spots_at(report.result, event.t, side)
        point = {"t": event.t, "side": side, "x": x, "y": y}
        colours[side] = page.evaluate(PIXELS, [point])[0]
    assert colours["before"] == rgb(MODES[event.before])
    assert colours["after"] == rgb(MODES[event.after])
    assert colours["before"] != colours["after"]


def test_bodies_are_drawn_where_they_are(reports: dict[str, Report], page: Page):
    """Pixels of the box change exactly where it was or is."""
    report = reports["compactor"]
    show(page, report)
    ends = [report.result.t_start, report.result.t_end]
    x = [sample(report.result, t, "box.x", "before") for t in ends]
    y = [sample(report.result, t, "box.y", "before") for t in ends]
    pixel = [
        page.evaluate("p => window.nonsmooth.viewer.scene.toScreen(...p)", [x[k], y[k]])
        for k in (0, 1)
    ]
    # It walks to one side: by metres, thus by pixels, of the one scale.
    scale = page.evaluate("window.nonsmooth.viewer.scene.view.scale")
    assert pixel[1][0] - pixel[0][0] == pytest.approx(scale * (x[1] - x[0]), abs=1e-6)
    assert pixel[0][1] - pixel[1][1] == pytest.approx(scale * (y[1] - y[0]), abs=1e-6)
    pose = "([t]) => { const run = window.nonsmooth.run;" + (
        "return run.pose('box', run.locate({ t, side: 'before' })); }"
    )
    for k, t in enumerate(ends):
        found = page.evaluate(pose, [t])
        assert found["x"] == pytest.approx(x[k], abs=single(x[k]))
        assert found["y"] == pytest.approx(y[k], abs=single(y[k]))


def single(value: float) -> float:
    """Return the rounding of a number to single precision, with the last bit free."""
    return 2.0 * SINGLE * abs(value)


@pytest.mark.parametrize(
    "option", ["forces", "contacts", "trails", "centres", "markers", "names"]
)
def test_toggles_change_the_picture_and_back(
    reports: dict[str, Report], page: Page, option: str
):
    report = reports["compactor"]
    show(page, report)
    # Somewhere in contact.
    set_time(page, next(e.t for e in report.result.events if e.kind == "reverse"))
    button = part(page, f"toggle-{option}")
    was_on = button.get_attribute("aria-pressed") == "true"
    before = picture(page)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false" if was_on else "true")
    assert picture(page) != before
    button.click()
    assert picture(page) == before


def test_pan_zoom_and_fit(reports: dict[str, Report], page: Page):
    show(page, reports["compactor"])
    before = picture(page)
    view = page.evaluate("window.nonsmooth.viewer.scene.view")
    box = part(page, "scene").bounding_box()
    assert box is not None
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60.0, y - 40.0, steps=3)
    page.mouse.up()
    moved = page.evaluate("window.nonsmooth.viewer.scene.view")
    # The plane follows the pointer.
    assert moved["x"] == pytest.approx(view["x"] - 60.0 / view["scale"], rel=1e-9)
    assert moved["y"] == pytest.approx(view["y"] - 40.0 / view["scale"], rel=1e-9)
    page.mouse.wheel(0.0, -300.0)
    wait_until(
        page,
        "(scale) => window.nonsmooth.viewer.scene.view.scale > scale",
        view["scale"],
    )
    assert picture(page) != before
    part(page, "fit").click()
    assert picture(page) == before
    part(page, "zoom-in").click()
    part(page, "zoom-out").click()
    scale = page.evaluate("window.nonsmooth.viewer.scene.view.scale")
    assert scale == pytest.approx(view["scale"], rel=1e-12)


def test_light_and_dark(reports: dict[str, Report], new_page: NewPage):
    corner = """() => {
      const canvas = document.querySelector('[data-test="scene"]');
      const { width } = canvas;
      const context = canvas.getContext("2d");
      return [...context.getImageData(width - 3, 2, 1, 1).data].slice(0, 3);
    }"""
    body = "getComputedStyle(document.querySelector('[data-test=title]')).color"
    seen: dict[str, tuple[list[int], str]] = {}
    for scheme in ("light", "dark"):
        page = new_page(color_scheme=scheme)
        show(page, reports["belt"])
        seen[scheme] = page.evaluate(corner), page.evaluate(body)
        other = "dark" if scheme == "light" else "light"
        # The scheme of the system is followed while the page is open.
        page.emulate_media(color_scheme=other)
        wait_until(
            page, "(theme) => document.querySelector(`[data-theme=${theme}]`)", other
        )
        page.emulate_media(color_scheme=scheme)
        # The button's choice wins over the system's.
        for _ in range(3):
            part(page, "theme").click()
            if state(page)["theme"] == other:
                break
        settle(page)
        seen[f"{other} chosen"] = page.evaluate(corner), page.evaluate(body)
    assert sum(seen["light"][0]) > 3 * 200 > 3 * 60 > sum(seen["dark"][0])
    assert seen["light"][1] != seen["dark"][1]
    assert seen["light chosen"] == seen["light"]
    assert seen["dark chosen"] == seen["dark"]


# ---- numbers ---------------------------------------------------------------------

PROBE = """([times, names]) => times.map((t) => {
  window.nonsmooth.viewer.setTime(t);
  return names.map((name) => {
    const { before, after } = window.nonsmooth.viewer.probe(name);
    return [before, after];
  });
})"""


def rounding_of_point(point: dict[str, Any], sizes: dict[str, Any]) -> float:
    """Return what rounding of a body's motion does to a quantity of its point.

    x = x_b + r cos(theta + ..), its first and second derivative in time
    """
    arm = float(np.hypot(*point["point"]))
    theta, omega, alpha, own = (
        float(sizes.get(f"{point['body']}.{q}", 0.0))
        for q in ("theta", "omega", "alpha", point["quantity"])
    )
    factor = {"v": omega, "a": alpha + omega**2}.get(point["quantity"][0], 1.0)
    return 2.0 * SINGLE * (own + arm * (1.0 + factor) * (2.0 + theta))


@pytest.mark.parametrize(
    "name", ["compactor", "belt", "slider_in_guide", "pendulum_chain", "stopping"]
)
def test_every_quantity_is_that_of_the_result(
    reports: dict[str, Report], page: Page, name: str
):
    report = reports[name]
    result = report.result
    show(page, report)
    names = page.evaluate("window.nonsmooth.run.names")
    own = [n for n in names if ":" not in n]  # but for the ledger
    # Places where contacts press are drawn, not plotted.
    shown = {c for c in result.columns if c.rpartition(".")[2] not in ACTING}
    assert set(own) == shown - {"t"}
    sampling = header(page)["sampling"]
    ranges = {n: np.ptp(result[n]) for n in own}
    sizes = {n: np.abs(result[n]).max() for n in own}

    # At events both values are stored themselves, in single precision unless the
    # document says less; points of bodies are computed from such numbers.
    times = instants(result)[:30] or [result.t_start, result.t_end]
    found = np.array(page.evaluate(PROBE, [times, own]), dtype=float)
    precise = max(2 * SINGLE, sampling["precision"])
    points = {item["name"]: item for item in header(page)["derived"]}
    for k, side in enumerate(SIDES):
        samples = result.sample(times, own, limit=side)
        for j, n in enumerate(own):
            # A side of a joint is that within the arc; at its ends it is round-off.
            if n.endswith(".side"):
                continue
            error = np.abs(found[:, j, k] - samples[n])
            if n.endswith(".slip_velocity"):
                # Contacts that do not press show none.
                mode = samples[n.replace("slip_velocity", "mode")]
                assert np.array_equal(np.isnan(error), np.isin(mode, [2.0, 3.0])), n
                error = np.nan_to_num(error)
            bound = precise * (sizes[n] + ranges[n]) + 1e-12
            if n in points:
                bound += rounding_of_point(points[n], sizes)
            assert error.max() <= bound, (n, side, error.max(), bound)

    # Between: on straight lines within the document's tolerance, of all quantities.
    rng = np.random.default_rng(5)
    times = rng.uniform(result.t_start, result.t_end, 40).tolist()
    found = np.array(page.evaluate(PROBE, [times, own]), dtype=float)
    assert np.array_equal(found[:, :, 0], found[:, :, 1], equal_nan=True)
    samples = result.sample(times, own)
    for j, n in enumerate(own):
        if n.rpartition(".")[2] in ("mode", "side"):
            assert np.array_equal(found[:, j, 0], samples[n]), n
            continue
        if n.rpartition(".")[0].count("."):
            continue  # points of bodies: not sampled themselves
        error = np.abs(found[:, j, 0] - samples[n])
        if n.endswith(".slip_velocity"):
            error = np.nan_to_num(error)  # where nothing presses
        # What the document states, plus its rounding; its range is that at samples.
        bound = 1.1 * sampling["tolerance"] * ranges[n] + precise * sizes[n] + 1e-9
        assert error.max() <= bound, (n, error.max(), bound)


def test_legends_show_both_sides_of_a_jump(reports: dict[str, Report], page: Page):
    report = reports["compactor"]
    result = report.result
    show(page, report)
    event = next(e for e in result.events if e.kind == "reverse")
    set_time(page, event.t)
    keys = page.locator('[data-test="plot-legend"] [data-name]')
    assert keys.count() >= 3
    jumps = 0
    for k in range(keys.count()):
        name = keys.nth(k).get_attribute("data-name")
        assert name is not None
        unit = page.evaluate("name => window.nonsmooth.run.unit(name)", name)
        text = keys.nth(k).locator("output").inner_text()
        shown = shown_sides(text, unit)
        jumps += "→" in text
        for side, value in zip(SIDES, shown, strict=True):
            expected = sample(result, event.t, name, side)
            size = float(np.abs(result[name]).max())
            precise = max(SINGLE, header(page)["sampling"]["precision"])
            assert value == pytest.approx(
                expected, rel=1.01 * HALF, abs=precise * 2 * size + 1e-12
            )
    # Friction reverses with the slip.
    assert jumps >= 1


def test_values_under_the_mouse(reports: dict[str, Report], page: Page):
    report = reports["belt"]
    show(page, report)
    name = "sole.slip_velocity"
    value = page.locator(f'[data-name="{name}"] output')
    still = value.inner_text()
    box = part(page, "plot").first.locator(".u-over").bounding_box()
    assert box is not None
    # The block slips there.
    place = (box["x"] + 0.22 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.move(place[0] - 5.0, place[1])
    page.mouse.move(*place)
    tip = page.locator(".ns-chart-tip:visible")
    expect(tip).to_have_count(1)
    t = float(tip.inner_text().removesuffix(" s"))
    span = report.result.t_end - report.result.t_start
    assert t == pytest.approx(0.22 * span, abs=1.5 * span / box["width"])
    # The other panels follow; lines keep to their tolerance, and the time to a pixel.
    velocity = report.result[name]
    steepest = float(np.abs(np.diff(velocity) / np.diff(report.result.t)).max())
    size = float(np.abs(velocity).max())
    tolerance = header(page)["sampling"]["tolerance"] * size
    slack = tolerance + steepest * span / box["width"]
    found, _ = shown_sides(value.inner_text(), "m/s")
    assert found == pytest.approx(sample(report.result, t, name, "after"), abs=slack)
    assert abs(found) > 10.0 * slack
    # The time shown has not changed, and is what the legend says afterwards.
    assert state(page)["t"] == report.result.t_start
    page.mouse.move(10.0, 10.0)
    expect(value).to_have_text(still)
    expect(tip).to_have_count(0)


def test_fingers_on_a_plot(reports: dict[str, Report], new_page: NewPage):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    report = reports["belt"]
    show(page, report)
    box = part(page, "plot").first.locator(".u-over").bounding_box()
    assert box is not None
    wire = page.context.new_cdp_session(page)
    y = box["y"] + 0.5 * box["height"]

    def touch(kind: str, *parts: float) -> None:
        points = [{"x": box["x"] + f * box["width"], "y": y} for f in parts]
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    span = report.result.t_end - report.result.t_start
    pixel = span / box["width"]
    # Where all is seen, a finger moves the time.
    touch("touchStart", 0.3)
    for part_of in (0.4, 0.5, 0.6):
        touch("touchMove", part_of)
    touch("touchEnd")
    settle(page)
    assert state(page)["t"] == pytest.approx(0.6 * span, abs=1.5 * pixel)
    assert state(page)["range"] is None
    # Two fingers zoom: the times under them stay there.
    touch("touchStart", 0.4, 0.6)
    touch("touchMove", 0.3, 0.7)
    touch("touchMove", 0.2, 0.8)
    touch("touchEnd")
    settle(page)
    first, last = state(page)["range"]
    wide = last - first
    assert first + 0.2 * wide == pytest.approx(0.4 * span, abs=2.0 * pixel)
    assert first + 0.8 * wide == pytest.approx(0.6 * span, abs=2.0 * pixel)
    # Then one moves what is seen.
    touch("touchStart", 0.7)
    for part_of in (0.65, 0.6, 0.55):
        touch("touchMove", part_of)
    touch("touchEnd")
    settle(page)
    moved = state(page)["range"]
    assert moved[1] - moved[0] == pytest.approx(wide, rel=1e-9)
    assert moved[0] - first == pytest.approx(0.15 * wide, abs=2.0 * pixel)


def test_any_quantity_can_be_plotted(reports: dict[str, Report], page: Page):
    report = reports["compactor"]
    show(page, report)
    chosen = ["box.left.vy", "left.mode", "energy:kinetic", "box.theta"]
    for name in chosen:
        part(page, "pick").click()
        picker = part(page, "picker")
        expect(picker).to_be_visible()
        element, _, quantity = name.partition(".")
        picker.locator("input[type=search]").fill(f"{element} {quantity}")
        picker.locator(f'input[data-name="{name}"]').check()
        page.keyboard.press("Escape")
        expect(picker).to_be_hidden()
        key = page.locator(f'[data-test="plot-legend"] [data-name="{name}"]')
        expect(key).to_have_count(1)
        assert any(name in names for names in state(page)["plots"])
    # Quantities of one unit share a panel, others do not.
    for names in state(page)["plots"]:
        units = {
            page.evaluate("name => window.nonsmooth.run.unit(name)", n) for n in names
        }
        assert len(units) == 1
    # A mode is given in words.
    text = page.locator('[data-name="left.mode"] output').inner_text()
    mode = spots_at(report.result, 0.0, "after")[0][2]
    assert text.replace("−", "-") == mode
    # A click on a name takes it away.
    page.locator('[data-test="plot-legend"] [data-name="box.theta"]').click()
    assert not any("box.theta" in names for names in state(page)["plots"])


def test_dragging_in_a_plot_zooms_all(reports: dict[str, Report], page: Page):
    report = reports["compactor"]
    show(page, report)
    over = part(page, "plot").first.locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    y = box["y"] + 0.5 * box["height"]
    first, last = (box["x"] + f * box["width"] for f in (0.25, 0.5))
    picture_of_second = "p => p.querySelector('canvas').toDataURL()"
    before = part(page, "plot").nth(1).evaluate(picture_of_second)
    page.mouse.move(first, y)
    page.mouse.down()
    page.mouse.move(last, y, steps=5)
    page.mouse.up()
    settle(page)
    found = state(page)["range"]
    span = report.result.t_end - report.result.t_start
    # To the pixel.
    pixel = span / box["width"]
    assert found == pytest.approx([0.25 * span, 0.5 * span], abs=1.5 * pixel)
    assert part(page, "plot").nth(1).evaluate(picture_of_second) != before
    # The time goes where a plot is clicked.
    page.mouse.click(box["x"] + 0.5 * box["width"], y)
    t = state(page)["t"]
    width = found[1] - found[0]
    assert t == pytest.approx(
        0.5 * (found[0] + found[1]), abs=1.5 * width / box["width"]
    )
    over.dblclick()
    settle(page)
    assert state(page)["range"] is None
    assert part(page, "plot").nth(1).evaluate(picture_of_second) == before


@pytest.mark.parametrize("name", ["compactor", "belt", "slider_in_guide"])
def test_the_energy_stack_closes(reports: dict[str, Report], page: Page, name: str):
    report = reports[name]
    result = report.result
    show(page, report)
    part(page, "tab-energy").click()
    times = np.linspace(result.t_start, result.t_end, 7).tolist()
    ledger = result.energies(times)
    floor = result.energies(result.t).potential.min()
    for k, t in enumerate(times):
        set_time(page, t)
        texts = part(page, "energy-legend").locator("output").all_inner_texts()
        values = [shown_sides(text, "J")[1] for text in texts]
        *layers, given = values
        size = max(map(abs, values))
        # Every number is rounded to four digits, and on a line between samples.
        bound = len(values) * 2 * HALF * size + 1e-9
        assert sum(layers) == pytest.approx(given, abs=bound)
        assert layers[0] == pytest.approx(ledger.kinetic[k], abs=bound)
        assert layers[1] == pytest.approx(ledger.potential[k] - floor, abs=bound)
        assert len(layers) >= 2
    expect(part(page, "residual")).to_contain_text("closes to")


def test_csv_of_what_is_plotted(reports: dict[str, Report], page: Page, tmp_path: Path):
    report = reports["compactor"]
    result = report.result
    show(page, report)
    part(page, "download").click()
    with page.expect_download() as waiting:
        part(page, "download-csv").click()
    path = tmp_path / "samples.csv"
    waiting.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head[:2] == ["t [s]", "side"]
    plotted = [name for names in state(page)["plots"] for name in names]
    assert [text.partition(" [")[0] for text in head[2:]] == plotted
    sampling = header(page)["sampling"]
    assert len(rows) == sampling["n"]
    t = np.array([float(row[0]) for row in rows])
    assert np.all(np.diff(t) >= 0.0)
    sides = np.array([row[1] for row in rows])
    values = np.array([[float(x or "nan") for x in row[2:]] for row in rows])
    precise = max(2 * SINGLE, sampling["precision"])
    for side in SIDES:
        which = (sides == side) if side == "before" else (sides != "before")
        expected = result.sample(t[which], limit=side)
        for j, name in enumerate(plotted):
            found, wanted = values[which, j], expected[name]
            element, _, quantity = name.partition(".")
            if quantity == "slip_velocity":
                # Only what presses slips.
                is_free = expected[f"{element}.mode"] >= 2.0
                assert np.array_equal(np.isnan(found), is_free)
                found, wanted = found[~is_free], wanted[~is_free]
            error = np.abs(found - wanted).max()
            size = np.abs(wanted).max()
            assert error <= precise * 2.0 * size + 1e-12, (name, side, error, size)
    # Both rows at every event that changes a mode.
    for event in result.events:
        if event.before != event.after:
            assert sides[t == event.t].tolist() == ["before", "after"]


def test_csv_of_events(reports: dict[str, Report], page: Page, tmp_path: Path):
    report = reports["compactor"]
    show(page, report)
    part(page, "download").click()
    with page.expect_download() as waiting:
        part(page, "download-events-csv").click()
    path = tmp_path / "events.csv"
    waiting.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    events = report.result.events
    assert len(rows) == len(events)
    for row, event in zip(rows, events, strict=True):
        assert float(row["t"]) == event.t
        assert (row["element"], row["kind"]) == (event.element, event.kind)
        assert (row["before"], row["after"]) == (event.before, event.after)
        if event.normal_force is not None:
            # The document gives nine digits.
            assert float(row["normal_force_after"]) == pytest.approx(
                event.normal_force[1], rel=1e-8
            )


# ---- a phone ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compactor", "pendulum_chain", "failing"])
def test_on_a_phone(reports: dict[str, Report], new_page: NewPage, name: str):
    page = new_page(
        viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=3.0
    )
    show(page, reports[name])
    for tab in ("energy", "events", "summary", "plots"):
        part(page, f"tab-{tab}").tap()
        settle(page)
        width = page.evaluate("document.scrollingElement.scrollWidth")
        assert width <= PHONE["width"], tab
    # A finger needs 40 px.
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(
            "[data-test=play], [data-test=pause], [data-test=prev-event], "
            + "[data-test=next-event], [data-test=loop], [data-test=speed], "
            + "[data-test=timeline], [data-test=theme], [data-test=download], "
            + "[data-test=fit], [data-test^=tab-], [data-test^=toggle-], "
            + "[data-test=pick]"
          )].map((node) => {
            const { width, height, left, right } = node.getBoundingClientRect();
            return [node.dataset.test, width, height, left, right];
          }).filter(([, width]) => width > 0)"""
    )
    assert len(sizes) >= 12
    for control, wide, high, left, right in sizes:
        assert wide >= 40.0, (control, wide)
        assert high >= 40.0, (control, high)
        assert left >= 0.0, control
        assert right <= PHONE["width"], control
    # Why a run did not get to its end.
    if reports[name].result.status != "finished":
        message = page.get_by_text(reports[name].result.message).first
        expect(message).to_be_in_viewport()
    # The play button is reached with the thumb: in the lower half.
    box = part(page, "play").bounding_box()
    assert box is not None
    assert PHONE["height"] / 2 < box["y"] < PHONE["height"] - 40
    part(page, "play").tap()
    expect(part(page, "pause")).to_be_visible()
    part(page, "pause").tap()
    expect(part(page, "play")).to_be_visible()


# ---- for all readers -------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["compactor", "failing", "stopping"])
def test_names_and_contrast(
    reports: dict[str, Report], new_page: NewPage, name: str, theme: Any
):
    page = new_page(color_scheme=theme)
    show(page, reports[name])
    if part(page, "next-event").is_enabled():
        part(page, "next-event").click()
    for tab in ("energy", "events", "summary", "plots"):
        part(page, f"tab-{tab}").click()
        settle(page)
        check_readable(page)


def test_the_focus_is_seen_and_goes_along_the_page(
    reports: dict[str, Report], page: Page
):
    show(page, reports["compactor"])
    # At an event there is most to use.
    set_time(page, instants(reports["compactor"].result)[0])
    areas: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => {
              const node = document.activeElement;
              if (node === document.body) return null;
              const { outlineStyle, outlineWidth } = getComputedStyle(node);
              const { width, height } = node.getBoundingClientRect();
              const area = node.closest(
                ".ns-header, .ns-stage, .ns-side, .ns-dock"
              )?.className ?? "none";
              return [
                area, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
                width > 0 && height > 0, node.outerHTML.slice(0, 120),
              ];
            }"""
        )
        if found is None:
            break
        area, is_seen, has_size, text = found
        assert is_seen, text
        assert has_size, text
        if not areas or areas[-1] != area:
            areas.append(area)
    # From the top to the bottom, each once.
    assert areas == ["ns-header", "ns-stage", "ns-side", "ns-dock"]
