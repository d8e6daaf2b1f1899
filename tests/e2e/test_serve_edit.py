"""The app in a browser: drawings, texts, states, comparison, films, the token."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from nonsmooth import gallery, io, simulate
from tests.e2e.conftest import PHONE, NewPage, Watch
from tests.e2e.pages import PATIENCE, check_readable, part, settle, wait_until
from tests.e2e.runs import stopping
from tests.e2e.test_serve import (
    REFUSED,
    SHOWN,
    TOKEN,
    Server,
    count,
    drawn,
    open_app,
    run,
    simulating,
    start,
    still,
    upload,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("models")
    io.save(stopping(), folder / "ball.yaml")
    (folder / "broken.yaml").write_text(
        "nonsmooth: 1\nbodies:\n  - {type: Rigid}\n  - 3\n"
    )
    running = start(folder)
    yield running
    if running.process.poll() is None:
        assert running.stop() == 0


def ink(page: Page) -> str:
    """Return what tells one picture from another."""
    return page.evaluate(
        "document.querySelector('[data-test=scene]').toDataURL().slice(-2000)"
    )


def body(page: Page, name: str) -> dict[str, Any]:
    """Return a body of the model that is shown."""
    return page.evaluate(
        "(name) => window.nonsmoothApp.viewer.runs[0].bodies.get(name)", name
    )


# ---- drawings --------------------------------------------------------------------


def test_a_drawing_follows_the_parameters(server: Server, page: Page):
    page.goto(f"{server.address}#system=slider_crank")
    still(page)
    runs = count(page)
    before, box = ink(page), "window.nonsmoothApp.viewer.runs[0].header.box"
    wide = page.evaluate(box)[2]
    part(page, "param-rod_length").fill("0.6")
    wait_until(
        page, "(wide) => window.nonsmoothApp.viewer.runs[0].header.box[2] > wide", wide
    )
    settle(page)
    assert ink(page) != before
    expect(part(page, "status")).to_have_text("not run yet")
    assert count(page) == runs


def test_reload_runs_nothing(server: Server, page: Page):
    page.goto(f"{server.address}#system=incline")
    still(page)
    runs = count(page)
    for _ in range(3):
        page.reload()
        still(page)
    assert count(page) == runs
    # Also while one is under way: it is followed, and can be cancelled.
    part(page, "until").fill("100000")
    part(page, "system").select_option("compactor")
    part(page, "until").fill("1000")
    part(page, "run").click()
    simulating(page, 1000)
    page.reload()
    drawn(page)
    simulating(page, 1000)
    expect(part(page, "status")).to_have_text("running")
    assert count(page) == runs + 1
    part(page, "cancel").click()
    expect(part(page, "progress")).to_be_hidden()
    assert count(page) == runs + 1


def test_cancel_is_of_the_run_that_is_computed(server: Server, page: Page):
    page.goto(f"{server.address}#system=compactor&until=998")
    still(page)
    part(page, "run").click()
    simulating(page, 998)
    first = page.locator('[data-test^="run-"]').first.get_attribute("data-test")
    part(page, "until").fill("999")
    part(page, "run").click()
    second = f"run-{int(str(first)[4:]) + 1}"
    waiting = part(page, second)
    expect(waiting).to_contain_text("waiting")
    expect(part(page, "status")).to_have_text("waiting")
    expect(part(page, "progress")).to_contain_text("1 more waits")
    begin = time.monotonic()
    part(page, "cancel").click()
    # Heard within a second: the button has gone on, to drop what is collected, or
    # the run has ended; and what a browser takes on a busy machine.
    wait_until(
        page,
        """(first) => {
          const button = document.querySelector("[data-test=cancel]");
          const run = document.querySelector(`[data-test=${first}]`);
          return run.dataset.state === "cancelled" || button.textContent === "Drop it";
        }""",
        first,
    )
    assert time.monotonic() - begin < 3.0
    expect(part(page, str(first))).to_have_attribute("data-state", "cancelled")
    # Now the other is computed, and is cancelled next.
    expect(part(page, "progress")).to_contain_text(f"run {second[4:]}")
    simulating(page, 999)
    part(page, "cancel").click()
    expect(waiting).to_have_attribute("data-state", "cancelled")
    expect(part(page, "progress")).to_be_hidden()


def test_a_run_that_crashes_is_told_and_the_next_works(page: Page, tmp_path: Path):
    server = start(tmp_path)
    try:
        page.goto(f"{server.address}#system=compactor&until=1000")
        still(page)
        part(page, "run").click()
        simulating(page, 1000)
        for pid in children(server.process.pid):
            os.kill(pid, signal.SIGKILL)
        expect(part(page, "status")).to_have_text("failed")
        expect(part(page, "message")).to_contain_text("the server goes on")
        part(page, "until").fill("0.1")
        run(page)
        expect(part(page, "status")).to_have_text("finished")
    finally:
        assert server.stop() == 0


def children(pid: int) -> list[int]:
    """Return the processes that another has started to compute."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = re.search(r"^PPid:\t(\d+)", (path / "status").read_text(), re.M)
            words = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if parent and int(parent[1]) == pid and b"spawn_main" in words:
            found.append(int(path.name))
    return found


