/**
 * The timeline: events as ticks, a row for each kind; modes of contacts as bands; an
 * axis; and a strip that shows which part of the run is seen.
 *
 * The canvas is drawn when what it shows changes; the cursor is an element above it.
 */

import type { Run, Side } from "../run";
import { timeTicks } from "./axis";
import { make } from "./dom";
import { eventLine, kindLabel, lower, wholeRange, type EventList } from "./events";
import { pinched, shifted, zoomed } from "./fingers";
import { modeLane, visibleSpans, visibleTicks, type Lane } from "./lanes";
import { colours, kindColour, modeColour, type Theme } from "./theme";

const ROW = 11; // px, of a kind of event
const LANE = 11; // px, of a contact, if there are few
const LANES = 77; // px, of all contacts together
const MOST_LANES = 25;
const LEAST = 15; // px, of all above the axis: with it 40 px, for a finger
const AXIS = 20; // px
const STRIP = 5; // px
const NEAR = 5; // px, within which a click means an event

export interface TimelineHost {
  seek(t: number, side: Side): void;
  setRange(range: [number, number] | null): void;
  readonly isEmbedded?: boolean; // in a page that scrolls: the wheel zooms with control
}

export class Timeline {
  readonly root: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly cursor: HTMLElement;
  private readonly tip: HTMLElement;
  private lanes: Lane[] = [];
  private byKind: { kind: string; times: Float64Array }[] = [];
  private range: [number, number];
  private theme: Theme = "light";
  private t: number;
  private width = 0;
  private gutter = 0;
  private hidden = 0; // contacts without a lane
  private readonly observer: ResizeObserver;

  constructor(
    private readonly run: Run,
    private readonly events: EventList,
    private readonly host: TimelineHost,
  ) {
    this.range = wholeRange(run);
    this.t = run.begin;
    this.canvas = make("canvas", { class: "ns-timeline-canvas" });
    this.cursor = make("div", { class: "ns-timeline-cursor" });
    this.tip = make("div", { class: "ns-tip", role: "status" });
    this.root = make(
      "div",
      {
        class: "ns-timeline",
        test: "timeline",
        role: "slider",
        tabindex: 0,
        "aria-label": "time",
        "aria-valuemin": run.begin,
        "aria-valuemax": run.end,
        title: "",
      },
      this.canvas,
      this.cursor,
      this.tip,
    );
    this.prepare();
    this.root.style.height = `${this.height}px`;
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
  }

  /** Where times are, in pixels of the element: for tests and the tip. */
  toPixel(t: number): number {
    const [from, to] = this.range;
    return this.gutter + ((t - from) / (to - from)) * (this.width - this.gutter);
  }

  toTime(px: number): number {
    const [from, to] = this.range;
    const part = (px - this.gutter) / Math.max(1, this.width - this.gutter);
    return from + part * (to - from);
  }

  get height(): number {
    return this.above + AXIS + STRIP;
  }

  /** Height of what is above the axis; there is always something to take hold of. */
  private get above(): number {
    const gap = this.byKind.length > 0 && this.lanes.length > 0 ? 4 : 0;
    const rows = this.byKind.length * ROW + gap + this.lanes.length * this.lane;
    return Math.max(rows, LEAST);
  }

  private get lane(): number {
    return Math.max(3, Math.min(LANE, Math.floor(LANES / (this.lanes.length || 1))));
  }

  private prepare(): void {
    for (const kind of this.events.kinds) {
      const rows = this.events.rows.filter((row) => row.kind === kind);
      this.byKind.push({ kind, times: Float64Array.from(rows, (row) => row.t) });
    }
    const lanes = this.run.header.spots.map((spot) => modeLane(this.run, spot));
    // With many contacts those that do most are shown, in their order.
    const most = [...lanes].sort((a, b) => b.starts.length - a.starts.length);
    const kept = new Set(most.slice(0, MOST_LANES));
    this.lanes = lanes.filter((lane) => kept.has(lane));
    this.hidden = lanes.length - this.lanes.length;
  }

