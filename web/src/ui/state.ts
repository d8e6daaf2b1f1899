/** What a viewer shows, as an object and as text in an address. */

import type { Side } from "../run";
import type { View } from "../scene/camera";
import type { SceneOptions } from "../scene/scene";
import type { ThemeChoice } from "./theme";

export interface ViewerState {
  t: number; // s
  side: Side;
  speed: number; // s of the run per s
  plots: string[][]; // quantities of each panel
  options: Partial<SceneOptions>;
  tab: string;
  theme: ThemeChoice;
  range: [number, number] | null; // s, seen in plots and timeline
  view: View | null; // of the scene; null shows all
  loop: boolean;
}

const OPTIONS: readonly (keyof SceneOptions)[] = [
  "forces",
  "contacts",
  "trails",
  "centres",
  "markers",
  "names",
];

/** Write a state as `key=value&...`; what is left out is as at the start. */
export function toText(state: Partial<ViewerState>): string {
  const parts: string[] = [];
  const put = (key: string, value: string) => parts.push(`${key}=${escape(value)}`);
  if (state.t !== undefined) put("t", String(state.t));
  if (state.side === "before") put("side", "before");
  if (state.speed !== undefined) put("speed", String(state.speed));
  if (state.range) put("range", state.range.join("~"));
  if (state.view) {
    const { x, y, scale } = state.view;
    put("view", [x, y, scale].map((value) => Number(value.toPrecision(6))).join("~"));
  }
  if (state.loop) put("loop", "1");
  if (state.tab) put("tab", state.tab);
  if (state.theme && state.theme !== "auto") put("theme", state.theme);
  if (state.plots) {
    put("plots", state.plots.map((names) => names.map(quote).join(",")).join(";"));
  }
  const options = Object.entries(state.options ?? {});
  if (options.length > 0) {
    put("show", options.map(([name, on]) => (on ? name : `-${name}`)).join(","));
  }
  return parts.join("&");
}

// Names may hold anything; what separates them is escaped twice.
function quote(name: string): string {
  return name.replace(/[,;%]/g, (sign) => encodeURIComponent(sign));
}

function escape(text: string): string {
  return encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";");
}

/** Read what `toText` wrote; what makes no sense is left out. */
export function fromText(text: string): Partial<ViewerState> {
  const state: Partial<ViewerState> = {};
  for (const part of text.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    if (cut < 0) continue;
    const value = unescaped(part.slice(cut + 1));
    if (value === null) continue;
    read(state, part.slice(0, cut), value);
  }
  return state;
}

function read(state: Partial<ViewerState>, key: string, value: string): void {
  const number = value.trim() === "" ? NaN : Number(value);
  if (key === "t" && Number.isFinite(number)) state.t = number;
  if (key === "side" && (value === "before" || value === "after")) state.side = value;
  if (key === "speed" && number > 0 && Number.isFinite(number)) state.speed = number;
  if (key === "tab") state.tab = value;
  if (key === "theme" && ["auto", "light", "dark"].includes(value)) {
    state.theme = value as ThemeChoice;
  }
  if (key === "range") {
    const [from, to] = value.split("~").map(Number);
    if (from! < to! && Number.isFinite(to! - from!)) state.range = [from!, to!];
  }
  if (key === "view") {
    const [x, y, scale] = value.split("~").map(Number);
    const isView = Number.isFinite(x! + y! + scale!) && scale! > 0;
    if (isView) state.view = { x: x!, y: y!, scale: scale! };
  }
  if (key === "loop") state.loop = value === "1";
  if (key === "plots") {
    const panels = value.split(";").map((panel) => panel.split(",").map(unquoted));
    state.plots = panels
      .map((names) => names.filter((name) => name !== ""))
      .filter((names) => names.length > 0);
  }
  if (key === "show") {
    state.options = {};
    for (const word of value.split(",")) {
      const isOff = word.startsWith("-");
      const name = OPTIONS.find((option) => option === (isOff ? word.slice(1) : word));
      if (name) state.options[name] = !isOff;
    }
  }
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function unquoted(name: string): string {
  return unescaped(name) ?? "";
}