# ---- texts -----------------------------------------------------------------------


def text_of(page: Page) -> str:
    return part(page, "text").input_value()


def write(page: Page) -> None:
    """Open the text of what is shown."""
    part(page, "tab-text").click()
    expect(part(page, "text")).to_be_visible()
    wait_until(page, "() => document.querySelector('[data-test=text]').value !== ''")


def test_a_broken_file_empties_the_view_and_is_mended_beside_it(
    server: Server, page: Page
):
    open_app(page, server)
    part(page, "system").select_option("file:broken.yaml")
    empty = part(page, "empty")
    expect(empty).to_contain_text("broken.yaml is not valid")
    # All of it is said.
    expect(empty.locator("li")).to_have_count(2)
    expect(empty).to_contain_text("line 3")
    expect(empty).to_contain_text("line 4")
    assert page.locator(SHOWN).count() == 0
    write(page)
    expect(part(page, "faults").locator("li")).to_have_count(2)
    lines = page.locator(".sv-bad-line").all_inner_texts()
    assert [line.strip() for line in lines] == ["3", "4"]
    # A click leads to the line.
    part(page, "faults").locator("button").last.click()
    selected = page.evaluate(
        "() => { const a = document.querySelector('[data-test=text]');"
        " return a.value.slice(a.selectionStart, a.selectionEnd); }"
    )
    assert selected == "- 3"
    part(page, "text").fill(
        "nonsmooth: 1\ntitle: mended\nbodies:\n"
        "  - {type: RigidBody, name: rod, mass: 1, inertia: 1}\n"
    )
    still(page, "mended")
    expect(part(page, "faults")).to_be_hidden()


def test_completion_writes_a_model(server: Server, page: Page):
    page.goto(server.address)
    still(page)
    part(page, "new").click()
    still(page, "a rod on a pin")
    area, offers = part(page, "text"), part(page, "suggestions")
    wait_until(page, "() => window.nonsmoothApp.panel.editor.schema !== null")
    area.fill("nonsmooth: 1\n")
    area.press("Control+End")
    page.keyboard.type("bod")
    expect(offers.locator("li")).to_have_text(re.compile("^bodies"))
    page.keyboard.press("Enter")
    assert text_of(page).endswith("bodies:\n  - ")
    # What must come first is offered at once.
    expect(offers.locator("li").first).to_have_text(re.compile("^type"))
    page.keyboard.press("Enter")
    expect(offers).to_contain_text("A rigid body; its frame")
    page.keyboard.type("Poi")
    expect(offers.locator("li")).to_have_count(1)
    page.keyboard.press("Tab")
    assert text_of(page).endswith("  - type: PointMass")
    page.keyboard.press("Enter")
    page.keyboard.type("na")
    page.keyboard.press("Enter")
    page.keyboard.type("ball")
    page.keyboard.press("Enter")
    page.keyboard.type("mass: 2")
    page.keyboard.press("Escape")
    expected = "nonsmooth: 1\nbodies:\n  - type: PointMass\n    name: ball\n    mass: 2"
    assert text_of(page) == expected
    wait_until(page, "() => window.nonsmoothApp.viewer?.runs[0].bodies.has('ball')")
    # And it can be undone.
    page.keyboard.press("Control+z")
    assert text_of(page) != expected


