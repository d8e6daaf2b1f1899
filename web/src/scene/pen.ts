/**
 * Strokes and areas: given in a frame of the plane, drawn with widths in pixels.
 *
 * `place` chooses the frame: where its origin is (m), how it is turned, and how many
 * pixels its unit has: the camera's scale for things in metres, `u` for symbols, whose
 * size hardly changes with the zoom.
 */

import type { Point } from "../format";
import type { Camera } from "./camera";
import type { Theme } from "./theme";

/** Sizes in pixels that suit the picture. */
export interface Sizes {
  u: number; // unit of symbols: a pin has a radius of 0.42 u
  stand: number; // the same for stands and walls
  mark: number; // radius of the mark of a contact
  bar: number; // width of a bar
}

// Ticks of hatching: how far apart, how deep; lines over areas.
const TICK = 6;
const DEPTH = 6;
const OVER_AREA = 9;
// What is farther outside the canvas is not drawn; more than the widest stroke.
const OUTSIDE = 24;
// Ghosts are this clear: their colour is to be told.
const GHOST = 0.7;

export class Pen {
  sizes: Sizes = { u: 8, stand: 8, mark: 5, bar: 6 };
  /** The colour of a ghost; null where things have their own. */
  ghost: string | null = null;
  // The frame: local (p, q) is at x = e + c p - s q, y = f - s p - c q.
  private c = 1;
  private s = 0;
  private e = 0;
  private f = 0;
  // Bounds of the path, px.
  private left = 0;
  private right = 0;
  private top = 0;
  private bottom = 0;

  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly camera: Camera,
    public theme: Theme,
  ) {}

  get isGhost(): boolean {
    return this.ghost !== null;
  }

  /** Choose the frame: origin in m, angle in rad, px per unit. */
  place(x: number, y: number, angle: number, size = this.camera.view.scale): void {
    const { view, width, height } = this.camera;
    this.c = size * Math.cos(angle);
    this.s = size * Math.sin(angle);
    this.e = 0.5 * width + (x - view.x) * view.scale;
    this.f = 0.5 * height - (y - view.y) * view.scale;
  }

  /** Pixels of a place in the frame. */
  px(p: number, q: number): number {
    return this.e + this.c * p - this.s * q;
  }

  py(p: number, q: number): number {
    return this.f - this.s * p - this.c * q;
  }

  // -- paths

  begin(): void {
    this.ctx.beginPath();
    this.left = this.top = Infinity;
    this.right = this.bottom = -Infinity;
  }

  move(p: number, q: number): void {
    const x = this.px(p, q);
    const y = this.py(p, q);
    this.bound(x, y, 0);
    this.ctx.moveTo(x, y);
  }

  line(p: number, q: number): void {
    const x = this.px(p, q);
    const y = this.py(p, q);
    this.bound(x, y, 0);
    this.ctx.lineTo(x, y);
  }

  /** Begin a path through points of the frame. */
  path(points: readonly Point[], isClosed = false): void {
    this.begin();
    for (let k = 0; k < points.length; k++) {
      const [p, q] = points[k]!;
      if (k === 0) this.move(p, q);
      else this.line(p, q);
    }
    if (isClosed) this.ctx.closePath();
  }

  /** Begin a path round a place of the frame; the radius is in pixels. */
  disc(p: number, q: number, radius: number): void {
    this.begin();
    const x = this.px(p, q);
    const y = this.py(p, q);
    this.bound(x, y, radius);
    this.ctx.arc(x, y, radius, 0, 2 * Math.PI);
  }

  /** Begin a path round a straight line, with round ends; the radius is in pixels. */
  capsule(p0: number, q0: number, p1: number, q1: number, radius: number): void {
    const [x0, y0, x1, y1] = [
      this.px(p0, q0),
      this.py(p0, q0),
      this.px(p1, q1),
      this.py(p1, q1),
    ];
    const turn = Math.atan2(y1 - y0, x1 - x0);
    this.begin();
    this.bound(x0, y0, radius);
    this.bound(x1, y1, radius);
    this.ctx.arc(x1, y1, radius, turn - 0.5 * Math.PI, turn + 0.5 * Math.PI);
    this.ctx.arc(x0, y0, radius, turn + 0.5 * Math.PI, turn + 1.5 * Math.PI);
    this.ctx.closePath();
  }

  private bound(x: number, y: number, radius: number): void {
    if (x - radius < this.left) this.left = x - radius;
    if (x + radius > this.right) this.right = x + radius;
    if (y - radius < this.top) this.top = y - radius;
    if (y + radius > this.bottom) this.bottom = y + radius;
  }

  // -- ink on the path

  /** Colour the line of the path. */
  stroke(colour: string, width = 1.5, alpha = 1, dashes: number[] | null = null): void {
    const ctx = this.ctx;
    ctx.strokeStyle = this.ghost ?? colour;
    ctx.lineWidth = this.isGhost ? Math.min(width, 1.5) : width;
    ctx.globalAlpha = this.isGhost ? GHOST * alpha : alpha;
    if (dashes) ctx.setLineDash(dashes);
    ctx.stroke();
    if (dashes) ctx.setLineDash(NO_DASHES);
    ctx.globalAlpha = 1;
  }

  /** Colour the area of the path. Ghosts are outlines only. */
  fill(colour: string, alpha = 1, rule: CanvasFillRule = "nonzero"): void {
    if (this.isGhost) return;
    const ctx = this.ctx;
    ctx.fillStyle = colour;
    ctx.globalAlpha = alpha;
    ctx.fill(rule);
    ctx.globalAlpha = 1;
  }

  /** Hatch the area of the path. The lines move with the frame's origin. */
  hatchArea(colour: string): void {
    if (this.isGhost) return;
    const { ctx, camera } = this;
    const left = Math.max(this.left, -OUTSIDE);
    const right = Math.min(this.right, camera.width + OUTSIDE);
    const top = Math.max(this.top, -OUTSIDE);
    const bottom = Math.min(this.bottom, camera.height + OUTSIDE);
    if (!(left < right && top < bottom)) return;
    ctx.save();
    ctx.clip();
    ctx.beginPath();
    // Along a line x + y is constant.
    const origin = (this.e + this.f) % OVER_AREA;
    const first = Math.floor((left + top - origin) / OVER_AREA);
    const last = Math.ceil((right + bottom - origin) / OVER_AREA);
    for (let k = first; k <= last; k++) {
      const sum = origin + k * OVER_AREA;
      const x0 = Math.max(left, sum - bottom);
      const x1 = Math.min(right, sum - top);
      if (x0 >= x1) continue;
      ctx.moveTo(x0, sum - x0);
      ctx.lineTo(x1, sum - x1);
    }
    this.stroke(colour, 0.9, 0.75);
    ctx.restore();
  }

  // -- the edge of something solid

  /** Draw the edge of the ground, which lies to the right of the way from 0 to 1. */
  hatch(p0: number, q0: number, p1: number, q1: number): void {
    const x = this.px(p0, q0);
    const y = this.py(p0, q0);
    const dx = this.px(p1, q1) - x;
    const dy = this.py(p1, q1) - y;
    const length = Math.hypot(dx, dy);
    if (length > 0) this.edge(x, y, dx / length, dy / length, 0, length, true);
  }

  /** Draw a line without ends through a place of the frame, hatched on its right. */
  endless(
    p: number,
    q: number,
    angle: number,
    colour: string,
    isHatched: boolean,
  ): void {
    const x = this.px(p, q);
    const y = this.py(p, q);
    const dx = this.px(p + Math.cos(angle), q + Math.sin(angle)) - x;
    const dy = this.py(p + Math.cos(angle), q + Math.sin(angle)) - y;
    const length = Math.hypot(dx, dy);
    if (!(length > 0)) return;
    this.edge(x, y, dx / length, dy / length, -Infinity, Infinity, isHatched, colour);
  }

  /** Draw an edge along a unit vector in pixels, and ticks counted from its origin. */
  private edge(
    x: number,
    y: number,
    dx: number,
    dy: number,
    begin: number,
    end: number,
    isHatched: boolean,
    colour = this.theme.colours.pale,
  ): void {
    const { width, height } = this.camera;
    const seen = clip(x, y, dx, dy, begin, end, width, height, OUTSIDE);
    if (!seen) return;
    const [from, to] = seen;
    const ctx = this.ctx;
    if (isHatched && !this.isGhost) {
      ctx.beginPath();
      // A tick leans back: one nearer to the begin would stick out.
      const first = Math.ceil(Math.max(from, begin + DEPTH) / TICK);
      for (let k = first; k * TICK <= to + 1e-6; k++) {
        const fx = x + k * TICK * dx;
        const fy = y + k * TICK * dy;
        ctx.moveTo(fx, fy);
        ctx.lineTo(fx - DEPTH * (dx + dy), fy + DEPTH * (dx - dy));
      }
      this.stroke(colour, 0.9, 0.85);
    }
    ctx.beginPath();
    ctx.moveTo(x + from * dx, y + from * dy);
    ctx.lineTo(x + to * dx, y + to * dy);
    this.stroke(colour, 1.5);
  }

  // -- arrows, in pixels

  /** Draw an arrow between places in pixels; a short one has a small head. */
  arrow(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    colour: string,
    width = 2.2,
  ): void {
    const ctx = this.ctx;
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (!(length > 0)) return;
    const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
    const head = Math.min(4.6 * width, 0.6 * length);
    const half = 0.4 * head;
    const [bx, by] = [x1 - 0.8 * head * dx, y1 - 0.8 * head * dy];
    const [cx, cy] = [x1 - head * dx, y1 - head * dy];
    // A rim of paper keeps the arrow legible on areas and lines.
    for (const isRim of RIM_FIRST) {
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.lineTo(bx, by);
      this.stroke(
        isRim ? this.theme.colours.paper : colour,
        isRim ? width + 2 : width,
        isRim ? 0.75 : 1,
      );
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(cx - half * dy, cy + half * dx);
      ctx.lineTo(bx, by);
      ctx.lineTo(cx + half * dy, cy - half * dx);
      ctx.closePath();
      if (isRim) this.stroke(this.theme.colours.paper, 2, 0.75);
      else this.fill(colour);
    }
  }

  /** Draw an arrow round a place of the frame; sweep in rad, counter-clockwise. */
  turnArrow(p: number, q: number, radius: number, sweep: number, colour: string): void {
    if (sweep === 0) return;
    const ctx = this.ctx;
    const x = this.px(p, q);
    const y = this.py(p, q);
    const width = 2.2;
    const sense = Math.sign(sweep);
    const head = Math.min(4.6 * width, 0.8 * radius * Math.abs(sweep));
    // The arc's middle is above, a little to the right; angles here are on the screen.
    const middle = -0.3 * Math.PI;
    const begin = middle + 0.5 * sweep;
    const end = middle - 0.5 * sweep;
    const neck = end + (sense * 0.8 * head) / radius;
    for (const isRim of RIM_FIRST) {
      const ink = isRim ? this.theme.colours.paper : colour;
      ctx.beginPath();
      ctx.arc(x, y, radius, begin, neck, sense > 0);
      this.stroke(ink, isRim ? width + 2 : width, isRim ? 0.75 : 1);
      // The head follows the chord, so that it does not leave the circle.
      const [tx, ty] = [x + radius * Math.cos(end), y + radius * Math.sin(end)];
      const [nx, ny] = [x + radius * Math.cos(neck), y + radius * Math.sin(neck)];
      const long = Math.hypot(tx - nx, ty - ny) || 1;
      const [dx, dy] = [(tx - nx) / long, (ty - ny) / long];
      const [cx, cy] = [tx - head * dx, ty - head * dy];
      ctx.beginPath();
      ctx.moveTo(tx, ty);
      ctx.lineTo(cx - 0.4 * head * dy, cy + 0.4 * head * dx);
      ctx.lineTo(nx, ny);
      ctx.lineTo(cx + 0.4 * head * dy, cy - 0.4 * head * dx);
      ctx.closePath();
      if (isRim) this.stroke(ink, 2, 0.75);
      else this.fill(ink);
    }
  }
}

const NO_DASHES: number[] = [];
const RIM_FIRST = [true, false];

/**
 * Return which part of a straight line is seen, as distances from its origin.
 *
 * Liang and Barsky: each border of the canvas cuts off a half of the line.
 */
export function clip(
  x: number,
  y: number,
  dx: number,
  dy: number,
  begin: number,
  end: number,
  width: number,
  height: number,
  outside = 0,
): [number, number] | null {
  let from = begin;
  let to = end;
  const cut = (rate: number, room: number): void => {
    // What is kept: rate * distance <= room.
    if (rate > 0) to = Math.min(to, room / rate);
    else if (rate < 0) from = Math.max(from, room / rate);
    else if (room < 0) to = -Infinity;
  };
  cut(dx, width + outside - x);
  cut(-dx, x + outside);
  cut(dy, height + outside - y);
  cut(-dy, y + outside);
  return from < to ? [from, to] : null;
}
