"""Take pictures of the gallery's pages in the built site, into docs/images/pages.

python docs/build.py && python docs/make_screens.py [--whole FOLDER] [SYSTEM ...]

They show at a glance how the pages look, the live run included; nothing else uses
them. `viewer` is the viewer alone, for the README, in docs/images. With --whole the
whole pages go to another folder, to be looked at once. Needs Playwright and a Chromium;
NONSMOOTH_BROWSER may name one.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import pages  # noqa: E402

FOLDER = ROOT / "docs" / "images" / "pages"
Size = tuple[int, int]  # CSS pixels
PAGE: Size = (900, 1250)
VIEWER: Size = (1280, 720)
LARGEST = 60_000  # bytes
# Fewer colours until the file is small enough.
COLOURS = (256, 128, 64, 48, 32)


def chromium() -> str | None:
    """Return the browser, or none to take Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = [os.environ.get("NONSMOOTH_BROWSER"), *map(shutil.which, names)]
    return next((path for path in found if path), None)


def shot(browser: Any, file: Path, size: Size, is_whole: bool = False) -> Image.Image:
    """Return a picture of one page, once its live runs are there."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(file.as_uri())
    # A run in motion says more than its start.
    for frame in page.frames if file.name.endswith(pages.REPORT) else page.frames[1:]:
        frame.wait_for_function("window.nonsmooth !== undefined", timeout=20_000)
        frame.evaluate(
            "() => { const { viewer, run } = window.nonsmooth;"
            " const info = run.header.run;"
            " viewer.setTime(info.t_start + 0.37 * (info.t_end - info.t_start)); }"
        )
    if is_whole:  # pictures further down are loaded when they are near
        height = page.evaluate("document.documentElement.scrollHeight")
        for y in range(0, height, size[1] // 2):
            page.evaluate(f"window.scrollTo(0, {y})")
            page.wait_for_timeout(60)
        page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(400)
    data = page.screenshot(full_page=is_whole)
    page.close()
    return Image.open(io.BytesIO(data)).convert("RGB")


def write(path: Path, image: Image.Image) -> None:
    """Write a picture, small enough for a repository."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for colours in COLOURS:
        # This method keeps colours of which there is little, as of modes and arrows.
        method = Image.Quantize.MAXCOVERAGE
        reduced = image.quantize(colours, method, dither=Image.Dither.NONE)
        reduced.save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    else:
        raise SystemExit(f"{path} is too large")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes, {colours} colours")


def main(argv: list[str]) -> None:
    """Take the pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "systems", nargs="*", default=[*pages.names(), "index", "viewer"]
    )
    parser.add_argument("--whole", metavar="FOLDER", type=Path)
    args = parser.parse_args(argv)
    site = ROOT / "site" / "gallery"
    options = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=options, headless=True
        )
        for system in args.systems:
            place = FOLDER / f"{system}.png"
            file = site / f"{system}.html"
            size, is_whole = PAGE, args.whole is not None
            if system == "viewer":
                place = FOLDER.parent / "viewer.png"
                file = site / f"compactor.{pages.REPORT}"
                size, is_whole = VIEWER, False
            image = shot(browser, file, size, is_whole)
            if args.whole is None:
                write(place, image)
            else:
                image.save(args.whole / place.name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
