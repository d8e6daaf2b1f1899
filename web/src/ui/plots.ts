/** Panels of plots, one above the other, that follow the animation. */

import type { Instant, Run } from "../run";
import { Chart, clipped, type ChartContent, type Frame } from "./chart";
import { iconButton, make } from "./dom";
import { wholeRange } from "./events";
import { bothSides } from "./numbers";
import { cleaned, digitsOf, isStill, reachOf, roundOff } from "./round";
import {
  bounds,
  differenceOf,
  jumps,
  lineOf,
  padded,
  seriesOf,
  type Jump,
  type Line,
  type Series,
} from "./series";
import { lineColour, colours, type Theme } from "./theme";
import { unitText } from "./units";

// Of one run colours tell quantities apart. Of several they tell runs, and dashes
// quantities, px.
const DASHES: readonly number[][] = [[], [7, 4], [2, 3], [8, 3, 2, 3]];
const JUMP = 0.01; // of a panel's range: a smaller jump needs no markers
const APART = 9; // px between jumps: nearer markers would be one on top of another
const DENSE = 50; // px up and down per pixel along: such a line fills an area

/** The two one-sided values of a quantity; the same where nothing jumps. */
export interface Sides {
  before: number;
  after: number;
}

export function sides(run: Run, name: string, t: number): Sides {
  return {
    before: run.value(name, run.locate({ t, side: "before" })),
    after: run.value(name, run.locate({ t, side: "after" })),
  };
}

/** Return the words for codes of a mode, where a quantity is one. */
export function modeWords(run: Run, name: string): Map<number, string> | null {
  const spot = run.header.spots.find((item) => item.mode === name);
  if (!spot) return null;
  const words = new Map<number, string>();
  const codes: [number, string][] = spot.can_stick
    ? [
        [-1, "slip−"],
        [0, "stick"],
        [1, "slip+"],
      ]
    : [[0, "pressing"]];
  for (const [code, word] of codes) words.set(code, word);
  if (spot.family === "contact") words.set(2, "open").set(3, "released");
  return words;
}

interface Curve {
  run: Run;
  name: string;
  series: () => Series; // made when it is seen
  colour: number;
  dash: readonly number[];
  line: Line;
  jumps: Jump[];
}

/** The lines of one panel. */
class Lines implements ChartContent {
  readonly unit: string;
  readonly words?: ReadonlyMap<number, string>;
  theme: Theme = "light";
  private readonly curves: Curve[] = [];

  constructor(runs: readonly Run[], names: readonly string[], isDifference: boolean) {
    const base = runs[0];
    this.unit = base?.unit(names[0] ?? "") ?? "";
    const words = names.map((name) => (base ? modeWords(base, name) : null));
    const all = words.filter((map) => map !== null);
    if (all.length === names.length && all.length > 0) {
      this.words = new Map(all.flatMap((map) => [...map]));
    }
    const isOne = runs.length === 1;
    names.forEach((name, i) => {
      runs.forEach((run, k) => {
        if (!run.has(name)) return;
        // Modes have no differences, and the first run none to itself.
        const isLess = isDifference && !this.words && base !== undefined && !isOne;
        if (isLess && (k === 0 || !base.has(name))) return;
        const [colour, dash] = isOne ? [i, 0] : [k, i];
        this.curves.push({
          run,
          name,
          series: () => (isLess ? differenceOf(run, base, name) : seriesOf(run, name)),
          colour,
          dash: DASHES[dash % DASHES.length]!,
          line: { x: new Float64Array(), y: new Float64Array() },
          jumps: [],
        });
      });
    });
  }

  prepare(from: number, to: number, columns: number): [number, number] {
    for (const curve of this.curves) {
      curve.line = lineOf(curve.series(), from, to, columns);
    }
    const range = padded(
      bounds(
        this.curves.map((curve) => curve.line),
        from,
        to,
      ),
      Math.max(0, ...this.curves.map(({ run, name }) => roundOff(run, name))),
      Math.max(0, ...this.curves.map(({ run, name }) => reachOf(run, name))),
    );
    for (const curve of this.curves) {
      const least = JUMP * (range[1] - range[0]);
      const isStepped = curve.run.isStepped(curve.name);
      curve.jumps = isStepped ? [] : jumps(curve.series(), from, to, least);
    }
    return range;
  }

