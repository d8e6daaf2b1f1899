/**
 * Lines for plots: as many points as the pixels can show.
 *
 * A line is broken where a quantity jumps, that is where an arc ends with one value and
 * the next begins with another at the same time.
 */

import type { Numbers } from "../format";
import type { Run, Side } from "../run";
import { lower, upper } from "./events";

/** Points of a line; NaN in y breaks it. */
export interface Line {
  readonly x: Float64Array; // s
  readonly y: Float64Array;
}

/** A quantity's two values at an event. */
export interface Jump {
  readonly t: number; // s
  readonly before: number;
  readonly after: number;
}

// Float32 values that differ by less are the same number, rounded twice.
const ROUNDING = 1e-6;

export function differs(a: number, b: number): boolean {
  return Math.abs(a - b) > ROUNDING * Math.max(Math.abs(a), Math.abs(b));
}

/** Return the samples seen between two times, with one more on either side. */
export function visible(t: Float64Array, from: number, to: number): [number, number] {
  const first = Math.max(0, lower(t, from) - 1);
  const last = Math.min(t.length - 1, upper(t, to));
  return [first, last];
}

// So many arcs in one pixel column are still drawn apart.
const MOST_ARCS = 4;

/**
 * Return a line through samples, with at most some points per pixel column: the first,
 * least, greatest and last of each arc in it; of many arcs, of all together.
 */
export function decimate(
  t: Float64Array,
  y: Numbers,
  starts: readonly number[], // first sample of each arc
  from: number,
  to: number,
  columns: number, // pixels between `from` and `to`
): Line {
  const [first, last] = visible(t, from, to);
  const xs: number[] = [];
  const ys: number[] = [];
  const put = (i: number) => {
    xs.push(t[i]!);
    ys.push(y[i]!);
  };
  const breakBefore = (i: number) => {
    if (i === first || t[i] !== t[i - 1] || !differs(y[i]!, y[i - 1]!)) return;
    xs.push(t[i]!);
    ys.push(NaN);
  };
  const width = (to - from) / Math.max(1, columns);
  const arcs = Float64Array.from(starts);
  let i = first;
  while (i <= last) {
    const column = Math.floor((t[i]! - from) / width);
    const end = Math.min(
      last + 1,
      Math.max(i + 1, lower(t, from + (column + 1) * width)),
    );
    // Arcs that begin inside this column.
    let k = upper(arcs, i);
    const within = lower(arcs, end) - k;
    if (within > MOST_ARCS) {
      breakBefore(i);
      extremes(y, i, end).forEach(put);
    } else {
      let at = i;
      while (at < end) {
        const next = arcs[k];
        const stop = next !== undefined && next < end ? next : end;
        breakBefore(at);
        extremes(y, at, stop).forEach(put);
        at = stop;
        k++;
      }
    }
    i = end;
  }
  return { x: Float64Array.from(xs), y: Float64Array.from(ys) };
}

/** Return the first, least, greatest and last of samples, in order, each once. */
export function extremes(y: Numbers, from: number, end: number): number[] {
  if (end - from <= 4) return Array.from({ length: end - from }, (_, k) => from + k);
  let least = from;
  let greatest = from;
  for (let i = from + 1; i < end; i++) {
    // What is no number gives way to any.
    if (y[i]! < y[least]! || Number.isNaN(y[least]!)) least = i;
    if (y[i]! > y[greatest]! || Number.isNaN(y[greatest]!)) greatest = i;
  }
  const chosen = [from, Math.min(least, greatest), Math.max(least, greatest), end - 1];
  return chosen.filter((index, k) => k === 0 || index !== chosen[k - 1]);
}

/** Return a line of a quantity that holds still between changes. */
export function steps(t: Float64Array, y: Numbers, from: number, to: number): Line {
  const [first, last] = visible(t, from, to);
  const xs: number[] = [];
  const ys: number[] = [];
  for (let i = first; i <= last; i++) {
    const isChange = i > first && y[i] !== y[i - 1];
    if (isChange) {
      xs.push(t[i]!);
      ys.push(y[i - 1]!);
    }
    if (isChange || i === first || i === last) {
      xs.push(t[i]!);
      ys.push(y[i]!);
    }
  }
  return { x: Float64Array.from(xs), y: Float64Array.from(ys) };
}

/** A quantity over time, arc by arc. */
export interface Series {
  readonly t: Float64Array;
  readonly y: Numbers;
  readonly arcs: readonly number[]; // first sample of each, and the number of samples
  readonly isStepped: boolean;
}

