/** The buttons over the picture. */

import type { SceneOptions } from "../scene/scene";
import { iconButton, make, type IconName } from "./dom";

const TOGGLES: [keyof SceneOptions & IconName, string][] = [
  ["forces", "forces"],
  ["contacts", "contacts"],
  ["trails", "paths"],
  ["centres", "mass centres"],
  ["markers", "points"],
  ["names", "names"],
];

const NEEDS_SPOTS: readonly (keyof SceneOptions)[] = ["forces", "contacts"];

export const ZOOM = 1.25;

export interface ToolsHost {
  fit(): void;
  zoom(factor: number): void;
  toggle(name: keyof SceneOptions): void;
}

export class Tools {
  readonly root: HTMLElement;
  private readonly toggles = new Map<keyof SceneOptions, HTMLElement>();

  constructor(hasSpots: boolean, host: ToolsHost) {
    for (const [name, label] of TOGGLES) {
      const button = iconButton(name, label, () => host.toggle(name), {
        test: `toggle-${name}`,
        "aria-pressed": "false",
        disabled: NEEDS_SPOTS.includes(name) && !hasSpots,
      });
      this.toggles.set(name, button);
    }
    this.root = make(
      "div",
      { class: "ns-tools", role: "toolbar", "aria-label": "picture" },
      make(
        "div",
        {},
        iconButton("fit", "show all (f)", () => host.fit(), { test: "fit" }),
        iconButton("plus", "nearer (+)", () => host.zoom(ZOOM), { test: "zoom-in" }),
        iconButton("minus", "farther (−)", () => host.zoom(1 / ZOOM), {
          test: "zoom-out",
        }),
      ),
      make("div", {}, ...this.toggles.values()),
    );
  }

  /** Show what is switched on. */
  show(options: SceneOptions): void {
    for (const [name, button] of this.toggles) {
      button.setAttribute("aria-pressed", String(options[name]));
    }
  }
}

/** Return what boxes cover at the borders of a canvas, px. */
export function covered(
  canvas: HTMLCanvasElement,
  boxes: readonly HTMLElement[],
): { left: number; top: number; bottom: number } {
  const frame = canvas.getBoundingClientRect();
  const found = { left: 0, top: 0, bottom: 0 };
  for (const box of boxes) {
    const { left, right, top, bottom, width, height } = box.getBoundingClientRect();
    // Beside the picture on narrow pages, and nothing to keep clear of.
    const isOver = top < frame.bottom && bottom > frame.top && width > 0;
    if (!isOver || right < frame.left || left > frame.right) continue;
    if (height > width) found.left = Math.max(found.left, right - frame.left);
    else if (top + bottom < frame.top + frame.bottom) {
      found.top = Math.max(found.top, bottom - frame.top);
    } else found.bottom = Math.max(found.bottom, frame.bottom - top);
  }
  return found;
}
