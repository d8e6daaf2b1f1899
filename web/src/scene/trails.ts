/** Paths of points: what is past solid, what is to come faint. */

import type { Point } from "../format";
import { toGlobal, type Place, type Run } from "../run";
import type { Pen } from "./pen";

// A path bends less than this part of the box between its points.
const FLAT = 4e-4;
// Points drawn and looked at on either side of the instant: bounds the cost for long
// runs. Points closer than this to the last one are passed over, px.
const MOST = 2000;
const FARTHEST = 40000;
const CLOSE = 1.2;
// Times an interval between samples is halved where the path bends.
const DEEPEST = 4;
// Bodies and points whose paths are drawn unless chosen, and how far they must go.
const N_DEFAULT = 4;
const LEAST_WAY = 0.02;

/** A point's path, as few points as show it. */
export interface Path {
  t: Float64Array; // s
  x: Float64Array; // m
  y: Float64Array;
}

export class Trails {
  private readonly paths = new Map<string, Path | null>();

  constructor(private readonly run: Run) {}

  draw(pen: Pen, names: readonly string[], place: Place): void {
    for (const name of names) {
      let path = this.paths.get(name);
      if (path === undefined) {
        path = trace(this.run, name);
        this.paths.set(name, path);
      }
      if (path) this.paint(pen, name, path, place);
    }
  }

  private paint(pen: Pen, name: string, path: Path, place: Place): void {
    const target = markerOf(this.run, name);
    if (!target) return;
    const colour = pen.theme.body(this.run.bodies.get(target.body)?.colour ?? null);
    const now = pointAt(this.run, target, place);
    const next = after(path.t, place.t);
    follow(pen, path, now, next, 1);
    pen.stroke(colour, 1.2, 0.28);
    follow(pen, path, now, next - 1, -1);
    pen.stroke(colour, 1.6, 0.85);
  }
}

/** Begin a path from where the point is, into the future (1) or the past (-1). */
function follow(
  { ctx, camera }: Pen,
  path: Path,
  now: readonly [number, number],
  first: number,
  step: 1 | -1,
): void {
  const { view, width, height } = camera;
  const { scale } = view;
  const [ox, oy] = [0.5 * width - view.x * scale, 0.5 * height + view.y * scale];
  let [x, y] = [ox + now[0] * scale, oy - now[1] * scale];
  ctx.beginPath();
  ctx.moveTo(x, y);
  const end = step > 0 ? path.t.length : -1;
  let left = MOST;
  let isDrawn = true;
  let k = first;
  for (let n = 0; k !== end && left > 0 && n < FARTHEST; k += step, n++) {
    const px = ox + path.x[k]! * scale;
    const py = oy - path.y[k]! * scale;
    isDrawn = Math.abs(px - x) + Math.abs(py - y) >= CLOSE;
    if (!isDrawn) continue;
    ctx.lineTo((x = px), (y = py));
    left--;
  }
  // The very end, however close.
  if (k === end && !isDrawn) {
    ctx.lineTo(ox + path.x[k - step]! * scale, oy - path.y[k - step]! * scale);
  }
}

/** Return the paths that are worth seeing: free points of bodies, else their centres. */
export function defaultTrails(run: Run): string[] {
  const [left, low, right, high] = run.header.box;
  const least = LEAST_WAY * Math.max(right - left, high - low);
  const held = new Set<string>();
  for (const { a, b } of run.header.glyphs) {
    for (const { body, point } of [a, b]) held.add(`${body} ${point.join(" ")}`);
  }
  const moving = run.header.bodies.filter(
    (body) => !body.is_fixed && body.kind !== "support",
  );
  const free = moving.flatMap((body) =>
    Object.entries(body.points)
      .filter(([, point]) => !held.has(`${body.name} ${point.join(" ")}`))
      .map(([point]) => `${body.name}.${point}`),
  );
  // Corners of blocks are points as well: a few free points mean that they matter.
  const names = free.length <= N_DEFAULT ? free : [];
  for (const body of moving) names.push(body.name);
  const out: string[] = [];
  for (const name of names) {
    if (out.length === N_DEFAULT) break;
    const target = markerOf(run, name);
    if (target && extent(run, target) > least) out.push(name);
  }
  return out;
}