export function seriesOf(run: Run, name: string): Series {
  const isStepped = run.isStepped(name);
  return { t: run.t, y: run.column(name), arcs: run.header.arcs, isStepped };
}

const differences = new WeakMap<Run, WeakMap<Run, Map<string, Series>>>();

/** Return a quantity of a run less that of another, at the samples of both. */
export function differenceOf(run: Run, base: Run, name: string): Series {
  let others = differences.get(run);
  if (!others) differences.set(run, (others = new WeakMap()));
  let known = others.get(base);
  if (!known) others.set(base, (known = new Map<string, Series>()));
  let found = known.get(name);
  if (!found) known.set(name, (found = subtract(run, base, name)));
  return found;
}

function subtract(run: Run, base: Run, name: string): Series {
  const from = Math.max(run.begin, base.begin);
  const to = Math.min(run.end, base.end);
  const all = Float64Array.from(
    [...run.t, ...base.t].filter((t) => t >= from && t <= to),
  );
  all.sort();
  const jumps = new Set<number>();
  for (const { t, header } of [run, base]) {
    for (const i of header.arcs.slice(1, -1)) jumps.add(t[i]!);
  }
  const at = (t: number, side: Side): number => {
    const [one, other] = [run, base].map((r) => r.value(name, r.locate({ t, side })));
    return one! - other!;
  };
  const t: number[] = [];
  const y: number[] = [];
  const arcs = [0];
  all.forEach((time, k) => {
    if (k > 0 && time === all[k - 1]) return;
    const isJump = jumps.has(time) && time > from && time < to;
    if (isJump) {
      t.push(time);
      y.push(at(time, "before"));
      arcs.push(t.length);
    }
    t.push(time);
    y.push(at(time, "after"));
  });
  arcs.push(t.length);
  return { t: Float64Array.from(t), y: Float64Array.from(y), arcs, isStepped: false };
}

/** Return the line of a quantity between two times. */
export function lineOf(
  { t, y, arcs, isStepped }: Series,
  from: number,
  to: number,
  columns: number,
): Line {
  if (isStepped) return steps(t, y, from, to);
  return decimate(t, y, arcs.slice(0, -1), from, to, columns);
}

/** Return where a quantity jumps by more than `least` between two times. */
export function jumps(
  { t: times, y, arcs }: Series,
  from: number,
  to: number,
  least: number,
): Jump[] {
  const out: Jump[] = [];
  for (let k = 1; k < arcs.length - 1; k++) {
    const i = arcs[k]!;
    const t = times[i]!;
    if (i < 1 || times[i - 1] !== t || t < from || t > to) continue;
    const [before, after] = [y[i - 1]!, y[i]!];
    if (Math.abs(after - before) > least && differs(before, after)) {
      out.push({ t, before, after });
    }
  }
  return out;
}

/** Return the least and greatest value of lines within a range of x; null if none. */
export function bounds(
  lines: readonly Line[],
  from: number,
  to: number,
): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  const take = (value: number) => {
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (const { x, y } of lines) {
    for (let i = 0; i < x.length; i++) {
      if (x[i]! >= from && x[i]! <= to) take(y[i]!);
      // Where the line enters or leaves.
      if (i === 0 || Number.isNaN(y[i]! + y[i - 1]!)) continue;
      for (const edge of [from, to]) {
        if (x[i - 1]! < edge && x[i]! > edge) {
          const part = (edge - x[i - 1]!) / (x[i]! - x[i - 1]!);
          take(y[i - 1]! + part * (y[i]! - y[i - 1]!));
        }
      }
    }
  }
  return low <= high ? [low, high] : null;
}

// What changes by less than this part of its size is shown as constant.
const CONSTANT = 1e-5;

/**
 * Return a range for an axis: some air, and never so narrow that it shows round-off;
 * what is below `least` is zero. Round-off is beside the size of numbers, or beside
 * `reach` if that is less.
 */
export function padded(
  range: [number, number] | null,
  least = 0,
  reach = Infinity,
): [number, number] {
  if (range === null) return [0, 1];
  const [low, high] = range;
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size === 0 || size < least) return [-1, 1];
  if (high - low < CONSTANT * Math.min(size, reach)) {
    return [Math.min(0, low * 1.2), Math.max(0, high * 1.2)];
  }
  const air = 0.06 * (high - low);
  return [low - air, high + air];
}
