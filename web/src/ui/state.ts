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
  deformation: number; // factor by which it is enlarged
  field: string; // colours of flexible bodies; "" for none
  tab: string;
  theme: ThemeChoice;
  range: [number, number] | null; // s, seen in plots and timeline
  view: View | null; // of the scene; null shows all
  loop: boolean;
  difference: boolean; // of runs that are compared, to the first
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
    // A hundredth of a pixel.
    const places = Math.min(20, Math.max(0, Math.ceil(Math.log10(scale)) + 2));
    const centre = [x, y].map((value) => Number(value.toFixed(places)));
    put("view", [...centre, Number(scale.toPrecision(6))].join("~"));
  }
  if (state.loop) put("loop", "1");
  if (state.difference) put("difference", "1");
  if (state.deformation !== undefined && state.deformation !== 1) {
    put("deformation", String(state.deformation));
  }
  if (state.field) put("field", state.field);
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
  if (key === "deformation" && number >= 0 && Number.isFinite(number)) {
    state.deformation = number;
  }
  if (key === "field") state.field = value;
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
  if (key === "difference") state.difference = value === "1";
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

/** Return what makes sense as a state, of an object that anybody may have written. */
export function fromObject(value: unknown): Partial<ViewerState> {
  if (typeof value !== "object" || value === null) return {};
  const given = value as Record<string, unknown>;
  const state: Partial<ViewerState> = {};
  if (isNumber(given.t)) state.t = given.t;
  if (given.side === "before" || given.side === "after") state.side = given.side;
  if (isNumber(given.speed) && given.speed > 0) state.speed = given.speed;
  if (typeof given.tab === "string") state.tab = given.tab;
  if (given.theme === "auto" || given.theme === "light" || given.theme === "dark") {
    state.theme = given.theme;
  }
  if (typeof given.loop === "boolean") state.loop = given.loop;
  if (typeof given.difference === "boolean") state.difference = given.difference;
  if (isNumber(given.deformation) && given.deformation >= 0) {
    state.deformation = given.deformation;
  }
  if (typeof given.field === "string") state.field = given.field;
  if (Array.isArray(given.plots)) state.plots = given.plots.map(panel).filter(isFull);
  if (given.range === null) state.range = null;
  if (Array.isArray(given.range)) {
    const [from, to] = given.range as unknown[];
    if (isNumber(from) && isNumber(to) && from < to) state.range = [from, to];
  }
  if (given.view === null) state.view = null;
  else if (typeof given.view === "object") {
    const { x, y, scale } = given.view as Record<string, unknown>;
    const isView = isNumber(x) && isNumber(y) && isNumber(scale) && scale > 0;
    if (isView) state.view = { x, y, scale };
  }
  if (typeof given.options === "object" && given.options !== null) {
    const options = given.options as Record<string, unknown>;
    state.options = {};
    for (const name of OPTIONS) {
      const isOn = options[name];
      if (typeof isOn === "boolean") state.options[name] = isOn;
    }
  }
  return state;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A panel is a list of quantities; one alone may stand for itself. */
function panel(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return names.filter((name) => typeof name === "string");
}

const isFull = (names: string[]) => names.length > 0;