def test_a_text_is_drawn_run_saved_and_loaded(server: Server, page: Page, watch: Watch):
    watch.expect(REFUSED)
    page.goto(f"{server.address}#file=ball.yaml")
    still(page, "a ball that is caught")
    write(page)
    text = text_of(page)
    assert text == (server.folder / "ball.yaml").read_text()
    changed = text.replace("a ball that is caught", "a ball <b> & more")
    part(page, "text").fill(changed)
    still(page, "a ball <b> & more")
    assert (server.folder / "ball.yaml").read_text() == text
    part(page, "until").fill("0.2")
    run(page)
    expect(part(page, "title")).to_have_text("a ball <b> & more")
    # A reload has what was not saved.
    page.reload()
    still(page, "a ball <b> & more")
    write(page)
    assert text_of(page) == changed
    # Not over another file; under a new name; then under its own.
    part(page, "save").click()
    part(page, "save-name").fill("broken.yaml")
    part(page, "save-use").click()
    expect(page.locator("dialog .sv-error")).to_contain_text("is there already")
    part(page, "save-name").fill("mine.yaml")
    part(page, "save-use").click()
    expect(part(page, "system")).to_have_value("file:mine.yaml")
    assert (server.folder / "mine.yaml").read_text() == changed
    part(page, "text").fill(changed.replace("& more", "again"))
    still(page, "a ball <b> again")
    part(page, "save").click()
    part(page, "save-use").click()
    expect(part(page, "system")).to_have_value("file:mine.yaml")
    saved = (server.folder / "mine.yaml").read_text()
    assert saved == changed.replace("& more", "again")
    # As a file to be sent, and back from one.
    with page.expect_download() as waiting:
        part(page, "save-file").click()
    assert waiting.value.suggested_filename == "mine.yaml"
    assert Path(waiting.value.path()).read_text() == saved
    part(page, "tab-form").click()
    upload(page, "sent.yaml", saved.replace("again", "sent"))
    still(page, "a ball <b> sent")


def test_a_system_becomes_a_text_with_its_parameters(server: Server, page: Page):
    page.goto(f"{server.address}#system=belt&p.mu=0.21")
    still(page)
    write(page)
    assert io.loads(text_of(page)) == gallery.build("belt", mu=0.21)
    expect(part(page, "system")).to_have_value("belt")
    part(page, "text").press("Control+End")
    page.keyboard.type("# mine")
    expect(part(page, "system")).to_have_value("text:belt.yaml")
    # Its fields are those of the model now.
    part(page, "tab-form").click()
    expect(part(page, "param-sole.friction.mu")).to_have_value("0.21")


def test_the_schema_is_no_model(page: Page, tmp_path: Path):
    (tmp_path / "model.schema.json").write_text(json.dumps(io.schema()))
    io.save(stopping(), tmp_path / "ball.json")
    server = start(tmp_path)
    try:
        page.goto(server.address)
        still(page)
        values = (
            part(page, "system")
            .locator("option")
            .evaluate_all("options => options.map((option) => option.value)")
        )
        assert [v for v in values if v.startswith("file:")] == ["file:ball.json"]
    finally:
        assert server.stop() == 0


# ---- room ------------------------------------------------------------------------


@pytest.mark.parametrize("high", [520, 900])
def test_parameters_keep_their_room_beside_many_runs(
    server: Server, new_page: NewPage, high: int
):
    page = new_page(viewport={"width": 1200, "height": high})
    open_app(page, server)
    while count(page) < 8:
        run(page)
    sizes = page.evaluate(
        """() => [".sv-scroll", ".sv-foot", "[data-test=runs]", "[data-test=run]"]
          .map((at) => document.querySelector(at).getBoundingClientRect())
          .map(({ top, bottom, height }) => [top, bottom, height])"""
    )
    (_, end, room), (top, foot_end, _), (_, runs_end, runs_high), button = sizes
    assert room >= 180.0
    assert end <= top + 0.5
    assert foot_end <= high + 0.5
    assert runs_end <= high + 0.5
    assert runs_high >= 25.0
    assert button[1] <= high
    # The list has more than it shows.
    part(page, "runs").evaluate("(node) => node.scrollTo(0, 1e6)")
    expect(page.locator('[data-test="runs"] li').last).to_be_in_viewport()


