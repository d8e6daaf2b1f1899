"""What all tests do on pages."""

from typing import Any

from playwright.sync_api import Locator, Page

# A busy machine may be slow; a test that fails waits so long, ms.
PATIENCE = 30_000

# Playwright's own wait evaluates text, which the pages' security policy forbids.
_WAIT = """([patience, given]) => new Promise((resolve, reject) => {
  const begin = performance.now();
  const holds = FUNCTION;
  const look = () => {
    if (holds(given)) resolve(true);
    else if (performance.now() - begin < patience) setTimeout(look, 20);
    else reject(new Error(`in vain: ${holds}`));
  };
  look();
})"""


def wait_until(
    page: Page, function: str, given: Any = None, patience: int = PATIENCE
) -> None:
    """Wait until a function of JavaScript is true of what is given."""
    page.evaluate(_WAIT.replace("FUNCTION", function), [patience, given])


def settle(page: Page, frames: int = 2) -> None:
    """Wait until so many frames have been drawn."""
    page.evaluate(
        """async (n) => {
          for (let k = 0; k < n; k++) await new Promise(requestAnimationFrame);
        }""",
        frames,
    )


def part(page: Page, name: str) -> Locator:
    """Return what bears a name for tests; web/src/viewer.ts lists them."""
    return page.locator(f'[data-test="{name}"]')


def open_report(page: Page, address: str) -> None:
    """Open a report and wait until its first frame is drawn."""
    page.goto(address)
    wait_until(page, "() => window.nonsmooth !== undefined")
    settle(page)