  draw(frame: Frame): void {
    clipped(frame, () => {
      const { ctx, ratio } = frame;
      ctx.lineJoin = "round";
      ctx.lineCap = "butt";
      // Zero is a line of its own.
      const zero = frame.y(0);
      ctx.strokeStyle = colours(this.theme).soft;
      ctx.globalAlpha = 0.5;
      ctx.lineWidth = ratio;
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(frame.left, Math.round(zero) + 0.5);
      ctx.lineTo(frame.left + frame.width, Math.round(zero) + 0.5);
      if (!this.words) ctx.stroke();
      ctx.globalAlpha = 1;
      for (const curve of this.curves) this.drawCurve(frame, curve);
    });
  }

  private drawCurve(frame: Frame, { line, colour, dash, jumps }: Curve): void {
    const { ctx, ratio } = frame;
    const ink = lineColour(this.theme, colour);
    ctx.strokeStyle = ink;
    // Where a line fills an area, those below are to be seen.
    const isDense = travel(frame, line) > DENSE * frame.width * ratio;
    ctx.globalAlpha = isDense ? 0.7 : 1;
    ctx.lineWidth = (isDense ? 1.2 : 1.6) * ratio;
    ctx.setLineDash(dash.map((length) => length * ratio));
    trace(frame, line);
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    this.drawJumps(frame, jumps, ink);
  }

  /** A ring at the value before, a disc at that after, where there is room. */
  private drawJumps(frame: Frame, list: readonly Jump[], ink: string): void {
    const { ctx, ratio } = frame;
    const near = APART * ratio;
    ctx.lineWidth = 1.2 * ratio;
    list.forEach((jump, k) => {
      const x = frame.x(jump.t);
      const left = list[k - 1];
      const right = list[k + 1];
      if (left && x - frame.x(left.t) < near) return;
      if (right && frame.x(right.t) - x < near) return;
      for (const isAfter of [false, true]) {
        ctx.beginPath();
        const y = frame.y(isAfter ? jump.after : jump.before);
        ctx.arc(x, y, 2.6 * ratio, 0, 2 * Math.PI);
        ctx.fillStyle = isAfter ? ink : colours(this.theme).paper;
        ctx.strokeStyle = ink;
        ctx.fill();
        ctx.stroke();
      }
    });
  }
}

/** Return how far a line goes up and down, in pixels. */
function travel(frame: Frame, { y }: Line): number {
  let sum = 0;
  for (let i = 1; i < y.length; i++) sum += Math.abs(y[i]! - y[i - 1]!) || 0;
  return sum * Math.abs(frame.y(1) - frame.y(0));
}

/** Stroke a line, broken where it is NaN. */
export function trace(frame: Frame, { x, y }: Line): void {
  const { ctx } = frame;
  ctx.beginPath();
  let isDown = false;
  for (let i = 0; i < x.length; i++) {
    if (Number.isNaN(y[i]!)) {
      isDown = false;
      continue;
    }
    if (isDown) ctx.lineTo(frame.x(x[i]!), frame.y(y[i]!));
    else ctx.moveTo(frame.x(x[i]!), frame.y(y[i]!));
    isDown = true;
  }
  ctx.stroke();
}

export interface PlotsHost {
  seek(t: number): void;
  setRange(range: [number, number] | null): void;
  plotsChanged(): void;
  setDifference(isOn: boolean): void;
  /** Open the picker for a panel; -1 for a new one. */
  pick(panel: number, button: HTMLElement): void;
}

interface Panel {
  names: string[];
  root: HTMLElement;
  chart: Chart;
  lines: Lines;
  values: HTMLElement[];
}

let groups = 0;

export class Plots {
  readonly root = make("div", { class: "ns-plots" });
  private panels: Panel[] = [];
  private readonly empty: HTMLElement;
  private range: [number, number];
  private theme: Theme = "light";
  private instant: Instant;
  private asked: number | null = null; // time under the mouse
  private isDifference = false;
  readonly group = `nonsmooth-${++groups}`;

  constructor(
    private readonly runs: readonly Run[],
    private readonly labels: readonly string[],
    private readonly host: PlotsHost,
  ) {
    const first = runs[0]!;
    this.range = wholeRange(first);
    this.instant = { t: first.begin, side: "after" };
    this.empty = make(
      "p",
      { class: "ns-empty" },
      "No plots. Choose quantities to add some.",
    );
  }

  get plots(): string[][] {
    return this.panels.map((panel) => [...panel.names]);
  }

  /** Show panels with these quantities; those the run does not have are left out. */
  setPlots(plots: readonly (readonly string[])[]): void {
    for (const panel of this.panels) panel.chart.dispose();
    this.asked = null;
    this.root.classList.remove("ns-asked");
    const known = plots
      .map((names) => names.filter((name) => this.runs.some((run) => run.has(name))))
      .filter((names) => names.length > 0);
    this.panels = known.map((names, k) => this.panel(names, k, k === known.length - 1));
    this.root.replaceChildren(...this.panels.map((panel) => panel.root));
    if (this.panels.length === 0) this.root.append(this.empty);
    this.setTime(this.instant, true);
  }