@pytest.mark.parametrize("wide", [1400, 390])
def test_the_table_of_events_scrolls(server: Server, new_page: NewPage, wide: int):
    page = new_page(viewport={"width": wide, "height": 844})
    page.goto(f"{server.address}#system=compactor&until=0.5")
    drawn(page)
    if page.evaluate("window.nonsmoothApp.viewer.isStill"):
        if wide < 800:
            part(page, "drawer").click()
        run(page)
    part(page, "tab-events").click()
    n = page.evaluate("window.nonsmoothApp.viewer.runs[0].header.events.rows.length")
    assert n > 50
    rows = page.locator(".ns-list")
    box = rows.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 20)
    for _ in range(12):
        page.mouse.wheel(0, 600)
    last = page.locator(f'[data-index="{n - 1}"]')
    expect(last).to_be_in_viewport()
    # Its last column can be reached, and the head goes with it.
    part(page, "event-table").evaluate("(node) => node.scrollTo(1e6, 0)")
    right = page.evaluate(
        """() => [".ns-event-head > :last-child", ".ns-event-row > :last-child"]
          .map((at) => document.querySelector(at).getBoundingClientRect().right)"""
    )
    edge = page.evaluate(
        "document.querySelector('.ns-event-table').getBoundingClientRect().right"
    )
    assert all(x <= edge + 0.5 for x in right)


OVERLAPS = """() => {
  // Parts of one row that are seen and lie on one another.
  const found = [];
  for (const row of document.querySelectorAll(
      ".ns-header, .ns-runs, .ns-tabs-row, .ns-plot-head, .ns-transport, .sv-open")) {
    const parts = [...row.querySelectorAll("button, select, h1, span, output, summary")]
      .filter((node) => node.checkVisibility() && node.getClientRects().length > 0);
    parts.forEach((a, i) => parts.slice(i + 1).forEach((b) => {
      if (a.contains(b) || b.contains(a)) return;
      const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
      const w = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const h = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (w > 1 && h > 1) found.push([a.outerHTML, b.outerHTML, w, h]);
    }));
    for (const node of parts) {
      const { left, right } = node.getBoundingClientRect();
      const isOpen = !node.closest(".sv-panel")
        || document.querySelector(".sv-open-drawer") !== null;
      if (isOpen && (left < -1 || right > innerWidth + 1)) {
        found.push([node.outerHTML, left, right]);
      }
    }
  }
  return found;
}"""


