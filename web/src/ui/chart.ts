/**
 * A chart over time: uPlot makes axes, grid, scales and selection; lines and areas are
 * drawn by the owner, since runs have times of their own and jumps.
 */

import uPlot from "uplot";
import { ticks, timeTicks } from "./axis";
import { decimals } from "./clock";
import { make } from "./dom";
import { listenToFingers } from "./fingers";
import { colours, type Theme } from "./theme";

/** Where to draw, in canvas pixels. */
export interface Frame {
  readonly ctx: CanvasRenderingContext2D;
  readonly ratio: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  x(t: number): number;
  y(value: number): number;
}

export interface ChartHost {
  seek(t: number): void;
  setRange(range: [number, number] | null): void;
  /** Show values at a time under the mouse; null when it leaves. */
  hover?(t: number | null): void;
}

export interface ChartContent {
  readonly unit: string;
  /** Prepare for a range of times; return the range of values. */
  prepare(from: number, to: number, columns: number): [number, number];
  draw(frame: Frame): void;
  /** Values with names instead of numbers. */
  readonly words?: ReadonlyMap<number, string>;
}

const Y_AXIS = 62; // px, of every chart, so that they line up
const Y_LETTERS = 8; // that fit beside it
const CLICK = 4; // px, a shorter drag is a click
const TIP = 34; // px, half of the tip that says the time

export class Chart {
  readonly root = make("div", { class: "ns-chart" });
  private plot: uPlot | null = null;
  private readonly cursor = make("div", { class: "ns-chart-cursor" });
  private readonly tip = make("div", { class: "ns-chart-tip", hidden: true });
  private range: [number, number];
  private bounds: [number, number] = [0, 1];
  private t = 0;
  private theme: Theme = "light";
  private size: [number, number] = [0, 0];
  private readonly observer: ResizeObserver;

  constructor(
    private readonly content: ChartContent,
    private readonly host: ChartHost,
    private readonly limits: [number, number], // all times of the run
    range: [number, number],
    private readonly hasTimes: boolean, // whether times stand along the axis
    private readonly group: string, // charts whose cursors go together
  ) {
    this.range = range;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
  }

  setRange(range: [number, number]): void {
    this.range = range;
    this.refresh();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.plot?.redraw(false, true);
  }

  setTime(t: number): void {
    this.t = t;
    this.placeCursor();
  }

  /** Compute and draw anew. */
  refresh(): void {
    if (!this.plot) return;
    this.prepare();
    this.rescale(this.plot);
  }

  /** Let the plot take over the ranges; it does not ask for them by itself. */
  private rescale(plot: uPlot): void {
    const [from, to] = this.range;
    const [low, high] = this.bounds;
    plot.batch(() => {
      plot.setScale("x", { min: from, max: to });
      plot.setScale("y", { min: low, max: high });
    });
    plot.redraw(false, true);
  }

  private prepare(): void {
    const columns = Math.max(50, this.size[0] - Y_AXIS) * devicePixelRatio;
    this.bounds = this.content.prepare(...this.range, Math.round(columns));
  }

  private data(): uPlot.AlignedData {
    return [[...this.range], [null, null]];
  }

  private placeCursor(): void {
    if (!this.plot) return;
    const [from, to] = this.range;
    const width = this.plot.bbox.width / uPlot.pxRatio;
    const x = ((this.t - from) / (to - from)) * width;
    const isSeen = x >= -0.5 && x <= width + 0.5;
    this.cursor.style.visibility = isSeen ? "visible" : "hidden";
    this.cursor.style.transform = `translateX(${x.toFixed(2)}px)`;
  }

  private resize(): void {
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    if (width < 20 || height < 20) return;
    if (width === this.size[0] && height === this.size[1]) return;
    this.size = [width, height];
    this.prepare();
    if (this.plot) {
      this.plot.setSize({ width, height });
      this.rescale(this.plot);
    } else {
      this.build(width, height);
    }
    this.placeCursor();
  }