  setRange(range: [number, number] | null): void {
    this.range = range ?? wholeRange(this.run);
    this.draw();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  setTime(t: number): void {
    this.t = t;
    this.root.setAttribute("aria-valuenow", String(t));
    this.placeCursor();
  }

  private placeCursor(): void {
    const x = this.toPixel(this.t);
    const isSeen = x >= this.gutter - 1 && x <= this.width + 1;
    this.cursor.style.visibility = isSeen ? "visible" : "hidden";
    this.cursor.style.transform = `translateX(${x.toFixed(2)}px)`;
  }

  resize(): void {
    this.width = this.root.clientWidth;
    this.gutter = this.width < 560 ? 0 : 96;
    this.draw();
  }

  draw(): void {
    if (this.width <= 0) return;
    const ctx = this.canvas.getContext("2d");
    if (!ctx) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const height = this.height;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, height);
    const colour = colours(this.theme);
    const [from, to] = this.range;
    const inner = this.width - this.gutter;
    ctx.font = "10px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    let y = 0;
    for (const { kind, times } of this.byKind) {
      ctx.fillStyle = kindColour(this.theme, kind);
      for (const x of visibleTicks(times, from, to, inner)) {
        ctx.fillRect(this.gutter + x - 0.75, y + 1.5, 1.5, ROW - 3);
      }
      this.name(ctx, kindLabel(kind), y + ROW / 2, colour.soft);
      y += ROW;
    }
    if (this.byKind.length > 0 && this.lanes.length > 0) y += 4;
    const lane = this.lane;
    for (const band of this.lanes) {
      ctx.fillStyle = colour.grid;
      ctx.fillRect(this.gutter, y + lane / 2 - 0.5, inner, 1);
      for (const span of visibleSpans(band, from, to, inner)) {
        const fill = modeColour(this.run.header.modes, span.mode);
        if (fill === null) continue;
        ctx.fillStyle = fill;
        ctx.fillRect(
          this.gutter + span.from,
          y + (lane > 4 ? 1.5 : 0),
          span.to - span.from,
          lane > 4 ? lane - 3 : lane - 1,
        );
      }
      if (lane >= 10) this.name(ctx, band.name, y + lane / 2, colour.soft);
      y += lane;
    }
    this.drawAxis(ctx, this.above);
    this.placeCursor();
  }

  private name(
    ctx: CanvasRenderingContext2D,
    text: string,
    y: number,
    ink: string,
  ): void {
    if (this.gutter === 0) return;
    ctx.fillStyle = ink;
    ctx.textAlign = "right";
    let label = text;
    while (label.length > 3 && ctx.measureText(label).width > this.gutter - 10) {
      label = `${label.slice(0, -2)}…`;
    }
    ctx.fillText(label, this.gutter - 8, y);
  }

  private drawAxis(ctx: CanvasRenderingContext2D, y: number): void {
    const colour = colours(this.theme);
    const [from, to] = this.range;
    const inner = this.width - this.gutter;
    ctx.fillStyle = colour.soft;
    const { values, labels } = timeTicks(from, to, Math.max(2, inner / 90));
    values.forEach((value, k) => {
      const x = this.toPixel(value);
      ctx.fillRect(x - 0.5, y + 1, 1, 4);
      const half = ctx.measureText(labels[k]!).width / 2;
      const middle = Math.min(this.width - half - 1, Math.max(this.gutter + half, x));
      ctx.textAlign = "center";
      ctx.fillText(labels[k]!, middle, y + 12);
    });
    ctx.fillRect(this.gutter, y, inner, 1);
    const note = this.hidden > 0 ? `+ ${this.hidden} contacts` : "";
    if (this.gutter > 0 && note) this.name(ctx, note, y + 12, colour.soft);
    // Which part of the run is seen; dragged, it moves.
    const { begin, end } = this.run;
    if (from > begin || to < end) {
      const strip = y + AXIS;
      const scale = inner / (end - begin);
      ctx.fillStyle = colour.grid;
      ctx.fillRect(this.gutter, strip, inner, STRIP - 1);
      ctx.fillStyle = colour.accent;
      const seen = Math.max(6, (to - from) * scale);
      const x = Math.min(inner - seen, (from - begin) * scale);
      ctx.fillRect(this.gutter + x, strip, seen, STRIP - 1);
    }
  }