def test_nothing_collides_on_a_phone(server: Server, new_page: NewPage):
    page = new_page(
        viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page.goto(f"{server.address}#system=compactor&until=0.5")
    drawn(page)
    assert page.evaluate(OVERLAPS) == []
    part(page, "drawer").tap()
    assert page.evaluate(OVERLAPS) == []
    part(page, "tab-text").tap()
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    part(page, "tab-form").tap()
    part(page, "param-mu").fill("0.3")
    first = run(page)
    part(page, "drawer").tap()
    part(page, "param-mu").fill("0.2")
    run(page)
    part(page, "drawer").tap()
    part(page, f"compare-{first}").check()
    part(page, "drawer").tap()
    expect(part(page, "run-legend")).to_be_visible()
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_text_can_be_read(server: Server, new_page: NewPage, theme: Any):
    page = new_page(color_scheme=theme)
    page.goto(f"{server.address}#system=belt")
    still(page)
    write(page)
    part(page, "text").press("Control+End")
    page.keyboard.type("bodie: 'x' # no")
    expect(part(page, "faults")).to_be_visible()
    # The letters of the area itself are not seen; those of its picture are.
    page.evaluate("document.querySelector('[data-test=text]').remove()")
    check_readable(page)


# ---- comparing -------------------------------------------------------------------


def test_runs_have_a_colour_each_and_differences(server: Server, page: Page):
    open_app(page, server)
    part(page, "param-mu").fill("0.22")
    first = run(page)
    part(page, "param-mu").fill("0.28")
    run(page)
    page.evaluate("window.nonsmoothApp.viewer.setTime(0.9)")
    settle(page)
    alone = ink(page)
    part(page, f"compare-{first}").check()
    expect(part(page, "run-legend")).to_contain_text("mu = 0.22")
    swatches = (
        part(page, "run-legend")
        .locator("i")
        .evaluate_all(
            "nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)"
        )
    )
    assert len(set(swatches)) == 2
    settle(page)
    # A ghost is in the picture, in the colour of its line.
    assert ink(page) != alone
    ghosts = page.evaluate("window.nonsmoothApp.viewer.scene.ghosts")
    numbers = [int(ghosts[1][k : k + 2], 16) for k in (1, 3, 5)]
    assert swatches[1] == f"rgb({numbers[0]}, {numbers[1]}, {numbers[2]})"
    # Differences, at a time and in the plot.
    part(page, "difference").click()
    name = "sole.friction_force"
    item = page.locator(f'[data-name="{name}"]')
    expect(item).to_contain_text(f"Δ {name}")
    values = [
        float(simulate(gallery.build("belt", mu=mu), 1.0).sample(0.9, name)[name][0])
        for mu in (0.28, 0.22)
    ]
    text = item.locator("output").inner_text().split()[0].replace("−", "-")
    # Four digits, of forces of some N.
    assert float(text) == pytest.approx(values[1] - values[0], abs=2e-3)
    wait_until(page, "() => location.hash.includes('difference=1')")
    part(page, "difference").click()
    expect(item).not_to_contain_text("Δ")


def test_open_contacts_do_not_slip_and_times_have_units(server: Server, page: Page):
    page.goto(f"{server.address}#system=compactor&until=0.5")
    drawn(page)
    if page.evaluate("window.nonsmoothApp.viewer.isStill"):
        run(page)
    found = page.evaluate(
        """() => {
          const run = window.nonsmoothApp.viewer.runs[0];
          const slip = run.column("left.slip_velocity");
          const mode = run.column("left.mode");
          const at = (k) => Number.isNaN(slip[k]) === (mode[k] >= 2);
          return [mode.includes(2), [...slip.keys()].every(at),
                  [...run.t.keys()].find((k) => mode[k] === 2)];
        }"""
    )
    assert found[:2] == [True, True]
    t = page.evaluate("(k) => window.nonsmoothApp.viewer.runs[0].t[k]", found[2])
    page.evaluate("t => window.nonsmoothApp.viewer.setTime(t)", t)
    expect(page.locator('[data-name="left.slip_velocity"] output')).to_contain_text("–")


# ---- films, pictures -------------------------------------------------------------


def test_a_film_and_a_picture_are_saved(server: Server, page: Page, tmp_path: Path):
    open_app(page, server)
    # Half a second.
    page.evaluate("window.nonsmoothApp.viewer.setState({ speed: 2 })")
    part(page, "download").click()
    with page.expect_download(timeout=2 * PATIENCE) as waiting:
        part(page, "download-film").click()
        expect(part(page, "filming")).to_be_visible()
    expect(part(page, "filming")).to_have_count(0)
    assert waiting.value.suggested_filename == "block-on-a-belt.webm"
    film = Path(waiting.value.path()).read_bytes()
    # EBML, and more than a head.
    assert film[:4] == b"\x1a\x45\xdf\xa3"
    assert len(film) > 2000
    part(page, "download").click()
    with page.expect_download() as waiting:
        part(page, "download-png").click()
    picture = Path(waiting.value.path()).read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"


# ---- the token -------------------------------------------------------------------


def test_another_token_is_told(page: Page, watch: Watch, tmp_path: Path):
    watch.expect("ERR_|Failed to fetch|status of")
    server = start(tmp_path)
    answer = page.goto(server.address.replace(TOKEN, "a-token-that-is-not-it"))
    assert answer is not None
    assert answer.status == 403
    assert "address that `nonsmooth serve` printed" in page.content()
    page.goto(server.address)
    still(page)
    port = re.search(r":(\d+)/", server.address)
    assert port is not None
    assert server.stop() == 0
    again = start(tmp_path, port[1], token="another-token-of-the-tests")
    try:
        part(page, "run").click()
        expect(page.get_by_role("alert")).to_contain_text("that of an earlier one")
    finally:
        assert again.stop() == 0
