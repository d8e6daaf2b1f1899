/** What the colours of contacts mean, and how long the arrows of forces are. */

import type { Run } from "../run";
import { largestForce } from "./spots";
import { THEMES, type ThemeName } from "./theme";

/** How modes are called, as in Python's figures. */
const WORDS: Record<string, string> = { "slip+": "slip +", "slip-": "slip −" };

const TANGENT = "the tangent is the normal, from a to b, turned by −90°";
const MEANINGS: Record<string, string> = {
  stick: "no slip: the slip velocity is zero",
  "slip+": `b slips along the tangent, past a: slip velocity > 0 (${TANGENT})`,
  "slip-": `b slips against the tangent, past a: slip velocity < 0 (${TANGENT})`,
  pressing: "in touch, with a friction law that has no stick",
  open: "not in touch",
  released: "still overlapping, but without force",
};

/** Return the modes that occur in a run, in the order of legends. */
export function modesOf(run: Run): string[] {
  const found = new Set<string>();
  const look = (column: string, canStick: boolean): void => {
    if (!run.has(column)) return;
    const codes = run.column(column);
    const seen = new Set<number>();
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!;
      if (seen.has(code)) continue;
      seen.add(code);
      found.add(run.mode(column, canStick, { i, part: 0, t: 0 }));
    }
  };
  for (const spot of run.header.spots) look(spot.mode, spot.can_stick);
  for (const glyph of run.header.glyphs) {
    if (glyph.mode !== undefined) look(glyph.mode, true);
  }
  return Object.keys(run.header.modes).filter((mode) => found.has(mode));
}

/** Return the legend: modes of all runs, and the largest force of the first. */
export function legend(runs: readonly Run[], theme: ThemeName): HTMLElement {
  const colours = THEMES[theme];
  const root = document.createElement("div");
  root.className = "ns-legend";
  const item = (picture: SVGElement, words: string, meaning = ""): void => {
    const entry = document.createElement("span");
    entry.className = "ns-legend-item";
    entry.append(picture, document.createTextNode(` ${words}`));
    entry.style.whiteSpace = "nowrap";
    if (meaning) entry.title = meaning;
    root.append(entry);
  };
  const first = runs[0];
  if (!first) return root;
  const modes = new Set(runs.flatMap(modesOf));
  for (const [mode, colour] of Object.entries(first.header.modes)) {
    if (!modes.has(mode)) continue;
    const isOpen = mode === "open";
    const disc = shape("circle", {
      cx: "6",
      cy: "6",
      r: isOpen ? "3" : "4.6",
      fill: isOpen ? colours.paper : colour,
      stroke: isOpen ? colours.pale : colours.ink,
      "stroke-width": "1.2",
    });
    item(picture(12, disc), WORDS[mode] ?? mode, MEANINGS[mode]);
  }
  const largest = largestForce(first);
  if (largest > 0) {
    item(arrow(colours.normal), "normal force");
    item(arrow(colours.friction), "friction force");
    const note = document.createElement("span");
    note.className = "ns-legend-item ns-legend-note";
    note.textContent = `longest arrow ${newtons(largest)}`;
    note.style.whiteSpace = "nowrap";
    root.append(note);
  }
  return root;
}

function arrow(colour: string): SVGElement {
  const shaft = shape("path", { d: "M1 6H15", stroke: colour, "stroke-width": "2" });
  const head = shape("path", { d: "M22 6L13 2.4L14.8 6L13 9.6Z", fill: colour });
  return picture(23, shaft, head);
}

function picture(width: number, ...shapes: SVGElement[]): SVGElement {
  const svg = shape("svg", {
    width: String(width),
    height: "12",
    viewBox: `0 0 ${width} 12`,
    "aria-hidden": "true",
  });
  svg.style.verticalAlign = "-1px";
  svg.append(...shapes);
  return svg;
}

function shape(kind: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  return element as SVGElement;
}

/** Return a force in words: three digits and a prefix. */
export function newtons(force: number): string {
  const prefixes = [
    [1e9, "GN"],
    [1e6, "MN"],
    [1e3, "kN"],
    [1, "N"],
    [1e-3, "mN"],
  ] as const;
  const fit = prefixes.find(([size]) => force >= 0.9995 * size) ?? [1e-6, "µN"];
  return `${Number((force / fit[0]).toPrecision(3))} ${fit[1]}`;
}