  /** Show what other runs have more than the first, or all as they are. */
  setDifference(isOn: boolean): void {
    if (isOn === this.isDifference || this.runs.length < 2) return;
    this.isDifference = isOn;
    this.differ.setAttribute("aria-pressed", String(isOn));
    this.setPlots(this.plots);
  }

  get hasDifference(): boolean {
    return this.isDifference;
  }

  /** Add a quantity to a panel of its unit, else in a new one; or take it out. */
  toggle(name: string, wanted = -1): void {
    const plots = this.plots;
    const at = plots.findIndex((names) => names.includes(name));
    if (at >= 0) plots[at] = plots[at]!.filter((other) => other !== name);
    else place(plots, name, wanted, (other) => this.runs[0]!.unit(other), this.isMode);
    this.setPlots(plots);
    this.host.plotsChanged();
  }

  private readonly isMode = (name: string) => this.runs[0]!.isStepped(name);

  private panel(names: string[], k: number, isLast: boolean): Panel {
    const lines = new Lines(this.runs, names, this.isDifference);
    lines.theme = this.theme;
    const host = { ...this.host, hover: (t: number | null) => this.hover(t) };
    const whole = wholeRange(this.runs[0]!);
    const chart = new Chart(lines, host, whole, this.range, isLast, this.group);
    chart.setTheme(this.theme);
    const values: HTMLElement[] = [];
    const items = names.map((name, colour) => this.item(name, colour, values));
    const add = iconButton("plus", "add a quantity to this plot", () =>
      this.host.pick(k, add),
    );
    const remove = iconButton("close", "remove this plot", () => {
      const plots = this.plots;
      plots.splice(k, 1);
      this.setPlots(plots);
      this.host.plotsChanged();
    });
    const head = make(
      "div",
      { class: "ns-plot-head" },
      make("div", { class: "ns-plot-legend", test: "plot-legend" }, ...items),
      make("div", { class: "ns-plot-tools" }, add, remove),
    );
    const root = make(
      "section",
      { class: isLast ? "ns-plot ns-last" : "ns-plot", test: "plot" },
      head,
      chart.root,
    );
    root.dataset.names = names.join(" ");
    return { names, root, chart, lines, values };
  }

  private item(name: string, colour: number, values: HTMLElement[]): HTMLElement {
    const value = make("output", { class: "ns-value", "aria-live": "off" });
    values.push(value);
    return make(
      "button",
      {
        type: "button",
        class: "ns-key",
        title: `${name}: click to remove`,
        "data-name": name,
        onclick: () => this.toggle(name),
      },
      make("i", {
        class:
          this.runs.length > 1
            ? `ns-dash ns-dash-${colour % DASHES.length}`
            : `ns-swatch ns-line-${colour % 7}`,
      }),
      make("span", { class: "ns-name" }, this.isLess(name) ? `Δ ${name}` : name),
      value,
    );
  }

  setRange(range: [number, number] | null): void {
    this.range = range ?? wholeRange(this.runs[0]!);
    for (const panel of this.panels) panel.chart.setRange(this.range);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    for (const panel of this.panels) {
      panel.lines.theme = theme;
      panel.chart.setTheme(theme);
    }
  }

  /** Follow the animation; values only where they are read. */
  setTime(instant: Instant, withValues: boolean): void {
    this.instant = instant;
    for (const panel of this.panels) {
      panel.chart.setTime(instant.t);
    }
    if (withValues) this.showValues();
  }

  /** Show values where the mouse is, instead of those at the time shown. */
  private hover(t: number | null): void {
    this.asked = t;
    this.root.classList.toggle("ns-asked", t !== null);
    this.showValues();
  }

  private showValues(): void {
    const t = this.asked ?? this.instant.t;
    for (const panel of this.panels) {
      panel.names.forEach((name, k) => {
        panel.values[k]!.textContent = this.text(name, t);
      });
    }
  }

  /** Whether a quantity is shown as a difference. */
  private isLess(name: string): boolean {
    return this.isDifference && modeWords(this.runs[0]!, name) === null;
  }

