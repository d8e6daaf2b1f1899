"""The page of a study in a browser: hover, filters, a click that opens the viewer."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from nonsmooth.study import AtEvents, Final, Grid, Study, Table, sweep
from tests.e2e.pages import wait_until
from tests.e2e.test_serve import FIRST_RUN, Server, start

pytestmark = pytest.mark.browser

STUDY = """\
nonsmooth: 1
study:
  title: belts under way
  system: belt
  parameters:
    speed: {type: Grid, low: 0.1, high: 0.3, n: 4000}
  outputs:
    x: {type: Final, column: block.x}
  until: 8
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studies")


@pytest.fixture(scope="module")
def table(folder: Path) -> Table:
    study = Study(
        title="belts",
        system="belt",
        parameters={"speed": Grid(low=0.1, high=0.3, n=5), "mu": [0.1, 0.2, 0.3]},
        outputs={
            "x": Final(column="block.x"),
            "points": AtEvents(column="block.x", n=4),
        },
        until=3.0,
    )
    return sweep(study, store=folder / "belts.db")


@pytest.fixture(scope="module")
def server(folder: Path, table: Table) -> Iterator[Server]:
    running = start(folder)
    yield running
    if running.process.poll() is None:
        assert running.stop() == 0


def at(page: Page, column: float, row: float) -> tuple[float, float]:
    """Return a place on the map, by parts of its width and height inside the axes."""
    box = page.locator("#map").bounding_box()
    assert box is not None
    x = box["x"] + 84 + column * (box["width"] - 84 - 132)
    return x, box["y"] + box["height"] - 52 - row * (box["height"] - 52 - 16)


def test_page_of_a_file(page: Page, table: Table, folder: Path) -> None:
    table.page(folder / "belts.html", runs=[7])
    page.goto((folder / "belts.html").as_uri())
    expect(page.locator("#counts")).to_have_text("15 runs: 15 done")
    page.mouse.move(*at(page, 0.1, 0.5))
    expect(page.locator("#tip")).to_contain_text("run 1")
    expect(page.locator("#tip")).to_contain_text("mu0.2")
    # Run 7 is in the middle of the map, and in the page.
    page.mouse.click(*at(page, 0.5, 0.5))
    expect(page.locator("#run h2")).to_have_text("run 7")
    expect(page.locator("#run code")).to_have_text(
        "nonsmooth run belt --set speed=0.2 --set mu=0.2 --until 3 --report run.html"
    )
    viewer = page.frame_locator("#view iframe")
    expect(viewer.locator("#nonsmooth")).to_contain_text("run 7: speed = 0.2, mu = 0.2")
    page.mouse.click(*at(page, 0.1, 0.1))
    expect(page.locator("#view")).to_contain_text("(runs 7 are)")
    page.get_by_label("speed, least").fill("0.25")
    expect(page.locator("#shown")).to_have_text("6 of 15 runs shown")
    page.mouse.click(*at(page, 0.1, 0.1))
    expect(page.locator("#run h2")).to_have_count(0)
    page.select_option("#up", "points")
    page.select_option("#colour", "mu")


def test_page_of_the_server_opens_any_run(page: Page, server: Server) -> None:
    page.goto(f"{server.address}studies")
    page.get_by_role("link", name="belts").click()
    expect(page.locator("#counts")).to_have_text("15 runs: 15 done")
    page.mouse.click(*at(page, 0.9, 0.9))
    expect(page.locator("#run h2")).to_have_text("run 14")
    viewer = page.frame_locator("#view iframe")
    expect(viewer.locator("#nonsmooth")).to_contain_text(
        "block on a belt", timeout=FIRST_RUN
    )


def test_progress_of_a_study_under_way(page: Page, server: Server) -> None:
    (server.folder / "way.yaml").write_text(STUDY)
    words = ["sweep", str(server.folder / "way.yaml"), "--workers", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "nonsmooth", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as study:
        try:
            wait = "() => fetch('api/studies').then((a) => a.text())"
            page.goto(f"{server.address}studies")
            for _ in range(600):
                if "way.db" in page.evaluate(wait):
                    break
                page.wait_for_timeout(100)
            page.goto(f"{server.address}study?file=way.db")
            done = "() => document.getElementById('bar').value"
            wait_until(page, f"() => ({done})() > 0", patience=FIRST_RUN)
            before = page.evaluate(done)
            wait_until(page, f"(n) => ({done})() > n", before, FIRST_RUN)
            expect(page.locator("#bar")).to_be_visible()
            expect(page.locator("#counts")).to_contain_text("s left")
        finally:
            study.kill()
