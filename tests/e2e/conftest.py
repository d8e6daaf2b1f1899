"""A real browser for tests from end to end.

A page fails its test if it writes an error to the console, raises one, or asks
anything but this computer for anything.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    Route,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as BrowserError

from tests.e2e.pages import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

expect.set_options(timeout=PATIENCE)
# Nothing that a browser does of its own accord, on the network or besides the page.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
DESKTOP = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}


def _executable() -> str | None:
    """Return the browser to use; None if there is none and none was asked for."""
    wanted = os.environ.get("NONSMOOTH_BROWSER")
    if wanted:
        found = shutil.which(wanted)
        assert found, f"NONSMOOTH_BROWSER = {wanted}: there is no such program"
        return found
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = _executable()
    if path is None:
        pytest.skip(
            "no browser: install chromium, or name one in NONSMOOTH_BROWSER "
            f"(looked for {', '.join(NAMES)})"
        )
    # The sandbox of Chromium does not work for root, as in many containers.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*ARGUMENTS, *["--no-sandbox"] * is_root]
    found = playwright.chromium.launch(executable_path=path, args=arguments)
    yield found
    found.close()


def is_local(address: str) -> bool:
    """Tell whether an address is on this computer, or inside the page."""
    parts = urlsplit(address)
    if parts.scheme in ("file", "data", "blob", "about"):
        return True
    return parts.hostname in ("127.0.0.1", "localhost", "::1")


@dataclass
class Watch:
    """What went wrong in the pages of a test."""

    problems: list[str] = field(default_factory=list[str])
    expected: list[str] = field(default_factory=list[str])

    def expect(self, pattern: str) -> None:
        """Let a test name an error that belongs to what it does."""
        self.expected.append(pattern)

    def note(self, text: str) -> None:
        self.problems.append(text)

    def check(self) -> None:
        wrong = [
            text
            for text in self.problems
            if not any(re.search(pattern, text) for pattern in self.expected)
        ]
        assert not wrong, "the page had trouble:\n" + "\n".join(wrong)

    def watch(self, context: BrowserContext) -> None:
        def refuse(route: Route) -> None:
            self.note(f"asked for {route.request.url}")
            route.abort()

        context.route(lambda address: not is_local(address), refuse)
        context.on("page", self._watch_page)

    def _watch_page(self, page: Page) -> None:
        def socket(opened: Any) -> None:
            if not is_local(opened.url):
                self.note(f"opened a socket to {opened.url}")

        def said(message: Any) -> None:
            if message.type == "error":
                self.note(f"console: {message.text} ({message.location.get('url')})")

        page.on("console", said)
        page.on("pageerror", lambda error: self.note(f"error: {error}"))
        page.on("websocket", socket)


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.check()


NewPage = Callable[..., Page]


@pytest.fixture
def new_page(browser: Browser, watch: Watch) -> Iterator[NewPage]:
    """Return a function that opens empty pages, each as if in a new browser.

    Its keyword arguments are those of Playwright's `new_context`.
    """
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Page:
        settings: dict[str, Any] = {"viewport": DESKTOP, **options}
        context = browser.new_context(**settings)
        contexts.append(context)
        watch.watch(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        return page

    yield make
    for context in contexts:
        try:
            context.close()
        except BrowserError as error:
            watch.note(f"could not be closed: {error}")


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """An empty page of a desk's size, in light colours."""
    return new_page(color_scheme="light")