/** A body's mass centre, or a point of it; that of a flexible body has columns. */
interface Target {
  body: string;
  point: Point;
  columns?: [string, string];
}

/** Return the body and point of "body" or "body.point". */
export function markerOf(run: Run, name: string): Target | null {
  const columns: [string, string] = [`${name}.x`, `${name}.y`];
  const own = run.bodies.get(name);
  const dot = name.lastIndexOf(".");
  const body = own ?? run.bodies.get(name.slice(0, dot));
  const point = own ? ([0, 0] as const) : body?.points[name.slice(dot + 1)];
  if (!body || !point) return null;
  const isFlexible = body.kind === "flexible" && columns.every((c) => run.has(c));
  return { body: body.name, point, ...(isFlexible ? { columns } : {}) };
}

function pointAt(run: Run, { body, point, columns }: Target, place: Place) {
  if (!columns) return toGlobal(run.pose(body, place), point);
  const [x, y] = columns;
  return [run.value(x, place), run.value(y, place)] as [number, number];
}

/** How far a point goes over the run, seen at some samples, m. */
function extent(run: Run, target: Target): number {
  const n = run.header.sampling.n;
  const step = Math.max(1, Math.floor(n / 200));
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < n; i += step) {
    const [x, y] = pointAt(run, target, { i, part: 0, t: run.t[i]! });
    left = Math.min(left, x);
    right = Math.max(right, x);
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  return Math.max(right - left, high - low);
}

/** Trace a point over the run: more points where it bends, fewer where it does not. */
export function trace(run: Run, name: string): Path | null {
  const target = markerOf(run, name);
  if (!target) return null;
  const [left, low, right, high] = run.header.box;
  const flat = FLAT * Math.max(right - left, high - low, Number.MIN_VALUE);
  const t: number[] = [];
  const x: number[] = [];
  const y: number[] = [];
  const add = (time: number, p: readonly [number, number]): void => {
    const n = t.length;
    // The last point is not needed if it lies on the way from the last but one.
    if (n > 1) {
      const [ax, ay, bx, by] = [x[n - 2]!, y[n - 2]!, x[n - 1]!, y[n - 1]!];
      const isNear = Math.hypot(bx - ax, by - ay) < flat;
      if (isNear && Math.hypot(p[0] - ax, p[1] - ay) < flat) {
        t[n - 1] = time;
        x[n - 1] = p[0];
        y[n - 1] = p[1];
        return;
      }
    }
    t.push(time);
    x.push(p[0]);
    y.push(p[1]);
  };
  const at = (i: number, part: number): [number, number] =>
    pointAt(run, target, { i, part, t: 0 });
  const halve = (
    i: number,
    s0: number,
    p0: readonly [number, number],
    s1: number,
    p1: readonly [number, number],
    depth: number,
  ): void => {
    const s = 0.5 * (s0 + s1);
    const p = at(i, s);
    const bend = Math.hypot(p[0] - 0.5 * (p0[0] + p1[0]), p[1] - 0.5 * (p0[1] + p1[1]));
    if (depth < DEEPEST && bend > flat) {
      halve(i, s0, p0, s, p, depth + 1);
      halve(i, s, p, s1, p1, depth + 1);
    } else {
      add(run.t[i]! + s1 * (run.t[i + 1]! - run.t[i]!), p1);
    }
  };
  const n = run.header.sampling.n;
  if (n === 0) return null;
  let last = at(0, 0);
  add(run.t[0]!, last);
  for (let i = 0; i + 1 < n; i++) {
    const next = at(i + 1, 0);
    if (run.t[i + 1]! > run.t[i]!) halve(i, 0, last, 1, next, 0);
    last = next;
  }
  return { t: Float64Array.from(t), x: Float64Array.from(x), y: Float64Array.from(y) };
}

/** Index of the first time after t. */
function after(times: Float64Array, t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}