  private text(name: string, t: number): string {
    const [base] = this.runs;
    const isLess = this.isLess(name);
    const shown = isLess ? this.runs.slice(1) : this.runs;
    const parts = shown.map((run) => {
      if (!run.has(name) || (isLess && !base!.has(name))) return "–";
      const isBeyond = t > run.end || t > base!.end;
      if (isLess && isBeyond) return "–";
      const { before, after } = sides(run, name, t);
      const words = modeWords(run, name);
      if (words) {
        const [old, now] = [words.get(before) ?? "–", words.get(after) ?? "–"];
        return old === now ? now : `${old} → ${now}`;
      }
      const own = isLess ? sides(base!, name, t) : { before: 0, after: 0 };
      const least = roundOff(run, name);
      const unit = this.runs.length > 1 ? "" : unitText(run.unit(name));
      const values = [
        cleaned(before - own.before, least),
        cleaned(after - own.after, least),
      ] as const;
      return bothSides(...values, unit, digitsOf(run, name));
    });
    if (this.runs.length === 1) return parts[0]!;
    const unit = unitText(base!.unit(name));
    return parts.join(" | ") + (unit ? ` ${unit}` : "");
  }

  private readonly differ = make(
    "button",
    {
      type: "button",
      class: "ns-text-button ns-differ",
      test: "difference",
      "aria-pressed": "false",
      title: "plot the other runs less the first",
      onclick: () => this.host.setDifference(!this.isDifference),
    },
    "difference",
  );

  /** A line of which colours mean which run. */
  runLegend(): HTMLElement | null {
    if (this.runs.length < 2) return null;
    return make(
      "div",
      { class: "ns-runs", test: "run-legend" },
      ...this.runs.map((_, k) =>
        make(
          "span",
          {},
          make("i", { class: `ns-swatch ns-line-${k % 7}` }),
          this.labels[k] ?? `run ${k + 1}`,
        ),
      ),
      this.differ,
    );
  }

  dispose(): void {
    for (const panel of this.panels) panel.chart.dispose();
    this.panels = [];
    this.root.remove();
  }
}

/**
 * Put a quantity into panels: into the wanted one if units agree, else into the last one
 * of its unit, else into a new one. Modes and numbers do not share a panel.
 */
export function place(
  plots: string[][],
  name: string,
  wanted: number,
  unit: (name: string) => string,
  isMode: (name: string) => boolean,
): void {
  const fits = (names: readonly string[] | undefined) =>
    names?.[0] !== undefined &&
    unit(names[0]) === unit(name) &&
    isMode(names[0]) === isMode(name);
  if (fits(plots[wanted])) {
    plots[wanted]!.push(name);
    return;
  }
  for (let k = plots.length - 1; k >= 0; k--) {
    if (fits(plots[k])) {
      plots[k]!.push(name);
      return;
    }
  }
  plots.push([name]);
}

const PANEL = 4; // lines in a panel that is chosen for the reader

/**
 * Return what to plot first: forces, friction and slip where bodies press on each
 * other; else what drives; else what moves, angles before places.
 */
export function defaultPlots(run: Run): string[][] {
  const wished = (run.header.plots ?? [])
    .map((panel) => panel.filter((name) => run.has(name)))
    .filter((panel) => panel.length > 0);
  if (wished.length > 0) return wished;
  const { names } = run;
  const ending = (from: readonly string[], ...ends: string[]) =>
    from.filter((name) => ends.some((end) => name.endsWith(end))).slice(0, PANEL);
  const contacts = [".normal_force", ".friction_force", ".slip_velocity"]
    .map((end) => ending(names, end))
    .filter((list) => list.length > 0);
  if (contacts.length > 0) return contacts;
  const drives = run.header.glyphs.filter((glyph) => glyph.family === "drive");
  const torques = drives
    .flatMap((drive) => [`${drive.name}.torque`, `${drive.name}.force`])
    .filter((name) => names.includes(name));
  // What stands still says nothing, as the angle of a point mass; unless all does.
  const moving = names.filter((name) => !isStill(run, name));
  const from = moving.length > 0 ? moving : names;
  const plots = [
    torques.slice(0, PANEL),
    ending(from, ".theta"),
    ending(from, ".omega"),
  ].filter((list) => list.length > 0);
  if (plots.length < 2) {
    const places = [ending(from, ".x", ".y"), ending(from, ".vx", ".vy")];
    plots.push(...places.filter((list) => list.length > 0));
  }
  return byUnit(run, plots);
}

/** Split panels whose quantities differ in unit. */
function byUnit(run: Run, plots: string[][]): string[][] {
  const out: string[][] = [];
  for (const names of plots) {
    const units = new Map<string, string[]>();
    for (const name of names) {
      const unit = run.unit(name);
      units.set(unit, [...(units.get(unit) ?? []), name]);
    }
    out.push(...units.values());
  }
  return out;
}
