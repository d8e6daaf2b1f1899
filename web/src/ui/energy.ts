/** The energy tab: the ledger as stacked areas, with its residual. */

import type { Instant, Run } from "../run";
import { Chart, clipped, type ChartContent, type ChartHost, type Frame } from "./chart";
import { make } from "./dom";
import { wholeRange } from "./events";
import { height, ledger, stack, workOf, type Ledger, type Stack } from "./ledger";
import { bothSides, shown } from "./numbers";
import { colours, lineColour, type Theme } from "./theme";

// Kinetic blue, potential green, then what took energy: warm colours first.
const ORDER = [0, 2, 1, 4, 3, 5, 6];

function layerColour(theme: Theme, k: number): string {
  return lineColour(theme, ORDER[k % ORDER.length]!);
}

class Areas implements ChartContent {
  readonly unit = "J";
  theme: Theme = "light";
  private drawn: Stack = { t: new Float64Array(), tops: [], given: new Float64Array() };

  constructor(
    private readonly run: Run,
    private readonly book: Ledger,
  ) {}

  prepare(from: number, to: number, columns: number): [number, number] {
    this.drawn = stack(this.run, this.book, from, to, columns);
    let [low, high] = [0, 0];
    for (const line of [...this.drawn.tops, this.drawn.given]) {
      for (const value of line) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (high === low) return [-1, 1];
    return [low < 0 ? low - 0.04 * (high - low) : 0, high + 0.06 * (high - low)];
  }

  draw(frame: Frame): void {
    clipped(frame, () => {
      const { ctx, ratio } = frame;
      const { t, tops, given } = this.drawn;
      const zero = new Float64Array(t.length);
      tops.forEach((top, k) => {
        const below = tops[k - 1] ?? zero;
        ctx.beginPath();
        for (let i = 0; i < t.length; i++) ctx.lineTo(frame.x(t[i]!), frame.y(top[i]!));
        for (let i = t.length - 1; i >= 0; i--) {
          ctx.lineTo(frame.x(t[i]!), frame.y(below[i]!));
        }
        ctx.closePath();
        ctx.fillStyle = layerColour(this.theme, k);
        ctx.globalAlpha = this.theme === "dark" ? 0.5 : 0.42;
        ctx.fill();
        ctx.globalAlpha = 1;
        this.stroke(frame, t, top, layerColour(this.theme, k), 1);
      });
      ctx.setLineDash([6 * ratio, 4 * ratio]);
      this.stroke(frame, t, given, colours(this.theme).ink, 1.6);
      ctx.setLineDash([]);
    });
  }

  private stroke(
    frame: Frame,
    t: Float64Array,
    y: Float64Array,
    ink: string,
    width: number,
  ): void {
    const { ctx } = frame;
    ctx.beginPath();
    for (let i = 0; i < t.length; i++) ctx.lineTo(frame.x(t[i]!), frame.y(y[i]!));
    ctx.strokeStyle = ink;
    ctx.lineWidth = width * frame.ratio;
    ctx.stroke();
  }
}

export class Energy {
  readonly root = make("div", { class: "ns-energy" });
  private readonly areas: Areas | null = null;
  private readonly chart: Chart | null = null;
  private readonly values: HTMLElement[] = [];
  private readonly given = make("output", { class: "ns-value", "aria-live": "off" });
  private readonly book: Ledger | null;
  private readonly keys = make("div", {
    class: "ns-energy-legend",
    test: "energy-legend",
  });
  private instant: Instant;
  private asked: number | null = null; // time under the mouse

  constructor(
    private readonly run: Run,
    host: ChartHost,
    group: string,
  ) {
    this.book = ledger(run);
    this.instant = { t: run.begin, side: "after" };
    if (!this.book) {
      this.root.append(
        make("p", { class: "ns-empty" }, "This run has no energy ledger."),
      );
      return;
    }
    this.areas = new Areas(run, this.book);
    const whole = wholeRange(run);
    const asking = { ...host, hover: (t: number | null) => this.hover(t) };
    this.chart = new Chart(this.areas, asking, whole, whole, true, group);
    const keys = this.book.layers.map((layer, k) => {
      const value = make("output", { class: "ns-value", "aria-live": "off" });
      this.values.push(value);
      const verb = layer.sign < 0 ? "taken by " : "";
      return make(
        "div",
        { class: "ns-key" },
        make("i", { class: `ns-swatch ns-area ns-line-${ORDER[k % ORDER.length]}` }),
        make("span", { class: "ns-name" }, `${verb}${layer.label}`),
        value,
      );
    });
    const supplied = this.book.supplies.map(workOf);
    const shownOf =
      supplied.length > 3 ? `${supplied.length} elements` : supplied.join(", ");
    keys.push(
      make(
        "div",
        { class: "ns-key" },
        make("i", { class: "ns-dash ns-dash-1" }),
        make(
          "span",
          { class: "ns-name" },
          `at the start${shownOf && ` + by ${shownOf}`}`,
        ),
        this.given,
      ),
    );
    this.keys.append(...keys);
    this.root.append(
      this.keys,
      this.chart.root,
      make("p", { class: "ns-residual", test: "residual" }, residualText(run)),
    );
  }

  setRange(range: [number, number] | null): void {
    this.chart?.setRange(range ?? wholeRange(this.run));
  }

  setTheme(theme: Theme): void {
    if (this.areas) this.areas.theme = theme;
    this.chart?.setTheme(theme);
  }

  setTime(instant: Instant, withValues: boolean): void {
    this.instant = instant;
    this.chart?.setTime(instant.t);
    if (withValues) this.showValues();
  }

  private hover(t: number | null): void {
    this.asked = t;
    this.keys.classList.toggle("ns-asked", t !== null);
    this.showValues();
  }

  private showValues(): void {
    if (!this.book) return;
    const t = this.asked ?? this.instant.t;
    const before = this.run.locate({ t, side: "before" });
    const after = this.run.locate({ t, side: "after" });
    const at = (place: typeof before, of: (i: number) => number) => {
      const from = of(place.i);
      return place.part === 0 ? from : from + place.part * (of(place.i + 1) - from);
    };
    this.book.layers.forEach((layer, k) => {
      const of = (i: number) => height(this.run, layer, i);
      this.values[k]!.textContent = bothSides(at(before, of), at(after, of), "J");
    });
    const start = this.book.start;
    const supply = (i: number) =>
      this.book!.supplies.reduce((sum, name) => sum + this.run.column(name)[i]!, start);
    this.given.textContent = bothSides(at(before, supply), at(after, supply), "J");
  }

  dispose(): void {
    this.chart?.dispose();
    this.root.remove();
  }
}

/** Say how well the ledger closes, by the run's own numbers. */
export function residualText(run: Run): string {
  const { energy_residual: residual, energy_exchanged: exchanged } = run.header.run;
  if (residual === null) return "The ledger was not closed.";
  const text = `The ledger closes to ${shown(Math.abs(residual), 2)} J`;
  if (exchanged === null || !(exchanged > 0)) return `${text}.`;
  const part = shown(Math.abs(residual) / exchanged, 2);
  return `${text}, ${part} of the ${shown(exchanged, 3)} J exchanged.`;
}