  private listen(): void {
    const fingers = new Map<number, number>(); // where each is, px
    let drag: "time" | "strip" | null = null;
    let moved = 0;
    let last = 0;
    const local = (event: PointerEvent | WheelEvent): [number, number] => {
      const box = this.root.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const [x, y] = local(event);
      fingers.set(event.pointerId, x);
      const isZoomed = this.range[0] > this.run.begin || this.range[1] < this.run.end;
      drag = isZoomed && y > this.height - STRIP - 3 ? "strip" : "time";
      moved = 0;
      last = x;
      this.root.setPointerCapture(event.pointerId);
      if (drag === "time") {
        this.seekNear(x);
        this.hover(x);
      }
      event.preventDefault();
      this.root.focus({ preventScroll: true });
    });
    this.root.addEventListener("pointermove", (event) => {
      const [x] = local(event);
      if (drag === null) return this.hover(x);
      if (fingers.size === 2) {
        const old = [...fingers.values()] as [number, number];
        fingers.set(event.pointerId, x);
        return this.pinch(old, [...fingers.values()] as [number, number]);
      }
      fingers.set(event.pointerId, x);
      moved += Math.abs(x - last);
      if (drag === "strip") {
        const scale = (this.run.end - this.run.begin) / (this.width - this.gutter);
        this.shift((x - last) * scale);
      } else if (moved > 2) {
        const t = Math.min(this.run.end, Math.max(this.run.begin, this.toTime(x)));
        this.host.seek(t, "after");
        this.hover(x);
      }
      last = x;
    });
    const stop = (event: PointerEvent) => {
      fingers.delete(event.pointerId);
      if (fingers.size === 0) drag = null;
    };
    this.root.addEventListener("pointerup", stop);
    this.root.addEventListener("pointercancel", stop);
    this.root.addEventListener("pointerleave", () => (this.tip.style.display = "none"));
    this.root.addEventListener("dblclick", () => this.host.setRange(null));
    this.root.addEventListener(
      "wheel",
      (event) => {
        if (this.host.isEmbedded && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const [x] = local(event);
        const [from, to] = this.range;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const by = event.deltaX || event.deltaY;
          return this.shift((by / (this.width - this.gutter)) * (to - from));
        }
        const at = Math.min(to, Math.max(from, this.toTime(x)));
        const factor = 1.0015 ** event.deltaY;
        this.host.setRange(zoomed([from, to], at, factor, this.limits));
      },
      { passive: false },
    );
  }

  private get limits(): [number, number] {
    return [this.run.begin, this.run.end];
  }

  /** Keep the times under two fingers there. */
  private pinch(old: [number, number], now: [number, number]): void {
    const from = (px: [number, number]): [number, number] => [
      px[0] - this.gutter,
      px[1] - this.gutter,
    ];
    const width = this.width - this.gutter;
    const range = pinched(this.range, from(old), from(now), width, this.limits);
    if (range !== undefined) this.host.setRange(range);
  }

  private shift(by: number): void {
    const range = shifted(this.range, by, this.limits);
    if (range) this.host.setRange(range);
  }

  /** Go to the event under the pointer, else to the time. */
  private seekNear(x: number): void {
    const nearest = this.nearest(x);
    const t = Math.min(this.run.end, Math.max(this.run.begin, this.toTime(x)));
    this.host.seek(nearest ?? t, "after");
  }

  private nearest(x: number): number | null {
    const { instants } = this.events;
    const k = lower(instants, this.toTime(x));
    let best: number | null = null;
    for (const t of [instants[k - 1], instants[k]]) {
      if (t === undefined) continue;
      const distance = Math.abs(this.toPixel(t) - x);
      if (distance > NEAR) continue;
      if (best === null || distance < Math.abs(this.toPixel(best) - x)) best = t;
    }
    return best;
  }

  private hover(x: number): void {
    const t = this.nearest(x);
    if (t === null || x < this.gutter) {
      this.tip.style.display = "none";
      return;
    }
    const { times, rows } = this.events;
    const first = lower(times, t);
    const near =
      lower(times, this.toTime(x + NEAR)) - lower(times, this.toTime(x - NEAR));
    const lines: string[] = [];
    for (let k = first; k < rows.length && rows[k]!.t === t && lines.length < 4; k++) {
      lines.push(eventLine(rows[k]!));
    }
    const others = near - lines.length;
    if (others > 0) lines.push(`${others} more here: zoom with the wheel`);
    this.tip.replaceChildren(
      make("b", {}, `${Number(t.toPrecision(10))} s`),
      ...lines.map((line) => make("div", {}, line)),
    );
    this.tip.style.display = "block";
    const wide = this.tip.offsetWidth;
    const left = Math.min(
      this.width - wide - 4,
      Math.max(0, this.toPixel(t) - wide / 2),
    );
    this.tip.style.transform = `translateX(${left}px)`;
  }

  dispose(): void {
    this.observer.disconnect();
    this.root.remove();
  }
}