  private build(width: number, height: number): void {
    const ink = () => colours(this.theme).soft;
    const grid = { stroke: () => colours(this.theme).grid, width: 1 };
    const noTicks = { show: false };
    const font = "11px system-ui, sans-serif";
    const split = (axis: "x" | "y") => {
      const [low, high] = axis === "x" ? this.range : this.bounds;
      const pixels = axis === "x" ? this.size[0] - Y_AXIS : this.size[1] - 20;
      const words = axis === "y" ? this.content.words : undefined;
      if (words) return { values: [...words.keys()], labels: [...words.values()] };
      if (axis === "x") return timeTicks(low, high, pixels / 80);
      return ticks(low, high, Math.min(8, pixels / 26), Y_LETTERS);
    };
    const plot = new uPlot(
      {
        width,
        height,
        padding: [6, 16, this.hasTimes ? 0 : 4, 0],
        legend: { show: false },
        series: [{}, { scale: "y", paths: () => null, points: { show: false } }],
        scales: {
          x: { time: false, auto: false, range: () => this.range },
          y: { auto: false, range: () => this.bounds },
        },
        axes: [
          {
            stroke: ink,
            grid,
            ticks: noTicks,
            font,
            size: this.hasTimes ? 22 : 0,
            gap: 4,
            splits: () => split("x").values,
            values: () => (this.hasTimes ? split("x").labels : []),
          },
          {
            stroke: ink,
            grid,
            ticks: noTicks,
            font,
            size: Y_AXIS,
            gap: 6,
            splits: () => split("y").values,
            values: () => split("y").labels,
          },
        ],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false, dist: CLICK },
          sync: {
            key: this.group,
            scales: ["x", null],
            filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
          },
          bind: { dblclick: () => () => this.reset() },
        },
        hooks: {
          draw: [
            (u) => {
              this.content.draw(this.frame(u));
              this.placeCursor();
            },
          ],
          setSelect: [(u) => this.select(u)],
        },
      },
      this.data(),
      this.root,
    );
    plot.over.append(this.cursor, this.tip);
    this.listen(plot);
    const { host, limits } = this;
    const range = () => this.range;
    listenToFingers(plot.over, {
      get range() {
        return range();
      },
      get width() {
        return plot.over.clientWidth;
      },
      limits,
      seek: (t) => host.seek(t),
      setRange: (range) => host.setRange(range),
    });
    this.plot = plot;
  }

  private reset(): null {
    this.host.setRange(null);
    return null;
  }

  private select(u: uPlot): void {
    const { left, width } = u.select;
    if (width < CLICK) return;
    const from = u.posToVal(left, "x");
    const to = u.posToVal(left + width, "x");
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (to > from) this.host.setRange([from, to]);
  }

  private listen(plot: uPlot): void {
    let down: [number, number] | null = null;
    plot.over.addEventListener("mousedown", (event) => {
      down = event.button === 0 ? [event.clientX, event.clientY] : null;
    });
    plot.over.addEventListener("click", (event) => {
      const far = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]);
      if (far !== null && far >= CLICK) return;
      const box = plot.over.getBoundingClientRect();
      this.host.seek(plot.posToVal(event.clientX - box.left, "x"));
    });
    // A finger moves the time itself; a mouse asks.
    plot.over.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      this.hover(event.clientX - plot.over.getBoundingClientRect().left, plot);
    });
    plot.over.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.host.hover?.(null);
    });
  }

  private hover(x: number, plot: uPlot): void {
    const [from, to] = this.range;
    const width = plot.over.clientWidth;
    const t = Math.min(to, Math.max(from, plot.posToVal(x, "x")));
    this.tip.hidden = false;
    this.tip.textContent = `${t.toFixed(decimals((to - from) / width))} s`;
    const middle = Math.min(width - TIP, Math.max(TIP, x));
    this.tip.style.transform = `translateX(${middle.toFixed(1)}px) translateX(-50%)`;
    this.host.hover?.(t);
  }

  private frame(u: uPlot): Frame {
    const { left, top, width, height } = u.bbox;
    const [from, to] = this.range;
    const [low, high] = this.bounds;
    return {
      ctx: u.ctx,
      ratio: uPlot.pxRatio,
      left,
      top,
      width,
      height,
      x: (t) => left + ((t - from) / (to - from)) * width,
      y: (value) => top + ((high - value) / (high - low)) * height,
    };
  }

  dispose(): void {
    this.observer.disconnect();
    this.plot?.destroy();
    this.root.remove();
  }
}

/** Draw inside the frame only. */
export function clipped(frame: Frame, draw: () => void): void {
  const { ctx, left, top, width, height } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  draw();
  ctx.restore();
}
