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
    # The element of that id is found by this name before the script has run.
    wait_until(page, "() => window.nonsmooth?.viewer !== undefined")
    settle(page)


# Names of what can be used, and texts that stand out too little from their ground.
_READ = """() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.e+-]+/g).map(Number);
    const [r, g, b, a = 1] = numbers;
    return text.startsWith("color") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = (top, low) =>
    [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * low[k]);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      const part = c / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    if (node === null) return [255, 255, 255];
    const own = parse(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(node.parentElement));
  };
  const fade = (node) =>
    node === null ? 1 : getComputedStyle(node).opacity * fade(node.parentElement);
  const nameless = [];
  for (const node of document.querySelectorAll("button, a, select, input, summary,"
      + "[role=slider], [role=listbox], [role=img]")) {
    const label = node.getAttribute("aria-label") ?? node.labels?.[0]?.textContent
      ?? node.textContent;
    if (!label || label.trim() === "") nameless.push(node.outerHTML);
  }
  const faint = [];
  let n = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (text.textContent.trim() === "" || node.closest("script, style")) continue;
    if (!node.checkVisibility() || node.closest(":disabled")) continue;
    const back = ground(node);
    const ink = parse(getComputedStyle(node).color);
    ink[3] *= fade(node);
    const [a, b] = [luminance(over(ink, back)), luminance(back)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    n += 1;
    if (contrast < 4.5) faint.push([contrast, node.className, text.textContent]);
  }
  return { nameless, faint, n };
}"""


def check_readable(page: Page) -> None:
    """Check that all controls have names, and that texts stand out, WCAG 2.2 AA."""
    found = page.evaluate(_READ)
    assert found["nameless"] == []
    assert found["faint"] == []
    assert found["n"] > 10
